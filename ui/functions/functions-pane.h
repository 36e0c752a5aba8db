/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <adwaita.h>

#include "ui/model/view.h"

#define LNS_TYPE_FUNCTIONS_PANE (lns_functions_pane_get_type ())

/* Where the samples of a report were taken, in the selected time: as a flame graph, as trees of callers or callees, or
 * function by function. The settings "functions-…" choose which. */
G_DECLARE_FINAL_TYPE (LnsFunctionsPane, lns_functions_pane, LNS, FUNCTIONS_PANE, AdwBin)

/* Holds references on VIEW and SETTINGS. */
GtkWidget *lns_functions_pane_new (LnsView *view, GSettings *settings) G_GNUC_WARN_UNUSED_RESULT;

/* Shows the functions of THREADS alone (by thread instance), headed TITLE ("main (4711)"). */
void
lns_functions_pane_show_threads (LnsFunctionsPane *self, const char *title, const bool *threads);
