/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Compares the analyses of calls, their GPU work and the ranges around them with a comparison of
 * every pair, on random reports. */

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "src/analysis/filter.h"
#include "src/analysis/projection/cuda-links.h"
#include "src/analysis/kernel-keys.h"
#include "src/analysis/ordering.h"
#include "src/analysis/projection/projection-file.h"
#include "src/analysis/projection/projection.h"
#include "src/analysis/stats/report.h"
#include "src/store/read/report-cache.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

#define N_PROCESSES 2
#define N_THREADS   2 /* a process                                                              */
#define N_STREAMS   2 /* a process                                                              */
#define N_CALLS     3000 /* a thread                                                            */
#define DEPTH       3

typedef struct
{
  uint32_t lane, process, thread, stream;
  uint64_t ordinal, correlation;
  int64_t start_ns, end_ns;
} Event;

static Event calls[N_PROCESSES * N_THREADS * N_CALLS], work[4 * N_PROCESSES * N_THREADS * N_CALLS],
    ranges[N_PROCESSES * N_THREADS * N_CALLS * (DEPTH + 1)];
static uint32_t n_calls, n_work, n_ranges;
static uint64_t state;
static uint32_t first_name; /* the string "name 1"; some of those before differ from file to file */

static void
append (LnsWriter *writer, Event *event, LnsLaneKind kind)
{
  LnsEvent written = { .start_ns = event->start_ns,
                       .duration_ns = event->end_ns - event->start_ns,
                       .name = first_name + (uint32_t)event->ordinal % 40 };
  int correlation = lns_lane_kind_extra (kind, LNS_COLUMN_CORRELATION),
      thread = lns_lane_kind_extra (kind, LNS_COLUMN_THREAD),
      end_thread = lns_lane_kind_extra (kind, LNS_COLUMN_END_THREAD);
  if (correlation >= 0)
    written.extra[correlation] = event->correlation;
  if (thread >= 0)
    written.extra[thread] = event->thread;
  if (end_thread >= 0) /* every third ends elsewhere */
    written.extra[end_thread] = event->ordinal % 3 == 0 ? event->thread ^ 1 : event->thread;
  lns_writer_append (writer, event->lane, &written);
}

static uint32_t
add_lane (LnsWriter *writer, LnsTrackKind track, LnsLaneKind kind, const Event *of, uint32_t depth)
{
  LnsTrack definition = { .kind = track,
                          .process = of->process,
                          .thread = of->thread,
                          .domain = 0,
                          .device = LNS_ID_NONE,
                          .stream = of->stream };
  uint32_t id = lns_writer_add_track (writer, &definition);
  return lns_writer_add_lane (writer, &(LnsLane){ .track = id, .ordinal = depth, .kind = kind });
}

/* Nested ranges on THREAD until END_NS; those of two domains cross. */
static void
write_ranges (LnsWriter *writer, Event of, int64_t end_ns)
{
  for (uint32_t depth = 0; depth <= DEPTH; depth++)
    {
      LnsLaneKind kind = depth == DEPTH ? LNS_LANE_NVTX_START_END : LNS_LANE_NVTX_PUSH_POP;
      uint32_t lane = add_lane (writer, lns_lane_kind_info (kind)->track, kind, &of, depth);
      int64_t now_ns = (int64_t)(fixture_random (&state) % 1000);
      for (uint64_t ordinal = 0; now_ns < end_ns; ordinal++)
        {
          Event *range = &ranges[n_ranges++];
          *range = of;
          range->lane = lane;
          range->ordinal = ordinal;
          range->start_ns = now_ns;
          range->end_ns =
              now_ns + (int64_t)(fixture_random (&state) % (UINT64_C (300) << 2 * depth));
          now_ns = range->end_ns + (int64_t)(fixture_random (&state) % 100);
          append (writer, range, kind);
        }
    }
}

/* Calls with up to three pieces of work each on a stream that is drawn; some have none. */
static int64_t
write_calls (LnsWriter *writer, Event of, const uint32_t *lanes, int64_t *busy_ns, uint64_t *next)
{
  uint32_t lane = add_lane (writer, LNS_TRACK_CUDA_API, LNS_LANE_CUDA_API, &of, 0);
  int64_t now_ns = 0;

  for (uint64_t ordinal = 0; ordinal < N_CALLS; ordinal++)
    {
      Event *call = &calls[n_calls++];
      uint64_t random = fixture_random (&state);
      uint32_t stream = random >> 8 & 1;
      *call = of;
      call->lane = lane;
      call->ordinal = ordinal;
      call->correlation = random % 50 == 0 ? 0 : (*next)++;
      call->start_ns = now_ns;
      call->end_ns = now_ns + (int64_t)(random >> 16) % 200;
      now_ns = call->end_ns + (int64_t)(random >> 32) % 40;
      append (writer, call, LNS_LANE_CUDA_API);
      for (unsigned i = 0; i < (random >> 40) % 4; i++)
        {
          Event *done = &work[n_work++];
          *done = (Event){ .lane = lanes[stream],
                           .process = of.process,
                           .stream = of.process * N_STREAMS + stream,
                           .correlation = call->correlation };
          done->start_ns = *busy_ns > call->start_ns ? *busy_ns : call->start_ns;
          done->end_ns = done->start_ns + (int64_t)(fixture_random (&state) % 300);
          *busy_ns = done->end_ns;
        }
    }
  return now_ns;
}

static LnsReport *
write_report (void)
{
  const char *path = fixture_path ("cuda.rep");
  LnsWriter *writer = fixture_writer (path);
  uint64_t ordinals[64] = { 0 };

  first_name = lns_writer_string (writer, "name 1", 6);
  lns_writer_add_device (writer, &(LnsCudaDevice){ .process = 0 });
  lns_writer_add_context (writer, &(LnsCudaContext){ .device = 0, .number = 1 });
  for (uint32_t i = 0; i < N_PROCESSES * N_STREAMS; i++)
    lns_writer_add_stream (writer, &(LnsCudaStream){ .context = 0, .number = i });
  lns_writer_add_process (writer, &(LnsProcess){ .pid = 2, .parent = LNS_ID_NONE });
  for (uint32_t i = 1; i < N_PROCESSES * N_THREADS; i++)
    lns_writer_add_thread (writer,
                           &(LnsThread){ .process = i / N_THREADS, .tid = 100 + (int32_t)i });
  state = 42;
  n_calls = n_work = n_ranges = 0;
  for (uint32_t process = 0; process < N_PROCESSES; process++)
    {
      uint32_t lanes[N_STREAMS];
      int64_t busy_ns = 0;
      uint64_t next = 1; /* correlations are those of the process */
      for (uint32_t stream = 0; stream < N_STREAMS; stream++)
        {
          Event of = { .process = process,
                       .thread = LNS_ID_NONE,
                       .stream = process * N_STREAMS + stream };
          lanes[stream] = add_lane (writer, LNS_TRACK_CUDA_KERNELS, LNS_LANE_CUDA_KERNEL, &of, 0);
        }
      uint32_t first = n_work;
      for (uint32_t thread = 0; thread < N_THREADS; thread++)
        {
          Event of = { .process = process,
                       .thread = process * N_THREADS + thread,
                       .stream = LNS_ID_NONE };
          int64_t end_ns = write_calls (writer, of, lanes, &busy_ns, &next);
          write_ranges (writer, of, end_ns);
        }
      for (uint32_t i = first; i < n_work; i++)
        {
          work[i].ordinal = ordinals[work[i].lane]++;
          append (writer, &work[i], LNS_LANE_CUDA_KERNEL);
        }
    }
  fixture_finish (writer, INT64_C (1) << 40);
  return fixture_open (path, NULL);
}

/* How many of EVENTS are of PROCESS and have CORRELATION, and whether RUNS hold just them. */
static bool
runs_are (const Event *events, uint32_t n, const Event *of, const LnsEventRun *runs, size_t n_runs)
{
  uint64_t n_wanted = 0, n_found = 0;

  for (size_t r = 0; r < n_runs; r++)
    n_found += runs[r].n;
  for (uint32_t i = 0; i < n && of->correlation != 0; i++)
    if (events[i].process == of->process && events[i].correlation == of->correlation)
      {
        bool held = false;
        for (size_t r = 0; r < n_runs; r++)
          held = held || (runs[r].lane == events[i].lane && events[i].ordinal >= runs[r].ordinal &&
                          events[i].ordinal < runs[r].ordinal + runs[r].n);
        if (!held)
          return false;
        n_wanted++;
      }
  return n_wanted == n_found;
}

static void
test_links_go_both_ways (void)
{
  LnsReport *report = write_report ();
  LnsCudaLinks *links = lns_cuda_links_new (report);
  LnsEventRun *runs;
  size_t n;

  LNS_CHECK (links != NULL);
  for (uint32_t i = 0; i < n_calls; i += 7)
    {
      LNS_CHECK (lns_cuda_links_find (links, calls[i].lane, calls[i].ordinal, &runs, &n, NULL));
      LNS_CHECK (runs_are (work, n_work, &calls[i], runs, n));
      free (runs);
    }
  for (uint32_t i = 0; i < n_work; i += 7)
    {
      LNS_CHECK (lns_cuda_links_find (links, work[i].lane, work[i].ordinal, &runs, &n, NULL));
      LNS_CHECK (runs_are (calls, n_calls, &work[i], runs, n));
      LNS_CHECK (n == 1 || work[i].correlation == 0);
      free (runs);
    }
  LNS_CHECK (lns_cuda_links_find (links, ranges[0].lane, 0, &runs, &n, NULL));
  LNS_CHECK_INT (n, 0);
  lns_cuda_links_free (links);
  lns_report_close (report);
}

/* The projection of RANGE, by comparing it with all calls and those with all work. */
static bool
project (const Event *range, uint32_t stream, LnsProjectedRange *ret_wanted)
{
  int64_t end_ns = INT64_MIN;

  *ret_wanted = (LnsProjectedRange){ .start_ns = INT64_MAX };
  for (uint32_t i = 0; i < n_calls; i++)
    {
      const Event *call = &calls[i];
      if (call->thread != range->thread || call->correlation == 0 ||
          call->start_ns < range->start_ns || call->end_ns > range->end_ns)
        continue;
      for (uint32_t j = 0; j < n_work; j++)
        if (work[j].process == call->process && work[j].correlation == call->correlation &&
            (stream == LNS_ID_NONE || work[j].stream == stream))
          {
            if (work[j].start_ns < ret_wanted->start_ns)
              ret_wanted->start_ns = work[j].start_ns;
            end_ns = work[j].end_ns > end_ns ? work[j].end_ns : end_ns;
            ret_wanted->n_operations++;
          }
    }
  ret_wanted->duration_ns = end_ns - ret_wanted->start_ns;
  return ret_wanted->n_operations > 0;
}

static bool
is_start_end (LnsReport *report, uint32_t lane)
{
  uint32_t n;
  return lns_report_lanes (report, &n)[lane].kind == LNS_LANE_NVTX_START_END;
}

static void
check_projection (LnsReport *report)
{
  LnsProjectedRange *projected = NULL;
  size_t n, n_checked = 0;

  LNS_CHECK (lns_projection (report, NULL, &projected, &n, NULL));
  for (size_t i = 1; i < n; i++)
    LNS_CHECK (projected[i - 1].thread < projected[i].thread ||
               (projected[i - 1].thread == projected[i].thread &&
                projected[i - 1].range_start_ns <= projected[i].range_start_ns));
  for (uint32_t r = 0; r < n_ranges; r += 7)
    {
      LnsProjectedRange wanted;
      const LnsProjectedRange *found = NULL;
      bool has = project (&ranges[r], LNS_ID_NONE, &wanted) &&
                 !(is_start_end (report, ranges[r].lane) && ranges[r].ordinal % 3 == 0);
      for (size_t i = 0; i < n; i++)
        if (projected[i].lane == ranges[r].lane && projected[i].ordinal == ranges[r].ordinal)
          found = &projected[i];
      LNS_CHECK_INT (found != NULL, has);
      if (found == NULL)
        continue;
      n_checked++;
      LNS_CHECK_INT (found->start_ns, wanted.start_ns);
      LNS_CHECK_INT (found->duration_ns, wanted.duration_ns);
      LNS_CHECK_INT (found->n_operations, wanted.n_operations);
      LNS_CHECK_INT (found->range_start_ns, ranges[r].start_ns);
      LNS_CHECK_INT (found->range_duration_ns, ranges[r].end_ns - ranges[r].start_ns);
      LNS_CHECK_INT (found->thread, ranges[r].thread);
    }
  LNS_CHECK (n_checked > 50);
  free (projected);
}

static void
test_projection (void)
{
  LnsReport *report = write_report ();

  check_projection (report);
  lns_report_close (report);
}

static void
test_projection_ends_when_told (void)
{
  LnsReport *report = write_report ();
  const atomic_bool cancel = true;
  LnsProjectedRange *projected;
  LnsError error = { 0 };
  size_t n;

  LNS_CHECK (!lns_projection (report, &cancel, &projected, &n, &error));
  LNS_CHECK_INT (error.domain, LNS_ERROR_CANCELLED);
  lns_report_close (report);
}

/* ---- Projections as lanes -------------------------------------------------------------------- */

/* The projection of RANGE on STREAM among REPORT's lanes. False where there is none. */
static bool
find_projected (LnsReport *report,
                const Event *range,
                uint32_t stream,
                LnsEvent *ret_event,
                uint32_t *ret_level)
{
  uint32_t n_lanes, n_found = 0;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  const LnsTrack *tracks = lns_report_tracks (report, NULL);

  for (uint32_t lane = 0; lane < n_lanes; lane++)
    {
      uint64_t at, n = lns_report_lane_info (report, lane)->n_events;
      if (lanes[lane].kind != LNS_LANE_NVTX_PROJECTED || tracks[lanes[lane].track].stream != stream)
        continue;
      for (uint64_t from = 0;
           lns_report_find_correlation (report, lane, range->ordinal + 1, from, &at, NULL) &&
           at < n;
           from = at + 1)
        {
          LnsEvent event;
          LNS_CHECK (lns_report_event (report, lane, at, &event, NULL));
          if (event.extra[3] != range->lane)
            continue;
          *ret_event = event;
          *ret_level = lanes[lane].ordinal;
          n_found++;
        }
    }
  LNS_CHECK (n_found < 2);
  return n_found == 1;
}

/* The last range to begin before RANGE on its thread that ends no sooner and has a projection. */
static const Event *
range_around (LnsReport *report, const Event *range)
{
  const Event *around = NULL;
  for (const Event *other = ranges; other < ranges + n_ranges; other++)
    if (other->thread == range->thread && other->start_ns < range->start_ns &&
        other->end_ns >= range->end_ns &&
        !(is_start_end (report, other->lane) && other->ordinal % 3 == 0) &&
        (around == NULL || other->start_ns > around->start_ns))
      around = other;
  return around;
}

static void
check_lanes (LnsReport *report, uint32_t stream)
{
  uint32_t n_lanes, n_checked = 0, n_nested = 0;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  const LnsTrack *tracks = lns_report_tracks (report, NULL);
  LnsProjectedRange *projected;
  uint64_t n_events = 0, n_wanted = 0;
  size_t n;

  LNS_CHECK (lns_projection_by_stream (report, NULL, NULL, &projected, &n, NULL));
  for (size_t i = 0; i < n; i++)
    n_wanted += projected[i].stream == stream;
  free (projected);
  for (uint32_t lane = 0; lane < n_lanes; lane++)
    if (lanes[lane].kind == LNS_LANE_NVTX_PROJECTED && tracks[lanes[lane].track].stream == stream)
      n_events += lns_report_lane_info (report, lane)->n_events;
  LNS_CHECK_INT (n_events, n_wanted);
  for (uint32_t r = 0; r < n_ranges; r += 11)
    {
      LnsProjectedRange wanted;
      LnsEvent event, outer;
      uint32_t level, outer_level;
      bool has = project (&ranges[r], stream, &wanted) &&
                 !(is_start_end (report, ranges[r].lane) && ranges[r].ordinal % 3 == 0);
      LNS_CHECK_INT (find_projected (report, &ranges[r], stream, &event, &level), has);
      if (!has)
        continue;
      n_checked++;
      LNS_CHECK_INT (event.start_ns, wanted.start_ns);
      LNS_CHECK_INT (event.duration_ns, wanted.duration_ns);
      LNS_CHECK_INT (event.extra[1], ranges[r].thread);
      LNS_CHECK_INT (event.extra[4], wanted.n_operations);
      LNS_CHECK_INT (event.name, first_name + ranges[r].ordinal % 40);
      const Event *around = range_around (report, &ranges[r]);
      if (around != NULL)
        {
          LNS_CHECK (find_projected (report, around, stream, &outer, &outer_level));
          LNS_CHECK (outer_level < level);
          LNS_CHECK (outer.start_ns <= event.start_ns &&
                     outer.start_ns + outer.duration_ns >= event.start_ns + event.duration_ns);
          n_nested++;
        }
    }
  LNS_CHECK (n_checked > 50 && n_nested > 20);
}

static void
test_projections_are_lanes (void)
{
  LnsReport *report = write_report ();
  const char *folder = fixture_path ("derived");
  const atomic_bool cancel = true;
  atomic_uint permille = 0;
  LnsError error = { 0 };
  uint32_t n_before, n_after;

  lns_report_lanes (report, &n_before);
  LNS_CHECK (lns_projection_open (report, folder, &cancel, NULL, &error) == NULL);
  LNS_CHECK_INT (error.domain, LNS_ERROR_CANCELLED);
  lns_report_close (lns_projection_open (report, folder, NULL, &permille, NULL));
  LNS_CHECK (permille > 900);
  /* It is there now: nothing is left to be broken off. */
  LnsReport *derived = lns_projection_open (report, folder, &cancel, NULL, NULL);
  LNS_CHECK (derived != NULL && lns_report_attach (report, derived, NULL));
  LNS_CHECK (!lns_report_attach (report, derived, &error));
  lns_report_lanes (report, &n_after);
  LNS_CHECK (n_after >= n_before + DEPTH * (N_PROCESSES * N_STREAMS + 1));
  for (uint32_t stream = 0; stream < N_PROCESSES * N_STREAMS; stream++)
    check_lanes (report, stream);
  check_lanes (report, LNS_ID_NONE);
  lns_report_close (report);
}

static void
test_a_foreign_file_is_not_attached (void)
{
  LnsReport *report = write_report ();
  LnsReport *derived = lns_projection_open (report, fixture_path ("derived"), NULL, NULL, NULL);
  const char *path = fixture_path ("other.rep");
  LnsWriter *writer = fixture_writer (path);
  LnsError error = { 0 };

  fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  fixture_finish (writer, 0);
  LnsReport *other = fixture_open (path, NULL);
  LNS_CHECK (!lns_report_attach (other, derived, &error));
  LNS_CHECK_INT (error.domain, LNS_ERROR_FORMAT);
  lns_report_close (other);
  lns_report_close (derived);
  lns_report_close (report);
}

/* The number of files in FOLDER, which seem to be an hour old afterwards. */
static int
n_files (const char *folder)
{
  const struct timespec hour_ago = { .tv_sec = time (NULL) - 3600 };
  int n = 0;
  DIR *dir = opendir (folder);
  LNS_CHECK (dir != NULL);
  for (struct dirent *entry; (entry = readdir (dir)) != NULL;)
    if (entry->d_name[0] != '.')
      {
        LNS_CHECK_INT (
            utimensat (dirfd (dir), entry->d_name, (struct timespec[]){ hour_ago, hour_ago }, 0),
            0);
        n++;
      }
  closedir (dir);
  return n;
}

/* The kernel ends the child by a signal where the file would become larger than a page. */
static void
test_what_a_killed_process_left_is_pruned (void)
{
  LnsReport *report = write_report ();
  const char *folder = fixture_path ("killed");
  int status;
  pid_t pid = fork ();

  LNS_CHECK (pid >= 0);
  if (pid == 0)
    {
      const struct rlimit page = { 4096, 4096 };
      if (setrlimit (RLIMIT_FSIZE, &page) == 0 &&
          setrlimit (RLIMIT_CORE, &(struct rlimit){ 0 }) == 0)
        lns_report_close (lns_projection_open (report, folder, NULL, NULL, NULL));
      _exit (0);
    }
  LNS_CHECK_INT (waitpid (pid, &status, 0), pid);
  LNS_CHECK (WIFSIGNALED (status));
  LNS_CHECK_INT (WTERMSIG (status), SIGXFSZ);
  LNS_CHECK (n_files (folder) > 0);
  LnsReport *derived = lns_projection_open (report, folder, NULL, NULL, NULL);
  LNS_CHECK (derived != NULL);
  lns_report_cache_prune (lns_report_info (derived)->path, 1, INT64_MAX);
  LNS_CHECK_INT (n_files (folder), 1);
  LNS_CHECK (access (lns_report_info (derived)->path, F_OK) == 0);
  lns_report_close (derived);
  lns_report_close (report);
}

/* What STATS says of REPORT, or of SPAN of it unless that is NULL, as CSV. The caller frees it. */
static char *
stats_text (LnsReport *report, const LnsStatsReport *stats, const LnsFilterSpan *span)
{
  LnsTables *tables = lns_tables_new (report, NULL);
  const LnsStatsStyle style = { .format = LNS_STATS_CSV, .separator = "," };
  LnsStatsResult *result =
      span == NULL ? lns_stats_report_run (stats, stats->name, tables, NULL, NULL)
                   : lns_stats_report_run_between (stats, stats->name, tables, span, NULL, NULL);
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream (&text, &size);

  LNS_CHECK (result != NULL && lns_stats_result_write (result, stream, &style, NULL));
  fclose (stream);
  lns_stats_result_free (result);
  lns_tables_free (tables);
  return text;
}

/* Sums of a span are those of a report that was written of it. */
static void
test_sums_of_spans (void)
{
  LnsReport *report = write_report ();
  const int64_t end_ns = lns_report_info (report)->end_ns;
  const char *path = fixture_path ("part.rep");
  const LnsStatsReport *stats;
  unsigned n_compared = 0;

  for (unsigned round = 0; round < 12; round++)
    {
      const Event *call = &calls[fixture_random (&state) % n_calls];
      LnsFilterSpan span = { (int64_t)(fixture_random (&state) % (uint64_t)end_ns), 0,
                             round % 4 == 3 ? call->process : LNS_ID_NONE };
      span.end_ns = span.start_ns + (int64_t)(fixture_random (&state) % (uint64_t)end_ns);
      if (round == 0) /* all of it; ends of events; nothing */
        span = (LnsFilterSpan){ INT64_MIN, INT64_MAX, LNS_ID_NONE };
      else if (round < 3)
        span = (LnsFilterSpan){ call->end_ns, call->end_ns + (round == 1 ? 0 : 5000), LNS_ID_NONE };
      else if (round == 3)
        span = (LnsFilterSpan){ end_ns + 1, end_ns + 2, LNS_ID_NONE };
      LNS_CHECK (lns_filter_write (report, &span, path, NULL, NULL));
      LnsReport *part = fixture_open (path, NULL);
      for (size_t i = 0; (stats = lns_stats_report_at (i)) != NULL; i++)
        if (lns_stats_report_takes_spans (stats, stats->name))
          {
            char *wanted = stats_text (part, stats, NULL),
                 *found = stats_text (report, stats, &span);
            LNS_CHECK_STR (found, wanted);
            free (wanted);
            free (found);
            n_compared++;
          }
      lns_report_close (part);
      unlink (path);
    }
  LNS_CHECK_INT (n_compared, 12 * 10);
  LNS_CHECK (!lns_stats_report_takes_spans (lns_stats_report_find ("osrt_sum", NULL), "osrt_sum"));
  LNS_CHECK (!lns_stats_report_takes_spans (lns_stats_report_find ("cuda_gpu_kern_sum", NULL),
                                            "cuda_gpu_kern_sum:nvtx-name"));
  lns_report_close (report);
}

/* Each report of statistics prints what it counts, also of kernels without launches. */
static void
test_each_report (void)
{
  LnsReport *report = write_report ();
  LnsTables *tables = lns_tables_new (report, NULL);
  const LnsStatsStyle style = { .format = LNS_STATS_CSV, .separator = "", .no_header = true };
  const LnsStatsReport *stats;

  for (size_t i = 0; (stats = lns_stats_report_at (i)) != NULL; i++)
    {
      LnsStatsResult *result = lns_stats_report_run (stats, stats->name, tables, NULL, NULL);
      char *text = NULL;
      size_t size, n_lines = 0;
      FILE *stream = open_memstream (&text, &size);
      LNS_CHECK (result != NULL && lns_stats_result_write (result, stream, &style, NULL));
      fclose (stream);
      for (size_t c = 0; c < size; c++)
        n_lines += text[c] == '\n';
      LNS_CHECK (n_lines <= lns_stats_result_n_rows (result));
      LNS_CHECK_INT (n_lines > 0, lns_stats_result_n_rows (result) > 0);
      if (strcmp (stats->name, "cuda_api_trace") == 0)
        LNS_CHECK_INT (n_lines, n_calls);
      if (strcmp (stats->name, "cuda_gpu_trace") == 0)
        LNS_CHECK_INT (n_lines, n_work);
      free (text);
      lns_stats_result_free (result);
    }
  lns_tables_free (tables);
  lns_report_close (report);
}

/* Random names and launches, of which some do not exist, against comparing all with all: kernels share a key
 * if and only if they are called alike and, by shape, have one grid and block. */
static void
test_kernel_keys (void)
{
  enum
  {
    N = 2000,
    N_LAUNCHES = 60
  };
  const char *path = fixture_path ("kernels.rep");
  LnsWriter *writer = fixture_writer (path);
  LnsCudaLaunch launches[N_LAUNCHES] = { 0 };
  uint32_t names[N], ids[N], lane = fixture_lane (writer, LNS_LANE_CUDA_KERNEL), n_launches;
  const int launch = lns_lane_kind_extra (LNS_LANE_CUDA_KERNEL, LNS_COLUMN_LAUNCH);

  for (unsigned i = 0; i < N_LAUNCHES; i++)
    {
      launches[i] =
          (LnsCudaLaunch){ .short_name = 1 + i % 3, .mangled_name = i % 4 == 0 ? 0 : i % 7 };
      launches[i].grid[i % 3] = i % 5;
      launches[i].block[i % 3] = i % 2;
      lns_writer_add_launch (writer, &launches[i]);
    }
  for (unsigned i = 0; i < N; i++)
    {
      LnsEvent event = { .start_ns = i, .name = 1 + (uint32_t)fixture_random (&state) % 40 };
      event.extra[launch] = fixture_random (&state) % (N_LAUNCHES + 2);
      names[i] = event.name;
      ids[i] = (uint32_t)event.extra[launch];
      lns_writer_append (writer, lane, &event);
    }
  fixture_finish (writer, N);
  LnsReport *report = fixture_open (path, NULL);
  lns_report_launches (report, &n_launches);
  LNS_CHECK_INT (n_launches, N_LAUNCHES);
  for (LnsKernelName naming = LNS_KERNEL_NAME; naming <= LNS_KERNEL_MANGLED_NAME; naming++)
    for (int by_shape = 0; by_shape < 2; by_shape++)
      {
        LnsKernelKeys keys;
        uint64_t n_unnamed = 0, n_wrong = 0;
        LNS_CHECK (lns_kernel_keys_init (&keys, report, naming, by_shape != 0, NULL, NULL));
        for (unsigned i = 0; i < N; i++)
          {
            static const LnsCudaLaunch none = { 0 };
            const LnsCudaLaunch *a = ids[i] < N_LAUNCHES ? &launches[ids[i]] : &none;
            uint32_t own = naming == LNS_KERNEL_SHORT_NAME ? a->short_name : a->mangled_name,
                     shown = naming == LNS_KERNEL_NAME || own == 0 ? names[i] : own,
                     key = lns_kernel_keys_find (&keys, names[i], ids[i]);
            n_unnamed += naming != LNS_KERNEL_NAME && own == 0;
            n_wrong += key >= keys.kinds.n || keys.kinds.items[key].shown != shown ||
                       lns_kernel_name (report, naming, names[i], ids[i]) != shown;
            for (unsigned j = 0; j < i && key < keys.kinds.n; j += 7)
              {
                const LnsCudaLaunch *b = ids[j] < N_LAUNCHES ? &launches[ids[j]] : &none;
                uint32_t other = lns_kernel_keys_find (&keys, names[j], ids[j]);
                bool alike = other < keys.kinds.n && keys.kinds.items[other].shown == shown &&
                             (by_shape == 0 || (memcmp (a->grid, b->grid, sizeof a->grid) == 0 &&
                                                memcmp (a->block, b->block, sizeof a->block) == 0));
                n_wrong += alike != (key == other);
              }
          }
        LNS_CHECK_INT (n_wrong, 0);
        LNS_CHECK_INT (keys.n_unnamed, n_unnamed);
        lns_kernel_keys_clear (&keys);
      }
  atomic_bool cancel = true;
  LnsKernelKeys keys;
  LnsError error = { 0 };
  LNS_CHECK (!lns_kernel_keys_init (&keys, report, LNS_KERNEL_NAME, true, &cancel, &error));
  LNS_CHECK_INT (error.domain, LNS_ERROR_CANCELLED);
  lns_report_close (report);
}

static int
compare_tens (const void *a, const void *b)
{
  return *(const int *)a / 10 - *(const int *)b / 10;
}

/* Random, ascending, descending and merged items; those that compare equal stay as they were. */
static void
test_ordering (void)
{
  int items[1000];

  for (unsigned shape = 0; shape < 4; shape++)
    for (int n = 0; n < 1000; n += n < 10 ? 1 : 123)
      {
        long sum = 0, sum_after = 0;
        for (int i = 0; i < n; i++)
          {
            items[i] = shape == 0   ? (int)(fixture_random (&state) % 500) * 10
                       : shape == 1 ? i * 10
                       : shape == 2 ? (n - i) * 10
                                    : i % 7 * 1000;
            items[i] += shape == 3 ? i / 7 % 10 : 0;
            sum += items[i];
          }
        lns_order (items, (size_t)n, sizeof items[0], compare_tens);
        for (int i = 0; i < n; i++)
          sum_after += items[i];
        for (int i = 1; i < n; i++)
          LNS_CHECK (items[i - 1] / 10 <= items[i] / 10);
        LNS_CHECK_INT (sum, sum_after);
      }
  const int equal[] = { 19, 12, 5, 11, 3 }, wanted[] = { 5, 3, 19, 12, 11 };
  memcpy (items, equal, sizeof equal);
  lns_order (items, 5, sizeof items[0], compare_tens);
  LNS_CHECK (memcmp (items, wanted, sizeof wanted) == 0);
}

int
main (void)
{
  LNS_TEST (test_ordering);
  LNS_TEST (test_each_report);
  LNS_TEST (test_sums_of_spans);
  LNS_TEST (test_kernel_keys);
  LNS_TEST (test_links_go_both_ways);
  LNS_TEST (test_projection);
  LNS_TEST (test_projection_ends_when_told);
  LNS_TEST (test_projections_are_lanes);
  LNS_TEST (test_a_foreign_file_is_not_attached);
  LNS_TEST (test_what_a_killed_process_left_is_pruned);
  return lns_tap_done ();
}
