/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The CUDA engine as the rest of the library sees it. It exists where the headers of CUPTI were there
 * to build it; it starts when the CUDA driver, on cuInit(), calls InitializeInjection(). */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef LNS_HAVE_CUPTI

/* Lets CUPTI record, or not, as the pool's RECORDING says by now; from any thread that is in no callback of
 * CUPTI's buffers. Where another thread is at it, that one looks again. Nothing happens where the engine has
 * not started: it looks when it does. */
void lns_cuda_follow_recording (void);

/* In a fork's child that joins a session of its own, before the parent's pool is unmapped: CUPTI's
 * copies of pointers into it must go on to point to memory. */
void lns_cuda_leave_parent (void);

/* Tells the name, of N_BYTES, that the program gave to what OBJECT is a handle of, where TYPE says that it
 * is a context or a stream. */
void lns_cuda_name_object (uint32_t type, uint64_t object, const char *name, size_t n_bytes);

#else

static inline void
lns_cuda_follow_recording (void)
{
}

static inline void
lns_cuda_leave_parent (void)
{
}

static inline void
lns_cuda_name_object (uint32_t type, uint64_t object, const char *name, size_t n_bytes)
{
}

#endif
