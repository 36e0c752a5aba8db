/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Puts each event on the lowest free lane of its track, so that calls and ranges of a thread lie by depth. */

#include "src/import/nsys/import-private.h"

/* Limits on lanes. Without them, a file whose rows all overlap could take all memory. */
#define TRACK_LANES_MAX 4096
#define LANES_MAX       65536

#define COMMIT_BYTES  ((size_t)16 << 20)
#define ROWS_PER_LOOK 4096

/* Identifies a track. */
typedef struct
{
  uint32_t kind, lane_kind, process, thread, domain, device, stream, value_type, metric, name;
  uint64_t number;
} Key;

/* Sets the name of a track of GPU metrics, and its GPU if events have made that known. */
static void
name_metric (LnsImport *import, LnsTrack *track)
{
  const LnsImportMetric key = { (int64_t)track->number, track->metric };

  track->name = lns_string_table_find (import->metrics, &key, sizeof key, 0);
  track->process = LNS_ID_NONE;
  for (uint32_t i = 0; i < import->devices.n && track->device == LNS_ID_NONE; i++)
    if (import->devices.items[i].number == (track->number & 0xFF))
      {
        track->device = i;
        track->process = import->devices.items[i].process;
      }
}

uint32_t
_lns_import_track (LnsImport *import, const LnsTrack *track, LnsLaneKind kind)
{
  const Key key = { track->kind,   kind,          track->process, track->thread,
                    track->domain, track->device, track->stream,  track->value_type,
                    track->metric, track->name,   track->number };
  const uint32_t i =
      lns_string_table_intern (import->track_ids, &key, sizeof key, (uint32_t)import->tracks.n);

  if (i < import->tracks.n)
    return i;
  LnsImportTrack *result = lns_array_add (&import->tracks);
  result->track = *track;
  result->kind = kind;
  if (track->kind == LNS_TRACK_GPU_METRIC)
    name_metric (import, &result->track);
  result->id = lns_writer_add_track (import->writer, &result->track);
  return i;
}

/* Returns the lowest lane of TRACK that is free at START_NS, or LNS_ID_NONE if that would be one too many. */
static uint32_t
take_lane (LnsImport *import, LnsImportTrack *track, int64_t start_ns)
{
  uint32_t ordinal = lns_overlap_take (&track->overlap, start_ns);

  if (ordinal == LNS_ID_NONE || ordinal < track->lanes.n)
    return ordinal;
  if (ordinal >= TRACK_LANES_MAX || import->n_lanes == LANES_MAX)
    return LNS_ID_NONE; /* the lane stays taken, so it is never offered again */
  *lns_array_add (&track->lanes) =
      lns_writer_add_lane (import->writer, &(LnsLane){ .track = track->id,
                                                       .ordinal = track->n_lanes_before + ordinal,
                                                       .kind = track->kind });
  import->n_lanes++;
  return ordinal;
}

bool
_lns_import_look_up (LnsImport *import)
{
  /* A few rows may have much text, so the bytes are looked at for each row. */
  if (import->n_done % ROWS_PER_LOOK != 0 &&
      lns_writer_waiting_bytes (import->writer) < COMMIT_BYTES)
    return true;
  const LnsImportOptions *options = import->options;

  if (options->progress != NULL && import->n_total > 0)
    options->progress (
        import->n_done < import->n_total ? (double)import->n_done / (double)import->n_total : 1.0,
        options->progress_data);
  return lns_writer_waiting_bytes (import->writer) < COMMIT_BYTES ||
         lns_writer_commit (import->writer, import->end_ns, import->error);
}

bool
_lns_import_take_place (LnsImport *import,
                        uint32_t track,
                        int64_t start_ns,
                        LnsImportPlace *ret_place)
{
  LnsImportTrack *found = &import->tracks.items[track];
  const uint32_t ordinal = take_lane (import, found, start_ns);

  if (ordinal == LNS_ID_NONE)
    {
      import->n_bad++;
      return false;
    }
  *ret_place = (LnsImportPlace){ track, found->lanes.items[ordinal], ordinal };
  return true;
}

/* Whether EVENT begins a thread's time on a CPU. */
static bool
is_run (const LnsEvent *event)
{
  return event->extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_SCHED_IN)] != 0;
}

/* Appends the event that was held back. A thread's time on a CPU lasts until its next row, at UNTIL_NS. */
static void
append_held (LnsImport *import, LnsImportTrack *track, int64_t until_ns)
{
  if (!track->is_held)
    return;
  track->is_held = false;
  if (is_run (&track->held))
    {
      track->held.duration_ns = until_ns - track->held.start_ns;
      _lns_import_run_on_cpu (import, track, until_ns);
    }
  lns_writer_append (import->writer, track->held_lane, &track->held);
}

/* Appends the last event of a track: no row says until when it lasts. */
static void
append_last (LnsImport *import, LnsImportTrack *track)
{
  int64_t until_ns = track->held.start_ns;
  if (track->is_held && is_run (&track->held))
    track->held.flags |= _lns_import_last_run (import, track, &until_ns) ? LNS_EVENT_OPEN_END
                                                                         : LNS_EVENT_END_UNKNOWN;
  append_held (import, track, until_ns);
}

bool
_lns_import_append (LnsImport *import, const LnsImportPlace *place, const LnsEvent *event)
{
  const int64_t end_ns = event->start_ns + event->duration_ns;
  LnsImportTrack *track = &import->tracks.items[place->track];

  lns_overlap_release (&track->overlap, place->ordinal, end_ns);
  if (track->kind == LNS_LANE_SCHED)
    {
      append_held (import, track, event->start_ns);
      _lns_import_note_switch (import, event);
      track->is_held = true;
      track->held_lane = place->lane;
      track->held = *event;
    }
  else
    lns_writer_append (import->writer, place->lane, event);
  import->end_ns = end_ns > import->end_ns ? end_ns : import->end_ns;
  import->n_rows++;
  return _lns_import_look_up (import);
}

void
_lns_import_end_table (LnsImport *import)
{
  for (size_t i = 0; i < import->tracks.n; i++)
    {
      LnsImportTrack *track = &import->tracks.items[i];
      append_last (import, track);
      for (size_t lane = 0; lane < track->lanes.n; lane++)
        lns_writer_close_lane (import->writer, track->lanes.items[lane]);
      lns_overlap_clear (&track->overlap);
      track->n_lanes_before += (uint32_t)track->lanes.n;
      lns_array_clear (&track->lanes);
    }
  _lns_import_end_cpus (import);
}
