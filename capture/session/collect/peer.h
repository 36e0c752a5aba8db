/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A process of the session: its pool and how far the pool was read. Used by one thread. */

#pragma once

#include "capture/session/collect/mailbox.h"
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
  int32_t pid;            /* 0: in a pid namespace that is hidden from us */
  int pid_fd;             /* -1: the kernel has none, or the peer is hushed */
  bool is_out;            /* it does not record: counted as refused or late, no longer as joined */
  int unused_error;       /* errno: why it cannot use its pool, as it said; 0: it did not */
  bool is_hushed;         /* no descriptor is kept for it: only its pool is read */
  uint32_t awaited;       /* serial of the command that it has not answered; 0: none */
  bool is_in_range;       /* a capture range is open in it */
  uint32_t n_range_edges; /* how many beginnings and ends were followed */
  uint32_t
      flush_asked; /* serial of the last flush that it was asked for at a range's end; 0: none */
  uint32_t flush_done; /* serial of the last flush that it has reported done */
  int64_t copied_ns;   /* the tick (LnsRangeControl) of the last lns_peer_post_withheld () */
  bool is_gone;        /* nobody can write records to the pool any more */
  bool
      is_left; /* it is gone and lns_peer_finish () was called; processes that it forked may join */
  bool is_short;   /* memory was short at the last scan of its chunks */
  int64_t gone_ns; /* CLOCK_MONOTONIC */
  LnsWirePool *pool;
  LnsIdMap next_sequence; /* by stream: 1 + the sequence number of the chunk to be read */
  LnsWireChunk *chunks;   /* room for a scan */
  size_t n_chunks_allocated;
  int64_t looked_ns;       /* CLOCK_MONOTONIC when memory was last given back or ran short */
  int64_t frugal_until_ns; /* until then it is lent more only when half of what it has is used */
  uint64_t withheld_ticks; /* as the recorder was told last; see lns_wire_pool_oldest_claim () */
  uint64_t most_bytes;     /* the most that one drain has found since looked_ns */
  LnsWireLosses losses;    /* as of the last drain or look */
  uint64_t n_begun;        /* events that have begun by then, drained or not */
  LNS_ARRAY (LnsCountedChunk) counted; /* by chunk */
  LnsWireStrays told;  /* what was told of the processes that it forked and that could not join */
  LnsProcessInfo info; /* owned; for the processes that it forks */
} LnsPeer;

/* Makes a peer with POOL, which is taken over. Returns NULL if memory is short. */
LnsPeer *lns_peer_new (int32_t pid, LnsWirePool *pool);
void lns_peer_free (LnsPeer *peer);

/* Whether the process is known to have ended. */
bool lns_peer_has_ended (const LnsPeer *peer);

/* Notes that nobody writes to the pool from now on. */
void lns_peer_mark_gone (LnsPeer *peer);

/* Gives up the descriptor of the peer's process, whose connection is about to be closed. From then on
 * lns_peer_has_ended () must be asked. */
void lns_peer_hush (LnsPeer *peer);

/* Copies what the peer has committed into BATCH; if it is gone, everything. Returns false if memory is short: what
 * is not copied stays in the pool. */
bool lns_peer_drain (LnsPeer *peer, LnsBatch *batch);

/* Posts a copy of each buffer that CUPTI has, with records that may be complete or not, to MAILBOX. */
void lns_peer_post_withheld (LnsPeer *peer, LnsMailbox *mailbox);

/* Counts the events that could not be copied as lost, each once: those of a peer that is gone, or those that are
 * missing in a report that ends now. */
void lns_peer_give_up (LnsPeer *peer);

/* Counts what the peer has committed and lost, without copying anything. */
void lns_peer_look (LnsPeer *peer);

/* Lends chunks until the pool holds CAP_BYTES or has MAX_FREE free chunks, unless the peer is frugal and has
 * enough. Every two seconds, gives back memory that was not needed. NOW_NS is CLOCK_MONOTONIC. */
void lns_peer_lend (LnsPeer *peer, uint64_t cap_bytes, uint32_t max_free, int64_t now_ns);

/* The memory that the pool's chunks hold. */
uint64_t lns_peer_held_bytes (const LnsPeer *peer);

/* Adds all that is left to say of a peer that is gone and drained to BATCH: what CUPTI had in its buffers, and the
 * process's end. */
void lns_peer_finish (LnsPeer *peer, LnsBatch *batch);

/* Adds what the peer, and the processes that it forked and that could not join, have lost until now to BATCH. */
void lns_peer_tell_losses (LnsPeer *peer, LnsBatch *batch);
