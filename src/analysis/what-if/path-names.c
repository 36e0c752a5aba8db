/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/what-if/path-names.h"

#include <stdlib.h>

#include "src/analysis/facts/launch-finder.h"
#include "src/analysis/facts/thread-facts.h"
#include "src/analysis/graph/path-event.h"
#include "src/base/compare.h"
#include "src/base/id-map.h"
#include "src/base/memory.h"
#include "src/store/read/call-walk.h"
#include "src/tables/lanes.h"

/* Whether somebody wants no more is looked at so often. */
#define LINKS_A_LOOK 1024

/* Names by their string ids. */
typedef struct
{
  LnsPathNames *names;
  LnsIdMap at; /* string id -> 1 + index                                                         */
} Sums;

static void
add (Sums *sums, uint32_t name, int64_t ns, uint64_t n)
{
  const uint64_t known = lns_id_map_number (&sums->at, name);

  if (known == 0)
    {
      *lns_array_add (sums->names) = (LnsPathName){ .name = name, .ns = ns, .n = n };
      lns_id_map_set_number (&sums->at, name, sums->names->n);
      return;
    }
  sums->names->items[known - 1].ns += ns;
  sums->names->items[known - 1].n += n;
}

static int
compare_names (const void *a, const void *b)
{
  const LnsPathName *na = a, *nb = b;
  return LNS_COMPARE (nb->ns, na->ns) ?: LNS_COMPARE (na->name, nb->name);
}

static void
finish (Sums *sums)
{
  if (sums->names->n > 0)
    qsort (sums->names->items, sums->names->n, sizeof *sums->names->items, compare_names);
  lns_id_map_clear (&sums->at);
}

static const LnsGraphLabel *
label_of (const LnsCriticalPath *critical, const LnsPathLink *link)
{
  return &critical->graph->labels.items[link->label];
}

static uint32_t
thread_of (const LnsCriticalPath *critical, const LnsPathLink *link)
{
  return critical->graph->agents.items[label_of (critical, link)->agent].thread;
}

/* --- Functions -------------------------------------------------------------------------------- */

/* Sets the cursor of each thread of REPORT to the lane with its samples, of Python where there are any. To be freed. */
static LnsLaneCursor *
sample_cursors (LnsReport *report, uint32_t *ret_n)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);

  lns_report_threads (report, ret_n);
  LnsLaneCursor *cursors = lns_calloc ((size_t)*ret_n + 1, sizeof *cursors);
  for (uint32_t i = 0; i < *ret_n; i++)
    cursors[i] = (LnsLaneCursor){ .report = report,
                                  .lane = LNS_ID_NONE,
                                  .columns = LNS_COLUMN_BIT (LNS_COLUMN_CALL_CHAIN) };
  for (uint32_t lane = 0; lane < n_lanes; lane++)
    {
      const uint32_t thread = lns_track_of (report, lane)->thread;
      const bool is_python = lanes[lane].kind == LNS_LANE_PYTHON_SAMPLE;
      if (thread < *ret_n && (is_python || lanes[lane].kind == LNS_LANE_CPU_SAMPLE) &&
          lns_report_lane_info (report, lane)->n_events > 0 &&
          (is_python || cursors[thread].lane == LNS_ID_NONE))
        cursors[thread].lane = lane;
    }
  return cursors;
}

/* The innermost function of the sample that CURSOR is at, or 0. */
static uint32_t
function_at (const LnsLaneCursor *cursor)
{
  const LnsLaneKind kind = lns_report_lanes (cursor->report, NULL)[cursor->lane].kind;
  const uint64_t chain =
      lns_chunk_extra (cursor->chunk, lns_lane_kind_extra (kind, LNS_COLUMN_CALL_CHAIN),
                       cursor->i) -
      1;
  LnsCallWalk walk =
      lns_call_walk (cursor->report, chain < LNS_ID_NONE ? (uint32_t)chain : LNS_ID_NONE);
  const LnsStackFrame *frame = lns_call_walk_next (&walk);

  return frame != NULL ? frame->symbol : 0;
}

/* Shares LINK out to the samples that CURSOR finds in it. */
static bool
share_out (Sums *sums, LnsLaneCursor *cursor, const LnsPathLink *link, LnsError *error)
{
  const int64_t ns = link->end_ns - link->start_ns;
  uint64_t first = 0, end = 0;

  if (cursor->lane != LNS_ID_NONE &&
      (!lns_report_find (cursor->report, cursor->lane, link->start_ns, &first, error) ||
       !lns_report_find (cursor->report, cursor->lane, link->end_ns, &end, error)))
    return false;
  if (end <= first)
    {
      add (sums, 0, ns, 0);
      return true;
    }
  const int64_t n = (int64_t)(end - first);
  if (!lns_lane_cursor_go (cursor, first, error))
    return false;
  for (int64_t i = 0; i < n && lns_lane_cursor_has (cursor); i++)
    {
      add (sums, function_at (cursor), ns / n + (i < ns % n), 1);
      if (!lns_lane_cursor_next (cursor, error))
        return false;
    }
  return true;
}

bool
lns_path_functions (LnsReport *report,
                    const LnsCriticalPath *critical,
                    const atomic_bool *cancel,
                    LnsPathNames *ret_names,
                    LnsError *error)
{
  const LnsPath *path = &critical->path;
  Sums sums = { .names = ret_names };
  uint32_t n_threads;
  LnsLaneCursor *cursors = sample_cursors (report, &n_threads);
  bool good = true;

  for (size_t i = 0; good && i < path->links.n; i++)
    {
      const LnsPathLink *link = &path->links.items[i];
      const uint32_t thread = thread_of (critical, link);
      const LnsPieceKind kind = label_of (critical, link)->kind;
      good = i % LINKS_A_LOOK != 0 || lns_go_on (cancel, error);
      if (good && thread < n_threads && (kind == LNS_PIECE_RUN || kind == LNS_PIECE_CALL))
        good = share_out (&sums, &cursors[thread], link, error);
    }
  for (uint32_t i = 0; i < n_threads; i++)
    lns_lane_cursor_clear (&cursors[i]);
  free (cursors);
  finish (&sums);
  return good;
}

/* --- Ranges ----------------------------------------------------------------------------------- */

/* What ranges are found with. */
typedef struct
{
  LnsThreadFacts *facts;
  LnsLaunchFinder *finder;
  LnsPathEvents *events;
  LnsError *error;
} Finding;

/* Shares LINK, of THREAD, out to the innermost ranges that it is in. */
static bool
add_thread_link (Finding *finding, Sums *sums, uint32_t thread, const LnsPathLink *link)
{
  for (int64_t at_ns = link->start_ns; at_ns < link->end_ns;)
    {
      LnsDeed deed = { .range = 0 };
      int64_t until_ns;
      if (!lns_thread_facts_range (finding->facts, thread, at_ns, &deed, &until_ns, finding->error))
        return false;
      if (until_ns > link->end_ns || until_ns <= at_ns)
        until_ns = link->end_ns;
      add (sums, deed.range, until_ns - at_ns, 1);
      at_ns = until_ns;
    }
  return true;
}

/* Adds LINK, of a GPU, to the range in which its operation was launched. */
static bool
add_gpu_link (Finding *finding, Sums *sums, const LnsPathLink *link)
{
  LnsPathEvent event;
  LnsLaunchCall call;
  LnsDeed deed = { .range = 0 };
  int64_t until_ns;
  bool found = lns_path_events_find (finding->events, link, &event);

  if (found && !lns_launch_finder_find (finding->finder, event.lane, event.ordinal, &found, &call,
                                        finding->error))
    return false;
  if (found && call.thread != LNS_ID_NONE &&
      !lns_thread_facts_range (finding->facts, call.thread, call.start_ns, &deed, &until_ns,
                               finding->error))
    return false;
  add (sums, deed.range, link->end_ns - link->start_ns, 1);
  return true;
}

bool
lns_path_ranges (LnsReport *report,
                 const LnsCriticalPath *critical,
                 const atomic_bool *cancel,
                 LnsPathNames *ret_names,
                 LnsError *error)
{
  const LnsPath *path = &critical->path;
  Sums sums = { .names = ret_names };
  Finding finding = { .facts = lns_thread_facts_new (report), .error = error };
  bool good = true;

  finding.finder = lns_launch_finder_new (report, lns_thread_facts_classes (finding.facts), cancel);
  finding.events = lns_path_events_new (report, critical->graph);
  for (size_t i = 0; good && i < path->links.n; i++)
    {
      const LnsPathLink *link = &path->links.items[i];
      const uint32_t thread = thread_of (critical, link);
      good = i % LINKS_A_LOOK != 0 || lns_go_on (cancel, error);
      if (good)
        good = thread != LNS_ID_NONE ? add_thread_link (&finding, &sums, thread, link)
                                     : add_gpu_link (&finding, &sums, link);
    }
  lns_path_events_free (finding.events);
  lns_launch_finder_free (finding.finder);
  lns_thread_facts_free (finding.facts);
  finish (&sums);
  return good;
}
