/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests how CUPTI records of GPU operations become wire records, in every CUPTI version. */

#include "capture/wire/cupti-records.h"
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

/* As many launches as a training loop has, again and again: each is defined once, and takes no other's slot. */
static void
test_many_launches (void)
{
  enum
  {
    N_NAMES = 64,
    N_SHAPES = 4,
    N_ROUNDS = 3
  };
  size_t n_defined = 0;
  begin ();
  CUpti_ActivityKernel10 from = kernel ();
  for (int i = 0; i < N_ROUNDS * N_NAMES * N_SHAPES; i++)
    {
      from.name = (const char *)(uintptr_t)(0x555500001230 + 144 * (i % N_NAMES));
      from.gridX = 1 + i / N_NAMES % N_SHAPES;
      test.n_from = test.n_bytes = 0;
      memset (test.from, 0, sizeof from + sizeof (uint64_t));
      add (&from, sizeof from);
      compact ();
      n_defined += test.n_bytes == sizeof (LnsWireCudaKernelBytes) + 112;
    }
  LNS_CHECK_INT (test.counts.n_compacted, N_ROUNDS * N_NAMES * N_SHAPES);
  LNS_CHECK_INT (n_defined, N_NAMES * N_SHAPES);
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
  check_place (&wire->place, running.deviceId, running.contextId, running.streamId);
  LNS_CHECK_INT (test.counts.n_unfinished, 0); /* the record says so */

  /* Where copies and memsets ran is told, too. */
  CUpti_ActivityMemset4 setting = { .kind = CUPTI_ACTIVITY_KIND_MEMSET,
                                    .start = 1000,
                                    .deviceId = 1,
                                    .contextId = 2,
                                    .streamId = 3,
                                    .correlationId = 4 };
  CUpti_ActivityMemcpy6 copying = { .kind = CUPTI_ACTIVITY_KIND_MEMCPY,
                                    .deviceId = 1,
                                    .contextId = 2,
                                    .streamId = 3,
                                    .correlationId = 4 };
  CUpti_ActivityMemcpyPtoP4 copying_between = { .kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
                                                .deviceId = 1,
                                                .contextId = 2,
                                                .streamId = 3,
                                                .correlationId = 4 };
  const struct
  {
    const void *record;
    size_t n_bytes;
  } works[] = { { &setting, sizeof setting },
                { &copying, sizeof copying },
                { &copying_between, sizeof copying_between } };
  for (int i = 0; i < 3; i++)
    {
      begin ();
      wire = compact_one (works[i].record, works[i].n_bytes, LNS_WIRE_CUDA_KERNEL, sizeof *wire);
      LNS_CHECK (wire->correlation == 4 && wire->end_ticks == 0 && wire->head.depth == 1);
      check_place (&wire->place, 1, 2, 3);
      LNS_CHECK_INT (test.counts.n_unfinished, 0);
    }

  begin ();
  CUpti_ActivityName name = { .kind = CUPTI_ACTIVITY_KIND_NAME };
  add (&name, sizeof name);
  CUpti_ActivityKernel10 done = kernel (), inverted = kernel ();
  inverted.end = 500; /* before its start */
  add (&inverted, sizeof inverted);
  add (&done, sizeof done);
  CUpti_ActivityMemDecompress decompressing = { .kind = CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS };
  add (&decompressing, sizeof decompressing);
  compact ();
  LNS_CHECK_INT (test.counts.n_unfinished, 1);
  LNS_CHECK_INT (test.counts.n_mistimed, 1);
  LNS_CHECK_INT (test.counts.n_compacted, 1);
  LNS_CHECK_INT (test.counts.unknown_kind, 0);
  wire = only (LNS_WIRE_CUDA_KERNEL, sizeof *wire);
  LNS_CHECK_INT (wire->end_ticks, 2000);

  /* CUPTI gives back what has ended, and it still has no times. */
  LnsWireCuptiSink ended = sink;
  ended.asked_ticks = 0;
  begin ();
  running.graphNodeId = 0;
  add (&running, sizeof running);
  add (&setting, sizeof setting);
  lns_wire_cupti_compact (&test.sizes, test.from, test.n_from, &ended, NULL, &test.counts);
  LNS_CHECK (test.counts.n_mistimed == 2 && test.counts.n_unfinished == 0 && test.n_bytes == 0);
  LNS_CHECK (test.counts.n_run == 1 && test.counts.run_sum == running.correlationId);

  /* CUPTI marks the kinds of records that it has not filled in. What is behind them counts. */
  begin ();
  running = kernel ();
  running.start = running.end = 0;
  add (&running, sizeof running);
  add (&done, sizeof done);
  const uint32_t marked = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL | LNS_WIRE_CUPTI_INCOMPLETE;
  memcpy (test.from, &marked, sizeof marked);
  compact ();
  LNS_CHECK_INT (test.counts.n_compacted, 2);
  LNS_CHECK_INT (test.counts.unknown_kind, 0);

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

/* Calls of our own are not kept. That the newest has come back is known in whatever order they come. */
static void
test_calls_of_ours (void)
{
  static const uint32_t calls[] = { 30, 10, 40, 20 };
  LnsWireCuptiSink skipping = sink;
  skipping.skipped_tid = 7;
  begin ();
  for (int i = 0; i < 4; i++)
    {
      const CUpti_ActivityAPI own = { .kind = CUPTI_ACTIVITY_KIND_DRIVER,
                                      .start = 1000,
                                      .end = 2000,
                                      .threadId = 7,
                                      .correlationId = calls[i] };
      add (&own, sizeof own);
    }
  lns_wire_cupti_compact (&test.sizes, test.from, test.n_from, &skipping, NULL, &test.counts);
  LNS_CHECK_INT (test.counts.last_skipped, 40);
  LNS_CHECK_INT (test.n_bytes, 0);
}

/* What calls launched belongs to the range that had the call, whenever it runs; the rest goes by its time. */
static void
test_ranges (void)
{
  static LnsWireCuptiRanges ranges;
  const LnsWireCuptiRange
      first = { .first = 10, .last = 20, .first_ticks = 100, .last_ticks = 200 },
      open = { .first = 30, .first_ticks = 300, .last_ticks = UINT64_MAX },
      ended = { .first = 30, .last = 40, .first_ticks = 300, .last_ticks = 400 };
  LNS_CHECK (!lns_wire_cupti_ranges_admit (&ranges, 1, 1));
  lns_wire_cupti_ranges_set (&ranges, 0, &first);
  lns_wire_cupti_ranges_set (&ranges, 1, &open);
  static const struct
  {
    uint32_t correlation;
    uint64_t ticks;
    bool is_in, is_in_ended;
  } cases[] = { { 9, 150, false, false }, { 10, 150, false, false }, { 11, 90, true, true },
                { 19, 350, true, true },  { 20, 150, false, false }, { 25, 350, false, false },
                { 31, 290, true, true },  { 39, 500, true, true },   { 40, 350, true, false },
                { 0, 99, false, false },  { 0, 100, true, true },    { 0, 200, false, false },
                { 0, 350, true, true },   { 0, 400, true, false } };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    LNS_CHECK_INT (lns_wire_cupti_ranges_admit (&ranges, cases[i].correlation, cases[i].ticks),
                   cases[i].is_in);
  lns_wire_cupti_ranges_set (&ranges, 1, &ended);
  lns_wire_cupti_ranges_set (&ranges, 1, &open); /* it was told of by another thread, later */
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    LNS_CHECK_INT (lns_wire_cupti_ranges_admit (&ranges, cases[i].correlation, cases[i].ticks),
                   cases[i].is_in_ended);
  /* Correlations wrap, and of many ranges the last ones are known. */
  uint32_t n = UINT32_MAX - 25000;
  for (uint32_t serial = 2; serial < 3000; serial++, n += 10)
    lns_wire_cupti_ranges_set (&ranges, serial,
                               &(LnsWireCuptiRange){ n, n + 5, 1000 + n, 1005 + n });
  n -= 10;
  for (uint32_t i = 0; i < 1000; i++, n -= 10)
    if (n != 0 && n + 1 != 0 && n + 5 != 0 && n + 7 != 0 &&
        (!lns_wire_cupti_ranges_admit (&ranges, n + 1, 0) ||
         lns_wire_cupti_ranges_admit (&ranges, n + 7, 0)))
      LNS_CHECK_INT (n, 0);

  CUpti_ActivityKernel10 inside = kernel (), outside = kernel ();
  inside.correlationId = 3;
  outside.correlationId = 5;
  CUpti_ActivityContext3 context = { .kind = CUPTI_ACTIVITY_KIND_CONTEXT, .contextId = 1 };
  static LnsWireCuptiRanges one;
  lns_wire_cupti_ranges_set (&one, 0, &(LnsWireCuptiRange){ 2, 5, 1, 2 });
  LnsWireCuptiSink ranged = sink;
  ranged.ranges = &one;
  begin ();
  add (&outside, sizeof outside);
  add (&inside, sizeof inside);
  add (&context, sizeof context);
  lns_wire_cupti_compact (&test.sizes, test.from, test.n_from, &ranged, NULL, &test.counts);
  LNS_CHECK_INT (test.counts.n_compacted, 2);
  const LnsWireCudaKernelBytes *wire = only (LNS_WIRE_CUDA_KERNEL, sizeof *wire);
  LNS_CHECK_INT (wire->correlation, 3);
  (void)only (LNS_WIRE_CUDA_CONTEXT, sizeof (LnsWireCudaContextBytes));
}

/* Launches that go into a graph do not run, and nobody waits for their kernels. */
static void
test_captured_launches (void)
{
  static uint8_t roles[2][LNS_WIRE_CUPTI_CALLS];
  static LnsWireCuptiCapturing capturing;
  LnsWireCuptiSink counting = sink;
  roles[1][1] = LNS_WIRE_CUDA_CALL_LAUNCH;
  roles[1][2] = LNS_WIRE_CUDA_CALL_CAPTURE;
  roles[1][3] = LNS_WIRE_CUDA_CALL_CAPTURED;
  counting.roles = roles;
  counting.capturing = &capturing;
  static const struct
  {
    uint32_t cbid, tid, result;
  } calls[] = { { 1, 7, 0 }, { 2, 7, 0 }, { 1, 7, 0 }, { 1, 8, 0 }, { 2, 9, 1 },
                { 1, 9, 0 }, { 3, 7, 0 }, { 1, 7, 0 }, { 3, 8, 0 }, { 1, 8, 1 } };
  begin ();
  for (uint32_t i = 0; i < sizeof calls / sizeof *calls; i++)
    {
      CUpti_ActivityAPI api = { .kind = CUPTI_ACTIVITY_KIND_RUNTIME,
                                .cbid = calls[i].cbid,
                                .start = 100,
                                .end = 150,
                                .threadId = calls[i].tid,
                                .correlationId = 1 + i,
                                .returnValue = calls[i].result };
      add (&api, sizeof api);
    }
  lns_wire_cupti_compact (&test.sizes, test.from, test.n_from, &counting, NULL, &test.counts);
  LNS_CHECK_INT (test.counts.n_launched, 4);
  LNS_CHECK_INT (test.counts.launched_sum, 1 + 4 + 6 + 8);

  /* Another thread compacts the buffer with the end of a capture before that with its beginning. */
  for (uint32_t half = 2; half-- > 0;)
    {
      static const uint32_t later[] = { 2, 1, 3, 1 };
      begin ();
      for (uint32_t i = 2 * half; i < 2 * half + 2; i++)
        {
          CUpti_ActivityAPI api = { .kind = CUPTI_ACTIVITY_KIND_RUNTIME,
                                    .cbid = later[i],
                                    .start = 200,
                                    .end = 250,
                                    .threadId = 7,
                                    .correlationId = 101 + i };
          add (&api, sizeof api);
        }
      lns_wire_cupti_compact (&test.sizes, test.from, test.n_from, &counting, NULL, &test.counts);
      LNS_CHECK_INT (test.counts.launched_sum, half == 1 ? 104 : 0);
    }
  begin ();
  CUpti_ActivityAPI last = { .kind = CUPTI_ACTIVITY_KIND_RUNTIME,
                             .cbid = 1,
                             .start = 300,
                             .end = 350,
                             .threadId = 7,
                             .correlationId = 105 };
  add (&last, sizeof last);
  lns_wire_cupti_compact (&test.sizes, test.from, test.n_from, &counting, NULL, &test.counts);
  LNS_CHECK_INT (test.counts.launched_sum, 105);

  /* Threads that have captured make room for others. */
  for (uint32_t tid = 1000; tid < 1000 + 2 * LNS_WIRE_CUPTI_CAPTURING; tid++)
    {
      static const uint32_t all[] = { 2, 1, 3, 1 };
      begin ();
      for (uint32_t i = 0; i < 4; i++)
        {
          last.cbid = all[i];
          last.threadId = tid;
          last.correlationId++;
          add (&last, sizeof last);
        }
      lns_wire_cupti_compact (&test.sizes, test.from, test.n_from, &counting, NULL, &test.counts);
      LNS_CHECK_INT (test.counts.n_launched, 1);
    }
}

/* Whether the data of a record were given to be freed. */
static bool
is_given (const void *data, void *given)
{
  while (given != NULL && given != data)
    memcpy (&given, given, sizeof given);
  return given != NULL;
}

/* CUPTI leaves data of a record to be freed, of those that are not kept, too. Data of other kinds are not touched. */
static void
test_data_of_overheads (void)
{
  uint64_t data[3][2];
  void *given = NULL;
  LnsWireCuptiRanges ranges = { .n = 1, .ranges = { { .first = 100, .last_ticks = UINT64_MAX } } };
  CUpti_ActivityOverhead3 full = { .kind = CUPTI_ACTIVITY_KIND_OVERHEAD,
                                   .overheadKind = CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL,
                                   .start = 10,
                                   .end = 20,
                                   .correlationId = 200,
                                   .overheadData = data[0] };
  begin ();
  add (&full, sizeof full);
  full.correlationId = 5; /* outside the range */
  full.overheadData = data[1];
  add (&full, sizeof full);
  full.overheadKind = CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING;
  full.overheadData = data[2];
  add (&full, sizeof full);
  LnsWireCuptiSink with_ranges = sink;
  with_ranges.ranges = &ranges;
  with_ranges.leftovers = &given;
  lns_wire_cupti_compact (&test.sizes, test.from, sizeof test.from, &with_ranges, NULL,
                          &test.counts);
  LNS_CHECK (is_given (data[0], given) && is_given (data[1], given));
  LNS_CHECK (!is_given (data[2], given));
  LNS_CHECK_INT (test.counts.n_compacted, 1);
  /* A version whose records are shorter has none, whatever lies behind them. */
  begin ();
  given = NULL;
  full.overheadKind = CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL;
  full.correlationId = 200;
  add (&full, sizeof (CUpti_ActivityOverhead2));
  lns_wire_cupti_compact (&test.sizes, test.from, sizeof test.from, &with_ranges, NULL,
                          &test.counts);
  LNS_CHECK (given == NULL);
}

/* CUPTI 13.2 and later tell of green contexts by a kind of its own, whose records grow. */
static void
test_green_contexts (void)
{
  /* The kind, context, parent, device and TPCs; then 66 multiprocessors and the size of the mask. */
  const uint32_t record[38] = { LNS_CUPTI_GREEN_CONTEXT, 7, 3, 1, 33, 66 | 8u << 16, 5 };
  static const size_t sizes[] = { 24, sizeof record };
  for (size_t i = 0; i < 2; i++)
    {
      begin ();
      add (record, sizes[i]);
      compact ();
      const LnsWireCudaContextBytes *context = only (LNS_WIRE_CUDA_CONTEXT, sizeof *context);
      LNS_CHECK_INT (context->number, 7);
      LNS_CHECK_INT (context->parent, 3);
      LNS_CHECK_INT (context->device, 1);
      LNS_CHECK_INT (context->is_green, 1);
      LNS_CHECK_INT (context->n_multiprocessors, 66);
      LNS_CHECK_INT (context->null_stream, LNS_WIRE_CUDA_NONE);
    }
}

/* CUPTI 13.1 and later tell of functions on the host, and which context a GPU works for. */
static void
test_host_functions (void)
{
  const LnsCuptiHostLaunch launch = { .kind = LNS_CUPTI_HOST_LAUNCH,
                                      .stream = 7,
                                      .context = 2,
                                      .device = 1,
                                      .correlation = 9,
                                      .tid = 77,
                                      .start = 100,
                                      .end = 150 };
  const LnsWireCudaHostBytes *host =
      compact_one (&launch, sizeof launch, LNS_WIRE_CUDA_HOST_FUNCTION, sizeof *host);
  LNS_CHECK_INT (host->head.ticks, 100);
  LNS_CHECK_INT (host->end_ticks, 150);
  LNS_CHECK_INT (host->correlation, 9);
  LNS_CHECK_INT (host->tid, 77);
  LNS_CHECK_INT (host->graph_node, 0);
  LNS_CHECK_INT (host->graph, 0);
  check_place (&host->place, 1, 2, 7);
  const LnsCuptiHostNode node = { .kind = LNS_CUPTI_HOST_NODE,
                                  .stream = 7,
                                  .context = 2,
                                  .device = 1,
                                  .correlation = 9,
                                  .graph = 4,
                                  .node = UINT64_C (0x100000002),
                                  .tid = 78,
                                  .start = 200,
                                  .end = 250 };
  host = compact_one (&node, sizeof node, LNS_WIRE_CUDA_HOST_FUNCTION, sizeof *host);
  LNS_CHECK_INT (host->head.ticks, 200);
  LNS_CHECK_INT (host->end_ticks, 250);
  LNS_CHECK_INT (host->tid, 78);
  LNS_CHECK_INT (host->graph_node, UINT64_C (0x100000002));
  LNS_CHECK_INT (host->graph, 4);
  check_place (&host->place, 1, 2, 7);
}

/* When a kernel was queued and submitted comes just before it, if it was asked for, in ticks. */
static void
test_latencies (void)
{
  const LnsWireCuptiLines lines = {
    .n = 1, .joints = { { .rate = UINT64_C (2) << LNS_WIRE_CUPTI_RATE_BITS } }
  };
  for (int asked = 0; asked < 3; asked++)
    {
      LnsWireCuptiSink with = sink;
      with.has_latencies = asked > 0;
      with.clock = asked > 1 ? &lines : NULL;
      const uint64_t factor = asked > 1 ? 2 : 1;
      CUpti_ActivityKernel10 from = kernel ();
      begin ();
      add (&from, sizeof from); /* CUPTI does not tell it */
      from.correlationId = 56;
      from.queued = 700;
      from.submitted = 800;
      add (&from, sizeof from);
      lns_wire_cupti_compact (&test.sizes, test.from, sizeof test.from, &with, NULL, &test.counts);
      LNS_CHECK_INT (test.counts.n_compacted, 2);
      const LnsWireCudaLatencyBytes *latency = NULL;
      for (size_t at = 0; at < test.n_bytes;)
        {
          const LnsWireCudaLatencyBytes *it = (const void *)(test.bytes + at);
          at += it->n_bytes;
          if (latency != NULL)
            LNS_CHECK (it->head.type == LNS_WIRE_CUDA_KERNEL && it->correlation == 56);
          if (it->head.type == LNS_WIRE_CUDA_LATENCY)
            latency = it;
        }
      LNS_CHECK_INT (latency != NULL, asked > 0);
      if (latency == NULL)
        continue;
      LNS_CHECK_INT (latency->head.ticks, 1000 * factor);
      LNS_CHECK_INT (latency->correlation, 56);
      LNS_CHECK_INT (latency->queued_ticks, 700 * factor);
      LNS_CHECK_INT (latency->submitted_ticks, 800 * factor);
    }
}

static void
test_context_switches (void)
{
  LnsCuptiSwitch from = { .kind = LNS_CUPTI_SWITCH, .context = 3, .timestamp = 100 };
  for (uint32_t operation = 1; operation <= 2; operation++)
    {
      from.operation = operation;
      const LnsWireCudaSwitchBytes *wire =
          compact_one (&from, sizeof from, LNS_WIRE_CUDA_SWITCH, sizeof *wire);
      LNS_CHECK_INT (wire->head.ticks, 100);
      LNS_CHECK_INT (wire->context, 3);
      LNS_CHECK_INT (wire->is_end, operation == 2);
    }
  /* The process of a context is behind what older versions have. */
  const LnsCuptiContext context = {
    .known = { .kind = CUPTI_ACTIVITY_KIND_CONTEXT, .contextId = 3 }, .pid = 4711
  };
  const LnsWireCudaContextBytes *wire =
      compact_one (&context, sizeof context, LNS_WIRE_CUDA_CONTEXT, sizeof *wire);
  LNS_CHECK_INT (wire->pid, 4711);
  wire = compact_one (&context, sizeof context.known, LNS_WIRE_CUDA_CONTEXT, sizeof *wire);
  LNS_CHECK_INT (wire->pid, 0);
}

int
main (void)
{
  LNS_TEST (test_api);
  LNS_TEST (test_kernel_generations);
  LNS_TEST (test_launch_slots);
  LNS_TEST (test_many_launches);
  LNS_TEST (test_copies);
  LNS_TEST (test_synchronisation);
  LNS_TEST (test_graphs);
  LNS_TEST (test_ranges);
  LNS_TEST (test_captured_launches);
  LNS_TEST (test_what_is_not_kept);
  LNS_TEST (test_calls_of_ours);
  LNS_TEST (test_data_of_overheads);
  LNS_TEST (test_green_contexts);
  LNS_TEST (test_host_functions);
  LNS_TEST (test_context_switches);
  LNS_TEST (test_latencies);
  return lns_tap_done ();
}
