/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Making the rows of definitions: what the builders of tables share. */

#pragma once

#include "src/tables/tables-private.h"

/* The table being built. */
typedef struct
{
  LnsTables *tables;
  LnsReport *report;
  LnsTableCells *cells;
  unsigned n_columns;
  bool good;
} LnsCellBuilder;

typedef struct
{
  int64_t key;
  uint32_t id;
} LnsKeyedId;

/* The values of a new row, all NULL; NULL (and `good` false) without memory. */
LnsValue *_lns_builder_add_row (LnsCellBuilder *builder);

LnsValue _lns_cell_integer (int64_t value);
LnsValue _lns_cell_integer_or_null (int64_t value); /* NULL for 0                                 */
LnsValue _lns_cell_constant (const char *text);     /* lives at least as long as the tables       */
LnsValue _lns_builder_string (LnsCellBuilder *builder, uint32_t id);
LnsValue _lns_builder_string_or_null (LnsCellBuilder *builder, uint32_t id); /* NULL for 0        */

/* Text that the tables own from now on; takes over TEXT (NULL: no memory). */
LnsValue _lns_builder_keep (LnsCellBuilder *builder, char *text);
LnsValue _lns_builder_format (LnsCellBuilder *builder, const char *text, ...)
    __attribute__ ((format (printf, 2, 3)));

/* Whether the report is that of another program. */
bool _lns_builder_is_import (const LnsCellBuilder *builder);

/* Sorts ITEMS by key and keeps of those with equal keys the last: a pid or tid that came back has
 * one row, since readers take them for unique. Returns how many are left. */
uint32_t _lns_builder_keep_last (LnsKeyedId *items, uint32_t n);

/* Named threads by globalTid, of those with one id the last; the caller frees. RET_N_REUSED gets
 * how many were left out for it. */
LnsKeyedId *
_lns_builder_named_threads (LnsCellBuilder *builder, uint32_t *ret_n, uint32_t *ret_n_reused);

/* The tables about the session, in session-cells.c. False where TABLE is none of them. */
bool _lns_builder_session (LnsCellBuilder *builder, const char *table);

/* A table of kept rows, in kept-cells.c. */
void _lns_builder_kept (LnsCellBuilder *builder, const LnsTable *table);

/* The tables about GPUs, in cuda-cells.c. False where TABLE is none of them. */
bool _lns_builder_cuda (LnsCellBuilder *builder, const char *table);
