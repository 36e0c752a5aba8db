/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/filter.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/tables/lanes.h"
#include "src/tables/row-cursor.h"
#include "src/store/write/writer.h"

#define COMMIT_BYTES (32u << 20)

/* ---- Times ----------------------------------------------------------------------------------- */

/* Reads a time with its unit at TEXT: RET_NS stays as it is where there is none. Returns where it ends, or
 * NULL where it is no time. */
static const char *
read_time (const char *text, int64_t *ret_ns)
{
  static const struct
  {
    const char *unit;
    double ns;
  } units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "", 1 } };
  char *end;

  if (*text == '/' || *text == '\0')
    return text;
  long long whole = strtoll (text, &end, 10);
  bool is_whole = end > text && (*end == '/' || *end == '\0' || strncmp (end, "ns", 2) == 0);
  double number = strtod (text, &end);
  if (end == text || isspace ((unsigned char)*text))
    return NULL;
  size_t size = strcspn (end, "/"), i = 0;
  while (i < sizeof units / sizeof *units &&
         (strlen (units[i].unit) != size || strncmp (units[i].unit, end, size) != 0))
    i++;
  if (i == sizeof units / sizeof *units || !(fabs (number * units[i].ns) < 9e18))
    return NULL;
  *ret_ns = is_whole ? (int64_t)whole : llround (number * units[i].ns);
  return end + size;
}

bool
lns_filter_parse_time (const char *text, LnsFilterSpan *ret_span, LnsError *error)
{
  *ret_span = (LnsFilterSpan){ INT64_MIN, INT64_MAX, LNS_ID_NONE };
  const char *at = read_time (text, &ret_span->start_ns);
  if (at != NULL && *at == '/')
    at = read_time (at + 1, &ret_span->end_ns);
  else
    at = NULL;
  if (at != NULL && *at == '\0' && strcmp (text, "/") != 0 &&
      ret_span->start_ns <= ret_span->end_ns)
    return true;
  return lns_error_set (error, LNS_ERROR_USAGE, 0,
                        "--filter-time: “%s” is not a span; write START/END in ns or with a unit, "
                        "such as 1.5s/2s, 200ms/ or /1e9",
                        text);
}

/* ---- Ranges ---------------------------------------------------------------------------------- */

/* What a filter by range says. */
typedef struct
{
  char *name, *domain; /* owned; `domain` may be NULL                                            */
  uint64_t index;
} RangeName;

/* Takes the backslashes before @ and / out of TEXT. */
static void
unescape (char *text)
{
  char *to = text;

  for (; *text != '\0'; *to++ = *text++)
    if (*text == '\\' && (text[1] == '@' || text[1] == '/'))
      text++;
  *to = '\0';
}

/* The last of MARK in TEXT without a backslash before it, or NULL. */
static char *
last_mark (char *text, char mark)
{
  char *found = NULL;

  for (char *at = text; *at != '\0'; at++)
    if (*at == mark && (at == text || at[-1] != '\\'))
      found = at;
  return found;
}

static RangeName
parse_range (const char *text)
{
  RangeName range = { .name = lns_strdup (text) };
  char *slash = last_mark (range.name, '/');

  if (slash != NULL && slash[1] != '\0' && strspn (slash + 1, "0123456789") == strlen (slash + 1))
    {
      range.index = strtoull (slash + 1, NULL, 10);
      *slash = '\0';
    }
  char *at = last_mark (range.name, '@');
  if (at != NULL)
    {
      *at = '\0';
      range.domain = lns_strdup (at + 1);
      unescape (range.domain);
    }
  unescape (range.name);
  return range;
}

/* Whether the domain of LANE is that of RANGE. */
static bool
is_in_domain (LnsReport *report, uint32_t lane, const RangeName *range)
{
  const char *name = lns_report_string (report, lns_domain_name_of (report, lane), NULL);

  return range->domain == NULL              ? *name == '\0'
         : strcmp (range->domain, "*") == 0 ? true
                                            : strcmp (name, range->domain) == 0;
}

/* Goes through the ranges of the string NAME by start, to the one that RANGE means. */
static bool
find_range (LnsTables *tables,
            const RangeName *range,
            uint32_t name,
            bool *ret_found,
            LnsFilterSpan *ret_span,
            LnsError *error)
{
  const LnsTable *table = lns_table_find ("NVTX_EVENTS");
  const LnsRowConstraint wanted = { LNS_NVTX_TEXT_ID, name, name };
  LnsReport *report = lns_tables_report (tables);
  LnsRowCursor *rows = lns_row_cursor_new (tables, table);
  uint64_t n = 0;
  bool row = true, good = lns_row_cursor_start (rows, &wanted, 1, true, error);

  while (good && row && !*ret_found && (good = lns_row_cursor_next (rows, &row, error)) && row)
    {
      int64_t type = lns_row_cursor_value (rows, LNS_NVTX_EVENT_TYPE).integer;
      LnsValue end = lns_row_cursor_value (rows, LNS_NVTX_END);
      uint32_t lane = lns_row_cursor_lane (rows);
      if ((type != LNS_EVENT_TYPE_PUSH_POP && type != LNS_EVENT_TYPE_START_END) ||
          end.type != LNS_VALUE_INTEGER || lane == LNS_ID_NONE ||
          lns_row_cursor_name (rows) != name || !is_in_domain (report, lane, range) ||
          n++ != range->index)
        continue;
      *ret_found = true;
      *ret_span = (LnsFilterSpan){ lns_row_cursor_value (rows, LNS_NVTX_START).integer, end.integer,
                                   lns_track_of (report, lane)->process };
    }
  lns_row_cursor_free (rows);
  return good;
}

bool
lns_filter_find_range (LnsTables *tables,
                       const char *text,
                       LnsFilterSpan *ret_span,
                       LnsError *error)
{
  RangeName range = parse_range (text);
  uint32_t name = LNS_ID_NONE;
  bool found = false;
  bool good = lns_tables_find_string (tables, range.name, strlen (range.name), &name, error) &&
              (name == LNS_ID_NONE || find_range (tables, &range, name, &found, ret_span, error));
  if (good && !found)
    good =
        lns_error_set (error, LNS_ERROR_USAGE, 0,
                       "--filter-nvtx: there is no range “%s” in %s%s%s; `lanescope stats -r "
                       "nvtx_sum` lists the ranges as DOMAIN:NAME",
                       text, range.domain == NULL ? "the default domain" : "domain “",
                       range.domain != NULL ? range.domain : "", range.domain != NULL ? "”" : "");
  free (range.name);
  free (range.domain);
  return good;
}

/* ---- The time that is covered ---------------------------------------------------------------- */

/* Meta keys of a part: its span. */
#define START_KEY "part_start_ns"
#define END_KEY   "part_end_ns"

static void
set_time (LnsWriter *writer, const char *key, int64_t time_ns)
{
  char text[24];

  snprintf (text, sizeof text, "%" PRId64, time_ns);
  lns_writer_set_meta (writer, key, text);
}

LnsFilterSpan
lns_filter_span (const LnsReport *report)
{
  const char *start = lns_report_meta (report, START_KEY), *end = lns_report_meta (report, END_KEY);
  LnsFilterSpan span = { INT64_MIN, lns_report_info (report)->end_ns, LNS_ID_NONE };

  if (start != NULL && end != NULL)
    {
      const int64_t end_ns = strtoll (end, NULL, 10);
      span.start_ns = strtoll (start, NULL, 10);
      span.end_ns = end_ns < span.end_ns ? end_ns : span.end_ns;
    }
  return span;
}

/* Of ENUM_SAMPLING_THREAD_STATE, by bits: the thread waits for something (2, 3, 4, 7), or only for a CPU (6). */
#define WAITS 0xDCu

/* What EVENT of a lane LNS_LANE_SCHED has in COLUMN. */
static uint64_t
switch_extra (const LnsEvent *event, LnsColumnId column)
{
  return event->extra[lns_lane_kind_extra (LNS_LANE_SCHED, column)];
}

bool
lns_switch_end (LnsReport *report, uint32_t lane, const LnsEvent *last, int64_t *ret_end_ns)
{
  uint32_t n_threads, n_processes;
  const LnsThread *threads = lns_report_threads (report, &n_threads);
  const LnsProcess *processes = lns_report_processes (report, &n_processes);
  const LnsTrack *track = lns_track_of (report, lane);
  int64_t end_ns = lns_report_info (report)->known_ns;

  if (switch_extra (last, LNS_COLUMN_SCHED_IN) != 0)
    {
      const int64_t stopped_ns = lns_sum (last->start_ns, last->duration_ns);
      if (!lns_event_has_length (last->flags))
        return false;
      *ret_end_ns = last->flags & LNS_EVENT_OPEN_END && stopped_ns > end_ns ? end_ns : stopped_ns;
      return true;
    }
  if (track->thread < n_threads && threads[track->thread].end_ns != LNS_TIME_UNKNOWN &&
      threads[track->thread].end_ns < end_ns)
    end_ns = threads[track->thread].end_ns;
  if (track->process < n_processes && processes[track->process].end_ns != LNS_TIME_UNKNOWN &&
      processes[track->process].end_ns < end_ns)
    end_ns = processes[track->process].end_ns;
  *ret_end_ns = end_ns;
  return true;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void
copy_definitions (LnsReport *report, LnsWriter *writer)
{
  /* String 0 is there from the start; the others get the ids that they have, also where two are
   * equal, or one cannot be read. */
  for (uint32_t i = lns_writer_n_strings (writer); i < lns_report_n_strings (report); i++)
    {
      size_t size;
      const char *bytes = lns_report_string (report, i, &size);
      lns_writer_bytes (writer, size > 0 ? bytes : "?", size > 0 ? size : 1);
    }
  for (LnsDefinitionKind kind = LNS_DEFINITION_PROCESS; kind < LNS_N_DEFINITION_KINDS; kind++)
    if (kind != LNS_DEFINITION_META)
      lns_writer_repeat (writer, report, kind);
}

/* Copies the event before NEXT, the first one of LANE from START_NS on, if it is a switch by which a thread began to wait that
 * still waits at START_NS. */
static bool
copy_wait (LnsReport *report,
           uint32_t lane,
           uint64_t next,
           int64_t start_ns,
           LnsWriter *writer,
           LnsError *error)
{
  LnsEvent wait, after;
  int64_t end_ns;

  if (next == 0)
    return true;
  if (!lns_report_event (report, lane, next - 1, &wait, error))
    return false;
  const uint64_t state = switch_extra (&wait, LNS_COLUMN_THREAD_STATE);
  if (switch_extra (&wait, LNS_COLUMN_SCHED_IN) != 0 || state >= 8 || (WAITS >> state & 1) == 0)
    return true;
  if (next == lns_report_lane_info (report, lane)->n_events)
    lns_switch_end (report, lane, &wait, &end_ns);
  else if (lns_report_event (report, lane, next, &after, error))
    end_ns = after.start_ns;
  else
    return false;
  if (end_ns > start_ns)
    lns_writer_append (writer, lane, &wait);
  return true;
}

/* Copies the events of LANE that overlap SPAN: neighbours, as those of a lane do not overlap. */
static bool
copy_events (LnsReport *report,
             uint32_t lane,
             const LnsFilterSpan *span,
             LnsWriter *writer,
             const atomic_bool *cancel,
             LnsError *error)
{
  uint64_t n_events = lns_report_lane_info (report, lane)->n_events, first;
  const LnsChunk *chunk;
  const LnsLaneKind kind = lns_report_lanes (report, NULL)[lane].kind;
  bool is_within = true;

  if (lns_lane_kind_info (kind) == NULL || n_events == 0)
    return true;
  if (!lns_report_find (report, lane, span->start_ns, &first, error) ||
      (kind == LNS_LANE_SCHED && !copy_wait (report, lane, first, span->start_ns, writer, error)))
    return false;
  if (first == n_events)
    return true;
  LnsChunkWalker *walker = lns_chunk_walker_new (report, lane, 0);
  LnsError local = { 0 };
  lns_chunk_walker_seek (walker, lns_report_chunk_of (report, lane, first));
  while (is_within && (chunk = lns_chunk_walker_next (walker, &local)) != NULL)
    {
      uint32_t i = first > chunk->first ? (uint32_t)(first - chunk->first) : 0;
      for (; i < chunk->n && (is_within = chunk->start_ns[i] <= span->end_ns); i++)
        {
          const LnsEvent event = lns_chunk_event (chunk, i);
          lns_writer_append (writer, lane, &event);
        }
      lns_go_on (cancel, &local);
      if (lns_writer_waiting_bytes (writer) > COMMIT_BYTES)
        lns_writer_commit (writer, lns_report_info (report)->end_ns, &local);
      is_within = is_within && local.domain == LNS_ERROR_NONE;
    }
  lns_chunk_walker_free (walker);
  return local.domain == LNS_ERROR_NONE ||
         lns_error_set (error, local.domain, local.code, "%s", local.message);
}

bool
lns_filter_write (LnsReport *report,
                  const LnsFilterSpan *span,
                  const char *path,
                  const atomic_bool *cancel,
                  LnsError *error)
{
  const LnsReportInfo *info = lns_report_info (report);
  LnsWriterOptions options = { .t0_monotonic_ns = info->t0_monotonic_ns,
                               .t0_realtime_ns = info->t0_realtime_ns,
                               .t0_tsc = info->t0_tsc };
  LnsWriter *writer = lns_writer_create (path, &options, error);
  uint32_t n_lanes;
  bool good = writer != NULL;

  lns_report_lanes (report, &n_lanes);
  if (good)
    {
      copy_definitions (report, writer);
      set_time (writer, START_KEY, span->start_ns);
      set_time (writer, END_KEY, span->end_ns);
    }
  for (uint32_t i = 0; good && i < n_lanes; i++)
    if (span->process == LNS_ID_NONE || lns_track_of (report, i)->process == span->process)
      {
        good = copy_events (report, i, span, writer, cancel, error);
        lns_writer_close_lane (writer, i);
      }
  if (good)
    return lns_writer_finish (writer, LNS_STATE_COMPLETE, info->end_ns, error);
  if (writer != NULL)
    lns_writer_abandon (writer);
  return false;
}
