/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The commands of `lanescope`: one file each, listed in main.c. */

#pragma once

#include "src/cli/options/options.h"

/* Lanescope's own exit codes, as in env(1) and timeout(1). Each comes with a line `lanescope: error: …` on stderr,
 * which tells a script that the code is not the program's. */
#define LNS_EXIT_INCOMPLETE     124 /* with --strict: something that was asked for is missing */
#define LNS_EXIT_FAILED         125
#define LNS_EXIT_NOT_EXECUTABLE 126
#define LNS_EXIT_NOT_FOUND      127

extern const LnsCommand lns_command_profile;
extern const LnsCommand lns_command_launch;
extern const LnsCommand lns_command_attach;
extern const LnsCommand lns_command_start;
extern const LnsCommand lns_command_stop;
extern const LnsCommand lns_command_cancel;
extern const LnsCommand lns_command_keep;
extern const LnsCommand lns_command_shutdown;
extern const LnsCommand lns_command_sessions;
extern const LnsCommand lns_command_status;
extern const LnsCommand lns_command_stats;
extern const LnsCommand lns_command_why;
extern const LnsCommand lns_command_what_if;
extern const LnsCommand lns_command_diff;
extern const LnsCommand lns_command_analyze;
extern const LnsCommand lns_command_export;
extern const LnsCommand lns_command_import;
extern const LnsCommand lns_command_sql;
extern const LnsCommand lns_command_info;
extern const LnsCommand lns_command_recover;
extern const LnsCommand lns_command_resolve;
extern const LnsCommand lns_command_mcp;
extern const LnsCommand lns_command_ui;

/* Those that Lanescope and its viewer run themselves, which no help lists. */
extern const LnsCommand lns_command_finish_report;
extern const LnsCommand lns_command_examine_report;
extern const LnsCommand lns_command_name_report;
extern const LnsCommand lns_command_pod_run;
extern const LnsCommand lns_command_pod_copy;

/* Prints `lanescope: error: ` and the message to stderr. Returns LNS_EXIT_FAILED, for `return lns_cli_fail (&error)`. */
int lns_cli_fail (const LnsError *error);

/* The same for a wrong word on the command line. Translates FORMAT. */
int lns_cli_refuse (const char *format, ...) __attribute__ ((format (printf, 1, 2)));

/* The exit code of a command that has printed everything: 0, or LNS_EXIT_FAILED (after an error message) if stdout could
 * not be written. */
int lns_cli_printed (void);

/* Prints the help of lns_command_print_help () to stdout, for the width of the terminal and the letters of the locale.
 * False with ERROR if COMMAND does not know TOPIC. */
bool lns_cli_print_help (const LnsCommand *command, const char *topic, LnsError *error);

/* Parses ARGV as lns_options_parse () does. True: the command goes on. False: the help or the error has been printed,
 * and *RET_EXIT is the exit code. */
bool lns_cli_parse (const LnsCommand *command, int *argc, char **argv, void *values, int *ret_exit);

/* Frees the lists in VALUES, those of COMMAND's switches. */
void lns_cli_clear_lists (const LnsCommand *command, void *values);
