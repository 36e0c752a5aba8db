/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The calls and other events for which CUPTI calls back, and the meaning of the calls. */

#pragma once

#include "capture/inject/cuda/engine.h"
#include "capture/wire/compact.h"

/* Enables all callbacks that the options ask for. */
void lns_cuda_enable_callbacks (void);

/* Enables the callbacks of calls that begin or end a range. */
void lns_cuda_watch_ranges (void);

/* Enables or disables the callbacks of launches, which tell kernels' names before the kernels end. */
void lns_cuda_watch_launches (bool watch);

/* Enables the callbacks of all calls of CLASSES (bits, by LnsWireCallClass), those that only ask WITH_QUESTIONS alone. Before
 * any other of these functions. */
void lns_cuda_watch_classes (uint32_t classes, bool with_questions);

/* The meaning of a call to the engine, as bits beside LNS_WIRE_CUDA_CALL_ROLES. */
enum
{
  LNS_CUDA_CALL_LAUNCHES = 1 << 0,
  LNS_CUDA_CALL_BEGINS_RANGE = 1 << 1,
  LNS_CUDA_CALL_ENDS_RANGE = 1 << 2,
  LNS_CUDA_CALL_RESETS = 1 << 3,
  LNS_CUDA_CALL_TELLS = 1 << 7, /* asks for the driver's version; see lns_cuda_in_call () */
};

/* By [driver, runtime] and number. */
extern uint8_t lns_cuda_roles[2][LNS_WIRE_CUPTI_CALLS];

/* The same: 1 + LnsWireCallClass of the calls that are watched for their class, else 0. */
extern uint8_t lns_cuda_classes[2][LNS_WIRE_CUPTI_CALLS];
