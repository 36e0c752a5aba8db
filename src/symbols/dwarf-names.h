/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Functions, the calls that the compiler inlined into them, and source lines, from DWARF, by libdw. libdw trusts its input
 * more than a program's files deserve: a damaged file may end the process or keep it busy for ever. So this runs only in
 * the process that name-worker.h starts for it. Not thread-safe. */

#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct
{
  const char *function; /* mangled where the language mangles; NULL if it has none */
  const char *file;     /* NULL if it is not known */
  uint32_t line;        /* 0 if it is not known */
} LnsDwarfFrame;

typedef struct LnsDwarfNames LnsDwarfNames;

/* Opens the DWARF of the file at PATH. NULL if there is none. O(compilations). */
LnsDwarfNames *lns_dwarf_names_new (const char *path) __attribute__ ((warn_unused_result));
void lns_dwarf_names_free (LnsDwarfNames *names); /* NULL is fine */

/* Gets the N_FRAMES > 0 frames of address number I: the innermost inlined call first, the function itself last. FRAMES and
 * their texts are valid only during the call. */
typedef void (*LnsDwarfFunc) (void *context,
                              size_t i,
                              const LnsDwarfFrame *frames,
                              size_t n_frames);

/* Calls FUNC once for each of the N virtual ADDRESSES, which ascend, that DWARF knows, in any order. */
void lns_dwarf_names_find (
    LnsDwarfNames *names, const uint64_t *addresses, size_t n, LnsDwarfFunc func, void *context);
