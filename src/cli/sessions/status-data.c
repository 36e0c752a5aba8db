/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The table of kinds of data. */

#include "src/cli/sessions/status.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/session/control/session.h"
#include "capture/session/gpu/probe.h"
#include "capture/session/python/reader.h"
#include "src/base/json.h"
#include "src/base/language.h"
#include "src/base/memory.h"
#include "src/cli/profile/profile.h"
#include "src/cli/terminal/terminal.h"

/* How long a driver may take to start. Machines with many GPUs need seconds. */
#define GPU_NS INT64_C (20000000000)

#define HZ 1000

typedef enum
{
  CAN_RECORD,
  CAN_RECORD_LESS,
  CANNOT_RECORD
} Answer;

/* What is known of a kind of data. */
typedef struct
{
  Answer answer;
  char code[16]; /* of the diagnostic that a recording would say; "": none */
  char *reason;  /* owned; why less or nothing is recorded, or how; NULL: nothing to say */
} Finding;

/* What several kinds of data depend on. */
typedef struct
{
  LnsError no_session; /* `message` is empty: sessions work */
  Finding cuda, cpus, kernel, wakers, calls;
} Ground;

/* --- Findings --------------------------------------------------------------------------------- */

/* Notes why a kind of data is not recorded as asked for, with the CODE of the diagnostic, if there is one. */
static void __attribute__ ((format (printf, 4, 5)))
find (Finding *finding, Answer answer, const char *code, const char *format, ...)
{
  char text[sizeof ((LnsError *)NULL)->message];
  va_list arguments;
  va_start (arguments, format);
  vsnprintf (text, sizeof text, format, arguments);
  va_end (arguments);
  char *before = finding->reason;
  finding->reason = before == NULL ? lns_strdup (text) : lns_asprintf ("%s; %s", before, text);
  free (before);
  if (code != NULL)
    snprintf (finding->code, sizeof finding->code, "%s", code);
  if (finding->answer < answer)
    finding->answer = answer;
}

/* Takes a diagnostic that a recording would say. */
static void
take (void *data, LnsSeverity severity, const char *code, const char *text)
{
  (void)severity;
  find (data, CANNOT_RECORD, code, "%s", text);
}

static Finding
copy (const Finding *finding)
{
  Finding copied = *finding;
  if (copied.reason != NULL)
    copied.reason = lns_strdup (copied.reason);
  return copied;
}

/* Notes it if the libraries of TRACE are missing. */
static void
look_for_library (Finding *finding, uint32_t trace)
{
  LnsError error = { 0 };
  if (!lns_profile_is_installed (trace, &error))
    find (finding, CANNOT_RECORD, "LNS-TRACE-002", "%s", error.message);
}

/* --- What is found once ----------------------------------------------------------------------- */

/* Notes what EVENTS, which could be opened, leave out. */
static void
look_at_events (Ground *ground, const LnsCpuEvents *events)
{
  if (!events->has_cycles && events->sees_kernel)
    find (&ground->cpus, CAN_RECORD, NULL,
          LNS_SENTENCE (
              "samples come by CPU time, as the kernel offers no counter of CPU cycles here; most "
              "virtual machines have none"));
  if (!events->sees_kernel)
    find (&ground->kernel, CANNOT_RECORD, NULL,
          LNS_SENTENCE (
              "what the kernel does for the program is counted, but not told apart, as "
              "kernel.perf_event_paranoid or a container hides it; allow it with `sudo sysctl "
              "kernel.perf_event_paranoid=1`, or run Lanescope as root (`docker run "
              "--cap-add=PERFMON`)"));
  if (!lns_cpu_events_have (events, LNS_TRACEPOINT_WAKING))
    find (
        &ground->wakers, CANNOT_RECORD, NULL,
        LNS_SENTENCE (
            "which thread ended a wait is not known, as the kernel tells it to root alone, and "
            "only "
            "outside of containers; run Lanescope as root (`docker run --privileged --pid=host`)"));
  if (!lns_cpu_events_have (events, LNS_TRACEPOINT_SYSCALL_ENTER))
    find (&ground->calls, CANNOT_RECORD, "LNS-CPU-009",
          LNS_SENTENCE (
              "the kernel tells of system calls to root alone; run Lanescope as root (`docker run "
              "--privileged`), or record calls of the C library with --trace=osrt"));
}

/* Has a session sample this process, which never calls exec: nothing comes of it but the kernel's answer. */
static void
look_at_cpus (Ground *ground)
{
  const LnsCpuEventsOptions asked = {
    .samples = true, .switches = true, .syscalls = true, .callers = LNS_CPU_BOTH, .hz = HZ
  };
  LnsSessionOptions options = { .cpus = { .events = asked, .is_asked_for = true } };
  options.cpus.events.syscalls = false; /* what is said is of samples */
  Finding *cpus = &ground->cpus;
  LnsSession *session = lns_session_new (&options, &ground->no_session);
  if (session == NULL)
    return;
  lns_session_begin_cpus (session, getpid (), 0, take, cpus);
  lns_session_free (session);
  if (strcmp (cpus->code, "LNS-CPU-005") == 0)
    cpus->answer = CAN_RECORD_LESS;
  LnsCpuEvents events;
  LnsCpuEventsStep step;
  if (cpus->answer == CANNOT_RECORD ||
      lns_cpu_events_open (&events, &asked, getpid (), true, &step) != 0)
    {
      ground->kernel = copy (cpus);
      ground->wakers = copy (cpus);
      ground->calls = copy (cpus);
      return;
    }
  look_at_events (ground, &events);
  lns_cpu_events_close (&events);
}

static void
look_at_cuda (Ground *ground)
{
  static LnsStatusCuda found;
  Finding *cuda = &ground->cuda;
  char packages[256];
  lns_status_find_cuda (&found);
  lns_cupti_packages (found.cuda, packages, sizeof packages);
  if (!(lns_session_traces () & LNS_WIRE_TRACE_CUDA))
    find (cuda, CANNOT_RECORD, "LNS-TRACE-002",
          LNS_SENTENCE (
              "this Lanescope was built without NVIDIA's headers; build it where the headers are "
              "installed or can be fetched"));
  if (!found.is_loaded && lns_status_container () != NULL)
    find (cuda, CANNOT_RECORD, NULL,
          LNS_SENTENCE ("this container has no NVIDIA driver; start it with `docker run "
                        "--gpus=all`, or the like "
                        "of another engine"));
  else if (!found.is_loaded)
    find (cuda, CANNOT_RECORD, NULL,
          LNS_SENTENCE (
              "no NVIDIA driver is loaded; install it, and `nvidia-smi` says whether it works"));
  if (found.n_copies == 0 || found.copies[0].fit == LNS_CUPTI_IS_TOO_NEW)
    find (cuda, CANNOT_RECORD, "LNS-CUDA-001",
          LNS_SENTENCE ("no libcupti that suits the driver is found; install it with %s, or name "
                        "its folder with "
                        "--cupti-path"),
          packages);
  else if (cuda->answer == CAN_RECORD)
    find (cuda, CAN_RECORD, NULL, "by %s", found.copies[0].path);
}

/* --- Kinds of data ---------------------------------------------------------------------------- */

static void
look_at_nvtx (const Ground *ground, Finding *finding)
{
  (void)ground;
  look_for_library (finding, LNS_WIRE_TRACE_NVTX);
}

static void
look_at_cuda_calls (const Ground *ground, Finding *finding)
{
  *finding = copy (&ground->cuda);
  look_for_library (finding, LNS_WIRE_TRACE_CUDA);
}

static void
look_at_cuda_libraries (const Ground *ground, Finding *finding)
{
  *finding = copy (&ground->cuda);
  look_for_library (finding, LNS_WIRE_TRACE_CUBLAS);
}

static void
look_at_mpi (const Ground *ground, Finding *finding)
{
  (void)ground;
  look_for_library (finding, LNS_WIRE_TRACE_MPI);
}

static void
look_at_os (const Ground *ground, Finding *finding)
{
  (void)ground;
  look_for_library (finding, LNS_WIRE_TRACE_OS);
}

static void
look_at_python_functions (const Ground *ground, Finding *finding)
{
  LnsError error = { 0 };
  (void)ground;
  if (!lns_profile_has_python (&error))
    find (finding, CANNOT_RECORD, "LNS-TRACE-002", "%s", error.message);
}

static void
take_cpus (const Ground *ground, Finding *finding)
{
  *finding = copy (&ground->cpus);
}

static void
take_kernel (const Ground *ground, Finding *finding)
{
  *finding = copy (&ground->kernel);
}

static void
take_wakers (const Ground *ground, Finding *finding)
{
  *finding = copy (&ground->wakers);
}

static void
take_calls (const Ground *ground, Finding *finding)
{
  *finding = copy (&ground->calls);
}

/* Has the reader of Python look into a child, as it looks into programs that the session has started. */
static void
look_at_python_samples (const Ground *ground, Finding *finding)
{
  LnsError error = { 0 };
  LnsPythonReader *reader;
  (void)ground;
  fflush (stdout);
  const pid_t pid = fork ();
  if (pid == 0)
    for (;;)
      pause ();
  if (pid < 0)
    {
      find (finding, CANNOT_RECORD, NULL, LNS_SENTENCE ("cannot start a process to look into (%s)"),
            strerror (errno));
      return;
    }
  const LnsPythonState state = lns_python_reader_new (pid, &reader, &error);
  if (state == LNS_PYTHON_REFUSED)
    find (finding, CANNOT_RECORD, "LNS-PYTHON-003",
          LNS_SENTENCE ("Python functions are not sampled: %s"), error.message);
  lns_python_reader_free (reader);
  kill (pid, SIGKILL);
  waitpid (pid, NULL, 0);
}

/* Of the GPUs that SAMPLED names, what is sampled depends on DEVICES: see LnsGpuSamplingOptions. */
static void
look_at_gpus (Finding *finding, const char *devices)
{
  LnsError error = { 0 };
  char *sampler = lns_profile_find_sampler (&error);
  if (sampler == NULL)
    {
      find (finding, CANNOT_RECORD, "LNS-GPU-004", "%s", error.message);
      return;
    }
  const LnsGpuSamplingOptions options = { .program = sampler,
                                          .hz = devices == NULL ? 1 : LNS_GPU_METRICS_MIN_HZ,
                                          .is_asked_for = true,
                                          .devices = devices,
                                          .set = "general",
                                          .cupti = "" };
  const unsigned n = lns_gpu_probe (&options, GPU_NS, take, finding);
  free (sampler);
  if (n == 0 && finding->answer == CAN_RECORD)
    find (finding, CANNOT_RECORD, NULL,
          LNS_SENTENCE ("NVIDIA's driver finds no GPU; `nvidia-smi -L` lists them"));
  else if (n > 0 && finding->answer == CANNOT_RECORD)
    finding->answer = CAN_RECORD_LESS;
}

static void
look_at_gpu_environment (const Ground *ground, Finding *finding)
{
  (void)ground;
  look_at_gpus (finding, NULL);
}

static void
look_at_gpu_metrics (const Ground *ground, Finding *finding)
{
  (void)ground;
  look_at_gpus (finding, "all");
}

/* In the order in which they are found out: what takes long comes last. */
static const struct
{
  const char *name, *title, *given_by;
  void (*look) (const Ground *ground, Finding *finding);
} kinds[] = {
  { "nvtx", "NVTX ranges", "(by default)", look_at_nvtx },
  { "cuda", "CUDA calls and GPU work", "(by default)", look_at_cuda_calls },
  { "cuda-backtraces", "Callers of CUDA calls", "--cudabacktrace=kernel", look_at_cuda_calls },
  { "cuda-libraries", "CUDA library calls", "--trace=cublas,cudnn,cusparse,cusolver",
    look_at_cuda_libraries },
  { "mpi", "MPI calls", "--trace=mpi", look_at_mpi },
  { "osrt", "C library calls", "--trace=osrt", look_at_os },
  { "python-functions", "Python functions", "--python-functions-trace=FILE",
    look_at_python_functions },
  { "python-samples", "Python samples", "--python-sampling=true", look_at_python_samples },
  { "cpu-samples", "CPU samples", "(by default)", take_cpus },
  { "cpu-scheduling", "Thread scheduling", "(by default)", take_cpus },
  { "kernel-samples", "Kernel code in samples", "(by default)", take_kernel },
  { "wakers", "Who wakes threads", "(by default)", take_wakers },
  { "system-calls", "System calls", "--trace=syscall", take_calls },
  { "gpu-environment", "GPU power and clocks", "(by default with CUDA)", look_at_gpu_environment },
  { "gpu-metrics", "GPU hardware metrics", "--gpu-metrics-devices=all", look_at_gpu_metrics },
};
#define N_KINDS (sizeof kinds / sizeof *kinds)

/* --- Printing --------------------------------------------------------------------------------- */

static const char *const answers[] = {
  [CAN_RECORD] = "yes", [CAN_RECORD_LESS] = "limited", [CANNOT_RECORD] = "no"
};

/* A reason that is that of the row above, LAST (may be NULL), is not repeated. */
static void
print_row (size_t i, const Finding *finding, const char *last)
{
  printf ("%-25s%-9s%s\n", kinds[i].title, answers[finding->answer], kinds[i].given_by);
  if (finding->reason == NULL || (last != NULL && strcmp (last, finding->reason) == 0))
    return;
  char *text = finding->code[0] == '\0' ? lns_strdup (finding->reason)
                                        : lns_asprintf ("%s [%s]", finding->reason, finding->code);
  lns_cli_print_filled (stdout, text, strlen (text), 4, lns_cli_columns (stdout) - 4);
  free (text);
}

static void
print_object (size_t i, const Finding *finding)
{
  printf ("%s\n  {\"data\": \"%s\", \"title\": \"%s\", \"switch\": \"%s\", \"recordable\": \"%s\", "
          "\"code\": ",
          i == 0 ? "" : ",", kinds[i].name, kinds[i].title, kinds[i].given_by,
          answers[finding->answer]);
  printf (finding->code[0] == '\0' ? "null" : "\"%s\"", finding->code);
  fputs (", \"reason\": ", stdout);
  if (finding->reason != NULL)
    lns_json_write_string (stdout, finding->reason, strlen (finding->reason));
  else
    fputs ("null", stdout);
  putchar ('}');
}

void
lns_status_print_data (bool is_json)
{
  Ground ground = { 0 };
  char *last = NULL;
  look_at_cpus (&ground);
  look_at_cuda (&ground);
  if (is_json)
    putchar ('[');
  else
    printf ("%-25s%-9s%s\n", "DATA", "HERE", "SWITCH OF lanescope profile");
  for (size_t i = 0; i < N_KINDS; i++)
    {
      Finding finding = { 0 };
      fflush (stdout); /* the next row may take seconds */
      if (ground.no_session.message[0] != '\0')
        find (&finding, CANNOT_RECORD, NULL, "%s", ground.no_session.message);
      else
        kinds[i].look (&ground, &finding);
      if (is_json)
        print_object (i, &finding);
      else
        print_row (i, &finding, last);
      free (last);
      last = finding.reason;
    }
  if (is_json)
    fputs ("\n]", stdout);
  free (last);
  free (ground.cuda.reason);
  free (ground.cpus.reason);
  free (ground.kernel.reason);
  free (ground.wakers.reason);
  free (ground.calls.reason);
}
