/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/filter.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
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
  bool is_within = true;

  if (lns_lane_kind_info (lns_report_lanes (report, NULL)[lane].kind) == NULL || n_events == 0)
    return true;
  if (!lns_report_find (report, lane, span->start_ns, &first, error))
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
    copy_definitions (report, writer);
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
