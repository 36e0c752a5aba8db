/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/core/definitions.h"
#include "capture/inject/nvtx/nvtx.h"
#include "capture/inject/core/range.h"

/* How many typed payloads of an event are kept. */
#define PAYLOADS_MAX 16u

/* The maximum size of all typed payloads of an event together. The rest of the record needs less. */
#define PAYLOADS_MAX_BYTES (LNS_WIRE_RECORD_MAX_BYTES - 4096u)

/* The size of PAYLOAD; 0 if neither its caller nor its type tells it. */
static size_t
payload_bytes (const LnsNvtxPayloadData *payload)
{
  if (payload->bytes == NULL)
    return 0;
  if (payload->n_bytes != SIZE_MAX)
    return payload->n_bytes;
  if (payload->schema == LNS_NVTX_ENTRY_CSTRING || payload->schema == LNS_NVTX_ENTRY_CSTRING_UTF8)
    return strlen (payload->bytes) + 1;
  return 0;
}

/* Fills PARTS (two for each payload) and HEADS with the event's typed payloads. Returns the number of payloads. */
static size_t
add_payloads (const LnsNvtxEvent *event, LnsWireBlobBytes *heads, LnsPart *parts)
{
  size_t n = event->n_payloads < PAYLOADS_MAX ? event->n_payloads : PAYLOADS_MAX;
  size_t left = PAYLOADS_MAX_BYTES;
  for (size_t i = 0; i < n; i++)
    {
      const LnsNvtxPayloadData *payload = &event->payloads[i];
      size_t given = payload_bytes (payload);
      size_t kept = given < left ? given : left;
      left -= kept;
      heads[i] = (LnsWireBlobBytes){
        .schema = payload->schema,
        .n_bytes = (uint32_t)kept,
      };
      parts[2 * i] = (LnsPart){ .bytes = &heads[i], .n_bytes = sizeof heads[i] };
      parts[2 * i + 1] = (LnsPart){ .bytes = payload->bytes,
                                    .n_bytes = kept,
                                    .n_padded_bytes = (kept + 7) & ~(size_t)7 };
    }
  return n;
}

/* Writes EVENT at the present time, as a short record if that can hold it. Returns false if there is no room. */
static bool
write_event (LnsInjectStream *stream, const LnsNvtxEvent *event)
{
  LnsWireHead head = {
    .ticks = lns_wire_clock_ticks (lns_process.clock),
    .type = (uint8_t)event->type,
    .depth = event->depth < LNS_WIRE_DEPTH_LONG ? (uint8_t)event->depth : LNS_WIRE_DEPTH_LONG,
    .domain = (uint16_t)event->domain,
    .string = event->string,
  };
  struct
  {
    LnsWireLong head;
    uint64_t fields[5];
  } record;
  uint16_t fields = 0;
  size_t n = 0;
  if (event->type >= LNS_WIRE_LONG_TYPES) /* start and end: they have no short form */
    {
      fields |= LNS_WIRE_FIELD_RANGE;
      record.fields[n++] = event->range;
    }
  if (event->depth >= LNS_WIRE_DEPTH_LONG)
    {
      fields |= LNS_WIRE_FIELD_DEPTH;
      record.fields[n++] = event->depth;
    }
  if (event->color_type != 0 || event->category != 0)
    {
      fields |= LNS_WIRE_FIELD_COLOR;
      record.fields[n++] = event->color | (uint64_t)event->category << 32;
    }
  if (event->payload_type != 0)
    {
      fields |= LNS_WIRE_FIELD_PAYLOAD;
      record.fields[n++] = event->payload;
    }
  if (fields == 0 && event->n_payloads == 0)
    return lns_inject_stream_write_event (stream, head);

  if (head.type < LNS_WIRE_LONG_TYPES)
    head.type += LNS_WIRE_LONG_TYPES;
  record.head = (LnsWireLong){ .head = head,
                               .fields = fields,
                               .payload_type = event->payload_type,
                               .color_type = event->color_type };
  if (__builtin_expect (event->n_payloads == 0, 1))
    {
      /* 24 bytes and one or two fields make 32 or 40; 40 is padded to 48. */
      size_t n_bytes = sizeof record.head + 8 * n;
      record.fields[n] = 0;
      n_bytes = (n_bytes + LNS_WIRE_ALIGN_BYTES - 1) & ~(size_t)(LNS_WIRE_ALIGN_BYTES - 1);
      record.head.n_bytes = (uint32_t)n_bytes;
      uint8_t *at = lns_inject_stream_reserve (stream, n_bytes);
      if (at == NULL)
        return false;
      memcpy (at, &record, n_bytes);
      lns_inject_stream_commit (stream, n_bytes);
      return true;
    }
  LnsWireBlobBytes heads[PAYLOADS_MAX];
  LnsPart parts[1 + 2 * PAYLOADS_MAX];
  size_t n_payloads = add_payloads (event, heads, parts + 1);
  record.head.fields |= LNS_WIRE_FIELD_BLOBS;
  record.fields[n++] = n_payloads;
  parts[0] = (LnsPart){ .bytes = &record, .n_bytes = sizeof record.head + 8 * n };
  return lns_inject_stream_write_parts (stream, parts, 1 + 2 * n_payloads) == 0;
}

/* Writes EVENT, or counts it as lost, and leaves STREAM, which may be null. */
static void
write_or_lose (LnsInjectStream *stream, const LnsNvtxEvent *event, LnsWireLossKind kind)
{
  if (stream == NULL)
    return;
  if (__builtin_expect (event->string == LNS_STRINGS_NO_ROOM || !write_event (stream, event), 0))
    lns_inject_stream_lose (stream, kind, sizeof (LnsWireHead));
  lns_inject_stream_leave (stream);
}

int
lns_nvtx_push (LnsInjectStream *stream, LnsNvtxEvent *event)
{
  if (stream == NULL)
    return lns_nvtx_pass_push (event->domain);
  uint32_t *depth = lns_inject_stream_depth (stream, event->domain);
  if (depth == NULL)
    {
      lns_inject_stream_lose (stream, LNS_WIRE_LOSS_PUSH, sizeof (LnsWireHead));
      lns_inject_stream_leave (stream);
      return LNS_NVTX_NOT_TRACKED;
    }
  event->type = LNS_WIRE_PUSH;
  event->depth = (*depth)++;
  write_or_lose (stream, event, LNS_WIRE_LOSS_PUSH);
  return (int)event->depth;
}

int
lns_nvtx_pop (LnsInjectStream *stream, LnsNvtxEvent *event)
{
  if (stream == NULL)
    return lns_nvtx_pass_pop (event->domain);
  uint32_t *depth = lns_inject_stream_depth (stream, event->domain);
  if (depth == NULL)
    {
      lns_inject_stream_lose (stream, LNS_WIRE_LOSS_POP, sizeof (LnsWireHead));
      lns_inject_stream_leave (stream);
      return LNS_NVTX_NOT_TRACKED;
    }
  bool empty = *depth == 0;
  event->type = empty ? LNS_WIRE_POP_EMPTY : LNS_WIRE_POP;
  event->depth = empty ? 0 : --*depth;
  if (empty)
    event->n_payloads = 0; /* POP_EMPTY has no long form: it closes nothing that could carry them */
  write_or_lose (stream, event, LNS_WIRE_LOSS_POP);
  if (stream->pop_floor != 0)
    lns_range_popped (stream, event->domain, event->depth);
  return empty ? -1 : (int)event->depth;
}

void
lns_nvtx_mark (LnsInjectStream *stream, LnsNvtxEvent *event)
{
  event->type = LNS_WIRE_MARK;
  write_or_lose (stream, event, LNS_WIRE_LOSS_MARK);
}

uint64_t
lns_nvtx_start (LnsInjectStream *stream, LnsNvtxEvent *event)
{
  if (stream == NULL)
    return lns_nvtx_pass_start ();
  /* Unique in the process without asking other threads: a stream's number and its own count. */
  event->range = (uint64_t)stream->serial << 40 | ++stream->n_ranges;
  event->type = LNS_WIRE_START;
  uint64_t range = event->range;
  write_or_lose (stream, event, LNS_WIRE_LOSS_START);
  return range;
}

void
lns_nvtx_end (LnsInjectStream *stream, LnsNvtxEvent *event, uint64_t range)
{
  event->type = LNS_WIRE_END;
  event->range = range;
  write_or_lose (stream, event, LNS_WIRE_LOSS_END);
}

int
lns_nvtx_pass_push (uint32_t domain)
{
  uint32_t *depth = lns_inject_stream_depth (lns_inject_stream_mine (), domain);
  return depth == NULL ? LNS_NVTX_NOT_TRACKED : (int)(*depth)++;
}

int
lns_nvtx_pass_pop (uint32_t domain)
{
  LnsInjectStream *stream = lns_inject_stream_mine ();
  uint32_t *depth = lns_inject_stream_depth (stream, domain);
  if (depth == NULL)
    return LNS_NVTX_NOT_TRACKED;
  if (*depth == 0)
    return -1;
  --*depth;
  if (stream->pop_floor != 0)
    lns_range_popped (stream, domain, *depth);
  return (int)*depth;
}

uint64_t
lns_nvtx_pass_start (void)
{
  /* These numbers are below those of the streams, as the end of such a range may be recorded. */
  static uint64_t n_ranges;
  return __atomic_add_fetch (&n_ranges, 1, __ATOMIC_RELAXED);
}

void
lns_nvtx_send_definitions (void)
{
  lns_inject_stream_send_and_leave (lns_inject_stream_enter_nvtx_slow (LNS_STREAM_NO_EVENT));
}
