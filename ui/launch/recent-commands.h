/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The commands that were launched last, in $XDG_STATE_HOME/lanescope/commands.json, which only its owner may read: a command line can
 * hold what nobody else should know. Main thread only; files are read and written without waiting for them. */

#pragma once

#include <gtk/gtk.h>

#define LNS_TYPE_RECENT_COMMANDS (lns_recent_commands_get_type ())

/* A popover with the commands, newest first. Delete takes one out.
 *
 * Signal: chosen (const char *line, GFile *folder): a person chose one; FOLDER may be NULL. */
G_DECLARE_FINAL_TYPE (LnsRecentCommands, lns_recent_commands, LNS, RECENT_COMMANDS, GtkPopover)

/* How many are kept. */
#define LNS_RECENT_COMMANDS_MAX 20

/* Puts LINE (UTF-8), launched in FOLDER (may be NULL), at the top. */
void lns_recent_commands_add (LnsRecentCommands *self, const char *line, GFile *folder);
