/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shared by the files in which the rules of rule.h are made. */

#pragma once

#include "src/analysis/rules/rule.h"
#include "src/base/language.h"
#include "src/analysis/stats/maker.h"
#include "src/base/array.h"

#define LNS_RULE_MAX_COLUMNS 11

/* A finding: an event, or a span of a GPU. */
typedef struct
{
  int64_t start_ns, duration_ns;
  uint64_t ordinal;          /* the event, or the first one                                      */
  uint32_t lane;             /* its lane; LNS_ID_NONE of a span of no one lane                   */
  uint32_t call_name;        /* string id of the call that launched it; of a span: of its cause   */
  uint32_t process, device;  /* of a span: instance and device id                                */
  double percent;            /* of a span: how busy it was                                       */
  int64_t overhead_ns;       /* of a span: how long the profiler was busy in the process         */
  int64_t low_mhz, high_mhz; /* of a span: clocks, or -1                                        */
} LnsRuleRow;

/* An event of a chunk, and what its lane's kind says. */
typedef struct
{
  LnsReport *report;
  const LnsChunk *chunk;
  LnsLaneKind kind;
  uint32_t i;
  uint8_t *is_wait; /* by string id: 0 = not looked at yet, 1 = no, 2 = yes                      */
} LnsRuleEvent;

/* Which calls may have launched an event. */
typedef enum
{
  LNS_RULE_ANY_CALL,
  LNS_RULE_SYNC_CALL, /* of a copy or a set, which returns when that is done                      */
  LNS_RULE_ASYNC_CALL /* of a copy or a set that goes on beside the host                          */
} LnsRuleCall;

typedef struct
{
  LnsRule rule;
  /* Fills rows, in no order, and `has_data`. */
  bool (*run) (LnsRuleResult *result, const atomic_bool *cancel, LnsError *error);
  /* Which of two rows is worse: as qsort (3) has it. NULL = the longer one. */
  int (*compare) (const void *a, const void *b);
  const LnsResultColumn *columns;
  unsigned n_columns;
  /* Fills a cell for each column, of row I. False and ERROR where a chunk is damaged. */
  bool (*fill) (const LnsRuleResult *result, size_t i, LnsResultCell *cells, LnsError *error);
  /* Of rules about events: the lanes, which events, and by which calls. Other rules have no kind. */
  LnsLaneKind kind;
  bool (*is_asked) (const LnsRuleEvent *event);
  LnsRuleCall call;
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

/* Finds the call that launched ROW. RET_FOUND gets whether it is one that the rule asks for. False and ERROR where a chunk is
 * damaged. */
bool _lns_rule_find_call (LnsRuleResult *result, LnsRuleRow *row, bool *ret_found, LnsError *error);

/* calls.c */
extern const LnsRuleMaker _lns_rule_copies_async, _lns_rule_copies_sync, _lns_rule_sets,
    _lns_rule_waits;
/* clocks.c */
extern const LnsRuleMaker _lns_rule_clocks;
/* gpu.c */
extern const LnsRuleMaker _lns_rule_gaps, _lns_rule_utilization;
