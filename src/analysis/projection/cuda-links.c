/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/projection/cuda-links.h"

#include <stdlib.h>

#include "src/base/array.h"
#include "src/base/memory.h"
#include "src/base/search.h"
#include "src/tables/lanes.h"

struct LnsCudaLinks
{
  LnsReport *report;
  const LnsLane *lanes;
  uint32_t *by_process; /* lanes with correlations, ascending by (process, lane)                 */
  uint32_t n_linked;
};

typedef LNS_ARRAY (LnsEventRun) Runs;

static uint32_t
process_of (const LnsCudaLinks *links, uint32_t lane)
{
  return lns_track_of (links->report, lane)->process;
}

static bool
is_linked (const void *links, uint32_t lane)
{
  const LnsLaneKind kind = ((const LnsCudaLinks *)links)->lanes[lane].kind;

  return lns_lane_kind_extra (kind, LNS_COLUMN_CORRELATION) >= 0;
}

LnsCudaLinks *
lns_cuda_links_new (LnsReport *report)
{
  LnsCudaLinks *links = lns_calloc (1, sizeof *links);

  links->report = report;
  links->lanes = lns_report_lanes (report, NULL);
  links->by_process = lns_lanes_by_process (report, is_linked, links, &links->n_linked);
  return links;
}

void
lns_cuda_links_free (LnsCudaLinks *links)
{
  if (links == NULL)
    return;
  free (links->by_process);
  free (links);
}

/* Adds ORDINAL of LANE to the last run, or as a new one. */
static void
add_event (Runs *runs, uint32_t lane, uint64_t ordinal)
{
  LnsEventRun *last = runs->n > 0 ? &runs->items[runs->n - 1] : NULL;

  if (last != NULL && last->lane == lane && last->ordinal + last->n == ordinal)
    last->n++;
  else
    *lns_array_add (runs) = (LnsEventRun){ lane, ordinal, 1 };
}

/* Adds all events of LANE with CORRELATION. */
static bool
add_lane (
    const LnsCudaLinks *links, uint32_t lane, uint64_t correlation, Runs *runs, LnsError *error)
{
  uint64_t n_events = lns_report_lane_info (links->report, lane)->n_events, ordinal;

  for (uint64_t from = 0; from < n_events; from = ordinal + 1)
    {
      if (!lns_report_find_correlation (links->report, lane, correlation, from, &ordinal, error))
        return false;
      if (ordinal == n_events)
        break;
      add_event (runs, lane, ordinal);
    }
  return true;
}

bool
lns_cuda_links_find (const LnsCudaLinks *links,
                     uint32_t lane,
                     uint64_t ordinal,
                     LnsEventRun **ret_runs,
                     size_t *ret_n,
                     LnsError *error)
{
  Runs runs = { 0 };
  uint64_t correlation;
  bool good = true;

  *ret_runs = NULL;
  *ret_n = 0;
  if (!lns_report_correlation (links->report, lane, ordinal, &correlation, error))
    return false;
  if (correlation == 0)
    return true;
  bool is_call = links->lanes[lane].kind == LNS_LANE_CUDA_API;
  uint32_t process = process_of (links, lane);
  const uint64_t first =
      LNS_LOWER_BOUND (links->n_linked, i, process_of (links, links->by_process[i]) < process);
  for (uint64_t i = first; good && i < links->n_linked; i++)
    {
      uint32_t other = links->by_process[i];
      if (process_of (links, other) != process)
        break;
      if ((links->lanes[other].kind == LNS_LANE_CUDA_API) != is_call)
        good = add_lane (links, other, correlation, &runs, error);
    }
  if (!good)
    {
      lns_array_clear (&runs);
      return false;
    }
  *ret_runs = runs.items;
  *ret_n = runs.n;
  return true;
}
