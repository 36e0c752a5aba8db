/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/details/alike-events.h"

#include <stdlib.h>

#include "src/base/array.h"
#include "src/base/compare.h"
#include "src/base/saturate.h"
#include "src/tables/lanes.h"

typedef struct
{
  uint32_t name;
  LNS_ARRAY (int64_t) ns;
  LnsAlikeEvents *events; /* that get the longest                                                */
} Reading;

/* Puts EVENT among the longest if it is one of them. Equal ones come in their order. */
static void
rank (LnsAlikeEvents *events, const LnsAlikeEvent *event)
{
  unsigned at = events->n_longest;

  while (at > 0 && events->longest[at - 1].duration_ns < event->duration_ns)
    at--;
  if (at == LNS_ALIKE_LONGEST)
    return;
  if (events->n_longest < LNS_ALIKE_LONGEST)
    events->n_longest++;
  for (unsigned i = events->n_longest - 1; i > at; i--)
    events->longest[i] = events->longest[i - 1];
  events->longest[at] = *event;
}

static void
add_events (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Reading *reading = data;

  for (uint32_t i = 0; i < chunk->n && reading->ns.n <= LNS_ALIKE_MOST; i++)
    if (chunk->name[i] == reading->name && lns_event_has_length (chunk->flags[i]) &&
        (chunk->flags[i] & LNS_EVENT_OPEN_END) == 0)
      {
        *lns_array_add (&reading->ns) = chunk->duration_ns[i];
        rank (reading->events, &(LnsAlikeEvent){ chunk->lane, chunk->first + i, chunk->start_ns[i],
                                                 chunk->duration_ns[i] });
      }
}

static int
compare_ns (const void *a, const void *b)
{
  const int64_t *na = a, *nb = b;
  return LNS_COMPARE (*na, *nb);
}

/* The bar of NS. */
static unsigned
bar_of (const LnsAlikeEvents *events, int64_t ns)
{
  const double whole_ns = (double)events->most_ns - (double)events->least_ns;
  const double at =
      whole_ns > 0 ? ((double)ns - (double)events->least_ns) / whole_ns * LNS_ALIKE_BARS : 0;
  return at < LNS_ALIKE_BARS - 1 ? (unsigned)at : LNS_ALIKE_BARS - 1;
}

bool
lns_alike_find (LnsReport *report,
                LnsLaneKind kind,
                uint32_t name,
                int64_t own_ns,
                const atomic_bool *cancel,
                LnsAlikeEvents *ret_events)
{
  Reading reading = { .name = name, .events = ret_events };
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  bool good = true;

  *ret_events = (LnsAlikeEvents){ 0 };
  for (uint32_t i = 0; good && i < n_lanes; i++)
    if (lanes[i].kind == kind)
      good = lns_read_lane (report, i,
                            LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_FLAGS),
                            add_events, &reading, cancel, NULL);
  const size_t n = reading.ns.n;
  int64_t *ns = reading.ns.items;
  good = good && n >= 2 && n <= LNS_ALIKE_MOST;
  if (good)
    {
      qsort (ns, n, sizeof *ns, compare_ns);
      ret_events->n = n;
      ret_events->least_ns = ns[0];
      ret_events->most_ns = ns[n - 1];
      ret_events->p50_ns = (int64_t)(((double)ns[(n - 1) / 2] + (double)ns[n / 2]) / 2);
      ret_events->p99_ns = ns[(n * 99 + 99) / 100 - 1];
      for (size_t i = 0; i < n; i++)
        {
          ret_events->sum_ns = lns_sum (ret_events->sum_ns, ns[i]);
          ret_events->n_below += ns[i] < own_ns;
          ret_events->bars[bar_of (ret_events, ns[i])]++;
        }
      ret_events->own = bar_of (ret_events, own_ns);
    }
  lns_array_clear (&reading.ns);
  return good;
}
