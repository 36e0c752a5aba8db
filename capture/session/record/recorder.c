/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/record/recorder-parts.h"
#include "capture/session/decode/cpu/cpu.h"
#include "capture/session/decode/python/samples.h"
#include "capture/session/decode/gpu/gpu.h"
#include "src/base/language.h"

#include "src/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* The interval between two clock pairs in the report. */
#define PAIR_NS INT64_C (10000000000)

/* --- Batches ---------------------------------------------------------------------------------- */

static void
publish_result (LnsRecorder *recorder, const LnsReportResult *result)
{
  pthread_mutex_lock (&recorder->lock);
  recorder->result = *result;
  recorder->has_result = true;
  pthread_cond_broadcast (&recorder->changed);
  pthread_mutex_unlock (&recorder->lock);
}

static void
apply (LnsRecorder *recorder, const LnsBatchEvent *event)
{
  LnsDecoder *decoder = recorder->recording.decoder;
  switch (event->kind)
    {
    case LNS_BATCH_PROCESS_GONE:
      lns_decoder_end_process (decoder, event->process, event->time_ns - recorder->recording.t0_ns,
                               &event->losses);
      _lns_ranges_leave (&recorder->ranges, event->process);
      break;
    case LNS_BATCH_LOSSES:
      lns_decoder_add_losses (decoder, event->process, &event->losses);
      break;
    case LNS_BATCH_EXIT:
      lns_decoder_set_exit_code (decoder, event->process,
                                 event->time_ns - recorder->recording.t0_ns, event->exit_code,
                                 event->exit_signal);
      _lns_recording_note_cpu_times (&recorder->recording, event->on_cpu_ns, event->waited_ns);
      break;
    case LNS_BATCH_DIAGNOSTIC:
      if (event->text != NULL)
        _lns_recording_diagnose (&recorder->recording, event->code, event->severity, event->process,
                                 event->text);
      break;
    case LNS_BATCH_GPU:
      lns_decoder_take_gpu (decoder, event->gpu, INT64_MAX);
      break;
    case LNS_BATCH_CPU:
      lns_decoder_take_cpu (decoder, event->cpu, event->n_cpu_bytes, INT64_MAX);
      _lns_recording_commit_if_due (&recorder->recording);
      break;
    case LNS_BATCH_PYTHON:
      lns_decoder_take_python (decoder, event->cpu, event->n_cpu_bytes, INT64_MAX);
      _lns_recording_commit_if_due (&recorder->recording);
      break;
    case LNS_BATCH_KEEP:
      lns_decoder_keep_around (decoder, event->time_ns - recorder->recording.t0_ns);
      break;
    case LNS_BATCH_NOTHING:
    case LNS_BATCH_FLUSHED:
    case LNS_BATCH_SALVAGE:
    case LNS_BATCH_WITHHELD_COPY:
    case LNS_BATCH_PROCESS:
    case LNS_BATCH_RANGES:
    case LNS_BATCH_WITHHELD:
    case LNS_BATCH_START:
    case LNS_BATCH_STOP:
    case LNS_BATCH_CANCEL:
      break; /* handled elsewhere */
    }
}

/* Makes a piece of BATCH of what CUPTI had in a buffer, which EVENT tells. */
static void
read_buffer (LnsRecorder *recorder, LnsBatch *batch, LnsBatchEvent *event)
{
  LnsDecoder *decoder = recorder->recording.decoder;
  const bool is_copy = event->kind == LNS_BATCH_WITHHELD_COPY;
  LnsDecoderSource source;
  size_t n_bytes;
  uint8_t *records =
      lns_decoder_read_buffer (decoder, event->process, event->salvage, is_copy, &source, &n_bytes);
  /* Records are shorter than those of CUPTI. */
  uint8_t *bytes =
      n_bytes > 0 && n_bytes <= LNS_BLOCK_BYTES ? lns_batch_reserve (batch, n_bytes) : NULL;
  if (bytes != NULL)
    {
      memcpy (bytes, records, n_bytes);
      if (lns_batch_add (batch, &source, n_bytes, (LnsBegun){ 0 }))
        {
          batch->pieces.items[batch->pieces.n - 1].is_copy = is_copy;
          lns_decoder_define (decoder, &source, bytes, n_bytes);
        }
    }
  free (records);
  free (event->salvage);
  event->salvage = NULL;
}

/* Takes in what BATCH defines. */
static void
define (LnsRecorder *recorder, LnsBatch *batch)
{
  lns_decoder_add_pair (recorder->recording.decoder, &batch->pair);
  for (size_t i = 0; i < batch->events.n; i++)
    if (batch->events.items[i].kind == LNS_BATCH_PROCESS)
      lns_decoder_set_process (recorder->recording.decoder, batch->events.items[i].process,
                               &batch->events.items[i].info);
    else if (batch->events.items[i].kind == LNS_BATCH_RANGES)
      _lns_ranges_set (&recorder->ranges, &batch->events.items[i].ranges);
  for (size_t i = 0; i < batch->pieces.n; i++)
    {
      lns_decoder_define (recorder->recording.decoder, &batch->pieces.items[i].source,
                          batch->pieces.items[i].bytes, batch->pieces.items[i].n_bytes);
      _lns_recording_commit_if_due (&recorder->recording);
    }
  for (size_t i = 0; i < batch->events.n; i++)
    if (batch->events.items[i].salvage != NULL)
      {
        read_buffer (recorder, batch, &batch->events.items[i]);
        _lns_recording_commit_if_due (&recorder->recording); /* there are up to 256 buffers */
      }
}

/* Plays BATCH, whose definitions and those of the batch after it are known, and frees it. */
static void
play (LnsRecorder *recorder, LnsBatch *batch)
{
  for (size_t i = 0; i < batch->events.n; i++)
    if (batch->events.items[i].kind == LNS_BATCH_START)
      {
        lns_decoder_keep_steps (recorder->recording.decoder, batch->events.items[i].steps);
        _lns_recording_start (&recorder->recording, batch->events.items[i].writer,
                              batch->events.items[i].time_ns - recorder->recording.t0_ns,
                              &batch->pair);
        batch->events.items[i].writer = NULL;
      }
  uint64_t n_late = batch->n_packed_begun;
  for (size_t i = 0; i < batch->pieces.n; i++)
    {
      const LnsBatchPiece *piece = &batch->pieces.items[i];
      if (piece->is_copy)
        continue;
      lns_decoder_play (recorder->recording.decoder, &piece->source, piece->bytes, piece->n_bytes);
      recorder->recording.n_played += piece->begun.n - piece->begun.n_late;
      n_late += piece->begun.n_late;
      recorder->recording.bytes_since_commit += piece->n_bytes;
      _lns_recording_commit_if_due (&recorder->recording);
    }
  /* It was read before the records of this batch were, as was the pair of the batch before. */
  for (size_t i = 0; i < batch->events.n; i++)
    if (batch->events.items[i].kind == LNS_BATCH_WITHHELD)
      lns_decoder_set_withheld (recorder->recording.decoder, batch->events.items[i].process,
                                batch->events.items[i].withheld_ticks);
  lns_decoder_settle (recorder->recording.decoder, recorder->recording.reached_ns);
  recorder->recording.n_played += n_late;
  for (size_t i = 0; i < batch->events.n; i++)
    apply (recorder, &batch->events.items[i]);
  for (size_t i = 0; i < batch->events.n; i++)
    if (batch->events.items[i].kind == LNS_BATCH_STOP ||
        batch->events.items[i].kind == LNS_BATCH_CANCEL)
      {
        LnsReportResult result;
        _lns_recording_stop (&recorder->recording, &batch->events.items[i],
                             batch->pair.monotonic_ns - recorder->recording.t0_ns, &batch->pair,
                             &recorder->kept.outcome, &result);
        recorder->kept.outcome = (LnsKeptOutcome){ 0 };
        recorder->ranges.is_over = true;
        publish_result (recorder, &result);
      }
  _lns_recording_count (&recorder->recording);
  if (batch->pair.monotonic_ns - recorder->recording.t0_ns > recorder->recording.reached_ns)
    recorder->recording.reached_ns = batch->pair.monotonic_ns - recorder->recording.t0_ns;
  recorder->recording.sampled_ns = batch->sampled_ns == 0 || batch->sampled_ns == INT64_MAX
                                       ? INT64_MAX
                                       : batch->sampled_ns - recorder->recording.t0_ns;
  if (recorder->recording.writer != NULL &&
      batch->pair.monotonic_ns - recorder->recording.pair_at_ns >= PAIR_NS)
    _lns_recording_keep_pair (&recorder->recording, &batch->pair);
  atomic_fetch_sub (&recorder->queued_bytes, batch->n_queued_bytes);
  lns_batch_free (batch);
}

/* Plays the waiting batches before NEWEST, or all if that is NULL. */
static void
play_all_but (LnsRecorder *recorder, const LnsBatch *newest)
{
  if (!_lns_ranges_pass_edges (&recorder->ranges) && newest != NULL)
    return;
  while (recorder->waiting != NULL && recorder->waiting != newest)
    {
      LnsBatch *batch = recorder->waiting;
      recorder->waiting = batch->next;
      play (recorder, batch);
    }
}

static LnsBatch *
next_batch (LnsRecorder *recorder)
{
  pthread_mutex_lock (&recorder->lock);
  while (recorder->first == NULL && !recorder->is_ending)
    pthread_cond_wait (&recorder->changed, &recorder->lock);
  LnsBatch *batch = recorder->first;
  if (batch != NULL && (recorder->first = batch->next) == NULL)
    recorder->last = NULL;
  pthread_mutex_unlock (&recorder->lock);
  return batch;
}

/* Takes BATCH over. It is played when the next batch has come, as all its definitions are known then. */
static void
take (void *data, LnsBatch *batch)
{
  LnsRecorder *recorder = data;
  define (recorder, batch);
  LnsBatch **last = &recorder->waiting;
  while (*last != NULL)
    last = &(*last)->next;
  *last = batch;
  batch->next = NULL;
  _lns_ranges_find_edges (&recorder->ranges, batch);
  play_all_but (recorder, batch);
  _lns_recording_commit_if_due (&recorder->recording);
}

static void *
run (void *data)
{
  LnsRecorder *recorder = data;
  LnsBatch *batch;
  pthread_setname_np (pthread_self (), "recorder"); /* for debuggers, and tests */
  lns_text_stay_english ();                         /* what fails here is told in the report, too */
  while ((batch = next_batch (recorder)) != NULL)
    {
      /* GPUs are sampled from the moment that they are used, not when that moment is too old to be kept. */
      for (size_t i = 0; recorder->kept.keep_ns > 0 && i < batch->pieces.n; i++)
        lns_decoder_look_for_gpus (recorder->recording.decoder, batch->pieces.items[i].bytes,
                                   batch->pieces.items[i].n_bytes);
      _lns_kept_take (&recorder->kept, batch);
    }
  play_all_but (recorder, NULL);
  return NULL;
}

/* --- From other threads ----------------------------------------------------------------------- */

void
_lns_recorder_init (LnsRecorder *recorder,
                    const LnsWireClockPair *first,
                    const LnsDomainFilter *filter)
{
  recorder->recording.decoder = lns_decoder_new (first, filter);
  recorder->recording.t0_ns = first->monotonic_ns;
  recorder->recording.news_fd = -1;
  recorder->ranges.recording = &recorder->recording;
  recorder->ranges.waiting = &recorder->waiting;
  recorder->kept.play = take;
  recorder->kept.data = recorder;
  recorder->kept.queued_bytes = &recorder->queued_bytes;
  recorder->kept.t0_ns = first->monotonic_ns;
  pthread_mutex_init (&recorder->recording.lock, NULL);
  pthread_mutex_init (&recorder->ranges.lock, NULL);
  pthread_mutex_init (&recorder->lock, NULL);
  pthread_cond_init (&recorder->changed, NULL);
}

LnsRecorder *
lns_recorder_new (const LnsWireClockPair *first,
                  const LnsDomainFilter *filter,
                  int news_fd,
                  LnsError *error)
{
  LnsRecorder *recorder = lns_calloc (1, sizeof *recorder);
  _lns_recorder_init (recorder, first, filter);
  recorder->recording.news_fd = news_fd;
  recorder->recording.teller = (LnsTeller){ .t0_ns = first->monotonic_ns,
                                            .n_begun = &recorder->recording.n_begun,
                                            .n_lost = &recorder->recording.n_pool_lost,
                                            .seen_ns = &recorder->recording.seen_ns };
  _lns_teller_start (&recorder->recording.teller);
  int failed = pthread_create (&recorder->thread, NULL, run, recorder);
  if (failed == 0)
    return recorder;
  _lns_teller_end (&recorder->recording.teller);
  lns_error_set_errno (error, failed, "cannot start the recording thread");
  lns_decoder_free (recorder->recording.decoder);
  free (recorder);
  return NULL;
}

void
lns_recorder_free (LnsRecorder *recorder)
{
  if (recorder == NULL)
    return;
  pthread_mutex_lock (&recorder->lock);
  recorder->is_ending = true;
  pthread_cond_broadcast (&recorder->changed);
  pthread_mutex_unlock (&recorder->lock);
  pthread_join (recorder->thread, NULL);
  _lns_teller_end (&recorder->recording.teller);
  if (recorder->recording.writer != NULL)
    lns_writer_abandon (recorder->recording.writer);
  recorder->result.diagnostics = recorder->recording.diagnostics.items;
  recorder->result.n_diagnostics = recorder->recording.diagnostics.n;
  lns_report_result_clear (&recorder->result);
  _lns_ranges_free (&recorder->ranges);
  _lns_kept_free (&recorder->kept);
  lns_decoder_free (recorder->recording.decoder);
  pthread_cond_destroy (&recorder->changed);
  pthread_mutex_destroy (&recorder->ranges.lock);
  pthread_mutex_destroy (&recorder->recording.lock);
  pthread_mutex_destroy (&recorder->lock);
  free (recorder);
}

void
lns_recorder_push (LnsRecorder *recorder, LnsBatch *batch)
{
  batch->n_queued_bytes = batch->n_bytes;
  atomic_fetch_add (&recorder->queued_bytes, batch->n_bytes);
  batch->next = NULL;
  pthread_mutex_lock (&recorder->lock);
  if (recorder->last != NULL)
    recorder->last->next = batch;
  else
    recorder->first = batch;
  recorder->last = batch;
  pthread_cond_broadcast (&recorder->changed);
  pthread_mutex_unlock (&recorder->lock);
}

void
lns_recorder_tell_made (LnsRecorder *recorder, int64_t now_ns, uint64_t n_begun, uint64_t n_lost)
{
  atomic_store (&recorder->recording.n_begun, n_begun);
  atomic_store (&recorder->recording.n_pool_lost, n_lost);
  atomic_store (&recorder->recording.seen_ns, now_ns);
}

bool
lns_recorder_next_trouble (LnsRecorder *recorder, LnsError *ret_trouble)
{
  pthread_mutex_lock (&recorder->recording.lock);
  *ret_trouble = recorder->recording.trouble;
  recorder->recording.trouble = (LnsError){ 0 };
  pthread_mutex_unlock (&recorder->recording.lock);
  return ret_trouble->domain != LNS_ERROR_NONE;
}

void
lns_recorder_set_describe (LnsRecorder *recorder,
                           void (*describe) (void *data, LnsWriter *report),
                           void *data)
{
  recorder->recording.describe = describe;
  recorder->recording.describe_data = data;
}

void
lns_recorder_set_gpu_used (LnsRecorder *recorder,
                           void (*used) (void *data, const char *bus),
                           void *data)
{
  lns_decoder_set_gpu_used (recorder->recording.decoder, used, data);
}

size_t
lns_recorder_queued_bytes (const LnsRecorder *recorder)
{
  return atomic_load (&recorder->queued_bytes);
}

LnsRecorderCounters
lns_recorder_counters (LnsRecorder *recorder)
{
  return (LnsRecorderCounters){
    .n_events = atomic_load (&recorder->recording.n_events),
    .n_lost = atomic_load (&recorder->recording.n_lost),
    .n_bytes = atomic_load (&recorder->recording.n_bytes),
  };
}

bool
lns_recorder_next_range (LnsRecorder *recorder, LnsRangeNews *ret_news)
{
  return _lns_ranges_next (&recorder->ranges, ret_news);
}

void
lns_recorder_wait (LnsRecorder *recorder, LnsReportResult *ret_result)
{
  pthread_mutex_lock (&recorder->lock);
  while (!recorder->has_result)
    pthread_cond_wait (&recorder->changed, &recorder->lock);
  *ret_result = recorder->result;
  recorder->has_result = false;
  pthread_mutex_unlock (&recorder->lock);
}
