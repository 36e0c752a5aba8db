/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/cpu/owners.h"

#include <string.h>

#include "src/base/monotonic.h"

/* The kernel copies events at the beginning of a fork and tells of it at the end. So long after its events were opened, a fork
 * that it tells of did not begin before. */
#define FORK_NS INT64_C (100000000)

void
lns_cpu_owners_clear (LnsCpuOwners *owners)
{
  lns_id_map_clear (&owners->of_events);
  lns_id_map_clear (&owners->of_threads);
  lns_id_map_clear (&owners->of_inherited);
  lns_array_clear (&owners->opened_ns);
}

static void
take_id (void *data, uint64_t id)
{
  LnsCpuOwners *owners = data;
  lns_id_map_set_number (&owners->of_events, id, owners->opened_ns.n);
}

void
lns_cpu_owners_add (LnsCpuOwners *owners, const LnsCpuEvents *events, int32_t tid)
{
  *lns_array_add (&owners->opened_ns) = lns_monotonic_ns ();
  lns_cpu_events_last_ids (events, take_id, owners);
  lns_id_map_set_number (&owners->of_threads, (uint32_t)tid, 2 * (uint64_t)owners->opened_ns.n);
}

bool
lns_cpu_owners_have (const LnsCpuOwners *owners, int32_t tid)
{
  return lns_id_map_number (&owners->of_threads, (uint32_t)tid) != 0 ||
         lns_id_map_number (&owners->of_inherited, (uint32_t)tid) != 0;
}

/* The tid of the thread that begins with the PERF_RECORD_FORK RECORD. */
static uint32_t
begun (const struct perf_event_header *record)
{
  uint32_t ids[4]; /* pid, parent's pid, tid, parent's tid */
  memcpy (ids, record + 1, sizeof ids);
  return ids[2];
}

void
lns_cpu_owners_look (void *data, const struct perf_event_header *record, const LnsCpuRecordIds *ids)
{
  LnsCpuOwners *owners = data;
  const uint64_t owner = lns_id_map_number (&owners->of_events, ids->event);
  if (record->type != PERF_RECORD_FORK || owner == 0 ||
      ids->time_ns < owners->opened_ns.items[owner - 1] + FORK_NS)
    return;
  const uint64_t direct = lns_id_map_number (&owners->of_threads, ids->tid) / 2,
                 inherited = lns_id_map_number (&owners->of_inherited, ids->tid);
  if ((direct != 0 ? direct : inherited) == owner)
    lns_id_map_set_number (&owners->of_inherited, begun (record), owner);
}

bool
lns_cpu_owners_admit (LnsCpuOwners *owners,
                      const struct perf_event_header *record,
                      const LnsCpuRecordIds *ids)
{
  const uint64_t owner = lns_id_map_number (&owners->of_events, ids->event);
  const uint64_t known = lns_id_map_number (&owners->of_threads, ids->tid);
  const bool is_exec =
      record->type == PERF_RECORD_COMM && (record->misc & PERF_RECORD_MISC_COMM_EXEC);
  if (record->type == PERF_RECORD_LOST || record->type == PERF_RECORD_LOST_SAMPLES)
    return true;
  if (owner == 0)
    return false; /* its thread ended before all of its events were open */
  /* The kernel did not tell of its beginning, or it calls exec and has got the tid of the first thread, which has ended. */
  if (known == 0 || (is_exec && known % 2 != 0))
    lns_id_map_set_number (&owners->of_threads, ids->tid, 2 * owner);
  else if (known / 2 != owner)
    return false;
  if (record->type == PERF_RECORD_EXIT)
    lns_id_map_set_number (&owners->of_threads, ids->tid, 2 * owner + 1);
  if (record->type != PERF_RECORD_FORK)
    return true;
  /* A thread with events of its own is known already. */
  const uint32_t tid = begun (record);
  const uint64_t its = lns_id_map_number (&owners->of_threads, tid);
  if (its != 0 && its % 2 == 0 && owners->opened_ns.items[its / 2 - 1] > ids->time_ns)
    return false;
  lns_id_map_set_number (&owners->of_threads, tid, 2 * owner);
  return true;
}
