/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The state of the process that the library is in: whether it takes part in a session, and the pool.
 *
 * The generation is the one word that every event reads. It lies on a page that the kernel wipes in the child of any
 * fork (fork, _Fork, clone). So a child finds LNS_GENERATION_FRESH there, goes through lns_process_join() and gets a
 * pool of its own before it stores a byte anywhere. The other state that must begin anew in a child lies on the same
 * page. A child of vfork shares all memory with its waiting parent, and counts as the parent.
 *
 * This is the lowest of the library's layers, above system calls (system.h). Each layer includes and calls only those
 * before it:
 *   process       the state that all layers read
 *   first-call    threads that are in NVTX's first call
 *   record        puts records together
 *   connection    the socket to the session
 *   strings       the names that a stream remembers
 *   own-work      what threads do for Lanescope alone
 *   maps          what the process has mapped
 *   walk          the callers of a function
 *   definitions   definitions, kept in memory and sent once
 *   join          joins the process to a session
 *   stream        a thread's records and names; joins at the first one, and sends definitions as it goes
 *   range         what begins and ends recording
 *   nvtx, cuda, and the library's entries
 * A lower layer notifies the CUDA engine through callbacks (lns_process_watch ()). */

#pragma once

#include "capture/wire/pool.h"

#include <stdbool.h>
#include <stdint.h>

enum
{
  LNS_GENERATION_FRESH = 0,    /* not asked yet, or the child of a fork */
  LNS_GENERATION_STARTING = 1, /* a thread is in the handshake */
  LNS_GENERATION_OFF = 2,      /* not in a session, for good */
  LNS_GENERATION_AWAITED =
      3, /* the session has not answered yet: NVTX events are lost and counted */
  LNS_GENERATION_STRAY =
      4, /* the child of a fork that cannot join: it counts losses in its parent's pool */
  LNS_GENERATION_FIRST = 16, /* from here on: in a session */
};

/* Zero in each process at first. */
typedef struct
{
  _Alignas(4096) uint64_t generation;
  /* Apart from that word, as these change. Of join.c: */
  _Alignas(128) uint64_t noticed_at; /* lns_process.pool.header->published at the last notice */
  uint32_t n_starved;
  uint64_t
      n_unanswered; /* events made while the session's answer was awaited, not yet in its pool's counters */
  int64_t looked_ms; /* when it was last looked for */
  /* Of definitions.c: */
  uint32_t is_sending;
  void *sent; /* the newest node that is sent; with all that are older */
  /* Of stream.c: */
  uint32_t n_streams;
  uint32_t n_idle_chunks;
  uint64_t idle; /* serial of the first stream without a thread; above bit 32 a count of changes */
  uint64_t n_threads;
  /* Of range.c: */
  uint64_t range_state;
  uint64_t range_started; /* the start/end range whose end ends recording; 0: none */
  struct
  {
    uint32_t stream, domain,
        depth; /* whose pop ends the open range; the stream is 0 if none does */
  } range_pushed;
} LnsOwnPage;

typedef struct
{
  LnsWirePoolView
      pool; /* in the child of a fork, the parent's until it has its own; a stray keeps the parent's */
  LnsWireClock clock;
  uint32_t pid;
  bool has_key;      /* set by stream.c when the library is loaded: it is told when a thread ends */
  int64_t asked_ms;  /* when the present or last handshake began */
  uint64_t n_joined; /* how many times this process and those it was forked from have joined */
} LnsProcessState;

extern LnsOwnPage lns_own;
extern LnsProcessState lns_process;

static inline uint64_t
lns_process_generation (void)
{
  return __atomic_load_n (&lns_own.generation, __ATOMIC_ACQUIRE);
}

/* Whether the session that was joined asks for NVTX events. */
static inline bool
lns_process_wants_nvtx (void)
{
  const LnsWireOptions *options = &lns_process.pool.header->options;
  return (options->traces & LNS_WIRE_TRACE_NVTX) ||
         __atomic_load_n (&options->range_kind, __ATOMIC_RELAXED) == LNS_WIRE_RANGE_NVTX;
}
