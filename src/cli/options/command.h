/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The commands of `lanescope`: one file each, listed in main.c. */

#pragma once

#include "src/cli/options/options.h"

/* Exit codes of Lanescope's own, as in env(1) and timeout(1); each comes with a line
 * `lanescope: error: …` on stderr, by which a script tells it from a program's own. */
#define LNS_EXIT_INCOMPLETE     124 /* what was asked for is not all there, with --strict */
#define LNS_EXIT_FAILED         125
#define LNS_EXIT_NOT_EXECUTABLE 126
#define LNS_EXIT_NOT_FOUND      127

extern const LnsCommand lns_command_profile;
extern const LnsCommand lns_command_launch;
extern const LnsCommand lns_command_start;
extern const LnsCommand lns_command_stop;
extern const LnsCommand lns_command_cancel;
extern const LnsCommand lns_command_shutdown;
extern const LnsCommand lns_command_sessions;
extern const LnsCommand lns_command_status;
extern const LnsCommand lns_command_stats;
extern const LnsCommand lns_command_analyze;
extern const LnsCommand lns_command_export;
extern const LnsCommand lns_command_import;
extern const LnsCommand lns_command_sql;
extern const LnsCommand lns_command_info;
extern const LnsCommand lns_command_recover;
extern const LnsCommand lns_command_ui;

/* Prints `lanescope: error: ` and the message to stderr; returns LNS_EXIT_FAILED, to be written
 * `return lns_cli_fail (&error)`. */
int lns_cli_fail (const LnsError *error);

/* The same for words of the command line that are off; FORMAT says what is wrong with them. */
int lns_cli_refuse (const char *format, ...) __attribute__ ((format (printf, 1, 2)));

/* Has this process end by SIGNAL_NUMBER (0: none) when its command has returned, as whoever waits for it is to
 * see. */
void lns_cli_end_by (int signal_number);

/* The signal that was given to lns_cli_end_by () last; 0: none. */
int lns_cli_ending_signal (void);

/* The exit code of a command that has printed all that it had to: 0, or that of a failure, which is printed,
 * where stdout could not be written. */
int lns_cli_printed (void);

/* Prints what lns_command_print_help () says of TOPIC to stdout, as wide and in such letters as the terminal
 * and the locale have. False and ERROR where COMMAND knows no such topic. */
bool lns_cli_print_help (const LnsCommand *command, const char *topic, LnsError *error);

/* Parses as lns_options_parse () does. Returns true to go on; else *RET_EXIT is the exit code, and
 * what there was to say (the help, or the error) has been printed. */
bool lns_cli_parse (const LnsCommand *command, int *argc, char **argv, void *values, int *ret_exit);
