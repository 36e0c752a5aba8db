/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Converts the CUPTI records that a killed process left in its buffers. */

#pragma once

#include "capture/session/decode/cuda/definitions.h"
#include "capture/wire/buffers.h"
#include "capture/wire/cupti-clock.h"

/* Converts the N_BYTES of CUPTI's records of PROCESS at BYTES into RET_N_BYTES of wire records. Free the result; NULL
 * if there are none. */
uint8_t *_lns_cuda_salvage (LnsDecoder *decoder,
                            LnsDecodedProcess *process,
                            const LnsWireCuptiSizes *sizes,
                            const LnsWireCuptiReadings *clock,
                            const uint8_t *bytes,
                            size_t n_bytes,
                            size_t *ret_n_bytes);
