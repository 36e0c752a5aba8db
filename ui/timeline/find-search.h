/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Finding events by name in a whole report: one walk over the names tells which chunks hold matches; from then on,
 * steps from match to match read few chunks. Immutable once made; any thread. */

#pragma once

#include <gio/gio.h>
#include <stdatomic.h>

#include "src/store/read/report.h"
#include "ui/model/name-match.h"

typedef struct _LnsFindSearch LnsFindSearch;

/* A place in the order of all events: by start, then lane, then ordinal. */
typedef struct
{
  int64_t start_ns;
  uint32_t lane;
  uint64_t ordinal;
} LnsFindPlace;

/* Walks all lanes of REPORT (borrowed). MATCH is only read. Blocks: for a worker. RET_PERMILLE (may be NULL) tells
 * how far it is. NULL and ERROR where it was cancelled. Chunks that are damaged have no matches. O(events). */
LnsFindSearch *lns_find_search_new (LnsReport *report,
                                    const LnsNameMatch *match,
                                    atomic_uint *ret_permille,
                                    GCancellable *cancellable,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

LnsFindSearch *lns_find_search_ref (LnsFindSearch *self);
void lns_find_search_unref (LnsFindSearch *self); /* NULL is fine */

/* How many events match, and how many different names they have. */
uint64_t lns_find_search_n_events (const LnsFindSearch *self);
uint64_t lns_find_search_n_names (const LnsFindSearch *self);

/* The next match after FROM (or, not FORWARD, the last one before it), the first (last) one after the end. RET_NUMBER
 * gets its number in the order of all matches, from 1. False where nothing matches, or what does cannot be read.
 * Reads at most two chunks a lane; blocks: for a worker. */
bool lns_find_search_step (const LnsFindSearch *self,
                           const LnsFindPlace *from,
                           bool forward,
                           LnsFindPlace *ret_place,
                           uint64_t *ret_number);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LnsFindSearch, lns_find_search_unref)
