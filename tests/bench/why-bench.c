/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* why-bench FOLDER SHAPE [EVENTS]: measures `lanescope why` on a report of an unusual shape of EVENTS operations, ranges or
 * switches, 1,000,000 by default: in seconds of processor time, MB, and how long it takes at most to stop when it is cancelled.
 * Prints one JSON object. SHAPE is
 *
 *   streams    operations of one thread on 10,000 streams
 *   processes  operations of 64 processes, each with a GPU
 *   threads    operations that 5,000 threads launch in no order
 *   depths     operations within 10,000 nested ranges
 *   names      ranges of 1,000 names, of which none is a step, and as many operations
 *   losses     operations, and 10,000 times at which records were dropped
 *   switches   switches of 5,000 threads, and no GPU
 *   waits      calls of 5,000 threads that wait for each other, and no GPU */

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/analysis/why/why.h"
#include "src/store/write/writer.h"

#define N_CANCELS 12

typedef struct
{
  const char *name;
  uint32_t n_processes, n_threads, n_streams, n_depths, n_names, n_losses;
  bool has_switches, has_calls;
} Shape;

static const Shape shapes[] = {
  { "streams", 1, 1, 10000, 1, 1, 0, false, false },
  { "processes", 64, 64, 64, 1, 1, 0, false, false },
  { "threads", 1, 5000, 4, 0, 1, 0, false, false },
  { "depths", 1, 1, 4, 10000, 1, 0, false, false },
  { "names", 1, 1, 4, 1, 1000, 0, false, false },
  { "losses", 1, 1, 4, 1, 1, 10000, false, false },
  { "switches", 1, 5000, 0, 1, 1, 0, true, false },
  { "waits", 1, 5000, 0, 1, 1, 0, false, true },
};

typedef struct
{
  LnsWriter *writer;
  const Shape *shape;
  uint32_t *calls, *ranges, *kernels; /* lanes: of threads, of depths or threads, of streams     */
  uint32_t names[4];
  uint32_t *range_names;
} Making;

static uint64_t
draw (uint64_t *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static uint32_t
add_lane (LnsWriter *writer,
          LnsTrackKind kind,
          uint32_t process,
          uint32_t thread,
          uint32_t stream,
          uint32_t device)
{
  const LnsTrack track = {
    .kind = kind, .process = process, .thread = thread, .device = device, .stream = stream
  };
  return lns_writer_add_lane (writer, &(LnsLane){ .track = lns_writer_add_track (writer, &track),
                                                  .kind = lns_track_kind_info (kind)->lane });
}

static void
add_definitions (Making *making)
{
  static const char *const names[] = { "cudaLaunchKernel_v7000", "kernel", "sem_wait", "sem_post" };
  const Shape *shape = making->shape;
  LnsWriter *writer = making->writer;
  char text[32];

  for (unsigned i = 0; i < 4; i++)
    making->names[i] = lns_writer_string (writer, names[i], strlen (names[i]));
  making->range_names = calloc (shape->n_names, sizeof (uint32_t));
  for (uint32_t i = 0; i < shape->n_names; i++)
    {
      /* Names that differ by more than numbers. */
      const int n = snprintf (text, sizeof text, "range %c%c%c", 'a' + i % 26, 'a' + i / 26 % 26,
                              'a' + i / 676 % 26);
      making->range_names[i] = lns_writer_string (writer, text, (size_t)n);
    }
  for (uint32_t i = 0; i < shape->n_processes; i++)
    {
      lns_writer_add_process (writer,
                              &(LnsProcess){ .pid = 100 + (int32_t)i, .parent = LNS_ID_NONE });
      lns_writer_add_device (writer, &(LnsCudaDevice){ .process = i, .number = i });
      lns_writer_add_context (writer, &(LnsCudaContext){ .device = i, .number = 1 });
    }
  lns_writer_add_domain (writer, &(LnsDomain){ .thread = 0 });
  lns_writer_add_launch (writer, &(LnsCudaLaunch){ .grid = { 1, 1, 1 } });
  for (uint32_t i = 0; i < shape->n_threads; i++)
    lns_writer_add_thread (
        writer, &(LnsThread){ .process = i % shape->n_processes, .tid = 100 + (int32_t)i });
  for (uint32_t i = 0; i < shape->n_streams; i++)
    lns_writer_add_stream (writer,
                           &(LnsCudaStream){ .context = i % shape->n_processes, .number = i });
  for (uint32_t i = 0; i < shape->n_losses; i++)
    lns_writer_add_loss (writer, &(LnsLoss){ .thread = LNS_ID_NONE,
                                             .first_ns = (INT64_C (1) << 50) + i * 4,
                                             .last_ns = (INT64_C (1) << 50) + i * 4 + 1,
                                             .others = 1 });
}

static void
add_lanes (Making *making)
{
  const Shape *shape = making->shape;
  const LnsTrackKind kind = shape->has_switches ? LNS_TRACK_SCHED
                            : shape->has_calls  ? LNS_TRACK_OS_CALLS
                                                : LNS_TRACK_CUDA_API;

  making->calls = calloc (shape->n_threads, sizeof (uint32_t));
  making->kernels = calloc (shape->n_streams + 1, sizeof (uint32_t));
  making->ranges = calloc (shape->n_depths + 1, sizeof (uint32_t));
  for (uint32_t i = 0; i < shape->n_threads; i++)
    making->calls[i] =
        add_lane (making->writer, kind, i % shape->n_processes, i, LNS_ID_NONE, LNS_ID_NONE);
  for (uint32_t i = 0; i < shape->n_streams; i++)
    making->kernels[i] = add_lane (making->writer, LNS_TRACK_CUDA_KERNELS, i % shape->n_processes,
                                   LNS_ID_NONE, i, i % shape->n_processes);
  const LnsTrack track = { .kind = LNS_TRACK_NVTX_RANGES,
                           .device = LNS_ID_NONE,
                           .stream = LNS_ID_NONE };
  const uint32_t id = lns_writer_add_track (making->writer, &track);
  for (uint32_t i = 0; i < shape->n_depths; i++)
    making->ranges[i] = lns_writer_add_lane (
        making->writer, &(LnsLane){ .track = id, .ordinal = i, .kind = LNS_LANE_NVTX_PUSH_POP });
}

/* Operation I: a call, a kernel after it, and then nothing for a while. Returns when the next one begins. */
static int64_t
add_operation (Making *making, uint64_t i, uint64_t random, int64_t now_ns)
{
  const Shape *shape = making->shape;
  const uint32_t thread = (uint32_t)(random % shape->n_threads),
                 stream = shape->n_processes > 1 ? thread
                                                 : (uint32_t)((random >> 20) % shape->n_streams);
  LnsEvent event = { .start_ns = now_ns, .duration_ns = 4000, .name = making->names[0] };

  event.extra[lns_lane_kind_extra (LNS_LANE_CUDA_API, LNS_COLUMN_CORRELATION)] = i + 1;
  lns_writer_append (making->writer, making->calls[thread], &event);
  event = (LnsEvent){ .start_ns = now_ns + 5000, .duration_ns = 2000, .name = making->names[1] };
  event.extra[lns_lane_kind_extra (LNS_LANE_CUDA_KERNEL, LNS_COLUMN_CORRELATION)] = i + 1;
  lns_writer_append (making->writer, making->kernels[stream], &event);
  if (shape->n_names > 1)
    lns_writer_append (making->writer, making->ranges[0],
                       &(LnsEvent){ .start_ns = now_ns + 1000,
                                    .duration_ns = 3000,
                                    .name = making->range_names[random % shape->n_names] });
  return now_ns + 20000;
}

/* A thread runs for a while, and leaves its CPU; or waits for another one, and then lets one go on. */
static int64_t
add_switch (Making *making, uint64_t i, uint64_t random, int64_t now_ns)
{
  const uint32_t thread = i % 4 == 0 ? 0 : (uint32_t)(random % making->shape->n_threads);
  LnsEvent event = { .start_ns = now_ns, .duration_ns = 3000 };

  if (making->shape->has_calls)
    {
      event.name = making->names[2];
      lns_writer_append (making->writer, making->calls[thread], &event);
      event.start_ns = now_ns + 3000;
      event.name = making->names[3];
    }
  else
    {
      event.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_SCHED_IN)] = 1;
      lns_writer_append (making->writer, making->calls[thread], &event);
      event = (LnsEvent){ .start_ns = now_ns + 3000 };
      event.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_THREAD_STATE)] = 2;
    }
  lns_writer_append (making->writer, making->calls[thread], &event);
  return now_ns + 8000;
}

static void
write_report (Making *making, uint64_t n)
{
  int64_t now_ns = 0;
  uint64_t state = 42;

  add_definitions (making);
  add_lanes (making);
  for (uint64_t i = 0; i < n; i++)
    {
      const uint64_t random = draw (&state);
      now_ns = making->shape->n_streams > 0 ? add_operation (making, i, random, now_ns)
                                            : add_switch (making, i, random, now_ns);
      if (lns_writer_waiting_bytes (making->writer) > 32 << 20)
        lns_writer_commit (making->writer, now_ns, NULL);
    }
  for (uint32_t i = 0; making->shape->n_depths > 1 && i < making->shape->n_depths; i++)
    lns_writer_append (making->writer, making->ranges[i],
                       &(LnsEvent){ .start_ns = i,
                                    .duration_ns = now_ns - 2 * (int64_t)i,
                                    .name = making->range_names[0] });
  lns_writer_finish (making->writer, LNS_STATE_COMPLETE, now_ns, NULL);
}

static double
seconds (clockid_t clock)
{
  struct timespec now;
  clock_gettime (clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

typedef struct
{
  LnsTables *tables;
  atomic_bool cancel;
  double ended;
} Run;

static void *
run (void *data)
{
  Run *self = data;
  const LnsWhyOptions options = { .span = lns_filter_span (lns_tables_report (self->tables)) };

  lns_why_free (lns_why_run (self->tables, &options, &self->cancel, NULL));
  self->ended = seconds (CLOCK_MONOTONIC);
  return NULL;
}

/* How long TABLES' answer, which takes TOTAL seconds, takes at most to stop. */
static double
longest_cancel (LnsTables *tables, double total)
{
  double longest = 0;

  for (int i = 0; i < N_CANCELS; i++)
    {
      Run self = { .tables = tables };
      pthread_t thread;
      const double wait = total * i / N_CANCELS;
      pthread_create (&thread, NULL, run, &self);
      nanosleep (&(struct timespec){ (time_t)wait, (long)((wait - (double)(time_t)wait) * 1e9) },
                 NULL);
      const double asked = seconds (CLOCK_MONOTONIC);
      atomic_store (&self.cancel, true);
      pthread_join (thread, NULL);
      longest = self.ended - asked > longest ? self.ended - asked : longest;
    }
  return longest;
}

int
main (int argc, char **argv)
{
  Making making = { 0 };
  LnsError error = { 0 };
  char path[4096];
  struct rusage usage;

  for (size_t i = 0; argc > 2 && i < sizeof shapes / sizeof *shapes; i++)
    if (strcmp (shapes[i].name, argv[2]) == 0)
      making.shape = &shapes[i];
  if (making.shape == NULL)
    {
      fprintf (stderr, "usage: why-bench FOLDER SHAPE [EVENTS]\n");
      return 1;
    }
  snprintf (path, sizeof path, "%s/why-bench.rep", argv[1]);
  /* In a process of its own, whose memory does not count. */
  const pid_t writer = fork ();
  int code = 1;
  if (writer == 0)
    {
      making.writer = lns_writer_create (path, &(LnsWriterOptions){ .overwrite = true }, &error);
      if (making.writer == NULL)
        return 1;
      write_report (&making, argc > 3 ? strtoull (argv[3], NULL, 10) : 1000000);
      _exit (0);
    }
  if (writer < 0 || waitpid (writer, &code, 0) < 0 || code != 0)
    {
      fprintf (stderr, "why-bench: %s cannot be written\n", path);
      return 1;
    }
  LnsReport *report = lns_report_open (path, NULL, &error);
  LnsTables *tables = report != NULL ? lns_tables_new (report, &error) : NULL;
  if (tables == NULL)
    {
      fprintf (stderr, "why-bench: %s\n", error.message);
      return 1;
    }
  Run self = { .tables = tables };
  const double wall = seconds (CLOCK_MONOTONIC), cpu = seconds (CLOCK_PROCESS_CPUTIME_ID);
  run (&self);
  const double cpu_s = seconds (CLOCK_PROCESS_CPUTIME_ID) - cpu, wall_s = self.ended - wall;
  getrusage (RUSAGE_SELF, &usage);
  const double cancel_s = longest_cancel (tables, wall_s);
  printf ("{\"shape\": \"%s\", \"events\": %llu, \"why_s\": %.2f, \"cancel_ms\": %.0f, "
          "\"most_mb\": %ld}\n",
          making.shape->name, (unsigned long long)lns_report_info (report)->n_events, cpu_s,
          cancel_s * 1e3, usage.ru_maxrss >> 10);
  lns_tables_free (tables);
  lns_report_close (report);
  return 0;
}
