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

/* Where a word stands in its line, with its quotes: bytes [start, end). */
typedef struct
{
  gsize start, end;
} LnsLaunchPlace;

/* Does so, and appends the place of each word to PLACES (of LnsLaunchPlace, may be NULL). A line without words is no error. */
GStrv lns_launch_command_split_places (const char *line,
                                       GArray *places,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* WORD (any bytes) quoted so that lns_launch_command_split () and a shell give it back. UTF-8. */
char *lns_launch_command_quote (const char *word) G_GNUC_WARN_UNUSED_RESULT;

/* The index of the program among WORDS, after the recorder's own switches such as "-t nvtx", "-tnvtx", "--trace=nvtx"
 * and "--"; the number of words if there is no program. FLAGS (may be NULL) are the names of long switches that take
 * no value. */
guint lns_launch_command_find_program (const char *const *words, const char *const *flags);

/* The value of the last switch -SHORT_NAME (0: none) or --LONG_NAME before the program, or NULL if there is none. The
 * value of a flag is "". Owned by WORDS. */
const char *lns_launch_command_get_switch (const char *const *words,
                                           const char *const *flags,
                                           char short_name,
                                           const char *long_name);

/* The number of words of the switch at WORDS, with its value, or 0 if there is no switch. A value is the next word
 * unless it is attached ("-tnvtx", "--trace=nvtx"). */
guint lns_launch_command_switch_length (const char *const *words, const char *const *flags);

/* Whether WORD is -SHORT_NAME (0: none) or --LONG_NAME, with or without a value. RET_AT gets the place of an attached
 * value. */
gboolean lns_launch_command_is_switch (const char *word,
                                       char short_name,
                                       const char *long_name,
                                       gsize *ret_at);

/* The value of --output with which the tool numbers the reports called VALUE: VALUE itself if it holds %n. Returns
 * NULL for NULL: the tool numbers its default name. */
char *lns_launch_command_number_output (const char *value) G_GNUC_WARN_UNUSED_RESULT;
