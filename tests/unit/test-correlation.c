/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests that events are found by their correlation ids with few chunks read, through the spans
 * that the chunks' index rows have. */

#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

#define N_EVENTS 50000

/* Of event I: they ascend but for neighbours that change places, every 1,000th has none, one of the
 * last is far below its neighbours. */
static uint64_t
correlation_of (uint32_t i)
{
  if (i % 1000 == 999)
    return 0;
  return i == N_EVENTS - 5 ? 7 : 100 + 3 * (uint64_t)(i ^ 1);
}

/* Kernels with those correlations, the last few hundred still in the tail. */
static LnsReport *
write_kernels (const char *path, uint32_t *ret_lane)
{
  LnsWriter *writer = fixture_writer (path);
  const int at = lns_lane_kind_extra (LNS_LANE_CUDA_KERNEL, LNS_COLUMN_CORRELATION);
  *ret_lane = fixture_lane (writer, LNS_LANE_CUDA_KERNEL);
  for (uint32_t i = 0; i < N_EVENTS; i++)
    {
      LnsEvent event = { .start_ns = 1000 * (int64_t)i, .duration_ns = 500, .name = 1 };
      event.extra[at] = correlation_of (i);
      lns_writer_append (writer, *ret_lane, &event);
    }
  fixture_finish (writer, 1000 * (int64_t)N_EVENTS);
  return fixture_open (path, NULL);
}

static void
test_each_id_is_found (void)
{
  uint32_t lane;
  LnsReport *report = write_kernels (fixture_path ("kernels.rep"), &lane);
  LNS_CHECK (lns_report_lane_info (report, lane)->n_chunks > 10);
  for (uint32_t i = 0; i < N_EVENTS; i++)
    {
      uint64_t ordinal, correlation;
      LNS_CHECK (lns_report_correlation (report, lane, i, &correlation, NULL));
      LNS_CHECK_INT (correlation, correlation_of (i));
      if (correlation_of (i) == 0)
        continue;
      LNS_CHECK (lns_report_find_correlation (report, lane, correlation_of (i), 0, &ordinal, NULL));
      LNS_CHECK_INT (ordinal, i);
    }
  uint64_t correlation;
  LNS_CHECK (!lns_report_correlation (report, lane, N_EVENTS, &correlation, NULL));
  LNS_CHECK (!lns_report_correlation (report, 9, 0, &correlation, NULL));
  lns_report_close (report);
}

/* The cache has room for the ids of all events, but not for their times. */
static void
test_ids_are_read_once (void)
{
  uint32_t lane;
  lns_report_close (write_kernels (fixture_path ("kernels.rep"), &lane));
  LnsReport *report = fixture_open (fixture_path ("kernels.rep"),
                                    &(LnsOpenOptions){ .cache_bytes = N_EVENTS * 10 });
  const uint32_t n_chunks = lns_report_lane_info (report, lane)->n_chunks;
  uint64_t state = 42, ordinal;
  for (uint32_t n = 0; n < N_EVENTS; n++)
    {
      const uint32_t i = (uint32_t)(fixture_random (&state) % N_EVENTS);
      if (correlation_of (i) != 0)
        LNS_CHECK (
            lns_report_find_correlation (report, lane, correlation_of (i), 0, &ordinal, NULL));
    }
  LNS_CHECK_INT (lns_report_counters (report).chunks_decoded, n_chunks);
  lns_report_close (report);
}

static void
test_what_is_not_there (void)
{
  uint32_t lane;
  LnsReport *report = write_kernels (fixture_path ("kernels.rep"), &lane);
  const uint64_t absent[] = { 0, 1, 99, 101, 100 + 3 * (uint64_t)N_EVENTS, UINT64_MAX };
  for (unsigned i = 0; i < sizeof absent / sizeof *absent; i++)
    {
      uint64_t ordinal;
      LNS_CHECK (lns_report_find_correlation (report, lane, absent[i], 0, &ordinal, NULL));
      LNS_CHECK_INT (ordinal, N_EVENTS);
    }
  lns_report_close (report);
}

static void
test_few_chunks_are_read (void)
{
  uint32_t lane;
  LnsReport *report = write_kernels (fixture_path ("kernels.rep"), &lane);
  uint64_t ordinal;
  LNS_CHECK (lns_report_find_correlation (report, lane, correlation_of (20000), 0, &ordinal, NULL));
  LNS_CHECK (lns_report_counters (report).chunks_decoded <= 2);
  lns_report_close (report);
}

static void
test_other_kinds_have_none (void)
{
  LnsWriter *writer = fixture_writer (fixture_path ("ranges.rep"));
  uint32_t lane = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  lns_writer_append (writer, lane, &(LnsEvent){ .duration_ns = 1, .name = 1 });
  fixture_finish (writer, 2);
  LnsReport *report = fixture_open (fixture_path ("ranges.rep"), NULL);
  uint64_t ordinal;
  LNS_CHECK (lns_report_find_correlation (report, lane, 1, 0, &ordinal, NULL));
  LNS_CHECK_INT (ordinal, 1);
  LNS_CHECK (!lns_report_find_correlation (report, 9, 1, 0, &ordinal, NULL));
  LNS_CHECK (lns_report_correlation (report, lane, 0, &ordinal, NULL) && ordinal == 0);
  lns_report_close (report);
}

int
main (void)
{
  LNS_TEST (test_each_id_is_found);
  LNS_TEST (test_ids_are_read_once);
  LNS_TEST (test_what_is_not_there);
  LNS_TEST (test_few_chunks_are_read);
  LNS_TEST (test_other_kinds_have_none);
  return lns_tap_done ();
}
