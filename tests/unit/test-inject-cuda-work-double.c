/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests graphs, memory, events and devices on the double: each option must record what it names. */

#include "tests/tap.h"
#include "tests/unit/cuda-fixture.h"

#include <cupti.h>
#include <unistd.h>

static LnsWireOptions
ask (uint32_t options)
{
  return (LnsWireOptions){ .traces = LNS_WIRE_TRACE_CUDA, .cuda = options };
}

/* --- Scenes. --------------------------------------------------------------------------------- */

#define N_LAUNCHES 5

/* A captured graph of a set and two kernels, launched N_LAUNCHES times; a kernel outside of it. */
static int
scene_graph (void)
{
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  void *memory;
  cuda_start ();
  cuda.cudaMalloc (&memory, 4096);
  cuda.cudaStreamCreate (&stream);
  cuda.cudaStreamBeginCapture (stream, cudaStreamCaptureModeGlobal);
  cuda_launch (1, false, 2, 256, stream);
  cuda_launch (1, true, 4, 128, stream);
  if (cuda.cudaStreamEndCapture (stream, &graph) != cudaSuccess ||
      cuda.cudaGraphInstantiate (&exec, graph, 0) != cudaSuccess)
    return 1;
  for (int i = 0; i < N_LAUNCHES; i++)
    if (cuda.cudaGraphLaunch (exec, stream) != cudaSuccess)
      return 2;
  cuda_launch (1, false, 8, 32, stream);
  return cuda.cudaStreamSynchronize (stream) == cudaSuccess ? 0 : 3;
}

static int
scene_memory (void)
{
  void *memory, *pooled;
  cuda_start ();
  cuda.cudaMalloc (&memory, 1 << 20);
  cuda.cudaMemset (memory, 0x5a, 1 << 20);
  cuda.cudaMallocAsync (&pooled, 4096, NULL);
  cuda.cudaFreeAsync (pooled, NULL);
  cuda.cudaFree (memory);
  return cuda.cudaDeviceSynchronize () == cudaSuccess ? 0 : 1;
}

static int
scene_managed (void)
{
  char *memory;
  cuda_start ();
  cuda.cudaMallocManaged ((void **)&memory, 1 << 20, cudaMemAttachGlobal);
  memory[0] = 1;
  cuda.cudaMemset (memory, 0, 1 << 20);
  cuda_launch (1, false, 4, 64, NULL);
  cuda.cudaDeviceSynchronize ();
  memory[0] = 2;
  cuda.cudaFree (memory);
  return 0;
}

/* From the host to device 0, from there to device 1, and back to the host. */
static int
scene_migrations (void)
{
  static const struct cudaMemLocation places[] = { { .type = cudaMemLocationTypeDevice, .id = 0 },
                                                   { .type = cudaMemLocationTypeDevice, .id = 1 },
                                                   { .type = cudaMemLocationTypeHost, .id = 0 } };
  char *memory;
  cuda_start ();
  cuda.cudaMallocManaged ((void **)&memory, 1 << 20, cudaMemAttachGlobal);
  for (size_t i = 0; i < 3; i++)
    if (cuda.cudaMemPrefetchAsync (memory, 1 << 20, places[i], 0, NULL) != cudaSuccess)
      return 1;
  return cuda.cudaDeviceSynchronize () == cudaSuccess ? 0 : 2;
}

/* KiB of memory of this process. */
static long
resident_kib (void)
{
  long n_pages = 0, n_resident = 0;
  FILE *file = fopen ("/proc/self/statm", "r");
  if (file == NULL || fscanf (file, "%ld %ld", &n_pages, &n_resident) != 2)
    n_resident = 0;
  if (file != NULL)
    fclose (file);
  return n_resident * (sysconf (_SC_PAGESIZE) / 1024);
}

/* Launches N_FULL kernels of 16 ms, of which most find the command buffer full. CUPTI allocates FULL_BYTES for each. */
#define FULL_BYTES "1048576"
#define N_FULL     60
#define LIMIT_KIB  (N_FULL * 1024 / 4)

static int
scene_full (void)
{
  cuda_start ();
  cuda_launch (1, false, 4, 64, NULL);
  const long before_kib = resident_kib ();
  cuda_launch (N_FULL, false, 1 << 21, 1024, NULL);
  cuda.cudaDeviceSynchronize ();
  LNS_WAIT_FOR (resident_kib () <= before_kib + LIMIT_KIB);
  return resident_kib () > before_kib + LIMIT_KIB;
}

static int
scene_events (void)
{
  cudaEvent_t event;
  cuda_start ();
  cuda.cudaEventCreate (&event);
  for (int i = 0; i < 3; i++)
    {
      cuda_launch (1, false, 4, 64, NULL);
      cuda.cudaEventRecord (event, NULL);
      cuda.cudaEventSynchronize (event);
    }
  return 0;
}

static int
scene_devices (void)
{
  void *memory[2];
  cuda_start ();
  for (int device = 0; device < 2; device++)
    {
      if (cuda.cudaSetDevice (device) != cudaSuccess)
        return 1;
      cuda.cudaMalloc (&memory[device], 4096);
      cuda_launch (10 + device, false, 4, 64, NULL);
      cuda.cudaDeviceSynchronize ();
    }
  return cuda.cudaMemcpyPeer (memory[0], 0, memory[1], 1, 4096) == cudaSuccess ? 0 : 2;
}

static const CudaScene scenes[] = { { "graph", scene_graph },           { "memory", scene_memory },
                                    { "managed", scene_managed },       { "full", scene_full },
                                    { "migrations", scene_migrations }, { "events", scene_events },
                                    { "devices", scene_devices },       { NULL, NULL } };

/* --- Tests. ---------------------------------------------------------------------------------- */

static MiniSession *
run (const char *scene, uint32_t options, const char *const *environment)
{
  LnsWireOptions asked = ask (options);
  MiniSession *session = cuda_run (scene, &asked, false, environment);
  LNS_CHECK (cuda_is_sound (session));
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_PROBLEM), 0);
  LNS_CHECK_INT (mini_session_lost_all (session), 0);
  return session;
}

static void
test_whole_graphs (void)
{
  MiniSession *session = run ("graph", 0, NULL);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_GRAPH), N_LAUNCHES);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL), 1);
  /* The graphs that were made, without their nodes. */
  uint32_t n_instantiated = 0;
  const LnsWireCudaGraphNodeBytes *made;
  for (size_t i = 0; (made = cuda_record (LNS_WIRE_CUDA_GRAPH_NODE, i)) != NULL; i++)
    {
      LNS_CHECK (made->graph != 0 && made->graph_node == 0);
      n_instantiated += made->graph_exec != 0;
    }
  LNS_CHECK_INT (n_instantiated, 1);
  LNS_CHECK (cuda_count (LNS_WIRE_CUDA_GRAPH_NODE) > 1);
  for (size_t i = 0; i < N_LAUNCHES; i++)
    {
      const LnsWireCudaGraphBytes *graph = cuda_record (LNS_WIRE_CUDA_GRAPH, i);
      LNS_CHECK (graph->graph != 0 && graph->end_ticks > graph->head.ticks);
      LNS_CHECK (graph->correlation != 0);
    }
  mini_session_free (session);
}

/* CUPTI tells no device of a graph that begins with a node on the host, but where its last node ran. */
static void
test_graphs_that_begin_on_the_host (void)
{
  static const char *const environment[] = { "LNS_DOUBLE_HOST_GRAPHS=1", NULL };
  MiniSession *session = run ("graph", 0, environment);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_GRAPH), N_LAUNCHES);
  const LnsWireCudaKernelBytes *kernel = cuda_record (LNS_WIRE_CUDA_KERNEL, 0);
  for (size_t i = 0; i < N_LAUNCHES; i++)
    {
      const LnsWireCudaGraphBytes *graph = cuda_record (LNS_WIRE_CUDA_GRAPH, i);
      LNS_CHECK_INT (graph->place.device, kernel->place.device);
      LNS_CHECK_INT (graph->place.context, kernel->place.context);
    }
  mini_session_free (session);
}

static void
test_nodes_of_graphs (void)
{
  MiniSession *session = run ("graph", LNS_WIRE_CUDA_GRAPH_NODES, NULL);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_GRAPH), 0);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL), 2 * N_LAUNCHES + 1);
  const LnsWireCudaKernelBytes *kernel;
  size_t n_of_graph = 0;
  for (size_t i = 0; (kernel = cuda_record (LNS_WIRE_CUDA_KERNEL, i)) != NULL; i++)
    {
      bool is_told = false;
      const LnsWireCudaGraphNodeBytes *node;
      for (size_t k = 0; (node = cuda_record (LNS_WIRE_CUDA_GRAPH_NODE, k)) != NULL; k++)
        is_told |= node->graph_node == kernel->graph_node;
      n_of_graph += kernel->graph_node != 0;
      LNS_CHECK (is_told || kernel->graph_node == 0);
    }
  LNS_CHECK_INT (n_of_graph, 2 * N_LAUNCHES);
  mini_session_free (session);
}

/* The record of TYPE before which N others of it are in time; NULL: there are not so many. Two threads may pass on two
 * buffers of one thread. */
static const void *
record_in_time (LnsWireCudaType type, size_t n)
{
  const LnsWireHead *record, *other;
  for (size_t i = 0; (record = cuda_record (type, i)) != NULL; i++)
    {
      size_t n_before = 0;
      for (size_t k = 0; (other = cuda_record (type, k)) != NULL; k++)
        n_before += other->ticks < record->ticks || (other->ticks == record->ticks && k < i);
      if (n_before == n)
        return record;
    }
  return NULL;
}

static void
test_memory (void)
{
  MiniSession *session = run ("memory", 0, NULL);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_MEMORY), 0);
  const LnsWireCudaMemsetBytes *set = cuda_record (LNS_WIRE_CUDA_MEMSET, 0);
  LNS_CHECK (set != NULL && set->size_bytes == 1 << 20 && set->value == 0x5a);
  mini_session_free (session);

  session = run ("memory", LNS_WIRE_CUDA_MEMORY_USAGE, NULL);
  int64_t held_bytes = 0, most_bytes = 0;
  const LnsWireCudaMemoryBytes *memory;
  for (size_t i = 0; (memory = record_in_time (LNS_WIRE_CUDA_MEMORY, i)) != NULL; i++)
    {
      held_bytes += (memory->operation == 1 ? 1 : -1) * (int64_t)memory->size_bytes;
      most_bytes = held_bytes > most_bytes ? held_bytes : most_bytes;
    }
  LNS_CHECK_INT (most_bytes, (1 << 20) + 4096);
  LNS_CHECK_INT (held_bytes, 0);
  LNS_CHECK (cuda_count (LNS_WIRE_CUDA_POOL) >= 1);
  mini_session_free (session);
}

static void
test_managed_memory (void)
{
  MiniSession *session = run ("managed", 0, NULL);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_UNIFIED), 0);
  mini_session_free (session);
  session = run ("managed", LNS_WIRE_CUDA_UM_CPU_FAULTS | LNS_WIRE_CUDA_UM_GPU_FAULTS, NULL);
  LNS_CHECK (cuda_count (LNS_WIRE_CUDA_UNIFIED) >= 1);
  mini_session_free (session);
}

static void
test_migrations (void)
{
  static const struct
  {
    uint32_t counter, source, destination;
  } moves[] = { { 1, UINT32_MAX, 0 }, { 8, 0, 1 }, { 2, 1, UINT32_MAX } };
  /* Where CUPTI cannot count what moves between devices, it counts the rest. */
  const char *const without[] = { "LNS_DOUBLE_DEVICES=2",
                                  "LNS_DOUBLE_FAIL=cuptiActivityConfigureUnifiedMemoryCounter:8=30",
                                  NULL };
  const char *const with[] = { "LNS_DOUBLE_DEVICES=2", NULL };
  for (int refuses = 0; refuses < 2; refuses++)
    {
      MiniSession *session =
          run ("migrations", LNS_WIRE_CUDA_UM_GPU_FAULTS, refuses ? without : with);
      LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_UNIFIED), refuses ? 2 : 3);
      for (size_t i = 0, k = 0; i < 3; i++)
        {
          const LnsWireCudaUnifiedBytes *moved = record_in_time (LNS_WIRE_CUDA_UNIFIED, k);
          if (refuses && moves[i].counter == 8)
            continue;
          LNS_CHECK_INT (moved->counter, moves[i].counter);
          LNS_CHECK_INT (moved->source, moves[i].source);
          LNS_CHECK_INT (moved->destination, moves[i].destination);
          LNS_CHECK_INT (moved->value, 1 << 20);
          k++;
        }
      mini_session_free (session);
    }
}

/* What CUPTI allocates for a full command buffer does not stay. */
static void
test_full_buffers (void)
{
  static const char *const environment[] = { "LNS_DOUBLE_FULL_BYTES=" FULL_BYTES, NULL };
  LnsWireOptions asked = ask (0);
  asked.flush_ms = 20;
  MiniSession *session = cuda_run ("full", &asked, false, environment);
  LNS_CHECK (cuda_is_sound (session));
  size_t n_full = 0;
  const LnsWireCudaOverheadBytes *overhead;
  for (size_t i = 0; (overhead = cuda_record (LNS_WIRE_CUDA_OVERHEAD, i)) != NULL; i++)
    n_full += overhead->kind == CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL;
  LNS_CHECK (n_full > 0); /* on a busy machine the GPU keeps up with some launches */
  mini_session_free (session);
}

static void
test_events (void)
{
  MiniSession *session = run ("events", 0, NULL);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_EVENT), 0);
  mini_session_free (session);
  session = run ("events", LNS_WIRE_CUDA_EVENTS, NULL);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_EVENT), 3);
  for (size_t i = 0; i < 3; i++)
    {
      const LnsWireCudaEventBytes *event = cuda_record (LNS_WIRE_CUDA_EVENT, i);
      LNS_CHECK (event->event != 0 && event->head.ticks > session->first_ticks);
    }
  mini_session_free (session);
}

/* Two devices of one name are told apart. */
static void
test_devices (void)
{
  const char *const environment[] = { "LNS_DOUBLE_DEVICES=2", "LNS_DOUBLE_NAMES=Twin", NULL };
  MiniSession *session = run ("devices", 0, environment);
  const LnsWireCudaDeviceBytes *devices[2] = { NULL, NULL }, *device;
  for (size_t i = 0; (device = cuda_record (LNS_WIRE_CUDA_DEVICE, i)) != NULL; i++)
    devices[device->number & 1] = device;
  LNS_CHECK (devices[0] != NULL && devices[1] != NULL);
  for (int i = 0; i < 2; i++)
    LNS_CHECK_STR (cuda_text (session, devices[i]->head.string), "Twin");
  LNS_CHECK (strlen (devices[0]->bus) == 12 && strcmp (devices[0]->bus, devices[1]->bus) != 0);
  LNS_CHECK (memcmp (devices[0]->uuid, devices[1]->uuid, 16) != 0);
  size_t n[2] = { 0, 0 };
  const LnsWireCudaKernelBytes *kernel;
  for (size_t i = 0; (kernel = cuda_record (LNS_WIRE_CUDA_KERNEL, i)) != NULL; i++)
    n[kernel->place.device & 1]++;
  LNS_CHECK (n[0] == 10 && n[1] == 11);
  const LnsWireCudaMemcpyBytes *copy = cuda_record (LNS_WIRE_CUDA_MEMCPY, 0);
  LNS_CHECK (copy != NULL && copy->kind == 10 && copy->source_device == 1);
  LNS_CHECK_INT (copy->destination_device, 0);
  mini_session_free (session);
}

int
main (int argc, char **argv)
{
  cuda_scenes (scenes, argv);
  LNS_TEST (test_whole_graphs);
  LNS_TEST (test_graphs_that_begin_on_the_host);
  LNS_TEST (test_nodes_of_graphs);
  LNS_TEST (test_memory);
  LNS_TEST (test_managed_memory);
  LNS_TEST (test_migrations);
  LNS_TEST (test_full_buffers);
  LNS_TEST (test_events);
  LNS_TEST (test_devices);
  return lns_tap_done ();
}
