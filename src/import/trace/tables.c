/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/trace/tables.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/memory.h"
#include "src/store/format/definitions.h"

/* Ids that the import makes up begin here. */
#define OWN_FIRST_ID ((uint32_t)LNS_FIRST_MADE_UP_ID)

static const char schema[] =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid "
    "INTEGER,"
    " textId INTEGER, domainId INTEGER, jsonText TEXT, uint64Value INTEGER, endGlobalTid INTEGER);"
    "CREATE TABLE LNS_FLOWS (start INTEGER NOT NULL, end INTEGER, globalTid INTEGER, endGlobalTid "
    "INTEGER, nameId INTEGER, category TEXT, flowId TEXT);"
    "CREATE TEMP TABLE MOMENTS (time, key, anyKey, kind, row, tid);"
    "CREATE TEMP TABLE LONE_MOMENTS (time, key, anyKey, kind, row, tid);"
    "CREATE TEMP TABLE LAUNCH_ENDS (time, is_end, tid, device, stream, name, category, id);"
    "CREATE TABLE LNS_COUNTERS (timestamp INTEGER, name TEXT, value, globalPid INTEGER, domainId "
    "INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, "
    "globalTid INTEGER,"
    " correlationId INTEGER, nameId INTEGER, returnValue INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, "
    "contextId INTEGER,"
    " streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName "
    "INTEGER,"
    " gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,"
    " registersPerThread INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, "
    "contextId INTEGER,"
    " streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, "
    "srcKind INTEGER,"
    " dstKind INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, "
    "contextId INTEGER,"
    " streamId INTEGER, correlationId INTEGER, globalPid INTEGER, value INTEGER, bytes INTEGER, "
    "memKind INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId "
    "INTEGER,"
    " contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, syncType "
    "INTEGER);"
    "CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);"
    "CREATE TABLE MPI_RANKS (globalTid INTEGER, rank INTEGER);"
    "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
    "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, cuDevice INTEGER, totalMemory INTEGER, "
    "smCount INTEGER,"
    " computeMajor INTEGER, computeMinor INTEGER);"
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);";

static const char *const statements[LNS_TRACE_N_ROWS] = {
  [LNS_TRACE_ROW_STRING] = "INSERT INTO StringIds VALUES (?,?)",
  [LNS_TRACE_ROW_RANGE] =
      "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, textId, domainId, jsonText,"
      " uint64Value) VALUES (?,?,?,?,?,?,?,?,?)",
  [LNS_TRACE_ROW_OWN_RANGE] =
      "INSERT INTO NVTX_EVENTS VALUES (?,?,?,?,?,?,?,?,?,NULL,?,?,?,?,?,?,?,?)",
  /* endGlobalTid is NULL if the range ended in the thread in which it began. */
  [LNS_TRACE_ROW_RANGE_END] =
      "UPDATE NVTX_EVENTS SET end = ?1, endGlobalTid = nullif (?3, globalTid) WHERE rowid = ?2",
  [LNS_TRACE_ROW_ARROW] = "INSERT INTO LNS_FLOWS VALUES (?,NULL,?,NULL,?,?,?)",
  [LNS_TRACE_ROW_ARROW_END] = "UPDATE LNS_FLOWS SET end = ?1, endGlobalTid = ?3 WHERE rowid = ?2",
  [LNS_TRACE_ROW_MOMENT] = "INSERT INTO temp.MOMENTS VALUES (?,?,?,?,?,?)",
  [LNS_TRACE_ROW_LONE_MOMENT] = "INSERT INTO temp.LONE_MOMENTS VALUES (?,?,?,?,?,?)",
  [LNS_TRACE_ROW_LAUNCH_END] =
      "INSERT INTO temp.LAUNCH_ENDS VALUES (?,?,?,?,?,?,coalesce (?, ''),coalesce (?, ''))",
  [LNS_TRACE_ROW_COUNTER] = "INSERT INTO LNS_COUNTERS VALUES (?,?,?,?,?)",
  [LNS_TRACE_ROW_CALL] = "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?,?,?,?,?,?,?)",
  [LNS_TRACE_ROW_KERNEL] =
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
  [LNS_TRACE_ROW_COPY] = "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?,?,?,?,?,?,?,?,?,?,?)",
  [LNS_TRACE_ROW_SET] = "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (?,?,?,?,?,?,?,NULL,?,?)",
  [LNS_TRACE_ROW_SYNC] = "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (?,?,?,?,?,?,?,?)",
  [LNS_TRACE_ROW_THREAD_NAME] = "INSERT INTO ThreadNames VALUES (?,0,?)",
  [LNS_TRACE_ROW_MPI_RANK] = "INSERT INTO MPI_RANKS VALUES (?,?)",
  [LNS_TRACE_ROW_PROCESS] = "INSERT INTO PROCESSES VALUES (?,?,?)",
  [LNS_TRACE_ROW_GPU] = "INSERT INTO TARGET_INFO_GPU VALUES (?,?,?,?,?,?,?)",
  [LNS_TRACE_ROW_START] = "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?)",
};

/* --- Rows ------------------------------------------------------------------------------------- */

void
lns_trace_bind (sqlite3_stmt *row, int place, const LnsJsonReader *json, LnsJsonToken token)
{
  char *end;

  if (place == 0 || (token != LNS_JSON_STRING && token != LNS_JSON_NUMBER))
    return;
  if (token == LNS_JSON_STRING)
    {
      sqlite3_bind_text (row, place, json->text, -1, SQLITE_TRANSIENT);
      return;
    }
  errno = 0;
  const long long number = strtoll (json->text, &end, 10);
  if (errno == 0 && *end == '\0')
    sqlite3_bind_int64 (row, place, number);
  else
    sqlite3_bind_double (row, place, strtod (json->text, NULL));
}

void
lns_trace_fail (LnsTraceTables *tables)
{
  lns_error_set (
      &tables->error, LNS_ERROR_IO, 0,
      "%s: the rows of its events cannot be kept in the temporary folder: %s; TMPDIR names another",
      tables->path, sqlite3_errmsg (tables->db));
}

bool
lns_trace_is_well (const LnsTraceTables *tables)
{
  return tables->error.domain == LNS_ERROR_NONE;
}

void
lns_trace_put (LnsTraceTables *tables, LnsTraceRow kind, const int64_t *values, int n)
{
  sqlite3_stmt *statement = tables->statements[kind];

  if (!lns_trace_is_well (tables))
    return;
  for (int i = 0; i < n; i++)
    if (values[i] == LNS_TRACE_NULL)
      sqlite3_bind_null (statement, i + 1);
    else
      sqlite3_bind_int64 (statement, i + 1, values[i]);
  if (sqlite3_step (statement) != SQLITE_DONE)
    lns_trace_fail (tables);
  sqlite3_reset (statement);
}

void
lns_trace_run (LnsTraceTables *tables, const char *format, ...)
{
  va_list arguments;

  if (!lns_trace_is_well (tables))
    return;
  va_start (arguments, format);
  char *statement = sqlite3_vmprintf (format, arguments);
  va_end (arguments);
  if (statement == NULL)
    lns_out_of_memory ();
  if (sqlite3_exec (tables->db, statement, NULL, NULL, NULL) != SQLITE_OK)
    lns_trace_fail (tables);
  sqlite3_free (statement);
}

void
lns_trace_widen (LnsTraceTables *tables)
{
  static const char *const columns[] = {
    "rangeId INTEGER",  "category INTEGER",    "color INTEGER",      "int64Value INTEGER",
    "doubleValue REAL", "uint32Value INTEGER", "int32Value INTEGER", "floatValue REAL",
  };
  sqlite3_stmt **row = &tables->statements[LNS_TRACE_ROW_OWN_RANGE];

  if (*row != NULL)
    return;
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    lns_trace_run (tables, "ALTER TABLE NVTX_EVENTS ADD COLUMN %s", columns[i]);
  if (lns_trace_is_well (tables) &&
      sqlite3_prepare_v2 (tables->db, statements[LNS_TRACE_ROW_OWN_RANGE], -1, row, NULL) !=
          SQLITE_OK)
    lns_trace_fail (tables);
}

/* --- Texts and ids ---------------------------------------------------------------------------- */

/* The key of a long text: its hash, because the texts of a compressed file may take any amount of memory. A key is
 * longer than any short text. Texts that are made to have the same hash share a name. */
#define LONG_TEXT_BYTES 64
typedef struct
{
  XXH128_hash_t hash;
  uint64_t size_bytes;
  char more[LONG_TEXT_BYTES];
} LongText;

static uint32_t
find_text (LnsTraceTables *tables, const char *text, size_t size_bytes)
{
  if (size_bytes <= LONG_TEXT_BYTES)
    return lns_string_table_intern (tables->strings, text, size_bytes, tables->n_strings);
  const LongText key = { .hash = XXH3_128bits (text, size_bytes), .size_bytes = size_bytes };
  return lns_string_table_intern (tables->strings, &key, sizeof key, tables->n_strings);
}

bool
lns_trace_admit (LnsTraceTables *tables, uint64_t key)
{
  if (tables->tracks.n > 0 && key == tables->last_track)
    return true;
  if (lns_id_map_number (&tables->tracks, key) == 0)
    {
      if (tables->tracks.n == LNS_TRACE_TRACKS_MAX)
        {
          tables->n_crowded_out++;
          return false;
        }
      lns_id_map_set_number (&tables->tracks, key, 1);
    }
  tables->last_track = key;
  return true;
}

int64_t
lns_trace_intern (LnsTraceTables *tables, const char *text, size_t size_bytes)
{
  const uint32_t id = find_text (tables, text, size_bytes);

  if (id != tables->n_strings)
    return id;
  tables->n_strings++;
  sqlite3_bind_text64 (tables->statements[LNS_TRACE_ROW_STRING], 2, text, size_bytes, SQLITE_STATIC,
                       SQLITE_UTF8);
  lns_trace_put (tables, LNS_TRACE_ROW_STRING, (int64_t[]){ id }, 1);
  return id;
}

int64_t
lns_trace_intern_value (LnsTraceTables *tables, LnsTraceValue value)
{
  return lns_trace_intern (tables, value.text != NULL ? value.text : "", value.size_bytes);
}

uint32_t
lns_trace_id (LnsTraceTables *tables, LnsTraceValue value)
{
  int64_t number;
  if (value.text == NULL)
    return 0;
  if (lns_trace_integer (value, &number) && number >= 0 && number < (int64_t)OWN_FIRST_ID)
    return (uint32_t)number;
  const uint32_t id =
      lns_string_table_intern (tables->ids, value.text, value.size_bytes, tables->n_ids);
  if (id == tables->n_ids && tables->n_ids < (1u << LNS_TRACE_ID_BITS) - OWN_FIRST_ID - 1)
    tables->n_ids++;
  return OWN_FIRST_ID + id;
}

void
lns_trace_put_process (LnsTraceTables *tables, uint32_t process, LnsTraceValue name)
{
  sqlite3_bind_text64 (tables->statements[LNS_TRACE_ROW_PROCESS], 3, name.text, name.size_bytes,
                       SQLITE_STATIC, SQLITE_UTF8);
  lns_trace_put (tables, LNS_TRACE_ROW_PROCESS,
                 (int64_t[]){ (int64_t)process << LNS_TRACE_ID_BITS, process }, 2);
}

/* Returns whether ID is made up for the text VALUE, rather than a number. */
static bool
is_text (uint32_t id, LnsTraceValue value)
{
  int64_t number;
  return id >= OWN_FIRST_ID && !lns_trace_integer (value, &number);
}

/* Remembers that threads of PROCESS have events. */
static void
note_process (LnsTraceTables *tables, uint32_t process, LnsTraceValue pid)
{
  for (unsigned i = tables->n_processes; i > 0; i--)
    if (tables->processes[i - 1].id == process)
      return;
  if (tables->n_processes < LNS_TRACE_PROCESSES_MAX)
    tables->processes[tables->n_processes++].id = process;
  if (is_text (process, pid))
    lns_trace_put_process (tables, process, pid);
}

int64_t
lns_trace_thread (LnsTraceTables *tables, LnsTraceValue pid, LnsTraceValue tid)
{
  const uint32_t process = lns_trace_id (tables, pid), thread = lns_trace_id (tables, tid);
  const int64_t result = (int64_t)process << LNS_TRACE_ID_BITS | thread;

  if (tables->threads.n > 0 && result == tables->last_tid)
    return result;
  tables->last_tid = result;
  /* Further threads need no names, because their events are left out. */
  if (tables->threads.n >= LNS_TRACE_TRACKS_MAX)
    return result;
  note_process (tables, process, pid);
  if (lns_id_map_number (&tables->threads, (uint64_t)result) != 0)
    return result;
  lns_id_map_set_number (&tables->threads, (uint64_t)result, 1);
  if (is_text (thread, tid))
    lns_trace_put (tables, LNS_TRACE_ROW_THREAD_NAME,
                   (int64_t[]){ lns_trace_intern_value (tables, tid), result }, 2);
  return result;
}

void
lns_trace_count_call (LnsTraceTables *tables, int64_t tid)
{
  for (unsigned i = tables->n_processes; i > 0; i--)
    if (tables->processes[i - 1].id == tid >> LNS_TRACE_ID_BITS)
      {
        tables->processes[i - 1].n_calls++;
        return;
      }
}

/* --- From beginning to end -------------------------------------------------------------------- */

void
lns_trace_tables_open (LnsTraceTables *tables, const char *file, const char *path)
{
  /* The page size comes first: the cache is counted in pages.                                     */
  static const char settings[] = "PRAGMA page_size = 16384; PRAGMA cache_size = -32768;"
                                 "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                                 "PRAGMA temp.journal_mode = OFF; PRAGMA temp_store = FILE;"
                                 "PRAGMA temp.cache_size = -8192;"
                                 "PRAGMA locking_mode = EXCLUSIVE; BEGIN;";
  *tables = (LnsTraceTables){ .path = path, .n_strings = 1, .n_domains = 1 };
  tables->strings = lns_string_table_new ();
  tables->ids = lns_string_table_new ();
  tables->domains = lns_string_table_new ();
  if (tables->strings == NULL || tables->ids == NULL || tables->domains == NULL)
    lns_out_of_memory ();
  if (sqlite3_open_v2 (file, &tables->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
      SQLITE_OK)
    lns_trace_fail (tables);
  lns_trace_run (tables, "%s", settings);
  lns_trace_run (tables, "%s", schema);
  for (int i = 0; i < LNS_TRACE_N_ROWS && lns_trace_is_well (tables); i++)
    if (i != LNS_TRACE_ROW_OWN_RANGE &&
        sqlite3_prepare_v2 (tables->db, statements[i], -1, &tables->statements[i], NULL) !=
            SQLITE_OK)
      lns_trace_fail (tables);
}

/* SQL function: returns whether the thread with a globalTid has events, or at least a number that a thread can have.
 * Rows of a trace that have neither are streams of GPUs. */
static void
is_thread (sqlite3_context *context, int n, sqlite3_value **values)
{
  const LnsTraceTables *tables = sqlite3_user_data (context);
  const int64_t tid = sqlite3_value_int64 (values[0]);
  const uint32_t number = (uint32_t)(tid & ((1 << LNS_TRACE_ID_BITS) - 1));

  sqlite3_result_int (context, number < OWN_FIRST_ID ||
                                   lns_id_map_number (&tables->threads, (uint64_t)tid) != 0);
}

/* Drops the names of processes and threads that have no events. */
static void
drop_names (LnsTraceTables *tables)
{
  char list[LNS_TRACE_PROCESSES_MAX * 10 + 8] = "-1";
  size_t n = 2;
  for (unsigned i = 0; i < tables->n_processes; i++)
    n += (size_t)snprintf (list + n, sizeof list - n, ",%u", tables->processes[i].id);
  if (sqlite3_create_function_v2 (tables->db, "is_thread", 1, SQLITE_UTF8, tables, is_thread, NULL,
                                  NULL, NULL) != SQLITE_OK)
    lns_trace_fail (tables);
  lns_trace_run (tables, "DELETE FROM PROCESSES WHERE pid NOT IN (%s)", list);
  lns_trace_run (tables, "DELETE FROM MPI_RANKS WHERE globalTid >> 24 NOT IN (%s)", list);
  lns_trace_run (tables, "DELETE FROM ThreadNames WHERE NOT is_thread (globalTid)");
  lns_trace_run (tables, "DELETE FROM ThreadNames WHERE globalTid >> 24 NOT IN (%s)", list);
}

void
lns_trace_tables_finish (LnsTraceTables *tables, int64_t start_ns)
{
  static const char *const work[] = { "KERNEL", "MEMCPY", "MEMSET", "SYNCHRONIZATION" };
  unsigned most = 0;
  for (unsigned i = 1; i < tables->n_processes; i++)
    if (tables->processes[i].n_calls > tables->processes[most].n_calls)
      most = i;
  const int64_t process = (int64_t)tables->processes[most].id << LNS_TRACE_ID_BITS;
  for (size_t i = 0; i < sizeof work / sizeof *work; i++)
    lns_trace_run (tables, "UPDATE CUPTI_ACTIVITY_KIND_%s SET globalPid = %lld WHERE globalPid = 0",
                   work[i], (long long)process);
  /* If any sample of a counter is a real number, all its samples become real numbers. */
  lns_trace_run (tables,
                 "UPDATE LNS_COUNTERS SET value = CAST (value AS REAL) WHERE (name, globalPid, "
                 "domainId) IN (SELECT DISTINCT name, globalPid, domainId FROM LNS_COUNTERS WHERE "
                 "typeof (value) = 'real')");
  drop_names (tables);
  lns_trace_put (tables, LNS_TRACE_ROW_START, (int64_t[]){ start_ns }, 1);
  lns_trace_run (tables, "COMMIT");
}

void
lns_trace_tables_close (LnsTraceTables *tables)
{
  for (int i = 0; i < LNS_TRACE_N_ROWS; i++)
    sqlite3_finalize (tables->statements[i]);
  for (int i = 0; i < LNS_TRACE_N_OWN_TABLES; i++)
    sqlite3_finalize (tables->own[i].row);
  sqlite3_close (tables->db);
  lns_string_table_free (tables->strings);
  lns_string_table_free (tables->ids);
  lns_string_table_free (tables->domains);
  lns_id_map_clear (&tables->threads);
  lns_id_map_clear (&tables->tracks);
  *tables = (LnsTraceTables){ 0 };
}
