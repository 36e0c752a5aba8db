/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Where tables of `stats` and `analyze` go and how they are written: table k has format k and output k,
 * and where a list is shorter its last item. */

#pragma once

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

/* Rows of the table of switches of a command whose values begin with LnsCliTableValues.           */
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

/* Those by which nsys is told of the SQLite file that it goes through.                             */
#define LNS_CLI_NO_SQLITE                                                                          \
  N_ ("ignored; reports are read directly")
#define LNS_CLI_NO_SQLITE_SWITCHES                                                                 \
  { LNS_IGNORED_SWITCH ("sqlite", TEXT, LNS_CLI_NO_SQLITE), .value_name = "PATH",                  \
    .help = N_ ("SQLite file to use.") },                                                          \
  { LNS_IGNORED_SWITCH ("force-export", BOOL, LNS_CLI_NO_SQLITE), .default_text = "false",         \
    .help = N_ ("Export to SQLite again.") }
/* clang-format on */

/* Prints the formats and their arguments, or that called NAME alone. False and ERROR where there is
 * none of that name. */
bool lns_cli_print_formats (const char *name, LnsError *error);

/* Where one table goes. */
typedef struct
{
  LnsStatsStyle style;
  char *path;    /* of a file, or NULL                                                          */
  char *command; /* or NULL                                                                     */
} LnsCliTableOutput;

/* The output of table number K, called NAME (with arguments), of the report at INPUT: to be cleared.
 * RANGE, what --filter-nvtx says or NULL, goes behind NAME in names of files. VALUES is borrowed. False and
 * ERROR where a format is not known, or a file is in the way. */
bool lns_cli_table_output_init (LnsCliTableOutput *output,
                                const LnsCliTableValues *values,
                                size_t k,
                                const char *input,
                                const char *name,
                                const char *range,
                                LnsError *error);
void lns_cli_table_output_clear (LnsCliTableOutput *output);

/* Whether it is printed for people, who want to be told what they see. */
bool lns_cli_table_output_is_for_people (const LnsCliTableOutput *output);

/* Writes to STREAM. False and ERROR where something but STREAM failed. */
typedef bool (*LnsCliTableFunc) (void *data,
                                 FILE *stream,
                                 const LnsStatsStyle *style,
                                 LnsError *error);

/* Has FUNCTION write to OUTPUT: stdout, a file that appears once it is whole, or a command, whose end is
 * waited for. TITLE is a document's, where the format gave none. False and ERROR where FUNCTION or the
 * writing failed. */
bool lns_cli_table_output_write (LnsCliTableOutput *output,
                                 const char *title,
                                 LnsCliTableFunc function,
                                 void *data,
                                 LnsError *error);
