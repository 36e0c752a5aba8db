/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* hard-report SHAPE OUT.rep [EVENTS]: writes a report that is hard to show: operations, of which each is a range, a call
 * within it and the kernel that the call launches. SHAPE says what is hard about it:
 *
 *   rows     10,000,000 events of 16 threads and 16 streams
 *   lanes    1,000,000 events in 10,000 lanes: the ranges and calls of 4,968 threads, and 64 streams
 *   overlap  1,000,000 events, the ranges 1,000 deep above each other, the kernels in 1,000 streams at once
 *   burst    10,000,000 events, a million of them in each millisecond that is ten seconds after the one before
 *   gap      1,000,000 events with ten hours of nothing after half of them */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/store/write/writer.h"

#define N_NAMES      500
#define COMMIT_BYTES ((size_t)32 << 20)
#define PER_STEP     1000 /* operations */
#define SECOND_NS    INT64_C (1000000000)

typedef struct
{
  const char *name;
  uint64_t n_events;
  uint32_t n_threads, n_streams;
  uint32_t n_deep; /* how many ranges are open at once in a process; 0: each thread has its own */
  int64_t
      spacing_ns;   /* from one operation to the next                                            */
  uint64_t n_burst; /* operations after which there is a pause; 0: half of all                   */
  int64_t pause_ns;
} Shape;

static const Shape shapes[] = {
  { "rows", 10000000, 16, 16, 0, 3000, 300000, 20000000 },
  { "lanes", 1000000, 4968, 64, 0, 20000, 100000, 20000000 },
  { "overlap", 1000000, 16, 1000, 1000, 5000, 100000, 20000000 },
  { "burst", 10000000, 16, 16, 0, 3, 333333, 10 * SECOND_NS },
  { "gap", 1000000, 16, 16, 0, 3000, 0, 36000 * SECOND_NS },
};

typedef struct
{
  LnsWriter *writer;
  const Shape *shape;
  uint32_t *ranges, *calls, *kernels; /* lanes: of threads or depths, of threads, of streams */
  int64_t *busy_ns;                   /* of each stream: until when it has work              */
  uint32_t steps;                     /* the lane of steps, one each PER_STEP operations     */
  uint32_t call, step, names[N_NAMES];
} Making;

static uint64_t
draw (uint64_t *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* WHAT and its NUMBER as a name. */
static uint32_t
numbered (LnsWriter *writer, const char *what, uint32_t number)
{
  char text[64];
  const int length = snprintf (text, sizeof text, "%s %u", what, number);
  return lns_writer_string (writer, text, (size_t)length);
}

/* Adds the lane ORDINAL of TRACK, which is defined first if it is not yet. */
static uint32_t
add_lane (LnsWriter *writer, const LnsTrack *definition, uint32_t *track, uint32_t ordinal)
{
  if (*track == LNS_ID_NONE)
    *track = lns_writer_add_track (writer, definition);
  return lns_writer_add_lane (writer,
                              &(LnsLane){ .track = *track,
                                          .ordinal = ordinal,
                                          .kind = lns_track_kind_info (definition->kind)->lane });
}

static uint32_t
add_lone_lane (LnsWriter *writer, LnsTrackKind kind, uint32_t thread, uint32_t stream)
{
  uint32_t track = LNS_ID_NONE;
  const LnsTrack definition = { .kind = kind,
                                .thread = thread,
                                .device = stream == LNS_ID_NONE ? LNS_ID_NONE : 0,
                                .stream = stream };
  return add_lane (writer, &definition, &track, 0);
}

static void
add_ranges (Making *making)
{
  const Shape *shape = making->shape;
  uint32_t track = LNS_ID_NONE;
  const LnsTrack overlapping = { .kind = LNS_TRACK_NVTX_START_END,
                                 .thread = LNS_ID_NONE,
                                 .device = LNS_ID_NONE,
                                 .stream = LNS_ID_NONE };

  making->ranges = calloc (shape->n_deep + shape->n_threads, sizeof (uint32_t));
  for (uint32_t i = 0; i < shape->n_deep; i++)
    making->ranges[i] = add_lane (making->writer, &overlapping, &track, i);
  for (uint32_t i = 0; shape->n_deep == 0 && i < shape->n_threads; i++)
    making->ranges[i] = add_lone_lane (making->writer, LNS_TRACK_NVTX_RANGES, i, LNS_ID_NONE);
}

static void
add_definitions (Making *making)
{
  const Shape *shape = making->shape;
  LnsWriter *writer = making->writer;

  making->call = lns_writer_string (writer, "cudaLaunchKernel", 16);
  making->step = lns_writer_string (writer, "step", 4);
  for (uint32_t i = 0; i < N_NAMES; i++)
    making->names[i] = numbered (writer, "gemm of layer", i);
  lns_writer_add_process (writer, &(LnsProcess){ .pid = 100,
                                                 .parent = LNS_ID_NONE,
                                                 .name = lns_writer_string (writer, "train", 5) });
  lns_writer_add_domain (writer, &(LnsDomain){ .thread = 0 });
  lns_writer_add_device (writer, &(LnsCudaDevice){ .number = 0 });
  lns_writer_add_context (writer, &(LnsCudaContext){ .number = 1 });
  lns_writer_add_launch (writer, &(LnsCudaLaunch){ .grid = { 1, 1, 1 } });
  making->calls = calloc (shape->n_threads, sizeof (uint32_t));
  making->kernels = calloc (shape->n_streams, sizeof (uint32_t));
  making->busy_ns = calloc (shape->n_streams, sizeof (int64_t));
  for (uint32_t i = 0; i <= shape->n_threads; i++)
    lns_writer_add_thread (
        writer, &(LnsThread){ .tid = 100 + (int32_t)i, .name = numbered (writer, "worker", i) });
  for (uint32_t i = 0; i < shape->n_streams; i++)
    lns_writer_add_stream (writer, &(LnsCudaStream){ .number = 7 + i });
  add_ranges (making);
  for (uint32_t i = 0; i < shape->n_threads; i++)
    making->calls[i] = add_lone_lane (writer, LNS_TRACK_CUDA_API, i, LNS_ID_NONE);
  for (uint32_t i = 0; i < shape->n_streams; i++)
    making->kernels[i] = add_lone_lane (writer, LNS_TRACK_CUDA_KERNELS, LNS_ID_NONE, i);
  making->steps = add_lone_lane (writer, LNS_TRACK_NVTX_RANGES, shape->n_threads, LNS_ID_NONE);
}

/* Operation I at NOW_NS. Times are parts of the time until the operation that uses the same lane again, so that nothing
 * is moved; kernels wait for their stream. */
static void
add_operation (Making *making, uint64_t i, uint64_t random, int64_t now_ns)
{
  const Shape *shape = making->shape;
  const uint32_t thread = (uint32_t)(i % shape->n_threads),
                 stream = (uint32_t)(i % shape->n_streams), name = making->names[random % N_NAMES],
                 range = shape->n_deep > 0 ? (uint32_t)(i % shape->n_deep) : thread;
  const int64_t turn_ns = shape->spacing_ns * shape->n_threads,
                deep_ns =
                    shape->spacing_ns * (shape->n_deep > 0 ? shape->n_deep : shape->n_threads);
  LnsEvent event = { .start_ns = now_ns,
                     .duration_ns = deep_ns * (int64_t)(50 + random % 45) / 100,
                     .name = name };

  lns_writer_append (making->writer, making->ranges[range], &event);
  event = (LnsEvent){ .start_ns = now_ns + turn_ns / 10,
                      .duration_ns = turn_ns * (int64_t)(10 + (random >> 16) % 30) / 100,
                      .name = making->call };
  const int64_t launched_ns = event.start_ns + event.duration_ns;
  event.extra[lns_lane_kind_extra (LNS_LANE_CUDA_API, LNS_COLUMN_CORRELATION)] = i + 1;
  lns_writer_append (making->writer, making->calls[thread], &event);
  event = (LnsEvent){
    .start_ns = making->busy_ns[stream] > launched_ns ? making->busy_ns[stream] : launched_ns,
    .duration_ns = shape->spacing_ns * shape->n_streams * (int64_t)(20 + (random >> 32) % 70) / 100,
    .name = name
  };
  event.extra[lns_lane_kind_extra (LNS_LANE_CUDA_KERNEL, LNS_COLUMN_CORRELATION)] = i + 1;
  lns_writer_append (making->writer, making->kernels[stream], &event);
  making->busy_ns[stream] = event.start_ns + event.duration_ns;
}

static bool
write_report (Making *making, uint64_t n_events, LnsError *error)
{
  const Shape *shape = making->shape;
  const uint64_t n = n_events / 3, n_burst = shape->n_burst > 0 ? shape->n_burst : (n + 1) / 2;
  int64_t now_ns = 0, step_ns = 0;
  uint64_t state = 42;

  add_definitions (making);
  for (uint64_t i = 0; i < n; i++)
    {
      add_operation (making, i, draw (&state), now_ns);
      now_ns += shape->spacing_ns;
      if ((i + 1) % PER_STEP == 0)
        {
          lns_writer_append (making->writer, making->steps,
                             &(LnsEvent){ .start_ns = step_ns,
                                          .duration_ns = now_ns - step_ns,
                                          .name = making->step });
          step_ns = now_ns;
        }
      if ((i + 1) % n_burst == 0)
        now_ns += shape->pause_ns;
      if (lns_writer_waiting_bytes (making->writer) > COMMIT_BYTES &&
          !lns_writer_commit (making->writer, now_ns, error))
        return false;
    }
  return lns_writer_finish (making->writer, LNS_STATE_COMPLETE, now_ns + SECOND_NS / 1000, error);
}

int
main (int argc, char **argv)
{
  Making making = { 0 };
  LnsError error = { 0 };

  for (size_t i = 0; argc > 2 && i < sizeof shapes / sizeof *shapes; i++)
    if (strcmp (shapes[i].name, argv[1]) == 0)
      making.shape = &shapes[i];
  if (making.shape == NULL)
    {
      fprintf (stderr, "usage: hard-report rows|lanes|overlap|burst|gap OUT.rep [EVENTS]\n");
      return 2;
    }
  making.writer = lns_writer_create (argv[2], &(LnsWriterOptions){ .overwrite = true }, &error);
  if (making.writer == NULL ||
      !write_report (&making, argc > 3 ? strtoull (argv[3], NULL, 10) : making.shape->n_events,
                     &error))
    {
      fprintf (stderr, "hard-report: %s\n", error.message);
      return 1;
    }
  return 0;
}
