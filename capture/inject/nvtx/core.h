/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The handlers of NVTX's core functions. */

#pragma once

#include "capture/inject/core/nvtx-abi.h"

/* A handler and the slot of the program's table that it is for. */
typedef struct
{
  unsigned int slot;
  LnsNvtxFunction handler;
} LnsNvtxHandler;

/* Of modules CORE and CORE2, each ended by a null handler. */
extern const LnsNvtxHandler lns_core_handlers[];
extern const LnsNvtxHandler lns_core2_handlers[];

/* The handlers of the modules that name objects of other libraries. */
extern const LnsNvtxHandler lns_cuda_handlers[];
extern const LnsNvtxHandler lns_cudart_handlers[];
extern const LnsNvtxHandler lns_opencl_handlers[];

/* The handlers of module SYNC, which only note that they were called. */
extern const LnsNvtxHandler lns_sync_handlers[];

/* The handlers of the extensions, by slot of their one segment. */
extern const LnsNvtxHandler lns_payload_handlers[];
extern const LnsNvtxHandler lns_counter_handlers[];
