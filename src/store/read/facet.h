/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Facets: the events of some lanes, ordered by start and grouped by kernel or by kind of copy. A facet does not copy
 * events. It stores their ordinals (about two bytes each) and a level of detail of its own. If events of several lanes
 * overlap, each counts from the end of those before it, so that the time in which at least one of them runs is exact at
 * every zoom.
 *
 * The plain query: SELECT … FROM the lanes' events WHERE name = … ORDER BY start. Immutable once built and
 * reference-counted: any thread. */

#pragma once

#include "src/store/read/pixels.h"

#define LNS_FACETS_MAX 64 /* by total time; one further facet has all other events */

#define LNS_FACET_OTHERS UINT64_MAX /* key of the facet of all other events */
#define LNS_FACET_MEMSET 255        /* key of memsets among copy kinds */

typedef enum
{
  LNS_FACET_BY_NOTHING,  /* all events are one facet */
  LNS_FACET_BY_KERNEL,   /* by the kernels' short names */
  LNS_FACET_BY_COPY_KIND /* by CUpti_ActivityMemcpyKind, or LNS_FACET_MEMSET */
} LnsFacetBy;

typedef struct
{
  uint64_t key;    /* string id, copy kind, or LNS_FACET_OTHERS */
  uint32_t n_keys; /* how many keys it has: 1, unless it is the one of all other events */
  uint64_t n_events;
  int64_t total_ns; /* sum of the durations */
  int64_t busy_ns;  /* time in which at least one of the events runs */
  int64_t start_ns, end_ns;
} LnsFacet;

typedef struct LnsFacetSet LnsFacetSet;

/* Reads N_LANES distinct LANES of REPORT, on which the set has a reference, and groups their events. Call it on a worker thread.
 * Leaves out damaged chunks. Returns NULL and sets ERROR if CANCEL (may be NULL) became true, a lane cannot be read, or the
 * events do not fit into memory. O(events × log lanes). */
LnsFacetSet *lns_facet_set_new (LnsReport *report,
                                const uint32_t *lanes,
                                uint32_t n_lanes,
                                LnsFacetBy by,
                                const atomic_bool *cancel,
                                LnsError *error) __attribute__ ((warn_unused_result));
LnsFacetSet *lns_facet_set_ref (LnsFacetSet *set);
void lns_facet_set_unref (LnsFacetSet *set); /* NULL is fine */

/* The facets: those with the largest total first, the one of all other events last. */
const LnsFacet *lns_facet_set_facets (const LnsFacetSet *set, uint32_t *ret_n);
LnsFacetBy lns_facet_set_by (const LnsFacetSet *set);

/* lns_report_query_pixels () for facet INDEX. Listed events have their full times, so those of several lanes may
 * overlap. */
bool lns_facet_query_pixels (const LnsFacetSet *set,
                             uint32_t index,
                             const LnsPixelQuery *query,
                             LnsPixelResult *result,
                             LnsError *error);

/* One event of a facet. */
typedef struct
{
  uint32_t lane;
  uint64_t ordinal;
} LnsFacetEvent;

/* Gets the events NUMBER, NUMBER + 1, … of facet INDEX up to the end of their block. RET_EVENTS has room for
 * LNS_FACET_BLOCK. Returns how many there are; 0 after the last one. O(1). */
#define LNS_FACET_BLOCK 64
unsigned lns_facet_events (const LnsFacetSet *set,
                           uint32_t index,
                           uint64_t number,
                           LnsFacetEvent ret_events[LNS_FACET_BLOCK]);

/* The number of the first event of facet INDEX's first block that ends at TIME_NS or later: no event before it ends after
 * TIME_NS. O(log n). */
uint64_t lns_facet_find (const LnsFacetSet *set, uint32_t index, int64_t time_ns);
