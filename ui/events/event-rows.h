/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Some rows of the events table: all that are shown, or those that are selected. Immutable; any thread. */

#pragma once

#include <gtk/gtk.h>

#include "ui/events/event-order.h"

typedef struct
{
  LnsEventSet *set;     /* owned */
  LnsEventOrder *order; /* owned */
  uint32_t first;       /* of the page */
  GtkBitset *positions; /* owned; on the page. NULL: all of `order` */
  uint32_t n;
} LnsEventRows;

/* The known rows of ORDER of SET at FIRST plus each of POSITIONS, which are copied; or all of ORDER's if POSITIONS is NULL. Holds
 * references on the others. Who keeps it must keep the set's report open. O(positions). */
LnsEventRows *lns_event_rows_new (LnsEventSet *set,
                                  LnsEventOrder *order,
                                  uint32_t first,
                                  GtkBitset *positions) G_GNUC_WARN_UNUSED_RESULT;
void lns_event_rows_free (LnsEventRows *self); /* NULL is fine */

/* Where a walk through the rows is; all 0 before the first one. */
typedef struct
{
  uint32_t n_done;
  GtkBitsetIter iter;
} LnsEventRowsWalk;

/* Finds the next row, in the order of the table. Returns false after the last one. O(1). */
bool lns_event_rows_next (const LnsEventRows *self, LnsEventRowsWalk *walk, uint32_t *ret_row);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LnsEventRows, lns_event_rows_free)
