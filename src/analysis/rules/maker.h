/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How each rule of rule.h is made: shared by the files of this room alone. */

#pragma once

#include "src/analysis/rules/rule.h"

/* A finding: an event, or a span of a GPU. */
typedef struct
{
  int64_t start_ns, duration_ns;
  uint64_t ordinal;         /* the event                                                        */
  uint32_t lane;            /* its lane                                                         */
  uint32_t call_name;       /* string id of the call that began it                              */
  uint32_t process, device; /* of a span: instance and device id                                */
  double percent;           /* of a span: how busy it was                                       */
  int64_t overhead_ns;      /* of a span: how long the profiler was busy in the process         */
} LnsRuleRow;

typedef struct
{
  LnsRule rule;
  /* Fills rows, in no order, and `has_data`. */
  bool (*run) (LnsRuleResult *result, const atomic_bool *cancel, LnsError *error);
  /* Which of two rows is worse: as qsort (3) has it. */
  int (*compare) (const void *a, const void *b);
  /* Whether a row stays: looked at from the worst on, until there are enough. NULL = it does. */
  bool (*keep) (LnsRuleResult *result, LnsRuleRow *row, bool *ret_keep, LnsError *error);
  const LnsStatsColumn *columns;
  unsigned n_columns;
  bool (*write) (const LnsRuleResult *result, size_t i, LnsStatsTable *table, LnsError *error);
} LnsRuleMaker;

struct LnsRuleResult
{
  const LnsRuleMaker *maker;
  LnsRuleOptions options;
  LnsTables *tables;
  struct LnsCudaLinks *links; /* or NULL                                                        */
  bool has_data;
  LnsRuleRow *rows;
  size_t n, n_allocated;
};

/* Adds ROW. False and ERROR without memory. */
bool _lns_rule_add (LnsRuleResult *result, LnsRuleRow row, LnsError *error);

/* False and ERROR where CANCEL is set. */
bool _lns_rule_go_on (const atomic_bool *cancel, LnsError *error);

/* By duration, the longest first, then by start. */
int _lns_rule_compare_durations (const void *a, const void *b);

/* calls.c */
bool _lns_rule_run_copies (LnsRuleResult *result, const atomic_bool *cancel, LnsError *error);
bool _lns_rule_run_pageable (LnsRuleResult *result, const atomic_bool *cancel, LnsError *error);
bool _lns_rule_run_sets (LnsRuleResult *result, const atomic_bool *cancel, LnsError *error);
bool _lns_rule_run_waits (LnsRuleResult *result, const atomic_bool *cancel, LnsError *error);
bool _lns_rule_keep_async (LnsRuleResult *result, LnsRuleRow *row, bool *keep, LnsError *error);
bool _lns_rule_keep_sync (LnsRuleResult *result, LnsRuleRow *row, bool *keep, LnsError *error);
bool
_lns_rule_write_copy (const LnsRuleResult *result, size_t i, LnsStatsTable *table, LnsError *error);
bool
_lns_rule_write_set (const LnsRuleResult *result, size_t i, LnsStatsTable *table, LnsError *error);
bool
_lns_rule_write_wait (const LnsRuleResult *result, size_t i, LnsStatsTable *table, LnsError *error);

/* gpu.c */
bool _lns_rule_run_gaps (LnsRuleResult *result, const atomic_bool *cancel, LnsError *error);
bool _lns_rule_run_utilization (LnsRuleResult *result, const atomic_bool *cancel, LnsError *error);
int _lns_rule_compare_percents (const void *a, const void *b);
bool
_lns_rule_write_gap (const LnsRuleResult *result, size_t i, LnsStatsTable *table, LnsError *error);
bool _lns_rule_write_utilization (const LnsRuleResult *result,
                                  size_t i,
                                  LnsStatsTable *table,
                                  LnsError *error);
