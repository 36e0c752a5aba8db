/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The launch dialog's rows for switches of the recorder, made from its list of capabilities. */

#pragma once

#include <adwaita.h>

#include "ui/launch/capabilities.h"

/* Adds a row to GROUP for each topic of CAPABILITIES that unfolds to rows of switches, except for switches that the
 * dialog has elsewhere. Returns the rows of switches, which borrow from CAPABILITIES. Calls CHANGED with OWNER, for as long as that
 * exists, when a switch was changed. */
GPtrArray *lns_launch_switches_new (AdwPreferencesGroup *group,
                                    const LnsCapabilities *capabilities,
                                    GCallback changed,
                                    gpointer owner) G_GNUC_WARN_UNUSED_RESULT;

/* Shows the switches of the command line GIVEN (NULL: it cannot be split) in their ROWS, which cannot be changed
 * then. The others show the user's own choice. */
void lns_launch_switches_show_given (GPtrArray *rows,
                                     const char *const *given,
                                     const char *const *flags);

/* Adds `--name=value` to WORDS for each of ROWS that the user changed, unless the command line GIVEN sets that
 * switch. FLAGS are the switches that take no value. */
void lns_launch_switches_add_words (GPtrArray *rows,
                                    const char *const *given,
                                    const char *const *flags,
                                    GStrvBuilder *words);
