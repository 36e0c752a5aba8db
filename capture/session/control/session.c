/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/control/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/session/system/memory-limit.h"
#include "capture/session/system/process-info.h"
#include "capture/session/system/refused-call.h"
#include "capture/wire/patience.h"
#include "capture/wire/pool-session.h"
#include "capture/wire/protocol.h"
#include "src/base/language.h"
#include "src/base/format.h"
#include "src/base/memory.h"
#include "src/base/monotonic.h"

#define PROCESS_BYTES (UINT64_C (64) << 20)
#define SESSION_BYTES (UINT64_C (1) << 30)

#define NO_EVENTS                                                                                  \
 LNS_SENTENCE ("no NVTX events were seen: a process was ready to record them, but made none "      \
               "while data were collected; collect at another time, or for longer")
#define NOT_YET                                                                                    \
 LNS_SENTENCE ("no NVTX events were seen: a process that the program left behind still ran "       \
               "when the report ended, and had made no NVTX call by then; use --wait=all to "      \
               "record until it ends, or --stop-on-exit=false --duration=SECONDS to record for"    \
               " a time")
#define NOT_CONNECTED                                                                              \
 LNS_SENTENCE ("no NVTX events were seen: no process made an NVTX call that reached Lanescope;"    \
               " it may not use NVTX, be linked statically, have dropped NVTX_INJECTION64_PATH"    \
               " from its environment, or run in a container without Lanescope's files")

#define NO_CALLS LNS_SENTENCE ("no NVTX events were seen: no process made an NVTX call")

struct LnsSession
{
  LnsWireClock clock;
  LnsWireClockPair first;
  LnsRecorder *recorder;
  LnsCollector *collector;
  LnsGpuSampling *gpus;    /* NULL: they are not sampled */
  LnsGpuSampling *metrics; /* of hardware counters; NULL likewise */
  LnsCpuSampling *cpus;
  LnsPythonSampling *python; /* NULL: Python functions are not sampled */
  int changed_fd;            /* an eventfd */
  LnsWriter *writer;         /* created, not started */
  unsigned report_mode;
  bool is_started; /* a report */
  LnsWireOptions target;
  bool wants_nvtx, wants_cuda, wants_python, wants_cpus;
  uint64_t n_without_os_calls, n_without_cuda, n_untold; /* programs that were told of */
  bool has_root_exited, have_all_ended;
  LnsCollectorCounters told; /* when the last report ended */
  int64_t keep_ns;           /* of the reports to come; 0: all */
  bool has_rule;             /* … which keep only the steps of `rule` */
  LnsStepRule rule;
};

/* The name of the call that the kernel refuses when a pool is made. */
static const char *
refused_call (void)
{
  const int fd = memfd_create ("lanescope-probe", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0)
    return "memfd_create";
  const bool has_size = ftruncate (fd, 1) == 0;
  const bool is_sealed = fcntl (fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0;
  close (fd);
  return !has_size ? "ftruncate" : !is_sealed ? "fcntl" : "mmap";
}

/* Whether pools can be made. The user should know before the program runs. */
static bool
probe_pool (LnsWireClock clock, LnsError *error)
{
  LnsWirePoolOptions options = { .serial = 1, .clock = clock, .n_chunks = 1 };
  LnsWirePool *pool;
  int failed = lns_wire_pool_new (&options, &pool);
  if (failed == -EPERM || failed == -ENOSYS || failed == -EACCES)
    {
      const char *call = refused_call ();
      return lns_error_set (error, LNS_ERROR_UNSUPPORTED, 0,
                            "cannot share memory with the program (%s: %s); allow %s in the "
                            "container's seccomp profile, or run outside the container",
                            call, strerror (-failed), call);
    }
  if (failed != 0)
    return lns_error_set (error, LNS_ERROR_UNSUPPORTED, 0,
                          "cannot share memory with the program: %s; raise the limits that "
                          "`ulimit -a` shows",
                          strerror (-failed));
  lns_wire_pool_free (pool);
  return true;
}

static uint64_t
default_process_bytes (void)
{
  uint64_t share = lns_memory_limit () / 20;
  return share < PROCESS_BYTES ? share : PROCESS_BYTES;
}

uint32_t
lns_session_traces (void)
{
#ifdef LNS_HAVE_CUPTI
  return LNS_WIRE_TRACE_NVTX | LNS_WIRE_TRACE_CUDA | LNS_WIRE_TRACE_LIBRARIES | LNS_WIRE_TRACE_MPI |
         LNS_WIRE_TRACE_OS;
#else
  return LNS_WIRE_TRACE_NVTX | LNS_WIRE_TRACE_MPI | LNS_WIRE_TRACE_OS;
#endif
}

static void
sample_gpu (void *data, const char *bus)
{
  lns_gpu_sampling_add (data, bus);
}

/* Has GPUs sampled, if OPTIONS ask for it. */
static void
sample_gpus (LnsSession *session, const LnsSessionOptions *options)
{
  if (options->metrics.program != NULL)
    session->metrics =
        lns_gpu_sampling_new (&options->metrics, lns_collector_peers (session->collector)->mailbox);
  if (options->gpus.program == NULL)
    return;
  session->gpus =
      lns_gpu_sampling_new (&options->gpus, lns_collector_peers (session->collector)->mailbox);
  if (options->samples_all_gpus)
    lns_gpu_sampling_add (session->gpus, "");
  else
    lns_recorder_set_gpu_used (session->recorder, sample_gpu, session->gpus);
}

LnsSession *
lns_session_new (const LnsSessionOptions *options, LnsError *error)
{
  LnsWireClock clock = lns_wire_clock_detect ();
  if (!probe_pool (clock, error))
    return NULL;
  LnsSession *session = lns_calloc (1, sizeof *session);
  session->clock = clock;
  session->changed_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  const int changed_error = errno;
  session->target = options->target;
  session->wants_nvtx = options->wants_nvtx;
  session->wants_cuda = options->wants_cuda;
  session->wants_cpus = options->cpus.is_asked_for;
  session->wants_python = options->wants_python;
  lns_wire_clock_pair (clock, &session->first);
  LnsCollectorOptions limits = {
    .clock = clock,
    .process_bytes = options->process_bytes > 0 ? options->process_bytes : default_process_bytes (),
    .session_bytes = SESSION_BYTES,
    .target = options->target,
    .changed_fd = session->changed_fd,
  };
  if (limits.session_bytes < limits.process_bytes)
    limits.session_bytes = limits.process_bytes;

  /* Signals go to the caller's threads, not to the session's. */
  sigset_t all, old;
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &old);
  if (session->changed_fd < 0)
    lns_refused_call (error, changed_error, "eventfd2");
  else
    session->recorder =
        lns_recorder_new (&session->first, &options->domains, session->changed_fd, error);
  if (session->recorder != NULL)
    session->collector = lns_collector_new (&limits, session->recorder, error);
  pthread_sigmask (SIG_SETMASK, &old, NULL);
  if (session->collector != NULL)
    {
      sample_gpus (session, options);
      session->cpus =
          lns_cpu_sampling_new (&options->cpus, lns_collector_peers (session->collector));
      session->python =
          lns_python_sampling_new (&options->python, lns_collector_peers (session->collector));
      return session;
    }
  lns_session_free (session);
  return NULL;
}

void
lns_session_free (LnsSession *session)
{
  if (session == NULL)
    return;
  if (session->collector != NULL)
    lns_session_set_recording (session, false);
  lns_gpu_sampling_stop (session->gpus);
  lns_gpu_sampling_stop (session->metrics);
  lns_cpu_sampling_stop (session->cpus);
  lns_python_sampling_stop (session->python);
  lns_collector_free (session->collector);
  lns_recorder_free (session->recorder);
  lns_gpu_sampling_free (session->gpus);
  lns_gpu_sampling_free (session->metrics);
  lns_cpu_sampling_free (session->cpus);
  lns_python_sampling_free (session->python);
  if (session->writer != NULL)
    lns_writer_abandon (session->writer);
  if (session->changed_fd >= 0)
    close (session->changed_fd);
  free (session);
}

/* Whether NVTX must load the library: capture ranges of NVTX need its handlers, too. */
static bool
needs_nvtx (const LnsWireOptions *target)
{
  return target->traces & LNS_WIRE_TRACE_NVTX || target->range_kind == LNS_WIRE_RANGE_NVTX;
}

/* Whether CUDA must load the library: capture ranges of cudaProfilerStart() are seen through CUPTI, too. */
static bool
needs_cuda (const LnsWireOptions *target)
{
  return target->traces & LNS_WIRE_TRACE_CUDA || target->range_kind == LNS_WIRE_RANGE_PROFILER_API;
}

bool
lns_session_add_variables (const LnsSession *session,
                           LnsEnvironment *environment,
                           const char *injection)
{
  return (!needs_nvtx (&session->target) ||
          lns_environment_set (environment, "NVTX_INJECTION64_PATH", injection)) &&
         (!needs_cuda (&session->target) ||
          lns_environment_set (environment, "CUDA_INJECTION64_PATH", injection)) &&
         (session->target.nccl == 0 ||
          lns_environment_set (environment, "NCCL_PROFILER_PLUGIN", injection)) &&
         lns_environment_set (environment, LNS_WIRE_ENVIRONMENT,
                              lns_collector_path (session->collector));
}

LnsRecorder *
lns_session_recorder (const LnsSession *session)
{
  return session->recorder;
}

LnsPeers *
lns_session_peers (const LnsSession *session)
{
  return lns_collector_peers (session->collector);
}

int
lns_session_changed_fd (const LnsSession *session)
{
  return session->changed_fd;
}

void
lns_session_clear_changed (LnsSession *session)
{
  eventfd_t count;
  eventfd_read (session->changed_fd, &count); /* fails only where it is not readable */
}

/* --- Reports ---------------------------------------------------------------------------------- */

void
lns_session_set_report_mode (LnsSession *session, unsigned mode)
{
  session->report_mode = mode;
}

LnsWriter *
lns_session_new_writer (LnsSession *session, const char *path, bool overwrite, LnsError *error)
{
  LnsWriterOptions options = {
    .overwrite = overwrite,
    .mode = session->report_mode,
    .t0_monotonic_ns = session->first.monotonic_ns,
    .t0_realtime_ns = session->first.realtime_ns,
    .t0_tsc = session->clock == LNS_WIRE_CLOCK_TSC ? session->first.ticks : 0,
  };
  return lns_writer_create (path, &options, error);
}

bool
lns_session_create_report (LnsSession *session, const char *path, bool overwrite, LnsError *error)
{
  session->writer = lns_session_new_writer (session, path, overwrite, error);
  return session->writer != NULL;
}

LnsWriter *
lns_session_report (LnsSession *session)
{
  return session->writer;
}

void
lns_session_set_keep (LnsSession *session, int64_t keep_ns)
{
  session->keep_ns = keep_ns;
}

void
lns_session_set_keep_steps (LnsSession *session, const LnsStepRule *rule)
{
  session->has_rule = rule != NULL;
  if (rule != NULL)
    session->rule = *rule;
}

/* Has GPUs, CPUs and Python functions sampled while RECORDING. */
static void
sample_while (LnsSession *session, bool recording)
{
  if (session->gpus != NULL)
    lns_gpu_sampling_set_recording (session->gpus, recording);
  if (session->metrics != NULL)
    lns_gpu_sampling_set_recording (session->metrics, recording);
  lns_cpu_sampling_set_recording (session->cpus, recording);
  lns_python_sampling_set_recording (session->python, recording);
}

void
lns_session_begin_metrics (LnsSession *session, LnsGpuSay say, void *data)
{
  if (session->metrics != NULL)
    lns_gpu_sampling_begin (session->metrics, lns_patience ().sampler_begin_ns, say, data);
}

void
lns_session_begin_cpus (LnsSession *session, pid_t pid, uint32_t process, LnsCpuSay say, void *data)
{
  lns_cpu_sampling_begin (session->cpus, pid, process, say, data);
}

void
lns_session_attach (LnsSession *session, const LnsPids *pids, LnsCpuSay say, void *data)
{
  lns_cpu_sampling_attach (session->cpus, pids, say, data);
}

bool
lns_session_started (int32_t pid)
{
  return lns_process_has_variable (pid, LNS_WIRE_ENVIRONMENT);
}

void
lns_session_begin_python (LnsSession *session)
{
  lns_python_sampling_begin (session->python);
}

static void
post (LnsSession *session, LnsBatchEvent event)
{
  event.time_ns = lns_monotonic_ns ();
  lns_mailbox_post (lns_session_peers (session)->mailbox, &event);
}

void
lns_session_record_ranges (
    LnsSession *session,
    const LnsWireOptions *asked,
    LnsWriter *(*create) (void *data, unsigned number, char **ret_path, LnsError *error),
    void *data,
    unsigned n_max)
{
  post (session, (LnsBatchEvent){ .kind = LNS_BATCH_RANGES, .ranges = { create, data, n_max } });
  lns_collector_set_range (session->collector, asked);
  sample_while (session, true);
  session->is_started = true;
}

void
lns_session_forget_ranges (LnsSession *session)
{
  lns_collector_set_range (session->collector, &(LnsWireOptions){ 0 });
  post (session, (LnsBatchEvent){ .kind = LNS_BATCH_RANGES });
  session->is_started = false;
}

void
lns_session_keep_now (LnsSession *session)
{
  post (session, (LnsBatchEvent){ .kind = LNS_BATCH_KEEP });
}

void
lns_session_start_report (LnsSession *session)
{
  if (session->writer == NULL)
    return;
  LnsStepRule *rule = session->has_rule ? lns_calloc (1, sizeof *rule) : NULL;
  if (rule != NULL)
    *rule = session->rule;
  post (session, (LnsBatchEvent){ .kind = LNS_BATCH_START,
                                  .writer = session->writer,
                                  .keep_ns = session->keep_ns,
                                  .steps = rule });
  session->writer = NULL;
  session->is_started = true;
}

/* Says how many processes are not recorded that have no diagnostic of their own. */
static void
tell_unrecorded (LnsSession *session, const LnsCollectorCounters *processes)
{
  uint64_t n = processes->n_without_descriptors - session->told.n_without_descriptors;
  if (n > 0)
    post (session, lns_batch_diagnostic (
                       LNS_ID_NONE, "LNS-POOL-002", LNS_SEVERITY_ERROR,
                       "%" PRIu64 " process%s forked, as Lanescope may open no more files; raise "
                       "`ulimit -n` and record again",
                       n,
                       lns_plural (n, " is not recorded, nor are those it",
                                   "es are not recorded, nor are those they")));
  n = processes->n_untold - session->told.n_untold;
  if (n > 0)
    post (session,
          lns_batch_diagnostic (LNS_ID_NONE, "LNS-POOL-002", LNS_SEVERITY_ERROR,
                                "%" PRIu64 " more process%s not recorded, for the same reasons", n,
                                lns_plural (n, " is", "es are")));
  session->told = *processes;
}

/* Says in how many programs something that was asked for is not recorded, as our libraries or the kernel did not reach them. */
static void
tell_unreached (LnsSession *session)
{
  LnsUnreached os_calls, cuda, kernel;
  lns_cpu_sampling_unreached (session->cpus, &os_calls, &cuda, &kernel);
  uint64_t n = os_calls.n - session->n_without_os_calls;
  if (n > 0 && (session->target.traces & LNS_WIRE_TRACE_OS))
    post (session,
          lns_batch_diagnostic (
              LNS_ID_NONE, "LNS-OSRT-007", LNS_SEVERITY_WARNING,
              "calls of the C library are not recorded in %" PRIu64 " program%s that did not load "
              "Lanescope's library, such as “%s” (process %d): keep LD_PRELOAD in the environment; "
              "static programs and those with other rights cannot load it",
              n, lns_plural (n, "", "s"), os_calls.name, os_calls.pid));
  n = cuda.n - session->n_without_cuda;
  if (n > 0 && (session->target.traces & LNS_WIRE_TRACE_CUDA))
    post (session, lns_batch_diagnostic (
                       LNS_ID_NONE, "LNS-CUDA-034",
                       session->wants_cuda ? LNS_SEVERITY_WARNING : LNS_SEVERITY_INFO,
                       "CUDA is not recorded in %" PRIu64
                       " program%s that did not load Lanescope's library, "
                       "such as “%s” (process %d): keep CUDA_INJECTION64_PATH in the environment",
                       n, lns_plural (n, "", "s"), cuda.name, cuda.pid));
  n = kernel.n - session->n_untold;
  if (n > 0)
    post (
        session,
        lns_batch_diagnostic (
            LNS_ID_NONE, "LNS-CPU-011",
            session->wants_cpus ? LNS_SEVERITY_WARNING : LNS_SEVERITY_INFO,
            "CPU samples, thread scheduling and system calls are not recorded of %" PRIu64
            " program%s, such as “%s” (process %d), nor of what they start: the kernel tells "
            "nothing of programs that get other rights (setuid, setgid, file capabilities) or may "
            "not be read; run Lanescope as the user whose rights they get",
            n, lns_plural (n, "", "s"), kernel.name, kernel.pid));
  session->n_untold = kernel.n;
  session->n_without_os_calls = os_calls.n;
  session->n_without_cuda = cuda.n;
}

/* Has processes that use CUDA hand over what CUPTI holds. */
static void
finish_processes (LnsSession *session)
{
  const int finish_ms = lns_patience ().finish_ms;
  unsigned n = lns_collector_command (session->collector, LNS_WIRE_COMMAND_FINISH, finish_ms);
  if (n > 0)
    post (session, lns_batch_diagnostic (LNS_ID_NONE, "LNS-CUDA-008", LNS_SEVERITY_WARNING,
                                         "%u process%s did not hand over the last GPU records "
                                         "within %d s; some may be missing",
                                         n, lns_plural (n, "", "es"), finish_ms / 1000));
}

/* The length of a report that keeps only its last seconds. If all processes have ended, it is counted from the end
 * of the last one. */
static int64_t
kept_until_now_ns (const LnsSession *session, const LnsCollectorCounters *processes)
{
  if (session->keep_ns == 0 || processes->n_alive > 0 || processes->last_end_ns == 0)
    return session->keep_ns;
  return session->keep_ns + lns_monotonic_ns () - processes->last_end_ns;
}

/* Whether a process lives that was started within the session, recorded or not: it may still begin to use
 * NVTX. */
static bool
may_be_joined (const LnsSession *session)
{
  return !session->have_all_ended &&
         lns_process_lives_with (LNS_WIRE_ENVIRONMENT, lns_collector_path (session->collector));
}

bool
lns_session_stop_report (LnsSession *session, LnsReportResult *ret_result)
{
  lns_session_start_report (session);
  *ret_result = (LnsReportResult){ 0 };
  if (!session->is_started)
    return lns_error_set (&ret_result->error, LNS_ERROR_USAGE, 0, "no report was begun");
  finish_processes (session);
  const int64_t drain_ns = lns_patience ().drain_ns;
  if (session->metrics != NULL)
    lns_gpu_sampling_drain (session->metrics, drain_ns);
  lns_cpu_sampling_drain (session->cpus, drain_ns);
  lns_python_sampling_drain (session->python, drain_ns);
  LnsCollectorCounters processes = lns_peers_counters (lns_session_peers (session));
  tell_unrecorded (session, &processes);
  tell_unreached (session);
  bool has_joined = processes.n_joined > 0;
  const uint64_t n_unjoined = processes.n_refused + processes.n_late;
  /* Processes that were refused or late have a diagnostic of their own. */
  const char *reason = !(session->target.traces & LNS_WIRE_TRACE_NVTX)       ? NULL
                       : has_joined                                          ? NO_EVENTS
                       : n_unjoined > 0                                      ? NULL
                       : session->has_root_exited && may_be_joined (session) ? NOT_YET
                       : session->wants_nvtx                                 ? NOT_CONNECTED
                                                                             : NO_CALLS;
  post (session,
        (LnsBatchEvent){ .kind = LNS_BATCH_STOP,
                         .code = has_joined ? "LNS-NVTX-001" : "LNS-NVTX-002",
                         .severity = session->wants_nvtx ? LNS_SEVERITY_WARNING : LNS_SEVERITY_INFO,
                         .wants_cuda = session->wants_cuda && (has_joined || n_unjoined == 0),
                         .wants_python = session->wants_python,
                         .keep_ns = kept_until_now_ns (session, &processes),
                         .text = reason != NULL ? strdup (reason) : NULL });
  lns_recorder_wait (session->recorder, ret_result);
  session->is_started = false;
  return ret_result->is_written;
}

void
lns_session_cancel_report (LnsSession *session)
{
  if (session->writer != NULL)
    lns_writer_abandon (session->writer);
  session->writer = NULL;
  if (!session->is_started)
    return;
  LnsReportResult result;
  post (session, (LnsBatchEvent){ .kind = LNS_BATCH_CANCEL });
  lns_recorder_wait (session->recorder, &result);
  lns_report_result_clear (&result);
  session->is_started = false;
}

void
lns_session_set_recording (LnsSession *session, bool recording)
{
  lns_collector_set_recording (session->collector, recording);
  sample_while (session, recording);
}

/* --- Processes -------------------------------------------------------------------------------- */

void
lns_session_root_exited (LnsSession *session,
                         uint32_t process,
                         int exit_code,
                         int exit_signal,
                         int64_t on_cpu_ns,
                         int64_t waited_ns)
{
  session->has_root_exited = true;
  post (session, (LnsBatchEvent){ .kind = LNS_BATCH_EXIT,
                                  .process = process,
                                  .exit_code = exit_code,
                                  .exit_signal = exit_signal,
                                  .on_cpu_ns = on_cpu_ns,
                                  .waited_ns = waited_ns });
}

void
lns_session_all_ended (LnsSession *session)
{
  session->have_all_ended = true;
}

int64_t
lns_session_now_ns (const LnsSession *session)
{
  return lns_monotonic_ns () - session->first.monotonic_ns;
}
