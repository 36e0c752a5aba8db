/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Runs SQL of the user over the tables of a report, those of `lanescope why` among them. Statements can only read. */

#pragma once

#include <sqlite3.h>
#include <stdatomic.h>

#include "src/analysis/result.h"
#include "src/store/read/report.h"

typedef struct
{
  sqlite3 *db; /* to prepare statements in */
  const atomic_bool *cancel;
  int64_t timeout_ns, deadline_ns;
  bool is_late;
} LnsQuery;

/* A new query over the tables of REPORT, which is borrowed. Setting CANCEL ends what runs. All its statements together may take TIMEOUT_NS
 * (0 = no limit) from its creation on. Owned; NULL with ERROR if the tables cannot be read. One thread. */
LnsQuery *
lns_query_new (LnsReport *report, const atomic_bool *cancel, int64_t timeout_ns, LnsError *error);
void lns_query_free (LnsQuery *query); /* NULL is fine                                          */

/* Why the last call of SQLite failed. */
typedef enum
{
  LNS_QUERY_LATE,      /* the time is over                                                       */
  LNS_QUERY_CANCELLED, /* CANCEL was set                                                         */
  LNS_QUERY_WRITES,    /* the statement would change something                                   */
  LNS_QUERY_DAMAGED,   /* the report; SQLite's message names the file, the reason and what to do */
  LNS_QUERY_NO_MEMORY,
  LNS_QUERY_WRONG /* SQLite's message says what it does not understand                           */
} LnsQueryFailure;

LnsQueryFailure lns_query_failure (const LnsQuery *query);

/* Runs STATEMENT, one of them, and keeps the first MAX_ROWS rows. Columns of numbers are numbers; a row of columns called `start`, and
 * `end` or `duration`, has its place. Owned. NULL, with lns_query_failure () or, where it is no statement or more than one, with ERROR
 * set. */
LnsResult *
lns_query_collect (LnsQuery *query, const char *statement, size_t max_rows, LnsError *error);
