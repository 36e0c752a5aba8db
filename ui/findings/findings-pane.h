/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <adwaita.h>

#include "ui/model/view.h"

#define LNS_TYPE_FINDINGS_PANE (lns_findings_pane_get_type ())

/* Lists what the time of a report was lost to, what costs most first, then what is not known. The chosen row's longest time shows in
 * the timeline, and under the list stands what to do about it. */
G_DECLARE_FINAL_TYPE (LnsFindingsPane, lns_findings_pane, LNS, FINDINGS_PANE, AdwBin)

GtkWidget *lns_findings_pane_new (LnsView *view) G_GNUC_WARN_UNUSED_RESULT;
