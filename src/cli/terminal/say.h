/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What commands say beside their results: lines on stderr, each once. */

#pragma once

#include "src/base/error.h"

/* Prints `lanescope: WORD: ` and the text to stderr, WORD being "note", "warning" or "error"; a line that
 * was printed before is not printed again. */
void lns_cli_say (const char *word, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/* Prints a line to stderr, as the locale can show it. Paths that scripts read are not for it. */
void lns_cli_tell (const char *format, ...) __attribute__ ((format (printf, 1, 2)));

/* Fills ERROR with what is wrong with the words of a command line: LNS_ERROR_USAGE. Returns false. */
bool lns_cli_usage (LnsError *error, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/* How many different warnings and errors were said. */
unsigned lns_cli_n_warnings (void);
