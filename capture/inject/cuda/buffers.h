/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The buffers that CUPTI fills with records, and their compaction into streams. */

#pragma once

#include "capture/inject/cuda/engine.h"

#include <stddef.h>

void lns_cuda_buffer_requested (uint8_t **buffer, size_t *size, size_t *max_records);
void lns_cuda_buffer_completed (
    CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

/* Makes sure that the sizes of CUPTI's records are known. Returns false and writes a problem if CUPTI does not tell
 * them. Cheap once they are known. */
bool lns_cuda_learn_sizes (bool is_needed);

/* Writes how many records CUPTI has dropped in CONTEXT and STREAM since the last call. */
void lns_cuda_tell_dropped (CUcontext context, uint32_t stream);

/* Has CUPTI give back finished records until all launched kernels have ended, for at most a second. */
void lns_cuda_flush_all_launched (void);

/* Has CUPTI give back finished records, or all records. Does nothing when the process is ending, or CUPTI has failed. */
void lns_cuda_flush (bool by_force);

/* The same for all records when the process is ending. */
void lns_cuda_flush_last (void);

/* Whether records may be missing, as CUPTI has dropped some, was refused a buffer or could not flush. */
bool lns_cuda_may_lack (void);

/* Whether a buffer that CUPTI has not given back holds the record of the call CORRELATION, or of a later one, of our
 * thread. O(bytes in such buffers). */
bool lns_cuda_is_with_cupti (uint32_t correlation);
