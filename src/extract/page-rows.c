/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/extract/page-rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/compare.h"
#include "src/base/language.h"
#include "src/base/memory.h"
#include "src/extract/page-items.h"
#include "src/extract/page-names.h"
#include "src/tables/lanes.h"

#define _(text) lns_text (text)

/* What below a process a lane belongs to, in this order. */
typedef enum
{
  PART_DEVICE,
  PART_PROCESS,
  PART_THREAD
} Part;

/* The places of a lane, from the outermost in. */
typedef struct
{
  uint32_t process_rank, process;
  Part part;
  uint32_t rank, id; /* of its GPU or thread                                                      */
  uint32_t row;      /* below that: the stream, or the kind of track                              */
  uint32_t name;     /* domain, or the track                                                      */
  uint32_t strip;
  uint32_t lane;
} Leaf;

typedef struct
{
  LnsReport *report;
  LNS_ARRAY (Leaf) leaves;
  bool *has_gpu;    /* by process                                                                 */
  bool *calls_cuda; /* by thread                                                                  */
  bool *has_ranges; /* by thread                                                                  */
  LnsPageRows *rows;
} Builder;

/* ---- Labels ----------------------------------------------------------------------------------- */

static const char *
text (const Builder *builder, uint32_t id)
{
  return lns_report_string (builder->report, id, NULL);
}

/* "python3 (4711)", or NAME alone where it has the number, or that is made up. */
static char *
numbered (const char *name, int32_t number)
{
  char digits[16];

  snprintf (digits, sizeof digits, "%" PRId32, number);
  return number >= LNS_FIRST_MADE_UP_ID || strstr (name, digits) != NULL
             ? lns_strdup (name)
             : lns_asprintf ("%s (%s)", name, digits);
}

static char *
process_label (const Builder *builder, uint32_t process)
{
  if (process == LNS_ID_NONE)
    return lns_strdup (_ ("No process"));
  const LnsProcess *it = &lns_report_processes (builder->report, NULL)[process];
  const char *name = text (builder, it->name), *slash = strrchr (name, '/');
  if (slash != NULL && slash[1] != '\0')
    name = slash + 1;
  return numbered (*name != '\0' ? name : _ ("Process"), it->pid);
}

static char *
thread_label (const Builder *builder, uint32_t thread)
{
  const LnsThread *it = &lns_report_threads (builder->report, NULL)[thread];
  const LnsProcess *process = &lns_report_processes (builder->report, NULL)[it->process];
  const char *name = text (builder, it->name);
  const bool has_name = *name != '\0' && strcmp (name, text (builder, process->name)) != 0;

  return numbered (has_name                                  ? name
                   : it->tid != 0 && it->tid == process->pid ? _ ("main")
                                                             : _ ("Thread"),
                   it->tid != 0 ? it->tid : it->target_tid);
}

static char *
device_label (const Builder *builder, uint32_t device)
{
  const LnsCudaDevice *it = &lns_report_devices (builder->report, NULL)[device];
  const char *name = text (builder, it->name);
  char *bus = it->bus != 0 ? lns_strdup (text (builder, it->bus))
                           : lns_asprintf ("GPU %" PRIu32, it->number),
       *label = *name != '\0' ? lns_asprintf ("CUDA HW (%s - %s)", bus, name)
                              : lns_asprintf ("CUDA HW (%s)", bus);

  free (bus);
  return label;
}

/* What ranges of DOMAIN are called in a trace of PyTorch, where domains are its categories; or NULL. */
static const char *
category_label (const Builder *builder, const char *domain)
{
  static const struct
  {
    const char *category, *label;
  } labels[] = { { "cpu_op", N_ ("Operators") },
                 { "python_function", N_ ("Python functions") },
                 { "user_annotation", N_ ("Annotations") },
                 { "gpu_user_annotation", N_ ("Annotations on the GPU") } };

  for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
    if (lns_report_meta (builder->report, "imported_from") != NULL &&
        strcmp (domain, labels[i].category) == 0)
      return _ (labels[i].label);
  return NULL;
}

/* Of a row below a GPU or thread, or of one of a process itself. */
static char *
row_label (const Builder *builder, const Leaf *leaf)
{
  const LnsTrack *track = lns_track_of (builder->report, leaf->lane);
  const LnsDomain *domains = lns_report_domains (builder->report, NULL);
  const char *kind = _lns_page_track (track->kind);

  if (track->stream != LNS_ID_NONE)
    {
      const LnsCudaStream *stream = &lns_report_streams (builder->report, NULL)[track->stream];
      const bool is_whole = stream->number == UINT32_MAX || stream->number == 0;
      char *name = is_whole ? lns_strdup (_ ("Whole context"))
                            : lns_asprintf (_ ("Stream %u"), stream->number),
           *label = leaf->row % 64 == 0 ? lns_strdup (name) : lns_asprintf ("%s: %s", name, kind);
      free (name);
      return label;
    }
  if (track->kind == LNS_TRACK_CPU)
    return lns_asprintf (_ ("CPU %u"), (unsigned)track->number);
  if (track->name != 0)
    return lns_strdup (text (builder, track->name));
  if (track->domain == LNS_ID_NONE || domains[track->domain].name == 0)
    return lns_strdup (kind);
  const char *domain = text (builder, domains[track->domain].name);
  const char *category = category_label (builder, domain);
  return category != NULL ? lns_strdup (category) : lns_asprintf ("%s: %s", kind, domain);
}

/* ---- Order ------------------------------------------------------------------------------------ */

static int
compare_leaves (const void *a, const void *b)
{
  const Leaf *x = a, *y = b;

  return LNS_COMPARE (x->process_rank, y->process_rank)
             ?: LNS_COMPARE (x->process, y->process)
             ?: LNS_COMPARE (x->part, y->part)
             ?: LNS_COMPARE (x->rank, y->rank)
             ?: LNS_COMPARE (x->id, y->id)
             ?: LNS_COMPARE (x->row, y->row)
             ?: LNS_COMPARE (x->name, y->name)
             ?: LNS_COMPARE (x->strip, y->strip)
             ?: LNS_COMPARE (x->lane, y->lane);
}

static bool
is_work (LnsTrackKind kind)
{
  return kind == LNS_TRACK_CUDA_KERNELS || kind == LNS_TRACK_CUDA_MEMCPY ||
         kind == LNS_TRACK_CUDA_MEMSET || kind == LNS_TRACK_CUDA_GRAPHS;
}

static Leaf
place (const Builder *builder, uint32_t lane)
{
  const LnsTrack *track = lns_track_of (builder->report, lane);
  const LnsLane *it = &lns_report_lanes (builder->report, NULL)[lane];
  const bool is_marks = track->kind == LNS_TRACK_NVTX_MARKS;
  Leaf leaf = { .process = track->process,
                .process_rank = track->kind == LNS_TRACK_CPU                                   ? 3
                                : track->process == LNS_ID_NONE                                ? 4
                                : lns_process_is_of_profiler (builder->report, track->process) ? 2
                                : builder->has_gpu[track->process]                             ? 0
                                                                                               : 1,
                .strip = is_marks ? 1 << 20 : it->ordinal,
                .lane = lane };

  /* NVTX first, then calls of CUDA, then what is below these. */
  leaf.row = is_marks ? LNS_TRACK_NVTX_RANGES : track->kind;
  leaf.name = track->domain;
  if (track->kind == LNS_TRACK_COUNTER || track->kind == LNS_TRACK_GPU_METRIC ||
      track->kind == LNS_TRACK_CPU)
    leaf.name = it->track;
  if (track->device != LNS_ID_NONE)
    {
      leaf.part = PART_DEVICE;
      leaf.rank = lns_report_devices (builder->report, NULL)[track->device].number;
      leaf.id = track->device;
      /* Streams with their work, then the rest of the GPU. */
      leaf.row = track->stream != LNS_ID_NONE
                     ? (track->stream << 6) + (is_work (track->kind) ? 0 : track->kind)
                     : (UINT32_C (1) << 31) + track->kind;
    }
  else if (track->thread != LNS_ID_NONE)
    {
      const LnsThread *thread = &lns_report_threads (builder->report, NULL)[track->thread];
      const bool is_main =
          thread->tid == lns_report_processes (builder->report, NULL)[thread->process].pid;
      leaf.part = PART_THREAD;
      leaf.id = track->thread;
      leaf.rank = is_main                        ? 0
                  : builder->calls_cuda[leaf.id] ? 1
                  : builder->has_ranges[leaf.id] ? 2
                                                 : 3;
      if (track->kind == LNS_TRACK_SCHED) /* what the thread's own row shows */
        leaf.row = 0;
    }
  else
    leaf.part = PART_PROCESS;
  return leaf;
}

/* ---- Rows ------------------------------------------------------------------------------------- */

static LnsPageRow *
add_row (Builder *builder, char *label, unsigned depth, bool is_group)
{
  LnsPageRow *row = lns_array_add (&builder->rows->all);

  *row = (LnsPageRow){ .label = label,
                       .depth = depth,
                       .is_group = is_group,
                       .process = LNS_ID_NONE,
                       .device = LNS_ID_NONE,
                       .first_lane = builder->rows->lanes.n };
  return row;
}

static void
add_lane (Builder *builder, uint32_t lane, unsigned strip)
{
  *lns_array_add (&builder->rows->lanes) = (LnsPageLane){ lane, strip };
  builder->rows->all.items[builder->rows->all.n - 1].n_lanes++;
}

/* Adds the row of the GPU or thread that LEAF, the first of it, belongs to. The row of a GPU shows all work below it. */
static void
begin_owner (Builder *builder, const Leaf *leaf)
{
  if (leaf->part == PART_DEVICE)
    {
      LnsPageRow *row = add_row (builder, device_label (builder, leaf->id), 1, true);
      row->is_device = true;
      row->device = leaf->id;
      row->process = leaf->process;
      for (const Leaf *at = leaf, *end = builder->leaves.items + builder->leaves.n;
           at < end && at->part == PART_DEVICE && at->id == leaf->id &&
           at->process == leaf->process;
           at++)
        if (is_work (lns_track_of (builder->report, at->lane)->kind))
          add_lane (builder, at->lane, 0);
    }
  else if (leaf->part == PART_THREAD)
    add_row (builder, thread_label (builder, leaf->id), 1, true)->is_folded =
        !builder->calls_cuda[leaf->id] && !builder->has_ranges[leaf->id];
}

static bool
has_same_owner (const Leaf *a, const Leaf *b)
{
  return a->process_rank == b->process_rank && a->process == b->process && a->part == b->part &&
         a->id == b->id;
}

static bool
is_counter (const Builder *builder, const Leaf *leaf)
{
  return lns_report_lanes (builder->report, NULL)[leaf->lane].kind == LNS_LANE_COUNTER;
}

/* Adds the row that LEAF is drawn in, and that is not the one of BEFORE, which may be NULL. Of several counters, the first one stands for
 * the others. */
static void
add_own_row (Builder *builder, const Leaf *leaf, const Leaf *before)
{
  const unsigned depth = leaf->part == PART_PROCESS ? 1 : 2;
  const Leaf *next = leaf + 1;
  const bool is_last = next == builder->leaves.items + builder->leaves.n,
             is_first = before == NULL || !is_counter (builder, before);

  if (!is_counter (builder, leaf))
    add_row (builder, row_label (builder, leaf), depth, false);
  else if (!is_first)
    add_row (builder, row_label (builder, leaf), depth + 1, false);
  else if (is_last || !has_same_owner (leaf, next) || !is_counter (builder, next))
    add_row (builder, row_label (builder, leaf), depth, false);
  else
    add_row (builder, row_label (builder, leaf), depth, true)->is_folded = true;
}

static void
add_leaf (Builder *builder, const Leaf *leaf, const Leaf *before)
{
  const bool is_cpu = lns_track_of (builder->report, leaf->lane)->kind == LNS_TRACK_CPU;

  if (before == NULL || before->process_rank != leaf->process_rank ||
      before->process != leaf->process)
    {
      LnsPageRow *row = add_row (
          builder, is_cpu ? lns_strdup (_ ("CPUs")) : process_label (builder, leaf->process), 0,
          true);
      row->is_of_cpus = is_cpu;
      row->is_folded = is_cpu || lns_process_is_of_profiler (builder->report, leaf->process);
      before = NULL;
    }
  if (before == NULL || !has_same_owner (before, leaf))
    {
      begin_owner (builder, leaf);
      before = NULL;
    }
  if (leaf->part == PART_THREAD && leaf->row == 0)
    {
      add_lane (builder, leaf->lane, 0);
      return;
    }
  if (before == NULL || before->row != leaf->row || before->name != leaf->name)
    add_own_row (builder, leaf, before);
  add_lane (builder, leaf->lane, leaf->strip);
}

static bool
collect (Builder *builder, const LnsSelection *selection, LnsError *error)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (builder->report, &n_lanes);

  for (uint32_t i = 0; i < n_lanes; i++)
    {
      const LnsTrack *track = lns_track_of (builder->report, i);
      uint64_t n;
      if ((selection->lanes != NULL && !selection->lanes[i]) ||
          lns_lane_kind_info (lanes[i].kind) == NULL || lanes[i].kind == LNS_LANE_NVTX_PROJECTED ||
          lanes[i].kind == LNS_LANE_CUDA_BACKTRACE)
        continue;
      if (!_lns_page_items_count (builder->report, i, &selection->span, NULL, &n, error))
        return false;
      if (n == 0)
        continue;
      if (track->process != LNS_ID_NONE && track->device != LNS_ID_NONE)
        builder->has_gpu[track->process] = true;
      if (track->thread != LNS_ID_NONE && track->kind == LNS_TRACK_CUDA_API)
        builder->calls_cuda[track->thread] = true;
      if (track->thread != LNS_ID_NONE && track->kind == LNS_TRACK_NVTX_RANGES)
        builder->has_ranges[track->thread] = true;
      lns_array_add (&builder->leaves)->lane = i;
    }
  return true;
}

bool
_lns_page_rows_make (LnsReport *report,
                     const LnsSelection *selection,
                     LnsPageRows *ret_rows,
                     LnsError *error)
{
  Builder builder = { .report = report, .rows = ret_rows };
  uint32_t n_processes, n_threads;

  *ret_rows = (LnsPageRows){ 0 };
  lns_report_processes (report, &n_processes);
  lns_report_threads (report, &n_threads);
  builder.has_gpu = lns_calloc (n_processes, sizeof *builder.has_gpu);
  builder.calls_cuda = lns_calloc (n_threads, sizeof *builder.calls_cuda);
  builder.has_ranges = lns_calloc (n_threads, sizeof *builder.has_ranges);
  const bool good = collect (&builder, selection, error);
  for (size_t i = 0; good && i < builder.leaves.n; i++)
    builder.leaves.items[i] = place (&builder, builder.leaves.items[i].lane);
  if (good && builder.leaves.n > 0)
    qsort (builder.leaves.items, builder.leaves.n, sizeof *builder.leaves.items, compare_leaves);
  for (size_t i = 0; good && i < builder.leaves.n; i++)
    add_leaf (&builder, &builder.leaves.items[i], i > 0 ? &builder.leaves.items[i - 1] : NULL);
  lns_array_clear (&builder.leaves);
  free (builder.has_gpu);
  free (builder.calls_cuda);
  free (builder.has_ranges);
  return good;
}

void
_lns_page_rows_clear (LnsPageRows *rows)
{
  for (size_t i = 0; i < rows->all.n; i++)
    free (rows->all.items[i].label);
  lns_array_clear (&rows->all);
  lns_array_clear (&rows->lanes);
}
