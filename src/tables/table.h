/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The tables of the nsys SQLite export, for `sql` and `export`: names, columns and types in the order in which real
 * files have them. LNS_ begins the names of our own tables. A table without rows exists too, because programs that
 * read such files expect it. */

#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "src/tables/cell.h"

typedef enum
{
  LNS_COLUMN_PLAIN,
  LNS_COLUMN_NOT_NULL,
  LNS_COLUMN_KEY,  /* INTEGER PRIMARY KEY: its values are the rowids                              */
  LNS_COLUMN_OURS, /* in `sql` alone, as programs may read the columns of an export by position  */
} LnsColumnRule;

typedef struct
{
  const char *name;
  const char *type; /* "INTEGER", "REAL" or "TEXT"                                              */
  LnsColumnRule rule;
  LnsCell cell; /* of tables of events                                                           */
} LnsTableColumn;

/* Where a table's rows come from. */
typedef enum
{
  LNS_ROWS_NONE,        /* Lanescope does not record them                                        */
  LNS_ROWS_DEFINITIONS, /* a few, made from the report's definitions                             */
  LNS_ROWS_STRINGS,     /* one per string of the report                                          */
  LNS_ROWS_EVENTS,      /* one per event of some lanes, each column as its cell says             */
  LNS_ROWS_NVTX,        /* the same, then rows of definitions                                    */
  LNS_ROWS_ENUM,        /* the constants of enums.h                                              */
  LNS_ROWS_KEPT,        /* kept as they came from elsewhere                                      */
  LNS_ROWS_CHAINS,      /* the calls in the chains of samples                                    */
  LNS_ROWS_CALL_CHAINS, /* those in the chains that calls have                                   */
} LnsRowSource;

/* How a trace (Chrome's format) shows the rows of a table. */
typedef struct
{
  const char *category; /* NULL = a trace does not have them                                    */
  const char *
      name; /* column of the name: its text or string id, or the id in `names`; NULL = the category */
  const char *names; /* enumeration (enums.h), or NULL                                       */
  bool is_call;      /* a call that may begin work on a GPU                                  */
  bool is_begun;     /* work on a GPU that such a call began                                 */
  bool is_sample;    /* a sample of a counter                                                */
  bool
      is_told; /* the category may be that of other programs: the arguments have the table and all of its columns */
} LnsTraceLook;

/* A table, and how other formats show its rows. This describes a kind of lane outside the store; the viewer's description
 * is in ui/model/lane-look.c. */
typedef struct LnsTable
{
  const char *name;
  LnsRowSource source;
  unsigned n_columns; /* ≤ 63                                                                   */
  const LnsTableColumn *columns;
  uint32_t kinds;  /* of the lanes whose events are its rows: 1 << LnsLaneKind                  */
  uint64_t tracks; /* their tracks' kinds: 1 << LnsTrackKind; 0 = any                           */
  /* Of them, the events in which the value of `filter` is in `passes`, as 1 << value (values of 63 and
   * more as 1 << 63); 0 = all. The others leave gaps in the rowids.                              */
  LnsCell filter;
  uint64_t passes;
  uint32_t kept;    /* LNS_ROWS_KEPT: id of the LnsKeptTable                                     */
  bool is_optional; /* an export leaves it out if it has no row, unless the user asks for all    */
  const char *call_chains; /* the kept table in which LNS_COLUMN_CALL_CHAIN is an id, or NULL   */
  LnsTraceLook trace;
} LnsTable;

/* What a search can use a column of events for. */
typedef enum
{
  LNS_ROLE_NONE,
  LNS_ROLE_ROWID,
  LNS_ROLE_START,
  LNS_ROLE_END,
  LNS_ROLE_NAME,        /* string id of the event's name                                         */
  LNS_ROLE_THREAD,      /* globalTid                                                             */
  LNS_ROLE_TYPE,        /* NVTX_EVENTS.eventType                                                 */
  LNS_ROLE_DOMAIN,      /* domainId                                                              */
  LNS_ROLE_CORRELATION, /* correlationId                                                         */
  LNS_ROLE_LANE,        /* the same in all events of a lane                                      */
  LNS_N_ROLES
} LnsColumnRole;

/* The role of COLUMN (-1 = rowid) of TABLE, which has events. O(1). */
LnsColumnRole lns_table_column_role (const LnsTable *table, int column);

/* Whether rows of TABLE are events. */
static inline bool
lns_table_has_events (const LnsTable *table)
{
  return table->kinds != 0;
}

/* Whether rows of TABLE are calls in call chains. */
static inline bool
lns_table_has_chains (const LnsTable *table)
{
  return table->source == LNS_ROWS_CHAINS || table->source == LNS_ROWS_CALL_CHAINS;
}

/* Columns of NVTX_EVENTS, by position. */
enum
{
  LNS_NVTX_START,
  LNS_NVTX_END,
  LNS_NVTX_EVENT_TYPE,
  LNS_NVTX_RANGE_ID,
  LNS_NVTX_CATEGORY,
  LNS_NVTX_COLOR,
  LNS_NVTX_TEXT,
  LNS_NVTX_GLOBAL_TID,
  LNS_NVTX_END_GLOBAL_TID,
  LNS_NVTX_TEXT_ID,
  LNS_NVTX_DOMAIN_ID,
  LNS_NVTX_UINT64,
  LNS_NVTX_INT64,
  LNS_NVTX_DOUBLE,
  LNS_NVTX_UINT32,
  LNS_NVTX_INT32,
  LNS_NVTX_FLOAT,
  LNS_NVTX_JSON_TEXT_ID,
  LNS_NVTX_JSON_TEXT,
  LNS_NVTX_BINARY_DATA,
  LNS_NVTX_EVENT_ID,
  LNS_NVTX_N_COLUMNS
};

/* Columns of LNS_COUNTERS, by position. */
enum
{
  LNS_COUNTERS_TIMESTAMP,
  LNS_COUNTERS_NAME_ID,
  LNS_COUNTERS_NAME,
  LNS_COUNTERS_VALUE,
  LNS_COUNTERS_UNIT,
  LNS_COUNTERS_GLOBAL_PID,
  LNS_COUNTERS_DOMAIN_ID,
  LNS_COUNTERS_COUNTER_ID,
  LNS_COUNTERS_N_COLUMNS
};

/* NVTX_EVENTS.eventType */
enum
{
  LNS_EVENT_TYPE_CATEGORY = 33,
  LNS_EVENT_TYPE_MARK = 34,
  LNS_EVENT_TYPE_THREAD_NAME = 39,
  LNS_EVENT_TYPE_PUSH_POP = 59,
  LNS_EVENT_TYPE_START_END = 60,
  LNS_EVENT_TYPE_DOMAIN_CREATE = 75,
  LNS_EVENT_TYPE_DOMAIN_DESTROY = 76,
};

/* The tables that every report has, in the order in which an export creates them. Static, O(1). */
const LnsTable *lns_table_all (unsigned *ret_n);

/* The table called NAME (as SQL compares: ASCII letters of either case), or NULL. O(tables). */
const LnsTable *lns_table_find (const char *name);

/* The position of TABLE's column called NAME, or -1. O(columns). */
int lns_table_column (const LnsTable *table, const char *name);

/* "CREATE TABLE [SCHEMA.]NAME (…)". The caller frees it. SCHEMA may be NULL. */
char *lns_table_sql (const LnsTable *table, const char *schema);
