/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The collector's rooms: shared by its files alone. */

#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "capture/session/collect/collector.h"
#include "capture/session/collect/listener.h"
#include "capture/session/collect/peer.h"

/* Serials of flushes at ranges' ends and those of commands to all never meet. */
#define LNS_FLUSH_SERIAL 0x80000000u

/* What an epoll event is about: the collector's own descriptors, a connection or a peer. */
typedef struct
{
  enum
  {
    LNS_WATCH_LISTENER,
    LNS_WATCH_WAKE,
    LNS_WATCH_CONNECTION,
    LNS_WATCH_PEER
  } kind;
  int fd;        /* -1: dropped */
  LnsPeer *peer; /* LNS_WATCH_PEER; of a connection: NULL until it has said hello */
  int32_t pid;   /* LNS_WATCH_CONNECTION, as the next */
  int64_t since_ns;
} LnsWatch;

/* The end of a capture range, of which not all records are known to be here. */
typedef struct
{
  uint32_t serial;
  uint32_t process; /* whose range it is */
  int64_t until_ns; /* CLOCK_MONOTONIC: then it is not waited for any more */
  bool is_asked;    /* the process listens */
} LnsFlush;

/* A pool that is ready for a process to come, which need not wait until one is made. */
typedef struct
{
  LnsWirePool *pool;
  uint32_t serial;
  bool recording; /* as the next, what the pool was made for */
  LnsWireOptions target;
} LnsSparePool;

/* So many: where a program forks one child after the other, the next is made while one runs. */
#define LNS_SPARES 4

struct LnsCollector
{
  LnsCollectorOptions options;
  LnsRecorder *recorder;
  pthread_t thread;
  LnsListener listener;
  int epoll_fd, wake_fd, changed_fd;
  int last_fd; /* descriptors beyond are for those who write the report */
  LnsWatch listener_watch, wake_watch;
  atomic_bool is_ending;
  bool has_news; /* a process has joined since the last drain */
  bool is_full;  /* processes must wait until descriptors are free, which will be soon */

  pthread_mutex_t lock;
  /* Under the lock: */
  LnsBatchEvent *events; /* for the next batch */
  size_t n_events;
  LnsPeer **peers; /* changed by the thread alone, so that it may read them without */
  size_t n_peers;
  int32_t *process_pids; /* by instance */
  uint32_t n_processes;
  int32_t root_pid; /* 0: none, or it has said hello */
  uint32_t root_process;
  bool is_recording;
  unsigned n_in_range; /* processes in a capture range */
  LnsCollectorCounters counters;
  LnsWireCommandKind command; /* the last one */
  uint32_t command_serial;    /* 0: none yet */
  bool is_command_sent;
  unsigned n_unanswered;   /* processes that were sent it */
  pthread_cond_t answered; /* it was sent, or one has answered or is gone */

  /* Of the thread alone. */
  uint32_t n_serials;
  LnsSparePool spares[LNS_SPARES];
  unsigned n_spares;
  bool wants_spares;       /* a fork's child came within the last second */
  int64_t spares_taken_ns; /* CLOCK_MONOTONIC of when it came */
  uint32_t flush_serial;
  LnsFlush *flushes; /* the oldest first */
  size_t n_flushes;
  uint64_t n_lost_before, n_begun_before; /* of processes that are gone */
  unsigned n_diagnostics;
  LnsWatch **watches; /* of connections and peers; dropped ones until their epoll events are done */
  size_t n_watches;
};

/* A new instance, of the process PID; the lock is held. */
uint32_t _lns_collector_new_process (LnsCollector *collector, int32_t pid);

/* Adds EVENT, which is taken over, to the next batch; the lock is held. */
void _lns_collector_add_event (LnsCollector *collector, LnsBatchEvent *event);

/* Makes the descriptor FD, an eventfd, readable. */
void _lns_wake (int fd);

/* --- collector-command.c ------------------------------------------------------------------ */

/* Sends the command that waits, if there is one. */
void _lns_collector_send_command (LnsCollector *collector);

/* PEER has done what it was sent, or is gone. */
void _lns_collector_answered (LnsCollector *collector, LnsPeer *peer);

/* Does what is to be done at each beginning and end of a capture range that PEER has told of. */
void _lns_collector_follow_ranges (LnsCollector *collector, LnsPeer *peer);

/* Tells of ends of ranges for which all have handed over what they had, or take too long. */
void _lns_collector_hurry (LnsCollector *collector, int64_t now_ns);

/* --- collector-spare.c -------------------------------------------------------------------- */

/* Gives a pool for the process PID, a fork's child where FORKED, with chunks for its first milliseconds; a
 * spare one where there is one that suits. Returns 0 or -errno. */
int _lns_collector_take_pool (LnsCollector *collector,
                              int32_t pid,
                              bool forked,
                              LnsSparePool *ret_pool);

/* Has what is asked of processes now take the place of what POOL was made for; the lock is held. */
void _lns_collector_tell_pool (const LnsCollector *collector, LnsSparePool *pool);

/* Whether another spare pool should be made while nothing else is to be done. */
bool _lns_collector_wants_spare (const LnsCollector *collector);
void _lns_collector_make_spare (LnsCollector *collector);

/* Gives spare pools back. Returns whether there were any. */
bool _lns_collector_drop_spares (LnsCollector *collector);

/* --- collector-hello.c -------------------------------------------------------------------- */

/* Works off one epoll event. Returns whether a drain is wanted now. */
bool _lns_collector_handle (LnsCollector *collector, LnsWatch *watch);

/* Answers processes again that had to wait. */
void _lns_collector_listen (LnsCollector *collector);

/* Marks those as gone that have ended and of which no descriptor would tell. */
void _lns_collector_look_at_hushed (LnsCollector *collector);

/* Whether the connection of PEER, which is gone, is held by processes that it has forked. */
bool _lns_collector_is_held (const LnsCollector *collector, const LnsPeer *peer);

/* Drops what is watched for PEER; for all peers, if it is NULL. */
void _lns_collector_drop_watches (LnsCollector *collector, const LnsPeer *peer);

/* Frees what was dropped: none of the epoll events that were fetched is left. */
void _lns_collector_free_dropped (LnsCollector *collector);
