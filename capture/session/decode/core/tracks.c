/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/core/tracks.h"

#include <stdlib.h>
#include <string.h>

/* The memory for the events of a track that wait for their order. When it is full, the earliest leave sooner. */
#define REORDER_BYTES (16u << 20)

/* An event whose record is still to come ends after the pools were last read, or after the oldest buffer was claimed that
 * CUPTI has not given back. So it begins before an event that is here, and ended before that moment, only if it contains
 * it. An event therefore waits until that moment is so much later than its own end. Of work in sequence, none contains
 * another; this is for records that CUPTI puts into buffers after the work's end. The first call of a program makes
 * a context, which takes up to a second, and the calls within may end at the beginning of that. An event that comes even
 * later gets a lane of its own. */
#define SEQUENCE_NS INT64_C (250000000)
#define NESTED_NS   INT64_C (1000000000)

/* How long events wait for a buffer that CUPTI does not give back, and for what they belong to. */
#define WITHHELD_NS INT64_C (10000000000)

LnsDecodedTrack *
_lns_maker_track (LnsEventMaker *maker, const LnsDecodedTrack *like, uint64_t number)
{
  LnsIdMap *tracks = &maker->stream->process->tracks;
  const uint64_t key = (uint64_t)like->kind << 56 | (number & ((UINT64_C (1) << 56) - 1));
  LnsDecodedTrack *track = lns_id_map_get (tracks, key);
  if (track != NULL)
    return track;
  track = malloc (sizeof *track);
  if (track != NULL)
    {
      *track = *like;
      track->lane_kind = maker->kind;
      track->reorder = lns_reorder_new (REORDER_BYTES);
    }
  if (track == NULL || track->reorder == NULL || !lns_id_map_set (tracks, key, track))
    {
      if (track != NULL)
        lns_reorder_free (track->reorder);
      free (track);
      maker->decoder->counters.n_refused++;
      return NULL;
    }
  return track;
}

/* --- Events ----------------------------------------------------------------------------------- */

void
_lns_maker_name (LnsEventMaker *maker, const char *text)
{
  maker->event.name = _lns_decoder_text (maker->decoder, text);
}

void
_lns_maker_name_registered (LnsEventMaker *maker, uint32_t string, const char *otherwise)
{
  LnsName *name = lns_id_map_get (&maker->stream->process->registered, string);
  if (name != NULL)
    maker->event.name = _lns_decoder_string (maker->decoder, name);
  else
    _lns_maker_name (maker, otherwise);
}

bool
_lns_maker_finish (LnsEventMaker *maker, LnsDecodedTrack *track, uint64_t ticks, uint64_t end_ticks)
{
  LnsDecoder *decoder = maker->decoder;
  LnsEvent *event = &maker->event;
  int64_t start_ns = lns_clock_line_ns (&decoder->clock, ticks);
  const int64_t end_ns = lns_clock_line_ns (&decoder->clock, end_ticks);
  if (end_ns < decoder->report_start_ns)
    return false;
  if (start_ns < decoder->report_start_ns)
    {
      start_ns = decoder->report_start_ns;
      event->flags |= LNS_EVENT_OPEN_START;
    }
  event->start_ns = start_ns;
  event->duration_ns = end_ns > start_ns ? end_ns - start_ns : 0;
  if (!lns_reorder_push (track->reorder, event))
    decoder->counters.n_refused++;
  return true;
}

/* --- The report ------------------------------------------------------------------------------- */

static uint32_t
track_id (LnsDecoder *decoder, LnsDecodedProcess *process, LnsDecodedTrack *track)
{
  if (track->track.report == decoder->report)
    return track->track.id;
  LnsTrack definition = {
    .kind = track->kind,
    .process = process->id,
    .thread = track->thread != NULL ? track->thread->id : LNS_ID_NONE,
    .domain = LNS_ID_NONE,
    .device = LNS_ID_NONE,
    .stream = LNS_ID_NONE,
  };
  if (track->ops != NULL && track->ops->place != NULL)
    track->ops->place (decoder, track, &definition);
  return _lns_decoder_track (decoder, &track->track, &definition);
}

/* The lane ORDINAL of TRACK in the report; LNS_ID_NONE if memory is short. */
static uint32_t
lane_of (LnsDecoder *decoder, LnsDecodedProcess *process, LnsDecodedTrack *track, uint32_t ordinal)
{
  while (track->lanes.n <= ordinal)
    if (lns_array_try_add (&track->lanes) == NULL)
      {
        decoder->counters.n_refused++;
        return LNS_ID_NONE;
      }
  _lns_decoder_lane (decoder, &track->lanes.items[ordinal], track_id (decoder, process, track),
                     ordinal, track->lane_kind);
  return track->lanes.items[ordinal].id;
}

static void
write_track (LnsDecoder *decoder,
             LnsDecodedProcess *process,
             LnsDecodedTrack *track,
             int64_t watermark_ns)
{
  LnsEvent event;
  uint32_t ordinal;
  while (lns_reorder_pop (track->reorder, watermark_ns, &event, &ordinal))
    {
      if (decoder->writer == NULL)
        continue;
      uint32_t lane = lane_of (decoder, process, track, ordinal);
      if (lane == LNS_ID_NONE)
        continue;
      if (track->ops != NULL && track->ops->writing != NULL &&
          !track->ops->writing (decoder, track, lane, &event))
        continue;
      _lns_decoder_append (decoder, lane, &event);
      if (track->ops != NULL && track->ops->written != NULL)
        track->ops->written (decoder, track, &event);
    }
}

/* Whether it is known what TRACK belongs to. */
static bool
is_placed (const LnsDecodedTrack *track)
{
  return track->ops == NULL || track->ops->is_placed == NULL || track->ops->is_placed (track);
}

/* How much later than the end of an event of TRACK those may end that contain it. */
static int64_t
wait_of (const LnsDecodedTrack *track)
{
  return track->ops != NULL && track->ops->is_sequence ? SEQUENCE_NS : NESTED_NS;
}

int64_t
_lns_tracks_settle (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t drained_ns)
{
  const int64_t given_up_ns = drained_ns - WITHHELD_NS;
  int64_t complete_ns = drained_ns;
  if (process->withheld_ticks != 0)
    {
      const int64_t withheld_ns = lns_clock_line_ns (&decoder->clock, process->withheld_ticks);
      if (withheld_ns < complete_ns)
        complete_ns = withheld_ns;
    }
  LnsDecodedTrack *track;
  for (size_t at = 0; (track = lns_id_map_next (&process->tracks, &at)) != NULL;)
    {
      const int64_t settled_ns = complete_ns - wait_of (track);
      write_track (decoder, process, track,
                   is_placed (track) && settled_ns > given_up_ns ? settled_ns : given_up_ns);
    }
  return complete_ns - NESTED_NS > given_up_ns ? complete_ns - NESTED_NS : given_up_ns;
}

uint64_t
_lns_tracks_waiting (const LnsDecodedProcess *process, int64_t *inout_start_ns)
{
  const LnsDecodedTrack *track;
  uint64_t n = 0;
  for (size_t at = 0; (track = lns_id_map_next (&process->tracks, &at)) != NULL;)
    {
      int64_t start_ns = *inout_start_ns;
      n += lns_reorder_waiting (track->reorder, &start_ns);
      if (start_ns < *inout_start_ns)
        *inout_start_ns = start_ns;
    }
  return n;
}

void
_lns_tracks_write_all (LnsDecoder *decoder, LnsDecodedProcess *process)
{
  LnsDecodedTrack *track;
  for (size_t at = 0; (track = lns_id_map_next (&process->tracks, &at)) != NULL;)
    write_track (decoder, process, track, INT64_MAX);
}

void
_lns_tracks_clear (LnsDecodedProcess *process)
{
  LnsDecodedTrack *track;
  for (size_t at = 0; (track = lns_id_map_next (&process->tracks, &at)) != NULL;)
    {
      lns_reorder_free (track->reorder);
      lns_array_clear (&track->lanes);
      free (track);
    }
  lns_id_map_clear (&process->tracks);
}
