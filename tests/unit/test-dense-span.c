/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Where nearly all events of a report are. */

#include "src/analysis/facts/dense-span.h"

#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

#define SECOND INT64_C (1000000000)

/* A report of a lane with N events, one each STEP_NS from START_NS on, after FIRST events at the beginning. */
static LnsReport *
report_of (uint32_t first, int64_t start_ns, int64_t step_ns, uint32_t n)
{
  const char *path = fixture_path ("dense.rep");
  LnsWriter *writer = fixture_writer (path);
  const uint32_t lane = fixture_lane (writer, LNS_LANE_CUDA_KERNEL);
  for (uint32_t i = 0; i < first + n; i++)
    {
      const LnsEvent event = { .start_ns = i < first ? 1000 * i : start_ns + (i - first) * step_ns,
                               .duration_ns = 500 };
      lns_writer_append (writer, lane, &event);
    }
  fixture_finish (writer, 30 * SECOND);
  return fixture_open (path, NULL);
}

static void
few_events_far_away_are_left_out (void)
{
  LnsSpan span = { 1, 2 };
  LnsReport *report = report_of (3, 20 * SECOND, SECOND / 5000, 5000);
  LNS_CHECK (lns_dense_span (report, &span));
  LNS_CHECK (span.start_ns > 199 * SECOND / 10 && span.start_ns <= 20 * SECOND);
  LNS_CHECK (span.end_ns > 2099 * SECOND / 100 && span.end_ns <= 21 * SECOND);
  lns_report_close (report);
}

static void
more_of_them_are_not (void)
{
  LnsSpan span = { 1, 2 };
  LnsReport *report = report_of (60, 20 * SECOND, SECOND / 5000, 5000);
  LNS_CHECK (!lns_dense_span (report, &span));
  LNS_CHECK (span.start_ns == 1 && span.end_ns == 2);
  lns_report_close (report);
}

static void
even_and_small_reports_show_all (void)
{
  LnsSpan span;
  LnsReport *report = report_of (0, 0, SECOND / 100, 3000);
  LNS_CHECK (!lns_dense_span (report, &span));
  lns_report_close (report);
  report = report_of (1, 20 * SECOND, SECOND / 5000, 1500);
  LNS_CHECK (!lns_dense_span (report, &span));
  lns_report_close (report);
}

int
main (void)
{
  LNS_TEST (few_events_far_away_are_left_out);
  LNS_TEST (more_of_them_are_not);
  LNS_TEST (even_and_small_reports_show_all);
  return lns_tap_done ();
}
