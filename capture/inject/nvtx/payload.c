/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The handlers of the events of NVTX's payload extension. Events with typed payloads carry the bytes unchanged; the
 * session reads them by their schema (schema.c). */

#include "capture/inject/nvtx/nvtx.h"

/* An event that has only payloads. If it has a name, that is an entry of a payload. */
static LnsNvtxEvent
event_of (const void *domain, const LnsNvtxPayloadData *payloads, size_t n_payloads)
{
  return (LnsNvtxEvent){
    .domain = lns_nvtx_domain (domain),
    .payloads = payloads,
    .n_payloads = payloads == NULL ? 0 : n_payloads,
  };
}

static void
mark (const void *domain, const LnsNvtxPayloadData *payloads, size_t n_payloads)
{
  LnsNvtxEvent event = event_of (domain, payloads, n_payloads);
  lns_nvtx_mark (lns_inject_stream_enter_nvtx (LNS_WIRE_LOSS_MARK), &event);
}

static int
range_push (const void *domain, const LnsNvtxPayloadData *payloads, size_t n_payloads)
{
  LnsNvtxEvent event = event_of (domain, payloads, n_payloads);
  return lns_nvtx_push (lns_inject_stream_enter_nvtx (LNS_WIRE_LOSS_PUSH), &event);
}

static int
range_pop (const void *domain, const LnsNvtxPayloadData *payloads, size_t n_payloads)
{
  LnsNvtxEvent event = event_of (domain, payloads, n_payloads);
  return lns_nvtx_pop (lns_inject_stream_enter_nvtx (LNS_WIRE_LOSS_POP), &event);
}

static uint64_t
range_start (const void *domain, const LnsNvtxPayloadData *payloads, size_t n_payloads)
{
  LnsNvtxEvent event = event_of (domain, payloads, n_payloads);
  return lns_nvtx_start (lns_inject_stream_enter_nvtx (LNS_WIRE_LOSS_START), &event);
}

static void
range_end (const void *domain,
           uint64_t range,
           const LnsNvtxPayloadData *payloads,
           size_t n_payloads)
{
  LnsNvtxEvent event = event_of (domain, payloads, n_payloads);
  lns_nvtx_end (lns_inject_stream_enter_nvtx (LNS_WIRE_LOSS_END), &event, range);
}

/* --- Events that carry their own times. ------------------------------------------------------ */

static int64_t
timestamp_get (void)
{
  return (int64_t)lns_wire_clock_ticks (lns_process.clock);
}

/* Handles functions about clocks of the program. The session leaves out events with their times, and counts them. */
static void
own_clock (void)
{
  lns_nvtx_miss ("timers and synchronisation points of its own in NVTX");
}

static void
submit (const void *domain, uint64_t schema, const void *events, size_t n_bytes)
{
  LnsInjectStream *stream = lns_inject_stream_enter_nvtx (LNS_WIRE_LOSS_OTHER);
  if (stream == NULL)
    return;
  LnsWireBatchBytes record = {
    .head = { .ticks = lns_wire_clock_ticks (lns_process.clock),
              .type = LNS_WIRE_DEFERRED,
              .domain = (uint16_t)lns_nvtx_domain (domain) },
    .n_data_bytes = (uint32_t)n_bytes,
    .counter = schema,
  };
  LnsPart parts[] = { { .bytes = &record, .n_bytes = sizeof record },
                      { .bytes = events, .n_bytes = n_bytes } };
  if (n_bytes > LNS_WIRE_RECORD_MAX_BYTES || lns_inject_stream_write_parts (stream, parts, 2) < 0)
    lns_inject_stream_lose (stream, LNS_WIRE_LOSS_OTHER, n_bytes);
  lns_inject_stream_leave (stream);
}

static void
event_submit (const void *domain, const LnsNvtxPayloadData *payloads, size_t n_payloads)
{
  for (size_t i = 0; payloads != NULL && i < n_payloads; i++)
    if (payloads[i].bytes != NULL && payloads[i].n_bytes != SIZE_MAX)
      submit (domain, payloads[i].schema, payloads[i].bytes, payloads[i].n_bytes);
}

static void
event_batch_submit (const void *domain, const LnsNvtxEventBatch *batch)
{
  if (batch != NULL && batch->events != NULL)
    submit (domain, batch->schema, batch->events, batch->n_bytes);
}

const LnsNvtxHandler lns_payload_handlers[] = {
  LNS_NVTX_EXTENSION_HANDLER (PAYLOAD, MARK, mark),
  LNS_NVTX_EXTENSION_HANDLER (PAYLOAD, RANGE_PUSH, range_push),
  LNS_NVTX_EXTENSION_HANDLER (PAYLOAD, RANGE_POP, range_pop),
  LNS_NVTX_EXTENSION_HANDLER (PAYLOAD, RANGE_START, range_start),
  LNS_NVTX_EXTENSION_HANDLER (PAYLOAD, RANGE_END, range_end),
  LNS_NVTX_EXTENSION_HANDLER (PAYLOAD, TIMESTAMP_GET, timestamp_get),
  LNS_NVTX_EXTENSION_HANDLER (PAYLOAD, TIMER_SOURCE, own_clock),
  LNS_NVTX_EXTENSION_HANDLER (PAYLOAD, TIMER_SOURCE_WITH_DATA, own_clock),
  LNS_NVTX_EXTENSION_HANDLER (PAYLOAD, TIME_SYNC_POINT, own_clock),
  LNS_NVTX_EXTENSION_HANDLER (PAYLOAD, TIME_SYNC_POINT_TABLE, own_clock),
  LNS_NVTX_EXTENSION_HANDLER (PAYLOAD, TIMESTAMP_CONVERSION_FACTOR, own_clock),
  LNS_NVTX_EXTENSION_HANDLER (PAYLOAD, EVENT_SUBMIT, event_submit),
  LNS_NVTX_EXTENSION_HANDLER (PAYLOAD, EVENT_BATCH_SUBMIT, event_batch_submit),
  { 0 },
};
