/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What runs in a pod that the injector of data/kubernetes has changed. `pod-run` records a container's program, and runs it
 * without recording where that cannot begin: a pod must not fail because of Lanescope. `pod-copy` fills the volume with
 * Lanescope in it. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/session/control/pod.h"
#include "src/base/array.h"
#include "src/base/memory.h"
#include "src/cli/profile/run.h"
#include "src/cli/terminal/language.h"
#include "src/cli/terminal/signals.h"

/* --- pod-run ---------------------------------------------------------------------------------- */

/* The path that execvp(3) would take for NAME. Owned; NULL if there is none. */
static char *
find_program (const char *name)
{
  const char *folders = getenv ("PATH");
  if (strchr (name, '/') != NULL)
    return lns_strdup (name);
  for (const char *folder = folders != NULL ? folders : "/bin:/usr/bin";; folder++)
    {
      const size_t n = strcspn (folder, ":");
      char *path = lns_asprintf ("%.*s%s%s", (int)n, folder, n > 0 ? "/" : "", name);
      if (access (path, X_OK) == 0)
        return path;
      free (path);
      folder += n;
      if (*folder == '\0')
        return NULL;
    }
}

/* Whether to execute PROGRAM is to execute the file EXECUTABLE. */
static bool
leads_to (const char *program, const char *executable)
{
  struct stat first, second;
  char *path = find_program (program);
  const bool same = path != NULL && stat (path, &first) == 0 && stat (executable, &second) == 0 &&
                    first.st_dev == second.st_dev && first.st_ino == second.st_ino;
  free (path);
  return same;
}

/* Becomes PROGRAM, in the state in which this process was started. Returns the exit code of a shell if that fails. */
static int
become (char **program, const char *executable, const LnsCaller *caller)
{
  prctl (PR_SET_CHILD_SUBREAPER, 0);
  lns_signals_release ();
  lns_caller_restore (caller);
  if (executable != NULL)
    execv (executable, program);
  else
    execvp (program[0], program);
  const int code = errno == ENOENT ? LNS_EXIT_NOT_FOUND : LNS_EXIT_NOT_EXECUTABLE;
  LnsError error = { 0 };
  lns_error_set_errno (&error, errno, "cannot start %s", program[0]);
  lns_cli_fail (&error);
  return code;
}

/* The words of a `profile` with the switches of POD, in front of PROGRAM. Owned list; NULL with ERROR. */
static char **
make_words (const LnsPod *pod, char **program, LnsError *error)
{
  char *text = lns_strdup (pod->switches != NULL ? pod->switches : "");
  char **given = lns_option_split (text);
  size_t n_given = 0, n_program = 0;
  if (given == NULL || given[0] == NULL || strcmp (given[0], "profile") != 0)
    {
      lns_cli_usage (error, "the injector's devtoolArgs must be a `profile` with its switches: %s",
                     pod->switches != NULL ? pod->switches : "");
      return NULL;
    }
  while (given[n_given] != NULL)
    n_given++;
  while (program[n_program] != NULL)
    n_program++;
  char **words = lns_calloc (n_given + n_program + 2, sizeof *words);
  memcpy (words, given, n_given * sizeof *words);
  words[n_given] = (char *)(uintptr_t) "--";
  memcpy (words + n_given + 1, program, n_program * sizeof *words);
  return words;
}

static int
run_in_pod (const LnsCommand *command, int argc, char **argv)
{
  LnsPod pod;
  LnsError error = { 0 };
  LnsProfileTrial trial = { 0 };
  char **words = NULL;
  int n_words = 0, code = LNS_EXIT_FAILED;
  if (argc < 2)
    {
      lns_cli_usage (&error, "%s needs a program to run", command->name);
      return lns_cli_fail (&error);
    }
  lns_pod_take (&pod);
  trial.report_max_bytes = pod.report_max_bytes;
  if (pod.executable != NULL && !leads_to (argv[1], pod.executable))
    lns_error_set (&error, LNS_ERROR_UNSUPPORTED, 0,
                   "%s was started under the name “%s”, by which it is not found again",
                   pod.executable, argv[1]);
  else
    words = make_words (&pod, argv + 1, &error);
  if (words != NULL)
    {
      while (words[n_words] != NULL)
        n_words++;
      code = lns_profile_try (n_words, words, &trial);
    }
  else
    lns_cli_fail (&error);
  if (!trial.is_started && code == LNS_EXIT_FAILED)
    {
      lns_cli_say ("warning", "%s runs without being recorded; the line above says why", argv[1]);
      code = become (argv + 1, pod.executable, &trial.caller);
    }
  else if (code == LNS_EXIT_FAILED)
    code = trial.exit_code; /* whoever started the pod asked for the program */
  free (words);
  free (pod.switches);
  free (pod.executable);
  return code;
}

const LnsCommand lns_command_pod_run = { .name = "pod-run", .run = run_in_pod };

/* --- pod-copy --------------------------------------------------------------------------------- */

/* Copies the file FROM to TO, with its permissions. */
static bool
copy_file (const char *from, const char *to, LnsError *error)
{
  struct stat status;
  const int in = open (from, O_RDONLY | O_CLOEXEC);
  if (in < 0 || fstat (in, &status) != 0)
    return lns_error_set_errno (error, errno, "cannot read %s", from);
  unlink (to); /* a program that still runs keeps its own */
  const int out = open (to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, status.st_mode & 0777);
  ssize_t n = out < 0 ? -1 : 1;
  while (n > 0)
    n = sendfile (out, in, NULL, 1 << 20);
  const bool done = n == 0 && fchmod (out, status.st_mode & 0777) == 0 && close (out) == 0;
  const int failed = errno;
  close (in);
  return done || lns_error_set_errno (error, failed, "cannot write %s", to);
}

/* Copies the folder FROM with all that is in it to TO. */
static bool
copy_folder (const char *from, const char *to, LnsError *error)
{
  DIR *folder = opendir (from);
  struct dirent *entry;
  bool good = true;
  if (folder == NULL)
    return lns_error_set_errno (error, errno, "cannot read %s", from);
  if (mkdir (to, 0755) != 0 && errno != EEXIST)
    good = lns_error_set_errno (error, errno, "cannot make %s", to);
  while (good && (entry = readdir (folder)) != NULL)
    {
      struct stat status;
      char *source = lns_asprintf ("%s/%s", from, entry->d_name);
      char *target = lns_asprintf ("%s/%s", to, entry->d_name);
      if (strcmp (entry->d_name, ".") != 0 && strcmp (entry->d_name, "..") != 0 &&
          stat (source, &status) == 0)
        good = S_ISDIR (status.st_mode) ? copy_folder (source, target, error)
                                        : copy_file (source, target, error);
      free (source);
      free (target);
    }
  closedir (folder);
  return good;
}

static int
copy_to_pod (const LnsCommand *command, int argc, char **argv)
{
  LnsError error = { 0 };
  char folder[PATH_MAX];
  const ssize_t n = readlink ("/proc/self/exe", folder, sizeof folder - 1);
  folder[n > 0 ? n : 0] = '\0';
  char *slash = strrchr (folder, '/');
  if (argc != 2 || slash == NULL)
    {
      lns_cli_usage (&error, "%s needs the folder to copy Lanescope to", command->name);
      return lns_cli_fail (&error);
    }
  *slash = '\0';
  char *parts = lns_asprintf ("%s/../lib/lanescope", folder);
  char *programs = lns_asprintf ("%s/bin", argv[1]), *libraries = lns_asprintf ("%s/lib", argv[1]);
  char *program = lns_asprintf ("%s/lanescope", programs);
  char *target = lns_asprintf ("%s/lanescope", libraries);
  bool good = true;
  if ((mkdir (programs, 0755) != 0 && errno != EEXIST) ||
      (mkdir (libraries, 0755) != 0 && errno != EEXIST))
    good = lns_error_set_errno (&error, errno, "cannot make a folder in %s", argv[1]);
  good =
      good && copy_folder (parts, target, &error) && copy_file ("/proc/self/exe", program, &error);
  free (parts);
  free (programs);
  free (libraries);
  free (program);
  free (target);
  return good ? 0 : lns_cli_fail (&error);
}

const LnsCommand lns_command_pod_copy = { .name = "pod-copy", .run = copy_to_pod };
