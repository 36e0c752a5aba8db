/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Makes rows of CPUs, with the threads that ran there, from when threads ran on which CPU. */

#include "src/import/nsys/import-private.h"

#include <stdio.h>

/* Files of more are damaged: Linux has at most 8,192. */
#define CPUS_MAX 8192

/* The name of THREAD, or its id if it has none. */
static uint32_t
name_of (LnsImport *import, uint32_t thread)
{
  char text[32];
  const LnsThread *it = &import->threads.items[thread];
  if (it->name != 0)
    return it->name;
  const int n = snprintf (text, sizeof text, "(%u)", (unsigned)it->tid);
  return _lns_import_bytes (import, text, (size_t)n);
}

static LnsImportCpu *
find_cpu (LnsImport *import, uint32_t number)
{
  const size_t n = import->cpus.n;
  const uint32_t i = _lns_import_intern (&import->cpu_ids, number, n);
  if (i < n)
    return &import->cpus.items[i];
  LnsImportCpu *cpu = lns_array_add (&import->cpus);
  *cpu = (LnsImportCpu){
    .number = number, .lane = LNS_ID_NONE, .end_ns = INT64_MIN, .last_ns = INT64_MIN
  };
  return cpu;
}

static void
make_lane (LnsImport *import, LnsImportCpu *cpu)
{
  const LnsTrack track = { .kind = LNS_TRACK_CPU,
                           .process = LNS_ID_NONE,
                           .thread = LNS_ID_NONE,
                           .domain = LNS_ID_NONE,
                           .device = LNS_ID_NONE,
                           .stream = LNS_ID_NONE,
                           .number = cpu->number };
  cpu->lane = lns_writer_add_lane (
      import->writer, &(LnsLane){ .track = lns_writer_add_track (import->writer, &track),
                                  .kind = LNS_LANE_CPU_RUN });
}

static uint64_t
number_of (const LnsEvent *event)
{
  return event->extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_CPU)];
}

void
_lns_import_note_switch (LnsImport *import, const LnsEvent *event)
{
  const uint64_t number = number_of (event);
  if (import->cpus.n == 0 || event->start_ns > import->last_switch_ns)
    import->last_switch_ns = event->start_ns;
  if (number >= CPUS_MAX)
    return;
  LnsImportCpu *cpu = find_cpu (import, (uint32_t)number);
  cpu->last_ns = event->start_ns > cpu->last_ns ? event->start_ns : cpu->last_ns;
}

bool
_lns_import_last_run (const LnsImport *import, const LnsImportTrack *of, int64_t *ret_until_ns)
{
  const uint64_t number = number_of (&of->held);
  const uint32_t i =
      number < CPUS_MAX ? _lns_import_find (&import->cpu_ids, number, LNS_ID_NONE) : LNS_ID_NONE;
  if (i == LNS_ID_NONE || import->cpus.items[i].last_ns > of->held.start_ns)
    return false;
  *ret_until_ns = import->last_switch_ns;
  return true;
}

void
_lns_import_run_on_cpu (LnsImport *import, const LnsImportTrack *of, int64_t until_ns)
{
  const uint64_t number = number_of (&of->held);
  const uint32_t thread = of->track.thread;
  if (until_ns <= of->held.start_ns || number >= CPUS_MAX || thread >= import->threads.n)
    return;
  LnsImportCpu *cpu = find_cpu (import, (uint32_t)number);
  LnsEvent event = { .start_ns = of->held.start_ns,
                     .flags = of->held.flags & LNS_EVENT_OPEN_END,
                     .name = name_of (import, thread) };
  event.extra[lns_lane_kind_extra (LNS_LANE_CPU_RUN, LNS_COLUMN_THREAD)] = thread;
  /* A CPU runs one thread at a time: what seems to overlap lasted too long, for want of the row with its end. */
  if (event.start_ns < cpu->end_ns)
    {
      event.start_ns = cpu->end_ns;
      event.flags |= LNS_EVENT_OPEN_START;
    }
  if (event.start_ns >= until_ns)
    return;
  event.duration_ns = until_ns - event.start_ns;
  cpu->end_ns = until_ns;
  if (cpu->lane == LNS_ID_NONE)
    make_lane (import, cpu);
  lns_writer_append (import->writer, cpu->lane, &event);
}

void
_lns_import_end_cpus (LnsImport *import)
{
  for (size_t i = 0; i < import->cpus.n; i++)
    if (import->cpus.items[i].lane != LNS_ID_NONE)
      lns_writer_close_lane (import->writer, import->cpus.items[i].lane);
  lns_array_clear (&import->cpus);
  lns_id_map_clear (&import->cpu_ids);
}
