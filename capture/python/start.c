/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Preloaded (LD_PRELOAD) into a Python program that was started with -I, -E or -S and so ignores PYTHONPATH. Begins to
 * trace functions when the interpreter is about to run the program, which audit hooks are told. Uses libc only, and
 * does nothing in other programs.
 *
 * The hook is added when the interpreter looks for its first module in a folder. By then the interpreter has the
 * allocator by which it will free the hook (-X dev and PYTHONMALLOC change it), and nothing of the program has run. */

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver dlsym, dlsym@GLIBC_2.17");
#endif

typedef struct Object Object;
typedef int (*AuditHook) (const char *event, Object *arguments, void *data);

#define FILE_INPUT 257 /* Py_file_input */

/* Runs the sitecustomize that PYTHONPATH would have led to, in a namespace of its own. */
static void
begin (const char *folder)
{
  static const char form[] = "import sys\n"
                             "sys.path.insert(0, '''%s''')\n"
                             "try:\n"
                             "    import lanescope_functions\n"
                             "    lanescope_functions.begin()\n"
                             "except Exception:\n"
                             "    pass\n"
                             "sys.path[:] = [entry for entry in sys.path if entry != '''%s''']\n";
  Object *(*new_dict) (void) = (Object * (*)(void)) dlsym (RTLD_DEFAULT, "PyDict_New");
  int (*set_item) (Object *, const char *, Object *) =
      (int (*) (Object *, const char *, Object *))dlsym (RTLD_DEFAULT, "PyDict_SetItemString");
  Object *(*builtins) (void) = (Object * (*)(void)) dlsym (RTLD_DEFAULT, "PyEval_GetBuiltins");
  Object *(*run) (const char *, int, Object *, Object *, void *) =
      (Object * (*)(const char *, int, Object *, Object *, void *))
          dlsym (RTLD_DEFAULT, "PyRun_StringFlags");
  void (*clear) (void) = (void (*) (void))dlsym (RTLD_DEFAULT, "PyErr_Clear");
  char text[8192 + sizeof form];
  if (new_dict == NULL || set_item == NULL || builtins == NULL || run == NULL || clear == NULL ||
      strlen (folder) > 4096 || strchr (folder, '\'') != NULL || strchr (folder, '\\') != NULL)
    return;
  snprintf (text, sizeof text, form, folder, folder);
  Object *names = new_dict ();
  if (names != NULL && set_item (names, "__builtins__", builtins ()) == 0)
    (void)run (text, FILE_INPUT, names, names, NULL);
  clear ();
}

/* Hears events of audit hooks. "cpython.run_file" and similar ones come once, just before the program runs. */
static int
hear (const char *event, Object *arguments, void *data)
{
  static bool has_begun;
  static const char prefix[] = "cpython.run_";
  if (has_begun || strncmp (event, prefix, sizeof prefix - 1) != 0)
    return 0;
  has_begun = true;
  const char *folder = getenv ("LANESCOPE_PYTHON_FOLDER");
  if (folder != NULL)
    begin (folder);
  return 0;
}

/* Whether the command line of Python in WORDS (each terminated, N_BYTES together) switches off PYTHONPATH or site.
 * Looks only at the interpreter's own switches. */
static bool
ignores_environment (const char *words, size_t n_bytes)
{
  const char *end = words + n_bytes;
  const char *word = words + strnlen (words, n_bytes) + 1;
  bool ignores = false;
  for (; word < end && word[0] == '-' && word[1] != '\0';
       word += strnlen (word, (size_t)(end - word)) + 1)
    {
      if (word[1] == '-')
        continue;
      for (const char *letter = word + 1; *letter != '\0'; letter++)
        {
          if (*letter == 'I' || *letter == 'E' || *letter == 'S')
            ignores = true;
          if (*letter == 'c' || *letter == 'm')
            return ignores;
          if (*letter == 'W' || *letter == 'X') /* what follows is its value */
            {
              if (letter[1] == '\0')
                word += strlen (word) + 1;
              break;
            }
        }
      if (word >= end)
        break;
    }
  return ignores;
}

static bool
is_wanted (void)
{
  static char words[64 << 10];
  FILE *file = fopen ("/proc/self/cmdline", "re");
  if (file == NULL)
    return false;
  size_t n_bytes = fread (words, 1, sizeof words - 1, file);
  fclose (file);
  return ignores_environment (words, n_bytes);
}

static bool waits; /* for the interpreter of this process */

__attribute__ ((constructor)) static void
start (void)
{
  waits = dlsym (RTLD_DEFAULT, "PySys_AddAuditHook") != NULL && is_wanted ();
}

static void
add_hook_once (void)
{
  void *(*this_thread) (void) =
      (void *(*)(void))dlsym (RTLD_DEFAULT, "PyGILState_GetThisThreadState");
  int (*add_hook) (AuditHook, void *) =
      (int (*) (AuditHook, void *))dlsym (RTLD_DEFAULT, "PySys_AddAuditHook");
  if (this_thread == NULL || this_thread () == NULL)
    return;
  waits = false;
  (void)add_hook (hear, NULL);
}

__attribute__ ((visibility ("default"))) DIR *
opendir (const char *path)
{
  static DIR *(*known) (const char *);
  DIR *(*real) (const char *) = __atomic_load_n (&known, __ATOMIC_RELAXED);
  const int saved = errno;
  if (real == NULL)
    {
      real = (DIR * (*)(const char *)) dlsym (RTLD_NEXT, "opendir");
      __atomic_store_n (&known, real, __ATOMIC_RELAXED);
    }
  if (waits)
    add_hook_once ();
  errno = real == NULL ? ENOSYS : saved;
  return real == NULL ? NULL : real (path);
}
