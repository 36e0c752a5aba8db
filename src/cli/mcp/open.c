/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The tool open: a handle for a report, and what the report holds. */

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/cli/mcp/kinds.h"
#include "src/cli/mcp/message.h"
#include "src/cli/mcp/statement.h"
#include "src/cli/mcp/subjects.h"

#define MAX_TOLD 3

static const char *
source_of (const LnsMcpReport *of)
{
  switch (of->kind)
    {
    case LNS_INPUT_SQLITE:
      return "an nsys export";
    case LNS_INPUT_TRACE:
      return "a trace";
    default:
      return "a report of Lanescope";
    }
}

/* Whether TABLE only says what numbers mean, or what every report has. */
static bool
is_of_no_interest (const char *table)
{
  static const char *const begins[] = { "ENUM_", "META_DATA_", "StringIds", "ANALYSIS_",
                                        "TARGET_INFO_" };

  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
    if (strncmp (table, begins[i], strlen (begins[i])) == 0)
      return strcmp (table, "TARGET_INFO_GPU") != 0;
  return false;
}

/* What the rows of TABLE are called, or NULL. */
static const char *
plural_of (const char *table)
{
  for (size_t i = 0; lns_mcp_kind_at (i) != NULL; i++)
    if (strcmp (lns_mcp_kind_at (i)->table, table) == 0 && lns_mcp_kind_at (i)->only == NULL)
      return lns_mcp_kind_at (i)->plural;
  return NULL;
}

/* Adds how many rows each table has. */
static bool
add_tables (LnsMcpCall *call, LnsMcpReport *of, LnsError *error)
{
  unsigned n;
  const LnsTable *tables = lns_tables_all (of->tables, &n);
  bool good = true, any;

  for (unsigned i = 0; good && i < n; i++)
    {
      if (lns_tables_n_rows (of->tables, &tables[i]) == 0 || is_of_no_interest (tables[i].name))
        continue;
      const char *plural = plural_of (tables[i].name);
      char *statement = lns_asprintf ("SELECT count(*) AS rows FROM \"%s\"", tables[i].name),
           *text = lns_asprintf ("%s%s%s%s", tables[i].name, plural != NULL ? " (" : "",
                                 plural != NULL ? plural : "", plural != NULL ? ")" : "");
      good = lns_mcp_add_statement (call, of, NULL, text, statement, &any, error);
      free (statement);
      free (text);
    }
  return good;
}

/* Notes what is wrong with the report: its warnings and errors. */
static void
note_problems (LnsMcpCall *call, LnsMcpReport *of)
{
  uint32_t n;
  unsigned n_told = 0, n_more = 0;
  const LnsDiagnostic *diagnostics = lns_report_diagnostics (of->report, &n);
  const LnsState state = lns_report_info (of->report)->state;

  if (of->is_recovered)
    lns_mcp_answer_note (call->answer,
                         "The file is damaged; this is the part that could be recovered.");
  if (state == LNS_STATE_RECORDING)
    lns_mcp_answer_note (call->answer, "It is still being recorded; open it again for the rest.");
  else if (state == LNS_STATE_CUT_OFF || state == LNS_STATE_INCOMPLETE)
    lns_mcp_answer_note (call->answer, "Its recording did not end normally: the end is missing.");
  for (uint32_t i = 0; i < n; i++)
    if (diagnostics[i].severity != LNS_SEVERITY_INFO)
      {
        if (n_told == MAX_TOLD)
          n_more++;
        else
          lns_mcp_answer_note (call->answer, "%s: %s",
                               lns_report_string (of->report, diagnostics[i].code, NULL),
                               lns_report_string (of->report, diagnostics[i].text, NULL));
        n_told += n_told < MAX_TOLD;
      }
  if (n_more > 0)
    lns_mcp_answer_note (call->answer, "%u more warnings; `lanescope info` prints them.", n_more);
}

static bool
run_open (LnsMcpCall *call, LnsError *error)
{
  static const char duration[] = "SELECT duration AS recorded_ns FROM ANALYSIS_DETAILS LIMIT 1";
  LnsMcpReport *of = lns_mcp_reports_open (call->reports, lns_mcp_text_of (call, "path"), error);
  bool any;

  if (of == NULL)
    return false;
  lns_mcp_answer_say (call->answer, of->handle, "%s is %s, %s.", of->handle,
                      strrchr (of->path, '/') + 1, source_of (of));
  if (!lns_mcp_add_statement (call, of, NULL, NULL, duration, &any, error) ||
      !add_tables (call, of, error))
    return false;
  note_problems (call, of);
  lns_mcp_answer_next (call->answer, "why", json_pack ("{s:s}", "report", of->handle),
                       "learn what the time was lost to");
  return true;
}

const LnsMcpTool lns_mcp_open = {
  .name = "open",
  .title = "Open a report",
  .help =
      "Opens a recording: a .rep file of Lanescope, a SQLite export of nsys, or a trace of "
      "PyTorch or Chrome. Gives its handle (r1, r2, …), which all other tools take, and what is "
      "in it. The same unchanged file keeps its handle.",
  .parameters = { { .name = "path", .help = "path of the file", .is_required = true } },
  .run = run_open,
};
