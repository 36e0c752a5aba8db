/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A whole command line of `lanescope profile` or `nsys profile` as text that people and controls edit: what one does not touch stays
 * as it was typed. Pure functions; any thread. */

#pragma once

#include <glib.h>

typedef struct
{
  char *text;                /* owned; UTF-8 */
  GStrv words;               /* owned */
  GArray *places;            /* owned; of LnsLaunchPlace: where each of them stands in the text */
  const char *const *flags;  /* borrowed; names of switches that take no value, or NULL */
  guint setting, n_settings; /* which words are "NAME=VALUE" for the environment */
  gboolean has_sudo;
  guint first;   /* the first word behind those and "lanescope profile": a switch or the program */
  guint program; /* the program, or the number of words */
} LnsLaunchLine;

/* Whether TEXT is "NAME=VALUE". */
gboolean lns_launch_line_is_setting (const char *text);

/* Reads TEXT: settings of the environment and the tool ("A=b sudo nsys profile"), each of which may be missing, switches, and the
 * program, which may be missing too. Returns NULL and sets ERROR (LNS_LAUNCH_COMMAND_ERROR) if it cannot be split. FLAGS must outlive it. */
LnsLaunchLine *lns_launch_line_parse (const char *text,
                                      const char *const *flags,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;
void lns_launch_line_free (LnsLaunchLine *self); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LnsLaunchLine, lns_launch_line_free)

/* The switches and the program: arguments of `lanescope profile`. Owned by SELF. */
const char *const *lns_launch_line_get_arguments (const LnsLaunchLine *self);

/* A copy of the settings. */
GStrv lns_launch_line_get_settings (const LnsLaunchLine *self) G_GNUC_WARN_UNUSED_RESULT;

/* The value of the last switch -LETTER (0: none) or --NAME; "" for a flag; NULL if there is none. Owned by SELF. */
const char *lns_launch_line_get_switch (const LnsLaunchLine *self, char letter, const char *name);

/* The text with VALUE as that of the switch, which stays where it is, or comes last; NULL: without the switch. Earlier ones of the
 * same name go. */
char *lns_launch_line_set_switch (const LnsLaunchLine *self,
                                  char letter,
                                  const char *name,
                                  const char *value) G_GNUC_WARN_UNUSED_RESULT;

/* The text with SETTINGS instead of its own. */
char *lns_launch_line_set_settings (const LnsLaunchLine *self,
                                    const char *const *settings) G_GNUC_WARN_UNUSED_RESULT;

/* The folder (bytes; owned) that TEXT goes to first, "cd FOLDER && …", as lns_launch_line_write_command () writes it; NULL if there is none.
 * RET_REST, within TEXT, gets what follows. */
char *lns_launch_line_find_folder (const char *text,
                                   const char **ret_rest) G_GNUC_WARN_UNUSED_RESULT;

/* The command that does the same in a shell, from any folder: "cd FOLDER && A=b lanescope profile …". FOLDER (bytes) may be NULL. */
char *lns_launch_line_write_command (const LnsLaunchLine *self,
                                     const char *folder) G_GNUC_WARN_UNUSED_RESULT;
