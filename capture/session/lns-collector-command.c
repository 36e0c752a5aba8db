/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the session asks of processes while they run, and their answers. Asked by any thread, sent and
 * heard by the collector's own; who waits is woken when the last has answered or is gone. */

#include "capture/session/lns-collector-private.h"

#include <sys/socket.h>
#include <time.h>

unsigned
lns_collector_command (LnsCollector *collector, LnsWireCommandKind kind, int bound_ms)
{
  struct timespec until;
  clock_gettime (CLOCK_MONOTONIC, &until);
  until.tv_sec += bound_ms / 1000;
  until.tv_nsec += bound_ms % 1000 * 1000000L;
  if (until.tv_nsec >= 1000000000L)
    {
      until.tv_sec++;
      until.tv_nsec -= 1000000000L;
    }
  pthread_mutex_lock (&collector->lock);
  collector->command = kind;
  collector->is_command_sent = false;
  collector->n_unanswered = 0;
  const uint32_t serial = ++collector->command_serial;
  _lns_wake (collector->wake_fd);
  while (bound_ms > 0 && collector->command_serial == serial &&
         (!collector->is_command_sent || collector->n_unanswered > 0))
    if (pthread_cond_clockwait (&collector->answered, &collector->lock, CLOCK_MONOTONIC, &until) !=
        0)
      break;
  const unsigned n_unanswered = collector->n_unanswered;
  pthread_mutex_unlock (&collector->lock);
  return n_unanswered;
}

void
_lns_collector_send_command (LnsCollector *collector)
{
  pthread_mutex_lock (&collector->lock);
  const bool is_due = collector->command_serial > 0 && !collector->is_command_sent;
  const LnsWireCommand command = { .magic = LNS_WIRE_MAGIC,
                                   .kind = collector->command,
                                   .serial = collector->command_serial };
  pthread_mutex_unlock (&collector->lock);
  unsigned n_sent = 0;
  for (size_t i = 0; is_due && i < collector->n_watches; i++)
    {
      const LnsWatch *watch = collector->watches[i];
      LnsPeer *peer = watch->kind == LNS_WATCH_CONNECTION && watch->fd >= 0 ? watch->peer : NULL;
      if (peer == NULL || peer->is_gone || !lns_wire_pool_listens (peer->pool) ||
          send (watch->fd, &command, sizeof command, MSG_DONTWAIT | MSG_NOSIGNAL) !=
              (ssize_t)sizeof command)
        continue;
      peer->awaited = command.serial;
      n_sent++;
    }
  if (!is_due)
    return;
  pthread_mutex_lock (&collector->lock);
  /* Another command may have come meanwhile, to be sent after this one. */
  if (collector->command_serial == command.serial)
    {
      collector->is_command_sent = true;
      collector->n_unanswered = n_sent;
    }
  pthread_cond_broadcast (&collector->answered);
  pthread_mutex_unlock (&collector->lock);
}

void
_lns_collector_answered (LnsCollector *collector, LnsPeer *peer)
{
  pthread_mutex_lock (&collector->lock);
  if (peer->awaited == collector->command_serial && collector->is_command_sent &&
      collector->n_unanswered > 0)
    collector->n_unanswered--;
  pthread_cond_broadcast (&collector->answered);
  pthread_mutex_unlock (&collector->lock);
  peer->awaited = 0;
}
