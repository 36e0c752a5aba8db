/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Ranges and marks. Push/pop ranges have one stack for each thread in each domain. A record says its depth, so any record
 * corrects the stack: ranges that are deeper have lost their ends. */

#include "capture/session/decode/nvtx/ranges.h"
#include "capture/session/decode/core/sieve.h"
#include "src/base/compare.h"

#include <stdlib.h>
#include <string.h>

/* An open range of a stack. A push that was lost leaves a frame that is not there. */
typedef struct
{
  bool is_there;
  bool is_shown; /* the writer knows that it is open */
  int64_t start_ns;
  LnsEventDetail detail;
} LnsFrame;

/* The push/pop ranges and the marks of one thread in one domain. */
typedef struct
{
  LnsDecodedThread *thread;
  LnsDecodedDomain *domain;
  uint32_t n_frames, n_allocated;
  LnsFrame *frames;
  LnsReportRef *lanes; /* by depth; n_allocated of them */
  LnsReportRef track, mark_lane;
  size_t changed_at; /* 1 + the place in the process's list of stacks with unshown frames, or 0 */
  LnsLoss refused;   /* pushes that are left out, and not yet in the report */
} LnsRangeStack;

/* The state of a thread. */
typedef struct
{
  LnsRangeStack *last; /* the one used last, or NULL */
  LnsIdMap stacks;     /* LnsRangeStack by domain number */
} LnsThreadStacks;

static LnsRangeStack *
new_stack (LnsDecoder *decoder, LnsDecodedThread *thread, LnsThreadStacks *stacks, uint32_t domain)
{
  LnsDecodedDomain *in = _lns_nvtx_domain (decoder, thread->process, domain);
  if (in == NULL)
    return NULL;
  LnsRangeStack *stack = calloc (1, sizeof *stack);
  if (!_lns_decoder_keep (decoder, NULL, &stacks->stacks, domain, stack))
    return NULL;
  stack->thread = thread;
  stack->domain = in;
  return stack;
}

/* Finds or makes the stack of THREAD in DOMAIN. Returns NULL if memory is short. */
static LnsRangeStack *
stack_of (LnsDecoder *decoder, LnsDecodedThread *thread, uint32_t domain)
{
  LnsThreadStacks *stacks = thread->state[LNS_SOURCE_NVTX];
  if (stacks != NULL && stacks->last != NULL && stacks->last->domain->number == domain)
    return stacks->last;
  if (stacks == NULL && (stacks = calloc (1, sizeof *stacks)) == NULL)
    {
      decoder->counters.n_refused++;
      return NULL;
    }
  thread->state[LNS_SOURCE_NVTX] = stacks;
  LnsRangeStack *stack = lns_id_map_get (&stacks->stacks, domain);
  if (stack == NULL)
    stack = new_stack (decoder, thread, stacks, domain);
  if (stack != NULL)
    stacks->last = stack;
  return stack;
}

static uint32_t
track_of (LnsDecoder *decoder, LnsRangeStack *stack, LnsTrackKind kind, LnsReportRef *ref)
{
  const LnsTrack track = {
    .device = LNS_ID_NONE,
    .stream = LNS_ID_NONE,
    .kind = kind,
    .process = stack->thread->process->id,
    .thread = stack->thread->id,
    .domain = stack->domain->id,
  };
  return _lns_decoder_track (decoder, ref, &track);
}

static uint32_t
lane_of (LnsDecoder *decoder, LnsRangeStack *stack, uint32_t depth)
{
  LnsReportRef *lane = &stack->lanes[depth];
  if (lane->report != decoder->report)
    _lns_decoder_lane (decoder, lane,
                       track_of (decoder, stack, LNS_TRACK_NVTX_RANGES, &stack->track), depth,
                       LNS_LANE_NVTX_PUSH_POP);
  return lane->id;
}

/* Where frame DEPTH of STACK is. */
static LnsStepRange
place_of (const LnsRangeStack *stack, uint32_t depth)
{
  const LnsDecodedThread *thread = stack->thread;
  const bool is_within = depth > 0 && stack->frames[depth - 1].is_there;
  return (LnsStepRange){ .process = thread->process->id,
                         .thread = thread->id,
                         .domain = stack->domain->id,
                         .depth = depth,
                         .is_of_main_thread =
                             thread->target_tid == thread->process->info.target_pid,
                         .around_ns = is_within ? stack->frames[depth - 1].start_ns : INT64_MAX,
                         .name = stack->frames[depth].detail.name,
                         .domain_name = stack->domain->name };
}

/* The steps of the report, if it keeps only some and STACK may have them; else NULL. */
static LnsSteps *
steps_of (const LnsDecoder *decoder, const LnsRangeStack *stack)
{
  return decoder->sieve != NULL && !stack->domain->is_left_out ? _lns_sieve_steps (decoder->sieve)
                                                               : NULL;
}

/* Tells the steps that frame DEPTH ended at END_NS, which is not known unless IS_KNOWN. */
static void
end_step (
    LnsDecoder *decoder, const LnsRangeStack *stack, uint32_t depth, bool is_known, int64_t end_ns)
{
  LnsSteps *steps = steps_of (decoder, stack);
  if (steps == NULL || !stack->frames[depth].is_there)
    return;
  const LnsStepRange range = place_of (stack, depth);
  if (is_known)
    _lns_steps_pop (steps, &range, stack->frames[depth].start_ns, end_ns);
  else
    _lns_steps_lose (steps, &range);
}

/* Writes frame DEPTH as an event up to END_NS. */
static void
write_frame (
    LnsDecoder *decoder, LnsRangeStack *stack, uint32_t depth, int64_t end_ns, uint32_t flags)
{
  LnsFrame *frame = &stack->frames[depth];
  LnsEvent event;
  if (!frame->is_there || decoder->writer == NULL || stack->domain->is_left_out ||
      !_lns_decoder_event (decoder, LNS_LANE_NVTX_PUSH_POP, &frame->detail, frame->start_ns, end_ns,
                           &event))
    return;
  event.flags |= flags;
  _lns_decoder_append (decoder, lane_of (decoder, stack, depth), &event);
}

/* Closes the ranges that are DEPTH deep and deeper. If OPEN, they are open at END_NS. Else their ends are lost and
 * they get no length; those that began before the report are left out, as they may have ended before it, while
 * nothing was recorded. */
static void
cut_to (LnsDecoder *decoder, LnsRangeStack *stack, uint32_t depth, bool open, int64_t end_ns)
{
  while (stack->n_frames > depth)
    {
      LnsFrame *frame = &stack->frames[stack->n_frames - 1];
      end_step (decoder, stack, stack->n_frames - 1, open, end_ns);
      if (open)
        write_frame (decoder, stack, stack->n_frames - 1, end_ns,
                     LNS_EVENT_OPEN_END | LNS_EVENT_END_UNKNOWN);
      else if (frame->start_ns >= decoder->report_start_ns)
        write_frame (decoder, stack, stack->n_frames - 1, frame->start_ns, LNS_EVENT_END_UNKNOWN);
      _lns_event_detail_clear (&frame->detail);
      stack->n_frames--;
    }
}

static bool
make_room (LnsDecoder *decoder, LnsRangeStack *stack, uint32_t depth)
{
  if (depth < stack->n_allocated)
    return true;
  if (depth >= LNS_DEPTH_MAX)
    {
      decoder->counters.n_too_deep++;
      return false;
    }
  uint32_t n = stack->n_allocated < 4 ? 4 : stack->n_allocated;
  while (n <= depth)
    n *= 2;
  LnsFrame *frames = realloc (stack->frames, n * sizeof *frames);
  if (frames != NULL)
    stack->frames = frames;
  LnsReportRef *lanes = frames != NULL ? realloc (stack->lanes, n * sizeof *lanes) : NULL;
  if (lanes == NULL)
    {
      decoder->counters.n_refused++;
      return false;
    }
  memset (lanes + stack->n_allocated, 0, (n - stack->n_allocated) * sizeof *lanes);
  stack->lanes = lanes;
  stack->n_allocated = n;
  return true;
}

/* Puts STACK on the list of stacks with unshown frames. */
static void
note_change (LnsDecoder *decoder, LnsRangeStack *stack)
{
  if (decoder->writer != NULL && stack->changed_at == 0 && !stack->domain->is_left_out &&
      _lns_pointers_add (&_lns_nvtx_process (stack->thread->process)->changed, stack))
    stack->changed_at = _lns_nvtx_process (stack->thread->process)->changed.n;
}

/* Counts a push at TIME_NS that cannot be kept as a loss, like those on the program's side. */
static void
refuse (LnsDecoder *decoder, LnsRangeStack *stack, int64_t time_ns)
{
  if (decoder->writer == NULL)
    return;
  if (stack->refused.pushes++ == 0)
    stack->refused.first_ns = time_ns;
  stack->refused.last_ns = time_ns;
  note_change (decoder, stack);
}

static void
tell_refused (LnsDecoder *decoder, LnsRangeStack *stack)
{
  if (stack->refused.pushes == 0 || decoder->writer == NULL)
    return;
  stack->refused.process = stack->thread->process->id;
  stack->refused.thread = stack->thread->id;
  lns_writer_add_loss (decoder->writer, &stack->refused);
  stack->refused = (LnsLoss){ 0 };
}

static void
push (LnsDecoder *decoder,
      LnsRangeStack *stack,
      uint32_t depth,
      int64_t time_ns,
      LnsEventDetail *detail)
{
  cut_to (decoder, stack, depth, false, time_ns);
  if (!make_room (decoder, stack, depth))
    {
      refuse (decoder, stack, time_ns);
      return;
    }
  while (stack->n_frames < depth)
    stack->frames[stack->n_frames++] = (LnsFrame){ 0 };
  stack->frames[stack->n_frames++] =
      (LnsFrame){ .is_there = true, .start_ns = time_ns, .detail = *detail };
  *detail = (LnsEventDetail){ 0 };
  LnsSteps *steps = steps_of (decoder, stack);
  if (steps != NULL)
    {
      const LnsStepRange range = place_of (stack, depth);
      _lns_steps_push (steps, &range, time_ns);
    }
  note_change (decoder, stack);
}

static void
pop (LnsDecoder *decoder, LnsRangeStack *stack, uint32_t depth, int64_t time_ns)
{
  if (depth < LNS_DEPTH_MAX)
    cut_to (decoder, stack, depth + 1, false, time_ns);
  if (stack->n_frames != depth + 1 || !stack->frames[depth].is_there)
    decoder->counters.n_orphan_pops++;
  if (stack->n_frames != depth + 1)
    return;
  end_step (decoder, stack, depth, true, time_ns);
  write_frame (decoder, stack, depth, time_ns, 0);
  _lns_event_detail_clear (&stack->frames[depth].detail);
  stack->n_frames = depth;
}

static void
mark (LnsDecoder *decoder, LnsRangeStack *stack, int64_t time_ns, const LnsEventDetail *detail)
{
  LnsEvent event;
  if (decoder->writer == NULL || stack->domain->is_left_out || time_ns < decoder->report_start_ns ||
      !_lns_decoder_event (decoder, LNS_LANE_NVTX_MARK, detail, time_ns, time_ns, &event))
    return;
  if (stack->mark_lane.report != decoder->report)
    _lns_decoder_lane (decoder, &stack->mark_lane,
                       track_of (decoder, stack, LNS_TRACK_NVTX_MARKS, &(LnsReportRef){ 0 }), 0,
                       LNS_LANE_NVTX_MARK);
  _lns_decoder_append (decoder, stack->mark_lane.id, &event);
}

static void
close_lane (LnsDecoder *decoder, const LnsReportRef *lane)
{
  if (decoder->writer != NULL && lane->report == decoder->report)
    _lns_decoder_close_lane (decoder, lane->id);
}

static void
end_stack (LnsDecoder *decoder, LnsRangeStack *stack, int64_t end_ns)
{
  cut_to (decoder, stack, 0, true, end_ns);
  tell_refused (decoder, stack);
  for (uint32_t depth = 0; depth < stack->n_allocated; depth++)
    close_lane (decoder, &stack->lanes[depth]);
  close_lane (decoder, &stack->mark_lane);
}

static void
stop_stack (LnsDecoder *decoder, LnsRangeStack *stack, int64_t end_ns)
{
  tell_refused (decoder, stack);
  for (uint32_t depth = stack->n_frames; depth-- > 0;)
    write_frame (decoder, stack, depth, end_ns, LNS_EVENT_OPEN_END | LNS_EVENT_END_UNKNOWN);
}

static void
show_stack (LnsDecoder *decoder, LnsRangeStack *stack)
{
  stack->changed_at = 0;
  tell_refused (decoder, stack);
  for (uint32_t depth = 0; depth < stack->n_frames; depth++)
    {
      LnsFrame *frame = &stack->frames[depth];
      LnsEvent event;
      if (!frame->is_there || frame->is_shown ||
          !_lns_decoder_event (decoder, LNS_LANE_NVTX_PUSH_POP, &frame->detail, frame->start_ns,
                               INT64_MAX, &event))
        continue;
      event.duration_ns = 0;
      _lns_decoder_set_open (decoder, lane_of (decoder, stack, depth), &event);
      frame->is_shown = true;
    }
}

static void
begin_stack (LnsDecoder *decoder, LnsRangeStack *stack)
{
  for (uint32_t depth = 0; depth < stack->n_frames; depth++)
    stack->frames[depth].is_shown = false;
  if (stack->n_frames > 0)
    note_change (decoder, stack);
}

static void
free_stack (LnsRangeStack *stack)
{
  if (stack->changed_at != 0)
    _lns_nvtx_process (stack->thread->process)->changed.items[stack->changed_at - 1] = NULL;
  free (stack->frames);
  free (stack->lanes);
  free (stack);
}

/* --- Start/end ranges -------------------------------------------------------------------------- */

/* One thread begins a range, perhaps another ends it; an id of the process identifies it. Streams are played one after the
 * other, so the starts and ends of a batch are collected and sorted by time first. An end may still be a batch ahead of
 * its start, and waits that long.
 *
 * A range lies in the lowest lane of its domain that is free at its start. */

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
by_time (const void *a, const void *b)
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
started_lane (LnsDecoder *decoder, LnsStartedRange *range)
{
  LnsDecodedDomain *domain = range->domain;
  LnsReportRef *lane = &domain->lane_refs.items[range->lane];
  if (lane->report == decoder->report)
    return lane->id;
  const LnsTrack track = {
    .device = LNS_ID_NONE,
    .stream = LNS_ID_NONE,
    .kind = LNS_TRACK_NVTX_START_END,
    .process = domain->process->id,
    .thread = LNS_ID_NONE,
    .domain = domain->id,
  };
  _lns_decoder_lane (decoder, lane, _lns_decoder_track (decoder, &domain->track, &track),
                     range->lane, LNS_LANE_NVTX_START_END);
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
      _lns_decoder_append (decoder, started_lane (decoder, range), &event);
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
  qsort (items, known->start_ends.n, sizeof *items, by_time);
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

static void
stop_started (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t end_ns)
{
  const LnsIdMap *open = &_lns_nvtx_process (process)->open_ranges;
  LnsStartedRange *range;
  for (size_t at = 0; (range = lns_id_map_next (open, &at)) != NULL;)
    {
      LnsEvent event;
      if (!event_of (decoder, range, NULL, end_ns, &event))
        continue;
      event.flags |= LNS_EVENT_OPEN_END | LNS_EVENT_END_UNKNOWN;
      _lns_decoder_append (decoder, started_lane (decoder, range), &event);
    }
}

static void
show_started (LnsDecoder *decoder, LnsDecodedProcess *process)
{
  const LnsIdMap *open = &_lns_nvtx_process (process)->open_ranges;
  LnsStartedRange *range;
  for (size_t at = 0; (range = lns_id_map_next (open, &at)) != NULL;)
    {
      LnsEvent event;
      if (range->is_shown || !event_of (decoder, range, NULL, INT64_MAX, &event))
        continue;
      event.duration_ns = 0;
      _lns_decoder_set_open (decoder, started_lane (decoder, range), &event);
      range->is_shown = true;
    }
}

static void
begin_started (LnsDecodedProcess *process)
{
  const LnsIdMap *open = &_lns_nvtx_process (process)->open_ranges;
  LnsStartedRange *range;
  for (size_t at = 0; (range = lns_id_map_next (open, &at)) != NULL;)
    range->is_shown = false;
}

/* --- A process and its threads ---------------------------------------------------------------- */

void
_lns_nvtx_play_event (LnsDecoder *decoder,
                      LnsStream *stream,
                      LnsWireType type,
                      uint64_t ticks,
                      uint32_t domain,
                      const LnsWireEvent *event)
{
  int64_t time_ns = lns_clock_line_ns (&decoder->clock, ticks);
  if (stream->thread == NULL && !_lns_stream_know_thread (decoder, stream, ticks))
    return;
  LnsRangeStack *stack = stack_of (decoder, stream->thread, domain);
  if (stack == NULL)
    return;
  if (type == LNS_WIRE_POP)
    {
      pop (decoder, stack, event->depth, time_ns);
      return;
    }
  LnsEventDetail detail;
  _lns_event_detail_take (stream, event, &detail);
  if (type == LNS_WIRE_PUSH)
    push (decoder, stack, event->depth, time_ns, &detail);
  else
    mark (decoder, stack, time_ns, &detail);
  _lns_event_detail_clear (&detail);
}

/* The stacks of the next thread from *INOUT_PLACE on that has some; NULL at the end. */
static LnsThreadStacks *
next_stacks (const LnsDecodedProcess *process, size_t *inout_place)
{
  const LnsDecodedThread *thread;
  while ((thread = lns_id_map_next (&process->threads, inout_place)) != NULL)
    if (thread->state[LNS_SOURCE_NVTX] != NULL)
      return thread->state[LNS_SOURCE_NVTX];
  return NULL;
}

void
_lns_nvtx_begin_ranges (LnsDecoder *decoder, LnsDecodedProcess *process)
{
  LnsThreadStacks *stacks;
  LnsRangeStack *stack;
  for (size_t i = 0; (stacks = next_stacks (process, &i)) != NULL;)
    for (size_t at = 0; (stack = lns_id_map_next (&stacks->stacks, &at)) != NULL;)
      begin_stack (decoder, stack);
  begin_started (process);
}

void
_lns_nvtx_show_ranges (LnsDecoder *decoder, LnsDecodedProcess *process)
{
  LnsPointers *changed = &_lns_nvtx_process (process)->changed;
  for (size_t i = 0; i < changed->n; i++)
    if (changed->items[i] != NULL)
      show_stack (decoder, changed->items[i]);
  changed->n = 0;
  show_started (decoder, process);
}

void
_lns_nvtx_stop_ranges (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t end_ns)
{
  LnsThreadStacks *stacks;
  LnsRangeStack *stack;
  for (size_t i = 0; (stacks = next_stacks (process, &i)) != NULL;)
    for (size_t at = 0; (stack = lns_id_map_next (&stacks->stacks, &at)) != NULL;)
      stop_stack (decoder, stack, end_ns);
  stop_started (decoder, process, end_ns);
}

void
_lns_nvtx_end_stacks (LnsDecoder *decoder, LnsDecodedThread *thread, int64_t end_ns)
{
  LnsThreadStacks *stacks = thread->state[LNS_SOURCE_NVTX];
  if (stacks == NULL)
    return;
  LnsRangeStack *stack;
  for (size_t at = 0; (stack = lns_id_map_next (&stacks->stacks, &at)) != NULL;)
    {
      end_stack (decoder, stack, end_ns);
      free_stack (stack);
    }
  lns_id_map_clear (&stacks->stacks);
  free (stacks);
  thread->state[LNS_SOURCE_NVTX] = NULL;
}
