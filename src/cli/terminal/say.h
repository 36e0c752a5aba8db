/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Messages beside the results of commands: notes, warnings and errors on stderr. All functions here translate FORMAT. */

#pragma once

#include "src/base/error.h"

/* Prints `lanescope: WORD: ` and the text to stderr. WORD is "note", "warning" or "error". A line that was printed
 * before is not repeated. */
void lns_cli_say (const char *word, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/* Prints a line to stderr, in letters that the locale can show. Not for paths that scripts read. */
void lns_cli_tell (const char *format, ...) __attribute__ ((format (printf, 1, 2)));

/* Fills ERROR with what is wrong on the command line. Returns false. */
#define lns_cli_usage(error, ...) lns_error_set (error, LNS_ERROR_USAGE, 0, __VA_ARGS__)

/* The number of different warnings and errors so far. */
unsigned lns_cli_n_warnings (void);
