/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* `lanescope attach` records programs that run already, from outside: it neither stops them nor loads anything into them. */

#include <errno.h>
#include <regex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/session/system/process-info.h"
#include "src/base/format.h"
#include "src/base/memory.h"
#include "src/cli/profile/attached.h"
#include "src/cli/profile/run.h"
#include "src/cli/terminal/language.h"
#include "src/cli/terminal/signals.h"

/* --- Processes -------------------------------------------------------------------------------- */

/* What keeps PID, as --pid gives it, from being attached to; NULL if nothing does. Sets RET_PROCESS to the process of a thread. */
static const char *
reason_against (int32_t pid, int32_t *ret_process)
{
  uid_t user;
  if (!lns_process_owner (pid, &user, ret_process))
    return N_ ("there is no such process; `pgrep -a NAME` lists those that run");
  if (*ret_process == getpid ())
    return N_ ("this is Lanescope itself; give the id of another process");
  if (lns_process_is_of_kernel (pid))
    return N_ ("this is a thread of the kernel, which `perf record` records");
  if (lns_process_is_ending (*ret_process))
    return N_ ("this process has ended; `pgrep -a NAME` lists those that run");
  return NULL;
}

/* Adds the processes of --pid to PIDS. Those that cannot be recorded are left out, with a warning; if none is left, that is ERROR. */
static bool
take_pids (const LnsOptionList *given, LnsPids *pids, LnsError *error)
{
  const size_t n_before = pids->n;
  const char *last = NULL, *reason = NULL;
  for (size_t i = 0; i < given->n_items; i++)
    {
      char *end;
      int32_t process;
      errno = 0;
      const long pid = strtol (given->items[i], &end, 10);
      if (errno != 0 || end == given->items[i] || *end != '\0' || pid <= 0 || pid > INT32_MAX)
        return lns_cli_usage (error, "--pid: “%s” is not a process id", given->items[i]);
      if (reason != NULL)
        lns_cli_say ("warning", "--pid=%s: %s", last, _ (reason));
      reason = reason_against ((int32_t)pid, &process);
      last = given->items[i];
      if (reason == NULL && !lns_pids_have (pids, process))
        *lns_array_add (pids) = process;
    }
  if (reason != NULL && pids->n == n_before)
    return lns_cli_usage (error, "--pid=%s: %s", last, _ (reason));
  if (reason != NULL)
    lns_cli_say ("warning", "--pid=%s: %s", last, _ (reason));
  return true;
}

/* Adds the processes of this user whose command line REGEX matches to PIDS, but for those that started this one, and says how many
 * they are. */
static bool
take_matches (const char *regex, LnsPids *pids, LnsError *error)
{
  regex_t compiled;
  LnsPids all = { 0 };
  unsigned n = 0;
  const int failed = regcomp (&compiled, regex, REG_EXTENDED | REG_NOSUB);
  if (failed != 0)
    {
      char text[200];
      regerror (failed, &compiled, text, sizeof text);
      return lns_cli_usage (error, "--match: “%s” is not an extended regular expression: %s", regex,
                            text);
    }
  lns_process_list (&all);
  for (size_t i = 0; i < all.n; i++)
    {
      uid_t user;
      int32_t process;
      LnsProcessInfo info;
      /* The shell that waits for this command has the same words, and would be waited for. */
      if (reason_against (all.items[i], &process) != NULL ||
          !lns_process_owner (all.items[i], &user, &process) || user != getuid () ||
          lns_process_descends (getpid (), all.items[i]))
        continue;
      lns_process_info_read (all.items[i], &info);
      if (info.command_line != NULL && regexec (&compiled, info.command_line, 0, NULL, 0) == 0)
        {
          n++;
          if (!lns_pids_have (pids, all.items[i]))
            *lns_array_add (pids) = all.items[i];
        }
      lns_process_info_clear (&info);
    }
  regfree (&compiled);
  lns_array_clear (&all);
  if (n == 0)
    return lns_cli_usage (error,
                          "--match: no process of yours has a command line that matches “%s”; "
                          "`pgrep -u $USER -a .` lists them",
                          regex);
  lns_cli_say ("note", "--match: %u %s", n, lns_plural (n, "process", "processes"));
  return true;
}

/* Says that NVTX and CUDA are not recorded, and what records them. */
static void
tell_traces (const LnsPids *pids)
{
  bool have_joined = true;
  for (size_t i = 0; i < pids->n; i++)
    have_joined = have_joined && lns_session_started (pids->items[i]);
  if (have_joined)
    lns_cli_say ("note",
                 "NVTX and CUDA are not recorded, as the program belongs to another session; "
                 "`lanescope start` records them if `lanescope sessions list` has it");
  else
    lns_cli_say ("note",
                 "NVTX and CUDA are not recorded, as they need a program that was started by "
                 "`lanescope profile` or `lanescope launch`");
}

/* --- The run ---------------------------------------------------------------------------------- */

static int
fail (LnsProfile *profile, const LnsError *error)
{
  lns_cli_fail (error);
  lns_progress_error (profile, "LNS-RUN-001", error->message);
  return LNS_EXIT_FAILED;
}

/* Gives PROFILE the words of the program of PID. */
static void
take_words (LnsProfile *profile, int32_t pid)
{
  LnsProcessInfo info;
  lns_process_info_read (pid, &info);
  const char *text = info.command_line != NULL ? info.command_line
                     : info.name != NULL       ? info.name
                                               : "?";
  const char *program = info.executable != NULL ? info.executable : text;
  *lns_array_add (&profile->words) = lns_strdup (text);
  *lns_array_add (&profile->words) = lns_strdup (program);
  profile->command_line = profile->words.items[profile->words.n - 2];
  profile->pid = pid;
  lns_process_info_clear (&info);
}

/* Checks the switches and finds the processes. */
static bool
check (LnsProfile *profile, int argc, char **argv, LnsPids *pids, LnsError *error)
{
  const LnsProfileOptions *given = &profile->options;
  char *start = NULL;
  size_t n_start;
  LnsError failed = { 0 };
  if (argc > 1)
    return lns_cli_usage (error,
                          "attach starts no program; remove the extra argument “%s”, or use "
                          "`lanescope profile`",
                          argv[1]);
  if (given->pids.n_items == 0 && given->match == NULL)
    return lns_cli_usage (error, "attach needs a process: --pid=PID or --match=REGEX");
  if (given->duration_ns == 0)
    return lns_cli_usage (error, "--duration must be more than 0 seconds");
  if ((given->pids.n_items > 0 && !take_pids (&given->pids, pids, error)) ||
      (given->match != NULL && !take_matches (given->match, pids, error)))
    return false;
  take_words (profile, pids->items[0]);
  profile->argv = lns_calloc (2, sizeof *profile->argv);
  profile->argv[0] = profile->words.items[profile->words.n - 1];
  if (!lns_session_place_open (&profile->place, NULL, profile->command->name,
                               basename (profile->argv[0]), false, &start, &n_start, &failed))
    lns_cli_say ("warning", "other terminals cannot find this run: %s", failed.message);
  free (start);
  profile->progress_fd = (int)given->progress_fd;
  return lns_profile_check_exports (profile, error) &&
         lns_attached_watch (&profile->attached, pids, error);
}

/* Says why less is recorded. The report says so, too, which is then not printed. */
static void
say_now (void *data, LnsSeverity severity, const char *code, const char *text)
{
  LnsProfile *profile = data;
  *lns_array_add (&profile->told) = lns_strdup (text);
  lns_profile_say (profile, severity, code, text);
}

static int
record (LnsProfile *profile, const LnsPids *pids)
{
  LnsError error = { 0 };
  sigset_t masked;
  LnsSessionOptions session = { .process_bytes = (uint64_t)profile->options.buffer_bytes };
  lns_profile_choose_cpus (profile, &session.cpus);
  lns_profile_choose_python (profile, session.cpus.events.samples, &session.python);
  profile->has_frames = session.cpus.events.samples;
  lns_signals_shared (&masked);
  lns_caller_save (&profile->caller, &masked);
  profile->session = lns_session_new (&session, &error);
  if (profile->session == NULL || !lns_profile_create_report (profile, &error))
    return fail (profile, &error);
  lns_progress_hello (profile);
  if (profile->options.delay_ns == 0)
    lns_session_start_report (profile->session);
  lns_session_attach (profile->session, pids, say_now, profile);
  lns_session_begin_python (profile->session);
  tell_traces (pids);
  lns_progress_started (profile);
  return lns_profile_run (profile);
}

static int
run (const LnsCommand *command, int argc, char **argv)
{
  LnsProfile profile = {
    .command = command,
    .is_attach = true,
    .begins_by_itself = true,
    .can_trace_nothing = true,
    .options = LNS_PROFILE_DEFAULTS,
    .place = LNS_SESSION_NOWHERE,
    .output = LNS_PROGRAM_OUTPUT_NOWHERE,
    .progress_fd = -1,
    .attached = { .fd = -1 },
  };
  LnsPids pids = { 0 };
  LnsError error = { 0 };
  int code = 0;
  profile.options.discard_environment = true; /* it is not the program's */
  if (lns_cli_parse (command, &argc, argv, &profile.options, &code))
    code = check (&profile, argc, argv, &pids, &error) ? record (&profile, &pids)
                                                       : fail (&profile, &error);
  lns_session_place_close (&profile.place, false);
  lns_profile_clear (&profile);
  lns_attached_clear (&profile.attached);
  lns_cli_clear_lists (command, &profile.options);
  lns_array_clear (&pids);
  free (profile.argv);
  return code;
}

/* --- The command ------------------------------------------------------------------------------ */

static const LnsOption attach_options[] = {
  { LNS_PROFILE_SWITCH ("pid", LIST, pids), .letter = 'p', .value_name = "PID,…",
    .help = N_ ("Record these processes, and all that they have started and will start. May be "
                "repeated.") },
  { LNS_PROFILE_SWITCH ("match", TEXT, match), .value_name = "REGEX",
    .help = N_ ("Record all processes of yours whose command line this extended regular expression "
                "matches, and all that they start.") },
  { LNS_PROFILE_SWITCH ("delay", SECONDS, delay_ns), .letter = 'y', .value_name = "SECONDS",
    .default_text = "0", .help = N_ ("Wait this many seconds before collecting.") },
  { LNS_PROFILE_SWITCH ("duration", SECONDS, duration_ns), .letter = 'd', .value_name = "SECONDS",
    .help = N_ ("Collect for this many seconds. The program goes on.") },
};

static const LnsOptionGroup *const attach_groups[] = {
  &lns_profile_switches_report,
  &lns_profile_switches_collection,
  &lns_profile_switches_cpu,
  &lns_profile_switches_tool,
  NULL,
};

const LnsCommand lns_command_attach = {
  .name = "attach",
  .usage = N_ ("[switches] -p PID|--match=REGEX"),
  .summary = N_ ("record programs that run already"),
  .details = N_ (
      "Records CPU samples, thread scheduling and processes of programs that were started without "
      "Lanescope. It does not stop them, and loads nothing into them. NVTX and CUDA need a program "
      "that was started by `lanescope profile` or `lanescope launch`. The report ends with Ctrl-C, "
      "after --duration, or when all processes have ended to which Lanescope attached; those that "
      "still run go on.\n"
      "\n"
      "Exit codes:\n"
      "  0    the report is complete; what could not be recorded is said\n"
      "  124  with --strict, something is missing\n"
      "  125  there is no such process, or the report, an export or the statistics are\n"
      "       incomplete"),
  LNS_COMMAND_OPTIONS (attach_options),
  .groups = attach_groups,
  .run = run,
};
