/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Converts the CUPTI records that are in buffers of a process and that it has not compacted itself. */

#pragma once

#include "capture/session/decode/cuda/definitions.h"

/* Converts what SALVAGE has of PROCESS into RET_N_BYTES of wire records, and counts what cannot be converted unless IS_COPY.
 * Free the result; NULL if there are none. */
uint8_t *_lns_cuda_read_buffer (LnsDecoder *decoder,
                                LnsDecodedProcess *process,
                                const LnsSalvage *salvage,
                                bool is_copy,
                                size_t *ret_n_bytes);
