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
      lns_profile_say ("note", "the report is written as %.*s.rep: .nsys-rep is another format", n,
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

bool
lns_profile_create_report (LnsProfile *profile, LnsError *error)
{
  const char *output = profile->options.output;
  if (output == NULL || is_folder (output))
    return create_numbered (profile, output != NULL ? output : "", error);
  profile->path = absolute (named_path (output));
  if (profile->path == NULL)
    return out_of_memory (error);
  struct stat status;
  if (lstat (profile->path, &status) == 0)
    {
      if (S_ISDIR (status.st_mode))
        return lns_error_set (error, LNS_ERROR_IO, EISDIR,
                              "%s is a folder: give --output another name", profile->path);
      if (!profile->options.force_overwrite)
        return lns_error_set (error, LNS_ERROR_IO, EEXIST,
                              "%s exists: use --force-overwrite=true to replace it, or another "
                              "--output",
                              profile->path);
    }
  return lns_session_create_report (profile->session, profile->path,
                                    profile->options.force_overwrite, error);
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
lns_profile_describe (LnsProfile *profile)
{
  LnsSession *session = profile->session;
  int n = 0;
  while (profile->argv[n] != NULL)
    n++;
  char *command_line = lns_quote_arguments ((const char *const *)profile->argv, n);
  char *folder = getcwd (NULL, 0);
  char text[512];
  struct utsname system;
  lns_session_set_meta (session, "product", "Lanescope " LNS_VERSION);
  if (command_line != NULL)
    lns_session_set_meta (session, "command_line", command_line);
  if (folder != NULL)
    lns_session_set_meta (session, "working_directory", folder);
  if (uname (&system) == 0)
    {
      lns_session_set_meta (session, "host_name", system.nodename);
      lns_session_set_meta (session, "kernel", system.release);
      lns_session_set_meta (session, "cpu_arch", system.machine);
    }
  read_value ("/proc/cpuinfo", "model name", text, sizeof text);
  lns_session_set_meta (session, "cpu_model", text);
  read_value ("/etc/os-release", "PRETTY_NAME", text, sizeof text);
  lns_session_set_meta (session, "os", text);
  snprintf (text, sizeof text, "%ld", sysconf (_SC_NPROCESSORS_ONLN));
  lns_session_set_meta (session, "cpu_count", text);
  char trace[64];
  lns_profile_trace_text (profile, trace, sizeof trace);
  lns_session_set_meta (session, "trace", trace);
  free (command_line);
  free (folder);
}
