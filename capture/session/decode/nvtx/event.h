/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The details of NVTX events, besides their times. */

#pragma once

#include "capture/session/decode/core/streams.h"

/* The details of an event. Holds references to its names. */
typedef struct
{
  LnsName *name;
  LnsName *typed; /* LNS_PAYLOAD_TYPED */
  uint64_t payload;
  uint32_t color;
  uint32_t category;
  uint32_t flags; /* LnsEventFlags */
  LnsPayloadType payload_type;
} LnsEventDetail;

/* Fills RET_EVENT with DETAIL and the times. Returns false if the report began after END_NS. */
bool _lns_decoder_event (LnsDecoder *decoder,
                         LnsLaneKind kind,
                         const LnsEventDetail *detail,
                         int64_t start_ns,
                         int64_t end_ns,
                         LnsEvent *ret_event);

/* Takes the details of EVENT, whose names are looked up in STREAM. Clear RET_DETAIL with
 * _lns_event_detail_clear (). */
void
_lns_event_detail_take (LnsStream *stream, const LnsWireEvent *event, LnsEventDetail *ret_detail);
void _lns_event_detail_clear (LnsEventDetail *detail);
