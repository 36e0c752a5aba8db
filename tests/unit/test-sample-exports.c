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
  static const char *const types[] = { "perf-script", "speedscope", "firefox", "folded", "pprof" };
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

int
main (void)
{
  LNS_TEST (test_addresses_of_the_kernel_are_left_out);
  return lns_tap_done ();
}
