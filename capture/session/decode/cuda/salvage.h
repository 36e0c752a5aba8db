/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Converts the CUPTI records that a killed process left in its buffers. */

#pragma once

#include "capture/session/decode/cuda/definitions.h"

/* Converts what SALVAGE has of PROCESS into RET_N_BYTES of wire records. Free the result; NULL if there are none. */
uint8_t *_lns_cuda_salvage (LnsDecoder *decoder,
                            LnsDecodedProcess *process,
                            const LnsSalvage *salvage,
                            size_t *ret_n_bytes);
