/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/export/samples.h"

#include <stdlib.h>

#include "src/base/memory.h"

/* Samples between two looks at `cancel` and calls of `progress`. */
#define STRETCH 65536

typedef struct
{
  const LnsExportJob *job;
  LnsExportSampleFunc function;
  void *data;
  LnsLaneKind kind;
  uint64_t n_done, n_all, n_told;
} Walk;

static bool
is_wanted (const Walk *walk, int64_t time_ns)
{
  const LnsExportTimes *times = walk->job->options->times;
  return times == NULL || (time_ns >= times->min_ns && time_ns <= times->max_ns);
}

static uint64_t
extra (const LnsChunk *chunk, LnsLaneKind kind, LnsColumnId column, uint32_t i)
{
  const int at = lns_lane_kind_extra (kind, column);
  return at >= 0 && chunk->extra[at] != NULL ? chunk->extra[at][i] : 0;
}

static bool
tell_progress (Walk *walk, LnsError *error)
{
  const LnsExportOptions *options = walk->job->options;
  if (options->cancel != NULL && atomic_load_explicit (options->cancel, memory_order_relaxed))
    return lns_error_set (error, LNS_ERROR_CANCELLED, 0,
                          "%s was not written: the export was interrupted", walk->job->path);
  if (options->progress != NULL && walk->n_all > 0)
    options->progress ((double)walk->n_done / (double)walk->n_all, options->progress_data);
  return true;
}

static bool
tell_chunk (Walk *walk, const LnsChunk *chunk, LnsError *error)
{
  for (uint32_t i = 0; i < chunk->n; i++)
    {
      if (walk->n_done++ % STRETCH == 0 && !tell_progress (walk, error))
        return false;
      if (!is_wanted (walk, chunk->start_ns[i]))
        continue;
      const uint64_t chain = extra (chunk, walk->kind, LNS_COLUMN_CALL_CHAIN, i);
      const LnsExportSample sample = {
        .lane = chunk->lane,
        .time_ns = (int64_t)((uint64_t)chunk->start_ns[i] + (uint64_t)walk->job->options->shift_ns),
        .node = lns_export_code_node (walk->job->code, chain),
        .cpu = (uint32_t)extra (chunk, walk->kind, LNS_COLUMN_CPU, i),
        .cycles = extra (chunk, walk->kind, LNS_COLUMN_CYCLES, i),
        .is_python = walk->kind == LNS_LANE_PYTHON_SAMPLE,
      };
      walk->n_told++;
      if (!walk->function (walk->data, &sample, error))
        return false;
    }
  return true;
}

static bool
tell_lane (Walk *walk, uint32_t lane, LnsError *error)
{
  const LnsColumnMask columns =
      LNS_COLUMN_BIT (LNS_COLUMN_START) | LNS_COLUMN_BIT (LNS_COLUMN_CALL_CHAIN) |
      LNS_COLUMN_BIT (LNS_COLUMN_CPU) | LNS_COLUMN_BIT (LNS_COLUMN_CYCLES);
  LnsChunkWalker *walker = lns_chunk_walker_new (walk->job->report, lane, columns);
  const LnsChunk *chunk;
  LnsError damage = { 0 };
  bool good = true;
  while (good && (chunk = lns_chunk_walker_next (walker, &damage)) != NULL)
    good = tell_chunk (walk, chunk, error);
  lns_chunk_walker_free (walker);
  if (good && damage.domain != LNS_ERROR_NONE)
    return lns_error_set (error, damage.domain, damage.code, "%s", damage.message);
  return good;
}

static uint64_t
count_all (const LnsReport *report, LnsLaneKind kind)
{
  uint32_t n_lanes;
  uint64_t n = 0;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  for (uint32_t lane = 0; lane < n_lanes; lane++)
    if (lanes[lane].kind == kind)
      n += lns_report_lane_info (report, lane)->n_events;
  return n;
}

bool
lns_export_has_samples (const LnsReport *report)
{
  return count_all (report, LNS_LANE_CPU_SAMPLE) + count_all (report, LNS_LANE_PYTHON_SAMPLE) > 0;
}

bool
lns_export_has_both (const LnsReport *report)
{
  return count_all (report, LNS_LANE_CPU_SAMPLE) > 0 &&
         count_all (report, LNS_LANE_PYTHON_SAMPLE) > 0;
}

bool
lns_export_each_sample (const LnsExportJob *job,
                        LnsExportSampleFunc function,
                        void *data,
                        LnsError *error)
{
  static const LnsLaneKind kinds[] = { LNS_LANE_CPU_SAMPLE, LNS_LANE_PYTHON_SAMPLE };
  Walk walk = { .job = job, .function = function, .data = data };
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (job->report, &n_lanes);
  const LnsError *failure = &job->code->failure;
  if (failure->domain != LNS_ERROR_NONE)
    return lns_error_set (error, failure->domain, failure->code, "%s", failure->message);
  walk.n_all = count_all (job->report, kinds[0]) + count_all (job->report, kinds[1]);
  bool good = true;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (uint32_t lane = 0; good && lane < n_lanes; lane++)
      if (lanes[lane].kind == kinds[k])
        {
          walk.kind = kinds[k];
          good = tell_lane (&walk, lane, error);
        }
  if (good && walk.n_told == 0 && job->options->ret_lacks != NULL)
    *job->options->ret_lacks = walk.n_all > 0
                                   ? "no sample lies in the times that were asked for"
                                   : "the report has no samples of CPUs; record them with "
                                     "`lanescope profile --sample=process-tree`";
  return good;
}

/* ---- Counts ----------------------------------------------------------------------------------- */

typedef struct
{
  LnsExportCount *counts;
  bool has_both;
} Counting;

static bool
count_one (void *data, const LnsExportSample *sample, LnsError *error)
{
  const Counting *counting = data;
  if (sample->node == LNS_ID_NONE)
    return true;
  LnsExportCount *count = &counting->counts[sample->node];
  if (sample->is_python && counting->has_both)
    count->n_python++;
  else
    count->n++;
  count->cycles += sample->cycles;
  return true;
}

bool
lns_export_count_samples (const LnsExportJob *job, LnsExportCount **ret_counts, LnsError *error)
{
  *ret_counts = lns_calloc (job->code->n_nodes, sizeof **ret_counts);
  Counting counting = { *ret_counts, lns_export_has_both (job->report) };
  return lns_export_each_sample (job, count_one, &counting, error);
}

/* ---- Chains ----------------------------------------------------------------------------------- */

void
lns_export_chain (const LnsExportCode *code, uint32_t node, LnsExportChain *ret_frames)
{
  const LnsStackFrame *frame, *frames = code->frames;
  LnsCallWalk walk = lns_export_code_walk (code, node);
  ret_frames->n = 0;
  while ((frame = lns_call_walk_next (&walk)) != NULL)
    *lns_array_add (ret_frames) = (uint32_t)(frame - frames);
  for (size_t i = 0; i < ret_frames->n / 2; i++)
    {
      const uint32_t other = ret_frames->items[ret_frames->n - 1 - i];
      ret_frames->items[ret_frames->n - 1 - i] = ret_frames->items[i];
      ret_frames->items[i] = other;
    }
}

uint64_t
lns_export_address (const LnsExportCode *code, const LnsStackFrame *frame)
{
  if (frame->module == LNS_ID_NONE)
    return frame->offset;
  const LnsModule *module = &code->modules[frame->module];
  return module->kind == LNS_MODULE_KERNEL ? 0
                                           : module->start + (frame->offset - module->file_offset);
}

uint32_t
lns_export_symbol (const LnsExportCode *code, const LnsStackFrame *frame)
{
  const LnsModule *module = frame->module != LNS_ID_NONE ? &code->modules[frame->module] : NULL;
  const bool is_address =
      module != NULL && module->kind == LNS_MODULE_KERNEL && frame->is_resolved == 0;
  return is_address ? module->path : frame->symbol;
}

void
lns_export_put_clean (LnsExportText *text, const char *bytes, size_t size_bytes, char other)
{
  for (const char *at = bytes, *end = bytes + size_bytes; at < end; at++)
    lns_export_put_byte (
        text, (unsigned char)*at < ' ' || *at == 0x7f || (other != 0 && *at == other) ? '_' : *at);
}

void
lns_export_put_name (LnsExportText *text, uint32_t string, char other)
{
  size_t size;
  const char *name = lns_report_string (text->job->report, string, &size);
  lns_export_put_clean (text, name, size, other);
}
