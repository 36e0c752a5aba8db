/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* gpu_gaps and gpu_time_util: when a process's GPU had nothing, or little, to do. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/rules/maker.h"

typedef struct
{
  uint32_t *lanes;
  size_t n;
} Lanes;

/* A GPU as one process used it. */
typedef struct
{
  uint32_t process, device;
  int64_t first_ns, last_ns; /* of its operations: the first start, the last end                 */
  Lanes operations;
  Lanes overhead; /* of the profiler in the process: it may be why the GPU had nothing to do     */
} Gpu;

/* A lane that is read along with others. */
typedef struct
{
  LnsChunkWalker *walker;
  const LnsChunk *chunk; /* NULL at its end                                                      */
  uint32_t i;
} Stream;

/* Looks at what lasted from START_NS to END_NS. */
typedef bool (*SpanFunc) (void *data, int64_t start_ns, int64_t end_ns, LnsError *error);

static bool
no_memory (LnsError *error)
{
  return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                        "not enough memory for rules; close other programs");
}

/* ---- GPUs ------------------------------------------------------------------------------------ */

static bool
is_operation (LnsLaneKind kind)
{
  return kind == LNS_LANE_CUDA_KERNEL || kind == LNS_LANE_CUDA_MEMCPY ||
         kind == LNS_LANE_CUDA_MEMSET || kind == LNS_LANE_CUDA_GRAPH;
}

/* The GPU of TRACK among the N at GPUS, or a new one behind them. */
static Gpu *
find_gpu (Gpu *gpus, size_t *n, const LnsTrack *track)
{
  size_t i = 0;

  while (i < *n && (gpus[i].process != track->process || gpus[i].device != track->device))
    i++;
  if (i == *n)
    gpus[(*n)++] = (Gpu){ .process = track->process,
                          .device = track->device,
                          .first_ns = INT64_MAX,
                          .last_ns = INT64_MIN };
  return &gpus[i];
}

static void
free_lanes (Gpu *gpu)
{
  free (gpu->operations.lanes);
  free (gpu->overhead.lanes);
  gpu->operations = gpu->overhead = (Lanes){ 0 };
}

/* Lists the lanes of the report that belong to GPU: there are as many as the report has at most, of each GPU. */
static bool
list_lanes (LnsReport *report, Gpu *gpu)
{
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (report, &n);
  const LnsTrack *tracks = lns_report_tracks (report, NULL);

  gpu->operations.lanes = calloc ((size_t)n + 1, sizeof (uint32_t));
  gpu->overhead.lanes = calloc ((size_t)n + 1, sizeof (uint32_t));
  if (gpu->operations.lanes == NULL || gpu->overhead.lanes == NULL)
    return false;
  for (uint32_t i = 0; i < n; i++)
    {
      const LnsTrack *track = &tracks[lanes[i].track];
      if (track->process != gpu->process)
        continue;
      if (is_operation (lanes[i].kind) && track->device == gpu->device)
        gpu->operations.lanes[gpu->operations.n++] = i;
      else if (lanes[i].kind == LNS_LANE_CUDA_OVERHEAD)
        gpu->overhead.lanes[gpu->overhead.n++] = i;
    }
  return true;
}

/* All GPUs by process, without their lanes: RET_GPUS (to be freed) gets RET_N. O(lanes × GPUs). */
static bool
list_gpus (LnsReport *report, Gpu **ret_gpus, size_t *ret_n, LnsError *error)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  const LnsTrack *tracks = lns_report_tracks (report, NULL);
  Gpu *gpus = calloc ((size_t)n_lanes + 1, sizeof *gpus);
  size_t n = 0;
  bool good = gpus != NULL;

  for (uint32_t i = 0; good && i < n_lanes; i++)
    {
      const LnsLaneInfo *info = lns_report_lane_info (report, i);
      if (!is_operation (lanes[i].kind) || info->n_events == 0)
        continue;
      Gpu *gpu = find_gpu (gpus, &n, &tracks[lanes[i].track]);
      gpu->first_ns = info->start_ns < gpu->first_ns ? info->start_ns : gpu->first_ns;
      gpu->last_ns = info->end_ns > gpu->last_ns ? info->end_ns : gpu->last_ns;
    }
  if (!good)
    return no_memory (error);
  *ret_gpus = gpus;
  *ret_n = n;
  return true;
}

/* ---- Reading lanes together ------------------------------------------------------------------ */

static bool
step (Stream *stream, LnsError *error)
{
  LnsError local = { 0 };

  if (stream->chunk != NULL && ++stream->i < stream->chunk->n)
    return true;
  stream->i = 0;
  stream->chunk = lns_chunk_walker_next (stream->walker, &local);
  return local.domain == LNS_ERROR_NONE ||
         lns_error_set (error, local.domain, local.code, "%s", local.message);
}

static bool
is_before (const Stream *a, const Stream *b)
{
  return b->chunk == NULL ||
         (a->chunk != NULL && a->chunk->start_ns[a->i] < b->chunk->start_ns[b->i]);
}

/* Lets what is at I of a heap of N sink to its place. */
static void
sink (Stream *heap, size_t n, size_t i)
{
  for (size_t child; (child = 2 * i + 1) < n; i = child)
    {
      if (child + 1 < n && is_before (&heap[child + 1], &heap[child]))
        child++;
      if (!is_before (&heap[child], &heap[i]))
        return;
      Stream swapped = heap[i];
      heap[i] = heap[child];
      heap[child] = swapped;
    }
}

/* Has FUNCTION look at all events of LANES, by start. */
static bool
walk (LnsReport *report,
      const Lanes *lanes,
      SpanFunc function,
      void *data,
      const atomic_bool *cancel,
      LnsError *error)
{
  Stream *heap = calloc (lanes->n + 1, sizeof *heap);
  bool good = heap != NULL || no_memory (error);
  uint32_t n_seen = 0;

  for (size_t i = 0; good && i < lanes->n; i++)
    {
      heap[i].walker =
          lns_chunk_walker_new (report, lanes->lanes[i], LNS_COLUMN_BIT (LNS_COLUMN_START));
      good = (heap[i].walker != NULL || no_memory (error)) && step (&heap[i], error);
    }
  for (size_t i = lanes->n / 2; good && i-- > 0;)
    sink (heap, lanes->n, i);
  while (good && heap[0].chunk != NULL)
    {
      int64_t start_ns = heap[0].chunk->start_ns[heap[0].i];
      good = function (data, start_ns, start_ns + heap[0].chunk->duration_ns[heap[0].i], error) &&
             step (&heap[0], error) && ((++n_seen & 4095) != 0 || _lns_rule_go_on (cancel, error));
      sink (heap, lanes->n, 0);
    }
  for (size_t i = 0; heap != NULL && i < lanes->n; i++)
    lns_chunk_walker_free (heap[i].walker);
  free (heap);
  return good;
}

/* ---- Overhead -------------------------------------------------------------------------------- */

/* A time in which the profiler was busy in a process, on any of its threads. */
typedef struct
{
  int64_t start_ns, end_ns;
  int64_t before_ns; /* how long it was busy before                                              */
} Overhead;

/* Those of a process: in order, none within another. */
typedef struct
{
  Overhead *spans;
  size_t n, n_allocated;
} Overheads;

static bool
add_overhead (void *data, int64_t start_ns, int64_t end_ns, LnsError *error)
{
  Overheads *all = data;
  Overhead *last = all->n > 0 ? &all->spans[all->n - 1] : NULL;

  if (last != NULL && start_ns <= last->end_ns)
    {
      last->end_ns = end_ns > last->end_ns ? end_ns : last->end_ns;
      return true;
    }
  if (all->n == all->n_allocated)
    {
      size_t n = 2 * all->n_allocated + 64;
      Overhead *larger = realloc (all->spans, n * sizeof *larger);
      if (larger == NULL)
        return no_memory (error);
      last = all->n > 0 ? &larger[all->n - 1] : NULL;
      all->spans = larger;
      all->n_allocated = n;
    }
  all->spans[all->n++] =
      (Overhead){ start_ns, end_ns,
                  last != NULL ? last->before_ns + (last->end_ns - last->start_ns) : 0 };
  return true;
}

/* How long the profiler was busy before TIME_NS. */
static int64_t
overhead_before (const Overheads *all, int64_t time_ns)
{
  size_t low = 0, high = all->n;

  while (low < high)
    {
      size_t middle = low + (high - low) / 2;
      if (all->spans[middle].start_ns < time_ns)
        low = middle + 1;
      else
        high = middle;
    }
  if (low == 0)
    return 0;
  const Overhead *span = &all->spans[low - 1];
  return span->before_ns + (time_ns < span->end_ns ? time_ns : span->end_ns) - span->start_ns;
}

/* Says of the rows of GPU, which are those from FIRST on, how much of them was overhead. */
static bool
tell_overhead (
    LnsRuleResult *result, const Gpu *gpu, size_t first, const atomic_bool *cancel, LnsError *error)
{
  Overheads all = { 0 };
  bool good =
      walk (lns_tables_report (result->tables), &gpu->overhead, add_overhead, &all, cancel, error);

  for (size_t i = first; good && i < result->n; i++)
    {
      LnsRuleRow *row = &result->rows[i];
      row->overhead_ns = overhead_before (&all, row->start_ns + row->duration_ns) -
                         overhead_before (&all, row->start_ns);
    }
  free (all.spans);
  return good;
}

/* Has RUN look at each GPU. */
static bool
for_each_gpu (LnsRuleResult *result,
              bool (*run) (LnsRuleResult *, const Gpu *, const atomic_bool *, LnsError *),
              const atomic_bool *cancel,
              LnsError *error)
{
  Gpu *gpus = NULL;
  size_t n = 0;
  bool good = list_gpus (lns_tables_report (result->tables), &gpus, &n, error);

  result->has_data = n > 0;
  for (size_t i = 0; good && i < n; i++)
    {
      size_t first = result->n;
      good = (list_lanes (lns_tables_report (result->tables), &gpus[i]) || no_memory (error)) &&
             run (result, &gpus[i], cancel, error);
      if (good && result->n > first)
        good = tell_overhead (result, &gpus[i], first, cancel, error);
      free_lanes (&gpus[i]);
    }
  free (gpus);
  return good;
}

/* ---- Gaps ------------------------------------------------------------------------------------ */

typedef struct
{
  LnsRuleResult *result;
  const Gpu *gpu;
  int64_t until_ns; /* to here it was busy                                                       */
} Gaps;

static bool
look_for_gap (void *data, int64_t start_ns, int64_t end_ns, LnsError *error)
{
  Gaps *gaps = data;
  int64_t duration_ns = start_ns - gaps->until_ns;
  bool good = true;

  if (duration_ns > gaps->result->options.gap_ns)
    good = _lns_rule_add (gaps->result,
                          (LnsRuleRow){ .start_ns = gaps->until_ns,
                                        .duration_ns = duration_ns,
                                        .process = gaps->gpu->process,
                                        .device = gaps->gpu->device },
                          error);
  gaps->until_ns = end_ns > gaps->until_ns ? end_ns : gaps->until_ns;
  return good;
}

static bool
find_gaps (LnsRuleResult *result, const Gpu *gpu, const atomic_bool *cancel, LnsError *error)
{
  Gaps gaps = { result, gpu, gpu->first_ns };
  return walk (lns_tables_report (result->tables), &gpu->operations, look_for_gap, &gaps, cancel,
               error);
}

bool
_lns_rule_run_gaps (LnsRuleResult *result, const atomic_bool *cancel, LnsError *error)
{
  return for_each_gpu (result, find_gaps, cancel, error);
}

/* ---- Utilization ----------------------------------------------------------------------------- */

typedef struct
{
  const Gpu *gpu;
  int64_t n_parts;
  double *busy_ns; /* a part each; what overlaps adds up                                         */
} Parts;

/* Where part I begins. */
static int64_t
part_start (const Parts *parts, int64_t i)
{
  return parts->gpu->first_ns +
         (int64_t)(((__int128)parts->gpu->last_ns - parts->gpu->first_ns) * i / parts->n_parts);
}

static bool
add_span (void *data, int64_t start_ns, int64_t end_ns, LnsError *error)
{
  const Parts *parts = data;
  int64_t first_ns = parts->gpu->first_ns, last_ns = parts->gpu->last_ns;

  (void)error;
  start_ns = start_ns > first_ns ? start_ns : first_ns;
  end_ns = end_ns < last_ns ? end_ns : last_ns;
  if (end_ns <= start_ns)
    return true;
  int64_t i =
      (int64_t)(((__int128)start_ns - first_ns) * parts->n_parts / ((__int128)last_ns - first_ns));
  for (; i < parts->n_parts && part_start (parts, i) < end_ns; i++)
    {
      int64_t from_ns = part_start (parts, i), to_ns = part_start (parts, i + 1);
      from_ns = start_ns > from_ns ? start_ns : from_ns;
      to_ns = end_ns < to_ns ? end_ns : to_ns;
      parts->busy_ns[i] += to_ns > from_ns ? (double)(to_ns - from_ns) : 0;
    }
  return true;
}

/* Adds the parts that are less busy than asked for, neighbours as one. */
static bool
add_parts (LnsRuleResult *result, const Parts *parts, LnsError *error)
{
  bool good = true;

  for (int64_t from = 0, to; good && from < parts->n_parts; from = to)
    {
      double busy_ns = 0;
      for (to = from; to < parts->n_parts; to++)
        {
          double size_ns = (double)(part_start (parts, to + 1) - part_start (parts, to));
          if (parts->busy_ns[to] * 100 >= result->options.busy_percent * size_ns)
            break;
          busy_ns += parts->busy_ns[to];
        }
      int64_t start_ns = part_start (parts, from), duration_ns = part_start (parts, to) - start_ns;
      if (duration_ns > 0)
        good = _lns_rule_add (result,
                              (LnsRuleRow){ .start_ns = start_ns,
                                            .duration_ns = duration_ns,
                                            .process = parts->gpu->process,
                                            .device = parts->gpu->device,
                                            .percent = 100 * busy_ns / (double)duration_ns },
                              error);
      to += to == from;
    }
  return good;
}

static bool
find_idle_parts (LnsRuleResult *result, const Gpu *gpu, const atomic_bool *cancel, LnsError *error)
{
  Parts parts = { gpu, result->options.n_chunks, NULL };
  bool good = gpu->last_ns <= gpu->first_ns;

  if (good)
    return true;
  parts.busy_ns = calloc ((size_t)parts.n_parts, sizeof *parts.busy_ns);
  good = parts.busy_ns != NULL || no_memory (error);
  good = good &&
         walk (lns_tables_report (result->tables), &gpu->operations, add_span, &parts, cancel,
               error) &&
         add_parts (result, &parts, error);
  free (parts.busy_ns);
  return good;
}

bool
_lns_rule_run_utilization (LnsRuleResult *result, const atomic_bool *cancel, LnsError *error)
{
  return for_each_gpu (result, find_idle_parts, cancel, error);
}

int
_lns_rule_compare_percents (const void *a, const void *b)
{
  const LnsRuleRow *ra = a, *rb = b;

  if (ra->percent != rb->percent)
    return ra->percent < rb->percent ? -1 : 1;
  return ra->start_ns < rb->start_ns ? -1 : ra->start_ns > rb->start_ns;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Duration, start, process, device and overhead. */
static void
make_span (const LnsRuleResult *result, const LnsRuleRow *row, LnsStatsCell cells[5])
{
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (lns_tables_report (result->tables), &n);

  cells[0] = (LnsStatsCell){ .number = row->duration_ns };
  cells[1] = (LnsStatsCell){ .number = row->start_ns };
  cells[2] = (LnsStatsCell){ .number = lns_tables_global_pid (result->tables, row->process) >> 24 &
                                       0xFFFFFF };
  cells[3] = (LnsStatsCell){ .is_empty = row->device >= n };
  if (row->device < n)
    cells[3].number = devices[row->device].number;
  cells[4] = (LnsStatsCell){ .number = row->overhead_ns };
}

bool
_lns_rule_write_gap (const LnsRuleResult *result, size_t i, LnsStatsTable *table, LnsError *error)
{
  LnsStatsCell cells[6] = { { .number = (int64_t)i + 1 } };

  (void)error;
  make_span (result, &result->rows[i], &cells[1]);
  return lns_stats_table_add (table, cells);
}

bool
_lns_rule_write_utilization (const LnsRuleResult *result,
                             size_t i,
                             LnsStatsTable *table,
                             LnsError *error)
{
  LnsStatsCell cells[7] = { { .number = (int64_t)i + 1 },
                            { .number = llround (result->rows[i].percent * 10) } };

  (void)error;
  make_span (result, &result->rows[i], &cells[2]);
  return lns_stats_table_add (table, cells);
}
