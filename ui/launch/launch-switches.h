/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The launch dialog's rows for switches of the recorder, made from its list of capabilities. */

#pragma once

#include <adwaita.h>

#include "ui/launch/capabilities.h"

/* Adds a row to GROUP for each subject of CAPABILITIES, which unfolds to one for each switch, but for those that the
 * dialog has elsewhere. Returns what lns_launch_switches_add_words () wants, which borrows from CAPABILITIES. */
GPtrArray *lns_launch_switches_new (AdwPreferencesGroup *group,
                                    const LnsCapabilities *capabilities) G_GNUC_WARN_UNUSED_RESULT;

/* Shows in each of ROWS what the command line GIVEN (NULL: nothing can be read from it) says of its switch, and lets
 * only the others be changed: they are as the person left them. */
void lns_launch_switches_show_given (GPtrArray *rows,
                                     const char *const *given,
                                     const char *const *flags);

/* Adds to WORDS `--name=value` for each of ROWS that is not as it was, but for what the command line GIVEN says
 * itself; FLAGS are the switches that take no value. */
void lns_launch_switches_add_words (GPtrArray *rows,
                                    const char *const *given,
                                    const char *const *flags,
                                    GStrvBuilder *words);
