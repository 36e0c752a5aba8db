/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The buffers that CUPTI fills with records, and what is told of their contents. */

#pragma once

#include "capture/inject/cuda/engine.h"

#include <stddef.h>

void lns_cuda_buffer_requested (uint8_t **buffer, size_t *size, size_t *max_records);
void lns_cuda_buffer_completed (
    CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

/* Sees to it that the lengths of CUPTI's records are known; false, and a problem, where CUPTI does not
 * tell. Cheap once they are. */
bool lns_cuda_learn_sizes (bool is_needed);

/* Tells what CUPTI has dropped since it was asked last, in CONTEXT and STREAM. */
void lns_cuda_tell_dropped (CUcontext context, uint32_t stream);

/* Has CUPTI give back what is finished until all kernels that were launched are, for a second at most. */
void lns_cuda_flush_all_launched (void);

/* Has CUPTI give back what is finished, or everything by force. */
void lns_cuda_flush (bool by_force);
