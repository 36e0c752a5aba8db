/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The CUDA engine as the rest of the library sees it. It is built only if CUPTI's headers are there, and starts when
 * the CUDA driver calls InitializeInjection() within cuInit(). */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef LNS_HAVE_CUPTI

/* Writes the name, of N_BYTES, that the program gave to OBJECT, if TYPE says that it is a context or a stream. */
void lns_cuda_name_object (uint32_t type, uint64_t object, const char *name, size_t n_bytes);

#else

static inline void
lns_cuda_name_object (uint32_t type, uint64_t object, const char *name, size_t n_bytes)
{
}

#endif
