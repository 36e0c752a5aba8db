/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What follows a finished report: --export, --stats, the list of generated files, and the doctor. */

#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/analysis/rules/doctor.h"
#include "src/analysis/stats/report.h"
#include "src/base/memory.h"
#include "src/cli/profile/profile.h"
#include "src/cli/reports/report.h"
#include "src/cli/terminal/signals.h"
#include "src/cli/terminal/steps.h"
#include "src/export/export.h"
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
  LnsError unknown = { 0 };
  free (profile->exports);
  profile->n_exports = 0;
  profile->exports = lns_calloc (names->n_items, sizeof *profile->exports);
  if (names->n_items > 1 && lns_option_list_has (names, "none"))
    return lns_cli_usage (error, "--export: “none” cannot be combined with other formats");
  for (size_t i = 0; i < names->n_items; i++)
    {
      const LnsExportType *type = find_type (names->items[i], &unknown);
      if (type != NULL && !lns_export_type_check (type, error))
        return false;
      bool is_there = type == NULL;
      for (size_t k = 0; k < profile->n_exports; k++)
        is_there |= profile->exports[k] == type;
      if (!is_there)
        profile->exports[profile->n_exports++] = type;
    }
  return unknown.domain == LNS_ERROR_NONE ||
         lns_error_set (error, unknown.domain, 0, "%s", unknown.message);
}

/* --- After it --------------------------------------------------------------------------------- */

static bool
export_as (LnsProfile *profile,
           LnsReport *report,
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
    .cancel = lns_cli_catch_interrupt (),
    .progress = lns_cli_step_show,
    .progress_data = steps,
  };
  char *copy = lns_strdup (path);
  lns_cli_step_begin (steps, basename (copy));
  const bool is_done = lns_export (report, type, path, &options, &error);
  lns_cli_step_end (steps, is_done);
  free (copy);
  if (!is_done)
    lns_profile_fail (profile, &error);
  else if (lacks != NULL)
    lns_cli_say ("warning", "%s is empty: %s", path, lacks);
  return is_done;
}

/* Exports the report at PATH and writes the paths of the new files to the stream PATHS. */
static void
export_all (LnsProfile *profile, const char *path, LnsCliSteps *steps, FILE *paths)
{
  LnsError error = { 0 };
  LnsReport *report = profile->n_exports > 0 ? lns_cli_open_report (path, &error) : NULL;
  if (report == NULL && profile->n_exports > 0)
    {
      lns_profile_fail (profile, &error);
      return;
    }
  for (size_t i = 0; i < profile->n_exports; i++)
    {
      char *output = lns_cli_replace_ending (path, lns_export_type_ending (profile->exports[i]));
      if (export_as (profile, report, profile->exports[i], output, steps))
        fprintf (paths, "    %s\n", output);
      free (output);
    }
  lns_report_close (report);
}

/* Statistics report I of those that are printed by default; NULL after the last. */
static const LnsStatsReport *
default_report (size_t i)
{
  const LnsStatsReport *report;
  for (size_t at = 0; (report = lns_stats_report_at (at)) != NULL; at++)
    if (report->is_default && i-- == 0)
      return report;
  return NULL;
}

static void
print_statistics (LnsProfile *profile, const char *path, LnsCliSteps *steps)
{
  const LnsStatsReport *report;
  bool good = true;
  for (size_t i = 0; good && (report = default_report (i)) != NULL; i++)
    {
      char command[] = "stats", wanted[] = "--report", quiet[] = "--quiet";
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

void
lns_profile_finish_report (LnsProfile *profile, const char *path)
{
  char *paths = NULL, *copy = lns_strdup (path);
  size_t n_paths, n_stats = 0;
  FILE *stream = lns_memory_stream (&paths, &n_paths);
  while (profile->options.stats && default_report (n_stats) != NULL)
    n_stats++;
  LnsCliSteps steps = lns_cli_steps_of ((unsigned)(1 + profile->n_exports + n_stats));
  lns_cli_step_begin (&steps, basename (copy));
  lns_cli_step_end (&steps, true);
  fprintf (stream, "    %s\n", path);
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
  export_all (profile, path, &steps, stream);
  if (profile->options.stats)
    print_statistics (profile, path, &steps);
  sigprocmask (SIG_SETMASK, &before, NULL);
  lns_signals_catch (&signals);
  lns_memory_stream_end (stream);
  lns_profile_print (profile, "Generated:\n%s", paths);
  free (paths);
  free (copy);
}

void
lns_profile_examine (LnsProfile *profile, const char *path)
{
  LnsError error = { 0 };
  LnsFinding *findings = NULL;
  size_t n;
  LnsReport *report = lns_report_open (path, NULL, &error);
  if (report != NULL && lns_doctor_examine (report, &findings, &n, &error))
    {
      for (size_t i = 0; i < n; i++)
        lns_profile_say (profile, findings[i].severity, findings[i].code, findings[i].text);
      profile->lacks_data |= lns_doctor_lacks_data (report, findings, n);
    }
  else
    lns_profile_tell (profile, "warning", "cannot examine the report: %s", error.message);
  free (findings);
  lns_report_close (report);
}
