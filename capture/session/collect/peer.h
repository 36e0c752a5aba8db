/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A process that takes part: its pool, and how far it was read. Used by one thread. */

#pragma once

#include "capture/session/record/batch.h"
#include "src/base/id-map.h"
#include "capture/session/system/process-info.h"
#include "capture/wire/pool-session.h"
#include "src/base/array.h"

/* How far a chunk's events are counted. */
typedef struct
{
  uint32_t generation;
  uint32_t n_bytes;    /* up to where its events are in n_begun */
  uint32_t n_given_up; /* up to where they are read or counted as lost */
} LnsCountedChunk;

typedef struct
{
  uint32_t process;       /* instance in the session */
  int32_t pid;            /* 0: in a pid namespace that we do not see into */
  int pid_fd;             /* -1: the kernel has none, or the peer is hushed */
  bool is_hushed;         /* no descriptor is kept for it: only its pool is read */
  uint32_t awaited;       /* serial of the command that it has not answered; 0: none */
  bool is_in_range;       /* a capture range is open in it */
  uint32_t n_range_edges; /* how often one has begun or ended, as far as that is done */
  uint32_t
      flush_asked; /* serial of the last end of a range that it was asked to flush for; 0: none */
  uint32_t flush_done; /* of the last that it has said to have flushed for */
  bool is_gone;        /* nobody can write records to the pool any more */
  bool is_left;        /* it is gone, and all of it is said; those that it forked may come */
  bool is_short;       /* memory was, when its chunks were last looked through */
  int64_t gone_ns;     /* CLOCK_MONOTONIC */
  LnsWirePool *pool;
  LnsIdMap next_sequence; /* by stream: 1 + the sequence number of the chunk to be read */
  LnsWireChunk *chunks;   /* room for a scan */
  size_t n_chunks_allocated;
  int64_t looked_ns;       /* CLOCK_MONOTONIC of when memory was last given back, or had to grow */
  int64_t frugal_until_ns; /* until then it is lent more only where half of what it has is used */
  uint64_t most_bytes;     /* that one drain has found since then */
  LnsWireLosses losses;    /* as of the last drain or look */
  uint64_t n_begun;        /* events that have begun by then, in the pool or out of it */
  LNS_ARRAY (LnsCountedChunk) counted; /* by chunk */
  LnsWireStrays told;                  /* of its strays */
  LnsProcessInfo info;                 /* owned: for those that it forks */
} LnsPeer;

/* A peer with POOL, which is taken over. NULL if memory is short. */
LnsPeer *lns_peer_new (int32_t pid, LnsWirePool *pool);
void lns_peer_free (LnsPeer *peer);

/* Whether the process is known to have ended. */
bool lns_peer_has_ended (const LnsPeer *peer);

/* Notes that nobody writes to the pool from now on. */
void lns_peer_mark_gone (LnsPeer *peer);

/* Gives up the descriptor of the peer's process, whose connection is about to be closed. From then on
 * lns_peer_has_ended () must be asked. */
void lns_peer_hush (LnsPeer *peer);

/* Copies what the peer has committed into BATCH; from one that is gone, everything. Returns false where
 * memory is short: what is not copied stays where it is. */
bool lns_peer_drain (LnsPeer *peer, LnsBatch *batch);

/* Counts the events that could not be copied as lost, each once: of a peer that is gone, or those that the report
 * which ends now lacks. */
void lns_peer_give_up (LnsPeer *peer);

/* Counts what the peer has committed, and has lost, without copying anything. */
void lns_peer_look (LnsPeer *peer);

/* Lends chunks so that the pool holds up to CAP_BYTES, of them MAX_FREE free, unless the peer is to be
 * frugal and has enough; and now and then gives back memory that was not needed for a while. NOW_NS is
 * CLOCK_MONOTONIC. */
void lns_peer_lend (LnsPeer *peer, uint64_t cap_bytes, uint32_t max_free, int64_t now_ns);

/* What the pool holds or may hold by the chunks that are lent. */
uint64_t lns_peer_held_bytes (const LnsPeer *peer);

uint64_t lns_peer_n_lost (const LnsPeer *peer);

/* Adds all that is left to say of a peer that is gone and drained to BATCH: what CUPTI had in its buffers, and the
 * process's end. */
void lns_peer_finish (LnsPeer *peer, LnsBatch *batch);

/* Adds what the peer, and the processes that it forked and that could not join, have lost until now to BATCH. */
void lns_peer_tell_losses (LnsPeer *peer, LnsBatch *batch);
