/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How each report of report.h is made. Functions without a file name above them are those of maker.c, which all
 * makers share; report.c, which lists the makers, lies above them. */

#pragma once

#include "src/analysis/projection/cuda-keys.h"
#include "src/analysis/projection/launches.h"
#include "src/analysis/projection/projection.h"
#include "src/analysis/stats/pushpop-trace.h"
#include "src/analysis/stats/range-stats.h"
#include "src/analysis/stats/report.h"

#define LNS_STATS_DEFAULT_ROWS INT64_MIN

/* What follows a report's name. */
typedef struct
{
  bool by_range; /* kernels by the innermost range that launched them, too                      */
  bool is_base;  /* kernels go by their short names …                                           */
  bool is_mangled; /* … or by those of their symbols                                            */
  int64_t n_rows;  /* -1 = all                                                                    */
} LnsStatsArguments;

/* Of rows that rows.c sums up: no style of range-walk.h. */
#define LNS_STYLE_ROW (1u << 31)

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
  LnsStatsArguments arguments;
  LnsTables *tables;
  size_t n;
  /* What the makers keep; freed with the result.                                                 */
  LnsRangeStat *sums;
  LnsCallRanges *call_ranges; /* where kernels go by them, too                                  */
  LnsKernelKeys kernels; /* where kernels go by more or other than their names                   */
  LnsTraceRange *ranges;
  LnsProjectedRange *projected;
  void *rows;
  size_t n_items; /* of which `rows` are made                                                   */
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

#define LNS_STATS_SHAPE_SIZE 40

/* A grid or block of the THREE sizes, written into TEXT; an empty cell where the report does not tell them, as nothing
 * is launched on a grid of 0. */
LnsStatsCell _lns_stats_shape (const uint32_t three[3], char text[LNS_STATS_SHAPE_SIZE]);

/* What the report's arguments want kernels to be called. */
LnsKernelName _lns_stats_naming (const LnsStatsResult *result);

/* Whether RESULT is of the report called NAME. */
bool _lns_stats_is_called (const LnsStatsResult *result, const char *name);

/* The string ID of the report. */
LnsStatsCell _lns_stats_string (const LnsStatsResult *result, uint32_t id);

/* VALUE in tenths, or in 10^-DECIMALS, as the reference rounds. */
int64_t _lns_stats_rounded (double value, unsigned decimals);

/* "domain:name" of a range of LANE to STREAM. */
void
_lns_stats_write_range (const LnsStatsResult *result, FILE *stream, uint32_t lane, uint32_t name);

/* What a kernel called NAME (a string id) is called where it goes by RANGE, too: "range/name", or
 * "domain:range/name"; its name alone where RANGE is NULL. TEXT gets what is to be freed, or NULL. False
 * without memory. */
bool _lns_stats_name_in_range (const LnsStatsResult *result,
                               const LnsCallRange *range,
                               uint32_t name,
                               LnsStatsCell *ret_cell,
                               char **ret_text);

/* The sum of N durations, the shortest first, STRIDE_BYTES apart. */
LnsRangeStat
_lns_stats_sum_sorted (const int64_t *first_ns, size_t stride_bytes, size_t n, LnsRangeStyle style);

/* Sorts the N VALUES and writes average, median, least, greatest and standard deviation into CELLS, of
 * which the first, second and fifth have one decimal; nothing where there are none. O(n log n). */
void _lns_stats_spread (int64_t *values, size_t n, LnsStatsCell cells[5]);

/* The string id of what the report's arguments want an event called NAME (a string id) with the launch
 * LAUNCH to be called. */
uint32_t _lns_stats_kernel_name (const LnsStatsResult *result, uint32_t name, uint64_t launch);

/* Finds nothing: for what is neither recorded nor imported. */
bool _lns_stats_run_nothing (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error);

/* kernels.c: adds the sums of kernels by range and name to the result's. */
bool
_lns_stats_add_kernel_sums (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error);

/* groups.c: items FIRST … FIRST + N - 1, which are of one group, and the sum of their values. */
typedef struct
{
  size_t first, n;
  int64_t total_ns;
} LnsStatsGroup;

/* The groups of N ITEMS of SIZE bytes each, which are sorted so that those of one group, for which COMPARE is 0,
 * lie together: the largest group first; to be freed. NULL without memory. O(n log n). */
LnsStatsGroup *_lns_stats_groups (const void *items,
                                  size_t n,
                                  size_t size,
                                  int (*compare) (const void *a, const void *b),
                                  int64_t (*value_ns) (const void *item),
                                  size_t *ret_n);

/* mpi.c */
bool _lns_stats_run_mpi (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error);
bool _lns_stats_write_mpi (const LnsStatsResult *result,
                           FILE *stream,
                           const LnsStatsStyle *style,
                           LnsError *error);
bool _lns_stats_write_mpi_sums (const LnsStatsResult *result,
                                FILE *stream,
                                const LnsStatsStyle *style,
                                LnsError *error);
bool _lns_stats_write_mpi_sizes (const LnsStatsResult *result,
                                 FILE *stream,
                                 const LnsStatsStyle *style,
                                 LnsError *error);

/* rows.c */
bool _lns_stats_run_row_sums (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error);

/* sums.c */
bool _lns_stats_run_sums (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error);
bool _lns_stats_write_sums (const LnsStatsResult *result,
                            FILE *stream,
                            const LnsStatsStyle *style,
                            LnsError *error);

/* ranges.c */
bool _lns_stats_run_ranges (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error);
bool _lns_stats_write_ranges (const LnsStatsResult *result,
                              FILE *stream,
                              const LnsStatsStyle *style,
                              LnsError *error);

/* cuda-trace.c */
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

/* launches.c */
bool _lns_stats_run_launches (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error);
bool _lns_stats_write_launches (const LnsStatsResult *result,
                                FILE *stream,
                                const LnsStatsStyle *style,
                                LnsError *error);
bool
_lns_stats_run_launch_sums (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error);
bool _lns_stats_write_launch_sums (const LnsStatsResult *result,
                                   FILE *stream,
                                   const LnsStatsStyle *style,
                                   LnsError *error);

/* projection.c */
bool _lns_stats_run_projection (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error);
bool _lns_stats_write_projection (const LnsStatsResult *result,
                                  FILE *stream,
                                  const LnsStatsStyle *style,
                                  LnsError *error);
bool _lns_stats_write_projection_sums (const LnsStatsResult *result,
                                       FILE *stream,
                                       const LnsStatsStyle *style,
                                       LnsError *error);
bool
_lns_stats_run_range_kernels (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error);
bool _lns_stats_write_range_kernels (const LnsStatsResult *result,
                                     FILE *stream,
                                     const LnsStatsStyle *style,
                                     LnsError *error);

/* memory.c */
bool _lns_stats_run_memory (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error);
bool _lns_stats_run_faults (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error);
bool _lns_stats_write_memory (const LnsStatsResult *result,
                              FILE *stream,
                              const LnsStatsStyle *style,
                              LnsError *error);
bool _lns_stats_write_memory_total (const LnsStatsResult *result,
                                    FILE *stream,
                                    const LnsStatsStyle *style,
                                    LnsError *error);
bool _lns_stats_write_faults (const LnsStatsResult *result,
                              FILE *stream,
                              const LnsStatsStyle *style,
                              LnsError *error);
