/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/collect/collector-private.h"
#include "src/base/format.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define DRAIN_MS      50
#define LOW_DRAIN_MS  5    /* after a process has said that its chunks run out */
#define IDLE_DRAIN_MS 1000 /* with nobody there: only the clock pairs go on */

/* So long after a fork's child joined, no other one is expected. */
#define SPARE_NS INT64_C (1000000000)

/* Of the last process's pool and pidfd, and of the report's journal and whatever else must not fail. */
#define FDS_RESERVED 24

static int64_t
monotonic_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C (1000000000) + now.tv_nsec;
}

/* --- Events for the recorder ------------------------------------------------------------------ */

void
_lns_collector_add_event (LnsCollector *collector, LnsBatchEvent *event)
{
  LnsBatchEvent *events = realloc (collector->events, (collector->n_events + 1) * sizeof *events);
  if (events == NULL)
    {
      lns_batch_event_clear (event);
      return;
    }
  collector->events = events;
  collector->events[collector->n_events++] = *event;
}

void
_lns_wake (int fd)
{
  uint64_t one = 1;
  ssize_t written = write (fd, &one, sizeof one); /* fails only where it is awake already */
  (void)written;
}

void
lns_collector_post (LnsCollector *collector, LnsBatchEvent *event)
{
  pthread_mutex_lock (&collector->lock);
  _lns_collector_add_event (collector, event);
  pthread_mutex_unlock (&collector->lock);
  _lns_wake (collector->wake_fd);
}

uint32_t
_lns_collector_new_process (LnsCollector *collector, int32_t pid)
{
  int32_t *pids = realloc (collector->process_pids, (collector->n_processes + 1) * sizeof *pids);
  if (pids == NULL)
    return LNS_ID_NONE;
  collector->process_pids = pids;
  pids[collector->n_processes] = pid;
  return collector->n_processes++;
}

uint32_t
lns_collector_add_root (LnsCollector *collector, int32_t pid)
{
  LnsBatchEvent event = { .kind = LNS_BATCH_PROCESS };
  /* The rest is still that of this program. */
  lns_process_info_begin (pid, &event.info);
  lns_process_info_clear (&event.info);
  pthread_mutex_lock (&collector->lock);
  event.process = _lns_collector_new_process (collector, pid);
  collector->root_pid = pid;
  collector->root_process = event.process;
  _lns_collector_add_event (collector, &event);
  pthread_mutex_unlock (&collector->lock);
  return event.process;
}

void
lns_collector_root_runs (LnsCollector *collector)
{
  pthread_mutex_lock (&collector->lock);
  const int32_t pid = collector->root_pid;
  pthread_mutex_unlock (&collector->lock);
  if (pid == 0)
    return;
  LnsBatchEvent event = { .kind = LNS_BATCH_PROCESS };
  lns_process_info_read (pid, &event.info);
  pthread_mutex_lock (&collector->lock);
  /* It may have said hello meanwhile, which told the same. */
  const bool is_news = collector->root_pid == pid;
  event.process = collector->root_process;
  if (is_news)
    _lns_collector_add_event (collector, &event);
  pthread_mutex_unlock (&collector->lock);
  if (!is_news)
    lns_batch_event_clear (&event);
}

static void
tell_refused_domains (const LnsPeer *peer, LnsBatch *batch)
{
  unsigned long long n = lns_wire_pool_domains_refused (peer->pool);
  LnsBatchEvent event = {
    .kind = LNS_BATCH_DIAGNOSTIC,
    .process = peer->process,
    .code = "LNS-NVTX-004",
    .severity = LNS_SEVERITY_WARNING,
  };
  if (n > 0 &&
      asprintf (&event.text,
                "process %d made more than 65,535 NVTX domains: what belongs to the last %llu is "
                "in its default domain",
                peer->pid, n) >= 0)
    lns_batch_add_event (batch, &event);
}

/* What helps where processes cannot join for the reason ERROR_CODE. */
static const char *
advice_for_strays (int error_code)
{
  if (error_code == EMFILE || error_code == ENFILE)
    return "raise the program's `ulimit -n`";
  if (error_code == ENOMEM)
    return "raise the program's `ulimit -v`";
  return "have them make an NVTX call before they give up privileges, change their root folder or "
         "close descriptors that they did not open";
}

/* Tells of what PEER has forked and could not join, as far as it is new. */
static void
tell_strays (LnsPeer *peer, LnsBatch *batch)
{
  LnsWireStrays strays;
  lns_wire_pool_strays (peer->pool, &strays);
  strays.n_events = peer->losses.by_cause[LNS_WIRE_CAUSE_STRAY]; /* no more than was added */
  LnsBatchEvent event = {
    .kind = LNS_BATCH_DIAGNOSTIC,
    .process = peer->process,
    .code = "LNS-POOL-006",
    .severity = LNS_SEVERITY_WARNING,
  };
  const uint64_t n_events = strays.n_events - peer->told.n_events;
  if ((strays.n_processes > peer->told.n_processes || strays.n_events > peer->told.n_events) &&
      asprintf (&event.text,
                "%u process%s that process %d forked could not join the session (%s): %llu NVTX %s "
                "lost; %s",
                strays.n_processes, lns_plural (strays.n_processes, "", "es"), peer->pid,
                strerror (strays.error), (unsigned long long)n_events,
                lns_plural (n_events, "event is", "events are"),
                advice_for_strays (strays.error)) >= 0)
    lns_batch_add_event (batch, &event);
  peer->told = strays;
}

/* Adds what PEER and its strays have lost until now to BATCH. */
static void
tell_losses (LnsPeer *peer, LnsBatch *batch)
{
  /* One that ended since the last drain has left nothing more now. */
  lns_wire_pool_losses (peer->pool, &peer->losses);
  LnsBatchEvent event = { .kind = LNS_BATCH_LOSSES,
                          .process = peer->process,
                          .losses = peer->losses };
  lns_batch_add_event (batch, &event);
  tell_strays (peer, batch);
}

/* Forgets a peer that is left: nobody holds its connection any more. */
static void
forget_peer (LnsCollector *collector, size_t at)
{
  LnsPeer *peer = collector->peers[at];
  collector->n_lost_before += lns_peer_n_lost (peer);
  collector->n_begun_before += peer->n_begun;
  pthread_mutex_lock (&collector->lock);
  collector->peers[at] = collector->peers[--collector->n_peers];
  pthread_mutex_unlock (&collector->lock);
  _lns_collector_drop_watches (collector, peer);
  lns_peer_free (peer);
}

/* Has all said of a peer that is gone. */
static void
finish_peer (LnsCollector *collector, LnsPeer *peer, LnsBatch *batch)
{
  if (peer->awaited != 0)
    _lns_collector_answered (collector, peer);
  lns_peer_salvage (peer, batch);
  LnsBatchEvent event = {
    .kind = LNS_BATCH_PROCESS_GONE,
    .process = peer->process,
    .time_ns = peer->gone_ns,
    .losses = peer->losses,
  };
  lns_batch_add_event (batch, &event);
  tell_refused_domains (peer, batch);
  peer->is_left = true;
  pthread_mutex_lock (&collector->lock);
  collector->counters.n_alive--;
  collector->counters.last_end_ns = peer->gone_ns;
  pthread_mutex_unlock (&collector->lock);
  _lns_wake (collector->changed_fd);
}

/* --- Draining --------------------------------------------------------------------------------- */

/* Tells what the programs have made up to NOW_NS, read or not, and what of it is lost. */
static void
tell_made (LnsCollector *collector, int64_t now_ns)
{
  uint64_t n_begun = collector->n_begun_before, n_lost = collector->n_lost_before;
  for (size_t i = 0; i < collector->n_peers; i++)
    {
      n_begun += collector->peers[i]->n_begun;
      n_lost += lns_peer_n_lost (collector->peers[i]);
    }
  pthread_mutex_lock (&collector->lock);
  collector->counters.n_lost = n_lost;
  pthread_mutex_unlock (&collector->lock);
  lns_recorder_tell_made (collector->recorder, now_ns, n_begun, n_lost);
}

static void
lend (LnsCollector *collector, int64_t now_ns)
{
  uint64_t held_bytes = 0;
  size_t n_alive = 0;
  for (size_t i = 0; i < collector->n_peers; i++)
    {
      n_alive += !collector->peers[i]->is_gone;
      held_bytes += lns_peer_held_bytes (collector->peers[i]);
    }
  if (n_alive == 0)
    return;
  uint64_t share = collector->options.session_bytes / n_alive;
  for (size_t i = 0; i < collector->n_peers; i++)
    {
      LnsPeer *peer = collector->peers[i];
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

/* Copies what PEER has made into BATCH. Returns whether that is all for now: where memory is short, more of
 * what one that is gone has left is copied when the recorder has freed some, unless there is nothing to wait
 * for. Where the report ends with this batch (IS_STOP), what is not copied is lost to it, whether the process
 * lives on or not. */
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

/* Makes a batch of all that is there and hands it on. Returns whether it tells of anything that the
 * recorder should not wait 50 ms for. */
static bool
drain (LnsCollector *collector)
{
  LnsBatch *batch = lns_batch_new ();
  if (batch == NULL)
    return false;
  pthread_mutex_lock (&collector->lock);
  batch->events = collector->events;
  batch->n_events = collector->n_events;
  collector->events = NULL;
  collector->n_events = 0;
  pthread_mutex_unlock (&collector->lock);

  bool is_urgent = false, is_stop = false;
  for (size_t i = 0; i < batch->n_events; i++)
    {
      is_urgent |= batch->events[i].kind >= LNS_BATCH_START;
      is_stop |= batch->events[i].kind >= LNS_BATCH_STOP;
    }
  /* What the recorder has not done yet is bounded as a pool is: together they are less than a second
   * of its work, by which a report can be late. */
  bool is_behind =
      lns_recorder_queued_bytes (collector->recorder) > collector->options.process_bytes &&
      !is_urgent;
  int64_t now_ns = monotonic_ns ();
  _lns_collector_look_at_hushed (collector);
  for (size_t i = collector->n_peers; i-- > 0;)
    {
      LnsPeer *peer = collector->peers[i];
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
      const bool is_over = peer->is_left && !_lns_collector_is_held (collector, peer);
      if (is_stop || is_over)
        tell_losses (peer, batch);
      if (is_over)
        forget_peer (collector, i);
    }
  /* After all reading: no record is later than the pair. */
  lns_wire_clock_pair (collector->options.clock, &batch->pair);
  tell_made (collector, now_ns);
  lend (collector, now_ns);
  lns_recorder_push (collector->recorder, batch);
  return is_urgent;
}

/* --- The thread ------------------------------------------------------------------------------- */

static void *
run (void *data)
{
  LnsCollector *collector = data;
  int64_t drained_ms = monotonic_ns () / 1000000;
  bool is_wanted = false;
  /* Where that is allowed: it does little, but at once, however many threads the program runs. */
  setpriority (PRIO_PROCESS, (id_t)gettid (), -10);
  while (!atomic_load (&collector->is_ending))
    {
      struct epoll_event events[64];
      int64_t period_ms = collector->n_peers > 0 ? DRAIN_MS : IDLE_DRAIN_MS;
      if (is_wanted || collector->is_full || collector->has_news)
        period_ms = LOW_DRAIN_MS;
      int64_t due_ms = drained_ms + period_ms;
      int64_t wait_ms = due_ms - monotonic_ns () / 1000000;
      const bool is_preparing = _lns_collector_wants_spare (collector);
      int n = epoll_wait (collector->epoll_fd, events, 64,
                          wait_ms > 0 && !is_preparing ? (int)wait_ms : 0);
      if (n == 0 && is_preparing)
        _lns_collector_make_spare (collector);
      is_wanted = false;
      for (int i = 0; i < n; i++)
        is_wanted |= _lns_collector_handle (collector, events[i].data.ptr);
      _lns_collector_free_dropped (collector);
      _lns_collector_send_command (collector);
      _lns_collector_hurry (collector, monotonic_ns ());
      if (!is_wanted && monotonic_ns () / 1000000 < due_ms)
        continue;
      /* A batch is played when the next one is known. */
      if (drain (collector))
        drain (collector);
      drained_ms = monotonic_ns () / 1000000;
      if (monotonic_ns () - collector->spares_taken_ns > SPARE_NS)
        _lns_collector_drop_spares (collector);
      _lns_collector_listen (collector);
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

static bool
open_descriptors (LnsCollector *collector, LnsError *error)
{
  if (!lns_listener_open (&collector->listener, error))
    return false;
  collector->last_fd = last_descriptor ();
  collector->epoll_fd = epoll_create1 (EPOLL_CLOEXEC);
  collector->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  collector->changed_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  LnsWatch *watches[] = { &collector->listener_watch, &collector->wake_watch };
  collector->listener_watch =
      (LnsWatch){ .kind = LNS_WATCH_LISTENER, .fd = collector->listener.fd };
  collector->wake_watch = (LnsWatch){ .kind = LNS_WATCH_WAKE, .fd = collector->wake_fd };
  for (int i = 0; i < 2; i++)
    {
      struct epoll_event event = { .events = EPOLLIN, .data.ptr = watches[i] };
      if (epoll_ctl (collector->epoll_fd, EPOLL_CTL_ADD, watches[i]->fd, &event) != 0)
        return lns_error_set_errno (error, errno, "the session cannot watch its socket");
    }
  if (collector->changed_fd < 0)
    return lns_error_set_errno (error, errno, "the session cannot open an eventfd");
  return true;
}

/* Frees COLLECTOR, whose thread does not run. */
static void
release (LnsCollector *collector)
{
  _lns_collector_drop_watches (collector, NULL);
  _lns_collector_free_dropped (collector);
  _lns_collector_drop_spares (collector);
  for (size_t i = 0; i < collector->n_peers; i++)
    lns_peer_free (collector->peers[i]);
  for (size_t i = 0; i < collector->n_events; i++)
    lns_batch_event_clear (&collector->events[i]);
  int fds[] = { collector->epoll_fd, collector->wake_fd, collector->changed_fd };
  for (int i = 0; i < 3; i++)
    if (fds[i] >= 0)
      close (fds[i]);
  lns_listener_close (&collector->listener);
  pthread_cond_destroy (&collector->answered);
  pthread_mutex_destroy (&collector->lock);
  free (collector->process_pids);
  free (collector->peers);
  free (collector->events);
  free (collector->flushes);
  free (collector->watches);
  free (collector);
}

LnsCollector *
lns_collector_new (const LnsCollectorOptions *options, LnsRecorder *recorder, LnsError *error)
{
  LnsCollector *collector = calloc (1, sizeof *collector);
  if (collector == NULL)
    {
      lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "memory is short: the session cannot start");
      return NULL;
    }
  collector->options = *options;
  collector->recorder = recorder;
  collector->is_recording = options->target.range_kind == LNS_WIRE_RANGE_NONE;
  collector->listener.fd = collector->epoll_fd = collector->wake_fd = collector->changed_fd = -1;
  pthread_mutex_init (&collector->lock, NULL);
  pthread_cond_init (&collector->answered, NULL);
  if (!open_descriptors (collector, error))
    {
      release (collector);
      return NULL;
    }
  int failed = pthread_create (&collector->thread, NULL, run, collector);
  if (failed != 0)
    {
      lns_error_set_errno (error, failed, "the session's thread cannot be started");
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
  _lns_wake (collector->wake_fd);
  pthread_join (collector->thread, NULL);
  release (collector);
}

/* --- From other threads ----------------------------------------------------------------------- */

const char *
lns_collector_path (const LnsCollector *collector)
{
  return collector->listener.path;
}

int
lns_collector_changed_fd (const LnsCollector *collector)
{
  return collector->changed_fd;
}

void
lns_collector_set_recording (LnsCollector *collector, bool recording)
{
  pthread_mutex_lock (&collector->lock);
  collector->is_recording = recording;
  for (size_t i = 0; i < collector->n_peers; i++)
    lns_wire_pool_set_recording (collector->peers[i]->pool, recording);
  pthread_mutex_unlock (&collector->lock);
  lns_collector_command (collector, recording ? LNS_WIRE_COMMAND_START : LNS_WIRE_COMMAND_STOP, 0);
}

unsigned
lns_collector_signal (LnsCollector *collector, int signal_number, int32_t spare)
{
  unsigned n = 0;
  pthread_mutex_lock (&collector->lock);
  for (size_t i = 0; i < collector->n_peers; i++)
    {
      const LnsPeer *peer = collector->peers[i];
      if (peer->pid == spare || peer->is_gone)
        continue;
      if (peer->pid_fd >= 0)
        n += syscall (SYS_pidfd_send_signal, peer->pid_fd, signal_number, NULL, 0) == 0;
      else if (peer->is_hushed && !lns_peer_has_ended (peer))
        n += kill (peer->pid, signal_number) == 0;
    }
  pthread_mutex_unlock (&collector->lock);
  return n;
}

LnsCollectorCounters
lns_collector_counters (LnsCollector *collector)
{
  pthread_mutex_lock (&collector->lock);
  LnsCollectorCounters counters = collector->counters;
  counters.n_processes = collector->n_processes;
  pthread_mutex_unlock (&collector->lock);
  return counters;
}
