/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <adwaita.h>

#include "ui/model/view.h"

#define LNS_TYPE_STEPS_PANE (lns_steps_pane_get_type ())

/* Lists the steps of a report, as `lanescope why` finds them: how long each took, how long the GPU worked in it, and what most of the
 * rest was lost to. */
G_DECLARE_FINAL_TYPE (LnsStepsPane, lns_steps_pane, LNS, STEPS_PANE, AdwBin)

/* Holds a reference on VIEW. */
GtkWidget *lns_steps_pane_new (LnsView *view) G_GNUC_WARN_UNUSED_RESULT;
