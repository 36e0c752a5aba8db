/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the commands that read reports share. */

#pragma once

#include "src/cli/options/command.h"
#include "src/store/read/report.h"

/* Opens the report at PATH: rebuilt in a cache where it is damaged, imported into one where another
 * program wrote it; says on stderr what a person should know of that. To be closed. NULL and ERROR where it cannot. */
LnsReport *lns_cli_open_report (const char *path, LnsError *error);

/* A progress function for a terminal: FRACTION and the text DATA on one line of stderr. */
void lns_cli_show_progress (double fraction, void *data);

/* From now on, the first SIGINT, SIGTERM or SIGHUP sets the result to true, so that no half-written file stays; the second
 * one ends the process. SIGXFSZ is ignored, so that writing a file that is too large fails with an error. */
const atomic_bool *lns_cli_catch_interrupt (void);

/* Has this process end by SIGNAL_NUMBER once its command has returned, so that its parent sees the signal; 0: nothing. */
void lns_cli_end_by (int signal_number);

/* The signal that this process is to end by: the last one of lns_cli_end_by (), or the one that lns_cli_catch_interrupt ()
 * caught; 0: none. */
int lns_cli_ending_signal (void);

/* If PATH, from the command line, does not exist because `profile -o PATH` wrote the report with another ending, replaces it
 * by that path and prints a note. */
void lns_cli_find_report (char *path);

/* The one word that COMMAND was given after its switches, ARGV[1]; NULL and ERROR where there is
 * none, or more. WHAT says what it should be: "one report". */
const char *lns_cli_only_word (
    const LnsCommand *command, int argc, char **argv, const char *what, LnsError *error);

/* PATH with its ending ".rep" (or that of nsys' reports) replaced by ENDING (or that added), to be freed. */
char *lns_cli_replace_ending (const char *path, const char *ending);

/* Prints to STREAM (stdout or stderr) that the file PATH was written. */
void lns_cli_tell_generated (FILE *stream, const char *path);

/* Prints which table or rule, NAME, is made of the report at PATH. */
void lns_cli_tell_processing (const char *path, const char *name);

/* "info", "warning" or "error". Static. */
const char *lns_cli_severity (LnsSeverity severity);

/* "complete", "recording", "cut off" or "recovered". Static. */
const char *lns_cli_state_name (LnsState state);
