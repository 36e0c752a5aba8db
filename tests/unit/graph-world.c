/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/unit/graph-world.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/store/write/kept-table.h"
#include "src/store/write/writer.h"
#include "tests/unit/random.h"
#include "tests/unit/report-fixture.h"

#define US INT64_C (1000)

/* What things take in all worlds. */
#define CALL_NS    (5 * US) /* a call that launches                                              */
#define LATENCY_NS (6 * US) /* from it to the start of an operation                              */
#define GAP_NS     US       /* between operations of a stream                                    */
#define RETURN_NS  (4 * US) /* from the end of what is waited for to the return of the call      */
#define WAKE_NS    (3 * US) /* from a waking to when the thread runs                             */

enum
{
  MAIN,
  LOADER,
  N_THREADS
};

typedef struct
{
  LnsWriter *writer;
  LnsKeptTableMaker *wakings;
  uint64_t random;
  World world;
  WorldChange change;
  uint32_t api, sync[2], kernels[2], events[2], ranges[N_THREADS][2], sched[N_THREADS];
  int64_t now_ns[N_THREADS], run_ns[N_THREADS]; /* the clock of a thread; since when it runs     */
  int64_t stream_ns[2]; /* when a stream is free                                                 */
  uint64_t correlation;
} Making;

static int64_t
draw (Making *making, int64_t least_ns, int64_t most_ns)
{
  return least_ns + (int64_t)(test_random (&making->random) % (uint64_t)(most_ns - least_ns));
}

static uint32_t
name_of (Making *making, const char *name)
{
  return lns_writer_string (making->writer, name, strlen (name));
}

static void
append (Making *making,
        uint32_t lane,
        LnsLaneKind kind,
        const char *name,
        int64_t start_ns,
        int64_t end_ns,
        LnsColumnId column,
        uint64_t value)
{
  LnsEvent event = { .start_ns = start_ns,
                     .duration_ns = end_ns - start_ns,
                     .name = name != NULL ? name_of (making, name) : 0 };

  if (lns_lane_kind_extra (kind, LNS_COLUMN_CORRELATION) >= 0)
    event.extra[lns_lane_kind_extra (kind, LNS_COLUMN_CORRELATION)] = making->correlation;
  if (column != 0)
    event.extra[lns_lane_kind_extra (kind, column)] = value;
  lns_writer_append (making->writer, lane, &event);
}

/* --- Threads ---------------------------------------------------------------------------------- */

static void
push_sched (
    Making *making, int thread, int64_t start_ns, int64_t end_ns, bool is_in, uint64_t remainder)
{
  LnsEvent event = { .start_ns = start_ns, .duration_ns = end_ns - start_ns };

  event.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_SCHED_IN)] = is_in;
  event.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_THREAD_STATE)] = is_in ? 0 : 2;
  event.extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_REMAINDER)] = remainder;
  lns_writer_append (making->writer, making->sched[thread], &event);
}

static uint64_t remainder_of[N_THREADS]; /* who had the thread run that runs now                  */

/* THREAD leaves its CPU, and runs again at UNTIL_NS, as WAKER had it go on shortly before; LNS_ID_NONE: nobody. */
static void
block (Making *making, int thread, int64_t until_ns, int waker)
{
  push_sched (making, thread, making->run_ns[thread], making->now_ns[thread], true,
              remainder_of[thread]);
  push_sched (making, thread, making->now_ns[thread], making->now_ns[thread], false, 0);
  making->now_ns[thread] = making->run_ns[thread] = until_ns;
  remainder_of[thread] = 0;
  if (waker >= 0)
    remainder_of[thread] = lns_kept_table_maker_remainder (
        making->wakings, (LnsKeptValue[]){ { .type = LNS_KEPT_INTEGER,
                                             .integer = (INT64_C (10) << 24) + 10 + waker },
                                           { .type = LNS_KEPT_INTEGER, .integer = WAKE_NS } });
}

/* THREAD computes for NS in a range called NAME. */
static void
compute (Making *making, int thread, const char *name, int64_t ns)
{
  const int64_t start_ns = making->now_ns[thread];

  making->now_ns[thread] += ns;
  append (making, making->ranges[thread][1], LNS_LANE_NVTX_PUSH_POP, name, start_ns,
          making->now_ns[thread], 0, 0);
}

/* --- The GPU ---------------------------------------------------------------------------------- */

/* Launches a kernel of NS into STREAM, which is not to begin before AFTER_NS. Returns when it ends. */
static int64_t
launch (Making *making, int stream, const char *name, int64_t ns, int64_t after_ns)
{
  const int64_t call_ns = making->now_ns[MAIN];
  int64_t start_ns = call_ns + LATENCY_NS;

  making->correlation++;
  append (making, making->api, LNS_LANE_CUDA_API, "cudaLaunchKernel_v7000", call_ns,
          call_ns + CALL_NS, 0, 0);
  making->now_ns[MAIN] += CALL_NS;
  if (making->stream_ns[stream] > 0 && making->stream_ns[stream] + GAP_NS > start_ns)
    start_ns = making->stream_ns[stream] + GAP_NS;
  if (after_ns + GAP_NS > start_ns)
    start_ns = after_ns + GAP_NS;
  if (strcmp (name, "a") == 0)
    ns = (int64_t)((double)ns * making->change.kernel_a);
  making->stream_ns[stream] = start_ns + ns;
  append (making, making->kernels[stream], LNS_LANE_CUDA_KERNEL, name, start_ns, start_ns + ns, 0,
          0);
  return start_ns + ns;
}

/* The launching thread waits until stream 0 is done. */
static void
synchronize (Making *making)
{
  const int64_t call_ns = making->now_ns[MAIN];
  int64_t end_ns = call_ns + 2 * US;

  if (making->stream_ns[0] + RETURN_NS > end_ns)
    end_ns = making->stream_ns[0] + RETURN_NS;
  making->correlation++;
  append (making, making->api, LNS_LANE_CUDA_API, "cudaStreamSynchronize_v3020", call_ns, end_ns, 0,
          0);
  append (making, making->sync[0], LNS_LANE_CUDA_SYNC, NULL, call_ns, end_ns, LNS_COLUMN_SYNC_TYPE,
          3);
  making->now_ns[MAIN] = end_ns;
}

/* Stream 1 is to wait for what stream 0 has done so far: an event is recorded, and waited for. */
static void
join_streams (Making *making, int64_t done_ns)
{
  const int64_t call_ns = making->now_ns[MAIN];
  LnsEvent wait = { .start_ns = call_ns + CALL_NS, .duration_ns = US };

  making->correlation++;
  append (making, making->api, LNS_LANE_CUDA_API, "cudaEventRecord_v3020", call_ns,
          call_ns + CALL_NS, 0, 0);
  append (making, making->events[0], LNS_LANE_CUDA_EVENT, NULL, done_ns, done_ns,
          LNS_COLUMN_CUDA_EVENT, 7);
  making->correlation++;
  append (making, making->api, LNS_LANE_CUDA_API, "cudaStreamWaitEvent_v3020", call_ns + CALL_NS,
          call_ns + CALL_NS + US, 0, 0);
  wait.extra[lns_lane_kind_extra (LNS_LANE_CUDA_SYNC, LNS_COLUMN_SYNC_TYPE)] = 2;
  wait.extra[lns_lane_kind_extra (LNS_LANE_CUDA_SYNC, LNS_COLUMN_CUDA_EVENT)] = 7;
  wait.extra[lns_lane_kind_extra (LNS_LANE_CUDA_SYNC, LNS_COLUMN_CORRELATION)] =
      making->correlation;
  lns_writer_append (making->writer, making->sync[1], &wait);
  making->now_ns[MAIN] += CALL_NS + US;
}

/* --- A world ---------------------------------------------------------------------------------- */

static uint32_t
add_lane (Making *making,
          LnsTrackKind track,
          LnsLaneKind kind,
          uint32_t thread,
          uint32_t stream,
          uint32_t depth)
{
  static uint32_t last;

  if (depth == 0)
    last = lns_writer_add_track (
        making->writer, &(LnsTrack){ .kind = track,
                                     .process = 0,
                                     .thread = thread,
                                     .domain = track == LNS_TRACK_NVTX_RANGES ? 0 : LNS_ID_NONE,
                                     .device = LNS_ID_NONE,
                                     .stream = stream });
  return lns_writer_add_lane (making->writer, &(LnsLane){ last, depth, kind });
}

static void
add_all (Making *making)
{
  static const LnsKeptColumn columns[] = { { "wakerTid", "INTEGER", false },
                                           { "wakeLatency", "INTEGER", false } };

  making->wakings = lns_kept_table_maker_new (making->writer, "SCHED_EVENTS", columns, 2, true);
  lns_writer_add_process (making->writer, &(LnsProcess){ .pid = 10,
                                                         .parent = LNS_ID_NONE,
                                                         .start_ns = LNS_TIME_UNKNOWN,
                                                         .end_ns = LNS_TIME_UNKNOWN });
  lns_writer_add_domain (making->writer, &(LnsDomain){ .thread = 0 });
  lns_writer_add_device (making->writer, &(LnsCudaDevice){ .process = 0 });
  lns_writer_add_context (making->writer, &(LnsCudaContext){ .device = 0 });
  for (uint32_t i = 0; i < N_THREADS; i++)
    {
      lns_writer_add_thread (making->writer, &(LnsThread){ .process = 0,
                                                           .tid = 10 + (int32_t)i,
                                                           .start_ns = LNS_TIME_UNKNOWN,
                                                           .end_ns = LNS_TIME_UNKNOWN });
      making->sched[i] = add_lane (making, LNS_TRACK_SCHED, LNS_LANE_SCHED, i, LNS_ID_NONE, 0);
      for (uint32_t depth = 0; depth < 2; depth++)
        making->ranges[i][depth] =
            add_lane (making, LNS_TRACK_NVTX_RANGES, LNS_LANE_NVTX_PUSH_POP, i, LNS_ID_NONE, depth);
    }
  making->api = add_lane (making, LNS_TRACK_CUDA_API, LNS_LANE_CUDA_API, MAIN, LNS_ID_NONE, 0);
  for (uint32_t i = 0; i < 2; i++)
    {
      lns_writer_add_stream (making->writer, &(LnsCudaStream){ .context = 0, .number = 7 + i });
      making->kernels[i] =
          add_lane (making, LNS_TRACK_CUDA_KERNELS, LNS_LANE_CUDA_KERNEL, LNS_ID_NONE, i, 0);
      making->sync[i] =
          add_lane (making, LNS_TRACK_CUDA_SYNC, LNS_LANE_CUDA_SYNC, LNS_ID_NONE, i, 0);
      making->events[i] =
          add_lane (making, LNS_TRACK_CUDA_EVENTS, LNS_LANE_CUDA_EVENT, LNS_ID_NONE, i, 0);
    }
}

/* When the loader has done step I. It begins when it is done with the one before, and the launching thread has taken the one before that;
 * where it has to wait, that thread, which takes it at TAKEN_NS, has it go on. */
static int64_t
load_step (Making *making, unsigned i, const int64_t *taken_ns, int64_t ns)
{
  if (i >= 2 && taken_ns[i - 2] > making->now_ns[LOADER])
    block (making, LOADER, taken_ns[i - 2] + WAKE_NS, MAIN);
  compute (making, LOADER, "load", ns);
  return making->now_ns[LOADER];
}

/* The launching thread has what is loaded for step I. */
static void
take_step (Making *making, unsigned i, int64_t *taken_ns, int64_t ns)
{
  const int64_t ready_ns = load_step (making, i, taken_ns, ns);

  if (ready_ns > making->now_ns[MAIN])
    block (making, MAIN, ready_ns + WAKE_NS, LOADER);
  making->now_ns[MAIN] += US;
  taken_ns[i] = making->now_ns[MAIN];
}

static void
run_step (Making *making, unsigned i, int64_t *taken_ns)
{
  const int64_t start_ns = making->now_ns[MAIN], load_ns = draw (making, 200 * US, 900 * US),
                prepare_ns = draw (making, 20 * US, 200 * US);
  const int64_t changed_ns = (int64_t)((double)load_ns * making->change.load);
  const unsigned n_kernels = 2 + (unsigned)(i % 5);
  int64_t done_ns = 0;

  if (making->world.has_loader || making->change.other_thread)
    take_step (making, i, taken_ns, changed_ns);
  else
    compute (making, MAIN, "load", changed_ns);
  compute (making, MAIN, "prepare", prepare_ns);
  for (unsigned k = 0; k < n_kernels; k++)
    {
      const int64_t a_ns = draw (making, 20 * US, 300 * US),
                    b_ns = draw (making, 10 * US, 120 * US);
      done_ns = launch (making, 0, "a", a_ns, 0);
      making->now_ns[MAIN] += 2 * US;
      if (making->world.has_second_stream && k % 2 == 0)
        {
          join_streams (making, done_ns);
          launch (making, 1, "b", b_ns, done_ns);
        }
      else
        launch (making, 0, "b", b_ns, 0);
      making->now_ns[MAIN] += 3 * US;
    }
  if (making->world.has_syncs && !making->change.no_sync)
    synchronize (making);
  append (making, making->ranges[MAIN][0], LNS_LANE_NVTX_PUSH_POP, "step", start_ns,
          making->now_ns[MAIN], 0, 0);
  making->now_ns[MAIN] += US;
}

World
world_write (const char *path, uint64_t seed, const WorldChange *change)
{
  Making making = { .random = seed * UINT64_C (0x9E3779B97F4A7C15) + 1, .change = *change };
  int64_t taken_ns[WORLD_MOST_STEPS];
  LnsError error = { 0 };

  for (int i = 0; i < 4; i++)
    test_random (&making.random);
  making.world =
      (World){ .has_loader = seed % 2 == 1,
               .has_second_stream = seed / 2 % 2 == 1,
               .has_syncs = seed / 4 % 3 != 0,
               .n_steps = 20 + (unsigned)(test_random (&making.random) % (WORLD_MOST_STEPS - 20)) };
  making.writer = lns_writer_create (path, &(LnsWriterOptions){ .overwrite = true }, &error);
  if (making.writer == NULL)
    abort ();
  add_all (&making);
  memset (remainder_of, 0, sizeof remainder_of);
  for (int i = 0; i < N_THREADS; i++)
    making.now_ns[i] = making.run_ns[i] = 0;
  for (unsigned i = 0; i < making.world.n_steps; i++)
    run_step (&making, i, taken_ns);
  synchronize (&making);
  making.now_ns[MAIN] += 2 * US;
  for (int i = 0; i < N_THREADS; i++)
    if (making.now_ns[i] > making.run_ns[i])
      push_sched (&making, i, making.run_ns[i], making.now_ns[i], true, remainder_of[i]);
  making.world.length_ns = making.now_ns[MAIN];
  for (int i = 0; i < 2; i++)
    if (making.stream_ns[i] > making.world.length_ns)
      making.world.length_ns = making.stream_ns[i];
  lns_kept_table_maker_free (making.wakings);
  fixture_finish (making.writer, making.world.length_ns);
  return making.world;
}
