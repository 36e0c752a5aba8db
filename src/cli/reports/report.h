/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Functions that the commands share which read reports. */

#pragma once

#include <sys/types.h>

#include "src/cli/options/command.h"
#include "src/store/read/report.h"

/* Opens the report at PATH. A damaged report is rebuilt in the cache, and a file of another program is imported into it;
 * a message on stderr says so. To be closed; NULL with ERROR if it cannot be opened. */
LnsReport *lns_cli_open_report (const char *path, LnsError *error);

/* A progress function for a terminal: shows FRACTION and the text DATA in one line of stderr. */
void lns_cli_show_progress (double fraction, void *data);

/* From now on, the first SIGINT, SIGTERM or SIGHUP sets the result to true, so that no half-written file stays; the second
 * one ends the process. SIGXFSZ is ignored, so that writing a file that is too large fails with an error. */
const atomic_bool *lns_cli_catch_interrupt (void);

/* What lns_cli_catch_interrupt () returns, without catching anything. */
const atomic_bool *lns_cli_interrupted (void);

/* Has this process end by SIGNAL_NUMBER once its command has returned, so that its parent sees the signal; 0: nothing. */
void lns_cli_end_by (int signal_number);

/* The signal that this process is to end by: the last one of lns_cli_end_by (), or the one that lns_cli_catch_interrupt ()
 * caught; 0: none. */
int lns_cli_ending_signal (void);

/* If PATH, from the command line, does not exist because `profile -o PATH` wrote the report with another ending, replaces it
 * by that path and prints a note. */
void lns_cli_find_report (char *path);

/* ARGV[1], the only word that COMMAND takes besides its switches. NULL with ERROR if there is none or more than one. WHAT
 * says what it should be: "one report". */
const char *lns_cli_only_word (
    const LnsCommand *command, int argc, char **argv, const char *what, LnsError *error);

/* PATH with ENDING instead of ".rep" or the endings of nsys, or with ENDING added if it has none of these. Owned. */
char *lns_cli_replace_ending (const char *path, const char *ending);

/* Prints to STREAM (stdout or stderr) that the file at PATH was written. */
void lns_cli_tell_generated (FILE *stream, const char *path);

/* Prints that the table or rule NAME is now applied to the report at PATH. */
void lns_cli_tell_processing (const char *path, const char *name);

/* If REPORT keeps only a part of its run, prints a note that what INPUT says is about these. */
void lns_cli_tell_kept (LnsReport *report, const char *input);

/* "info", "warning" or "error". Static. */
const char *lns_cli_severity (LnsSeverity severity);

/* Starts WORDS[0], which is looked for in PATH, with FD as its descriptor STANDARD_FD and the default action of SIGPIPE.
 * Blocked signals stay blocked in it. Returns 0 or an errno value. */
int lns_cli_start (char *const *words, int fd, int standard_fd, pid_t *ret_pid);
