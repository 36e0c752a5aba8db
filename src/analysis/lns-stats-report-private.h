/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How each report of lns-stats-report.h is made: shared by the lns-stats files alone. */

#pragma once

#include "src/analysis/lns-cuda-keys.h"
#include "src/analysis/lns-projection.h"
#include "src/analysis/lns-pushpop-trace.h"
#include "src/analysis/lns-range-stats.h"
#include "src/analysis/lns-stats-report.h"

typedef struct
{
  LnsStatsReport report;
  unsigned styles; /* of sums: mask of LnsRangeStyle                                             */
  /* Computes what there is to be written, RESULT->n not 0 where there is any. False and ERROR without
   * memory, where a chunk is damaged, or cancelled. */
  bool (*run) (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error);
  /* Writes it. False, and ERROR where it is not for memory. */
  bool (*write) (const LnsStatsResult *result,
                 FILE *stream,
                 const LnsStatsStyle *style,
                 LnsError *error);
} LnsStatsMaker;

struct LnsStatsResult
{
  const LnsStatsMaker *maker;
  const char *argument; /* or ""                                                                 */
  LnsTables *tables;
  size_t n;
  /* What the makers keep; freed with the result.                                                 */
  LnsRangeStat *sums;
  LnsCudaKeys keys;
  LnsTraceRange *ranges;
  LnsProjectedRange *projected;
  void *rows;
};

static inline LnsStatsCell
_lns_stats_number (int64_t value)
{
  return (LnsStatsCell){ .number = value };
}

static inline LnsStatsCell
_lns_stats_text (const char *bytes, size_t size_bytes)
{
  return (LnsStatsCell){ .bytes = bytes, .size_bytes = size_bytes };
}

/* The string ID of the report. */
LnsStatsCell _lns_stats_string (const LnsStatsResult *result, uint32_t id);

/* VALUE in tenths, or in 10^-DECIMALS, as the reference rounds. */
int64_t _lns_stats_rounded (double value, unsigned decimals);

/* "domain:name" of a range of LANE to STREAM. */
void
_lns_stats_write_range (const LnsStatsResult *result, FILE *stream, uint32_t lane, uint32_t name);

/* lns-stats-sums.c */
bool _lns_stats_run_sums (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error);
bool _lns_stats_write_sums (const LnsStatsResult *result,
                            FILE *stream,
                            const LnsStatsStyle *style,
                            LnsError *error);

/* lns-stats-ranges.c */
bool _lns_stats_run_ranges (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error);
bool _lns_stats_write_ranges (const LnsStatsResult *result,
                              FILE *stream,
                              const LnsStatsStyle *style,
                              LnsError *error);

/* lns-stats-cuda-trace.c */
bool _lns_stats_run_calls (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error);
bool _lns_stats_write_calls (const LnsStatsResult *result,
                             FILE *stream,
                             const LnsStatsStyle *style,
                             LnsError *error);
bool _lns_stats_run_gpu (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error);
bool _lns_stats_write_gpu (const LnsStatsResult *result,
                           FILE *stream,
                           const LnsStatsStyle *style,
                           LnsError *error);
