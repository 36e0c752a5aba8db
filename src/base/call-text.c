/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/base/call-text.h"

#include <string.h>

/* The size of NAME without its version, "_v13000". */
static size_t
unversioned_size (const char *name, size_t size)
{
  size_t digits = 0;

  while (digits < size && name[size - 1 - digits] >= '0' && name[size - 1 - digits] <= '9')
    digits++;
  return digits > 0 && size > digits + 2 && memcmp (name + size - digits - 2, "_v", 2) == 0
             ? size - digits - 2
             : size;
}

const char *
lns_call_text_public (const char *symbol, size_t size_bytes)
{
  /* Entry points to which calls of public functions compile, from cupti_runtime_cbid.h of CUDA 13.0. */
  static const struct
  {
    const char *symbol, *name, *versioned;
  } entries[] = {
    { "__cudaLaunchKernel", "cudaLaunchKernel", "cudaLaunchKernel_v7000" },
    { "__cudaLaunchKernel_ptsz", "cudaLaunchKernel_ptsz", "cudaLaunchKernel_ptsz_v7000" },
    { "__cudaGetKernel", "cudaGetKernel", "cudaGetKernel_v12000" },
  };

  if (size_bytes < 2 || memcmp (symbol, "__", 2) != 0)
    return NULL;
  const size_t size = unversioned_size (symbol, size_bytes);
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
    if (strlen (entries[i].symbol) == size && memcmp (entries[i].symbol, symbol, size) == 0)
      return size < size_bytes ? entries[i].versioned : entries[i].name;
  return NULL;
}

const char *
lns_call_text_copy (uint64_t kind)
{
  static const char *const names[] = {
    "[CUDA memcpy Unknown]",
    "[CUDA memcpy Host-to-Device]",
    "[CUDA memcpy Device-to-Host]",
    "[CUDA memcpy Host-to-Array]",
    "[CUDA memcpy Array-to-Host]",
    "[CUDA memcpy Array-to-Array]",
    "[CUDA memcpy Array-to-Device]",
    "[CUDA memcpy Device-to-Array]",
    "[CUDA memcpy Device-to-Device]",
    "[CUDA memcpy Host-to-Host]",
    "[CUDA memcpy Peer-to-Peer]",
    "[CUDA memcpy Unified Host-to-Device]",
    "[CUDA memcpy Unified Device-to-Host]",
    "[CUDA memcpy Unified Device-to-Device]",
  };

  return names[kind < sizeof names / sizeof *names ? kind : 0];
}
