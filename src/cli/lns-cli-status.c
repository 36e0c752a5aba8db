/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* `lanescope status`: what a session does, or what this machine lets Lanescope do. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "capture/session/lns-session-place.h"
#include "src/cli/lns-cli.h"

typedef struct
{
  bool environment, network, all;
  const char *session;
} Values;

static const LnsOption options[] = {
  { .name = "environment",
    .letter = 'e',
    .kind = LNS_OPTION_FLAG,
    .offset = offsetof (Values, environment),
    .help = "What of this machine matters to a recording." },
  { .name = "session",
    .kind = LNS_OPTION_TEXT,
    .offset = offsetof (Values, session),
    .value_name = "NAME",
    .default_text = "the only one there is",
    .help = "The session: its name or id, as `lanescope sessions list` shows them." },
};

static int
status (const LnsCommand *command, int argc, char **argv)
{
  Values values = { 0 };
  LnsError error = { 0 };
  LnsSessionEntry entry;
  int code = 0;
  if (!lns_cli_parse (command, &argc, argv, &values, &code))
    return code;
  if (!lns_session_find (values.session, &entry, &error))
    return lns_cli_fail (&error);
  printf ("Session: %s\nState: %s\n", entry.name, lns_session_state_name (entry.state));
  return 0;
}

const LnsCommand lns_command_status = {
  .name = "status",
  .usage = "[switches]",
  .summary = "what a session does, or what this machine allows",
  .options = options,
  .n_options = sizeof options / sizeof *options,
  .run = status,
};
