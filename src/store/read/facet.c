/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/read/facet.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/buffer.h"
#include "src/base/compare.h"
#include "src/base/heap.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/base/search.h"
#include "src/store/read/detail-walk.h"
#include "src/store/read/pixels-private.h"

#define FANOUT 8
#define LEVELS 16

/* Consecutive events: LNS_FACET_BLOCK of them at level 0, FANOUT nodes of the level below
 * above that. Times count from where the events before end. */
typedef struct
{
  int64_t start_ns;
  int64_t end_ns; /* the latest end of its events and those before it */
  int64_t busy_ns;
  uint64_t at;    /* level 0: where its events begin in `events` */
  uint32_t name;  /* covers most of the time, if one does */
  uint32_t flags; /* of all events, or-ed */
} Node;

typedef LNS_ARRAY (Node) Level;

typedef struct
{
  LnsFacet facet;
  /* Per event: the source's index (left out where the set has but one), then its ordinal; of the
   * block's second, third, … event of a source: less the ordinal before it. LEB128. */
  LnsBuffer events;
  Level levels[LEVELS];
  unsigned n_levels; /* the last one has at most LNS_NODE_TOP nodes */
} Data;

struct LnsFacetSet
{
  atomic_uint refs;
  LnsReport *report;
  LnsFacetBy by;
  uint32_t n_lanes;
  uint32_t *lanes; /* owned */
  uint32_t n_facets;
  LnsFacet *facets; /* owned; copies of those in `data` */
  Data *data;       /* owned */
};

/* --- Building --------------------------------------------------------------------------------- */

/* Building takes two passes over the lanes. The first adds up the time of each key, to find the largest facets. The second
 * merges the lanes by start and adds each event to its facet. */

#define NO_KEY       UINT32_MAX
#define N_COPY_KINDS (LNS_FACET_MEMSET + 1)

/* What a pass reads of an event, and in which column its key is. */
typedef struct
{
  LnsFacetBy by;
  LnsLaneKind kind;
  int at; /* of LAUNCH or COPY_KIND among the kind's columns, or -1 */
  LnsColumnMask mask;
} Keys;

typedef struct
{
  uint32_t key; /* string id or copy kind */
  uint32_t n_events;
  int64_t total_ns;
} Total;

/* A lane being read. */
typedef struct
{
  LnsChunkWalker *walker;
  const LnsChunk *chunk; /* the walker's; NULL at the end */
  uint32_t i;
  uint32_t source;
  Keys keys;
} Cursor;

/* A facet being built. */
typedef struct
{
  Data *data;
  Node block;
  unsigned n_block;     /* events in it */
  int64_t weight_ns;    /* by how much its name leads */
  int64_t reached_ns;   /* to where the events so far reach */
  uint64_t *last;       /* per source: the ordinal put last … */
  uint64_t *last_block; /* … and in which block, from 1 */
} Growing;

typedef struct
{
  LnsReport *report;
  LnsFacetSet *set;
  const LnsCudaLaunch *launches;
  uint32_t n_launches, n_strings;
  uint32_t *facet_of; /* per key: which facet, NO_KEY before it was seen */
  uint32_t n_keys;
  Growing *growing;
  Cursor *heap;
  uint32_t n_heap;
  const atomic_bool *cancel;
} Build;

static bool
is_cancelled (const Build *build)
{
  return build->cancel != NULL && atomic_load_explicit (build->cancel, memory_order_relaxed);
}

static Keys
keys_of (const Build *build, uint32_t lane)
{
  const LnsFacetBy by = build->set->by;
  const LnsLaneKind kind = build->report->lanes[lane]->kind;
  const LnsColumnId column = by == LNS_FACET_BY_KERNEL ? LNS_COLUMN_LAUNCH : LNS_COLUMN_COPY_KIND;
  Keys keys = { by, kind, by == LNS_FACET_BY_NOTHING ? -1 : lns_lane_kind_extra (kind, column),
                LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_FLAGS) };
  if (keys.at >= 0)
    keys.mask |= LNS_COLUMN_BIT (column);
  return keys;
}

static inline uint32_t
key_of (const Build *build, const Keys *keys, const LnsChunk *chunk, uint32_t i)
{
  if (keys->by == LNS_FACET_BY_NOTHING)
    return 0;
  if (keys->at < 0)
    return keys->kind == LNS_LANE_CUDA_MEMSET ? LNS_FACET_MEMSET : NO_KEY;
  const uint64_t value = chunk->extra[keys->at] != NULL ? chunk->extra[keys->at][i] : 0;
  if (keys->by == LNS_FACET_BY_COPY_KIND)
    return value < LNS_FACET_MEMSET ? (uint32_t)value : 0;
  uint32_t name = value < build->n_launches ? build->launches[value].short_name : 0;
  name = name != 0 ? name : chunk->name[i];
  return name < build->n_strings ? name : 0;
}

/* --- What there is ---------------------------------------------------------------------------- */

static bool
add_totals (Build *build, uint32_t lane, Total *totals, LnsError *error)
{
  const Keys keys = keys_of (build, lane);
  LnsChunkWalker *walker = lns_chunk_walker_new (build->report, lane, keys.mask);
  LnsError cause = { 0 };
  bool more = true;
  while (more && !is_cancelled (build))
    {
      cause = (LnsError){ 0 };
      const LnsChunk *chunk = lns_chunk_walker_next (walker, &cause);
      more = chunk != NULL || cause.domain == LNS_ERROR_FORMAT;
      for (uint32_t i = 0; chunk != NULL && i < chunk->n; i++)
        {
          const uint32_t key = key_of (build, &keys, chunk, i);
          if (key == NO_KEY)
            continue;
          totals[key].n_events++;
          totals[key].total_ns = lns_sum (totals[key].total_ns, chunk->duration_ns[i]);
        }
    }
  lns_chunk_walker_free (walker);
  return cause.domain == LNS_ERROR_NONE ||
         lns_error_set (error, cause.domain, cause.code, "%s", cause.message);
}

static int
compare_totals (const void *a, const void *b)
{
  const Total *x = a, *y = b;

  return LNS_COMPARE (y->total_ns, x->total_ns) ?: LNS_COMPARE (x->key, y->key);
}

/* Assigns the keys that occur to facets. */
static void
choose_facets (Build *build, Total *totals)
{
  LnsFacetSet *set = build->set;
  uint32_t n = 0;
  for (uint32_t key = 0; key < build->n_keys; key++)
    if (totals[key].n_events > 0)
      {
        const Total total = { key, totals[key].n_events, totals[key].total_ns };
        totals[n++] = total; /* n ≤ key: it overwrites only entries that were read */
      }
  qsort (totals, n, sizeof *totals, compare_totals);
  const bool has_others = n > LNS_FACETS_MAX + 1;
  set->n_facets = has_others ? LNS_FACETS_MAX + 1 : n;
  set->facets = lns_calloc (set->n_facets, sizeof *set->facets);
  set->data = lns_calloc (set->n_facets, sizeof *set->data);
  for (uint32_t i = 0; i < n; i++)
    {
      const uint32_t index = has_others && i > LNS_FACETS_MAX ? LNS_FACETS_MAX : i;
      LnsFacet *facet = &set->data[index].facet;
      build->facet_of[totals[i].key] = index;
      facet->key = has_others && index == LNS_FACETS_MAX ? LNS_FACET_OTHERS : totals[i].key;
      facet->n_keys++;
      facet->total_ns = lns_sum (facet->total_ns, totals[i].total_ns);
    }
}

/* --- Facets ----------------------------------------------------------------------------------- */

static void
close_block (Growing *growing)
{
  *lns_array_add (&growing->data->levels[0]) = growing->block;
  growing->n_block = 0;
}

/* Finds the name that has the majority of the time, if one has (Boyer and Moore). */
static inline void
vote (uint32_t *name, int64_t *weight_ns, uint32_t other, int64_t ns)
{
  if (other == *name)
    *weight_ns += ns;
  else if (ns > *weight_ns)
    {
      *name = other;
      *weight_ns = ns - *weight_ns;
    }
  else
    *weight_ns -= ns;
}

/* Returns false if the list of events does not fit into memory. It is larger than the nodes, so it fails first. */
static bool
add_event (Build *build, Growing *growing, const Cursor *cursor)
{
  const LnsChunk *chunk = cursor->chunk;
  Data *data = growing->data;
  const uint64_t ordinal = chunk->first + cursor->i;
  const int64_t end_ns = chunk->start_ns[cursor->i] + chunk->duration_ns[cursor->i];
  Node *block = &growing->block;
  LnsFacet *facet = &data->facet;
  int64_t start_ns = chunk->start_ns[cursor->i];

  if (facet->n_events == 0)
    {
      facet->start_ns = start_ns;
      growing->reached_ns = start_ns;
    }
  if (start_ns < growing->reached_ns)
    start_ns = growing->reached_ns;
  if (end_ns > growing->reached_ns)
    growing->reached_ns = end_ns;
  if (growing->n_block == 0)
    {
      *block = (Node){ .start_ns = start_ns,
                       .at = data->events.size_bytes,
                       .name = chunk->name[cursor->i] };
      growing->weight_ns = 0;
    }
  const int64_t busy_ns = end_ns > start_ns ? end_ns - start_ns : 0;
  vote (&block->name, &growing->weight_ns, chunk->name[cursor->i], busy_ns);
  block->busy_ns += busy_ns;
  block->end_ns = growing->reached_ns;
  block->flags |= chunk->flags[cursor->i];

  const uint64_t number = data->levels[0].n + 1;
  if (build->set->n_lanes > 1)
    lns_buffer_append_varint (&data->events, cursor->source);
  lns_buffer_append_varint (&data->events, growing->last_block[cursor->source] == number
                                               ? ordinal - growing->last[cursor->source]
                                               : ordinal);
  growing->last[cursor->source] = ordinal;
  growing->last_block[cursor->source] = number;
  facet->n_events++;
  facet->busy_ns += busy_ns;
  facet->end_ns = growing->reached_ns;
  if (++growing->n_block == LNS_FACET_BLOCK)
    close_block (growing);
  return !data->events.failed;
}

/* Builds the nodes of the level above LEVEL. */
static void
grow_level (Data *data, unsigned level)
{
  const Level *below = &data->levels[level];
  for (uint64_t first = 0; first < below->n; first += FANOUT)
    {
      Node *node = lns_array_add (&data->levels[level + 1]);
      int64_t weight_ns = 0;
      node->start_ns = below->items[first].start_ns;
      node->name = below->items[first].name;
      for (uint64_t i = first; i < below->n && i < first + FANOUT; i++)
        {
          const Node *child = &below->items[i];
          vote (&node->name, &weight_ns, child->name, child->busy_ns);
          node->busy_ns += child->busy_ns;
          node->end_ns = child->end_ns;
          node->flags |= child->flags;
        }
    }
  data->n_levels = level + 2;
}

static void
finish_facet (Growing *growing)
{
  Data *data = growing->data;
  if (growing->n_block > 0)
    close_block (growing);
  data->n_levels = 1;
  while (data->levels[data->n_levels - 1].n > LNS_NODE_TOP && data->n_levels < LEVELS)
    grow_level (data, data->n_levels - 1);
}

/* --- Merging ---------------------------------------------------------------------------------- */

static inline int64_t
start_of (const Cursor *cursor)
{
  return cursor->chunk->start_ns[cursor->i];
}

static inline bool
is_before (const Cursor *a, const Cursor *b)
{
  return start_of (a) != start_of (b) ? start_of (a) < start_of (b) : a->source < b->source;
}

/* Moves to the next event. Returns false at the end of the lane. */
static bool
advance (Cursor *cursor)
{
  if (cursor->chunk != NULL && ++cursor->i < cursor->chunk->n)
    return true;
  LnsError error;
  do
    {
      error = (LnsError){ 0 };
      cursor->chunk = lns_chunk_walker_next (cursor->walker, &error);
    }
  while (cursor->chunk == NULL && error.domain == LNS_ERROR_FORMAT);
  cursor->i = 0;
  return cursor->chunk != NULL;
}

static void
open_cursors (Build *build)
{
  const LnsFacetSet *set = build->set;
  build->heap = lns_calloc (set->n_lanes, sizeof *build->heap);
  for (uint32_t i = 0; i < set->n_lanes; i++)
    {
      const Keys keys = keys_of (build, set->lanes[i]);
      Cursor cursor = { lns_chunk_walker_new (build->report, set->lanes[i], keys.mask), NULL, 0, i,
                        keys };
      if (advance (&cursor))
        build->heap[build->n_heap++] = cursor;
      else
        lns_chunk_walker_free (cursor.walker);
    }
  for (uint32_t i = build->n_heap / 2; i-- > 0;)
    LNS_HEAP_SINK (build->heap, build->n_heap, i, a, b, is_before (a, b));
}

static bool
merge (Build *build, LnsError *error)
{
  for (uint64_t n = 0; build->n_heap > 0; n++)
    {
      Cursor *first = &build->heap[0];
      const uint32_t key = key_of (build, &first->keys, first->chunk, first->i);
      if (key != NO_KEY && build->facet_of[key] != NO_KEY &&
          !add_event (build, &build->growing[build->facet_of[key]], first))
        return _lns_report_file_no_memory (&build->report->shared->file, error);
      if ((n & 4095) == 0 && is_cancelled (build))
        return false;
      if (!advance (first))
        {
          lns_chunk_walker_free (first->walker);
          *first = build->heap[--build->n_heap];
        }
      LNS_HEAP_SINK (build->heap, build->n_heap, 0, a, b, is_before (a, b));
    }
  return true;
}

/* --- The set ---------------------------------------------------------------------------------- */

static void
prepare_facets (Build *build)
{
  LnsFacetSet *set = build->set;
  build->growing = lns_calloc (set->n_facets, sizeof *build->growing);
  for (uint32_t i = 0; i < set->n_facets; i++)
    {
      Growing *growing = &build->growing[i];
      growing->data = &set->data[i];
      growing->last = lns_calloc (set->n_lanes, sizeof *growing->last);
      growing->last_block = lns_calloc (set->n_lanes, sizeof *growing->last_block);
    }
}

static bool
count_keys (Build *build, LnsError *error)
{
  const LnsFacetSet *set = build->set;
  build->n_keys = set->by == LNS_FACET_BY_NOTHING  ? 1
                  : set->by == LNS_FACET_BY_KERNEL ? build->n_strings + 1
                                                   : N_COPY_KINDS;
  Total *totals = lns_calloc (build->n_keys, sizeof *totals);
  build->facet_of = lns_realloc (NULL, build->n_keys, sizeof *build->facet_of);
  memset (build->facet_of, 255, build->n_keys * sizeof *build->facet_of);
  bool ok = true;
  if (set->by == LNS_FACET_BY_NOTHING)
    for (uint32_t i = 0; i < set->n_lanes; i++) /* the directory has the totals */
      {
        const LnsLaneInfo *info = lns_report_lane_info (build->report, set->lanes[i]);
        totals[0].n_events |= info->n_events > 0;
        totals[0].total_ns = lns_sum (totals[0].total_ns, info->busy_ns);
      }
  else
    for (uint32_t i = 0; ok && i < set->n_lanes; i++)
      ok = add_totals (build, set->lanes[i], totals, error);
  if (ok)
    choose_facets (build, totals);
  free (totals);
  return ok;
}

static void
clear_build (Build *build)
{
  for (uint32_t i = 0; build->growing != NULL && i < build->set->n_facets; i++)
    {
      free (build->growing[i].last);
      free (build->growing[i].last_block);
    }
  for (uint32_t i = 0; i < build->n_heap; i++)
    lns_chunk_walker_free (build->heap[i].walker);
  free (build->growing);
  free (build->heap);
  free (build->facet_of);
}

LnsFacetSet *
lns_facet_set_new (LnsReport *report,
                   const uint32_t *lanes,
                   uint32_t n_lanes,
                   LnsFacetBy by,
                   const atomic_bool *cancel,
                   LnsError *error)
{
  LnsFacetSet *set = lns_calloc (1, sizeof *set);
  Build build = {
    .report = report, .set = set, .cancel = cancel, .n_strings = lns_report_n_strings (report)
  };
  build.launches = lns_report_launches (report, &build.n_launches);
  set->refs = 1;
  set->report = lns_report_ref (report);
  set->by = by;
  set->n_lanes = n_lanes;
  set->lanes = lns_memdup (lanes, n_lanes * sizeof *lanes);
  bool ok = count_keys (&build, error);
  if (ok)
    {
      prepare_facets (&build);
      open_cursors (&build);
      ok = merge (&build, error);
    }
  for (uint32_t i = 0; ok && i < set->n_facets; i++)
    {
      finish_facet (&build.growing[i]);
      set->facets[i] = set->data[i].facet;
    }
  clear_build (&build);
  if (ok)
    return set;
  if (is_cancelled (&build))
    lns_error_set (error, LNS_ERROR_CANCELLED, 0, "%s: reading it was cancelled",
                   report->shared->file.path);
  lns_facet_set_unref (set);
  return NULL;
}

/* --- Queries ---------------------------------------------------------------------------------- */

LnsFacetSet *
lns_facet_set_ref (LnsFacetSet *set)
{
  atomic_fetch_add_explicit (&set->refs, 1, memory_order_relaxed);
  return set;
}

void
lns_facet_set_unref (LnsFacetSet *set)
{
  if (set == NULL || atomic_fetch_sub_explicit (&set->refs, 1, memory_order_acq_rel) > 1)
    return;
  for (uint32_t i = 0; set->data != NULL && i < set->n_facets; i++)
    {
      lns_buffer_clear (&set->data[i].events);
      for (unsigned level = 0; level < LEVELS; level++)
        lns_array_clear (&set->data[i].levels[level]);
    }
  free (set->data);
  free (set->facets);
  free (set->lanes);
  lns_report_close (set->report);
  free (set);
}

const LnsFacet *
lns_facet_set_facets (const LnsFacetSet *set, uint32_t *ret_n)
{
  if (ret_n != NULL)
    *ret_n = set->n_facets;
  return set->facets;
}

LnsFacetBy
lns_facet_set_by (const LnsFacetSet *set)
{
  return set->by;
}

/* --- Events ----------------------------------------------------------------------------------- */

/* Reads all events of BLOCK. */
static unsigned
read_block (const LnsFacetSet *set,
            const Data *data,
            uint64_t block,
            LnsFacetEvent ret_events[LNS_FACET_BLOCK])
{
  const uint64_t n_left = data->facet.n_events - block * LNS_FACET_BLOCK;
  const unsigned n = n_left < LNS_FACET_BLOCK ? (unsigned)n_left : LNS_FACET_BLOCK;
  const uint8_t *at = data->events.bytes + data->levels[0].items[block].at;
  const uint8_t *end = data->events.bytes + data->events.size_bytes;
  for (unsigned i = 0; i < n; i++)
    {
      uint64_t source = 0, ordinal = 0;
      if (set->n_lanes > 1)
        lns_take_varint (&at, end, &source);
      lns_take_varint (&at, end, &ordinal);
      const uint32_t lane = set->lanes[source];
      for (unsigned before = i; before > 0; before--)
        if (ret_events[before - 1].lane == lane)
          {
            ordinal += ret_events[before - 1].ordinal;
            break;
          }
      ret_events[i] = (LnsFacetEvent){ lane, ordinal };
    }
  return n;
}

unsigned
lns_facet_events (const LnsFacetSet *set,
                  uint32_t index,
                  uint64_t number,
                  LnsFacetEvent ret_events[LNS_FACET_BLOCK])
{
  const Data *data = &set->data[index];
  if (number >= data->facet.n_events)
    return 0;
  LnsFacetEvent all[LNS_FACET_BLOCK];
  const unsigned first = (unsigned)(number % LNS_FACET_BLOCK);
  const unsigned n = read_block (set, data, number / LNS_FACET_BLOCK, all);
  for (unsigned i = first; i < n; i++)
    ret_events[i - first] = all[i];
  return n - first;
}

uint64_t
lns_facet_find (const LnsFacetSet *set, uint32_t index, int64_t time_ns)
{
  const Level *blocks = &set->data[index].levels[0];
  return LNS_FACET_BLOCK * LNS_LOWER_BOUND (blocks->n, i, blocks->items[i].end_ns < time_ns);
}

/* --- Pixels ----------------------------------------------------------------------------------- */

typedef struct
{
  const LnsFacetSet *set;
  const Data *data;
  const LnsDetailVisitor *visitor;
  const LnsChunk **chunks; /* per source: the one read last, or NULL */
  uint64_t n_visited;
  LnsError *error;
} Walk;

static bool
is_stopped (Walk *walk)
{
  return _lns_detail_is_cancelled (walk->set->report, walk->visitor, walk->error);
}

/* The chunk of EVENT. NULL if it cannot be read, or, without an error, if it is not in the cache and only that may be
 * used. */
static const LnsChunk *
chunk_of (Walk *walk, const LnsFacetEvent *event)
{
  LnsReport *report = walk->set->report;
  uint32_t source = 0;
  while (walk->set->lanes[source] != event->lane)
    source++;
  const LnsChunk *chunk = walk->chunks[source];
  if (chunk != NULL && event->ordinal >= chunk->first && event->ordinal - chunk->first < chunk->n)
    return chunk;
  lns_chunk_unref (chunk);
  walk->chunks[source] = chunk =
      is_stopped (walk)
          ? NULL
          : _lns_report_event_chunk (
                report, event->lane, lns_report_chunk_of (report, event->lane, event->ordinal),
                walk->visitor->column_mask, walk->visitor->query->cached_only, walk->error);
  const bool right =
      chunk != NULL && event->ordinal >= chunk->first && event->ordinal - chunk->first < chunk->n;
  return right ? chunk : NULL;
}

static bool
visit_events (Walk *walk, uint64_t block, const LnsNode *node, uint64_t n_events)
{
  LnsFacetEvent events[LNS_FACET_BLOCK];
  const Node *blocks = walk->data->levels[0].items;
  const unsigned n = read_block (walk->set, walk->data, block, events);
  int64_t reached_ns = block > 0 ? blocks[block - 1].end_ns : INT64_MIN;
  for (unsigned i = 0; i < n; i++)
    {
      const LnsChunk *chunk = chunk_of (walk, &events[i]);
      if (chunk == NULL)
        {
          if (!walk->visitor->query->cached_only || is_stopped (walk))
            return false;
          walk->visitor->rest (walk->visitor->data, node, n_events,
                               reached_ns > node->start_ns ? reached_ns : node->start_ns);
          return true;
        }
      const uint32_t at = (uint32_t)(events[i].ordinal - chunk->first);
      const int64_t end_ns = chunk->start_ns[at] + chunk->duration_ns[at];
      walk->visitor->event (walk->visitor->data, chunk, at, reached_ns);
      if (end_ns > reached_ns)
        reached_ns = end_ns;
    }
  return true;
}

/* Visits node INDEX of LEVEL, and its children if the visitor opens it. */
static bool
visit (Walk *walk, unsigned level, uint64_t index)
{
  const Node *it = &walk->data->levels[level].items[index];
  const LnsNode node = { .start_ns = it->start_ns,
                         .end_ns = it->end_ns,
                         .busy_ns = it->busy_ns,
                         .name = it->name,
                         .flags = it->flags };
  uint64_t full = LNS_FACET_BLOCK;
  for (unsigned i = 0; i < level; i++)
    full *= FANOUT;
  const uint64_t n_left = walk->data->facet.n_events - index * full;
  const uint64_t n_events = n_left < full ? n_left : full;

  walk->n_visited++;
  if (!walk->visitor->node (walk->visitor->data, &node, n_events))
    return true;
  if (level == 0)
    return visit_events (walk, index, &node, n_events);
  bool ok = true;
  const uint64_t first = index * FANOUT, end = walk->data->levels[level - 1].n;
  for (uint64_t i = first; ok && i < end && i < first + FANOUT; i++)
    ok = visit (walk, level - 1, i);
  return ok;
}

static bool
walk_facet (void *source, const LnsDetailVisitor *visitor, LnsError *error)
{
  Walk walk = *(Walk *)source;
  walk.visitor = visitor;
  walk.error = error;
  walk.chunks = lns_calloc (walk.set->n_lanes, sizeof *walk.chunks);
  const unsigned top = walk.data->n_levels - 1;
  bool ok = !is_stopped (&walk);
  for (uint64_t i = 0; ok && i < walk.data->levels[top].n; i++)
    ok = visit (&walk, top, i);
  for (uint32_t i = 0; i < walk.set->n_lanes; i++)
    lns_chunk_unref (walk.chunks[i]);
  free (walk.chunks);
  atomic_fetch_add_explicit (&walk.set->report->shared->nodes_visited, walk.n_visited,
                             memory_order_relaxed);
  return ok;
}

bool
lns_facet_query_pixels (const LnsFacetSet *set,
                        uint32_t index,
                        const LnsPixelQuery *query,
                        LnsPixelResult *result,
                        LnsError *error)
{
  if (index >= set->n_facets)
    return lns_error_set (error, LNS_ERROR_USAGE, 0, "%s: there is no facet %u",
                          set->report->shared->file.path, index);
  Walk walk = { .set = set, .data = &set->data[index] };
  return _lns_pixels_fill (set->report, query, -1, walk_facet, &walk, result, error);
}
