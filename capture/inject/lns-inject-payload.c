/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The handlers of NVTX's payload extension: schemas, enums and scopes are definitions; events with
 * typed payloads carry the bytes as they are, to be read by their schema later. */

#include "capture/inject/lns-inject-core.h"
#include "capture/inject/lns-inject-nvtx.h"
#include "capture/inject/lns-inject-schema.h"

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
  LnsStream *stream = lns_stream_enter (LNS_WIRE_LOSS_MARK);
  if (stream == NULL)
    return;
  LnsNvtxEvent event = event_of (domain, payloads, n_payloads);
  lns_nvtx_mark (stream, &event);
}

static int
range_push (const void *domain, const LnsNvtxPayloadData *payloads, size_t n_payloads)
{
  LnsStream *stream = lns_stream_enter (LNS_WIRE_LOSS_PUSH);
  if (stream == NULL)
    return lns_nvtx_pass_push (lns_nvtx_domain (domain));
  LnsNvtxEvent event = event_of (domain, payloads, n_payloads);
  return lns_nvtx_push (stream, &event);
}

static int
range_pop (const void *domain, const LnsNvtxPayloadData *payloads, size_t n_payloads)
{
  LnsStream *stream = lns_stream_enter (LNS_WIRE_LOSS_POP);
  if (stream == NULL)
    return lns_nvtx_pass_pop (lns_nvtx_domain (domain));
  LnsNvtxEvent event = event_of (domain, payloads, n_payloads);
  return lns_nvtx_pop (stream, &event);
}

static uint64_t
range_start (const void *domain, const LnsNvtxPayloadData *payloads, size_t n_payloads)
{
  LnsStream *stream = lns_stream_enter (LNS_WIRE_LOSS_START);
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
  LnsStream *stream = lns_stream_enter (LNS_WIRE_LOSS_END);
  if (stream == NULL)
    return;
  LnsNvtxEvent event = event_of (domain, payloads, n_payloads);
  lns_nvtx_end (stream, &event, range);
}

const LnsNvtxHandler lns_payload_handlers[] = {
  { LNS_NVTX_PAYLOAD_SCHEMA_REGISTER, (LnsNvtxFunction)schema_register },
  { LNS_NVTX_PAYLOAD_ENUM_REGISTER, (LnsNvtxFunction)enum_register },
  { LNS_NVTX_PAYLOAD_MARK, (LnsNvtxFunction)mark },
  { LNS_NVTX_PAYLOAD_RANGE_PUSH, (LnsNvtxFunction)range_push },
  { LNS_NVTX_PAYLOAD_RANGE_POP, (LnsNvtxFunction)range_pop },
  { LNS_NVTX_PAYLOAD_RANGE_START, (LnsNvtxFunction)range_start },
  { LNS_NVTX_PAYLOAD_RANGE_END, (LnsNvtxFunction)range_end },
  { LNS_NVTX_PAYLOAD_SCOPE_REGISTER, (LnsNvtxFunction)scope_register },
  { 0, NULL },
};
