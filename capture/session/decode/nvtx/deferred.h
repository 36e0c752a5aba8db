/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Deferred events. */

#pragma once

#include "capture/session/decode/core/streams.h"

void _lns_nvtx_deferred (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record);
