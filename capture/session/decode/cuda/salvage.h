/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a killed process has left of CUPTI's records. */

#pragma once

#include "capture/session/decode/cuda/definitions.h"
#include "capture/wire/buffers.h"
#include "capture/wire/cupti-clock.h"

/* Makes the N_BYTES at BYTES, CUPTI's records of PROCESS, into *RET_N_BYTES of records of the wire, to be freed. NULL:
 * there are none. */
uint8_t *_lns_cuda_salvage (LnsDecoder *decoder,
                            LnsDecodedProcess *process,
                            const LnsWireCuptiSizes *sizes,
                            const LnsWireCuptiReadings *clock,
                            const uint8_t *bytes,
                            size_t n_bytes,
                            size_t *ret_n_bytes);
