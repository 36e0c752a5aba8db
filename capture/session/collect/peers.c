/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/collect/peers.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/monotonic.h"

/* How many generations up a process's ancestor is looked for. */
#define ANCESTORS_MAX 16

/* How much the start of a process in /proc, which has ticks of 10 ms, may differ from the true one. */
#define START_NS INT64_C (100000000)

void
lns_peers_init (LnsPeers *peers, LnsMailbox *mailbox, const LnsWireOptions *target)
{
  *peers = (LnsPeers){
    .mailbox = mailbox,
    .asked = { .recording = target->range_kind == LNS_WIRE_RANGE_NONE, .target = *target },
  };
  pthread_mutex_init (&peers->lock, NULL);
}

void
lns_peers_clear (LnsPeers *peers)
{
  for (size_t i = 0; i < peers->all.n; i++)
    lns_peer_free (peers->all.items[i]);
  lns_array_clear (&peers->all);
  lns_array_clear (&peers->instances);
  lns_id_map_clear (&peers->latest);
  pthread_mutex_destroy (&peers->lock);
}

/* --- Instances -------------------------------------------------------------------------------- */

/* The latest instance of PID, or LNS_ID_NONE; the lock is held. */
static uint32_t
latest (const LnsPeers *peers, int32_t pid)
{
  return (uint32_t)(lns_id_map_number (&peers->latest, (uint32_t)pid) - 1);
}

/* A new instance, of the process PID; the lock is held. */
static uint32_t
new_instance (LnsPeers *peers, int32_t pid)
{
  LnsInstance *added = lns_array_try_add (&peers->instances);
  if (added == NULL)
    return LNS_ID_NONE;
  added->pid = pid;
  added->before = latest (peers, pid);
  lns_id_map_set (&peers->latest, (uint32_t)pid, (void *)(uintptr_t)peers->instances.n);
  return (uint32_t)(peers->instances.n - 1);
}

uint32_t
lns_peers_add_root (LnsPeers *peers, int32_t pid)
{
  LnsBatchEvent event = { .kind = LNS_BATCH_PROCESS };
  /* Its name, command line and program are still those of this process. */
  lns_process_info_begin (pid, &event.info);
  lns_process_info_clear (&event.info);
  pthread_mutex_lock (&peers->lock);
  const uint32_t process = new_instance (peers, pid);
  peers->root_pid = pid;
  peers->root_process = event.process = process;
  lns_mailbox_add (peers->mailbox, &event);
  pthread_mutex_unlock (&peers->lock);
  return process;
}

void
lns_peers_root_runs (LnsPeers *peers)
{
  pthread_mutex_lock (&peers->lock);
  const int32_t pid = peers->root_pid;
  pthread_mutex_unlock (&peers->lock);
  if (pid == 0)
    return;
  LnsBatchEvent event = { .kind = LNS_BATCH_PROCESS };
  lns_process_info_read (pid, &event.info);
  pthread_mutex_lock (&peers->lock);
  /* If it has said hello meanwhile, that is known already. */
  const bool is_news = peers->root_pid == pid;
  event.process = peers->root_process;
  if (is_news)
    lns_mailbox_add (peers->mailbox, &event);
  pthread_mutex_unlock (&peers->lock);
  if (!is_news)
    lns_batch_event_clear (&event);
}

uint32_t
lns_peers_find_ancestor (LnsPeers *peers, const LnsProcessInfo *info)
{
  uint32_t found = LNS_ID_NONE;
  int32_t pid = info->parent_pid;
  for (int i = 0; i < ANCESTORS_MAX && pid > 1 && found == LNS_ID_NONE; i++)
    {
      pthread_mutex_lock (&peers->lock);
      found = latest (peers, pid);
      pthread_mutex_unlock (&peers->lock);
      if (found == LNS_ID_NONE)
        pid = lns_process_parent (pid);
    }
  return found;
}

uint32_t
lns_peers_define (LnsPeers *peers, const LnsPeer *peer, const LnsProcessInfo *info)
{
  LnsBatchEvent event = { .kind = LNS_BATCH_PROCESS, .info = *info };
  pthread_mutex_lock (&peers->lock);
  const bool is_root = peer->pid != 0 && peer->pid == peers->root_pid;
  uint32_t process = is_root ? peers->root_process : latest (peers, peer->pid);
  /* A process that has joined before runs another program now. */
  if (process == LNS_ID_NONE || peer->pid == 0 || peers->instances.items[process].is_over ||
      peers->instances.items[process].joined_ns != 0)
    process = new_instance (peers, peer->pid);
  /* The process has been answered by now, and may run yet another program. */
  if (process != LNS_ID_NONE)
    peers->instances.items[process].joined_ns = peer->looked_ns;
  if (is_root)
    peers->root_pid = 0;
  event.process = process;
  lns_mailbox_add (peers->mailbox, &event);
  pthread_mutex_unlock (&peers->lock);
  return process;
}

uint32_t
lns_peers_see (LnsPeers *peers, int32_t pid, int64_t time_ns, LnsProcessInfo *info)
{
  LnsBatchEvent event = { .kind = LNS_BATCH_PROCESS, .info = *info };
  pthread_mutex_lock (&peers->lock);
  uint32_t process = latest (peers, pid);
  /* If several programs have joined under this pid since then, the first one is meant. */
  while (process != LNS_ID_NONE && peers->instances.items[process].before != LNS_ID_NONE &&
         peers->instances.items[peers->instances.items[process].before].joined_ns >= time_ns)
    process = peers->instances.items[process].before;
  const LnsInstance *known = process != LNS_ID_NONE ? &peers->instances.items[process] : NULL;
  const bool has_joined_since = known != NULL && known->joined_ns >= time_ns;
  if (known == NULL || known->is_over || (known->joined_ns != 0 && !has_joined_since))
    process = new_instance (peers, pid);
  const bool is_news = process != LNS_ID_NONE && !has_joined_since;
  event.process = process;
  if (is_news)
    lns_mailbox_add (peers->mailbox, &event); /* takes the event over */
  pthread_mutex_unlock (&peers->lock);
  if (!is_news)
    lns_batch_event_clear (&event);
  return process;
}

uint32_t
lns_peers_find (LnsPeers *peers, int32_t pid, int64_t start_ns)
{
  pthread_mutex_lock (&peers->lock);
  const uint32_t process = latest (peers, pid);
  const LnsInstance *known = process != LNS_ID_NONE ? &peers->instances.items[process] : NULL;
  /* One that joined before this one began had the pid before. */
  const bool is_it = known != NULL && !known->is_over &&
                     (known->joined_ns == 0 || known->joined_ns > start_ns - START_NS);
  pthread_mutex_unlock (&peers->lock);
  return is_it ? process : LNS_ID_NONE;
}

void
lns_peers_see_end (LnsPeers *peers, uint32_t process, int64_t time_ns)
{
  LnsBatchEvent event = { .kind = LNS_BATCH_PROCESS_GONE, .process = process, .time_ns = time_ns };
  pthread_mutex_lock (&peers->lock);
  LnsInstance *instance = &peers->instances.items[process];
  const bool is_news = !instance->is_over;
  instance->is_over = true;
  if (is_news && instance->joined_ns == 0)
    lns_mailbox_add (peers->mailbox, &event);
  pthread_mutex_unlock (&peers->lock);
}

/* --- Peers ------------------------------------------------------------------------------------ */

bool
lns_peers_add (LnsPeers *peers, LnsPeer *peer, LnsNewPool *made)
{
  pthread_mutex_lock (&peers->lock);
  LnsPeer **added = lns_array_try_add (&peers->all);
  if (added != NULL)
    {
      *added = peer;
      /* The options may have changed since its pool was made, when the peer was not in the list yet. */
      lns_new_pool_tell (made, &peers->asked);
    }
  pthread_mutex_unlock (&peers->lock);
  return added != NULL;
}

LnsPeer *
lns_peers_remove (LnsPeers *peers, size_t at)
{
  LnsPeer *peer = peers->all.items[at];
  pthread_mutex_lock (&peers->lock);
  peers->all.items[at] = peers->all.items[--peers->all.n];
  pthread_mutex_unlock (&peers->lock);
  return peer;
}

const LnsPeer *
lns_peers_find_parent (const LnsPeers *peers, const LnsProcessInfo *info)
{
  for (size_t i = peers->all.n; i-- > 0;)
    if (peers->all.items[i]->pid == info->parent_pid && info->parent_pid > 0 &&
        !peers->all.items[i]->is_gone)
      return peers->all.items[i];
  return NULL;
}

void
lns_peers_end_former (LnsPeers *peers, int32_t pid)
{
  for (size_t i = 0; i < peers->all.n && pid != 0; i++)
    if (peers->all.items[i]->pid == pid)
      lns_peer_mark_gone (peers->all.items[i]);
}

void
lns_peers_check_hushed (LnsPeers *peers)
{
  for (size_t i = 0; i < peers->all.n; i++)
    if (peers->all.items[i]->is_hushed && !peers->all.items[i]->is_gone &&
        lns_peer_has_ended (peers->all.items[i]))
      lns_peer_mark_gone (peers->all.items[i]);
}

/* --- All at once ------------------------------------------------------------------------------ */

LnsAsked
lns_peers_asked (LnsPeers *peers)
{
  pthread_mutex_lock (&peers->lock);
  const LnsAsked asked = peers->asked;
  pthread_mutex_unlock (&peers->lock);
  return asked;
}

void
lns_peers_set_recording (LnsPeers *peers, bool recording)
{
  pthread_mutex_lock (&peers->lock);
  peers->asked.recording = recording;
  for (size_t i = 0; i < peers->all.n; i++)
    lns_wire_pool_set_recording (peers->all.items[i]->pool, recording);
  pthread_mutex_unlock (&peers->lock);
}

unsigned
lns_peers_signal (LnsPeers *peers, int signal_number, int32_t spare)
{
  unsigned n = 0;
  pthread_mutex_lock (&peers->lock);
  for (size_t i = 0; i < peers->all.n; i++)
    {
      const LnsPeer *peer = peers->all.items[i];
      if (peer->pid == spare || peer->is_gone)
        continue;
      if (peer->pid_fd >= 0)
        n += syscall (SYS_pidfd_send_signal, peer->pid_fd, signal_number, NULL, 0) == 0;
      else if (peer->is_hushed && !lns_peer_has_ended (peer))
        n += kill (peer->pid, signal_number) == 0;
    }
  pthread_mutex_unlock (&peers->lock);
  return n;
}

size_t
lns_peers_alive (LnsPeers *peers, int32_t *ret_pids, size_t n_max)
{
  size_t n = 0;
  pthread_mutex_lock (&peers->lock);
  for (size_t i = 0; i < peers->all.n && n < n_max; i++)
    if (!peers->all.items[i]->is_gone && peers->all.items[i]->pid > 0)
      ret_pids[n++] = peers->all.items[i]->pid;
  pthread_mutex_unlock (&peers->lock);
  return n;
}

void
lns_peers_count_joined (LnsPeers *peers, int change)
{
  pthread_mutex_lock (&peers->lock);
  peers->counters.n_joined += (uint64_t)(int64_t)change;
  peers->counters.n_alive += (uint64_t)(int64_t)change;
  pthread_mutex_unlock (&peers->lock);
}

LnsCollectorCounters
lns_peers_counters (LnsPeers *peers)
{
  pthread_mutex_lock (&peers->lock);
  LnsCollectorCounters counters = peers->counters;
  counters.n_processes = peers->instances.n;
  pthread_mutex_unlock (&peers->lock);
  return counters;
}
