/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/cpu/system-calls.h"

#include <stdio.h>

#include "capture/session/decode/cpu/cpu.h"
#include "lns-system-calls-generated.h"

#define N_NAMES(table) (sizeof table / sizeof *table)
_Static_assert(N_NAMES (names) <= LNS_SYSTEM_CALLS_MOST, "all have a place");
_Static_assert(N_NAMES (names_of_32_bits) <= LNS_SYSTEM_CALLS_MOST, "all have a place");

static const char *
known_name (uint32_t number, bool has_32_bits)
{
  if (has_32_bits)
    return number < N_NAMES (names_of_32_bits) ? names_of_32_bits[number] : NULL;
  return number < N_NAMES (names) ? names[number] : NULL;
}

/* The string id of what CALL is called. */
static uint32_t
name_of (LnsDecoder *decoder, LnsSystemCallNames *ids, uint64_t call)
{
  char text[32];
  const uint32_t number = (uint32_t)call;
  const bool has_32_bits = (call & LNS_CPU_32_BITS) != 0;
  LnsReportRef *id = number < LNS_SYSTEM_CALLS_MOST ? &ids->ids[has_32_bits][number] : NULL;
  if (id != NULL && id->report == decoder->report)
    return id->id;
  const char *known = known_name (number, has_32_bits);
  if (known == NULL)
    snprintf (text, sizeof text, "%s %u", has_32_bits ? "32-bit call" : "call", number);
  const uint32_t made = _lns_decoder_text (decoder, known != NULL ? known : text);
  if (id != NULL)
    *id = (LnsReportRef){ decoder->report, made };
  return made;
}

static uint32_t
lane_of (LnsDecoder *decoder, const LnsDecodedThread *thread, LnsSystemCalls *calls)
{
  const LnsTrack definition = { .kind = LNS_TRACK_SYSTEM_CALLS,
                                .process = thread->process->id,
                                .thread = thread->id,
                                .domain = LNS_ID_NONE,
                                .device = LNS_ID_NONE,
                                .stream = LNS_ID_NONE };
  if (calls->lane.report != decoder->report)
    _lns_decoder_lane (decoder, &calls->lane,
                       _lns_decoder_track (decoder, &calls->track, &definition), 0,
                       LNS_LANE_SYSTEM_CALL);
  return calls->lane.id;
}

/* The call of CALLS from its start in the report on; its duration is 0. */
static LnsEvent
event_of (LnsDecoder *decoder, LnsSystemCallNames *ids, const LnsSystemCalls *calls)
{
  LnsEvent event = { .start_ns = calls->since_ns, .name = name_of (decoder, ids, calls->call) };
  if (event.start_ns < decoder->report_start_ns)
    {
      event.start_ns = decoder->report_start_ns;
      event.flags |= LNS_EVENT_OPEN_START;
    }
  return event;
}

/* Appends EVENT, which ends at TIME_NS. */
static void
append (LnsDecoder *decoder,
        const LnsDecodedThread *thread,
        LnsSystemCalls *calls,
        LnsEvent event,
        int64_t time_ns)
{
  event.duration_ns = time_ns > event.start_ns ? time_ns - event.start_ns : 0;
  _lns_decoder_append (decoder, lane_of (decoder, thread, calls), &event);
  calls->is_shown = false;
  decoder->counters.n_cpu_events++;
}

void
_lns_system_call_forget (LnsDecoder *decoder, LnsSystemCalls *calls)
{
  if (calls->is_shown && decoder->writer != NULL && calls->lane.report == decoder->report)
    _lns_decoder_set_open (decoder, calls->lane.id, NULL);
  calls->is_in_call = calls->is_shown = false;
}

void
_lns_system_call_enter (LnsDecoder *decoder, LnsSystemCalls *calls, uint64_t call, int64_t time_ns)
{
  _lns_system_call_forget (decoder, calls);
  calls->is_in_call = true;
  calls->call = call;
  calls->since_ns = time_ns;
}

void
_lns_system_call_exit (LnsDecoder *decoder,
                       LnsSystemCallNames *ids,
                       const LnsDecodedThread *thread,
                       LnsSystemCalls *calls,
                       uint32_t number,
                       int64_t result,
                       int64_t time_ns)
{
  const bool is_it = calls->is_in_call && (uint32_t)calls->call == number;
  if (is_it && time_ns - calls->since_ns >= LNS_SYSTEM_CALL_LEAST_NS && decoder->writer != NULL &&
      time_ns >= decoder->report_start_ns)
    {
      LnsEvent event = event_of (decoder, ids, calls);
      event.extra[decoder->extra[LNS_LANE_SYSTEM_CALL][LNS_COLUMN_RETURN_VALUE]] = (uint64_t)result;
      append (decoder, thread, calls, event, time_ns);
    }
  _lns_system_call_forget (decoder, calls);
}

void
_lns_system_call_show (LnsDecoder *decoder,
                       LnsSystemCallNames *ids,
                       const LnsDecodedThread *thread,
                       LnsSystemCalls *calls)
{
  const int64_t now_ns = lns_clock_line_last_ns (&decoder->clock);
  if (!calls->is_in_call || now_ns - calls->since_ns < LNS_SYSTEM_CALL_LEAST_NS)
    return;
  const LnsEvent event = event_of (decoder, ids, calls);
  _lns_decoder_set_open (decoder, lane_of (decoder, thread, calls), &event);
  calls->is_shown = true;
}

void
_lns_system_call_cut (LnsDecoder *decoder,
                      LnsSystemCallNames *ids,
                      const LnsDecodedThread *thread,
                      LnsSystemCalls *calls,
                      int64_t time_ns)
{
  if (!calls->is_in_call || decoder->writer == NULL || time_ns < decoder->report_start_ns ||
      time_ns - calls->since_ns < LNS_SYSTEM_CALL_LEAST_NS)
    return;
  LnsEvent event = event_of (decoder, ids, calls);
  event.flags |= LNS_EVENT_OPEN_END;
  append (decoder, thread, calls, event, time_ns);
}
