/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Makes pools for processes that join. A program may fork hundreds of children that each live for some
 * milliseconds and wait at their first event until they have a pool: once a fork's child has joined, a few pools
 * are kept ready. Used by the collector's thread alone. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/wire/pool-session.h"

/* What every process of the session is asked. */
typedef struct
{
  bool recording;
  LnsWireOptions target;
} LnsAsked;

typedef struct
{
  LnsWirePool *pool;
  uint32_t serial;
  LnsAsked asked; /* what its process was last told */
} LnsNewPool;

/* The number of pools kept ready: where a program forks one child after the other, the next pool is made while
 * a child runs. */
#define LNS_POOLS_READY 4

typedef struct
{
  LnsWireClock clock;
  uint64_t process_bytes; /* what one process's pool may hold */
  uint64_t session_bytes; /* what all may hold together */
  int last_fd;            /* the last descriptor that pools and connections may take */
  uint32_t n_serials;
  LnsNewPool ready[LNS_POOLS_READY];
  unsigned n_ready;
  bool expects_forks;
  int64_t forked_ns; /* CLOCK_MONOTONIC when the last fork's child joined */
} LnsPools;

/* Gives a pool for the process PID, the child of a fork if FORKED, which is asked ASKED, and lends it chunks for
 * its first milliseconds. N_PEERS others share the session's memory. Returns 0 or -errno. */
int lns_pools_take (LnsPools *pools,
                    const LnsAsked *asked,
                    size_t n_peers,
                    int32_t pid,
                    bool forked,
                    LnsNewPool *ret_pool);

/* Tells the process of POOL what it is asked, if that has changed. */
void lns_new_pool_tell (LnsNewPool *pool, const LnsAsked *asked);

/* The child of a fork joined at NOW_NS: others are expected for a second. */
void lns_pools_expect_forks (LnsPools *pools, int64_t now_ns);

/* Whether another pool should be kept ready, to be made while there is nothing else to do. */
bool lns_pools_want_more (const LnsPools *pools);
void lns_pools_make_ready (LnsPools *pools, const LnsAsked *asked, size_t n_peers);

/* Frees the pools that are ready. Returns whether there were any. */
bool lns_pools_drop_ready (LnsPools *pools);

/* Frees them if no fork's child is expected at NOW_NS. */
void lns_pools_tidy (LnsPools *pools, int64_t now_ns);
