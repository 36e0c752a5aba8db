/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The outcome of a recorded report. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/store/write/writer.h"

/* The diagnostic of lns_recorder_next_trouble (), also in the report. */
#define LNS_TROUBLE_CODE "LNS-REP-003"

/* A message for the user about a report; the report has it too. */
typedef struct
{
  const char *code; /* static */
  LnsSeverity severity;
  char *text;
} LnsReportDiagnostic;

/* Clear it with lns_report_result_clear (). */
typedef struct
{
  bool is_written;
  LnsError error; /* if not all of it is written */
  uint64_t n_events, n_lost, n_processes, n_bytes;
  LnsReportDiagnostic *diagnostics;
  size_t n_diagnostics;
  size_t kept_bytes; /* --keep: the most memory that its last seconds took */
  int64_t
      keep_from_ns; /* where the seconds begin that the stop asked for, report clock; INT64_MIN: it asked for all */
  double drain_ms;  /* from the request to the last record in the writer */
  double commit_ms; /* the last commit */
} LnsReportResult;

/* A capture range began, or its report is written. */
typedef struct
{
  bool is_end;
  unsigned number;
  char *path;             /* owned; may be NULL */
  LnsReportResult result; /* with is_end; to be cleared */
} LnsRangeNews;

void lns_report_result_clear (LnsReportResult *result);
