/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Turns a row of a table of events into an event, column by column. `export` makes rows from events by the cells of the
 * schema; this applies each rule of a cell backwards. */

#pragma once

#include "src/import/nsys/import-private.h"

typedef struct
{
  LnsImport *import;
  LnsEvent event;
  LnsCudaLaunch launch;
  bool has_launch, has_start, has_end;
  int64_t end_ns, nesting;
  /* Its owner, by the file's numbers. */
  int64_t thread, process, device, context, stream, green, track_number, metric;
  LnsPayloadType value_type; /* of a counter's sample                                            */
} LnsImportRow;

/* A column, and where it goes. */
typedef struct
{
  const LnsTableColumn *column;
  int extra; /* of LnsEvent, or -1                                                               */
} LnsImportCell;

LnsImportCell _lns_import_cell (const LnsTableColumn *column, LnsLaneKind kind);

/* Begins a row whose columns are CELLS. */
void _lns_import_row_begin (LnsImportRow *row, const LnsImportCell *cells, unsigned n_cells);

/* Puts VALUE of CELL's column into ROW. False where the event cannot hold all of it. */
bool _lns_import_row_put (LnsImportRow *row, const LnsImportCell *cell, const LnsKeptValue *value);

/* Whether the event holds VALUE, for cells where that depends on the whole row and on the event's lane. True for other
 * cells. */
bool _lns_import_row_says (const LnsImportRow *row,
                           const LnsImportCell *cell,
                           const LnsKeptValue *value,
                           const LnsImportPlace *place);
