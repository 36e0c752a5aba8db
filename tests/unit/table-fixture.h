/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes events column by column, and formats rows of tables as text, for the tests of tables. */

#pragma once

#include "src/tables/row-cursor.h"
#include "src/store/write/writer.h"

/* A column of an event and its value. */
typedef struct
{
  LnsColumnId column;
  uint64_t value;
} LnsTableValue;

/* Appends an event called "name" with VALUES, which { 0 } ends, to LANE of KIND. */
void table_append (LnsWriter *writer,
                   uint32_t lane,
                   LnsLaneKind kind,
                   int64_t start_ns,
                   int64_t duration_ns,
                   const LnsTableValue *values);

/* The rows of the table called NAME: "1:a,b 2:…" with the rowid first and NULL as "-". Valid until the
 * next call. */
const char *table_text (LnsTables *tables, const char *name);
