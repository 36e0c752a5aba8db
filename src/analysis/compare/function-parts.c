/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdlib.h>

#include "src/analysis/compare/reader.h"
#include "src/base/hash.h"
#include "src/base/memory.h"
#include "src/store/read/call-walk.h"
#include "src/tables/lanes.h"

/* Fewer samples a step, on average, tell too little. */
#define LEAST_SAMPLES 2

/* The function that the code of NODE is of, without what was inlined into it; in the kernel, the one of the program that asked it.
 * 0: it has no name. */
static uint32_t
function_at (LnsReport *report, uint32_t node)
{
  uint32_t n_modules;
  const LnsModule *modules = lns_report_modules (report, &n_modules);
  LnsCallWalk walk = lns_call_walk (report, node);
  const LnsStackFrame *frame;

  while ((frame = lns_call_walk_next (&walk)) != NULL)
    if (frame->module >= n_modules || modules[frame->module].kind != LNS_MODULE_KERNEL)
      return frame->is_resolved ? frame->symbol : 0;
  return 0;
}

/* Adds the samples of LANE in STEP, each of which stands for NS; or, where that is 0, only counts them. */
static bool
read_samples (LnsPartReader *reader,
              LnsLaneCursor *cursor,
              size_t step,
              double ns,
              uint64_t *ret_n,
              LnsError *error)
{
  const LnsSpan *span = &reader->times->spans[step];
  const LnsLaneKind kind = lns_report_lanes (reader->report, NULL)[cursor->lane].kind;
  const int chain = lns_lane_kind_extra (kind, LNS_COLUMN_CALL_CHAIN);
  bool good = lns_lane_cursor_seek (cursor, span->start_ns, error);

  for (*ret_n = 0;
       good && lns_lane_cursor_has (cursor) && lns_lane_cursor_start (cursor) < span->end_ns;
       ++*ret_n)
    {
      const uint64_t node = lns_chunk_extra (cursor->chunk, chain, cursor->i);
      const uint32_t name =
          node == 0 || ns <= 0 ? 0 : function_at (reader->report, (uint32_t)(node - 1));
      const int64_t at_ns = lns_lane_cursor_start (cursor);
      const uint64_t keys[] = { LNS_PART_FUNCTION, _lns_part_whole_key (reader, name) };
      bool is_new;
      LnsStepPart *part =
          name == 0 ? NULL : _lns_step_part (reader->times, lns_hash (keys, sizeof keys), &is_new);
      if (part != NULL)
        {
          const LnsEvidence event = { at_ns, at_ns, cursor->lane,
                                      lns_lane_cursor_ordinal (cursor) };
          part->kind = LNS_PART_FUNCTION;
          part->name = name;
          _lns_step_part_add (part, step, ns, &event);
        }
      good = lns_lane_cursor_next (cursor, error);
    }
  return good;
}

/* Adds the samples of LANE: those of a step share its time. RET_FOUND gets whether they are enough to tell anything. */
static bool
read_lane (LnsPartReader *reader, uint32_t lane, bool *ret_found, LnsError *error)
{
  LnsStepTimes *times = reader->times;
  LnsLaneCursor cursor = { .report = reader->report,
                           .lane = lane,
                           .columns = LNS_COLUMN_BIT (LNS_COLUMN_CALL_CHAIN) };
  uint64_t *counts = lns_calloc (times->n, sizeof *counts), n = 0, again;
  bool good = true;

  for (size_t step = 0; good && step < times->n; step++)
    {
      good = lns_go_on (reader->cancel, error) &&
             read_samples (reader, &cursor, step, 0, &counts[step], error);
      n += counts[step];
    }
  *ret_found = good && n >= LEAST_SAMPLES * times->n;
  for (size_t step = 0; *ret_found && good && step < times->n; step++)
    good =
        counts[step] == 0 || (lns_go_on (reader->cancel, error) &&
                              read_samples (reader, &cursor, step,
                                            times->ns[step] / (double)counts[step], &again, error));
  lns_lane_cursor_clear (&cursor);
  free (counts);
  return good;
}

bool
_lns_part_read_functions (LnsPartReader *reader, LnsError *error)
{
  /* Where Python was sampled, its functions tell more. */
  const LnsLaneKind kinds[] = { LNS_LANE_PYTHON_SAMPLE, LNS_LANE_CPU_SAMPLE };
  bool good = true, found = false;

  for (size_t k = 0; good && !found && k < sizeof kinds / sizeof *kinds; k++)
    {
      size_t n_lanes;
      const uint32_t *lanes =
          lns_thread_facts_lanes (reader->facts, reader->why->steps.thread, kinds[k], &n_lanes);
      for (size_t i = 0; good && !found && i < n_lanes; i++)
        {
          reader->times->is_python |= kinds[k] == LNS_LANE_PYTHON_SAMPLE &&
                                      lns_report_lane_info (reader->report, lanes[i])->n_events > 0;
          good = read_lane (reader, lanes[i], &found, error);
        }
    }
  return good;
}
