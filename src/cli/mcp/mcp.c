/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* `lanescope mcp`: answers the questions of agents about reports. */

#include <unistd.h>

#include "src/cli/mcp/server.h"
#include "src/cli/options/command.h"
#include "src/cli/terminal/language.h"
#include "src/cli/terminal/say.h"

typedef struct
{
  int nothing; /* there are no switches */
} Values;

static int
run (const LnsCommand *command, int argc, char **argv)
{
  Values values = { 0 };
  LnsError error = { 0 };
  int exit_code;

  if (!lns_cli_parse (command, &argc, argv, &values, &exit_code))
    return exit_code;
  if (argc > 1)
    return lns_cli_refuse ("mcp takes no arguments; remove “%s”", argv[1]);
  if (isatty (STDIN_FILENO))
    lns_cli_say ("note", "mcp waits for requests in JSON, which agents send; Ctrl-D ends it");
  return lns_mcp_serve (&error) ? 0 : lns_cli_fail (&error);
}

const LnsCommand lns_command_mcp = {
  .name = "mcp",
  .usage = N_ ("[switches]"),
  .summary = N_ ("answer the questions of agents about reports (MCP)"),
  .details = N_ (
      "Serves the Model Context Protocol on standard input and output, for agents that call tools: "
      "open, why, findings, what_if, steps, stats, sql, events and diff. An agent starts it "
      "itself; "
      "its configuration names the command `lanescope mcp`.\n\n"
      "Answers are short, and beside each number stands the statement that gives it. Only reports, "
      "exports and traces are read, and only those that the agent names. Nothing is written but "
      "what must be imported or rebuilt, which is in a folder of TMPDIR until the report is "
      "closed."),
  .run = run,
};
