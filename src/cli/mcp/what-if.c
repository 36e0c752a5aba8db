/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The tool what_if: how long the run would take if something in it were different. */

#include <stdlib.h>

#include "src/analysis/what-if/what-if.h"
#include "src/base/memory.h"
#include "src/cli/mcp/message.h"
#include "src/cli/mcp/statement.h"
#include "src/cli/mcp/subjects.h"

#define MAX_EDITS 8

/* The command that prints the same answer. Owned. */
static char *
statement_of (const LnsMcpCall *call, const LnsMcpReport *of)
{
  const char *steps = lns_mcp_text_of (call, "range");
  const json_t *edits = lns_mcp_list_of (call, "edits"), *edit;
  char *text, *quoted;
  size_t n, i;
  FILE *stream = lns_memory_stream (&text, &n);

  fputs ("lanescope what-if --format=json", stream);
  if (steps != NULL)
    {
      quoted = lns_mcp_quote (steps);
      fprintf (stream, " --steps=%s", quoted);
      free (quoted);
    }
  fprintf (stream, " %s", of->quoted);
  json_array_foreach (edits, i, edit)
  {
    quoted = lns_mcp_quote (json_string_value (edit));
    fprintf (stream, " %s", quoted);
    free (quoted);
  }
  lns_memory_stream_end (stream);
  return text;
}

/* Tells what ROOT, which the command prints for ANSWER, says. */
static void
tell (LnsMcpCall *call, const LnsMcpReport *of, const LnsWhatIf *answer, const json_t *root)
{
  char at[32], *statement = statement_of (call, of);

  lns_mcp_answer_set_statement (call->answer, statement);
  free (statement);
  lns_mcp_answer_say (call->answer, of->handle, "%s",
                      json_string_value (json_object_get (root, "sentence")));
  lns_mcp_add_printed (call, root, "",
                       "measured_ns,predicted_ns,low_ns,high_ns,confidence,replayed_ns", NULL,
                       "the run");
  lns_mcp_add_printed (call, root, "", "inferred,unknown,unlaunched", NULL,
                       "shares of the critical path (inferred from timing, unknown) and of GPU "
                       "operations (unlaunched)");
  if (answer->forecast.step_ns[0] > 0)
    lns_mcp_add_printed (call, root, "/steps", "count,p50_ns,predicted_p50_ns", NULL,
                         "the median step");
  for (size_t i = 0; i < answer->effects.n; i++)
    {
      snprintf (at, sizeof at, "/edits/%zu", i);
      lns_mcp_add_printed (call, root, at, "count,ns,alone_ns", NULL,
                           answer->effects.items[i].text);
    }
  if (!answer->shares.is_known)
    lns_mcp_answer_note (call->answer,
                         "To know it, record CUDA calls, the calls that threads wait in, and when "
                         "they run: -t cuda,osrt --cpuctxsw=process-tree.");
  lns_mcp_answer_next (call->answer, "why", json_pack ("{s:s}", "report", of->handle),
                       "see what the time is lost to, and what each finding is worth");
}

static bool
run_what_if (LnsMcpCall *call, LnsError *error)
{
  LnsMcpReport *of = lns_mcp_report_of (call, "report", error);
  const json_t *texts = lns_mcp_list_of (call, "edits");
  const size_t n = json_array_size (texts);
  LnsEdit *edits[MAX_EDITS] = { 0 };
  LnsMcpPrinted printed;
  bool good = of != NULL;

  for (size_t i = 0; good && i < n; i++)
    {
      edits[i] = lns_edit_new (json_string_value (json_array_get (texts, i)), error);
      good = edits[i] != NULL;
    }
  LnsWhatIf *answer = good ? lns_what_if_run (of->tables, edits, n, lns_mcp_text_of (call, "range"),
                                              call->cancel, error)
                           : NULL;
  json_t *root = NULL;
  if (answer != NULL)
    {
      lns_what_if_write_json (answer, lns_mcp_printed_begin (&printed));
      root = lns_mcp_printed_end (&printed, error);
    }
  if (root != NULL)
    tell (call, of, answer, root);
  good = root != NULL;
  json_decref (root);
  lns_what_if_free (answer);
  for (size_t i = 0; i < n; i++)
    lns_edit_free (edits[i]);
  return good;
}

const LnsMcpTool lns_mcp_what_if = {
  .name = "what_if",
  .title = "How long a changed run would take",
  .help = "Foretells how long the run would take, and its median step, if something in it were "
          "different, from what had to wait for what. What is hidden behind other work saves "
          "nothing. Says so where too much is not known.",
  .parameters = { LNS_MCP_REPORT,
                  { .name = "edits",
                    .help = "each \"WHAT: HOW\", all at once: \"kernel ~ gemm: 0.5\" (takes half "
                            "as long), \"copy kind=HtoD: pinned\", \"range \\\"load\\\": other "
                            "thread\", \"range \\\"load\\\": none\", \"sync ~ Stream: none\", "
                            "\"call ~ cudaMalloc: none\", \"wait: none\"",
                    .is_list = true,
                    .is_required = true,
                    .least = 1,
                    .most = MAX_EDITS },
                  { .name = "range",
                    .help = "name of the NVTX range that is a step; without it, it is found" } },
  .run = run_what_if,
};
