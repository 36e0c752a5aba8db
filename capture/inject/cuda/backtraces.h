/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The callers of CUDA calls that took long. CUPTI calls back at the beginning and the end of each call that was asked for;
 * at the end the stack is still the caller's, and is walked. Where frame pointers do not lead to the start of the thread, its
 * stack is written instead, without its data. A chain of addresses, or a stack, is written once for each stream, like a
 * name, and 16 bytes for each call that has it. */

#pragma once

#include "capture/inject/cuda/engine.h"

/* Begins to measure how long CLOCK's ticks are, before lns_cuda_enable_backtraces (). */
void lns_cuda_prepare_backtraces (void);

/* Enables the callbacks of all calls whose callers are asked for. Other callbacks are to be enabled after this. */
void lns_cuda_enable_backtraces (void);

/* CUPTI calls back for CALL, the number CBID; FRAME is the frame record of the function that it calls. */
void lns_cuda_trace_back (bool is_runtime,
                          uint32_t cbid,
                          const CUpti_CallbackData *call,
                          const void *frame);

/* Learns where the process has mapped code since. Called by the control thread alone, again and again. */
void lns_cuda_follow_code (void);

/* Writes which code the process has mapped, if callers are recorded: the session may not have seen it before the process
 * ends. */
void lns_cuda_tell_code (void);
