/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which file each descriptor is open on. The kernel is asked at the first use of a descriptor, and again after a call that
 * may have opened another file with its number. Where a program closes and opens by system calls of its own, the file
 * before is told. */

#include "capture/inject/preload/os.h"
#include "capture/inject/core/system.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* Descriptors from here on are not followed. */
#define DESCRIPTORS_MAX 65536

/* By descriptor: the number of its file, or 0. In the child of a vfork() this is its parent's: it may forget a file here,
 * which is then asked for anew. */
static uint32_t *files;

bool
lns_os_begin_files (void)
{
  files = lns_inject_map (DESCRIPTORS_MAX * sizeof *files);
  return files != NULL;
}

int
lns_os_stream_descriptor (const void *stream)
{
  LNS_KEEP_ERRNO;
  return stream == NULL ? -1 : fileno ((FILE *)stream);
}

/* Writes "/proc/self/fd/DESCRIPTOR" to TEXT. */
static void
write_link (int descriptor, char text[32])
{
  static const char folder[] = "/proc/self/fd/";
  char digits[12];
  int n = 0;
  do
    digits[n++] = (char)('0' + descriptor % 10);
  while ((descriptor /= 10) > 0);
  memcpy (text, folder, sizeof folder - 1);
  text += sizeof folder - 1;
  while (n > 0)
    *text++ = digits[--n];
  *text = '\0';
}

uint32_t
lns_os_file (int descriptor, bool is_new)
{
  if (descriptor < 0 || descriptor >= DESCRIPTORS_MAX)
    return 0;
  uint32_t file = is_new ? 0 : __atomic_load_n (&files[descriptor], __ATOMIC_RELAXED);
  if (file != 0)
    return file;
  LNS_KEEP_ERRNO;
  char text[32], path[4096];
  write_link (descriptor, text);
  const long n = LNS_SYSCALL (SYS_readlinkat, AT_FDCWD, text, path, sizeof path);
  if (n > 0)
    file = lns_os.hooks->name_file (path, (size_t)n);
  __atomic_store_n (&files[descriptor], file, __ATOMIC_RELAXED);
  return file;
}

uint32_t
lns_os_forget_file (int descriptor)
{
  if (descriptor < 0 || descriptor >= DESCRIPTORS_MAX)
    return 0;
  return __atomic_exchange_n (&files[descriptor], 0, __ATOMIC_RELAXED);
}
