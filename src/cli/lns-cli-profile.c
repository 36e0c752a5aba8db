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
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const LnsOptionGroup *const groups[] = {
  &lns_profile_switches_trace,
  &lns_profile_switches_cuda,
  &lns_profile_switches_range,
  &lns_profile_switches_report,
  &lns_profile_switches_program,
  &lns_profile_switches_session,
  &lns_profile_switches_cpu,
  &lns_profile_switches_system,
  &lns_profile_switches_hardware,
  &lns_profile_switches_tool,
  NULL,
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
  .groups = groups,
  .refusals = lns_profile_refusals,
  .n_refusals = LNS_PROFILE_N_REFUSALS,
  .run = run,
};

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
  if (given->discard_environment && given->env_record != NULL &&
      strcmp (given->env_record, "none") != 0)
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "--discard-environment and --env-record=%s exclude each other: leave out "
                          "one",
                          given->env_record);
  if (given->output_dir != NULL && given->output != NULL && given->output[0] == '/')
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "--output-dir and the path of --output from the root on exclude each "
                          "other: leave out one");
  if (given->run_as != NULL && strcmp (given->run_as, "none") != 0)
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "--run-as: the program runs as who runs Lanescope: write `sudo -u %s "
                          "lanescope profile …`",
                          given->run_as);
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
                                .wants_cuda = profile->wants_cuda,
                                .domains = { profile->options.nvtx_domain_include,
                                             profile->options.nvtx_domain_exclude },
                                .target = profile->target };
  lns_profile_signals (&masked);
  lns_caller_save (&profile->caller, &masked);
  profile->session = lns_session_new (&session, error);
  if (profile->session == NULL || !lns_profile_make_environment (profile, error) ||
      !lns_launch_hold (profile->argv, &profile->environment, &profile->caller,
                        !profile->options.show_output, &profile->launch, error))
    return false;
  const bool has_ranges = profile->target.range_kind != LNS_WIRE_RANGE_NONE;
  if (!(has_ranges ? lns_profile_prepare_ranges (profile, error)
                   : lns_profile_create_report (profile, error)))
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
  profile->pid = lns_launch_release (&profile->launch, profile->argv[0], &error);
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
  LnsProfile profile = { .options = LNS_PROFILE_DEFAULTS, .progress_fd = -1 };
  LnsError error = { 0 };
  int code = 0;
  if (lns_cli_parse (command, &argc, argv, &profile.options, &code))
    code = check (&profile, argc, argv, &error) ? start_and_run (&profile)
                                                : fail (&profile, &error, LNS_EXIT_FAILED);
  lns_launch_abandon (&profile.launch);
  lns_session_free (profile.session);
  lns_environment_clear (&profile.environment);
  lns_profile_options_clear (&profile.options);
  free (profile.path);
  return code;
}
