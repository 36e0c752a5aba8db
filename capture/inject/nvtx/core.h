/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The handlers of NVTX's functions. */

#pragma once

#include "capture/inject/core/nvtx-abi.h"

/* A handler, and the slot that it is for: of the program's table of a module, or of an extension's one segment. */
typedef struct
{
  uint16_t module; /* LNS_NVTX_MODULE_…, or LNS_NVTX_EXTENSION_… */
  uint16_t slot;
  LnsNvtxFunction handler;
} LnsNvtxHandler;

#define LNS_NVTX_HANDLER(Module, slot, handler)                                                    \
 {                                                                                                 \
  LNS_NVTX_MODULE_##Module, LNS_NVTX_##Module##_##slot, (LnsNvtxFunction)(handler)                 \
 }
#define LNS_NVTX_EXTENSION_HANDLER(Extension, slot, handler)                                       \
 {                                                                                                 \
  LNS_NVTX_EXTENSION_##Extension, LNS_NVTX_##Extension##_##slot, (LnsNvtxFunction)(handler)        \
 }

/* The handlers of modules: of events, and of functions that name and create things. A null handler ends each list. */
extern const LnsNvtxHandler lns_core_handlers[];
extern const LnsNvtxHandler lns_name_handlers[];

/* The handlers of extensions. */
extern const LnsNvtxHandler lns_payload_handlers[];
extern const LnsNvtxHandler lns_schema_handlers[];
extern const LnsNvtxHandler lns_counter_handlers[];
