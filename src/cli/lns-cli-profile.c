/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* `lanescope profile`: runs a program and records it into a report. All text of its own goes to
 * stderr, so that the program's output stays as it is. */

#include "src/cli/lns-cli-profile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define AT(member) offsetof (LnsProfileOptions, member)

static const LnsOption options[] = {
  { .name = "trace",
    .letter = 't',
    .kind = LNS_OPTION_LIST,
    .offset = AT (trace),
    .choices = "cuda,nvtx,cublas,cublas-verbose,cudnn,none",
    .open_choices = true,
    .default_text = "cuda,nvtx",
    .help = "What to record: CUDA calls and what the GPU did; ranges, marks and counters of NVTX; "
            "calls of cuBLAS (with those it makes itself: cublas-verbose) and cuDNN, which turn "
            "CUDA on; or nothing but the process." },
  { .name = "output",
    .letter = 'o',
    .kind = LNS_OPTION_TEXT,
    .offset = AT (output),
    .value_name = "PATH",
    .default_text = "report1.rep, or the next number that is free",
    .help = "The report; .rep is added, missing folders are made." },
  { .name = "force-overwrite",
    .letter = 'f',
    .kind = LNS_OPTION_BOOL,
    .offset = AT (force_overwrite),
    .default_text = "false",
    .help = "Replace the report if it exists. The old one stays until the new one holds data." },
  { .name = "show-output",
    .letter = 'w',
    .kind = LNS_OPTION_BOOL,
    .offset = AT (show_output),
    .default_text = "true",
    .help = "Leave the program its output and errors; false sends both to /dev/null." },
  { .name = "duration",
    .letter = 'd',
    .kind = LNS_OPTION_SECONDS,
    .offset = AT (duration_ns),
    .value_name = "SECONDS",
    .help = "Collect for so long, then end the program as --kill says." },
  { .name = "delay",
    .letter = 'y',
    .kind = LNS_OPTION_SECONDS,
    .offset = AT (delay_ns),
    .value_name = "SECONDS",
    .default_text = "0",
    .help = "Begin to collect so long after the program's start." },
  { .name = "stop-on-exit",
    .letter = 'x',
    .kind = LNS_OPTION_BOOL,
    .offset = AT (stop_on_exit),
    .default_text = "true",
    .help = "End the report when the program ends; false needs --duration, and waits for it." },
  { .name = "wait",
    .kind = LNS_OPTION_CHOICE,
    .offset = AT (wait),
    .choices = "primary,all",
    .default_text = "all",
    .help = "Whose end ends the report: the program's own, or that of all processes it started and "
            "that are recorded." },
  { .name = "kill",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (kill),
    .choices = "none,sigterm,sigkill",
    .open_choices = true,
    .value_name = "none|sigterm|sigkill|N",
    .default_text = "sigterm",
    .help = "The signal that recorded processes get when the report ends before they do." },
  { .name = "env-var",
    .letter = 'e',
    .kind = LNS_OPTION_LIST,
    .offset = AT (env_var),
    .value_name = "A=B[,C=D]",
    .help = "Variables for the program's environment." },
  { .name = "inherit-environment",
    .letter = 'n',
    .kind = LNS_OPTION_BOOL,
    .offset = AT (inherit_environment),
    .default_text = "true",
    .help = "Give the program the caller's environment; false gives it --env-var alone." },
  { .name = "env-record",
    .kind = LNS_OPTION_CHOICE,
    .offset = AT (env_record),
    .choices = "none,list,all",
    .default_text = "list",
    .help = "What of the environment the report keeps: nothing, well-known variables of GPU, "
            "cluster and language tools, or all." },
  { .name = "buffer-size",
    .kind = LNS_OPTION_BYTES,
    .offset = AT (buffer_bytes),
    .value_name = "SIZE",
    .default_text = "64M, or 5 % of the control group's memory if that is less",
    .help = "Memory for a process's records until they are stored; in MiB, or with K, M or G." },
  { .name = "capture-range",
    .letter = 'c',
    .kind = LNS_OPTION_TEXT,
    .offset = AT (capture_range),
    .choices = "none,cudaProfilerApi,nvtx",
    .open_choices = true,
    .value_name = "none|cudaProfilerApi|nvtx",
    .default_text = "none",
    .help = "What begins the report: the start of the program, its first cudaProfilerStart(), or "
            "the first range that --nvtx-capture names." },
  { .name = "nvtx-capture",
    .letter = 'p',
    .kind = LNS_OPTION_TEXT,
    .offset = AT (nvtx_capture),
    .value_name = "RANGE[@DOMAIN|@*]",
    .help = "With --capture-range=nvtx: the range, in the default domain, in DOMAIN, or in any "
            "(@*); \\@ is part of a name." },
  { .name = "capture-range-end",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (capture_range_end),
    .choices = "none,stop,stop-shutdown,repeat,repeat-shutdown",
    .open_choices = true,
    .value_name = "none|stop|stop-shutdown|repeat[:N]|repeat-shutdown:N",
    .default_text = "stop-shutdown",
    .help =
        "What the end of that range does: nothing; end the report; also end the program, as --kill "
        "says; or let each further range, up to N, have a report of its own, NAME.1.rep and on." },
  { .name = "stop-on-range-end",
    .kind = LNS_OPTION_CHOICE,
    .offset = AT (stop_on_range_end),
    .choices = "true,false",
    .help = "Older spelling: true is --capture-range-end=stop-shutdown, false is none." },
  { .name = "cuda-memory-usage",
    .kind = LNS_OPTION_BOOL,
    .offset = AT (cuda_memory_usage),
    .default_text = "false",
    .help = "Record each allocation of GPU memory, and how much is in use." },
  { .name = "cuda-graph-trace",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (cuda_graph_trace),
    .choices = "graph,node",
    .open_choices = true,
    .value_name = "graph|node",
    .default_text = "graph",
    .help =
        "CUDA graphs as a whole, or the kernels and copies in them one by one, which costs more." },
  { .name = "cuda-event-trace",
    .kind = LNS_OPTION_CHOICE,
    .offset = AT (cuda_event_trace),
    .choices = "auto,true,false",
    .default_text = "false",
    .help = "Record when CUDA events came about on the GPU." },
  { .name = "cuda-um-cpu-page-faults",
    .kind = LNS_OPTION_BOOL,
    .offset = AT (cuda_um_cpu_page_faults),
    .default_text = "false",
    .help = "Record page faults of the CPU in unified memory." },
  { .name = "cuda-um-gpu-page-faults",
    .kind = LNS_OPTION_BOOL,
    .offset = AT (cuda_um_gpu_page_faults),
    .default_text = "false",
    .help = "Record page faults of the GPU in unified memory." },
  { .name = "cuda-trace-all-apis",
    .kind = LNS_OPTION_BOOL,
    .offset = AT (cuda_trace_all_apis),
    .default_text = "false",
    .help = "Record also CUDA calls that only ask, such as cudaGetLastError()." },
  { .name = "cuda-flush-interval",
    .kind = LNS_OPTION_INTEGER,
    .offset = AT (cuda_flush_ms),
    .value_name = "MS",
    .default_text = "1000",
    .help = "How often finished GPU records are taken from CUPTI, in milliseconds." },
  { .name = "flush-on-cudaprofilerstop",
    .kind = LNS_OPTION_BOOL,
    .offset = AT (flush_on_cudaprofilerstop),
    .default_text = "true",
    .help = "Take them at each cudaProfilerStop() too." },
  { .name = "cupti-path",
    .kind = LNS_OPTION_TEXT,
    .offset = AT (cupti_path),
    .value_name = "PATH",
    .default_text = "the newest that fits the driver",
    .help = "The libcupti.so to use, or the folder that holds it." },
  { .name = "cupti-device-buffer",
    .kind = LNS_OPTION_BYTES,
    .offset = AT (cupti_device_bytes),
    .value_name = "SIZE",
    .default_text = "CUPTI's own, some MiB",
    .help = "GPU memory of each buffer of CUPTI's; smaller ones leave more to the program." },
  { .name = "progress-fd",
    .kind = LNS_OPTION_INTEGER,
    .offset = AT (progress_fd),
    .value_name = "N",
    .help = "Write what happens to descriptor N, a JSON object a line." },
  { .name = "control-fd",
    .kind = LNS_OPTION_INTEGER,
    .offset = AT (control_fd),
    .value_name = "N",
    .help = "Obey descriptor N: lines start, stop, cancel, kill." },
};

static int run (const LnsCommand *command, int argc, char **argv);

const LnsCommand lns_command_profile = {
  .name = "profile",
  .usage = "[switches] PROGRAM [ARGUMENTS…]",
  .summary = "run a program and record it into a report",
  .details =
      "Exit code: the program's, 128+N if signal N ended it. 125: nothing was started, or the\n"
      "report is not whole although the program succeeded; 126: the program cannot be executed;\n"
      "127: it was not found; each with a line `lanescope: error: …`. Ctrl-C ends the run and\n"
      "keeps the report. Lanescope writes to stderr alone.",
  .words_end_it = true,
  .options = options,
  .n_options = sizeof options / sizeof *options,
  .run = run,
};

void
lns_profile_say (const char *word, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  fprintf (stderr, "lanescope: %s: ", word);
  vfprintf (stderr, format, arguments);
  fputc ('\n', stderr);
  va_end (arguments);
}

/* --- What the switches say together ----------------------------------------------------------- */

static bool
check_kill (LnsProfile *profile, LnsError *error)
{
  const char *kill = profile->options.kill;
  char *end;
  long number = strtol (kill, &end, 10);
  if (strcasecmp (kill, "none") == 0 || strcasecmp (kill, "false") == 0)
    profile->kill_signal = 0;
  else if (strcasecmp (kill, "sigterm") == 0 || strcasecmp (kill, "true") == 0)
    profile->kill_signal = SIGTERM;
  else if (strcasecmp (kill, "sigkill") == 0)
    profile->kill_signal = SIGKILL;
  else if (end != kill && *end == '\0' && number > 0 && number <= SIGRTMAX)
    profile->kill_signal = (int)number;
  else
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "--kill: “%s” is not none, sigterm, sigkill or a signal's number", kill);
  return true;
}

/* FD as the caller gave it: must be open, and is not the program's. */
static bool
check_fd (int64_t fd, const char *name, LnsError *error)
{
  if (fd >= 0 && (fd > 1 << 20 || fcntl ((int)fd, F_SETFD, FD_CLOEXEC) != 0))
    return lns_error_set (error, LNS_ERROR_USAGE, 0, "--%s: descriptor %lld is not open", name,
                          (long long)fd);
  return true;
}

static bool
check (LnsProfile *profile, int argc, char **argv, LnsError *error)
{
  const LnsProfileOptions *given = &profile->options;
  if (argc < 2)
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "profile needs a program to run: `lanescope profile --help`");
  if (!given->stop_on_exit && given->duration_ns < 0)
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "--stop-on-exit=false needs --duration: else nothing ends the report");
  if (given->duration_ns == 0)
    return lns_error_set (error, LNS_ERROR_USAGE, 0, "--duration must be more than 0 seconds");
  profile->argv = argv + 1;
  profile->progress_fd = (int)given->progress_fd;
  return lns_profile_check_trace (profile, error) && check_kill (profile, error) &&
         check_fd (given->progress_fd, "progress-fd", error) &&
         check_fd (given->control_fd, "control-fd", error);
}

/* --- The run ---------------------------------------------------------------------------------- */

/* Says ERROR everywhere; returns CODE. */
static int
fail (LnsProfile *profile, const LnsError *error, int code)
{
  lns_cli_fail (error);
  lns_progress_error (profile, "LNS-RUN-001", error->message);
  return code;
}

/* Everything that can be refused before the program runs. */
static bool
prepare (LnsProfile *profile, LnsError *error)
{
  sigset_t masked;
  LnsSessionOptions session = { .process_bytes = (uint64_t)profile->options.buffer_bytes,
                                .wants_cuda = profile->options.trace.n_items > 0 &&
                                              (profile->target.traces & LNS_WIRE_TRACE_CUDA),
                                .target = profile->target };
  lns_profile_signals (&masked);
  lns_caller_save (&profile->caller, &masked);
  profile->session = lns_session_new (&session, error);
  const bool has_ranges = profile->target.range_kind != LNS_WIRE_RANGE_NONE;
  if (profile->session == NULL || !(has_ranges ? lns_profile_prepare_ranges (profile, error)
                                               : lns_profile_create_report (profile, error)))
    return false;
  if (!lns_profile_make_environment (profile, error))
    return false;
  LnsWriter *report = lns_session_report (profile->session);
  if (report != NULL)
    {
      lns_profile_describe (profile, report);
      lns_profile_record_environment (profile, report);
    }
  lns_progress_hello (profile);
  return true;
}

static int
start_and_run (LnsProfile *profile)
{
  LnsError error = { 0 };
  if (!prepare (profile, &error))
    return fail (profile, &error, LNS_EXIT_FAILED);
  if (profile->options.delay_ns == 0)
    lns_session_start_report (profile->session);
  profile->pid = lns_launch (profile->argv, &profile->environment, &profile->caller,
                             !profile->options.show_output, &error);
  if (profile->pid < 0)
    return fail (profile, &error,
                 error.code == ENOENT ? LNS_EXIT_NOT_FOUND : LNS_EXIT_NOT_EXECUTABLE);
  profile->process = lns_session_add_root (profile->session, profile->pid);
  lns_progress_started (profile);
  lns_profile_run (profile);
  return profile->exit_code == 0 && profile->report_failed ? LNS_EXIT_FAILED : profile->exit_code;
}

static int
run (const LnsCommand *command, int argc, char **argv)
{
  LnsProfile profile = {
    .options = {
      .show_output = true,
      .duration_ns = -1,
      .stop_on_exit = true,
      .inherit_environment = true,
      .kill = "sigterm",
      .wait = "all",
      .env_record = "list",
      .flush_on_cudaprofilerstop = true,
      .cuda_graph_trace = "graph",
      .cuda_event_trace = "false",
      .capture_range = "none",
      .capture_range_end = "stop-shutdown",
      .progress_fd = -1,
      .control_fd = -1,
    },
    .progress_fd = -1,
  };
  LnsError error = { 0 };
  int code = 0;
  if (lns_cli_parse (command, &argc, argv, &profile.options, &code))
    code = check (&profile, argc, argv, &error) ? start_and_run (&profile)
                                                : fail (&profile, &error, LNS_EXIT_FAILED);
  lns_session_free (profile.session);
  lns_environment_clear (&profile.environment);
  lns_option_list_clear (&profile.options.trace);
  lns_option_list_clear (&profile.options.env_var);
  free (profile.path);
  return code;
}
