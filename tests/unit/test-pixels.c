/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Compares pixel queries with the plain query that they replace: for each pixel, all events. */

#include "src/store/read/pixels.h"

#include <math.h>

#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

#define N_PX 400

typedef struct
{
  double busy;
  uint64_t count;
  bool touched;
} PlainPixel;

/* The plain query. */
static void
query_plainly (const LnsExpectedLane *lane,
               int64_t origin_ns,
               double ns_per_px,
               uint32_t n_px,
               PlainPixel *pixels)
{
  memset (pixels, 0, n_px * sizeof *pixels);
  for (uint32_t i = 0; i < lane->n; i++)
    {
      const LnsEvent *event = &lane->events[i];
      double x0 = (double)(event->start_ns - origin_ns) / ns_per_px;
      double x1 = (double)(event->start_ns + event->duration_ns - origin_ns) / ns_per_px;
      if (x0 >= 0 && x0 < n_px)
        {
          pixels[(int)x0].count++;
          pixels[(int)x0].touched = true;
        }
      for (int64_t p = x0 > 0 ? (int64_t)x0 : 0; p < n_px && (double)p < x1; p++)
        {
          double overlap = fmin (p + 1.0, x1) - fmax ((double)p, x0);
          pixels[p].busy += overlap;
          pixels[p].touched |= overlap > 0;
        }
    }
}

/* Compares one window. Near to events (a level-1 node is wider than a pixel) all is exact; where
 * nodes stand for events, a pixel may be off by what a node that lies in two pixels spreads. */
static void
compare_window (LnsReport *report,
                uint32_t lane_id,
                const LnsExpectedLane *lane,
                int64_t origin_ns,
                double ns_per_px)
{
  static PlainPixel plain[N_PX];
  LnsPixelResult result = { 0 };
  LnsError error = { 0 };
  LnsPixelQuery query = { .origin_ns = origin_ns, .ns_per_px = ns_per_px, .n_px = N_PX };

  if (!lns_report_query_pixels (report, lane_id, &query, &result, &error))
    LNS_FAIL ("%s", error.message);
  query_plainly (lane, origin_ns, ns_per_px, N_PX, plain);

  double busy = 0, plain_busy = 0, count = 0, plain_count = 0;
  for (int p = 0; p < N_PX; p++)
    {
      const LnsPixel *pixel = &result.pixels[p];
      busy += pixel->busy;
      plain_busy += plain[p].busy;
      count += pixel->count;
      plain_count += plain[p].count;
      if (fabs (pixel->busy - plain[p].busy) > 1.0)
        LNS_FAIL ("pixel %d is busy %g, not %g", p, pixel->busy, plain[p].busy);
      /* What is there is never missed, but for what a node's neighbour pixel shows. */
      if (plain[p].touched && pixel->name == 0 && (p == 0 || result.pixels[p - 1].name == 0) &&
          (p == N_PX - 1 || result.pixels[p + 1].name == 0))
        LNS_FAIL ("pixel %d shows nothing", p);
      LNS_CHECK (pixel->busy >= 0 && pixel->busy <= 1);
    }
  /* At the window's edges a node is cut by its share. */
  if (fabs (busy - plain_busy) > 2 + 1e-4 * plain_busy)
    LNS_FAIL ("%g pixels are busy, not %g", busy, plain_busy);
  LNS_CHECK (!result.coarse);
  /* Where no node is cut by the window's edges, each event is counted once, up to rounding. */
  const LnsLaneInfo *info = lns_report_lane_info (report, lane_id);
  if (origin_ns <= info->start_ns && (double)(info->end_ns - origin_ns) < ns_per_px * N_PX)
    LNS_CHECK (fabs (count - plain_count) <= 10 + 0.01 * plain_count);

  /* Each event of at least a pixel is listed, and no other. */
  uint32_t at = 0;
  for (uint32_t i = 0; i < lane->n; i++)
    {
      const LnsEvent *event = &lane->events[i];
      double x0 = (double)(event->start_ns - origin_ns) / ns_per_px;
      double x1 = (double)(event->start_ns + event->duration_ns - origin_ns) / ns_per_px;
      if (x1 <= 0 || x0 >= N_PX || x1 - x0 < 1)
        continue;
      LNS_CHECK (at < result.n_events);
      LNS_CHECK_INT (result.events[at].ordinal, i);
      LNS_CHECK_INT (result.events[at].start_ns, event->start_ns);
      LNS_CHECK_INT (result.events[at].duration_ns, event->duration_ns);
      LNS_CHECK_INT (result.events[at].name, event->name);
      LNS_CHECK_INT (result.events[at].color, event->extra[0]);
      at++;
    }
  LNS_CHECK_INT (result.n_events, at);
  lns_pixel_result_clear (&result);
}

static void
test_same_as_plain_query (void)
{
  enum
  {
    N = 20000
  };
  const char *path = fixture_path ("pixels.rep");
  LnsExpectedLane lanes[2 * LNS_N_SHAPES];
  LnsWriter *writer = fixture_writer (path);

  for (uint32_t i = 0; i < 2 * LNS_N_SHAPES; i++)
    {
      uint32_t id = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
      lanes[i] = fixture_events (i % LNS_N_SHAPES, i < LNS_N_SHAPES ? N : 17 * i, -5000, 7 + i);
      for (uint32_t e = 0; e < lanes[i].n; e++)
        lns_writer_append (writer, id, &lanes[i].events[e]);
    }
  fixture_finish (writer, 0);

  LnsReport *report = fixture_open (path, NULL);
  uint64_t seed = 3;
  for (uint32_t i = 0; i < 2 * LNS_N_SHAPES; i++)
    {
      const LnsLaneInfo *info = lns_report_lane_info (report, i);
      const double span_ns = (double)(info->end_ns - info->start_ns) + 1;
      for (double zoom = 0.7; span_ns / zoom / N_PX > 0.02; zoom *= 4.7)
        {
          const double ns_per_px = span_ns / zoom / N_PX;
          const LnsEvent *event = &lanes[i].events[fixture_random (&seed) % lanes[i].n];
          compare_window (report, i, &lanes[i], event->start_ns - (int64_t)(ns_per_px * N_PX / 3),
                          ns_per_px);
        }
      compare_window (report, i, &lanes[i], info->start_ns, span_ns / N_PX);
      free (lanes[i].events);
    }
  lns_report_close (report);
}

/* Where each node of 16 is wider than a pixel, only events speak: exact to the float. */
static void
test_exact_near_events (void)
{
  static PlainPixel plain[N_PX];
  const char *path = fixture_path ("exact.rep");
  LnsWriter *writer = fixture_writer (path);
  uint32_t id = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  LnsExpectedLane lane = fixture_events (LNS_SHAPE_DENSE, 30000, 0, 5);
  LnsPixelResult result = { 0 };

  for (uint32_t e = 0; e < lane.n; e++)
    lns_writer_append (writer, id, &lane.events[e]);
  fixture_finish (writer, 0);
  LnsReport *report = fixture_open (path, NULL);
  LnsPixelQuery query = { .origin_ns = 10000000, .ns_per_px = 4321.7, .n_px = N_PX };
  LNS_CHECK (lns_report_query_pixels (report, id, &query, &result, NULL));
  query_plainly (&lane, query.origin_ns, query.ns_per_px, N_PX, plain);
  for (int p = 0; p < N_PX; p++)
    {
      LNS_CHECK (fabs (result.pixels[p].busy - plain[p].busy) < 1e-5);
      LNS_CHECK_INT (result.pixels[p].count, plain[p].count);
    }
  lns_pixel_result_clear (&result);
  lns_report_close (report);
  free (lane.events);
}

/* Of three names in a pixel the one that covers most of it, wherever it stands. */
static void
test_dominant_name (void)
{
  static const int64_t lengths_ns[3][3] = { { 10, 60, 20 }, { 60, 10, 20 }, { 20, 10, 60 } };
  const char *path = fixture_path ("dominant.rep");
  LnsWriter *writer = fixture_writer (path);
  uint32_t id = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  LnsPixelResult result = { 0 };

  for (int64_t p = 0; p < 3; p++)
    for (int64_t i = 0, at_ns = 100 * p; i < 3; at_ns += lengths_ns[p][i++])
      {
        const bool longest = lengths_ns[p][i] == 60;
        lns_writer_append (writer, id,
                           &(LnsEvent){ .start_ns = at_ns,
                                        .duration_ns = lengths_ns[p][i],
                                        .name = longest ? 9 : 1 + (uint32_t)i,
                                        .extra = { longest ? 0xFF112233 : 0 } });
      }
  fixture_finish (writer, 0);
  LnsReport *report = fixture_open (path, NULL);
  LnsPixelQuery query = { .ns_per_px = 100, .n_px = 3 };
  LNS_CHECK (lns_report_query_pixels (report, id, &query, &result, NULL));
  for (int p = 0; p < 3; p++)
    {
      LNS_CHECK_INT (result.pixels[p].name, 9);
      LNS_CHECK_INT (result.pixels[p].color, 0xFF112233);
      LNS_CHECK (fabsf (result.pixels[p].busy - 0.9f) < 1e-6f);
    }
  LNS_CHECK_INT (result.n_events, 0);
  lns_pixel_result_clear (&result);
  lns_report_close (report);
}

static void
test_one_nanosecond_at_ten_hours (void)
{
  const int64_t at_ns = INT64_C (36000) * 1000000000;
  const char *path = fixture_path ("deep.rep");
  LnsWriter *writer = fixture_writer (path);
  uint32_t id = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  LnsPixelResult result = { 0 };

  for (int64_t i = -200; i < 200; i++)
    lns_writer_append (writer, id,
                       &(LnsEvent){ .start_ns = at_ns + 2 * i, .duration_ns = 1, .name = 7 });
  fixture_finish (writer, 0);
  LnsReport *report = fixture_open (path, NULL);
  LnsPixelQuery query = { .origin_ns = at_ns, .ns_per_px = 0.1, .n_px = 100 };
  LNS_CHECK (lns_report_query_pixels (report, id, &query, &result, NULL));
  LNS_CHECK_INT (result.n_events, 5);
  for (int p = 0; p < 100; p++)
    {
      LNS_CHECK (fabsf (result.pixels[p].busy - (p % 20 < 10)) < 1e-5f);
      LNS_CHECK_INT (result.pixels[p].count, p % 20 == 0);
    }
  LNS_CHECK_INT (result.events[4].start_ns, at_ns + 8);
  lns_pixel_result_clear (&result);
  lns_report_close (report);
}

/* However lonely and short the longest event is, its pixel is not empty. */
static void
test_lone_event_is_visible (void)
{
  const char *path = fixture_path ("lone.rep");
  LnsWriter *writer = fixture_writer (path);
  uint32_t id = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  LnsPixelResult result = { 0 };

  for (int64_t i = 0; i < 5000; i++)
    lns_writer_append (writer, id, &(LnsEvent){ .start_ns = i, .name = 1 });
  lns_writer_append (writer, id, &(LnsEvent){ .start_ns = 500000000, .duration_ns = 3, .name = 9 });
  lns_writer_append (writer, id, &(LnsEvent){ .start_ns = 1000000000, .name = 2 });
  fixture_finish (writer, 0);
  LnsReport *report = fixture_open (path, NULL);
  LnsPixelQuery query = { .origin_ns = 0, .ns_per_px = 1000000, .n_px = 1001 };
  LNS_CHECK (lns_report_query_pixels (report, id, &query, &result, NULL));
  LNS_CHECK_INT (result.pixels[500].name, 9);
  LNS_CHECK_INT (result.pixels[500].count, 1);
  LNS_CHECK (result.pixels[500].busy > 0);
  LNS_CHECK_INT (result.pixels[0].count, 5000);
  LNS_CHECK_INT (result.pixels[1000].name, 2);
  LNS_CHECK_INT (result.pixels[499].name, 0);
  lns_pixel_result_clear (&result);
  lns_report_close (report);
}

/* The gate of the frame budget: nodes visited grow with pixels, whatever the events and the zoom. */
static void
test_cost_grows_with_pixels (void)
{
  enum
  {
    N = 300000,
    WIDE_PX = 1920
  };
  const char *path = fixture_path ("cost.rep");
  LnsWriter *writer = fixture_writer (path);
  LnsPixelResult result = { 0 };

  for (uint32_t i = 0; i < LNS_N_SHAPES; i++)
    {
      uint32_t id = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
      LnsExpectedLane lane = fixture_events (i, N, 0, i);
      for (uint32_t e = 0; e < lane.n; e++)
        lns_writer_append (writer, id, &lane.events[e]);
      free (lane.events);
    }
  fixture_finish (writer, 0);
  LnsReport *report = fixture_open (path, NULL);
  for (uint32_t i = 0; i < LNS_N_SHAPES; i++)
    {
      const LnsLaneInfo *info = lns_report_lane_info (report, i);
      for (double zoom = 1; zoom < 1e7; zoom *= 3)
        {
          const double span_ns = (double)(info->end_ns - info->start_ns) / zoom;
          LnsPixelQuery query = { .origin_ns = info->start_ns + (int64_t)(span_ns * (zoom - 1) / 3),
                                  .ns_per_px = span_ns / WIDE_PX,
                                  .n_px = WIDE_PX };
          uint64_t before = lns_report_counters (report).nodes_visited;
          LNS_CHECK (lns_report_query_pixels (report, i, &query, &result, NULL));
          uint64_t visited = lns_report_counters (report).nodes_visited - before;
          if (visited > 12 * WIDE_PX)
            LNS_FAIL ("shape %u at zoom %g: %" PRIu64 " nodes", i, zoom, visited);
        }
    }
  lns_pixel_result_clear (&result);
  lns_report_close (report);
}

/* Bursts with nothing between them: the nodes across the gaps are wide, but not one event is a pixel
 * wide, so that none is read. */
static void
test_gaps_open_no_events (void)
{
  const char *path = fixture_path ("gaps.rep");
  LnsWriter *writer = fixture_writer (path);
  uint32_t id = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  LnsExpectedLane lane = fixture_events (LNS_SHAPE_BURSTS, 300000, 0, 9);
  LnsPixelResult result = { 0 };
  uint32_t n_busy = 0;

  for (uint32_t e = 0; e < lane.n; e++)
    lns_writer_append (writer, id, &lane.events[e]);
  fixture_finish (writer, 0);
  LnsReport *report = fixture_open (path, NULL);
  const LnsLaneInfo *info = lns_report_lane_info (report, id);
  LnsPixelQuery query = { .origin_ns = info->start_ns,
                          .ns_per_px = (double)(info->end_ns - info->start_ns) / 1000,
                          .n_px = 1001 };
  LNS_CHECK (lns_report_query_pixels (report, id, &query, &result, NULL));
  for (uint32_t p = 0; p < result.n_px; p++)
    n_busy += result.pixels[p].count > 0;
  LNS_CHECK (n_busy >= 100 && n_busy <= 210);
  LNS_CHECK (info->n_chunks > 60);
  LNS_CHECK (lns_report_counters (report).chunks_decoded <= 12);
  lns_pixel_result_clear (&result);
  lns_report_close (report);
  free (lane.events);
}

static void
test_open_event_reaches_to_the_end (void)
{
  const char *path = fixture_path ("open.rep");
  LnsWriter *writer = fixture_writer (path);
  uint32_t id = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  uint32_t alone = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  LnsPixelResult result = { 0 };

  lns_writer_append (writer, id, &(LnsEvent){ .start_ns = 0, .duration_ns = 10, .name = 1 });
  lns_writer_set_open (writer, id, &(LnsEvent){ .start_ns = 50, .name = 5, .extra = { 0xFF00FF } });
  lns_writer_set_open (writer, alone, &(LnsEvent){ .start_ns = 20, .name = 6 });
  fixture_finish (writer, 100);
  LnsReport *report = fixture_open (path, NULL);
  LnsPixelQuery query = { .origin_ns = 0, .ns_per_px = 10, .n_px = 12 };
  LNS_CHECK (lns_report_query_pixels (report, id, &query, &result, NULL));
  for (int p = 0; p < 12; p++)
    LNS_CHECK (result.pixels[p].busy == (p == 0 || (p >= 5 && p < 10)));
  LNS_CHECK_INT (result.n_events, 2);
  LNS_CHECK_INT (result.events[1].ordinal, 1);
  LNS_CHECK_INT (result.events[1].duration_ns, 50);
  LNS_CHECK_INT (result.events[1].color, 0xFF00FF);
  LNS_CHECK (result.events[1].flags & LNS_EVENT_OPEN_END);
  LNS_CHECK (lns_report_query_pixels (report, alone, &query, &result, NULL));
  LNS_CHECK_INT (result.n_events, 1);
  LNS_CHECK_INT (result.pixels[2].name, 6);
  lns_pixel_result_clear (&result);
  lns_report_close (report);
}

static void
test_cached_only_reads_nothing (void)
{
  const char *path = fixture_path ("cached.rep");
  LnsWriter *writer = fixture_writer (path);
  uint32_t id = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  LnsExpectedLane lane = fixture_events (LNS_SHAPE_MIXED, 60000, 0, 1);
  LnsPixelResult coarse = { 0 }, fine = { 0 };

  for (uint32_t e = 0; e < lane.n; e++)
    lns_writer_append (writer, id, &lane.events[e]);
  fixture_finish (writer, 0);
  LnsReport *report = fixture_open (path, NULL);
  const LnsLaneInfo *info = lns_report_lane_info (report, id);
  LnsPixelQuery query = { .origin_ns = info->start_ns,
                          .ns_per_px = (double)(info->end_ns - info->start_ns) / 1000,
                          .n_px = 1000,
                          .cached_only = true };
  LnsReportCounters before = lns_report_counters (report);
  LNS_CHECK (lns_report_query_pixels (report, id, &query, &coarse, NULL));
  LnsReportCounters after = lns_report_counters (report);
  LNS_CHECK (coarse.coarse);
  LNS_CHECK_INT (after.bytes_read, before.bytes_read);
  LNS_CHECK_INT (after.chunks_decoded, before.chunks_decoded);

  query.cached_only = false;
  LNS_CHECK (lns_report_query_pixels (report, id, &query, &fine, NULL));
  LNS_CHECK (!fine.coarse);
  double coarse_busy = 0, fine_busy = 0;
  for (int p = 0; p < 1000; p++)
    {
      coarse_busy += coarse.pixels[p].busy;
      fine_busy += fine.pixels[p].busy;
    }
  LNS_CHECK (fabs (coarse_busy - fine_busy) < 0.01 * fine_busy + 2);

  /* Now everything is in memory. */
  query.cached_only = true;
  LNS_CHECK (lns_report_query_pixels (report, id, &query, &coarse, NULL));
  LNS_CHECK (!coarse.coarse);
  LNS_CHECK (memcmp (coarse.pixels, fine.pixels, 1000 * sizeof *fine.pixels) == 0);
  lns_pixel_result_clear (&coarse);
  lns_pixel_result_clear (&fine);
  lns_report_close (report);
  free (lane.events);
}

static void
test_cancel (void)
{
  const char *path = fixture_path ("cancel.rep");
  LnsWriter *writer = fixture_writer (path);
  uint32_t id = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  LnsPixelResult result = { 0 };
  LnsError error = { 0 };
  atomic_uint generation = 5;

  for (int64_t i = 0; i < 1000; i++)
    lns_writer_append (writer, id, &(LnsEvent){ .start_ns = 2 * i, .duration_ns = 1, .name = 1 });
  fixture_finish (writer, 0);
  LnsReport *report = fixture_open (path, NULL);
  LnsPixelQuery query = {
    .ns_per_px = 10, .n_px = 100, .generation = &generation, .expected_generation = 5
  };
  LNS_CHECK (lns_report_query_pixels (report, id, &query, &result, &error));
  atomic_store (&generation, 6);
  LNS_CHECK (!lns_report_query_pixels (report, id, &query, &result, &error));
  LNS_CHECK_INT (error.domain, LNS_ERROR_CANCELLED);
  lns_pixel_result_clear (&result);
  lns_report_close (report);
}

static void
test_wrong_queries (void)
{
  const char *path = fixture_path ("wrong.rep");
  LnsWriter *writer = fixture_writer (path);
  uint32_t id = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  lns_writer_append (writer, id, &(LnsEvent){ .start_ns = 5, .duration_ns = 5, .name = 1 });
  fixture_finish (writer, 0);
  LnsReport *report = fixture_open (path, NULL);
  static const LnsPixelQuery wrong[] = { { 0, 1.0, 0 },  { 0, 0.0, 10 },      { 0, -1.0, 10 },
                                         { 0, NAN, 10 }, { 0, INFINITY, 10 }, { 0, 1.0, 16385 } };
  LnsPixelResult result = { 0 };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    {
      LnsError error = { 0 };
      LNS_CHECK (!lns_report_query_pixels (report, id, &wrong[i], &result, &error));
      LNS_CHECK_INT (error.domain, LNS_ERROR_USAGE);
    }
  LnsPixelQuery query = { .ns_per_px = 1, .n_px = 10 };
  LNS_CHECK (!lns_report_query_pixels (report, 99, &query, &result, NULL));
  /* The ends of time. */
  static const LnsPixelQuery far[] = { { INT64_MIN, 1.0, 100 },
                                       { INT64_MAX, 1e18, 100 },
                                       { INT64_MIN, 1e300, 16384 },
                                       { -10, 1e-300, 100 },
                                       { INT64_MAX - 5, 1.0, 10 } };
  for (size_t i = 0; i < sizeof far / sizeof *far; i++)
    LNS_CHECK (lns_report_query_pixels (report, id, &far[i], &result, NULL));
  lns_pixel_result_clear (&result);
  lns_report_close (report);
}

static uint64_t
bits_of (double value)
{
  uint64_t bits;
  memcpy (&bits, &value, sizeof bits);
  return bits;
}

static void
test_counter (void)
{
  enum
  {
    N = 50000
  };
  const char *path = fixture_path ("counter.rep");
  LnsWriter *writer = fixture_writer (path);
  uint32_t id = fixture_lane (writer, LNS_LANE_COUNTER);
  uint32_t few = fixture_lane (writer, LNS_LANE_COUNTER);
  static double values[N];
  static int64_t times_ns[N];
  uint64_t seed = 4;
  int64_t at_ns = 0;

  for (int i = 0; i < N; i++)
    {
      at_ns += fixture_random (&seed) % (i % 100 == 0 ? 500000 : 1000);
      times_ns[i] = at_ns;
      values[i] = (double)(int64_t)(fixture_random (&seed) % 2000) - 1000;
      lns_writer_append (writer, id,
                         &(LnsEvent){ .start_ns = at_ns, .extra = { bits_of (values[i]) } });
    }
  lns_writer_append (writer, few, &(LnsEvent){ .start_ns = 50, .extra = { bits_of (2.5) } });
  fixture_finish (writer, 0);
  LnsReport *report = fixture_open (path, NULL);

  /* Before anything is read: what the top nodes know, and of a lane without nodes in memory nothing
   * that is made up. */
  static LnsCounterPixel pixels[N_PX];
  LnsPixelQuery first = { .ns_per_px = (double)at_ns / N_PX, .n_px = N_PX, .cached_only = true };
  LNS_CHECK (lns_report_query_counter (report, id, &first, pixels, NULL));
  LNS_CHECK (pixels[N_PX - 1].min >= -1000 && pixels[N_PX - 1].max <= 1000);
  LNS_CHECK (pixels[N_PX - 1].min < -900 && pixels[N_PX - 1].max > 900);
  first.ns_per_px = 1;
  LNS_CHECK (lns_report_query_counter (report, few, &first, pixels, NULL));
  LNS_CHECK (isnan (pixels[60].last) || pixels[60].last == 2.5);
  for (double ns_per_px = (double)at_ns / N_PX; ns_per_px > 5; ns_per_px /= 3)
    {
      const int64_t origin_ns = at_ns / 3;
      LnsPixelQuery query = { .origin_ns = origin_ns, .ns_per_px = ns_per_px, .n_px = N_PX };
      LNS_CHECK (lns_report_query_counter (report, id, &query, pixels, NULL));
      /* Each sample lies within the extremes of its pixel; each extreme is a sample's at most a
       * pixel off. */
      int next = 0;
      for (int p = 0; p < N_PX; p++)
        {
          double low = INFINITY, high = -INFINITY, last = NAN;
          for (int i = next; i < N && (double)(times_ns[i] - origin_ns) < (p + 2) * ns_per_px; i++)
            {
              double x = (double)(times_ns[i] - origin_ns) / ns_per_px;
              if (x < p - 1)
                next = i;
              if (x < p + 1)
                last = values[i];
              if (x >= p && x < p + 1)
                LNS_CHECK (values[i] >= pixels[p].min && values[i] <= pixels[p].max);
              if (x >= p - 1)
                {
                  low = fmin (low, values[i]);
                  high = fmax (high, values[i]);
                }
            }
          LNS_CHECK (pixels[p].min <= pixels[p].max);
          if (low <= high && pixels[p].min != pixels[p].max)
            LNS_CHECK (pixels[p].min >= low && pixels[p].max <= high);
          if (ns_per_px < 100)
            LNS_CHECK (pixels[p].last == last);
        }
    }
  LnsPixelQuery query = { .origin_ns = 0, .ns_per_px = 10, .n_px = 10 };
  LnsPixelResult result = { 0 };
  LNS_CHECK (lns_report_query_pixels (report, few, &query, &result, NULL));
  LNS_CHECK_INT (result.pixels[5].count, 1);
  LNS_CHECK_INT (result.pixels[5].color, 0);
  lns_pixel_result_clear (&result);
  LNS_CHECK (lns_report_query_counter (report, few, &query, pixels, NULL));
  for (int p = 0; p < 10; p++)
    LNS_CHECK (p < 5 ? isnan (pixels[p].last) : pixels[p].min == 2.5 && pixels[p].last == 2.5);
  query.origin_ns = 60;
  LNS_CHECK (lns_report_query_counter (report, few, &query, pixels, NULL));
  LNS_CHECK (pixels[0].max == 2.5);
  lns_report_close (report);
}

int
main (void)
{
  LNS_TEST (test_same_as_plain_query);
  LNS_TEST (test_exact_near_events);
  LNS_TEST (test_dominant_name);
  LNS_TEST (test_one_nanosecond_at_ten_hours);
  LNS_TEST (test_lone_event_is_visible);
  LNS_TEST (test_cost_grows_with_pixels);
  LNS_TEST (test_gaps_open_no_events);
  LNS_TEST (test_open_event_reaches_to_the_end);
  LNS_TEST (test_cached_only_reads_nothing);
  LNS_TEST (test_cancel);
  LNS_TEST (test_wrong_queries);
  LNS_TEST (test_counter);
  return lns_tap_done ();
}
