/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests exports of samples on a report with code of the kernel, which not every machine lets a test record. */

#include <zlib.h>

#include "src/export/export.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

#define KERNEL UINT64_C (0xffffffff80000000)

static LnsWriter *writer;

static uint32_t
string (const char *text)
{
  return lns_writer_string (writer, text, strlen (text));
}

static uint32_t
add_lane (LnsLaneKind kind)
{
  const LnsTrack track = { .kind = lns_lane_kind_info (kind)->track,
                           .domain = LNS_ID_NONE,
                           .device = LNS_ID_NONE,
                           .stream = LNS_ID_NONE };
  return lns_writer_add_lane (
      writer, &(LnsLane){ .track = lns_writer_add_track (writer, &track), .kind = kind });
}

static uint32_t
add_frame (uint32_t module, const char *symbol, uint64_t offset, bool is_resolved)
{
  return lns_writer_add_frame (writer, &(LnsStackFrame){ .module = module,
                                                         .symbol = string (symbol),
                                                         .offset = offset,
                                                         .is_resolved = is_resolved });
}

static uint32_t
add_node (uint32_t parent, uint32_t frame)
{
  return lns_writer_add_call_node (writer, &(LnsCallNode){ parent, frame });
}

static void
add_sample (uint32_t lane, LnsLaneKind kind, int64_t time_ns, uint32_t node)
{
  LnsEvent event = { .start_ns = time_ns };
  event.extra[lns_lane_kind_extra (kind, LNS_COLUMN_CALL_CHAIN)] = 1 + node;
  lns_writer_append (writer, lane, &event);
}

/* Two samples in the kernel, below a function of the program: one in a function with a name, one without. */
static const char *
make_report (void)
{
  const char *path = fixture_path ("samples.rep");
  writer = fixture_writer (path);
  lns_writer_set_process (
      writer, 0, &(LnsProcess){ .pid = 10, .parent = LNS_ID_NONE, .name = string ("program") });
  const uint32_t program =
                     lns_writer_add_module (writer, &(LnsModule){ .path = string ("/bin/work"),
                                                                  .start = 0x400000,
                                                                  .end = 0x500000 }),
                 kernel = lns_writer_add_module (writer,
                                                 &(LnsModule){ .kind = LNS_MODULE_KERNEL,
                                                               .path = string ("[kernel.kallsyms]"),
                                                               .start = UINT64_C (1) << 63,
                                                               .file_offset = UINT64_C (1) << 63,
                                                               .end = UINT64_MAX });
  const uint32_t work = add_frame (program, "work", 0x1234, true),
                 read = add_frame (kernel, "vfs_read", KERNEL + 0xabc1, true),
                 other = add_frame (kernel, "[kernel.kallsyms]+0xffffffff8000abc2", KERNEL + 0xabc2,
                                    false);
  const uint32_t caller = add_node (LNS_ID_NONE, work);
  const uint32_t nodes[] = { add_node (caller, read), add_node (caller, other) };
  const uint32_t lane = add_lane (LNS_LANE_CPU_SAMPLE);
  for (int i = 0; i < 2; i++)
    add_sample (lane, LNS_LANE_CPU_SAMPLE, 1000 * (i + 1), nodes[i]);
  fixture_finish (writer, 5000);
  return path;
}

/* What the export as TYPE holds, decompressed. Valid until the next call. */
static const char *
exported (const char *path, const char *type)
{
  static char bytes[1 << 16];
  const char *out = fixture_path ("exported");
  LnsError error = { 0 };
  LnsReport *report = fixture_open (path, NULL);
  const LnsExportOptions options = { .overwrite = true };
  if (!lns_export (report, lns_export_type_find (type), out, &options, &error))
    LNS_FAIL ("%s", error.message);
  lns_report_close (report);
  gzFile file = gzopen (out, "rb");
  const int n = gzread (file, bytes, sizeof bytes - 1);
  LNS_CHECK (n > 0);
  gzclose (file);
  for (int i = 0; i < n; i++)
    if (bytes[i] == 0)
      bytes[i] = ' ';
  bytes[n] = 0;
  return bytes;
}

static void
test_addresses_of_the_kernel_are_left_out (void)
{
  static const char *const types[] = { "perf-script", "speedscope", "firefox",
                                       "folded",      "svg",        "pprof" };
  const char *path = make_report ();

  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    {
      const char *text = exported (path, types[i]);
      LNS_CHECK (strstr (text, "vfs_read") != NULL && strstr (text, "work") != NULL);
      LNS_CHECK (strstr (text, "[kernel.kallsyms]") != NULL);
      LNS_CHECK (strstr (text, "abc1") == NULL && strstr (text, "abc2") == NULL);
      LNS_CHECK (memmem (text, strlen (text), "\xc1\xd7\x82\x80\xf8\xff", 6) ==
                 NULL); /* a varint */
    }
  const char *script = exported (path, "perf-script");
  LNS_CHECK (strstr (script, "\t               0 vfs_read ([kernel.kallsyms])\n"
                             "\t          401234 work (/bin/work)\n") != NULL);
  LNS_CHECK (strstr (script, "\t               0 [unknown] ([kernel.kallsyms])\n") != NULL);
}

/* A report with samples of a CPU if WITH_CPU, and two of Python. */
static const char *
make_python_report (bool with_cpu)
{
  const char *path = fixture_path ("python.rep");
  writer = fixture_writer (path);
  lns_writer_set_process (
      writer, 0, &(LnsProcess){ .pid = 10, .parent = LNS_ID_NONE, .name = string ("program") });
  const uint32_t native = add_frame (LNS_ID_NONE, "native", 1, true),
                 outer = add_frame (LNS_ID_NONE, "outer", 2, true),
                 inner = add_frame (LNS_ID_NONE, "inner", 3, true);
  const uint32_t cpu_node = add_node (LNS_ID_NONE, native),
                 node = add_node (add_node (LNS_ID_NONE, outer), inner);
  if (with_cpu)
    add_sample (add_lane (LNS_LANE_CPU_SAMPLE), LNS_LANE_CPU_SAMPLE, 1000, cpu_node);
  const uint32_t lane = add_lane (LNS_LANE_PYTHON_SAMPLE);
  for (int i = 0; i < 2; i++)
    add_sample (lane, LNS_LANE_PYTHON_SAMPLE, 2000 * (i + 1), node);
  fixture_finish (writer, 9000);
  return path;
}

static unsigned
count (const char *text, const char *part)
{
  unsigned n = 0;
  for (; (text = strstr (text, part)) != NULL; text += strlen (part))
    n++;
  return n;
}

/* Cycles tell nothing of a kernel that may not be looked into; a sample whose cycles are not known was still taken by them. */
static void
test_samples_are_of_the_event_that_took_them (void)
{
  const char *path = fixture_path ("cycles.rep");
  writer = fixture_writer (path);
  lns_writer_set_process (
      writer, 0, &(LnsProcess){ .pid = 10, .parent = LNS_ID_NONE, .name = string ("program") });
  const uint32_t work = add_node (LNS_ID_NONE, add_frame (LNS_ID_NONE, "work", 1, true)),
                 hidden = add_node (LNS_ID_NONE,
                                    add_frame (LNS_ID_NONE, "[kernel, not sampled]", 2, false));
  const struct
  {
    uint32_t node;
    uint64_t cycles;
  } samples[] = { { work, 0 }, { work, 7000 }, { hidden, 0 }, { work, 7000 } };
  const uint32_t lane = add_lane (LNS_LANE_CPU_SAMPLE);
  for (int i = 0; i < 4; i++)
    {
      LnsEvent event = { .start_ns = 1000 * (i + 1) };
      event.extra[lns_lane_kind_extra (LNS_LANE_CPU_SAMPLE, LNS_COLUMN_CALL_CHAIN)] =
          1 + samples[i].node;
      event.extra[lns_lane_kind_extra (LNS_LANE_CPU_SAMPLE, LNS_COLUMN_CYCLES)] = samples[i].cycles;
      lns_writer_append (writer, lane, &event);
    }
  fixture_finish (writer, 9000);
  const char *text = exported (path, "perf-script");
  LNS_CHECK_INT (count (text, ": 7000 cycles: \n"), 2);
  LNS_CHECK_INT (count (text, ": 1 cycles: \n"), 1);
  LNS_CHECK_INT (count (text, ": 1 kernel-time: \n"), 1);
  LNS_CHECK_INT (count (text, "cpu-clock"), 0);
}

/* Both see the same threads, so they are in each format, and apart. */
static void
test_samples_of_python_beside_those_of_cpus (void)
{
  const char *path = make_python_report (true);
  LNS_CHECK_STR (exported (path, "folded"), "program;native 1\nprogram;[Python];outer;inner 2\n");
  const char *text = exported (path, "perf-script");
  LNS_CHECK_INT (count (text, ": 1 cpu-clock: \n"), 1);
  LNS_CHECK_INT (count (text, ": 1 python: \n"), 2);
  LNS_CHECK (strstr (text, ":u:") == NULL);
  text = exported (path, "speedscope");
  LNS_CHECK_INT (count (text, "(10/11)\""), 1);
  LNS_CHECK_INT (count (text, "(10/11) Python\""), 1);
  LNS_CHECK_INT (count (exported (path, "firefox"), " (Python)\""), 1);
  text = exported (path, "pprof");
  LNS_CHECK (strstr (text, "python_samples") != NULL && strstr (text, "inner") != NULL);
  text = exported (path, "svg");
  LNS_CHECK (strstr (text, ": 3 samples by call chain</text>") != NULL);
  LNS_CHECK (strstr (text, "<title>[Python] (2 samples, 66.67 %)</title>") != NULL);
  LNS_CHECK (strstr (text, "<title>native (1 sample, 33.33 %)</title>") != NULL);
}

static void
test_samples_of_python_alone (void)
{
  const char *path = make_python_report (false);
  LNS_CHECK_STR (exported (path, "folded"), "program;outer;inner 2\n");
  LNS_CHECK_INT (count (exported (path, "perf-script"), ": 1 python: \n"), 2);
  LNS_CHECK_INT (count (exported (path, "speedscope"), "(10/11)\""), 1);
  LNS_CHECK (strstr (exported (path, "pprof"), "python_samples") == NULL);
  LNS_CHECK (strstr (exported (path, "svg"), ": 2 samples by call chain</text>") != NULL);
}

int
main (void)
{
  LNS_TEST (test_addresses_of_the_kernel_are_left_out);
  LNS_TEST (test_samples_are_of_the_event_that_took_them);
  LNS_TEST (test_samples_of_python_beside_those_of_cpus);
  LNS_TEST (test_samples_of_python_alone);
  return lns_tap_done ();
}
