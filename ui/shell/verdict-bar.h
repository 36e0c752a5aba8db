/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The line above the timeline that says why the program was slow (`lanescope why`), and leads to where it shows most. */

#pragma once

#include "ui/model/view.h"

#include <adwaita.h>

#define LNS_TYPE_VERDICT_BAR (lns_verdict_bar_get_type ())
G_DECLARE_FINAL_TYPE (LnsVerdictBar, lns_verdict_bar, LNS, VERDICT_BAR, AdwBin)

/* A bar about the report of VIEW, of which it keeps a reference. It is there from the start, says when there is
 * no answer yet, or none, and looks at a very large report when it is asked to. Where the user closed it, it stays hidden for this
 * report. */
GtkWidget *lns_verdict_bar_new (LnsView *view);
