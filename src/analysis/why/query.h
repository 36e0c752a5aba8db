/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Runs SQL of the user over the tables of a report, those of `lanescope why` among them. Statements can only read. */

#pragma once

#include <sqlite3.h>
#include <stdatomic.h>

#include "src/analysis/result.h"
#include "src/analysis/why/sql.h"

typedef struct
{
  sqlite3 *db;
  const atomic_bool *cancel;
  int64_t timeout_ns, deadline_ns;
  bool is_late, is_refused;
  LnsWhySql *why; /* db's */
} LnsQuery;

typedef struct
{
  const atomic_bool *cancel; /* setting it ends what runs; borrowed; or NULL                     */
  int64_t
      timeout_ns; /* for all statements together, from the creation of the query on; 0 = no limit */
  bool
      in_memory; /* statements come from strangers: nothing is sorted on the disk, no value is over 16 MiB */
} LnsQueryOptions;

/* A new query over the tables of REPORT, which is borrowed. Beside the functions of SQLite there are regexp (PATTERN, TEXT), which is
 * also written TEXT REGEXP PATTERN, and regexpi (PATTERN, TEXT), which ignores case (pattern.h). Owned; NULL with ERROR if the tables
 * cannot be read. One thread. */
LnsQuery *lns_query_new (LnsReport *report, const LnsQueryOptions *options, LnsError *error);
void lns_query_free (LnsQuery *query); /* NULL is fine                                          */

/* From now on the statements of QUERY may take TIMEOUT_NS together; 0 = no limit. */
void lns_query_restart (LnsQuery *query, int64_t timeout_ns);

/* Prepares the first statement of SQL; RET_STATEMENT gets NULL if there is none, and RET_REST what is behind it. To be finalized. False,
 * with lns_query_failure (), if it is none that reads. */
bool lns_query_prepare (LnsQuery *query,
                        const char *sql,
                        sqlite3_stmt **ret_statement,
                        const char **ret_rest);

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
