/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* `lanescope profile` runs a program and records it into a report. `lanescope launch` runs it and records it when other
 * terminals ask. All messages go to stderr, so that the output of the program stays unchanged. */

#include "src/cli/profile/children.h"
#include "src/cli/profile/requests.h"
#include "src/base/memory.h"
#include "src/cli/profile/run.h"
#include "src/cli/reports/report.h"
#include "src/cli/terminal/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/cli/terminal/language.h"

/* Ends the session. If the program did not run, the `start` that waited for it waits for the next one. */
static void
leave_place (LnsProfile *profile)
{
  char name[sizeof profile->place.entry.name];
  LnsSessionEntry entry;
  strcpy (name, profile->place.entry.name);
  lns_session_place_close (&profile->place, false);
  if (profile->pid <= 0 && profile->start != NULL)
    lns_session_place_leave (name, profile->start, profile->n_start_bytes, &entry, NULL);
}

/* Checks that FD is open, and keeps it from the program. */
static bool
check_fd (int64_t fd, const char *name, LnsError *error)
{
  if (fd >= 0 && (fd > 1 << 20 || fcntl ((int)fd, F_SETFD, FD_CLOEXEC) != 0))
    return lns_cli_usage (error, "--%s: descriptor %lld is not open", name, (long long)fd);
  return true;
}

/* Makes the session known to other terminals. If that fails, a run that nobody needs to find goes on. */
static bool
open_place (LnsProfile *profile, LnsError *error)
{
  const LnsProfileOptions *given = &profile->options;
  const char *text = given->session_new != NULL ? given->session_new : given->session;
  const bool is_needed = profile->is_launch || given->start_later || text != NULL;
  char *name = NULL;
  LnsError failed = { 0 };
  LnsSessionRequest start = { .fd = -1 };
  char *bytes;
  size_t n_bytes;
  if (text != NULL)
    {
      if ((name = lns_cli_session_name (text, error)) == NULL)
        return false;
      *lns_array_add (&profile->words) = name;
      if (!lns_session_check_name (name, error))
        return false;
    }
  if (!lns_session_place_open (&profile->place, name, profile->command->name,
                               basename (profile->argv[0]), profile->is_launch, &bytes, &n_bytes,
                               &failed))
    {
      if (is_needed)
        return lns_error_set (error, failed.domain, failed.code, "%s", failed.message);
      lns_cli_say ("warning", "other terminals cannot find this run: %s", failed.message);
    }
  const bool is_started = bytes != NULL;
  profile->start = bytes;
  profile->n_start_bytes = is_started ? n_bytes : 0;
  if (is_started && !lns_session_request_unpack (&start, bytes, n_bytes))
    {
      profile->start = NULL;
      return lns_error_set (error, LNS_ERROR_FORMAT, 0,
                            "the waiting request of `lanescope start` is damaged; run it again");
    }
  const bool done = !is_started || lns_profile_take_start (profile, &start, error);
  free (start.argv);
  profile->begins_by_itself = profile->is_launch ? is_started : !given->start_later;
  return done;
}

static bool
check (LnsProfile *profile, int argc, char **argv, LnsError *error)
{
  const LnsProfileOptions *given = &profile->options;
  if (argc < 2)
    return lns_cli_usage (error,
                          "%s needs a program to run; `lanescope %s --help` lists the switches",
                          profile->command->name, profile->command->name);
  if (!given->stop_on_exit && given->duration_ns < 0 && !profile->is_launch)
    return lns_cli_usage (
        error, "--stop-on-exit=false needs --duration, because nothing else ends the report");
  if (given->duration_ns == 0)
    return lns_cli_usage (error, "--duration must be more than 0 seconds");
  if (given->discard_environment && given->env_record != NULL &&
      strcmp (given->env_record, "none") != 0)
    return lns_cli_usage (
        error, "--discard-environment and --env-record=%s contradict each other; leave out one",
        given->env_record);
  if (given->output_dir != NULL && given->output != NULL && given->output[0] == '/')
    return lns_cli_usage (
        error, "--output-dir cannot be combined with an absolute path in --output; leave out one");
  if (given->run_as != NULL && strcmp (given->run_as, "none") != 0)
    return lns_cli_usage (error,
                          "--run-as: the program runs as the user who runs Lanescope; use `sudo -u "
                          "%s lanescope profile …`",
                          given->run_as);
  profile->argv = argv + 1;
  profile->progress_fd = (int)given->progress_fd;
  return lns_profile_parse_kill (given->kill, &profile->kill_signal, error) &&
         check_fd (given->progress_fd, "progress-fd", error) &&
         check_fd (given->control_fd, "control-fd", error) && open_place (profile, error) &&
         lns_profile_check_trace (profile, error) && lns_profile_check_gpus (profile, error) &&
         lns_profile_check_exports (profile, error);
}

/* --- The run ---------------------------------------------------------------------------------- */

/* Prints ERROR to stderr and as progress. Returns CODE. */
static int
fail (LnsProfile *profile, const LnsError *error, int code)
{
  lns_cli_fail (error);
  /* The launch dialog offers a way out of the second. */
  const bool exists = error->domain == LNS_ERROR_IO && error->code == EEXIST;
  lns_progress_error (profile, exists ? "LNS-RUN-002" : "LNS-RUN-001", error->message);
  return code;
}

static void
store_output (void *data, LnsWriter *report)
{
  lns_program_output_store (data, report);
}

/* Sends the output of the program into the reports, if it is not to be shown. */
static void
hide_output (LnsProfile *profile)
{
  LnsError failed = { 0 };
  if (profile->options.show_output)
    return;
  if (!lns_program_output_open (&profile->output, &failed))
    lns_cli_say ("warning", "--show-output: the report does not keep the output of the program: %s",
                 failed.message);
  lns_recorder_set_describe (lns_session_recorder (profile->session), store_output,
                             &profile->output);
}

/* Sets what SESSION needs to sample GPUs. The path is owned by PROFILE. */
static void
choose_gpus (LnsProfile *profile, LnsSessionOptions *session)
{
  LnsError failed = { 0 };
  const LnsProfileOptions *given = &profile->options;
  const bool is_asked_for = given->gpu_environment != NULL;
  if (profile->gpu_hz == 0 && profile->metrics_hz == 0)
    return;
  char *sampler = lns_profile_find_sampler (&failed);
  if (sampler == NULL)
    {
      if (profile->gpu_hz > 0 && is_asked_for)
        lns_cli_say ("warning", "--gpu-environment: %s [LNS-GPU-004]", failed.message);
      if (profile->metrics_hz > 0)
        lns_cli_say ("warning", "--gpu-metrics-devices: %s [LNS-GPU-004]", failed.message);
      return;
    }
  *lns_array_add (&profile->words) = sampler;
  if (profile->gpu_hz > 0)
    session->gpus = (LnsGpuSamplingOptions){ .program = sampler,
                                             .hz = profile->gpu_hz,
                                             .is_asked_for = is_asked_for };
  if (profile->metrics_hz > 0)
    session->metrics = (LnsGpuSamplingOptions){ .program = sampler,
                                                .hz = profile->metrics_hz,
                                                .is_asked_for = true,
                                                .devices = given->gpu_metrics_devices,
                                                .set = given->gpu_metrics_set,
                                                .cupti = profile->target.cupti_path };
  session->samples_all_gpus = !(profile->target.traces & LNS_WIRE_TRACE_CUDA);
}

/* Says why hardware counters are not sampled. The report says so, too, which is then not printed. */
static void
say_now (void *data, LnsSeverity severity, const char *code, const char *text)
{
  LnsProfile *profile = data;
  *lns_array_add (&profile->told) = lns_strdup (text);
  lns_profile_say (profile, severity, code, text);
}

/* Does everything that can fail before the program runs. */
static bool
prepare (LnsProfile *profile, LnsError *error)
{
  sigset_t masked;
  if (!lns_children_can_be_reaped (error))
    return false;
  LnsSessionOptions session = { .process_bytes = (uint64_t)profile->options.buffer_bytes,
                                .wants_nvtx = profile->wants_nvtx,
                                .wants_cuda = profile->wants_cuda,
                                .wants_python = profile->wants_python,
                                .domains = { profile->options.nvtx_domain_include,
                                             profile->options.nvtx_domain_exclude },
                                .target = profile->target };
  if (!profile->begins_by_itself)
    session.target.range_kind = LNS_WIRE_RANGE_NONE;
  choose_gpus (profile, &session);
  lns_profile_choose_cpus (profile, &session.cpus);
  const bool has_os_callers = (profile->target.traces & LNS_WIRE_TRACE_OS) != 0 &&
                              profile->target.os_callers_ns != LNS_WIRE_NO_CALLERS;
  profile->has_frames =
      session.cpus.events.samples || profile->target.has_callers || has_os_callers;
  lns_profile_choose_python (profile, session.cpus.events.samples, &session.python);
  lns_signals_shared (&masked);
  lns_caller_save (&profile->caller, &masked);
  lns_profile_adopt (profile);
  profile->session = lns_session_new (&session, error);
  if (profile->session != NULL)
    hide_output (profile);
  if (profile->session == NULL || !lns_profile_make_environment (profile, error) ||
      !lns_launch_hold (profile->argv, &profile->environment, &profile->caller,
                        profile->options.show_output ? NULL : profile->output.fds, &profile->launch,
                        error))
    return false;
  if (!profile->begins_by_itself)
    lns_session_set_recording (profile->session, false);
  /* Of what `start` is to begin, `profile` has the report's name from now on. */
  const bool has_ranges = profile->target.range_kind != LNS_WIRE_RANGE_NONE;
  const bool is_done = profile->begins_by_itself && has_ranges
                           ? lns_profile_prepare_ranges (profile, error)
                       : profile->begins_by_itself || !(profile->is_launch || has_ranges)
                           ? lns_profile_create_report (profile, error)
                           : true;
  if (!is_done)
    return false;
  lns_progress_hello (profile);
  return true;
}

/* The limit of a report concerns the memory that processes share with this one, too: 64 MiB for each, and a little. */
#define LEAST_LIMIT_BYTES (UINT64_C (96) << 20)

/* Has the kernel refuse to make files of this process larger than the report may be. The program, whose process exists, keeps its own
 * limit. */
static void
limit_report (const LnsProfile *profile)
{
  struct rlimit limit;
  if (profile->report_max_bytes == 0 || getrlimit (RLIMIT_FSIZE, &limit) != 0)
    return;
  const uint64_t most =
      profile->report_max_bytes > LEAST_LIMIT_BYTES ? profile->report_max_bytes : LEAST_LIMIT_BYTES;
  if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > most)
    limit.rlim_cur = most;
  setrlimit (RLIMIT_FSIZE, &limit);
}

static int
start_and_run (LnsProfile *profile)
{
  LnsError error = { 0 };
  if (!prepare (profile, &error))
    return fail (profile, &error, LNS_EXIT_FAILED);
  limit_report (profile);
  lns_session_begin_metrics (profile->session, say_now, profile);
  if (profile->begins_by_itself && profile->options.delay_ns == 0)
    lns_session_start_report (profile->session);
  profile->process = lns_peers_add_root (lns_session_peers (profile->session), profile->launch.pid);
  lns_session_begin_cpus (profile->session, profile->launch.pid, profile->process, say_now,
                          profile);
  lns_session_begin_python (profile->session);
  profile->pid = lns_launch_release (&profile->launch, profile->argv[0], &error);
  if (profile->pid < 0)
    return fail (profile, &error,
                 error.code == ENOENT ? LNS_EXIT_NOT_FOUND : LNS_EXIT_NOT_EXECUTABLE);
  lns_peers_root_runs (lns_session_peers (profile->session));
  lns_progress_started (profile);
  return lns_profile_run (profile);
}

/* Runs COMMAND. TRIAL, which may be NULL, gets how that went. */
static int
run_once (const LnsCommand *command, int argc, char **argv, LnsProfileTrial *trial)
{
  LnsProfile profile = {
    .command = command,
    .is_launch = command == &lns_command_launch,
    .options = LNS_PROFILE_DEFAULTS,
    .place = LNS_SESSION_NOWHERE,
    .output = LNS_PROGRAM_OUTPUT_NOWHERE,
    .progress_fd = -1,
    .report_max_bytes = trial != NULL ? trial->report_max_bytes : 0,
  };
  LnsError error = { 0 };
  int code = 0;
  if (lns_cli_parse (command, &argc, argv, &profile.options, &code))
    {
      const bool is_list = lns_profile_asks_for_list (&profile.options);
      const bool good = is_list ? lns_profile_list (&profile.options, &error)
                                : check (&profile, argc, argv, &error);
      code = !good     ? fail (&profile, &error, LNS_EXIT_FAILED)
             : is_list ? 0
                       : start_and_run (&profile);
    }
  lns_launch_abandon (&profile.launch);
  leave_place (&profile);
  if (trial != NULL)
    *trial = (LnsProfileTrial){ .is_started = profile.pid > 0,
                                .exit_code = profile.exit_code,
                                .caller = profile.caller };
  lns_profile_clear (&profile);
  lns_environment_clear (&profile.environment);
  lns_cli_clear_lists (&lns_command_profile, &profile.options);
  lns_cli_end_by (profile.end_signal);
  return code;
}

static int
run (const LnsCommand *command, int argc, char **argv)
{
  return run_once (command, argc, argv, NULL);
}

int
lns_profile_try (int argc, char **argv, LnsProfileTrial *trial)
{
  return run_once (&lns_command_profile, argc, argv, trial);
}

/* --- The commands ----------------------------------------------------------------------------- */

static const LnsOptionGroup *const profile_groups[] = {
  &lns_profile_switches_trace,      &lns_profile_switches_cuda,    &lns_profile_switches_range,
  &lns_profile_switches_report,     &lns_profile_switches_program, &lns_profile_switches_session,
  &lns_profile_switches_collection, &lns_profile_switches_cpu,     &lns_profile_switches_system,
  &lns_profile_switches_hardware,   &lns_profile_switches_tool,    NULL,
};

const LnsCommand lns_command_profile = {
  .name = "profile",
  .usage = N_ ("[switches] PROGRAM [ARGUMENTS…]"),
  .summary = N_ ("run a program and record it into a report"),
  .details = N_ (
      "Lanescope writes to stderr, except for the tables of --stats. Ctrl-C ends the recording and "
      "keeps the report.\n"
      "\n"
      "Exit codes:\n"
      "  CODE  what the program returned; a signal that ended it ends Lanescope too\n"
      "  124   the program succeeded, and with --strict something is missing\n"
      "  125   the program was not started; or it succeeded, and the report, an export\n"
      "        or the statistics are incomplete\n"
      "  126   the program cannot be executed\n"
      "  127   the program was not found\n"
      "Before 125, 126 and 127, Lanescope prints a line `lanescope: error: …`."),
  .words_end_it = true,
  .groups = profile_groups,
  .refusals = lns_profile_refusals,
  .n_refusals = LNS_PROFILE_N_REFUSALS,
  .run = run,
};

static const LnsOption launch_options[] = {
  { LNS_PROFILE_SWITCH ("session-new", TEXT, session_new), .value_name = "NAME",
    .default_text = "launch-ID-PROGRAM",
    .help = N_ (
        "Name of this session, by which start, stop, cancel, keep and shutdown in other terminals "
        "find it.") },
  { LNS_PROFILE_SWITCH ("session", TEXT, session), .value_name = "NAME",
    .help = N_ ("Session that `lanescope start` began, to which the program belongs.") },
};

static const LnsOptionGroup *const launch_groups[] = {
  &lns_profile_switches_trace,   &lns_profile_switches_cuda,
  &lns_profile_switches_program, &lns_profile_switches_cpu,
  &lns_profile_switches_system,  &lns_profile_switches_hardware,
  &lns_profile_switches_tool,    NULL,
};

const LnsCommand lns_command_launch = {
  .name = "launch",
  .usage = N_ ("[switches] PROGRAM [ARGUMENTS…]"),
  .summary = N_ ("run a program that `start` and `stop` record from other terminals"),
  .details = N_ (
      "The program runs at full speed until `lanescope start` in another terminal begins a report. "
      "`lanescope stop` ends the report, and the program runs on. Repeat both for further reports. "
      "If `lanescope start` is run before this command, the report begins with the program. The "
      "session ends with the program, or with `lanescope shutdown`. Exit codes are those of "
      "`lanescope profile`."),
  .words_end_it = true,
  LNS_COMMAND_OPTIONS (launch_options),
  .groups = launch_groups,
  .refusals = lns_profile_refusals,
  .n_refusals = LNS_PROFILE_N_REFUSALS,
  .run = run,
};
