/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Samples by line of source, and the tables of the viewer's files. */

#include "src/analysis/source-lines.h"

#include <glib.h>
#include <string.h>

#include "tests/tap.h"
#include "tests/unit/report-fixture.h"
#include "ui/files/file-tables.h"

static LnsWriter *writer;
static uint32_t samples; /* lane */

static uint32_t
string (const char *text)
{
  return lns_writer_string (writer, text, strlen (text));
}

/* The call node of LINE of FILE below PARENT. */
static uint32_t
call (uint32_t parent, const char *file, uint32_t line)
{
  const uint32_t frame =
      lns_writer_add_frame (writer, &(LnsStackFrame){ .module = LNS_ID_NONE,
                                                      .symbol = string ("function"),
                                                      .is_resolved = 1,
                                                      .file = file != NULL ? string (file) : 0,
                                                      .line = line });
  return lns_writer_add_call_node (writer, &(LnsCallNode){ .parent = parent, .frame = frame });
}

static void
sample (int64_t start_ns, uint32_t node)
{
  LnsEvent it = { .start_ns = start_ns };
  it.extra[lns_lane_kind_extra (LNS_LANE_CPU_SAMPLE, LNS_COLUMN_CALL_CHAIN)] = 1 + (uint64_t)node;
  lns_writer_append (writer, samples, &it);
}

/* 10 samples: 4 in line 3 of PATH that line 2 called, 3 in line 2 itself, 2 in a line 3 that line 3 called, and one nowhere. */
static LnsReport *
report_of_lines (const char *path)
{
  const char *report = fixture_path ("lines.rep");

  writer = fixture_writer (report);
  samples = fixture_lane (writer, LNS_LANE_CPU_SAMPLE);
  const uint32_t outer = call (LNS_ID_NONE, path, 2), inner = call (outer, path, 3),
                 again = call (inner, path, 3), nowhere = call (LNS_ID_NONE, NULL, 0);
  for (int64_t i = 0; i < 10; i++)
    sample (i, i < 4 ? inner : i < 7 ? outer : i < 9 ? again : nowhere);
  lns_writer_set_meta (writer, "stdout.0", "hello, ");
  lns_writer_set_meta (writer, "stdout.1", "world");
  lns_writer_set_meta (writer, "env.HOME", "/root");
  fixture_finish (writer, 10);
  return fixture_open (report, NULL);
}

static void
samples_are_counted_by_line (void)
{
  LnsReport *report = report_of_lines ("/nowhere/it.c");
  LnsSourceLines lines;
  uint64_t n;

  LNS_CHECK (lns_source_lines (report, LNS_LANE_CPU_SAMPLE, NULL, &lines, &n, NULL));
  LNS_CHECK_INT (n, 10);
  LNS_CHECK_INT (lines.n, 2);
  LNS_CHECK_INT (lines.items[0].line, 2);
  LNS_CHECK_INT (lines.items[0].self, 3);
  LNS_CHECK_INT (lines.items[0].total, 9);
  LNS_CHECK_INT (lines.items[1].line, 3);
  LNS_CHECK_INT (lines.items[1].self, 6);
  /* Once for a sample, though the line called itself. */
  LNS_CHECK_INT (lines.items[1].total, 6);
  lns_array_clear (&lines);
  atomic_bool cancel = true;
  LnsError error = { 0 };
  LNS_CHECK (!lns_source_lines (report, LNS_LANE_CPU_SAMPLE, &cancel, &lines, &n, &error));
  LNS_CHECK_INT (error.domain, LNS_ERROR_CANCELLED);
  LNS_CHECK_INT (lines.n, 0);
  lns_report_close (report);
}

static void
lines_stand_beside_their_source (void)
{
  const char *path = fixture_path ("it.c");
  LnsError error = { 0 };
  bool is_newer = false;

  LNS_CHECK (g_file_set_contents (path, "one\ntwo\n\tthree", -1, NULL));
  LnsReport *report = report_of_lines (path);
  LnsResult *result = lns_file_source (report, path, NULL, &is_newer, &error);
  LNS_CHECK (result != NULL && lns_result_n_rows (result) == 3);
  LNS_CHECK (is_newer);
  LNS_CHECK (lns_result_cell (result, 0, 1).is_empty);
  LNS_CHECK_INT (lns_result_cell (result, 1, 1).number, 300); /* 30.0 % */
  LNS_CHECK_INT (lns_result_cell (result, 1, 2).number, 900);
  LNS_CHECK_INT (lns_result_cell (result, 2, 1).number, 600);
  const LnsResultCell text = lns_result_cell (result, 2, 3);
  LNS_CHECK (text.size_bytes == 13 && memcmp (text.bytes, "        three", 13) == 0);
  lns_result_free (result);
  LNS_CHECK (lns_file_source (report, "/dev/zero", NULL, &is_newer, &error) == NULL);
  LNS_CHECK_INT (error.domain, LNS_ERROR_IO);
  g_autofree char *output = lns_file_output (report);
  LNS_CHECK (g_str_has_suffix (output, "hello, world"));
  result = lns_file_table (report, LNS_FILE_ENVIRONMENT, NULL, &error);
  LNS_CHECK_INT (lns_result_n_rows (result), 1);
  lns_result_free (result);
  result = lns_file_table (report, LNS_FILE_SOURCES, NULL, &error);
  LNS_CHECK_INT (lns_result_n_rows (result), 1);
  LNS_CHECK_INT (lns_result_cell (result, 0, 2).number, 9);
  lns_result_free (result);
  lns_report_close (report);
}

int
main (void)
{
  LNS_TEST (samples_are_counted_by_line);
  LNS_TEST (lines_stand_beside_their_source);
  return lns_tap_done ();
}
