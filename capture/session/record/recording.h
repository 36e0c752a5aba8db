/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the recorder writes: the decoder of the session and the report that there is, which is committed each second,
 * and what a person is to know of it at its end. Used by the recorder's thread but for what says otherwise. */

#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "capture/session/record/batch.h"
#include "capture/session/record/result.h"

typedef LNS_ARRAY (LnsReportDiagnostic) LnsReportDiagnostics;

typedef struct
{
  /* For other threads. */
  atomic_ullong n_events, n_lost, n_bytes;
  atomic_ullong n_begun, n_pool_lost; /* of the session, up to seen_ns (CLOCK_MONOTONIC) */
  atomic_llong seen_ns;
  pthread_mutex_t lock;
  LnsError trouble; /* under the lock: to be told */

  LnsDecoder *decoder;
  LnsWriter *writer; /* NULL: no report */
  int trouble_fd;
  bool has_told_trouble; /* of this report */
  LnsError
      commit_error; /* the first that a later commit made good, as the next two of the report */
  LnsReportDiagnostics diagnostics;
  int64_t t0_ns, committed_at_ns, pair_at_ns;
  int64_t commit_took_ns;
  int64_t reached_ns; /* report time up to which all is in the writer */
  uint64_t n_played;  /* events that have begun and are in the writer, or in no report */
  unsigned n_pairs;
  size_t bytes_since_commit;
  void (*describe) (void *data, LnsWriter *report); /* may be NULL */
  void *describe_data;
} LnsRecording;

/* How it went with a report of which only the last seconds were kept. */
typedef struct
{
  size_t most_bytes; /* that they took; 0: it is no such report */
  bool is_short;     /* they did not fit */
} LnsKeptOutcome;

/* Takes WRITER over: the report begins at START_NS, in report time. */
void _lns_recording_start (LnsRecording *recording,
                           LnsWriter *writer,
                           int64_t start_ns,
                           const LnsWireClockPair *pair);

/* Ends the report, if there is one, at END_NS as EVENT, a STOP or CANCEL that came at EVENT's time, says. */
void _lns_recording_stop (LnsRecording *recording,
                          const LnsBatchEvent *event,
                          int64_t end_ns,
                          const LnsWireClockPair *pair,
                          const LnsKeptOutcome *kept,
                          LnsReportResult *ret_result);

/* Keeps a reading of all clocks in the report: its times can be told in any of them. */
void _lns_recording_keep_pair (LnsRecording *recording, const LnsWireClockPair *pair);

/* Commits each second, whatever is still to be played: to be called often. */
void _lns_recording_commit_if_due (LnsRecording *recording);

/* Puts a diagnostic into the report, and into its result. */
void _lns_recording_diagnose (LnsRecording *recording,
                              const char *code,
                              LnsSeverity severity,
                              uint32_t process,
                              const char *text);

/* Makes known how much the report has. */
void _lns_recording_count (LnsRecording *recording);
