/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Names of GPU metrics and CPU samples, the other program's diagnostics, and how long it recorded. These tables are also
 * kept as they are. */

#include "src/import/nsys/import-private.h"

/* At most this many samples are named after their innermost function: the map takes up to 64 bytes for each. */
#define LEAVES_MAX 2000000

/* Identifies a metric. */
typedef struct
{
  int64_t type, metric;
} MetricKey;

void
_lns_import_metric_row (LnsImport *import, const LnsKeptValue *values)
{
  const MetricKey key = { _lns_import_number (&values[0]), _lns_import_number (&values[1]) };

  lns_string_table_intern (import->metrics, &key, sizeof key,
                           _lns_import_text (import, &values[2]));
}

void
_lns_import_name_metric (LnsImport *import, LnsTrack *track)
{
  const MetricKey key = { (int64_t)track->number, track->metric };

  track->name = lns_string_table_find (import->metrics, &key, sizeof key, 0);
  track->process = LNS_ID_NONE;
  for (uint32_t i = 0; i < import->devices.n && track->device == LNS_ID_NONE; i++)
    if (import->devices.items[i].number == (track->number & 0xFF))
      {
        track->device = i;
        track->process = import->devices.items[i].process;
      }
}

void
_lns_import_leaf_row (LnsImport *import, const LnsKeptValue *values)
{
  if (_lns_import_number (&values[2]) == 0 && import->leaves.n < LEAVES_MAX)
    _lns_import_intern (&import->leaves, (uint64_t)_lns_import_number (&values[0]),
                        _lns_import_string (import, &values[1]));
}

/* ENUM_DIAGNOSTIC_SEVERITY_LEVEL */
#define SEVERITY_WARNING 2
#define SEVERITY_ERROR   3

void
_lns_import_diagnostic_row (LnsImport *import, const LnsKeptValue *values)
{
  const int64_t severity = _lns_import_number (&values[1]);
  LnsDiagnostic diagnostic = { .code = lns_writer_string (import->writer, "NSYS", 4),
                               .severity = severity == SEVERITY_WARNING ? LNS_SEVERITY_WARNING
                                           : severity == SEVERITY_ERROR ? LNS_SEVERITY_ERROR
                                                                        : LNS_SEVERITY_INFO,
                               .process = LNS_ID_NONE,
                               .text = _lns_import_text (import, &values[2]) };
  int64_t global_pid;

  if (!_lns_import_time (&values[0], &diagnostic.time_ns))
    diagnostic.time_ns = LNS_TIME_UNKNOWN;
  /* Only a process that other tables mention is one of the report.                                */
  if (_lns_import_integer (&values[3], &global_pid))
    diagnostic.process =
        _lns_import_find (&import->process_ids, (uint64_t)global_pid >> 24, LNS_ID_NONE);
  lns_writer_add_diagnostic (import->writer, &diagnostic);
}

/* The report ends no earlier than the other program's recording. */
void
_lns_import_details_row (LnsImport *import, const LnsKeptValue *values)
{
  int64_t duration_ns;

  if (_lns_import_time (&values[0], &duration_ns) && duration_ns > import->end_ns)
    import->end_ns = duration_ns;
}
