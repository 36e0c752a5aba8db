/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/export/gpu-stacks.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/saturate.h"
#include "src/tables/row-cursor.h"

#define STRETCH 65536

/* What --strip-… and --filter-out say of a name. */
enum
{
  NAME_KNOWN = 1 << 0,
  NAME_STRIPPED = 1 << 1,
  NAME_FILTERED = 1 << 2,
};

/* A kernel or copy. */
typedef struct
{
  uint32_t process, correlation;
  uint32_t name;
  uint32_t order; /* among those of one call                                                    */
  int64_t duration_ns;
} Work;

typedef struct
{
  uint32_t name, lane;
  int64_t end_ns;
} Range;

/* The ranges that are open in a thread, the outermost first. */
typedef struct
{
  Range *ranges;
  unsigned n, n_allocated;
} Thread;

struct LnsGpuStacks
{
  const LnsExportJob *job;
  int start, end, correlation, name; /* columns of the table that was begun last; name may be -1 */
  Work *work;
  size_t n_work, n_allocated;

  Thread *threads; /* by thread instance                                                        */
  uint32_t n_threads;
  uint8_t *names; /* by string id                                                               */
  uint32_t n_names;
  regex_t filter;
  bool has_filter;
  uint32_t *frames;
  unsigned n_frames_allocated;
  LnsGpuStackFunc function;
  void *data;
  uint64_t n_rows;               /* of kernels and copies that were asked for                   */
  uint64_t n_stacks, n_filtered; /* given to `function`, and left out by the filter             */
};

static bool
no_memory (LnsError *error)
{
  return lns_error_set (
      error, LNS_ERROR_NO_MEMORY, 0,
      "not enough memory to fold the GPU's work into stacks; close other programs "
      "or export less with --times");
}

LnsGpuStacks *
lns_gpu_stacks_new (const LnsExportJob *job, LnsError *error)
{
  LnsGpuStacks *stacks = calloc (1, sizeof *stacks);
  const char *filter = job->options->folding.filter_out;

  if (stacks == NULL)
    {
      no_memory (error);
      return NULL;
    }
  stacks->job = job;
  stacks->has_filter = filter != NULL && filter[0] != '\0';
  if (stacks->has_filter && regcomp (&stacks->filter, filter, REG_EXTENDED | REG_NOSUB) != 0)
    {
      lns_error_set (error, LNS_ERROR_USAGE, 0,
                     "--filter-out: “%s” is not an extended regular expression", filter);
      free (stacks);
      return NULL;
    }
  return stacks;
}

void
lns_gpu_stacks_free (LnsGpuStacks *stacks)
{
  if (stacks == NULL)
    return;
  for (uint32_t i = 0; stacks->threads != NULL && i < stacks->n_threads; i++)
    free (stacks->threads[i].ranges);
  if (stacks->has_filter)
    regfree (&stacks->filter);
  free (stacks->threads);
  free (stacks->names);
  free (stacks->frames);
  free (stacks->work);
  free (stacks);
}

/* ---- Gathering -------------------------------------------------------------------------------- */

bool
lns_gpu_stacks_takes (const LnsTable *table)
{
  return strcmp (table->name, "CUPTI_ACTIVITY_KIND_KERNEL") == 0 ||
         strcmp (table->name, "CUPTI_ACTIVITY_KIND_MEMCPY") == 0;
}

void
lns_gpu_stacks_begin (LnsGpuStacks *stacks, const LnsTable *table)
{
  stacks->start = lns_export_column (table, "start");
  stacks->end = lns_export_column (table, "end");
  stacks->correlation = lns_export_column (table, "correlationId");
  stacks->name = lns_export_column (table, "demangledName");
}

/* The process instance that LANE's events are of; RET_THREAD gets the thread instance. */
static uint32_t
process_of (const LnsGpuStacks *stacks, uint32_t lane, uint32_t *ret_thread)
{
  uint32_t n_lanes, n_tracks, n_threads;
  const LnsLane *lanes = lns_report_lanes (stacks->job->report, &n_lanes);
  const LnsTrack *tracks = lns_report_tracks (stacks->job->report, &n_tracks);
  const LnsThread *threads = lns_report_threads (stacks->job->report, &n_threads);

  *ret_thread = LNS_ID_NONE;
  if (lane >= n_lanes || lanes[lane].track >= n_tracks)
    return LNS_ID_NONE;
  const LnsTrack *track = &tracks[lanes[lane].track];
  if (track->thread >= n_threads)
    return track->process;
  *ret_thread = track->thread;
  return threads[track->thread].process;
}

bool
lns_gpu_stacks_row (LnsGpuStacks *stacks, const LnsSinkRow *row, LnsError *error)
{
  const LnsValue *correlation = &row->values[stacks->correlation], *end = &row->values[stacks->end];
  uint32_t thread;

  stacks->n_rows++;
  if (correlation->type != LNS_VALUE_INTEGER || correlation->integer == 0 ||
      end->type != LNS_VALUE_INTEGER)
    return true;
  if (stacks->n_work == stacks->n_allocated)
    {
      size_t n = stacks->n_allocated > 0 ? stacks->n_allocated + stacks->n_allocated / 2 : 65536;
      Work *work = reallocarray (stacks->work, n, sizeof *work);
      if (work == NULL)
        return no_memory (error);
      stacks->work = work;
      stacks->n_allocated = n;
    }
  int64_t duration_ns = lns_difference (end->integer, row->values[stacks->start].integer);
  stacks->work[stacks->n_work] = (Work){
    .process = process_of (stacks, row->lane, &thread),
    .correlation = (uint32_t)correlation->integer,
    .name = stacks->name >= 0 ? (uint32_t)row->values[stacks->name].integer : LNS_GPU_STACK_COPY,
    .order = (uint32_t)stacks->n_work,
    .duration_ns = duration_ns > 0 ? duration_ns : 0, /* a kept row may end before it starts */
  };
  stacks->n_work++;
  return true;
}

/* ---- Names ------------------------------------------------------------------------------------ */

const char *
lns_gpu_stacks_name (const LnsGpuStacks *stacks, uint32_t name, size_t *ret_size_bytes)
{
  static const char copy[] = "memcpy";

  if (name != LNS_GPU_STACK_COPY)
    return lns_report_string (stacks->job->report, name, ret_size_bytes);
  *ret_size_bytes = sizeof copy - 1;
  return copy;
}

static unsigned
look_at_name (const LnsGpuStacks *stacks, uint32_t name)
{
  const LnsExportFolding *folding = &stacks->job->options->folding;
  size_t size;
  const char *text = lns_gpu_stacks_name (stacks, name, &size);
  unsigned result = NAME_KNOWN;

  if ((folding->strip_layer_number && strncmp (text, "Layer", 5) == 0) ||
      (folding->strip_iteration_number && strncmp (text, "Train step", 10) == 0))
    result |= NAME_STRIPPED;
  if (stacks->has_filter && regexec (&stacks->filter, text, 0, NULL, 0) == 0)
    result |= NAME_FILTERED;
  return result;
}

static unsigned
name_flags (LnsGpuStacks *stacks, uint32_t name)
{
  if (name >= stacks->n_names)
    return look_at_name (stacks, name);
  if (stacks->names[name] == 0)
    stacks->names[name] = (uint8_t)look_at_name (stacks, name);
  return stacks->names[name];
}

/* ---- The sweep -------------------------------------------------------------------------------- */

static bool
push (Thread *thread, Range range, int64_t start_ns, LnsError *error)
{
  unsigned n = 0;

  /* What ended before it or was in its own lane is over, though its end may not be known.         */
  for (unsigned i = 0; i < thread->n; i++)
    if (thread->ranges[i].end_ns >= start_ns && thread->ranges[i].lane != range.lane)
      thread->ranges[n++] = thread->ranges[i];
  thread->n = n;
  if (n == thread->n_allocated)
    {
      unsigned n_allocated = n > 0 ? 2 * n : 16;
      Range *ranges = reallocarray (thread->ranges, n_allocated, sizeof *ranges);
      if (ranges == NULL)
        return no_memory (error);
      thread->ranges = ranges;
      thread->n_allocated = n_allocated;
    }
  thread->ranges[thread->n++] = range;
  return true;
}

/* Tells of WORK, which a call of THREAD (or of none that is known) up to END_NS began. */
static bool
tell (LnsGpuStacks *stacks, const Thread *thread, int64_t end_ns, const Work *work, LnsError *error)
{
  unsigned n_ranges = thread != NULL ? thread->n : 0, n = 0,
           flags = name_flags (stacks, work->name);

  if (n_ranges + 1 > stacks->n_frames_allocated)
    {
      uint32_t *frames = reallocarray (stacks->frames, 2 * n_ranges + 1, sizeof *frames);
      if (frames == NULL)
        return no_memory (error);
      stacks->frames = frames;
      stacks->n_frames_allocated = 2 * n_ranges + 1;
    }
  for (unsigned i = 0; i < n_ranges; i++)
    if (thread->ranges[i].end_ns >= end_ns)
      {
        unsigned range_flags = name_flags (stacks, thread->ranges[i].name);
        flags |= range_flags;
        if ((range_flags & NAME_STRIPPED) == 0)
          stacks->frames[n++] = thread->ranges[i].name;
      }
  stacks->frames[n++] = work->name;
  stacks->n_filtered += (flags & NAME_FILTERED) != 0;
  stacks->n_stacks += (flags & NAME_FILTERED) == 0;
  return (flags & NAME_FILTERED) != 0 ||
         stacks->function (stacks->data, stacks->frames, n, work->duration_ns, error);
}

static int
compare (const void *a, const void *b)
{
  const Work *wa = a, *wb = b;

  if (wa->process != wb->process)
    return wa->process < wb->process ? -1 : 1;
  if (wa->correlation != wb->correlation)
    return wa->correlation < wb->correlation ? -1 : 1;
  return wa->order < wb->order ? -1 : wa->order > wb->order;
}

/* The first of the sorted work of (PROCESS, CORRELATION), or after it. GUESS is tried first: calls mostly
 * come in the order of their correlations. */
static size_t
find_work (const LnsGpuStacks *stacks, uint32_t process, uint32_t correlation, size_t guess)
{
  const Work key = { .process = process, .correlation = correlation };
  size_t low = 0, high = stacks->n_work;

  if (guess < high && compare (&stacks->work[guess], &key) >= 0 &&
      (guess == 0 || compare (&stacks->work[guess - 1], &key) < 0))
    return guess;
  while (low < high)
    {
      size_t middle = low + (high - low) / 2;
      if (compare (&stacks->work[middle], &key) < 0)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

/* Calls and ranges, each by start. */
typedef struct
{
  LnsRowCursor *cursor;
  int start, end, value; /* columns: VALUE is what tells a range's name, or a call's correlation */
  bool has_row;
} Sweep;

static bool
next (Sweep *sweep, LnsError *error)
{
  return lns_row_cursor_next (sweep->cursor, &sweep->has_row, error);
}

static bool
open_sweep (LnsGpuStacks *stacks,
            Sweep *sweep,
            const char *table_name,
            const char *value,
            const LnsRowConstraint *constraint,
            LnsError *error)
{
  const LnsTable *table = lns_table_find (table_name);

  sweep->start = lns_export_column (table, "start");
  sweep->end = lns_export_column (table, "end");
  sweep->value = lns_export_column (table, value);
  sweep->cursor = lns_row_cursor_new (stacks->job->tables, table, error);
  if (sweep->cursor == NULL)
    return false;
  lns_row_cursor_set_columns (sweep->cursor, UINT64_C (1) << sweep->start |
                                                 UINT64_C (1) << sweep->end |
                                                 UINT64_C (1) << sweep->value);
  return lns_row_cursor_start (sweep->cursor, constraint, constraint != NULL, true, error) &&
         next (sweep, error);
}

static int64_t
integer_at (Sweep *sweep, int column, int64_t otherwise)
{
  LnsValue value = lns_row_cursor_value (sweep->cursor, (unsigned)column);

  return value.type == LNS_VALUE_INTEGER ? value.integer : otherwise;
}

/* Opens the ranges that begin up to START_NS. */
static bool
push_ranges (LnsGpuStacks *stacks, Sweep *ranges, int64_t start_ns, LnsError *error)
{
  while (ranges->has_row && integer_at (ranges, ranges->start, 0) <= start_ns)
    {
      uint32_t thread, lane = lns_row_cursor_lane (ranges->cursor);
      process_of (stacks, lane, &thread);
      Range range = { .lane = lane,
                      .name = lns_row_cursor_name (ranges->cursor),
                      .end_ns = integer_at (ranges, ranges->end, INT64_MAX) };
      if (thread < stacks->n_threads &&
          !push (&stacks->threads[thread], range, integer_at (ranges, ranges->start, 0), error))
        return false;
      if (!next (ranges, error))
        return false;
    }
  return true;
}

static bool
sweep_calls (LnsGpuStacks *stacks, Sweep *calls, Sweep *ranges, LnsError *error)
{
  const LnsExportOptions *options = stacks->job->options;
  size_t guess = 0;

  for (uint64_t n = 1; calls->has_row; n++)
    {
      int64_t end_ns = integer_at (calls, calls->end, INT64_MAX);
      uint32_t thread, process = process_of (stacks, lns_row_cursor_lane (calls->cursor), &thread),
                       correlation = (uint32_t)integer_at (calls, calls->value, 0);
      if (!push_ranges (stacks, ranges, integer_at (calls, calls->start, 0), error))
        return false;
      guess = correlation != 0 ? find_work (stacks, process, correlation, guess) : guess;
      for (; correlation != 0 && guess < stacks->n_work; guess++)
        {
          Work *work = &stacks->work[guess];
          if (work->process != process || work->correlation != correlation)
            break;
          /* A driver's call within one of the runtime may have its correlation: the outer one counts. */
          if (work->duration_ns >= 0 &&
              !tell (stacks, thread < stacks->n_threads ? &stacks->threads[thread] : NULL, end_ns,
                     work, error))
            return false;
          work->duration_ns = -1;
        }
      if (!next (calls, error))
        return false;
      if (n % STRETCH == 0 && options->cancel != NULL &&
          atomic_load_explicit (options->cancel, memory_order_relaxed))
        return lns_error_set (error, LNS_ERROR_CANCELLED, 0,
                              "%s was not written: the export was interrupted", stacks->job->path);
    }
  return true;
}

bool
lns_gpu_stacks_sweep (LnsGpuStacks *stacks, LnsGpuStackFunc function, void *data, LnsError *error)
{
  const LnsRowConstraint push_pop = { .column = LNS_NVTX_EVENT_TYPE,
                                      .min = LNS_EVENT_TYPE_PUSH_POP,
                                      .max = LNS_EVENT_TYPE_PUSH_POP };
  Sweep calls = { 0 }, ranges = { 0 };

  lns_report_threads (stacks->job->report, &stacks->n_threads);
  stacks->n_names = lns_report_n_strings (stacks->job->report);
  stacks->threads = calloc (stacks->n_threads + 1, sizeof *stacks->threads);
  stacks->names = calloc (stacks->n_names + 1, sizeof *stacks->names);
  stacks->function = function;
  stacks->data = data;
  if (stacks->threads == NULL || stacks->names == NULL)
    return no_memory (error);
  if (stacks->n_work > 0)
    qsort (stacks->work, stacks->n_work, sizeof *stacks->work, compare);
  bool good =
      open_sweep (stacks, &calls, "CUPTI_ACTIVITY_KIND_RUNTIME", "correlationId", NULL, error) &&
      open_sweep (stacks, &ranges, "NVTX_EVENTS", "textId", &push_pop, error) &&
      sweep_calls (stacks, &calls, &ranges, error);
  lns_row_cursor_free (calls.cursor);
  lns_row_cursor_free (ranges.cursor);
  return good;
}

/* Whether the report holds kernels or copies, asked for or not. */
static bool
has_work (LnsReport *report)
{
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (report, &n);

  for (uint32_t i = 0; i < n; i++)
    if ((lanes[i].kind == LNS_LANE_CUDA_KERNEL || lanes[i].kind == LNS_LANE_CUDA_MEMCPY) &&
        lns_report_lane_info (report, i)->n_events > 0)
      return true;
  return false;
}

void
lns_gpu_stacks_tell (const LnsGpuStacks *stacks)
{
  const char **ret_lacks = stacks->job->options->ret_lacks;

  if (ret_lacks == NULL || stacks->n_stacks > 0)
    return;
  *ret_lacks =
      stacks->n_filtered > 0 ? "--filter-out leaves out every stack; give another expression"
      : stacks->n_rows > 0
          ? "no kernel or copy has the CUDA call that began it, whose ranges make its stack; "
            "record with --trace=cuda,nvtx while the calls are made"
      : has_work (stacks->job->report)
          ? "--times or --tables leave out every kernel and copy; ask for more"
          : "the report holds no kernels and no copies, of which stacks are made; record with "
            "--trace=cuda,nvtx a program that uses a GPU";
}
