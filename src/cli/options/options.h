/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Switches of the command line. Each command has one table, from which the parser, --help, its manual page, the
 * completions of shells and --capabilities=json are made; the viewer makes its launch dialog from the last one. The table
 * also says where in the command's own struct each value is stored.
 *
 * The parser accepts `--name=value`, `--name value`, `-n value`, `-nvalue` and `-n=value`. A switch may be given once,
 * except lists, which add up. `--` ends the switches. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "src/base/error.h"
#include "src/cli/terminal/language.h"

/* A row of a table that a person may choose: a report, a rule, a cause. */
typedef struct
{
  const char *name;
  const char *help; /* a line, to be translated, or NULL                                        */
} LnsChoice;

/* Gets row I. Returns false behind the last one. */
typedef bool (*LnsChoiceFunc) (size_t i, LnsChoice *ret_choice);

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
  LNS_OPTION_WORD,    /* nothing: its value is one of the words of the command line, as it would be
                         without the switch                                                */
  LNS_OPTION_FILE     /* nothing: names a file of further switches; those on the command line
                         take precedence; may be given several times                       */
} LnsOptionKind;

/* Items of a comma-separated list, without the spaces and quotes around them. A comma within quotes is part of its
 * item. */
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
  size_t offset;          /* of the value in the command's struct                            */
  const char *value_name; /* "PATH": in --help; NULL for flags, true|false and choices       */
  const char *choices;    /* "none,sigterm,sigkill"; NULL = any                              */
  LnsChoiceFunc
      each_choice;          /* in place of `choices`: the rows of a table, and open_choices       */
  bool open_choices;        /* other values are accepted; the command checks them              */
  bool is_whole;            /* a list that may be given only once                              */
  const char *implied;      /* the value if there is no `=`; NULL = the next word is the value */
  int64_t least, most;      /* of an integer; most 0 = none                                    */
  const char *default_text; /* the default, for people; NULL = none                            */
  const char *help;         /* a sentence or two; the first is complete by itself              */

  /* For a switch that is accepted and has no effect: why, and what to use instead, as a sentence without its capital
   * and its full stop. --help shows such a switch only when asked for it. Its value is checked and not stored. If the
   * value asks for something, this sentence is printed as a warning, once for all switches with the same sentence.
   * NULL = the switch has an effect. */
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

/* Switches about one subject: a section of --help, which --help=TAG shows alone. Commands with the same struct of values
 * may share a group. */
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

/* Switches of nsys that make no sense here. Giving one is an error. */
typedef struct
{
  const char *names; /* "isr,wddm-backtraces" */
  const char *why;   /* "is about Windows" */
} LnsRefusal;

typedef struct LnsCommand LnsCommand;

/* A part of the help that is made of a table: its title, and a line for each row. */
typedef struct
{
  const char *title; /* "Rules:", or NULL */
  LnsChoiceFunc each;
} LnsCommandList;

struct LnsCommand
{
  const char *name;    /* "profile" */
  const char *usage;   /* "[switches] PROGRAM [ARGUMENTS…]" */
  const char *summary; /* one line, for `lanescope --help` */
  const char
      *details; /* below the switches in --help, or NULL: paragraphs, which are filled; a line that
                        * begins with a space stays as it is */
  LnsCommandList list; /* between the switches and the details, or zero */
  bool words_end_it;   /* the words after the first one belong to a program and are not parsed */
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

/* Switch I of COMMAND: its own come first, then those of its groups. NULL behind the last. O(groups). */
const LnsOption *lns_command_option (const LnsCommand *command, size_t i);

/* Parses ARGV. Stores the values of switches in VALUES (the command's struct), and moves the other words to ARGV[1] up to
 * ARGV[*ARGC - 1]. False with ERROR if a switch is unknown (ERROR suggests the nearest one) or given twice, or if a value
 * is missing or wrong. `--help` needs no row in the table: it sets *RET_HELP to its value ("" without one) and ends the
 * parsing; otherwise *RET_HELP is NULL. Prints a warning about switches without an effect. Values point into ARGV, or into
 * files of switches, which stay in memory. */
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

/* Checks TEXT (NULL for a flag) and stores it as the value of OPTION in VALUES, or only checks it if VALUES is NULL. TEXT
 * must outlive the value. The spelling of a choice is changed in place to that of the table. */
bool lns_option_set (const LnsOption *option, char *text, void *values, LnsError *error);

/* Finds TEXT, in any case, among CHOICES, words separated by commas. Returns where it begins there; NULL if it is not
 * there. */
const char *lns_option_choice (const char *choices, const char *text);

/* The text of the file at PATH, the value of the switch NAME. Owned; NULL with ERROR if it cannot be read, or is not text
 * of at most 1 MiB. */
char *lns_option_read_text (const char *path, const char *name, LnsError *error);

/* The words of TEXT, as in a file of switches, NULL-terminated. Takes TEXT, which is from malloc; both stay in memory. NULL if a
 * quote is not closed. */
char **lns_option_split (char *text);

/* The words of the file of switches at PATH, NULL-terminated; they stay in memory. NULL with ERROR if it cannot be
 * read. */
char **lns_option_file_read (const char *path, LnsError *error);

/* Whether COMMAND has help for TOPIC: a group with that tag, or a switch with TOPIC in its name. */
bool lns_command_has_topic (const LnsCommand *command, const char *topic);

/* Prints the --help of COMMAND to FILE, in lines of at most COLUMNS. TOPIC selects the switches: "" those with an effect,
 * "all" all of them, another word the group with that tag or the switches with that word in their names. False with ERROR
 * if there are none. */
bool lns_command_print_help (
    const LnsCommand *command, const char *topic, int columns, FILE *file, LnsError *error);

/* Prints COMMAND as a JSON object: name, usage, summary, details, program (whether it runs one), groups, switches,
 * refused. */
void lns_command_print_json (const LnsCommand *command, FILE *file);

/* The name among the N NAMES that TEXT is most likely a misspelling of; NULL if none is near. O(n). */
const char *lns_nearest_name (const char *text, const char *const *names, size_t n);
