/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/unit/report-fixture.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[PATH_MAX];

uint64_t
fixture_random (uint64_t *state)
{
  uint64_t z = *state += UINT64_C (0x9E3779B97F4A7C15);
  z = (z ^ z >> 30) * UINT64_C (0xBF58476D1CE4E5B9);
  z = (z ^ z >> 27) * UINT64_C (0x94D049BB133111EB);
  return z ^ z >> 31;
}

static void
give_up (const char *message)
{
  printf ("Bail out! %s\n", message);
  exit (1);
}

static void
remove_folder (void)
{
  DIR *stream = opendir (folder);
  for (struct dirent *entry; stream != NULL && (entry = readdir (stream)) != NULL;)
    {
      char path[2 * PATH_MAX];
      snprintf (path, sizeof path, "%s/%s", folder, entry->d_name);
      if (unlink (path) != 0)
        rmdir (path);
    }
  if (stream != NULL)
    closedir (stream);
  rmdir (folder);
}

const char *
fixture_path (const char *name)
{
  static char paths[8][PATH_MAX + 256];
  static unsigned next;

  if (folder[0] == '\0')
    {
      const char *base = getenv ("TMPDIR");
      snprintf (folder, sizeof folder, "%s/lns-report-XXXXXX", base != NULL ? base : "/tmp");
      if (mkdtemp (folder) == NULL)
        give_up ("no temporary folder can be made");
      atexit (remove_folder);
    }
  char *path = paths[next++ % 8];
  snprintf (path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

LnsExpectedLane
fixture_events (LnsShape shape, uint32_t n, int64_t start_ns, uint64_t seed)
{
  LnsExpectedLane lane = { calloc (n > 0 ? n : 1, sizeof *lane.events), n };
  int64_t at_ns = start_ns;

  for (uint32_t i = 0; i < n; i++)
    {
      uint64_t r = fixture_random (&seed), s = fixture_random (&seed);
      int64_t gap_ns = 0, duration_ns = 0;
      switch (shape)
        {
        case LNS_SHAPE_DENSE:
          gap_ns = r % 50;
          duration_ns = 400 + s % 1200;
          break;
        case LNS_SHAPE_BURSTS:
          gap_ns = i % 3000 == 0 ? 5000000 + r % 9000000 : r % 20;
          duration_ns = s % 100;
          break;
        case LNS_SHAPE_ZERO:
          gap_ns = r % 4 == 0 ? s % 100000 : 0;
          duration_ns = r % 16 == 0 ? r % 5000 : 0;
          break;
        case LNS_SHAPE_SPARSE:
          gap_ns = r % 100000000000;
          duration_ns = s % 7 == 0 ? s % 10000000000 : s % 1000;
          break;
        default:
          gap_ns = (int64_t)(1ull << r % 28);
          duration_ns = (int64_t)(s >> 20) % (1ll << s % 31);
          break;
        }
      at_ns += gap_ns;
      lane.events[i] = (LnsEvent){ .start_ns = at_ns,
                                   .duration_ns = duration_ns,
                                   .name = 1 + (uint32_t)(r >> 32) % 40,
                                   .flags = r % 3 == 0 ? LNS_EVENT_REGISTERED : 0,
                                   .extra = { s % 5 == 0 ? 0xFF000000 | (s >> 40) : 0, s % 3 } };
      at_ns += duration_ns;
    }
  return lane;
}

LnsWriter *
fixture_writer (const char *path)
{
  LnsError error = { 0 };
  LnsWriterOptions options = { .overwrite = true, .t0_monotonic_ns = 111, .t0_realtime_ns = 222 };
  LnsWriter *writer = lns_writer_create (path, &options, &error);

  if (writer == NULL)
    give_up (error.message);
  for (int i = 1; i <= 40; i++)
    {
      char text[32];
      int n = snprintf (text, sizeof text, "name %d", i);
      lns_writer_string (writer, text, (size_t)n);
    }
  lns_writer_add_process (writer, &(LnsProcess){ .pid = 10, .parent = LNS_ID_NONE, .name = 1 });
  lns_writer_add_thread (writer, &(LnsThread){ .tid = 11, .name = 2 });
  lns_writer_add_domain (writer, &(LnsDomain){ .name = 3 });
  return writer;
}

uint32_t
fixture_lane (LnsWriter *writer, LnsLaneKind kind)
{
  LnsTrack track = { .device = LNS_ID_NONE,
                     .stream = LNS_ID_NONE,
                     .kind = lns_lane_kind_info (kind)->track,
                     .value_type = kind == LNS_LANE_COUNTER ? LNS_PAYLOAD_DOUBLE : 0 };
  uint32_t id = lns_writer_add_track (writer, &track);
  return lns_writer_add_lane (writer, &(LnsLane){ .track = id, .kind = kind });
}

void
fixture_finish (LnsWriter *writer, int64_t end_ns)
{
  LnsError error = { 0 };
  if (!lns_writer_finish (writer, LNS_STATE_COMPLETE, end_ns, &error))
    give_up (error.message);
}

LnsReport *
fixture_open (const char *path, const LnsOpenOptions *options)
{
  LnsError error = { 0 };
  LnsReport *report = lns_report_open (path, options, &error);
  if (report == NULL)
    give_up (error.message);
  return report;
}
