/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How processes join the session: accepts their connections, answers their hellos with a pool, and refuses those
 * that cannot be recorded. Where descriptors run short, processes that need none any more give up theirs. Used by
 * the collector's thread. */

#pragma once

#include "capture/session/collect/listener.h"
#include "capture/session/collect/peers.h"
#include "capture/session/collect/pools.h"
#include "capture/session/collect/watches.h"

typedef struct
{
  LnsPeers *peers;
  LnsPools *pools;
  LnsWatches *watches;
  LnsListener listener;
  LnsWatch *listener_watches[LNS_LISTENER_SOCKETS]; /* null where there is no socket */
  bool is_full; /* processes must wait until descriptors are free, which will be soon */
  unsigned n_diagnostics;
} LnsDoor;

/* What a message was about. */
typedef enum
{
  LNS_HEARD_NOTHING, /* that the caller has to look at */
  LNS_HEARD_HELLO,   /* a process has joined */
  LNS_HEARD_NOTICE,
  LNS_HEARD_END /* the peer of the connection is gone */
} LnsHeard;

/* Begins with a closed door. PEERS and the others must outlive it. */
void lns_door_init (LnsDoor *door, LnsPeers *peers, LnsPools *pools, LnsWatches *watches);

/* Begins to listen. */
bool lns_door_open (LnsDoor *door, LnsError *error);

/* Takes the processes that wait at the sockets, or some of many. */
void lns_door_accept (LnsDoor *door);

/* Takes those that had to wait for descriptors. */
void lns_door_reopen (LnsDoor *door);

/* Reads a message from CONNECTION, and does what a hello or an end asks for; RET_NOTICE is set for
 * LNS_HEARD_NOTICE. CONNECTION may be dropped. */
LnsHeard lns_door_hear (LnsDoor *door, LnsWatch *connection, LnsWireNotice *ret_notice);

/* Whether no descriptor is left for another process. */
bool lns_door_is_short (const LnsDoor *door);
