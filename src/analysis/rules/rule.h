/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The rules of `analyze`. Each finds what keeps GPUs waiting, and says what helps. */

#pragma once

#include "src/analysis/stats/table.h"
#include "src/tables/tables.h"

typedef struct
{
  const char *name;      /* "gpu_gaps"                                                          */
  const char *title;     /* "GPU Gaps"                                                          */
  const char *arguments; /* that may follow the name, as "[:rows=N]"                            */
  const char *help;      /* what it finds, in a line                                            */
  const char *advice;    /* sentences: what its rows are, and what helps                        */
  const char *none;      /* a sentence for a report that has nothing of it                      */
  const char *needs;     /* what a program must do to be looked at: "copy memory with CUDA"    */
} LnsRule;

/* Limits of what a rule finds. */
typedef struct
{
  int64_t
      gap_ns; /* gpu_gaps: longer ones; LNS_RULE_SHARE_OF_RUN = than 1 % of the time from the GPU's first to its
                   * last operation, at most 500 ms */
  double busy_percent; /* gpu_time_util: below it                                                */
  int64_t n_chunks; /* gpu_time_util: in so many parts is the time divided, 1 – 10,000        */
  int64_t n_rows;   /* the worst so many; -1 = all                                            */
} LnsRuleOptions;

#define LNS_RULE_SHARE_OF_RUN (-1)

/* What is looked for where nothing else is said. */
#define LNS_RULE_BUSY_PERCENT 50
#define LNS_RULE_N_CHUNKS     30
#define LNS_RULE_N_ROWS       50
#define LNS_RULE_DEFAULTS                                                                          \
 ((LnsRuleOptions){ LNS_RULE_SHARE_OF_RUN, LNS_RULE_BUSY_PERCENT, LNS_RULE_N_CHUNKS,               \
                    LNS_RULE_N_ROWS })

/* The rule number I, or NULL behind the last. */
const LnsRule *lns_rule_at (size_t i);

/* The rule called NAME, whose arguments behind colons change OPTIONS. NULL and ERROR where there is no such rule, or it
 * has no such argument. */
const LnsRule *lns_rule_find (const char *name, LnsRuleOptions *options, LnsError *error);

typedef struct LnsRuleResult LnsRuleResult;

/* Looks for what RULE is about in TABLES (borrowed until the result is freed). CANCEL may be NULL. NULL and ERROR where a
 * chunk is damaged, or cancelled. O(events it is about). */
LnsRuleResult *lns_rule_run (const LnsRule *rule,
                             const LnsRuleOptions *options,
                             LnsTables *tables,
                             const atomic_bool *cancel,
                             LnsError *error);
void lns_rule_result_free (LnsRuleResult *result); /* NULL is fine                              */

/* Whether the report holds anything that the rule could have found wrong. */
bool lns_rule_result_has_data (const LnsRuleResult *result);

/* The kinds of lanes whose events the rule of RESULT looks for, as 1 << LnsLaneKind each. */
uint32_t lns_rule_result_kinds (const LnsRuleResult *result);

size_t lns_rule_result_n_rows (const LnsRuleResult *result);

/* How long the rows are in all, in ns. */
int64_t lns_rule_result_ns (const LnsRuleResult *result);

/* Writes the rows, the worst first. False and ERROR where a chunk is damaged. */
bool lns_rule_result_write (const LnsRuleResult *result,
                            FILE *stream,
                            const LnsStatsStyle *style,
                            LnsError *error);

/* Keeps the first MAX_ROWS rows (SIZE_MAX = all), the worst first, and counts the rest. Each has its place in the tables'
 * report: an event, or a time of a GPU. The caller frees what is returned, which borrows nothing. NULL and ERROR where a
 * chunk is damaged. */
LnsResult *lns_rule_result_collect (const LnsRuleResult *result, size_t max_rows, LnsError *error)
    __attribute__ ((warn_unused_result));
