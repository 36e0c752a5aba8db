/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The kernel's functions, from its own list, /proc/kallsyms.
 *
 * The kernel makes that list anew at each reading, which takes 50 ms. The part between _stext and _etext is the kernel as it
 * was built: nothing in it gets another name or place until the machine starts again. So that part is kept in a file, for
 * the boot that has the same id, kernel, and first lines of the list. Functions of modules and of BPF programs come and go;
 * where one of them is asked for, the list is read. */

#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/symbols/elf-image.h"
#include "src/symbols/symbol-frame.h"

typedef struct
{
  const char *list; /* the path of the list */
  LnsBuildId boot;
  const char *cache_folder; /* with a slash at its end; NULL: nothing is kept */
  uint64_t most_cache_bytes;
  const atomic_bool *stop; /* ends it; may be NULL */
} LnsKernelNamesOptions;

/* Names the N ADDRESSES, which ascend, and calls FUNC for those that have a name. Without
 * privileges the list shows no addresses: then none has. False if *stop became true. O(list) where it is read,
 * else O(n log functions). */
bool lns_kernel_names_find (const LnsKernelNamesOptions *options,
                            const uint64_t *addresses,
                            size_t n,
                            LnsSymbolsFunc func,
                            void *context);
