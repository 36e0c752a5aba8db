/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/lns-cli-doctor.h"

#include <stdlib.h>
#include <string.h>

const char *
lns_cli_severity (LnsSeverity severity)
{
  return severity == LNS_SEVERITY_INFO      ? "info"
         : severity == LNS_SEVERITY_WARNING ? "warning"
                                            : "error";
}

bool
lns_cli_doctor_init (LnsCliDoctor *doctor, LnsReport *report, LnsError *error)
{
  *doctor = (LnsCliDoctor){ .report = report };
  return lns_doctor_examine (report, &doctor->findings, &doctor->n, error);
}

void
lns_cli_doctor_clear (LnsCliDoctor *doctor)
{
  free (doctor->findings);
  *doctor = (LnsCliDoctor){ 0 };
}

size_t
lns_cli_doctor_n_rows (const LnsCliDoctor *doctor)
{
  uint32_t n;

  lns_report_diagnostics (doctor->report, &n);
  return n + doctor->n;
}

static LnsStatsCell
text (const char *bytes)
{
  return (LnsStatsCell){ .bytes = bytes, .size_bytes = strlen (bytes) };
}

static bool
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
  return lns_stats_table_add (table, cells);
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
  uint32_t n;
  const LnsDiagnostic *diagnostics = lns_report_diagnostics (doctor->report, &n);
  whole.no_limit = true;
  LnsStatsTable *table = lns_stats_table_new (stream, &whole, columns, 4);
  bool good = table != NULL;

  for (uint32_t i = 0; good && i < n; i++)
    good = add_row (doctor->report, table,
                    lns_report_string (doctor->report, diagnostics[i].code, NULL),
                    diagnostics[i].severity, diagnostics[i].process,
                    lns_report_string (doctor->report, diagnostics[i].text, NULL));
  for (size_t i = 0; good && i < doctor->n; i++)
    good = add_row (doctor->report, table, doctor->findings[i].code, doctor->findings[i].severity,
                    doctor->findings[i].process, doctor->findings[i].text);
  lns_stats_table_finish (table);
  return good || lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                                "not enough memory to write the findings; close other programs");
}
