/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <adwaita.h>

#include "ui/launch/launch-line.h"

#define LNS_TYPE_LAUNCH_SETUP (lns_launch_setup_get_type ())

/* The page of the launch dialog on which a person says what to launch and what to record. All of it but the folder is in one command
 * line, which is typed or changed by controls.
 *
 * Signals: changed (): whether it is complete may have changed; activated (): the person wants to launch. */
G_DECLARE_FINAL_TYPE (LnsLaunchSetup, lns_launch_setup, LNS, LAUNCH_SETUP, AdwBin)

/* Begins with LINE in FOLDER. */
void lns_launch_setup_begin (LnsLaunchSetup *self, const char *line, GFile *folder);

/* Whether what is needed for a start is there and right. */
gboolean lns_launch_setup_is_complete (LnsLaunchSetup *self);

/* The command line as it was typed, whether it is complete or not. Free with g_free (). */
char *lns_launch_setup_get_text (LnsLaunchSetup *self) G_GNUC_WARN_UNUSED_RESULT;

/* The program's working directory, or NULL while what is typed is none. Owned by SELF. */
GFile *lns_launch_setup_get_folder (LnsLaunchSetup *self);

/* The recorder's switches that take no value, or NULL until they are known. Owned by SELF, and stays as long. */
const char *const *lns_launch_setup_get_flags (LnsLaunchSetup *self);

/* Puts the command line among the recent ones. */
void lns_launch_setup_remember (LnsLaunchSetup *self);

/* The page is shown (again): looks where the report would go now, and lets typing replace the command line. */
void lns_launch_setup_show (LnsLaunchSetup *self);
