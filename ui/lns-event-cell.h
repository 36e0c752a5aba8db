/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What stands in the events table's cells, and in what is copied from them. */

#pragma once

#include "ui/lns-event-order.h"

G_BEGIN_DECLS

typedef struct
{
  const char *title;      /* to be translated                                     */
  const char *copy_title; /* of the copy's column: times there are in nanoseconds */
  int width_px;
  bool is_number; /* aligned to the right, with digits of one width       */
} LnsEventColumnInfo;

/* Static. */
const LnsEventColumnInfo *lns_event_column_info (LnsEventColumn column);

/* Whether any event of SET has something to say in COLUMN. O(1). */
bool lns_event_column_is_used (const LnsEventSet *set, LnsEventColumn column);

/* The text of ROW in COLUMN: UTF-8, one line. Free with g_free (). Reads no event. Any thread. */
char *lns_event_cell_text (const LnsEventSet *set, uint32_t row, LnsEventColumn column);

/* A title line and the known rows of ORDER at POSITIONS (ascending), tab-separated: names byte for
 * byte, in quotes where they hold a tab, a line end or a quote; times in nanoseconds. NULL where
 * CANCELLABLE (may be NULL) was cancelled. Any thread. O(rows). */
GBytes *lns_event_cell_copy (const LnsEventSet *set,
                             const LnsEventOrder *order,
                             const uint32_t *positions,
                             uint32_t n_positions,
                             GCancellable *cancellable) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
