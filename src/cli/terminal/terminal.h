/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The one way by which commands write to a terminal: names of programs, ranges and files come from strangers, so
 * whatever is printed there shows control characters instead of sending them (src/base/visible.h). Files
 * and pipes get the bytes. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "src/base/error.h"

/* Has stdout and stderr write so where they are terminals. To be called once, before anything is printed. */
void lns_cli_guard_terminals (void);

/* Whether STREAM, which is stdout or stderr, is a terminal. */
bool lns_cli_is_terminal (const FILE *stream);

/* Prints SIZE BYTES to STREAM, stdout or stderr: on a terminal as one line, newlines and tabs shown; else as
 * they are. For what ends a line or stands between tabs. */
void lns_cli_print_name (FILE *stream, const char *bytes, size_t size);

/* Replaces the line of the terminal stderr, where the cursor is: for progress. */
void lns_cli_draw (const char *format, ...) __attribute__ ((format (printf, 1, 2)));

/* Empties that line. */
void lns_cli_draw_nothing (void);

/* How many columns of text fill a line of STREAM: what COLUMNS says; else the terminal's width, at most 100,
 * which can be read; else 80. */
int lns_cli_columns (FILE *stream);

/* Prints the words of TEXT, SIZE bytes of UTF-8, in lines of at most COLUMNS that begin at column INDENT. */
void lns_cli_print_filled (FILE *stream, const char *text, size_t size, int indent, int columns);

/* Flushes stdout. False and ERROR where something of what was printed could not be written. */
bool lns_cli_flush (LnsError *error);
