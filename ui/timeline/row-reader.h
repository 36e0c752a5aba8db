/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reads what rows need before they can be shown (the kernels of a stream by name, streams together). A worker reads
 * for one row after the other. */

#pragma once

#include "ui/model/row-tree.h"
#include "ui/model/view.h"

typedef struct LnsRowReader LnsRowReader;

/* SET (borrowed) is what WANT asked for. */
typedef void (*LnsRowReadFunc) (const LnsRowWant *want, LnsFacetSet *set, gpointer data);

/* For rows of VIEW's report. Holds a reference on VIEW. READ is called on the main thread. */
LnsRowReader *
lns_row_reader_new (LnsView *view, LnsRowReadFunc read, gpointer data) G_GNUC_WARN_UNUSED_RESULT;

/* Cancels what is being read: READ is not called any more. NULL is fine. */
void lns_row_reader_free (LnsRowReader *self);

/* Has a worker read what a row of TREE wants first, unless one is at it. */
void lns_row_reader_read_wanted (LnsRowReader *self, const LnsRowTree *tree);

gboolean lns_row_reader_is_reading (LnsRowReader *self);
