/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Switches of the command line: one table a command drives the parser, --help, its manual page, the
 * completions of shells and --capabilities=json, from which the viewer's launch dialog is made. A
 * command keeps its values in a struct of its own; the table says where.
 *
 * Accepted are `--name=value`, `--name value`, `-n value`, `-nvalue` and `-n=value`. A switch is given
 * once; lists add up. `--` ends the switches. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "src/base/error.h"
#include "src/cli/terminal/language.h"

typedef enum
{
  LNS_OPTION_FLAG,    /* bool; takes no value                                              */
  LNS_OPTION_BOOL,    /* bool; true or false, in any case                                  */
  LNS_OPTION_TEXT,    /* const char *, of argv                                             */
  LNS_OPTION_CHOICE,  /* const char *, one of `choices`, in any case but stored as there   */
  LNS_OPTION_LIST,    /* LnsOptionList; `choices`, if any, says what its items may be      */
  LNS_OPTION_INTEGER, /* int64_t, from `least` to `most`                                   */
  LNS_OPTION_SECONDS, /* int64_t, ns; written in seconds, with a fraction if need be; ≥ 0  */
  LNS_OPTION_BYTES,   /* int64_t; written in MiB, or with a unit: 64M, 1G, 512KiB; > 0     */
  LNS_OPTION_FILE     /* nothing: names a file of further switches, which those of the command
                         line go before; may be given several times                        */
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
  const char *old;  /* an older spelling of it; NULL = none                                    */
  char letter;      /* short form, or 0                                                        */
  LnsOptionKind kind;
  size_t offset;            /* of the value in the command's struct                            */
  const char *value_name;   /* "PATH": in --help; NULL for flags, true|false and choices       */
  const char *choices;      /* "none,sigterm,sigkill"; NULL = any                              */
  bool open_choices;        /* the command itself looks at other values                        */
  bool is_whole;            /* a list that is given at once, not in parts                      */
  const char *implied;      /* the value where none follows after `=`; NULL = the next word    */
  int64_t least, most;      /* of an integer; most 0 = none                                    */
  const char *default_text; /* what holds without the switch, for people; NULL = nothing       */
  const char *help;         /* a sentence or two; the first is complete by itself              */

  /* Of a switch that scripts may use and that has no effect: why, and what does the work, as a sentence
   * without its capital and its full stop. --help ends with it and shows the switch only when asked for it. Its
   * value is checked and kept nowhere; one that asks for something has this said, once for all switches with
   * the same words. NULL = the switch does what its help says. */
  const char *instead;
  const char *nothing; /* values that ask for nothing; NULL = "none,false" */
} LnsOption;

/* What a row of a table of switches begins with. KIND is the end of an LnsOptionKind; the compiler checks that MEMBER of
 * VALUES, the command's struct, has its type. */
#define LNS_SWITCH(long_name, kind_name, values, member)                                           \
 .name = long_name, .kind = LNS_OPTION_##kind_name,                                                \
 .offset = offsetof (values, member) + LNS_OPTION_CHECK_ (kind_name, values, member)

/* The same for a switch without an effect. WHY is its `instead`. */
#define LNS_IGNORED_SWITCH(long_name, kind_name, why)                                              \
 .name = long_name, .kind = LNS_OPTION_##kind_name, .instead = why

#define LNS_OPTION_TYPE_FLAG    bool
#define LNS_OPTION_TYPE_BOOL    bool
#define LNS_OPTION_TYPE_TEXT    const char *
#define LNS_OPTION_TYPE_CHOICE  const char *
#define LNS_OPTION_TYPE_LIST    LnsOptionList
#define LNS_OPTION_TYPE_INTEGER int64_t
#define LNS_OPTION_TYPE_SECONDS int64_t
#define LNS_OPTION_TYPE_BYTES   int64_t

/* 0, or an error of the compiler. */
#define LNS_OPTION_CHECK_(kind_name, values, member)                                               \
 (0 * sizeof (struct {                                                                             \
  int nothing;                                                                                     \
  _Static_assert(__builtin_types_compatible_p (LNS_OPTION_TYPE_##kind_name,                        \
                                               __typeof__ (((values *)NULL)->member)),             \
                 "the member does not have the type of the switch");                               \
  }))

/* Switches about one thing: a part of --help, which --help=TAG shows alone. Several commands may have
 * it, if their structs are the same. */
typedef struct
{
  const char *tag;   /* "cuda" */
  const char *title; /* "CUDA" */
  const LnsOption *options;
  size_t n_options;
} LnsOptionGroup;

#define LNS_OPTION_GROUP(tag, title, table)                                                        \
 {                                                                                                 \
  tag, title, table, sizeof table / sizeof *table                                                  \
 }

/* Switches of the reference that make no sense here: giving one is an error. */
typedef struct
{
  const char *names; /* "isr,wddm-backtraces" */
  const char *why;   /* "is about Windows" */
} LnsRefusal;

typedef struct LnsCommand LnsCommand;

struct LnsCommand
{
  const char *name;    /* "profile" */
  const char *usage;   /* "[switches] PROGRAM [ARGUMENTS…]" */
  const char *summary; /* one line, for `lanescope --help` */
  const char
      *details; /* below the switches in --help, or NULL: paragraphs, which are filled; a line that
                        * begins with a space stays as it is */
  bool words_end_it; /* what follows the first word is left alone: it is a program's */
  const LnsOption *options;
  size_t n_options;
  const LnsOptionGroup *const *groups; /* further switches; NULL-terminated, or NULL */
  const LnsRefusal *refusals;
  size_t n_refusals;
  /* Runs the command; ARGV[0] is its name. Returns the exit code. */
  int (*run) (const LnsCommand *command, int argc, char **argv);
};

/* Group I of COMMAND into *RET_GROUP: its own switches, which have no tag, are group 0. False behind the last. */
bool lns_command_group (const LnsCommand *command, size_t i, LnsOptionGroup *ret_group);

/* The members of an LnsCommand that hold its own table of switches. */
#define LNS_COMMAND_OPTIONS(table) .options = table, .n_options = sizeof table / sizeof *table

/* Switch I of COMMAND, those of its groups after its own; NULL behind the last. O(groups). */
const LnsOption *lns_command_option (const LnsCommand *command, size_t i);

/* Takes the switches off ARGV: VALUES (the command's struct) gets theirs, and ARGV[1] up to
 * ARGV[*ARGC - 1] become the words that are no switches. False and ERROR for a switch that is not
 * known (with the nearest that is), a value that is missing or off, a switch that is given twice.
 * `--help` needs no row in the table: it sets *RET_HELP to its value ("" where it has none), and the
 * rest is not looked at; NULL where nobody asks for help. Says on stderr which switches are not
 * honoured. Values point into ARGV, or into files of switches, which stay in memory. */
bool lns_options_parse (const LnsCommand *command,
                        int *argc,
                        char **argv,
                        void *values,
                        const char **ret_help,
                        LnsError *error);

/* Splits TEXT into LIST, after what is there. */
void lns_option_list_add (LnsOptionList *list, const char *text);
void lns_option_list_clear (LnsOptionList *list);
bool lns_option_list_has (const LnsOptionList *list, const char *item);

/* Checks TEXT and puts it to where OPTION keeps its value in VALUES; NULL values = it is only checked.
 * TEXT (NULL for a flag) must outlive the value; a choice is given its table's spelling in place. */
bool lns_option_set (const LnsOption *option, char *text, void *values, LnsError *error);

/* Where CHOICES, words between commas, has TEXT, in any case; NULL if it has not. */
const char *lns_option_choice (const char *choices, const char *text);

/* The words of the file of switches at PATH, NULL-terminated; they stay in memory. NULL and ERROR
 * where it cannot be read. */
char **lns_option_file_read (const char *path, LnsError *error);

/* Whether --help=TOPIC of COMMAND says something: a group has that tag, or a switch has it in its name. */
bool lns_command_has_topic (const LnsCommand *command, const char *topic);

/* Prints the --help of COMMAND, filled to COLUMNS. TOPIC "" is all that has an effect, "all" is all, another one
 * is the group of that tag, or the switches that have it in their names. False and ERROR where there are
 * none. */
bool lns_command_print_help (
    const LnsCommand *command, const char *topic, int columns, FILE *file, LnsError *error);

/* COMMAND as a JSON object: name, usage, summary, details, program (whether one's words follow), groups,
 * switches, refused. */
void lns_command_print_json (const LnsCommand *command, FILE *file);

/* The one of N names that TEXT may have been meant to be, or NULL when none is near. O(n). */
const char *lns_nearest_name (const char *text, const char *const *names, size_t n);
