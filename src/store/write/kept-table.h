/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A table that a report keeps as it came, in the making: its rows are gathered into blocks. One thread
 * owns it. */

#pragma once

#include "src/store/format/kept-codec.h"
#include "src/store/write/writer.h"

typedef struct LnsKeptTableMaker LnsKeptTableMaker;

typedef struct
{
  const char *name;
  const char *type; /* as SQL declares it; "" for none                                          */
  bool is_not_null;
} LnsKeptColumn;

/* Defines the table NAME with N_COLUMNS (1 to LNS_KEPT_MAX_COLUMNS) COLUMNS. IS_REMAINDER: its rows are
 * those of events. WRITER is borrowed and must outlive the maker. NULL without memory. */
LnsKeptTableMaker *lns_kept_table_maker_new (LnsWriter *writer,
                                             const char *name,
                                             const LnsKeptColumn *columns,
                                             unsigned n_columns,
                                             bool is_remainder)
    __attribute__ ((warn_unused_result));

/* Adds a row of as many values as there are columns; strings are ids of the writer's. What `bytes` point to is
 * copied. Amortised O(columns). */
void lns_kept_table_maker_add (LnsKeptTableMaker *maker, const LnsKeptValue *values);

/* The LNS_COLUMN_REMAINDER of an event whose row says VALUES (LNS_KEPT_UNSET where it says nothing beside the
 * event). Equal rows share one. 0 without memory. */
uint64_t lns_kept_table_maker_remainder (LnsKeptTableMaker *maker, const LnsKeptValue *values);

/* Writes the rows that wait: the next commit has them. */
void lns_kept_table_maker_flush (LnsKeptTableMaker *maker);

/* Writes the rows that wait, and frees MAKER (NULL is fine). */
void lns_kept_table_maker_free (LnsKeptTableMaker *maker);
