/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/record/recorder-private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/base/format.h"

/* A batch is played when the next one is there, 50 ms later; with that, and with a slow disk's moment,
 * a range that ended 1.3 s ago is in the file, or among what the file says that it lacks. */
#define COMMIT_NS INT64_C (900000000)

/* Of records; in the file they take a third to a half of it. */
#define COMMIT_BYTES (64u << 20)

/* Between two clock pairs that the report keeps. */
#define PAIR_NS INT64_C (10000000000)

static int64_t
monotonic_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C (1000000000) + now.tv_nsec;
}

/* --- Reports ---------------------------------------------------------------------------------- */

/* Keeps a reading of all clocks in the report: its times can be told in any of them. */
static void
keep_pair (LnsRecorder *recorder, const LnsWireClockPair *pair)
{
  char key[32], value[80];
  snprintf (key, sizeof key, "clock_pair.%u", recorder->n_pairs++);
  snprintf (value, sizeof value, "%llu %lld %lld", (unsigned long long)pair->ticks,
            (long long)pair->monotonic_ns, (long long)pair->realtime_ns);
  lns_writer_set_meta (recorder->writer, key, value);
  recorder->pair_at_ns = pair->monotonic_ns;
}

static void
count (LnsRecorder *recorder)
{
  if (recorder->writer == NULL)
    return;
  atomic_store (&recorder->n_events, lns_writer_events (recorder->writer));
  atomic_store (&recorder->n_lost, lns_writer_lost (recorder->writer));
  atomic_store (&recorder->n_bytes, lns_writer_file_bytes (recorder->writer));
}

/* What a report lacks that ends with the next commit. */
static void
tell_backlog (LnsRecorder *recorder)
{
  const int64_t seen_ns = atomic_load (&recorder->seen_ns) - recorder->t0_ns;
  const uint64_t n_begun = atomic_load (&recorder->n_begun),
                 n_lost = atomic_load (&recorder->n_pool_lost),
                 n_told = lns_decoder_n_told (recorder->decoder);
  const LnsWriterBacklog backlog = {
    .reached_ns = recorder->reached_ns,
    .seen_ns = seen_ns > recorder->reached_ns ? seen_ns : recorder->reached_ns,
    .n_waiting = n_begun > recorder->n_played ? n_begun - recorder->n_played : 0,
    .n_untold = n_lost > n_told ? n_lost - n_told : 0,
  };
  lns_writer_set_backlog (recorder->writer, &backlog);
}

/* A commit has failed: says so while there is time to do something about it. Readers that hold the lock are
 * waited for without a word. */
static void
tell_trouble (LnsRecorder *recorder, const LnsError *cause)
{
  lns_error_set (&recorder->commit_error, cause->domain, cause->code, "%s", cause->message);
  if (recorder->has_told_trouble || cause->code == EBUSY)
    return;
  recorder->has_told_trouble = true;
  LnsError trouble = { 0 };
  lns_error_set (&trouble, cause->domain, cause->code,
                 "%s; events are kept in memory meanwhile, and writing is tried again each second",
                 cause->message);
  lns_decoder_diagnose (recorder->decoder, LNS_TROUBLE_CODE, LNS_SEVERITY_WARNING, LNS_ID_NONE,
                        trouble.message);
  pthread_mutex_lock (&recorder->lock);
  recorder->trouble = trouble;
  pthread_mutex_unlock (&recorder->lock);
  const uint64_t one = 1;
  ssize_t written = write (recorder->trouble_fd, &one, sizeof one);
  (void)written; /* fails only where it is readable already */
}

/* Commits each second, whatever is still to be played: to be called often. The time that a commit
 * takes counts, as until its end the file is what the one before has made it. */
static void
commit_if_due (LnsRecorder *recorder)
{
  if (recorder->writer == NULL)
    return;
  int64_t now_ns = monotonic_ns ();
  if (now_ns - recorder->committed_at_ns + recorder->commit_took_ns < COMMIT_NS &&
      recorder->bytes_since_commit < COMMIT_BYTES)
    return;
  lns_decoder_read_thread_names (recorder->decoder);
  lns_decoder_show_open (recorder->decoder);
  tell_backlog (recorder);
  /* What a failed one leaves waits for the next, until there is too much of it. */
  LnsError cause = { 0 };
  if (!lns_writer_commit (recorder->writer, recorder->reached_ns, &cause))
    tell_trouble (recorder, &cause);
  /* From when it was due: a slow commit must not push the next one back. */
  recorder->committed_at_ns = now_ns;
  recorder->commit_took_ns = monotonic_ns () - now_ns;
  if (recorder->commit_took_ns > COMMIT_NS / 2)
    recorder->commit_took_ns = COMMIT_NS / 2;
  recorder->bytes_since_commit = 0;
}

/* Puts a diagnostic into the report, and into its result. */
static void
diagnose (LnsRecorder *recorder,
          const char *code,
          LnsSeverity severity,
          uint32_t process,
          const char *text)
{
  lns_decoder_diagnose (recorder->decoder, code, severity, process, text);
  LnsReportDiagnostic *diagnostics =
      realloc (recorder->diagnostics, (recorder->n_diagnostics + 1) * sizeof *diagnostics);
  char *copy = strdup (text);
  if (diagnostics != NULL)
    recorder->diagnostics = diagnostics;
  if (diagnostics != NULL && copy != NULL)
    diagnostics[recorder->n_diagnostics++] = (LnsReportDiagnostic){ code, severity, copy };
  else
    free (copy);
}

typedef struct
{
  const char *code;
  LnsSeverity severity;
  const char *one, *many; /* what follows the count, of one and of any other number */
  const char *rest;       /* what follows that */
} Sentence;

/* What can be missing at a report's end. */
enum
{
  FASTER,
  IN_HANDLERS,
  WITHOUT_MEMORY,
  WITHOUT_BUFFERS,
  OF_EARLIER_RANGES,
  WITHOUT_GPU_MEMORY,
  UNFINISHED,
  TOO_DEEP,
  UNTIMED,
  ORPHANS,
  UNWRITTEN,
  DAMAGED,
  UNREAD,
};

static const Sentence sentences[] = {
  [FASTER] = { "LNS-POOL-001", LNS_SEVERITY_WARNING, "event is lost, as it came faster than it",
               "events are lost, as they came faster than they",
               " could be stored: record with a larger --buffer-size, or to a faster disk" },
  [IN_HANDLERS] = { "LNS-POOL-007", LNS_SEVERITY_WARNING,
                    "event is lost, as a signal handler made it",
                    "events are lost, as a signal handler made them",
                    " while it interrupted another NVTX call of its thread: make no NVTX calls in "
                    "signal handlers, or block the signal around those of the program" },
  [WITHOUT_MEMORY] = { "LNS-POOL-008", LNS_SEVERITY_WARNING, "event is lost", "events are lost",
                       ", as the program had no memory for the records of another thread, or more "
                       "than 65,536 threads that made NVTX calls: raise its `ulimit -v`" },
  [WITHOUT_BUFFERS] = { "LNS-CUDA-013", LNS_SEVERITY_WARNING,
                        "record of what the GPU did is lost, as CUPTI had no buffer for it",
                        "records of what the GPU did are lost, as CUPTI had no buffer for them",
                        ": record with a larger --buffer-size or a smaller --cuda-flush-interval" },
  [OF_EARLIER_RANGES] = { "LNS-CUDA-024", LNS_SEVERITY_INFO,
                          "CUDA call or GPU operation of an earlier capture range is left out, as "
                          "it "
                          "ended after the report of its range",
                          "CUDA calls or GPU operations of earlier capture ranges are left out, as "
                          "they ended after the reports of their ranges",
                          ": call cudaDeviceSynchronize before a range ends" },
  [WITHOUT_GPU_MEMORY] = { "LNS-CUDA-016", LNS_SEVERITY_INFO, "CUDA call", "CUDA calls",
                           " found no GPU memory; CUPTI's buffers take some of it: where the "
                           "program "
                           "gets on without Lanescope, record with a smaller "
                           "--cupti-device-buffer, "
                           "such as 1M" },
  [UNFINISHED] = { "LNS-CUDA-014", LNS_SEVERITY_INFO,
                   "CUDA call or GPU operation had not ended when the report, or its process, did, "
                   "and is left out",
                   "CUDA calls or GPU operations had not ended when the report, or their process, "
                   "did, and are left out",
                   "" },
  [TOO_DEEP] = { "LNS-NVTX-007", LNS_SEVERITY_WARNING, "range is lost, as it was",
                 "ranges are lost, as they were",
                 " nested more than 65536 deep: look for pushes without a pop" },
  [UNTIMED] = { "LNS-NVTX-008", LNS_SEVERITY_WARNING,
                "deferred event is left out, as its schema tells",
                "deferred events are left out, as their schema tells",
                " no times, or those of a clock that is not known" },
  [ORPHANS] = { "LNS-NVTX-006", LNS_SEVERITY_WARNING, "sample or batch is left out",
                "samples or batches are left out",
                ", as the program has registered no such counter: check what nvtxCounterRegister "
                "returned" },
  [UNWRITTEN] = { "LNS-REP-002", LNS_SEVERITY_WARNING, "event is lost, as it",
                  "events are lost, as they", " could not be written for too long: " },
  [DAMAGED] = { "LNS-POOL-004", LNS_SEVERITY_WARNING, "event, at least, is lost",
                "events, at least, are lost",
                ", as a program wrote to memory that is not its own, where records lay: look "
                "for the fault with a memory checker" },
  [UNREAD] = { "LNS-POOL-005", LNS_SEVERITY_WARNING,
               "event or record is lost, as Lanescope had no memory to read it",
               "events or records are lost, as Lanescope had no memory to read them",
               ": free memory, or raise the `ulimit -v` that it runs under" },
};

_Static_assert(LNS_DEPTH_MAX == 65536, "as the sentence says");

/* Says that N are missing, where there are any; CAUSE ends the sentence. */
static void
tell_count_for (LnsRecorder *recorder, uint64_t n, int which, const char *cause)
{
  const Sentence *sentence = &sentences[which];
  char text[sizeof recorder->commit_error.message + 256];
  snprintf (text, sizeof text, "%llu %s%s%s", (unsigned long long)n,
            lns_plural (n, sentence->one, sentence->many), sentence->rest, cause);
  if (n > 0)
    diagnose (recorder, sentence->code, sentence->severity, LNS_ID_NONE, text);
}

static void
tell_count (LnsRecorder *recorder, uint64_t n, int which)
{
  tell_count_for (recorder, n, which, "");
}

static const char *const no_cuda[] = {
  [LNS_CUDA_UNSEEN] =
      "no CUDA events were seen: no process initialised CUDA in a way that reached Lanescope; the "
      "program may not use CUDA, find no libcuda or no GPU, or have dropped CUDA_INJECTION64_PATH "
      "from its environment",
  [LNS_CUDA_NO_DEVICE] =
      "no CUDA events were seen: CUDA found no GPU, or could not be initialised; "
      "`nvidia-smi` says whether the driver works",
  [LNS_CUDA_IDLE] =
      "no CUDA events were seen: the program has initialised CUDA, but did nothing with "
      "it while data were collected",
  [LNS_CUDA_RECORDED] = NULL,
};

/* Says what came when there was no report that it belongs to; N_DROPPED are those of this one. */
static void
tell_between (LnsRecorder *recorder, uint64_t n_dropped)
{
  const LnsDecoderBetween between = lns_decoder_take_between (recorder->decoder);
  tell_count (recorder, between.n_dropped + n_dropped, WITHOUT_BUFFERS);
  tell_count (recorder, between.n_late, OF_EARLIER_RANGES);
}

static const char no_python[] =
    "no Python program began to trace functions: none ran, or another program started it with -I, "
    "-E, -S or a PYTHONPATH without ours; start Python from this command line, or have what starts "
    "it add to PYTHONPATH";

/* What can only be said at the end. */
static void
sum_up (LnsRecorder *recorder, const LnsBatchEvent *stop)
{
  const LnsDecoderCounters counters = lns_decoder_counters (recorder->decoder);
  const uint64_t n_dropped = lns_writer_dropped (recorder->writer);
  uint64_t n_told = n_dropped + counters.n_too_deep + counters.n_dropped + counters.n_damaged;
  for (int i = 0; i < LNS_WIRE_CAUSES; i++)
    n_told += counters.n_lost_by[i];
  const uint64_t n_lost = lns_writer_lost (recorder->writer);
  const LnsCudaState cuda = lns_decoder_cuda_state (recorder->decoder);
  if (stop->wants_cuda && no_cuda[cuda] != NULL)
    diagnose (recorder, "LNS-CUDA-011", LNS_SEVERITY_WARNING, LNS_ID_NONE, no_cuda[cuda]);
  if (lns_writer_events (recorder->writer) == 0 && stop->text != NULL && cuda == LNS_CUDA_UNSEEN)
    diagnose (recorder, stop->code, LNS_SEVERITY_WARNING, LNS_ID_NONE, stop->text);
  const LnsUnrecorded *unrecorded;
  for (size_t i = 0; (unrecorded = lns_decoder_unrecorded (recorder->decoder, i)) != NULL; i++)
    if (!unrecorded->is_settled)
      diagnose (recorder, unrecorded->code, unrecorded->severity, unrecorded->process,
                unrecorded->text);
  if (stop->wants_python && !lns_decoder_has_python (recorder->decoder))
    diagnose (recorder, "LNS-PYTHON-002", LNS_SEVERITY_WARNING, LNS_ID_NONE, no_python);
  tell_count (recorder, n_lost > n_told ? n_lost - n_told : 0, FASTER);
  tell_count (recorder, counters.n_lost_by[LNS_WIRE_CAUSE_HANDLER], IN_HANDLERS);
  tell_count (recorder, counters.n_lost_by[LNS_WIRE_CAUSE_MEMORY], WITHOUT_MEMORY);
  tell_between (recorder, counters.n_dropped);
  tell_count (recorder, counters.n_out_of_memory, WITHOUT_GPU_MEMORY);
  tell_count (recorder, counters.n_unfinished, UNFINISHED);
  tell_count (recorder, counters.n_too_deep, TOO_DEEP);
  tell_count (recorder, counters.n_untimed, UNTIMED);
  tell_count (recorder, counters.n_orphan_samples, ORPHANS);
  if (recorder->kept.is_short)
    diagnose (recorder, "LNS-KEEP-001", LNS_SEVERITY_WARNING, LNS_ID_NONE,
              "the seconds that --keep asks for did not fit into a quarter of the memory there is: "
              "the report holds only the last of them");
  recorder->kept.is_short = false;
  tell_count_for (recorder, n_dropped, UNWRITTEN, recorder->commit_error.message);
  tell_count (recorder, counters.n_damaged, DAMAGED);
  tell_count (recorder, counters.n_refused + counters.n_lost_by[LNS_WIRE_CAUSE_UNREAD], UNREAD);
}

void
_lns_recorder_start_report (LnsRecorder *recorder,
                            LnsWriter *writer,
                            int64_t start_ns,
                            const LnsWireClockPair *pair)
{
  recorder->writer = writer;
  recorder->commit_error = (LnsError){ 0 };
  recorder->has_told_trouble = false;
  recorder->n_pairs = 0;
  recorder->committed_at_ns = monotonic_ns ();
  recorder->commit_took_ns = 0;
  recorder->reached_ns = start_ns;
  lns_decoder_start_report (recorder->decoder, writer, start_ns);
  keep_pair (recorder, pair);
}

static void
keep_memory (LnsRecorder *recorder, size_t n_bytes)
{
  char value[32];
  snprintf (value, sizeof value, "%zu", n_bytes);
  lns_writer_set_meta (recorder->writer, "keep_memory_bytes", value);
}

static void
publish_result (LnsRecorder *recorder, const LnsReportResult *result)
{
  pthread_mutex_lock (&recorder->lock);
  recorder->result = *result;
  recorder->has_result = true;
  pthread_cond_broadcast (&recorder->changed);
  pthread_mutex_unlock (&recorder->lock);
}

void
_lns_recorder_stop_report (LnsRecorder *recorder,
                           const LnsBatchEvent *event,
                           int64_t end_ns,
                           const LnsWireClockPair *pair,
                           LnsReportResult *ret_result)
{
  LnsReportResult result = { 0 };
  if (recorder->writer != NULL)
    {
      if (event->kind == LNS_BATCH_STOP)
        {
          lns_decoder_write_held (recorder->decoder);
          sum_up (recorder, event);
          if (recorder->describe != NULL)
            recorder->describe (recorder->describe_data, recorder->writer);
        }
      result.kept_bytes = recorder->kept.most_bytes;
      if (result.kept_bytes > 0)
        keep_memory (recorder, result.kept_bytes);
      recorder->kept.most_bytes = 0;
      lns_decoder_stop_report (recorder->decoder, end_ns);
      keep_pair (recorder, pair);
      LnsWriterCounts counts = { 0 };
      int64_t drained_ns = monotonic_ns ();
      if (event->kind == LNS_BATCH_CANCEL)
        lns_writer_abandon (recorder->writer);
      else
        result.is_written = lns_writer_finish_counted (recorder->writer, LNS_STATE_COMPLETE, end_ns,
                                                       &counts, &result.error);
      recorder->writer = NULL;
      result.n_events = counts.n_events;
      result.n_lost = counts.n_lost;
      result.n_processes = counts.n_processes;
      result.n_bytes = counts.file_bytes;
      result.drain_ms = (double)(drained_ns - event->time_ns) / 1e6;
      result.commit_ms = (double)(monotonic_ns () - drained_ns) / 1e6;
    }
  else if (event->kind == LNS_BATCH_STOP)
    tell_between (recorder, 0);
  result.diagnostics = recorder->diagnostics;
  result.n_diagnostics = recorder->n_diagnostics;
  recorder->diagnostics = NULL;
  recorder->n_diagnostics = 0;
  *ret_result = result;
}

/* --- Batches ---------------------------------------------------------------------------------- */

static void
apply (LnsRecorder *recorder, const LnsBatchEvent *event)
{
  LnsDecoder *decoder = recorder->decoder;
  switch (event->kind)
    {
    case LNS_BATCH_SALVAGE:
      lns_decoder_salvage (decoder, event->process, &event->salvage->sizes, &event->salvage->clock,
                           event->salvage->bytes, event->salvage->n_bytes);
      break;
    case LNS_BATCH_PROCESS_GONE:
      lns_decoder_end_process (decoder, event->process, event->time_ns - recorder->t0_ns,
                               &event->losses);
      _lns_recorder_leave_range (recorder, event->process);
      break;
    case LNS_BATCH_LOSSES:
      lns_decoder_add_losses (decoder, event->process, &event->losses);
      break;
    case LNS_BATCH_EXIT:
      lns_decoder_set_exit_code (decoder, event->process, event->time_ns - recorder->t0_ns,
                                 event->exit_code, event->exit_signal);
      break;
    case LNS_BATCH_DIAGNOSTIC:
      if (event->text != NULL)
        diagnose (recorder, event->code, event->severity, event->process, event->text);
      break;
    case LNS_BATCH_NOTHING:
    case LNS_BATCH_FLUSHED:
    case LNS_BATCH_PROCESS:
    case LNS_BATCH_RANGES:
    case LNS_BATCH_START:
    case LNS_BATCH_STOP:
    case LNS_BATCH_CANCEL:
      break; /* have a time of their own */
    }
}

/* Takes in what BATCH defines. */
static void
define (LnsRecorder *recorder, LnsBatch *batch)
{
  lns_decoder_add_pair (recorder->decoder, &batch->pair);
  for (size_t i = 0; i < batch->n_events; i++)
    if (batch->events[i].kind == LNS_BATCH_PROCESS)
      lns_decoder_set_process (recorder->decoder, batch->events[i].process, &batch->events[i].info);
    else if (batch->events[i].kind == LNS_BATCH_RANGES)
      _lns_recorder_set_ranges (recorder, &batch->events[i].ranges);
  for (size_t i = 0; i < batch->n_pieces; i++)
    {
      lns_decoder_define (recorder->decoder, &batch->pieces[i].source, batch->pieces[i].bytes,
                          batch->pieces[i].n_bytes);
      commit_if_due (recorder);
    }
}

/* Plays BATCH, whose definitions and those of the batch after it are known, and frees it. */
static void
play (LnsRecorder *recorder, LnsBatch *batch)
{
  for (size_t i = 0; i < batch->n_events; i++)
    if (batch->events[i].kind == LNS_BATCH_START)
      {
        _lns_recorder_start_report (recorder, batch->events[i].writer,
                                    batch->events[i].time_ns - recorder->t0_ns, &batch->pair);
        batch->events[i].writer = NULL;
      }
  uint64_t n_late = batch->n_packed_begun;
  for (size_t i = 0; i < batch->n_pieces; i++)
    {
      const LnsBatchPiece *piece = &batch->pieces[i];
      lns_decoder_play (recorder->decoder, &piece->source, piece->bytes, piece->n_bytes);
      recorder->n_played += piece->begun.n - piece->begun.n_late;
      n_late += piece->begun.n_late;
      recorder->bytes_since_commit += piece->n_bytes;
      commit_if_due (recorder);
    }
  lns_decoder_settle (recorder->decoder);
  recorder->n_played += n_late;
  for (size_t i = 0; i < batch->n_events; i++)
    apply (recorder, &batch->events[i]);
  for (size_t i = 0; i < batch->n_events; i++)
    if (batch->events[i].kind == LNS_BATCH_STOP || batch->events[i].kind == LNS_BATCH_CANCEL)
      {
        LnsReportResult result;
        _lns_recorder_stop_report (recorder, &batch->events[i],
                                   batch->pair.monotonic_ns - recorder->t0_ns, &batch->pair,
                                   &result);
        recorder->ranges.is_over = true;
        publish_result (recorder, &result);
      }
  count (recorder);
  if (batch->pair.monotonic_ns - recorder->t0_ns > recorder->reached_ns)
    recorder->reached_ns = batch->pair.monotonic_ns - recorder->t0_ns;
  if (recorder->writer != NULL && batch->pair.monotonic_ns - recorder->pair_at_ns >= PAIR_NS)
    keep_pair (recorder, &batch->pair);
  atomic_fetch_sub (&recorder->queued_bytes, batch->n_queued_bytes);
  lns_batch_free (batch);
}

/* Plays what waits up to the batch NEWEST, or all of it if that is NULL. */
static void
play_all_but (LnsRecorder *recorder, const LnsBatch *newest)
{
  if (!_lns_recorder_pass_edges (recorder) && newest != NULL)
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

void
_lns_recorder_take (LnsRecorder *recorder, LnsBatch *batch)
{
  define (recorder, batch);
  LnsBatch **last = &recorder->waiting;
  while (*last != NULL)
    last = &(*last)->next;
  *last = batch;
  batch->next = NULL;
  _lns_recorder_find_edges (recorder, batch);
  play_all_but (recorder, batch);
  commit_if_due (recorder);
}

static void *
run (void *data)
{
  LnsRecorder *recorder = data;
  LnsBatch *batch;
  while ((batch = next_batch (recorder)) != NULL)
    _lns_recorder_keep (recorder, batch);
  play_all_but (recorder, NULL);
  return NULL;
}

/* --- From other threads ----------------------------------------------------------------------- */

LnsRecorder *
lns_recorder_new (const LnsWireClockPair *first, const LnsDomainFilter *filter, LnsError *error)
{
  LnsRecorder *recorder = calloc (1, sizeof *recorder);
  if (recorder != NULL)
    recorder->decoder = lns_decoder_new (first);
  if (recorder == NULL || recorder->decoder == NULL)
    {
      free (recorder);
      lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "memory is short: the session cannot start");
      return NULL;
    }
  lns_decoder_set_filter (recorder->decoder, filter);
  recorder->t0_ns = first->monotonic_ns;
  recorder->trouble_fd = -1;
  pthread_mutex_init (&recorder->lock, NULL);
  pthread_cond_init (&recorder->changed, NULL);
  int failed = pthread_create (&recorder->thread, NULL, run, recorder);
  if (failed == 0)
    return recorder;
  lns_error_set_errno (error, failed, "the recording thread cannot be started");
  lns_decoder_free (recorder->decoder);
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
  if (recorder->writer != NULL)
    lns_writer_abandon (recorder->writer);
  recorder->result.diagnostics = recorder->diagnostics;
  recorder->result.n_diagnostics = recorder->n_diagnostics;
  lns_report_result_clear (&recorder->result);
  _lns_recorder_free_ranges (recorder);
  _lns_recorder_free_kept (recorder);
  lns_decoder_free (recorder->decoder);
  pthread_cond_destroy (&recorder->changed);
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
  atomic_store (&recorder->n_begun, n_begun);
  atomic_store (&recorder->n_pool_lost, n_lost);
  atomic_store (&recorder->seen_ns, now_ns);
}

void
lns_recorder_set_trouble_fd (LnsRecorder *recorder, int fd)
{
  recorder->trouble_fd = fd;
}

bool
lns_recorder_next_trouble (LnsRecorder *recorder, LnsError *ret_trouble)
{
  pthread_mutex_lock (&recorder->lock);
  *ret_trouble = recorder->trouble;
  recorder->trouble = (LnsError){ 0 };
  pthread_mutex_unlock (&recorder->lock);
  return ret_trouble->domain != LNS_ERROR_NONE;
}

void
lns_recorder_set_describe (LnsRecorder *recorder,
                           void (*describe) (void *data, LnsWriter *report),
                           void *data)
{
  recorder->describe = describe;
  recorder->describe_data = data;
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
    .n_events = atomic_load (&recorder->n_events),
    .n_lost = atomic_load (&recorder->n_lost),
    .n_bytes = atomic_load (&recorder->n_bytes),
  };
}

void
lns_report_result_clear (LnsReportResult *result)
{
  for (size_t i = 0; i < result->n_diagnostics; i++)
    free (result->diagnostics[i].text);
  free (result->diagnostics);
  *result = (LnsReportResult){ 0 };
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
