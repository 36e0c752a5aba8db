/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What of a report is given to others: a smaller report, or a page for a browser. */

#pragma once

#include "src/export/export.h"
#include "src/store/read/report.h"

/* What is wanted of a report. */
typedef struct
{
  int64_t start_ns,
      end_ns;          /* report clock, both included; INT64_MIN, INT64_MAX: no bound         */
  const int32_t *pids; /* of processes; what belongs to no process is there with any           */
  size_t n_pids;       /* 0 = all                                                              */
  const uint32_t
      *devices;     /* numbers of GPUs, as their processes count; other rows are there with any */
  size_t n_devices; /* 0 = all                                                              */
  bool overwrite;   /* an existing file may be replaced                                     */
  const char
      *source; /* the file that the report was opened from, if that is another one; or NULL  */
  const atomic_bool
      *cancel; /* or NULL; true ends the work with LNS_ERROR_CANCELLED                */
  LnsProgressFunc
      progress; /* or NULL; called on this thread                                      */
  void *progress_data;
} LnsExtract;

/* Writes what WANTED names of REPORT to PATH, a report of its own, which says in diagnostics what it is a part of, what was left
 * out, and how much GPU work has its launch on the other side of an end. Events that reach over an end are there at full
 * length. The file appears once it is complete, with the permissions of lns_mode_like (). False and ERROR where WANTED has
 * nothing, PATH cannot be written or replaced, a chunk is damaged, or cancelled. O(events within), and memory as
 * lns_filter_keep (). Any thread. */
bool
lns_extract_report (LnsReport *report, const LnsExtract *wanted, const char *path, LnsError *error);

/* Writes what WANTED names of REPORT to PATH ("-": the standard output) as an HTML page, which needs no other file and no network: the
 * answer of `why` of that time, and the rows, to zoom and move in. A page has at most some 300,000 events, the longest of each row; how
 * dense the others are is drawn, and their number told. Otherwise as lns_extract_report (). O(events within); memory: a few MiB. Any
 * thread. */
bool
lns_extract_page (LnsReport *report, const LnsExtract *wanted, const char *path, LnsError *error);

/* A format. */
typedef struct
{
  const LnsExportType
      *place; /* its name, and the ending of its files                              */
  bool (*write) (LnsReport *report, const LnsExtract *wanted, const char *path, LnsError *error);
} LnsExtractType;

/* Returns the type called NAME, such as "rep", or NULL. */
const LnsExtractType *lns_extract_type_find (const char *name);
