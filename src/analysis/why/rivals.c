/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Who had the CPU while a thread could have run. */

#include "src/analysis/why/maker.h"
#include "src/base/id-map.h"
#include "src/tables/lanes.h"

/* The lane of the CPU that the event of scheduling of PART is about; or LNS_ID_NONE. */
static uint32_t
lane_of_cpu (LnsReport *report, const LnsPart *part)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  LnsEvent event;

  if (part->lane == LNS_ID_NONE || lanes[part->lane].kind != LNS_LANE_SCHED ||
      !lns_report_event (report, part->lane, part->ordinal, &event, NULL))
    return LNS_ID_NONE;
  const uint64_t cpu = event.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_CPU)];
  for (uint32_t i = 0; i < n_lanes; i++)
    if (lanes[i].kind == LNS_LANE_CPU_RUN && lns_track_of (report, i)->number == cpu)
      return i;
  return LNS_ID_NONE;
}

/* Adds to NS_OF, by 1 + thread, how long threads ran on the CPU of PART in its time. */
static bool
add_rivals (LnsWhyMaker *maker, const LnsPart *part, LnsIdMap *ns_of, LnsError *error)
{
  const int column = lns_lane_kind_extra (LNS_LANE_CPU_RUN, LNS_COLUMN_THREAD);
  LnsLaneCursor cursor = { .report = maker->report,
                           .lane = lane_of_cpu (maker->report, part),
                           .columns = LNS_COLUMN_BIT (LNS_COLUMN_THREAD) };
  uint32_t n_threads;
  lns_report_threads (maker->report, &n_threads);
  bool good = lns_lane_cursor_seek (&cursor, part->start_ns, error);

  while (good && lns_lane_cursor_has (&cursor) && lns_lane_cursor_start (&cursor) < part->end_ns)
    {
      const uint64_t thread = lns_chunk_extra (cursor.chunk, column, cursor.i);
      const int64_t start_ns = lns_lane_cursor_start (&cursor),
                    end_ns = lns_lane_cursor_end (&cursor);
      const int64_t from_ns = start_ns > part->start_ns ? start_ns : part->start_ns,
                    to_ns = end_ns < part->end_ns ? end_ns : part->end_ns;
      if (thread < n_threads && to_ns > from_ns)
        lns_id_map_set_number (ns_of, thread + 1,
                               lns_id_map_number (ns_of, thread + 1) + (uint64_t)(to_ns - from_ns));
      good = lns_lane_cursor_next (&cursor, error);
    }
  lns_lane_cursor_clear (&cursor);
  return good;
}

bool
_lns_why_lacks_cpu (LnsWhyMaker *maker, LnsPart *part, bool *ret_lacks, LnsError *error)
{
  LnsIdMap ns_of = { 0 };
  LnsPart run = *part;
  int64_t taken_ns = 0;
  bool good;

  *ret_lacks = false;
  if (!lns_thread_facts_next_run (maker->facts, part->thread, part->start_ns, &run.lane,
                                  &run.ordinal, &run.end_ns, error))
    return false;
  if (run.lane == LNS_ID_NONE || run.end_ns > part->end_ns)
    return true;
  good = add_rivals (maker, &run, &ns_of, error);
  for (size_t i = 0; good && i < ns_of.n_places; i++)
    if (ns_of.entries[i].key != (uint64_t)part->thread + 1)
      taken_ns += (int64_t)(uintptr_t)ns_of.entries[i].value;
  lns_id_map_clear (&ns_of);
  *ret_lacks = good && (double)taken_ns > 0.9 * (double)(run.end_ns - run.start_ns);
  if (*ret_lacks)
    *part = run;
  return good;
}

bool
_lns_why_find_rivals (LnsWhyMaker *maker,
                      const LnsGroup *group,
                      LnsWhyFinding *finding,
                      LnsError *error)
{
  LnsIdMap ns_of = { 0 };
  int64_t all_ns = 0, known_ns = 0, most_ns = 0;
  bool good = true, has_cpus = true;

  for (unsigned i = 0; good && i < group->n_parts; i++)
    {
      has_cpus &= lane_of_cpu (maker->report, &group->parts[i]) != LNS_ID_NONE;
      all_ns += group->parts[i].end_ns - group->parts[i].start_ns;
      good = add_rivals (maker, &group->parts[i], &ns_of, error);
    }
  for (size_t i = 0; good && i < ns_of.n_places; i++)
    {
      const LnsIdMapEntry *entry = &ns_of.entries[i];
      const int64_t ns = (int64_t)(uintptr_t)entry->value;
      if (ns == 0 || entry->key == (uint64_t)finding->own.thread + 1)
        continue;
      known_ns += ns;
      if (ns < all_ns / 10)
        continue;
      finding->n_rivals++;
      if (ns > most_ns)
        {
          most_ns = ns;
          finding->waits[0] = (LnsOccupation){ .thread = (uint32_t)(entry->key - 1) };
          finding->n_waits = 1;
        }
    }
  if (good && has_cpus && known_ns < all_ns / 2)
    {
      finding->is_taken_by_others = true;
      finding->n_waits = 0;
    }
  lns_id_map_clear (&ns_of);
  return good;
}
