/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How numbers and times lie in what a program hands over. */

#pragma once

#include "capture/session/decode/nvtx/definitions.h"

/* How a number is stored: NVTX_PAYLOAD_ENTRY_TYPE_… of 64-bit Linux. */
typedef struct
{
  uint8_t n_bytes; /* 0: it is no number */
  bool is_signed;
  LnsPayloadType type; /* how the value is stored */
} LnsNumberType;

/* What TYPE is. Never NULL. */
const LnsNumberType *_lns_nvtx_number_type (uint64_t type);

/* The number of TYPE that lies at BYTES, widened to 64 bits but for floats. */
uint64_t _lns_nvtx_read_number (const LnsNumberType *type, const uint8_t *bytes);

/* TIME of TIME_DOMAIN, an id of DOMAIN or NVTX_TIMESTAMP_TYPE_…, in report time. False where that
 * clock is not known. */
bool _lns_nvtx_foreign_ns (LnsDecoder *decoder,
                           const LnsDecodedDomain *domain,
                           uint64_t time_domain,
                           int64_t time,
                           int64_t *ret_ns);
