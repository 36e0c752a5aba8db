/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Where the report goes, and what it says of the machine and the run. */

#include "src/cli/lns-cli-profile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "capture/session/lns-process-info.h"
#include "lns-config.h"

/* Names tried before a folder counts as full of reports. */
#define REPORTS_MAX 1000000

static bool
ends_with (const char *text, const char *end)
{
  size_t n_text = strlen (text), n_end = strlen (end);
  return n_text > n_end && strcmp (text + n_text - n_end, end) == 0;
}

static bool
is_folder (const char *path)
{
  struct stat status;
  return ends_with (path, "/") || strcmp (path, "/") == 0 ||
         (stat (path, &status) == 0 && S_ISDIR (status.st_mode));
}

/* The path that --output means, with the extension, not yet absolute. NULL if memory is short. */
static char *
named_path (const char *output)
{
  char *path;
  int n = (int)strlen (output);
  if (ends_with (output, ".nsys-rep"))
    {
      n -= (int)strlen (".nsys-rep");
      lns_cli_say ("note", "the report is written as %.*s.rep: .nsys-rep is another format", n,
                   output);
    }
  else if (ends_with (output, ".rep"))
    n -= (int)strlen (".rep");
  return asprintf (&path, "%.*s.rep", n, output) < 0 ? NULL : path;
}

/* PATH from the root on; frees PATH. */
static char *
absolute (char *path)
{
  char *folder, *whole = NULL;
  if (path == NULL || path[0] == '/' || (folder = getcwd (NULL, 0)) == NULL)
    return path;
  if (asprintf (&whole, "%s/%s", strcmp (folder, "/") == 0 ? "" : folder,
                strncmp (path, "./", 2) == 0 ? path + 2 : path) < 0)
    whole = NULL;
  free (folder);
  free (path);
  return whole;
}

static bool
out_of_memory (LnsError *error)
{
  return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "memory is short: nothing was started");
}

/* Creates FOLDER/report1.rep, or with the next number that is free. */
static bool
create_numbered (LnsProfile *profile, const char *folder, LnsError *error)
{
  const char *between =
      folder[0] == '\0' || ends_with (folder, "/") || strcmp (folder, "/") == 0 ? "" : "/";
  for (int i = 1; i < REPORTS_MAX; i++)
    {
      char *path;
      if (asprintf (&path, "%s%sreport%d.rep", folder, between, i) < 0 ||
          (path = absolute (path)) == NULL)
        return out_of_memory (error);
      struct stat status;
      LnsError failed = { 0 };
      if (lstat (path, &status) != 0 &&
          lns_session_create_report (profile->session, path, false, &failed))
        {
          profile->path = path;
          return true;
        }
      free (path);
      /* Somebody else may have taken the name a moment ago. */
      if (failed.domain != LNS_ERROR_NONE && failed.code != EEXIST)
        {
          *error = failed;
          return false;
        }
    }
  return lns_error_set (error, LNS_ERROR_IO, EEXIST, "no name report1.rep … is free: use --output");
}

/* Whether the report can be at PATH, as far as can be known before. */
static bool
check_path (const LnsProfile *profile, const char *path, LnsError *error)
{
  struct stat status;
  if (lstat (path, &status) != 0)
    return true;
  if (S_ISDIR (status.st_mode))
    return lns_error_set (error, LNS_ERROR_IO, EISDIR, "%s is a folder: give --output another name",
                          path);
  return profile->options.force_overwrite ||
         lns_error_set (error, LNS_ERROR_IO, EEXIST,
                        "%s exists: use --force-overwrite=true to replace it, or another --output",
                        path);
}

bool
lns_profile_create_report (LnsProfile *profile, LnsError *error)
{
  const char *output = profile->options.output;
  if (output == NULL || is_folder (output))
    return create_numbered (profile, output != NULL ? output : "", error);
  profile->path = absolute (named_path (output));
  if (profile->path == NULL)
    return out_of_memory (error);
  return check_path (profile, profile->path, error) &&
         lns_session_create_report (profile->session, profile->path,
                                    profile->options.force_overwrite, error);
}

/* --- Reports of capture ranges ---------------------------------------------------------------- */

static bool
repeats (const LnsProfile *profile)
{
  return profile->target.range_end == LNS_WIRE_RANGE_END_REPEAT ||
         profile->target.range_end == LNS_WIRE_RANGE_END_REPEAT_SHUTDOWN;
}

/* The report at profile->path, or the next of those numbered after it that is free: reports of ranges
 * never replace one another. */
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
      *ret_path = NULL;
      if (asprintf (ret_path, repeats (profile) ? "%.*s.%u.rep" : "%.*s.rep", n_stem, profile->path,
                    number + profile->n_skipped) < 0)
        {
          *ret_path = NULL;
          lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "memory is short: a range is not recorded");
          return NULL;
        }
      writer =
          lns_session_new_writer (profile->session, *ret_path,
                                  profile->options.force_overwrite && !repeats (profile), error);
    }
  while (writer == NULL && error->code == EEXIST && repeats (profile) &&
         ++profile->n_skipped < REPORTS_MAX);
  if (writer == NULL)
    return NULL;
  lns_profile_describe (profile, writer);
  lns_profile_record_environment (profile, writer);
  return writer;
}

/* profile->path for FOLDER: its first name report1.rep … that nothing has, with or without a number. */
static bool
find_number (LnsProfile *profile, const char *folder, LnsError *error)
{
  const char *between = folder[0] == '\0' || ends_with (folder, "/") ? "" : "/";
  struct stat status;
  for (int i = 1; i < REPORTS_MAX; i++)
    {
      char *first;
      free (profile->path);
      profile->path = NULL;
      if (asprintf (&profile->path, "%s%sreport%d.rep", folder, between, i) < 0 ||
          (profile->path = absolute (profile->path)) == NULL ||
          asprintf (&first, "%.*s.1.rep", (int)(strlen (profile->path) - strlen (".rep")),
                    profile->path) < 0)
        return out_of_memory (error);
      const bool is_free = lstat (profile->path, &status) != 0 && lstat (first, &status) != 0;
      free (first);
      if (is_free)
        return true;
    }
  return lns_error_set (error, LNS_ERROR_IO, EEXIST, "no name report1.rep … is free: use --output");
}

bool
lns_profile_prepare_ranges (LnsProfile *profile, LnsError *error)
{
  const char *output = profile->options.output;
  if (output == NULL || is_folder (output))
    {
      if (!find_number (profile, output != NULL ? output : "", error))
        return false;
    }
  else if ((profile->path = absolute (named_path (output))) == NULL)
    return out_of_memory (error);
  else if (!repeats (profile) && !check_path (profile, profile->path, error))
    return false;
  lns_session_record_ranges (profile->session, create_for_range, profile,
                             repeats (profile) ? profile->target.n_ranges : 1);
  return true;
}

/* --- What the report says --------------------------------------------------------------------- */

/* The value of KEY in FILE, of lines like `KEY: value` or `KEY="value"`, into TEXT; "" if none. */
static void
read_value (const char *file_name, const char *key, char *text, size_t room)
{
  FILE *file = fopen (file_name, "re");
  char line[512];
  text[0] = '\0';
  while (file != NULL && text[0] == '\0' && fgets (line, sizeof line, file) != NULL)
    if (strncmp (line, key, strlen (key)) == 0)
      {
        char *value = line + strlen (key);
        value += strspn (value, " \t:=\"");
        value[strcspn (value, "\"\n")] = '\0';
        snprintf (text, room, "%s", value);
      }
  if (file != NULL)
    fclose (file);
}

void
lns_profile_describe (const LnsProfile *profile, LnsWriter *report)
{
  int n = 0;
  while (profile->argv[n] != NULL)
    n++;
  char *command_line = lns_quote_arguments ((const char *const *)profile->argv, n);
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
  read_value ("/proc/cpuinfo", "model name", text, sizeof text);
  lns_writer_set_meta (report, "cpu_model", text);
  read_value ("/etc/os-release", "PRETTY_NAME", text, sizeof text);
  lns_writer_set_meta (report, "os", text);
  snprintf (text, sizeof text, "%ld", sysconf (_SC_NPROCESSORS_ONLN));
  lns_writer_set_meta (report, "cpu_count", text);
  char trace[64];
  lns_profile_trace_text (profile, trace, sizeof trace);
  lns_writer_set_meta (report, "trace", trace);
  free (command_line);
  free (folder);
}
