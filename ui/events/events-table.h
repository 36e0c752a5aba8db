/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <adwaita.h>

#include "ui/model/view.h"

#define LNS_TYPE_EVENTS_TABLE (lns_events_table_get_type ())

/* The Events View: the events of a row (or of all rows below a folded one) in the selected time, to be sorted by any
 * column, filtered and summed up. Choosing an event moves the timeline to it; an event chosen in the
 * timeline is shown here. */
G_DECLARE_FINAL_TYPE (LnsEventsTable, lns_events_table, LNS, EVENTS_TABLE, AdwBin)

/* Holds references on both. SETTINGS keep the columns. */
GtkWidget *lns_events_table_new (LnsView *view, GSettings *settings) G_GNUC_WARN_UNUSED_RESULT;

/* Loads the events of LANES on a worker and shows them under TITLE. If SET is not NULL, shows only those of its
 * FACET. Replaces what is shown or being loaded. */
void lns_events_table_show_lanes (LnsEventsTable *self,
                                  const char *title,
                                  const uint32_t *lanes,
                                  unsigned n_lanes,
                                  const LnsFacetSet *set,
                                  uint32_t facet);
