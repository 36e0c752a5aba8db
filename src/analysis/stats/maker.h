/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shared by the ways in which the reports of report.h are made. Functions without a file name above them are those of
 * maker.c; report.c, which lists the reports, lies above all. */

#pragma once

#include <sqlite3.h>

#include "src/analysis/filter.h"
#include "src/analysis/projection/cuda-keys.h"
#include "src/analysis/projection/launches.h"
#include "src/analysis/projection/projection.h"
#include "src/analysis/stats/pushpop-trace.h"
#include "src/analysis/stats/range-stats.h"
#include "src/analysis/stats/report.h"
#include "src/base/buffer.h"
#include "src/base/format.h"
#include "src/base/compare.h"
#include "src/base/language.h"
#include "src/tables/lanes.h"

#define LNS_STATS_DEFAULT_ROWS INT64_MIN

/* The arguments that follow a report's name. */
typedef struct
{
  bool by_range;   /* kernel names are preceded by the innermost range that launched them       */
  bool is_base;    /* kernels have their short names …                                          */
  bool is_mangled; /* … or the names of their symbols                                           */
  bool is_bottom_up;  /* functions come before their callers                                    */
  bool is_by_module;  /* files instead of functions                                             */
  bool is_by_thread;  /* below their processes and threads                                      */
  double min_percent; /* rows with less of all samples are left out; told in a row of their own */
  int64_t n_rows;     /* -1 = all                                                               */
} LnsStatsArguments;

/* The style of values that only queries find. */
#define LNS_STYLE_ROW (1u << 31)

/* How a report is made. */
typedef struct
{
  /* Computes the rows, RESULT->n not 0 where there are any. False and ERROR where a chunk is damaged, or cancelled. */
  bool (*run) (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error);
  /* Adds row I to ROWS; TEXT is room for texts, empty at first. Or NULL, and … */
  void (*add) (const LnsStatsResult *result, size_t i, LnsRows *rows, LnsBuffer *text);
  /* … this adds all. False and ERROR where a chunk that is read only now is damaged, or cancelled. */
  bool (*write) (const LnsStatsResult *result, LnsRows *rows, LnsError *error);
  const LnsResultColumn *columns; /* NULL = those of sums.c */
  unsigned n_columns;
  const char *sql; /* of reports that are queries; a value a column, in sums as rows.c has it */
  const char *const *sources; /* of sums of queries: what each is called, or NULL */
} LnsStatsWay;

typedef struct
{
  LnsStatsReport report;
  const LnsStatsWay *way;
  unsigned styles; /* of sums: mask of LnsRangeStyle                                             */
} LnsStatsMaker;

struct LnsStatsResult
{
  const LnsStatsMaker *maker;
  LnsStatsArguments arguments;
  LnsTables *tables;
  LnsFilterSpan span;        /* that the report covers */
  const LnsFilterSpan *part; /* that is asked for, of lns_stats_report_run_between (); NULL = all */
  size_t n;
  /* What run () computed; freed with the result. */
  LnsRangeStat *sums;
  LnsCallRanges *call_ranges; /* where kernels go by them, too                                  */
  char share_whole[LNS_FORMAT_SIZE]; /* lns_call_sums_share_whole () of samples; "" = not known  */
  LnsKernelKeys kernels; /* where kernels go by more or other than their names                   */
  LnsTraceRange *ranges;
  LnsProjectedRange *projected;
  sqlite3 *db; /* of a query, with the tables of the report */
  sqlite3_stmt *statement;
  void *rows;
};

/* Average, median, least, greatest and standard deviation, as _lns_stats_spread () fills them; PREFIX is a literal. */
#define LNS_STATS_SPREAD_COLUMNS(prefix)                                                           \
 { prefix "Avg", LNS_RESULT_TIME, 1 }, { prefix "Med", LNS_RESULT_TIME, 1 },                       \
     { prefix "Min", LNS_RESULT_TIME }, { prefix "Max", LNS_RESULT_TIME },                         \
 {                                                                                                 \
  prefix "StdDev", LNS_RESULT_TIME, 1                                                              \
 }

static inline LnsResultCell
_lns_stats_number (int64_t value)
{
  return (LnsResultCell){ .number = value };
}

static inline LnsResultCell
_lns_stats_text (const char *bytes, size_t size_bytes)
{
  return (LnsResultCell){ .bytes = bytes, .size_bytes = size_bytes };
}

#define LNS_STATS_SHAPE_SIZE 40

/* A grid or block of the THREE sizes, written into TEXT; an empty cell where the report does not tell them, as nothing
 * is launched on a grid of 0. */
LnsResultCell _lns_stats_shape (const uint32_t three[3], char text[LNS_STATS_SHAPE_SIZE]);

/* The name of kernels that the report's arguments ask for. */
LnsKernelName _lns_stats_naming (const LnsStatsResult *result);

/* Whether RESULT is of the report called NAME. */
bool _lns_stats_is_called (const LnsStatsResult *result, const char *name);

/* The string ID of the report. */
LnsResultCell _lns_stats_string (const LnsStatsResult *result, uint32_t id);

/* The same for the name of a call of the CUDA API, without its version. */
LnsResultCell _lns_stats_call_name (const LnsStatsResult *result, uint32_t id);

/* The process and the thread of the packed id TID. */
LnsResultCell _lns_stats_pid (int64_t tid);
LnsResultCell _lns_stats_tid (int64_t tid);

/* VALUE in tenths, or in 10^-DECIMALS, as nsys rounds. */
int64_t _lns_stats_rounded (double value, unsigned decimals);

/* BYTES in thousandths of a MB. */
LnsResultCell _lns_stats_megabytes (double bytes);

/* Appends "domain:name" (both string ids) to TEXT. */
void _lns_stats_append_range (const LnsStatsResult *result,
                              LnsBuffer *text,
                              uint32_t domain_name,
                              uint32_t name);

/* Appends the ids of the ranges around RANGE (of the result's), the outermost first, and its own. */
void
_lns_stats_append_stack (const LnsStatsResult *result, LnsBuffer *text, const LnsTraceRange *range);

/* The id of the range around RANGE, or nothing. */
LnsResultCell _lns_stats_parent (const LnsStatsResult *result, const LnsTraceRange *range);

/* What TEXT holds from FROM on. */
LnsResultCell _lns_stats_appended (const LnsBuffer *text, size_t from);

/* The name of a kernel called NAME (a string id) with its RANGE: "range/name", or "domain:range/name", which TEXT gets.
 * Without a RANGE (NULL), the name alone. */
LnsResultCell _lns_stats_name_in_range (const LnsStatsResult *result,
                                        const LnsCallRange *range,
                                        uint32_t name,
                                        LnsBuffer *text);

/* Writes average, median, least, greatest and standard deviation of SUM, whose total is TOTAL, into CELLS, of which the
 * first, second and fifth have one decimal. */
void _lns_stats_fill (const LnsRangeStat *sum, double total, LnsResultCell cells[5]);

/* The same of the N VALUES, which it sorts; empty cells where there are none. O(n log n). */
void _lns_stats_spread (int64_t *values, size_t n, LnsResultCell cells[5]);

/* The string id of the name that the report's arguments ask for, of an event called NAME (a string id) with the launch
 * LAUNCH. */
uint32_t _lns_stats_kernel_name (const LnsStatsResult *result, uint32_t name, uint64_t launch);

/* The shape of LAUNCH; all zero where the report does not have it. */
const LnsCudaLaunch *_lns_stats_launch (const LnsStatsResult *result, uint64_t launch);

/* By domain, then by name; kernels without a range (NULL) come last. Sorting calls it often. */
static inline int
_lns_stats_compare_ranges (const LnsCallRange *a, const LnsCallRange *b)
{
  if (a == NULL || b == NULL)
    return (a == NULL) - (b == NULL);
  return LNS_COMPARE (a->domain_name, b->domain_name) ?: LNS_COMPARE (a->name, b->name);
}

/* A value to be summed up. */
typedef struct
{
  const LnsCallRange *range; /* or NULL                                                         */
  uint32_t source, name;
  int64_t value;
  uint32_t lane; /* of the event that it is of, or LNS_ID_NONE …                                */
  uint64_t ordinal; /* … and its number there                                                   */
} LnsStatsValue;

typedef LNS_ARRAY (LnsStatsValue) LnsStatsValues;

/* Sorts VALUES and adds their sums by range, source and name, in this order, to the result's. O(n log n). */
void _lns_stats_add_sums (LnsStatsResult *result, LnsStatsValues *values, LnsRangeStyle style);

/* Items FIRST … FIRST + N - 1, which are of one group, and the sum of their values. */
typedef struct
{
  size_t first, n;
  int64_t total_ns;
} LnsStatsGroup;

/* Adds a row for GROUP, whose first item is at ITEMS, to ROWS. VALUES has room for a value of each; TEXT is room for
 * texts, empty at first. */
typedef void (*LnsStatsAddGroup) (const LnsStatsResult *result,
                                  LnsRows *rows,
                                  const void *items,
                                  const LnsStatsGroup *group,
                                  int64_t *values,
                                  LnsBuffer *text);

/* Has ADD look at each group of the result's N ITEMS of SIZE bytes, the one of the greatest sum first. Items are sorted so
 * that those of one group, for which COMPARE is 0, lie together. O(n log n). */
void _lns_stats_write_groups (const LnsStatsResult *result,
                              LnsRows *rows,
                              const void *items,
                              size_t n,
                              size_t size,
                              int (*compare) (const void *a, const void *b),
                              int64_t (*value_ns) (const void *item),
                              LnsStatsAddGroup add);

/* rows.c: the rows of a query (`sql`), written as they come, or summed up. SQL has the tables that `lanescope sql`
 * has. Beside SQLite's functions there are
 *
 *   text(ID)             the string of the report with this id;
 *   call_name(ID)        the same for the name of a call of the CUDA API, without its version;
 *   kernel_name(TABLE, ROWID, CORRELATION, ID)
 *                        the same for the name of a kernel, with its range where the report's arguments ask for that;
 *   device_name(TABLE, ROWID)
 *                        the name of the GPU that this row of TABLE is of, and CUDA's number for it in its process;
 *   thread_name(TABLE, ROWID)
 *                        the name of the thread that this row of TABLE is of. ThreadNames has one name for each id, but
 *                        the system gives the id of a thread that has ended to another one;
 *   mpi_rank(TABLE, ROWID)
 *                        the rank that the process of this row of TABLE was started with;
 *   covered(START, END)  how much of this time the report covers (lns_filter_span ()), ns; NULL where either is NULL;
 *   last_end(ROWID)      the end of what a thread does from this row of SCHED_EVENTS on, which is its last one, ns; NULL where
 *                        that is not known;
 *   difference(A, B)     A - B, or the least or greatest number where that does not fit; NULL where either is NULL;
 *   saturated_sum(N)     the sum of a group, which ends at these, too; 0 where all is NULL.
 *
 * A query of events has four values more than columns, which are the row's place: the name of the table and the rowid of the
 * event, its start and its end (NULL where it is not known).
 *
 * The arguments of the report are parameters: `:rows` (NULL by default) and `:naming`, an LnsKernelName. */
#define LNS_STATS_QUERY(columns, text)                                                             \
 {                                                                                                 \
  _lns_stats_run_query, NULL, _lns_stats_write_query, columns, sizeof columns / sizeof *columns,   \
      .sql = text                                                                                  \
 }

bool _lns_stats_run_query (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error);
bool _lns_stats_run_text (LnsStatsResult *result,
                          const char *sql, /* instead of the way's */
                          const atomic_bool *cancel,
                          LnsError *error);
bool _lns_stats_write_query (const LnsStatsResult *result, LnsRows *rows, LnsError *error);
bool _lns_stats_run_query_sums (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error);
bool _lns_stats_run_row_sums (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error);

/* sums.c */
#define LNS_STATS_MAX_SUM_COLUMNS 12

bool _lns_stats_run_sums (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error);
unsigned _lns_stats_sum_columns (const LnsStatsResult *result,
                                 LnsResultColumn ret_columns[LNS_STATS_MAX_SUM_COLUMNS]);
bool _lns_stats_write_sums (const LnsStatsResult *result, LnsRows *rows, LnsError *error);

/* The ways, each in the file of its name: ranges.c, cuda-trace.c, launches.c, projection.c, mpi.c, memory.c,
 * files.c, gpu-metrics.c, samples.c, scheduling.c. */
extern const LnsStatsWay _lns_stats_ranges;
extern const LnsStatsWay _lns_stats_cuda_calls, _lns_stats_cuda_operations;
extern const LnsStatsWay _lns_stats_launches, _lns_stats_launch_sums;
extern const LnsStatsWay _lns_stats_projection, _lns_stats_projection_sums,
    _lns_stats_projection_kernels;
extern const LnsStatsWay _lns_stats_mpi, _lns_stats_mpi_sums, _lns_stats_mpi_sizes;
extern const LnsStatsWay _lns_stats_files, _lns_stats_gpu_metrics;
extern const LnsStatsWay _lns_stats_samples, _lns_stats_sample_tree;
extern const LnsStatsWay _lns_stats_sched, _lns_stats_threads;
extern const LnsStatsWay _lns_stats_memory, _lns_stats_memory_total, _lns_stats_faults;
