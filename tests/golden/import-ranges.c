/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes a report of start/end ranges: import-ranges OUT.rep. Standard input has one a line, by start:
 * start, end (ns) and name, between tabs. So calls that another tool recorded come into a report. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/store/lns-writer.h"

#define MAX_LANES 256

static uint32_t lanes[MAX_LANES], n_lanes;
static int64_t ends_ns[MAX_LANES]; /* of each lane's last range                               */

/* The lowest lane that is free at START_NS. */
static uint32_t
free_lane (LnsWriter *writer, uint32_t track, int64_t start_ns)
{
  uint32_t i = 0;

  while (i < n_lanes && ends_ns[i] > start_ns)
    i++;
  if (i == n_lanes && n_lanes < MAX_LANES)
    lanes[n_lanes++] = lns_writer_add_lane (
        writer, &(LnsLane){ .track = track, .ordinal = i, .kind = LNS_LANE_NVTX_START_END });
  return i;
}

int
main (int argc, char **argv)
{
  LnsError error = { 0 };
  LnsWriterOptions options = { .overwrite = true };
  LnsWriter *writer = argc > 1 ? lns_writer_create (argv[1], &options, &error) : NULL;
  int64_t start_ns, end_ns, last_ns = 0;
  char line[1 << 16];

  if (writer == NULL)
    {
      fprintf (stderr, "import-ranges: %s\n", argc > 1 ? error.message : "give a path");
      return 1;
    }
  lns_writer_add_process (writer, &(LnsProcess){ .pid = 1, .parent = LNS_ID_NONE });
  lns_writer_add_domain (writer, &(LnsDomain){ .process = 0 });
  uint32_t track = lns_writer_add_track (writer, &(LnsTrack){ .kind = LNS_TRACK_NVTX_START_END,
                                                              .thread = LNS_ID_NONE,
                                                              .device = LNS_ID_NONE,
                                                              .stream = LNS_ID_NONE });
  while (fgets (line, sizeof line, stdin) != NULL)
    {
      int at = 0;
      if (sscanf (line, "%" SCNd64 "\t%" SCNd64 "\t%n", &start_ns, &end_ns, &at) < 2 || at == 0)
        return 1;
      uint32_t lane = free_lane (writer, track, start_ns);
      if (lane == MAX_LANES)
        return 1;
      LnsEvent event = { .start_ns = start_ns, .duration_ns = end_ns - start_ns };
      event.name = lns_writer_string (writer, line + at, strcspn (line + at, "\n"));
      lns_writer_append (writer, lanes[lane], &event);
      ends_ns[lane] = end_ns;
      last_ns = end_ns > last_ns ? end_ns : last_ns;
    }
  if (lns_writer_finish (writer, LNS_STATE_COMPLETE, last_ns, &error))
    return 0;
  fprintf (stderr, "import-ranges: %s\n", error.message);
  return 1;
}
