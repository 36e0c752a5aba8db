/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <adwaita.h>

#include "ui/model/view.h"

G_BEGIN_DECLS

#define LNS_TYPE_DIAGNOSTICS_PANE (lns_diagnostics_pane_get_type ())

/* What the recording has to say of itself: each diagnostic of the report with its severity, time,
 * process and stable code. */
G_DECLARE_FINAL_TYPE (LnsDiagnosticsPane, lns_diagnostics_pane, LNS, DIAGNOSTICS_PANE, AdwBin)

GtkWidget *lns_diagnostics_pane_new (LnsView *view) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
