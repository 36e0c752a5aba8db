/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The tool diff: whether run B is slower than run A, by how much, and because of what. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/compare/compare.h"
#include "src/base/memory.h"
#include "src/cli/mcp/message.h"
#include "src/cli/mcp/statement.h"
#include "src/cli/mcp/subjects.h"

#define MAX_DIFFERENCES 5

static const char *
text_at (const json_t *object, const char *key)
{
  const char *text = json_string_value (json_object_get (object, key));
  return text != NULL ? text : "–";
}

/* Adds the first TOP changes, and tells how many more there are. */
static void
add_changes (LnsMcpCall *call, const json_t *root, size_t top)
{
  const json_t *changes = json_object_get (root, "changes");
  char at[32];

  for (size_t i = 0; i < json_array_size (changes) && i < top; i++)
    {
      const json_t *change = json_array_get (changes, i);
      const char *range = json_string_value (json_object_get (change, "range"));
      char *text = lns_asprintf ("%s %s “%s”%s%s%s a step", text_at (change, "type"),
                                 text_at (change, "kind"), text_at (change, "name"),
                                 range != NULL ? " in “" : "", range != NULL ? range : "",
                                 range != NULL ? "”" : "");
      snprintf (at, sizeof at, "/changes/%zu", i);
      lns_mcp_add_printed (call, root, at, "a_ns,b_ns,change_ns,change,p", NULL, text);
      free (text);
    }
  if (json_array_size (changes) > top)
    lns_mcp_answer_leave_out (call->answer, json_array_size (changes) - top);
}

static void
add_findings (LnsMcpCall *call, const json_t *root, const char *key, size_t top)
{
  const json_t *findings = json_object_get (json_object_get (root, "findings"), key);
  char at[48];

  for (size_t i = 0; i < json_array_size (findings) && i < top; i++)
    {
      char *text = lns_asprintf ("finding that is %s: %s", key,
                                 text_at (json_array_get (findings, i), "sentence"));
      snprintf (at, sizeof at, "/findings/%s/%zu", key, i);
      lns_mcp_add_printed (call, root, at, "a_share,b_share", NULL, text);
      free (text);
    }
}

static void
note_differences (LnsMcpCall *call, const json_t *root)
{
  const json_t *differs = json_object_get (root, "differs"), *item;
  size_t i;

  for (i = 0; i < json_array_size (differs) && i < MAX_DIFFERENCES; i++)
    {
      item = json_array_get (differs, i);
      lns_mcp_answer_note (call->answer, "%.60s differs: %.60s, %.60s", text_at (item, "name"),
                           text_at (item, "a"), text_at (item, "b"));
    }
  json_array_foreach (json_object_get (root, "notes"), i, item)
      lns_mcp_answer_note (call->answer, "%s", json_string_value (item));
}

/* Tells what ROOT, which the command prints for A and B, says. */
static void
tell (LnsMcpCall *call, const json_t *root, const LnsMcpReport *a, const LnsMcpReport *b)
{
  const char *steps = lns_mcp_text_of (call, "range");
  const size_t top = (size_t)lns_mcp_number_of (call, "top");
  char *quoted = steps != NULL ? lns_mcp_quote (steps) : NULL,
       *statement = lns_asprintf ("lanescope diff --format=json %s%s%s%s %s",
                                  steps != NULL ? "--steps=" : "", steps != NULL ? quoted : "",
                                  steps != NULL ? " " : "", a->quoted, b->quoted);

  lns_mcp_answer_set_statement (call->answer, statement);
  free (quoted);
  free (statement);
  lns_mcp_answer_say (call->answer, NULL, "%s", text_at (root, "verdict"));
  lns_mcp_add_printed (call, root, "/steps/a", "count,p50_ns,p99_ns", a->handle, "A: steps");
  lns_mcp_add_printed (call, root, "/steps/b", "count,p50_ns,p99_ns", b->handle, "B: steps");
  lns_mcp_add_printed (call, root, "/steps", "change,low,high,p", NULL, "the median step");
  add_findings (call, root, "new", 3);
  add_findings (call, root, "gone", 3);
  add_changes (call, root, top);
  note_differences (call, root);
  lns_mcp_answer_next (call->answer, "why", json_pack ("{s:s}", "report", b->handle),
                       "learn what the time of B is lost to");
}

static bool
run_diff (LnsMcpCall *call, LnsError *error)
{
  const LnsMcpReport *a = lns_mcp_report_of (call, "a", error);
  const LnsMcpReport *b = a != NULL ? lns_mcp_report_of (call, "b", error) : NULL;
  const LnsCompareOptions asked = { .step_range = lns_mcp_text_of (call, "range") };
  LnsMcpPrinted printed;

  if (b == NULL)
    return false;
  LnsComparison *comparison =
      lns_compare ((LnsTables *const[]){ a->tables, b->tables }, &asked, call->cancel, error);
  if (comparison == NULL)
    return false;
  lns_comparison_write_json (comparison, lns_mcp_printed_begin (&printed));
  json_t *root = lns_mcp_printed_end (&printed, error);
  if (root != NULL)
    tell (call, root, a, b);
  json_decref (root);
  lns_comparison_free (comparison);
  return root != NULL;
}

const LnsMcpTool lns_mcp_diff = {
  .name = "diff",
  .title = "Compare two runs",
  .help = "Says whether run B is slower than run A, by how much and how sure that is, and because "
          "of which kernels, copies, ranges, calls and gaps. Each run needs at least 10 steps.",
  .parameters = { { .name = "a", .help = "handle of the earlier run", .is_required = true },
                  { .name = "b", .help = "handle of the later run", .is_required = true },
                  { .name = "range",
                    .help = "name of the NVTX range that is a step; without it, it is found" },
                  LNS_MCP_TOP (5, 20) },
  .run = run_diff,
};
