/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/collect/peers.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How many generations up a process's ancestor is looked for. */
#define ANCESTORS_MAX 16

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
  lns_array_clear (&peers->pids);
  pthread_mutex_destroy (&peers->lock);
}

/* --- Instances -------------------------------------------------------------------------------- */

/* A new instance, of the process PID; the lock is held. */
static uint32_t
new_instance (LnsPeers *peers, int32_t pid)
{
  int32_t *added = lns_array_try_add (&peers->pids);
  if (added == NULL)
    return LNS_ID_NONE;
  *added = pid;
  return (uint32_t)(peers->pids.n - 1);
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
      for (size_t process = peers->pids.n; process-- > 0 && found == LNS_ID_NONE;)
        if (peers->pids.items[process] == pid)
          found = (uint32_t)process;
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
  const uint32_t process = is_root ? peers->root_process : new_instance (peers, peer->pid);
  if (is_root)
    peers->root_pid = 0;
  event.process = process;
  lns_mailbox_add (peers->mailbox, &event);
  pthread_mutex_unlock (&peers->lock);
  return process;
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
  counters.n_processes = peers->pids.n;
  pthread_mutex_unlock (&peers->lock);
  return counters;
}
