/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* `lanescope sessions`: lists the sessions that run. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "src/base/json.h"
#include "capture/session/control/place.h"
#include "src/cli/options/command.h"
#include "src/cli/terminal/terminal.h"
#include "src/cli/terminal/language.h"

typedef struct
{
  bool show_header;
  const char *format;
} ListValues;

static const LnsOption list_options[] = {
  { LNS_SWITCH ("show-header", BOOL, ListValues, show_header), .letter = 'p',
    .default_text = "true", .help = N_ ("Print the names of the columns first.") },
  { LNS_SWITCH ("output-format", CHOICE, ListValues, format), .letter = 'f',
    .choices = "plain,json", .default_text = "plain",
    .help = N_ ("Print columns for people, or an array of JSON objects.") },
};

static void
print_plain (const LnsSessionEntry *entry, int64_t seconds)
{
  char time[24];
  snprintf (time, sizeof time, "%02" PRId64 ":%02" PRId64, seconds / 60, seconds % 60);
  printf ("%16u %12s %27s %6d ", entry->id, time, lns_session_state_name (entry->state),
          entry->program_pid != 0);
  lns_cli_print_name (stdout, entry->name, strlen (entry->name));
  putchar ('\n');
}

static void
print_json (const LnsSessionEntry *entry, int64_t seconds, bool is_first)
{
  printf ("%s\n  {\"id\": %u, \"name\": ", is_first ? "" : ",", entry->id);
  lns_json_write_string (stdout, entry->name, strlen (entry->name));
  printf (", \"state\": \"%s\", \"seconds\": %" PRId64 ", \"owner\": %d, \"program\": %d"
          ", \"reports\": %u, \"report\": ",
          lns_session_state_name (entry->state), seconds, entry->owner_pid, entry->program_pid,
          entry->n_reports);
  if (entry->report[0] != '\0')
    lns_json_write_string (stdout, entry->report, strlen (entry->report));
  else
    fputs ("null", stdout);
  putchar ('}');
}

static int
sessions (const LnsCommand *command, int argc, char **argv)
{
  ListValues values = { .show_header = true, .format = "plain" };
  int code = 0;
  if (!lns_cli_parse (command, &argc, argv, &values, &code))
    return code;
  if (argc != 2 || strcmp (argv[1], "list") != 0)
    return lns_cli_refuse ("sessions takes one argument; use `lanescope sessions list`");
  struct timespec now;
  clock_gettime (CLOCK_REALTIME, &now);
  size_t n;
  LnsSessionEntry *entries = lns_session_list (&n);
  const bool is_json = strcasecmp (values.format, "json") == 0;
  bool is_first = true;
  if (is_json)
    putchar ('[');
  else if (values.show_header)
    printf ("%16s %12s %27s %6s %s\n", "ID", "TIME", "STATE", "LAUNCH", "NAME");
  for (size_t i = 0; i < n; i++)
    {
      const int64_t seconds =
          (now.tv_sec * INT64_C (1000000000) + now.tv_nsec - entries[i].began_ns) / 1000000000;
      if (entries[i].state == LNS_SESSION_ENDED)
        continue;
      if (is_json)
        print_json (&entries[i], seconds, is_first);
      else
        print_plain (&entries[i], seconds);
      is_first = false;
    }
  if (is_json)
    puts (is_first ? "]" : "\n]");
  free (entries);
  return 0;
}

const LnsCommand lns_command_sessions = {
  .name = "sessions",
  .usage = N_ ("list [switches]"),
  .summary = N_ ("list the sessions that run"),
  .details =
      N_ ("States: WaitingForLaunch (`start` came first), Launched (nothing is collected now),\n"
          "DelayedCollection, Collection, Generation (a report is being written), and Lost (its\n"
          "owner was killed; `lanescope stop` says where the report is)."),
  LNS_COMMAND_OPTIONS (list_options),
  .run = sessions,
};
