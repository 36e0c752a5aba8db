/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the events of NVTX have besides their times. */

#pragma once

#include "capture/session/decode/core/streams.h"

/* What an event has besides its times. Holds its names. */
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

/* Fills what DETAIL and the times say into RET_EVENT; false where the report began after END_NS. */
bool _lns_decoder_event (LnsDecoder *decoder,
                         LnsLaneKind kind,
                         const LnsEventDetail *detail,
                         int64_t start_ns,
                         int64_t end_ns,
                         LnsEvent *ret_event);

/* Takes what EVENT says, as what it names is known to STREAM. RET_DETAIL holds its names:
 * _lns_event_detail_clear (). */
void
_lns_event_detail_take (LnsStream *stream, const LnsWireEvent *event, LnsEventDetail *ret_detail);
void _lns_event_detail_clear (LnsEventDetail *detail);
