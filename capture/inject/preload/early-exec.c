/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Stands before the functions that execute a program, and has it preload this library if that is wanted and does no harm.
 * A shell, a launcher and Python start programs by these. They run in children of vfork(), too: nothing but the stack is
 * written to. Those of posix_spawn(), system() and popen() go without. */

#include "capture/inject/core/system.h"
#include "capture/inject/preload/early.h"
#include "capture/wire/program.h"

#include <alloca.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__ ((visibility ("default")))

/* What a stack has room for in any case. Larger environments go as they are. */
#define VARIABLES_MAX 8192u
#define LIST_MAX      8192u

/* So much of a script the kernel looks at (BINPRM_BUF_SIZE). */
#define HEAD_BYTES 256

/* Where programs are looked for without PATH, as the C library does. */
#define DEFAULT_PATH "/bin:/usr/bin"

/* --- Whether a program takes the library. ----------------------------------------------------- */

/* Whether a preloaded library gets into the program of FD, and does no harm there. */
static bool
is_fit (int fd)
{
  const char *sanitizer;
  const long n = LNS_SYSCALL (SYS_lseek, fd, 0, SEEK_END);
  const long bytes = n <= 0 ? -1 : LNS_SYSCALL (SYS_mmap, NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
  if (bytes < 0 && bytes > -4096)
    return false;
  const LnsProgramFile file = { (const char *)bytes, (size_t)n };
  const LnsProgramKind kind = lns_program_elf_kind (&file, &sanitizer);
  (void)LNS_SYSCALL (SYS_munmap, bytes, n);
  return kind == LNS_PROGRAM_TAKES_PRELOADS;
}

/* The same for the program at PATH, or the interpreter of a script. Scripts are read, not mapped, as somebody may be about to
 * shorten them. */
static bool
takes_preloads (const char *path)
{
  char name[HEAD_BYTES], head[HEAD_BYTES];
  for (int i = 0; i < LNS_PROGRAM_SCRIPTS_MAX; i++)
    {
      const long fd =
          LNS_SYSCALL (SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
      if (fd < 0)
        return false;
      const long n = LNS_SYSCALL (SYS_pread64, fd, head, sizeof head, 0);
      const LnsProgramFile begin = { head, n < 0 ? 0 : (size_t)n };
      const bool is_elf = n > SELFMAG && memcmp (head, ELFMAG, SELFMAG) == 0;
      const bool takes = is_elf && is_fit ((int)fd);
      (void)LNS_SYSCALL (SYS_close, fd);
      if (is_elf || !lns_program_interpreter (&begin, name, sizeof name))
        return takes;
      path = name;
    }
  return false;
}

/* Whether the program at PATH is to preload this library, with the VARIABLES that it gets. The library may be out of reach, if
 * the root folder was changed. */
static bool
is_wanted (const char *path, char *const *variables)
{
  return lns_early_path[0] != '\0' && path != NULL && variables != NULL &&
         lns_early_is_ours (lns_early_value (variables, LNS_EARLY_INJECTION)) &&
         LNS_SYSCALL (SYS_faccessat, AT_FDCWD, lns_early_path, R_OK) == 0 && takes_preloads (path);
}

/* --- Executing it. ---------------------------------------------------------------------------- */

static int
become (const char *path, char *const *words, char *const *variables)
{
  return (int)syscall (SYS_execve, path, words, variables);
}

/* Becomes the program at PATH with VARIABLES and this library. Returns -1 and sets errno if that fails. */
static int
become_with_library (const char *path, char *const *words, char *const *variables)
{
  const char *before = lns_early_value (variables, LNS_EARLY_PRELOAD);
  const size_t n_before = before != NULL ? strlen (before) : 0;
  size_t n = 0, n_kept = 0;
  while (variables[n] != NULL)
    n++;
  if (n > VARIABLES_MAX || n_before > LIST_MAX)
    return become (path, words, variables);
  char *list = alloca (strlen (LNS_EARLY_PRELOAD) + n_before + 1 + strlen (lns_early_path) + 1);
  const char **changed = alloca ((n + 2) * sizeof *changed);
  char *end = stpcpy (list, LNS_EARLY_PRELOAD);
  if (n_before > 0)
    end = stpcpy (stpcpy (end, before), ":");
  strcpy (end, lns_early_path);
  for (size_t i = 0; i < n; i++)
    if (strncmp (variables[i], LNS_EARLY_PRELOAD, strlen (LNS_EARLY_PRELOAD)) != 0)
      changed[n_kept++] = variables[i];
  changed[n_kept++] = list;
  changed[n_kept] = NULL;
  return become (path, words, (char *const *)changed);
}

static int
start (const char *path, char *const *words, char *const *variables)
{
  const int saved_errno = errno;
  const bool has_library = is_wanted (path, variables);
  errno = saved_errno;
  return has_library ? become_with_library (path, words, variables)
                     : become (path, words, variables);
}

/* Becomes the program at PATH, or the shell that runs the script there. */
static int
start_found (const char *path, char *const *words, char *const *variables)
{
  size_t n = 0;
  if (start (path, words, variables) != -1 || errno != ENOEXEC)
    return -1;
  while (words[n] != NULL)
    n++;
  const char **shell_words = alloca ((n + 3) * sizeof *shell_words);
  shell_words[0] = "/bin/sh";
  shell_words[1] = path;
  for (size_t i = 1; i < n; i++)
    shell_words[i + 1] = words[i];
  shell_words[n < 1 ? 2 : n + 1] = NULL;
  return start ("/bin/sh", (char *const *)shell_words, variables);
}

/* Whether the search for a program goes on behind a folder in which it failed with CODE. */
static bool
is_elsewhere (int code)
{
  return code == EACCES || code == ENOENT || code == ESTALE || code == ENOTDIR || code == ENODEV ||
         code == ETIMEDOUT;
}

/* Becomes the program FILE, which is looked for in the folders of PATH if it has no slash. */
static int
search (const char *file, char *const *words, char *const *variables)
{
  const char *folders = getenv ("PATH");
  const size_t n_file = strlen (file);
  bool is_denied = false;
  char whole[PATH_MAX + NAME_MAX + 1];
  if (n_file > 0 && strchr (file, '/') != NULL)
    return start_found (file, words, variables);
  errno = n_file > NAME_MAX ? ENAMETOOLONG : ENOENT;
  if (n_file > NAME_MAX)
    return -1;
  for (const char *folder = folders != NULL ? folders : DEFAULT_PATH; n_file > 0;)
    {
      const size_t n = strcspn (folder, ":");
      if (n + 1 + n_file < sizeof whole)
        {
          memcpy (whole, folder, n);
          whole[n] = '/';
          memcpy (whole + n + (n > 0), file, n_file + 1); /* no folder is this one */
          start_found (whole, words, variables);
          if (!is_elsewhere (errno))
            return -1;
          is_denied |= errno == EACCES;
        }
      if (folder[n] == '\0')
        break;
      folder += n + 1;
    }
  if (is_denied)
    errno = EACCES;
  return -1;
}

/* --- In place of the C library's. ------------------------------------------------------------- */

EXPORT int
execve (const char *path, char *const words[], char *const variables[])
{
  return start (path, words, variables);
}

EXPORT int
execv (const char *path, char *const words[])
{
  return start (path, words, environ);
}

EXPORT int
execvpe (const char *file, char *const words[], char *const variables[])
{
  return search (file, words, variables);
}

EXPORT int
execvp (const char *file, char *const words[])
{
  return search (file, words, environ);
}

/* Sets WORDS, an array on the stack, to FIRST and what follows it in the arguments of a function, up to a null pointer. */
#define TAKE_WORDS(words, arguments, first)                                                        \
 do                                                                                                \
  {                                                                                                \
   size_t n_words = 1;                                                                             \
   va_list counted;                                                                                \
   va_start (arguments, first);                                                                    \
   va_copy (counted, arguments);                                                                   \
   while (va_arg (counted, const char *) != NULL)                                                  \
    n_words++;                                                                                     \
   va_end (counted);                                                                               \
   words = alloca ((n_words + 1) * sizeof *words);                                                 \
   words[0] = first;                                                                               \
   for (size_t i = 1; i <= n_words; i++)                                                           \
    words[i] = va_arg (arguments, const char *);                                                   \
  }                                                                                                \
 while (0)

EXPORT int
execl (const char *path, const char *first, ...)
{
  const char **words;
  va_list arguments;
  TAKE_WORDS (words, arguments, first);
  va_end (arguments);
  return start (path, (char *const *)words, environ);
}

EXPORT int
execlp (const char *file, const char *first, ...)
{
  const char **words;
  va_list arguments;
  TAKE_WORDS (words, arguments, first);
  va_end (arguments);
  return search (file, (char *const *)words, environ);
}

EXPORT int
execle (const char *path, const char *first, ...)
{
  const char **words;
  va_list arguments;
  TAKE_WORDS (words, arguments, first);
  char *const *variables = va_arg (arguments, char *const *);
  va_end (arguments);
  return start (path, (char *const *)words, variables);
}
