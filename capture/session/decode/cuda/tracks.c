/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/cuda/tracks.h"

#include <string.h>

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
              const LnsDecodedTrack *track,
              const LnsEvent *event)
{
  LnsDecodedDevice *device = track->on;
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

/* --- Tracks ----------------------------------------------------------------------------------- */

static void
place_at (LnsDecoder *decoder,
          LnsDecodedProcess *process,
          const LnsDecodedTrack *track,
          LnsTrack *definition)
{
  definition->device = _lns_cuda_device_id (decoder, process, track->on);
}

static void
place_on (LnsDecoder *decoder,
          LnsDecodedProcess *process,
          const LnsDecodedTrack *track,
          LnsTrack *definition)
{
  LnsDecodedCudaStream *stream = track->on;
  definition->stream = _lns_cuda_stream_id (decoder, process, stream);
  definition->device = _lns_cuda_device_id (decoder, process, stream->context->device);
}

static const LnsTrackOps device_ops = { .place = place_at };
static const LnsTrackOps memory_ops = { .place = place_at, .written = count_memory };
static const LnsTrackOps stream_ops = { .place = place_on };

static LnsDecodedTrack *
find (LnsEventMaker *maker, LnsDecodedTrack *like, uint64_t number)
{
  like->lane_kind = maker->kind;
  return _lns_tracks_find (maker->decoder, &_lns_cuda_process (maker->process)->tracks, like,
                           number);
}

LnsDecodedTrack *
_lns_cuda_track_of (LnsEventMaker *maker, LnsTrackKind kind, LnsDecodedThread *thread)
{
  LnsDecodedTrack like = { .kind = kind, .thread = thread };
  return thread != NULL ? find (maker, &like, thread->id) : NULL;
}

LnsDecodedTrack *
_lns_cuda_track_at (LnsEventMaker *maker, LnsTrackKind kind, LnsDecodedDevice *device)
{
  LnsDecodedTrack like = { .kind = kind,
                           .ops = kind == LNS_TRACK_CUDA_MEMORY ? &memory_ops : &device_ops,
                           .on = device };
  return device != NULL ? find (maker, &like, device->said.number) : NULL;
}

LnsDecodedTrack *
_lns_cuda_track_on (LnsEventMaker *maker, LnsTrackKind kind, LnsDecodedCudaStream *stream)
{
  LnsDecodedTrack like = { .kind = kind, .ops = &stream_ops, .on = stream };
  /* Context numbers stay small: CUPTI counts them. */
  return stream != NULL
             ? find (maker, &like, (uint64_t)stream->said.context << 32 | stream->said.number)
             : NULL;
}

LnsDecodedTrack *
_lns_cuda_track (LnsEventMaker *maker, LnsTrackKind kind)
{
  LnsDecodedTrack like = { .kind = kind };
  return find (maker, &like, 0);
}
