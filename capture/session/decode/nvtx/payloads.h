/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Counters, their samples, and deferred events. */

#pragma once

#include "capture/session/decode/nvtx/definitions.h"

/* Takes the definition or samples of RECORD, about a counter of DOMAIN. */
void
_lns_nvtx_counter (LnsDecoder *decoder, LnsDecodedDomain *domain, const LnsWireCounter *record);
void _lns_nvtx_sample (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record);
void _lns_nvtx_sample_batch (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record);
void _lns_nvtx_deferred (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record);
void _lns_nvtx_free_counters (LnsDecodedDomain *domain);
