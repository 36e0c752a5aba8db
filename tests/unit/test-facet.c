/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Compares facets with the plain query that they replace: for each pixel, all events of the name. */

#include "src/store/read/facet.h"

#include <math.h>
#include <stdlib.h>

#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

#define N_LANES  3
#define N_EVENTS 20000
#define N_NAMES  90
#define N_PX     300

static LnsExpectedLane lanes[N_LANES];

/* Three streams of kernels of N_NAMES short names: launch k is kernel k. */
static LnsReport *
write_kernels (void)
{
  const char *path = fixture_path ("facets.rep");
  LnsWriter *writer = fixture_writer (path);
  uint32_t launches[N_NAMES];
  for (int k = 0; k < N_NAMES; k++)
    {
      char text[32];
      snprintf (text, sizeof text, "kernel_%02d", k);
      LnsCudaLaunch launch = { .short_name = lns_writer_string (writer, text, strlen (text)) };
      launches[k] = lns_writer_add_launch (writer, &launch);
    }
  const int column = lns_lane_kind_extra (LNS_LANE_CUDA_KERNEL, LNS_COLUMN_LAUNCH);
  uint64_t seed = 7;
  for (int i = 0; i < N_LANES; i++)
    {
      LnsShape shape = i == 0 ? LNS_SHAPE_DENSE : i == 1 ? LNS_SHAPE_BURSTS : LNS_SHAPE_ZERO;
      free (lanes[i].events); /* of the case before */
      lanes[i] = fixture_events (shape, N_EVENTS, 1000 * i, 11 + (uint64_t)i);
      uint32_t lane = fixture_lane (writer, LNS_LANE_CUDA_KERNEL);
      for (uint32_t e = 0; e < lanes[i].n; e++)
        {
          /* A power law: kernel 0 most often. */
          const uint64_t random = fixture_random (&seed) % (N_NAMES * N_NAMES);
          memset (lanes[i].events[e].extra, 0, sizeof lanes[i].events[e].extra);
          lanes[i].events[e].extra[column] =
              launches[N_NAMES - 1 - (uint64_t)sqrt ((double)random)];
          lns_writer_append (writer, lane, &lanes[i].events[e]);
        }
    }
  fixture_finish (writer, 0);
  return fixture_open (path, NULL);
}

/* Events of KEY (a launch), or of all where it is -1, of N lanes: their time together, and the busy
 * share of each pixel. */
typedef struct
{
  uint64_t n;
  int64_t total_ns, busy_ns;
  double pixels[N_PX];
} Plain;

typedef struct
{
  int64_t start_ns, end_ns;
} Span;

static int
compare_spans (const void *a, const void *b)
{
  const Span *x = a, *y = b;
  return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static void
query_plainly (int n_lanes, int key, int64_t origin_ns, double ns_per_px, Plain *plain)
{
  static Span spans[N_LANES * N_EVENTS];
  const int column = lns_lane_kind_extra (LNS_LANE_CUDA_KERNEL, LNS_COLUMN_LAUNCH);
  int64_t reached_ns = INT64_MIN;
  *plain = (Plain){ 0 };
  for (int i = 0; i < n_lanes; i++)
    for (uint32_t e = 0; e < lanes[i].n; e++)
      if (key < 0 || lanes[i].events[e].extra[column] == (uint64_t)key)
        {
          const LnsEvent *event = &lanes[i].events[e];
          spans[plain->n++] = (Span){ event->start_ns, event->start_ns + event->duration_ns };
          plain->total_ns += event->duration_ns;
        }
  qsort (spans, plain->n, sizeof *spans, compare_spans);
  for (uint64_t i = 0; i < plain->n; i++)
    {
      const int64_t from_ns = spans[i].start_ns > reached_ns ? spans[i].start_ns : reached_ns;
      if (spans[i].end_ns <= from_ns)
        continue;
      reached_ns = spans[i].end_ns;
      plain->busy_ns += reached_ns - from_ns;
      const double x0 = (double)(from_ns - origin_ns) / ns_per_px;
      const double x1 = (double)(reached_ns - origin_ns) / ns_per_px;
      for (int64_t p = x0 > 0 ? (int64_t)x0 : 0; p < N_PX && (double)p < x1; p++)
        plain->pixels[p] += fmin ((double)p + 1, x1) - fmax ((double)p, x0);
    }
}

static void
compare_window (const LnsFacetSet *set,
                uint32_t index,
                int n_lanes,
                int key,
                int64_t origin_ns,
                double ns_per_px)
{
  static Plain plain;
  LnsPixelResult result = { 0 };
  LnsError error = { 0 };
  const LnsPixelQuery query = { .origin_ns = origin_ns, .ns_per_px = ns_per_px, .n_px = N_PX };
  if (!lns_facet_query_pixels (set, index, &query, &result, &error))
    LNS_FAIL ("%s", error.message);
  query_plainly (n_lanes, key, origin_ns, ns_per_px, &plain);
  double busy = 0, plain_busy = 0;
  for (int p = 0; p < N_PX; p++)
    {
      busy += result.pixels[p].busy;
      plain_busy += plain.pixels[p];
      if (fabs (result.pixels[p].busy - plain.pixels[p]) > 1)
        LNS_FAIL ("pixel %d is busy %g, not %g", p, result.pixels[p].busy, plain.pixels[p]);
    }
  if (fabs (busy - plain_busy) > 2 + 1e-4 * plain_busy)
    LNS_FAIL ("%g pixels are busy, not %g", busy, plain_busy);
  for (uint32_t i = 1; i < result.n_events; i++)
    LNS_CHECK (result.events[i].start_ns >= result.events[i - 1].start_ns);
  lns_pixel_result_clear (&result);
}

static void
compare_facet (const LnsFacetSet *set, uint32_t index, int n_lanes, int key)
{
  static Plain plain;
  const LnsFacet *facet = &lns_facet_set_facets (set, NULL)[index];
  query_plainly (n_lanes, key, 0, 1e9, &plain);
  LNS_CHECK_INT (facet->n_events, plain.n);
  LNS_CHECK_INT (facet->total_ns, plain.total_ns);
  LNS_CHECK_INT (facet->busy_ns, plain.busy_ns);
  const double whole = (double)(facet->end_ns - facet->start_ns);
  for (int zoom = 0; zoom < 5; zoom++)
    for (int at = 0; at < 3; at++)
      compare_window (set, index, n_lanes, key, facet->start_ns + (int64_t)(whole * at / 3.1),
                      whole / N_PX / pow (9, zoom));
}

/* The launch whose short name is string KEY. */
static int
launch_of (LnsReport *report, uint64_t key)
{
  uint32_t n;
  const LnsCudaLaunch *launches = lns_report_launches (report, &n);
  for (uint32_t i = 0; i < n; i++)
    if (launches[i].short_name == key)
      return (int)i;
  return -1;
}

static void
test_names_of_one_lane (void)
{
  LnsReport *report = write_kernels ();
  LnsError error = { 0 };
  uint32_t n;
  LnsFacetSet *set =
      lns_facet_set_new (report, (uint32_t[]){ 0 }, 1, LNS_FACET_BY_KERNEL, NULL, &error);
  LNS_CHECK (set != NULL);
  const LnsFacet *facets = lns_facet_set_facets (set, &n);
  LNS_CHECK_INT (n, LNS_FACETS_MAX + 1);
  LNS_CHECK (facets[n - 1].key == LNS_FACET_OTHERS);
  LNS_CHECK_INT (facets[n - 1].n_keys, N_NAMES - LNS_FACETS_MAX);
  uint64_t n_events = 0;
  for (uint32_t i = 0; i < n; i++)
    {
      n_events += facets[i].n_events;
      LNS_CHECK (i == 0 || i == n - 1 || facets[i].total_ns <= facets[i - 1].total_ns);
    }
  LNS_CHECK_INT (n_events, N_EVENTS);
  for (uint32_t i = 0; i < n - 1; i += 9)
    compare_facet (set, i, 1, launch_of (report, facets[i].key));
  lns_facet_set_unref (set);
  lns_report_close (report);
}

static void
test_lanes_that_overlap (void)
{
  LnsReport *report = write_kernels ();
  LnsError error = { 0 };
  const uint32_t all[] = { 0, 1, 2 };
  LnsFacetSet *whole = lns_facet_set_new (report, all, 3, LNS_FACET_BY_NOTHING, NULL, &error);
  LnsFacetSet *names = lns_facet_set_new (report, all, 3, LNS_FACET_BY_KERNEL, NULL, &error);
  LNS_CHECK (whole != NULL && names != NULL);
  compare_facet (whole, 0, 3, -1);
  LNS_CHECK (lns_facet_set_facets (whole, NULL)->busy_ns <
             lns_facet_set_facets (whole, NULL)->total_ns);
  compare_facet (names, 3, 3, launch_of (report, lns_facet_set_facets (names, NULL)[3].key));
  lns_facet_set_unref (whole);
  lns_facet_set_unref (names);
  lns_report_close (report);
}

/* Every event is in its facet once, in order, and is found again by its time. */
static void
test_events_of_a_facet (void)
{
  LnsReport *report = write_kernels ();
  LnsError error = { 0 };
  const uint32_t all[] = { 0, 1, 2 };
  LnsFacetSet *set = lns_facet_set_new (report, all, 3, LNS_FACET_BY_NOTHING, NULL, &error);
  LnsFacetEvent events[LNS_FACET_BLOCK];
  uint64_t next[N_LANES] = { 0 }, number = 0;
  int64_t last_ns = INT64_MIN;
  for (unsigned n; (n = lns_facet_events (set, 0, number, events)) > 0; number += n)
    for (unsigned i = 0; i < n; i++)
      {
        LNS_CHECK_INT (events[i].ordinal, next[events[i].lane]++);
        const LnsEvent *event = &lanes[events[i].lane].events[events[i].ordinal];
        LNS_CHECK (event->start_ns >= last_ns);
        last_ns = event->start_ns;
        if ((number + i) % 501 == 0)
          LNS_CHECK (lns_facet_find (set, 0, event->start_ns) <= number + i);
      }
  LNS_CHECK_INT (number, N_LANES * N_EVENTS);
  lns_facet_set_unref (set);
  lns_report_close (report);
}

static void
test_cancelled (void)
{
  LnsReport *report = write_kernels ();
  LnsError error = { 0 };
  const atomic_bool cancel = true;
  LNS_CHECK (lns_facet_set_new (report, (uint32_t[]){ 0 }, 1, LNS_FACET_BY_KERNEL, &cancel,
                                &error) == NULL);
  LNS_CHECK_INT (error.domain, LNS_ERROR_CANCELLED);
  lns_report_close (report);
}

int
main (void)
{
  LNS_TEST (test_names_of_one_lane);
  LNS_TEST (test_lanes_that_overlap);
  LNS_TEST (test_events_of_a_facet);
  LNS_TEST (test_cancelled);
  return lns_tap_done ();
}
