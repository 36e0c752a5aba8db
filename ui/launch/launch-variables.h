/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The launch dialog's rows for variables of the program's environment, which a command line holds. Main thread only. */

#pragma once

#include <adwaita.h>

#include "ui/launch/launch-line.h"

typedef struct LnsLaunchVariables LnsLaunchVariables;

/* Is told that a person changed the settings, "NAME=VALUE" each. */
typedef void (*LnsLaunchVariablesFunc) (gpointer owner, const char *const *settings);

/* Has rows in GROUP. Calls CHANGED with OWNER, which must outlive the group. */
LnsLaunchVariables *lns_launch_variables_new (AdwPreferencesGroup *group,
                                              LnsLaunchVariablesFunc changed,
                                              gpointer owner) G_GNUC_WARN_UNUSED_RESULT;
/* The rows stay, and must not be used any more. */
void lns_launch_variables_free (LnsLaunchVariables *self);

/* Adds an empty row and goes there. */
void lns_launch_variables_add (LnsLaunchVariables *self);

/* Shows the settings of LINE (NULL: cannot be read) in rows; those that are not whole yet stay. Returns whether all are whole. */
gboolean lns_launch_variables_show (LnsLaunchVariables *self, const LnsLaunchLine *line);
