/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests which rows calls of the OS runtime and MPI, times on CPUs, samples and metrics get, and
 * what the details pane shows of them. */

#include "src/import/nsys/import.h"
#include "ui/details/details-fields.h"
#include "ui/model/row-tree.h"
#include "ui/tiles/tile.h"

#include "tests/tap.h"
#include "tests/unit/system-fixture.h"

/* The first lane of a track of KIND. */
static uint32_t
lane_of (LnsReport *report, LnsTrackKind kind)
{
  uint32_t n, n_tracks;
  const LnsLane *lanes = lns_report_lanes (report, &n);
  const LnsTrack *tracks = lns_report_tracks (report, &n_tracks);
  for (uint32_t i = 0; i < n; i++)
    if (tracks[lanes[i].track].kind == kind)
      return i;
  return LNS_ID_NONE;
}

static void
check_row (LnsReport *report,
           const LnsRowTree *tree,
           LnsTrackKind kind,
           const char *label,
           LnsStripKind strip)
{
  uint32_t row = lns_row_tree_row_of_lane (tree, lane_of (report, kind));
  LNS_CHECK (row != LNS_ID_NONE);
  LNS_CHECK_STR (lns_row_tree_row (tree, row)->label, label);
  LNS_CHECK_INT (lns_strip_of (report, tree, row, 0).kind, strip);
}

static void
test_rows (void)
{
  LnsReport *report = system_fixture_open ();
  LnsRowTree *tree = lns_row_tree_new (report);
  check_row (report, tree, LNS_TRACK_OS_CALLS, "OS runtime libraries", LNS_STRIP_RANGES);
  check_row (report, tree, LNS_TRACK_SCHED, "CPU scheduling", LNS_STRIP_RANGES);
  check_row (report, tree, LNS_TRACK_CPU_SAMPLES, "CPU samples", LNS_STRIP_MARKS);
  check_row (report, tree, LNS_TRACK_MPI, "MPI", LNS_STRIP_RANGES);
  check_row (report, tree, LNS_TRACK_GPU_METRIC, "SMs Active", LNS_STRIP_COUNTER);
  uint32_t row = lns_row_tree_row_of_lane (tree, lane_of (report, LNS_TRACK_OS_CALLS));
  LNS_CHECK_INT (lns_row_tree_row (tree, lns_row_tree_row (tree, row)->parent)->kind,
                 LNS_ROW_THREAD);
  lns_row_tree_unref (tree);
  lns_report_close (report);
}

/* What the details pane says of event ORDINAL under TITLE, or "". */
static char *
field_of (LnsReport *report, LnsTrackKind kind, uint64_t ordinal, const char *title)
{
  uint32_t lane = lane_of (report, kind);
  LnsEvent event = { 0 };
  LNS_CHECK (lns_report_event (report, lane, ordinal, &event, NULL));
  g_autoptr (GArray) fields = lns_details_fields_new (report, NULL, lane, ordinal, &event);
  for (guint i = 0; i < fields->len; i++)
    if (g_str_equal (g_array_index (fields, LnsDetailsField, i).title, title))
      return g_strdup (g_array_index (fields, LnsDetailsField, i).text);
  return g_strdup ("");
}

static void
test_details (void)
{
  static const struct
  {
    LnsTrackKind kind;
    uint64_t ordinal;
    const char *title, *text;
  } wanted[] = {
    { LNS_TRACK_OS_CALLS, 0, "Kind", "OS runtime call" },
    { LNS_TRACK_OS_CALLS, 0, "Returned", "-1" },
    { LNS_TRACK_OS_CALLS, 0, "Call chain", "leaf (libx.so)\ncaller" },
    { LNS_TRACK_OS_CALLS, 0, "Domain", "" },
    { LNS_TRACK_CUDA_API, 0, "Call chain", "caller (libx.so)" },
    { LNS_TRACK_CUDA_API, 1, "Call chain", "" },
    { LNS_TRACK_CUDA_BACKTRACES, 0, "Call chain", "caller (libx.so)" },
    { LNS_TRACK_SCHED, 0, "Change", "The thread got a CPU" },
    { LNS_TRACK_SCHED, 0, "CPU", "3" },
    { LNS_TRACK_SCHED, 1, "Change", "The thread left its CPU" },
    { LNS_TRACK_CPU_SAMPLES, 0, "Call chain", "leaf (libx.so)\ncaller (libx.so)" },
    { LNS_TRACK_CPU_SAMPLES, 0, "Cycles", "9" },
    { LNS_TRACK_CPU_SAMPLES, 0, "Duration", "" },
    { LNS_TRACK_MPI, 0, "Other rank", "1" },
    { LNS_TRACK_MPI, 0, "Tag", "9" },
    { LNS_TRACK_MPI, 0, "Bytes", "8" },
    { LNS_TRACK_GPU_METRIC, 0, "Value", "50" },
  };
  LnsReport *report = system_fixture_open ();
  for (gsize i = 0; i < G_N_ELEMENTS (wanted); i++)
    {
      g_autofree char *text = field_of (report, wanted[i].kind, wanted[i].ordinal, wanted[i].title);
      LNS_CHECK_STR (text, wanted[i].text);
    }
  lns_report_close (report);
}

int
main (void)
{
  LNS_TEST (test_rows);
  LNS_TEST (test_details);
  return lns_tap_done ();
}
