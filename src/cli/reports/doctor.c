/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/reports/doctor.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

const char *
lns_cli_severity (LnsSeverity severity)
{
  return severity == LNS_SEVERITY_INFO      ? "info"
         : severity == LNS_SEVERITY_WARNING ? "warning"
                                            : "error";
}

/* Whether DIAGNOSTIC is a note that another tool has made. */
static bool
is_foreign_note (LnsReport *report, const LnsDiagnostic *diagnostic)
{
  return diagnostic->severity == LNS_SEVERITY_INFO &&
         strncmp (lns_report_string (report, diagnostic->code, NULL), "LNS-", 4) != 0;
}

/* Lists the diagnostics that are rows. */
static void
choose (LnsCliDoctor *doctor)
{
  uint32_t n, n_strings = lns_report_n_strings (doctor->report);
  const LnsDiagnostic *diagnostics = lns_report_diagnostics (doctor->report, &n);

  doctor->counts = lns_calloc ((size_t)n_strings + 1, sizeof *doctor->counts);
  doctor->shown = lns_calloc ((size_t)n + 1, sizeof *doctor->shown);
  for (int severity = LNS_SEVERITY_ERROR; severity >= LNS_SEVERITY_INFO; severity--)
    for (uint32_t i = 0; i < n; i++)
      {
        uint32_t text = diagnostics[i].text < n_strings ? diagnostics[i].text : n_strings;
        if ((int)diagnostics[i].severity == severity &&
            !is_foreign_note (doctor->report, &diagnostics[i]) && doctor->counts[text]++ == 0)
          doctor->shown[doctor->n_shown++] = i;
      }
}

bool
lns_cli_doctor_init (LnsCliDoctor *doctor, LnsReport *report, LnsError *error)
{
  *doctor = (LnsCliDoctor){ .report = report };
  choose (doctor);
  return lns_doctor_examine (report, &doctor->findings, &doctor->n, error);
}

void
lns_cli_doctor_clear (LnsCliDoctor *doctor)
{
  free (doctor->findings);
  free (doctor->counts);
  free (doctor->shown);
  *doctor = (LnsCliDoctor){ 0 };
}

size_t
lns_cli_doctor_n_rows (const LnsCliDoctor *doctor)
{
  return doctor->n_shown + doctor->n;
}

static LnsStatsCell
text (const char *bytes)
{
  return (LnsStatsCell){ .bytes = bytes, .size_bytes = strlen (bytes) };
}

static void
add_row (LnsReport *report,
         LnsStatsTable *table,
         const char *code,
         LnsSeverity severity,
         uint32_t process,
         const char *message)
{
  uint32_t n;
  const LnsProcess *processes = lns_report_processes (report, &n);
  LnsStatsCell cells[] = {
    text (lns_cli_severity (severity)), text (code), { .is_empty = process >= n }, text (message)
  };

  if (process < n)
    cells[2].number = processes[process].pid;
  lns_stats_table_add (table, cells);
}

bool
lns_cli_doctor_write (void *data, FILE *stream, const LnsStatsStyle *style, LnsError *error)
{
  static const LnsStatsColumn columns[] = {
    { "Severity", .is_text = true },
    { "Code", .is_text = true },
    { "PID" },
    { "Finding", .is_text = true },
  };
  const LnsCliDoctor *doctor = data;
  /* Sentences are cut nowhere. */
  LnsStatsStyle whole = *style;
  const LnsDiagnostic *diagnostics = lns_report_diagnostics (doctor->report, NULL);
  whole.no_limit = true;
  LnsStatsTable *table = lns_stats_table_new (stream, &whole, columns, 4);

  for (size_t i = 0; i < doctor->n_shown; i++)
    {
      const LnsDiagnostic *diagnostic = &diagnostics[doctor->shown[i]];
      bool is_only = diagnostic->text >= lns_report_n_strings (doctor->report) ||
                     doctor->counts[diagnostic->text] == 1;
      add_row (doctor->report, table, lns_report_string (doctor->report, diagnostic->code, NULL),
               diagnostic->severity, is_only ? diagnostic->process : LNS_ID_NONE,
               lns_report_string (doctor->report, diagnostic->text, NULL));
    }
  for (size_t i = 0; i < doctor->n; i++)
    add_row (doctor->report, table, doctor->findings[i].code, doctor->findings[i].severity,
             doctor->findings[i].process, doctor->findings[i].text);
  lns_stats_table_finish (table);
  return true;
}
