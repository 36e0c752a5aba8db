/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* sched_sum and thread_sum: threads, their times on CPUs and what they waited for. */

#include "src/analysis/stats/maker.h"

/* Of the states (ENUM_SAMPLING_THREAD_STATE), 6: it could run on; 3: it waited without being interruptible; 2, 4 and 7: it
 * waited otherwise. Some files have none. */
#define BLOCKED "IN (2, 3, 4, 7)"

/* Each switch with what follows it in its thread, as far as the report covers that: `ns` is for how long the thread then ran or
 * waited, NULL where that is not known, as records were lost: one that got a CPU gets one again. What the thread does last goes
 * on to the end of the report. LATE is an expression for how long a thread that was woken waited for a CPU, which is part of
 * the time for which it was blocked; WAKER is one for the thread that woke it. Both are NULL where that is not known. */
#define SWITCHES(late, waker)                                                                      \
 "switches AS ("                                                                                   \
 " SELECT globalTid AS tid, cpu, isSchedIn AS is_in, threadState AS state, " waker " AS waker,"    \
 "  covered(difference(start, " late "), start) AS late,"                                          \
 "  lag(cpu) OVER thread AS last_cpu,"                                                             \
 "  lag(threadState " BLOCKED " AND NOT isSchedIn) OVER thread AS was_blocked,"                    \
 "  covered(start, CASE WHEN lead(start) OVER thread IS NULL THEN last_end(rowid)"                 \
 "   WHEN isSchedIn AND lead(isSchedIn) OVER thread THEN NULL"                                     \
 "   ELSE lead(start) OVER thread END) AS ns"                                                      \
 " FROM SCHED_EVENTS WINDOW thread AS (PARTITION BY globalTid ORDER BY start, rowid)) "

#define THREAD_NAME(tid)                                                                           \
 "(SELECT value FROM ThreadNames AS names JOIN StringIds ON id = nameId"                           \
 " WHERE names.globalTid = " tid " ORDER BY priority DESC LIMIT 1)"

#define THREAD(tid)                                                                                \
 THREAD_NAME (tid)                                                                                 \
 ", " tid " % 0x1000000, " tid " / 0x1000000 % 0x1000000"

static const LnsResultColumn columns[] = {
  { N_ ("Running (%)"), LNS_RESULT_SHARE, 1 },
  { "Running", LNS_RESULT_TIME },
  { N_ ("Preempted"), LNS_RESULT_TIME },
  { "Blocked", LNS_RESULT_TIME },
  { "Uninterruptible", LNS_RESULT_TIME },
  { N_ ("Wakeup Latency"), LNS_RESULT_TIME },
  { N_ ("Longest Wait for CPU"), LNS_RESULT_TIME },
  { N_ ("Runs"), LNS_RESULT_COUNT },
  { N_ ("Preemptions"), LNS_RESULT_COUNT },
  { N_ ("Migrations"), LNS_RESULT_COUNT },
  { N_ ("Woken By"), LNS_RESULT_TEXT },
  { "Thread", LNS_RESULT_TEXT },
  { "TID", LNS_RESULT_ID },
  { "PID", LNS_RESULT_ID },
};

/* The sums of each thread. Of the runs, `n_interrupts` began with an interrupt: it is known for how long the thread waited since it
 * was woken, but no thread woke it. `n_untold` began after the thread had been blocked, and nothing tells why. */
#define SUMS                                                                                       \
 "sums AS ("                                                                                       \
 " SELECT tid, saturated_sum(iif(is_in, ifnull(ns, 0), 0)) AS running,"                            \
 "  count(iif(NOT is_in AND state > 0, 1, NULL)) AS n_states,"                                     \
 "  saturated_sum(iif(NOT is_in AND state = 6, ifnull(ns, 0), 0)) AS preempted,"                   \
 "  saturated_sum(iif(NOT is_in AND state " BLOCKED ", ifnull(ns, 0), 0)) AS blocked,"             \
 "  saturated_sum(iif(NOT is_in AND state = 3, ifnull(ns, 0), 0)) AS hard_blocked,"                \
 "  count(iif(NOT is_in AND state IN (2, 3), 1, NULL)) AS n_told,"                                 \
 "  iif(count(late) > 0, saturated_sum(ifnull(late, 0)), NULL) AS late,"                           \
 "  max(late) AS longest_late,"                                                                    \
 "  max(iif(NOT is_in AND state = 6, ns, NULL)) AS longest_preempted,"                             \
 "  count(iif(is_in, 1, NULL)) AS n_runs,"                                                         \
 "  count(iif(late IS NOT NULL AND waker IS NULL, 1, NULL)) AS n_interrupts,"                      \
 "  count(iif(is_in AND was_blocked AND late IS NULL, 1, NULL)) AS n_untold,"                      \
 "  count(iif(NOT is_in AND state = 6, 1, NULL)) AS n_preemptions,"                                \
 "  count(iif(is_in AND last_cpu <> cpu, 1, NULL)) AS n_migrations"                                \
 " FROM switches GROUP BY tid) "

/* "interrupt 98.1 %, main (11) 1.9 %" of each thread: what woke it, the three most frequent ones by themselves. */
#define WAKER_NAME                                                                                 \
 "ifnull(" THREAD_NAME ("waker") " || ' ', '') || printf('(%d)', waker % 0x1000000)"
#define SHARE "iif(share < 0.05, 'under 0.1', printf('%.1f', share)) || ' %'"
#define WAKERS                                                                                     \
 "threads AS ("                                                                                    \
 " SELECT globalTid AS tid, wakerTid AS waker, count(*) AS n FROM SCHED_EVENTS"                    \
 " GROUP BY 1, 2 HAVING waker IS NOT NULL),"                                                       \
 " wakers AS ("                                                                                    \
 " SELECT tid, " WAKER_NAME " AS name, n FROM threads"                                             \
 " UNION ALL SELECT tid, 'interrupt', n_interrupts FROM sums"                                      \
 " UNION ALL SELECT tid, 'not known', n_untold FROM sums),"                                        \
 " shares AS ("                                                                                    \
 " SELECT tid, name, 100.0 * n / sum(n) OVER (PARTITION BY tid) AS share,"                         \
 "  row_number() OVER (PARTITION BY tid ORDER BY n DESC, name) AS place"                           \
 " FROM wakers WHERE n > 0),"                                                                      \
 " woken AS ("                                                                                     \
 " SELECT tid, group_concat(text, ', ') AS by FROM ("                                              \
 "  SELECT tid, place, name || ' ' || " SHARE " AS text FROM shares WHERE place < 4"               \
 "  UNION ALL SELECT tid, 4, n || ' more ' || " SHARE " FROM ("                                    \
 "   SELECT tid, count(*) AS n, sum(share) AS share FROM shares WHERE place > 3 GROUP BY tid)"     \
 "  ORDER BY 1, 2) GROUP BY tid) "

#define ROWS(by)                                                                                   \
 "SELECT 100.0 * running / (SELECT saturated_sum(running) FROM sums), running,"                    \
 " iif(n_states > 0, preempted, NULL), iif(n_states > 0, blocked, NULL),"                          \
 " iif(n_told > 0, hard_blocked, NULL), late,"                                                     \
 " nullif(max(ifnull(longest_late, -1), ifnull(longest_preempted, -1)), -1),"                      \
 " n_runs, iif(n_states > 0, n_preemptions, NULL), n_migrations, " by ", " THREAD ("tid")

#define IN_ORDER " ORDER BY running DESC, tid"

static bool
run (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  const LnsTable *switches = lns_tables_find (result->tables, "SCHED_EVENTS");

  /* Only reports that were recorded with privileges know who woke whom. */
  if (switches == NULL || lns_table_column (switches, "wakerTid") < 0)
    return _lns_stats_run_text (
        result, "WITH " SWITCHES ("NULL", "NULL") ", " SUMS ROWS ("NULL") " FROM sums" IN_ORDER,
        cancel, error);
  return _lns_stats_run_query (result, cancel, error);
}

const LnsStatsWay _lns_stats_sched = {
  .run = run,
  .write = _lns_stats_write_query,
  .columns = columns,
  .n_columns = sizeof columns / sizeof *columns,
  .sql = "WITH " SWITCHES ("wakeLatency", "wakerTid") ", " SUMS ", " WAKERS ROWS (
      "by") " FROM sums LEFT JOIN woken USING (tid)" IN_ORDER,
};

static const LnsResultColumn thread_columns[] = {
  { N_ ("Running (%)"), LNS_RESULT_SHARE, 1 },
  { "Running", LNS_RESULT_TIME },
  { "Samples", LNS_RESULT_COUNT },
  { N_ ("Python Samples"), LNS_RESULT_COUNT },
  { N_ ("NVTX Ranges"), LNS_RESULT_COUNT },
  { N_ ("CUDA Calls"), LNS_RESULT_COUNT },
  { N_ ("OS Calls"), LNS_RESULT_COUNT },
  { "Thread", LNS_RESULT_TEXT },
  { "TID", LNS_RESULT_ID },
  { "PID", LNS_RESULT_ID },
};

/* What a thread has none of is 0 if any thread has some, and empty else: it may not have been recorded. */
const LnsStatsWay _lns_stats_threads = LNS_STATS_QUERY (
    thread_columns,
    "WITH " SWITCHES (
        "NULL",
        "NULL") ", facts (tid, ns, samples, python, ranges, calls, os_calls) AS MATERIALIZED ("
                " SELECT tid, saturated_sum(iif(is_in, ifnull(ns, 0), 0)), NULL, NULL, "
                "NULL, NULL, NULL"
                "  FROM switches GROUP BY tid"
                " UNION ALL SELECT globalTid, NULL, count(*), NULL, NULL, NULL, NULL"
                "  FROM COMPOSITE_EVENTS GROUP BY globalTid"
                " UNION ALL SELECT globalTid, NULL, NULL, count(*), NULL, NULL, NULL"
                "  FROM LNS_PYTHON_SAMPLES GROUP BY globalTid"
                " UNION ALL SELECT globalTid, NULL, NULL, NULL, count(*), NULL, NULL"
                "  FROM NVTX_EVENTS WHERE eventType = 59 GROUP BY globalTid"
                " UNION ALL SELECT globalTid, NULL, NULL, NULL, NULL, count(*), NULL"
                "  FROM CUPTI_ACTIVITY_KIND_RUNTIME GROUP BY globalTid"
                " UNION ALL SELECT globalTid, NULL, NULL, NULL, NULL, NULL, count(*)"
                "  FROM OSRT_API GROUP BY globalTid),"
                " alls AS (SELECT sum(ns) AS ns, sum(samples) * 0 AS samples, sum(python) * 0 AS "
                "python,"
                "  sum(ranges) * 0 AS ranges, sum(calls) * 0 AS calls, sum(os_calls) * 0 AS "
                "os_calls FROM "
                "facts) "
                "SELECT 100.0 * sum(facts.ns) / alls.ns, ifnull(sum(facts.ns), alls.ns * 0),"
                " ifnull(sum(facts.samples), alls.samples), ifnull(sum(facts.python), alls.python),"
                " ifnull(sum(facts.ranges), alls.ranges), ifnull(sum(facts.calls), alls.calls),"
                " ifnull(sum(facts.os_calls), alls.os_calls), " THREAD (
                    "tid") " FROM facts, alls GROUP BY tid"
                           " ORDER BY sum(facts.ns) DESC, sum(facts.samples) DESC, tid");
