/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The thread that answers processes and empties their pools: every 50 ms, and at once when a process
 * ends or runs out of chunks. It never waits for the recorder: while the recorder is far behind, records
 * stay in the pools, and a process that finds no room in its pool counts what it drops.
 *
 * Its parts, each of which knows only those before it: mailbox (events for the next batch), peer (one
 * process), watches (descriptors), pools, peers (all processes), commands, range-control, door (how processes
 * join). */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/session/collect/counters.h"
#include "capture/session/record/recorder.h"
#include "capture/wire/options.h"
#include "capture/wire/protocol.h"
#include "src/base/error.h"

typedef struct LnsCollector LnsCollector;

typedef struct
{
  LnsWireClock clock;
  uint64_t process_bytes; /* what one process's pool may hold */
  uint64_t session_bytes; /* what all may hold together */
  LnsWireOptions target;  /* what is asked of each process */
} LnsCollectorOptions;

/* Opens the socket and starts the thread; batches go to RECORDER. */
LnsCollector *
lns_collector_new (const LnsCollectorOptions *options, LnsRecorder *recorder, LnsError *error);

/* Ends the thread; processes that are connected run on. Accepts NULL. */
void lns_collector_free (LnsCollector *collector);

/* Has all processes, and those to come, look for the capture range of ASKED, in place of any before. */
void lns_collector_set_range (LnsCollector *collector, const LnsWireOptions *asked);

/* The value of LNS_WIRE_ENVIRONMENT for the program. */
const char *lns_collector_path (const LnsCollector *collector);

/* A descriptor that becomes readable when a process ends; read it empty (an eventfd). */
int lns_collector_changed_fd (const LnsCollector *collector);

/* Puts EVENT, which is taken over, into the next batch, whose drain begins at once. Any thread. */
void lns_collector_post (LnsCollector *collector, LnsBatchEvent *event);

/* Takes the process PID, which waits to become the session's program, into the session and returns its instance.
 * Called once, before any process joins, so that all that it starts is known as its child. Any thread. */
uint32_t lns_collector_add_root (LnsCollector *collector, int32_t pid);

/* Looks again at the process that was added, which runs its program now. Any thread. */
void lns_collector_root_runs (LnsCollector *collector);

/* Lets all processes record or not, those to come included. Any thread. */
void lns_collector_set_recording (LnsCollector *collector, bool recording);

/* Sends SIGNAL_NUMBER to each process that has joined, except SPARE. Returns how many got it. Any thread. */
unsigned lns_collector_signal (LnsCollector *collector, int signal_number, int32_t spare);

/* Sends KIND to all processes that listen, and waits up to BOUND_MS until each has done it or is gone.
 * Returns how many have not. Any one thread. */
unsigned lns_collector_command (LnsCollector *collector, LnsWireCommandKind kind, int bound_ms);

LnsCollectorCounters lns_collector_counters (LnsCollector *collector);
