/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What happened in parts of a report, against a walk over every event. */

#include "src/analysis/facts/span-compare.h"

#include <stdlib.h>
#include <string.h>

#include "src/analysis/ordering.h"
#include "src/base/plain-name.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

#define N_LANES   4
#define N         9000 /* more than a chunk */
#define N_NAMES   41
#define MAX_NAMES 5

static const LnsLaneKind kinds[N_LANES] = { LNS_LANE_NVTX_PUSH_POP, LNS_LANE_NVTX_PUSH_POP,
                                            LNS_LANE_CUDA_KERNEL, LNS_LANE_CUDA_KERNEL };
static LnsExpectedLane lanes[N_LANES];

static LnsReport *
report_of_lanes (void)
{
  const char *path = fixture_path ("sums.rep");
  LnsWriter *writer = fixture_writer (path);

  for (uint32_t i = 0; i < N_LANES; i++)
    {
      const uint32_t id = fixture_lane (writer, kinds[i]);
      lanes[i] = fixture_events (i % 2 == 0 ? LNS_SHAPE_DENSE : LNS_SHAPE_MIXED, N, -5000, 3 + i);
      for (uint32_t e = 0; e < N; e++)
        lns_writer_append (writer, id, &lanes[i].events[e]);
    }
  fixture_finish (writer, 0);
  return fixture_open (path, NULL);
}

static int64_t
end_of (const LnsEvent *event)
{
  return event->start_ns + event->duration_ns;
}

static bool
touches (const LnsEvent *event, const LnsSpan *span)
{
  return event->start_ns < span->end_ns &&
         (event->start_ns >= span->start_ns || end_of (event) > span->start_ns);
}

static int64_t
part_of (const LnsEvent *event, const LnsSpan *span)
{
  const int64_t end_ns = end_of (event) < span->end_ns ? end_of (event) : span->end_ns;
  return end_ns - (event->start_ns > span->start_ns ? event->start_ns : span->start_ns);
}

static int
compare_ns (const void *a, const void *b)
{
  const int64_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* Compares NAMES with the events of lanes FIRST and FIRST + 1 within SPAN. */
static void
check_names (const LnsSpanNames *names, unsigned first, const LnsSpan *span)
{
  int64_t sums[N_NAMES] = { 0 }, last_ns = INT64_MAX;
  uint64_t counts[N_NAMES] = { 0 };
  static int64_t durations[N_NAMES][2 * N];

  for (unsigned i = first; i < first + 2; i++)
    for (uint32_t e = 0; e < N; e++)
      {
        const LnsEvent *event = &lanes[i].events[e];
        if (!touches (event, span))
          continue;
        sums[event->name] += part_of (event, span);
        durations[event->name][counts[event->name]++] = event->duration_ns;
      }
  for (size_t i = 0; i < names->n; i++)
    {
      const LnsSpanName *name = &names->items[i];
      int64_t *all = durations[name->name];
      const uint64_t n = counts[name->name];
      qsort (all, n, sizeof *all, compare_ns);
      LNS_CHECK_INT (name->ns, sums[name->name]);
      LNS_CHECK_INT (name->n, n);
      LNS_CHECK_INT (name->p50_ns, all[(n * 50 + 99) / 100 - 1]);
      LNS_CHECK_INT (name->p90_ns, all[(n * 90 + 99) / 100 - 1]);
      LNS_CHECK_INT (name->p99_ns, all[(n * 99 + 99) / 100 - 1]);
      LNS_CHECK (name->ns <= last_ns);
      last_ns = name->ns;
      sums[name->name] = 0;
    }
  for (unsigned i = 0; i < N_NAMES; i++)
    LNS_CHECK (names->n == MAX_NAMES ? sums[i] <= last_ns : sums[i] == 0);
}

static void
sums_are_those_of_the_events (void)
{
  LnsReport *report = report_of_lanes ();
  uint64_t seed = 11;

  for (int round = 0; round < 40; round++)
    {
      const LnsEvent *at = &lanes[round % N_LANES].events[fixture_random (&seed) % N];
      LnsSpan span = { at->start_ns, at->start_ns + (int64_t)(fixture_random (&seed) % 100000000) };
      LnsSpanSums sums;
      LnsError error = { 0 };
      uint64_t n = 0;
      if (round == 0)
        span = (LnsSpan){ INT64_MIN / 2, INT64_MAX / 2 };
      LNS_CHECK (lns_span_sums_make (report, &span, MAX_NAMES, NULL, &sums, &error));
      LNS_CHECK (lns_span_sums_measure (report, &span, NULL, &sums, &error));
      for (unsigned i = 0; i < N_LANES; i++)
        for (uint32_t e = 0; e < N; e++)
          n += touches (&lanes[i].events[e], &span);
      LNS_CHECK_INT (sums.n_events, n);
      check_names (&sums.threads, 0, &span);
      check_names (&sums.gpus, 2, &span);
      lns_span_sums_clear (&sums);
    }
  lns_report_close (report);
}

static void
parts_are_told_side_by_side (void)
{
  const char *path = fixture_path ("parts.rep");
  LnsWriter *writer = fixture_writer (path);
  const uint32_t lane = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  const char *const names[] = { "layer 1", "load", "layer 2", "load", "save" };
  static const int64_t times[][2] = { { 0, 10 }, { 10, 30 }, { 100, 17 }, { 120, 5 }, { 130, 1 } };
  const LnsSpan spans[2] = { { 0, 100 }, { 100, 200 } };
  LnsSpanParts parts;

  for (size_t i = 0; i < 5; i++)
    lns_writer_append (
        writer, lane,
        &(LnsEvent){ .start_ns = times[i][0],
                     .duration_ns = times[i][1],
                     .name = lns_writer_string (writer, names[i], strlen (names[i])) });
  fixture_finish (writer, 0);
  LnsReport *report = fixture_open (path, NULL);
  LNS_CHECK (lns_span_compare (report, spans, NULL, &parts, NULL));
  LNS_CHECK_INT (parts.n, 3);
  LNS_CHECK_STR (lns_report_string (report, parts.items[0].name, NULL), "load");
  LNS_CHECK_INT (parts.items[0].ns[0], 30);
  LNS_CHECK_INT (parts.items[0].ns[1], 5);
  /* Numbered ones are one part. */
  LNS_CHECK_INT (parts.items[1].ns[0], 10);
  LNS_CHECK_INT (parts.items[1].ns[1], 17);
  LNS_CHECK_INT (parts.items[1].n[0], 1);
  LNS_CHECK_INT (parts.items[2].ns[0], 0);
  LNS_CHECK_INT (parts.items[2].ns[1], 1);
  lns_array_clear (&parts);
  lns_report_close (report);
}

static void
plain_names_have_no_counts (void)
{
  static const char *const pairs[][2] = { { "step 12", "step " },
                                          { "ProfilerStep#101", "ProfilerStep#" },
                                          { "layers.3.attn", "layers..attn" },
                                          { "sgemm_128x64", "sgemm_128x64" },
                                          { "", "" } };
  char plain[LNS_PLAIN_NAME_SIZE];

  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    {
      const size_t n = lns_plain_name (pairs[i][0], strlen (pairs[i][0]), plain);
      LNS_CHECK (n == strlen (pairs[i][1]) && memcmp (plain, pairs[i][1], n) == 0);
    }
  LNS_CHECK_INT (lns_plain_title ("step 12", 7, plain), 4);
  LNS_CHECK_INT (lns_plain_title ("ProfilerStep#101", 16, plain), 12);
  LNS_CHECK_INT (lns_plain_title ("#1", 2, plain), 1);
}

static void
a_cancelled_sum_is_empty (void)
{
  LnsReport *report = report_of_lanes ();
  const LnsSpan span = { INT64_MIN / 2, INT64_MAX / 2 };
  atomic_bool cancel = true;
  LnsSpanSums sums;
  LnsError error = { 0 };

  LNS_CHECK (!lns_span_sums_make (report, &span, MAX_NAMES, &cancel, &sums, &error));
  LNS_CHECK_INT (error.domain, LNS_ERROR_CANCELLED);
  LNS_CHECK_INT (sums.threads.n + sums.gpus.n + sums.devices.n + sums.running.n, 0);
  lns_report_close (report);
}

static void
selected_values_are_in_order (void)
{
  uint64_t seed = 5;

  for (int round = 0; round < 300; round++)
    {
      int64_t values[40], sorted[40];
      const size_t n = 1 + fixture_random (&seed) % 40, k = fixture_random (&seed) % n;
      for (size_t i = 0; i < n; i++)
        values[i] = sorted[i] = (int64_t)(fixture_random (&seed) % 15);
      qsort (sorted, n, sizeof *sorted, compare_ns);
      lns_select (values, n, k);
      LNS_CHECK_INT (values[k], sorted[k]);
      for (size_t i = 0; i < k; i++)
        LNS_CHECK (values[i] <= values[k]);
    }
}

int
main (void)
{
  LNS_TEST (sums_are_those_of_the_events);
  LNS_TEST (parts_are_told_side_by_side);
  LNS_TEST (plain_names_have_no_counts);
  LNS_TEST (a_cancelled_sum_is_empty);
  LNS_TEST (selected_values_are_in_order);
  return lns_tap_done ();
}
