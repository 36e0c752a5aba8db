/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The processes of a session: an instance number for each that there ever was, a peer for each whose pool is
 * still read, and what all of them are asked. Any thread, unless a function says otherwise; "the thread" is the
 * collector's. */

#pragma once

#include <pthread.h>

#include "capture/session/collect/mailbox.h"
#include "capture/session/collect/peer.h"
#include "capture/session/collect/pools.h"

/* What the collector has counted since the session began. */
typedef struct
{
  uint64_t n_processes;           /* in the report: those that joined, and the session's root */
  uint64_t n_joined;              /* processes whose hello was answered in time */
  uint64_t n_alive;               /* of n_joined: those that have not ended */
  uint64_t n_late;                /* processes whose hello was answered too late */
  uint64_t n_refused;             /* processes that were refused a pool, or had no pthread key */
  uint64_t n_without_descriptors; /* of n_refused: for want of descriptors; no diagnostic each */
  uint64_t n_untold;              /* processes without a diagnostic, as enough others have one */
  uint64_t n_lost;     /* events lost so far, as the pools count them: see lns_loss_events () */
  int64_t last_end_ns; /* CLOCK_MONOTONIC when the last process ended; 0: none has ended */
} LnsCollectorCounters;

/* A process that there ever was. */
typedef struct
{
  int32_t pid;
  bool is_over;      /* its end was seen */
  uint32_t before;   /* the instance that had its pid before, or LNS_ID_NONE */
  int64_t joined_ns; /* CLOCK_MONOTONIC of its hello; 0: it has not joined */
} LnsInstance;

typedef struct
{
  LnsMailbox *mailbox;
  pthread_mutex_t lock; /* may be held when the mailbox's is taken, not the other way round */
  /* Under the lock: */
  LNS_ARRAY (LnsPeer *) all; /* changed by the thread alone, which may read it without the lock */
  LNS_ARRAY (LnsInstance) instances;
  LnsIdMap latest;  /* 1 + the latest instance of each pid */
  int32_t root_pid; /* 0: there is none, or it has said hello */
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

/* The instance of PID, which the kernel said at TIME_NS (CLOCK_MONOTONIC) was forked, or runs a new program. A process
 * that has joined since then is known; others get an instance here, under which they may join later. INFO, which is taken
 * over, is posted to the recorder unless the process told more about itself. LNS_ID_NONE if memory is short. */
uint32_t lns_peers_see (LnsPeers *peers, int32_t pid, int64_t time_ns, LnsProcessInfo *info);

/* The instance of the process PID that began at START_NS (CLOCK_MONOTONIC), give or take 0.1 s, or LNS_ID_NONE. */
uint32_t lns_peers_find (LnsPeers *peers, int32_t pid, int64_t start_ns);

/* Notes that PROCESS, which may be noted already, ended at TIME_NS. Tells the recorder unless it joined, as others do then. */
void lns_peers_see_end (LnsPeers *peers, uint32_t process, int64_t time_ns);

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

/* Copies the pids of recorded processes that have not ended to RET_PIDS, N_MAX at most, and returns how many. */
size_t lns_peers_alive (LnsPeers *peers, int32_t *ret_pids, size_t n_max);

/* Counts CHANGE (1 or -1) processes that joined and live. */
void lns_peers_count_joined (LnsPeers *peers, int change);

LnsCollectorCounters lns_peers_counters (LnsPeers *peers);
