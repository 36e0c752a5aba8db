/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes a foreign table that a report keeps unchanged: collects its rows into blocks. One thread at a time may use a
 * maker. */

#pragma once

#include "src/store/format/kept-codec.h"
#include "src/store/write/writer.h"

typedef struct LnsKeptTableMaker LnsKeptTableMaker;

typedef struct
{
  const char *name;
  const char *type; /* as SQL declares it; "" for none */
  bool is_not_null;
} LnsKeptColumn;

/* Defines the table NAME with N_COLUMNS (1 to LNS_KEPT_MAX_COLUMNS) COLUMNS. IS_REMAINDER: its rows are remainders of
 * events. WRITER is borrowed and must outlive the maker. NULL if memory runs out. */
LnsKeptTableMaker *lns_kept_table_maker_new (LnsWriter *writer,
                                             const char *name,
                                             const LnsKeptColumn *columns,
                                             unsigned n_columns,
                                             bool is_remainder)
    __attribute__ ((warn_unused_result));

/* Adds a row with one value per column. Strings are ids of the writer. Copies what `bytes` points to. Amortised
 * O(columns). */
void lns_kept_table_maker_add (LnsKeptTableMaker *maker, const LnsKeptValue *values);

/* The value of LNS_COLUMN_REMAINDER for an event whose row has VALUES; LNS_KEPT_UNSET stands for values that the event
 * itself has. Equal rows share one. 0 if memory runs out. */
uint64_t lns_kept_table_maker_remainder (LnsKeptTableMaker *maker, const LnsKeptValue *values);

/* Passes the collected rows to the writer, whose next commit writes them. */
void lns_kept_table_maker_flush (LnsKeptTableMaker *maker);

/* The same, and frees MAKER (NULL is fine). */
void lns_kept_table_maker_free (LnsKeptTableMaker *maker);
