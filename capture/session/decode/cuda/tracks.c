/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Rows of CUDA events. They come finished and in any order, so each row puts them into order first and
 * writes what is old enough; those that overlap go to lanes of their own. */

#include "capture/session/decode/cuda/cuda-private.h"

#include <stdlib.h>
#include <string.h>

/* What a row may hold back; the earliest leave sooner where it is full. */
#define REORDER_BYTES (16u << 20)

LnsCudaTrack *
_lns_cuda_track (LnsDecoder *decoder,
                 LnsDecodedProcess *process,
                 LnsTrackKind kind,
                 LnsLaneKind lane_kind,
                 LnsDecodedThread *thread,
                 LnsDecodedDevice *device,
                 LnsDecodedCudaStream *stream)
{
  uint64_t of = thread != NULL   ? thread->id
                : stream != NULL ? (uint64_t)stream->said.context << 32 | stream->said.number
                : device != NULL ? device->said.number
                                 : 0;
  /* Context numbers stay small: CUPTI counts them. */
  uint64_t key = (uint64_t)kind << 56 | (of & ((UINT64_C (1) << 56) - 1));
  LnsCudaTrack *track = lns_id_map_get (&process->cuda->tracks, key);
  if (track != NULL)
    return track;
  track = calloc (1, sizeof *track);
  if (track != NULL)
    *track = (LnsCudaTrack){ .kind = kind,
                             .lane_kind = lane_kind,
                             .thread = thread,
                             .device = device,
                             .stream = stream,
                             .reorder = lns_reorder_new (REORDER_BYTES) };
  if (track == NULL || track->reorder == NULL ||
      !lns_id_map_set (&process->cuda->tracks, key, track))
    {
      if (track != NULL)
        lns_reorder_free (track->reorder);
      free (track);
      decoder->counters.n_refused++;
      return NULL;
    }
  return track;
}

static uint32_t
track_id (LnsDecoder *decoder, LnsDecodedProcess *process, LnsCudaTrack *track)
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
  LnsDecodedDevice *device = track->device;
  if (track->stream != NULL)
    {
      definition.stream = _lns_cuda_stream_id (decoder, process, track->stream);
      device = track->stream->context->device;
    }
  if (device != NULL)
    definition.device = _lns_cuda_device_id (decoder, process, device);
  track->track =
      (LnsReportRef){ decoder->report, lns_writer_add_track (decoder->writer, &definition) };
  return track->track.id;
}

/* The lane ORDINAL of TRACK in the report; LNS_ID_NONE if memory is short. */
static uint32_t
lane_of (LnsDecoder *decoder, LnsDecodedProcess *process, LnsCudaTrack *track, uint32_t ordinal)
{
  if (ordinal >= track->n_lanes)
    {
      uint32_t n = ordinal + 4;
      LnsReportRef *lanes = realloc (track->lanes, n * sizeof *lanes);
      if (lanes == NULL)
        {
          decoder->counters.n_refused++;
          return LNS_ID_NONE;
        }
      memset (lanes + track->n_lanes, 0, (n - track->n_lanes) * sizeof *lanes);
      track->lanes = lanes;
      track->n_lanes = n;
    }
  _lns_decoder_lane (decoder, &track->lanes[ordinal], track_id (decoder, process, track), ordinal,
                     track->lane_kind);
  return track->lanes[ordinal].id;
}

/* The lane of a counter of what is in use of memory KIND on DEVICE. */
static uint32_t
usage_lane (LnsDecoder *decoder, LnsDecodedProcess *process, LnsDecodedDevice *device, uint8_t kind)
{
  static const char *const names[] = { "Memory of unknown kind", "Pageable memory",
                                       "Pinned memory",          "Device memory",
                                       "Array memory",           "Managed memory",
                                       "Static device memory",   "Static managed memory" };
  LnsReportRef *lane = &device->counters[kind];
  if (lane->report == decoder->report)
    return lane->id;
  const char *name = names[kind < sizeof names / sizeof *names ? kind : 0];
  LnsTrack track = {
    .kind = LNS_TRACK_COUNTER,
    .process = process->id,
    .thread = LNS_ID_NONE,
    .domain = LNS_ID_NONE,
    .name = lns_writer_string (decoder->writer, name, strlen (name)),
    .value_type = LNS_PAYLOAD_UINT64,
    .unit = lns_writer_string (decoder->writer, "B", 1),
    .number = kind,
    .device = _lns_cuda_device_id (decoder, process, device),
    .stream = LNS_ID_NONE,
  };
  _lns_decoder_lane (decoder, lane, lns_writer_add_track (decoder->writer, &track), 0,
                     LNS_LANE_COUNTER);
  return lane->id;
}

/* Adds what EVENT allocates or frees to what is in use. */
static void
count_memory (LnsDecoder *decoder,
              LnsDecodedProcess *process,
              LnsDecodedDevice *device,
              const LnsEvent *event)
{
  const uint8_t *extra = decoder->extra[LNS_LANE_CUDA_MEMORY];
  const uint64_t operation = event->extra[extra[LNS_COLUMN_OPERATION]];
  const uint64_t bytes = event->extra[extra[LNS_COLUMN_BYTES]];
  const uint8_t kind = (uint8_t)(operation >> 8);
  uint64_t *used = &device->used_bytes[kind];
  if ((uint8_t)operation == 1) /* CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION */
    *used += bytes;
  else
    *used -= bytes < *used ? bytes : *used; /* what was allocated before nobody knows of */
  LnsEvent sample = { .start_ns = event->start_ns };
  sample.extra[decoder->extra[LNS_LANE_COUNTER][LNS_COLUMN_VALUE]] = *used;
  sample.extra[decoder->extra[LNS_LANE_COUNTER][LNS_COLUMN_THREAD]] = LNS_ID_NONE;
  lns_writer_append (decoder->writer, usage_lane (decoder, process, device, kind), &sample);
}

static void
write_track (LnsDecoder *decoder,
             LnsDecodedProcess *process,
             LnsCudaTrack *track,
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
      lns_writer_append (decoder->writer, lane, &event);
      if (track->kind == LNS_TRACK_CUDA_MEMORY)
        count_memory (decoder, process, track->device, &event);
    }
}

void
_lns_cuda_add (LnsDecoder *decoder,
               LnsDecodedProcess *process,
               LnsCudaTrack *track,
               LnsEvent *event,
               int64_t start_ns,
               int64_t end_ns)
{
  if (end_ns < decoder->report_start_ns)
    return;
  if (start_ns < decoder->report_start_ns)
    {
      start_ns = decoder->report_start_ns;
      event->flags |= LNS_EVENT_OPEN_START;
    }
  decoder->n_cuda_events += track->kind != LNS_TRACK_MPI;
  event->start_ns = start_ns;
  event->duration_ns = end_ns > start_ns ? end_ns - start_ns : 0;
  if (!lns_reorder_push (track->reorder, event))
    decoder->counters.n_refused++;
}

void
_lns_cuda_write (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t watermark_ns)
{
  for (size_t i = 0; i < process->cuda->tracks.n_places; i++)
    if (process->cuda->tracks.entries[i].value != NULL)
      write_track (decoder, process, process->cuda->tracks.entries[i].value, watermark_ns);
}

void
_lns_cuda_free_tracks (LnsDecodedProcess *process)
{
  for (size_t i = 0; i < process->cuda->tracks.n_places; i++)
    {
      LnsCudaTrack *track = process->cuda->tracks.entries[i].value;
      if (track == NULL)
        continue;
      lns_reorder_free (track->reorder);
      free (track->lanes);
      free (track);
    }
  lns_id_map_clear (&process->cuda->tracks);
}
