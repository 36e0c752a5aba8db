/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A row of a table of events on its way to an event: column by column, by the same cells of the schema by
 * which `export` makes rows of events, each rule backwards. */

#pragma once

#include "src/import/nsys/import-private.h"

typedef struct
{
  LnsImport *import;
  LnsEvent event;
  LnsCudaLaunch launch;
  bool has_launch, has_start, has_end;
  int64_t end_ns, nesting;
  /* Whose it is, by the numbers of the file. */
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

/* Puts VALUE, that of CELL's column, into ROW. False where the event will not say the same. */
bool _lns_import_row_put (LnsImportRow *row, const LnsImportCell *cell, const LnsKeptValue *value);

/* The same question for cells whose answer depends on the whole row, and on where the event went. Others: true. */
bool _lns_import_row_says (const LnsImportRow *row,
                           const LnsImportCell *cell,
                           const LnsKeptValue *value,
                           const LnsImportPlace *place);
