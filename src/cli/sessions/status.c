/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* `lanescope status`: what a session does, or what this machine lets Lanescope do. */

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "capture/session/control/place.h"
#include "src/cli/profile/requests.h"
#include "src/cli/sessions/status.h"
#include "src/cli/terminal/language.h"
#include "src/cli/terminal/terminal.h"

typedef struct
{
  bool environment, network, all;
  const char *session, *format;
} Values;

static const LnsOption options[] = {
  { LNS_SWITCH ("environment", FLAG, Values, environment), .letter = 'e',
    .help = N_ ("Show for each kind of data whether this machine lets it be recorded, and what "
                "decides that.") },
  { LNS_SWITCH ("network", FLAG, Values, network), .letter = 'n',
    .help = N_ ("Show the network of this machine.") },
  { LNS_SWITCH ("all", FLAG, Values, all), .letter = 'a', .help = N_ ("Show both.") },
  { LNS_SWITCH ("output-format", CHOICE, Values, format), .letter = 'f', .choices = "plain,json",
    .default_text = "plain",
    .help = N_ ("Print what this machine allows for people, or as JSON.") },
  LNS_SESSION_SWITCH (Values),
};

/* --- The machine ------------------------------------------------------------------------------ */

/* Prints what this machine allows; WITH_FACTS: and why. */
static void
print_machine (bool with_facts, bool is_json)
{
  if (is_json)
    fputs ("{\"data\": ", stdout);
  lns_status_print_data (is_json);
  if (with_facts)
    {
      fputs (is_json ? ",\n\"machine\": " : "\n", stdout);
      lns_status_print_machine (is_json);
    }
  if (is_json)
    puts ("}");
}

/* --- A session -------------------------------------------------------------------------------- */

static int
print_session (const char *name)
{
  LnsError error = { 0 };
  LnsSessionEntry entry;
  const bool is_found = lns_cli_find_session (name, &entry, &error);
  /* What became of a session is told to who names it. */
  if (is_found && (name != NULL || !lns_session_is_over (&entry)))
    {
      printf ("Session: %s\nState: %s\nReports: %u\n", entry.name,
              lns_session_state_name (entry.state), entry.n_reports);
      if (entry.program_pid != 0)
        printf ("Program: process %d\n", entry.program_pid);
      if (entry.keeps)
        puts ("Keeps: the last seconds, in memory until the report ends");
      if (entry.report[0] != '\0')
        {
          printf ("%s: ",
                  entry.state == LNS_SESSION_COLLECTING ? "Collecting into" : "Last report");
          lns_cli_print_name (stdout, entry.report, strlen (entry.report));
          putchar ('\n');
        }
      return 0;
    }
  if (!is_found && (error.code != ENOENT || name != NULL))
    return lns_cli_fail (&error);
  puts ("There is no session: `lanescope launch` or `lanescope profile` begins one.\n");
  print_machine (/* with_facts */ false, /* is_json */ false);
  puts ("\n`lanescope status -e` shows what decides this.");
  return 0;
}

static int
status (const LnsCommand *command, int argc, char **argv)
{
  Values values = { .format = "plain" };
  int code = 0;
  if (!lns_cli_parse (command, &argc, argv, &values, &code))
    return code;
  if (argc > 1)
    return lns_cli_refuse ("status takes no argument; remove “%s”", argv[1]);
  const bool is_json = strcasecmp (values.format, "json") == 0;
  const bool with_facts = values.environment || values.all;
  const bool with_network = values.network || values.all;
  if (is_json && (values.session != NULL || with_network))
    return lns_cli_refuse ("--output-format=json is about what this machine allows; use "
                           "`lanescope sessions list --output-format=json` for sessions");
  if (with_facts || is_json)
    print_machine (with_facts, is_json);
  if (with_network)
    puts ("Network: not used; Lanescope records nothing of it in this version");
  if (values.session != NULL || !(with_facts || with_network || is_json))
    return print_session (values.session);
  return 0;
}

const LnsCommand lns_command_status = {
  .name = "status",
  .usage = N_ ("[switches]"),
  .summary = N_ ("tell what a session does, or what this machine allows"),
  LNS_COMMAND_OPTIONS (options),
  .run = status,
};
