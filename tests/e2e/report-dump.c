/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Prints a report as lines of JSON, as the reader sees it: {"info":…}, {"process":…}, {"thread":…},
 * {"event":…}, {"loss":…}, {"diagnostic":…}, of CUDA also {"device":…}, {"context":…}, {"stream":…},
 * {"launch":…} and {"links":…}. For tests. With --counts, without events. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/json.h"
#include "src/store/read/report.h"

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
print_time (const char *key, int64_t time_ns)
{
  if (time_ns == LNS_TIME_UNKNOWN)
    printf (",\"%s\":null", key);
  else
    printf (",\"%s\":%" PRId64, key, time_ns);
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
      print_string ("executable", processes[i].executable);
      print_time ("start", processes[i].start_ns);
      print_time ("end", processes[i].end_ns);
      puts ("}");
    }
  const LnsThread *threads = lns_report_threads (report, &n);
  for (uint32_t i = 0; i < n; i++)
    {
      printf ("{\"thread\":%" PRIu32 ",\"process\":%" PRIu32 ",\"tid\":%d", i, threads[i].process,
              threads[i].tid);
      print_string ("name", threads[i].name);
      print_time ("start", threads[i].start_ns);
      print_time ("end", threads[i].end_ns);
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
            ",\"others\":%" PRIu64 "}\n",
            i, losses[i].pushes, losses[i].pops, losses[i].marks, losses[i].others);
}

static void
print_cuda_definitions (void)
{
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (report, &n);
  for (uint32_t i = 0; i < n; i++)
    {
      printf ("{\"device\":%" PRIu32 ",\"process\":%" PRIu32 ",\"number\":%" PRIu32
              ",\"memory\":%" PRIu64,
              i, devices[i].process, devices[i].number, devices[i].memory_bytes);
      print_string ("name", devices[i].name);
      print_string ("bus", devices[i].bus);
      print_string ("uuid", devices[i].uuid);
      puts ("}");
    }
  const LnsCudaContext *contexts = lns_report_contexts (report, &n);
  for (uint32_t i = 0; i < n; i++)
    printf ("{\"context\":%" PRIu32 ",\"device\":%" PRIu32 ",\"number\":%" PRIu32
            ",\"parent\":%" PRIu32 ",\"green\":%" PRIu32 ",\"multiprocessors\":%" PRIu32 "}\n",
            i, contexts[i].device, contexts[i].number, contexts[i].parent, contexts[i].is_green,
            contexts[i].n_multiprocessors);
  const LnsCudaStream *streams = lns_report_streams (report, &n);
  for (uint32_t i = 0; i < n; i++)
    printf ("{\"stream\":%" PRIu32 ",\"context\":%" PRIu32 ",\"number\":%" PRIu32
            ",\"priority\":%" PRId32 ",\"flags\":%" PRIu32 "}\n",
            i, streams[i].context, streams[i].number, streams[i].priority, streams[i].flags);
  const LnsCudaLaunch *launches = lns_report_launches (report, &n);
  for (uint32_t i = 0; i < n; i++)
    {
      const LnsCudaLaunch *l = &launches[i];
      printf ("{\"launch\":%" PRIu32 ",\"grid\":[%" PRIu32 ",%" PRIu32 ",%" PRIu32
              "],\"block\":[%" PRIu32 ",%" PRIu32 ",%" PRIu32 "],\"cluster\":[%" PRIu32 ",%" PRIu32
              ",%" PRIu32 "],\"registers\":%" PRIu32 ",\"static\":%" PRIu32 ",\"dynamic\":%" PRIu32,
              i, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
              l->cluster[0], l->cluster[1], l->cluster[2], l->registers, l->static_shared_bytes,
              l->dynamic_shared_bytes);
      print_string ("short", l->short_name);
      print_string ("mangled", l->mangled_name);
      puts ("}");
    }
}

/* Whether lane TO has an event of CORRELATION, found by the reader's own search. */
static bool
is_linked (uint32_t to, uint64_t correlation)
{
  LnsError error = { 0 };
  LnsEvent event;
  uint64_t ordinal;
  uint32_t n;
  const int at =
      lns_lane_kind_extra (lns_report_lanes (report, &n)[to].kind, LNS_COLUMN_CORRELATION);
  return lns_report_find_correlation (report, to, correlation, 0, &ordinal, &error) &&
         ordinal < lns_report_lane_info (report, to)->n_events &&
         lns_report_event (report, to, ordinal, &event, &error) && event.extra[at] == correlation;
}

/* For each lane of work on a GPU: how many calls are found from its events, and how many of these from
 * the calls. */
static void
print_links (void)
{
  uint32_t n_lanes, n_tracks;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  const LnsTrack *tracks = lns_report_tracks (report, &n_tracks);
  for (uint32_t i = 0; i < n_lanes; i++)
    {
      const LnsTrack *own = &tracks[lanes[i].track];
      const int at = lns_lane_kind_extra (lanes[i].kind, LNS_COLUMN_CORRELATION);
      const uint64_t n = lns_report_lane_info (report, i)->n_events;
      uint64_t n_calls = 0, n_back = 0;
      if (own->stream == LNS_ID_NONE || at < 0)
        continue;
      for (uint64_t k = 0; k < n; k++)
        {
          LnsEvent event;
          LnsError error = { 0 };
          if (!lns_report_event (report, i, k, &event, &error))
            continue;
          n_back += is_linked (i, event.extra[at]);
          for (uint32_t to = 0; to < n_lanes; to++)
            n_calls += lanes[to].kind == LNS_LANE_CUDA_API &&
                       tracks[lanes[to].track].process == own->process &&
                       is_linked (to, event.extra[at]);
        }
      printf ("{\"links\":\"lane %d\",\"events\":%" PRIu64 ",\"calls\":%" PRIu64
              ",\"back\":%" PRIu64 "}\n",
              (int)lanes[i].kind, n, n_calls, n_back);
    }
}

/* The columns that LANE has beyond those of all lanes: those of NVTX by number. */
static void
print_columns (const LnsChunk *chunk, uint32_t at, LnsLaneKind kind)
{
  const LnsLaneKindInfo *info = lns_lane_kind_info (kind);
  for (unsigned k = 0; k < (kind < LNS_LANE_CUDA_API ? 4 : LNS_EXTRA_MAX) && info->extra[k] != 0;
       k++)
    {
      const uint64_t value = chunk->extra[k] != NULL ? chunk->extra[k][at] : 0;
      if (kind < LNS_LANE_CUDA_API)
        printf (",\"extra%u\":%" PRIu64, k, value);
      else
        printf (",\"column %d\":%" PRIu64, (int)info->extra[k], value);
    }
}

static void
print_events (const LnsChunk *chunk, const LnsTrack *track, const LnsLane *lane)
{
  static const char *const kinds[] = { "", "range", "start-end", "mark", "counter" };
  char kind[16];
  uint32_t n;
  const LnsDomain *domains = lns_report_domains (report, &n);
  snprintf (kind, sizeof kind, "lane %d", (int)lane->kind);
  for (uint32_t i = 0; i < chunk->n; i++)
    {
      printf ("{\"event\":\"%s\",\"process\":%" PRId64 ",\"thread\":%" PRId64 ",\"lane\":%" PRIu32
              ",\"start\":%" PRId64 ",\"duration\":%" PRId64 ",\"flags\":%" PRIu32,
              (unsigned)track->kind < sizeof kinds / sizeof *kinds ? kinds[track->kind] : kind,
              (int64_t)track->process, track->thread == LNS_ID_NONE ? -1 : (int64_t)track->thread,
              lane->ordinal, chunk->start_ns[i], chunk->duration_ns[i], chunk->flags[i]);
      print_string ("name", track->kind == LNS_TRACK_COUNTER ? track->name : chunk->name[i]);
      print_string ("domain", track->domain < n ? domains[track->domain].name : 0);
      if (track->device != LNS_ID_NONE)
        printf (",\"device\":%" PRIu32, track->device);
      if (track->stream != LNS_ID_NONE)
        printf (",\"stream\":%" PRIu32, track->stream);
      print_columns (chunk, i, lane->kind);
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
      printf ("{\"lane\":%" PRIu32 ",\"kind\":\"lane %d\",\"thread\":%" PRId64
              ",\"ordinal\":%" PRIu32 "}\n",
              i, (int)lanes[i].kind, (int64_t)(int32_t)tracks[lanes[i].track].thread,
              lanes[i].ordinal);
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
          ",\"end\":%" PRId64 ",\"t0\":%" PRId64,
          info->state, info->n_events, info->n_open, info->n_lost, info->end_ns,
          info->t0_monotonic_ns);
  static const char *const keys[] = { "command_line",
                                      "working_directory",
                                      "host_name",
                                      "trace",
                                      "env.LNS_TEST",
                                      "cupti_version",
                                      "cupti_path",
                                      "cuda_driver_version",
                                      "driver_version",
                                      "main_thread_on_cpu_ns",
                                      "main_thread_waited_ns" };
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (lns_report_meta (report, keys[i]) != NULL)
      {
        printf (",\"%s\":", keys[i]);
        lns_json_write_string (stdout, lns_report_meta (report, keys[i]),
                               strlen (lns_report_meta (report, keys[i])));
      }
  puts ("}");
  print_definitions ();
  print_cuda_definitions ();
  int result = counts ? 0 : print_lanes ();
  if (!counts)
    print_links ();
  lns_report_close (report);
  return result;
}
