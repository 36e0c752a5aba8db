/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the session asks of processes while they run, and their answers. Asked by any thread, sent and
 * heard by the collector's own; who waits is woken when the last has answered or is gone. */

#include "capture/session/collect/collector-private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

/* How long a process may take to hand over what belongs to a range that ended. */
#define FLUSH_NS INT64_C (2000000000)

/* One that does not listen, as it has just begun, does so by itself. */
#define UNASKED_FLUSH_NS INT64_C (100000000)

/* So many beginnings and ends of one process at a time, as others wait. */
#define EDGES_MAX 1000

static int64_t
monotonic_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C (1000000000) + now.tv_nsec;
}

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

/* --- Capture ranges --------------------------------------------------------------------------- */

void
lns_collector_set_range (LnsCollector *collector, const LnsWireOptions *asked)
{
  pthread_mutex_lock (&collector->lock);
  LnsWireOptions *target = &collector->options.target;
  target->range_kind = asked->range_kind;
  target->range_end = asked->range_end;
  target->n_ranges = asked->n_ranges;
  target->range_any_domain = asked->range_any_domain;
  memcpy (target->range_message, asked->range_message, sizeof target->range_message);
  memcpy (target->range_domain, asked->range_domain, sizeof target->range_domain);
  collector->n_in_range = 0;
  if (asked->range_kind != LNS_WIRE_RANGE_NONE)
    collector->is_recording = false;
  for (size_t i = 0; i < collector->n_peers; i++)
    {
      collector->peers[i]->is_in_range = false;
      collector->peers[i]->n_range_edges = 0;
      lns_wire_pool_set_range (collector->peers[i]->pool, target);
      lns_wire_pool_set_recording (collector->peers[i]->pool, collector->is_recording);
    }
  pthread_mutex_unlock (&collector->lock);
}

/* Lets all processes record or not, as PEER's range, which PEER sees to itself, has begun, or the last one has
 * ended. One of them may be about to begin a range of its own, of which nothing was heard yet, and records all
 * the same. The lock is held. */
static void
set_others_recording (LnsCollector *collector, const LnsPeer *peer, bool recording, bool is_news)
{
  const LnsWireCommand command = {
    .magic = LNS_WIRE_MAGIC,
    .kind = recording ? LNS_WIRE_COMMAND_START : LNS_WIRE_COMMAND_STOP,
  };
  collector->is_recording = recording;
  for (size_t i = 0; i < collector->n_peers; i++)
    if (collector->peers[i] != peer || !recording) /* others' ranges may have let it */
      lns_wire_pool_let_record (collector->peers[i]->pool, recording);
  for (size_t i = 0; is_news && i < collector->n_watches; i++)
    {
      const LnsWatch *watch = collector->watches[i];
      if (watch->kind == LNS_WATCH_CONNECTION && watch->fd >= 0 && watch->peer != NULL &&
          watch->peer != peer && lns_wire_pool_listens (watch->peer->pool))
        send (watch->fd, &command, sizeof command, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

static void
begin_range (LnsCollector *collector, LnsPeer *peer)
{
  pthread_mutex_lock (&collector->lock);
  const bool is_first = !peer->is_in_range && collector->n_in_range++ == 0;
  peer->is_in_range = true;
  /* Those in a range of their own, too, which may end before; they record already. */
  set_others_recording (collector, peer, true, is_first);
  pthread_mutex_unlock (&collector->lock);
}

/* It has left its range, by its own word or by its end. Returns whether no process is in one any more. */
static bool
leave_range (LnsCollector *collector, LnsPeer *peer)
{
  pthread_mutex_lock (&collector->lock);
  const bool is_last = peer->is_in_range && --collector->n_in_range == 0;
  peer->is_in_range = false;
  if (is_last)
    set_others_recording (collector, peer, false, true);
  pthread_mutex_unlock (&collector->lock);
  return is_last;
}

static void
end_range (LnsCollector *collector, LnsPeer *peer)
{
  /* A report that is over has events of all processes that were let record. */
  const bool is_over = leave_range (collector, peer);
  const LnsWireCommand command = { .magic = LNS_WIRE_MAGIC,
                                   .kind = LNS_WIRE_COMMAND_FLUSH,
                                   .serial = LNS_FLUSH_SERIAL | ++collector->flush_serial };
  LnsFlush flush = { .serial = command.serial, .process = peer->process };
  for (size_t i = 0; i < collector->n_watches; i++)
    {
      const LnsWatch *watch = collector->watches[i];
      LnsPeer *asked = watch->kind == LNS_WATCH_CONNECTION && watch->fd >= 0 ? watch->peer : NULL;
      if (asked == NULL || (asked != peer && !is_over) || !lns_wire_pool_listens (asked->pool) ||
          send (watch->fd, &command, sizeof command, MSG_DONTWAIT | MSG_NOSIGNAL) !=
              (ssize_t)sizeof command)
        continue;
      asked->flush_asked = command.serial;
      flush.is_asked |= asked == peer;
    }
  flush.until_ns = monotonic_ns () + (flush.is_asked ? FLUSH_NS : UNASKED_FLUSH_NS);
  LnsFlush *flushes =
      realloc (collector->flushes, (collector->n_flushes + 1) * sizeof *collector->flushes);
  if (flushes == NULL)
    {
      lns_collector_post (collector,
                          &(LnsBatchEvent){ .kind = LNS_BATCH_FLUSHED, .process = peer->process });
      return;
    }
  collector->flushes = flushes;
  flushes[collector->n_flushes++] = flush;
}

void
_lns_collector_follow_ranges (LnsCollector *collector, LnsPeer *peer)
{
  for (int i = 0; i < EDGES_MAX; i++)
    {
      pthread_mutex_lock (&collector->lock);
      const bool is_news = peer->n_range_edges < lns_wire_pool_n_range_edges (peer->pool);
      const bool is_end = is_news && ++peer->n_range_edges % 2 == 0;
      pthread_mutex_unlock (&collector->lock);
      if (!is_news)
        return;
      if (is_end)
        end_range (collector, peer);
      else
        begin_range (collector, peer);
    }
}

static bool
is_done (const LnsCollector *collector, const LnsFlush *flush, int64_t now_ns)
{
  if (now_ns > flush->until_ns)
    return true;
  for (size_t i = 0; i < collector->n_peers; i++)
    {
      const LnsPeer *peer = collector->peers[i];
      if (peer->process == flush->process && peer->is_gone)
        return true;
      /* Each answers in the order in which it was asked. */
      if (!peer->is_gone && peer->flush_asked >= flush->serial && peer->flush_done < flush->serial)
        return false;
    }
  return flush->is_asked;
}

void
_lns_collector_hurry (LnsCollector *collector, int64_t now_ns)
{
  for (size_t i = 0; i < collector->n_peers; i++)
    {
      LnsPeer *peer = collector->peers[i];
      _lns_collector_follow_ranges (collector, peer); /* its notices may be lost */
      if (peer->is_gone)
        leave_range (collector, peer);
    }
  while (collector->n_flushes > 0 && is_done (collector, &collector->flushes[0], now_ns))
    {
      const uint32_t process = collector->flushes[0].process;
      memmove (collector->flushes, collector->flushes + 1,
               --collector->n_flushes * sizeof *collector->flushes);
      lns_collector_post (collector,
                          &(LnsBatchEvent){ .kind = LNS_BATCH_FLUSHED, .process = process });
    }
}
