/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/record/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "capture/session/decode/core/threads.h"
#include "capture/session/decode/python/python.h"
#include "src/base/language.h"
#include "src/base/format.h"
#include "src/base/monotonic.h"

/* A range that ended 1.3 s ago is in the file, or among what the file says that it lacks. It waits up to 50 ms for the
 * drain, 50 ms for the next batch (which makes this one complete), and this long for the commit; the remaining 0.4 s
 * are for a commit itself on a busy machine. */
#define COMMIT_NS INT64_C (700000000)

/* The size of records that makes a commit due earlier. In the file they take a third to a half of it. */
#define COMMIT_BYTES (64u << 20)

/* How often the room on the disk is looked at, and which part of it a commit may take. */
#define LOOK_BYTES ((size_t)256 << 10)
#define ROOM_SHARE 10

/* Keeps a reading of all clocks in the report: its times can be told in any of them. */
void
_lns_recording_keep_pair (LnsRecording *recording, const LnsWireClockPair *pair)
{
  char key[32], value[80];
  snprintf (key, sizeof key, "clock_pair.%u", recording->n_pairs++);
  snprintf (value, sizeof value, "%llu %lld %lld", (unsigned long long)pair->ticks,
            (long long)pair->monotonic_ns, (long long)pair->realtime_ns);
  lns_writer_set_meta (recording->writer, key, value);
  recording->pair_at_ns = pair->monotonic_ns;
}

void
_lns_recording_count (LnsRecording *recording)
{
  if (recording->writer == NULL)
    return;
  atomic_store (&recording->n_events, lns_writer_counts (recording->writer)->n_events);
  atomic_store (&recording->n_lost, lns_writer_counts (recording->writer)->n_lost);
  atomic_store (&recording->n_bytes, lns_writer_counts (recording->writer)->file_bytes);
}

/* Stores what the report lacks if it ends with the next commit. */
static void
tell_backlog (LnsRecording *recording)
{
  const int64_t seen_ns = atomic_load (&recording->seen_ns) - recording->t0_ns;
  const uint64_t n_begun = atomic_load (&recording->n_begun),
                 n_lost = atomic_load (&recording->n_pool_lost),
                 n_told = lns_decoder_n_told (recording->decoder);
  int64_t reached_ns = recording->reached_ns;
  const uint64_t n_waiting = lns_decoder_waiting (recording->decoder, &reached_ns),
                 n_played = recording->n_played;
  LnsWriterBacklog backlog = {
    .reached_ns = reached_ns,
    .seen_ns = seen_ns > recording->reached_ns ? seen_ns : recording->reached_ns,
    .n_waiting = n_waiting + (n_begun > n_played ? n_begun - n_played : 0),
    .n_untold = n_lost > n_told ? n_lost - n_told : 0,
    .n_begun = (n_begun > n_played ? n_begun : n_played) - recording->before.n_begun,
    .n_lost = (n_lost > n_told ? n_lost : n_told) - recording->before.n_lost,
  };
  /* How many samples wait is not known. */
  backlog.is_least = recording->sampled_ns != INT64_MAX;
  if (recording->sampled_ns < reached_ns)
    backlog.reached_ns = recording->sampled_ns;
  lns_writer_set_backlog (recording->writer, &backlog);
}

/* Says that a commit has failed, while the user can do something about it. Says nothing if a reader holds the
 * lock. */
static void
tell_trouble (LnsRecording *recording, const LnsError *cause)
{
  lns_error_set (&recording->commit_error, cause->domain, cause->code, "%s", cause->message);
  if (recording->has_told_trouble || cause->code == EBUSY)
    return;
  recording->has_told_trouble = true;
  LnsError trouble = { 0 };
  lns_error_set (&trouble, cause->domain, cause->code,
                 "%s; events stay in memory, and Lanescope tries again each second",
                 cause->message);
  lns_decoder_diagnose (recording->decoder, LNS_TROUBLE_CODE, LNS_SEVERITY_WARNING, LNS_ID_NONE,
                        trouble.message);
  pthread_mutex_lock (&recording->lock);
  recording->trouble = trouble;
  pthread_mutex_unlock (&recording->lock);
  eventfd_write (recording->news_fd, 1); /* fails only where it is readable already */
}

/* Whether what waits takes a good part of the room that the disk has left. A commit is written whole or not at all, so that many
 * small ones fill a disk where one large one leaves it empty. */
static bool
is_short_of_room (LnsRecording *recording)
{
  if (recording->bytes_since_commit - recording->room_bytes_seen < LOOK_BYTES ||
      recording->is_troubled)
    return false;
  recording->room_bytes_seen = recording->bytes_since_commit;
  const uint64_t n_waiting = lns_writer_waiting_bytes (recording->writer);
  return n_waiting > 0 && n_waiting > lns_writer_room_bytes (recording->writer) / ROOM_SHARE;
}

/* Notes whether the last commit has FAILED. Events that are lost while commits fail are not blamed on the program's speed. */
static void
follow_trouble (LnsRecording *recording, bool failed)
{
  const uint64_t n_lost = atomic_load (&recording->n_pool_lost);
  if (recording->is_troubled && n_lost > recording->n_lost_before_trouble)
    recording->n_lost_in_trouble += n_lost - recording->n_lost_before_trouble;
  recording->n_lost_before_trouble = n_lost;
  recording->is_troubled = failed;
}

/* Commits when COMMIT_NS have passed, whatever is still to be played: to be called often. The time that a commit
 * takes counts, as until its end the file is what the one before has made it. */
void
_lns_recording_commit_if_due (LnsRecording *recording)
{
  if (recording->writer == NULL)
    return;
  int64_t now_ns = lns_monotonic_ns ();
  if (now_ns - recording->committed_at_ns + recording->commit_took_ns < COMMIT_NS &&
      recording->bytes_since_commit < COMMIT_BYTES && !is_short_of_room (recording))
    return;
  lns_decoder_read_thread_names (recording->decoder);
  lns_decoder_show_open (recording->decoder);
  tell_backlog (recording);
  /* If it fails, the events wait for the next commit, until there are too many of them. */
  LnsError cause = { 0 };
  const bool failed = !lns_writer_commit (recording->writer, recording->reached_ns, &cause);
  if (failed)
    tell_trouble (recording, &cause);
  follow_trouble (recording, failed);
  /* The time when it was due, so that a slow commit does not delay the next one. */
  recording->committed_at_ns = now_ns;
  recording->commit_took_ns = lns_monotonic_ns () - now_ns;
  if (recording->commit_took_ns > COMMIT_NS / 2)
    recording->commit_took_ns = COMMIT_NS / 2;
  recording->bytes_since_commit = recording->room_bytes_seen = 0;
}

/* Puts a diagnostic into the report, and into its result. */
void
_lns_recording_diagnose (LnsRecording *recording,
                         const char *code,
                         LnsSeverity severity,
                         uint32_t process,
                         const char *text)
{
  lns_decoder_diagnose (recording->decoder, code, severity, process, text);
  char *copy = strdup (text);
  LnsReportDiagnostic *added = copy != NULL ? lns_array_try_add (&recording->diagnostics) : NULL;
  if (added != NULL)
    *added = (LnsReportDiagnostic){ code, severity, copy };
  else
    free (copy);
}

void
_lns_recording_note_cpu_times (LnsRecording *recording, int64_t on_cpu_ns, int64_t waited_ns)
{
  char text[24];
  if (recording->writer == NULL || (on_cpu_ns == 0 && waited_ns == 0))
    return;
  snprintf (text, sizeof text, "%lld", (long long)on_cpu_ns);
  lns_writer_set_meta (recording->writer, "main_thread_on_cpu_ns", text);
  snprintf (text, sizeof text, "%lld", (long long)waited_ns);
  lns_writer_set_meta (recording->writer, "main_thread_waited_ns", text);
}

typedef struct
{
  const char *code;
  LnsSeverity severity;
  const char *one, *many; /* sentences that begin with the count: for 1, and for any other number */
} Sentence;

/* The kinds of events that can be missing at a report's end. */
enum
{
  FASTER,
  IN_HANDLERS,
  WITHOUT_MEMORY,
  UNANSWERED,
  WITHOUT_BUFFERS,
  MISTIMED,
  OF_EARLIER_RANGES,
  WITHOUT_GPU_MEMORY,
  UNFINISHED,
  TOO_DEEP,
  UNTIMED,
  ORPHANS,
  DAMAGED,
  UNREAD,
  OVERWRITTEN,
  UNSAMPLED,
  UNREAD_PYTHON,
};

static const Sentence sentences[] = {
  [FASTER] = { "LNS-POOL-001", LNS_SEVERITY_WARNING,
               LNS_SENTENCE (
                   "%llu event is lost, as it came faster than it could be stored; record with a "
                   "larger --buffer-size, or to a faster disk"),
               LNS_SENTENCE (
                   "%llu events are lost, as they came faster than they could be stored; record "
                   "with a larger --buffer-size, or to a faster disk") },
  [IN_HANDLERS] = { "LNS-POOL-007", LNS_SEVERITY_WARNING,
                    LNS_SENTENCE (
                        "%llu event is lost, as a signal handler made it while another event of "
                        "its thread was recorded; make no NVTX calls in signal handlers, or block "
                        "the signal around those of the program; with --trace=osrt, raise "
                        "--osrt-threshold"),
                    LNS_SENTENCE (
                        "%llu events are lost, as a signal handler made them while another event "
                        "of its thread was recorded; make no NVTX calls in signal handlers, or "
                        "block the signal around those of the program; with --trace=osrt, raise "
                        "--osrt-threshold") },
  [WITHOUT_MEMORY] = { "LNS-POOL-008", LNS_SEVERITY_WARNING,
                       LNS_SENTENCE (
                           "%llu event is lost, as the program had no memory for the records of "
                           "another thread, or more than 65,536 threads that made NVTX calls; "
                           "raise its `ulimit -v`"),
                       LNS_SENTENCE (
                           "%llu events are lost, as the program had no memory for the records of "
                           "another thread, or more than 65,536 threads that made NVTX calls; "
                           "raise its `ulimit -v`") },
  [UNANSWERED] = { "LNS-POOL-012", LNS_SEVERITY_WARNING,
                   LNS_SENTENCE (
                       "%llu NVTX event is lost, as its process had no answer from Lanescope yet, "
                       "which was stopped or had no CPU time; do not stop Lanescope while it "
                       "records, or record on a less busy machine"),
                   LNS_SENTENCE (
                       "%llu NVTX events are lost, as their processes had no answer from Lanescope "
                       "yet, which was stopped or had no CPU time; do not stop Lanescope while it "
                       "records, or record on a less busy machine") },
  [WITHOUT_BUFFERS] = { "LNS-CUDA-013", LNS_SEVERITY_WARNING,
                        LNS_SENTENCE (
                            "%llu record of what the GPU did is lost, as CUPTI had no buffer for "
                            "it; record with a larger --buffer-size or a smaller "
                            "--cuda-flush-interval"),
                        LNS_SENTENCE (
                            "%llu records of what the GPU did are lost, as CUPTI had no buffer for "
                            "them; record with a larger --buffer-size or a smaller "
                            "--cuda-flush-interval") },
  [MISTIMED] = { "LNS-CUDA-025", LNS_SEVERITY_WARNING,
                 LNS_SENTENCE (
                     "%llu record of what the GPU did is lost, as CUPTI gave it no times or an end "
                     "before its start; record with another version of CUPTI (--cupti-path)"),
                 LNS_SENTENCE (
                     "%llu records of what the GPU did are lost, as CUPTI gave them no times or an "
                     "end before their start; record with another version of CUPTI "
                     "(--cupti-path)") },
  [OF_EARLIER_RANGES] = { "LNS-CUDA-024", LNS_SEVERITY_INFO,
                          LNS_SENTENCE (
                              "%llu CUDA call or GPU operation of an earlier capture range is left "
                              "out, as it ended after the report of its range; call "
                              "cudaDeviceSynchronize before a range ends"),
                          LNS_SENTENCE (
                              "%llu CUDA calls or GPU operations of earlier capture ranges are "
                              "left out, as they ended after the reports of their ranges; call "
                              "cudaDeviceSynchronize before a range ends") },
  [WITHOUT_GPU_MEMORY] = { "LNS-CUDA-016", LNS_SEVERITY_INFO,
                           LNS_SENTENCE (
                               "%llu CUDA call found no GPU memory, of which CUPTI's buffers take "
                               "some; if the program runs without Lanescope, record with a smaller "
                               "--cupti-device-buffer, such as 1M"),
                           LNS_SENTENCE (
                               "%llu CUDA calls found no GPU memory, of which CUPTI's buffers take "
                               "some; if the program runs without Lanescope, record with a smaller "
                               "--cupti-device-buffer, such as 1M") },
  [UNFINISHED] = { "LNS-CUDA-014", LNS_SEVERITY_INFO,
                   LNS_SENTENCE (
                       "%llu CUDA call or GPU operation is left out, as it had not ended when the "
                       "report or its process ended"),
                   LNS_SENTENCE (
                       "%llu CUDA calls or GPU operations are left out, as they had not ended when "
                       "the report or their process ended") },
  [TOO_DEEP] = { "LNS-NVTX-007", LNS_SEVERITY_WARNING,
                 LNS_SENTENCE (
                     "%llu range is lost, as it was nested more than 65,536 deep; look for pushes "
                     "without a pop"),
                 LNS_SENTENCE (
                     "%llu ranges are lost, as they were nested more than 65,536 deep; look for "
                     "pushes without a pop") },
  [UNTIMED] = { "LNS-NVTX-008", LNS_SEVERITY_WARNING,
                LNS_SENTENCE (
                    "%llu deferred event is left out, as its schema has no times or times of an "
                    "unknown clock"),
                LNS_SENTENCE (
                    "%llu deferred events are left out, as their schema has no times or times of "
                    "an unknown clock") },
  [ORPHANS] = { "LNS-NVTX-006", LNS_SEVERITY_WARNING,
                LNS_SENTENCE (
                    "%llu sample or batch is left out, as the program has not registered the "
                    "counter; check what nvtxCounterRegister returned"),
                LNS_SENTENCE (
                    "%llu samples or batches are left out, as the program has not registered the "
                    "counter; check what nvtxCounterRegister returned") },
  [OVERWRITTEN] = { "LNS-GPU-013", LNS_SEVERITY_WARNING,
                    LNS_SENTENCE (
                        "%llu sample of GPU metrics is lost, as the GPU overwrote it before it was "
                        "read; record with a lower --gpu-metrics-frequency"),
                    LNS_SENTENCE (
                        "%llu samples of GPU metrics are lost, as GPUs overwrote them before they "
                        "were read; record with a lower --gpu-metrics-frequency") },
  [UNSAMPLED] = { "LNS-CPU-006", LNS_SEVERITY_WARNING,
                  LNS_SENTENCE (
                      "%llu record of CPU samples or thread scheduling is lost, as the kernel had "
                      "no room for it; record with a larger --cpu-buffer-size, a lower "
                      "--sampling-frequency, or --cpuctxsw=none"),
                  LNS_SENTENCE (
                      "%llu records of CPU samples or thread scheduling are lost, as the kernel "
                      "had no room for them; record with a larger --cpu-buffer-size, a lower "
                      "--sampling-frequency, or --cpuctxsw=none") },
  [UNREAD_PYTHON] = { "LNS-PYTHON-004", LNS_SEVERITY_INFO,
                      LNS_SENTENCE (
                          "%llu Python sample of a thread was left out, as Lanescope had "
                          "no CPU time "
                          "for it: samples may take a twentieth of a core; record with a lower "
                          "--python-sampling-frequency"),
                      LNS_SENTENCE (
                          "%llu Python samples of threads were left out, as Lanescope had no CPU "
                          "time for them: samples may take a twentieth of a core; record with a "
                          "lower "
                          "--python-sampling-frequency") },
  [DAMAGED] = { "LNS-POOL-004", LNS_SEVERITY_WARNING,
                LNS_SENTENCE (
                    "%llu event, at least, is lost, as a program overwrote memory that holds "
                    "records; look for the fault with a memory checker"),
                LNS_SENTENCE (
                    "%llu events, at least, are lost, as a program overwrote memory that holds "
                    "records; look for the fault with a memory checker") },
  [UNREAD] = { "LNS-POOL-005", LNS_SEVERITY_WARNING,
               LNS_SENTENCE (
                   "%llu event or record is lost, as Lanescope had no memory to read it; free "
                   "memory, or raise the `ulimit -v` that it runs under"),
               LNS_SENTENCE (
                   "%llu events or records are lost, as Lanescope had no memory to read them; free "
                   "memory, or raise the `ulimit -v` that it runs under") },
};

_Static_assert(LNS_DEPTH_MAX == 65536, "as the sentence says");

/* Says that N events are missing, if N is not 0. */
static void
tell_count (LnsRecording *recording, uint64_t n, int which)
{
  static const char count[] = "%llu";
  const Sentence *sentence = &sentences[which];
  char text[400];
  snprintf (text, sizeof text, "%llu%s", (unsigned long long)n,
            lns_plural (n, sentence->one, sentence->many) + strlen (count));
  if (n > 0)
    _lns_recording_diagnose (recording, sentence->code, sentence->severity, LNS_ID_NONE, text);
}

/* Says that N events were lost because of the error of the commits, if there are any. ONE and MANY are the sentences. */
static void
tell_unwritten (LnsRecording *recording, uint64_t n, const char *one, const char *many)
{
  static const char count[] = "%llu", cause[] = "%s";
  const char *sentence = lns_plural (n, one, many) + strlen (count);
  char text[sizeof recording->commit_error.message + 128];
  snprintf (text, sizeof text, "%llu%.*s%s", (unsigned long long)n,
            (int)(strlen (sentence) - strlen (cause)), sentence, recording->commit_error.message);
  if (n > 0)
    _lns_recording_diagnose (recording, "LNS-REP-002", LNS_SEVERITY_WARNING, LNS_ID_NONE, text);
}

static const char *const no_cuda[] = {
  [LNS_CUDA_UNSEEN] = LNS_SENTENCE (
      "no CUDA events were seen: no process initialised CUDA in a way that reached Lanescope; the "
      "program may not use CUDA, find no libcuda or no GPU, or have dropped CUDA_INJECTION64_PATH "
      "from its environment"),
  [LNS_CUDA_NO_DEVICE] =
      LNS_SENTENCE ("no CUDA events were seen: CUDA found no GPU or could not be initialised; "
                    "`nvidia-smi` says whether the driver works"),
  [LNS_CUDA_IDLE] = LNS_SENTENCE (
      "no CUDA events were seen: the program has initialised CUDA, but did nothing with "
      "it while data were collected"),
  [LNS_CUDA_RECORDED] = NULL,
};

/* Says how many records came after the end of their report or between reports, and how many are lost in this one by
 * COUNTERS. */
static void
tell_between (LnsRecording *recording, const LnsDecoderCounters *counters)
{
  const LnsDecoderBetween between = lns_decoder_take_between (recording->decoder);
  tell_count (recording, between.n_dropped + counters->n_dropped, WITHOUT_BUFFERS);
  tell_count (recording, between.n_mistimed + counters->n_mistimed, MISTIMED);
  tell_count (recording, between.n_late, OF_EARLIER_RANGES);
}

static const char *const no_python = LNS_SENTENCE (
    "no Python program began to trace functions: none ran, or another program started it with -I, "
    "-E, -S or a PYTHONPATH without ours; start Python from this command line, or have what starts "
    "it add to PYTHONPATH");

/* Says what became of --keep-on. */
static void
tell_asked (LnsRecording *recording, const LnsKeptSteps *steps)
{
  char text[200];
  if (steps->n_asked == 0 && steps->is_asked_only)
    _lns_recording_diagnose (
        recording, "LNS-KEEP-006", LNS_SEVERITY_WARNING, LNS_ID_NONE,
        "no signal or command came for --keep-on, and the report keeps nothing");
  if (steps->n_asked == 0)
    return;
  snprintf (
      text, sizeof text, "%llu%s", (unsigned long long)steps->n_asked,
      lns_plural (
          steps->n_asked,
          LNS_SENTENCE ("%llu signal or command asked to keep something: the report keeps the time "
                        "around it, and counts the rest"),
          LNS_SENTENCE (
              "%llu signals or commands asked to keep something: the report keeps the time "
              "around them, and counts the rest")) +
          strlen ("%llu"));
  _lns_recording_diagnose (recording, "LNS-KEEP-006", LNS_SEVERITY_INFO, LNS_ID_NONE, text);
}

/* Says what became of --keep-steps. */
static void
tell_steps (LnsRecording *recording, const LnsKeptSteps *steps)
{
  char text[LNS_STEP_TEXT_BYTES + 300];
  if (steps->is_found)
    {
      snprintf (text, sizeof text,
                LNS_SENTENCE ("of %llu steps “%s”, %llu of them slow, the report keeps %llu, and "
                              "counts the rest"),
                (unsigned long long)steps->n_steps, steps->range, (unsigned long long)steps->n_slow,
                (unsigned long long)steps->n_kept);
      _lns_recording_diagnose (recording, "LNS-KEEP-004", LNS_SEVERITY_INFO, LNS_ID_NONE, text);
    }
  else if (steps->is_named)
    {
      snprintf (text, sizeof text,
                LNS_SENTENCE ("--keep-steps saw no range “%s”, and the report keeps nothing else; "
                              "check the name that --steps gives, and record NVTX (-t nvtx)"),
                steps->range);
      _lns_recording_diagnose (recording, "LNS-KEEP-003", LNS_SEVERITY_WARNING, LNS_ID_NONE, text);
    }
  else
    _lns_recording_diagnose (
        recording, "LNS-KEEP-003", LNS_SEVERITY_WARNING, LNS_ID_NONE,
        "--keep-steps found no steps, which are NVTX ranges that repeat: the report keeps all that "
        "fitted into the memory; name the range with --steps, and record NVTX (-t nvtx)");
}

/* Says what became of a report that keeps only parts of its run. */
static void
tell_kept (LnsRecording *recording, const LnsKeptSteps *steps)
{
  tell_asked (recording, steps);
  if (!steps->is_asked_only)
    tell_steps (recording, steps);
  if (steps->is_short)
    _lns_recording_diagnose (
        recording, "LNS-KEEP-005", LNS_SEVERITY_WARNING, LNS_ID_NONE,
        "events that waited for the end of a step did not fit into a quarter of the memory, and "
        "were left out: name a shorter range with --steps, or record less");
}

/* What can only be said at the end. */
static void
sum_up (LnsRecording *recording,
        const LnsBatchEvent *stop,
        const LnsKeptOutcome *kept,
        const LnsKeptSteps *steps)
{
  const LnsDecoderCounters counters = lns_decoder_counters (recording->decoder);
  const uint64_t n_dropped = lns_writer_counts (recording->writer)->n_dropped;
  uint64_t n_told = n_dropped + counters.n_too_deep + counters.n_dropped + counters.n_mistimed +
                    counters.n_damaged + counters.n_gpu_lost + counters.n_cpu_lost;
  for (int i = 0; i < LNS_WIRE_CAUSES; i++)
    n_told += counters.n_lost_by[i];
  const uint64_t n_lost = lns_writer_counts (recording->writer)->n_lost;
  const LnsCudaState cuda = lns_decoder_cuda_state (recording->decoder);
  if (stop->wants_cuda && no_cuda[cuda] != NULL)
    _lns_recording_diagnose (recording, "LNS-CUDA-011", LNS_SEVERITY_WARNING, LNS_ID_NONE,
                             no_cuda[cuda]);
  if (lns_writer_counts (recording->writer)->n_events ==
          counters.n_gpu_samples + counters.n_cpu_events &&
      (steps == NULL || steps->n_dropped == 0) && stop->text != NULL && cuda == LNS_CUDA_UNSEEN)
    _lns_recording_diagnose (recording, stop->code, stop->severity, LNS_ID_NONE, stop->text);
  const LnsUnrecorded *unrecorded;
  for (size_t i = 0; (unrecorded = lns_decoder_unrecorded (recording->decoder, i)) != NULL; i++)
    if (!unrecorded->is_settled)
      _lns_recording_diagnose (recording, unrecorded->code, unrecorded->severity,
                               unrecorded->process, unrecorded->text);
  if (stop->wants_python && !lns_decoder_has_python (recording->decoder))
    _lns_recording_diagnose (recording, "LNS-PYTHON-002", LNS_SEVERITY_WARNING, LNS_ID_NONE,
                             no_python);
  const uint64_t n_unread = n_lost > n_told ? n_lost - n_told : 0;
  follow_trouble (recording, recording->is_troubled);
  const uint64_t n_in_trouble =
      recording->n_lost_in_trouble < n_unread ? recording->n_lost_in_trouble : n_unread;
  tell_count (recording, n_unread - n_in_trouble, FASTER);
  tell_count (recording, counters.n_lost_by[LNS_WIRE_CAUSE_HANDLER], IN_HANDLERS);
  tell_count (recording, counters.n_lost_by[LNS_WIRE_CAUSE_MEMORY], WITHOUT_MEMORY);
  tell_count (recording, counters.n_lost_by[LNS_WIRE_CAUSE_UNANSWERED], UNANSWERED);
  tell_between (recording, &counters);
  tell_count (recording, counters.n_out_of_memory, WITHOUT_GPU_MEMORY);
  tell_count (recording, counters.n_unfinished, UNFINISHED);
  tell_count (recording, counters.n_too_deep, TOO_DEEP);
  tell_count (recording, counters.n_untimed, UNTIMED);
  tell_count (recording, counters.n_orphan_samples, ORPHANS);
  tell_count (recording, counters.n_gpu_lost, OVERWRITTEN);
  tell_count (recording, counters.n_cpu_lost, UNSAMPLED);
  tell_count (recording, counters.n_python_skipped, UNREAD_PYTHON);
  if (kept->is_short)
    _lns_recording_diagnose (
        recording, "LNS-KEEP-001", LNS_SEVERITY_WARNING, LNS_ID_NONE,
        "the seconds that --keep asks for do not fit into a quarter of the memory; "
        "the report holds only the last of them");
  if (steps != NULL)
    tell_kept (recording, steps);
  tell_unwritten (
      recording, n_dropped,
      LNS_SENTENCE ("%llu event is lost, as it could not be written for too long: %s"),
      LNS_SENTENCE ("%llu events are lost, as they could not be written for too long: %s"));
  tell_unwritten (
      recording, n_in_trouble,
      LNS_SENTENCE ("%llu event is lost, as it came while the report could not be written: %s"),
      LNS_SENTENCE (
          "%llu events are lost, as they came while the report could not be written: %s"));
  tell_count (recording, counters.n_damaged, DAMAGED);
  tell_count (recording, counters.n_refused + counters.n_lost_by[LNS_WIRE_CAUSE_UNREAD], UNREAD);
}

void
_lns_recording_start (LnsRecording *recording,
                      LnsWriter *writer,
                      int64_t start_ns,
                      const LnsWireClockPair *pair)
{
  recording->writer = writer;
  recording->commit_error = (LnsError){ 0 };
  recording->has_told_trouble = false;
  recording->is_troubled = false;
  recording->n_lost_in_trouble = 0;
  recording->sampled_ns = INT64_MAX;
  recording->n_pairs = 0;
  recording->committed_at_ns = lns_monotonic_ns ();
  recording->commit_took_ns = 0;
  recording->reached_ns = start_ns;
  lns_decoder_start_report (recording->decoder, writer, start_ns);
  recording->before = (LnsTally){ .n_begun = recording->n_played,
                                  .n_lost = lns_decoder_n_told (recording->decoder) };
  _lns_teller_set_report (&recording->teller, writer, &recording->before);
  _lns_recording_keep_pair (recording, pair);
}

static void
keep_memory (LnsRecording *recording, size_t n_bytes)
{
  char value[32];
  snprintf (value, sizeof value, "%zu", n_bytes);
  lns_writer_set_meta (recording->writer, "keep_memory_bytes", value);
}

void
_lns_recording_stop (LnsRecording *recording,
                     const LnsBatchEvent *event,
                     int64_t end_ns,
                     const LnsWireClockPair *pair,
                     const LnsKeptOutcome *kept,
                     LnsReportResult *ret_result)
{
  LnsReportResult result = { .keep_from_ns = INT64_MIN };
  if (event->keep_ns > 0)
    result.keep_from_ns = event->time_ns - event->keep_ns - recording->t0_ns;
  if (recording->writer != NULL)
    {
      if (event->kind == LNS_BATCH_STOP)
        {
          lns_decoder_write_held (recording->decoder);
          sum_up (recording, event, kept, lns_decoder_end_steps (recording->decoder, end_ns));
          if (recording->describe != NULL)
            recording->describe (recording->describe_data, recording->writer);
        }
      result.kept_bytes = kept->most_bytes;
      if (result.kept_bytes > 0)
        keep_memory (recording, result.kept_bytes);
      lns_decoder_stop_report (recording->decoder, end_ns);
      _lns_recording_keep_pair (recording, pair);
      LnsWriterCounts counts = { 0 };
      int64_t drained_ns = lns_monotonic_ns ();
      _lns_teller_set_report (&recording->teller, NULL, &recording->before);
      if (event->kind == LNS_BATCH_CANCEL)
        lns_writer_abandon (recording->writer);
      else
        result.is_written = lns_writer_finish_counted (recording->writer, LNS_STATE_COMPLETE,
                                                       end_ns, &counts, &result.error);
      recording->writer = NULL;
      result.n_events = counts.n_events;
      result.n_lost = counts.n_lost;
      result.n_processes = counts.n_processes;
      result.n_bytes = counts.file_bytes;
      result.drain_ms = (double)(drained_ns - event->time_ns) / 1e6;
      result.commit_ms = (double)(lns_monotonic_ns () - drained_ns) / 1e6;
    }
  else if (event->kind == LNS_BATCH_STOP)
    tell_between (recording, &(LnsDecoderCounters){ 0 });
  result.diagnostics = recording->diagnostics.items;
  result.n_diagnostics = recording->diagnostics.n;
  recording->diagnostics = (LnsReportDiagnostics){ 0 };
  *ret_result = result;
}

void
lns_report_result_clear (LnsReportResult *result)
{
  for (size_t i = 0; i < result->n_diagnostics; i++)
    free (result->diagnostics[i].text);
  free (result->diagnostics);
  *result = (LnsReportResult){ 0 };
}
