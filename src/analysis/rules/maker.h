/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shared by the files in which the rules of rule.h are made. */

#pragma once

#include "src/analysis/rules/rule.h"
#include "src/base/array.h"

#define LNS_RULE_MAX_COLUMNS 11

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
  /* Fills a cell for each column, of row I. False and ERROR where a chunk is damaged. */
  bool (*fill) (const LnsRuleResult *result, size_t i, LnsStatsCell *cells, LnsError *error);
} LnsRuleMaker;

struct LnsRuleResult
{
  const LnsRuleMaker *maker;
  LnsRuleOptions options;
  LnsTables *tables;
  struct LnsCudaLinks *links; /* or NULL                                                        */
  bool has_data;
  LNS_ARRAY (LnsRuleRow) rows;
};

/* calls.c */
bool _lns_rule_run_copies (LnsRuleResult *result, const atomic_bool *cancel, LnsError *error);
bool _lns_rule_run_pageable (LnsRuleResult *result, const atomic_bool *cancel, LnsError *error);
bool _lns_rule_run_sets (LnsRuleResult *result, const atomic_bool *cancel, LnsError *error);
bool _lns_rule_run_waits (LnsRuleResult *result, const atomic_bool *cancel, LnsError *error);
bool _lns_rule_keep_async (LnsRuleResult *result, LnsRuleRow *row, bool *keep, LnsError *error);
bool _lns_rule_keep_sync (LnsRuleResult *result, LnsRuleRow *row, bool *keep, LnsError *error);
bool
_lns_rule_fill_copy (const LnsRuleResult *result, size_t i, LnsStatsCell *cells, LnsError *error);
bool
_lns_rule_fill_set (const LnsRuleResult *result, size_t i, LnsStatsCell *cells, LnsError *error);
bool
_lns_rule_fill_wait (const LnsRuleResult *result, size_t i, LnsStatsCell *cells, LnsError *error);

/* gpu.c */
bool _lns_rule_run_gaps (LnsRuleResult *result, const atomic_bool *cancel, LnsError *error);
bool _lns_rule_run_utilization (LnsRuleResult *result, const atomic_bool *cancel, LnsError *error);
int _lns_rule_compare_percents (const void *a, const void *b);
bool
_lns_rule_fill_gap (const LnsRuleResult *result, size_t i, LnsStatsCell *cells, LnsError *error);
bool _lns_rule_fill_utilization (const LnsRuleResult *result,
                                 size_t i,
                                 LnsStatsCell *cells,
                                 LnsError *error);
