/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/cpu/tracepoint.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The inode of the first pid namespace (PROC_PID_INIT_INO of Linux's include/linux/proc_ns.h). */
#define FIRST_PID_NAMESPACE 0xEFFFFFFC

/* Bits of common_flags, the byte at 2 of each record (TRACE_FLAG_HARDIRQ and _SOFTIRQ of include/linux/trace_events.h). */
#define FLAGS_AT     2
#define IN_INTERRUPT (0x08 | 0x10)

/* The folder of tracefs, or -1. Where it is not mounted it is mounted nowhere, for this descriptor alone. */
static int
open_tracefs (void)
{
  static const char *const paths[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    {
      const int fd = open (paths[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
      if (fd >= 0 && faccessat (fd, "events/sched", X_OK, 0) == 0)
        return fd;
      if (fd >= 0)
        close (fd);
    }
  const int context = (int)syscall (SYS_fsopen, "tracefs", FSOPEN_CLOEXEC);
  if (context < 0)
    return -1;
  int fd = -1;
  if (syscall (SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
    fd = (int)syscall (SYS_fsmount, context, FSMOUNT_CLOEXEC, MOUNT_ATTR_RDONLY);
  close (context);
  return fd;
}

/* Reads the file at PATH below FOLDER into TEXT of SIZE bytes. */
static bool
read_text (int folder, const char *path, char *text, size_t size)
{
  const int fd = openat (folder, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  size_t n = 0;
  for (ssize_t got; n < size - 1 && (got = read (fd, text + n, size - 1 - n)) > 0;)
    n += (size_t)got;
  close (fd);
  text[n] = '\0';
  return n > 0;
}

bool
lns_waking_format_find (LnsWakingFormat *ret_format)
{
  char text[8192];
  struct stat namespace;
  *ret_format = (LnsWakingFormat){ 0 };
  if (stat ("/proc/self/ns/pid", &namespace) != 0 || namespace.st_ino != FIRST_PID_NAMESPACE)
    return false;
  const int folder = open_tracefs ();
  if (folder < 0)
    return false;
  if (read_text (folder, "events/sched/sched_waking/id", text, sizeof text))
    ret_format->id = strtoull (text, NULL, 10);
  const char *field = NULL;
  if (read_text (folder, "events/sched/sched_waking/format", text, sizeof text))
    field = strstr (text, "pid_t pid;\toffset:");
  close (folder);
  if (field == NULL || sscanf (field, "pid_t pid; offset:%u", &ret_format->tid_at) != 1)
    ret_format->id = 0;
  return ret_format->id != 0;
}

bool
lns_waking_format_read (const LnsWakingFormat *format,
                        const uint8_t *bytes,
                        size_t n,
                        uint32_t *ret_tid,
                        bool *ret_is_interrupt)
{
  if (n < FLAGS_AT + 1 || n < sizeof *ret_tid || format->tid_at > n - sizeof *ret_tid)
    return false;
  memcpy (ret_tid, bytes + format->tid_at, sizeof *ret_tid);
  *ret_is_interrupt = (bytes[FLAGS_AT] & IN_INTERRUPT) != 0;
  return true;
}
