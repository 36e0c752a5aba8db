/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the library knows of the process it is in: whether it takes part in a session, and the pool.
 *
 * The generation is the one word that every event looks at. It lives on a page that the kernel wipes
 * in the child of any fork (fork, _Fork, clone), so a child finds LNS_GENERATION_FRESH there, goes
 * through lns_process_join() and gets a pool of its own before it stores a byte anywhere. A child of
 * vfork shares all memory with its waiting parent and is the parent in our eyes. */

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

typedef struct
{
  _Alignas(4096) uint64_t generation;
} LnsGenerationPage;

typedef struct
{
  LnsWirePoolView pool; /* the parent's, until a fork's child has its own; and a stray's for good */
  LnsWireClock clock;
  uint32_t pid;
  int64_t asked_ms;  /* when the handshake under way, or the last one, began */
  uint64_t n_joined; /* how many times this image and those it was forked from have joined */
} LnsProcess;

extern LnsGenerationPage lns_generation_page;
extern LnsProcess lns_process;

static inline uint64_t
lns_process_generation (void)
{
  return __atomic_load_n (&lns_generation_page.generation, __ATOMIC_ACQUIRE);
}

/* Whether the session, which was joined, looks at NVTX's events. */
static inline bool
lns_process_wants_nvtx (void)
{
  const LnsWireOptions *options = &lns_process.pool.header->options;
  return (options->traces & LNS_WIRE_TRACE_NVTX) ||
         __atomic_load_n (&options->range_kind, __ATOMIC_RELAXED) == LNS_WIRE_RANGE_NVTX;
}

/* What an engine that lies above this room (CUDA's) does when the process's state changes. */
typedef struct
{
  void (*leave_parent) (void);     /* in a fork's child, before the parent's pool is unmapped */
  void (*follow_recording) (void); /* the pool's RECORDING has changed; any thread */
} LnsProcessWatcher;

/* Has WATCHER, which is static, called from now on. At most one engine watches. */
void lns_process_set_watcher (const LnsProcessWatcher *watcher);

/* Calls the watcher, if there is one, as the pool's RECORDING has changed. */
void lns_process_recording_changed (void);

/* Whether there is a session to join, as far as can be known without asking it. */
bool lns_process_has_session (void);

/* Joins the session named in the environment, once, within LNS_WIRE_HANDSHAKE_MS; other threads that come
 * meanwhile wait, no longer than that. Returns the generation: LNS_GENERATION_FIRST or more on
 * success. Signals of the thread are blocked meanwhile. */
uint64_t lns_process_join (void);

/* The same within LNS_WIRE_PATIENT_MS, and once more where the session was late. */
uint64_t lns_process_join_patiently (void);

/* Tells the session that free chunks are running out, once each time that it has lent some. */
void lns_process_notice_low (void);
