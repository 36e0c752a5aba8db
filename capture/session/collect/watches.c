/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/collect/watches.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

bool
lns_watches_open (LnsWatches *watches)
{
  *watches = (LnsWatches){ .epoll_fd = epoll_create1 (EPOLL_CLOEXEC) };
  return watches->epoll_fd >= 0;
}

void
lns_watches_close (LnsWatches *watches)
{
  for (size_t i = 0; i < watches->all.n; i++)
    lns_watches_drop (watches, watches->all.items[i]);
  lns_watches_free_dropped (watches);
  lns_array_clear (&watches->all);
  if (watches->epoll_fd >= 0)
    close (watches->epoll_fd);
}

LnsWatch *
lns_watches_add (LnsWatches *watches, LnsWatch item)
{
  LnsWatch *watch = malloc (sizeof *watch);
  if (watch == NULL)
    return NULL;
  *watch = item;
  struct epoll_event event = { .events = EPOLLIN, .data.ptr = watch };
  LnsWatch **added = lns_array_try_add (&watches->all);
  if (added != NULL && epoll_ctl (watches->epoll_fd, EPOLL_CTL_ADD, watch->fd, &event) == 0)
    return *added = watch;
  watches->all.n -= added != NULL;
  free (watch);
  return NULL;
}

void
lns_watches_drop (LnsWatches *watches, LnsWatch *watch)
{
  if (watch->fd < 0)
    return;
  epoll_ctl (watches->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
  if (watch->kind == LNS_WATCH_CONNECTION)
    close (watch->fd);
  watch->fd = -1;
}

void
lns_watches_drop_peer (LnsWatches *watches, const LnsPeer *peer)
{
  for (size_t i = 0; i < watches->all.n; i++)
    if (watches->all.items[i]->peer == peer)
      lns_watches_drop (watches, watches->all.items[i]);
}

void
lns_watches_free_dropped (LnsWatches *watches)
{
  size_t n_kept = 0;
  for (size_t i = 0; i < watches->all.n; i++)
    if (watches->all.items[i]->fd < 0)
      free (watches->all.items[i]);
    else
      watches->all.items[n_kept++] = watches->all.items[i];
  watches->all.n = n_kept;
}

LnsWatch *
lns_watches_connection (const LnsWatches *watches, const LnsPeer *peer)
{
  for (size_t i = 0; i < watches->all.n; i++)
    if (watches->all.items[i]->peer == peer && watches->all.items[i]->fd >= 0 &&
        watches->all.items[i]->kind == LNS_WATCH_CONNECTION)
      return watches->all.items[i];
  return NULL;
}

bool
lns_watches_is_held (const LnsWatches *watches, const LnsPeer *peer)
{
  const LnsWatch *connection = lns_watches_connection (watches, peer);
  char byte;
  return connection != NULL && recv (connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0;
}

bool
lns_watch_send (const LnsWatch *watch, const LnsWireCommand *command)
{
  return watch->kind == LNS_WATCH_CONNECTION && watch->fd >= 0 && watch->peer != NULL &&
         lns_wire_pool_listens (watch->peer->pool) &&
         send (watch->fd, command, sizeof *command, MSG_DONTWAIT | MSG_NOSIGNAL) ==
             (ssize_t)sizeof *command;
}
