/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests GPU time by stacks of ranges, in a training step that is small enough to work the stacks
 * out by hand. */

#include "src/export/export.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

static LnsWriter *writer;

static uint32_t
string (const char *text)
{
  return lns_writer_string (writer, text, strlen (text));
}

static uint32_t
add_lane (LnsTrackKind track, LnsLaneKind kind, uint32_t process, uint32_t thread, uint32_t ordinal)
{
  LnsTrack definition = { .kind = track,
                          .process = process,
                          .thread = thread,
                          .domain = 0,
                          .device = LNS_ID_NONE,
                          .stream = LNS_ID_NONE };
  return lns_writer_add_lane (writer,
                              &(LnsLane){ .track = lns_writer_add_track (writer, &definition),
                                          .ordinal = ordinal,
                                          .kind = kind });
}

static void
append (uint32_t lane,
        LnsLaneKind kind,
        int64_t start_ns,
        int64_t end_ns,
        const char *name,
        uint64_t correlation)
{
  LnsEvent event = { .start_ns = start_ns,
                     .duration_ns = end_ns >= 0 ? end_ns - start_ns : 0,
                     .flags = end_ns >= 0 ? 0 : LNS_EVENT_END_UNKNOWN,
                     .name = string (name) };
  int column = lns_lane_kind_extra (kind, LNS_COLUMN_CORRELATION);

  if (column >= 0)
    event.extra[column] = correlation;
  lns_writer_append (writer, lane, &event);
}

/* Threads 0 and 1 of process 0 and thread 2 of process 1, whose correlations are those of process 0. */
static LnsReport *
make_report (void)
{
  const LnsLaneKind range = LNS_LANE_NVTX_PUSH_POP, call = LNS_LANE_CUDA_API,
                    kernel = LNS_LANE_CUDA_KERNEL, copy = LNS_LANE_CUDA_MEMCPY;
  const char *path = fixture_path ("stacks.rep");

  writer = fixture_writer (path);
  lns_writer_add_thread (writer, &(LnsThread){ .tid = 12 });
  lns_writer_add_process (writer, &(LnsProcess){ .pid = 20, .parent = LNS_ID_NONE });
  lns_writer_add_thread (writer, &(LnsThread){ .process = 1, .tid = 21 });
  uint32_t outer = add_lane (LNS_TRACK_NVTX_RANGES, range, 0, 0, 0),
           inner = add_lane (LNS_TRACK_NVTX_RANGES, range, 0, 0, 1),
           other = add_lane (LNS_TRACK_NVTX_RANGES, range, 0, 1, 0),
           calls = add_lane (LNS_TRACK_CUDA_API, call, 0, 0, 0),
           within = add_lane (LNS_TRACK_CUDA_API, call, 0, 0, 1),
           other_calls = add_lane (LNS_TRACK_CUDA_API, call, 0, 1, 0),
           far_calls = add_lane (LNS_TRACK_CUDA_API, call, 1, 2, 0),
           kernels = add_lane (LNS_TRACK_CUDA_KERNELS, kernel, 0, LNS_ID_NONE, 0),
           copies = add_lane (LNS_TRACK_CUDA_MEMCPY, copy, 0, LNS_ID_NONE, 0),
           far = add_lane (LNS_TRACK_CUDA_KERNELS, kernel, 1, LNS_ID_NONE, 0);

  append (outer, range, 0, 100, "Train step 1", 0);
  append (inner, range, 10, 40, "Layer 7;\nb", 0);
  append (inner, range, 40, 60, "validation", 0);
  append (inner, range, 70, -1, "lost end", 0);
  append (inner, range, 80, 90, "next", 0);
  append (other, range, 0, 1000, "loader", 0);
  append (calls, call, 10, 20, "cudaLaunchKernel", 1);
  append (within, call, 12, 14, "cuLaunchKernel", 1);
  append (calls, call, 25, 30, "cudaGraphLaunch", 2);
  append (calls, call, 40, 45, "cudaLaunchKernel", 3);
  append (calls, call, 72, 75, "cudaMemcpyAsync", 4);
  append (calls, call, 82, 85, "cudaLaunchKernel", 5);
  append (calls, call, 99, 120, "cudaLaunchKernel", 6);
  append (other_calls, call, 50, 55, "cudaMemcpyAsync", 7);
  append (far_calls, call, 60, 61, "cudaLaunchKernel", 1);
  append (kernels, kernel, 100, 101, "gemm", 1);
  append (kernels, kernel, 101, 103, "node a", 2);
  append (kernels, kernel, 103, 106, "node b", 2);
  append (kernels, kernel, 106, 110, "LayerNorm", 5);
  append (kernels, kernel, 110, 115, "check", 3);
  append (kernels, kernel, 115, 121, "late", 6);
  append (kernels, kernel, 130, 190, "nobody's", 99);
  append (copies, copy, 100, 107, "[CUDA memcpy]", 4);
  append (copies, copy, 107, 115, "[CUDA memcpy]", 7);
  append (far, kernel, 100, 109, "far", 1);
  fixture_finish (writer, 2000);
  return fixture_open (path, NULL);
}

/* The stacks as FOLDING has them. Valid until the next call. */
static const char *
folded (LnsReport *report, LnsExportFolding folding, const LnsExportTimes *times)
{
  static char text[4096];
  const char *path = fixture_path ("stacks.folded");
  LnsError error = { 0 };
  LnsExportOptions options = { .overwrite = true, .folding = folding, .times = times };

  if (!lns_export (report, lns_export_type_find ("folded"), path, &options, &error))
    return strcpy (text, error.message);
  FILE *file = fopen (path, "r");
  text[fread (text, 1, sizeof text - 1, file)] = '\0';
  fclose (file);
  return text;
}

static void
test_stacks (void)
{
  LnsReport *report = make_report ();

  LNS_CHECK_STR (folded (report, (LnsExportFolding){ 0 }, NULL),
                 "Train step 1;Layer 7__b;gemm 1\n"
                 "Train step 1;Layer 7__b;node a 2\n"
                 "Train step 1;Layer 7__b;node b 3\n"
                 "Train step 1;validation;check 5\n"
                 "loader;memcpy 8\n"
                 "far 9\n"
                 "Train step 1;lost end;memcpy 7\n"
                 "Train step 1;next;LayerNorm 4\n"
                 "late 6\n");
  LNS_CHECK_STR (folded (report,
                         (LnsExportFolding){ .strip_layer_number = true,
                                             .strip_iteration_number = true,
                                             .filter_out = "validation|^far$" },
                         NULL),
                 "gemm 1\nnode a 2\nnode b 3\nloader;memcpy 8\nlost end;memcpy 7\n"
                 "next;LayerNorm 4\nlate 6\n");
  LNS_CHECK_STR (
      folded (report, (LnsExportFolding){ .doubled = true, .filter_out = "^Train" }, NULL),
      "loader;loader;memcpy 8\nloader;loader;memcpy;memcpy 8\nfar 9\nfar;far 9\nlate 6\nlate;late "
      "6\n");
  LNS_CHECK_STR (
      folded (report, (LnsExportFolding){ 0 }, &(LnsExportTimes){ .min_ns = 110, .max_ns = 1000 }),
      "Train step 1;validation;check 5\nlate 6\n");
  LNS_CHECK (strstr (folded (report, (LnsExportFolding){ .filter_out = "(" }, NULL),
                     "--filter-out") != NULL);
  lns_report_close (report);
}

int
main (void)
{
  LNS_TEST (test_stacks);
  return lns_tap_done ();
}
