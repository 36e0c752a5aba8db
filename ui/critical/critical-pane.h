/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The critical path of the time that panes speak of, in numbers: what it is in, its longest links, and in which functions and ranges it is. It is looked for once the pane
 * is seen. */

#pragma once

#include <adwaita.h>

#include "ui/model/view.h"

#define LNS_TYPE_CRITICAL_PANE (lns_critical_pane_get_type ())
G_DECLARE_FINAL_TYPE (LnsCriticalPane, lns_critical_pane, LNS, CRITICAL_PANE, AdwBin)

/* Holds a reference on VIEW. */
GtkWidget *lns_critical_pane_new (LnsView *view) G_GNUC_WARN_UNUSED_RESULT;
