/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Texts of the cells of the events table, on the screen. */

#pragma once

#include "ui/events/event-order.h"

/* Columns, in the order in which they stand. */
typedef struct
{
  LnsEventColumn of[LNS_N_EVENT_COLUMNS];
  unsigned n;
} LnsEventColumnList;

typedef struct
{
  const char *title; /* to be translated; in copies it is not */
  int width_px;
  bool is_number; /* aligned to the right, with digits of one width       */
  LnsEventSetValue
      value;    /* what it shows of what stands in the payload's place; 0: something else */
  bool is_time; /* in nanoseconds in copies */
} LnsEventColumnInfo;

/* Static. */
const LnsEventColumnInfo *lns_event_column_info (LnsEventColumn column);

/* Whether any event of SET has a value in COLUMN. O(1). */
bool lns_event_column_is_used (const LnsEventSet *set, LnsEventColumn column);

/* The text of ROW in COLUMN: UTF-8, one line. Free with g_free (). Reads no event. Any thread. */
char *lns_event_cell_text (const LnsEventSet *set, uint32_t row, LnsEventColumn column);
