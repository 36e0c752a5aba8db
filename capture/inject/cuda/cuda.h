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

/* Tells the name, of N_BYTES, that the program gave to what OBJECT is a handle of, where TYPE says that it
 * is a context or a stream. */
void lns_cuda_name_object (uint32_t type, uint64_t object, const char *name, size_t n_bytes);

#else

static inline void
lns_cuda_name_object (uint32_t type, uint64_t object, const char *name, size_t n_bytes)
{
}

#endif
