/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/extract/page-items.h"

#include <math.h>
#include <stdlib.h>

#include "src/analysis/facts/thread-states.h"
#include "src/base/compare.h"
#include "src/base/heap.h"
#include "src/base/language.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/tables/lanes.h"

#define _(text) lns_text (text)

typedef struct
{
  LnsPageNames *names;
  uint32_t lane;
  LnsLaneKind kind;
  const LnsFilterSpan *span;
  const atomic_bool *cancel;
  uint64_t first, n;
  LnsPageItem *longest; /* a heap, the shortest on top, once it is full                          */
  size_t n_longest, n_most;
  LnsPageStrip *strip;
  /* Density, and the places of the longest ones, which it leaves out. */
  double *busy;
  uint64_t *counts;
  uint32_t n_places;
  size_t next;
} Reader;

bool
_lns_page_items_count (LnsReport *report,
                       uint32_t lane,
                       const LnsFilterSpan *span,
                       uint64_t *ret_first,
                       uint64_t *ret_n,
                       LnsError *error)
{
  const uint64_t n_events = lns_report_lane_info (report, lane)->n_events;
  uint64_t first, end = n_events;
  LnsEvent event;

  *ret_n = 0;
  if (!lns_report_find (report, lane, span->start_ns, &first, error) ||
      !lns_report_find (report, lane, lns_sum (span->end_ns, 1), &end, error))
    return false;
  /* The first one that ends behind the span may begin in it. */
  if (end < n_events)
    {
      if (!lns_report_event (report, lane, end, &event, error))
        return false;
      end += event.start_ns <= span->end_ns;
    }
  *ret_n = end > first ? end - first : 0;
  if (ret_first != NULL)
    *ret_first = first;
  return true;
}

/* ---- Events ----------------------------------------------------------------------------------- */

typedef void (*ItemFunc) (Reader *reader, const LnsPageItem *item);

static const char *
state_name (LnsThreadState state)
{
  static const char *const names[LNS_N_STATES] = {
    [LNS_STATE_NONE] = N_ ("Not there"),    [LNS_STATE_RUNNING] = N_ ("Running"),
    [LNS_STATE_RUNNABLE] = N_ ("Runnable"), [LNS_STATE_BLOCKED] = N_ ("Blocked"),
    [LNS_STATE_OFF] = N_ ("Not running"),   [LNS_STATE_UNINTERRUPTIBLE] = N_ ("Uninterruptible"),
    [LNS_STATE_UNKNOWN] = N_ ("Not known"),
  };
  return _ (names[state]);
}

/* Makes of a switch what the thread does until the next one, which begins at NEXT_NS. */
static void
take_switch (Reader *reader, const LnsEvent *event, int64_t next_ns, LnsPageItem *item)
{
  const bool is_in = event->extra[lns_lane_kind_extra (reader->kind, LNS_COLUMN_SCHED_IN)] != 0;
  const LnsThreadState state = lns_thread_state_of (
      is_in, event->extra[lns_lane_kind_extra (reader->kind, LNS_COLUMN_THREAD_STATE)],
      event->flags);

  if (!is_in)
    item->duration_ns = next_ns > event->start_ns ? next_ns - event->start_ns : 0;
  item->name = _lns_page_names_of_text (reader->names, state_name (state));
  item->color = (uint32_t)state + 1;
}

static LnsPageItem
item_of (Reader *reader, const LnsEvent *event, uint64_t ordinal)
{
  const int color = lns_lane_kind_extra (reader->kind, LNS_COLUMN_COLOR);
  const bool has_length = lns_event_has_length (event->flags);

  return (LnsPageItem){ .start_ns = event->start_ns,
                        .duration_ns = has_length ? event->duration_ns : 0,
                        .ordinal = ordinal,
                        .color = color >= 0 ? (uint32_t)event->extra[color] : 0,
                        .is_open = !has_length ||
                                   (event->flags & (LNS_EVENT_OPEN_START | LNS_EVENT_OPEN_END)) };
}

/* Gives FUNCTION the events of the span. A switch is given with the next one, as it lasts until that. */
static bool
read_items (Reader *reader, ItemFunc function, LnsError *error)
{
  LnsReport *report = reader->names->report;
  LnsChunkWalker *walker = lns_chunk_walker_new (report, reader->lane, 0);
  const uint64_t end = reader->first + reader->n;
  const LnsChunk *chunk;
  LnsEvent waiting = { 0 };
  bool is_waiting = false;
  LnsError local = { 0 };

  lns_chunk_walker_seek (walker, lns_report_chunk_of (report, reader->lane, reader->first));
  for (uint64_t at = reader->first;
       at < end && (chunk = lns_chunk_walker_next (walker, &local)) != NULL;)
    {
      for (uint32_t i = at > chunk->first ? (uint32_t)(at - chunk->first) : 0;
           i < chunk->n && at < end; i++, at++)
        {
          const LnsEvent event = lns_chunk_event (chunk, i);
          LnsPageItem item = item_of (reader, &event, at);
          if (reader->kind != LNS_LANE_SCHED)
            {
              item.name = _lns_page_names_of_event (reader->names, reader->lane, &event);
              function (reader, &item);
              continue;
            }
          if (is_waiting)
            {
              LnsPageItem before = item_of (reader, &waiting, at - 1);
              take_switch (reader, &waiting, event.start_ns, &before);
              function (reader, &before);
            }
          waiting = event;
          is_waiting = true;
        }
      if (!lns_go_on (reader->cancel, &local))
        break;
    }
  lns_chunk_walker_free (walker);
  if (is_waiting && local.domain == LNS_ERROR_NONE)
    {
      LnsPageItem last = item_of (reader, &waiting, end - 1);
      take_switch (reader, &waiting, reader->span->end_ns, &last);
      function (reader, &last);
    }
  return local.domain == LNS_ERROR_NONE ||
         lns_error_set (error, local.domain, local.code, "%s", local.message);
}

/* ---- The longest ------------------------------------------------------------------------------ */

/* Whether A is to go before B. */
static bool
is_less (const LnsPageItem *x, const LnsPageItem *y)
{
  return x->duration_ns != y->duration_ns ? x->duration_ns < y->duration_ns
                                          : x->ordinal > y->ordinal;
}

static void
choose (Reader *reader, const LnsPageItem *item)
{
  if (reader->n_longest < reader->n_most)
    {
      reader->longest[reader->n_longest++] = *item;
      for (size_t i = reader->n_longest / 2; reader->n_longest == reader->n_most && i > 0; i--)
        LNS_HEAP_SINK (reader->longest, reader->n_longest, i - 1, a, b, is_less (a, b));
    }
  else if (reader->n_most > 0 && is_less (&reader->longest[0], item))
    {
      reader->longest[0] = *item;
      LNS_HEAP_SINK (reader->longest, reader->n_longest, 0, a, b, is_less (a, b));
    }
}

static int
compare_items (const void *a, const void *b)
{
  const LnsPageItem *x = a, *y = b;

  return LNS_COMPARE (x->ordinal, y->ordinal);
}

/* ---- Density ---------------------------------------------------------------------------------- */

static void
spread (Reader *reader, const LnsPageItem *item)
{
  const double origin = (double)reader->span->start_ns,
               width = ((double)reader->span->end_ns - origin) / reader->n_places;
  double from = ((double)item->start_ns - origin) / width,
         to = from + (double)item->duration_ns / width;

  if (reader->next < reader->n_longest && reader->longest[reader->next].ordinal == item->ordinal)
    {
      reader->next++;
      return;
    }
  if (item->duration_ns > reader->strip->longest_ns)
    reader->strip->longest_ns = item->duration_ns;
  from = fmin (fmax (from, 0), reader->n_places - 1e-9);
  to = fmin (fmax (to, from), reader->n_places);
  reader->counts[(size_t)from]++;
  for (size_t place = (size_t)from; place < reader->n_places && (double)place < to; place++)
    reader->busy[place] += fmin (to, (double)place + 1) - fmax (from, (double)place);
}

static void
pack_density (Reader *reader)
{
  for (uint32_t i = 0; i < reader->n_places; i++)
    {
      const double share = fmin (255, ceil (reader->busy[i] * 255));
      lns_buffer_append_int (&reader->strip->density, (uint64_t)share, 1);
    }
  for (uint32_t i = 0; i < reader->n_places; i++)
    lns_buffer_append_varint (&reader->strip->density, reader->counts[i]);
}

/* ---- Both ------------------------------------------------------------------------------------- */

/* Small numbers of either sign are small. */
static uint64_t
fold (int64_t value)
{
  return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

void
_lns_page_items_pack (
    LnsBuffer *events, const LnsPageItem *items, size_t n, int64_t origin_ns, bool has_colors)
{
  for (size_t i = 0; i < n; origin_ns = items[i++].start_ns)
    {
      lns_buffer_append_varint (events, fold (lns_difference (items[i].start_ns, origin_ns)));
      lns_buffer_append_varint (events, (uint64_t)items[i].duration_ns << 1 | items[i].is_open);
      lns_buffer_append_varint (events, items[i].name);
      if (has_colors)
        lns_buffer_append_varint (events, items[i].color);
    }
}

bool
_lns_page_items_read (LnsPageNames *names,
                      uint32_t lane,
                      const LnsFilterSpan *span,
                      size_t n_most,
                      uint32_t n_places,
                      const atomic_bool *cancel,
                      LnsPageStrip *ret_strip,
                      LnsError *error)
{
  Reader reader = { .names = names,
                    .lane = lane,
                    .kind = lns_report_lanes (names->report, NULL)[lane].kind,
                    .span = span,
                    .cancel = cancel,
                    .strip = ret_strip,
                    .n_places = n_places };

  *ret_strip = (LnsPageStrip){ 0 };
  if (!_lns_page_items_count (names->report, lane, span, &reader.first, &reader.n, error))
    return false;
  ret_strip->n = reader.n;
  reader.n_most = reader.n < n_most ? (size_t)reader.n : n_most;
  reader.longest = lns_calloc (reader.n_most, sizeof *reader.longest);
  bool good = read_items (&reader, choose, error);
  if (reader.n_longest > 0)
    qsort (reader.longest, reader.n_longest, sizeof *reader.longest, compare_items);
  ret_strip->n_left = reader.n - reader.n_longest;
  if (good && ret_strip->n_left > 0)
    {
      reader.busy = lns_calloc (n_places, sizeof *reader.busy);
      reader.counts = lns_calloc (n_places, sizeof *reader.counts);
      good = read_items (&reader, spread, error);
      pack_density (&reader);
      free (reader.busy);
      free (reader.counts);
    }
  for (size_t i = 0; i < reader.n_longest; i++)
    ret_strip->has_colors |= reader.longest[i].color != 0;
  _lns_page_items_pack (&ret_strip->events, reader.longest, reader.n_longest, span->start_ns,
                        ret_strip->has_colors);
  free (reader.longest);
  return good;
}

void
_lns_page_strip_clear (LnsPageStrip *strip)
{
  lns_buffer_clear (&strip->events);
  lns_buffer_clear (&strip->density);
  *strip = (LnsPageStrip){ 0 };
}
