/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Names of reports and sessions: --output, --output-dir, and the macros in names. */

#include "src/cli/profile/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/base/memory.h"

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
  return path[strlen (path) - 1] == '/' || (stat (path, &status) == 0 && S_ISDIR (status.st_mode));
}

/* Writes the environment variable whose name is the first N bytes of NAME. SWITCH_NAME is the switch that has it. */
static void
write_variable (FILE *file, const char *switch_name, const char *name, size_t n)
{
  char *key = lns_memdup (name, n);
  const char *value = getenv (key);
  if (value == NULL)
    lns_cli_say (
        "warning",
        "--%s: the environment variable %.*s is not set, so the name leaves it out [LNS-NAME-001]",
        switch_name, (int)n, name);
  else
    fputs (value, file);
  free (key);
}

/* The eight digits of {UID} and the milliseconds since 1970 of {TIMESTAMP}: the same for all names of
 * a run. */
static void
write_unique (FILE *file, bool is_time)
{
  static uint32_t uid;
  static int64_t now_ms;
  if (now_ms == 0)
    {
      struct timespec now;
      clock_gettime (CLOCK_REALTIME, &now);
      now_ms = now.tv_sec * INT64_C (1000) + now.tv_nsec / 1000000;
      if (getrandom (&uid, sizeof uid, GRND_NONBLOCK) != sizeof uid)
        uid = (uint32_t)now.tv_nsec ^ (uint32_t)getpid ();
    }
  if (is_time)
    fprintf (file, "%" PRId64, now_ms);
  else
    fprintf (file, "%08" PRIx32, uid);
}

/* Writes the value of the macro at AT, a %, if names of reports and of sessions may have it. Returns its length in bytes;
 * 0 if it is not such a macro. */
static size_t
write_common (FILE *file, const char *switch_name, const char *at)
{
  const char *brace = at[1] == '{' ? at + 1 : at[1] == 'q' && at[2] == '{' ? at + 2 : NULL;
  const char *end = brace != NULL ? strchr (brace, '}') : NULL;
  char host[256];
  if (end != NULL && end > brace + 1)
    {
      write_variable (file, switch_name, brace + 1, (size_t)(end - brace - 1));
      return (size_t)(end - at) + 1;
    }
  if (at[1] == '%')
    fputc ('%', file);
  else if (at[1] == 'h')
    fputs (gethostname (host, sizeof host) == 0 ? host : "localhost", file);
  else
    return 0;
  return 2;
}

/* The same for names of reports. 0 with ERROR if it is not a macro. */
static size_t
write_percent (LnsProfile *profile, FILE *file, const char *at, unsigned number, LnsError *error)
{
  const size_t n = write_common (file, "output", at);
  if (n > 0)
    return n;
  if (at[1] == 'p' && profile->names_only)
    fputs ("%p", file);
  else if (at[1] == 'p')
    fprintf (file, "%d", (int)(profile->pid > 0 ? profile->pid : profile->launch.pid));
  else if (at[1] == 'n')
    {
      profile->is_numbered = true;
      fprintf (file, "%u", number);
    }
  else
    {
      lns_cli_usage (error,
                     "--output: unknown macro “%.3s”; use %%h, %%p, %%n, %%q{VARIABLE}, or %%%% "
                     "for a percent sign",
                     at);
      return 0;
    }
  return 2;
}

/* The length of the macro {NAME} at AT, a {, as the Kubernetes injector has them. 0 if AT is not such a macro. */
static size_t
macro_bytes (const char *at)
{
  const size_t n = strspn (at + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
  return n > 0 && at[1 + n] == '}' ? n + 2 : 0;
}

/* Writes the value of the macro at AT, a {. Returns its length in bytes; 0 with ERROR if the macro is unknown. */
static size_t
write_brace (LnsProfile *profile, FILE *file, const char *at, LnsError *error)
{
  static const char program[] = "{PROCESS_NAME}", timestamp[] = "{TIMESTAMP}", uid[] = "{UID}";
  if (strncmp (at, program, strlen (program)) == 0)
    {
      fputs (basename (profile->argv[0]), file);
      return strlen (program);
    }
  const bool is_time = strncmp (at, timestamp, strlen (timestamp)) == 0;
  if (!is_time && strncmp (at, uid, strlen (uid)) != 0)
    {
      const size_t n = macro_bytes (at);
      if (n > 0)
        {
          lns_cli_usage (error,
                         "--output: unknown macro “%.*s”; use {PROCESS_NAME}, {TIMESTAMP}, {UID} "
                         "or %%q{VARIABLE}",
                         (int)n, at);
          return 0;
        }
      fputc (*at, file);
      return 1;
    }
  if (profile->names_only)
    fputs (is_time ? timestamp : uid, file);
  else
    write_unique (file, is_time);
  return strlen (is_time ? timestamp : uid);
}

/* TEXT with its macros replaced: the name of a report, or with PROFILE NULL that of a session. Owned; NULL with ERROR. */
static char *
expand (LnsProfile *profile, const char *text, unsigned number, LnsError *error)
{
  char *name = NULL;
  size_t n_name, n = 1;
  FILE *file = lns_memory_stream (&name, &n_name);
  for (const char *at = text; n > 0 && *at != '\0'; at += n)
    if (*at == '%')
      n = profile != NULL ? write_percent (profile, file, at, number, error)
                          : write_common (file, "session", at);
    else if (*at == '{' && profile != NULL)
      n = write_brace (profile, file, at, error);
    else
      fputc (*at, file), n = 1;
  lns_memory_stream_end (file);
  if (n > 0)
    return name;
  free (name);
  return NULL;
}

char *
lns_cli_session_name (const char *text, LnsError *error)
{
  char *name = expand (NULL, text, 0, error);
  if (name == NULL)
    lns_cli_usage (error,
                   "“%s” is not a session name; use %%h, %%q{VARIABLE}, or %%%% for a percent sign",
                   text);
  return name;
}

/* PATH without "./" at its beginning; "" for ".". */
static const char *
without_here (const char *path)
{
  return strncmp (path, "./", 2) == 0 ? path + 2 : strcmp (path, ".") == 0 ? "" : path;
}

/* The absolute path of PATH in OUTPUT_FOLDER. Frees PATH. */
static char *
absolute (const LnsProfile *profile, char *path, const char *output_folder)
{
  if (path[0] == '/')
    return path;
  output_folder = without_here (output_folder);
  char *here = output_folder[0] == '/'   ? lns_strdup ("")
               : profile->folder != NULL ? lns_strdup (profile->folder)
                                         : getcwd (NULL, 0);
  if (here == NULL)
    here = lns_strdup ("."); /* it was deleted: creating the report fails, and says why */
  char *whole = lns_asprintf (
      "%s%s%s%s%s", strcmp (here, "/") == 0 ? "" : here, here[0] != '\0' ? "/" : "", output_folder,
      output_folder[0] != '\0' && !ends_with (output_folder, "/") ? "/" : "", without_here (path));
  free (here);
  free (path);
  return whole;
}

/* NAME with the ending .rep instead of those of nsys. Frees NAME. */
static char *
with_ending (char *name)
{
  static const char *const others[] = { ".nsys-rep", ".qdrep" };
  size_t n = strlen (name);
  for (size_t i = 0; i < 2; i++)
    if (ends_with (name, others[i]))
      {
        n -= strlen (others[i]);
        lns_cli_say ("note", "the report is written as %.*s.rep, because %s is another format",
                     (int)n, name, others[i]);
      }
  if (ends_with (name, ".rep"))
    n -= strlen (".rep");
  char *path = lns_asprintf ("%.*s.rep", (int)n, name);
  free (name);
  return path;
}

char *
lns_profile_name_report (LnsProfile *profile, unsigned number, LnsError *error)
{
  const char *output = profile->options.output, *folder = profile->options.output_dir;
  profile->is_numbered = false;
  char *name = expand (profile, output != NULL ? output : "report%n", number, error);
  char *place = name != NULL ? expand (profile, folder != NULL ? folder : "", number, error) : NULL;
  if (place == NULL || name[0] == '\0')
    {
      if (place != NULL)
        lns_cli_usage (error, "--output: “%s” does not name a file", output);
      free (place);
      free (name);
      return NULL;
    }
  name = absolute (profile, name, place);
  free (place);
  if (is_folder (name))
    {
      char *stem = name;
      profile->is_numbered = true;
      name = lns_asprintf ("%s%sreport%u", stem, ends_with (stem, "/") ? "" : "/", number);
      free (stem);
    }
  return with_ending (name);
}
