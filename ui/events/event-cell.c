/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/event-cell.h"

#include <glib/gi18n.h>
#include <inttypes.h>
#include <string.h>

#include "src/analysis/facts/thread-states.h"
#include "src/base/format.h"
#include "ui/model/cuda-text.h"
#include "ui/model/display-text.h"
#include "ui/model/event-text.h"

static const LnsEventColumnInfo infos[LNS_N_EVENT_COLUMNS] = {
  [LNS_EVENT_COLUMN_NUMBER] = { "#", 88, true },
  [LNS_EVENT_COLUMN_NAME] = { N_ ("Name"), 0, false },
  [LNS_EVENT_COLUMN_KIND] = { N_ ("Kind"), 144, false },
  [LNS_EVENT_COLUMN_START] = { N_ ("Start"), 140, true, .is_time = true },
  [LNS_EVENT_COLUMN_DURATION] = { N_ ("Duration"), 120, true, .is_time = true },
  [LNS_EVENT_COLUMN_THREAD] = { N_ ("Thread"), 190, false },
  [LNS_EVENT_COLUMN_PROCESS] = { N_ ("Process"), 190, false },
  [LNS_EVENT_COLUMN_DOMAIN] = { N_ ("Domain"), 110, false },
  [LNS_EVENT_COLUMN_CATEGORY] = { N_ ("Category"), 110, false },
  [LNS_EVENT_COLUMN_DEPTH] = { N_ ("Depth"), 76, true },
  [LNS_EVENT_COLUMN_PAYLOAD] = { N_ ("Payload"), 110, true },
  [LNS_EVENT_COLUMN_STREAM] = { N_ ("Stream"), 110, false },
  [LNS_EVENT_COLUMN_BYTES] = { N_ ("Bytes"), 110, true, LNS_EVENT_SET_BYTES },
  [LNS_EVENT_COLUMN_SHAPE] = { N_ ("Grid and block"), 190, false, LNS_EVENT_SET_LAUNCH },
  [LNS_EVENT_COLUMN_RESULT] = { N_ ("Result"), 190, false, LNS_EVENT_SET_RESULT },
  [LNS_EVENT_COLUMN_OPERATIONS] = { N_ ("GPU operations"), 130, true, LNS_EVENT_SET_OPERATIONS },
};

const LnsEventColumnInfo *
lns_event_column_info (LnsEventColumn column)
{
  return &infos[column];
}

bool
lns_event_column_is_used (const LnsEventSet *set, LnsEventColumn column)
{
  switch (column)
    {
    case LNS_EVENT_COLUMN_KIND:
      return set->has_kinds;
    case LNS_EVENT_COLUMN_CATEGORY:
      return set->category != NULL;
    case LNS_EVENT_COLUMN_THREAD:
      return set->has_threads;
    case LNS_EVENT_COLUMN_DOMAIN:
      return set->has_domains;
    case LNS_EVENT_COLUMN_DEPTH:
      return set->has_depths;
    case LNS_EVENT_COLUMN_STREAM:
      return set->has_streams;
    case LNS_EVENT_COLUMN_PAYLOAD:
      return (set->values & 1) != 0;
    default:
      return infos[column].value == 0 || (set->values & 1u << infos[column].value) != 0;
    }
}

/* Texts that come from the event's lane. */
static char *
lane_text (const LnsEventSet *set, uint32_t row, LnsEventColumn column)
{
  LnsReport *report = set->report;
  uint32_t lane = set->lanes[lns_event_set_lane (set, row)];
  const LnsTrack *track = lns_event_track (report, lane);

  if (track == NULL)
    return g_strdup ("");
  switch (column)
    {
    case LNS_EVENT_COLUMN_KIND:
      return g_strdup (lns_event_kind_name (lns_report_lanes (report, NULL)[lane].kind) ?: "");
    case LNS_EVENT_COLUMN_THREAD:
      return lns_event_text_thread (report, set->thread != NULL && set->thread[row] > 0
                                                ? set->thread[row] - 1
                                                : track->thread);
    case LNS_EVENT_COLUMN_PROCESS:
      return lns_event_text_process (report, track->process);
    case LNS_EVENT_COLUMN_DOMAIN:
      return lns_event_text_domain (report, track->domain);
    case LNS_EVENT_COLUMN_CATEGORY:
      return lns_event_text_category (report, track->domain,
                                      set->category != NULL ? set->category[row] : 0);
    case LNS_EVENT_COLUMN_STREAM:
      return track->stream != LNS_ID_NONE ? lns_event_text_stream (report, track) : g_strdup ("");
    case LNS_EVENT_COLUMN_DEPTH:
      return g_strdup_printf ("%u", lns_report_lanes (report, NULL)[lane].ordinal);
    default:
      return g_strdup ("");
    }
}

/* Whether the event says what a thread does from then on. */
static bool
is_state (const LnsEventSet *set, uint32_t row)
{
  return set->payload_type != NULL && set->payload_type[row] >= LNS_EVENT_SET_STATE;
}

static bool
is_sample (const LnsEventSet *set, uint32_t row)
{
  const uint32_t lane = set->lanes[lns_event_set_lane (set, row)];
  const LnsLaneKind kind = lns_report_lanes (set->report, NULL)[lane].kind;
  return kind == LNS_LANE_CPU_SAMPLE || kind == LNS_LANE_PYTHON_SAMPLE;
}

/* The name on the screen; copies have the whole name. */
static char *
name_text (const LnsEventSet *set, uint32_t row)
{
  const LnsTrack *track = lns_event_track (set->report, set->lanes[lns_event_set_lane (set, row)]);
  bool is_call = track != NULL && track->kind == LNS_TRACK_CUDA_API;
  size_t size_bytes;
  const char *name =
      lns_report_string (set->report, set->names[lns_event_set_name (set, row)], &size_bytes);
  if (size_bytes == 0 && is_state (set, row))
    return g_strdup (
        lns_thread_state_name ((LnsThreadState)(set->payload_type[row] - LNS_EVENT_SET_STATE)));
  if (size_bytes == 0 && track != NULL &&
      (track->kind == LNS_TRACK_CPU_SAMPLES || track->kind == LNS_TRACK_PYTHON_SAMPLES))
    return g_strdup (
        lns_event_text_nameless (set->report, set->lanes[lns_event_set_lane (set, row)]));
  name = lns_event_short_name (is_call ? LNS_NAMES_CALLS : LNS_NAMES_OWN, name, &size_bytes);
  return lns_display_text (name, size_bytes, TRUE);
}

/* The value that the set keeps in the place of a payload. */
static char *
value_text (const LnsEventSet *set, uint32_t row, LnsEventColumn column)
{
  uint32_t n;
  char number[LNS_FORMAT_SIZE];
  const LnsCudaLaunch *launches = lns_report_launches (set->report, &n);
  const LnsTrack *track = lns_event_track (set->report, set->lanes[lns_event_set_lane (set, row)]);
  uint64_t value = lns_event_set_payload (set, row);
  if (set->payload_type == NULL || set->payload_type[row] != infos[column].value || track == NULL)
    return g_strdup ("");
  if (column == LNS_EVENT_COLUMN_BYTES || column == LNS_EVENT_COLUMN_OPERATIONS)
    return g_strdup (lns_format_unsigned (value, number));
  if (column == LNS_EVENT_COLUMN_RESULT)
    return lns_cuda_result_text (track->kind, true, (int32_t)value);
  if (value >= n || launches[value].grid[0] == 0) /* not recorded */
    return g_strdup ("");
  const uint32_t *grid = launches[value].grid, *block = launches[value].block;
  return g_strdup_printf ("%u × %u × %u, %u × %u × %u", grid[0], grid[1], grid[2], block[0],
                          block[1], block[2]);
}

char *
lns_event_cell_text (const LnsEventSet *set, uint32_t row, LnsEventColumn column)
{
  char number[LNS_FORMAT_SIZE];
  switch (column)
    {
    case LNS_EVENT_COLUMN_NUMBER:
      return g_strdup (lns_format_unsigned ((uint64_t)row + 1, number));
    case LNS_EVENT_COLUMN_NAME:
      return name_text (set, row);
    case LNS_EVENT_COLUMN_START:
      return lns_event_text_time (lns_event_set_start (set, row));
    case LNS_EVENT_COLUMN_DURATION:
      /* Such an event has no length; how long the state lasts is among the details. */
      if (lns_event_set_duration (set, row) == 0 && (is_state (set, row) || is_sample (set, row)))
        return g_strdup ("");
      return lns_event_text_duration (lns_event_set_duration (set, row),
                                      set->flags != NULL ? set->flags[row] : 0);
    case LNS_EVENT_COLUMN_PAYLOAD:
      if (set->payload_type != NULL && set->payload_type[row] > 15)
        return g_strdup ("");
      return lns_event_text_payload (set->report,
                                     set->payload_type != NULL ? set->payload_type[row] : 0,
                                     lns_event_set_payload (set, row));
    default:
      return infos[column].value != 0 ? value_text (set, row, column)
                                      : lane_text (set, row, column);
    }
}
