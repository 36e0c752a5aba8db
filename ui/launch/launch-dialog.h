/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <adwaita.h>

#define LNS_TYPE_LAUNCH_DIALOG (lns_launch_dialog_get_type ())

/* Launches a program under the recorder, shows how the recording goes, and opens its report in PARENT at the end.
 * While it records, closing it asks first. */
G_DECLARE_FINAL_TYPE (LnsLaunchDialog, lns_launch_dialog, LNS, LAUNCH_DIALOG, AdwWindow)

/* A modal dialog of PARENT. What was launched last is offered again, from SETTINGS. */
GtkWidget *lns_launch_dialog_new (GtkWindow *parent, GSettings *settings) G_GNUC_WARN_UNUSED_RESULT;
