/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/event-order.h"

#include <glib/gi18n.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/compare.h"
#include "src/base/search.h"
#include "ui/events/event-sort.h"
#include "ui/model/event-text.h"

#define CANCEL_ROWS (1u << 18)
#define BLOCK_BITS  12 /* places in a block */

LnsEventOrder *
lns_event_order_new_identity (uint32_t n)
{
  LnsEventOrder *self = g_atomic_rc_box_new0 (LnsEventOrder);
  self->n = n;
  self->n_known = n;
  return self;
}

/* Takes over ROWS. */
static LnsEventOrder *
new_with_rows (uint32_t *rows, uint32_t n_known, uint32_t n)
{
  LnsEventOrder *self = lns_event_order_new_identity (n);
  self->n_known = n_known;
  self->rows = rows;
  return self;
}

LnsEventOrder *
lns_event_order_ref (LnsEventOrder *self)
{
  return g_atomic_rc_box_acquire (self);
}

static void
clear (gpointer data)
{
  g_free (((LnsEventOrder *)data)->rows);
}

void
lns_event_order_unref (LnsEventOrder *self)
{
  if (self != NULL)
    g_atomic_rc_box_release_full (self, clear);
}

bool
lns_event_order_find (const LnsEventOrder *self, uint32_t row, uint32_t *ret_position)
{
  if (self->rows == NULL)
    {
      *ret_position = row;
      return row < self->n_known;
    }
  for (uint32_t position = 0; position < self->n_known; position++)
    if (self->rows[position] == row)
      {
        *ret_position = position;
        return true;
      }
  return false;
}

/* --- Sort keys --------------------------------------------------------------------------------- */

/* Finds the lanes of places faster than bisection does, from the lane of each block's first place. */
typedef struct
{
  const LnsEventSet *set;
  uint32_t *first_lane;
} LaneFinder;

static LaneFinder
lane_finder_new (const LnsEventSet *set)
{
  uint32_t n_blocks = (set->first_place[set->n_lanes] >> BLOCK_BITS) + 1;
  LaneFinder self = { set, g_new0 (uint32_t, n_blocks) };
  uint32_t lane = 0;
  for (uint32_t block = 0; block < n_blocks; block++)
    {
      while (lane + 1 < set->n_lanes && set->first_place[lane + 1] <= block << BLOCK_BITS)
        lane++;
      self.first_lane[block] = lane;
    }
  return self;
}

static inline uint32_t
lane_of (const LaneFinder *self, uint32_t row)
{
  uint32_t place = lns_event_set_place (self->set, row);
  uint32_t lane = self->first_lane[place >> BLOCK_BITS];
  while (self->set->first_place[lane + 1] <= place)
    lane++;
  return lane;
}

typedef char *(*TextFunc) (LnsReport *report, uint32_t id);

typedef struct
{
  char *text;
  uint32_t id;
} Named;

static int
compare_named (const void *a, const void *b)
{
  return strcmp (((const Named *)a)->text, ((const Named *)b)->text);
}

/* The rank of each id 0 … N - 1: the number of different smaller texts. */
static uint32_t *
rank (LnsReport *report, uint32_t n, TextFunc text)
{
  g_autofree Named *named = g_new (Named, MAX (n, 1));
  uint32_t *ranks = g_new0 (uint32_t, MAX (n, 1));
  for (uint32_t id = 0; id < n; id++)
    named[id] = (Named){ text (report, id), id };
  qsort (named, n, sizeof *named, compare_named);
  for (uint32_t i = 1; i < n; i++)
    ranks[named[i].id] = ranks[named[i - 1].id] + (strcmp (named[i - 1].text, named[i].text) != 0);
  for (uint32_t i = 0; i < n; i++)
    g_free (named[i].text);
  return ranks;
}

static inline uint64_t
rank_of (const uint32_t *ranks, uint32_t n, uint32_t id)
{
  return id < n ? (uint64_t)ranks[id] + 1 : 0;
}

/* Orders streams by number, then by context. */
static uint64_t
stream_key (LnsReport *report, uint32_t stream)
{
  uint32_t n;
  const LnsCudaStream *streams = lns_report_streams (report, &n);
  return stream < n ? (uint64_t)streams[stream].number << 32 | (streams[stream].context + 1u) : 0;
}

/* What the keys of a column are made of. */
struct _LnsEventKeys
{
  const LnsEventSet *set; /* borrowed */
  LnsEventColumn column;
  uint64_t flip; /* bits that are turned: all, for the other direction */
  LaneFinder finder;
  uint64_t *of_lane;      /* owned: keys that all events of a lane share; or NULL */
  uint32_t *thread_ranks; /* owned; or NULL */
  uint32_t n_threads;
  struct Category *categories; /* owned: those with a name, by domain and number; or NULL */
  uint32_t n_categories;
  bool is_mixed; /* payloads of several types */
  const LnsCudaLaunch *launches;
  uint32_t n_launches;
};

static char *
kind_text (LnsReport *report, uint32_t kind)
{
  return g_strdup (lns_event_kind_name ((LnsLaneKind)kind) ?: "");
}

/* Makes the keys that all events of a lane share. */
static void
find_lane_keys (LnsEventKeys *self)
{
  const LnsEventSet *set = self->set;
  const LnsEventColumn column = self->column;
  LnsReport *report = set->report;
  uint32_t n_processes, n_domains, n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  lns_report_processes (report, &n_processes);
  lns_report_domains (report, &n_domains);
  g_autofree uint32_t *ranks = NULL;
  if (column == LNS_EVENT_COLUMN_PROCESS)
    ranks = rank (report, n_processes, lns_event_text_process);
  if (column == LNS_EVENT_COLUMN_DOMAIN)
    ranks = rank (report, n_domains, lns_event_text_domain);
  if (column == LNS_EVENT_COLUMN_KIND)
    ranks = rank (report, LNS_N_LANE_KINDS, kind_text);

  self->of_lane = g_new0 (uint64_t, MAX (set->n_lanes, 1));
  for (uint32_t i = 0; i < set->n_lanes; i++)
    {
      const LnsTrack *track = lns_event_track (report, set->lanes[i]);
      if (column == LNS_EVENT_COLUMN_DEPTH)
        self->of_lane[i] = lanes[set->lanes[i]].ordinal;
      else if (column == LNS_EVENT_COLUMN_KIND)
        self->of_lane[i] = rank_of (ranks, LNS_N_LANE_KINDS, lanes[set->lanes[i]].kind);
      else if (track == NULL)
        self->of_lane[i] = 0;
      else if (column == LNS_EVENT_COLUMN_PROCESS)
        self->of_lane[i] = rank_of (ranks, n_processes, track->process);
      else if (column == LNS_EVENT_COLUMN_DOMAIN)
        self->of_lane[i] = rank_of (ranks, n_domains, track->domain);
      else if (column == LNS_EVENT_COLUMN_STREAM)
        self->of_lane[i] = stream_key (report, track->stream);
      else
        self->of_lane[i] = rank_of (self->thread_ranks, self->n_threads, track->thread);
    }
}

static uint64_t
thread_key (const LnsEventKeys *self, uint32_t row)
{
  const uint32_t thread = self->set->thread != NULL ? self->set->thread[row] : 0;
  return thread > 0 ? rank_of (self->thread_ranks, self->n_threads, thread - 1)
                    : self->of_lane[lane_of (&self->finder, row)];
}

/* A category with a name. */
typedef struct Category
{
  uint32_t domain, category;
  uint32_t index; /* in lns_report_categories () */
  uint64_t key;
} Category;

static int
compare_categories (const void *a, const void *b)
{
  const Category *x = a;
  const Category *y = b;
  return LNS_COMPARE (x->domain, y->domain)
             ?: LNS_COMPARE (x->category, y->category)
             ?: LNS_COMPARE (y->index, x->index);
}

static char *
category_name (LnsReport *report, uint32_t index)
{
  return lns_event_text_string (report, lns_report_categories (report, NULL)[index].name, true);
}

static void
find_categories (LnsEventKeys *self)
{
  const LnsEventSet *set = self->set;
  const LnsCategory *categories = lns_report_categories (set->report, &self->n_categories);
  g_autofree uint32_t *ranks = rank (set->report, self->n_categories, category_name);
  self->categories = g_new (Category, MAX (self->n_categories, 1));
  for (uint32_t i = 0; i < self->n_categories; i++)
    self->categories[i] =
        (Category){ categories[i].domain, categories[i].category, i, (uint64_t)ranks[i] + 1 };
  qsort (self->categories, self->n_categories, sizeof *self->categories, compare_categories);
}

/* Orders categories by name, then those without a name by number. */
static uint64_t
category_key (const LnsEventKeys *self, uint32_t row)
{
  const LnsEventSet *set = self->set;
  const Category *known = self->categories;
  const uint32_t category = set->category != NULL ? set->category[row] : 0;
  if (category == 0)
    return 0;
  const LnsTrack *track = lns_event_track (set->report, set->lanes[lane_of (&self->finder, row)]);
  if (track != NULL)
    {
      const uint64_t at =
          LNS_LOWER_BOUND (self->n_categories, i,
                           known[i].domain < track->domain ||
                               (known[i].domain == track->domain && known[i].category < category));
      if (at < self->n_categories && known[at].domain == track->domain &&
          known[at].category == category)
        return known[at].key;
    }
  return UINT64_C (1) << 32 | category;
}

static double
payload_value (LnsPayloadType type, uint64_t bits)
{
  double value;
  float single;
  switch (type)
    {
    case LNS_PAYLOAD_DOUBLE:
      memcpy (&value, &bits, sizeof value);
      return value;
    case LNS_PAYLOAD_FLOAT:
      memcpy (&single, &bits, sizeof single);
      return single;
    case LNS_PAYLOAD_INT64:
      return (double)(int64_t)bits;
    case LNS_PAYLOAD_INT32:
      return (int32_t)bits;
    default:
      return (double)bits;
    }
}

static uint64_t
payload_key (LnsPayloadType type, uint64_t bits)
{
  switch (type)
    {
    case LNS_PAYLOAD_DOUBLE:
    case LNS_PAYLOAD_FLOAT:
      return lns_event_key_double (payload_value (type, bits));
    case LNS_PAYLOAD_INT64:
      return lns_event_key_int ((int64_t)bits);
    case LNS_PAYLOAD_INT32:
      return lns_event_key_int ((int32_t)bits);
    default:
      return bits;
    }
}

static void
find_payload_types (LnsEventKeys *self)
{
  const LnsEventSet *set = self->set;
  unsigned types = 0;
  for (uint32_t row = 0; row < set->n && set->payload_type != NULL; row++)
    types |= set->payload_type[row] > 15 ? 0 : 1u << set->payload_type[row] & ~1u;
  self->is_mixed = (types & (types - 1)) != 0;
}

/* What `payload_type` says of ROW. */
static inline uint8_t
type_of (const LnsEventKeys *self, uint32_t row)
{
  return self->set->payload_type != NULL ? self->set->payload_type[row] : 0;
}

static inline uint64_t
bits_of (const LnsEventKeys *self, uint32_t row)
{
  return lns_event_set_payload (self->set, row);
}

/* Rows without a payload come first. They have key 0, so the smallest payload shares key 1 with the next one. */
static uint64_t
key_of_payload (const LnsEventKeys *self, uint32_t row)
{
  const LnsPayloadType type = type_of (self, row);
  if (type == LNS_PAYLOAD_NONE || type_of (self, row) > 15)
    return 0;
  const uint64_t bits = bits_of (self, row);
  const uint64_t key =
      self->is_mixed ? lns_event_key_double (payload_value (type, bits)) : payload_key (type, bits);
  return MAX (key, 1);
}

/* Rows without VALUE come first, then the others by value; kernels by their number of threads. */
static uint64_t
value_key (const LnsEventKeys *self, LnsEventSetValue value, uint32_t row)
{
  uint64_t bits = bits_of (self, row);
  if (type_of (self, row) != value)
    return 0;
  if (value == LNS_EVENT_SET_LAUNCH && bits < self->n_launches)
    {
      const LnsCudaLaunch *it = &self->launches[bits];
      bits = (uint64_t)it->grid[0] * it->grid[1] * it->grid[2] * it->block[0] * it->block[1] *
             it->block[2];
    }
  return bits < UINT64_MAX ? bits + 1 : bits;
}

LnsEventKeys *
lns_event_keys_new (const LnsEventSet *set, LnsEventColumn column, bool descending)
{
  LnsEventKeys *self = g_new0 (LnsEventKeys, 1);
  self->set = set;
  self->column = column;
  self->flip = descending ? UINT64_MAX : 0;
  self->launches = lns_report_launches (set->report, &self->n_launches);
  switch (column)
    {
    case LNS_EVENT_COLUMN_THREAD:
      lns_report_threads (set->report, &self->n_threads);
      self->thread_ranks = rank (set->report, self->n_threads, lns_event_text_thread);
      break;
    case LNS_EVENT_COLUMN_CATEGORY:
      find_categories (self);
      break;
    case LNS_EVENT_COLUMN_PAYLOAD:
      find_payload_types (self);
      return self;
    case LNS_EVENT_COLUMN_KIND:
    case LNS_EVENT_COLUMN_PROCESS:
    case LNS_EVENT_COLUMN_DOMAIN:
    case LNS_EVENT_COLUMN_DEPTH:
    case LNS_EVENT_COLUMN_STREAM:
      break;
    default:
      return self;
    }
  self->finder = lane_finder_new (set);
  if (column != LNS_EVENT_COLUMN_CATEGORY)
    find_lane_keys (self);
  return self;
}

void
lns_event_keys_free (LnsEventKeys *self)
{
  g_free (self->finder.first_lane);
  g_free (self->of_lane);
  g_free (self->thread_ranks);
  g_free (self->categories);
  g_free (self);
}

static inline uint64_t
key_of (const LnsEventKeys *self, uint32_t row)
{
  switch (self->column)
    {
    case LNS_EVENT_COLUMN_NUMBER:
      return row;
    case LNS_EVENT_COLUMN_START:
      return lns_event_key_int (lns_event_set_start (self->set, row));
    case LNS_EVENT_COLUMN_DURATION:
      return lns_event_key_int (lns_event_set_duration (self->set, row));
    case LNS_EVENT_COLUMN_NAME:
      return lns_event_set_name (self->set, row);
    case LNS_EVENT_COLUMN_THREAD:
      return thread_key (self, row);
    case LNS_EVENT_COLUMN_CATEGORY:
      return category_key (self, row);
    case LNS_EVENT_COLUMN_BYTES:
      return value_key (self, LNS_EVENT_SET_BYTES, row);
    case LNS_EVENT_COLUMN_SHAPE:
      return value_key (self, LNS_EVENT_SET_LAUNCH, row);
    case LNS_EVENT_COLUMN_OPERATIONS:
      return value_key (self, LNS_EVENT_SET_OPERATIONS, row);
    case LNS_EVENT_COLUMN_RESULT:
      return value_key (self, LNS_EVENT_SET_RESULT, row);
    case LNS_EVENT_COLUMN_PAYLOAD:
      return key_of_payload (self, row);
    default:
      return self->of_lane[lane_of (&self->finder, row)];
    }
}

uint64_t
lns_event_keys_get (const void *keys, uint32_t row)
{
  const LnsEventKeys *self = keys;
  return key_of (self, row) ^ self->flip;
}

/* --- Queries ----------------------------------------------------------------------------------- */

typedef struct
{
  const LnsEventSet *set;
  const LnsEventQuery *query;
  LnsFirstPageFunc first;
  void *data;
  GCancellable *cancellable;
  uint8_t *matches; /* a bit a row; NULL = all match */
  uint32_t n;       /* rows that match               */
} Querying;

static bool
row_matches (uint32_t row, const void *data)
{
  const Querying *querying = data;
  return (querying->matches[row / 8] >> row % 8 & 1) != 0;
}

/* The rows of SORTED that match, at most MAX_ROWS of them. Returns NULL if it was cancelled or memory ran out. */
static LnsEventOrder *
keep_matching (const Querying *querying, const LnsEventOrder *sorted, uint32_t max_rows)
{
  uint32_t n = MIN (querying->n, max_rows);
  g_autofree uint32_t *rows = g_try_new (uint32_t, MAX (n, 1));
  uint32_t kept = 0;
  if (rows == NULL)
    return NULL;
  for (uint32_t position = 0; position < sorted->n && kept < n; position++)
    {
      uint32_t row = lns_event_order_row (sorted, position);
      if (row_matches (row, querying))
        rows[kept++] = row;
      if (position % CANCEL_ROWS == 0 && g_cancellable_is_cancelled (querying->cancellable))
        return NULL;
    }
  return new_with_rows (g_steal_pointer (&rows), kept, querying->n);
}

static void
tell_first (const Querying *querying, LnsEventOrder *first)
{
  if (first != NULL && querying->first != NULL)
    querying->first (first, querying->data);
  lns_event_order_unref (first);
}

/* Sorts all rows, without the filter, and reports the first page on the way. Returns NULL if it was cancelled or
 * memory ran out. */
static LnsEventOrder *
sort_all (const Querying *querying)
{
  const LnsEventSet *set = querying->set;
  const LnsEventQuery *query = querying->query;
  bool in_time =
      query->column == LNS_EVENT_COLUMN_NUMBER || query->column == LNS_EVENT_COLUMN_START;
  if (in_time && !query->descending)
    return lns_event_order_new_identity (set->n);

  g_autoptr (LnsEventKeys) keys = lns_event_keys_new (set, query->column, query->descending);
  if (g_cancellable_is_cancelled (querying->cancellable))
    return NULL;

  if (querying->first != NULL)
    {
      uint32_t *page = g_new (uint32_t, LNS_EVENT_FIRST_MAX);
      uint32_t n_page = lns_event_sort_first (lns_event_keys_get, keys, set->n,
                                              querying->matches != NULL ? row_matches : NULL,
                                              querying, LNS_EVENT_FIRST_MAX, page);
      tell_first (querying, new_with_rows (page, n_page, querying->n));
    }
  g_autofree uint32_t *rows = g_try_new (uint32_t, MAX (set->n, 1));
  if (rows == NULL ||
      !lns_event_sort (lns_event_keys_get, keys, set->n, rows, querying->cancellable))
    return NULL;
  return new_with_rows (g_steal_pointer (&rows), set->n, set->n);
}

static LnsEventOrder *
answer (Querying *querying, LnsEventOrder **ret_sorted)
{
  LnsEventOrder *known = querying->query->sorted;
  g_autoptr (LnsEventOrder) sorted =
      known != NULL ? lns_event_order_ref (known) : sort_all (querying);
  g_autoptr (LnsEventOrder) shown = NULL;
  if (sorted == NULL)
    return NULL;
  if (querying->matches == NULL)
    shown = lns_event_order_ref (sorted);
  else
    {
      /* If it had to sort, sort_all () has reported a first page already. */
      if (known != NULL || sorted->rows == NULL)
        tell_first (querying, keep_matching (querying, sorted, LNS_EVENT_FIRST_MAX));
      shown = keep_matching (querying, sorted, UINT32_MAX);
    }
  if (shown != NULL)
    *ret_sorted = g_steal_pointer (&sorted);
  return g_steal_pointer (&shown);
}

LnsEventOrder *
lns_event_order_query (const LnsEventSet *set,
                       const LnsEventQuery *query,
                       LnsFirstPageFunc first,
                       void *data,
                       LnsEventOrder **ret_sorted,
                       GCancellable *cancellable,
                       GError **error)
{
  Querying querying = { .set = set,
                        .query = query,
                        .first = first,
                        .data = data,
                        .cancellable = cancellable,
                        .n = set->n };
  LnsEventOrder *shown = NULL;
  if (query->filter != NULL)
    querying.matches = lns_event_filter_find (query->filter, set, &querying.n, cancellable, error);
  if (query->filter == NULL || querying.matches != NULL)
    {
      shown = answer (&querying, ret_sorted);
      if (shown == NULL && !g_cancellable_set_error_if_cancelled (cancellable, error))
        g_set_error_literal (
            error, G_IO_ERROR, G_IO_ERROR_NO_SPACE,
            _ ("Not enough memory to sort this many events; choose a smaller row"));
    }
  g_free (querying.matches);
  return shown;
}
