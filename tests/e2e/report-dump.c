/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Prints a report as lines of JSON, as the reader sees it: {"info":…}, {"process":…}, {"thread":…},
 * {"event":…}, {"loss":…}, {"diagnostic":…}. For tests. With --counts, without
 * events. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/lns-json.h"
#include "src/store/lns-report.h"

static LnsReport *report;

static void
print_string (const char *key, uint32_t id)
{
  size_t n_bytes;
  const char *text = lns_report_string (report, id, &n_bytes);
  printf (",\"%s\":", key);
  lns_json_write_string (stdout, text, n_bytes);
}

static void
print_definitions (void)
{
  uint32_t n;
  const LnsProcess *processes = lns_report_processes (report, &n);
  for (uint32_t i = 0; i < n; i++)
    {
      printf ("{\"process\":%" PRIu32 ",\"pid\":%d,\"parent\":%" PRId64 ",\"exit\":%d,\"ended\":%s",
              i, processes[i].pid,
              processes[i].parent == LNS_ID_NONE ? -1 : (int64_t)processes[i].parent,
              processes[i].exit_code, processes[i].end_ns != LNS_TIME_UNKNOWN ? "true" : "false");
      print_string ("name", processes[i].name);
      print_string ("command_line", processes[i].command_line);
      puts ("}");
    }
  const LnsThread *threads = lns_report_threads (report, &n);
  for (uint32_t i = 0; i < n; i++)
    {
      printf ("{\"thread\":%" PRIu32 ",\"process\":%" PRIu32 ",\"tid\":%d", i, threads[i].process,
              threads[i].tid);
      print_string ("name", threads[i].name);
      puts ("}");
    }
  const LnsDiagnostic *diagnostics = lns_report_diagnostics (report, &n);
  for (uint32_t i = 0; i < n; i++)
    {
      printf ("{\"diagnostic\":%" PRIu32, i);
      print_string ("code", diagnostics[i].code);
      print_string ("text", diagnostics[i].text);
      puts ("}");
    }
  const LnsLoss *losses = lns_report_losses (report, &n);
  for (uint32_t i = 0; i < n; i++)
    printf ("{\"loss\":%" PRIu32 ",\"pushes\":%" PRIu64 ",\"pops\":%" PRIu64 ",\"marks\":%" PRIu64
            "}\n",
            i, losses[i].pushes, losses[i].pops, losses[i].marks);
}

static void
print_events (const LnsChunk *chunk, const LnsTrack *track, const LnsLane *lane)
{
  static const char *const kinds[] = { "", "range", "start-end", "mark", "counter" };
  uint32_t n;
  const LnsDomain *domains = lns_report_domains (report, &n);
  for (uint32_t i = 0; i < chunk->n; i++)
    {
      printf ("{\"event\":\"%s\",\"process\":%" PRId64 ",\"thread\":%" PRId64 ",\"lane\":%" PRIu32
              ",\"start\":%" PRId64 ",\"duration\":%" PRId64 ",\"flags\":%" PRIu32,
              kinds[track->kind], (int64_t)track->process,
              track->thread == LNS_ID_NONE ? -1 : (int64_t)track->thread, lane->ordinal,
              chunk->start_ns[i], chunk->duration_ns[i], chunk->flags[i]);
      print_string ("name", track->kind == LNS_TRACK_COUNTER ? track->name : chunk->name[i]);
      print_string ("domain", track->domain < n ? domains[track->domain].name : 0);
      for (unsigned k = 0; k < 4; k++)
        printf (",\"extra%u\":%" PRIu64, k, chunk->extra[k] != NULL ? chunk->extra[k][i] : 0);
      puts ("}");
    }
}

static int
print_lanes (void)
{
  uint32_t n_lanes, n_tracks;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  const LnsTrack *tracks = lns_report_tracks (report, &n_tracks);
  for (uint32_t i = 0; i < n_lanes; i++)
    {
      LnsError error = { 0 };
      LnsChunkWalker *walker = lns_chunk_walker_new (report, i, 0);
      const LnsChunk *chunk;
      while ((chunk = lns_chunk_walker_next (walker, &error)) != NULL)
        print_events (chunk, &tracks[lanes[i].track], &lanes[i]);
      lns_chunk_walker_free (walker);
      if (error.domain != LNS_ERROR_NONE)
        {
          fprintf (stderr, "%s\n", error.message);
          return 1;
        }
    }
  return 0;
}

int
main (int argc, char **argv)
{
  bool counts = argc == 3 && strcmp (argv[1], "--counts") == 0;
  LnsError error = { 0 };
  report = argc >= 2 ? lns_report_open (argv[argc - 1], NULL, &error) : NULL;
  if (report == NULL)
    {
      fprintf (stderr, "%s\n", error.message);
      return 1;
    }
  const LnsReportInfo *info = lns_report_info (report);
  printf ("{\"info\":0,\"state\":%d,\"events\":%" PRIu64 ",\"open\":%" PRIu64 ",\"lost\":%" PRIu64
          ",\"end\":%" PRId64,
          info->state, info->n_events, info->n_open, info->n_lost, info->end_ns);
  static const char *const keys[] = { "command_line", "working_directory", "host_name", "trace",
                                      "env.LNS_TEST" };
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (lns_report_meta (report, keys[i]) != NULL)
      {
        printf (",\"%s\":", keys[i]);
        lns_json_write_string (stdout, lns_report_meta (report, keys[i]),
                               strlen (lns_report_meta (report, keys[i])));
      }
  puts ("}");
  print_definitions ();
  int result = counts ? 0 : print_lanes ();
  lns_report_close (report);
  return result;
}
