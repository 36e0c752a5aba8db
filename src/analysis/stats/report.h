/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The reports of `stats`, by name. */

#pragma once

#include "src/analysis/filter.h"
#include "src/analysis/stats/table.h"
#include "src/tables/tables.h"

typedef struct
{
  const char *name;  /* "nvtx_sum"                                                              */
  const char *title; /* "NVTX Range Summary"                                                    */
  const char *lacks; /* what a file without rows "does not contain"                             */
  const char *help;  /* a line                                                                  */
  const char *arguments; /* that may follow the name, as "[:base]", or ""                        */
  bool is_default;       /* printed where no report is named                                     */
} LnsStatsReport;

/* The report number I, or NULL behind the last. */
const LnsStatsReport *lns_stats_report_at (size_t i);

/* Whether there are data that STATS can sum up: it is more than a message for scripts that ask for it. */
bool lns_stats_report_is_made (const LnsStatsReport *stats);

/* The report called NAME, which arguments may follow after colons; NULL and ERROR where there is none, or
 * it has no such argument. */
const LnsStatsReport *lns_stats_report_find (const char *name, LnsError *error);

/* What a report has computed, ready to be written. */
typedef struct LnsStatsResult LnsStatsResult;

/* Computes STATS over TABLES, with the arguments that follow NAME. TABLES and CANCEL (may be NULL) are borrowed until the
 * result is freed. NULL and ERROR where a chunk is damaged, or cancelled. */
LnsStatsResult *lns_stats_report_run (const LnsStatsReport *stats,
                                      const char *name,
                                      LnsTables *tables,
                                      const atomic_bool *cancel,
                                      LnsError *error);
/* Whether lns_stats_report_run_between () computes the report called NAME. */
bool lns_stats_report_takes_spans (const LnsStatsReport *stats, const char *name);

/* The same as lns_stats_report_run () over what lns_filter_write () would leave of the report for SPAN (borrowed until the result is
 * freed), without writing that: for sums of ranges, calls and what GPUs did. */
LnsStatsResult *lns_stats_report_run_between (const LnsStatsReport *stats,
                                              const char *name,
                                              LnsTables *tables,
                                              const LnsFilterSpan *span,
                                              const atomic_bool *cancel,
                                              LnsError *error);
void lns_stats_result_free (LnsStatsResult *result); /* NULL is fine                            */

/* 0 where there is nothing to write; else how many rows there are, at most (SIZE_MAX where that is not known yet). */
size_t lns_stats_result_n_rows (const LnsStatsResult *result);

/* What the file of a result without rows "does not contain". Static. */
const char *lns_stats_result_lacks (const LnsStatsResult *result);

/* The kinds of lanes whose events RESULT sums up or lists, as 1 << LnsLaneKind each; 0 if other rows may be among them. */
uint32_t lns_stats_result_kinds (const LnsStatsResult *result);

/* For a report that this version cannot make: a table of the file with the data that the report would sum up. NULL if
 * there is none; then the file lacks what lns_stats_result_lacks () says. Valid as long as the tables. */
const char *lns_stats_result_unread (const LnsStatsResult *result);

/* How many kernels have no name of the kind that the report's arguments ask for (`:base`, `:mangled`). They appear under
 * their demangled names. */
uint64_t lns_stats_result_n_unnamed (const LnsStatsResult *result);

/* "97.3 %": how many of the samples with a call chain have all callers. NULL if all have, or where that is not known. Valid as
 * long as RESULT. */
const char *lns_stats_result_share_whole (const LnsStatsResult *result);

/* Of these two, one may be called, once: the rows of some reports are read only now. Both fail where a chunk is damaged, or
 * cancelled. O(rows), but for sorting groups.
 *
 * Writes the table to STREAM. False and ERROR as above; errors of STREAM stay with it. */
bool lns_stats_result_write (const LnsStatsResult *result,
                             FILE *stream,
                             const LnsStatsStyle *style,
                             LnsError *error);

/* Keeps the first MAX_ROWS rows of the table (SIZE_MAX = all) and counts the rest. Rows that are one event have their
 * places in the tables' report; sums have none. The caller frees the result, which borrows nothing. NULL and ERROR as
 * above. */
LnsResult *lns_stats_result_collect (const LnsStatsResult *result, size_t max_rows, LnsError *error)
    __attribute__ ((warn_unused_result));
