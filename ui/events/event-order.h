/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Filters and sorts the rows of an event set for the events table. Pure functions; any thread. */

#pragma once

#include "ui/events/event-filter.h"

typedef enum
{
  LNS_EVENT_COLUMN_NUMBER, /* the place in time order */
  LNS_EVENT_COLUMN_NAME,
  LNS_EVENT_COLUMN_KIND, /* what kind of event it is */
  LNS_EVENT_COLUMN_START,
  LNS_EVENT_COLUMN_DURATION,
  LNS_EVENT_COLUMN_THREAD,
  LNS_EVENT_COLUMN_PROCESS,
  LNS_EVENT_COLUMN_DOMAIN,
  LNS_EVENT_COLUMN_CATEGORY,
  LNS_EVENT_COLUMN_DEPTH,
  LNS_EVENT_COLUMN_PAYLOAD,
  LNS_EVENT_COLUMN_STREAM,
  LNS_EVENT_COLUMN_BYTES,
  LNS_EVENT_COLUMN_SHAPE, /* of a kernel: grid and block */
  LNS_EVENT_COLUMN_RESULT,
  LNS_EVENT_COLUMN_OPERATIONS,
  LNS_N_EVENT_COLUMNS
} LnsEventColumn;

/* Immutable, reference-counted. */
typedef struct
{
  uint32_t n;       /* rows shown */
  uint32_t n_known; /* length of `rows`; a first page has fewer than n */
  uint32_t *rows;   /* the row at each position; NULL: position i shows row i */
} LnsEventOrder;

LnsEventOrder *lns_event_order_new_identity (uint32_t n) G_GNUC_WARN_UNUSED_RESULT;
LnsEventOrder *lns_event_order_ref (LnsEventOrder *self);
void lns_event_order_unref (LnsEventOrder *self); /* NULL is fine */

/* The row at POSITION < n_known. */
static inline uint32_t
lns_event_order_row (const LnsEventOrder *self, uint32_t position)
{
  return self->rows != NULL ? self->rows[position] : position;
}

/* Finds the position of ROW among the first n_known. Returns false if ROW is not among them. O(n). */
bool lns_event_order_find (const LnsEventOrder *self, uint32_t row, uint32_t *ret_position);

/* The sort keys of the rows of a set. Keys compare as the values of a column do: times, numbers and payloads by
 * value (payloads of several types as doubles), names and other texts by their bytes. Rows without a value come
 * first. */
typedef struct _LnsEventKeys LnsEventKeys;

/* The keys of COLUMN of SET, which must outlive them; DESCENDING turns their order around. O(texts × log texts), and O(n) for
 * payloads. */
LnsEventKeys *lns_event_keys_new (const LnsEventSet *set,
                                  LnsEventColumn column,
                                  bool descending) G_GNUC_WARN_UNUSED_RESULT;
void lns_event_keys_free (LnsEventKeys *self);

/* The key of ROW: KEYS is an LnsEventKeys. An LnsKeyFunc. O(1), for categories O(log of those with a name). */
uint64_t lns_event_keys_get (const void *keys, uint32_t row);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LnsEventKeys, lns_event_keys_free)

typedef struct
{
  LnsEventColumn column;
  bool descending;              /* equal values stay in time order */
  const LnsEventFilter *filter; /* borrowed; NULL = all rows */
  LnsEventOrder *sorted; /* borrowed: what *RET_SORTED was for the same set, column and direction,
                            or NULL */
} LnsEventQuery;

/* Receives the first page of a query before the whole answer is known. FIRST is borrowed. */
typedef void (*LnsFirstPageFunc) (LnsEventOrder *first, void *data);

/* Answers QUERY about SET. Blocks, so call it on a worker; it calls FIRST (may be NULL) on the same thread. RET_SORTED
 * gets the order without the filter, for the next query; the caller owns it. Returns NULL and sets ERROR if the query
 * was cancelled or memory ran out. O(n), and what filtering takes. Sorting takes 6 more bytes per row, 4 of which stay. */
LnsEventOrder *lns_event_order_query (const LnsEventSet *set,
                                      const LnsEventQuery *query,
                                      LnsFirstPageFunc first,
                                      void *data,
                                      LnsEventOrder **ret_sorted,
                                      GCancellable *cancellable,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LnsEventOrder, lns_event_order_unref)
