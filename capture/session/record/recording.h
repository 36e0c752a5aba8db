/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The part of the recorder that writes: the session's decoder, the present report, which is committed each second,
 * and the diagnostics at its end. Used by the recorder's thread, except where a comment says otherwise. */

#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "capture/session/record/batch.h"
#include "capture/session/record/result.h"
#include "capture/session/record/teller.h"

typedef LNS_ARRAY (LnsReportDiagnostic) LnsReportDiagnostics;

typedef struct
{
  /* For other threads. */
  atomic_ullong n_events, n_lost, n_bytes;
  atomic_ullong n_begun, n_pool_lost; /* of the session, up to seen_ns (CLOCK_MONOTONIC) */
  atomic_llong seen_ns;
  pthread_mutex_t lock;
  LnsError trouble; /* under the lock; not told yet */

  LnsDecoder *decoder;
  LnsWriter *writer;     /* NULL: no report */
  int news_fd;           /* an eventfd */
  bool has_told_trouble; /* for this report */
  bool is_troubled;      /* the last commit failed */
  /* Events that pools have lost: by the first of these commits (n_pool_lost), and in this report in earlier such times. */
  uint64_t n_lost_before_trouble, n_lost_in_trouble;
  LnsError
      commit_error; /* the first that a later commit made good, as the next two of the report */
  LnsReportDiagnostics diagnostics;
  int64_t t0_ns, committed_at_ns, pair_at_ns;
  int64_t commit_took_ns;
  int64_t reached_ns; /* report time up to which the writer has everything */
  int64_t
      sampled_ns; /* the same for samples of CPUs, which nobody counts before they are played; INT64_MAX: there are none */
  uint64_t n_played; /* events that have begun and are in the writer or in no report */
  unsigned n_pairs;
  size_t bytes_since_commit;
  size_t room_bytes_seen; /* of these, when the room on the disk was last looked at */
  LnsTally before;        /* the session's events that are in no report or an earlier one */
  LnsTeller teller;
  void (*describe) (void *data, LnsWriter *report); /* or NULL */
  void *describe_data;
} LnsRecording;

/* The outcome of a report that keeps only its last seconds. */
typedef struct
{
  size_t most_bytes; /* that they took; 0: not such a report */
  bool is_short;     /* they did not fit */
} LnsKeptOutcome;

/* Begins the report of WRITER, which is taken over, at START_NS, in report time. */
void _lns_recording_start (LnsRecording *recording,
                           LnsWriter *writer,
                           int64_t start_ns,
                           const LnsWireClockPair *pair);

/* Ends the report, if there is one, at END_NS. EVENT is the STOP or CANCEL. */
void _lns_recording_stop (LnsRecording *recording,
                          const LnsBatchEvent *event,
                          int64_t end_ns,
                          const LnsWireClockPair *pair,
                          const LnsKeptOutcome *kept,
                          LnsReportResult *ret_result);

/* Stores a reading of all clocks in the report, so that its times can be given in any of them. */
void _lns_recording_keep_pair (LnsRecording *recording, const LnsWireClockPair *pair);

/* Commits if a second has passed, whatever is still to be played. Call it often. */
void _lns_recording_commit_if_due (LnsRecording *recording);

/* Notes in the report that the program's main thread was on a CPU for ON_CPU_NS and had none that it could have used for WAITED_NS; both 0:
 * not known. */
void _lns_recording_note_cpu_times (LnsRecording *recording, int64_t on_cpu_ns, int64_t waited_ns);

/* Adds a diagnostic to the report and to its result. */
void _lns_recording_diagnose (LnsRecording *recording,
                              const char *code,
                              LnsSeverity severity,
                              uint32_t process,
                              const char *text);

/* Publishes the counts of the report. */
void _lns_recording_count (LnsRecording *recording);
