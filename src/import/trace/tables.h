/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The nsys tables that a trace's events become on their way to a report: a temporary SQLite file, and the texts,
 * processes and threads that rows share. The first failure stays in `error`, and nothing is written after it: callers
 * look once for many rows. One thread owns the tables. */

#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/base/id-map.h"
#include "src/base/json-reader.h"
#include "src/base/string-table.h"
#include "src/import/trace/json.h"

/* Ids of processes and threads have so many bits. A text, or a number that is too large, gets an id of our own. */
#define LNS_TRACE_ID_BITS 24

/* Names and calls of this many processes are kept apart. */
#define LNS_TRACE_PROCESSES_MAX 256

/* The most tracks of a report, such as a thread's ranges of one domain, or a counter. Each takes a kilobyte until the
 * report is whole, and a small compressed file may have millions of them: events of further tracks are left out. */
#define LNS_TRACE_TRACKS_MAX (1u << 15)

/* Stands for NULL among the integers of a row. */
#define LNS_TRACE_NULL INT64_MIN

/* Rows of nsys that an event can become. */
typedef enum
{
  LNS_TRACE_ROW_STRING,
  LNS_TRACE_ROW_RANGE, /* start, end, eventType, text, globalTid, textId, domainId, jsonText, uint64Value       */
  LNS_TRACE_ROW_OWN_RANGE, /* these, rangeId, category, color, int64Value, doubleValue, uint32Value, int32Value,
                              floatValue; once there are these columns (lns_trace_widen ())       */
  LNS_TRACE_ROW_RANGE_END, /* end, rowid, globalTid */
  LNS_TRACE_ROW_ARROW,     /* start, globalTid, nameId, category, flowId */
  LNS_TRACE_ROW_ARROW_END, /* end, rowid, globalTid */
  LNS_TRACE_ROW_MOMENT,    /* of pairs.c */
  LNS_TRACE_ROW_LONE_MOMENT,
  LNS_TRACE_ROW_LAUNCH_END, /* of links.c */
  LNS_TRACE_ROW_COUNTER,    /* timestamp, name, value, globalPid, domainId */
  LNS_TRACE_ROW_CALL, /* start, end, eventClass, globalTid, correlationId, nameId, returnValue */
  LNS_TRACE_ROW_KERNEL, /* these four: start, end, deviceId, contextId, streamId, correlationId, globalPid (0: not
                         * known yet), … */
  LNS_TRACE_ROW_COPY,
  LNS_TRACE_ROW_SET,
  LNS_TRACE_ROW_SYNC,
  LNS_TRACE_ROW_THREAD_NAME, /* nameId, globalTid */
  LNS_TRACE_ROW_MPI_RANK,    /* globalTid, rank */
  LNS_TRACE_ROW_PROCESS,     /* globalPid, pid, name */
  LNS_TRACE_ROW_GPU, /* id, name, cuDevice, totalMemory, smCount, computeMajor, computeMinor */
  LNS_TRACE_ROW_START,
  LNS_TRACE_N_ROWS
} LnsTraceRow;

/* Of rows.c: the tables of its events, which are made as they come. */
#define LNS_TRACE_N_OWN_TABLES 10
#define LNS_TRACE_COLUMNS_MAX  32

typedef struct
{
  sqlite3_stmt *row;
  uint8_t
      place[LNS_TRACE_COLUMNS_MAX]; /* by column of its schema: the value's; 0: it has none yet */
  uint8_t n_columns;
} LnsTraceOwnTable;

typedef struct
{
  const char *path; /* of the trace, for errors */
  LnsError error;   /* the first one */
  sqlite3 *db;
  sqlite3_stmt *statements[LNS_TRACE_N_ROWS];
  LnsTraceOwnTable own[LNS_TRACE_N_OWN_TABLES];
  LnsStringTable *strings, *ids, *domains;
  uint32_t n_strings, n_ids, n_domains;
  LnsIdMap threads, tracks; /* sets of globalTids, and of keys that were let in */
  uint64_t last_track;      /* that was let in */
  uint64_t n_crowded_out;   /* events of tracks beyond LNS_TRACE_TRACKS_MAX */
  int64_t last_tid;         /* that had an event */
  struct
  {
    uint32_t id;
    uint64_t n_calls;                   /* of CUDA */
  } processes[LNS_TRACE_PROCESSES_MAX]; /* with threads that have events */
  unsigned n_processes;
} LnsTraceTables;

/* Creates the tables in FILE, which exists and is empty. They must be closed even if that fails. */
void lns_trace_tables_open (LnsTraceTables *tables, const char *file, const char *path);

/* Completes the tables: work on GPUs goes to the process with the most calls, and names of processes and threads without
 * events are dropped. The trace began at START_NS since 1970. */
void lns_trace_tables_finish (LnsTraceTables *tables, int64_t start_ns);
void lns_trace_tables_close (LnsTraceTables *tables);

/* Writes a row of KIND. Its first N values are VALUES; the others are those that were bound. */
void lns_trace_put (LnsTraceTables *tables, LnsTraceRow kind, const int64_t *values, int n);

/* Binds TOKEN, the last one of JSON, to PLACE of ROW: an integer, a real or a text. Others, and place 0, are left
 * out. */
void lns_trace_bind (sqlite3_stmt *row, int place, const LnsJsonReader *json, LnsJsonToken token);

/* Keeps what SQLite reports about the tables as the error, unless there is one already. */
void lns_trace_fail (LnsTraceTables *tables);

/* Returns whether nothing has failed yet. */
bool lns_trace_is_well (const LnsTraceTables *tables);

/* Adds the columns of LNS_TRACE_ROW_OWN_RANGE to NVTX_EVENTS, unless it has them. Only our own traces need them, and
 * each column costs space in every row. */
void lns_trace_widen (LnsTraceTables *tables);

/* Runs a statement that changes rows. FORMAT is that of sqlite3_mprintf (). */
void lns_trace_run (LnsTraceTables *tables, const char *format, ...);

/* Returns the id of a text in StringIds, which gets the text if it does not have it. */
int64_t lns_trace_intern (LnsTraceTables *tables, const char *text, size_t size_bytes);
int64_t lns_trace_intern_value (LnsTraceTables *tables, LnsTraceValue value);

/* Returns whether an event of the track with KEY, a hash, can become a row, and counts it if not. */
bool lns_trace_admit (LnsTraceTables *tables, uint64_t key);

/* Returns the number that stands for a process or thread id. */
uint32_t lns_trace_id (LnsTraceTables *tables, LnsTraceValue value);

/* Returns the globalTid of the thread TID of the process PID, which has an event. Ids that are texts become the
 * names. */
int64_t lns_trace_thread (LnsTraceTables *tables, LnsTraceValue pid, LnsTraceValue tid);

/* Counts a CUDA call of the thread's process. */
void lns_trace_count_call (LnsTraceTables *tables, int64_t tid);

void lns_trace_put_process (LnsTraceTables *tables, uint32_t process, LnsTraceValue name);
