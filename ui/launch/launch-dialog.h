/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <adwaita.h>

#define LNS_TYPE_LAUNCH_DIALOG (lns_launch_dialog_get_type ())

/* Launches a program under the recorder, shows the progress of the recording, and opens the report in the parent
 * window at the end. Asks before it is closed during a recording. */
G_DECLARE_FINAL_TYPE (LnsLaunchDialog, lns_launch_dialog, LNS, LAUNCH_DIALOG, AdwWindow)

/* A modal dialog of PARENT. Offers the command line and the folder that were used last, from SETTINGS. */
GtkWidget *lns_launch_dialog_new (GtkWindow *parent, GSettings *settings) G_GNUC_WARN_UNUSED_RESULT;
