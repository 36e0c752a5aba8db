/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Rows of the events table as lines of text, for spreadsheets and scripts: in copies and in files. Any thread. */

#pragma once

#include <stdatomic.h>

#include "ui/events/event-cell.h"
#include "ui/events/event-rows.h"

/* Writes to STREAM a line of the titles of COLUMNS, and one of each row's values, with SEPARATOR between them. Titles are English,
 * names are written byte for byte and times in nanoseconds; what holds a separator, a line end or a quotation mark is quoted.
 * RET_PERMILLE (may be NULL) gets the progress. Blocks, and takes little memory for any number of rows. Returns false and sets
 * ERROR if it was cancelled or nothing more could be written. */
bool lns_event_rows_write (const LnsEventRows *rows,
                           const LnsEventColumnList *columns,
                           char separator,
                           GOutputStream *stream,
                           atomic_uint *ret_permille,
                           GCancellable *cancellable,
                           GError **error);
