/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Compares the data of the events table with plain loops over the report. */

#include <glib/gstdio.h>
#include <inttypes.h>

#include "tests/tap.h"
#include "tests/unit/event-fixture.h"
#include "ui/events/event-cell.h"
#include "ui/events/event-order.h"
#include "ui/events/event-sort.h"
#include "ui/events/event-sums.h"
#include "ui/events/event-write.h"
#include "ui/model/event-text.h"

static LnsReport *report;
static uint32_t lanes[N_LANES] = { 0, 1, 2, 3, 4 };

static LnsEventSet *
load (uint32_t n_lanes, int64_t from_ns, int64_t to_ns)
{
  g_autoptr (GError) error = NULL;
  LnsEventSet *set =
      lns_event_set_load (report, lanes, n_lanes, from_ns, to_ns, NULL, 0, NULL, NULL, &error);
  if (set == NULL)
    LNS_FAIL ("%s", error->message);
  return set;
}

/* --- Loading ------------------------------------------------------------------------------- */

static void
set_extra (LnsEvent *event, LnsLaneKind kind, LnsColumnId column, uint64_t value)
{
  int index = lns_lane_kind_extra (kind, column);
  if (index >= 0)
    event->extra[index] = value;
}

/* The event of ROW as far as the set knows it. */
static LnsEvent
event_of (const LnsEventSet *self, uint32_t row)
{
  LnsEvent event = {
    .start_ns = lns_event_set_start (self, row),
    .duration_ns = lns_event_set_duration (self, row),
    .name = self->names[lns_event_set_name (self, row)],
    .flags = self->flags != NULL ? self->flags[row] : 0,
  };
  uint32_t n;
  const LnsLane *all = lns_report_lanes (self->report, &n);
  LnsLaneKind kind = all[self->lanes[lns_event_set_lane (self, row)]].kind;

  if (self->category != NULL)
    set_extra (&event, kind, LNS_COLUMN_CATEGORY, self->category[row]);
  if (self->thread != NULL && self->thread[row] > 0)
    set_extra (&event, kind, LNS_COLUMN_THREAD, self->thread[row] - 1);
  if (self->payload_type != NULL)
    set_extra (&event, kind, LNS_COLUMN_PAYLOAD_TYPE, self->payload_type[row]);
  set_extra (&event, kind, LNS_COLUMN_PAYLOAD, lns_event_set_payload (self, row));
  return event;
}

static void
rows_are_the_events_in_time_order (void)
{
  g_autoptr (LnsEventSet) set = load (N_LANES, INT64_MIN, INT64_MAX);
  uint64_t next[N_LANES] = { 0 };
  LNS_CHECK_INT (set->n, N_LANES * LANE_EVENTS);
  for (uint32_t row = 0; row < set->n; row++)
    {
      uint32_t lane;
      uint64_t ordinal;
      LnsEvent event;
      lns_event_set_id (set, row, &lane, &ordinal);
      LNS_CHECK_INT (ordinal, next[lane]++);
      LNS_CHECK (lns_report_event (report, lane, ordinal, &event, NULL));
      LNS_CHECK_INT (lns_event_set_start (set, row), event.start_ns);
      LNS_CHECK_INT (lns_event_set_duration (set, row), event.duration_ns);
      LNS_CHECK_INT (set->names[lns_event_set_name (set, row)], event.name);
      LnsEvent copy = event_of (set, row);
      LNS_CHECK_INT (copy.flags, event.flags & LNS_EVENT_SET_FLAGS);
      LNS_CHECK (memcmp (copy.extra, event.extra, sizeof copy.extra) == 0);
      if (row > 0)
        LNS_CHECK (lns_event_set_start (set, row - 1) <= event.start_ns);
    }
}

static void
one_lane_is_its_events (void)
{
  g_autoptr (LnsEventSet) set = load (1, INT64_MIN, INT64_MAX);
  LNS_CHECK_INT (set->n, LANE_EVENTS);
  for (uint32_t row = 0; row < set->n; row++)
    LNS_CHECK_INT (lns_event_set_place (set, row), row);
}

static void
a_span_holds_what_touches_it (void)
{
  const int64_t from_ns = 1000000;
  const int64_t to_ns = 1500000;
  g_autoptr (LnsEventSet) set = load (N_LANES, from_ns, to_ns);
  uint32_t n = 0;
  for (uint32_t lane = 0; lane < N_LANES; lane++)
    for (uint64_t ordinal = 0; ordinal < LANE_EVENTS; ordinal++)
      {
        LnsEvent event;
        uint32_t row;
        LNS_CHECK (lns_report_event (report, lane, ordinal, &event, NULL));
        int64_t end_ns = event.start_ns + event.duration_ns;
        if (event.start_ns >= to_ns || (end_ns <= from_ns && event.start_ns < from_ns))
          continue;
        n++;
        LNS_CHECK (lns_event_set_find (set, lane, ordinal, event.start_ns, &row));
      }
  LNS_CHECK (set->n >= n && set->n <= n + N_LANES); /* the one that begins where it ends */
}

static void
each_event_is_found (void)
{
  g_autoptr (LnsEventSet) set = load (N_LANES, INT64_MIN, INT64_MAX);
  uint32_t found;
  for (uint32_t row = 0; row < set->n; row += 7)
    {
      uint32_t lane;
      uint64_t ordinal;
      lns_event_set_id (set, row, &lane, &ordinal);
      LNS_CHECK (lns_event_set_find (set, lane, ordinal, lns_event_set_start (set, row), &found));
      LNS_CHECK_INT (found, row);
    }
  LNS_CHECK (!lns_event_set_find (set, 0, LANE_EVENTS, 5, &found));
  LNS_CHECK (!lns_event_set_find (set, 99, 0, lns_event_set_start (set, 0), &found));
}

/* Turns bytes of the file round, one place after the other, until a chunk of events is hit. */
static void
damage_is_left_out_and_counted (void)
{
  g_autofree char *bytes = NULL;
  gsize size_bytes;
  g_autofree char *path = g_strconcat (lns_report_info (report)->path, ".damaged", NULL);
  LNS_CHECK (g_file_get_contents (lns_report_info (report)->path, &bytes, &size_bytes, NULL));
  bool hit = false;
  for (gsize at = size_bytes / 4; at < size_bytes && !hit; at += 30011)
    {
      bytes[at] ^= 0x40;
      LNS_CHECK (g_file_set_contents (path, bytes, (gssize)size_bytes, NULL));
      bytes[at] ^= 0x40;
      LnsReport *damaged = lns_report_open (path, NULL, NULL);
      g_unlink (path);
      if (damaged == NULL)
        continue;
      g_autoptr (LnsEventSet) set = lns_event_set_load (damaged, lanes, N_LANES, INT64_MIN,
                                                        INT64_MAX, NULL, 0, NULL, NULL, NULL);
      if (set != NULL && set->n_damaged > 0)
        {
          hit = true;
          LNS_CHECK_INT (set->n + set->n_damaged, N_LANES * LANE_EVENTS);
          LNS_CHECK (set->damage != NULL);
          for (uint32_t row = 0; row < set->n; row += 101)
            {
              uint32_t lane;
              uint64_t ordinal;
              LnsEvent event;
              lns_event_set_id (set, row, &lane, &ordinal);
              LNS_CHECK (lns_report_event (report, lane, ordinal, &event, NULL));
              LNS_CHECK_INT (lns_event_set_start (set, row), event.start_ns);
            }
        }
      lns_report_close (damaged);
    }
  LNS_CHECK (hit);
}

static void
a_cancelled_load_gives_nothing (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  g_cancellable_cancel (cancellable);
  LNS_CHECK (lns_event_set_load (report, lanes, N_LANES, INT64_MIN, INT64_MAX, NULL, 0, NULL,
                                 cancellable, &error) == NULL);
  LNS_CHECK (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED));
}

/* --- Orders -------------------------------------------------------------------------------- */

typedef struct
{
  LnsEventOrder *first;
  int n;
} First;

static void
first_cb (LnsEventOrder *first, void *data)
{
  First *got = data;
  lns_event_order_unref (got->first);
  got->first = lns_event_order_ref (first);
  got->n++;
}

/* The order by a stable insertion into a list is too slow: by g_array_sort_with_data with the row
 * as the tie. */
static int
compare_rows (gconstpointer a, gconstpointer b, gpointer data)
{
  const uint64_t *keys = data;
  uint32_t x = *(const uint32_t *)a;
  uint32_t y = *(const uint32_t *)b;
  if (keys[x] != keys[y])
    return keys[x] < keys[y] ? -1 : 1;
  return x < y ? -1 : 1;
}

/* The keys of all rows of SET. Free with g_free (). */
static uint64_t *
keys_of (const LnsEventSet *set, LnsEventColumn column)
{
  g_autoptr (LnsEventKeys) keys = lns_event_keys_new (set, column, false);
  g_autoptr (LnsEventKeys) others = lns_event_keys_new (set, column, true);
  uint64_t *all = g_new (uint64_t, MAX (set->n, 1));
  for (uint32_t row = 0; row < set->n; row++)
    {
      all[row] = lns_event_keys_get (keys, row);
      LNS_CHECK (lns_event_keys_get (others, row) == ~all[row]);
    }
  return all;
}

/* The key of ROW in an array of them. */
static uint64_t
of_array (const void *keys, uint32_t row)
{
  return ((const uint64_t *)keys)[row];
}

static void
check_order (LnsEventSet *set, LnsEventColumn column, bool descending, const char *filter)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LnsEventOrder) sorted = NULL;
  First first = { 0 };
  g_autoptr (LnsEventFilter) names =
      filter != NULL ? lns_event_filter_new (filter, false, NULL) : NULL;
  LnsEventQuery query = { column, descending, names, NULL };
  g_autoptr (LnsEventOrder) order =
      lns_event_order_query (set, &query, first_cb, &first, &sorted, NULL, &error);
  LNS_CHECK (order != NULL);

  g_autofree uint64_t *keys = keys_of (set, column);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  for (uint32_t row = 0; row < set->n; row++)
    {
      g_autofree char *name = lns_event_cell_text (set, row, LNS_EVENT_COLUMN_NAME);
      g_autofree char *folded = g_utf8_casefold (name, -1);
      if (filter == NULL || strstr (folded, filter) != NULL)
        g_array_append_val (rows, row);
      if (descending)
        keys[row] = ~keys[row];
    }
  g_array_sort_with_data (rows, compare_rows, keys);
  LNS_CHECK_INT (order->n, rows->len);
  LNS_CHECK_INT (order->n_known, rows->len);
  for (uint32_t i = 0; i < rows->len; i++)
    LNS_CHECK_INT (lns_event_order_row (order, i), g_array_index (rows, uint32_t, i));

  if (first.first != NULL)
    {
      LNS_CHECK_INT (first.n, 1);
      LNS_CHECK_INT (first.first->n, rows->len);
      LNS_CHECK_INT (first.first->n_known, MIN (rows->len, LNS_EVENT_FIRST_MAX));
      for (uint32_t i = 0; i < first.first->n_known; i++)
        LNS_CHECK_INT (lns_event_order_row (first.first, i), g_array_index (rows, uint32_t, i));
    }
  lns_event_order_unref (first.first);

  /* With what is known from before, the answer is the same. */
  query.sorted = sorted;
  LnsEventOrder *sorted_again = NULL;
  g_autoptr (LnsEventOrder) again =
      lns_event_order_query (set, &query, NULL, NULL, &sorted_again, NULL, &error);
  LNS_CHECK (sorted_again == sorted && again->n == order->n);
  for (uint32_t i = 0; i < order->n; i++)
    LNS_CHECK_INT (lns_event_order_row (again, i), lns_event_order_row (order, i));
  lns_event_order_unref (sorted_again);
}

static void
orders_are_those_of_the_keys (void)
{
  g_autoptr (LnsEventSet) set = load (N_LANES, INT64_MIN, INT64_MAX);
  for (LnsEventColumn column = 0; column < LNS_N_EVENT_COLUMNS; column++)
    {
      check_order (set, column, false, NULL);
      check_order (set, column, true, NULL);
      check_order (set, column, false, "step 1");
      check_order (set, column, true, "pass");
    }
}

/* Keys order as the cells read: text for text, numbers for numbers. */
static void
keys_order_like_the_cells (void)
{
  static const LnsEventColumn texts[] = { LNS_EVENT_COLUMN_THREAD, LNS_EVENT_COLUMN_PROCESS,
                                          LNS_EVENT_COLUMN_DOMAIN };
  g_autoptr (LnsEventSet) set = load (N_LANES, INT64_MIN, INT64_MAX);
  for (size_t i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autofree uint64_t *keys = keys_of (set, texts[i]);
      for (uint32_t row = 1; row < set->n; row += 3)
        {
          g_autofree char *a = lns_event_cell_text (set, row - 1, texts[i]);
          g_autofree char *b = lns_event_cell_text (set, row, texts[i]);
          int order = strcmp (a, b);
          LNS_CHECK_INT ((keys[row - 1] > keys[row]) - (keys[row - 1] < keys[row]),
                         (order > 0) - (order < 0));
        }
    }
  g_autofree uint64_t *payloads = keys_of (set, LNS_EVENT_COLUMN_PAYLOAD);
  for (uint32_t row = 1; row < set->n; row++)
    {
      bool a = set->payload_type[row - 1] != 0;
      bool b = set->payload_type[row] != 0;
      int64_t x = (int64_t)lns_event_set_payload (set, row - 1);
      int64_t y = (int64_t)lns_event_set_payload (set, row);
      int order = a && b ? (x > y) - (x < y) : a - b;
      LNS_CHECK_INT ((payloads[row - 1] > payloads[row]) - (payloads[row - 1] < payloads[row]),
                     order);
    }
  g_autofree uint64_t *categories = keys_of (set, LNS_EVENT_COLUMN_CATEGORY);
  for (uint32_t row = 0; row < set->n; row++)
    {
      /* none, then "input", then the one that has a number alone */
      g_autofree char *cell = lns_event_cell_text (set, row, LNS_EVENT_COLUMN_CATEGORY);
      int rank = *cell == '\0' ? 0 : strcmp (cell, "input") == 0 ? 1 : 2;
      LNS_CHECK_INT ((categories[row] > 0) + (categories[row] >> 32 > 0), rank);
    }
}

static void
a_filter_ignores_case (void)
{
  g_autoptr (LnsEventSet) set = load (N_LANES, INT64_MIN, INT64_MAX);
  check_order (set, LNS_EVENT_COLUMN_NUMBER, false, "forward");
  g_autoptr (GError) error = NULL;
  const char *words[] = { "FORWARD P", "σίσυ", "nobody has this", "\xe2\x80\xa6" };
  const bool some[] = { true, true, false, false };
  for (size_t i = 0; i < G_N_ELEMENTS (words); i++)
    {
      g_autoptr (LnsEventOrder) sorted = NULL;
      g_autoptr (LnsEventFilter) filter = lns_event_filter_new (words[i], false, NULL);
      LnsEventQuery query = { LNS_EVENT_COLUMN_NUMBER, false, filter, NULL };
      g_autoptr (LnsEventOrder) order =
          lns_event_order_query (set, &query, NULL, NULL, &sorted, NULL, &error);
      LNS_CHECK (order != NULL);
      LNS_CHECK_INT (order->n > 0, some[i]);
      for (uint32_t position = 0; position < order->n; position++)
        LNS_CHECK (position == 0 || lns_event_order_row (order, position - 1) <
                                        lns_event_order_row (order, position));
    }
}

/* What some filters take, told again from the cells of a row. */
static bool
holds (const LnsEventSet *set, uint32_t row, int filter)
{
  g_autofree char *name = lns_event_cell_text (set, row, LNS_EVENT_COLUMN_NAME);
  g_autofree char *folded = g_utf8_casefold (name, -1);
  g_autofree char *thread = lns_event_cell_text (set, row, LNS_EVENT_COLUMN_THREAD);
  g_autofree char *process = lns_event_cell_text (set, row, LNS_EVENT_COLUMN_PROCESS);
  g_autofree char *domain = lns_event_cell_text (set, row, LNS_EVENT_COLUMN_DOMAIN);
  g_autofree char *category = lns_event_cell_text (set, row, LNS_EVENT_COLUMN_CATEGORY);
  g_autofree char *kind = lns_event_cell_text (set, row, LNS_EVENT_COLUMN_KIND);
  g_autofree char *depth = lns_event_cell_text (set, row, LNS_EVENT_COLUMN_DEPTH);
  const int64_t start_ns = lns_event_set_start (set, row);
  const int64_t duration_ns = lns_event_set_duration (set, row);
  switch (filter)
    {
    case 0:
      return duration_ns > 1000 && strstr (folded, "pass") != NULL;
    case 1:
      return g_str_has_prefix (folded, "step ") && g_ascii_isdigit (folded[5]);
    case 2:
      return strstr (folded, "forward") == NULL || start_ns + duration_ns <= 1000000;
    case 3:
      return start_ns >= 500000 && strcmp (depth, "1") != 0;
    case 4:
      return strcmp (category, "input") == 0;
    case 5:
      return strstr (kind, "ange") != NULL && *domain != '\0' && strstr (process, "7") != NULL;
    case 6:
      return strcmp (kind, "Push/pop range") == 0;
    default:
      return strcmp (thread, "—") != 0;
    }
}

static void
conditions_are_of_what_the_cells_say (void)
{
  static const struct
  {
    const char *text;
    bool regex;
  } filters[] = {
    { "duration > 1us and name contains PASS", false },
    { "^step [0-9]", true },
    { "not name ~ forward or end <= 1ms", false },
    { "start >= 500us and not depth = 1", false },
    { "category = input", false },
    { "kind ~ RANGE and domain ~ . and process ~ 7", false },
    { "kind = \"push/pop RANGE\"", false },
    { "thread ~ .", false },
  };
  g_autoptr (LnsEventSet) set = load (N_LANES, INT64_MIN, INT64_MAX);
  for (size_t i = 0; i < G_N_ELEMENTS (filters); i++)
    {
      g_autoptr (GError) error = NULL;
      uint32_t n, n_held = 0;
      g_autoptr (LnsEventFilter) filter =
          lns_event_filter_new (filters[i].text, filters[i].regex, &error);
      LNS_CHECK (filter != NULL);
      g_autofree uint8_t *rows = lns_event_filter_find (filter, set, &n, NULL, &error);
      LNS_CHECK (rows != NULL);
      for (uint32_t row = 0; row < set->n; row++)
        {
          const bool is_held = holds (set, row, (int)i);
          n_held += is_held;
          if ((rows[row / 8] >> row % 8 & 1) != is_held)
            LNS_FAIL ("row %u is wrong for %s", row, filters[i].text);
        }
      LNS_CHECK_INT (n, n_held);
      if (n == 0)
        LNS_FAIL ("nothing for %s", filters[i].text);
    }
}

/* By their numbers, too. */
static void
threads_and_processes_have_numbers (void)
{
  g_autoptr (LnsEventSet) set = load (N_LANES, INT64_MIN, INT64_MAX);
  const LnsTrack *track = lns_event_track (report, lanes[0]);
  uint32_t n, n_all = 0;
  for (int i = 0; i < 2; i++)
    {
      g_autofree char *text =
          i == 0
              ? g_strdup_printf ("process = %d",
                                 lns_report_processes (report, &n)[track->process].pid)
              : g_strdup_printf ("thread = %d", lns_report_threads (report, &n)[track->thread].tid);
      g_autoptr (LnsEventFilter) filter = lns_event_filter_new (text, false, NULL);
      g_autofree uint8_t *rows = lns_event_filter_find (filter, set, &n, NULL, NULL);
      LNS_CHECK (n >= LANE_EVENTS);
      for (uint32_t row = 0; row < set->n; row++)
        if (lns_event_set_lane (set, row) == 0)
          n_all += rows[row / 8] >> row % 8 & 1;
    }
  LNS_CHECK_INT (n_all, 2 * LANE_EVENTS);
}

static void
wrong_filters_are_told (void)
{
  static const char *const texts[] = { "duration > 5", "(", "name ~ (" };
  for (size_t i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GError) error = NULL;
      LNS_CHECK (lns_event_filter_new (texts[i], i == 1, &error) == NULL);
      LNS_CHECK (error != NULL && strchr (error->message, '\n') == NULL);
    }
}

static void
a_cancelled_query_gives_nothing (void)
{
  g_autoptr (LnsEventSet) set = load (N_LANES, INT64_MIN, INT64_MAX);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_cancellable_cancel (cancellable);
  for (int i = 0; i < 2; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (LnsEventOrder) sorted = NULL;
      g_autoptr (LnsEventFilter) filter = lns_event_filter_new ("step", false, NULL);
      LnsEventQuery query = { LNS_EVENT_COLUMN_DURATION, false, i == 0 ? NULL : filter, NULL };
      LNS_CHECK (lns_event_order_query (set, &query, NULL, NULL, &sorted, cancellable, &error) ==
                 NULL);
      LNS_CHECK (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED));
      LNS_CHECK (sorted == NULL);
    }
}

static void
a_row_is_found_in_an_order (void)
{
  g_autoptr (LnsEventSet) set = load (N_LANES, INT64_MIN, INT64_MAX);
  g_autoptr (GError) error = NULL;
  g_autoptr (LnsEventOrder) sorted = NULL;
  LnsEventQuery query = { LNS_EVENT_COLUMN_DURATION, true, NULL, NULL };
  g_autoptr (LnsEventOrder) order =
      lns_event_order_query (set, &query, NULL, NULL, &sorted, NULL, &error);
  uint32_t position;
  for (uint32_t i = 0; i < order->n; i += 997)
    {
      LNS_CHECK (lns_event_order_find (order, lns_event_order_row (order, i), &position));
      LNS_CHECK_INT (position, i);
    }
  LNS_CHECK (!lns_event_order_find (order, set->n, &position));
}

/* --- Sorting ------------------------------------------------------------------------------- */

static void
sorts_any_keys (void)
{
  enum
  {
    N = 200000 /* more than one part */
  };
  g_autofree uint64_t *keys = g_new (uint64_t, N);
  g_autofree uint32_t *order = g_new (uint32_t, N);
  g_autofree uint32_t *first = g_new (uint32_t, LNS_EVENT_FIRST_MAX);
  for (int kind = 0; kind < 6; kind++)
    {
      for (uint32_t i = 0; i < N; i++)
        keys[i] = kind == 0   ? (uint64_t)i * UINT64_C (0x9e3779b97f4a7c15)
                  : kind == 1 ? N - i
                  : kind == 2 ? 0
                  : kind == 3 ? i / 700
                  : kind == 4 ? lns_event_key_int ((int64_t)i * 7919 % 1001 - 500)
                              : lns_event_key_double (((int)(i * 31 % 997) - 400) / 8.0);
      LNS_CHECK (lns_event_sort (of_array, keys, N, order, NULL));
      for (uint32_t i = 1; i < N; i++)
        LNS_CHECK (keys[order[i - 1]] < keys[order[i]] ||
                   (keys[order[i - 1]] == keys[order[i]] && order[i - 1] < order[i]));
      for (uint32_t k = 1; k <= LNS_EVENT_FIRST_MAX; k += 73)
        {
          LNS_CHECK_INT (lns_event_sort_first (of_array, keys, N, NULL, NULL, k, first), k);
          LNS_CHECK (memcmp (first, order, k * sizeof *first) == 0);
        }
    }
  LNS_CHECK (lns_event_sort (of_array, keys, 0, order, NULL));
  LNS_CHECK_INT (lns_event_sort_first (of_array, keys, 3, NULL, NULL, 500, first), 3);
  LNS_CHECK_INT (lns_event_sort_first (of_array, keys, N, NULL, NULL, 0, first), 0);
}

/* --- Cells --------------------------------------------------------------------------------- */

static uint32_t
row_named (LnsEventSet *set, const char *name)
{
  for (uint32_t row = 0; row < set->n; row++)
    if (strcmp (lns_report_string (report, set->names[lns_event_set_name (set, row)], NULL),
                name) == 0)
      return row;
  LNS_FAIL ("no row is called %s", name);
}

/* What is written of ROWS. Free with g_free (). */
static char *
written (const LnsEventRows *rows, const LnsEventColumnList *columns, char separator)
{
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  atomic_uint permille = 0;
  LNS_CHECK (lns_event_rows_write (rows, columns, separator, stream, &permille, NULL, NULL));
  LNS_CHECK (g_output_stream_write_all (stream, "", 1, NULL, NULL, NULL));
  LNS_CHECK (g_output_stream_close (stream, NULL, NULL));
  return g_memory_output_stream_steal_data (G_MEMORY_OUTPUT_STREAM (stream));
}

/* Rows in the order of the table, with the columns that are wanted. */
static void
files_are_of_the_rows_as_they_stand (void)
{
  g_autoptr (LnsEventSet) set = load (N_LANES, INT64_MIN, INT64_MAX);
  g_autoptr (LnsEventOrder) sorted = NULL;
  LnsEventQuery query = { LNS_EVENT_COLUMN_DURATION, true, NULL, NULL };
  g_autoptr (LnsEventOrder) order =
      lns_event_order_query (set, &query, NULL, NULL, &sorted, NULL, NULL);
  const LnsEventColumnList columns = {
    .of = { LNS_EVENT_COLUMN_DURATION, LNS_EVENT_COLUMN_KIND, LNS_EVENT_COLUMN_NUMBER }, .n = 3
  };
  g_autoptr (LnsEventRows) rows = lns_event_rows_new (set, order, 0, NULL);
  g_autofree char *text = written (rows, &columns, ',');
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  LNS_CHECK_INT (g_strv_length (lines), set->n + 2);
  LNS_CHECK_STR (lines[0], "Duration (ns),Kind,#");
  LNS_CHECK_STR (lines[set->n + 1], "");
  for (uint32_t i = 0; i < set->n; i++)
    {
      const uint32_t row = lns_event_order_row (order, i);
      g_autofree char *kind = lns_event_cell_text (set, row, LNS_EVENT_COLUMN_KIND);
      const bool is_open = (set->flags[row] & LNS_EVENT_END_UNKNOWN) != 0;
      g_autofree char *duration = g_strdup_printf ("%" PRId64, lns_event_set_duration (set, row));
      g_autofree char *line = g_strdup_printf ("%s,%s,%u", is_open ? "" : duration, kind, row + 1);
      LNS_CHECK_STR (lines[i + 1], line);
    }
  g_autoptr (GCancellable) cancelled = g_cancellable_new ();
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_cancellable_cancel (cancelled);
  LNS_CHECK (!lns_event_rows_write (rows, &columns, ',', stream, NULL, cancelled, NULL));
}

/* --- Sums --------------------------------------------------------------------------------------- */

static int
compare_lengths (gconstpointer a, gconstpointer b)
{
  const int64_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static bool
has_length (const LnsEventSet *set, uint32_t row)
{
  const LnsLane *all = lns_report_lanes (report, NULL);
  return (set->flags[row] & LNS_EVENT_END_UNKNOWN) == 0 &&
         all[set->lanes[lns_event_set_lane (set, row)]].kind != LNS_LANE_NVTX_MARK;
}

/* What LENGTHS, which are sorted, say. */
static void
check_sums (GArray *lengths, const LnsEventSums *sums)
{
  int64_t sum_ns = 0;
  g_array_sort (lengths, compare_lengths);
  for (guint i = 0; i < lengths->len; i++)
    sum_ns += g_array_index (lengths, int64_t, i);
  const int64_t low = g_array_index (lengths, int64_t, (lengths->len - 1) / 2);
  const int64_t high = g_array_index (lengths, int64_t, lengths->len / 2);
  LNS_CHECK_INT (sums->n, lengths->len);
  LNS_CHECK_INT (sums->sum_ns, sum_ns);
  LNS_CHECK_INT (sums->shortest_ns, g_array_index (lengths, int64_t, 0));
  LNS_CHECK_INT (sums->longest_ns, g_array_index (lengths, int64_t, lengths->len - 1));
  LNS_CHECK_INT (sums->median_ns, low + (high - low) / 2);
}

static void
sums_are_of_the_rows (void)
{
  g_autoptr (LnsEventSet) set = load (N_LANES, INT64_MIN, INT64_MAX);
  g_autoptr (LnsEventOrder) order = lns_event_order_new_identity (set->n);
  static const uint32_t steps[] = { 1, 2, 3, 41, 997 };
  for (size_t i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      g_autoptr (GtkBitset) some = gtk_bitset_new_empty ();
      g_autoptr (GArray) lengths = g_array_new (FALSE, FALSE, sizeof (int64_t));
      uint32_t n_others = 0, first = 5;
      LnsEventSums sums;
      for (uint32_t row = first; row < set->n; row += steps[i])
        {
          const int64_t length_ns = lns_event_set_duration (set, row);
          gtk_bitset_add (some, row - first);
          if (has_length (set, row))
            g_array_append_val (lengths, length_ns);
          else
            n_others++;
        }
      g_autoptr (LnsEventRows) rows = lns_event_rows_new (set, order, first, some);
      LNS_CHECK (lns_event_sums_find (rows, &sums, NULL));
      check_sums (lengths, &sums);
      LNS_CHECK_INT (sums.n_others, n_others);
      LNS_CHECK_INT (sums.bytes, 0);
    }
  g_autoptr (GtkBitset) none = gtk_bitset_new_empty ();
  g_autoptr (LnsEventRows) rows = lns_event_rows_new (set, order, 0, none);
  LnsEventSums sums;
  LNS_CHECK (lns_event_sums_find (rows, &sums, NULL));
  LNS_CHECK_INT (sums.n + sums.n_others, 0);
  g_autoptr (GCancellable) cancelled = g_cancellable_new ();
  g_cancellable_cancel (cancelled);
  g_autoptr (LnsEventRows) all = lns_event_rows_new (set, order, 0, NULL);
  uint32_t labels[1], n_names;
  LNS_CHECK (lns_event_sums_by_name (all, 1, labels, &n_names, cancelled) == NULL);
}

static void
sums_by_name_are_of_each_name (void)
{
  enum
  {
    MAX_NAMES = 250 /* less than there are */
  };
  g_autoptr (LnsEventSet) set = load (N_LANES, INT64_MIN, INT64_MAX);
  g_autoptr (LnsEventOrder) order = lns_event_order_new_identity (set->n);
  g_autoptr (LnsEventRows) rows = lns_event_rows_new (set, order, 0, NULL);
  uint32_t labels[MAX_NAMES], n_names;
  LnsResult *result = lns_event_sums_by_name (rows, MAX_NAMES, labels, &n_names, NULL);
  LnsEventSums all;
  LNS_CHECK (lns_event_sums_find (rows, &all, NULL));
  LNS_CHECK_INT (n_names, set->n_names);
  LNS_CHECK_INT (lns_result_n_rows (result), MAX_NAMES);
  for (size_t i = 0; i < MAX_NAMES; i++)
    {
      g_autoptr (GArray) lengths = g_array_new (FALSE, FALSE, sizeof (int64_t));
      int64_t n = 0;
      unsigned kinds = 0;
      for (uint32_t row = 0; row < set->n; row++)
        if (lns_event_set_label (set, row) == labels[i])
          {
            kinds |= 1u << lns_report_lanes (report, NULL)[lns_event_set_lane (set, row)].kind;
            const int64_t length_ns = lns_event_set_duration (set, row);
            n++;
            if (has_length (set, row))
              g_array_append_val (lengths, length_ns);
          }
      const LnsEventSums sums = { .n = lengths->len,
                                  .sum_ns = lns_result_cell (result, i, 3).number,
                                  .shortest_ns = 0,
                                  .median_ns = lns_result_cell (result, i, 5).number,
                                  .longest_ns = lns_result_cell (result, i, 6).number };
      LnsEventSums told = sums;
      g_array_sort (lengths, compare_lengths);
      told.shortest_ns = g_array_index (lengths, int64_t, 0);
      check_sums (lengths, &told);
      LNS_CHECK_INT (lns_result_cell (result, i, 1).is_empty, (kinds & (kinds - 1)) != 0);
      LNS_CHECK_INT (lns_result_cell (result, i, 2).number, n);
      LNS_CHECK_INT (lns_result_cell (result, i, 4).number, sums.sum_ns / (int64_t)sums.n);
      LNS_CHECK_INT (lns_result_cell (result, i, 7).number,
                     (int64_t)(1000.0 * (double)sums.sum_ns / (double)all.sum_ns));
      LNS_CHECK (i == 0 || sums.sum_ns <= lns_result_cell (result, i - 1, 3).number);
    }
  lns_result_free (result);
}

static void
odd_names_are_shown_and_copied (void)
{
  g_autoptr (LnsEventSet) set = load (1, INT64_MIN, INT64_MAX);
  uint32_t bad = row_named (set, BAD_NAME);
  uint32_t tabbed = row_named (set, TABBED_NAME);
  g_autofree char *shown = lns_event_cell_text (set, bad, LNS_EVENT_COLUMN_NAME);
  LNS_CHECK (g_utf8_validate (shown, -1, NULL));
  g_autofree char *line = lns_event_cell_text (set, tabbed, LNS_EVENT_COLUMN_NAME);
  LNS_CHECK (strpbrk (line, "\t\n") == NULL);

  g_autoptr (LnsEventOrder) order = lns_event_order_new_identity (set->n);
  g_autoptr (GtkBitset) both = gtk_bitset_new_empty ();
  gtk_bitset_add (both, bad);
  gtk_bitset_add (both, tabbed);
  g_autoptr (LnsEventRows) rows = lns_event_rows_new (set, order, 0, both);
  LNS_CHECK_INT (rows->n, 2);
  LnsEventColumnList columns = { 0 };
  for (LnsEventColumn column = 0; column < LNS_N_EVENT_COLUMNS; column++)
    if (lns_event_column_is_used (set, column))
      columns.of[columns.n++] = column;
  g_autofree char *copied = written (rows, &columns, '\t');
  LNS_CHECK (g_str_has_prefix (copied, "#\tName\tStart (ns)\tDuration (ns)\tThread\tProcess\t"
                                       "Domain\tCategory\tDepth\tPayload\n"));
  LNS_CHECK (strstr (copied, "\t" BAD_NAME "\t") != NULL);
  LNS_CHECK (strstr (copied, "\t\"a\tb \"\"quoted\"\"\nnext\"\t") != NULL);
}

static void
cells_say_what_the_event_is (void)
{
  g_autoptr (LnsEventSet) set = load (N_LANES, INT64_MIN, INT64_MAX);
  g_autofree char *number = lns_event_cell_text (set, 1233, LNS_EVENT_COLUMN_NUMBER);
  LNS_CHECK_STR (number, "1,234");
  g_autofree char *start = lns_event_cell_text (set, 0, LNS_EVENT_COLUMN_START);
  LNS_CHECK_STR (start, "−0.000001000 s");
  g_autofree char *process = lns_event_cell_text (set, 0, LNS_EVENT_COLUMN_PROCESS);
  LNS_CHECK_STR (process, "python3 (4711)");
  g_autofree char *domain = lns_event_cell_text (set, 0, LNS_EVENT_COLUMN_DOMAIN);
  LNS_CHECK_STR (domain, "default");
  uint32_t row = 0;
  while (!(set->flags[row] & LNS_EVENT_END_UNKNOWN))
    row++;
  g_autofree char *duration = lns_event_cell_text (set, row, LNS_EVENT_COLUMN_DURATION);
  LNS_CHECK_STR (duration, "not known");
  /* Start/end ranges tell the thread themselves. */
  row = 0;
  while (set->lanes[lns_event_set_lane (set, row)] != 3)
    row++;
  g_autofree char *thread = lns_event_cell_text (set, row, LNS_EVENT_COLUMN_THREAD);
  LNS_CHECK_STR (thread, "main (4711)");
}

/* The types of counters are 32-bit numbers in the file, and those of events have four bits. */
static void
counters_of_unknown_types_have_no_payload (void)
{
  static const uint32_t types[] = { LNS_PAYLOAD_INT64, LNS_EVENT_SET_LAUNCH, 254, 256, UINT32_MAX };
  g_autofree char *folder = g_dir_make_tmp ("lns-test-counters-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "counters.rep", NULL);
  LnsError error = { 0 };
  LnsWriter *writer = lns_writer_create (path, &(LnsWriterOptions){ 0 }, &error);
  LNS_CHECK (writer != NULL);
  lns_writer_add_process (writer, &(LnsProcess){ .parent = LNS_ID_NONE });
  for (uint32_t i = 0; i < G_N_ELEMENTS (types); i++)
    {
      const LnsTrack track = { .kind = LNS_TRACK_COUNTER,
                               .process = 0,
                               .thread = LNS_ID_NONE,
                               .domain = LNS_ID_NONE,
                               .device = LNS_ID_NONE,
                               .stream = LNS_ID_NONE,
                               .value_type = types[i] };
      const uint32_t lane =
          lns_writer_add_lane (writer, &(LnsLane){ .track = lns_writer_add_track (writer, &track),
                                                   .kind = LNS_LANE_COUNTER });
      LnsEvent event = { .start_ns = i };
      event.extra[lns_lane_kind_extra (LNS_LANE_COUNTER, LNS_COLUMN_VALUE)] = 7;
      lns_writer_append (writer, lane, &event);
    }
  LNS_CHECK (lns_writer_finish (writer, LNS_STATE_COMPLETE, 100, &error));
  LnsReport *counters = lns_report_open (path, NULL, &error);
  LNS_CHECK (counters != NULL);

  LnsEventSet *set = lns_event_set_load (counters, lanes, G_N_ELEMENTS (types), INT64_MIN,
                                         INT64_MAX, NULL, 0, NULL, NULL, NULL);
  LNS_CHECK_INT (set->n, G_N_ELEMENTS (types));
  for (uint32_t row = 0; row < set->n; row++)
    {
      g_autofree char *value = lns_event_cell_text (set, row, LNS_EVENT_COLUMN_PAYLOAD);
      LNS_CHECK_INT (set->payload_type[row], row == 0 ? LNS_PAYLOAD_INT64 : LNS_PAYLOAD_NONE);
      LNS_CHECK_STR (value, row == 0 ? "7" : "");
    }
  LNS_CHECK (set->values == 1);
  lns_event_set_unref (set);
  lns_report_close (counters);
  g_remove (path);
  g_rmdir (folder);
}

/* Numbers are what they were, however far apart, and far ones take no memory of others. */
static void
numbers_keep_their_values (void)
{
  enum
  {
    MOST = 3 * 128 + 1
  };
  static const int64_t far_apart[] = {
    0, 1, UINT32_MAX, (INT64_C (1) << 57) - 1, INT64_C (1) << 57, INT64_MAX
  };
  static const uint32_t counts[] = { 0, 1, 127, 128, 129, MOST };

  for (size_t i = 0; i < G_N_ELEMENTS (far_apart) * G_N_ELEMENTS (counts); i++)
    {
      const int64_t high = far_apart[i % G_N_ELEMENTS (far_apart)];
      const uint32_t n = counts[i / G_N_ELEMENTS (far_apart)];
      LnsEventNumbers numbers = { 0 };
      int64_t values[MOST];
      /* Only the first block has the high value. */
      for (uint32_t row = 0; row < n; row++)
        values[row] = row == 1                        ? high - 5
                      : row == 0 && high == INT64_MAX ? INT64_MIN
                                                      : (int64_t)row - 5;
      for (uint32_t row = 0; row < n; row++)
        lns_event_numbers_add (&numbers, values[row]);
      LNS_CHECK (lns_event_numbers_finish (&numbers));
      LNS_CHECK_INT (numbers.n, n);
      for (uint32_t row = 0; row < n; row++)
        LNS_CHECK_INT (lns_event_numbers_get (&numbers, row), values[row]);
      /* Seven bits each, 16 bytes a block, and the words of the first one. */
      LNS_CHECK (lns_event_numbers_bytes (&numbers) <= n + 16 * (n / 128 + 1) + 8 + 1024);
      lns_event_numbers_clear (&numbers);
    }
}

int
main (void)
{
  report = lns_test_report_new ();
  LNS_TEST (rows_are_the_events_in_time_order);
  LNS_TEST (one_lane_is_its_events);
  LNS_TEST (numbers_keep_their_values);
  LNS_TEST (a_span_holds_what_touches_it);
  LNS_TEST (each_event_is_found);
  LNS_TEST (damage_is_left_out_and_counted);
  LNS_TEST (a_cancelled_load_gives_nothing);
  LNS_TEST (orders_are_those_of_the_keys);
  LNS_TEST (keys_order_like_the_cells);
  LNS_TEST (a_filter_ignores_case);
  LNS_TEST (conditions_are_of_what_the_cells_say);
  LNS_TEST (threads_and_processes_have_numbers);
  LNS_TEST (wrong_filters_are_told);
  LNS_TEST (a_cancelled_query_gives_nothing);
  LNS_TEST (a_row_is_found_in_an_order);
  LNS_TEST (sorts_any_keys);
  LNS_TEST (files_are_of_the_rows_as_they_stand);
  LNS_TEST (sums_are_of_the_rows);
  LNS_TEST (sums_by_name_are_of_each_name);
  LNS_TEST (odd_names_are_shown_and_copied);
  LNS_TEST (cells_say_what_the_event_is);
  LNS_TEST (counters_of_unknown_types_have_no_payload);
  lns_test_report_free (report);
  return lns_tap_done ();
}
