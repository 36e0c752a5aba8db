/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/profile/attached.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "capture/session/system/process-end.h"

bool
lns_attached_watch (LnsAttached *attached, const LnsPids *pids, LnsError *error)
{
  attached->fd = epoll_create1 (EPOLL_CLOEXEC);
  if (attached->fd < 0)
    return lns_error_set_errno (error, errno, "cannot watch the ends of processes");
  for (size_t i = 0; i < pids->n; i++)
    {
      const int fd = lns_process_end_watch (pids->items[i]);
      struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
      if (fd < 0 && errno == ESRCH)
        continue; /* it has ended */
      if (fd < 0 || epoll_ctl (attached->fd, EPOLL_CTL_ADD, fd, &event) != 0)
        {
          lns_error_set_errno (error, errno, "cannot watch the end of a process");
          if (fd >= 0)
            close (fd);
          return false;
        }
      *lns_array_add (&attached->fds) = fd;
    }
  return true;
}

bool
lns_attached_have_ended (LnsAttached *attached)
{
  struct epoll_event event;
  while (attached->fds.n > 0 && epoll_wait (attached->fd, &event, 1, 0) == 1)
    for (size_t i = 0; i < attached->fds.n; i++)
      if (attached->fds.items[i] == event.data.fd)
        {
          close (event.data.fd); /* which takes it out of the epoll's list, too */
          attached->fds.items[i] = attached->fds.items[--attached->fds.n];
          break;
        }
  return attached->fds.n == 0;
}

void
lns_attached_clear (LnsAttached *attached)
{
  for (size_t i = 0; i < attached->fds.n; i++)
    close (attached->fds.items[i]);
  lns_array_clear (&attached->fds);
  if (attached->fd >= 0)
    close (attached->fd);
  attached->fd = -1;
}
