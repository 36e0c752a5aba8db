/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reads numbers and times in the payloads that a program hands over. */

#pragma once

#include "capture/session/decode/nvtx/definitions.h"

/* How a number is stored: NVTX_PAYLOAD_ENTRY_TYPE_… of 64-bit Linux. */
typedef struct
{
  uint8_t n_bytes;     /* 0: not a number */
  LnsPayloadType type; /* how the value is stored */
} LnsNumberType;

/* The field of TYPE. Never NULL. */
const LnsNumberType *_lns_nvtx_number_type (uint64_t type);

/* Reads the number of TYPE at BYTES. Integers are widened to 64 bits; floats are not. */
uint64_t _lns_nvtx_read_number (const LnsNumberType *type, const uint8_t *bytes);

/* Converts TIME of TIME_DOMAIN, an id of DOMAIN or NVTX_TIMESTAMP_TYPE_…, to report time. Returns false if that clock
 * is unknown. */
bool _lns_nvtx_foreign_ns (LnsDecoder *decoder,
                           const LnsDecodedDomain *domain,
                           uint64_t time_domain,
                           int64_t time,
                           int64_t *ret_ns);
