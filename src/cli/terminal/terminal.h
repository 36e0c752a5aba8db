/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writing to terminals. Names of programs, ranges and files come from strangers, so a terminal is shown control
 * characters and never sent them (src/base/visible.h). Files and pipes get the bytes unchanged. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "src/base/error.h"

/* Makes stdout and stderr show control characters if they are terminals. Call it once, before anything is printed. */
void lns_cli_guard_terminals (void);

/* Whether STREAM, which is stdout or stderr, is a terminal. */
bool lns_cli_is_terminal (const FILE *stream);

/* Prints SIZE BYTES to STREAM, stdout or stderr: on a terminal as one line, newlines and tabs shown; else as
 * they are. For what ends a line or stands between tabs. */
void lns_cli_print_name (FILE *stream, const char *bytes, size_t size);

/* Replaces the line of the terminal in which the cursor is: for progress. stderr must be a terminal. */
void lns_cli_draw (const char *format, ...) __attribute__ ((format (printf, 1, 2)));

/* Empties that line. */
void lns_cli_draw_nothing (void);

/* The number of columns to fill with text: the variable COLUMNS, else the width of the terminal (at most 100, as longer
 * lines are hard to read), else 80. */
int lns_cli_columns (FILE *stream);

/* Prints the words of TEXT, SIZE bytes of UTF-8, in lines of at most COLUMNS that begin at column INDENT. */
void lns_cli_print_filled (FILE *stream, const char *text, size_t size, int indent, int columns);

/* Flushes stdout. False with ERROR if any of the output could not be written. */
bool lns_cli_flush (LnsError *error);
