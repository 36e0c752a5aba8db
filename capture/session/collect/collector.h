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

#include "capture/session/collect/peers.h"
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
  int changed_fd;         /* an eventfd, made readable when a process ends */
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

/* The session's processes. */
LnsPeers *lns_collector_peers (LnsCollector *collector);

/* Lets all processes record or not, those to come included. Any thread. */
void lns_collector_set_recording (LnsCollector *collector, bool recording);

/* Sends KIND to all processes that listen, and waits up to BOUND_MS until each has done it or is gone.
 * Returns how many have not. Any one thread. */
unsigned lns_collector_command (LnsCollector *collector, LnsWireCommandKind kind, int bound_ms);
