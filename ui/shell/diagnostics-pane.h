/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <adwaita.h>

#include "ui/model/view.h"

#define LNS_TYPE_DIAGNOSTICS_PANE (lns_diagnostics_pane_get_type ())

/* Lists the diagnostics of a report, each with its severity, time, process and stable code. */
G_DECLARE_FINAL_TYPE (LnsDiagnosticsPane, lns_diagnostics_pane, LNS, DIAGNOSTICS_PANE, AdwBin)

GtkWidget *lns_diagnostics_pane_new (LnsView *view) G_GNUC_WARN_UNUSED_RESULT;
