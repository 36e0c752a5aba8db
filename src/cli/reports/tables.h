/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Where the tables of `stats` and `analyze` are written, and in which format. Table k has format k and output k; if a list
 * is shorter, its last item applies to the rest. */

#pragma once

#include <sys/types.h>

#include "src/analysis/stats/style.h"
#include "src/cli/options/shared.h"

/* The values of the switches LNS_CLI_TABLE_SWITCHES. */
typedef struct
{
  LnsOptionList formats;
  LnsOptionList outputs;
  const char *unit;
  const char *help_formats;
  bool overwrite;
  bool quiet;
} LnsCliTableValues;

/* Rows of the table of switches of a command whose values begin with LnsCliTableValues. */
/* clang-format off */
#define LNS_CLI_TABLE_SWITCHES                                                                     \
  { LNS_SWITCH ("format", LIST, LnsCliTableValues, formats), .letter = 'f',                        \
    .choices = "column,table,csv,tsv,json,hdoc,htable,.", .open_choices = true,                    \
    .default_text = N_ ("column; csv for files and commands"),                                          \
    .help = N_ ("Output format. Repeat it to give each report its own; the last one applies to the rest. Put arguments after colons (`column:nohdr`); --help-formats lists them.") },                              \
  { LNS_SWITCH ("output", LIST, LnsCliTableValues, outputs), .letter = 'o',                        \
    .value_name = "BASE", .default_text = "-",                                                     \
    .help = N_ ("Output. Repeat it as --format. `-` prints; BASE writes BASE_NAME.csv (or .txt, .json …); `.` uses the name of the report as BASE; `@COMMAND` writes to a command, which is run without a shell.") },                                                      \
  { LNS_SWITCH ("timeunit", CHOICE, LnsCliTableValues, unit),                                      \
    .choices = "nsec,usec,msec,seconds,nanoseconds,microseconds,milliseconds",                     \
    .open_choices = true, .default_text = "nsec",                                                  \
    .help = N_ ("Unit of times; may be shortened (us).") },                                        \
  { LNS_SWITCH ("help-formats", TEXT, LnsCliTableValues, help_formats), .value_name = "NAME",      \
    .implied = "ALL",                                                                              \
    .help = N_ ("Print all formats with their arguments, or only NAME.") },                           \
  LNS_CLI_OVERWRITE (LnsCliTableValues, 0, N_ ("Replace files that are there.")),                       \
  LNS_CLI_QUIET (LnsCliTableValues, N_ ("Print the tables alone."))

/* Switches of nsys about the SQLite file that it makes of a report first. */
#define LNS_CLI_NO_SQLITE                                                                          \
  N_ ("ignored; reports are read directly")
#define LNS_CLI_NO_SQLITE_SWITCHES                                                                 \
  { LNS_IGNORED_SWITCH ("sqlite", TEXT, LNS_CLI_NO_SQLITE), .value_name = "PATH",                  \
    .help = N_ ("SQLite file to use.") },                                                          \
  { LNS_IGNORED_SWITCH ("force-export", BOOL, LNS_CLI_NO_SQLITE), .default_text = "false",         \
    .help = N_ ("Export to SQLite again.") }
/* clang-format on */

/* Prints the formats and their arguments: all ("ALL"), or only NAME. False with ERROR if NAME is unknown. */
bool lns_cli_print_formats (const char *name, LnsError *error);

/* Where one table goes. */
typedef struct
{
  LnsStatsStyle style;
  char *path;    /* of a file, or NULL                                                          */
  mode_t mode;   /* of the file, before the umask */
  char *command; /* or NULL                                                                     */
} LnsCliTableOutput;

/* Prepares OUTPUT for table number K of the report at INPUT. NAME is the table's, with arguments; RANGE is the value of
 * --filter-nvtx or NULL, and becomes part of the names of files. VALUES is borrowed. Clear OUTPUT whatever is returned.
 * False with ERROR if a format is unknown or a file exists already. */
bool lns_cli_table_output_init (LnsCliTableOutput *output,
                                const LnsCliTableValues *values,
                                size_t k,
                                const char *input,
                                const char *name,
                                const char *range,
                                LnsError *error);
void lns_cli_table_output_clear (LnsCliTableOutput *output);

/* Whether the table is printed for people, with headings and hints. */
bool lns_cli_table_output_is_for_people (const LnsCliTableOutput *output);

/* Writes DATA to STREAM as a table. False with ERROR if anything other than STREAM failed. */
typedef bool (*LnsCliTableFunc) (void *data,
                                 FILE *stream,
                                 const LnsStatsStyle *style,
                                 LnsError *error);

/* Calls FUNCTION with the stream of OUTPUT: stdout; a file, which gets its name once it is complete; or a command, whose
 * end it waits for. TITLE is the title of a document if the format did not set one. False with ERROR if FUNCTION or
 * writing failed. */
bool lns_cli_table_output_write (LnsCliTableOutput *output,
                                 const char *title,
                                 LnsCliTableFunc function,
                                 void *data,
                                 LnsError *error);
