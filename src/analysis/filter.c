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

#include "src/analysis/used.h"
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
  LnsFilterSpan span = { INT64_MIN, lns_report_info (report)->end_ns, LNS_ID_NONE };
  int64_t end_ns;

  if (lns_part_of_report (report, &span.start_ns, &end_ns) && end_ns < span.end_ns)
    span.end_ns = end_ns;
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
  const bool *lanes;         /* by lane: whether it is there; or NULL: all are */
  bool is_cut;               /* what begins before the span is told from its start on */
  const atomic_bool *cancel; /* or NULL */
  LnsProgressFunc progress;  /* or NULL */
  void *progress_data;
  uint32_t *lane_of; /* by lane of the old report: its id in the new one, or LNS_ID_NONE */
  LnsUsed used;
  bool is_noting; /* events are noted in `used`, not written */
} Part;

/* Whether PART has LANE. What was worked out of the ranges of a report is worked out of those of a part again. */
static bool
has_lane (const Part *part, uint32_t lane)
{
  return lns_report_lanes (part->report, NULL)[lane].kind != LNS_LANE_NVTX_PROJECTED &&
         (part->lanes == NULL || part->lanes[lane]);
}

/* Copies the tracks and lanes that PART has. They keep their numbers where it has all of them. */
static void
copy_tracks (Part *part)
{
  uint32_t n_tracks, n_lanes;
  /* Lanes first: projected ones may come meanwhile, whose tracks are there before them. */
  const LnsLane *lanes = lns_report_lanes (part->report, &n_lanes);
  const LnsTrack *tracks = lns_report_tracks (part->report, &n_tracks);
  bool *is_there = lns_calloc (n_tracks, sizeof *is_there);
  uint32_t *track_of = lns_calloc (n_tracks, sizeof *track_of);

  part->lane_of = lns_calloc (n_lanes, sizeof *part->lane_of);
  for (uint32_t i = 0; i < n_tracks; i++)
    is_there[i] = part->lanes == NULL && tracks[i].kind != LNS_TRACK_NVTX_PROJECTED;
  for (uint32_t i = 0; i < n_lanes; i++)
    if (has_lane (part, i))
      is_there[lanes[i].track] = true;
  for (uint32_t i = 0; i < n_tracks; i++)
    track_of[i] = is_there[i] ? lns_writer_add_track (part->writer, &tracks[i]) : LNS_ID_NONE;
  for (uint32_t i = 0; i < n_lanes; i++)
    {
      LnsLane lane = lanes[i];
      lane.track = track_of[lane.track];
      part->lane_of[i] =
          has_lane (part, i) ? lns_writer_add_lane (part->writer, &lane) : LNS_ID_NONE;
    }
  free (is_there);
  free (track_of);
}

/* Copies what is defined, except meta values and losses. */
static void
copy_definitions (Part *part)
{
  LnsReport *report = part->report;
  LnsWriter *writer = part->writer;

  /* String 0 is there from the start; the others get the ids that they have, also where two are
   * equal, or one cannot be read. */
  for (uint32_t i = lns_writer_n_strings (writer); i < lns_report_n_strings (report); i++)
    {
      size_t size;
      const char *bytes = lns_report_string (report, i, &size);
      if (part->used.has_string != NULL && !part->used.has_string[i])
        size = 0;
      lns_writer_bytes (writer, size > 0 ? bytes : "?", size > 0 ? size : 1);
    }
  for (LnsDefinitionKind kind = LNS_DEFINITION_PROCESS; kind < LNS_N_DEFINITION_KINDS; kind++)
    if (kind != LNS_DEFINITION_META && kind != LNS_DEFINITION_LOSS &&
        kind != LNS_DEFINITION_TRACK && kind != LNS_DEFINITION_LANE &&
        kind != LNS_DEFINITION_FRAME && kind != LNS_DEFINITION_CALL_NODE)
      lns_writer_repeat (writer, report, kind);
  lns_used_define (&part->used, report, writer);
  copy_tracks (part);
}

static void
copy_event (Part *part, uint32_t lane, LnsEvent event)
{
  const int64_t start_ns = part->span.start_ns;
  const LnsLaneKind kind = lns_report_lanes (part->report, NULL)[lane].kind;

  if (part->is_noting)
    {
      lns_used_add (&part->used, part->report, kind, &event);
      return;
    }
  lns_used_translate (&part->used, kind, &event);
  if (part->is_cut && event.start_ns < start_ns)
    {
      const int64_t end_ns = lns_sum (event.start_ns, event.duration_ns);
      event.duration_ns = end_ns > start_ns ? end_ns - start_ns : 0;
      event.start_ns = start_ns;
      event.flags |= LNS_EVENT_OPEN_START;
    }
  lns_writer_append (part->writer, part->lane_of[lane], &event);
}

/* Copies the event before NEXT, the first one of LANE within PART, if it is a switch by which a thread began to wait that
 * still waits when PART begins. */
static bool
copy_wait (Part *part, uint32_t lane, uint64_t next, LnsError *error)
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
copy_lane (Part *part, uint32_t lane, LnsError *error)
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
      if (!part->is_noting && lns_writer_waiting_bytes (part->writer) > COMMIT_BYTES)
        lns_writer_commit (part->writer, lns_report_info (report)->end_ns, &local);
      is_within = is_within && local.domain == LNS_ERROR_NONE;
    }
  lns_chunk_walker_free (walker);
  return local.domain == LNS_ERROR_NONE ||
         lns_error_set (error, local.domain, local.code, "%s", local.message);
}

/* Copies the events of all lanes. */
static bool
copy_lanes (Part *part, LnsError *error)
{
  const double n_events = (double)lns_report_info (part->report)->n_events;
  uint32_t n_lanes;
  uint64_t n_seen = 0;
  bool good = true;

  lns_report_lanes (part->report, &n_lanes);
  for (uint32_t i = 0; good && i < n_lanes; i++)
    {
      if (part->progress != NULL && n_events > 0)
        part->progress (fmin ((double)n_seen / n_events, 1), part->progress_data);
      n_seen += lns_report_lane_info (part->report, i)->n_events;
      if (!has_lane (part, i) || (part->span.process != LNS_ID_NONE &&
                                  lns_track_of (part->report, i)->process != part->span.process))
        continue;
      good = copy_lane (part, i, error);
      if (!part->is_noting)
        lns_writer_close_lane (part->writer, part->lane_of[i]);
    }
  return good;
}

/* Copies definitions and events of PART, and ends its report with STATE and END_NS. */
static bool
finish (Part *part, LnsState state, int64_t end_ns, LnsWriterCounts *ret_counts, LnsError *error)
{
  const bool good = copy_lanes (part, error);

  free (part->lane_of);
  lns_used_clear (&part->used);
  if (good)
    return lns_writer_finish_counted (part->writer, state, end_ns, ret_counts, error);
  lns_writer_abandon (part->writer);
  return false;
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
  Part part = {
    .report = report, .writer = create (report, path, 0, error), .span = *span, .cancel = cancel
  };

  if (part.writer == NULL)
    return false;
  copy_definitions (&part);
  lns_writer_repeat (part.writer, report, LNS_DEFINITION_LOSS);
  set_time (part.writer, LNS_PART_START_KEY, span->start_ns);
  set_time (part.writer, LNS_PART_END_KEY, span->end_ns);
  return finish (&part, LNS_STATE_COMPLETE, lns_report_info (report)->end_ns, NULL, error);
}

/* ---- Cutting --------------------------------------------------------------------------------- */

/* Copies what tells of the recording, except the values of the two keys, and of what was cut, which the part has itself. */
static void
copy_meta (const Part *part, const char *start_key, const char *end_key)
{
  const char *key, *value;

  for (size_t i = 0; (key = lns_report_meta_at (part->report, "", i, &value)) != NULL; i++)
    if (!lns_writer_has_meta (key) && strcmp (key, start_key) != 0 && strcmp (key, end_key) != 0 &&
        strcmp (key, LNS_PART_CUT_KEY) != 0)
      lns_writer_set_meta (part->writer, key, value);
}

static void
tell (LnsWriter *writer, const char *code, const char *text)
{
  lns_writer_add_diagnostic (
      writer, &(LnsDiagnostic){ .code = lns_writer_string (writer, code, strlen (code)),
                                .severity = LNS_SEVERITY_INFO,
                                .time_ns = LNS_TIME_UNKNOWN,
                                .process = LNS_ID_NONE,
                                .text = lns_writer_string (writer, text, strlen (text)) });
}

/* Copies the losses that are not known to lie outside of the span of PART. */
static void
copy_losses (const Part *part)
{
  uint32_t n;
  const LnsLoss *losses = lns_report_losses (part->report, &n);

  for (uint32_t i = 0; i < n; i++)
    if ((losses[i].last_ns == LNS_TIME_UNKNOWN || losses[i].last_ns >= part->span.start_ns) &&
        (losses[i].first_ns == LNS_TIME_UNKNOWN || losses[i].first_ns <= part->span.end_ns))
      lns_writer_add_loss (part->writer, &losses[i]);
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
  Part part = { .report = report,
                .writer = create (report, path, mode, error),
                .span = { cut->start_ns, INT64_MAX, LNS_ID_NONE },
                .is_cut = true };

  if (part.writer == NULL)
    return false;
  copy_definitions (&part);
  copy_losses (&part);
  copy_meta (&part, BEGIN_KEY, KEEP_KEY);
  set_time (part.writer, BEGIN_KEY, cut->start_ns);
  set_time (part.writer, KEEP_KEY, cut->keep_ns);
  tell (part.writer, cut->code, cut->text);
  return finish (&part, info->state, info->end_ns, ret_counts, error);
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

/* ---- Parts that are kept --------------------------------------------------------------------- */

/* The state of a part of a report of STATE: it is finished, and lacks what the whole lacks. */
static LnsState
state_of_part (LnsState state)
{
  return state == LNS_STATE_RECORDING ? LNS_STATE_COMPLETE
         : state == LNS_STATE_CUT_OFF ? LNS_STATE_RECOVERED
                                      : state;
}

/* Finds out what the events of PART use. */
static bool
note_used (Part *part, LnsError *error)
{
  const LnsProgressFunc progress = part->progress;

  lns_used_begin (&part->used, part->report);
  if (part->used.node_of == NULL)
    return true;
  part->is_noting = true;
  part->progress = NULL;
  const bool good = copy_lanes (part, error);
  part->is_noting = false;
  part->progress = progress;
  lns_used_end (&part->used, part->report);
  return good;
}

/* Says which ends of the span of PART are not those of the recording. */
static void
set_cut (const Part *part)
{
  const LnsFilterSpan all = lns_filter_span (part->report);
  const int64_t start_ns =
      all.start_ns == INT64_MIN ? lns_report_info (part->report)->start_ns : all.start_ns;
  const bool at_start = part->span.start_ns > start_ns || lns_part_is_cut_at_start (part->report),
             at_end = part->span.end_ns < all.end_ns || lns_part_is_cut_at_end (part->report);

  lns_writer_set_meta (part->writer, LNS_PART_CUT_KEY,
                       at_start && at_end ? "start,end"
                       : at_start         ? "start"
                       : at_end           ? "end"
                                          : "");
}

bool
lns_filter_keep (LnsReport *report, const LnsFilterPart *wanted, const char *path, LnsError *error)
{
  const LnsReportInfo *info = lns_report_info (report);
  Part part = { .report = report,
                .writer = create (report, path, wanted->mode, error),
                .span = wanted->span,
                .lanes = wanted->lanes,
                .cancel = wanted->cancel,
                .progress = wanted->progress,
                .progress_data = wanted->progress_data };

  if (part.writer == NULL)
    return false;
  if (!note_used (&part, error))
    {
      lns_used_clear (&part.used);
      lns_writer_abandon (part.writer);
      return false;
    }
  copy_definitions (&part);
  copy_losses (&part);
  copy_meta (&part, LNS_PART_START_KEY, LNS_PART_END_KEY);
  set_time (part.writer, LNS_PART_START_KEY, part.span.start_ns);
  set_time (part.writer, LNS_PART_END_KEY, part.span.end_ns);
  set_cut (&part);
  for (unsigned i = 0; i < wanted->n_notes; i++)
    tell (part.writer, wanted->notes[i].code, wanted->notes[i].text);
  return finish (&part, state_of_part (info->state),
                 part.span.end_ns < info->known_ns ? part.span.end_ns : info->known_ns, NULL,
                 error);
}
