/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Functions, the calls that the compiler inlined into them, and source lines, from DWARF, by libdw. libdw trusts its input
 * more than a program's files deserve: a damaged file may end the process or keep it busy for ever. So this runs only in
 * the process that name-worker.h starts for it. Not thread-safe. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/array.h"

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

/* A place where what is said of addresses may change. */
typedef struct
{
  uint64_t address;
  bool is_known; /* up to the next edge, all addresses have the same frames */
} LnsDwarfEdge;

typedef LNS_ARRAY (LnsDwarfEdge) LnsDwarfEdges;

/* Adds the edges of the compilations that lns_dwarf_names_find() looked in, and of all others if they have at most
 * MOST_CODE_BYTES of code together. Then sorts EDGES, which may have had others before, and sets is_known of all. False if
 * the DWARF has parts in other files that are missing: names may be better when these are there. */
bool
lns_dwarf_names_list_edges (LnsDwarfNames *names, uint64_t most_code_bytes, LnsDwarfEdges *edges);
