/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/nvtx/payloads.h"
#include "capture/session/decode/nvtx/ranges.h"

#include <stdlib.h>

/* --- Records ---------------------------------------------------------------------------------- */

static void
define (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record)
{
  if (record->type == LNS_WIRE_UNRECORDED)
    _lns_decoder_tell (decoder, process, "LNS-NVTX-005",
                       "process %d uses %.*s, which is not recorded", process->info.pid,
                       (int)record->named.text.n_bytes,
                       record->named.text.n_bytes > 0 ? record->named.text.bytes : "");
  else if (record->type == LNS_WIRE_THREAD_NAME)
    _lns_decoder_name_thread (decoder, process, record->named.id,
                              _lns_decoder_name (record->named.text));
  if (record->type < LNS_WIRE_DOMAIN)
    return;
  LnsDecodedDomain *domain = _lns_nvtx_domain (decoder, process, record->domain);
  if (domain == NULL)
    return;
  if (record->type == LNS_WIRE_COUNTER)
    _lns_nvtx_counter (decoder, domain, &record->counter);
  else
    _lns_nvtx_define (decoder, domain, record);
}

static void
play_start_end (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record)
{
  LnsStartEnd start_end = {
    .time_ns = lns_clock_line_ns (&decoder->clock, record->ticks),
    .is_end = record->type == LNS_WIRE_END,
    .range = record->event.range,
    .thread = stream->thread,
  };
  if (!start_end.is_end)
    {
      start_end.domain = _lns_nvtx_domain (decoder, stream->process, record->domain);
      if (start_end.domain == NULL)
        return;
      _lns_event_detail_take (stream, &record->event, &start_end.detail);
    }
  _lns_nvtx_add_start_end (decoder, stream->process, &start_end);
}

static void
play (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record)
{
  /* Definitions are known by now. */
  if (record->type > LNS_WIRE_DEFERRED || !_lns_stream_know_thread (decoder, stream, record->ticks))
    return;
  switch (record->type)
    {
    case LNS_WIRE_PUSH:
    case LNS_WIRE_POP:
    case LNS_WIRE_MARK:
      _lns_nvtx_play_event (decoder, stream, record->type, record->ticks, record->domain,
                            &record->event);
      break;
    case LNS_WIRE_POP_EMPTY:
      decoder->counters.n_orphan_pops++;
      break;
    case LNS_WIRE_START:
    case LNS_WIRE_END:
      play_start_end (decoder, stream, record);
      break;
    case LNS_WIRE_SAMPLE:
      _lns_nvtx_sample (decoder, stream, record);
      break;
    case LNS_WIRE_SAMPLE_BATCH:
      _lns_nvtx_sample_batch (decoder, stream, record);
      break;
    case LNS_WIRE_DEFERRED:
      _lns_nvtx_deferred (decoder, stream, record);
      break;
    default:
      break;
    }
}

/* --- The end ---------------------------------------------------------------------------------- */

static void
end_process (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t end_ns)
{
  LnsNvtxProcess *known = _lns_nvtx_process (process);
  _lns_nvtx_end_started (decoder, process, end_ns);
  lns_id_map_clear (&known->domains);
  lns_id_map_clear (&known->resources);
  free (known->changed.items);
}

static void
free_session (LnsDecoder *decoder)
{
  LnsNvtxSession *session = _lns_nvtx_session (decoder);
  for (size_t i = 0; i < session->domains.n; i++)
    _lns_nvtx_free_counters (session->domains.items[i]);
  _lns_nvtx_free_definitions (session);
}

const LnsDecoderOps _lns_nvtx_ops = {
  .types = { { LNS_WIRE_PUSH, LNS_WIRE_THREAD_END },
             { LNS_WIRE_PUSH_LONG, LNS_WIRE_DEFERRED },
             { LNS_WIRE_DOMAIN, LNS_WIRE_TIME_DOMAIN } },
  .session_bytes = sizeof (LnsNvtxSession),
  .process_bytes = sizeof (LnsNvtxProcess),
  .define = define,
  .play = play,
  .settle = _lns_nvtx_settle,
  .begin_report = _lns_nvtx_replay,
  .begin_process = _lns_nvtx_begin_ranges,
  .show_process = _lns_nvtx_show_ranges,
  .stop_process = _lns_nvtx_stop_ranges,
  .end_thread = _lns_nvtx_end_stacks,
  .end_process = end_process,
  .free_session = free_session,
};
