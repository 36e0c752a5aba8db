/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The launch dialog's controls for switches of the recorder, made from its list of capabilities. They show what a command line says,
 * and say what it should. Main thread only. */

#pragma once

#include <adwaita.h>

#include "ui/launch/capabilities.h"
#include "ui/launch/launch-line.h"
#include "ui/launch/machine.h"

typedef struct LnsLaunchSwitches LnsLaunchSwitches;

/* Is told that a person gave OPTION a VALUE, or for NULL what it is by default. */
typedef void (*LnsLaunchSwitchFunc) (gpointer owner, const LnsSwitch *option, const char *value);

/* Adds to TRACES a row for each choice of --trace, and to OTHERS one for each topic of CAPABILITIES that unfolds to rows of switches.
 * Borrows CAPABILITIES, and calls CHANGED with OWNER; both must outlive the groups. */
LnsLaunchSwitches *lns_launch_switches_new (AdwPreferencesGroup *traces,
                                            AdwPreferencesGroup *others,
                                            const LnsCapabilities *capabilities,
                                            LnsLaunchSwitchFunc changed,
                                            gpointer owner) G_GNUC_WARN_UNUSED_RESULT;
/* The controls stay, and must not be used any more. */
void lns_launch_switches_free (LnsLaunchSwitches *self);

/* Shows what LINE says, and defaults. For NULL, a line that cannot be read, controls keep what they show, and cannot be changed. */
void lns_launch_switches_show (LnsLaunchSwitches *self, const LnsLaunchLine *line);

/* Says of what can be traced why MACHINE cannot record it. */
void lns_launch_switches_show_machine (LnsLaunchSwitches *self, const LnsMachine *machine);
