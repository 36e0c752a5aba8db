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

/* What the kernel calls the tracepoints, and the fields that are wanted, as their formats have them. */
static const struct
{
  const char *path;
  const char *fields[LNS_TRACEPOINT_MOST_FIELDS]; /* NULL: none */
} descriptions[LNS_N_TRACEPOINTS] = {
  [LNS_TRACEPOINT_WAKING] = { "sched/sched_waking", { "pid_t pid" } },
  [LNS_TRACEPOINT_SWITCH] = { "sched/sched_switch", { "long prev_state" } },
  [LNS_TRACEPOINT_SYSCALL_ENTER] = { "raw_syscalls/sys_enter",
                                     { "long id", "unsigned long args[6]" } },
  [LNS_TRACEPOINT_SYSCALL_EXIT] = { "raw_syscalls/sys_exit", { "long id", "long ret" } },
};

static bool
is_in_first_pid_namespace (void)
{
  struct stat namespace;
  return stat ("/proc/self/ns/pid", &namespace) == 0 && namespace.st_ino == FIRST_PID_NAMESPACE;
}

/* Reads what FOLDER, that of tracefs, has about the tracepoint KIND. */
static void
find (int folder, LnsTracepointKind kind, LnsTracepoint *tracepoint)
{
  char path[64], text[8192], wanted[64];
  snprintf (path, sizeof path, "events/%s/id", descriptions[kind].path);
  if (!read_text (folder, path, text, sizeof text))
    return;
  tracepoint->id = strtoull (text, NULL, 10);
  snprintf (path, sizeof path, "events/%s/format", descriptions[kind].path);
  if (!read_text (folder, path, text, sizeof text))
    tracepoint->id = 0;
  for (size_t i = 0; i < LNS_TRACEPOINT_MOST_FIELDS && tracepoint->id != 0; i++)
    {
      const char *field = descriptions[kind].fields[i];
      if (field == NULL)
        break;
      const int n = snprintf (wanted, sizeof wanted, "\tfield:%s;", field);
      const char *at = strstr (text, wanted);
      uint32_t *n_bytes = &tracepoint->fields[i].n_bytes;
      if (at == NULL ||
          sscanf (at + n, " offset:%u; size:%u", &tracepoint->fields[i].at, n_bytes) != 2 ||
          *n_bytes % 4 != 0 || *n_bytes == 0)
        tracepoint->id = 0;
      if (*n_bytes > 8)
        *n_bytes = 8; /* the first of an array */
    }
}

void
lns_tracepoints_find (uint32_t kinds, LnsTracepoint ret_tracepoints[static LNS_N_TRACEPOINTS])
{
  memset (ret_tracepoints, 0, LNS_N_TRACEPOINTS * sizeof *ret_tracepoints);
  const int folder = kinds != 0 ? open_tracefs () : -1;
  if (folder < 0)
    return;
  for (LnsTracepointKind kind = 0; kind < LNS_N_TRACEPOINTS; kind++)
    if (kinds & 1u << kind && (kind != LNS_TRACEPOINT_WAKING || is_in_first_pid_namespace ()))
      find (folder, kind, &ret_tracepoints[kind]);
  close (folder);
}

bool
lns_tracepoint_read (const LnsTracepoint *tracepoint,
                     const uint8_t *bytes,
                     size_t n,
                     LnsTracepointRecord *ret_record)
{
  *ret_record = (LnsTracepointRecord){ 0 };
  if (n < FLAGS_AT + 1)
    return false;
  for (size_t i = 0; i < LNS_TRACEPOINT_MOST_FIELDS; i++)
    {
      const size_t at = tracepoint->fields[i].at, n_bytes = tracepoint->fields[i].n_bytes;
      int32_t word;
      if (n < n_bytes || at > n - n_bytes)
        return false;
      if (n_bytes == sizeof word)
        {
          memcpy (&word, bytes + at, sizeof word);
          ret_record->fields[i] = word;
        }
      else
        memcpy (&ret_record->fields[i], bytes + at, n_bytes);
    }
  ret_record->is_interrupt = (bytes[FLAGS_AT] & IN_INTERRUPT) != 0;
  return true;
}
