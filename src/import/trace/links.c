/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/trace/links.h"

void
_lns_trace_links_see_work (LnsTraceLinks *links, const LnsTraceEvent *event)
{
  links->n_loose += _lns_trace_integer_or (event->fields[LNS_TRACE_CORRELATION], 0) == 0;
}

void
_lns_trace_links_take (LnsTraceLinks *links,
                       const LnsTraceEvent *event,
                       LnsTraceValue id,
                       bool is_end,
                       int64_t time_ns)
{
  LnsTraceTables *tables = links->tables;
  const LnsTraceValue *fields = event->fields, category = fields[LNS_TRACE_CATEGORY];
  const uint32_t pid = lns_trace_id (tables, fields[LNS_TRACE_PID]),
                 tid = lns_trace_id (tables, fields[LNS_TRACE_TID]);

  links->has_arrows = true;
  if (!links->takes)
    return;
  const int64_t name = lns_trace_intern_value (tables, fields[LNS_TRACE_NAME]);
  sqlite3_stmt *row = tables->statements[LNS_TRACE_ROW_LAUNCH_END];
  sqlite3_bind_text64 (row, 7, category.text, category.size_bytes, SQLITE_STATIC, SQLITE_UTF8);
  sqlite3_bind_text64 (row, 8, id.text, id.size_bytes, SQLITE_STATIC, SQLITE_UTF8);
  lns_trace_put (tables, LNS_TRACE_ROW_LAUNCH_END,
                 (int64_t[]){ time_ns, is_end, (int64_t)pid << LNS_TRACE_ID_BITS | tid,
                              /* An end on a GPU has the GPU's number and stream as pid and tid. */
                              _lns_trace_integer_or (fields[LNS_TRACE_PID], LNS_TRACE_NULL),
                              _lns_trace_integer_or (fields[LNS_TRACE_TID], LNS_TRACE_NULL), name },
                 6);
}

bool
_lns_trace_links_are_needed (const LnsTraceLinks *links)
{
  return !links->takes && links->has_arrows && links->n_loose > 0;
}

/* The tables of temp.WORK, all work of GPUs. Its column "kind" is the position in this list. */
static const char *const work[] = { "KERNEL", "MEMCPY", "MEMSET" };

static void
gather_work (LnsTraceTables *tables)
{
  lns_trace_run (tables, "CREATE TEMP TABLE WORK (kind, row, device, stream, start, end, "
                         "correlation)");
  for (size_t i = 0; i < sizeof work / sizeof *work; i++)
    lns_trace_run (tables,
                   "INSERT INTO temp.WORK SELECT %d, rowid, deviceId, streamId, start, end, "
                   "correlationId FROM CUPTI_ACTIVITY_KIND_%s",
                   (int)i, work[i]);
  lns_trace_run (tables, "CREATE INDEX temp.by_stream ON WORK (device, stream, start)");
}

/* SQL: the row of TABLE that the end of an arrow lies in. This is the row, among those with WHERE, that is the last to
 * begin before the end, if it has not ended then and no other row began at the same time. */
#define THE_ONE(TABLE, WHERE)                                                                      \
 "(SELECT iif (count (*) = 1 AND max (until) >= e.time, max (id), NULL) FROM (SELECT rowid AS "    \
 "id, "                                                                                            \
 "end AS until FROM " TABLE " WHERE " WHERE " AND start = (SELECT start FROM " TABLE               \
 " WHERE " WHERE " AND start <= e.time ORDER BY start DESC LIMIT 1) LIMIT 2))"

/* An id that several calls have does not identify a call. */
static const char find_calls[] =
    "CREATE TEMP TABLE LAUNCHES AS SELECT category, id, call FROM (SELECT category, id, count (*) "
    "AS n, max (" THE_ONE ("CUPTI_ACTIVITY_KIND_RUNTIME",
                           "globalTid = e.tid") ") AS call FROM "
                                                "temp.LAUNCH_ENDS AS e WHERE NOT is_end GROUP BY "
                                                "category, id) WHERE n = 1 AND call NOT NULL";

static const char find_work[] =
    "CREATE TEMP TABLE LINKS AS SELECT arrow, work, call, kind, row, correlation FROM (SELECT "
    "e.rowid AS arrow, l.call AS call, " THE_ONE (
        "temp.WORK",
        "device = e.device AND stream = e.stream") " AS work FROM temp.LAUNCH_ENDS AS "
                                                   "e LEFT JOIN temp.LAUNCHES AS l ON l.id = e.id "
                                                   "AND l.category = e.category WHERE is_end) LEFT "
                                                   "JOIN temp.WORK ON temp.WORK.rowid = work";

/* Fills temp.LINKS with each arrow's work and, where it is certain, the call that began it. */
static void
find_ends (LnsTraceTables *tables)
{
  lns_trace_run (tables,
                 "CREATE INDEX calls_by_thread ON CUPTI_ACTIVITY_KIND_RUNTIME (globalTid, start)");
  lns_trace_run (tables, "%s", find_calls);
  lns_trace_run (tables, "CREATE INDEX temp.by_id ON LAUNCHES (id, category)");
  lns_trace_run (tables, "%s", find_work);
  lns_trace_run (tables, "DROP INDEX calls_by_thread");
}

/* Gives both ends of each certain link a correlation id of their own, unless the call has one. */
static void
link_ends (LnsTraceTables *tables)
{
  /* If two calls seem to have launched the same work, neither link is certain. */
  lns_trace_run (tables, "UPDATE temp.LINKS SET call = NULL WHERE work IN (SELECT work FROM "
                         "temp.LINKS WHERE call NOT NULL GROUP BY work HAVING count (DISTINCT "
                         "call) > 1)");
  lns_trace_run (tables, "CREATE TEMP TABLE PAIRED AS SELECT DISTINCT kind, row, call FROM "
                         "temp.LINKS WHERE call NOT NULL AND work NOT NULL AND correlation = 0");
  lns_trace_run (tables, "CREATE INDEX temp.by_row ON PAIRED (kind, row)");
  lns_trace_run (tables, "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET correlationId = rowid + (SELECT "
                         "max ((SELECT coalesce (max (correlationId), 0) FROM "
                         "CUPTI_ACTIVITY_KIND_RUNTIME), (SELECT coalesce (max (correlation), 0) "
                         "FROM temp.WORK))) WHERE correlationId = 0 AND rowid IN (SELECT call FROM "
                         "temp.PAIRED)");
  /* The "+" drops the affinity of rowid. A column of a table that a query made has none, and its index would not be
   * used otherwise. */
  for (size_t i = 0; i < sizeof work / sizeof *work; i++)
    lns_trace_run (
        tables,
        "UPDATE CUPTI_ACTIVITY_KIND_%s AS w SET (correlationId, globalPid) = (SELECT "
        "r.correlationId, r.globalTid >> %d << %d FROM temp.PAIRED AS p JOIN "
        "CUPTI_ACTIVITY_KIND_RUNTIME AS r ON r.rowid = p.call WHERE p.kind = %d AND p.row = "
        "+w.rowid) WHERE rowid IN (SELECT row FROM temp.PAIRED WHERE kind = %d)",
        work[i], LNS_TRACE_ID_BITS, LNS_TRACE_ID_BITS, (int)i, (int)i);
}

/* SQL: keeps the arrows that did not become correlations. */
static const char keep_arrows[] =
    "INSERT INTO LNS_FLOWS SELECT b.time, e.time, b.tid, e.tid, b.name, nullif (b.category, ''), "
    "nullif (b.id, '') FROM temp.LINKS AS l JOIN temp.LAUNCH_ENDS AS e ON e.rowid = l.arrow JOIN "
    "temp.LAUNCH_ENDS AS b ON b.rowid = (SELECT rowid FROM temp.LAUNCH_ENDS WHERE id = e.id AND "
    "category = e.category AND is_end = 0 AND time <= e.time ORDER BY time DESC LIMIT 1) WHERE "
    "(l.call IS NULL OR l.work IS NULL) AND coalesce (l.correlation, 0) = 0";

void
_lns_trace_links_finish (LnsTraceLinks *links)
{
  LnsTraceTables *tables = links->tables;

  if (!links->takes)
    return;
  gather_work (tables);
  find_ends (tables);
  link_ends (tables);
  lns_trace_run (tables, "CREATE INDEX temp.by_begin ON LAUNCH_ENDS (id, category, is_end, time)");
  lns_trace_run (tables, "%s", keep_arrows);
}
