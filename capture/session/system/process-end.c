/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/system/process-end.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* struct pidfd_info of include/uapi/linux/pidfd.h in its first version. */
typedef struct
{
  uint64_t mask, cgroup;
  uint32_t pid, tgid, parent_pid, ids[8];
  int32_t status;
} Info;

_Static_assert(sizeof (Info) == 64, "PIDFD_INFO_SIZE_VER0");

#define INFO_OF_EXIT (UINT64_C (1) << 3)    /* PIDFD_INFO_EXIT */
#define GET_INFO     _IOWR (0xFF, 11, Info) /* PIDFD_GET_INFO */

int
lns_process_end_watch (int32_t pid)
{
  return (int)syscall (SYS_pidfd_open, pid, 0); /* close-on-exec by itself */
}

LnsProcessEnd
lns_process_end_status (int fd, int *ret_status)
{
  Info info = { .mask = INFO_OF_EXIT };
  /* Asked first: what the kernel does not tell of a process that is gone, it never will. */
  const bool is_gone = syscall (SYS_pidfd_send_signal, fd, 0, NULL, 0) != 0 && errno == ESRCH;
  if (ioctl (fd, GET_INFO, &info) != 0 || (info.mask & INFO_OF_EXIT) == 0)
    return is_gone ? LNS_PROCESS_END_UNTOLD : LNS_PROCESS_END_LATER;
  *ret_status = info.status;
  return LNS_PROCESS_END_KNOWN;
}
