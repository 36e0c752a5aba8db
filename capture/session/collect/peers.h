/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The processes of a session: an instance number for each that there ever was, a peer for each whose pool is
 * still read, and what all of them are asked. Any thread, unless a function says otherwise; "the thread" is the
 * collector's. */

#pragma once

#include <pthread.h>

#include "capture/session/collect/counters.h"
#include "capture/session/collect/mailbox.h"
#include "capture/session/collect/peer.h"
#include "capture/session/collect/pools.h"

typedef struct
{
  LnsMailbox *mailbox;
  pthread_mutex_t lock; /* may be held when the mailbox's is taken, not the other way round */
  /* Under the lock: */
  LNS_ARRAY (LnsPeer *) all; /* changed by the thread alone, which may read it without the lock */
  LNS_ARRAY (int32_t) pids;  /* by instance */
  int32_t root_pid;          /* 0: there is none, or it has said hello */
  uint32_t root_process;
  LnsAsked asked;
  LnsCollectorCounters counters;
} LnsPeers;

/* Begins with no process. TARGET is what all are asked. */
void lns_peers_init (LnsPeers *peers, LnsMailbox *mailbox, const LnsWireOptions *target);
void lns_peers_clear (LnsPeers *peers);

/* Takes the process PID, which waits to become the session's program, into the session and returns its instance.
 * Called once, before any process joins, so that all that it starts is known as its child. */
uint32_t lns_peers_add_root (LnsPeers *peers, int32_t pid);

/* Looks again at the process that was added, which runs its program now. */
void lns_peers_root_runs (LnsPeers *peers);

/* The instance of the nearest ancestor of INFO's process that belongs to the session, or LNS_ID_NONE. Shells and
 * other programs between them may never have joined. */
uint32_t lns_peers_find_ancestor (LnsPeers *peers, const LnsProcessInfo *info);

/* Gives the process of PEER an instance and posts INFO, which is taken over, to the recorder. */
uint32_t lns_peers_define (LnsPeers *peers, const LnsPeer *peer, const LnsProcessInfo *info);

/* Adds PEER, whose pool is that of MADE, and tells it what it is asked by now. Returns false if memory is short.
 * The thread. */
bool lns_peers_add (LnsPeers *peers, LnsPeer *peer, LnsNewPool *made);

/* Takes peer AT out of the list, which may change the order of the ones behind it. The thread. */
LnsPeer *lns_peers_remove (LnsPeers *peers, size_t at);

/* The peer that forked the process of INFO, or NULL. The thread. */
const LnsPeer *lns_peers_find_parent (const LnsPeers *peers, const LnsProcessInfo *info);

/* Marks the peers of PID as gone: the process says hello again, as it became another program by exec, and nobody
 * writes to the old program's pool any more. The thread. */
void lns_peers_end_former (LnsPeers *peers, int32_t pid);

/* Marks the hushed peers that have ended as gone: no descriptor tells of their end. The thread. */
void lns_peers_check_hushed (LnsPeers *peers);

LnsAsked lns_peers_asked (LnsPeers *peers);

/* Lets all processes record or not, those to come included. */
void lns_peers_set_recording (LnsPeers *peers, bool recording);

/* Sends SIGNAL_NUMBER to each process that has joined, except SPARE. Returns how many got it. */
unsigned lns_peers_signal (LnsPeers *peers, int signal_number, int32_t spare);

/* Counts CHANGE (1 or -1) processes that joined and live. */
void lns_peers_count_joined (LnsPeers *peers, int change);

LnsCollectorCounters lns_peers_counters (LnsPeers *peers);
