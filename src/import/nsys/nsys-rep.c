/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/nsys/import.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define POLL_NS 20000000

extern char **environ;

/* The temporary folder, with the export and the output of nsys. */
typedef struct
{
  char folder[512];
  char sqlite[640], log[640];
} Place;

static bool
make_place (Place *place, LnsError *error)
{
  const char *folder = getenv ("TMPDIR");

  snprintf (place->folder, sizeof place->folder, "%.400s/lanescope-nsys-XXXXXX",
            folder != NULL && folder[0] == '/' ? folder : "/tmp");
  if (mkdtemp (place->folder) == NULL)
    return lns_error_set_errno (error, errno, "%s: cannot create a temporary folder",
                                place->folder);
  snprintf (place->sqlite, sizeof place->sqlite, "%s/export.sqlite", place->folder);
  snprintf (place->log, sizeof place->log, "%s/log", place->folder);
  return true;
}

static void
remove_place (const Place *place)
{
  unlink (place->sqlite);
  unlink (place->log);
  rmdir (place->folder);
}

/* Reads the last line that nsys printed, "" if it printed nothing. */
static void
read_last_line (const Place *place, char *ret_line, size_t line_bytes)
{
  FILE *log = fopen (place->log, "r");
  char line[256];

  ret_line[0] = '\0';
  while (log != NULL && fgets (line, sizeof line, log) != NULL)
    if (line[strcspn (line, "\n")] = '\0', line[0] != '\0')
      snprintf (ret_line, line_bytes, "%s", line);
  if (log != NULL)
    fclose (log);
}

/* Starts nsys in its own process group: Ctrl-C in the terminal reaches only this program, which then ends nsys. Returns
 * 0 or an errno value. */
static int
start_nsys (const char *path, const Place *place, pid_t *ret_pid)
{
  /* posix_spawnp () does not change the words. */
  const char *const words[] = { "nsys", "export",   "--type",      "sqlite", "--force-overwrite",
                                "true", "--output", place->sqlite, path,     NULL };
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;

  posix_spawn_file_actions_init (&files);
  posix_spawn_file_actions_addopen (&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen (&files, STDOUT_FILENO, place->log, O_WRONLY | O_CREAT | O_TRUNC,
                                    0600);
  posix_spawn_file_actions_adddup2 (&files, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_init (&attributes);
  posix_spawnattr_setflags (&attributes, POSIX_SPAWN_SETPGROUP);
  int code = posix_spawnp (ret_pid, "nsys", &files, &attributes, (char *const *)words, environ);
  posix_spawnattr_destroy (&attributes);
  posix_spawn_file_actions_destroy (&files);
  return code;
}

/* Waits for nsys. Returns its exit status, or -1 if the import was cancelled. */
static int
await_nsys (pid_t pid, const LnsImportOptions *options)
{
  int status = 0;

  while (waitpid (pid, &status, WNOHANG) == 0)
    {
      if (options != NULL && options->cancel != NULL &&
          atomic_load_explicit (options->cancel, memory_order_relaxed))
        {
          kill (-pid, SIGTERM);
          waitpid (pid, &status, 0);
          return -1;
        }
      nanosleep (&(struct timespec){ .tv_nsec = POLL_NS }, NULL);
    }
  return status;
}

static bool
export_it (const char *path, const Place *place, const LnsImportOptions *options, LnsError *error)
{
  pid_t pid;
  char line[256];
  int code = start_nsys (path, place, &pid);

  if (code == ENOENT)
    return lns_error_set (error, LNS_ERROR_UNSUPPORTED, 0,
                          "%s: only nsys can read it, and there is none on PATH; run \"nsys export "
                          "--type sqlite %s\" where it was recorded and open the .sqlite file",
                          path, path);
  if (code != 0)
    return lns_error_set_errno (error, code, "%s: cannot start nsys to export it", path);
  int status = await_nsys (pid, options);
  if (status == -1)
    return lns_error_set (error, LNS_ERROR_CANCELLED, 0, "%s: cancelled", path);
  if (status == 0 && access (place->sqlite, R_OK) == 0)
    return true;
  read_last_line (place, line, sizeof line);
  return lns_error_set (error, LNS_ERROR_FORMAT, 0, "%s: nsys could not export it%s%s", path,
                        line[0] != '\0' ? ": " : "", line);
}

bool
lns_import_nsys (const char *path,
                 const char *out_path,
                 const LnsImportOptions *options,
                 LnsImportResult *ret_result,
                 LnsError *error)
{
  LnsImportOptions own = options != NULL ? *options : (LnsImportOptions){ 0 };
  Place place;

  if (!make_place (&place, error))
    return false;
  own.origin = path;
  bool good = export_it (path, &place, options, error) &&
              lns_import_sqlite (place.sqlite, out_path, &own, ret_result, error);
  remove_place (&place);
  return good;
}
