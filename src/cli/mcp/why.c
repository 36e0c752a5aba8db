/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The tools why and findings: what the time was lost to. Of the whole report, numbers come from the tables LNS_LEDGERS, LNS_FINDINGS,
 * LNS_GAPS and LNS_COSTS; of a part of its time, from what the command prints. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/cli/mcp/message.h"
#include "src/cli/mcp/statement.h"
#include "src/cli/mcp/subjects.h"

#define MAX_LEDGERS   8
#define MAX_ABSTAINED 3
#define MAX_PARTS     5

/* Adds finding number I, from 0 on, with its time from the gaps or costs that it consists of. */
static bool
add_finding (LnsMcpCall *call, LnsMcpReport *of, const LnsWhy *why, size_t i, LnsError *error)
{
  const LnsWhyFinding *finding = &why->findings.items[i];
  char *sql = lns_why_finding_sql (why, finding),
       *statement = lns_asprintf ("SELECT (%s) AS ns, share, count FROM LNS_FINDINGS WHERE finding "
                                  "= %zu",
                                  sql, i + 1),
       *handle = lns_asprintf ("f%zu", i + 1),
       *text = lns_asprintf ("%s, %s: %s", lns_cause_name (finding->cause),
                             lns_confidence_name (finding->confidence), finding->sentence);
  const bool good = lns_mcp_add_statement (call, of, handle, text, statement, NULL, error);

  free (sql);
  free (statement);
  free (handle);
  free (text);
  return good;
}

/* Adds how long the run would take without finding number I, from 0 on, where ROOT, which the command `why` prints, has that. */
static void
add_gain (LnsMcpCall *call, const json_t *root, size_t i)
{
  char at[48], text[64];

  snprintf (at, sizeof at, "/findings/%zu/gain", i);
  snprintf (text, sizeof text, "the run without f%zu", i + 1);
  lns_mcp_add_printed (call, root, at, "run_ns,predicted_ns,low_ns,high_ns,confidence", NULL, text);
}

/* What the command `why` prints for all of the report, where its statement becomes that of the rows that have none. Owned; NULL and
 * ERROR as lns_mcp_printed_end (). */
static json_t *
print_all (
    LnsMcpCall *call, const LnsMcpReport *of, LnsTables *tables, const LnsWhy *why, LnsError *error)
{
  LnsMcpPrinted printed;
  char *statement = lns_asprintf ("lanescope why --format=json %s", of->quoted);

  lns_mcp_answer_set_statement (call->answer, statement);
  free (statement);
  lns_why_write_json (tables, why, lns_mcp_printed_begin (&printed));
  return lns_mcp_printed_end (&printed, error);
}

static bool
add_ledgers (
    LnsMcpCall *call, LnsMcpReport *of, LnsTables *tables, const LnsWhy *why, LnsError *error)
{
  bool good = true;

  for (size_t i = 0; good && i < why->ledgers.n && i < MAX_LEDGERS; i++)
    {
      char *subject = lns_why_subject (tables, &why->ledgers.items[i]),
           *statement = lns_asprintf ("SELECT \"end\" - start AS span_ns, busy AS busy_ns, idle AS "
                                      "idle_ns FROM LNS_LEDGERS WHERE ledger = %zu",
                                      i + 1);
      good = lns_mcp_add_statement (call, of, NULL, subject, statement, NULL, error);
      free (subject);
      free (statement);
    }
  return good;
}

static void
note_abstained (LnsMcpCall *call, const LnsWhy *why)
{
  for (size_t i = 0; i < why->abstained.n && i < MAX_ABSTAINED; i++)
    lns_mcp_answer_note (call->answer, "Not known: %s %s", why->abstained.items[i].reason,
                         why->abstained.items[i].advice);
  if (why->next != NULL)
    lns_mcp_answer_note (call->answer, "What to change: %s.", why->next);
}

/* Proposes to look at finding NUMBER, from 1 on, and at the steps. */
static void
propose (LnsMcpCall *call, const LnsMcpReport *of, const LnsWhy *why, size_t number)
{
  char handle[24];

  snprintf (handle, sizeof handle, "f%zu", number);
  if (why->findings.n > 0)
    lns_mcp_answer_next (call->answer, "findings",
                         json_pack ("{s:s,s:s}", "report", of->handle, "finding", handle),
                         "see the evidence of the first one");
  if (why->steps.n > 0)
    lns_mcp_answer_next (call->answer, "steps", json_pack ("{s:s}", "report", of->handle),
                         "see how long the steps took and which were slow");
  else
    lns_mcp_answer_next (call->answer, "stats", json_pack ("{s:s}", "report", of->handle),
                         "see which summaries there are");
}

/* --- A part of the time ----------------------------------------------------------------------- */

/* What the report has of TIME, "[START]/[END]". */
static bool
find_span (LnsMcpReport *of, const char *time, LnsFilterSpan *ret_span, LnsError *error)
{
  const LnsFilterSpan all = lns_filter_span (of->report);

  if (!lns_filter_parse_time (time, ret_span, error))
    return false;
  ret_span->process = LNS_ID_NONE;
  if (ret_span->start_ns < all.start_ns)
    ret_span->start_ns = all.start_ns;
  if (ret_span->end_ns > all.end_ns)
    ret_span->end_ns = all.end_ns;
  return ret_span->start_ns <= ret_span->end_ns ||
         lns_mcp_refuse (error, "the report has nothing in the time %s", time);
}

/* Adds the first N of the ledgers of KEY in ROOT, what the command prints. */
static void
add_printed_ledgers (LnsMcpCall *call, const json_t *root, const char *key)
{
  const json_t *ledgers = json_object_get (root, key);
  char at[48], text[64];

  for (size_t i = 0; i < json_array_size (ledgers) && i < MAX_LEDGERS; i++)
    {
      const json_t *ledger = json_array_get (ledgers, i), *tid = json_object_get (ledger, "tid");
      snprintf (at, sizeof at, "/%s/%zu", key, i);
      snprintf (
          text, sizeof text, tid != NULL ? "Thread %" PRId64 : "GPU %" PRId64,
          (int64_t)json_integer_value (tid != NULL ? tid : json_object_get (ledger, "device")));
      lns_mcp_add_printed (call, root, at, "span_ns,busy_ns,idle_ns", NULL, text);
    }
}

/* Proposes to look at the longest events of SPAN. */
static void
propose_events (LnsMcpCall *call, const LnsMcpReport *of, const LnsSpan *span)
{
  char *where = lns_asprintf ("start >= %" PRId64 "ns and end <= %" PRId64 "ns", span->start_ns,
                              span->end_ns);

  lns_mcp_answer_next (call->answer, "events",
                       json_pack ("{s:s,s:s}", "report", of->handle, "where", where),
                       "see the longest events of that time");
  free (where);
}

static bool
answer_part (LnsMcpCall *call, LnsMcpReport *of, const char *time, size_t top, LnsError *error)
{
  LnsWhyOptions asked = { 0 };
  LnsMcpPrinted printed;
  char at[48];

  if (!find_span (of, time, &asked.span, error))
    return false;
  LnsWhy *why = lns_why_run (of->tables, &asked, call->cancel, error);
  if (why == NULL)
    return false;
  lns_why_write_json (of->tables, why, lns_mcp_printed_begin (&printed));
  json_t *root = lns_mcp_printed_end (&printed, error);
  if (root != NULL)
    {
      char *quoted = lns_mcp_quote (time),
           *statement =
               lns_asprintf ("lanescope why --format=json --filter-time=%s %s", quoted, of->quoted);
      lns_mcp_answer_set_statement (call->answer, statement);
      free (quoted);
      free (statement);
      lns_mcp_answer_say (call->answer, of->handle, "%s", why->verdict);
      add_printed_ledgers (call, root, "devices");
      add_printed_ledgers (call, root, "threads");
      for (size_t i = 0; i < why->findings.n && i < top; i++)
        {
          snprintf (at, sizeof at, "/findings/%zu", i);
          lns_mcp_add_printed (call, root, at, "ns,share,count", NULL,
                               why->findings.items[i].sentence);
        }
      if (why->findings.n > top)
        lns_mcp_answer_leave_out (call->answer, why->findings.n - top);
      note_abstained (call, why);
      propose_events (call, of, &why->span);
      json_decref (root);
    }
  lns_why_free (why);
  return root != NULL;
}

/* --- why -------------------------------------------------------------------------------------- */

static bool
run_why (LnsMcpCall *call, LnsError *error)
{
  LnsMcpReport *of = lns_mcp_report_of (call, "report", error);
  const char *time = lns_mcp_text_of (call, "time");
  const size_t top = (size_t)lns_mcp_number_of (call, "top");
  LnsTables *tables;

  if (of == NULL)
    return false;
  if (time != NULL)
    return answer_part (call, of, time, top, error);
  const LnsWhy *why = lns_why_sql_foretell (of->query->why, &tables, error);
  json_t *root = why != NULL ? print_all (call, of, tables, why, error) : NULL;
  bool good = root != NULL && add_ledgers (call, of, tables, why, error);
  if (good)
    lns_mcp_answer_say (call->answer, of->handle, "%s", why->verdict);
  for (size_t i = 0; good && i < why->findings.n && i < top; i++)
    {
      good = add_finding (call, of, why, i, error);
      add_gain (call, root, i);
    }
  json_decref (root);
  if (good)
    {
      if (why->findings.n > top)
        lns_mcp_answer_leave_out (call->answer, why->findings.n - top);
      note_abstained (call, why);
      propose (call, of, why, 1);
    }
  return good;
}

const LnsMcpTool lns_mcp_why = {
  .name = "why",
  .title = "Why the program was slow",
  .help = "Says in one sentence what the time was lost to: how long each GPU (without one: the "
          "thread that the program waits for) was busy and idle, and the findings that cost most, "
          "with how long the run would take without the first three where that is known. "
          "With time, of that part alone.",
  .parameters = { LNS_MCP_REPORT,
                  { .name = "time",
                    .help = "[START]/[END] on the report's clock, each with a unit: 1.2s/1.4s" },
                  LNS_MCP_TOP (3, 10) },
  .run = run_why,
};

/* --- findings --------------------------------------------------------------------------------- */

/* The longest parts of finding NUMBER, from 1 on, in the order of their lengths. */
typedef struct
{
  int64_t start_ns[MAX_PARTS], ns[MAX_PARTS];
  unsigned n;
  uint64_t n_all;
} Parts;

static void
take_part (Parts *parts, int64_t start_ns, int64_t ns)
{
  unsigned i = parts->n < MAX_PARTS ? parts->n++ : MAX_PARTS;

  parts->n_all++;
  for (; i > 0 && parts->ns[i - 1] < ns; i--)
    if (i < MAX_PARTS)
      {
        parts->ns[i] = parts->ns[i - 1];
        parts->start_ns[i] = parts->start_ns[i - 1];
      }
  if (i < MAX_PARTS)
    {
      parts->ns[i] = ns;
      parts->start_ns[i] = start_ns;
    }
}

/* Adds the longest gaps of finding NUMBER, or what cost it most. */
static bool
add_parts (LnsMcpCall *call, LnsMcpReport *of, const LnsWhy *why, size_t number, LnsError *error)
{
  const bool is_of_gaps = why->findings.items[number - 1].group != 0;
  Parts parts = { 0 };
  bool good = true;

  for (size_t i = 0; is_of_gaps && i < why->gaps.n; i++)
    if (why->gaps.items[i].finding == number)
      take_part (&parts, why->gaps.items[i].start_ns,
                 why->gaps.items[i].end_ns - why->gaps.items[i].start_ns);
  for (size_t i = 0; !is_of_gaps && i < why->costs.n; i++)
    if (why->costs.items[i].finding == number)
      take_part (&parts, why->costs.items[i].start_ns, why->costs.items[i].ns);
  for (unsigned i = 0; good && i < parts.n; i++)
    {
      char *statement =
          lns_asprintf ("SELECT start AS start_ns, %s AS lost_ns FROM %s WHERE "
                        "finding = %zu AND start = %" PRId64 " ORDER BY 2 DESC LIMIT 1",
                        is_of_gaps ? "\"end\" - start" : "ns",
                        is_of_gaps ? "LNS_GAPS" : "LNS_COSTS", number, parts.start_ns[i]);
      good = lns_mcp_add_statement (call, of, NULL, "one part", statement, NULL, error);
      free (statement);
    }
  if (parts.n_all > parts.n)
    lns_mcp_answer_leave_out (call->answer, parts.n_all - parts.n);
  return good;
}

/* Notes the texts of the array KEY in FINDING, as the command prints it, and the handles of its events. */
static void
note_evidence (LnsMcpCall *call, const json_t *finding)
{
  const json_t *item;
  size_t i, n;
  char *text;
  FILE *stream = lns_memory_stream (&text, &n);

  json_array_foreach (json_object_get (finding, "names"), i, item)
      fprintf (stream, "%s%s", i > 0 ? ", " : "Names in it: ", json_string_value (item));
  lns_memory_stream_end (stream);
  if (n > 0)
    lns_mcp_answer_note (call->answer, "%s.", text);
  free (text);
  stream = lns_memory_stream (&text, &n);
  json_array_foreach (json_object_get (finding, "events"), i,
                      item) if (json_object_get (item, "table") != NULL)
      fprintf (stream, "%s%s:%" PRId64, ftell (stream) > 0 ? ", " : "",
               json_string_value (json_object_get (item, "table")),
               (int64_t)json_integer_value (json_object_get (item, "row")));
  lns_memory_stream_end (stream);
  if (n > 0)
    lns_mcp_answer_note (call->answer, "Events (TABLE:rowid): %s.", text);
  free (text);
}

static bool
answer_finding (LnsMcpCall *call,
                LnsMcpReport *of,
                LnsTables *tables,
                const LnsWhy *why,
                size_t number,
                LnsError *error)
{
  const LnsWhyFinding *finding = &why->findings.items[number - 1];
  char at[48];

  lns_mcp_answer_say (call->answer, of->handle, "f%zu: %s", number, finding->sentence);
  json_t *root = print_all (call, of, tables, why, error);
  bool good = root != NULL && add_finding (call, of, why, number - 1, error);
  if (good)
    add_gain (call, root, number - 1);
  good = good && add_parts (call, of, why, number, error);
  snprintf (at, sizeof at, "/findings/%zu", number - 1);
  if (good)
    note_evidence (call, lns_mcp_at (root, at));
  json_decref (root);
  if (!good)
    return false;
  if (finding->advice[0] != '\0')
    lns_mcp_answer_note (call->answer, "What to change: %s.", finding->advice);
  const LnsEvidence *longest = &finding->longest;
  if (longest->end_ns > longest->start_ns)
    {
      char *time = lns_asprintf ("%" PRId64 "ns/%" PRId64 "ns", longest->start_ns, longest->end_ns);
      lns_mcp_answer_next (call->answer, "why",
                           json_pack ("{s:s,s:s}", "report", of->handle, "time", time),
                           "see what happened during the longest one");
      free (time);
    }
  return true;
}

/* Adds the findings of CAUSE, or all where it is NULL, TOP of them. */
static bool
answer_findings (LnsMcpCall *call,
                 LnsMcpReport *of,
                 const LnsWhy *why,
                 const char *cause,
                 size_t top,
                 LnsError *error)
{
  size_t n = 0, first = 0;
  bool good = true;

  for (size_t i = 0; good && i < why->findings.n; i++)
    if (cause == NULL || strcmp (lns_cause_name (why->findings.items[i].cause), cause) == 0)
      {
        if (n < top)
          good = add_finding (call, of, why, i, error);
        if (n++ == 0)
          first = i + 1;
      }
  if (n > top)
    lns_mcp_answer_leave_out (call->answer, n - top);
  if (n == 0)
    lns_mcp_answer_say (call->answer, of->handle, "There is no finding%s%s.",
                        cause != NULL ? " of the cause " : "", cause != NULL ? cause : "");
  else
    lns_mcp_answer_say (call->answer, of->handle, "%zu finding%s%s%s, what costs most first.", n,
                        n == 1 ? "" : "s", cause != NULL ? " of the cause " : "",
                        cause != NULL ? cause : "");
  if (good && n > 0)
    propose (call, of, why, first);
  return good;
}

static bool
run_findings (LnsMcpCall *call, LnsError *error)
{
  LnsMcpReport *of = lns_mcp_report_of (call, "report", error);
  const char *handle = lns_mcp_text_of (call, "finding"), *cause = lns_mcp_text_of (call, "cause");
  LnsTables *tables;
  LnsCause known;
  char *end = NULL;

  const LnsWhy *why = of == NULL       ? NULL
                      : handle == NULL ? lns_why_sql_answer (of->query->why, &tables, error)
                                       : lns_why_sql_foretell (of->query->why, &tables, error);
  if (why == NULL)
    return false;
  if (cause != NULL && !lns_cause_find (cause, strlen (cause), &known))
    return lns_mcp_refuse (error, "unknown cause “%s”; `lanescope help why` lists them", cause);
  if (handle == NULL)
    return answer_findings (call, of, why, cause, (size_t)lns_mcp_number_of (call, "top"), error);
  const unsigned long number = handle[0] == 'f' ? strtoul (handle + 1, &end, 10) : 0;
  if (number == 0 || *end != '\0' || number > why->findings.n)
    return lns_mcp_refuse (error, "there is no finding “%s”; %s has f1 to f%zu", handle, of->handle,
                           why->findings.n);
  return answer_finding (call, of, tables, why, number, error);
}

const LnsMcpTool lns_mcp_findings = {
  .name = "findings",
  .title = "Findings and their evidence",
  .help = "Lists what the time was lost to, or shows one finding: how long the run would take "
          "without it where that is known, its longest parts, the names in it, its events, and "
          "what to change.",
  .parameters = { LNS_MCP_REPORT,
                  { .name = "finding", .help = "handle of a finding, such as f1: show that one" },
                  { .name = "cause", .help = "only findings of this cause, such as lock-wait" },
                  LNS_MCP_TOP (5, 20) },
  .run = run_findings,
};
