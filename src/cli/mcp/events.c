/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The tool events: how many events pass a condition (src/analysis/condition.h), their sum, and the longest. The condition becomes SQL,
 * kind by kind, so that what is counted is what the statement beside the numbers says. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/analysis/condition.h"
#include "src/base/array.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/cli/mcp/kinds.h"
#include "src/cli/mcp/message.h"
#include "src/cli/mcp/statement.h"
#include "src/cli/mcp/subjects.h"

#define PID "globalPid / 16777216 % 16777216"

/* --- Conditions as SQL ------------------------------------------------------------------------ */

/* Whether TEST compares numbers alone. */
static bool
is_of_number (const LnsConditionTest *test)
{
  return test->text == NULL ||
         (test->operator!= LNS_CONDITION_EQUAL && test->operator!= LNS_CONDITION_CONTAINS && test->
          operator!= LNS_CONDITION_MATCHES);
}

/* Whether TEST compares numbers, perhaps beside texts. */
static bool
has_number (const LnsConditionTest *test)
{
  return test->has_number &&
         test->operator!= LNS_CONDITION_CONTAINS && test->operator!= LNS_CONDITION_MATCHES;
}

/* Whether the text VALUE, an expression, passes TEST: an expression. Owned. */
static char *
text_passes (const LnsConditionTest *test, const char *value)
{
  if (is_of_number (test))
    return lns_strdup ("0");
  char *lower = lns_strdup (test->text), *made;

  for (char *c = lower; *c != '\0'; c++)
    *c = (char)(*c >= 'A' && *c <= 'Z' ? *c + 32 : *c);
  made = test->operator== LNS_CONDITION_CONTAINS
             ? sqlite3_mprintf ("instr(lower(%s), %Q) > 0", value, lower)
         : test->operator== LNS_CONDITION_MATCHES
             ? sqlite3_mprintf ("regexpi(%Q, %s)", test->text, value)
             : sqlite3_mprintf ("%s = %Q", value, test->text);
  free (lower);
  if (made == NULL)
    lns_out_of_memory ();
  char *owned = lns_strdup (made);
  sqlite3_free (made);
  return owned;
}

static char *
number_passes (const LnsConditionTest *test, const char *value)
{
  static const char *const signs[] = { [LNS_CONDITION_EQUAL] = "=",
                                       [LNS_CONDITION_BELOW] = "<",
                                       [LNS_CONDITION_AT_MOST] = "<=",
                                       [LNS_CONDITION_ABOVE] = ">",
                                       [LNS_CONDITION_AT_LEAST] = ">=" };
  return lns_asprintf ("%s %s %" PRId64, value, signs[test->operator], test->number);
}

/* Whether the name of an event of KIND passes TEST. Names are looked up once each, not once an event. */
static char *
name_passes (const LnsMcpKind *kind, const LnsConditionTest *test)
{
  if (kind->ids[0] == NULL)
    return text_passes (test, kind->name);
  char *value = text_passes (test, "value"),
       *text = kind->text != NULL ? text_passes (test, kind->text) : NULL,
       *all =
           lns_asprintf ("%s%s%s IN (SELECT id FROM StringIds WHERE %s)", text != NULL ? text : "",
                         text != NULL ? " OR " : "", kind->ids[0], value);
  if (kind->ids[1] != NULL)
    {
      char *more = lns_asprintf ("%s OR %s IN (SELECT id FROM StringIds WHERE %s)", all,
                                 kind->ids[1], value);
      free (all);
      all = more;
    }
  free (value);
  free (text);
  return all;
}

/* Whether the thread or process of an event passes TEST: by its number, or by its name. */
static char *
owner_passes (const LnsConditionTest *test, bool is_thread, bool is_on_device)
{
  const char *number = is_thread      ? "globalTid % 16777216"
                       : is_on_device ? PID
                                      : "globalTid / 16777216 % 16777216";
  char *name = text_passes (test, is_thread ? "StringIds.value" : "PROCESSES.name"), *all;

  if (is_thread)
    all =
        lns_asprintf ("globalTid IN (SELECT ThreadNames.globalTid FROM ThreadNames JOIN StringIds "
                      "ON StringIds.id = ThreadNames.nameId WHERE %s)",
                      name);
  else
    all = lns_asprintf ("%s IN (SELECT pid FROM PROCESSES WHERE %s)", number, name);
  free (name);
  if (has_number (test))
    {
      char *equal = number_passes (test, number), *both = lns_asprintf ("%s OR %s", equal, all);
      free (equal);
      free (all);
      all = both;
    }
  return all;
}

/* Whether one of the names of KIND passes TEST. */
static bool
kind_passes (const LnsMcpKind *kind, const LnsConditionTest *test)
{
  const char *names[] = { kind->kind, kind->other, kind->plural };
  const size_t n_wanted = strlen (test->text);

  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    for (const char *at = names[i]; *at != '\0'; at += at[0] == ',')
      {
        const size_t n = strcspn (at, ",");
        if (n == n_wanted && strncasecmp (at, test->text, n) == 0)
          return true;
        at += n;
      }
  return test->operator!= LNS_CONDITION_EQUAL && strcasestr (kind->kind, test->text) != NULL;
}

/* TEST of an event of KIND as an expression; NULL and ERROR if this tool cannot look at the field. Owned. */
static char *
express (const LnsMcpKind *kind, const LnsConditionTest *test, LnsError *error)
{
  switch (test->field)
    {
    case LNS_CONDITION_NAME:
      return name_passes (kind, test);
    case LNS_CONDITION_KIND:
      return lns_strdup (kind_passes (kind, test) ? "1" : "0");
    case LNS_CONDITION_DURATION:
      return number_passes (test, "(\"end\" - start)");
    case LNS_CONDITION_START:
      return number_passes (test, "start");
    case LNS_CONDITION_END:
      return number_passes (test, "\"end\"");
    case LNS_CONDITION_THREAD:
      return kind->is_on_device ? lns_strdup ("0") : owner_passes (test, true, false);
    case LNS_CONDITION_PROCESS:
      return owner_passes (test, false, kind->is_on_device);
    case LNS_CONDITION_DEVICE:
    case LNS_CONDITION_STREAM:
      if (has_number (test))
        return kind->is_on_device
                   ? number_passes (test,
                                    test->field == LNS_CONDITION_DEVICE ? "deviceId" : "streamId")
                   : lns_strdup ("0");
      lns_mcp_refuse (error, "events compares device and stream with numbers; use sql for names");
      return NULL;
    case LNS_CONDITION_BYTES:
      return kind->has_bytes ? number_passes (test, "bytes") : lns_strdup ("0");
    default:
      lns_mcp_refuse (error, "events does not look at domain, category and depth; use sql");
      return NULL;
    }
}

/* What follows FROM for the events of KIND that pass CONDITION (may be NULL: all). Owned; NULL and ERROR as above. */
static char *
select_from (const LnsMcpKind *kind, const LnsCondition *condition, LnsError *error)
{
  char *tests[LNS_CONDITION_TESTS_MAX] = { 0 }, *where = NULL, *from = NULL;
  unsigned n = 0;
  const LnsConditionTest *all = condition != NULL ? lns_condition_tests (condition, &n) : NULL;
  bool good = true;

  for (unsigned i = 0; good && i < n; i++)
    {
      char *test = express (kind, &all[i], error);
      good = test != NULL;
      /* What an event does not have fails a test, and passes its contrary. */
      if (good)
        tests[i] = test[1] == '\0' ? lns_strdup (test) : lns_asprintf ("ifnull(%s, 0)", test);
      free (test);
    }
  if (good && n > 0)
    where = lns_condition_sql (condition, (const char *const *)tests);
  if (good)
    from = lns_asprintf (
        "%s%s%s%s%s%s", kind->table, kind->only != NULL || where != NULL ? " WHERE " : "",
        kind->only != NULL ? kind->only : "", kind->only != NULL && where != NULL ? " AND (" : "",
        where != NULL ? where : "", kind->only != NULL && where != NULL ? ")" : "");
  for (unsigned i = 0; i < n; i++)
    free (tests[i]);
  free (where);
  return from;
}

/* --- The longest ------------------------------------------------------------------------------ */

typedef struct
{
  const LnsMcpKind *kind;
  int64_t row, start_ns, ns;
} Event;

typedef LNS_ARRAY (Event) Events;

static int
compare_events (const void *a, const void *b)
{
  const Event *x = a, *y = b;
  return (x->ns < y->ns) - (x->ns > y->ns) ?: (x->row > y->row) - (x->row < y->row);
}

/* Adds the TOP longest events of FROM to EVENTS. */
static bool
find_longest (LnsMcpReport *of,
              const LnsMcpKind *kind,
              const char *from,
              size_t top,
              Events *events,
              LnsError *error)
{
  sqlite3_stmt *statement = NULL;
  const char *rest;
  char *sql = lns_asprintf (
      "SELECT rowid, \"end\" - start, start FROM %s ORDER BY 2 DESC, 1 LIMIT %zu", from, top);
  int code = SQLITE_ERROR;

  lns_query_restart (of->query, LNS_MCP_STATEMENT_NS);
  if (lns_query_prepare (of->query, sql, &statement, &rest))
    while ((code = sqlite3_step (statement)) == SQLITE_ROW)
      *lns_array_add (events) = (Event){ .kind = kind,
                                         .row = sqlite3_column_int64 (statement, 0),
                                         .ns = sqlite3_column_int64 (statement, 1),
                                         .start_ns = sqlite3_column_int64 (statement, 2) };
  const bool good = code == SQLITE_DONE || lns_mcp_statement_fail (of, error);
  sqlite3_finalize (statement);
  free (sql);
  return good;
}

static bool
add_event (LnsMcpCall *call, LnsMcpReport *of, const Event *event, LnsError *error)
{
  const LnsMcpKind *kind = event->kind;
  char *
      handle = lns_asprintf ("%s:%" PRId64, kind->table, event->row),
     *statement = lns_asprintf (
         "SELECT start AS start_ns, \"end\" - start AS duration_ns, %s%s, %s AS name FROM %s WHERE "
         "rowid = %" PRId64,
         kind->is_on_device ? "deviceId AS device, streamId AS stream"
                            : "globalTid % 16777216 AS tid",
         kind->has_bytes ? ", bytes" : "", kind->name, kind->table, event->row);
  const bool good = lns_mcp_add_statement (call, of, handle, kind->kind, statement, NULL, error);

  free (handle);
  free (statement);
  return good;
}

/* --- The tool --------------------------------------------------------------------------------- */

/* Adds the numbers of the events of KIND that pass CONDITION, and the longest of them to EVENTS. */
static bool
look_at (LnsMcpCall *call,
         LnsMcpReport *of,
         const LnsMcpKind *kind,
         const LnsCondition *condition,
         Events *events,
         LnsError *error)
{
  char *from = select_from (kind, condition, error), *statement;
  bool any = false;

  if (from == NULL)
    return false;
  statement = lns_asprintf ("SELECT count(*) AS count, sum(\"end\" - start) AS total_ns, "
                            "max(\"end\" - start) AS longest_ns FROM %s",
                            from);
  const bool good = lns_mcp_add_statement (call, of, NULL, kind->plural, statement, &any, error) &&
                    (!any || find_longest (of, kind, from, (size_t)lns_mcp_number_of (call, "top"),
                                           events, error));
  free (statement);
  free (from);
  return good;
}

/* Proposes to ask what happened during EVENT. */
static void
propose (LnsMcpCall *call, const LnsMcpReport *of, const Event *event)
{
  char *time = lns_asprintf ("%" PRId64 "ns/%" PRId64 "ns", event->start_ns,
                             lns_sum (event->start_ns, event->ns));

  lns_mcp_answer_next (call->answer, "why",
                       json_pack ("{s:s,s:s}", "report", of->handle, "time", time),
                       "learn what else happened during the longest one");
  free (time);
}

static bool
run_events (LnsMcpCall *call, LnsError *error)
{
  LnsMcpReport *of = lns_mcp_report_of (call, "report", error);
  const char *text = lns_mcp_text_of (call, "where");
  const size_t top = (size_t)lns_mcp_number_of (call, "top");
  LnsCondition *condition = of != NULL && text != NULL ? lns_condition_new (text, error) : NULL;
  Events events = { 0 };
  bool good = of != NULL && (text == NULL || condition != NULL);

  for (size_t i = 0; good && lns_mcp_kind_at (i) != NULL; i++)
    if (lns_mcp_kind_is_there (lns_mcp_kind_at (i), of->tables))
      good = look_at (call, of, lns_mcp_kind_at (i), condition, &events, error);
  if (good)
    lns_mcp_answer_say (call->answer, of->handle,
                        events.n > 0 ? "Events that pass, by kind; then the longest."
                                     : "No event passes.");
  if (events.n > 0)
    qsort (events.items, events.n, sizeof *events.items, compare_events);
  for (size_t i = 0; good && i < events.n && i < top; i++)
    good = add_event (call, of, &events.items[i], error);
  if (good && events.n > 0)
    propose (call, of, &events.items[0]);
  lns_array_clear (&events);
  lns_condition_free (condition);
  return good;
}

const LnsMcpTool lns_mcp_events = {
  .name = "events",
  .title = "Events by condition",
  .help = "Counts and sums the events that pass a condition, by kind, and gives the longest. "
          "Conditions: kind = kernel and duration > 1ms; name ~ gemm; name contains memcpy and "
          "bytes > 1MiB; thread = loader; start >= 1.2s and end <= 1.4s; joined by and, or, not. "
          "Kinds: kernel, copy, memset, graph, synchronization, range, CUDA call, OS runtime call, "
          "system call, MPI call, library call, compilation.",
  .parameters = { LNS_MCP_REPORT,
                  { .name = "where", .help = "the condition; without it, all events" },
                  LNS_MCP_TOP (5, 20) },
  .run = run_events,
};
