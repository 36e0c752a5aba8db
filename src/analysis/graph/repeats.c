/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/repeats.h"

#include <stdlib.h>

#include "src/base/compare.h"
#include "src/base/memory.h"

/* No more places than this are kept: 64 MB. */
#define MOST_PLACES 4000000

/* A place that was passed less often is none that repeats. */
#define LEAST_TIMES 4

/* A rule that was broken in more than this share of its cases is none. */
#define MOST_BROKEN 0.02

/* What is later than this was not broken by clocks that differ. */
#define TOLERANCE_NS INT64_C (20000)

/* Within so long a thread that had another one go on passes the next place, or has passed the last, if it was there. */
#define SOON_NS INT64_C (200000)

/* A rule of which there are so many times fewer waits than of another one is rare. */
#define RARE 4

typedef struct
{
  LNS_ARRAY (LnsPlace) places;
  size_t last_wait; /* 1 + index of its last wait, or 0                                          */
} Passing;

/* A wait that was one: the thread could pass a place when the other one had passed one of its own. */
typedef struct
{
  uint32_t thread, other; /* instances                                                         */
  uint32_t place;         /* index of the first place that the thread passed afterwards        */
  uint32_t other_place;   /* of the last one that the other one passed before                  */
  uint32_t name, other_name;
  int64_t start_ns, woken_ns;
  bool is_none;  /* it was for nothing                                                           */
  int64_t apart; /* how many times more the other one had passed its place                       */
} Wait;

struct LnsRepeats
{
  Passing *threads;
  uint32_t n_threads;
  size_t n_places;
  LnsIdMap times;  /* thread << 32 | name -> how often it was passed                             */
  LnsIdMap waited; /* by wait_key (): 1: it waited                                               */
  LNS_ARRAY (Wait) waits;
};

LnsRepeats *
lns_repeats_new (uint32_t n_threads)
{
  LnsRepeats *repeats = lns_calloc (1, sizeof *repeats);

  repeats->threads = lns_calloc ((size_t)n_threads + 1, sizeof *repeats->threads);
  repeats->n_threads = n_threads;
  return repeats;
}

void
lns_repeats_free (LnsRepeats *repeats)
{
  if (repeats == NULL)
    return;
  for (uint32_t i = 0; i < repeats->n_threads; i++)
    lns_array_clear (&repeats->threads[i].places);
  lns_array_clear (&repeats->waits);
  lns_id_map_clear (&repeats->times);
  lns_id_map_clear (&repeats->waited);
  free (repeats->threads);
  free (repeats);
}

static uint64_t
key_of (uint32_t thread, uint32_t name)
{
  return (uint64_t)thread << 32 | name;
}

/* What tells apart waits of the thread of WAIT for the other one before PLACE, an index. */
static uint64_t
wait_key (const LnsRepeats *repeats, const Wait *wait, uint32_t place)
{
  return ((uint64_t)wait->thread * repeats->n_threads + wait->other) << 32 | place;
}

void
lns_repeats_pass (
    LnsRepeats *repeats, uint32_t thread, uint32_t name, bool begins, uint32_t point, uint32_t n)
{
  const uint32_t place = name << 1 | !begins;
  const uint64_t time = lns_id_map_number (&repeats->times, key_of (thread, place));

  if (repeats->n_places >= MOST_PLACES)
    return;
  repeats->n_places++;
  lns_id_map_set_number (&repeats->times, key_of (thread, place), time + 1);
  *lns_array_add (&repeats->threads[thread].places) =
      (LnsPlace){ .name = place, .time = (uint32_t)time, .point = point, .n = n };
}

const LnsPlace *
lns_repeats_places (const LnsRepeats *repeats, uint32_t thread, size_t *ret_n)
{
  *ret_n = repeats->threads[thread].places.n;
  return repeats->threads[thread].places.items;
}

uint32_t
lns_repeats_n_threads (const LnsRepeats *repeats)
{
  return repeats->n_threads;
}

bool
lns_repeats_last_place (const LnsRepeats *repeats,
                        uint32_t thread,
                        int64_t time_ns,
                        const int64_t *times,
                        uint32_t *ret_place)
{
  const LnsPlace *places = repeats->threads[thread].places.items;
  size_t i = repeats->threads[thread].places.n;

  while (i > 0 && times[places[i - 1].point] > time_ns)
    i--;
  /* It may wait between two another time. */
  while (i > 1 && times[places[i - 2].point] == times[places[i - 1].point])
    i--;
  *ret_place = (uint32_t)i - 1;
  return i > 0;
}

void
lns_repeats_wait (LnsRepeats *repeats,
                  uint32_t thread,
                  uint32_t other,
                  int64_t start_ns,
                  int64_t woken_ns,
                  const int64_t *times)
{
  uint32_t last;

  repeats->threads[thread].last_wait = 0;
  if (!lns_repeats_last_place (repeats, other, woken_ns, times, &last))
    return;
  *lns_array_add (&repeats->waits) = (Wait){ .thread = thread,
                                             .other = other,
                                             .place = (uint32_t)repeats->threads[thread].places.n,
                                             .other_place = last,
                                             .start_ns = start_ns,
                                             .woken_ns = woken_ns };
  repeats->threads[thread].last_wait = repeats->waits.n;
}

void
lns_repeats_take_back (LnsRepeats *repeats, uint32_t thread)
{
  const size_t last = repeats->threads[thread].last_wait;

  if (last > 0)
    repeats->waits.items[last - 1].is_none = true;
  repeats->threads[thread].last_wait = 0;
}

/* Waits of one rule follow one another. */
static int
compare_waits (const void *a, const void *b)
{
  const Wait *wa = a, *wb = b;
  return LNS_COMPARE (wa->thread, wb->thread)
             ?: LNS_COMPARE (wa->name, wb->name)
             ?: LNS_COMPARE (wa->other, wb->other)
             ?: LNS_COMPARE (wa->other_name, wb->other_name)
             ?: LNS_COMPARE (wa->apart, wb->apart) ?: LNS_COMPARE (wa->place, wb->place);
}

static bool
is_same_rule (const Wait *a, const Wait *b)
{
  return a->thread == b->thread && a->name == b->name && a->other == b->other &&
         a->other_name == b->other_name && a->apart == b->apart;
}

/* The points of OTHER's place called NAME by its times. To be freed. */
static uint32_t *
points_of (const Passing *other, uint32_t name, size_t n)
{
  uint32_t *points = lns_calloc (n + 1, sizeof *points);

  for (size_t i = 0; i < other->places.n; i++)
    if (other->places.items[i].name == name && other->places.items[i].time < n)
      points[other->places.items[i].time] = other->places.items[i].point;
  return points;
}

/* Where the edges of a rule go. Of what a thread does between two places the wait is one instant: what is nearer to it stands for it, so that
 * what lies between the wait and the other place is not taken for a part of the wait. */
typedef struct
{
  bool at_last;       /* at the place before the wait, where that can be, and not at the next    */
  uint32_t last_name; /* of that                                                                 */
  /* How long after the place of the other thread each of both comes at the earliest. */
  int64_t last_lag_ns, next_lag_ns;
} Spot;

/* The spot of the N WAITS of a rule. */
static Spot
spot_of (const LnsRepeats *repeats, const Wait *waits, size_t n, const int64_t *times)
{
  int64_t next_lag_ns = INT64_MAX, last_lag_ns = INT64_MAX, before_ns = INT64_MAX;
  double after_sum = 0, before_sum = 0;
  bool has_last = true;
  uint32_t last_name = 0;

  for (size_t i = 0; i < n && waits[i].place > 0; i++)
    last_name = repeats->threads[waits[i].thread].places.items[waits[i].place - 1].name;
  for (size_t i = 0; i < n; i++)
    {
      const Wait *wait = &waits[i];
      const LnsPlace *places = repeats->threads[wait->thread].places.items;
      const int64_t next_ns = times[places[wait->place].point],
                    other_ns =
                        times[repeats->threads[wait->other].places.items[wait->other_place].point];
      if (next_ns - other_ns < next_lag_ns)
        next_lag_ns = next_ns - other_ns;
      after_sum += (double)(next_ns - wait->woken_ns);
      has_last &= wait->place > 0 && places[wait->place - 1].name == last_name;
      if (!has_last)
        continue;
      const int64_t ns = wait->start_ns - times[places[wait->place - 1].point];
      before_sum += (double)ns;
      before_ns = ns < before_ns ? ns : before_ns;
      if (wait->woken_ns - other_ns < last_lag_ns)
        last_lag_ns = wait->woken_ns - other_ns;
    }
  return has_last && before_sum < after_sum
             ? (Spot){ true, last_name, last_lag_ns - before_ns, next_lag_ns }
             : (Spot){ .next_lag_ns = next_lag_ns };
}

uint32_t
lns_place_free_point (const LnsPlace *place, const LnsGraph *graph)
{
  for (uint32_t i = place->point; i < place->point + place->n; i++)
    if (i > 0 && graph->source[i] == LNS_POINT_NONE)
      return i;
  return LNS_POINT_NONE;
}

/* Adds the edge from SOURCE to PLACE, or to LAST, the one before it, as SPOT says. Returns whether it could. */
static bool
add_edge (LnsGraph *graph,
          const int64_t *times,
          const LnsPlace *place,
          const LnsPlace *last,
          uint32_t source,
          const Spot *spot)
{
  uint32_t point = spot->at_last && last != NULL && last->name == spot->last_name
                       ? lns_place_free_point (last, graph)
                       : LNS_POINT_NONE;
  int64_t lag_ns = spot->last_lag_ns;

  /* Where the other one comes only after that place, it is the next one. */
  if (point == LNS_POINT_NONE || source >= point)
    {
      point = lns_place_free_point (place, graph);
      lag_ns = spot->next_lag_ns;
    }
  if (point == LNS_POINT_NONE || source >= point)
    return false;
  const int64_t slack_ns = times[point] - times[source];
  lns_graph_set_source (graph, point, source, slack_ns < lag_ns ? slack_ns : lag_ns,
                        LNS_EDGE_WAKE | LNS_POINT_INFERRED | LNS_POINT_NOT_BOUND);
  return true;
}

/* Applies the rule of the N WAITS: in a first pass only counts how often it was broken. Returns how many edges there are. */
static size_t
apply_rule (LnsRepeats *repeats, LnsGraph *graph, const int64_t *times, const Wait *waits, size_t n)
{
  const Passing *self = &repeats->threads[waits->thread], *other = &repeats->threads[waits->other];
  const size_t n_times =
      lns_id_map_number (&repeats->times, key_of (waits->other, waits->other_name));
  const size_t n_own = lns_id_map_number (&repeats->times, key_of (waits->thread, waits->name));
  if (n_times < LEAST_TIMES || n_own < LEAST_TIMES)
    return 0;
  uint32_t *points = points_of (other, waits->other_name, n_times);
  const Spot spot = spot_of (repeats, waits, n, times);
  size_t n_broken = 0, n_cases = 0, n_added = 0;

  for (int pass = 0; pass < 2; pass++)
    {
      for (size_t i = 0; i < self->places.n; i++)
        {
          const LnsPlace *place = &self->places.items[i];
          const int64_t time = place->time + waits->apart;
          if (place->name != waits->name || time < 0 || time >= (int64_t)n_times)
            continue;
          if (lns_id_map_number (&repeats->waited, wait_key (repeats, waits, (uint32_t)i)) != 0)
            continue; /* it waited there */
          const uint32_t source = points[time];
          n_cases += pass == 0;
          n_broken += pass == 0 && times[place->point] - times[source] < -TOLERANCE_NS;
          if (pass == 1)
            n_added += add_edge (graph, times, place, i > 0 ? &self->places.items[i - 1] : NULL,
                                 source, &spot);
        }
      if ((double)n_broken > MOST_BROKEN * (double)n_cases)
        break;
    }
  free (points);
  return n_added;
}

/* Fills in what the waits have in common with others, and leaves those out after which the thread passed no place. */
static void
name_waits (LnsRepeats *repeats)
{
  size_t n = 0;

  for (size_t i = 0; i < repeats->waits.n; i++)
    {
      Wait wait = repeats->waits.items[i];
      const Passing *self = &repeats->threads[wait.thread], *other = &repeats->threads[wait.other];
      if (wait.is_none || wait.place >= self->places.n)
        continue;
      const LnsPlace *place = &self->places.items[wait.place],
                     *other_place = &other->places.items[wait.other_place];
      lns_id_map_set_number (&repeats->waited, wait_key (repeats, &wait, wait.place), 1);
      wait.name = place->name;
      wait.other_name = other_place->name;
      wait.apart = (int64_t)other_place->time - place->time;
      repeats->waits.items[n++] = wait;
    }
  repeats->waits.n = n;
}

/* How many waits from index I on are of its rule. */
static size_t
length_of_rule (const LnsRepeats *repeats, size_t i)
{
  const Wait *waits = repeats->waits.items;
  size_t n = 1;

  while (i + n < repeats->waits.n && is_same_rule (&waits[i], &waits[i + n]))
    n++;
  return n;
}

/* The place of the other thread that is next after it had the one of WAIT go on, if that is shortly afterwards, or NULL. */
static const LnsPlace *
next_of_other (const LnsRepeats *repeats, const Wait *wait, const int64_t *times)
{
  const Passing *other = &repeats->threads[wait->other];
  const LnsPlace *next =
      wait->other_place + 1 < other->places.n ? &other->places.items[wait->other_place + 1] : NULL;

  return next != NULL && times[next->point] - wait->woken_ns >= 0 &&
                 times[next->point] - wait->woken_ns < SOON_NS
             ? next
             : NULL;
}

/* Where those who had threads go on had always passed a place long before, and the next one shortly afterwards, it is that. */
static void
look_ahead (LnsRepeats *repeats, const int64_t *times)
{
  for (size_t i = 0, n; i < repeats->waits.n; i += n)
    {
      bool is_next = true;
      n = length_of_rule (repeats, i);
      for (size_t k = i; k < i + n && is_next; k++)
        {
          const Wait *wait = &repeats->waits.items[k];
          const LnsPlace *last = &repeats->threads[wait->other].places.items[wait->other_place];
          is_next = wait->woken_ns - times[last->point] > SOON_NS &&
                    next_of_other (repeats, wait, times) != NULL;
        }
      for (size_t k = i; k < i + n && is_next; k++)
        {
          Wait *wait = &repeats->waits.items[k];
          wait->apart += (int64_t)next_of_other (repeats, wait, times)->time -
                         repeats->threads[wait->other].places.items[wait->other_place].time;
          wait->other_name = next_of_other (repeats, wait, times)->name;
          wait->other_place++;
        }
    }
}

/* Forgets of the N waits from index I on, of one place, those of rare rules that the most frequent one explains as well: several threads were told
 * that something is different, and who told them last need not be who they waited for. */
static void
drop_explained (LnsRepeats *repeats, size_t i, size_t n, const int64_t *times)
{
  Wait *waits = repeats->waits.items;
  size_t best = i, n_best = 0;

  for (size_t k = i, n_rule; k < i + n; k += n_rule)
    {
      n_rule = length_of_rule (repeats, k);
      if (n_rule > n_best)
        best = k;
      n_best = n_rule > n_best ? n_rule : n_best;
    }
  if (n_best == n || n_best < RARE)
    return;
  const size_t n_times =
      lns_id_map_number (&repeats->times, key_of (waits[best].other, waits[best].other_name));
  uint32_t *points =
      points_of (&repeats->threads[waits[best].other], waits[best].other_name, n_times);
  for (size_t k = i, n_rule; k < i + n; k += n_rule)
    {
      n_rule = length_of_rule (repeats, k);
      for (size_t j = k; n_rule * RARE <= n_best && j < k + n_rule; j++)
        {
          const int64_t time = repeats->threads[waits[j].thread].places.items[waits[j].place].time +
                               waits[best].apart;
          if (time < 0 || time >= (int64_t)n_times)
            continue;
          const int64_t ns = waits[j].woken_ns - times[points[time]];
          waits[j].is_none = ns > -SOON_NS && ns < SOON_NS;
        }
    }
  free (points);
}

static void
drop_all_explained (LnsRepeats *repeats, const int64_t *times)
{
  const Wait *waits = repeats->waits.items;
  size_t n_kept = 0;

  for (size_t i = 0, n; i < repeats->waits.n; i += n)
    {
      for (n = 1; i + n < repeats->waits.n && waits[i + n].thread == waits[i].thread &&
                  waits[i + n].name == waits[i].name;)
        n++;
      drop_explained (repeats, i, n, times);
    }
  for (size_t i = 0; i < repeats->waits.n; i++)
    if (!waits[i].is_none)
      repeats->waits.items[n_kept++] = waits[i];
  repeats->waits.n = n_kept;
}

size_t
lns_repeats_apply (LnsRepeats *repeats, LnsGraph *graph, const int64_t *times)
{
  size_t n_added = 0;

  name_waits (repeats);
  if (repeats->waits.n == 0)
    return 0;
  qsort (repeats->waits.items, repeats->waits.n, sizeof *repeats->waits.items, compare_waits);
  look_ahead (repeats, times);
  qsort (repeats->waits.items, repeats->waits.n, sizeof *repeats->waits.items, compare_waits);
  drop_all_explained (repeats, times);
  for (size_t i = 0, n; i < repeats->waits.n; i += n)
    {
      n = length_of_rule (repeats, i);
      n_added += apply_rule (repeats, graph, times, &repeats->waits.items[i], n);
    }
  return n_added;
}
