/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the library knows of the process it is in: whether it takes part in a session, and the pool.
 *
 * The generation is the one word that every event looks at. It lives on a page that the kernel wipes
 * in the child of any fork (fork, _Fork, clone), so a child finds LNS_GENERATION_FRESH there, goes
 * through lns_process_join() and gets a pool of its own before it stores a byte anywhere. What else must begin
 * anew in a child lies on the same page. A child of vfork shares all memory with its waiting parent and is the
 * parent in our eyes.
 *
 * This is the lowest of the library's layers but for system calls (system.h). Each includes and calls only those
 * before it:
 *   process       the state that all look at
 *   connection    the socket to the session
 *   strings       the names that a stream remembers
 *   definitions   what is defined once, in memory until it is sent
 *   join          gets the process into a session
 *   stream        a thread's records; joins at the first one, and sends definitions as it goes
 *   intern        tells names in streams
 *   range         what begins and ends recording
 *   nvtx, cuda, and the library's entries
 * What a lower layer has to say to a higher one it says to watchers (lns_process_add_watcher ()). */

#pragma once

#include "capture/wire/pool.h"

#include <stdbool.h>
#include <stdint.h>

enum
{
  LNS_GENERATION_FRESH = 0,    /* not asked yet, or a fork's child */
  LNS_GENERATION_STARTING = 1, /* a thread is shaking hands */
  LNS_GENERATION_OFF = 2,      /* not in a session, for good */
  LNS_GENERATION_LATE = 3,     /* the session did not answer in time: CUDA may ask again */
  LNS_GENERATION_STRAY = 4,    /* a fork's child that cannot join: it counts in its parent's pool */
  LNS_GENERATION_FIRST = 16,   /* from here on: in a session */
};

/* Zero in each process at first. */
typedef struct
{
  _Alignas(4096) uint64_t generation;
  /* Apart from that word, as these change. Of join.c: */
  _Alignas(128) uint64_t noticed_at; /* lns_process.pool.header->published at the last notice */
  uint32_t n_starved;
  /* Of definitions.c: */
  uint32_t is_sending;
  void *sent; /* the newest node that is sent; with all that are older */
  /* Of stream.c: */
  uint32_t n_streams;
  uint32_t n_idle_chunks;
  uint64_t idle; /* serial of the first stream without a thread; above bit 32 a count of changes */
  uint64_t n_threads;
} LnsOwnPage;

typedef struct
{
  LnsWirePoolView pool; /* the parent's, until a fork's child has its own; and a stray's for good */
  LnsWireClock clock;
  uint32_t pid;
  int64_t asked_ms;  /* when the handshake under way, or the last one, began */
  uint64_t n_joined; /* how many times this image and those it was forked from have joined */
} LnsProcessState;

extern LnsOwnPage lns_own;
extern LnsProcessState lns_process;

static inline uint64_t
lns_process_generation (void)
{
  return __atomic_load_n (&lns_own.generation, __ATOMIC_ACQUIRE);
}

/* Whether the session, which was joined, looks at NVTX's events. */
static inline bool
lns_process_wants_nvtx (void)
{
  const LnsWireOptions *options = &lns_process.pool.header->options;
  return (options->traces & LNS_WIRE_TRACE_NVTX) ||
         __atomic_load_n (&options->range_kind, __ATOMIC_RELAXED) == LNS_WIRE_RANGE_NVTX;
}

/* What a part that lies above does when the process's state changes. Each function may be null. */
typedef struct LnsProcessWatcher
{
  int (*prepare) (void);       /* before each handshake: 0, or -errno where the part cannot work */
  void (*leave_parent) (void); /* in a fork's child, before the parent's pool is unmapped */
  void (*follow_recording) (void); /* the pool's RECORDING has changed; any thread */
  struct LnsProcessWatcher *next;
} LnsProcessWatcher;

/* Has WATCHER, which is static and not among them, called from now on. */
void lns_process_add_watcher (LnsProcessWatcher *watcher);

/* Calls the watchers for their parts to prepare: 0, or what the first one says that cannot. */
int lns_process_prepare (void);

/* Calls the watchers, as this is a fork's child that is about to leave its parent's pool. */
void lns_process_leave_parent (void);

/* Calls the watchers, as the pool's RECORDING has changed. */
void lns_process_recording_changed (void);
