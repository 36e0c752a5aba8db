/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/collect/collector.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "capture/session/collect/commands.h"
#include "capture/session/collect/door.h"
#include "capture/session/collect/mailbox.h"
#include "capture/session/collect/peers.h"
#include "capture/session/collect/pools.h"
#include "capture/session/collect/range-control.h"
#include "capture/session/collect/watches.h"
#include "capture/session/system/refused-call.h"
#include "src/base/memory.h"
#include "src/base/monotonic.h"

#define DRAIN_MS      50
#define LOW_DRAIN_MS  5    /* after a process has said that its chunks run out */
#define IDLE_DRAIN_MS 1000 /* without processes and samples only pairs of clock readings go on */

/* Descriptors that processes may not take: for the pool and pidfd of the last one, the report's journal, and other
 * files that must open. */
#define FDS_RESERVED 24

/* The parts, and the state of the thread. */
struct LnsCollector
{
  LnsCollectorOptions options;
  LnsRecorder *recorder;
  LnsMailbox mailbox;
  LnsPeers peers;
  LnsPools pools;
  LnsWatches watches;
  LnsCommands commands;
  LnsRangeControl ranges;
  LnsDoor door;
  pthread_t thread;
  atomic_bool is_ending;
  bool has_samples;                       /* CPUs are sampled */
  bool has_news;                          /* a process has joined or ended since the last drain */
  uint64_t n_lost_before, n_begun_before; /* of processes that are gone */
};

/* --- Draining --------------------------------------------------------------------------------- */

/* Forgets a peer that is left: nobody holds its connection any more. */
static void
forget_peer (LnsCollector *collector, size_t at)
{
  LnsPeer *peer = lns_peers_remove (&collector->peers, at);
  collector->n_lost_before += lns_wire_losses_missed (&peer->losses);
  collector->n_begun_before += peer->n_begun;
  lns_watches_drop_peer (&collector->watches, peer);
  lns_peer_free (peer);
}

/* Adds the end of a peer that is gone to BATCH. */
static void
finish_peer (LnsCollector *collector, LnsPeer *peer, LnsBatch *batch)
{
  lns_commands_forget (&collector->commands, peer);
  lns_peer_finish (peer, batch);
  pthread_mutex_lock (&collector->peers.lock);
  collector->peers.counters.n_alive--;
  collector->peers.counters.last_end_ns = peer->gone_ns;
  pthread_mutex_unlock (&collector->peers.lock);
  eventfd_write (collector->options.changed_fd, 1); /* fails only where it is readable already */
}

/* Tells the recorder how many events the programs have made up to NOW_NS, read or not, and how many of them are
 * lost. */
static void
tell_made (LnsCollector *collector, int64_t now_ns)
{
  uint64_t n_begun = collector->n_begun_before, n_lost = collector->n_lost_before;
  for (size_t i = 0; i < collector->peers.all.n; i++)
    {
      n_begun += collector->peers.all.items[i]->n_begun;
      n_lost += lns_wire_losses_missed (&collector->peers.all.items[i]->losses);
    }
  pthread_mutex_lock (&collector->peers.lock);
  collector->peers.counters.n_lost = n_lost;
  pthread_mutex_unlock (&collector->peers.lock);
  lns_recorder_tell_made (collector->recorder, now_ns, n_begun, n_lost);
}

static void
lend (LnsCollector *collector, int64_t now_ns)
{
  uint64_t held_bytes = 0;
  size_t n_alive = 0;
  for (size_t i = 0; i < collector->peers.all.n; i++)
    {
      n_alive += !collector->peers.all.items[i]->is_gone;
      held_bytes += lns_peer_held_bytes (collector->peers.all.items[i]);
    }
  if (n_alive == 0)
    return;
  uint64_t share = collector->options.session_bytes / n_alive;
  for (size_t i = 0; i < collector->peers.all.n; i++)
    {
      LnsPeer *peer = collector->peers.all.items[i];
      uint64_t own = lns_peer_held_bytes (peer);
      uint64_t others = held_bytes - own;
      uint64_t cap = collector->options.process_bytes;
      if (others + cap > collector->options.session_bytes)
        cap = others < collector->options.session_bytes ? collector->options.session_bytes - others
                                                        : 0;
      uint64_t max_free = (share < cap ? share : cap) / LNS_WIRE_CHUNK_BYTES_DEFAULT;
      lns_peer_lend (peer, cap, max_free > 4 ? (uint32_t)max_free : 4, now_ns);
    }
}

/* Copies the new records of PEER into BATCH. Returns whether that is all for now. If memory is short, the rest of a
 * peer that is gone is copied when the recorder has freed some, unless nothing will be freed. If the report ends
 * with this batch (IS_STOP), the rest is lost, whether the process lives on or not. */
static bool
drain_peer (LnsCollector *collector, LnsPeer *peer, LnsBatch *batch, bool is_stop)
{
  const size_t before = batch->n_bytes;
  if (lns_peer_drain (peer, batch))
    return true;
  const bool will_be_more =
      batch->n_bytes > before || lns_recorder_queued_bytes (collector->recorder) > 0;
  if (!is_stop && (will_be_more || !peer->is_gone))
    return !peer->is_gone;
  lns_peer_give_up (peer);
  return true;
}

/* Counts PEER as refused if it has said, since it joined, that it cannot record. */
static void
check_key (LnsCollector *collector, LnsPeer *peer, LnsBatch *batch)
{
  const LnsWirePoolHeader *header = lns_wire_pool_view (peer->pool)->header;
  if (peer->is_out ||
      __atomic_load_n (&header->joined, __ATOMIC_ACQUIRE) != LNS_WIRE_JOINED_WITHOUT_KEY)
    return;
  peer->is_out = true;
  pthread_mutex_lock (&collector->peers.lock);
  collector->peers.counters.n_joined--;
  collector->peers.counters.n_refused++;
  pthread_mutex_unlock (&collector->peers.lock);
  LnsBatchEvent event = lns_batch_diagnostic (
      peer->process, "LNS-POOL-011", LNS_SEVERITY_ERROR,
      "process %d is not recorded, nor are those that it forks, as the program has taken all "
      "pthread keys; have it delete keys, or make an NVTX call before it takes the last one",
      peer->pid);
  lns_batch_events_add (&batch->events, &event);
}

/* Hands a batch of all new records and events to the recorder. Returns whether it has events for which the recorder
 * should not wait 50 ms. */
static bool
drain (LnsCollector *collector)
{
  LnsBatch *batch = calloc (1, sizeof (LnsBatch));
  if (batch == NULL)
    return false;
  lns_mailbox_empty (&collector->mailbox, batch);
  collector->has_samples = batch->sampled_ns != 0 && batch->sampled_ns != INT64_MAX;

  bool is_urgent = false, is_stop = false;
  for (size_t i = 0; i < batch->events.n; i++)
    {
      is_urgent |= batch->events.items[i].kind >= LNS_BATCH_START;
      is_stop |= batch->events.items[i].kind >= LNS_BATCH_STOP;
    }
  /* The limit of what the recorder has queued is that of a pool. Together they are less than a second of its work,
   * so a report is not later than that. */
  bool is_behind =
      lns_recorder_queued_bytes (collector->recorder) > collector->options.process_bytes &&
      !is_urgent;
  int64_t now_ns = lns_monotonic_ns ();
  lns_peers_check_hushed (&collector->peers);
  for (size_t i = collector->peers.all.n; i-- > 0;)
    {
      LnsPeer *peer = collector->peers.all.items[i];
      check_key (collector, peer, batch);
      if (is_behind)
        {
          lns_peer_look (peer);
          continue;
        }
      const bool is_drained = drain_peer (collector, peer, batch, is_stop);
      if (peer->is_gone && !peer->is_left && is_drained)
        {
          finish_peer (collector, peer, batch);
          is_urgent = true;
        }
      const bool is_over = peer->is_left && !lns_watches_is_held (&collector->watches, peer);
      if (is_stop || is_over)
        lns_peer_tell_losses (peer, batch);
      if (is_over)
        forget_peer (collector, i);
    }
  /* After all reading, so that no record is later than the pair. */
  lns_wire_clock_pair (collector->options.clock, &batch->pair);
  tell_made (collector, now_ns);
  lend (collector, now_ns);
  lns_recorder_push (collector->recorder, batch);
  return is_urgent;
}

/* --- The thread ------------------------------------------------------------------------------- */

/* Handles NOTICE of PEER. Returns whether a drain is wanted now. */
static bool
take_notice (LnsCollector *collector, LnsPeer *peer, const LnsWireNotice *notice)
{
  switch (notice->kind)
    {
    case LNS_WIRE_NOTICE_LOW:
      peer->looked_ns = lns_monotonic_ns ();
      return true;
    case LNS_WIRE_NOTICE_RANGE_BEGAN:
    case LNS_WIRE_NOTICE_RANGE_ENDED:
      lns_range_control_follow (&collector->ranges, peer);
      return false;
    case LNS_WIRE_NOTICE_FLUSHED:
      if (notice->value == peer->awaited)
        lns_commands_forget (&collector->commands, peer);
      lns_range_control_flushed (peer, notice->value);
      return false;
    default:
      return false;
    }
}

/* The end of a process wants a drain only if no other process runs or descriptors are short: a program that forks
 * many children one after the other need not wait for a drain at each end. */
static bool
is_end_urgent (const LnsCollector *collector)
{
  bool is_any_alive = false;
  for (size_t i = collector->peers.all.n; i-- > 0 && !is_any_alive;)
    is_any_alive = !collector->peers.all.items[i]->is_gone;
  return !is_any_alive || lns_door_is_short (&collector->door);
}

/* Handles an epoll event of WATCH. Returns whether a drain is wanted now. */
static bool
handle (LnsCollector *collector, LnsWatch *watch)
{
  eventfd_t value;
  LnsWireNotice notice;
  LnsHeard heard;
  if (watch->fd < 0)
    return false;
  switch (watch->kind)
    {
    case LNS_WATCH_LISTENER:
      lns_door_accept (&collector->door);
      return false;
    case LNS_WATCH_MAILBOX:
      return eventfd_read (watch->fd, &value) == 0;
    case LNS_WATCH_CONNECTION:
      heard = lns_door_hear (&collector->door, watch, &notice);
      collector->has_news |= heard == LNS_HEARD_HELLO;
      return heard == LNS_HEARD_END ||
             (heard == LNS_HEARD_NOTICE && take_notice (collector, watch->peer, &notice));
    case LNS_WATCH_PEER:
      lns_peer_mark_gone (watch->peer);
      lns_watches_drop (&collector->watches, watch);
      collector->has_news = true;
      return is_end_urgent (collector);
    }
  return false;
}

static void
make_pool_ready (LnsCollector *collector)
{
  const LnsAsked asked = lns_peers_asked (&collector->peers);
  lns_pools_make_ready (&collector->pools, &asked, collector->peers.all.n);
}

/* Handles what comes within WAIT_MS. Returns the number of epoll events; sets RET_WANTED if a drain is wanted now. */
static int
listen_for (LnsCollector *collector, int64_t wait_ms, bool *ret_wanted)
{
  struct epoll_event events[64];
  const int n =
      epoll_wait (collector->watches.epoll_fd, events, 64, wait_ms > 0 ? (int)wait_ms : 0);
  for (int i = 0; i < n; i++)
    *ret_wanted |= handle (collector, events[i].data.ptr);
  lns_watches_free_dropped (&collector->watches);
  return n;
}

static void *
sweep (void *data)
{
  setpriority (PRIO_PROCESS, (id_t)gettid (), 0); /* it began with that of the collector's thread */
  lns_listener_sweep ();
  return NULL;
}

/* Removes what killed sessions have left, beside the recording. Neither short programs nor events wait for it. */
static void
start_sweep (void)
{
  pthread_t thread;
  if (pthread_create (&thread, NULL, sweep, NULL) == 0)
    pthread_detach (thread);
}

static void *
run (void *data)
{
  LnsCollector *collector = data;
  int64_t drained_ms = lns_monotonic_ns () / 1000000;
  bool is_wanted = false, has_swept = false;
  /* If that is allowed. The thread has little to do, but must do it at once, however busy the machine is. */
  setpriority (PRIO_PROCESS, (id_t)gettid (), -10);
  while (!atomic_load (&collector->is_ending))
    {
      int64_t period_ms =
          collector->peers.all.n > 0 || collector->has_samples ? DRAIN_MS : IDLE_DRAIN_MS;
      if (is_wanted || collector->door.is_full || collector->has_news)
        period_ms = LOW_DRAIN_MS;
      int64_t due_ms = drained_ms + period_ms;
      int64_t wait_ms = due_ms - lns_monotonic_ns () / 1000000;
      const bool is_preparing = lns_pools_want_more (&collector->pools);
      is_wanted = false;
      if (listen_for (collector, is_preparing ? 0 : wait_ms, &is_wanted) == 0 && is_preparing)
        make_pool_ready (collector);
      lns_commands_send (&collector->commands, &collector->watches);
      lns_range_control_tick (&collector->ranges, lns_monotonic_ns ());
      if (!is_wanted && lns_monotonic_ns () / 1000000 < due_ms)
        continue;
      if (!has_swept)
        start_sweep ();
      has_swept = true;
      /* A report may end with this batch, which must tell of processes that came before: the first call accepts them,
       * the second one hears them. After lanescope was stopped, the call above may have been interrupted. */
      for (int i = 0; i < 2; i++)
        listen_for (collector, 0, &is_wanted);
      /* A batch is played when the next one is known. */
      if (drain (collector))
        drain (collector);
      drained_ms = lns_monotonic_ns () / 1000000;
      lns_pools_tidy (&collector->pools, lns_monotonic_ns ());
      lns_door_reopen (&collector->door);
      collector->has_news = false;
    }
  return NULL;
}

/* The last descriptor that a process may take. */
static int
last_descriptor (void)
{
  struct rlimit limit;
  if (getrlimit (RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT_MAX)
    return INT_MAX;
  return (int)limit.rlim_cur - FDS_RESERVED;
}

/* Opens the parts; COLLECTOR is to be released in either case. */
static bool
open_parts (LnsCollector *collector, LnsError *error)
{
  const LnsCollectorOptions *options = &collector->options;
  collector->pools = (LnsPools){
    .clock = options->clock,
    .process_bytes = options->process_bytes,
    .session_bytes = options->session_bytes,
    .last_fd = last_descriptor (),
  };
  collector->ranges =
      (LnsRangeControl){ .peers = &collector->peers, .watches = &collector->watches };
  lns_peers_init (&collector->peers, &collector->mailbox, &options->target);
  lns_commands_init (&collector->commands);
  lns_door_init (&collector->door, &collector->peers, &collector->pools, &collector->watches);
  const int mailbox_error = lns_mailbox_open (&collector->mailbox) ? 0 : errno;
  const int watches_error = lns_watches_open (&collector->watches) ? 0 : errno;
  const LnsWatch mailbox_watch = { .kind = LNS_WATCH_MAILBOX, .fd = collector->mailbox.fd };
  if (mailbox_error != 0)
    return lns_refused_call (error, mailbox_error, "eventfd2");
  if (watches_error != 0)
    return lns_refused_call (error, watches_error, "epoll_create1");
  if (lns_watches_add (&collector->watches, mailbox_watch) == NULL)
    return lns_refused_call (error, errno, "epoll_ctl");
  return lns_door_open (&collector->door, error);
}

/* Frees COLLECTOR, whose thread does not run. */
static void
release (LnsCollector *collector)
{
  lns_watches_close (&collector->watches);
  lns_listener_close (&collector->door.listener);
  lns_pools_drop_ready (&collector->pools);
  lns_array_clear (&collector->ranges.flushes);
  lns_peers_clear (&collector->peers);
  lns_commands_clear (&collector->commands);
  lns_mailbox_close (&collector->mailbox);
  free (collector);
}

LnsCollector *
lns_collector_new (const LnsCollectorOptions *options, LnsRecorder *recorder, LnsError *error)
{
  LnsCollector *collector = lns_calloc (1, sizeof *collector);
  collector->options = *options;
  collector->recorder = recorder;
  if (!open_parts (collector, error))
    {
      release (collector);
      return NULL;
    }
  int failed = pthread_create (&collector->thread, NULL, run, collector);
  if (failed != 0)
    {
      lns_error_set_errno (error, failed, "cannot start the session's thread");
      release (collector);
      return NULL;
    }
  return collector;
}

void
lns_collector_free (LnsCollector *collector)
{
  if (collector == NULL)
    return;
  atomic_store (&collector->is_ending, true);
  lns_mailbox_wake (&collector->mailbox);
  pthread_join (collector->thread, NULL);
  release (collector);
}

/* --- From other threads ----------------------------------------------------------------------- */

const char *
lns_collector_path (const LnsCollector *collector)
{
  return collector->door.listener.path;
}

LnsPeers *
lns_collector_peers (LnsCollector *collector)
{
  return &collector->peers;
}

void
lns_collector_set_range (LnsCollector *collector, const LnsWireOptions *asked)
{
  lns_range_control_set (&collector->ranges, asked);
}

void
lns_collector_set_recording (LnsCollector *collector, bool recording)
{
  lns_peers_set_recording (&collector->peers, recording);
  lns_collector_command (collector, recording ? LNS_WIRE_COMMAND_START : LNS_WIRE_COMMAND_STOP, 0);
}

unsigned
lns_collector_command (LnsCollector *collector, LnsWireCommandKind kind, int bound_ms)
{
  const uint32_t serial = lns_commands_give (&collector->commands, kind);
  lns_mailbox_wake (&collector->mailbox);
  return bound_ms > 0 ? lns_commands_wait (&collector->commands, serial, bound_ms) : 0;
}
