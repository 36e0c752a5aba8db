/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Choosing and creating the file of the report, and the facts in it about the machine and the run. */

#include "src/cli/profile/profile.h"

#if defined(__x86_64__)
# include <cpuid.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "capture/session/system/process-info.h"
#include "lns-config.h"
#include "src/base/memory.h"
#include "src/cli/terminal/language.h"

/* Maximum number of names to try. */
#define REPORTS_MAX 1000000

/* --- Facts in the report --------------------------------------------------------------------- */

void
lns_cli_read_value (const char *path, const char *key, char *ret_text, size_t room)
{
  FILE *file = fopen (path, "re");
  char line[512];
  ret_text[0] = '\0';
  while (file != NULL && ret_text[0] == '\0' && fgets (line, sizeof line, file) != NULL)
    if (strncmp (line, key, strlen (key)) == 0)
      {
        const char *value = line + strlen (key);
        value += strspn (value, " \t:=\"");
        snprintf (ret_text, room, "%.*s", (int)strcspn (value, "\"\n"), value);
      }
  if (file != NULL)
    fclose (file);
}

/* Fills RET_TEXT with the name of the processor's model. /proc/cpuinfo is the last resort, as opening it takes 10 ms and
 * more with kernels before 5.19 (see lns_wire_clock_detect ()). */
static void
read_cpu_model (char ret_text[512])
{
#if defined(__x86_64__)
  unsigned words[13] = { 0 };
  if (__get_cpuid_max (0x80000000, NULL) >= 0x80000004)
    {
      for (unsigned i = 0; i < 3; i++)
        __cpuid (0x80000002 + i, words[4 * i], words[4 * i + 1], words[4 * i + 2],
                 words[4 * i + 3]);
      const char *name = (const char *)words;
      name += strspn (name, " ");
      size_t n = strlen (name);
      while (n > 0 && name[n - 1] == ' ')
        n--;
      snprintf (ret_text, 512, "%.*s", (int)n, name);
      return;
    }
#endif
  lns_cli_read_value ("/proc/cpuinfo", "model name", ret_text, 512);
}

/* Writes the facts of this machine and this run into REPORT. */
static void
describe (const LnsProfile *profile, LnsWriter *report)
{
  int n = 0;
  while (profile->argv[n] != NULL)
    n++;
  char *command_line = profile->command_line != NULL
                           ? lns_strdup (profile->command_line)
                           : lns_quote_arguments ((const char *const *)profile->argv, n);
  char *folder = getcwd (NULL, 0);
  char text[512];
  struct utsname system;
  lns_writer_set_meta (report, "product", "Lanescope " LNS_VERSION);
  if (command_line != NULL)
    lns_writer_set_meta (report, "command_line", command_line);
  if (folder != NULL)
    lns_writer_set_meta (report, "working_directory", folder);
  if (uname (&system) == 0)
    {
      lns_writer_set_meta (report, "host_name", system.nodename);
      lns_writer_set_meta (report, "kernel", system.release);
      lns_writer_set_meta (report, "cpu_arch", system.machine);
    }
  read_cpu_model (text);
  lns_writer_set_meta (report, "cpu_model", text);
  lns_cli_read_value ("/etc/os-release", "PRETTY_NAME", text, sizeof text);
  lns_writer_set_meta (report, "os", text);
  snprintf (text, sizeof text, "%ld", sysconf (_SC_NPROCESSORS_ONLN));
  lns_writer_set_meta (report, "cpu_count", text);
  char trace[64];
  lns_profile_trace_text (profile, trace, sizeof trace);
  lns_writer_set_meta (report, "trace", trace);
  if (profile->wants_cuda)
    lns_writer_set_meta (report, "trace_asked", "cuda");
  if (profile->options.backtrace != NULL)
    lns_writer_set_meta (report, "backtrace", profile->options.backtrace);
  free (command_line);
  free (folder);
}

/* --- Places ----------------------------------------------------------------------------------- */

/* Whether the report can be created at PATH, as far as is known in advance. */
static bool
check_path (const LnsProfile *profile, const char *path, LnsError *error)
{
  struct stat status;
  if (lstat (path, &status) != 0)
    return true;
  if (S_ISDIR (status.st_mode))
    return lns_error_set (error, LNS_ERROR_IO, EISDIR, "%s is a folder; choose another --output",
                          path);
  return profile->options.force_overwrite ||
         lns_error_set (
             error, LNS_ERROR_IO, EEXIST,
             "%s exists; use --force-overwrite=true to replace it, or choose another --output",
             path);
}

static bool
repeats (const LnsProfile *profile)
{
  return profile->target.range_end == LNS_WIRE_RANGE_END_REPEAT ||
         profile->target.range_end == LNS_WIRE_RANGE_END_REPEAT_SHUTDOWN;
}

/* Whether the file exists that has ENDING where PATH has .rep. */
static bool
exists_with (const char *path, const char *ending)
{
  struct stat status;
  char *other = lns_asprintf ("%.*s%s", (int)(strlen (path) - strlen (".rep")), path, ending);
  const bool exists = lstat (other, &status) == 0;
  free (other);
  return exists;
}

/* The ending of the first export of profile->path that exists already; NULL: none does. */
static const char *
taken_export (const LnsProfile *profile)
{
  for (size_t i = 0; i < profile->n_exports; i++)
    if (exists_with (profile->path, lns_export_type_ending (profile->exports[i])))
      return lns_export_type_ending (profile->exports[i]);
  return NULL;
}

/* Whether the exports can be written beside the report. */
static bool
check_exports (const LnsProfile *profile, LnsError *error)
{
  const char *ending = taken_export (profile);
  return ending == NULL || profile->options.force_overwrite ||
         lns_error_set (error, LNS_ERROR_IO, EEXIST,
                        "%.*s%s exists; use --force-overwrite=true to replace it, or choose "
                        "another --output",
                        (int)(strlen (profile->path) - strlen (".rep")), profile->path, ending);
}

bool
lns_profile_choose_path (LnsProfile *profile, unsigned *number, LnsError *error)
{
  for (; *number < REPORTS_MAX; ++*number)
    {
      free (profile->path);
      profile->path = lns_profile_name_report (profile, *number, error);
      if (profile->path == NULL)
        return false;
      if (!profile->is_numbered)
        return repeats (profile) ||
               (check_path (profile, profile->path, error) && check_exports (profile, error));
      if (!exists_with (profile->path, ".rep") && taken_export (profile) == NULL &&
          !(repeats (profile) && exists_with (profile->path, ".1.rep")))
        return true;
    }
  return lns_error_set (error, LNS_ERROR_IO, EEXIST,
                        "all names like %s are taken; choose another --output", profile->path);
}

/* Applies --mode: the permissions of reports. */
static bool
take_mode (const LnsProfile *profile, LnsError *error)
{
  const char *text = profile->options.mode;
  char *end = NULL;
  const unsigned long mode = text != NULL ? strtoul (text, &end, 8) : 0600;
  if (text != NULL &&
      (*text < '0' || *text > '7' || *end != '\0' || mode > 0777 || (mode & 0600) != 0600))
    return lns_cli_usage (error,
                          "--mode: “%s” is not a mode that lets you read and write the report; "
                          "give octal digits, such as 640",
                          text);
  lns_session_set_report_mode (profile->session, (unsigned)mode);
  return true;
}

bool
lns_profile_create_report (LnsProfile *profile, LnsError *error)
{
  if (!take_mode (profile, error))
    return false;
  for (unsigned number = 1;; number++)
    {
      LnsError failed = { 0 };
      if (!lns_profile_choose_path (profile, &number, error))
        return false;
      if (lns_session_create_report (profile->session, profile->path,
                                     profile->options.force_overwrite && !profile->is_numbered,
                                     &failed))
        {
          lns_session_set_keep (profile->session, lns_profile_keep_ns (profile));
          lns_session_set_keep_steps (profile->session,
                                      profile->keeps_steps ? &profile->step_rule : NULL);
          describe (profile, lns_session_report (profile->session));
          lns_profile_record_environment (profile, lns_session_report (profile->session));
          return true;
        }
      /* Somebody else may have taken the number a moment ago. */
      if (!profile->is_numbered || failed.code != EEXIST)
        {
          *error = failed;
          return false;
        }
    }
}

/* --- Reports of capture ranges ---------------------------------------------------------------- */

/* Creates the report at profile->path, or with the next number that is free or may be replaced. Reports of one run never
 * replace each other. */
static LnsWriter *
create_for_range (void *data, unsigned number, char **ret_path, LnsError *error)
{
  LnsProfile *profile = data;
  const int n_stem = (int)(strlen (profile->path) - strlen (".rep"));
  LnsWriter *writer = NULL;
  do
    {
      *error = (LnsError){ 0 };
      free (*ret_path);
      const unsigned count = repeats (profile) ? number + profile->n_skipped : profile->n_skipped;
      if ((count > 0 ? asprintf (ret_path, "%.*s.%u.rep", n_stem, profile->path, count)
                     : asprintf (ret_path, "%s", profile->path)) < 0)
        {
          *ret_path = NULL;
          lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                         "cannot name a report: out of memory; a capture range is not recorded");
          return NULL;
        }
      writer =
          lns_session_new_writer (profile->session, *ret_path,
                                  profile->options.force_overwrite && !profile->is_numbered, error);
    }
  while (writer == NULL && (error->code == EEXIST || error->code == EBUSY) &&
         ++profile->n_skipped < REPORTS_MAX);
  if (writer == NULL)
    return NULL;
  describe (profile, writer);
  lns_profile_record_environment (profile, writer);
  return writer;
}

bool
lns_profile_prepare_ranges (LnsProfile *profile, LnsError *error)
{
  unsigned number = 1;
  if (!take_mode (profile, error))
    return false;
  if (!lns_profile_choose_path (profile, &number, error))
    return false;
  profile->n_skipped = 0;
  lns_session_record_ranges (profile->session, &profile->target, create_for_range, profile,
                             repeats (profile) ? profile->target.n_ranges : 1);
  return true;
}
