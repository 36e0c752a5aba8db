/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What is known of one address of a program's code. */

#pragma once

#include <stddef.h>
#include <stdint.h>

#define LNS_NAME_MOST_FRAMES 256 /* of one address; further ones are cut off */

/* Where a name is from, the best last. */
typedef enum
{
  LNS_NAME_NONE, /* there is no name: `function` is made of the module and the offset */
  LNS_NAME_DYNAMIC_TABLE, /* from .dynsym, which has exported functions only: it may be that of a function before */
  LNS_NAME_SYMBOL_TABLE, /* from .symtab */
  LNS_NAME_MAP,          /* from what a just-in-time compiler or the kernel says of its code */
  LNS_NAME_DEBUG_INFO    /* from DWARF */
} LnsNameSource;

typedef struct
{
  const char *function; /* demangled; never NULL */
  const char *file;     /* of the source; NULL if it is not known */
  uint32_t line;        /* from 1 on; 0 if it is not known */
  LnsNameSource source;
} LnsSymbolFrame;

/* Gets the N_FRAMES > 0 frames of address number I: the innermost inlined call first, the function itself last. FRAMES and
 * their texts are valid only during the call. */
typedef void (*LnsSymbolsFunc) (void *context,
                                size_t i,
                                const LnsSymbolFrame *frames,
                                size_t n_frames);
