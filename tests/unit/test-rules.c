/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests rules, filters and the ranges of calls on a report that is counted by hand. */

#include <string.h>

#include "src/analysis/stats/call-ranges.h"
#include "src/analysis/filter.h"
#include "src/analysis/rules/rule.h"
#include "src/analysis/why/why.h"
#include "src/store/format/gpu-metrics.h"
#include "src/tables/lanes.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

#define MS INT64_C (1000000)

static LnsWriter *writer;

static uint32_t
add_lane (LnsTrackKind track_kind, LnsLaneKind kind, uint32_t ordinal, uint32_t device)
{
  uint32_t track = lns_writer_add_track (
      writer, &(LnsTrack){ .kind = track_kind,
                           .thread = device == LNS_ID_NONE ? 0 : LNS_ID_NONE,
                           .domain = kind == LNS_LANE_NVTX_PUSH_POP ? 0 : LNS_ID_NONE,
                           .device = device,
                           .stream = LNS_ID_NONE });
  return lns_writer_add_lane (writer,
                              &(LnsLane){ .track = track, .kind = kind, .ordinal = ordinal });
}

static void
append (uint32_t lane,
        LnsLaneKind kind,
        int64_t start_ns,
        int64_t end_ns,
        uint64_t correlation,
        const char *name)
{
  int index = lns_lane_kind_extra (kind, LNS_COLUMN_CORRELATION);
  LnsEvent event = { .start_ns = start_ns, .duration_ns = end_ns - start_ns };

  event.name = lns_writer_string (writer, name, strlen (name));
  if (index >= 0)
    event.extra[index] = correlation;
  lns_writer_append (writer, lane, &event);
}

/* A range from 0 to 1000 ms with one inside from 100 to 200; a launch in each, one outside, and one wait;
 * kernels from 10 to 20, 710 to 720 and 1000 to 1010 ms. The profiler was busy on two threads from 0 to 15, 100 to
 * 250 and 700 to 715, and from 150 to 200 and 240 to 300 ms. */
static LnsReport *
write_report (void)
{
  const char *path = fixture_path ("rules.rep");
  writer = fixture_writer (path);
  lns_writer_add_device (writer, &(LnsCudaDevice){ .number = 3 });
  uint32_t outer = add_lane (LNS_TRACK_NVTX_RANGES, LNS_LANE_NVTX_PUSH_POP, 0, LNS_ID_NONE),
           calls = add_lane (LNS_TRACK_CUDA_API, LNS_LANE_CUDA_API, 0, LNS_ID_NONE),
           kernels = add_lane (LNS_TRACK_CUDA_KERNELS, LNS_LANE_CUDA_KERNEL, 0, 0),
           overhead = add_lane (LNS_TRACK_CUDA_OVERHEAD, LNS_LANE_CUDA_OVERHEAD, 0, LNS_ID_NONE),
           other = add_lane (LNS_TRACK_CUDA_OVERHEAD, LNS_LANE_CUDA_OVERHEAD, 1, LNS_ID_NONE);
  uint32_t inner = lns_writer_add_lane (
      writer, &(LnsLane){ .track = 0, .kind = LNS_LANE_NVTX_PUSH_POP, .ordinal = 1 });

  append (outer, LNS_LANE_NVTX_PUSH_POP, 0, 1000 * MS, 0, "outer");
  append (inner, LNS_LANE_NVTX_PUSH_POP, 100 * MS, 200 * MS, 0, "inner");
  append (calls, LNS_LANE_CUDA_API, 5 * MS, 6 * MS, 1, "cudaLaunchKernel_v7000");
  append (calls, LNS_LANE_CUDA_API, 150 * MS, 151 * MS, 2, "cudaLaunchKernel_v7000");
  append (calls, LNS_LANE_CUDA_API, 160 * MS, 300 * MS, 3, "cudaDeviceSynchronize_v3020");
  append (calls, LNS_LANE_CUDA_API, 1001 * MS, 1002 * MS, 4, "cudaLaunchKernel_v7000");
  append (kernels, LNS_LANE_CUDA_KERNEL, 10 * MS, 20 * MS, 1, "kernel");
  append (kernels, LNS_LANE_CUDA_KERNEL, 710 * MS, 720 * MS, 2, "kernel");
  append (kernels, LNS_LANE_CUDA_KERNEL, 1000 * MS, 1010 * MS, 4, "kernel");
  append (overhead, LNS_LANE_CUDA_OVERHEAD, 0, 15 * MS, 0, "flush");
  append (overhead, LNS_LANE_CUDA_OVERHEAD, 100 * MS, 250 * MS, 0, "flush");
  append (overhead, LNS_LANE_CUDA_OVERHEAD, 700 * MS, 715 * MS, 0, "flush");
  append (other, LNS_LANE_CUDA_OVERHEAD, 150 * MS, 200 * MS, 0, "flush");
  append (other, LNS_LANE_CUDA_OVERHEAD, 240 * MS, 300 * MS, 0, "flush");
  fixture_finish (writer, 1100 * MS);
  return fixture_open (path, NULL);
}

/* What RULE finds, as CSV without a header; NULL where it has nothing to look at. */
static const char *
found (LnsTables *tables, const char *name)
{
  static char text[2048];
  const LnsStatsStyle style = { .format = LNS_STATS_CSV, .no_header = true };
  LnsRuleOptions options = LNS_RULE_DEFAULTS;
  const LnsRule *rule = lns_rule_find (name, &options, NULL);
  LnsRuleResult *result = rule != NULL ? lns_rule_run (rule, &options, tables, NULL, NULL) : NULL;
  size_t n_lines = 0;

  if (result == NULL)
    return "no such rule";
  memset (text, 0, sizeof text);
  FILE *stream = fmemopen (text, sizeof text, "w");
  if (!lns_rule_result_write (result, stream, &style, NULL))
    strcpy (text, "not written");
  fclose (stream);
  for (const char *at = text; *at != '\0'; at++)
    n_lines += *at == '\n';
  bool has_data = lns_rule_result_has_data (result),
       fits = n_lines == lns_rule_result_n_rows (result);
  lns_rule_result_free (result);
  return !fits ? "a wrong number of rows" : has_data ? text : NULL;
}

static void
test_rules (void)
{
  LnsReport *report = write_report ();
  LnsTables *tables = lns_tables_new (report, NULL);
  atomic_bool cancel = true;
  LnsRuleOptions options = LNS_RULE_DEFAULTS;

  /* By default longer ones than 1 % of 1 s, whichever other arguments there are. */
  LNS_CHECK_STR (found (tables, "gpu_gaps"),
                 "1,690000000,20000000,10,3,210000000\n2,280000000,720000000,10,3,0\n");
  LNS_CHECK_STR (found (tables, "gpu_gaps:rows=1"), "1,690000000,20000000,10,3,210000000\n");
  LNS_CHECK_STR (found (tables, "gpu_gaps:gap=500"), "1,690000000,20000000,10,3,210000000\n");
  LNS_CHECK_STR (found (tables, "gpu_gaps:gap=280"), "1,690000000,20000000,10,3,210000000\n");
  LNS_CHECK_STR (found (tables, "gpu_gaps:gap=100:rows=-1"),
                 "1,690000000,20000000,10,3,210000000\n2,280000000,720000000,10,3,0\n");
  LNS_CHECK_STR (found (tables, "gpu_gaps:gap=100:rows=1"),
                 "1,690000000,20000000,10,3,210000000\n");
  LNS_CHECK_STR (found (tables, "gpu_time_util:chunks=1"),
                 "1,3.0,1000000000,10000000,10,3,220000000\n");
  LNS_CHECK_STR (found (tables, "gpu_time_util:chunks=100:threshold=0"), "");
  LNS_CHECK_STR (found (tables, "gpu_time_util:chunks=100:threshold=99.5:rows=1"),
                 "1,0.0,690000000,20000000,10,3,210000000\n");
  LNS_CHECK_STR (found (tables, "cuda_api_sync"),
                 "140000000,160000000,10,11,cudaDeviceSynchronize_v3020\n");
  LNS_CHECK (found (tables, "cuda_memcpy_sync") == NULL);
  LNS_CHECK (found (tables, "cuda_memset_sync") == NULL);
  LNS_CHECK_STR (found (tables, "gpu_gap"), "no such rule");
  for (size_t i = 0; lns_rule_at (i) != NULL; i++)
    {
      LNS_CHECK (lns_rule_find (lns_rule_at (i)->name, &options, NULL) == lns_rule_at (i));
      /* Where there is anything to look at, it is not. */
      LnsRuleResult *result = lns_rule_run (lns_rule_at (i), &options, tables, &cancel, NULL);
      LNS_CHECK (result == NULL || !lns_rule_result_has_data (result) ||
                 strncmp (lns_rule_at (i)->name, "gpu_", 4) == 0);
      lns_rule_result_free (result);
    }
  lns_tables_free (tables);
  lns_report_close (report);
}

/* Ten kernels of 1 ms with free clocks, and ten of 2 ms while power holds them down, or of 1 ms as well. */
static LnsReport *
write_clocks (int64_t held_ms)
{
  const char *path = fixture_path ("clocks.rep");
  const int column = lns_lane_kind_extra (LNS_LANE_COUNTER, LNS_COLUMN_VALUE);
  writer = fixture_writer (path);
  lns_writer_add_device (writer, &(LnsCudaDevice){ .number = 0 });
  const uint32_t kernels = add_lane (LNS_TRACK_CUDA_KERNELS, LNS_LANE_CUDA_KERNEL, 0, 0);
  const LnsTrack reason = { .kind = LNS_TRACK_GPU_METRIC,
                            .thread = LNS_ID_NONE,
                            .domain = LNS_ID_NONE,
                            .device = 0,
                            .stream = LNS_ID_NONE,
                            .name = lns_writer_string (writer, "Power limit", 11),
                            .number = LNS_GPU_METRICS_SAMPLED,
                            .metric = LNS_GPU_METRIC_CLOCK_REASON + 2 };
  const uint32_t lane =
      lns_writer_add_lane (writer, &(LnsLane){ .track = lns_writer_add_track (writer, &reason),
                                               .kind = LNS_LANE_COUNTER });
  for (int64_t i = 0; i < 10; i++)
    append (kernels, LNS_LANE_CUDA_KERNEL, i * MS, (i + 1) * MS, 0, "gemm");
  for (int64_t i = 0; i < 10; i++)
    append (kernels, LNS_LANE_CUDA_KERNEL, (10 + i * held_ms) * MS, (10 + (i + 1) * held_ms) * MS,
            0, "gemm");
  for (int64_t i = 0; i < 4; i++)
    {
      LnsEvent sample = { .start_ns = i * 10 * MS };
      sample.extra[column] = i == 1 || i == 2;
      lns_writer_append (writer, lane, &sample);
    }
  fixture_finish (writer, 40 * MS);
  return fixture_open (path, NULL);
}

/* What holds clocks down is a row from the first sample that says so, of its lane. */
static void
test_clock_places (void)
{
  LnsReport *report = write_clocks (2);
  LnsTables *tables = lns_tables_new (report, NULL);
  LnsRuleOptions options = LNS_RULE_DEFAULTS;
  const LnsRule *rule = lns_rule_find ("gpu_clocks", &options, NULL);
  LnsRuleResult *found = lns_rule_run (rule, &options, tables, NULL, NULL);
  LnsResult *result = lns_rule_result_collect (found, SIZE_MAX, NULL);

  LNS_CHECK_INT (lns_result_n_rows (result), 1);
  LNS_CHECK_INT (lns_result_place (result, 0)->lane, 1);
  LNS_CHECK_INT (lns_result_place (result, 0)->ordinal, 1);
  LNS_CHECK_INT (lns_result_place (result, 0)->start_ns, 10 * MS);
  LNS_CHECK_INT (lns_result_place (result, 0)->end_ns, 30 * MS);
  lns_result_free (result);
  lns_rule_result_free (found);
  lns_tables_free (tables);
  lns_report_close (report);
}

static void
test_slow_clocks (void)
{
  for (int64_t held_ms = 1; held_ms <= 2; held_ms++)
    {
      LnsReport *report = write_clocks (held_ms);
      LnsTables *tables = lns_tables_new (report, NULL);
      const LnsWhyOptions options = { .span = lns_filter_span (report) };
      LnsWhy *why = lns_why_run (tables, &options, NULL, NULL);
      const LnsWhyFinding *first = why != NULL && why->findings.n > 0 ? why->findings.items : NULL;
      LNS_CHECK (why != NULL);
      LNS_CHECK ((first != NULL && first->cause == LNS_CAUSE_SLOW_CLOCKS) == (held_ms == 2));
      if (held_ms == 2 && first != NULL)
        {
          LNS_CHECK_INT (first->ns, 10 * MS);
          LNS_CHECK_STR (first->sentence, "Kernels like gemm took 10.0 ms longer while clocks were "
                                          "low (Power limit).");
        }
      lns_why_free (why);
      lns_tables_free (tables);
      lns_report_close (report);
    }
}

static void
test_ranges_of_calls (void)
{
  LnsReport *report = write_report ();
  LnsCallRanges *ranges = lns_call_ranges_new (report, NULL, NULL);
  const LnsCallRange *range;

  LNS_CHECK (ranges != NULL);
  LNS_CHECK ((range = lns_call_ranges_find (ranges, 0, 1)) != NULL);
  LNS_CHECK_STR (lns_report_string (report, range->name, NULL), "outer");
  LNS_CHECK ((range = lns_call_ranges_find (ranges, 0, 2)) != NULL);
  LNS_CHECK_STR (lns_report_string (report, range->name, NULL), "inner");
  /* It begins in the inner one, and ends behind it. */
  LNS_CHECK ((range = lns_call_ranges_find (ranges, 0, 3)) != NULL);
  LNS_CHECK_STR (lns_report_string (report, range->name, NULL), "outer");
  LNS_CHECK (lns_call_ranges_find (ranges, 0, 4) == NULL);
  LNS_CHECK (lns_call_ranges_find (ranges, 0, 5) == NULL);
  LNS_CHECK (lns_call_ranges_find (ranges, 1, 1) == NULL);
  lns_call_ranges_free (ranges);
  lns_report_close (report);
}

static void
test_times (void)
{
  const struct
  {
    const char *text;
    int64_t start_ns, end_ns;
  } good[] = { { "5/7", 5, 7 },
               { "/7", INT64_MIN, 7 },
               { "-5/", -5, INT64_MAX },
               { "1.5s/2000ms", 1500000000, 2000000000 },
               { "9007199254740993/9007199254740993ns", 9007199254740993, 9007199254740993 },
               { "1e3/2us", 1000, 2000 } };
  const char *const bad[] = { "", "/", "5", "7/5", "x/5", "5/6/7", "1h/", "1e30/", " 5/6", "nan/" };
  LnsFilterSpan span;

  for (size_t i = 0; i < sizeof good / sizeof *good; i++)
    {
      LNS_CHECK (lns_filter_parse_time (good[i].text, &span, NULL));
      LNS_CHECK_INT (span.start_ns, good[i].start_ns);
      LNS_CHECK_INT (span.end_ns, good[i].end_ns);
    }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    LNS_CHECK (!lns_filter_parse_time (bad[i], &span, NULL));
}

static void
test_parts (void)
{
  LnsReport *report = write_report ();
  LnsTables *tables = lns_tables_new (report, NULL);
  const char *path = fixture_path ("part.rep");
  LnsFilterSpan span = { 0 };
  uint32_t n;

  char inner[64];

  snprintf (inner, sizeof inner, "inner@%s",
            lns_report_string (report, lns_report_domains (report, NULL)[0].name, NULL));
  LNS_CHECK (lns_filter_find_range (tables, inner, &span, NULL));
  LNS_CHECK_INT (span.start_ns, 100 * MS);
  LNS_CHECK_INT (span.end_ns, 200 * MS);
  LNS_CHECK_INT (span.process, 0);
  LNS_CHECK (lns_filter_find_range (tables, "inner@*/0", &span, NULL));
  LNS_CHECK (!lns_filter_find_range (tables, "inner@*/1", &span, NULL));
  LNS_CHECK (!lns_filter_find_range (tables, "inner", &span, NULL));
  int64_t start_ns = -1, end_ns = -1;
  LNS_CHECK (!lns_span_of_events (report, 1u << LNS_LANE_MPI_CALL, &start_ns, &end_ns));
  LNS_CHECK_INT (start_ns, -1);
  LNS_CHECK (lns_span_of_events (report, 1u << LNS_LANE_CUDA_KERNEL, &start_ns, &end_ns));
  LNS_CHECK_INT (start_ns, 10 * MS);
  LNS_CHECK_INT (end_ns, 1010 * MS);
  LNS_CHECK (lns_span_of_events (report, 0, &start_ns, &end_ns));
  LNS_CHECK_INT (start_ns, 0);
  LNS_CHECK_INT (end_ns, 1010 * MS);
  LNS_CHECK (lns_filter_write (report, &span, path, NULL, NULL));
  LnsReport *part = fixture_open (path, NULL);
  /* Both ranges, a launch, the wait and two times of overhead; of the kernels none. */
  LNS_CHECK_INT (lns_report_info (part)->n_events, 6);
  /* Strings keep their ids; the part's span comes behind them. */
  n = lns_report_n_strings (report);
  LNS_CHECK_INT (lns_report_n_strings (part), n + 4);
  LNS_CHECK_STR (lns_report_string (part, n - 1, NULL), lns_report_string (report, n - 1, NULL));
  LNS_CHECK_INT (lns_filter_span (report).start_ns, INT64_MIN);
  LNS_CHECK_INT (lns_filter_span (report).end_ns, lns_report_info (report)->end_ns);
  LNS_CHECK_INT (lns_filter_span (part).start_ns, 100 * MS);
  LNS_CHECK_INT (lns_filter_span (part).end_ns, 200 * MS);
  lns_report_lanes (part, &n);
  LNS_CHECK_INT (n, 6);
  lns_report_close (part);
  LNS_CHECK (!lns_filter_write (report, &span, path, NULL, NULL)); /* it is there already */
  atomic_bool cancel = true;
  LNS_CHECK (!lns_filter_write (report, &span, fixture_path ("cancelled.rep"), &cancel, NULL));
  lns_tables_free (tables);
  lns_report_close (report);
}

int
main (void)
{
  LNS_TEST (test_rules);
  LNS_TEST (test_clock_places);
  LNS_TEST (test_slow_clocks);
  LNS_TEST (test_ranges_of_calls);
  LNS_TEST (test_times);
  LNS_TEST (test_parts);
  return lns_tap_done ();
}
