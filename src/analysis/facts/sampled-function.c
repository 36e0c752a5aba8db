/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/facts/sampled-function.h"

#include "src/store/read/call-walk.h"

/* The string id of the innermost function of sample ORDINAL of LANE, or 0. */
static uint32_t
function_of (LnsReport *report, uint32_t lane, LnsLaneKind kind, uint64_t ordinal)
{
  LnsEvent event;
  const int column = lns_lane_kind_extra (kind, LNS_COLUMN_CALL_CHAIN);
  if (!lns_report_event (report, lane, ordinal, &event, NULL))
    return 0;
  const uint64_t chain = event.extra[column] - 1;
  LnsCallWalk walk = lns_call_walk (report, chain < LNS_ID_NONE ? (uint32_t)chain : LNS_ID_NONE);
  const LnsStackFrame *frame = lns_call_walk_next (&walk);
  return frame != NULL ? frame->symbol : 0;
}

/* Sets RET_FOUND to what LANE's samples between the two times say. Returns false if there are none. */
static bool
ask_lane (LnsReport *report,
          uint32_t lane,
          LnsLaneKind kind,
          int64_t start_ns,
          int64_t end_ns,
          LnsSampledFunction *ret_found)
{
  uint64_t first, end;
  uint32_t names[LNS_SAMPLED_MAX];
  if (!lns_report_find (report, lane, start_ns, &first, NULL) ||
      !lns_report_find (report, lane, end_ns, &end, NULL) || end <= first)
    return false;
  const uint32_t n = end - first < LNS_SAMPLED_MAX ? (uint32_t)(end - first) : LNS_SAMPLED_MAX;
  *ret_found = (LnsSampledFunction){ .n_read = n };
  for (uint32_t i = 0; i < n; i++)
    names[i] = function_of (report, lane, kind, first + (end - first) * (2 * i + 1) / (2 * n));
  for (uint32_t i = 0; i < n; i++)
    {
      uint32_t n_in = 0;
      for (uint32_t k = i; k < n; k++)
        n_in += names[k] == names[i];
      if (names[i] == 0 || n_in <= ret_found->n_in)
        continue;
      ret_found->n_in = n_in;
      ret_found->name = 2 * n_in >= n ? names[i] : 0;
    }
  return true;
}

LnsSampledFunction
lns_sampled_function (LnsReport *report, uint32_t thread, int64_t start_ns, int64_t end_ns)
{
  static const LnsLaneKind kinds[] = { LNS_LANE_PYTHON_SAMPLE, LNS_LANE_CPU_SAMPLE };
  LnsSampledFunction found = { 0 };
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  const LnsTrack *tracks = lns_report_tracks (report, NULL);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (uint32_t lane = 0; lane < n_lanes; lane++)
      if (lanes[lane].kind == kinds[k] && tracks[lanes[lane].track].thread == thread &&
          ask_lane (report, lane, kinds[k], start_ns, end_ns, &found))
        return found;
  return found;
}
