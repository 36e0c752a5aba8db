/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lns-config.h"
#include "src/cli/reports/report.h"
#include "src/cli/terminal/signals.h"
#include "src/cli/terminal/terminal.h"
#include "src/cli/options/command.h"

static const LnsCommand *const commands[] = {
  &lns_command_profile,  &lns_command_launch, &lns_command_attach,  &lns_command_start,
  &lns_command_stop,     &lns_command_cancel, &lns_command_keep,    &lns_command_shutdown,
  &lns_command_sessions, &lns_command_status, &lns_command_stats,   &lns_command_why,
  &lns_command_what_if,  &lns_command_diff,   &lns_command_analyze, &lns_command_export,
  &lns_command_import,   &lns_command_sql,    &lns_command_info,    &lns_command_recover,
  &lns_command_resolve,  &lns_command_mcp,    &lns_command_ui,
};
static const size_t n_commands = sizeof commands / sizeof *commands;

static const LnsCommand *const own_commands[] = { &lns_command_finish_report,
                                                  &lns_command_examine_report,
                                                  &lns_command_name_report, &lns_command_pod_run,
                                                  &lns_command_pod_copy };

/* Runs COMMAND. If a signal ended its work, this process ends by the same signal once no half-written file is left: a
 * shell ends its loop at a signal, but not at an exit code. */
static int
run (const LnsCommand *command, int argc, char **argv)
{
  const int code = command->run (command, argc, argv);
  const int number = lns_cli_ending_signal ();
  if (number == 0)
    return code;
  lns_signals_end_self (number);
  return 128 + number;
}

static void
print_help (FILE *file)
{
  fputs (_ ("Usage: lanescope COMMAND [switches] [words]\n\n"
            "Lanescope records what a program does and shows it as timelines.\n\nCommands:\n"),
         file);
  for (size_t i = 0; i < n_commands; i++)
    fprintf (file, "  %-10s %s\n", commands[i]->name, _ (commands[i]->summary));
  fputs (_ ("\nSwitches:\n"
            "  -h, --help[=TOPIC]   print this text, or the help of a command or of a topic\n"
            "                       such as cuda; all is the help of all commands\n"
            "  -v, --version        print the version\n"
            "  --capabilities=json  print commands, switches and defaults, for programs\n\n"
            "`lanescope help COMMAND` and `lanescope COMMAND --help` print the help of a command,\n"
            "`man lanescope-COMMAND` its manual page.\n\n"
            "Lanescope's own failures exit with 125 (126: the program is not executable, 127: not\n"
            "found) and print a line that begins with `lanescope: error: `.\n"),
         file);
}

static int
print_capabilities (void)
{
  printf ("{\"version\":\"%s\",\"commands\":[", LNS_VERSION);
  for (size_t i = 0; i < n_commands; i++)
    {
      if (i > 0)
        putchar (',');
      lns_command_print_json (commands[i], stdout);
    }
  printf ("]}\n");
  return lns_cli_printed ();
}

/* Commands of nsys that Lanescope does not have, and what to do instead. */
static const struct
{
  const char *name, *instead;
} other_commands[] = {
  { "finalize",
    N_ ("reports are complete when they are written, so there is nothing to finalize") },
  { "nvprof", N_ ("use the switches of `lanescope profile --help`") },
  { "plugins", N_ ("plugins are not supported; counters and ranges that a program makes with NVTX "
                   "are recorded") },
  { "recipe", N_ ("summarize each report with `lanescope stats -f csv -o NAME REPORT` and combine "
                  "the tables") },
};

static int
unknown_command (const char *name)
{
  for (size_t i = 0; i < sizeof other_commands / sizeof *other_commands; i++)
    if (strcmp (name, other_commands[i].name) == 0)
      return lns_cli_refuse ("unknown command “%s”; %s", name, _ (other_commands[i].instead));
  const char *names[sizeof commands / sizeof *commands];
  for (size_t i = 0; i < n_commands; i++)
    names[i] = commands[i]->name;
  const char *nearest = lns_nearest_name (name, names, n_commands);
  if (nearest != NULL)
    return lns_cli_refuse (
        "unknown command “%s”; did you mean “%s”? `lanescope --help` lists all commands", name,
        nearest);
  return lns_cli_refuse ("unknown command “%s”; `lanescope --help` lists all commands", name);
}

static const LnsCommand *
find_command (const char *name)
{
  for (size_t i = 0; i < n_commands; i++)
    if (strcmp (name, commands[i]->name) == 0)
      return commands[i];
  return NULL;
}

/* Prints the help of the first command that knows TOPIC, which is not a command, and names the others that do. */
static bool
print_topic (const char *topic, LnsError *error)
{
  const LnsCommand *first = NULL;
  for (size_t i = 0; i < n_commands; i++)
    if (lns_command_has_topic (commands[i], topic))
      {
        if (first == NULL && !lns_cli_print_help (first = commands[i], topic, error))
          return false;
        if (first != commands[i])
          printf (_ ("\nSee also: lanescope %s --help=%s\n"), commands[i]->name, topic);
      }
  return first != NULL;
}

/* `lanescope --help=TOPIC` and `lanescope help TOPIC`. */
static int
help_about (const char *topic)
{
  const LnsCommand *command = find_command (topic);
  const bool is_all = strcmp (topic, "all") == 0;
  LnsError error = { 0 };
  bool good = true;
  if (topic[0] == '\0')
    print_help (stdout);
  else if (command != NULL)
    good = lns_cli_print_help (command, "", &error);
  for (size_t i = 0; good && is_all && i < n_commands; i++)
    {
      fputs (i > 0 ? "\n\n" : "", stdout);
      good = lns_cli_print_help (commands[i], topic, &error);
    }
  if (topic[0] == '\0' || command != NULL || is_all)
    return good ? lns_cli_printed () : lns_cli_fail (&error);
  if (print_topic (topic, &error))
    return lns_cli_printed ();
  return error.domain != LNS_ERROR_NONE ? lns_cli_fail (&error) : unknown_command (topic);
}

/* Handles the words that are not commands: help, --version and the like. */
static int
run_own (int argc, char **argv)
{
  const char *word = argv[1];
  if (strcmp (word, "help") == 0 && argc > 3)
    return lns_cli_refuse ("help takes one command or topic; remove the extra argument “%s”",
                           argv[3]);
  if (strcmp (word, "help") == 0)
    return help_about (argc > 2 ? argv[2] : "");
  if (strcmp (word, "--help") == 0 || strcmp (word, "-h") == 0)
    return help_about ("");
  if (strncmp (word, "--help=", strlen ("--help=")) == 0)
    return help_about (word + strlen ("--help="));
  if (strcmp (word, "--version") == 0 || strcmp (word, "-v") == 0)
    {
      printf ("lanescope %s\n", LNS_VERSION);
      return lns_cli_printed ();
    }
  if (strcmp (word, "--capabilities=json") == 0)
    return print_capabilities ();
  return unknown_command (word);
}

/* Opens /dev/null for standard streams that the caller has closed, so that no file of ours gets their number, and with it
 * our text. A program that is started still finds them closed. */
static void
fill_standard_streams (void)
{
  int fd;
  do
    fd = open ("/dev/null", O_RDWR | O_CLOEXEC);
  while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd > STDERR_FILENO)
    close (fd);
}

int
main (int argc, char **argv)
{
  fill_standard_streams ();
  lns_cli_guard_terminals ();
  if (argc < 2)
    {
      print_help (stderr);
      fputc ('\n', stderr);
      return lns_cli_refuse ("no command given; `lanescope --help` lists all commands");
    }
  const LnsCommand *command = find_command (argv[1]);
  for (size_t i = 0; i < sizeof own_commands / sizeof *own_commands; i++)
    if (strcmp (own_commands[i]->name, argv[1]) == 0)
      command = own_commands[i];
  return command != NULL ? run (command, argc - 1, argv + 1) : run_own (argc, argv);
}
