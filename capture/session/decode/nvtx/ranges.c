/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Push/pop ranges and marks: one stack for each thread in each domain. A record says its depth, so any record corrects
 * the stack: ranges that are deeper have lost their ends. */

#include "capture/session/decode/nvtx/ranges.h"
#include "capture/session/decode/nvtx/definitions.h"

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
  LnsReportRef track, mark_track, mark_lane;
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
  LnsRangeStack *stack = in != NULL ? calloc (1, sizeof *stack) : NULL;
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
  if (ref->report != decoder->report)
    {
      LnsTrack track = {
        .device = LNS_ID_NONE,
        .stream = LNS_ID_NONE,
        .kind = kind,
        .process = stack->thread->process->id,
        .thread = stack->thread->id,
        .domain = stack->domain->id,
      };
      *ref = (LnsReportRef){ decoder->report, lns_writer_add_track (decoder->writer, &track) };
    }
  return ref->id;
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
  lns_writer_append (decoder->writer, lane_of (decoder, stack, depth), &event);
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
                       track_of (decoder, stack, LNS_TRACK_NVTX_MARKS, &stack->mark_track), 0,
                       LNS_LANE_NVTX_MARK);
  lns_writer_append (decoder->writer, stack->mark_lane.id, &event);
}

static void
close_lane (LnsDecoder *decoder, const LnsReportRef *lane)
{
  if (decoder->writer != NULL && lane->report == decoder->report)
    lns_writer_close_lane (decoder->writer, lane->id);
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
      lns_writer_set_open (decoder->writer, lane_of (decoder, stack, depth), &event);
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
_lns_nvtx_begin_stacks (LnsDecoder *decoder, LnsDecodedProcess *process)
{
  LnsThreadStacks *stacks;
  LnsRangeStack *stack;
  for (size_t i = 0; (stacks = next_stacks (process, &i)) != NULL;)
    for (size_t at = 0; (stack = lns_id_map_next (&stacks->stacks, &at)) != NULL;)
      begin_stack (decoder, stack);
}

void
_lns_nvtx_show_stacks (LnsDecoder *decoder, LnsDecodedProcess *process)
{
  LnsPointers *changed = &_lns_nvtx_process (process)->changed;
  for (size_t i = 0; i < changed->n; i++)
    if (changed->items[i] != NULL)
      show_stack (decoder, changed->items[i]);
  changed->n = 0;
}

void
_lns_nvtx_stop_stacks (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t end_ns)
{
  LnsThreadStacks *stacks;
  LnsRangeStack *stack;
  for (size_t i = 0; (stacks = next_stacks (process, &i)) != NULL;)
    for (size_t at = 0; (stack = lns_id_map_next (&stacks->stacks, &at)) != NULL;)
      stop_stack (decoder, stack, end_ns);
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
