/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The functions that an ELF file's symbol tables name. Not thread-safe. */

#pragma once

#include <stdbool.h>

#include "src/symbols/elf-image.h"
#include "src/symbols/span-list.h"

typedef struct
{
  LnsSpanList
      functions;   /* sorted; `name` is the place of the name in `names`, addresses are virtual */
  char *names;     /* owned */
  bool is_dynamic; /* only names that other modules may use were found */
} LnsSymbolTable;

/* Reads IMAGE's .symtab. Without one: .dynsym, and the functions that .gnu_debugdata adds to it (a packed table that some
 * distributions leave in stripped programs). False if there is nothing. Clear the table in either case. O(symbols). */
bool lns_symbol_table_read (const LnsElfImage *image, LnsSymbolTable *ret_table);
void lns_symbol_table_clear (LnsSymbolTable *table);
