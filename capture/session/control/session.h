/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A recording session: a socket that processes join, and the reports that are written of what they
 * do, one at a time. Its report clock begins with it and is the same for all its reports.
 *
 * Codes of the diagnostics that it puts into reports:
 *   LNS-NVTX-001   processes joined, and there are no events
 *   LNS-NVTX-002   no process joined, and there are no events
 *   LNS-NVTX-004   a process made too many domains
 *   LNS-NVTX-007   ranges are nested too deep
 *   LNS-KEEP-001   the seconds that were to be kept did not fit into memory
 *   LNS-PYTHON-001 a Python function was not found, or an interpreter cannot be asked
 *   LNS-PYTHON-002 no Python program began to trace functions
 *   LNS-POOL-001   calls are lost
 *   LNS-POOL-002   processes were refused memory for their records, or a descriptor
 *   LNS-POOL-003   a process could not be answered in time
 *   LNS-POOL-004   records are damaged
 *   LNS-POOL-005   records were left out, as memory was short
 *   LNS-POOL-006   processes that another one forked could not join the session
 *   LNS-POOL-007   calls in signal handlers are lost, as they interrupted another call
 *   LNS-POOL-008   calls are lost of threads for whose records there was no memory
 *   LNS-POOL-009   processes of other users are not known to be the program's
 *
 *   LNS-CUDA-…     see decode/cuda/said.c; of them, by the recorder:
 *   LNS-CUDA-008   a process did not hand over its last GPU records in time
 *   LNS-CUDA-011   CUDA was asked for, and there are no events of it
 *   LNS-CUDA-016   CUDA calls found no GPU memory
 *   LNS-CUDA-013   CUPTI dropped records
 *   LNS-CUDA-014   calls or operations had not ended when the report or their process did
 *
 * All functions may be called from any one thread, which is not one of the session's own. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/session/collect/collector.h"
#include "capture/session/control/launch.h"
#include "capture/session/record/recorder.h"
#include "src/base/error.h"
#include "src/store/format/definitions.h"

typedef struct LnsSession LnsSession;

typedef struct
{
  uint64_t process_bytes;  /* what records of one process may take in memory; 0: the smaller of
                             64 MiB and 5 % of what this process's control group allows */
  bool wants_cuda;         /* a report without CUDA's events says why */
  bool wants_python;       /* so does one where no Python program traced functions */
  LnsDomainFilter domains; /* of NVTX: which events reports get */
  LnsWireOptions target;   /* what is asked of each process; without any trace, a report without
                             events is not wondered at */
} LnsSessionOptions;

/* LNS_WIRE_TRACE_… that this build can record. */
uint32_t lns_session_traces (void);

/* Begins a session. NULL and ERROR on a machine that cannot: no folder for the socket, or no
 * memory that can be shared (memfd_create is denied). */
LnsSession *lns_session_new (const LnsSessionOptions *options, LnsError *error)
    __attribute__ ((warn_unused_result));

/* Ends it; a report that was not stopped is thrown away. Processes run on, unrecorded. Accepts
 * NULL. */
void lns_session_free (LnsSession *session);

/* Sets the variables by which a program's NVTX and CUDA, as far as they are traced, load the library at
 * the path INJECTION, and that finds the session. False if memory is short. */
bool lns_session_add_variables (const LnsSession *session,
                                LnsEnvironment *environment,
                                const char *injection);

/* Becomes readable when a process ends: lns_session_clear_changed (). */
int lns_session_changed_fd (const LnsSession *session);
void lns_session_clear_changed (LnsSession *session);

/* Creates the file of the next report (lns_writer_create ()) without recording into it yet. */
bool
lns_session_create_report (LnsSession *session, const char *path, bool overwrite, LnsError *error);

/* The report that was created and not started, to keep meta data in; NULL if there is none. */
LnsWriter *lns_session_report (LnsSession *session);

/* In place of one report that is created, started and stopped: each capture range, of which ASKED tells, gets
 * one, which CREATE makes, with DATA, on a thread of the session's (lns_session_new_writer ()), N_MAX at most (0: all). One
 * that is open at the end is ended by lns_session_stop_report (). */
void lns_session_record_ranges (
    LnsSession *session,
    const LnsWireOptions *asked,
    LnsWriter *(*create) (void *data, unsigned number, char **ret_path, LnsError *error),
    void *data,
    unsigned n_max);

/* Ranges begin no reports any more. */
void lns_session_forget_ranges (LnsSession *session);

/* See lns_recorder_set_describe (). */
void lns_session_set_describe (LnsSession *session,
                               void (*describe) (void *data, LnsWriter *report),
                               void *data);

/* Reports that are created from now on have the permissions MODE; 0: only their owner may read them. */
void lns_session_set_report_mode (LnsSession *session, unsigned mode);

/* A report at PATH for this session. Any thread. */
LnsWriter *
lns_session_new_writer (LnsSession *session, const char *path, bool overwrite, LnsError *error);

/* See lns_recorder_next_range (); lns_session_changed_fd () tells of them too. */
bool lns_session_next_range (LnsSession *session, LnsRangeNews *ret_news);

/* See lns_recorder_next_trouble (); lns_session_changed_fd () tells of it too. */
bool lns_session_next_trouble (LnsSession *session, LnsError *ret_trouble);

/* Reports that are started hold only their last KEEP_NS, for which memory is taken until they are stopped;
 * 0: all. To be called before the start; with a smaller KEEP_NS, also before the stop. */
void lns_session_set_keep (LnsSession *session, int64_t keep_ns);

/* From now on the report that was created gets what happens; what is open enters it. */
void lns_session_start_report (LnsSession *session);

/* Ends the report with what has happened by now and waits until it is written; one that was not
 * started yet is started first. False, with the error in RET_RESULT, where not all of it could be
 * written. */
bool lns_session_stop_report (LnsSession *session, LnsReportResult *ret_result);

/* Throws the report away, file and all. */
void lns_session_cancel_report (LnsSession *session);

/* Lets processes record, as they do from the start, or not: they then run at full speed. */
void lns_session_set_recording (LnsSession *session, bool recording);

/* PID, which waits to become the program (lns_launch_hold ()), is of the session even if it never joins.
 * Once, before it is released. Returns its instance. */
uint32_t lns_session_add_root (LnsSession *session, int32_t pid);

/* The process that was added has been released. */
void lns_session_root_runs (LnsSession *session);

/* The process that was added ended with EXIT_CODE: 0–255, 128+N if EXIT_SIGNAL N killed it, which is 0
 * otherwise. */
void
lns_session_root_exited (LnsSession *session, uint32_t process, int exit_code, int exit_signal);

/* See lns_collector_signal (). */
unsigned lns_session_signal (LnsSession *session, int signal_number, int32_t spare);

/* All processes have ended that were started within the session, recorded or not. */
void lns_session_all_ended (LnsSession *session);

LnsCollectorCounters lns_session_processes (LnsSession *session);
LnsRecorderCounters lns_session_events (LnsSession *session);

/* Report time now, ns. */
int64_t lns_session_now_ns (const LnsSession *session);
