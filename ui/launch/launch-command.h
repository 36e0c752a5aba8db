/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Splits a command line, as a person types it, into words. Words are bytes: file names need not be UTF-8, and
 * $'…\xff' types such a name. Pure functions; any thread. */

#pragma once

#include <glib.h>

#define LNS_LAUNCH_COMMAND_ERROR (lns_launch_command_error_quark ())
GQuark lns_launch_command_error_quark (void);

typedef enum
{
  LNS_LAUNCH_COMMAND_ERROR_EMPTY,      /* no word at all                                      */
  LNS_LAUNCH_COMMAND_ERROR_NO_PROGRAM, /* switches only                                       */
  LNS_LAUNCH_COMMAND_ERROR_QUOTE,      /* a quotation that does not end, a lone backslash     */
  LNS_LAUNCH_COMMAND_ERROR_SHELL,      /* an operator of the shell outside quotes             */
} LnsLaunchCommandError;

/* Splits LINE (UTF-8) into words as a POSIX shell does: blanks part words; '…', "…", \x and $'…'
 * (with \n \t \r \a \b \e \f \v \\ \' \" \xHH \NNN) quote. Nothing is expanded, and an unquoted
 * operator of the shell (| & ; < > `) is refused rather than passed to the program. Returns a
 * NULL-terminated array that the caller frees, or NULL and ERROR. O(length). */
GStrv lns_launch_command_split (const char *line, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* WORD (any bytes) quoted so that lns_launch_command_split () and a shell give it back. UTF-8. */
char *lns_launch_command_quote (const char *word) G_GNUC_WARN_UNUSED_RESULT;

/* The index of the program among WORDS, behind the recorder's own switches: "-t nvtx", "-tnvtx", "--trace=nvtx" and
 * "--" are skipped. Their number if there is none. FLAGS (may be NULL) are the names of long switches that take no
 * value. */
guint lns_launch_command_find_program (const char *const *words, const char *const *flags);

/* The value of the switch -SHORT_NAME (0: none) or --LONG_NAME before the program, or NULL; the last one counts; the
 * switch itself where it takes none. Owned by WORDS. */
const char *lns_launch_command_get_switch (const char *const *words,
                                           const char *const *flags,
                                           char short_name,
                                           const char *long_name);

/* WORDS with --LONG_NAME=VALUE before the program, in the place of what they have of -SHORT_NAME (0: none) and
 * --LONG_NAME. */
GStrv lns_launch_command_set_switch (const char *const *words,
                                     const char *const *flags,
                                     char short_name,
                                     const char *long_name,
                                     const char *value) G_GNUC_WARN_UNUSED_RESULT;

/* What --output has to be for the tool to number the reports that VALUE names: a copy of VALUE where it says so
 * itself. NULL: the tool's own name, which it numbers. */
char *lns_launch_command_number_output (const char *value) G_GNUC_WARN_UNUSED_RESULT;
