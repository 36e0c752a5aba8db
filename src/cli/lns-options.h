/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Switches of the command line: one table a command drives the parser, --help and
 * --capabilities=json. A command keeps its values in a struct of its own; the table says where.
 *
 * Accepted are `--name=value`, `--name value`, `-n value`, `-nvalue` and `-n=value`. The last of
 * several values counts, those of lists add up. `--` ends the switches. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "src/base/lns-error.h"

typedef enum
{
  LNS_OPTION_FLAG,    /* bool; takes no value                                              */
  LNS_OPTION_BOOL,    /* bool; true or false, in any case                                  */
  LNS_OPTION_TEXT,    /* const char *, of argv                                             */
  LNS_OPTION_CHOICE,  /* const char *, one of `choices` as it is written there             */
  LNS_OPTION_LIST,    /* LnsOptionList; `choices`, if any, says what its items may be      */
  LNS_OPTION_INTEGER, /* int64_t, ≥ 0                                                      */
  LNS_OPTION_SECONDS, /* int64_t, ns; written in seconds, with a fraction if need be; ≥ 0  */
  LNS_OPTION_BYTES    /* int64_t; written in MiB, or with a unit: 64M, 1G, 512KiB; > 0     */
} LnsOptionKind;

/* Items of a comma-separated list, without the spaces and quotes around them; a comma within quotes
 * is part of its item. */
typedef struct
{
  char **items;
  size_t n_items;
} LnsOptionList;

typedef struct
{
  const char *name; /* "trace": long form without dashes                                       */
  char letter;      /* short form, or 0                                                        */
  LnsOptionKind kind;
  size_t offset;            /* of the value in the command's struct                            */
  const char *value_name;   /* "PATH": in --help; NULL for flags, true|false and choices       */
  const char *choices;      /* "none,sigterm,sigkill"; NULL = any                              */
  bool open_choices;        /* the command itself looks at other values                        */
  const char *default_text; /* what holds without the switch, for people; NULL = nothing       */
  const char *help;         /* a sentence or two                                               */
} LnsOption;

typedef struct LnsCommand LnsCommand;

struct LnsCommand
{
  const char *name;    /* "profile" */
  const char *usage;   /* "[switches] PROGRAM [ARGUMENTS…]" */
  const char *summary; /* one line, for `lanescope --help` */
  const char *details; /* paragraphs below the switches in --help, or NULL */
  bool words_end_it;   /* what follows the first word is left alone: it is a program's */
  const LnsOption *options;
  size_t n_options;
  /* Runs the command; ARGV[0] is its name. Returns the exit code. */
  int (*run) (const LnsCommand *command, int argc, char **argv);
};

/* Takes the switches off ARGV: VALUES (the command's struct) gets theirs, and ARGV[1] up to
 * ARGV[*ARGC - 1] become the words that are no switches. False and ERROR for a switch that is not
 * known (with the nearest that is), a value that is missing or off. `--help` needs no row in the
 * table: it sets *RET_HELP, and the rest is not looked at. */
bool lns_options_parse (const LnsCommand *command,
                        int *argc,
                        char **argv,
                        void *values,
                        bool *ret_help,
                        LnsError *error);

/* Splits TEXT into LIST, after what is there. False if memory is short. */
bool lns_option_list_add (LnsOptionList *list, const char *text);
void lns_option_list_clear (LnsOptionList *list);
bool lns_option_list_has (const LnsOptionList *list, const char *item);

/* The --help of COMMAND. */
void lns_command_print_help (const LnsCommand *command, FILE *file);

/* COMMAND as a JSON object: name, usage, summary and switches. */
void lns_command_print_json (const LnsCommand *command, FILE *file);

/* The one of N names that TEXT may have been meant to be, or NULL when none is near. O(n). */
const char *lns_nearest_name (const char *text, const char *const *names, size_t n);
