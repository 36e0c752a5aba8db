/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Start/end ranges. One thread begins a range, perhaps another ends it; an id of the process identifies it. Streams are
 * played one after the other, so the starts and ends of a batch are collected and sorted by time first. An end may still
 * be a batch ahead of its start, and waits that long.
 *
 * A range lies in the lowest lane of its domain that is free at its start. */

#include "capture/session/decode/nvtx/started.h"
#include "src/base/compare.h"

#include <stdlib.h>
#include <string.h>

typedef struct
{
  LnsDecodedDomain *domain;
  LnsDecodedThread *thread;
  uint32_t lane;
  uint64_t range;
  int64_t start_ns;
  bool is_shown;
  LnsEventDetail detail;
} LnsStartedRange;

void
_lns_nvtx_add_start_end (LnsDecoder *decoder, LnsDecodedProcess *process, LnsStartEnd *start_end)
{
  LnsStartEnd *added = lns_array_try_add (&_lns_nvtx_process (process)->start_ends);
  if (added != NULL)
    *added = *start_end;
  else
    {
      decoder->counters.n_refused++;
      _lns_event_detail_clear (&start_end->detail);
    }
}

/* By time; of equal times the start first. */
static int
compare (const void *a, const void *b)
{
  const LnsStartEnd *x = a, *y = b;
  return LNS_COMPARE (x->time_ns, y->time_ns) ?: LNS_COMPARE (x->is_end, y->is_end);
}

/* The lowest lane of DOMAIN that is free from START_NS on; LNS_ID_NONE if memory is short. */
static uint32_t
take_lane (LnsDecodedDomain *domain, int64_t start_ns)
{
  uint32_t lane = lns_overlap_take (&domain->lanes, start_ns);
  while (lane != LNS_ID_NONE && domain->lane_refs.n <= lane)
    if (lns_array_try_add (&domain->lane_refs) == NULL)
      {
        lns_overlap_release (&domain->lanes, lane, start_ns);
        return LNS_ID_NONE;
      }
  return lane;
}

static uint32_t
lane_of (LnsDecoder *decoder, LnsStartedRange *range)
{
  LnsDecodedDomain *domain = range->domain;
  LnsReportRef *lane = &domain->lane_refs.items[range->lane];
  if (lane->report == decoder->report)
    return lane->id;
  if (domain->track.report != decoder->report)
    {
      LnsTrack track = {
        .device = LNS_ID_NONE,
        .stream = LNS_ID_NONE,
        .kind = LNS_TRACK_NVTX_START_END,
        .process = domain->process->id,
        .thread = LNS_ID_NONE,
        .domain = domain->id,
      };
      domain->track =
          (LnsReportRef){ decoder->report, lns_writer_add_track (decoder->writer, &track) };
    }
  _lns_decoder_lane (decoder, lane, domain->track.id, range->lane, LNS_LANE_NVTX_START_END);
  return lane->id;
}

/* Fills the event of RANGE up to END_NS, ended by END_THREAD (may be NULL). */
static bool
event_of (LnsDecoder *decoder,
          const LnsStartedRange *range,
          const LnsDecodedThread *end_thread,
          int64_t end_ns,
          LnsEvent *ret_event)
{
  const uint8_t *extra = decoder->extra[LNS_LANE_NVTX_START_END];
  if (decoder->writer == NULL || range->domain->is_left_out ||
      !_lns_decoder_event (decoder, LNS_LANE_NVTX_START_END, &range->detail, range->start_ns,
                           end_ns, ret_event))
    return false;
  ret_event->extra[extra[LNS_COLUMN_RANGE_ID]] = range->range;
  ret_event->extra[extra[LNS_COLUMN_THREAD]] = range->thread->id;
  ret_event->extra[extra[LNS_COLUMN_END_THREAD]] =
      end_thread != NULL ? end_thread->id : LNS_ID_NONE;
  return true;
}

static void
start_range (LnsDecoder *decoder, LnsDecodedProcess *process, LnsStartEnd *start)
{
  LnsNvtxProcess *known = _lns_nvtx_process (process);
  LnsStartedRange *range = calloc (1, sizeof *range);
  uint32_t lane = range != NULL ? take_lane (start->domain, start->time_ns) : LNS_ID_NONE;
  if (lane == LNS_ID_NONE || lns_id_map_get (&known->open_ranges, start->range) != NULL ||
      !lns_id_map_set (&known->open_ranges, start->range, range))
    {
      if (lane != LNS_ID_NONE)
        lns_overlap_release (&start->domain->lanes, lane, start->time_ns);
      free (range);
      decoder->counters.n_refused++;
      return;
    }
  *range = (LnsStartedRange){
    .domain = start->domain,
    .thread = start->thread,
    .lane = lane,
    .range = start->range,
    .start_ns = start->time_ns,
    .detail = start->detail,
  };
  start->detail = (LnsEventDetail){ 0 };
}

static void
end_range (LnsDecoder *decoder,
           LnsStartedRange *range,
           const LnsDecodedThread *end_thread,
           int64_t end_ns,
           uint32_t flags)
{
  LnsEvent event;
  if (event_of (decoder, range, end_thread, end_ns, &event))
    {
      event.flags |= flags;
      lns_writer_append (decoder->writer, lane_of (decoder, range), &event);
    }
  lns_overlap_release (&range->domain->lanes, range->lane,
                       end_ns > range->start_ns ? end_ns : range->start_ns);
  _lns_event_detail_clear (&range->detail);
  free (range);
}

void
_lns_nvtx_settle (LnsDecoder *decoder, LnsDecodedProcess *process)
{
  LnsNvtxProcess *known = _lns_nvtx_process (process);
  LnsStartEnd *items = known->start_ends.items;
  if (known->start_ends.n == 0)
    return;
  qsort (items, known->start_ends.n, sizeof *items, compare);
  size_t n_kept = 0;
  for (size_t i = 0; i < known->start_ends.n; i++)
    {
      LnsStartEnd *item = &items[i];
      LnsStartedRange *range;
      if (!item->is_end)
        {
          start_range (decoder, process, item);
          _lns_event_detail_clear (&item->detail);
        }
      else if ((range = lns_id_map_take (&known->open_ranges, item->range)) != NULL)
        end_range (decoder, range, item->thread, item->time_ns, 0);
      else if (item->waited)
        decoder->counters.n_orphan_ends++;
      else
        {
          item->waited = true;
          items[n_kept++] = *item;
        }
    }
  known->start_ends.n = n_kept;
}

void
_lns_nvtx_end_started (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t end_ns)
{
  LnsNvtxProcess *known = _lns_nvtx_process (process);
  _lns_nvtx_settle (decoder, process);
  LnsStartedRange *range;
  for (size_t at = 0; (range = lns_id_map_next (&known->open_ranges, &at)) != NULL;)
    end_range (decoder, range, NULL, end_ns, LNS_EVENT_OPEN_END | LNS_EVENT_END_UNKNOWN);
  lns_id_map_clear (&known->open_ranges);
  lns_array_clear (&known->start_ends);
}

void
_lns_nvtx_stop_started (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t end_ns)
{
  const LnsIdMap *open = &_lns_nvtx_process (process)->open_ranges;
  LnsStartedRange *range;
  for (size_t at = 0; (range = lns_id_map_next (open, &at)) != NULL;)
    {
      LnsEvent event;
      if (!event_of (decoder, range, NULL, end_ns, &event))
        continue;
      event.flags |= LNS_EVENT_OPEN_END | LNS_EVENT_END_UNKNOWN;
      lns_writer_append (decoder->writer, lane_of (decoder, range), &event);
    }
}

void
_lns_nvtx_show_started (LnsDecoder *decoder, LnsDecodedProcess *process)
{
  const LnsIdMap *open = &_lns_nvtx_process (process)->open_ranges;
  LnsStartedRange *range;
  for (size_t at = 0; (range = lns_id_map_next (open, &at)) != NULL;)
    {
      LnsEvent event;
      if (range->is_shown || !event_of (decoder, range, NULL, INT64_MAX, &event))
        continue;
      event.duration_ns = 0;
      lns_writer_set_open (decoder->writer, lane_of (decoder, range), &event);
      range->is_shown = true;
    }
}

void
_lns_nvtx_begin_started (LnsDecodedProcess *process)
{
  const LnsIdMap *open = &_lns_nvtx_process (process)->open_ranges;
  LnsStartedRange *range;
  for (size_t at = 0; (range = lns_id_map_next (open, &at)) != NULL;)
    range->is_shown = false;
}
