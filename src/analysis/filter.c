/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/filter.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/tables/lanes.h"
#include "src/tables/row-cursor.h"

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

/* Those of a recording: where it began, and how long a time before its end it keeps. */
#define BEGIN_KEY "start_ns"
#define KEEP_KEY  "keep_ns"

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

/* Where the recording of REPORT began. */
static int64_t
begin_of (const LnsReport *report)
{
  const char *text = lns_report_meta (report, BEGIN_KEY);

  return text != NULL ? strtoll (text, NULL, 10) : 0;
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

/* A new report, and which events of an old one it gets. */
typedef struct
{
  LnsReport *report;
  LnsWriter *writer;
  LnsFilterSpan span;
  bool is_cut;               /* what begins before the span is told from its start on */
  const atomic_bool *cancel; /* or NULL */
} Part;

/* Copies what is defined, except meta values and losses. */
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
    if (kind != LNS_DEFINITION_META && kind != LNS_DEFINITION_LOSS)
      lns_writer_repeat (writer, report, kind);
}

static void
copy_event (const Part *part, uint32_t lane, LnsEvent event)
{
  const int64_t start_ns = part->span.start_ns;

  if (part->is_cut && event.start_ns < start_ns)
    {
      const int64_t end_ns = lns_sum (event.start_ns, event.duration_ns);
      event.duration_ns = end_ns > start_ns ? end_ns - start_ns : 0;
      event.start_ns = start_ns;
      event.flags |= LNS_EVENT_OPEN_START;
    }
  lns_writer_append (part->writer, lane, &event);
}

/* Copies the event before NEXT, the first one of LANE within PART, if it is a switch by which a thread began to wait that
 * still waits when PART begins. */
static bool
copy_wait (const Part *part, uint32_t lane, uint64_t next, LnsError *error)
{
  LnsEvent wait, after;
  int64_t end_ns;

  if (next == 0)
    return true;
  if (!lns_report_event (part->report, lane, next - 1, &wait, error))
    return false;
  const uint64_t state = switch_extra (&wait, LNS_COLUMN_THREAD_STATE);
  if (switch_extra (&wait, LNS_COLUMN_SCHED_IN) != 0 || state >= 8 || (WAITS >> state & 1) == 0)
    return true;
  if (next == lns_report_lane_info (part->report, lane)->n_events)
    lns_switch_end (part->report, lane, &wait, &end_ns);
  else if (lns_report_event (part->report, lane, next, &after, error))
    end_ns = after.start_ns;
  else
    return false;
  if (end_ns > part->span.start_ns)
    copy_event (part, lane, wait);
  return true;
}

/* Copies the events of LANE that overlap the span of PART: neighbours, as those of a lane do not overlap. */
static bool
copy_lane (const Part *part, uint32_t lane, LnsError *error)
{
  LnsReport *report = part->report;
  uint64_t n_events = lns_report_lane_info (report, lane)->n_events, first;
  const LnsChunk *chunk;
  const LnsLaneKind kind = lns_report_lanes (report, NULL)[lane].kind;
  bool is_within = true;

  if (lns_lane_kind_info (kind) == NULL || n_events == 0)
    return true;
  if (!lns_report_find (report, lane, part->span.start_ns, &first, error) ||
      (kind == LNS_LANE_SCHED && !copy_wait (part, lane, first, error)))
    return false;
  if (first == n_events)
    return true;
  LnsChunkWalker *walker = lns_chunk_walker_new (report, lane, 0);
  LnsError local = { 0 };
  lns_chunk_walker_seek (walker, lns_report_chunk_of (report, lane, first));
  while (is_within && (chunk = lns_chunk_walker_next (walker, &local)) != NULL)
    {
      uint32_t i = first > chunk->first ? (uint32_t)(first - chunk->first) : 0;
      for (; i < chunk->n && (is_within = chunk->start_ns[i] <= part->span.end_ns); i++)
        copy_event (part, lane, lns_chunk_event (chunk, i));
      lns_go_on (part->cancel, &local);
      if (lns_writer_waiting_bytes (part->writer) > COMMIT_BYTES)
        lns_writer_commit (part->writer, lns_report_info (report)->end_ns, &local);
      is_within = is_within && local.domain == LNS_ERROR_NONE;
    }
  lns_chunk_walker_free (walker);
  return local.domain == LNS_ERROR_NONE ||
         lns_error_set (error, local.domain, local.code, "%s", local.message);
}

/* Copies the events of all lanes. */
static bool
copy_lanes (const Part *part, LnsError *error)
{
  uint32_t n_lanes;
  bool good = true;

  lns_report_lanes (part->report, &n_lanes);
  for (uint32_t i = 0; good && i < n_lanes; i++)
    if (part->span.process == LNS_ID_NONE ||
        lns_track_of (part->report, i)->process == part->span.process)
      {
        good = copy_lane (part, i, error);
        lns_writer_close_lane (part->writer, i);
      }
  return good;
}

/* The writer of a report at PATH that has the clock of REPORT. MODE: see LnsWriterOptions. */
static LnsWriter *
create (const LnsReport *report, const char *path, unsigned mode, LnsError *error)
{
  const LnsReportInfo *info = lns_report_info (report);
  const LnsWriterOptions options = { .mode = mode,
                                     .is_whole_or_none = true,
                                     .t0_monotonic_ns = info->t0_monotonic_ns,
                                     .t0_realtime_ns = info->t0_realtime_ns,
                                     .t0_tsc = info->t0_tsc };

  return lns_writer_create (path, &options, error);
}

bool
lns_filter_write (LnsReport *report,
                  const LnsFilterSpan *span,
                  const char *path,
                  const atomic_bool *cancel,
                  LnsError *error)
{
  const Part part = { report, create (report, path, 0, error), *span, false, cancel };

  if (part.writer == NULL)
    return false;
  copy_definitions (report, part.writer);
  lns_writer_repeat (part.writer, report, LNS_DEFINITION_LOSS);
  set_time (part.writer, START_KEY, span->start_ns);
  set_time (part.writer, END_KEY, span->end_ns);
  if (copy_lanes (&part, error))
    return lns_writer_finish (part.writer, LNS_STATE_COMPLETE, lns_report_info (report)->end_ns,
                              error);
  lns_writer_abandon (part.writer);
  return false;
}

/* ---- Cutting --------------------------------------------------------------------------------- */

/* Copies what tells of the recording, and says in it that it was cut as CUT says. */
static void
copy_meta (LnsReport *report, LnsWriter *writer, const LnsFilterCut *cut)
{
  const char *key, *value;

  for (size_t i = 0; (key = lns_report_meta_at (report, "", i, &value)) != NULL; i++)
    if (!lns_writer_has_meta (key) && strcmp (key, BEGIN_KEY) != 0)
      lns_writer_set_meta (writer, key, value);
  set_time (writer, BEGIN_KEY, cut->start_ns);
  set_time (writer, KEEP_KEY, cut->keep_ns);
  lns_writer_add_diagnostic (
      writer,
      &(LnsDiagnostic){ .code = lns_writer_string (writer, cut->code, strlen (cut->code)),
                        .severity = LNS_SEVERITY_INFO,
                        .time_ns = LNS_TIME_UNKNOWN,
                        .process = LNS_ID_NONE,
                        .text = lns_writer_string (writer, cut->text, strlen (cut->text)) });
}

/* Copies the losses that did not end before START_NS. */
static void
copy_losses (const LnsReport *report, LnsWriter *writer, int64_t start_ns)
{
  uint32_t n;
  const LnsLoss *losses = lns_report_losses (report, &n);

  for (uint32_t i = 0; i < n; i++)
    if (losses[i].last_ns == LNS_TIME_UNKNOWN || losses[i].last_ns >= start_ns)
      lns_writer_add_loss (writer, &losses[i]);
}

/* Writes what CUT leaves of REPORT to PATH. */
static bool
write_cut (LnsReport *report,
           const LnsFilterCut *cut,
           const char *path,
           unsigned mode,
           LnsWriterCounts *ret_counts,
           LnsError *error)
{
  const LnsReportInfo *info = lns_report_info (report);
  const Part part = { report,
                      create (report, path, mode, error),
                      { cut->start_ns, INT64_MAX, LNS_ID_NONE },
                      true,
                      NULL };

  if (part.writer == NULL)
    return false;
  copy_definitions (report, part.writer);
  copy_losses (report, part.writer, cut->start_ns);
  copy_meta (report, part.writer, cut);
  if (copy_lanes (&part, error))
    return lns_writer_finish_counted (part.writer, info->state, info->end_ns, ret_counts, error);
  lns_writer_abandon (part.writer);
  return false;
}

bool
lns_filter_cut (const char *path,
                const LnsFilterCut *cut,
                LnsWriterCounts *ret_counts,
                bool *ret_is_cut,
                LnsError *error)
{
  struct stat status;
  LnsReport *report = lns_report_open (path, NULL, error);

  *ret_is_cut = report != NULL && begin_of (report) < cut->start_ns;
  bool good = report != NULL;
  if (*ret_is_cut)
    {
      char *beside = lns_asprintf ("%s.%d", path, getpid ());
      good = stat (path, &status) == 0 ||
             lns_error_set_errno (error, errno, "cannot write “%s”", path);
      if (good &&
          (good = write_cut (report, cut, beside, status.st_mode & 0777, ret_counts, error)) &&
          rename (beside, path) != 0)
        {
          good = lns_error_set_errno (error, errno, "cannot write “%s”", path);
          unlink (beside);
        }
      free (beside);
    }
  lns_report_close (report);
  return good;
}
