/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Kernels in which GPUs wait for each other, and calls of MPI in which ranks do. The how many-th of a name in each stream or thread is one operation of
 * all of them, if they ran at the same time: it goes on when the last of them has begun. */

#pragma once

#include "src/analysis/graph/points.h"

#define LNS_MOST_MEMBERS 16

/* One of them. */
typedef struct
{
  uint32_t agent,
      start; /* of the graph: the stream or thread, and the point at which it began             */
  int64_t start_ns;
} LnsCollectiveMember;

typedef struct
{
  LnsCollectiveMember members[LNS_MOST_MEMBERS];
  unsigned n;
} LnsCollective;

/* Zero before first use. */
typedef struct
{
  LnsIdMap times;       /* agent << 32 | name -> how many there were                              */
  LnsIdMap collectives; /* name << 32 | which time -> LnsCollective, owned                        */
} LnsCollectives;

void lns_collectives_clear (LnsCollectives *collectives);

/* One called NAME, a string id, of AGENT begins at point START, at START_NS. Returns the collective that it is one of, which is valid until all are
 * cleared. O(1). */
const LnsCollective *lns_collectives_begin (
    LnsCollectives *collectives, uint32_t agent, uint32_t name, uint32_t start, int64_t start_ns);

/* Adds the end, at END_NS, of what began for AGENT at point START, as one of COLLECTIVE: it takes so long from when the last of those began that ran at
 * the same time. LABEL is its piece's. Returns the end. O(members). */
uint32_t lns_collective_end (const LnsCollective *collective,
                             LnsPoints *points,
                             uint32_t agent,
                             uint32_t start,
                             int64_t end_ns,
                             uint32_t label);
