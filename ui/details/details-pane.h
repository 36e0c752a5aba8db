/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <adwaita.h>

#include "ui/model/view.h"

#define LNS_TYPE_DETAILS_PANE (lns_details_pane_get_type ())

/* Shows the selected event with its whole name and every field, and a summary of the selected time; of the report while
 * nothing is selected. */
G_DECLARE_FINAL_TYPE (LnsDetailsPane, lns_details_pane, LNS, DETAILS_PANE, AdwBin)

/* Holds a reference on VIEW. */
GtkWidget *lns_details_pane_new (LnsView *view) G_GNUC_WARN_UNUSED_RESULT;
