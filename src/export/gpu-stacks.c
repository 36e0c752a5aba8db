/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/export/gpu-stacks.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/base/search.h"
#include "src/tables/row-cursor.h"

#define STRETCH 65536

static const char *const WORK_TABLES[] = { "CUPTI_ACTIVITY_KIND_KERNEL",
                                           "CUPTI_ACTIVITY_KIND_MEMCPY" };
#define N_WORK_TABLES (sizeof WORK_TABLES / sizeof *WORK_TABLES)

/* What --strip-… and --filter-out do with a name. */
enum
{
  NAME_KNOWN = 1 << 0,
  NAME_STRIPPED = 1 << 1,
  NAME_FILTERED = 1 << 2,
};

/* A kernel or copy. */
typedef struct
{
  uint64_t correlation;
  int64_t duration_ns;
  uint32_t process;
  uint32_t name;
  uint32_t order; /* among those of one call                                                    */
} Work;

typedef struct
{
  uint32_t name, lane;
  int64_t end_ns;
} Range;

/* The ranges that are open in a thread, the outermost first. */
typedef LNS_ARRAY (Range) Thread;

struct LnsGpuStacks
{
  const LnsExportJob *job;
  int start, end, correlation, name; /* columns of the table that was begun last; name may be -1 */
  LNS_ARRAY (Work) work;

  Thread *threads; /* by thread instance                                                        */
  uint32_t n_threads;
  uint8_t *names; /* by string id                                                               */
  uint32_t n_names;
  regex_t filter;
  bool has_filter;
  LNS_ARRAY (uint32_t) frames; /* the stack that is told                                        */
  LnsGpuStackFunc function;
  void *data;
  uint64_t n_rows;               /* of kernels and copies that were asked for                   */
  uint64_t n_stacks, n_filtered; /* given to `function`, and left out by the filter             */
};

void
lns_gpu_stacks_free (LnsGpuStacks *stacks)
{
  for (uint32_t i = 0; stacks->threads != NULL && i < stacks->n_threads; i++)
    lns_array_clear (&stacks->threads[i]);
  if (stacks->has_filter)
    regfree (&stacks->filter);
  free (stacks->threads);
  free (stacks->names);
  lns_array_clear (&stacks->frames);
  lns_array_clear (&stacks->work);
  free (stacks);
}

void *
lns_gpu_stacks_open (const LnsExportJob *job, LnsError *error)
{
  LnsGpuStacks *stacks = lns_calloc (1, sizeof *stacks);
  const char *filter = job->options->folding.filter_out;

  stacks->job = job;
  if (filter == NULL || filter[0] == '\0')
    return stacks;
  stacks->has_filter = regcomp (&stacks->filter, filter, REG_EXTENDED | REG_NOSUB) == 0;
  if (stacks->has_filter)
    return stacks;
  lns_error_set (error, LNS_ERROR_USAGE, 0,
                 "--filter-out: “%s” is not an extended regular expression", filter);
  lns_gpu_stacks_free (stacks);
  return NULL;
}

/* ---- Gathering -------------------------------------------------------------------------------- */

bool
lns_gpu_stacks_takes (const LnsTable *table)
{
  for (size_t i = 0; i < N_WORK_TABLES; i++)
    if (strcmp (table->name, WORK_TABLES[i]) == 0)
      return true;
  return false;
}

bool
lns_gpu_stacks_begin (void *data, const LnsTable *table, LnsError *error)
{
  LnsGpuStacks *stacks = data;

  stacks->start = lns_table_column (table, "start");
  stacks->end = lns_table_column (table, "end");
  stacks->correlation = lns_table_column (table, "correlationId");
  stacks->name = lns_table_column (table, "demangledName");
  return true;
}

bool
lns_gpu_stacks_row (void *data, const LnsSinkRow *row, LnsError *error)
{
  LnsGpuStacks *stacks = data;
  const LnsValue *correlation = &row->values[stacks->correlation], *end = &row->values[stacks->end];

  stacks->n_rows++;
  if (correlation->type != LNS_VALUE_INTEGER || correlation->integer == 0 ||
      end->type != LNS_VALUE_INTEGER || row->lane == LNS_ID_NONE)
    return true;
  const uint32_t n_before = (uint32_t)stacks->work.n;
  int64_t duration_ns = lns_difference (end->integer, row->values[stacks->start].integer);
  *lns_array_add (&stacks->work) = (Work){
    .process = lns_export_track (stacks->job->report, row->lane)->process,
    .correlation = (uint64_t)correlation->integer,
    .name = stacks->name >= 0 ? (uint32_t)row->values[stacks->name].integer : LNS_GPU_STACK_COPY,
    .order = n_before,
    .duration_ns = duration_ns > 0 ? duration_ns : 0, /* a kept row may end before it starts */
  };
  return true;
}

/* ---- Names ------------------------------------------------------------------------------------ */

const char *
lns_gpu_stacks_name (const LnsGpuStacks *stacks, uint32_t name, size_t *ret_size_bytes)
{
  const char *other = name == LNS_GPU_STACK_COPY     ? "memcpy"
                      : name == LNS_GPU_STACK_PYTHON ? "[Python]"
                                                     : NULL;

  if (other == NULL)
    return lns_report_string (stacks->job->report, name, ret_size_bytes);
  *ret_size_bytes = strlen (other);
  return other;
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

static void
push (Thread *thread, Range range, int64_t start_ns)
{
  size_t n = 0;

  /* A range that ended earlier, or lies in the same lane, is over even if its end is not known. */
  for (size_t i = 0; i < thread->n; i++)
    if (thread->items[i].end_ns >= start_ns && thread->items[i].lane != range.lane)
      thread->items[n++] = thread->items[i];
  thread->n = n;
  *lns_array_add (thread) = range;
}

/* Passes on the stack of WORK, which a call that ended at END_NS launched. THREAD is NULL if it is not known. */
static bool
tell (LnsGpuStacks *stacks, const Thread *thread, int64_t end_ns, const Work *work, LnsError *error)
{
  unsigned flags = name_flags (stacks, work->name);

  stacks->frames.n = 0;
  for (size_t i = 0; thread != NULL && i < thread->n; i++)
    if (thread->items[i].end_ns >= end_ns)
      {
        unsigned range_flags = name_flags (stacks, thread->items[i].name);
        flags |= range_flags;
        if ((range_flags & NAME_STRIPPED) == 0)
          *lns_array_add (&stacks->frames) = thread->items[i].name;
      }
  *lns_array_add (&stacks->frames) = work->name;
  stacks->n_filtered += (flags & NAME_FILTERED) != 0;
  stacks->n_stacks += (flags & NAME_FILTERED) == 0;
  return (flags & NAME_FILTERED) != 0 ||
         stacks->function (stacks->data, stacks->frames.items, (unsigned)stacks->frames.n,
                           work->duration_ns, error);
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

/* Returns the position of the first work of (PROCESS, CORRELATION) in the sorted list, or of the next one. GUESS is
 * tried first, because calls mostly come in the order of their correlations. */
static size_t
find_work (const LnsGpuStacks *stacks, uint32_t process, uint64_t correlation, size_t guess)
{
  const Work key = { .process = process, .correlation = correlation };
  if (guess < stacks->work.n && compare (&stacks->work.items[guess], &key) >= 0 &&
      (guess == 0 || compare (&stacks->work.items[guess - 1], &key) < 0))
    return guess;
  return LNS_LOWER_BOUND (stacks->work.n, i, compare (&stacks->work.items[i], &key) < 0);
}

/* A cursor over calls or ranges, by start. */
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

  sweep->start = lns_table_column (table, "start");
  sweep->end = lns_table_column (table, "end");
  sweep->value = lns_table_column (table, value);
  sweep->cursor = lns_row_cursor_new (stacks->job->tables, table);
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

/* Pushes the ranges that begin up to START_NS on the stacks of their threads. */
static bool
push_ranges (LnsGpuStacks *stacks, Sweep *ranges, int64_t start_ns, LnsError *error)
{
  while (ranges->has_row && integer_at (ranges, ranges->start, 0) <= start_ns)
    {
      const uint32_t lane = lns_row_cursor_lane (ranges->cursor),
                     thread = lns_export_track (stacks->job->report, lane)->thread;
      Range range = { .lane = lane,
                      .name = lns_row_cursor_name (ranges->cursor),
                      .end_ns = integer_at (ranges, ranges->end, INT64_MAX) };
      if (thread != LNS_ID_NONE)
        push (&stacks->threads[thread], range, integer_at (ranges, ranges->start, 0));
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
      const LnsTrack *track =
          lns_export_track (stacks->job->report, lns_row_cursor_lane (calls->cursor));
      const uint64_t correlation = (uint64_t)integer_at (calls, calls->value, 0);
      if (!push_ranges (stacks, ranges, integer_at (calls, calls->start, 0), error))
        return false;
      guess = correlation != 0 ? find_work (stacks, track->process, correlation, guess) : guess;
      for (; correlation != 0 && guess < stacks->work.n; guess++)
        {
          Work *work = &stacks->work.items[guess];
          if (work->process != track->process || work->correlation != correlation)
            break;
          /* A call of the driver may share the correlation of the call of the runtime around it. The outer one
           * counts. */
          if (work->duration_ns >= 0 &&
              !tell (stacks, track->thread != LNS_ID_NONE ? &stacks->threads[track->thread] : NULL,
                     end_ns, work, error))
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

/* Returns whether the report holds kernels or copies, even if they were not asked for. */
static bool
has_work (LnsTables *tables)
{
  for (size_t i = 0; i < N_WORK_TABLES; i++)
    if (lns_tables_n_rows (tables, lns_table_find (WORK_TABLES[i])) > 0)
      return true;
  return false;
}

/* Says why there was no stack, if there was none. */
static void
tell_lack (const LnsGpuStacks *stacks)
{
  const char **ret_lacks = stacks->job->options->ret_lacks;

  if (ret_lacks == NULL || stacks->n_stacks > 0)
    return;
  *ret_lacks =
      stacks->n_filtered > 0 ? "--filter-out leaves out every stack; give another expression"
      : stacks->n_rows > 0
          ? "no kernel or copy has the CUDA call that began it, whose ranges make its stack; "
            "record with --trace=cuda,nvtx while the calls are made"
      : has_work (stacks->job->tables)
          ? "--times or --tables leave out every kernel and copy; ask for more"
          : "the report holds no kernels and no copies to make stacks of; record a program "
            "that uses a GPU with --trace=cuda,nvtx";
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
  stacks->threads = lns_calloc (stacks->n_threads, sizeof *stacks->threads);
  stacks->names = lns_calloc (stacks->n_names, sizeof *stacks->names);
  stacks->function = function;
  stacks->data = data;
  if (stacks->work.n > 0)
    qsort (stacks->work.items, stacks->work.n, sizeof *stacks->work.items, compare);
  bool good =
      open_sweep (stacks, &calls, "CUPTI_ACTIVITY_KIND_RUNTIME", "correlationId", NULL, error) &&
      open_sweep (stacks, &ranges, "NVTX_EVENTS", "textId", &push_pop, error) &&
      sweep_calls (stacks, &calls, &ranges, error);
  lns_row_cursor_free (calls.cursor);
  lns_row_cursor_free (ranges.cursor);
  if (good)
    tell_lack (stacks);
  return good;
}

LnsExportText *
lns_gpu_stacks_text (const LnsGpuStacks *stacks)
{
  return stacks->job->text;
}

bool
lns_gpu_stacks_has_work (const LnsGpuStacks *stacks)
{
  return stacks->n_rows > 0;
}
