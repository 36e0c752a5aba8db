/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The place of a pane among the others. It is empty until the pane is shown or asked for: a report has many panes, of which people open
 * few, and each takes as long to make and lay out as several frames. Main thread. */

#pragma once

#include <adwaita.h>

#include "ui/shell/panes.h"

#define LNS_TYPE_PANE_SLOT (lns_pane_slot_get_type ())
G_DECLARE_FINAL_TYPE (LnsPaneSlot, lns_pane_slot, LNS, PANE_SLOT, AdwBin)

/* The place of a pane of TYPE, which must stay. Holds references on VIEW and SETTINGS. */
GtkWidget *lns_pane_slot_new (const LnsPaneType *type,
                              LnsView *view,
                              GSettings *settings) G_GNUC_WARN_UNUSED_RESULT;

/* The pane, which is made if it is not there yet. Owned by SELF. */
GtkWidget *lns_pane_slot_get_pane (LnsPaneSlot *self);
