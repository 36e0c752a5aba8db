/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What names GPU metrics and CPU samples, and what the other program had to say, also to when it recorded: rows of tables that are
 * kept as they are too. */

#include "src/import/nsys/import-private.h"

/* Of so many samples at most the innermost function becomes the name: the map takes 40 bytes each. */
#define LEAVES_MAX 2000000

/* What tells metrics apart. */
typedef struct
{
  int64_t type, metric;
} MetricKey;

static bool
metric_cb (void *data, const LnsKeptValue *values)
{
  LnsImport *import = data;
  const MetricKey key = { _lns_import_number (&values[0]), _lns_import_number (&values[1]) };

  lns_string_table_intern (import->metrics, &key, sizeof key,
                           _lns_import_text (import, &values[2]));
  return true;
}

bool
_lns_import_metric_names (LnsImport *import, LnsForeignTable *table)
{
  static const char *const columns[] = { "typeId", "metricId", "metricName" };

  return lns_foreign_read (import->foreign, table, columns, 3, LNS_FOREIGN_AS_IT_LIES, metric_cb,
                           import, import->error);
}

void
_lns_import_name_metric (LnsImport *import, LnsTrack *track)
{
  const MetricKey key = { (int64_t)track->number, track->metric };

  track->name = lns_string_table_intern (import->metrics, &key, sizeof key, 0);
  track->process = LNS_ID_NONE;
  for (uint32_t i = 0; i < import->n_devices && track->device == LNS_ID_NONE; i++)
    if (import->device_list[i].number == (track->number & 0xFF))
      {
        track->device = i;
        track->process = import->device_list[i].process;
      }
}

typedef struct
{
  LnsImport *import;
  uint32_t n;
} Leaves;

static bool
leaf_cb (void *data, const LnsKeptValue *values)
{
  Leaves *leaves = data;
  LnsImport *import = leaves->import;
  const int64_t id = _lns_import_number (&values[0]);

  if (_lns_import_number (&values[2]) == 0 && leaves->n++ < LEAVES_MAX)
    lns_string_table_intern (import->leaves, &id, sizeof id,
                             _lns_import_string (import, &values[1]));
  return true;
}

bool
_lns_import_leaves (LnsImport *import, LnsForeignTable *table)
{
  static const char *const columns[] = { "id", "symbol", "stackDepth" };
  Leaves leaves = { .import = import };

  return lns_foreign_read (import->foreign, table, columns, 3, LNS_FOREIGN_AS_IT_LIES, leaf_cb,
                           &leaves, import->error);
}

/* ENUM_DIAGNOSTIC_SEVERITY_LEVEL */
#define SEVERITY_WARNING 2
#define SEVERITY_ERROR   3

/* The process that other tables have told of, or LNS_ID_NONE. */
static uint32_t
known_process (const LnsImport *import, int64_t global_pid)
{
  for (uint32_t i = 0; i < import->n_processes; i++)
    if (import->process_list[i].machine == (uint64_t)global_pid >> 48 &&
        import->process_list[i].pid == (global_pid >> 24 & 0xFFFFFF))
      return i;
  return LNS_ID_NONE;
}

static bool
diagnostic_cb (void *data, const LnsKeptValue *values)
{
  LnsImport *import = data;
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
  if (_lns_import_integer (&values[3], &global_pid))
    diagnostic.process = known_process (import, global_pid);
  lns_writer_add_diagnostic (import->writer, &diagnostic);
  return true;
}

bool
_lns_import_diagnostics (LnsImport *import, LnsForeignTable *table)
{
  static const char *const columns[] = { "timestamp", "severity", "text", "globalPid" };

  return lns_foreign_read (import->foreign, table, columns, 4, LNS_FOREIGN_AS_IT_LIES,
                           diagnostic_cb, import, import->error);
}

/* To when the other program recorded. */
/* ---- From beginning to end ------------------------------------------------------------------- */

static bool
details_cb (void *data, const LnsKeptValue *values)
{
  LnsImport *import = data;
  int64_t duration_ns;

  if (_lns_import_time (&values[0], &duration_ns) && duration_ns > import->end_ns)
    import->end_ns = duration_ns;
  return true;
}

bool
_lns_import_details (LnsImport *import, LnsForeignTable *table)
{
  static const char *const columns[] = { "duration" };
  return lns_foreign_read (import->foreign, table, columns, 1, LNS_FOREIGN_AS_IT_LIES, details_cb,
                           import, import->error);
}
