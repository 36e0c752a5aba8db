/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The tool steps: how long the steps of a program took, and which were slow. The steps that Lanescope finds are the rows of LNS_STEPS;
 * those of a range that the caller names come from what the command prints. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/cli/mcp/message.h"
#include "src/cli/mcp/statement.h"
#include "src/cli/mcp/subjects.h"

/* What `why` calls the cause of an outlier. */
static const char *
cause_of (const LnsStep *step)
{
  return step->is_busy ? "gpu-work" : lns_cause_name (step->cause);
}

/* Proposes to ask why OUTLIER was slow. */
static void
propose (LnsMcpCall *call, const LnsMcpReport *of, const LnsStep *outlier)
{
  char *time = lns_asprintf ("%" PRId64 "ns/%" PRId64 "ns", outlier->start_ns, outlier->end_ns);

  lns_mcp_answer_next (call->answer, "why",
                       json_pack ("{s:s,s:s}", "report", of->handle, "time", time),
                       "see what the slowest step was lost to");
  free (time);
}

static void
say (LnsMcpCall *call, const LnsMcpReport *of, LnsTables *tables, const LnsWhy *why)
{
  char *name = lns_why_step_name (tables, why);

  if (why->steps.n == 0)
    lns_mcp_answer_say (call->answer, of->handle,
                        "Neither ranges nor kernels of the thread that launches work repeat; name "
                        "an NVTX range that is a step.");
  else
    lns_mcp_answer_say (call->answer, of->handle, "Steps are the %s “%s”%s; %zu of them slow.",
                        why->steps.is_kernel ? "times from one kernel to the next," : "ranges",
                        name, why->steps.is_cut ? ", the first of more" : "", why->steps.n_slow);
  free (name);
}

/* --- Found ones ------------------------------------------------------------------------------- */

static bool
add_summary (LnsMcpCall *call, LnsMcpReport *of, LnsError *error)
{
  /* The ranks are those of steps->p50_ns and p99_ns (src/analysis/why/steps.c). */
  static const char statement[] =
      "SELECT (SELECT count(*) FROM LNS_STEPS) AS count, (SELECT \"end\" - start FROM LNS_STEPS "
      "ORDER BY 1 LIMIT 1 OFFSET (SELECT count(*) / 2 FROM LNS_STEPS)) AS p50_ns, (SELECT \"end\" "
      "- "
      "start FROM LNS_STEPS ORDER BY 1 LIMIT 1 OFFSET (SELECT (count(*) * 99 + 99) / 100 - 1 FROM "
      "LNS_STEPS)) AS p99_ns";
  return lns_mcp_add_statement (call, of, NULL, "all steps", statement, NULL, error);
}

static bool
add_outlier (LnsMcpCall *call, LnsMcpReport *of, const LnsStep *step, LnsError *error)
{
  char *handle = lns_asprintf ("s%zu", step->index),
       *statement =
           lns_asprintf ("SELECT start AS start_ns, \"end\" - start AS duration_ns, busy AS "
                         "busy_ns FROM LNS_STEPS WHERE step = %zu",
                         step->index);
  const bool good =
      lns_mcp_add_statement (call, of, handle, cause_of (step), statement, NULL, error);

  free (handle);
  free (statement);
  return good;
}

/* --- Steps of a range ------------------------------------------------------------------------- */

static bool
answer_range (LnsMcpCall *call, LnsMcpReport *of, const char *range, size_t top, LnsError *error)
{
  const LnsWhyOptions asked = { .span = lns_filter_span (of->report), .step_range = range };
  LnsWhy *why = lns_why_run (of->tables, &asked, call->cancel, error);
  LnsMcpPrinted printed;
  char at[48];

  if (why == NULL)
    return false;
  lns_why_write_json (of->tables, why, lns_mcp_printed_begin (&printed));
  json_t *root = lns_mcp_printed_end (&printed, error);
  if (root != NULL)
    {
      char *quoted = lns_mcp_quote (range),
           *statement =
               lns_asprintf ("lanescope why --format=json --steps=%s %s", quoted, of->quoted);
      lns_mcp_answer_set_statement (call->answer, statement);
      free (quoted);
      free (statement);
      say (call, of, of->tables, why);
      lns_mcp_add_printed (call, root, "/steps", "count,p50_ns,p99_ns", NULL, "all steps");
      for (size_t i = 0; i < why->steps.outliers.n && i < top; i++)
        {
          snprintf (at, sizeof at, "/steps/outliers/%zu", i);
          lns_mcp_add_printed (call, root, at, "index,start,end,excess_ns", NULL,
                               cause_of (&why->steps.outliers.items[i]));
        }
      if (why->steps.outliers.n > 0)
        propose (call, of, &why->steps.outliers.items[0]);
      json_decref (root);
    }
  lns_why_free (why);
  return root != NULL;
}

static bool
run_steps (LnsMcpCall *call, LnsError *error)
{
  LnsMcpReport *of = lns_mcp_report_of (call, "report", error);
  const char *range = lns_mcp_text_of (call, "range");
  const size_t top = (size_t)lns_mcp_number_of (call, "top");
  LnsTables *tables;

  if (of == NULL)
    return false;
  if (range != NULL)
    return answer_range (call, of, range, top, error);
  const LnsWhy *why = lns_why_sql_answer (of->query->why, &tables, error);
  if (why == NULL)
    return false;
  say (call, of, tables, why);
  bool good = why->steps.n == 0 || add_summary (call, of, error);
  for (size_t i = 0; good && i < why->steps.outliers.n && i < top; i++)
    good = add_outlier (call, of, &why->steps.outliers.items[i], error);
  if (good && why->steps.outliers.n > 0)
    propose (call, of, &why->steps.outliers.items[0]);
  else if (good && why->steps.n == 0)
    lns_mcp_answer_next (call->answer, "stats",
                         json_pack ("{s:s,s:s}", "report", of->handle, "name", "nvtx_sum"),
                         "see which ranges there are");
  else if (good)
    lns_mcp_answer_next (call->answer, "findings", json_pack ("{s:s}", "report", of->handle),
                         "see what all steps lose");
  return good;
}

const LnsMcpTool lns_mcp_steps = {
  .name = "steps",
  .title = "Steps and slow steps",
  .help = "Says what the steps of the program are, how long they took (median and 99th "
          "percentile), and the slowest of those that are much slower, each with its cause.",
  .parameters = { LNS_MCP_REPORT,
                  { .name = "range",
                    .help = "name of the NVTX range that is a step; without it, it is found" },
                  LNS_MCP_TOP (5, 8) },
  .run = run_steps,
};
