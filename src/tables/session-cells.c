/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The rows about the session: when, where, with what, and what went wrong. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lns-config.h"
#include "src/tables/cell-builder.h"

/* The schema of the reference's exports that these tables follow, column by column. Readers choose by it what they
 * look for: PROFILER_OVERHEAD has overheadType instead of returnValue since 3.24, kernels have
 * tensorSizeMinusOneElements since 3.25. */
#define SCHEMA_MAJOR 3
#define SCHEMA_MINOR 25
#define SCHEMA_MICRO 0

/* ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE, ENUM_DIAGNOSTIC_SOURCE_TYPE */
#define TARGET_TIMESTAMP  1
#define DIAGNOSTIC_DAEMON 2

static void
build_diagnostics (LnsCellBuilder *builder)
{
  uint32_t n, n_named, n_reused;
  const LnsDiagnostic *diagnostics = lns_report_diagnostics (builder->report, &n);
  LnsValue *row;

  for (uint32_t i = 0; i < n && (row = _lns_builder_add_row (builder)) != NULL; i++)
    {
      row[0] = _lns_cell_integer (
          diagnostics[i].time_ns != LNS_TIME_UNKNOWN ? diagnostics[i].time_ns : 0);
      row[1] = _lns_cell_integer (TARGET_TIMESTAMP);
      row[2] = _lns_cell_integer (DIAGNOSTIC_DAEMON);
      row[3] = _lns_cell_integer (diagnostics[i].severity + 1);
      row[4] = _lns_builder_format (builder, "%s: %s",
                                    lns_report_string (builder->report, diagnostics[i].code, NULL),
                                    lns_report_string (builder->report, diagnostics[i].text, NULL));
      row[5] = _lns_cell_integer_or_null (
          lns_tables_global_pid (builder->tables, diagnostics[i].process));
    }
  free (_lns_builder_named_threads (builder, &n_named, &n_reused));
  if (n_reused > 0 && (row = _lns_builder_add_row (builder)) != NULL)
    {
      row[0] = _lns_cell_integer (0);
      row[1] = _lns_cell_integer (TARGET_TIMESTAMP);
      row[2] = _lns_cell_integer (DIAGNOSTIC_DAEMON);
      row[3] = _lns_cell_integer (LNS_SEVERITY_INFO + 1);
      row[4] =
          _lns_builder_format (builder,
                               "LNS-SQL-001: ThreadNames lacks %" PRIu32
                               " threads, as later threads of their processes have the same ids",
                               n_reused);
    }
}

static void
build_losses (LnsCellBuilder *builder)
{
  uint32_t n;
  const LnsLoss *losses = lns_report_losses (builder->report, &n);
  LnsValue *row;

  for (uint32_t i = 0; i < n && (row = _lns_builder_add_row (builder)) != NULL; i++)
    {
      const LnsLoss *loss = &losses[i];
      const uint64_t counts[] = { loss->pushes, loss->pops,   loss->marks, loss->starts,
                                  loss->ends,   loss->others, loss->bytes };
      if (loss->first_ns != LNS_TIME_UNKNOWN)
        row[0] = _lns_cell_integer (loss->first_ns);
      if (loss->last_ns != LNS_TIME_UNKNOWN)
        row[1] = _lns_cell_integer (loss->last_ns);
      row[2] = _lns_cell_integer_or_null (lns_tables_global_pid (builder->tables, loss->process));
      row[3] = _lns_cell_integer_or_null (lns_tables_global_tid (builder->tables, loss->thread));
      for (unsigned c = 0; c < sizeof counts / sizeof counts[0]; c++)
        row[4 + c] = _lns_cell_integer ((int64_t)counts[c]);
    }
}

static void
add_pair (LnsCellBuilder *builder, const char *name, LnsValue value)
{
  LnsValue *row = value.type != LNS_VALUE_NULL ? _lns_builder_add_row (builder) : NULL;

  if (row != NULL)
    {
      row[0] = _lns_cell_constant (name);
      row[1] = value;
    }
}

static LnsValue
meta (LnsCellBuilder *builder, const char *key)
{
  const char *value = lns_report_meta (builder->report, key);
  return value != NULL ? _lns_cell_constant (value) : (LnsValue){ 0 };
}

static void
build_meta_capture (LnsCellBuilder *builder)
{
  const LnsReportInfo *info = lns_report_info (builder->report);

  add_pair (builder, "DEVICE_ID", meta (builder, "host_name"));
  add_pair (builder, "DEVICE_DISPLAY_NAME", meta (builder, "host_name"));
  add_pair (builder, "CAPTURE_EVENT_TYPE", _lns_cell_constant ("NvtxEvents"));
  add_pair (builder, "PROCESS_0:COMMAND", meta (builder, "command_line"));
  add_pair (builder, "PROCESS_0:WORKING_DIR", meta (builder, "working_directory"));
  add_pair (builder, "RUN_DURATION_MS",
            _lns_builder_format (builder, "%" PRId64, info->end_ns / 1000000));
}

static void
build_meta_export (LnsCellBuilder *builder)
{
  add_pair (builder, "EXPORT_PRODUCT_NAME", _lns_cell_constant ("Lanescope"));
  add_pair (builder, "EXPORT_PRODUCT_VERSION", _lns_cell_constant (LNS_VERSION));
  add_pair (builder, "EXPORT_SCHEMA_VERSION",
            _lns_builder_format (builder, "%d.%d.%d", SCHEMA_MAJOR, SCHEMA_MINOR, SCHEMA_MICRO));
  add_pair (builder, "EXPORT_SCHEMA_VERSION_MAJOR",
            _lns_builder_format (builder, "%d", SCHEMA_MAJOR));
  add_pair (builder, "EXPORT_SCHEMA_VERSION_MINOR",
            _lns_builder_format (builder, "%d", SCHEMA_MINOR));
  add_pair (builder, "EXPORT_SCHEMA_VERSION_MICRO",
            _lns_builder_format (builder, "%d", SCHEMA_MICRO));
  add_pair (builder, "EXPORT_PARAM_TIME_NORMALIZE", _lns_cell_constant ("false"));
  add_pair (builder, "EXPORT_PARAM_TIME_SHIFT", _lns_cell_constant ("0"));
}

/* What a report keeps of its machine: our key, the name and number that readers know it by. */
static void
build_system_env (LnsCellBuilder *builder)
{
  static const struct
  {
    const char *key, *name;
    int number;
  } known[] = {
    { "cpu_count", "CpuCores", 1 },        { "cpu_arch", "CpuArchitecture", 3 },
    { "cpu_model", "CpuDescription", 13 }, { "os", "OsDescription", 605 },
    { "host_name", "Hostname", 619 },      { "kernel", "KernelVersion", 882 },
  };
  const char *host = lns_report_meta (builder->report, "host_name");

  for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
    {
      LnsValue value = meta (builder, known[i].key);
      LnsValue *row = value.type != LNS_VALUE_NULL ? _lns_builder_add_row (builder) : NULL;
      if (row == NULL)
        continue;
      row[0] = _lns_cell_integer (0);
      row[1] = _lns_cell_constant (host != NULL ? host : "");
      row[2] = _lns_cell_constant (known[i].name);
      row[3] = _lns_cell_integer (known[i].number);
      row[4] = value;
    }
}

static LnsValue
format_time (LnsCellBuilder *builder, int64_t realtime_ns, bool utc)
{
  time_t seconds = realtime_ns / 1000000000;
  struct tm parts;
  char text[32];

  if ((utc ? gmtime_r (&seconds, &parts) : localtime_r (&seconds, &parts)) == NULL ||
      strftime (text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts) == 0)
    return (LnsValue){ 0 };
  return _lns_builder_keep (builder, strdup (text));
}

static void
build_start_time (LnsCellBuilder *builder)
{
  const LnsReportInfo *info = lns_report_info (builder->report);
  LnsValue *row = _lns_builder_add_row (builder);

  if (row == NULL)
    return;
  row[0] = _lns_cell_integer (info->t0_realtime_ns);
  row[1] = format_time (builder, info->t0_realtime_ns, true);
  row[2] = format_time (builder, info->t0_realtime_ns, false);
  row[3] = _lns_cell_integer (info->t0_monotonic_ns);
}

static void
build_details (LnsCellBuilder *builder)
{
  const LnsReportInfo *info = lns_report_info (builder->report);
  LnsValue *row = _lns_builder_add_row (builder);

  if (row == NULL)
    return;
  row[0] = _lns_cell_integer (0);
  row[1] = _lns_cell_integer (info->end_ns);
  row[2] = _lns_cell_integer (info->t0_monotonic_ns);
  row[3] = _lns_cell_integer ((int64_t)((uint64_t)info->t0_monotonic_ns + (uint64_t)info->end_ns));
}

bool
_lns_builder_session (LnsCellBuilder *builder, const char *table)
{
  static const struct
  {
    const char *table;
    void (*build) (LnsCellBuilder *builder);
  } builders[] = {
    { "DIAGNOSTIC_EVENT", build_diagnostics },
    { "LNS_LOSSES", build_losses },
    { "META_DATA_CAPTURE", build_meta_capture },
    { "META_DATA_EXPORT", build_meta_export },
    { "TARGET_INFO_SYSTEM_ENV", build_system_env },
    { "TARGET_INFO_SESSION_START_TIME", build_start_time },
    { "ANALYSIS_DETAILS", build_details },
  };

  for (unsigned i = 0; i < sizeof builders / sizeof builders[0]; i++)
    if (strcmp (builders[i].table, table) == 0)
      {
        builders[i].build (builder);
        return true;
      }
  return false;
}
