/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Compares searching events by name, and counting them in a span of time, with plain loops. Also tests the jobs by which
 * the viewer does both. */

#include "tests/tap.h"
#include "tests/unit/event-fixture.h"
#include "ui/details/alike-events.h"
#include "ui/details/details-fields.h"
#include "ui/model/job.h"
#include "ui/timeline/find-search.h"

static LnsReport *report;

static int
compare_places (gconstpointer a, gconstpointer b)
{
  const LnsFindPlace *x = a;
  const LnsFindPlace *y = b;
  if (x->start_ns != y->start_ns)
    return x->start_ns < y->start_ns ? -1 : 1;
  if (x->lane != y->lane)
    return x->lane < y->lane ? -1 : 1;
  return x->ordinal < y->ordinal ? -1 : 1;
}

/* All events whose name MATCH takes, in order. */
static GArray *
plain_search (const LnsNameMatch *match)
{
  GArray *places = g_array_new (FALSE, FALSE, sizeof (LnsFindPlace));
  for (uint32_t lane = 0; lane < N_LANES; lane++)
    for (uint64_t ordinal = 0; ordinal < LANE_EVENTS; ordinal++)
      {
        LnsEvent event;
        size_t size_bytes;
        LNS_CHECK (lns_report_event (report, lane, ordinal, &event, NULL));
        const char *name = lns_report_string (report, event.name, &size_bytes);
        LnsFindPlace place = { event.start_ns, lane, ordinal };
        if (lns_name_match_test (match, name, size_bytes))
          g_array_append_val (places, place);
      }
  g_array_sort (places, compare_places);
  return places;
}

static void
check_search (const char *text, bool regex)
{
  g_autoptr (LnsNameMatch) match = lns_name_match_new (text, regex, false, NULL);
  g_autoptr (LnsFindSearch) search = lns_find_search_new (report, match, NULL, NULL);
  g_autoptr (GArray) places = plain_search (match);
  LNS_CHECK_INT (lns_find_search_n_events (search), places->len);

  /* All the way round, each way, from before the first and after the last. */
  LnsFindPlace at = { INT64_MIN, 0, 0 };
  uint64_t number;
  for (guint i = 0; i <= places->len && places->len > 0; i++)
    {
      LNS_CHECK (lns_find_search_step (search, &at, true, &at, &number));
      LNS_CHECK_INT (number, i % places->len + 1);
      LNS_CHECK (at.lane == g_array_index (places, LnsFindPlace, number - 1).lane &&
                 at.ordinal == g_array_index (places, LnsFindPlace, number - 1).ordinal);
    }
  for (guint i = 0; i <= places->len && places->len > 0; i++)
    {
      LNS_CHECK (lns_find_search_step (search, &at, false, &at, &number));
      LNS_CHECK_INT (number, (2 * places->len - 1 - i) % places->len + 1);
      const LnsFindPlace *plain = &g_array_index (places, LnsFindPlace, number - 1);
      LNS_CHECK (at.lane == plain->lane && at.ordinal == plain->ordinal);
    }
}

static void
steps_visit_each_match_in_time_order (void)
{
  check_search ("step 17", false);
  check_search (GREEK_NAME, false);
  check_search ("^step [12]5$", true);
  check_search ("PASS", false);
}

static void
steps_from_between_matches (void)
{
  g_autoptr (LnsNameMatch) match = lns_name_match_new ("step 4", false, false, NULL);
  g_autoptr (LnsFindSearch) search = lns_find_search_new (report, match, NULL, NULL);
  g_autoptr (GArray) places = plain_search (match);
  LnsFindPlace at;
  uint64_t number;
  for (guint i = 1; i < places->len; i += 11)
    {
      LnsFindPlace between = g_array_index (places, LnsFindPlace, i);
      between.ordinal--;
      bool taken = between.ordinal == g_array_index (places, LnsFindPlace, i - 1).ordinal &&
                   between.lane == g_array_index (places, LnsFindPlace, i - 1).lane;
      if (taken || compare_places (&between, &g_array_index (places, LnsFindPlace, i - 1)) < 0)
        continue;
      LNS_CHECK (lns_find_search_step (search, &between, true, &at, &number));
      LNS_CHECK_INT (number, i + 1);
      LNS_CHECK (lns_find_search_step (search, &between, false, &at, &number));
      LNS_CHECK_INT (number, i);
    }
}

static void
nothing_is_found_of_nothing (void)
{
  g_autoptr (LnsNameMatch) match = lns_name_match_new ("nobody has this", false, false, NULL);
  g_autoptr (LnsFindSearch) search = lns_find_search_new (report, match, NULL, NULL);
  LnsFindPlace at = { 0 };
  uint64_t number;
  LNS_CHECK_INT (lns_find_search_n_events (search), 0);
  LNS_CHECK_INT (lns_find_search_n_names (search), 0);
  LNS_CHECK (!lns_find_search_step (search, &at, true, &at, &number));
}

static void
a_cancelled_search_gives_nothing (void)
{
  g_autoptr (LnsNameMatch) match = lns_name_match_new ("step", false, false, NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_cancellable_cancel (cancellable);
  LNS_CHECK (lns_find_search_new (report, match, NULL, cancellable) == NULL);
}

static bool
matches (const char *text, bool regex, bool match_case, const char *name)
{
  g_autoptr (LnsNameMatch) match = lns_name_match_new (text, regex, match_case, NULL);
  return lns_name_match_test (match, name, strlen (name));
}

static void
names_match_as_told (void)
{
  LNS_CHECK (matches ("forward", false, false, "Forward pass"));
  LNS_CHECK (!matches ("forward", false, true, "Forward pass"));
  LNS_CHECK (matches ("Forward", false, true, "Forward pass"));
  LNS_CHECK (matches ("σίσυφος", false, false, GREEK_NAME));
  LNS_CHECK (!matches ("σίσυφος", false, true, GREEK_NAME));
  LNS_CHECK (matches ("name", false, false, BAD_NAME));
  LNS_CHECK (matches ("\\bname$", true, false, BAD_NAME));
  LNS_CHECK (!matches ("bad name", false, false, BAD_NAME));
  LNS_CHECK (matches ("^f.*s$", true, false, "Forward pass"));
  LNS_CHECK (!matches ("^f.*s$", true, true, "Forward pass"));
  LNS_CHECK (!matches ("longer than the name", false, false, "name"));
  LNS_CHECK (matches ("", false, false, ""));
}

static void
a_bad_expression_says_why (void)
{
  g_autoptr (GError) error = NULL;
  LNS_CHECK (lns_name_match_new ("(", true, false, &error) == NULL);
  LNS_CHECK (error != NULL && strchr (error->message, '\n') == NULL);
}

/* --- Details ------------------------------------------------------------------------------- */

/* Of the events of one name in lanes of one kind, those that are shorter, and the shares of each length. */
static void
events_of_one_name_are_compared (void)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  LnsAlikeEvents alike;
  LnsEvent own, event;
  LNS_CHECK (lns_report_event (report, 0, LANE_EVENTS / 2, &own, NULL));
  uint64_t n = 0, n_below = 0, n_in_bars = 0;
  int64_t sum_ns = 0, least_ns = INT64_MAX, most_ns = 0;
  for (uint32_t lane = 0; lane < n_lanes; lane++)
    for (uint64_t i = 0;
         lanes[lane].kind == lanes[0].kind && lns_report_event (report, lane, i, &event, NULL); i++)
      if (event.name == own.name && lns_event_has_length (event.flags) &&
          (event.flags & LNS_EVENT_OPEN_END) == 0)
        {
          n++;
          n_below += event.duration_ns < own.duration_ns;
          sum_ns += event.duration_ns;
          least_ns = MIN (least_ns, event.duration_ns);
          most_ns = MAX (most_ns, event.duration_ns);
        }
  LNS_CHECK (n > 2);
  LNS_CHECK (lns_alike_find (report, lanes[0].kind, own.name, own.duration_ns, NULL, &alike));
  LNS_CHECK_INT (alike.n, n);
  LNS_CHECK_INT (alike.n_below, n_below);
  LNS_CHECK_INT (alike.sum_ns, sum_ns);
  LNS_CHECK_INT (alike.least_ns, least_ns);
  LNS_CHECK_INT (alike.most_ns, most_ns);
  LNS_CHECK (alike.p50_ns >= least_ns && alike.p50_ns <= alike.p99_ns && alike.p99_ns <= most_ns);
  for (unsigned i = 0; i < LNS_ALIKE_BARS; i++)
    n_in_bars += alike.bars[i];
  LNS_CHECK_INT (n_in_bars, n);
  LNS_CHECK (alike.bars[alike.own] > 0);
  atomic_bool is_cancelled = true;
  LNS_CHECK (!lns_alike_find (report, lanes[0].kind, own.name, 0, &is_cancelled, &alike));
}

static const char *
field (const GArray *fields, const char *title)
{
  for (guint i = 0; i < fields->len; i++)
    if (strcmp (g_array_index (fields, LnsDetailsField, i).title, title) == 0)
      return g_array_index (fields, LnsDetailsField, i).text;
  return NULL;
}

static void
details_tell_each_field (void)
{
  LnsEvent event;
  uint64_t ordinal = 0;
  do
    LNS_CHECK (lns_report_event (report, 3, ordinal++, &event, NULL));
  while (strcmp (lns_report_string (report, event.name, NULL), BAD_NAME) != 0);
  event.extra[lns_lane_kind_extra (LNS_LANE_NVTX_START_END, LNS_COLUMN_CATEGORY)] = CATEGORY;
  event.extra[lns_lane_kind_extra (LNS_LANE_NVTX_START_END, LNS_COLUMN_COLOR)] = 0xff00cc88;
  event.extra[lns_lane_kind_extra (LNS_LANE_NVTX_START_END, LNS_COLUMN_PAYLOAD_TYPE)] =
      LNS_PAYLOAD_INT64;
  event.extra[lns_lane_kind_extra (LNS_LANE_NVTX_START_END, LNS_COLUMN_PAYLOAD)] = (uint64_t)-5;
  event.start_ns = 1;
  event.duration_ns = 1500;
  event.flags = LNS_EVENT_LOST_BEFORE;
  g_autoptr (GArray) fields = lns_details_fields_new (report, NULL, 3, ordinal - 1, &event, 0);
  LNS_CHECK_STR (field (fields, "Start"), "0.000000001 s");
  LNS_CHECK_STR (field (fields, "Duration"), "1.5 µs");
  LNS_CHECK_STR (field (fields, "End"), "0.000001501 s");
  LNS_CHECK_STR (field (fields, "Category"), "input (7)");
  LNS_CHECK_STR (field (fields, "Payload"), "-5");
  LNS_CHECK_STR (field (fields, "Color"), "#FF00CC88");
  LNS_CHECK_STR (field (fields, "Process"), "python3 (4711)");
  LNS_CHECK (strstr (field (fields, "Notes"), "lost") != NULL);
  LNS_CHECK (field (fields, "Depth") == NULL);

  g_autoptr (GBytes) bytes = lns_details_fields_copy (report, &event, fields);
  g_autofree char *copied = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  LNS_CHECK (g_str_has_prefix (copied, BAD_NAME "\nKind: "));
  LNS_CHECK (strstr (copied, "\nStart: 0.000000001 s\nDuration: 1.5 µs\n") != NULL);
}

static void
an_unknown_end_is_not_told (void)
{
  LnsEvent event;
  LNS_CHECK (lns_report_event (report, 0, 0, &event, NULL));
  event.flags = LNS_EVENT_END_UNKNOWN;
  g_autoptr (GArray) fields = lns_details_fields_new (report, NULL, 0, 0, &event, 0);
  LNS_CHECK_STR (field (fields, "Duration"), "not known");
  LNS_CHECK (field (fields, "End") == NULL);
}

/* --- Jobs ---------------------------------------------------------------------------------- */

/* The threads that the functions of a job ran on. */
typedef struct
{
  GThread *worked, *done, *freed;
  bool waits; /* to be cancelled */
} Job;

static void
work (LnsWorker *worker, gpointer data)
{
  Job *job = data;
  while (job->waits && !atomic_load (&worker->cancelled))
    g_thread_yield ();
  LNS_CHECK (g_cancellable_is_cancelled (worker->cancellable) == job->waits);
  LNS_CHECK (lns_report_info (worker->report)->n_events == lns_report_info (report)->n_events);
  job->worked = g_thread_self ();
}

static void
done (gpointer data, gpointer owner)
{
  LNS_CHECK (data == owner);
  ((Job *)data)->done = g_thread_self ();
}

static void
freed (gpointer data)
{
  ((Job *)data)->freed = g_thread_self ();
}

static void
jobs_end_on_the_main_thread (void)
{
  static const LnsJobFuncs funcs = { work, done, freed };
  LnsView *view = lns_view_new (lns_report_open (lns_report_info (report)->path, NULL, NULL));
  GCancellable *running = NULL;
  Job job = { 0 };
  lns_job_start (&running, view, &funcs, &job, &job);
  LNS_CHECK (running != NULL);
  while (job.freed == NULL)
    g_main_context_iteration (NULL, TRUE);
  LNS_CHECK (job.worked != g_thread_self () && job.done == g_thread_self ());
  LNS_CHECK (job.freed == g_thread_self () && running == NULL);

  /* The last reference on the view is that of the cancelled job. */
  job = (Job){ .waits = true };
  lns_job_start (&running, view, &funcs, &job, &job);
  g_object_unref (view);
  lns_job_cancel (&running);
  LNS_CHECK (running == NULL);
  while (job.freed == NULL)
    g_main_context_iteration (NULL, TRUE);
  LNS_CHECK (job.worked != NULL && job.done == NULL && job.freed == g_thread_self ());
}

static void
a_job_cancels_the_one_before_it (void)
{
  static const LnsJobFuncs funcs = { work, done, freed };
  g_autoptr (LnsView) view =
      lns_view_new (lns_report_open (lns_report_info (report)->path, NULL, NULL));
  GCancellable *running = NULL;
  Job first = { .waits = true }, next = { 0 };
  lns_job_start (&running, view, &funcs, &first, &first);
  lns_job_start (&running, view, &funcs, &next, &next);
  while (first.freed == NULL || next.freed == NULL)
    g_main_context_iteration (NULL, TRUE);
  LNS_CHECK (first.worked != NULL && first.done == NULL);
  LNS_CHECK (next.done == g_thread_self () && running == NULL);
}

int
main (void)
{
  report = lns_test_report_new ();
  LNS_TEST (steps_visit_each_match_in_time_order);
  LNS_TEST (steps_from_between_matches);
  LNS_TEST (nothing_is_found_of_nothing);
  LNS_TEST (a_cancelled_search_gives_nothing);
  LNS_TEST (names_match_as_told);
  LNS_TEST (a_bad_expression_says_why);
  LNS_TEST (events_of_one_name_are_compared);
  LNS_TEST (details_tell_each_field);
  LNS_TEST (an_unknown_end_is_not_told);
  LNS_TEST (jobs_end_on_the_main_thread);
  LNS_TEST (a_job_cancels_the_one_before_it);
  lns_test_report_free (report);
  return lns_tap_done ();
}
