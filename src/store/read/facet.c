/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/read/facet.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/store/read/detail-walk.h"
#include "src/store/read/facet-private.h"
#include "src/store/read/pixels-private.h"

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
      for (unsigned level = 0; level < LNS_FACET_LEVELS; level++)
        lns_array_clear (&set->data[i].levels[level]);
    }
  free (set->data);
  free (set->facets);
  free (set->lanes);
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

static inline uint64_t
take_number (const uint8_t **at)
{
  uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7)
    {
      const uint8_t byte = *(*at)++;
      value |= (uint64_t)(byte & 127) << shift;
      if (byte < 128)
        return value;
    }
}

/* The events of BLOCK, all of them. */
static unsigned
read_block (const LnsFacetSet *set,
            const LnsFacetData *data,
            uint64_t block,
            LnsFacetEvent ret_events[LNS_FACET_BLOCK])
{
  const uint64_t n_left = data->facet.n_events - block * LNS_FACET_BLOCK;
  const unsigned n = n_left < LNS_FACET_BLOCK ? (unsigned)n_left : LNS_FACET_BLOCK;
  const uint8_t *at = data->events.bytes + data->levels[0].items[block].at;
  for (unsigned i = 0; i < n; i++)
    {
      const uint32_t source = set->n_lanes > 1 ? (uint32_t)take_number (&at) : 0;
      const uint32_t lane = set->lanes[source];
      uint64_t ordinal = take_number (&at);
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
  const LnsFacetData *data = &set->data[index];
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
  const LnsFacetLevel *blocks = &set->data[index].levels[0];
  uint64_t low = 0, high = blocks->n;
  while (low < high)
    {
      const uint64_t middle = low + (high - low) / 2;
      if (blocks->items[middle].end_ns < time_ns)
        low = middle + 1;
      else
        high = middle;
    }
  return low * LNS_FACET_BLOCK;
}

/* --- Pixels ----------------------------------------------------------------------------------- */

typedef struct
{
  const LnsFacetSet *set;
  const LnsFacetData *data;
  const LnsDetailVisitor *visitor;
  const LnsChunk **chunks; /* per source: the one read last, or NULL */
  uint64_t n_visited;
  LnsError *error;
} Walk;

static bool
is_cancelled (Walk *walk)
{
  const LnsDetailVisitor *visitor = walk->visitor;
  if (visitor->generation == NULL ||
      atomic_load_explicit (visitor->generation, memory_order_relaxed) ==
          visitor->expected_generation)
    return false;
  lns_error_set (walk->error, LNS_ERROR_CANCELLED, 0, "%s: the query was cancelled",
                 walk->set->report->file.path);
  return true;
}

/* The chunk of EVENT; NULL (without an error where only the cache may be asked) if there is none. */
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
      is_cancelled (walk)
          ? NULL
          : _lns_report_event_chunk (
                report, event->lane, lns_report_chunk_of (report, event->lane, event->ordinal),
                walk->visitor->column_mask, walk->visitor->cached_only, walk->error);
  const bool right =
      chunk != NULL && event->ordinal >= chunk->first && event->ordinal - chunk->first < chunk->n;
  return right ? chunk : NULL;
}

static bool
visit_events (Walk *walk, uint64_t block, const LnsNode *node, uint64_t n_events)
{
  LnsFacetEvent events[LNS_FACET_BLOCK];
  const LnsFacetNode *blocks = walk->data->levels[0].items;
  const unsigned n = read_block (walk->set, walk->data, block, events);
  int64_t reached_ns = block > 0 ? blocks[block - 1].end_ns : INT64_MIN;
  for (unsigned i = 0; i < n; i++)
    {
      const LnsChunk *chunk = chunk_of (walk, &events[i]);
      if (chunk == NULL)
        {
          if (!walk->visitor->cached_only || is_cancelled (walk))
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

/* Visits node INDEX of LEVEL and what is below it, as far as the visitor wants to see it. */
static bool
visit (Walk *walk, unsigned level, uint64_t index)
{
  const LnsFacetNode *it = &walk->data->levels[level].items[index];
  const LnsNode node = { .start_ns = it->start_ns,
                         .end_ns = it->end_ns,
                         .busy_ns = it->busy_ns,
                         .name = it->name,
                         .flags = it->flags };
  uint64_t full = LNS_FACET_BLOCK;
  for (unsigned i = 0; i < level; i++)
    full *= LNS_FACET_FANOUT;
  const uint64_t n_left = walk->data->facet.n_events - index * full;
  const uint64_t n_events = n_left < full ? n_left : full;

  walk->n_visited++;
  if (!walk->visitor->node (walk->visitor->data, &node, n_events))
    return true;
  if (level == 0)
    return visit_events (walk, index, &node, n_events);
  bool ok = true;
  const uint64_t first = index * LNS_FACET_FANOUT, end = walk->data->levels[level - 1].n;
  for (uint64_t i = first; ok && i < end && i < first + LNS_FACET_FANOUT; i++)
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
  bool ok = !is_cancelled (&walk);
  for (uint64_t i = 0; ok && i < walk.data->levels[top].n; i++)
    ok = visit (&walk, top, i);
  for (uint32_t i = 0; i < walk.set->n_lanes; i++)
    lns_chunk_unref (walk.chunks[i]);
  free (walk.chunks);
  atomic_fetch_add_explicit (&walk.set->report->nodes_visited, walk.n_visited,
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
                          set->report->file.path, index);
  Walk walk = { .set = set, .data = &set->data[index] };
  return _lns_pixels_fill (set->report, query, -1, walk_facet, &walk, result, error);
}
