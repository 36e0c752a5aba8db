/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The prepared SQL statements that write a report. */

#pragma once

#include <sqlite3.h>
#include <stdbool.h>

#include "src/base/buffer.h"

/* Zero it before use. */
typedef struct
{
  sqlite3_stmt *begin, *commit, *rollback;
  sqlite3_stmt *chunk, *definition, *string, *lane, *tail, *no_tail, *meta, *n_pages;
} LnsWriterStatements;

/* Prepares all of them. Returns false on failure; DATABASE has the reason. */
bool _lns_writer_statements_prepare (LnsWriterStatements *all, sqlite3 *database);
void _lns_writer_statements_finalize (LnsWriterStatements *all);

/* Binds BLOB, which must be valid until the step. Returns false if BLOB has failed. */
bool _lns_writer_bind_blob (sqlite3_stmt *statement, int at, const LnsBuffer *blob);

/* Steps STATEMENT to its end and resets it. */
bool _lns_writer_step (sqlite3_stmt *statement);
