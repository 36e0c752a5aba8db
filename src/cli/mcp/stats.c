/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The tool stats: the first rows of a summary table, as the command prints them. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/condition.h"
#include "src/analysis/stats/report.h"
#include "src/base/memory.h"
#include "src/cli/mcp/message.h"
#include "src/cli/mcp/statement.h"
#include "src/cli/mcp/subjects.h"

/* Names the summaries that there are. */
static void
list_summaries (LnsMcpCall *call, const LnsMcpReport *of)
{
  const LnsStatsReport *stats;

  for (size_t i = 0; (stats = lns_stats_report_at (i)) != NULL; i++)
    if (lns_stats_report_is_made (stats))
      {
        char *text = lns_asprintf ("%s%s: %s", stats->name, stats->arguments, stats->title);
        lns_mcp_answer_add (call->answer, &(LnsMcpRow){ .text = text }, json_object ());
        free (text);
      }
  lns_mcp_answer_say (call->answer, of->handle, "These are the summaries; give one as name.");
}

/* Proposes to look at the events that the FIRST row of STATS sums up, if it has their name, and asks what they are worth. */
static void
propose (LnsMcpCall *call, const LnsMcpReport *of, const LnsStatsReport *stats, const json_t *first)
{
  const char *name = json_string_value (json_object_get (first, "Name"));

  if (name == NULL || *name == '\0')
    return;
  /* Without its arguments, which may be cut. */
  char *begin = lns_asprintf ("%.*s", (int)strcspn (name, "<("), name),
       *quoted = lns_condition_quote (begin), *where = lns_asprintf ("name contains %s", quoted);
  lns_mcp_answer_next (call->answer, "events",
                       json_pack ("{s:s,s:o}", "report", of->handle, "where", lns_mcp_text (where)),
                       "see the longest events of the first row");
  if (strcmp (stats->name, "cuda_gpu_kern_sum") == 0)
    {
      char *edit = lns_asprintf ("kernel %s: 0.5", where);
      lns_mcp_answer_next (
          call->answer, "what_if",
          json_pack ("{s:s,s:[o]}", "report", of->handle, "edits", lns_mcp_text (edit)),
          "see how long the run would take if these took half as long");
      free (edit);
    }
  free (begin);
  free (quoted);
  free (where);
}

/* Adds the rows that RESULT keeps, as JSON. */
static bool
add_rows (LnsMcpCall *call,
          const LnsMcpReport *of,
          const LnsStatsReport *stats,
          const LnsResult *result,
          LnsError *error)
{
  const LnsStatsStyle style = { .format = LNS_STATS_JSON };
  LnsMcpPrinted printed;
  unsigned n_columns;
  const LnsResultColumn *columns = lns_result_columns (result, &n_columns);
  char at[24];
  size_t i;
  json_t *row;

  LnsStatsTable *table =
      lns_stats_table_new (lns_mcp_printed_begin (&printed), &style, columns, n_columns);
  lns_result_give (result, lns_stats_table_rows (table));
  lns_stats_table_finish (table);
  json_t *root = lns_mcp_printed_end (&printed, error);
  if (root == NULL)
    return false;
  json_array_foreach (root, i, row)
  {
    snprintf (at, sizeof at, "/%zu", i);
    lns_mcp_answer_add (call->answer, &(LnsMcpRow){ .at = at }, json_incref (row));
  }
  lns_mcp_answer_leave_out (call->answer, lns_result_n_left_out (result));
  propose (call, of, stats, json_array_get (root, 0));
  json_decref (root);
  return true;
}

static bool
run_stats (LnsMcpCall *call, LnsError *error)
{
  LnsMcpReport *of = lns_mcp_report_of (call, "report", error);
  const char *name = lns_mcp_text_of (call, "name");

  if (of == NULL)
    return false;
  if (name == NULL)
    {
      list_summaries (call, of);
      return true;
    }
  const LnsStatsReport *stats = lns_stats_report_find (name, error);
  if (stats == NULL)
    return false;
  LnsStatsResult *computed = lns_stats_report_run (stats, name, of->tables, call->cancel, error);
  LnsResult *result =
      computed != NULL && lns_stats_result_n_rows (computed) > 0
          ? lns_stats_result_collect (computed, (size_t)lns_mcp_number_of (call, "top"), error)
          : NULL;
  const bool is_empty = computed != NULL && lns_stats_result_n_rows (computed) == 0;
  bool good = is_empty || result != NULL;

  if (is_empty)
    lns_mcp_answer_say (call->answer, of->handle, "%s: the report does not contain %s.",
                        stats->title, lns_stats_result_lacks (computed));
  else if (good)
    {
      char *quoted = lns_mcp_quote (name),
           *statement = lns_asprintf ("lanescope stats -r %s -f json %s", quoted, of->quoted);
      lns_mcp_answer_say (
          call->answer, of->handle, "%s, %zu of %llu rows.", stats->title,
          lns_result_n_rows (result),
          (unsigned long long)(lns_result_n_rows (result) + lns_result_n_left_out (result)));
      lns_mcp_answer_set_statement (call->answer, statement);
      free (quoted);
      free (statement);
      good = add_rows (call, of, stats, result, error);
    }
  if (good && lns_stats_result_share_whole (computed) != NULL)
    lns_mcp_answer_note (call->answer, "Of the samples, %s have all callers.",
                         lns_stats_result_share_whole (computed));
  lns_result_free (result);
  lns_stats_result_free (computed);
  return good;
}

const LnsMcpTool lns_mcp_stats = {
  .name = "stats",
  .title = "Summary tables",
  .help = "Gives the first rows of a summary, those with most time first: cuda_gpu_kern_sum "
          "(kernels), cuda_api_sum (CUDA calls), cuda_gpu_mem_time_sum and cuda_gpu_mem_size_sum "
          "(copies), nvtx_sum (ranges), nvtx_gpu_proj_sum (ranges on the GPU), osrt_sum (system "
          "calls), mpi_event_sum, sample_sum (functions), and others: without name, lists all.",
  .parameters = { LNS_MCP_REPORT,
                  { .name = "name",
                    .help = "name of the summary; arguments may follow after colons" },
                  LNS_MCP_TOP (10, 30) },
  .run = run_stats,
};
