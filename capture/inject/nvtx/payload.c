/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The handlers of NVTX's payload extension. Schemas, enums and scopes are definitions. Events with typed payloads carry
 * the bytes unchanged; the session reads them by their schema. */

#include "capture/inject/nvtx/core.h"
#include "capture/inject/nvtx/names.h"
#include "capture/inject/nvtx/nvtx.h"
#include "capture/inject/nvtx/schema.h"

static uint64_t
schema_register (const void *domain, const LnsNvtxSchemaAttributes *attributes)
{
  return lns_nvtx_define_schema (lns_nvtx_domain (domain), attributes);
}

static uint64_t
enum_register (const void *domain, const LnsNvtxEnumAttributes *attributes)
{
  return lns_nvtx_define_enum (lns_nvtx_domain (domain), attributes);
}

static uint64_t
scope_register (const void *domain, const LnsNvtxScopeAttributes *attributes)
{
  return lns_nvtx_define_scope (lns_nvtx_domain (domain), attributes);
}

/* An event that is nothing but payloads: its name, if it has one, is an entry of theirs. */
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
  LnsInjectStream *stream = lns_inject_stream_enter_nvtx (LNS_WIRE_LOSS_MARK);
  if (stream == NULL)
    return;
  LnsNvtxEvent event = event_of (domain, payloads, n_payloads);
  lns_nvtx_mark (stream, &event);
}

static int
range_push (const void *domain, const LnsNvtxPayloadData *payloads, size_t n_payloads)
{
  LnsInjectStream *stream = lns_inject_stream_enter_nvtx (LNS_WIRE_LOSS_PUSH);
  if (stream == NULL)
    return lns_nvtx_pass_push (lns_nvtx_domain (domain));
  LnsNvtxEvent event = event_of (domain, payloads, n_payloads);
  return lns_nvtx_push (stream, &event);
}

static int
range_pop (const void *domain, const LnsNvtxPayloadData *payloads, size_t n_payloads)
{
  LnsInjectStream *stream = lns_inject_stream_enter_nvtx (LNS_WIRE_LOSS_POP);
  if (stream == NULL)
    return lns_nvtx_pass_pop (lns_nvtx_domain (domain));
  LnsNvtxEvent event = event_of (domain, payloads, n_payloads);
  return lns_nvtx_pop (stream, &event);
}

static uint64_t
range_start (const void *domain, const LnsNvtxPayloadData *payloads, size_t n_payloads)
{
  LnsInjectStream *stream = lns_inject_stream_enter_nvtx (LNS_WIRE_LOSS_START);
  if (stream == NULL)
    return lns_nvtx_pass_start ();
  LnsNvtxEvent event = event_of (domain, payloads, n_payloads);
  return lns_nvtx_start (stream, &event);
}

static void
range_end (const void *domain,
           uint64_t range,
           const LnsNvtxPayloadData *payloads,
           size_t n_payloads)
{
  LnsInjectStream *stream = lns_inject_stream_enter_nvtx (LNS_WIRE_LOSS_END);
  if (stream == NULL)
    return;
  LnsNvtxEvent event = event_of (domain, payloads, n_payloads);
  lns_nvtx_end (stream, &event, range);
}

/* --- Events that carry their own times. ------------------------------------------------------ */

static int64_t
timestamp_get (void)
{
  return (int64_t)lns_wire_clock_ticks (lns_process.clock);
}

static uint64_t
time_domain_register (const void *domain, const LnsNvtxTimeDomainAttributes *attributes)
{
  return lns_nvtx_define_time_domain (lns_nvtx_domain (domain), attributes);
}

/* The program's own clocks: what is timed by them is left out and counted by the session. */
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
  { LNS_NVTX_PAYLOAD_SCHEMA_REGISTER, (LnsNvtxFunction)schema_register },
  { LNS_NVTX_PAYLOAD_ENUM_REGISTER, (LnsNvtxFunction)enum_register },
  { LNS_NVTX_PAYLOAD_MARK, (LnsNvtxFunction)mark },
  { LNS_NVTX_PAYLOAD_RANGE_PUSH, (LnsNvtxFunction)range_push },
  { LNS_NVTX_PAYLOAD_RANGE_POP, (LnsNvtxFunction)range_pop },
  { LNS_NVTX_PAYLOAD_RANGE_START, (LnsNvtxFunction)range_start },
  { LNS_NVTX_PAYLOAD_RANGE_END, (LnsNvtxFunction)range_end },
  { LNS_NVTX_PAYLOAD_TIMESTAMP_GET, (LnsNvtxFunction)timestamp_get },
  { LNS_NVTX_PAYLOAD_TIME_DOMAIN_REGISTER, (LnsNvtxFunction)time_domain_register },
  { LNS_NVTX_PAYLOAD_TIMER_SOURCE, own_clock },
  { LNS_NVTX_PAYLOAD_TIMER_SOURCE_WITH_DATA, own_clock },
  { LNS_NVTX_PAYLOAD_TIME_SYNC_POINT, own_clock },
  { LNS_NVTX_PAYLOAD_TIME_SYNC_POINT_TABLE, own_clock },
  { LNS_NVTX_PAYLOAD_TIMESTAMP_CONVERSION_FACTOR, own_clock },
  { LNS_NVTX_PAYLOAD_EVENT_SUBMIT, (LnsNvtxFunction)event_submit },
  { LNS_NVTX_PAYLOAD_EVENT_BATCH_SUBMIT, (LnsNvtxFunction)event_batch_submit },
  { LNS_NVTX_PAYLOAD_SCOPE_REGISTER, (LnsNvtxFunction)scope_register },
  { 0, NULL },
};
