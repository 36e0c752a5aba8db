/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/wire/pod.h"
#include "capture/inject/core/system.h"
#include "capture/inject/preload/pattern.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The kernel limits the words of a command line to a quarter of the stack; longer ones than these are left alone. */
#define WORDS_MAX_BYTES (4u << 20)
#define WORDS_MAX       (64u << 10)

/* --- The command line. ------------------------------------------------------------------------ */

/* Memory for N_BYTES; NULL if there is none. */
static char *
map (size_t n_bytes)
{
  const long memory = LNS_SYSCALL (SYS_mmap, NULL, n_bytes, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory > 0 ? (char *)memory : NULL;
}

/* Reads the words of this process, each with its null byte, to WORDS. Returns their bytes; 0 if they cannot be read whole. */
static size_t
read_words (char *words)
{
  const long fd = LNS_SYSCALL (SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  size_t n = 0;
  long got = fd < 0 ? 0 : 1;
  while (got > 0 && n < WORDS_MAX_BYTES)
    {
      got = LNS_SYSCALL (SYS_read, fd, words + n, WORDS_MAX_BYTES - n);
      n += got > 0 ? (size_t)got : 0;
    }
  if (fd >= 0)
    (void)LNS_SYSCALL (SYS_close, fd);
  return got == 0 && n > 0 && n < WORDS_MAX_BYTES && words[n - 1] == '\0' ? n : 0;
}

/* Whether the N_BYTES of WORDS match PATTERN with blanks between them. LINE has room for them. */
static bool
is_wanted (const char *words, size_t n_bytes, char *line, const char *pattern)
{
  memcpy (line, words, n_bytes);
  for (size_t i = 0; i < n_bytes; i++)
    if (line[i] == '\0')
      line[i] = ' ';
  return lns_pattern_is_in (pattern, line, n_bytes - 1) != 0;
}

/* --- Becoming lanescope. ---------------------------------------------------------------------- */

/* Executes TOOL with the N_BYTES of WORDS. Returns if that fails: the program then runs as it is. POINTERS has room for
 * WORDS_MAX of them. */
static void
become (const char *tool, char *words, size_t n_bytes, const char **pointers)
{
  static char executable[sizeof LNS_POD_EXECUTABLE + PATH_MAX] = LNS_POD_EXECUTABLE "=";
  const size_t n_name = sizeof LNS_POD_EXECUTABLE;
  const long n_path = LNS_SYSCALL (SYS_readlinkat, AT_FDCWD, "/proc/self/exe", executable + n_name,
                                   sizeof executable - n_name - 1);
  size_t n = 0, n_variables = 0;
  if (n_path <= 0)
    return;
  executable[n_name + (size_t)n_path] = '\0';
  pointers[n++] = tool;
  pointers[n++] = "pod-run";
  for (size_t at = 0; at < n_bytes && n < WORDS_MAX - 1; at += strlen (words + at) + 1)
    pointers[n++] = words + at;
  pointers[n++] = NULL;
  const char **variables = pointers + n;
  while (environ[n_variables] != NULL)
    n_variables++;
  if (n + n_variables + 2 > WORDS_MAX)
    return;
  memcpy (variables, environ, n_variables * sizeof *variables);
  variables[n_variables] = executable;
  variables[n_variables + 1] = NULL;
  (void)LNS_SYSCALL (SYS_execve, tool, pointers, variables);
}

/* The value of the variable NAME; NULL if it is not set or empty. */
static const char *
value_of (const char *name)
{
  const char *value = getenv (name);
  return value != NULL && value[0] != '\0' ? value : NULL;
}

/* Whether the container's runtime has started this process in a container that runs already, as probes, hooks and
 * `kubectl exec` do. They are to stay what they are, and so is what they start. */
static bool
is_visitor (void)
{
  return LNS_SYSCALL (SYS_getppid) == 0 && LNS_SYSCALL (SYS_getpid) != 1 &&
         value_of (LNS_POD_SHARED) == NULL;
}

__attribute__ ((constructor)) static void
start (void)
{
  LNS_KEEP_ERRNO;
  const char *pattern = environ != NULL ? value_of (LNS_POD_MATCH) : NULL;
  const char *tool = pattern != NULL ? value_of (LNS_POD_TOOL) : NULL;
  if (tool == NULL)
    return;
  if (is_visitor ())
    {
      /* Where the variable stands is the program's own memory: what it starts gets none. */
      ((char *)(uintptr_t)pattern)[0] = '\0';
      return;
    }
  const size_t n_room = 2 * (size_t)WORDS_MAX_BYTES + WORDS_MAX * sizeof (char *);
  char *words = map (n_room);
  if (words == NULL)
    return;
  char *line = words + WORDS_MAX_BYTES;
  const char **pointers = (const char **)(void *)(line + WORDS_MAX_BYTES);
  const size_t n_bytes = read_words (words);
  if (n_bytes > 0 && is_wanted (words, n_bytes, line, pattern))
    become (tool, words, n_bytes, pointers);
  (void)LNS_SYSCALL (SYS_munmap, words, n_room);
}
