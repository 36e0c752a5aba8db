/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What follows a finished report: names of functions, --export, --stats, the list of generated files, and the doctor. All
 * of this ends its process if memory runs out (src/base/memory.h). While more is recorded, which that must not end, another
 * process does it: `lanescope finish-report` and `lanescope examine-report`, which only this file runs. They are no forks,
 * because other threads of a session write reports, and SQLite cannot be used in a fork of a process that uses it. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/analysis/rules/doctor.h"
#include "src/analysis/stats/report.h"
#include "src/analysis/why/why.h"
#include "src/base/memory.h"
#include "src/cli/profile/profile.h"
#include "src/cli/reports/frame-names.h"
#include "src/cli/reports/report.h"
#include "src/cli/terminal/signals.h"
#include "src/cli/terminal/steps.h"
#include "src/cli/terminal/terminal.h"
#include "src/export/sink.h"
#include "src/cli/terminal/language.h"

/* --- Before the run --------------------------------------------------------------------------- */

/* The export format called NAME. NULL if nothing is to be written; with ERROR if NAME is unknown. */
static const LnsExportType *
find_type (const char *name, LnsError *error)
{
  const LnsExportType *type = lns_export_type_find (name);
  if (type != NULL)
    return type;
  if (strcmp (name, "json") == 0)
    return lns_export_type_find ("jsonlines");
  if (lns_option_choice ("text,hdf", name) != NULL)
    lns_cli_say ("warning",
                 "--export: %s is not supported; sqlite, jsonlines and csv hold the same rows "
                 "[LNS-SWITCH-001]",
                 name);
  else if (strcmp (name, "none") != 0)
    lns_cli_usage (
        error, "--export: unknown format “%s”; `lanescope export --help` lists the formats", name);
  return NULL;
}

bool
lns_profile_check_exports (LnsProfile *profile, LnsError *error)
{
  const LnsOptionList *names = &profile->options.export;
  free (profile->exports);
  profile->n_exports = 0;
  profile->exports = lns_calloc (names->n_items, sizeof *profile->exports);
  if (names->n_items > 1 && lns_option_list_has (names, "none"))
    return lns_cli_usage (error, "--export: “none” cannot be combined with other formats");
  for (size_t i = 0; i < names->n_items; i++)
    {
      const LnsExportType *type = find_type (names->items[i], error);
      if (type != NULL && !lns_export_type_check (type, error))
        return false;
      bool is_there = type == NULL;
      for (size_t k = 0; k < profile->n_exports; k++)
        is_there |= profile->exports[k] == type;
      if (!is_there)
        profile->exports[profile->n_exports++] = type;
    }
  return error->domain == LNS_ERROR_NONE;
}

/* Whether the names of functions are to be looked up. */
static bool
names_frames (const LnsProfile *profile)
{
  return profile->has_frames && profile->options.resolve_symbols;
}

/* --- After it --------------------------------------------------------------------------------- */

static bool
export_as (LnsProfile *profile,
           LnsReport *report,
           const char *source,
           const LnsExportType *type,
           const char *path,
           LnsCliSteps *steps)
{
  LnsError error = { 0 };
  const char *lacks = NULL;
  const LnsExportOptions options = {
    .overwrite = profile->options.force_overwrite && !profile->is_numbered,
    .extent = type == lns_export_type_find ("sqlite") ? LNS_EXPORT_EXPECTED_TABLES
                                                      : LNS_EXPORT_FILLED_TABLES,
    .folding = { true, true, "validation", false },
    .ret_lacks = &lacks,
    .source = source,
    .cancel = lns_cli_catch_interrupt (),
    .progress = lns_cli_step_show,
    .progress_data = steps,
  };
  lns_cli_step_begin (steps, basename (path));
  const bool is_done = lns_export (report, type, path, &options, &error);
  lns_cli_step_end (steps, is_done);
  if (!is_done)
    lns_profile_fail (profile, &error);
  else if (lacks != NULL)
    lns_cli_say ("warning", "%s is empty: %s", path, lacks);
  return is_done;
}

/* Exports the report at PATH. Returns the path of each export of the profile, or NULL where it was not written. All owned. */
static char **
export_all (LnsProfile *profile, const char *path, LnsCliSteps *steps)
{
  char **paths = lns_calloc (profile->n_exports, sizeof *paths);
  LnsError error = { 0 };
  LnsReport *report = lns_cli_open_report (path, &error);
  if (report == NULL)
    lns_profile_fail (profile, &error);
  for (size_t i = 0; report != NULL && i < profile->n_exports; i++)
    {
      paths[i] = lns_cli_replace_ending (path, lns_export_type_ending (profile->exports[i]));
      if (!export_as (profile, report, path, profile->exports[i], paths[i], steps))
        {
          free (paths[i]);
          paths[i] = NULL;
        }
    }
  lns_report_close (report);
  return paths;
}

static void
print_statistics (LnsProfile *profile, const char *path, LnsCliSteps *steps)
{
  const LnsStatsReport *report;
  bool good = true;
  for (size_t i = 0; good && (report = lns_stats_report_at (i)) != NULL; i++)
    {
      char command[] = "stats", wanted[] = "--report", quiet[] = "--quiet";
      if (!report->is_default)
        continue;
      char *name = lns_strdup (report->name), *input = lns_strdup (path);
      char *words[] = { command, wanted, name, quiet, input, NULL };
      lns_cli_step_tell (steps, "Executing '%s' stats report", report->name);
      good = lns_command_stats.run (&lns_command_stats, 5, words) == 0;
      free (name);
      free (input);
    }
  profile->report_failed |= !good;
  if (profile->answer != NULL)
    fprintf (profile->answer,
             _ ("The statistics are in the output of `lanescope %s` (process %d)\n"),
             profile->command->name, getpid ());
}

/* Adds the names of functions to the report at PATH. Without them it is still a report. */
static void
name_frames (LnsProfile *profile, const char *path)
{
  const bool shows = isatty (STDERR_FILENO);
  LnsError error = { 0 };
  char text[64];
  snprintf (text, sizeof text, "%s", _ ("looking up functions"));
  const LnsFrameNamesOptions options = { .folders = profile->options.debug_symbols,
                                         .uses_debuginfod = profile->has_exited,
                                         .leaves_lines_out = !profile->options.show_source_info,
                                         .is_new = true,
                                         .stop = lns_cli_interrupted (),
                                         .progress = shows ? lns_cli_show_progress : NULL,
                                         .progress_data = text };
  const bool is_done = lns_cli_name_frames (path, &options, NULL, &error);
  if (shows)
    lns_cli_draw_nothing ();
  if (!is_done && error.domain == LNS_ERROR_CANCELLED)
    lns_profile_tell (profile, "note",
                      "sampled functions have no names yet; `lanescope resolve %s` looks them up",
                      path);
  else if (!is_done)
    lns_profile_tell (profile, "warning", "sampled functions have no names: %s", error.message);
}

/* Beyond so many events, the sentence would keep people waiting. */
#define MOST_EVENTS 20000000

/* Prints why the program was slow, if the report at PATH tells. */
static void
say_why (LnsProfile *profile, const char *path)
{
  LnsReport *report = lns_report_open (path, NULL, NULL);
  const bool is_long = report != NULL && lns_report_info (report)->n_events > MOST_EVENTS;
  LnsTables *tables = report != NULL && !is_long ? lns_tables_new (report, NULL) : NULL;
  LnsWhy *why = NULL;
  if (is_long)
    lns_profile_print (profile,
                       _ ("Why: `lanescope why %s` tells; of %ju events that takes a while\n"),
                       path, (uintmax_t)lns_report_info (report)->n_events);
  if (tables != NULL)
    why = lns_why_run (tables,
                       &(LnsWhyOptions){ .span = lns_filter_span (report), .in_language = true },
                       lns_cli_interrupted (), NULL);
  if (why != NULL && (why->is_slow || why->is_unknown))
    lns_profile_print (profile, _ ("Why: %s\n"), why->verdict);
  if (why != NULL && why->is_unknown && why->next != NULL)
    lns_profile_print (profile, _ ("     To know more, %s.\n"), why->next);
  lns_why_free (why);
  lns_tables_free (tables);
  lns_report_close (report);
}

/* Names the functions in the report at PATH, exports it, prints its statistics, and then the paths of all files. */
static void
finish (LnsProfile *profile, const char *path)
{
  const LnsStatsReport *report;
  LnsCliSteps steps = lns_cli_steps_of ((unsigned)(1 + profile->n_exports));
  for (size_t i = 0; profile->options.stats && (report = lns_stats_report_at (i)) != NULL; i++)
    steps.n += report->is_default;
  lns_cli_step_begin (&steps, basename (path));
  lns_cli_step_end (&steps, true);
  /* Once the program has ended, Ctrl-C ends the exports and statistics. Before that, signals stay pending and are
   * forwarded to the program. */
  sigset_t before, signals;
  lns_signals_shared (&signals);
  sigprocmask (SIG_SETMASK, NULL, &before);
  if (profile->has_exited)
    {
      lns_signals_release ();
      lns_cli_catch_interrupt ();
      sigprocmask (SIG_SETMASK, &profile->caller.mask, NULL);
    }
  if (names_frames (profile))
    name_frames (profile, path);
  char **paths = profile->n_exports > 0 ? export_all (profile, path, &steps) : NULL;
  if (profile->options.stats)
    print_statistics (profile, path, &steps);
  sigprocmask (SIG_SETMASK, &before, NULL);
  lns_signals_catch (&signals);
  lns_profile_print (profile, "Generated:\n    %s\n", path);
  for (size_t i = 0; i < profile->n_exports; i++)
    {
      if (paths[i] != NULL)
        lns_profile_print (profile, "    %s\n", paths[i]);
      free (paths[i]);
    }
  if (profile->has_exited && profile->options.why)
    say_why (profile, path);
  free (paths);
}

/* Something that the doctor found, as `examine-report` writes it to its output. */
typedef struct
{
  LnsSeverity severity;
  char code[32]; /* "": the report cannot be examined */
  char text[1024];
} Finding;

_Static_assert(sizeof (Finding) <= 4096, "a pipe takes and gives it whole: PIPE_BUF of pipe(7)");

/* Prints FINDING, or sends it to the process that asked for it, if PROFILE is NULL. */
static void
tell (LnsProfile *profile, LnsSeverity severity, const char *code, const char *text)
{
  Finding finding = { .severity = severity };
  snprintf (finding.code, sizeof finding.code, "%s", code);
  snprintf (finding.text, sizeof finding.text, "%s", text);
  if (profile == NULL && write (STDOUT_FILENO, &finding, sizeof finding) < 0)
    return; /* nobody reads it any more */
  if (profile != NULL && *code != '\0')
    lns_profile_say (profile, severity, code, text);
  else if (profile != NULL)
    lns_profile_tell (profile, "warning", "cannot examine the report: %s", text);
}

/* Examines the report at PATH; see tell () about PROFILE. Returns whether something that was asked for is missing. */
static bool
examine (LnsProfile *profile, const char *path)
{
  LnsError error = { 0 };
  LnsFinding *findings = NULL;
  size_t n = 0;
  LnsReport *report = lns_report_open (path, NULL, &error);
  const bool is_examined = report != NULL && lns_doctor_examine (report, &findings, &n, &error);
  if (!is_examined)
    tell (profile, LNS_SEVERITY_WARNING, "", error.message);
  for (size_t i = 0; i < n; i++)
    tell (profile, findings[i].severity, findings[i].code, findings[i].text);
  const bool lacks_data = is_examined && lns_doctor_lacks_data (report, findings, n);
  free (findings);
  lns_report_close (report);
  return lacks_data;
}

/* --- In a process of its own ------------------------------------------------------------------- */

/* Bits of the exit codes of the two commands. With any other code, the command has not come to its end. */
#define CODE_FAILED     1
#define CODE_LACKS_DATA 2

#define OURSELVES "/proc/self/exe"

/* Starts WORDS, whose output goes to OUTPUT_FD. The signals that we keep waiting wait there, too. Returns its pid; -1 if it
 * cannot be started. */
static pid_t
start_self (char *const *words, int output_fd)
{
  pid_t pid;
  return lns_cli_start (words, output_fd, STDOUT_FILENO, &pid) == 0 ? pid : -1;
}

/* Waits for the command PID. Returns whether it came to its end. */
static bool
wait_for_self (LnsProfile *profile, pid_t pid)
{
  int status;
  while (pid > 0 && waitpid (pid, &status, 0) < 0)
    if (errno != EINTR)
      return false;
  if (pid <= 0 || !WIFEXITED (status) ||
      (WEXITSTATUS (status) & ~(CODE_FAILED | CODE_LACKS_DATA)) != 0)
    return false;
  profile->report_failed |= (WEXITSTATUS (status) & CODE_FAILED) != 0;
  profile->lacks_data |= (WEXITSTATUS (status) & CODE_LACKS_DATA) != 0;
  return true;
}

static void
finish_elsewhere (LnsProfile *profile, const char *path)
{
  const LnsProfileOptions *options = &profile->options;
  char exports[256] = "--export=none";
  char stats[] = "--stats=false", overwrite[] = "--force-overwrite=false";
  char names[] = "--resolve-symbols=false", lines[] = "--show-source-info=false";
  for (size_t i = 0, n = strlen ("--export="); i < profile->n_exports && n < sizeof exports; i++)
    n += (size_t)snprintf (exports + n, sizeof exports - n, "%s%s", i > 0 ? "," : "",
                           profile->exports[i]->name);
  if (options->stats)
    strcpy (stats, "--stats=true");
  if (options->force_overwrite && !profile->is_numbered)
    strcpy (overwrite, "--force-overwrite=true");
  if (options->show_source_info)
    strcpy (lines, "--show-source-info=true");
  if (names_frames (profile))
    strcpy (names, "--resolve-symbols=true");
  char *folders = options->debug_symbols != NULL
                      ? lns_asprintf ("--debug-symbols=%s", options->debug_symbols)
                      : NULL;
  char *words[10] = { (char *)OURSELVES,
                      (char *)lns_command_finish_report.name,
                      exports,
                      stats,
                      overwrite,
                      names,
                      lines };
  size_t n_words = 7;
  if (folders != NULL)
    words[n_words++] = folders;
  words[n_words] = (char *)path;
  LnsError error = { 0 };
  const bool is_done = wait_for_self (profile, start_self (words, STDOUT_FILENO));
  free (folders);
  if (is_done)
    return;
  lns_error_set (&error, LNS_ERROR_IO, 0,
                 "the exports and statistics of %s are incomplete; make them with `lanescope "
                 "export` and `lanescope stats`",
                 path);
  lns_profile_fail (profile, &error);
  lns_profile_print (profile, "Generated:\n    %s\n", path);
}

static void
examine_elsewhere (LnsProfile *profile, const char *path)
{
  char *const words[] = { (char *)OURSELVES, (char *)lns_command_examine_report.name, (char *)path,
                          NULL };
  Finding finding;
  int fds[2];
  pid_t pid = -1;
  if (pipe2 (fds, O_CLOEXEC) == 0)
    {
      pid = start_self (words, fds[1]);
      close (fds[1]);
      while (read (fds[0], &finding, sizeof finding) == sizeof finding)
        tell (profile, finding.severity, finding.code, finding.text);
      close (fds[0]);
    }
  if (!wait_for_self (profile, pid))
    lns_profile_tell (profile, "warning",
                      "“%s” could not be examined; `lanescope analyze` examines it", path);
}

static int
run_finish (const LnsCommand *command, int argc, char **argv)
{
  LnsProfile profile = {
    .command = command, .options = LNS_PROFILE_DEFAULTS, .has_frames = true, .progress_fd = -1
  };
  LnsError error = { 0 };
  const char *help;
  if (!lns_options_parse (command, &argc, argv, &profile.options, &help, &error) ||
      !lns_profile_check_exports (&profile, &error) || argc != 2 || help != NULL)
    return lns_cli_fail (&error);
  finish (&profile, argv[1]);
  free (profile.exports);
  lns_cli_clear_lists (command, &profile.options);
  return (profile.report_failed ? CODE_FAILED : 0) |
         (lns_cli_n_warnings () > 0 ? CODE_LACKS_DATA : 0);
}

static int
run_examine (const LnsCommand *command, int argc, char **argv)
{
  return argc == 2 && examine (NULL, argv[1]) ? CODE_LACKS_DATA : 0;
}

static const LnsOptionGroup *const groups[] = { &lns_profile_switches_report,
                                                &lns_profile_switches_cpu, NULL };

const LnsCommand lns_command_finish_report = { .name = "finish-report",
                                               .groups = groups,
                                               .run = run_finish };
const LnsCommand lns_command_examine_report = { .name = "examine-report", .run = run_examine };

/* --- After each report ------------------------------------------------------------------------- */

void
lns_profile_finish_report (LnsProfile *profile, const char *path, bool records_more)
{
  if (records_more && (profile->n_exports > 0 || profile->options.stats || names_frames (profile)))
    finish_elsewhere (profile, path);
  else
    finish (profile, path);
}

void
lns_profile_examine (LnsProfile *profile, const char *path, bool records_more)
{
  if (records_more)
    examine_elsewhere (profile, path);
  else
    profile->lacks_data |= examine (profile, path);
}
