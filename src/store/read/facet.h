/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Derived tracks: the events of some lanes, in the order of their starts, told apart by what they
 * are. A facet holds no copy of an event, only which it is (about two bytes), and a level of detail
 * of its own. Where events of several lanes overlap, each counts from where those before it end: so
 * the time in which at least one of them runs is exact at every zoom.
 *
 * Replaces: SELECT … FROM the lanes' events WHERE name = … ORDER BY start. Immutable once built and
 * reference-counted: any thread. */

#pragma once

#include "src/store/read/pixels.h"

#define LNS_FACETS_MAX 64 /* told apart; what else there is, is one facet more */

#define LNS_FACET_OTHERS UINT64_MAX /* key of what is not told apart                            */
#define LNS_FACET_MEMSET 255        /* key of memsets among copy kinds                         */

typedef enum
{
  LNS_FACET_BY_NOTHING,  /* all events are one facet                                            */
  LNS_FACET_BY_KERNEL,   /* by the kernels' short names                                         */
  LNS_FACET_BY_COPY_KIND /* by CUpti_ActivityMemcpyKind, or LNS_FACET_MEMSET                    */
} LnsFacetBy;

typedef struct
{
  uint64_t key;    /* string id, copy kind, or LNS_FACET_OTHERS                               */
  uint32_t n_keys; /* that it stands for: 1 but for the others                                */
  uint64_t n_events;
  int64_t total_ns; /* sum of the durations                                                    */
  int64_t busy_ns;  /* time in which at least one of the events runs                           */
  int64_t start_ns, end_ns;
} LnsFacet;

typedef struct LnsFacetSet LnsFacetSet;

/* Reads the N_LANES different LANES of REPORT, which must outlive the set, and tells their events
 * apart BY something. Blocks: for a worker. Damaged chunks are left out. NULL and ERROR where CANCEL
 * (may be NULL) became true, a lane cannot be read or its events are too many to hold. O(events × log lanes). */
LnsFacetSet *lns_facet_set_new (LnsReport *report,
                                const uint32_t *lanes,
                                uint32_t n_lanes,
                                LnsFacetBy by,
                                const atomic_bool *cancel,
                                LnsError *error) __attribute__ ((warn_unused_result));
LnsFacetSet *lns_facet_set_ref (LnsFacetSet *set);
void lns_facet_set_unref (LnsFacetSet *set); /* NULL is fine */

/* The facets, those of the largest total first and the others last. */
const LnsFacet *lns_facet_set_facets (const LnsFacetSet *set, uint32_t *ret_n);
LnsFacetBy lns_facet_set_by (const LnsFacetSet *set);

/* lns_report_query_pixels () of facet INDEX. Listed events have their own whole times, and may
 * overlap where the set is of several lanes. */
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

/* The events NUMBER, NUMBER + 1, … of facet INDEX, up to the end of their block: into RET_EVENTS, of
 * LNS_FACET_BLOCK. Returns how many; 0 past the last one. O(1). */
#define LNS_FACET_BLOCK 64
unsigned lns_facet_events (const LnsFacetSet *set,
                           uint32_t index,
                           uint64_t number,
                           LnsFacetEvent ret_events[LNS_FACET_BLOCK]);

/* The number of facet INDEX's first event that may end after TIME_NS: that of its block. O(log n). */
uint64_t lns_facet_find (const LnsFacetSet *set, uint32_t index, int64_t time_ns);
