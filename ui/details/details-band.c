/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/details/details-band.h"

#include "src/base/saturate.h"

static void
add_chunk (
    LnsDetailsBand *band, const LnsChunk *chunk, bool outermost, int64_t start_ns, int64_t end_ns)
{
  for (uint32_t i = 0; i < chunk->n; i++)
    {
      int64_t event_end_ns = chunk->start_ns[i] + chunk->duration_ns[i];
      bool after = chunk->start_ns[i] >= end_ns;
      bool before = event_end_ns <= start_ns && chunk->start_ns[i] < start_ns;
      if (after || before)
        continue;
      band->n_events++;
      band->n_started += chunk->start_ns[i] >= start_ns;
      if (outermost)
        band->busy_ns = lns_sum (band->busy_ns,
                                 MIN (event_end_ns, end_ns) - MAX (chunk->start_ns[i], start_ns));
      if (chunk->duration_ns[i] > band->longest_ns || band->n_events == 1)
        {
          band->longest_ns = chunk->duration_ns[i];
          band->longest_name = chunk->name[i];
        }
    }
}

static bool
add_lane (LnsDetailsBand *band,
          LnsReport *report,
          uint32_t lane,
          int64_t start_ns,
          int64_t end_ns,
          GCancellable *cancellable,
          LnsError *problem)
{
  uint32_t n;
  const LnsLaneInfo *info = lns_report_lane_info (report, lane);
  bool outermost = lns_report_lanes (report, &n)[lane].ordinal == 0;
  uint64_t first;
  if (info->n_events == 0 || info->start_ns >= end_ns || info->end_ns < start_ns)
    return true;
  if (!lns_report_find (report, lane, start_ns, &first, problem))
    return false;
  if (first >= info->n_events)
    return true;

  LnsChunkWalker *walker = lns_chunk_walker_new (report, lane, LNS_COLUMN_BIT (LNS_COLUMN_NAME));
  lns_chunk_walker_seek (walker, lns_report_chunk_of (report, lane, first));
  const LnsChunk *chunk = lns_chunk_walker_next (walker, problem);
  while (chunk != NULL && chunk->n > 0 && chunk->start_ns[0] < end_ns &&
         !g_cancellable_is_cancelled (cancellable))
    {
      add_chunk (band, chunk, outermost, start_ns, end_ns);
      chunk = lns_chunk_walker_next (walker, problem);
    }
  lns_chunk_walker_free (walker);
  return problem->domain == LNS_ERROR_NONE;
}

bool
lns_details_band (LnsReport *report,
                  const uint32_t *lanes,
                  uint32_t n_lanes,
                  int64_t start_ns,
                  int64_t end_ns,
                  LnsDetailsBand *ret_band,
                  GCancellable *cancellable,
                  GError **error)
{
  LnsError problem = { 0 };
  *ret_band = (LnsDetailsBand){ 0 };
  for (uint32_t i = 0; i < n_lanes; i++)
    {
      if (!add_lane (ret_band, report, lanes[i], start_ns, end_ns, cancellable, &problem))
        {
          g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED, problem.message);
          return false;
        }
      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return false;
    }
  return true;
}
