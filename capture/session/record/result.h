/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How a report went that was recorded. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/store/write/writer.h"

/* The diagnostic of lns_recorder_next_trouble (), also in the report. */
#define LNS_TROUBLE_CODE "LNS-REP-003"

/* What a person should know of a report; also in it. */
typedef struct
{
  const char *code; /* static */
  LnsSeverity severity;
  char *text;
} LnsReportDiagnostic;

/* How a report went. To be cleared with lns_report_result_clear (). */
typedef struct
{
  bool is_written;
  LnsError error; /* where it is not written whole */
  uint64_t n_events, n_lost, n_processes, n_bytes;
  LnsReportDiagnostic *diagnostics;
  size_t n_diagnostics;
  size_t kept_bytes; /* of memory that its last seconds took at most, where it holds no more */
  double drain_ms;   /* from the request to the last record in the writer */
  double commit_ms;  /* the last commit */
} LnsReportResult;

/* A range began, or its report is written. */
typedef struct
{
  bool is_end;
  unsigned number;
  char *path;             /* owned; may be NULL */
  LnsReportResult result; /* with is_end; to be cleared */
} LnsRangeNews;

void lns_report_result_clear (LnsReportResult *result);
