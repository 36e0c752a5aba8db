/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/python/samples.h"
#include "capture/session/decode/core/source.h"

#include <stdlib.h>
#include <string.h>

typedef struct
{
  char *text; /* owned */
  LnsReportRef string;
} Text;

typedef struct
{
  uint32_t function, file, line;
  LnsReportRef ref;
} Frame;

typedef struct
{
  uint32_t parent, frame;
  LnsReportRef ref;
} Node;

typedef struct
{
  LNS_ARRAY (Text) texts;
  LNS_ARRAY (Frame) frames;
  LNS_ARRAY (Node) nodes;
  LNS_ARRAY (LnsDecodedThread *) ended; /* threads of which samples may still come */
  bool is_broken; /* definitions are missing, so that samples cannot be understood any more */
} Session;

/* What is known of a thread. */
typedef struct
{
  LnsReportRef track, lane;
  bool has_ended;
  int64_t end_ns;
} Thread;

static Session *
session_of (const LnsDecoder *decoder)
{
  return decoder->state[LNS_SOURCE_PYTHON_SAMPLES];
}

/* --- Definitions ------------------------------------------------------------------------------ */

/* Adds what HEAD defines. Returns false if its number is not the next one, as records before it are lost, or if memory is
 * short. */
static bool
define (Session *session, const LnsPythonHead *head)
{
  if (head->kind == LNS_PYTHON_TEXT)
    {
      const LnsPythonTextRecord *record = (const LnsPythonTextRecord *)head;
      Text *text = record->number == session->texts.n ? lns_array_try_add (&session->texts) : NULL;
      if (text != NULL)
        text->text = strdup (record->text);
      return text != NULL && text->text != NULL;
    }
  if (head->kind == LNS_PYTHON_FRAME)
    {
      const LnsPythonFrameRecord *record = (const LnsPythonFrameRecord *)head;
      Frame *frame =
          record->number == session->frames.n ? lns_array_try_add (&session->frames) : NULL;
      if (frame != NULL)
        *frame = (Frame){ record->function, record->file, record->line, { 0 } };
      return frame != NULL;
    }
  const LnsPythonNodeRecord *record = (const LnsPythonNodeRecord *)head;
  Node *node = record->number == session->nodes.n ? lns_array_try_add (&session->nodes) : NULL;
  if (node != NULL)
    *node = (Node){ record->parent, record->frame, { 0 } };
  return node != NULL;
}

static uint32_t
string_of (LnsDecoder *decoder, uint32_t number)
{
  Session *session = session_of (decoder);
  Text *text = number < session->texts.n ? &session->texts.items[number] : NULL;
  if (text == NULL || text->text == NULL)
    return 0;
  if (text->string.report != decoder->report)
    text->string = (LnsReportRef){ decoder->report, _lns_decoder_text (decoder, text->text) };
  return text->string.id;
}

static uint32_t
frame_of (LnsDecoder *decoder, uint32_t number)
{
  Session *session = session_of (decoder);
  Frame *frame = &session->frames.items[number];
  if (frame->ref.report != decoder->report)
    {
      const LnsStackFrame definition = { .module = LNS_ID_NONE,
                                         .symbol = string_of (decoder, frame->function),
                                         .is_resolved = 1,
                                         .file = string_of (decoder, frame->file),
                                         .line = frame->line };
      frame->ref =
          (LnsReportRef){ decoder->report, lns_writer_add_frame (decoder->writer, &definition) };
    }
  return frame->ref.id;
}

/* The id of node NUMBER in the present report, which gets it and its callers if need be. LNS_ID_NONE if it is not known. */
static uint32_t
node_of (LnsDecoder *decoder, uint32_t number)
{
  Session *session = session_of (decoder);
  LNS_ARRAY (uint32_t) missing = { 0 };
  uint32_t at = number, id = LNS_ID_NONE;
  while (at < session->nodes.n && session->nodes.items[at].ref.report != decoder->report)
    {
      uint32_t *place = lns_array_try_add (&missing);
      if (place == NULL || session->nodes.items[at].frame >= session->frames.n)
        {
          lns_array_clear (&missing);
          decoder->counters.n_refused++;
          return LNS_ID_NONE;
        }
      *place = at;
      /* A parent has a lower number, so that this ends. */
      at = session->nodes.items[at].parent < at ? session->nodes.items[at].parent : LNS_ID_NONE;
    }
  if (at < session->nodes.n)
    id = session->nodes.items[at].ref.id;
  while (missing.n > 0)
    {
      Node *node = &session->nodes.items[missing.items[--missing.n]];
      const LnsCallNode definition = { id, frame_of (decoder, node->frame) };
      id = lns_writer_add_call_node (decoder->writer, &definition);
      node->ref = (LnsReportRef){ decoder->report, id };
    }
  lns_array_clear (&missing);
  return id;
}

/* --- Samples ---------------------------------------------------------------------------------- */

static void
set (LnsDecoder *decoder, LnsEvent *event, LnsColumnId column, uint64_t value)
{
  event->extra[decoder->extra[LNS_LANE_PYTHON_SAMPLE][column]] = value;
}

/* The lane of the thread TID of PROCESS in the present report; LNS_ID_NONE if memory is short. */
static uint32_t
lane_of (LnsDecoder *decoder, uint32_t process, uint32_t tid, int64_t time_ns)
{
  LnsDecodedThread *decoded =
      _lns_decoder_thread_of (decoder, decoder->processes.items[process], tid, time_ns);
  if (decoded == NULL)
    return LNS_ID_NONE;
  Thread *thread = decoded->state[LNS_SOURCE_PYTHON_SAMPLES];
  if (thread == NULL)
    thread = decoded->state[LNS_SOURCE_PYTHON_SAMPLES] = calloc (1, sizeof *thread);
  if (thread == NULL)
    {
      decoder->counters.n_refused++;
      return LNS_ID_NONE;
    }
  const LnsTrack definition = { .kind = LNS_TRACK_PYTHON_SAMPLES,
                                .process = process,
                                .thread = decoded->id,
                                .domain = LNS_ID_NONE,
                                .device = LNS_ID_NONE,
                                .stream = LNS_ID_NONE };
  if (thread->lane.report != decoder->report)
    _lns_decoder_lane (decoder, &thread->lane,
                       _lns_decoder_track (decoder, &thread->track, &definition), 0,
                       LNS_LANE_PYTHON_SAMPLE);
  return thread->lane.id;
}

static void
play_sample (LnsDecoder *decoder, const LnsPythonSampleRecord *record)
{
  const int64_t time_ns = record->head.time_ns - decoder->clock.t0_ns;
  if (decoder->writer == NULL || time_ns < decoder->report_start_ns ||
      record->head.process >= decoder->processes.n)
    return;
  const uint32_t node = node_of (decoder, record->node);
  const uint32_t lane = lane_of (decoder, record->head.process, record->tid, time_ns);
  if (lane == LNS_ID_NONE)
    return;
  LnsEvent event = { .start_ns = time_ns };
  set (decoder, &event, LNS_COLUMN_THREAD_STATE, record->state);
  set (decoder, &event, LNS_COLUMN_OPERATION, record->lock);
  set (decoder, &event, LNS_COLUMN_CALL_CHAIN, node != LNS_ID_NONE ? 1 + (uint64_t)node : 0);
  _lns_decoder_append (decoder, lane, &event);
  decoder->counters.n_cpu_events++;
}

static void
play_name (LnsDecoder *decoder, const LnsPythonNameRecord *record)
{
  const LnsWireText text = { record->text, (uint32_t)strlen (record->text) };
  LnsDecodedThread *thread =
      record->head.process < decoder->processes.n
          ? _lns_decoder_thread_of (decoder, decoder->processes.items[record->head.process],
                                    record->tid, record->head.time_ns - decoder->clock.t0_ns)
          : NULL;
  if (thread != NULL)
    _lns_decoder_name_thread_of_python (decoder, thread, text);
}

static void
play (LnsDecoder *decoder, const LnsPythonHead *head)
{
  Session *session = session_of (decoder);
  if (head->kind == LNS_PYTHON_NAME)
    play_name (decoder, (const LnsPythonNameRecord *)head);
  else if (session->is_broken)
    decoder->counters.n_refused += head->kind == LNS_PYTHON_SAMPLE;
  else if (head->kind == LNS_PYTHON_SAMPLE)
    play_sample (decoder, (const LnsPythonSampleRecord *)head);
  else if (head->kind == LNS_PYTHON_SKIPPED && decoder->writer != NULL)
    {
      const LnsPythonSkippedRecord *record = (const LnsPythonSkippedRecord *)head;
      decoder->counters.n_python_samples += record->n_taken;
      decoder->counters.n_python_skipped += record->n_skipped;
    }
  else if (head->kind != LNS_PYTHON_SKIPPED)
    session->is_broken = !define (session, head);
}

static void
forget_thread (LnsDecoder *decoder, LnsDecodedThread *decoded)
{
  Thread *thread = decoded->state[LNS_SOURCE_PYTHON_SAMPLES];
  if (decoder->writer != NULL && thread->lane.report == decoder->report)
    _lns_decoder_close_lane (decoder, thread->lane.id);
  free (thread);
  decoded->state[LNS_SOURCE_PYTHON_SAMPLES] = NULL;
}

/* Forgets threads that ended before PLAYED_NS, up to which all samples are there. */
static void
forget_threads (LnsDecoder *decoder, int64_t played_ns)
{
  Session *session = session_of (decoder);
  size_t n_kept = 0;
  for (size_t i = 0; i < session->ended.n; i++)
    {
      LnsDecodedThread *decoded = session->ended.items[i];
      if (((const Thread *)decoded->state[LNS_SOURCE_PYTHON_SAMPLES])->end_ns < played_ns)
        forget_thread (decoder, decoded);
      else
        session->ended.items[n_kept++] = decoded;
    }
  session->ended.n = n_kept;
}

size_t
lns_decoder_take_python (LnsDecoder *decoder,
                         const uint8_t *bytes,
                         size_t n_bytes,
                         int64_t until_ns)
{
  size_t at = 0;
  int64_t played_ns = INT64_MIN;
  while (at < n_bytes)
    {
      const LnsPythonHead *head = (const LnsPythonHead *)(bytes + at);
      if (head->time_ns > until_ns)
        break;
      play (decoder, head);
      if (head->time_ns != INT64_MIN) /* a definition has no time */
        played_ns = head->time_ns - decoder->clock.t0_ns;
      at += head->n_words * sizeof (uint64_t);
    }
  forget_threads (decoder, played_ns);
  return at;
}

/* Samples are played later than the end of their thread is known. */
static void
end_thread (LnsDecoder *decoder, LnsDecodedThread *decoded, int64_t end_ns)
{
  Thread *thread = decoded->state[LNS_SOURCE_PYTHON_SAMPLES];
  if (thread == NULL)
    return;
  thread->end_ns = end_ns;
  LnsDecodedThread **place =
      thread->has_ended ? NULL : lns_array_try_add (&session_of (decoder)->ended);
  if (place != NULL)
    *place = decoded;
  else if (!thread->has_ended)
    {
      forget_thread (decoder, decoded);
      return;
    }
  thread->has_ended = true;
}

static void
free_session (LnsDecoder *decoder)
{
  Session *session = session_of (decoder);
  for (size_t i = 0; i < session->ended.n; i++)
    free (session->ended.items[i]->state[LNS_SOURCE_PYTHON_SAMPLES]);
  lns_array_clear (&session->ended);
  for (size_t i = 0; i < session->texts.n; i++)
    free (session->texts.items[i].text);
  lns_array_clear (&session->texts);
  lns_array_clear (&session->frames);
  lns_array_clear (&session->nodes);
}

const LnsDecoderOps _lns_python_samples_ops = {
  .session_bytes = sizeof (Session),
  .end_thread = end_thread,
  .free_session = free_session,
};
