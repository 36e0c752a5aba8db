/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The descriptors that the collector's thread waits for. Used by that thread alone. */

#pragma once

#include "capture/session/collect/peer.h"
#include "capture/wire/protocol.h"
#include "src/base/array.h"

typedef enum
{
  LNS_WATCH_LISTENER,
  LNS_WATCH_MAILBOX,
  LNS_WATCH_CONNECTION, /* owns its descriptor */
  LNS_WATCH_PEER        /* a peer's pidfd */
} LnsWatchKind;

/* What an epoll event is about. */
typedef struct
{
  LnsWatchKind kind;
  int fd;        /* -1: dropped */
  LnsPeer *peer; /* LNS_WATCH_PEER; of a connection: NULL until the process has said hello */
  int32_t pid;   /* LNS_WATCH_CONNECTION, as the next */
  int64_t since_ns;
} LnsWatch;

typedef struct
{
  int epoll_fd;               /* its events point to the watches */
  LNS_ARRAY (LnsWatch *) all; /* owned each */
} LnsWatches;

/* Returns false and sets errno if there is no descriptor left. Close WATCHES in either case. */
bool lns_watches_open (LnsWatches *watches);
void lns_watches_close (LnsWatches *watches);

/* Adds ITEM and returns it, or NULL if memory or descriptors are short. */
LnsWatch *lns_watches_add (LnsWatches *watches, LnsWatch item);

/* Stops watching. A dropped watch stays in memory until lns_watches_free_dropped (), as epoll events that were
 * fetched but not handled may point to it. */
void lns_watches_drop (LnsWatches *watches, LnsWatch *watch);
void lns_watches_drop_peer (LnsWatches *watches, const LnsPeer *peer);
void lns_watches_free_dropped (LnsWatches *watches);

/* The connection of PEER, or NULL. O(watches) */
LnsWatch *lns_watches_connection (const LnsWatches *watches, const LnsPeer *peer);

/* Whether a process holds the other end of PEER's connection. Of a peer that is gone: one that it forked. */
bool lns_watches_is_held (const LnsWatches *watches, const LnsPeer *peer);

/* Sends COMMAND to the process of WATCH. Returns false if WATCH is not the connection of a process that
 * listens. */
bool lns_watch_send (const LnsWatch *watch, const LnsWireCommand *command);
