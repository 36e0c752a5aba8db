/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What facet-build.c (reading the lanes) and facet.c (queries) share. */

#pragma once

#include "src/base/array.h"
#include "src/base/buffer.h"
#include "src/store/read/facet.h"

#define LNS_FACET_FANOUT 8
#define LNS_FACET_LEVELS 16

/* Consecutive events: LNS_FACET_BLOCK of them at level 0, LNS_FACET_FANOUT nodes of the level below
 * above that. Times count from where the events before end. */
typedef struct
{
  int64_t start_ns;
  int64_t end_ns; /* to where it or anything before it reaches                                 */
  int64_t busy_ns;
  uint64_t at;    /* level 0: where its events begin in `events`                               */
  uint32_t name;  /* covers most of the time, if one does                                      */
  uint32_t flags; /* of all events, or-ed                                                      */
} LnsFacetNode;

typedef LNS_ARRAY (LnsFacetNode) LnsFacetLevel;

typedef struct
{
  LnsFacet facet;
  /* Per event: the source's index (left out where the set has but one), then its ordinal; of the
   * block's second, third, … event of a source: less the ordinal before it. LEB128. */
  LnsBuffer events;
  LnsFacetLevel levels[LNS_FACET_LEVELS];
  unsigned n_levels; /* the last one has at most LNS_NODE_TOP nodes */
} LnsFacetData;

struct LnsFacetSet
{
  atomic_uint refs;
  LnsReport *report;
  LnsFacetBy by;
  uint32_t n_lanes;
  uint32_t *lanes; /* owned */
  uint32_t n_facets;
  LnsFacet *facets;   /* owned; copies of those in `data` */
  LnsFacetData *data; /* owned */
};
