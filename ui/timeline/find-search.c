/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/find-search.h"

#include "src/base/compare.h"
#include "src/base/search.h"

/* A chunk that contains matches: its first and last match, and the number of matches in the lane before it. */
typedef struct
{
  int64_t first_ns, last_ns;
  uint64_t first, last; /* ordinals */
  uint64_t n_before;
  uint32_t index;
} Hit;

typedef struct
{
  GArray *hits; /* of Hit, ascending; or NULL: no matches */
  uint64_t n;   /* matches */
} Lane;

struct _LnsFindSearch
{
  LnsReport *report; /* a reference */
  uint8_t *is_match; /* per string id: 0 = not looked at, NO or YES */
  uint32_t n_strings;
  Lane *lanes;
  uint32_t n_lanes;
  uint64_t n_events, n_names;
};

enum
{
  NO = 1,
  YES = 2
};

LnsFindSearch *
lns_find_search_ref (LnsFindSearch *self)
{
  return g_atomic_rc_box_acquire (self);
}

static void
clear (gpointer data)
{
  LnsFindSearch *self = data;
  for (uint32_t lane = 0; lane < self->n_lanes; lane++)
    g_clear_pointer (&self->lanes[lane].hits, g_array_unref);
  g_free (self->lanes);
  g_free (self->is_match);
  lns_report_close (self->report);
}

void
lns_find_search_unref (LnsFindSearch *self)
{
  if (self != NULL)
    g_atomic_rc_box_release_full (self, clear);
}

uint64_t
lns_find_search_n_events (const LnsFindSearch *self)
{
  return self->n_events;
}

uint64_t
lns_find_search_n_names (const LnsFindSearch *self)
{
  return self->n_names;
}

/* --- The walk ------------------------------------------------------------------------------ */

static inline bool
is_match (const LnsFindSearch *self, uint32_t name)
{
  return name < self->n_strings && self->is_match[name] == YES;
}

static void
look_at (LnsFindSearch *self, const LnsNameMatch *match, uint32_t name)
{
  size_t size_bytes;
  if (name >= self->n_strings || self->is_match[name] != 0)
    return;
  const char *bytes = lns_report_string (self->report, name, &size_bytes);
  bool yes = lns_name_match_test (match, bytes, size_bytes);
  self->is_match[name] = yes ? YES : NO;
  self->n_names += yes;
}

static void
add_chunk (LnsFindSearch *self, const LnsNameMatch *match, Lane *lane, const LnsChunk *chunk)
{
  Hit hit = { .n_before = lane->n };
  for (uint32_t i = 0; i < chunk->n; i++)
    {
      look_at (self, match, chunk->name[i]);
      if (!is_match (self, chunk->name[i]))
        continue;
      if (lane->n++ == hit.n_before)
        {
          hit.first_ns = chunk->start_ns[i];
          hit.first = chunk->first + i;
        }
      hit.last_ns = chunk->start_ns[i];
      hit.last = chunk->first + i;
    }
  if (lane->n == hit.n_before)
    return;
  hit.index = lns_report_chunk_of (self->report, chunk->lane, hit.first);
  if (lane->hits == NULL)
    lane->hits = g_array_new (FALSE, FALSE, sizeof (Hit));
  g_array_append_val (lane->hits, hit);
}

static bool
walk (LnsFindSearch *self,
      const LnsNameMatch *match,
      atomic_uint *ret_permille,
      GCancellable *cancellable)
{
  uint64_t n_all = MAX (lns_report_info (self->report)->n_events, 1);
  uint64_t n_seen = 0;
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (self->report, &n);
  for (uint32_t id = 0; id < self->n_lanes; id++)
    {
      if (lanes[id].kind == LNS_LANE_NVTX_PROJECTED)
        continue; /* would find each range once more for each stream */
      LnsChunkWalker *walker =
          lns_chunk_walker_new (self->report, id, LNS_COLUMN_BIT (LNS_COLUMN_NAME));
      LnsError problem = { 0 };
      const LnsChunk *chunk;
      while ((chunk = lns_chunk_walker_next (walker, &problem)) != NULL ||
             problem.domain != LNS_ERROR_NONE)
        {
          problem = (LnsError){ 0 };
          if (g_cancellable_is_cancelled (cancellable))
            break;
          if (chunk == NULL)
            continue;
          add_chunk (self, match, &self->lanes[id], chunk);
          n_seen += chunk->n;
          if (ret_permille != NULL)
            atomic_store (ret_permille, (unsigned)(MIN (n_seen, n_all) * 1000 / n_all));
        }
      lns_chunk_walker_free (walker);
      self->n_events += self->lanes[id].n;
      if (g_cancellable_is_cancelled (cancellable))
        return false;
    }
  return true;
}

LnsFindSearch *
lns_find_search_new (LnsReport *report,
                     const LnsNameMatch *match,
                     atomic_uint *ret_permille,
                     GCancellable *cancellable)
{
  g_autoptr (LnsFindSearch) self = g_atomic_rc_box_new0 (LnsFindSearch);
  self->report = lns_report_ref (report);
  self->n_strings = lns_report_n_strings (report);
  self->is_match = g_new0 (uint8_t, MAX (self->n_strings, 1));
  lns_report_lanes (report, &self->n_lanes);
  self->lanes = g_new0 (Lane, MAX (self->n_lanes, 1));
  return walk (self, match, ret_permille, cancellable) ? g_steal_pointer (&self) : NULL;
}

/* --- Steps --------------------------------------------------------------------------------- */

static int
compare (const LnsFindPlace *a, const LnsFindPlace *b)
{
  return LNS_COMPARE (a->start_ns, b->start_ns)
             ?: LNS_COMPARE (a->lane, b->lane)
             ?: LNS_COMPARE (a->ordinal, b->ordinal);
}

static const Hit *
hit_at (const Lane *lane, uint32_t i)
{
  return &g_array_index (lane->hits, Hit, i);
}

static LnsFindPlace
first_of (uint32_t lane, const Hit *hit)
{
  return (LnsFindPlace){ hit->first_ns, lane, hit->first };
}

static LnsFindPlace
last_of (uint32_t lane, const Hit *hit)
{
  return (LnsFindPlace){ hit->last_ns, lane, hit->last };
}

/* Whether the last match of HIT is before FROM or (not OR_AT) at it. */
static bool
ends_before (const Hit *hit, uint32_t lane, const LnsFindPlace *from, bool or_at)
{
  LnsFindPlace last = last_of (lane, hit);
  return compare (&last, from) + or_at <= 0;
}

/* The first hit of the lane whose last match is after FROM (or, OR_AT, at it), or hits->len. */
static uint32_t
hit_after (const Lane *lane, uint32_t id, const LnsFindPlace *from, bool or_at)
{
  return (uint32_t)LNS_LOWER_BOUND (lane->hits->len, i,
                                    ends_before (hit_at (lane, (uint32_t)i), id, from, or_at));
}

/* The matches before and after FROM in the chunk that contains it. */
typedef struct
{
  bool has_before, has_after;
  LnsFindPlace before, after;
  uint64_t n_before; /* matches before FROM */
} Sides;

static bool
look_inside (const LnsFindSearch *self,
             uint32_t id,
             const Hit *hit,
             const LnsFindPlace *from,
             Sides *ret_sides)
{
  const LnsChunk *chunk =
      lns_report_chunk (self->report, id, hit->index, LNS_COLUMN_BIT (LNS_COLUMN_NAME), NULL);
  *ret_sides = (Sides){ 0 };
  if (chunk == NULL)
    return false;
  for (uint32_t i = 0; i < chunk->n && !ret_sides->has_after; i++)
    {
      if (!is_match (self, chunk->name[i]))
        continue;
      LnsFindPlace place = { chunk->start_ns[i], id, chunk->first + i };
      int order = compare (&place, from);
      if (order < 0)
        {
          ret_sides->before = place;
          ret_sides->has_before = true;
          ret_sides->n_before++;
        }
      else if (order > 0)
        {
          ret_sides->after = place;
          ret_sides->has_after = true;
        }
    }
  lns_chunk_unref (chunk);
  return true;
}

/* The nearest match of lane ID on the wanted side of FROM. */
static bool
step_in_lane (const LnsFindSearch *self,
              uint32_t id,
              const LnsFindPlace *from,
              bool forward,
              LnsFindPlace *ret_place)
{
  const Lane *lane = &self->lanes[id];
  Sides sides;
  if (lane->hits == NULL)
    return false;
  uint32_t i = hit_after (lane, id, from, !forward);
  if (i < lane->hits->len)
    {
      const Hit *hit = hit_at (lane, i);
      LnsFindPlace first = first_of (id, hit);
      int order = compare (&first, from);
      if (forward && order > 0)
        {
          *ret_place = first;
          return true;
        }
      if (order < 0 || forward)
        {
          bool readable = look_inside (self, id, hit, from, &sides);
          *ret_place = forward ? sides.after : sides.before;
          return readable && (forward ? sides.has_after : sides.has_before);
        }
    }
  if (forward || i == 0)
    return false;
  *ret_place = last_of (id, hit_at (lane, i - 1));
  return true;
}

/* How many matches of lane ID come before PLACE. */
static uint64_t
count_before (const LnsFindSearch *self, uint32_t id, const LnsFindPlace *place)
{
  const Lane *lane = &self->lanes[id];
  Sides sides;
  if (lane->hits == NULL)
    return 0;
  uint32_t i = hit_after (lane, id, place, true);
  if (i == lane->hits->len)
    return lane->n;
  const Hit *hit = hit_at (lane, i);
  LnsFindPlace first = first_of (id, hit);
  if (compare (&first, place) >= 0 || !look_inside (self, id, hit, place, &sides))
    return hit->n_before;
  return hit->n_before + sides.n_before;
}

static bool
nearest (const LnsFindSearch *self, const LnsFindPlace *from, bool forward, LnsFindPlace *ret_place)
{
  bool found = false;
  for (uint32_t id = 0; id < self->n_lanes; id++)
    {
      LnsFindPlace place;
      if (!step_in_lane (self, id, from, forward, &place))
        continue;
      if (!found || (compare (&place, ret_place) < 0) == forward)
        *ret_place = place;
      found = true;
    }
  return found;
}

bool
lns_find_search_step (const LnsFindSearch *self,
                      const LnsFindPlace *from,
                      bool forward,
                      LnsFindPlace *ret_place,
                      uint64_t *ret_number)
{
  const LnsFindPlace start = { INT64_MIN, 0, 0 };
  const LnsFindPlace end = { INT64_MAX, UINT32_MAX, UINT64_MAX };
  const LnsFindPlace here = *from; /* may be *RET_PLACE */
  if (!nearest (self, &here, forward, ret_place) &&
      !nearest (self, forward ? &start : &end, forward, ret_place))
    return false;
  *ret_number = 1;
  for (uint32_t id = 0; id < self->n_lanes; id++)
    *ret_number += count_before (self, id, ret_place);
  return true;
}
