/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Preloaded into a program, keeps it from ever getting an answer about paths that begin with $LNS_HUNG_MOUNT: what a mount
 * does whose server is gone. */

/* Both names of each function. */
#undef _FILE_OFFSET_BITS

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void
pass (const char *path)
{
  const char *mount = getenv ("LNS_HUNG_MOUNT");

  while (mount != NULL && path != NULL && strncmp (path, mount, strlen (mount)) == 0)
    pause ();
}

#define REAL(name) ((__typeof__ (&name))dlsym (RTLD_NEXT, #name))

#define OPEN(name)                                                                                 \
 __attribute__ ((visibility ("default"))) int name (const char *path, int flags, ...)              \
 {                                                                                                 \
  va_list list;                                                                                    \
  va_start (list, flags);                                                                          \
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg (list, mode_t) : 0;                         \
  va_end (list);                                                                                   \
  pass (path);                                                                                     \
  return REAL (name) (path, flags, mode);                                                          \
 }
OPEN (open)
OPEN (open64)

#define STAT(name, type)                                                                           \
 __attribute__ ((visibility ("default"))) int name (const char *path, struct type *status)         \
 {                                                                                                 \
  pass (path);                                                                                     \
  return REAL (name) (path, status);                                                               \
 }
STAT (stat, stat)
STAT (stat64, stat64)
STAT (lstat, stat)
STAT (lstat64, stat64)

__attribute__ ((visibility ("default"))) int
statx (int folder, const char *path, int flags, unsigned mask, struct statx *status)
{
  pass (path);
  return REAL (statx) (folder, path, flags, mask, status);
}

__attribute__ ((visibility ("default"))) int
access (const char *path, int mode)
{
  pass (path);
  return REAL (access) (path, mode);
}
