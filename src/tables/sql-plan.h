/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which constraints of a query a cursor takes over, and at what price. */

#pragma once

#include <sqlite3.h>

#include "src/tables/row-cursor.h"

/* What a plan tells the cursor. It travels as text in idxStr, since xBestIndex and xFilter share
 * nothing else and EXPLAIN QUERY PLAN shows it: "COLUMNS lanes|start COLUMN:OP …". */
typedef struct
{
  uint64_t columns; /* mask of what the statement reads                                         */
  bool by_start;
  unsigned n_constraints;
  struct
  {
    int column; /* -1 = rowid                                                                  */
    unsigned char op; /* SQLITE_INDEX_CONSTRAINT_*                                              */
  } constraints[LNS_ROW_MAX_CONSTRAINTS];
} LnsSqlPlan;

/* xBestIndex for TABLE: fills INFO. SQLITE_NOMEM without memory. */
int _lns_sql_plan_make (LnsTables *tables, const LnsTable *table, sqlite3_index_info *info);

/* Reads the plan back from IDX_STR and turns the N values of ARGV into constraints. Returns how many
 * RET_CONSTRAINTS got. Comparisons with what is no integer are exact, as SQLite would make them. */
unsigned _lns_sql_plan_read (LnsTables *tables,
                             const LnsTable *table,
                             const char *idx_str,
                             LnsSqlPlan *ret_plan,
                             int n,
                             sqlite3_value **argv,
                             LnsRowConstraint ret_constraints[LNS_ROW_MAX_CONSTRAINTS]);
