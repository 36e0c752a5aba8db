/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/cuda/switches.h"

#include <stdio.h>
#include <string.h>

/* ENUM_GPU_CTX_SWITCH of the reference, and what only this file knows. */
enum
{
  SHOWN = 0, /* what is open is to be written: not an event */
  LEFT = 7,  /* SAVE_END */
  GOT = 9,   /* CONTEXT_START */
};

static uint32_t
name_of (LnsDecoder *decoder, uint64_t place)
{
  char name[64];
  const unsigned pid = (uint32_t)place, context = (unsigned)(place >> 32);
  if (pid != 0)
    snprintf (name, sizeof name, "Context %u of process %u", context, pid);
  else
    snprintf (name, sizeof name, "Context %u", context);
  return _lns_decoder_text (decoder, name);
}

/* CONTEXT's number, and the system's id of its process, which CUPTI 13.0 and older do not tell. */
static uint64_t
place_of (const LnsDecodedContext *context)
{
  const LnsProcessInfo *own = &context->device->process->info;
  uint32_t pid = context->said.pid;
  if ((pid == 0 && !context->is_assumed) || (pid != 0 && pid == (uint32_t)own->target_pid))
    pid = (uint32_t)own->pid;
  return pid | (uint64_t)context->said.number << 32;
}

/* --- Contexts that the GPU works for ---------------------------------------------------------- */

/* The hold of DEVICE by the context of PLACE, or NULL. There are as many as contexts that share the GPU at a time: one, mostly. */
static LnsGpuHold *
hold_of (LnsDecodedDevice *device, uint64_t place)
{
  for (size_t i = 0; i < device->holds.n; i++)
    if (device->holds.items[i].place >> 32 == place >> 32)
      return &device->holds.items[i];
  return NULL;
}

static void
begin_hold (LnsDecoder *decoder, LnsDecodedDevice *device, uint64_t place, int64_t start_ns)
{
  LnsGpuHold *hold = hold_of (device, place);
  if (hold == NULL)
    hold = lns_array_try_add (&device->holds);
  if (hold == NULL)
    decoder->counters.n_refused++;
  else
    *hold = (LnsGpuHold){ place, start_ns };
}

static void
end_hold (LnsDecodedDevice *device, uint64_t place)
{
  LnsGpuHold *hold = hold_of (device, place);
  if (hold != NULL)
    *hold = device->holds.items[--device->holds.n];
}

/* --- Events ----------------------------------------------------------------------------------- */

/* Writes that DEVICE has worked for PLACE up to END_NS, since START_NS, or since it left another context. */
static void
write_hold (LnsDecoder *decoder,
            LnsDecodedDevice *device,
            uint32_t lane,
            const LnsGpuHold *hold,
            int64_t end_ns,
            uint32_t flags)
{
  const uint8_t *extra = decoder->extra[LNS_LANE_GPU_SWITCH];
  int64_t least_ns = decoder->report_start_ns;
  LnsEvent event = { .start_ns = hold->start_ns, .flags = flags };
  if (event.start_ns < least_ns)
    event.flags |= LNS_EVENT_OPEN_START;
  if (device->left_report == decoder->report && device->left_ns > least_ns)
    least_ns = device->left_ns;
  if (event.start_ns < least_ns)
    event.start_ns = least_ns;
  event.duration_ns = end_ns > event.start_ns ? end_ns - event.start_ns : 0;
  event.name = name_of (decoder, hold->place);
  event.extra[extra[LNS_COLUMN_OPERATION]] = GOT;
  event.extra[extra[LNS_COLUMN_PLACE]] = hold->place;
  _lns_decoder_append (decoder, lane, &event);
  device->left_report = decoder->report;
  device->left_ns = event.start_ns + event.duration_ns;
}

/* Gets the records in the order of their times. */
static bool
take_in_turn (LnsDecoder *decoder, const LnsDecodedTrack *track, uint32_t lane, LnsEvent *event)
{
  LnsDecodedDevice *device = track->on;
  const uint8_t *extra = decoder->extra[LNS_LANE_GPU_SWITCH];
  const uint64_t place = event->extra[extra[LNS_COLUMN_PLACE]];
  const LnsGpuHold *hold = hold_of (device, place);
  const LnsGpuHold ended = { place, hold != NULL ? hold->start_ns : INT64_MIN };
  switch (event->extra[extra[LNS_COLUMN_OPERATION]])
    {
    case SHOWN:
      for (size_t i = 0; i < device->holds.n; i++)
        write_hold (decoder, device, lane, &device->holds.items[i], event->start_ns,
                    LNS_EVENT_OPEN_END);
      return false;
    case GOT:
      if (hold != NULL) /* the record that it left is missing */
        write_hold (decoder, device, lane, hold, hold->start_ns, LNS_EVENT_END_UNKNOWN);
      begin_hold (decoder, device, place, event->start_ns);
      return false;
    default:
      write_hold (decoder, device, lane, &ended, event->start_ns, 0);
      end_hold (device, place);
      if (event->start_ns < device->left_ns)
        event->start_ns = device->left_ns;
      return true;
    }
}

static void
place_at (LnsDecoder *decoder, const LnsDecodedTrack *track, LnsTrack *definition)
{
  definition->device = _lns_cuda_device_id (decoder, track->on);
}

static const LnsTrackOps ops = { .place = place_at, .writing = take_in_turn };

void
_lns_switches_play (LnsDecoder *decoder, LnsStream *stream, const LnsWireCudaSwitchBytes *said)
{
  const LnsDecodedContext *context = _lns_cuda_context (decoder, stream->process, said->context);
  if (context == NULL)
    return;
  const uint64_t place = place_of (context);
  LnsDecodedDevice *device = context->device;
  const int64_t time_ns = lns_clock_line_ns (&decoder->clock, said->head.ticks);
  if (decoder->writer == NULL || time_ns < decoder->report_start_ns)
    {
      if (said->is_end)
        end_hold (device, place);
      else
        begin_hold (decoder, device, place, time_ns);
      return;
    }
  LnsEventMaker maker = { .decoder = decoder, .stream = stream, .kind = LNS_LANE_GPU_SWITCH };
  const LnsDecodedTrack like = { .kind = LNS_TRACK_GPU_SWITCHES, .ops = &ops, .on = device };
  device->switches = _lns_maker_track (&maker, &like, device->said.number);
  if (device->switches == NULL)
    return;
  maker.event.name = name_of (decoder, place);
  _lns_maker_set (&maker, LNS_COLUMN_OPERATION, said->is_end ? LEFT : GOT);
  _lns_maker_set (&maker, LNS_COLUMN_PLACE, place);
  (void)_lns_maker_finish (&maker, device->switches, said->head.ticks, said->head.ticks);
}

void
_lns_switches_finish (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t end_ns)
{
  const LnsEvent shown = { .start_ns = end_ns };
  LnsDecodedDevice *device;
  bool is_any = false;
  for (size_t at = 0;
       decoder->writer != NULL &&
       (device = lns_id_map_next (&_lns_cuda_process (process)->devices, &at)) != NULL;)
    if (device->switches != NULL && device->holds.n > 0 &&
        !lns_reorder_push (device->switches->reorder, &shown))
      decoder->counters.n_refused++;
    else
      is_any |= device->holds.n > 0;
  if (is_any)
    _lns_tracks_write_all (decoder, process);
}
