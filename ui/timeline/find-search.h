/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Finds events by name in a whole report. One walk over all names finds the chunks that contain matches; after that a
 * step from match to match reads few chunks. Immutable; any thread. */

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

/* Searches all lanes of REPORT, which must outlive the search. Blocks, so call it on a worker. RET_PERMILLE (may be
 * NULL) gets the progress. Returns NULL if the search was cancelled. Damaged chunks count as chunks
 * without matches. O(events). */
LnsFindSearch *lns_find_search_new (LnsReport *report,
                                    const LnsNameMatch *match,
                                    atomic_uint *ret_permille,
                                    GCancellable *cancellable) G_GNUC_WARN_UNUSED_RESULT;

LnsFindSearch *lns_find_search_ref (LnsFindSearch *self);
void lns_find_search_unref (LnsFindSearch *self); /* NULL is fine */

/* How many events match, and how many different names they have. */
uint64_t lns_find_search_n_events (const LnsFindSearch *self);
uint64_t lns_find_search_n_names (const LnsFindSearch *self);

/* Finds the next match after FROM or, if not FORWARD, the last match before it, and goes on at the other end of the
 * report where there is none. RET_NUMBER gets the number of the match among all matches, from 1. Returns false if
 * nothing matches or the matches cannot be read. Reads at most two chunks of each lane, so call it on a worker. */
bool lns_find_search_step (const LnsFindSearch *self,
                           const LnsFindPlace *from,
                           bool forward,
                           LnsFindPlace *ret_place,
                           uint64_t *ret_number);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LnsFindSearch, lns_find_search_unref)
