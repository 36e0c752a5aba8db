/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/symbols/debuginfod.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/memory.h"

#define STOP_INTERVAL_MS 100

extern char **environ;

/* Starts the program with its output in a pipe, whose other end is returned; -1 if that is impossible. */
static int
start (const char *kind, const char *id, pid_t *ret_child)
{
  char *const arguments[] = { (char *)(uintptr_t) "debuginfod-find", (char *)(uintptr_t)kind,
                              (char *)(uintptr_t)id, NULL };
  int ends[2];
  if (pipe2 (ends, O_CLOEXEC) != 0)
    return -1;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init (&actions);
  posix_spawnattr_init (&attributes);
  posix_spawn_file_actions_addopen (&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2 (&actions, ends[1], 1);
  posix_spawn_file_actions_addopen (&actions, 2, "/dev/null", O_WRONLY, 0);
  /* A group of its own: Ctrl-C is ours to handle. */
  posix_spawnattr_setflags (&attributes, POSIX_SPAWN_SETPGROUP);
  const int failed =
      posix_spawnp (ret_child, "debuginfod-find", &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy (&actions);
  posix_spawnattr_destroy (&attributes);
  close (ends[1]);
  if (failed == 0)
    return ends[0];
  close (ends[0]);
  return -1;
}

/* Reads all that the program says, a path and a newline. False if it says more than fits, or *STOP became true. */
static bool
listen_to (int fd, const atomic_bool *stop, char *ret_text, size_t room)
{
  for (size_t n = 0;;)
    {
      struct pollfd ready = { fd, POLLIN, 0 };
      if (stop != NULL && atomic_load_explicit (stop, memory_order_relaxed))
        return false;
      if (poll (&ready, 1, stop != NULL ? STOP_INTERVAL_MS : -1) <= 0)
        continue;
      const ssize_t n_read = read (fd, ret_text + n, room - 1 - n);
      if (n_read < 0 && errno == EINTR)
        continue;
      n += n_read > 0 ? (size_t)n_read : 0;
      ret_text[n] = '\0';
      if (n_read <= 0 || n == room - 1)
        return n_read == 0;
    }
}

char *
lns_debuginfod_find (const char *kind, const LnsBuildId *build_id, const atomic_bool *stop)
{
  const char *servers = getenv ("DEBUGINFOD_URLS");
  char id[2 * LNS_MOST_BUILD_ID_BYTES + 1], text[PATH_MAX + 2];
  pid_t child;
  if (servers == NULL || servers[0] == '\0')
    return NULL;
  lns_build_id_text (build_id, id);
  const int fd = start (kind, id, &child);
  if (fd < 0)
    return NULL;
  const bool is_whole = listen_to (fd, stop, text, sizeof text);
  close (fd);
  if (!is_whole)
    kill (child, SIGKILL);
  int status = 0;
  while (waitpid (child, &status, 0) < 0 && errno == EINTR)
    ;
  text[strcspn (text, "\n")] = '\0';
  /* A parent that reaps any child may have taken the status; the path, whose build-id is checked, says enough. */
  return is_whole && text[0] == '/' ? lns_strdup (text) : NULL;
}
