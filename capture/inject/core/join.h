/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Joins the process to a session; after a fork, the child joins for itself. */

#pragma once

#include "capture/inject/core/process.h"
#include "capture/wire/protocol.h"

#include <stdbool.h>

/* Joins the session named in the environment, within the time of a handshake, which is longer if IS_PATIENT. While the session
 * is stopped, that is no longer than some milliseconds, unless IS_PATIENT. If there is no answer by then, later calls look for it
 * every 5 ms, without waiting; those that are patient wait. Other threads that call this meanwhile wait, no longer than the first
 * one. Returns the generation, LNS_GENERATION_FIRST or more on success. Blocks the thread's signals meanwhile. */
uint64_t lns_process_join (bool is_patient);

/* The generation, after the session was joined if that was not tried yet. */
static inline uint64_t
lns_process_joined (void)
{
  uint64_t generation = lns_process_generation ();
  if (generation == LNS_GENERATION_FRESH || generation == LNS_GENERATION_STARTING ||
      generation == LNS_GENERATION_AWAITED)
    generation = lns_process_join (false);
  return generation;
}

/* Counts an event of NVTX as lost that was made while the generation was LNS_GENERATION_AWAITED: in the pool once there is one,
 * or when the process ends. */
void lns_process_lose_unanswered (void);

/* Tells the session that free chunks are running out, once after each time that it has lent some. */
void lns_process_notice_low (void);

/* Callbacks of a higher layer for changes of the process's state. */
typedef struct
{
  void (*leave_parent) (void); /* in the child of a fork, before the parent's pool is unmapped */
  void (*follow_recording) (void); /* the pool's RECORDING has changed; any thread */
} LnsProcessWatcher;

/* Sets WATCHER, which is static. There is one: the CUDA engine. */
void lns_process_watch (const LnsProcessWatcher *watcher);

/* Calls `follow_recording` of the watcher. */
void lns_process_recording_changed (void);
