/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What CUPTI's headers say of CUDA calls. A process tells names and roles of calls with the first record of each; these are for
 * records that it has not compacted itself. */

#pragma once

#include "capture/wire/compact.h"
#include "capture/wire/cuda-layout.h"

#include <stdbool.h>
#include <stddef.h>

/* The public name of call CBID of the runtime or the driver, static; NULL if it is not known. */
const char *_lns_cuda_call_name (bool is_runtime, uint32_t cbid);

/* Adds the roles of all calls, LNS_WIRE_CUDA_CALL_ROLES, to INOUT_ROLES: of the driver's, then of the runtime's. */
void _lns_cuda_add_roles (uint8_t (*inout_roles)[LNS_WIRE_CUPTI_CALLS]);
