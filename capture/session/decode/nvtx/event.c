/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/nvtx/event.h"

#include <stdlib.h>
#include <string.h>

bool
_lns_decoder_event (LnsDecoder *decoder,
                    LnsLaneKind kind,
                    const LnsEventDetail *detail,
                    int64_t start_ns,
                    int64_t end_ns,
                    LnsEvent *ret_event)
{
  const uint8_t *extra = decoder->extra[kind];
  if (end_ns < decoder->report_start_ns)
    return false;
  uint32_t flags = detail->flags;
  if (start_ns < decoder->report_start_ns)
    {
      start_ns = decoder->report_start_ns;
      flags |= LNS_EVENT_OPEN_START;
    }
  uint64_t payload = detail->payload;
  if (detail->typed != NULL)
    {
      LnsName *typed = detail->typed;
      if (typed->report != decoder->report)
        {
          typed->id = lns_writer_bytes (decoder->writer, typed->bytes, typed->n_bytes);
          typed->report = decoder->report;
        }
      payload = typed->id;
    }
  *ret_event = (LnsEvent){
    .start_ns = start_ns,
    .duration_ns = end_ns > start_ns ? end_ns - start_ns : 0,
    .name = _lns_decoder_string (decoder, detail->name),
    .flags = flags,
  };
  ret_event->extra[extra[LNS_COLUMN_COLOR]] = detail->color;
  ret_event->extra[extra[LNS_COLUMN_CATEGORY]] = detail->category;
  ret_event->extra[extra[LNS_COLUMN_PAYLOAD_TYPE]] = detail->payload_type;
  ret_event->extra[extra[LNS_COLUMN_PAYLOAD]] = payload;
  return true;
}

/* The bytes of a typed payload as FORMAT.md has them: for each blob its schema id, its size and its
 * data. NULL if memory is short. */
static LnsName *
typed_payload (LnsWireList blobs)
{
  LnsWireBlob blob;
  LnsWireList walk = blobs;
  size_t n_bytes = 0;
  while (lns_wire_blob_next (&walk, &blob))
    n_bytes += 12 + blob.data.n_bytes;
  LnsName *typed = n_bytes <= UINT32_MAX ? lns_name_alloc ((uint32_t)n_bytes) : NULL;
  if (typed == NULL)
    return NULL;
  char *at = typed->bytes;
  while (lns_wire_blob_next (&blobs, &blob))
    {
      memcpy (at, &blob.said.schema, 8);
      memcpy (at + 8, &blob.data.n_bytes, 4);
      if (blob.data.n_bytes > 0)
        memcpy (at + 12, blob.data.bytes, blob.data.n_bytes);
      at += 12 + blob.data.n_bytes;
    }
  return typed;
}

void
_lns_event_detail_take (LnsStream *stream, const LnsWireEvent *event, LnsEventDetail *ret_detail)
{
  *ret_detail = (LnsEventDetail){
    .name = lns_name_ref (_lns_stream_name (stream, event->string)),
    .payload = event->payload,
    .color = event->color_type == 1 ? event->color : 0,
    .category = event->category,
    .flags = event->string & LNS_WIRE_STRING_REGISTERED ? LNS_EVENT_REGISTERED : 0,
    /* nvtxPayloadType_t counts as LnsPayloadType does. */
    .payload_type = event->payload_type <= LNS_PAYLOAD_FLOAT ? event->payload_type : 0,
  };
  if (event->blobs.n_left > 0 && (ret_detail->typed = typed_payload (event->blobs)) != NULL)
    ret_detail->payload_type = LNS_PAYLOAD_TYPED;
  if (stream->lost_before)
    ret_detail->flags |= LNS_EVENT_LOST_BEFORE;
  stream->lost_before = false;
}

void
_lns_event_detail_clear (LnsEventDetail *detail)
{
  lns_name_unref (detail->name);
  lns_name_unref (detail->typed);
  *detail = (LnsEventDetail){ 0 };
}
