/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The reports that a client has opened, each with a handle: "r1", "r2", … They are opened once and kept, the 16 that were used last.
 *
 * Nothing is written but what must be imported or rebuilt: that is in a folder of its own in TMPDIR, for the user alone, until the
 * report is closed. */

#pragma once

#include "src/analysis/why/query.h"
#include "src/import/open.h"

typedef struct LnsMcpReports LnsMcpReports;

#define LNS_MCP_MAX_REPORTS 16

/* Belongs to the reports, like all in it; valid until another one is opened. */
typedef struct
{
  char handle[16];
  char *path;   /* absolute */
  char *quoted; /* the path as a word for a shell */
  LnsInputKind kind;
  char *folder; /* for what is made of the file; there only if something was */
  bool is_recovered;
  LnsReport *report;
  LnsTables *tables;
  LnsQuery *query; /* for statements of strangers */
} LnsMcpReport;

/* CANCEL, which must outlive the result, ends whatever works on a report. One thread uses the result; opening sets XDG_CACHE_HOME, which
 * no other may read meanwhile. */
LnsMcpReports *lns_mcp_reports_new (const atomic_bool *cancel)
    __attribute__ ((returns_nonnull, warn_unused_result));
void lns_mcp_reports_free (LnsMcpReports *reports); /* NULL is fine                             */

/* Opens the report, export or trace at PATH, or finds it if it is open and the file has not changed since. What is not a regular file
 * is not touched; of other files nothing is told. NULL and ERROR if it cannot be opened. */
LnsMcpReport *lns_mcp_reports_open (LnsMcpReports *reports, const char *path, LnsError *error)
    __attribute__ ((warn_unused_result));

/* The report with HANDLE. NULL and ERROR if there is none, or it was closed because others were used later. */
LnsMcpReport *lns_mcp_reports_find (LnsMcpReports *reports, const char *handle, LnsError *error)
    __attribute__ ((warn_unused_result));

/* TEXT as one word for a shell. Owned. */
char *lns_mcp_quote (const char *text) __attribute__ ((returns_nonnull, warn_unused_result));
