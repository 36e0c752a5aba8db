/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Definitions of the payload and counters extensions. Each function returns the id that the caller chose, or a new one
 * if it chose none; 0 if the attributes are null or incomplete, or memory is short. */

#pragma once

#include "capture/inject/core/nvtx-abi.h"

uint64_t lns_nvtx_define_schema (uint32_t domain, const LnsNvtxSchemaAttributes *attributes);
uint64_t lns_nvtx_define_enum (uint32_t domain, const LnsNvtxEnumAttributes *attributes);
uint64_t lns_nvtx_define_scope (uint32_t domain, const LnsNvtxScopeAttributes *attributes);
uint64_t lns_nvtx_define_counter (uint32_t domain, const LnsNvtxCounterAttributes *attributes);
uint64_t lns_nvtx_define_time_domain (uint32_t domain,
                                      const LnsNvtxTimeDomainAttributes *attributes);
