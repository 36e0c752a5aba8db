/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/event-set.h"

#include <glib/gi18n.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/facts/thread-states.h"
#include "src/base/compare.h"
#include "src/base/format.h"
#include "src/base/saturate.h"
#include "src/base/search.h"
#include "src/store/read/call-walk.h"
#include "ui/events/event-sort.h"
#include "ui/model/event-text.h"

LnsEventSet *
lns_event_set_ref (LnsEventSet *self)
{
  g_atomic_ref_count_inc (&self->refs);
  return self;
}

/* Sets of this many rows take noticeably long to free. */
#define LARGE_ROWS (1u << 20)

static gpointer
free_set (gpointer data)
{
  LnsEventSet *self = data;

  lns_event_numbers_clear (&self->start_ns);
  lns_event_numbers_clear (&self->duration_ns);
  lns_event_numbers_clear (&self->name);
  lns_event_numbers_clear (&self->place);
  g_free (self->category);
  g_free (self->thread);
  g_free (self->payload_type);
  lns_event_numbers_clear (&self->payload);
  g_free (self->flags);
  g_free (self->names);
  g_free (self->lanes);
  g_free (self->first_place);
  g_free (self->first_ordinal);
  g_free (self->damage);
  lns_report_close (self->report);
  g_free (self);
  return NULL;
}

void
lns_event_set_unref (LnsEventSet *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->refs))
    return;
  GThread *thread =
      self->n >= LARGE_ROWS ? g_thread_try_new ("free-events", free_set, self, NULL) : NULL;
  if (thread != NULL)
    g_thread_unref (thread);
  else
    free_set (self);
}

/* The last lane that begins at or before the row's place: one that is not empty. */
uint32_t
lns_event_set_lane (const LnsEventSet *self, uint32_t row)
{
  const uint32_t place = lns_event_set_place (self, row);
  return (uint32_t)LNS_LOWER_BOUND (self->n_lanes, i, self->first_place[i] <= place) - 1;
}

void
lns_event_set_id (const LnsEventSet *self, uint32_t row, uint32_t *ret_lane, uint64_t *ret_ordinal)
{
  uint32_t lane = lns_event_set_lane (self, row);
  *ret_lane = self->lanes[lane];
  *ret_ordinal =
      self->first_ordinal[lane] + (lns_event_set_place (self, row) - self->first_place[lane]);
}

bool
lns_event_set_find (
    const LnsEventSet *self, uint32_t lane, uint64_t ordinal, int64_t start_ns, uint32_t *ret_row)
{
  uint32_t first =
      (uint32_t)LNS_LOWER_BOUND (self->n, i, lns_event_set_start (self, (uint32_t)i) < start_ns);
  for (uint32_t row = first; row < self->n && lns_event_set_start (self, row) == start_ns; row++)
    {
      uint32_t row_lane;
      uint64_t row_ordinal;
      lns_event_set_id (self, row, &row_lane, &row_ordinal);
      if (row_lane == lane && row_ordinal == ordinal)
        {
          *ret_row = row;
          return true;
        }
    }
  return false;
}

uint32_t
lns_event_set_n_labels (const LnsEventSet *self)
{
  return self->n_names + LNS_N_STATES;
}

const char *
lns_event_set_label_text (const LnsEventSet *self, uint32_t label, size_t *ret_size_bytes)
{
  if (label < self->n_names)
    return lns_report_string (self->report, self->names[label], ret_size_bytes);
  const char *state = lns_thread_state_name ((LnsThreadState)(label - self->n_names));
  *ret_size_bytes = strlen (state);
  return state;
}

uint64_t
lns_event_set_bytes (const LnsEventSet *self)
{
  uint64_t row_bytes = 0;
  row_bytes += self->category != NULL ? 4 : 0;
  row_bytes += self->thread != NULL ? 4 : 0;
  row_bytes += self->payload_type != NULL ? 1 : 0;
  row_bytes += self->flags != NULL ? 1 : 0;
  return row_bytes * self->n + lns_event_numbers_bytes (&self->start_ns) +
         lns_event_numbers_bytes (&self->duration_ns) + lns_event_numbers_bytes (&self->name) +
         lns_event_numbers_bytes (&self->place) + lns_event_numbers_bytes (&self->payload) +
         UINT64_C (4) * self->n_names;
}

/* --- Loading ----------------------------------------------------------------------------------- *
 *
 * Reads the lanes one after the other, sorts the names, then puts all rows into time order. Replaces: SELECT * FROM the
 * lanes' events ORDER BY start, lane, ordinal. */

/* The most memory that a row takes while the rows are being sorted: numbers may be as wide as 8 bytes, the others are 10, and one
 * column of the most is there twice. */
#define PEAK_ROW_BYTES (32 + 10 + 12)

#define COLUMN_MASK                                                                                \
 (LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_FLAGS) |                           \
  LNS_COLUMN_BIT (LNS_COLUMN_CATEGORY) | LNS_COLUMN_BIT (LNS_COLUMN_PAYLOAD_TYPE) |                \
  LNS_COLUMN_BIT (LNS_COLUMN_PAYLOAD) | LNS_COLUMN_BIT (LNS_COLUMN_THREAD) |                       \
  LNS_COLUMN_BIT (LNS_COLUMN_VALUE) | LNS_COLUMN_BIT (LNS_COLUMN_LAUNCH) |                         \
  LNS_COLUMN_BIT (LNS_COLUMN_COPY_COUNT) | LNS_COLUMN_BIT (LNS_COLUMN_BYTES) |                     \
  LNS_COLUMN_BIT (LNS_COLUMN_RETURN_VALUE))

typedef struct
{
  LnsEventSet *set;
  uint32_t room;      /* rows that the arrays hold                             */
  uint32_t n_strings; /* of the report                                         */
  uint32_t *name_of;  /* per string id: 0 = not seen, else its index in names + 1 */
  int64_t from_ns, to_ns;
  uint64_t n_outside; /* events that were read and do not touch the span */
  uint8_t *kept;      /* a bit a place: wanted; NULL = all */
  atomic_uint *permille;
  GCancellable *cancellable;
} Loading;

static void
tell (const Loading *loading, unsigned permille)
{
  if (loading->permille != NULL)
    atomic_store (loading->permille, permille);
}

static void
set_no_memory (GError **error, uint64_t n)
{
  char count[LNS_FORMAT_SIZE], size[LNS_FORMAT_SIZE];
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE,
               _ ("A table of %s events needs %s of memory, which is more than this machine has "
                  "left; choose a smaller row"),
               lns_format_unsigned (n, count), lns_format_bytes (n * PEAK_ROW_BYTES, size));
}

/* Bytes of memory that are available, or UINT64_MAX if that is not known. */
static uint64_t
available_bytes (void)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents ("/proc/meminfo", &text, NULL, NULL))
    return UINT64_MAX;
  const char *line = strstr (text, "MemAvailable:");
  return line != NULL ? g_ascii_strtoull (line + strlen ("MemAvailable:"), NULL, 10) * 1024
                      : UINT64_MAX;
}

/* Finds the events of LANE that touch the span: ordinals *RET_FIRST … *RET_END - 1. */
static bool
ordinals_of (
    const Loading *loading, uint32_t lane, uint64_t *ret_first, uint64_t *ret_end, GError **error)
{
  LnsReport *report = loading->set->report;
  const LnsLaneInfo *info = lns_report_lane_info (report, lane);
  LnsError problem = { 0 };
  *ret_first = 0;
  *ret_end = info->n_events;
  if (info->n_events == 0)
    return true;
  if ((loading->from_ns > info->start_ns &&
       !lns_report_find (report, lane, loading->from_ns, ret_first, &problem)) ||
      (loading->to_ns < info->end_ns &&
       !lns_report_find (report, lane, loading->to_ns, ret_end, &problem)))
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED, problem.message);
      return false;
    }
  /* The event at the span's end may have begun inside it. */
  if (loading->to_ns < info->end_ns && *ret_end < info->n_events)
    ++*ret_end;
  return true;
}

/* Numbers the events of the lanes and allocates the columns. */
static bool
prepare (Loading *loading, GError **error)
{
  LnsEventSet *set = loading->set;
  uint64_t total = 0;
  for (uint32_t i = 0; i < set->n_lanes; i++)
    {
      uint64_t end;
      if (!ordinals_of (loading, set->lanes[i], &set->first_ordinal[i], &end, error))
        return false;
      set->first_place[i] = (uint32_t)total;
      total += end > set->first_ordinal[i] ? end - set->first_ordinal[i] : 0;
      if (total >= UINT32_MAX || total > available_bytes () / PEAK_ROW_BYTES)
        {
          set_no_memory (error, total);
          return false;
        }
    }
  set->first_place[set->n_lanes] = (uint32_t)total;

  loading->room = (uint32_t)total;
  loading->n_strings = lns_report_n_strings (set->report);
  loading->name_of = g_try_new0 (uint32_t, MAX (loading->n_strings, 1));
  if (loading->name_of != NULL)
    return true;
  set_no_memory (error, total);
  return false;
}

/* Allocates a column when it gets its first value other than 0: most sets do not need all columns. */
#define PUT(loading, column, row, value)                                                           \
 do                                                                                                \
  {                                                                                                \
   if ((value) != 0 && (column) == NULL)                                                           \
    (column) = g_malloc0_n ((loading)->room, sizeof *(column));                                    \
   if ((column) != NULL)                                                                           \
    (column)[row] = (value);                                                                       \
  }                                                                                                \
 while (0)

static inline uint64_t
extra (const LnsChunk *chunk, int index, uint32_t i)
{
  return index >= 0 && chunk->extra[index] != NULL ? chunk->extra[index][i] : 0;
}

/* Values that events of a lane get if they have none: the name and the payload type of a counter's samples. */
typedef struct
{
  LnsLaneKind kind;
  uint32_t name;
  uint8_t payload_type;
  LnsColumnId payload; /* the column that the payload is */
} LaneTraits;

static bool
is_sample (LnsLaneKind kind)
{
  return kind == LNS_LANE_CPU_SAMPLE || kind == LNS_LANE_PYTHON_SAMPLE;
}

static LaneTraits
traits_of (LnsReport *report, uint32_t lane)
{
  const LnsTrack *track = lns_event_track (report, lane);
  LaneTraits traits = { .kind = lns_report_lanes (report, NULL)[lane].kind,
                        .payload = LNS_COLUMN_PAYLOAD };
  if (traits.kind == LNS_LANE_COUNTER && track != NULL)
    {
      traits.name = track->name;
      /* A file may say any number here; those from LNS_EVENT_SET_BYTES on mean something else in a set. */
      traits.payload_type =
          track->value_type < LNS_EVENT_SET_BYTES ? (uint8_t)track->value_type : LNS_PAYLOAD_NONE;
      traits.payload = LNS_COLUMN_VALUE;
    }
  if (traits.kind == LNS_LANE_CUDA_KERNEL)
    {
      traits.payload_type = LNS_EVENT_SET_LAUNCH;
      traits.payload = LNS_COLUMN_LAUNCH;
    }
  else if (traits.kind == LNS_LANE_NVTX_PROJECTED)
    {
      traits.payload_type = LNS_EVENT_SET_OPERATIONS;
      traits.payload = LNS_COLUMN_COPY_COUNT;
    }
  else if (lns_lane_kind_extra (traits.kind, LNS_COLUMN_BYTES) >= 0)
    {
      traits.payload_type = LNS_EVENT_SET_BYTES;
      traits.payload = LNS_COLUMN_BYTES;
    }
  else if (lns_lane_kind_extra (traits.kind, LNS_COLUMN_RETURN_VALUE) >= 0)
    {
      traits.payload_type = LNS_EVENT_SET_RESULT;
      traits.payload = LNS_COLUMN_RETURN_VALUE;
    }
  return traits;
}

/* A sample is called by the function that it was taken in: 0 if it has no call chain. */
static uint32_t
name_of_sample (LnsReport *report, uint64_t chain)
{
  LnsCallWalk walk =
      lns_call_walk (report, chain - 1 < LNS_ID_NONE ? (uint32_t)(chain - 1) : LNS_ID_NONE);
  const LnsStackFrame *frame = lns_call_walk_next (&walk);
  return frame != NULL ? frame->symbol : 0;
}

static inline bool
is_kept (const Loading *loading, uint64_t place)
{
  return loading->kept == NULL || (loading->kept[place / 8] >> place % 8 & 1) != 0;
}

/* Whether an event of START_NS … END_NS touches the span: as the details count those of a time, without what begins at its end or ends at its
 * beginning. */
static bool
touches (const Loading *loading, int64_t start_ns, int64_t end_ns)
{
  return start_ns < loading->to_ns && (start_ns >= loading->from_ns || end_ns > loading->from_ns);
}

/* Notes the PLACE of ROW. As long as no place is left out, a row is its place, and PLACES has none. */
static void
add_place (LnsEventNumbers *places, uint32_t row, uint32_t place)
{
  if (place == row && places->n == 0)
    return;
  while (places->n < row)
    lns_event_numbers_add (places, places->n);
  lns_event_numbers_add (places, place);
}

static void
add_chunk (Loading *loading, const LnsChunk *chunk, uint32_t lane, LaneTraits traits)
{
  LnsEventSet *set = loading->set;
  const LnsLaneKind kind = traits.kind;
  const uint64_t n_lane = set->first_place[lane + 1] - set->first_place[lane];
  const int category = lns_lane_kind_extra (kind, LNS_COLUMN_CATEGORY);
  const int thread = lns_lane_kind_extra (kind, LNS_COLUMN_THREAD);
  const int type = lns_lane_kind_extra (kind, LNS_COLUMN_PAYLOAD_TYPE);
  const int payload = lns_lane_kind_extra (kind, traits.payload);
  const int sched_in = lns_lane_kind_extra (kind, LNS_COLUMN_SCHED_IN);
  const int thread_state = lns_lane_kind_extra (kind, LNS_COLUMN_THREAD_STATE);
  const int chain = is_sample (kind) ? lns_lane_kind_extra (kind, LNS_COLUMN_CALL_CHAIN) : -1;

  for (uint32_t i = 0; i < chunk->n; i++)
    {
      uint64_t ordinal = chunk->first + i - set->first_ordinal[lane];
      if (chunk->first + i < set->first_ordinal[lane] || ordinal >= n_lane ||
          set->n == loading->room || !is_kept (loading, set->first_place[lane] + ordinal))
        continue;
      const int64_t start_ns = chunk->start_ns[i];
      const int64_t end_ns = lns_states_known_end (set->report, kind, chunk->flags[i], start_ns,
                                                   lns_sum (start_ns, chunk->duration_ns[i]));
      if (!touches (loading, start_ns, end_ns))
        {
          loading->n_outside++;
          continue;
        }
      uint32_t row = set->n++;
      uint32_t name = chunk->name[i] != 0 ? chunk->name[i]
                      : chain >= 0        ? name_of_sample (set->report, extra (chunk, chain, i))
                                          : traits.name;
      name = name < loading->n_strings ? name : 0;
      lns_event_numbers_add (&set->start_ns, start_ns);
      lns_event_numbers_add (&set->duration_ns, lns_difference (end_ns, start_ns));
      lns_event_numbers_add (&set->name, name);
      add_place (&set->place, row, set->first_place[lane] + (uint32_t)ordinal);
      if (loading->n_strings > 0)
        loading->name_of[name] = 1;
      PUT (loading, set->flags, row, (uint8_t)(chunk->flags[i] & LNS_EVENT_SET_FLAGS));
      PUT (loading, set->category, row, (uint32_t)extra (chunk, category, i));
      const uint64_t value = extra (chunk, payload, i);
      uint8_t value_type = type >= 0 ? (uint8_t)extra (chunk, type, i) & 15
                           : traits.payload_type == LNS_EVENT_SET_RESULT && value == 0
                               ? 0 /* calls succeed */
                               : traits.payload_type;
      if (kind == LNS_LANE_SCHED)
        value_type =
            (uint8_t)(LNS_EVENT_SET_STATE + lns_thread_state_of (extra (chunk, sched_in, i) != 0,
                                                                 extra (chunk, thread_state, i),
                                                                 chunk->flags[i]));
      set->values |= value_type == 0 ? 0 : 1u << (value_type < 16 ? 0 : value_type);
      PUT (loading, set->payload_type, row, value_type);
      lns_event_numbers_add (&set->payload, (int64_t)value);
      if (thread >= 0)
        PUT (loading, set->thread, row, (uint32_t)extra (chunk, thread, i) + 1);
    }
}

static bool
read_lane (Loading *loading, uint32_t lane)
{
  LnsEventSet *set = loading->set;
  const uint32_t id = set->lanes[lane];
  const uint64_t n_before = set->n + loading->n_outside;
  const uint64_t n_lane = set->first_place[lane + 1] - set->first_place[lane];
  const LaneTraits traits = traits_of (set->report, id);
  if (n_lane == 0)
    return true;

  const LnsColumnMask columns =
      COLUMN_MASK | (is_sample (traits.kind)         ? LNS_COLUMN_BIT (LNS_COLUMN_CALL_CHAIN)
                     : traits.kind == LNS_LANE_SCHED ? LNS_COLUMN_BIT (LNS_COLUMN_SCHED_IN) |
                                                           LNS_COLUMN_BIT (LNS_COLUMN_THREAD_STATE)
                                                     : 0);
  LnsChunkWalker *walker = lns_chunk_walker_new (set->report, id, columns);
  lns_chunk_walker_seek (walker, lns_report_chunk_of (set->report, id, set->first_ordinal[lane]));
  bool more = true;
  bool alive = true;
  while (more && alive)
    {
      LnsError problem = { 0 };
      const LnsChunk *chunk = lns_chunk_walker_next (walker, &problem);
      if (chunk != NULL)
        {
          add_chunk (loading, chunk, lane, traits);
          more = chunk->first + chunk->n < set->first_ordinal[lane] + n_lane;
        }
      else if (problem.domain != LNS_ERROR_NONE)
        {
          if (set->damage == NULL)
            set->damage = g_strdup (problem.message);
        }
      else
        more = false;
      alive = !g_cancellable_is_cancelled (loading->cancellable);
      tell (loading, (unsigned)((uint64_t)set->n * 800 / MAX (loading->room, 1)));
    }
  lns_chunk_walker_free (walker);
  uint64_t n_wanted = n_lane;
  for (uint64_t i = 0; loading->kept != NULL && i < n_lane; i++)
    n_wanted -= !is_kept (loading, set->first_place[lane] + i);
  set->n_damaged += n_wanted - (set->n + loading->n_outside - n_before);
  return alive;
}

typedef struct
{
  const char *bytes;
  size_t size_bytes;
  uint32_t id;
} Name;

static int
compare_names (const void *a, const void *b)
{
  const Name *x = a;
  const Name *y = b;
  return memcmp (x->bytes, y->bytes, MIN (x->size_bytes, y->size_bytes))
             ?: LNS_COMPARE (x->size_bytes, y->size_bytes)
             ?: LNS_COMPARE (x->id, y->id);
}

/* Sorts the names. Afterwards `name_of` has their indexes. */
static void
order_names (Loading *loading)
{
  LnsEventSet *set = loading->set;
  for (uint32_t id = 0; id < loading->n_strings; id++)
    set->n_names += loading->name_of[id] != 0;
  g_autofree Name *names = g_new (Name, MAX (set->n_names, 1));
  uint32_t n = 0;
  for (uint32_t id = 0; id < loading->n_strings; id++)
    if (loading->name_of[id] != 0)
      {
        names[n].id = id;
        names[n].bytes = lns_report_string (set->report, id, &names[n].size_bytes);
        n++;
      }
  qsort (names, n, sizeof *names, compare_names);

  set->names = g_new0 (uint32_t, MAX (n, 1));
  for (uint32_t i = 0; i < n; i++)
    {
      set->names[i] = names[i].id;
      loading->name_of[names[i].id] = i;
    }
}

/* COLUMN[i] becomes the old COLUMN[ORDER[i]]. */
#define REORDER(column, order, n)                                                                  \
 do                                                                                                \
  {                                                                                                \
   if ((column) == NULL)                                                                           \
    break;                                                                                         \
   __typeof__ (column) sorted = g_malloc_n (MAX (n, 1), sizeof *sorted);                           \
   for (uint32_t i = 0; i < (n); i++)                                                              \
    sorted[i] = (column)[(order)[i]];                                                              \
   g_free (column);                                                                                \
   (column) = sorted;                                                                              \
  }                                                                                                \
 while (0)

/* The same for NUMBERS; ORDER NULL leaves them where they are. INDEX, if not NULL, has what becomes of each number. */
static bool
reorder_numbers (LnsEventNumbers *numbers, const uint32_t *order, const uint32_t *index)
{
  LnsEventNumbers sorted = { 0 };
  for (uint32_t i = 0; i < numbers->n; i++)
    {
      const int64_t number = lns_event_numbers_get (numbers, order != NULL ? order[i] : i);
      lns_event_numbers_add (&sorted, index != NULL ? index[number] : number);
    }
  lns_event_numbers_clear (numbers);
  const bool is_done = lns_event_numbers_finish (&sorted);
  *numbers = sorted;
  return is_done;
}

/* The same for the places; see add_place (). */
static bool
reorder_places (LnsEventSet *set, const uint32_t *order)
{
  if (set->place.n == set->n)
    return order == NULL || reorder_numbers (&set->place, order, NULL);
  lns_event_numbers_clear (&set->place);
  for (uint32_t row = 0; row < set->n; row++)
    lns_event_numbers_add (&set->place, order != NULL ? order[row] : row);
  return lns_event_numbers_finish (&set->place);
}

static uint64_t
start_key (const void *data, uint32_t row)
{
  return lns_event_key_int (lns_event_set_start (data, row));
}

/* Puts the rows, which are in the order of their places, into the order of their starts. */
static bool
order_rows (Loading *loading)
{
  LnsEventSet *set = loading->set;
  if (!lns_event_numbers_finish (&set->start_ns) || !lns_event_numbers_finish (&set->duration_ns) ||
      !lns_event_numbers_finish (&set->name) || !lns_event_numbers_finish (&set->place) ||
      !lns_event_numbers_finish (&set->payload))
    return false;
  bool ordered = true;
  for (uint32_t row = 1; row < set->n && ordered; row++)
    ordered = lns_event_set_start (set, row - 1) <= lns_event_set_start (set, row);
  if (ordered)
    return reorder_numbers (&set->name, NULL, loading->name_of) && reorder_places (set, NULL);

  g_autofree uint32_t *order = g_try_new (uint32_t, MAX (set->n, 1));
  if (order == NULL || !lns_event_sort (start_key, set, set->n, order, loading->cancellable))
    return false;
  tell (loading, 950);
  REORDER (set->category, order, set->n);
  REORDER (set->thread, order, set->n);
  REORDER (set->payload_type, order, set->n);
  REORDER (set->flags, order, set->n);
  return reorder_numbers (&set->start_ns, order, NULL) &&
         reorder_numbers (&set->duration_ns, order, NULL) &&
         reorder_numbers (&set->payload, order, NULL) &&
         reorder_numbers (&set->name, order, loading->name_of) && reorder_places (set, order);
}

/* Marks the places of the events of FACET. */
static bool
keep_facet (Loading *loading, const LnsFacetSet *facets, uint32_t facet, GError **error)
{
  const LnsEventSet *set = loading->set;
  LnsFacetEvent events[LNS_FACET_BLOCK];
  uint64_t number = 0;
  loading->kept = g_try_malloc0 (loading->room / 8 + 1);
  if (loading->kept == NULL)
    {
      set_no_memory (error, loading->room);
      return false;
    }
  for (unsigned n; (n = lns_facet_events (facets, facet, number, events)) > 0; number += n)
    for (unsigned i = 0; i < n; i++)
      {
        uint32_t lane = 0;
        while (lane < set->n_lanes && set->lanes[lane] != events[i].lane)
          lane++;
        if (lane == set->n_lanes || events[i].ordinal < set->first_ordinal[lane])
          continue;
        uint64_t place = set->first_place[lane] + (events[i].ordinal - set->first_ordinal[lane]);
        if (place < set->first_place[lane + 1])
          loading->kept[place / 8] |= (uint8_t)(1u << place % 8);
      }
  return true;
}

/* Finds the columns that the lanes have values for. */
static void
note_lanes (LnsEventSet *set)
{
  const LnsLane *lanes = lns_report_lanes (set->report, NULL);
  LnsLaneKind kind = LNS_LANE_NONE; /* of those with events, so far */
  for (uint32_t i = 0; i < set->n_lanes; i++)
    {
      if (set->first_place[i] < set->first_place[i + 1])
        {
          set->has_kinds |= kind != LNS_LANE_NONE && kind != lanes[set->lanes[i]].kind;
          kind = lanes[set->lanes[i]].kind;
        }
      const LnsTrack *track = lns_event_track (set->report, set->lanes[i]);
      if (track == NULL)
        continue;
      bool is_nvtx = (track->kind <= LNS_TRACK_COUNTER && track->device == LNS_ID_NONE) ||
                     track->kind == LNS_TRACK_NVTX_PROJECTED;
      set->has_streams |= track->stream != LNS_ID_NONE;
      set->has_threads |= track->device == LNS_ID_NONE || is_nvtx;
      set->has_domains |= is_nvtx;
      set->has_depths |= is_nvtx || track->kind == LNS_TRACK_CUDA_API ||
                         lanes[set->lanes[i]].kind == LNS_LANE_LIBRARY_CALL ||
                         track->kind == LNS_TRACK_OS_CALLS || track->kind == LNS_TRACK_MPI;
    }
}

static bool
load (Loading *loading, const LnsFacetSet *facets, uint32_t facet, GError **error)
{
  bool alive = true;
  if (!prepare (loading, error) || (facets != NULL && !keep_facet (loading, facets, facet, error)))
    return false;
  note_lanes (loading->set);
  for (uint32_t lane = 0; lane < loading->set->n_lanes && alive; lane++)
    alive = read_lane (loading, lane);
  if (alive)
    order_names (loading);
  tell (loading, 850);
  alive = alive && order_rows (loading);
  tell (loading, 1000);
  if (alive)
    return true;
  if (!g_cancellable_set_error_if_cancelled (loading->cancellable, error))
    set_no_memory (error, loading->room);
  return false;
}

LnsEventSet *
lns_event_set_load (LnsReport *report,
                    const uint32_t *lanes,
                    uint32_t n_lanes,
                    int64_t from_ns,
                    int64_t to_ns,
                    const LnsFacetSet *facets,
                    uint32_t facet,
                    atomic_uint *ret_permille,
                    GCancellable *cancellable,
                    GError **error)
{
  g_autoptr (LnsEventSet) set = g_new0 (LnsEventSet, 1);
  Loading loading = { .set = set,
                      .from_ns = from_ns,
                      .to_ns = to_ns,
                      .permille = ret_permille,
                      .cancellable = cancellable };

  g_atomic_ref_count_init (&set->refs);
  set->report = lns_report_ref (report);
  set->n_lanes = n_lanes;
  set->lanes = g_memdup2 (lanes, (gsize)n_lanes * sizeof *lanes);
  set->first_place = g_new0 (uint32_t, (gsize)n_lanes + 1);
  set->first_ordinal = g_new0 (uint64_t, (gsize)n_lanes + 1);
  bool loaded = load (&loading, facets, facet, error);
  g_free (loading.name_of);
  g_free (loading.kept);
  return loaded ? g_steal_pointer (&set) : NULL;
}
