/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/profile/attached.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "capture/session/system/process-end.h"
#include "capture/session/system/process-info.h"

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
      if (fd >= 0 && epoll_ctl (attached->fd, EPOLL_CTL_ADD, fd, &event) == 0)
        {
          *lns_array_add (&attached->fds) = fd;
          continue;
        }
      /* Descriptors are short, or a sandbox or a kernel before 5.3 has none for processes. */
      if (fd >= 0)
        close (fd);
      *lns_array_add (&attached->polled) = pids->items[i];
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
  size_t n = 0;
  for (size_t i = 0; i < attached->polled.n; i++)
    if (!lns_process_is_ending (attached->polled.items[i]))
      attached->polled.items[n++] = attached->polled.items[i];
  attached->polled.n = n;
  return attached->fds.n == 0 && n == 0;
}

void
lns_attached_clear (LnsAttached *attached)
{
  for (size_t i = 0; i < attached->fds.n; i++)
    close (attached->fds.items[i]);
  lns_array_clear (&attached->fds);
  lns_array_clear (&attached->polled);
  if (attached->fd >= 0)
    close (attached->fd);
  attached->fd = -1;
}
