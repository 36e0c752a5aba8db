/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <adwaita.h>

#include "ui/model/view.h"

#define LNS_TYPE_STATS_PANE (lns_stats_pane_get_type ())

/* Shows a report of `lanescope stats`, of the selected time or else of the whole run, that is computed once the pane is seen. */
G_DECLARE_FINAL_TYPE (LnsStatsPane, lns_stats_pane, LNS, STATS_PANE, AdwBin)

/* Holds a reference on VIEW. */
GtkWidget *lns_stats_pane_new (LnsView *view) G_GNUC_WARN_UNUSED_RESULT;
