/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes a report of a program that uses two GPUs, whose every event follows from the rules below:
 *
 *   known-cuda OUT.rep [STEPS]      STEPS steps of 1.2 ms (1,000)
 *
 * Step i begins at i × 1.2 ms. Its kernels 0–9 last 512, 256, … 1 µs on the default stream (7) of GPU
 * 0, one after the other from 100 µs on; then copies of 20 µs to the device, of 10 µs back, and a
 * memset of 5 µs. Another kernel runs 400 µs on stream 14, from 600 µs on: beside them. GPU 1 has two
 * contexts; in the first one, 100 kernels of one name each run one after the other in the first step, begun
 * by one call, the last of all.
 * Call k of a step begins at k × 10 µs and lasts 6, those of the copies and the memset begin at 110, 120
 * and 130 µs. The range "step i" is around all of them, "forward" in it around calls 1–8, from 5 to 95 µs,
 * and in the domain "io" the red range "move" around the copies' and memset's, from 105 to 140 µs.
 * Another thread, "loader", has a range and calls nothing.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/store/write/writer.h"
#include "tests/ui/known-cuda.h"

#define RUNTIME       (UINT64_C (1) << 32)
#define CUDART_DEVICE (5u << 16) /* NVTX_RESOURCE_TYPE_CUDART_DEVICE */

static LnsWriter *writer;
static uint32_t the_process, the_thread;

static uint32_t
string (const char *text)
{
  return lns_writer_string (writer, text, strlen (text));
}

static uint32_t
device (uint32_t number, const char *bus)
{
  return lns_writer_add_device (writer, &(LnsCudaDevice){ .process = the_process,
                                                          .number = number,
                                                          .name = string ("Tesla V100-SXM2-32GB"),
                                                          .bus = string (bus),
                                                          .compute_major = 7,
                                                          .n_multiprocessors = 80,
                                                          .threads_per_warp = 32,
                                                          .max_warps_per_sm = 64,
                                                          .max_registers_per_sm = 65536,
                                                          .max_shared_per_sm = 98304,
                                                          .max_blocks_per_sm = 32 });
}

static uint32_t
context (uint32_t of, uint32_t number, uint32_t null_stream)
{
  return lns_writer_add_context (
      writer, &(LnsCudaContext){ .device = of, .number = number, .null_stream = null_stream });
}

static uint32_t
stream (uint32_t of, uint32_t number, const char *name)
{
  return lns_writer_add_stream (
      writer, &(LnsCudaStream){ .context = of, .number = number, .name = string (name) });
}

static uint32_t
track (LnsTrackKind kind, uint32_t thread, uint32_t on, uint32_t in)
{
  return lns_writer_add_track (writer, &(LnsTrack){ .kind = kind,
                                                    .process = the_process,
                                                    .thread = thread,
                                                    .domain = LNS_ID_NONE,
                                                    .device = on,
                                                    .stream = in });
}

static uint32_t
lane (uint32_t on, uint32_t ordinal, LnsLaneKind kind)
{
  return lns_writer_add_lane (writer, &(LnsLane){ on, ordinal, kind });
}

static uint32_t
gpu_lane (LnsTrackKind kind, uint32_t on, uint32_t in, LnsLaneKind lane_kind)
{
  return lane (track (kind, LNS_ID_NONE, on, in), 0, lane_kind);
}

static LnsEvent
event (int64_t start_ns, int64_t duration_ns, const char *name)
{
  return (LnsEvent){ .start_ns = start_ns, .duration_ns = duration_ns, .name = string (name) };
}

static void
set (LnsEvent *it, LnsLaneKind kind, LnsColumnId column, uint64_t value)
{
  it->extra[lns_lane_kind_extra (kind, column)] = value;
}

/* --- What a step does ------------------------------------------------------------------------ */

typedef struct
{
  uint32_t api, driver, sync, kernels, copies, sets, side, ranges, inner, io, events, graphs, usage,
      cublas;
} Lanes;

static uint32_t launches[LNS_KNOWN_KERNELS];

static void
call (const Lanes *lanes,
      int64_t start_ns,
      int64_t duration_ns,
      const char *name,
      uint64_t id,
      uint64_t returned)
{
  LnsEvent it = event (start_ns, duration_ns, name);
  set (&it, LNS_LANE_CUDA_API, LNS_COLUMN_CORRELATION, id);
  set (&it, LNS_LANE_CUDA_API, LNS_COLUMN_CALLBACK, RUNTIME | 211);
  set (&it, LNS_LANE_CUDA_API, LNS_COLUMN_RETURN_VALUE, returned);
  lns_writer_append (writer, lanes->api, &it);
}

static void
launch (const Lanes *lanes, int64_t step_ns, int at, uint64_t id)
{
  call (lanes, step_ns + at * 10 * LNS_KNOWN_US, 6 * LNS_KNOWN_US, "cudaLaunchKernel_v7000", id,
        id == 1 ? 2 : 0);
  LnsEvent inner =
      event (step_ns + at * 10 * LNS_KNOWN_US + LNS_KNOWN_US, 4 * LNS_KNOWN_US, "cuLaunchKernel");
  set (&inner, LNS_LANE_CUDA_API, LNS_COLUMN_CORRELATION, id);
  lns_writer_append (writer, lanes->driver, &inner);
}

static void
kernel (uint32_t on, int64_t start_ns, int64_t duration_ns, int which, uint64_t id)
{
  LnsEvent it = event (start_ns, duration_ns, lns_known_kernels[which].name);
  set (&it, LNS_LANE_CUDA_KERNEL, LNS_COLUMN_CORRELATION, id);
  set (&it, LNS_LANE_CUDA_KERNEL, LNS_COLUMN_LAUNCH, launches[which]);
  lns_writer_append (writer, on, &it);
}

static void
copy (uint32_t on,
      int64_t start_ns,
      int64_t us,
      const char *name,
      uint64_t kind,
      uint64_t kinds,
      uint64_t id)
{
  LnsEvent it = event (start_ns, us * LNS_KNOWN_US, name);
  set (&it, LNS_LANE_CUDA_MEMCPY, LNS_COLUMN_CORRELATION, id);
  set (&it, LNS_LANE_CUDA_MEMCPY, LNS_COLUMN_BYTES, (uint64_t)us * 12000);
  set (&it, LNS_LANE_CUDA_MEMCPY, LNS_COLUMN_COPY_KIND, kind);
  set (&it, LNS_LANE_CUDA_MEMCPY, LNS_COLUMN_MEMORY_KINDS, kinds);
  set (&it, LNS_LANE_CUDA_MEMCPY, LNS_COLUMN_COPY_COUNT, 1);
  lns_writer_append (writer, on, &it);
}

static void
step_memory (const Lanes *lanes, int64_t step_ns, uint64_t id)
{
  call (lanes, step_ns + 110 * LNS_KNOWN_US, 8 * LNS_KNOWN_US, "cudaMemcpyAsync", id, 0);
  call (lanes, step_ns + 120 * LNS_KNOWN_US, 8 * LNS_KNOWN_US, "cudaMemcpyAsync", id + 1, 0);
  call (lanes, step_ns + 130 * LNS_KNOWN_US, 5 * LNS_KNOWN_US, "cudaMemsetAsync", id + 2, 0);
  copy (lanes->copies, step_ns + 1130 * LNS_KNOWN_US, 20, "[CUDA memcpy HtoD]", 1, 2 | 3 << 8, id);
  copy (lanes->copies, step_ns + 1152 * LNS_KNOWN_US, 10, "[CUDA memcpy DtoH]", 2, 3 | 1 << 8,
        id + 1);
  LnsEvent clear = event (step_ns + 1164 * LNS_KNOWN_US, 5 * LNS_KNOWN_US, "[CUDA memset]");
  set (&clear, LNS_LANE_CUDA_MEMSET, LNS_COLUMN_CORRELATION, id + 2);
  set (&clear, LNS_LANE_CUDA_MEMSET, LNS_COLUMN_BYTES, 1 << 20);
  set (&clear, LNS_LANE_CUDA_MEMSET, LNS_COLUMN_SET_VALUE, 255);
  set (&clear, LNS_LANE_CUDA_MEMSET, LNS_COLUMN_MEMORY_KINDS, 3);
  lns_writer_append (writer, lanes->sets, &clear);
}

static void
step (const Lanes *lanes, int64_t i)
{
  const int64_t at_ns = i * LNS_KNOWN_STEP_NS;
  const uint64_t first_id = (uint64_t)i * LNS_KNOWN_IDS + 1;
  int64_t start_ns = at_ns + 100 * LNS_KNOWN_US;
  char text[32];
  snprintf (text, sizeof text, "step %d", (int)i);
  LnsEvent range = event (at_ns, 1190 * LNS_KNOWN_US, text);
  lns_writer_append (writer, lanes->ranges, &range);
  LnsEvent forward = event (at_ns + 5 * LNS_KNOWN_US, 90 * LNS_KNOWN_US, "forward");
  lns_writer_append (writer, lanes->inner, &forward);
  LnsEvent move = event (at_ns + 105 * LNS_KNOWN_US, 35 * LNS_KNOWN_US, "move");
  set (&move, LNS_LANE_NVTX_PUSH_POP, LNS_COLUMN_COLOR, LNS_KNOWN_RED);
  lns_writer_append (writer, lanes->io, &move);
  for (int k = 0; k < 10; k++)
    {
      launch (lanes, at_ns, k, first_id + (uint64_t)k);
      kernel (lanes->kernels, start_ns, (512 >> k) * LNS_KNOWN_US, k, first_id + (uint64_t)k);
      start_ns += (512 >> k) * LNS_KNOWN_US;
    }
  launch (lanes, at_ns, 10, first_id + 10);
  kernel (lanes->side, at_ns + 600 * LNS_KNOWN_US, 400 * LNS_KNOWN_US, 10, first_id + 10);
  step_memory (lanes, at_ns, first_id + 11);

  LnsEvent gemm = event (at_ns + 20 * LNS_KNOWN_US, 30 * LNS_KNOWN_US, "cublasSgemm_v2");
  lns_writer_append (writer, lanes->cublas, &gemm);
  call (lanes, at_ns + 150 * LNS_KNOWN_US, 1020 * LNS_KNOWN_US, "cudaStreamSynchronize",
        first_id + 14, 0);
  LnsEvent wait = event (at_ns + 152 * LNS_KNOWN_US, 1017 * LNS_KNOWN_US, "Stream sync");
  set (&wait, LNS_LANE_CUDA_SYNC, LNS_COLUMN_CORRELATION, first_id + 14);
  set (&wait, LNS_LANE_CUDA_SYNC, LNS_COLUMN_SYNC_TYPE, 3);
  set (&wait, LNS_LANE_CUDA_SYNC, LNS_COLUMN_CUDA_EVENT, UINT32_MAX); /* none */
  lns_writer_append (writer, lanes->sync, &wait);
  LnsEvent mark = event (at_ns + 1125 * LNS_KNOWN_US, 0, "CUDA event");
  set (&mark, LNS_LANE_CUDA_EVENT, LNS_COLUMN_CUDA_EVENT, i == 0 ? 5 : UINT32_MAX);
  lns_writer_append (writer, lanes->events, &mark);
  LnsEvent used = event (at_ns, 0, "");
  set (&used, LNS_LANE_COUNTER, LNS_COLUMN_VALUE, (uint64_t)(1 + i % 8) << 20);
  lns_writer_append (writer, lanes->usage, &used);
  if (i % 10 == 0)
    {
      LnsEvent graph = event (at_ns + 1010 * LNS_KNOWN_US, 100 * LNS_KNOWN_US, "CUDA graph 3");
      set (&graph, LNS_LANE_CUDA_GRAPH, LNS_COLUMN_GRAPH, 3);
      set (&graph, LNS_LANE_CUDA_GRAPH, LNS_COLUMN_GRAPH_EXEC, 4);
      lns_writer_append (writer, lanes->graphs, &graph);
    }
}

/* --- The second GPU -------------------------------------------------------------------------- */

static void
write_second (const Lanes *lanes, int64_t end_ns)
{
  const uint32_t gpu = device (1, "0000:b3:00.0");
  const uint32_t first = context (gpu, 2, 7), near = stream (first, 7, "");
  const uint32_t far = stream (context (gpu, 3, 7), 21, "");
  const uint32_t on = gpu_lane (LNS_TRACK_CUDA_KERNELS, gpu, near, LNS_LANE_CUDA_KERNEL);
  int64_t start_ns = 0;
  for (int k = 0; k < 100; k++)
    {
      char name[64], short_name[32];
      snprintf (short_name, sizeof short_name, "small_%02d", k);
      snprintf (name, sizeof name, "void %s<float>(float*, int)", short_name);
      LnsEvent it = event (start_ns, (k + 1) * 100, name);
      set (&it, LNS_LANE_CUDA_KERNEL, LNS_COLUMN_CORRELATION, LNS_KNOWN_GRAPH_ID);
      set (&it, LNS_LANE_CUDA_KERNEL, LNS_COLUMN_LAUNCH,
           lns_writer_add_launch (writer, &(LnsCudaLaunch){ .short_name = string (short_name),
                                                            .grid = { 1, 1, 1 },
                                                            .block = { 32, 1, 1 } }));
      lns_writer_append (writer, on, &it);
      start_ns += (k + 1) * 100;
    }
  call (lanes, end_ns, 30 * LNS_KNOWN_US, "cudaGraphLaunch_v10000", LNS_KNOWN_GRAPH_ID, 0);
  LnsEvent wait = event (0, 40 * LNS_KNOWN_US, "Context sync");
  set (&wait, LNS_LANE_CUDA_SYNC, LNS_COLUMN_SYNC_TYPE, 4);
  set (&wait, LNS_LANE_CUDA_SYNC, LNS_COLUMN_CUDA_EVENT, UINT32_MAX); /* none */
  lns_writer_append (writer,
                     gpu_lane (LNS_TRACK_CUDA_SYNC, gpu, stream (first, 0, ""), LNS_LANE_CUDA_SYNC),
                     &wait);
  LnsEvent peer = event (0, 50 * LNS_KNOWN_US, "[CUDA memcpy PtoP]");
  set (&peer, LNS_LANE_CUDA_MEMCPY, LNS_COLUMN_COPY_KIND, 10);
  set (&peer, LNS_LANE_CUDA_MEMCPY, LNS_COLUMN_BYTES, 1000000);
  set (&peer, LNS_LANE_CUDA_MEMCPY, LNS_COLUMN_MEMORY_KINDS, 3 | 3 << 8);
  set (&peer, LNS_LANE_CUDA_MEMCPY, LNS_COLUMN_PEERS,
       UINT64_C (2) << 8 | UINT64_C (1) << 32 | UINT64_C (3) << 40);
  lns_writer_append (writer, gpu_lane (LNS_TRACK_CUDA_MEMCPY, gpu, far, LNS_LANE_CUDA_MEMCPY),
                     &peer);
}

/* --- The report ------------------------------------------------------------------------------ */

static uint32_t
thread (const char *name, int tid)
{
  return lns_writer_add_thread (writer, &(LnsThread){ .process = the_process,
                                                      .tid = tid,
                                                      .target_tid = tid,
                                                      .name = string (name),
                                                      .start_ns = LNS_TIME_UNKNOWN,
                                                      .end_ns = LNS_TIME_UNKNOWN });
}

static uint32_t
usage_track (uint32_t on)
{
  return lns_writer_add_track (writer, &(LnsTrack){ .kind = LNS_TRACK_COUNTER,
                                                    .process = the_process,
                                                    .thread = LNS_ID_NONE,
                                                    .domain = LNS_ID_NONE,
                                                    .name = string ("Device memory"),
                                                    .value_type = LNS_PAYLOAD_UINT64,
                                                    .unit = string ("B"),
                                                    .device = on,
                                                    .stream = LNS_ID_NONE });
}

static uint32_t
io_track (void)
{
  const LnsDomain domain = { .process = the_process,
                             .number = 1,
                             .name = string ("io"),
                             .created_ns = LNS_TIME_UNKNOWN,
                             .destroyed_ns = LNS_TIME_UNKNOWN,
                             .thread = the_thread };
  const uint32_t io = lns_writer_add_domain (writer, &domain);
  lns_writer_add_resource (writer, &(LnsResource){ .domain = io,
                                                   .type = CUDART_DEVICE,
                                                   .identifier = 1,
                                                   .name = string ("second"),
                                                   .created_ns = LNS_TIME_UNKNOWN,
                                                   .destroyed_ns = LNS_TIME_UNKNOWN });
  return lns_writer_add_track (writer, &(LnsTrack){ .kind = LNS_TRACK_NVTX_RANGES,
                                                    .process = the_process,
                                                    .thread = the_thread,
                                                    .domain = io,
                                                    .device = LNS_ID_NONE,
                                                    .stream = LNS_ID_NONE });
}

static void
write_cuda (int64_t n_steps)
{
  the_process = lns_writer_add_process (writer, &(LnsProcess){ .pid = 5001,
                                                               .target_pid = 5001,
                                                               .parent = LNS_ID_NONE,
                                                               .name = string ("train"),
                                                               .start_ns = LNS_TIME_UNKNOWN,
                                                               .end_ns = LNS_TIME_UNKNOWN });
  the_thread = thread ("train", 5001);
  for (int k = 0; k < LNS_KNOWN_KERNELS; k++)
    launches[k] = lns_writer_add_launch (
        writer, &(LnsCudaLaunch){ .short_name = string (lns_known_kernels[k].short_name),
                                  .mangled_name = string (lns_known_kernels[k].short_name),
                                  .grid = { 80u << k % 4, 2, 1 },
                                  .block = { 256, 1, 1 },
                                  .registers = 32 + 8 * (uint32_t)k,
                                  .static_shared_bytes = 4096,
                                  .dynamic_shared_bytes = 1024 });
  const uint32_t gpu = device (0, "0000:b2:00.0"), ctx = context (gpu, 1, 7);
  const uint32_t main_stream = stream (ctx, 7, ""), side = stream (ctx, 14, "side");
  const uint32_t ranges = track (LNS_TRACK_NVTX_RANGES, the_thread, LNS_ID_NONE, LNS_ID_NONE);
  const uint32_t api = track (LNS_TRACK_CUDA_API, the_thread, LNS_ID_NONE, LNS_ID_NONE);
  const Lanes lanes = {
    .api = lane (api, 0, LNS_LANE_CUDA_API),
    .driver = lane (api, 1, LNS_LANE_CUDA_API),
    .ranges = lane (ranges, 0, LNS_LANE_NVTX_PUSH_POP),
    .inner = lane (ranges, 1, LNS_LANE_NVTX_PUSH_POP),
    .io = lane (io_track (), 0, LNS_LANE_NVTX_PUSH_POP),
    .cublas = lane (track (LNS_TRACK_CUBLAS, the_thread, LNS_ID_NONE, LNS_ID_NONE), 0,
                    LNS_LANE_LIBRARY_CALL),
    .kernels = gpu_lane (LNS_TRACK_CUDA_KERNELS, gpu, main_stream, LNS_LANE_CUDA_KERNEL),
    .side = gpu_lane (LNS_TRACK_CUDA_KERNELS, gpu, side, LNS_LANE_CUDA_KERNEL),
    .copies = gpu_lane (LNS_TRACK_CUDA_MEMCPY, gpu, main_stream, LNS_LANE_CUDA_MEMCPY),
    .sets = gpu_lane (LNS_TRACK_CUDA_MEMSET, gpu, main_stream, LNS_LANE_CUDA_MEMSET),
    .sync = gpu_lane (LNS_TRACK_CUDA_SYNC, gpu, main_stream, LNS_LANE_CUDA_SYNC),
    .events = gpu_lane (LNS_TRACK_CUDA_EVENTS, gpu, main_stream, LNS_LANE_CUDA_EVENT),
    .graphs = gpu_lane (LNS_TRACK_CUDA_GRAPHS, gpu, side, LNS_LANE_CUDA_GRAPH),
    .usage = lane (usage_track (gpu), 0, LNS_LANE_COUNTER),
  };
  for (int64_t i = 0; i < n_steps; i++)
    {
      step (&lanes, i);
      LnsError error = { 0 };
      if (lns_writer_waiting_bytes (writer) > 32 << 20)
        lns_writer_commit (writer, i * LNS_KNOWN_STEP_NS, &error);
    }
  write_second (&lanes, n_steps * LNS_KNOWN_STEP_NS);
  LnsEvent load = event (0, 100 * LNS_KNOWN_US, "load");
  lns_writer_append (
      writer,
      lane (track (LNS_TRACK_NVTX_RANGES, thread ("loader", 5002), LNS_ID_NONE, LNS_ID_NONE), 0,
            LNS_LANE_NVTX_PUSH_POP),
      &load);
}

int
main (int argc, char **argv)
{
  LnsError error = { 0 };
  if (argc < 2)
    {
      fprintf (stderr, "usage: known-cuda OUT.rep [STEPS]\n");
      return 2;
    }
  int64_t n_steps = argc > 2 ? strtol (argv[2], NULL, 10) : LNS_KNOWN_STEPS;
  writer = lns_writer_create (argv[1], &(LnsWriterOptions){ .overwrite = true }, &error);
  if (writer != NULL)
    {
      write_cuda (n_steps);
      lns_writer_finish (writer, LNS_STATE_COMPLETE, n_steps * LNS_KNOWN_STEP_NS, &error);
    }
  if (error.domain != LNS_ERROR_NONE)
    fprintf (stderr, "known-cuda: %s\n", error.message);
  return error.domain != LNS_ERROR_NONE;
}
