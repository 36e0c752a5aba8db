/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A recording session: a socket that processes join, and the reports that are written of what they do, one at a
 * time. The report clock begins with the session and is the same for all its reports.
 *
 * Codes of the diagnostics that the session puts into reports:
 *   LNS-NVTX-001   processes joined, but there are no events
 *   LNS-NVTX-002   no process joined, and there are no events
 *   LNS-NVTX-004   a process made too many domains
 *   LNS-NVTX-007   ranges are nested too deep
 *   LNS-KEEP-001   the seconds to be kept did not fit into memory
 *   LNS-PYTHON-001 a Python function was not found, or an interpreter does not support tracing
 *   LNS-PYTHON-002 no Python program began to trace functions
 *   LNS-POOL-001   calls are lost
 *   LNS-POOL-002   processes were refused memory or a descriptor for their records
 *   LNS-POOL-003   a process could not be answered in time
 *   LNS-POOL-004   records are damaged
 *   LNS-POOL-005   records were left out, as memory was short
 *   LNS-POOL-006   processes that another one forked could not join the session
 *   LNS-POOL-007   calls in signal handlers are lost, as they interrupted another call
 *   LNS-POOL-008   calls are lost of threads for whose records there was no memory
 *   LNS-POOL-009   processes of other users are not known to belong to the program
 *   LNS-POOL-010   processes loaded the library of another build
 *   LNS-POOL-011   processes had no pthread key left for the library
 *
 *   LNS-CPU-…      see cpu/sampling.h; the recorder adds this:
 *   LNS-CPU-006    samples or scheduling are lost
 *   LNS-GPU-…      see gpu/sampling.h and decode/gpu/gpu.h; the recorder adds this:
 *   LNS-GPU-013    samples of hardware counters are lost
 *   LNS-CUDA-…     see decode/cuda/problems.c; the recorder adds these:
 *   LNS-CUDA-008   a process did not hand over its last GPU records in time
 *   LNS-CUDA-011   CUDA was asked for, but there are no CUDA events
 *   LNS-CUDA-016   CUDA calls found no GPU memory
 *   LNS-CUDA-013   CUPTI dropped records
 *   LNS-CUDA-014   calls or operations had not ended when the report or their process did
 *
 * Functions are called by one thread at a time, which must not be one of the session's own. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/session/collect/collector.h"
#include "capture/session/control/launch.h"
#include "capture/session/cpu/sampling.h"
#include "capture/session/python/sampling.h"
#include "capture/session/gpu/sampling.h"
#include "capture/session/record/recorder.h"
#include "src/base/error.h"
#include "src/store/format/definitions.h"

typedef struct LnsSession LnsSession;

typedef struct
{
  uint64_t
      process_bytes; /* memory for the records of one process; 0: the smaller of 64 MiB and 5 % of
                             what this process's control group allows */
  bool wants_nvtx;   /* an empty report warns that it has no NVTX events; else, a note says so */
  bool wants_cuda;   /* a report without CUDA events says why */
  bool wants_python; /* so does a report in which no Python program traced functions */
  LnsDomainFilter domains;    /* the NVTX domains whose events reports get */
  LnsGpuSamplingOptions gpus; /* `program` is NULL: GPUs are not sampled */
  LnsGpuSamplingOptions
      metrics; /* the same for hardware counters, whose `devices` says of which GPUs */
  bool
      samples_all_gpus; /* and not only those that processes are seen to use, which needs the trace of CUDA */
  LnsCpuSamplingOptions cpus; /* without samples and switches: CPUs are not recorded */
  LnsPythonSamplingOptions python;
  LnsWireOptions target; /* what each process is asked; without any trace, a report without events
                             gets no diagnostic */
} LnsSessionOptions;

/* The LNS_WIRE_TRACE_… that this build can record. */
uint32_t lns_session_traces (void);

/* Begins a session. Returns NULL and ERROR if there is no folder for the socket, or memory cannot be shared
 * (memfd_create is denied). */
LnsSession *lns_session_new (const LnsSessionOptions *options, LnsError *error)
    __attribute__ ((warn_unused_result));

/* Ends SESSION and discards a report that was not stopped. Processes run on unrecorded. Accepts NULL. */
void lns_session_free (LnsSession *session);

/* Begins to sample hardware counters, if that was asked for, and calls SAY for each reason why they are not sampled. Returns when
 * that is known, within a few seconds. Call it before the program runs. */
void lns_session_begin_metrics (LnsSession *session, LnsGpuSay say, void *data);

/* Begins to sample the CPUs and to record threads, if that was asked for, of PID, which was added as PROCESS and has not called
 * exec yet. Calls SAY for each reason why less is recorded. */
void lns_session_begin_cpus (
    LnsSession *session, pid_t pid, uint32_t process, LnsCpuSay say, void *data);

/* Records the processes PIDS, which run already, their threads and all that descend from them, instead of a program that the session
 * starts: samples and scheduling, as far as they were asked for. Calls SAY for each reason why less is recorded. Call it once. */
void lns_session_attach (LnsSession *session, const LnsPids *pids, LnsCpuSay say, void *data);

/* Whether the process PID was started within some session, which may have ended. */
bool lns_session_started (int32_t pid);

/* Begins to sample Python functions, if that was asked for. Call it when the program was added. */
void lns_session_begin_python (LnsSession *session);

/* Sets the variables that make a program's NVTX and CUDA, if they are traced or have the capture range, load the library
 * INJECTION (a path), and the one by which the library finds the session. Returns false if memory is short. */
bool lns_session_add_variables (const LnsSession *session,
                                LnsEnvironment *environment,
                                const char *injection);

/* The recorder, which tells of ranges, trouble and the counts of events, and the processes, whose root the caller adds. */
LnsRecorder *lns_session_recorder (const LnsSession *session);
LnsPeers *lns_session_peers (const LnsSession *session);

/* A descriptor that becomes readable when a process ends or the recorder has news. lns_session_clear_changed () makes it
 * unreadable. */
int lns_session_changed_fd (const LnsSession *session);
void lns_session_clear_changed (LnsSession *session);

/* Creates the file of the next report (lns_writer_create ()) without recording into it yet. */
bool
lns_session_create_report (LnsSession *session, const char *path, bool overwrite, LnsError *error);

/* The report that was created and not started, for its meta data; NULL if there is none. */
LnsWriter *lns_session_report (LnsSession *session);

/* Writes a report for each capture range that ASKED describes, N_MAX at most (0: all), instead of one report that
 * is created, started and stopped. CREATE makes each report with lns_session_new_writer (); it gets DATA and is
 * called on a thread of the session. lns_session_stop_report () ends a report that is open at the end. */
void lns_session_record_ranges (
    LnsSession *session,
    const LnsWireOptions *asked,
    LnsWriter *(*create) (void *data, unsigned number, char **ret_path, LnsError *error),
    void *data,
    unsigned n_max);

/* Ends lns_session_record_ranges (): no further range begins a report. */
void lns_session_forget_ranges (LnsSession *session);

/* Gives reports that are created from now on the permissions MODE; 0: only their owner may read them. */
void lns_session_set_report_mode (LnsSession *session, unsigned mode);

/* Makes a report at PATH for this session. Any thread. */
LnsWriter *
lns_session_new_writer (LnsSession *session, const char *path, bool overwrite, LnsError *error);

/* Limits reports to their last KEEP_NS, which are kept in memory until the stop; 0: no limit. Call it before the
 * start; a smaller KEEP_NS may also be set before the stop. Of a report that was started without a limit, the stop then only
 * tells where these seconds begin (LnsReportResult.keep_from_ns). */
void lns_session_set_keep (LnsSession *session, int64_t keep_ns);

/* Has the reports to come keep only the steps that RULE says, and count the others; NULL: they keep all. */
void lns_session_set_keep_steps (LnsSession *session, const LnsStepRule *rule);

/* Has the report keep the time around now, as that rule says, if there is one. */
void lns_session_keep_now (LnsSession *session);

/* Starts the report that was created. Ranges that are open enter it, cut to its start. */
void lns_session_start_report (LnsSession *session);

/* Ends the report and waits until it is written; starts it first if it was not started. Returns false, with the
 * error in RET_RESULT, if not all of it could be written. */
bool lns_session_stop_report (LnsSession *session, LnsReportResult *ret_result);

/* Discards the report and removes its file. */
void lns_session_cancel_report (LnsSession *session);

/* Lets processes record, as they do from the start, or not; then they run at full speed. */
void lns_session_set_recording (LnsSession *session, bool recording);

/* Tells the session that the process that was added ended with EXIT_CODE: 0–255, or 128+N if EXIT_SIGNAL N killed
 * it. EXIT_SIGNAL is 0 otherwise. Its main thread was on a CPU for ON_CPU_NS and had none that it could have used for WAITED_NS; both are 0
 * where that is not known. */
void lns_session_root_exited (LnsSession *session,
                              uint32_t process,
                              int exit_code,
                              int exit_signal,
                              int64_t on_cpu_ns,
                              int64_t waited_ns);

/* Tells the session that all processes started within it have ended, recorded or not. */
void lns_session_all_ended (LnsSession *session);

/* Report time now, ns. */
int64_t lns_session_now_ns (const LnsSession *session);
