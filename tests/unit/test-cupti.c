/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests how CUPTI records of GPU operations become wire records, in every CUPTI version. */

#include "tests/unit/cupti-fixture.h"

static void
test_api (void)
{
  for (int runtime = 0; runtime < 2; runtime++)
    {
      CUpti_ActivityAPI api = { .kind = runtime ? CUPTI_ACTIVITY_KIND_RUNTIME
                                                : CUPTI_ACTIVITY_KIND_DRIVER,
                                .cbid = 211,
                                .start = 100,
                                .end = 150,
                                .processId = 1,
                                .threadId = 77,
                                .correlationId = 9,
                                .returnValue = 2 };
      const LnsWireCudaApiBytes *wire =
          compact_one (&api, sizeof api, LNS_WIRE_CUDA_API, sizeof *wire);
      LNS_CHECK_INT (wire->head.ticks, 100);
      LNS_CHECK_INT (wire->head.depth, runtime);
      LNS_CHECK_INT (wire->head.string, runtime ? 1211 : 2211);
      LNS_CHECK_INT (wire->end_ticks, 150);
      LNS_CHECK_INT (wire->cbid, 211);
      LNS_CHECK_INT (wire->tid, 77);
      LNS_CHECK_INT (wire->correlation, 9);
      LNS_CHECK_INT (wire->return_value, 2);
    }
}

static CUpti_ActivityKernel10
kernel (void)
{
  return (CUpti_ActivityKernel10){
    .kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
    .cacheConfig.both = 0x21,
    .sharedMemoryConfig = 3,
    .registersPerThread = 40,
    .start = 1000,
    .end = 2000,
    .deviceId = 1,
    .contextId = 2,
    .streamId = 7,
    .gridX = 10,
    .gridY = 11,
    .gridZ = 12,
    .blockX = 32,
    .blockY = 4,
    .blockZ = 2,
    .staticSharedMemory = 512,
    .dynamicSharedMemory = 1024,
    .localMemoryPerThread = 16,
    .localMemoryTotal = 4096,
    .correlationId = 55,
    .gridId = 66,
    .name = (const char *)0x1230,
    .launchType = 2,
    .isSharedMemoryCarveoutRequested = 1,
    .sharedMemoryCarveoutRequested = 50,
    .sharedMemoryExecuted = 2048,
    .graphNodeId = UINT64_C (0x100000002),
    .graphId = 5,
    .clusterX = 2,
    .clusterY = 1,
    .clusterZ = 1,
    .clusterSchedulingPolicy = 1,
    .localMemoryTotal_v2 = UINT64_C (0x200000000),
    .maxPotentialClusterSize = 8,
    .maxActiveClusters = 16,
  };
}

/* As CUPTI 11.0, 11.1, 11.2, 11.6, 11.8, 12.0 and 13.0 have it, and as a later one may. */
static void
test_kernel_generations (void)
{
  static const size_t sizes[] = { 160, 168, 176, 200, 208, 216 };
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    {
      CUpti_ActivityKernel10 from = kernel ();
      const LnsWireCudaKernelBytes *wire =
          compact_one (&from, sizes[i], LNS_WIRE_CUDA_KERNEL, sizeof *wire);
      LNS_CHECK_INT (wire->head.ticks, 1000);
      LNS_CHECK_INT (wire->end_ticks, 2000);
      LNS_CHECK_INT (wire->correlation, 55);
      LNS_CHECK_INT (wire->grid_id, 66);
      LNS_CHECK_INT (wire->graph_node, UINT64_C (0x100000002));
      check_place (&wire->place, 1, 2, 7);
      LNS_CHECK_INT (wire->graph, 5);

      const LnsWireCudaLaunchBytes *launch = only (LNS_WIRE_CUDA_LAUNCH, sizeof *launch);
      LNS_CHECK_INT (launch->head.string, wire->head.string);
      LNS_CHECK (launch->head.string < LNS_WIRE_CUDA_LAUNCHES);
      LNS_CHECK_INT (launch->name, 0x1230 | LNS_WIRE_STRING_REGISTERED);
      for (uint32_t d = 0; d < 3; d++)
        LNS_CHECK_INT (launch->grid[d], 10 + d);
      LNS_CHECK (launch->block[0] == 32 && launch->block[1] == 4 && launch->block[2] == 2);
      LNS_CHECK_INT (launch->registers, 40);
      LNS_CHECK_INT (launch->static_shared_bytes, 512);
      LNS_CHECK_INT (launch->dynamic_shared_bytes, 1024);
      LNS_CHECK_INT (launch->shared_executed_bytes, 2048);
      LNS_CHECK_INT (launch->local_bytes, 16);
      LNS_CHECK_INT (launch->shared_carveout, 50);
      LNS_CHECK_INT (launch->launch_type, 2);
      LNS_CHECK_INT (launch->cache_config, 0x21);
      LNS_CHECK_INT (launch->shared_config, 3);
      LNS_CHECK_INT (launch->cluster[0], sizes[i] >= 200 ? 2 : 0);
      LNS_CHECK_INT (launch->cluster_policy, sizes[i] >= 200 ? 1 : 0);
      LNS_CHECK_INT (launch->local_total_bytes,
                     sizes[i] >= 200 ? UINT64_C (0x200000000) : UINT64_C (4096));
      LNS_CHECK_INT (launch->max_potential_cluster, sizes[i] >= 208 ? 8 : 0);
      LNS_CHECK_INT (launch->max_active_clusters, sizes[i] >= 208 ? 16 : 0);
    }
  struct
  {
    CUpti_ActivityKernel10 known;
    uint64_t tail[4];
  } later = { .known = kernel () };
  const LnsWireCudaKernelBytes *wire =
      compact_one (&later, sizeof later, LNS_WIRE_CUDA_KERNEL, sizeof *wire);
  LNS_CHECK_INT (wire->correlation, 55);
}

/* One launch record for as many kernels as look alike, and one more after a loss. */
static void
test_launch_slots (void)
{
  begin ();
  CUpti_ActivityKernel10 from = kernel ();
  for (int i = 0; i < 100; i++)
    {
      from.gridX = 10 + i % 2;
      from.correlationId++;
      add (&from, sizeof from);
    }
  compact ();
  LNS_CHECK_INT (test.counts.n_compacted, 100);
  LNS_CHECK_INT (test.n_bytes, 100 * sizeof (LnsWireCudaKernelBytes) + 2 * 112);

  test.room = test.n_bytes + 112; /* a launch fits, its kernel does not */
  test.n_from = 0;
  memset (test.from, 0, sizeof test.from);
  from.gridX = 99;
  add (&from, sizeof from);
  compact ();
  LNS_CHECK_INT (test.counts.n_lost, 1);
  LNS_CHECK_INT (test.n_lost, 1);
  test.room = ROOM;
  size_t before = test.n_bytes;
  compact ();
  LNS_CHECK_INT (test.n_bytes - before, 112 + sizeof (LnsWireCudaKernelBytes));
}

static void
test_copies (void)
{
  CUpti_ActivityMemcpy6 copy = { .kind = CUPTI_ACTIVITY_KIND_MEMCPY,
                                 .copyKind = 1,
                                 .srcKind = 2,
                                 .dstKind = 3,
                                 .flags = 1,
                                 .bytes = UINT64_C (5) << 32,
                                 .start = 10,
                                 .end = 20,
                                 .deviceId = 1,
                                 .contextId = 2,
                                 .streamId = 3,
                                 .correlationId = 4,
                                 .graphNodeId = 6,
                                 .copyCount = 7 };
  static const size_t sizes[] = { 72, 80, 88, 96 };
  for (size_t i = 0; i < 4; i++)
    {
      const LnsWireCudaMemcpyBytes *wire =
          compact_one (&copy, sizes[i], LNS_WIRE_CUDA_MEMCPY, sizeof *wire);
      LNS_CHECK_INT (wire->head.ticks, 10);
      LNS_CHECK_INT (wire->end_ticks, 20);
      LNS_CHECK_INT (wire->size_bytes, INT64_C (5) << 32);
      LNS_CHECK (wire->kind == 1 && wire->source_kind == 2 && wire->destination_kind == 3);
      LNS_CHECK_INT (wire->flags, 1);
      LNS_CHECK_INT (wire->correlation, 4);
      LNS_CHECK_INT (wire->graph_node, 6);
      LNS_CHECK_INT (wire->copy_count, sizes[i] >= 96 ? 7 : 0);
      check_place (&wire->place, 1, 2, 3);
      LNS_CHECK_INT (wire->source_device, LNS_WIRE_CUDA_NONE);
      LNS_CHECK_INT (wire->destination_context, LNS_WIRE_CUDA_NONE);
    }
  CUpti_ActivityMemcpyPtoP4 between = { .kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
                                        .copyKind = 10,
                                        .bytes = 100,
                                        .start = 10,
                                        .end = 20,
                                        .deviceId = 1,
                                        .contextId = 2,
                                        .streamId = 3,
                                        .srcDeviceId = 4,
                                        .srcContextId = 5,
                                        .dstDeviceId = 6,
                                        .dstContextId = 7,
                                        .correlationId = 8,
                                        .graphNodeId = 9 };
  const LnsWireCudaMemcpyBytes *wire =
      compact_one (&between, sizeof between, LNS_WIRE_CUDA_MEMCPY, sizeof *wire);
  LNS_CHECK_INT (wire->kind, 10);
  LNS_CHECK (wire->source_device == 4 && wire->source_context == 5);
  LNS_CHECK (wire->destination_device == 6 && wire->destination_context == 7);
  LNS_CHECK (wire->correlation == 8 && wire->graph_node == 9);

  CUpti_ActivityMemDecompress blocks = { .kind = CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS,
                                         .deviceId = 1,
                                         .contextId = 2,
                                         .streamId = 3,
                                         .correlationId = 4,
                                         .numberOfOperations = 5,
                                         .sourceBytes = 600,
                                         .start = 10,
                                         .end = 20 };
  wire = compact_one (&blocks, sizeof blocks, LNS_WIRE_CUDA_DECOMPRESS, sizeof *wire);
  LNS_CHECK (wire->copy_count == 5 && wire->size_bytes == 600 && wire->correlation == 4);

  CUpti_ActivityMemset4 set = { .kind = CUPTI_ACTIVITY_KIND_MEMSET,
                                .value = 0xab,
                                .bytes = 4096,
                                .start = 10,
                                .end = 20,
                                .deviceId = 1,
                                .contextId = 2,
                                .streamId = 3,
                                .correlationId = 4,
                                .flags = 1,
                                .memoryKind = 3,
                                .graphNodeId = 12 };
  const LnsWireCudaMemsetBytes *wire_set =
      compact_one (&set, sizeof set, LNS_WIRE_CUDA_MEMSET, sizeof *wire_set);
  LNS_CHECK (wire_set->value == 0xab && wire_set->size_bytes == 4096 && wire_set->flags == 1);
  LNS_CHECK (wire_set->memory_kind == 3 && wire_set->graph_node == 12);
  check_place (&wire_set->place, 1, 2, 3);
}

static void
test_synchronisation (void)
{
  CUpti_ActivitySynchronization2 sync = { .kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                                          .type = 3,
                                          .start = 10,
                                          .end = 20,
                                          .correlationId = 4,
                                          .contextId = 2,
                                          .streamId = 3,
                                          .cudaEventId = 5,
                                          .cudaEventSyncId = 6,
                                          .returnValue = 7 };
  for (int old = 0; old < 2; old++)
    {
      const LnsWireCudaSyncBytes *wire =
          compact_one (&sync, old ? 40 : sizeof sync, LNS_WIRE_CUDA_SYNC, sizeof *wire);
      check_place (&wire->place, LNS_WIRE_CUDA_NONE, 2, 3);
      LNS_CHECK (wire->type == 3 && wire->event == 5 && wire->correlation == 4);
      LNS_CHECK_INT (wire->event_sync, old ? 0 : 6);
      LNS_CHECK_INT (wire->return_value, old ? 0 : 7);
    }
  CUpti_ActivityCudaEvent2 event = { .kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT,
                                     .correlationId = 4,
                                     .contextId = 2,
                                     .streamId = 3,
                                     .eventId = 5,
                                     .deviceId = 1,
                                     .deviceTimestamp = 99,
                                     .cudaEventSyncId = 6 };
  for (int old = 0; old < 2; old++)
    {
      const LnsWireCudaEventBytes *wire =
          compact_one (&event, old ? 24 : sizeof event, LNS_WIRE_CUDA_EVENT, sizeof *wire);
      check_place (&wire->place, old ? LNS_WIRE_CUDA_NONE : 1, 2, 3);
      LNS_CHECK_INT (wire->head.ticks, old ? 0 : 99);
      LNS_CHECK (wire->event == 5 && wire->correlation == 4);
      LNS_CHECK_INT (wire->event_sync, old ? 0 : 6);
    }
}

static void
test_graphs (void)
{
  CUpti_ActivityGraphTrace2 graph = { .kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
                                      .correlationId = 4,
                                      .start = 10,
                                      .end = 20,
                                      .deviceId = 1,
                                      .graphId = 9,
                                      .contextId = 2,
                                      .streamId = 3 };
  const LnsWireCudaGraphBytes *wire = compact_one (&graph, 48, LNS_WIRE_CUDA_GRAPH, sizeof *wire);
  LNS_CHECK (wire->graph == 9 && wire->launcher == 0 && wire->correlation == 4);
  check_place (&wire->place, 1, 2, 3);
  CUpti_ActivityDeviceGraphTrace device = { .kind = CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE,
                                            .deviceId = 1,
                                            .start = 10,
                                            .end = 20,
                                            .graphId = 9,
                                            .launcherGraphId = 8,
                                            .contextId = 2,
                                            .streamId = 3 };
  wire = compact_one (&device, sizeof device, LNS_WIRE_CUDA_GRAPH, sizeof *wire);
  LNS_CHECK (wire->graph == 9 && wire->launcher == 8 && wire->correlation == 0);
}

/* Records without times, kinds that nobody asked for, and bytes that are no records. */
static void
test_what_is_not_kept (void)
{
  begin ();
  CUpti_ActivityKernel10 running = kernel ();
  running.end = 0;
  const LnsWireCudaKernelBytes *wire =
      compact_one (&running, sizeof running, LNS_WIRE_CUDA_KERNEL, sizeof *wire);
  LNS_CHECK (wire->correlation == running.correlationId && wire->end_ticks == 0);
  LNS_CHECK_INT (test.counts.n_unfinished, 0); /* the record says so */

  begin ();
  CUpti_ActivityMemset4 setting = { .kind = CUPTI_ACTIVITY_KIND_MEMSET, .start = 1000 };
  add (&setting, sizeof setting);
  CUpti_ActivityName name = { .kind = CUPTI_ACTIVITY_KIND_NAME };
  add (&name, sizeof name);
  CUpti_ActivityKernel10 done = kernel ();
  done.end = 500; /* before its start: clocks drift */
  add (&done, sizeof done);
  compact ();
  LNS_CHECK_INT (test.counts.n_unfinished, 1);
  LNS_CHECK_INT (test.counts.n_compacted, 1);
  LNS_CHECK_INT (test.counts.unknown_kind, 0);
  wire = only (LNS_WIRE_CUDA_KERNEL, sizeof *wire);
  LNS_CHECK_INT (wire->end_ticks, 1000);

  static const uint32_t kinds[] = { 60, 127, 128, UINT32_MAX };
  for (size_t i = 0; i < 4; i++)
    {
      begin ();
      memcpy (test.from, &kinds[i], sizeof kinds[i]);
      compact ();
      LNS_CHECK_INT (test.counts.unknown_kind, kinds[i]);
      LNS_CHECK_INT (test.n_bytes, 0);
    }
  /* A record that ends behind the buffer is none; neither is a size that is no multiple of 8. */
  begin ();
  add (&done, sizeof done);
  lns_wire_cupti_compact (&test.sizes, test.from, sizeof done - 8, &sink, NULL, &test.counts);
  LNS_CHECK_INT (test.counts.n_compacted, 0);
  LNS_CHECK_INT (test.counts.unknown_kind, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  test.sizes.record_bytes[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] = 9;
  lns_wire_cupti_compact (&test.sizes, test.from, sizeof done, &sink, NULL, &test.counts);
  LNS_CHECK_INT (test.n_bytes, 0);
  lns_wire_cupti_compact (&test.sizes, test.from, 0, &sink, NULL, &test.counts);
}

int
main (void)
{
  LNS_TEST (test_api);
  LNS_TEST (test_kernel_generations);
  LNS_TEST (test_launch_slots);
  LNS_TEST (test_copies);
  LNS_TEST (test_synchronisation);
  LNS_TEST (test_graphs);
  LNS_TEST (test_what_is_not_kept);
  return lns_tap_done ();
}
