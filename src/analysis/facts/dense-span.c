/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/facts/dense-span.h"

#include "src/store/read/pixels.h"

#define N_PARTS   1024
#define MOST      0.6 /* of the whole: more is not worth to leave out the rest */
#define KEPT      0.999
#define MIN_N     2000
#define MAX_LANES 2000
#define MARGIN    32 /* a 32nd of the part on each side */

/* Adds up in COUNTS how many events begin in each part. */
static bool
count (LnsReport *report, const LnsPixelQuery *query, double counts[N_PARTS], double *ret_sum)
{
  uint32_t n_lanes;
  LnsPixelResult result = { 0 };
  bool ok = true;
  lns_report_lanes (report, &n_lanes);
  *ret_sum = 0;
  for (uint32_t lane = 0; lane < n_lanes && n_lanes <= MAX_LANES && ok; lane++)
    {
      const LnsLaneInfo *info = lns_report_lane_info (report, lane);
      if (info == NULL || info->n_events == 0)
        continue;
      ok = lns_report_query_pixels (report, lane, query, &result, NULL);
      for (uint32_t p = 0; p < N_PARTS && ok; p++)
        {
          counts[p] += result.pixels[p].count;
          *ret_sum += result.pixels[p].count;
        }
    }
  lns_pixel_result_clear (&result);
  return ok;
}

/* The time from the first event to the last one. */
static LnsSpan
find_whole (LnsReport *report)
{
  uint32_t n_lanes;
  LnsSpan whole = { INT64_MAX, INT64_MIN };
  lns_report_lanes (report, &n_lanes);
  for (uint32_t lane = 0; lane < n_lanes; lane++)
    {
      const LnsLaneInfo *info = lns_report_lane_info (report, lane);
      if (info == NULL || info->n_events == 0)
        continue;
      whole.start_ns = info->start_ns < whole.start_ns ? info->start_ns : whole.start_ns;
      whole.end_ns = info->end_ns > whole.end_ns ? info->end_ns : whole.end_ns;
    }
  return whole;
}

bool
lns_dense_span (LnsReport *report, LnsSpan *span)
{
  double counts[N_PARTS] = { 0 }, sum, inside = 0;
  const LnsSpan whole = find_whole (report);
  const double ns_per_part = ((double)whole.end_ns - (double)whole.start_ns) / N_PARTS;
  uint32_t first = 0, best_first = 0, best_n = N_PARTS;
  const LnsPixelQuery query = {
    .origin_ns = whole.start_ns, .ns_per_px = ns_per_part, .n_px = N_PARTS, .min_event_px = N_PARTS
  };
  if (!(ns_per_part >= 1) || !count (report, &query, counts, &sum) || sum < MIN_N)
    return false;
  for (uint32_t p = 0; p < N_PARTS; p++)
    {
      inside += counts[p];
      for (; inside - counts[first] >= KEPT * sum && first < p; first++)
        inside -= counts[first];
      if (inside < KEPT * sum || p + 1 - first >= best_n)
        continue;
      best_first = first;
      best_n = p + 1 - first;
    }
  if (best_n > MOST * N_PARTS)
    return false;
  const double margin_ns = best_n * ns_per_part / MARGIN;
  const double start_ns = (double)whole.start_ns + best_first * ns_per_part - margin_ns;
  const double end_ns = (double)whole.start_ns + (best_first + best_n) * ns_per_part + margin_ns;
  span->start_ns = start_ns > (double)whole.start_ns ? (int64_t)start_ns : whole.start_ns;
  span->end_ns = end_ns < (double)whole.end_ns ? (int64_t)end_ns : whole.end_ns;
  return true;
}
