/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests how CUPTI records of memory, definitions and everything else but GPU operations become
 * wire records, in every CUPTI version. */

#include "tests/unit/cupti-fixture.h"

static void
test_overhead_and_jit (void)
{
  CUpti_ActivityOverhead3 overhead = { .kind = CUPTI_ACTIVITY_KIND_OVERHEAD,
                                       .overheadKind = 1 << 16,
                                       .objectKind = CUPTI_ACTIVITY_OBJECT_THREAD,
                                       .objectId.pt = { 1, 42 },
                                       .start = 10,
                                       .end = 20,
                                       .correlationId = 4 };
  for (int old = 0; old < 2; old++)
    {
      const LnsWireCudaOverheadBytes *wire =
          compact_one (&overhead, old ? 40 : 56, LNS_WIRE_CUDA_OVERHEAD, sizeof *wire);
      LNS_CHECK (wire->kind == 1 << 16 && wire->tid == 42 && wire->end_ticks == 20);
      LNS_CHECK_INT (wire->correlation, old ? 0 : 4);
    }
  overhead.objectKind = CUPTI_ACTIVITY_OBJECT_PROCESS;
  const LnsWireCudaOverheadBytes *of_process =
      compact_one (&overhead, sizeof overhead, LNS_WIRE_CUDA_OVERHEAD, sizeof *of_process);
  LNS_CHECK_INT (of_process->tid, 0);
  CUpti_ActivityJit2 jit = { .kind = CUPTI_ACTIVITY_KIND_JIT,
                             .jitEntryType = 1,
                             .jitOperationType = 2,
                             .deviceId = 1,
                             .start = 10,
                             .end = 20,
                             .correlationId = 4,
                             .cacheSize = 100,
                             .cachePath = (const char *)0x40,
                             .threadId = 42 };
  for (int old = 0; old < 2; old++)
    {
      const LnsWireCudaJitBytes *wire =
          compact_one (&jit, old ? 64 : 72, LNS_WIRE_CUDA_JIT, sizeof *wire);
      LNS_CHECK (wire->entry == 1 && wire->operation == 2 && wire->cache_bytes == 100);
      LNS_CHECK_INT (wire->head.string, 0x40);
      LNS_CHECK_INT (wire->tid, old ? 0 : 42);
    }
}

static void
test_memory (void)
{
  CUpti_ActivityMemory4 memory = { .kind = CUPTI_ACTIVITY_KIND_MEMORY2,
                                   .memoryOperationType = 1,
                                   .memoryKind = 3,
                                   .correlationId = 4,
                                   .address = 0x7000,
                                   .bytes = 512,
                                   .timestamp = 10,
                                   .PC = 0x400,
                                   .deviceId = 1,
                                   .contextId = 2,
                                   .streamId = 3,
                                   .name = (const char *)0x50,
                                   .isAsync = 1,
                                   .memoryPoolConfig = { .memoryPoolType = 1,
                                                         .address = 0x9000,
                                                         .releaseThreshold = 11,
                                                         .pool.size = 12,
                                                         .utilizedSize = 13 } };
  static const size_t sizes[] = { 112, 120, 128 };
  for (size_t i = 0; i < 3; i++)
    {
      const LnsWireCudaMemoryBytes *wire =
          compact_one (&memory, sizes[i], LNS_WIRE_CUDA_MEMORY, sizeof *wire);
      LNS_CHECK (wire->head.ticks == 10 && wire->head.string == 0x50);
      LNS_CHECK (wire->address == 0x7000 && wire->size_bytes == 512 && wire->pc == 0x400);
      LNS_CHECK (wire->operation == 1 && wire->memory_kind == 3 && wire->is_async == 1);
      LNS_CHECK (wire->pool_type == 1 && wire->pool_address == 0x9000);
      LNS_CHECK (wire->pool_threshold == 11 && wire->pool_size == 12);
      LNS_CHECK_INT (wire->pool_utilized, sizes[i] >= 120 ? 13 : 0);
      check_place (&wire->place, 1, 2, 3);
    }
  CUpti_ActivityMemoryPool3 pool = { .kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL,
                                     .memoryPoolOperationType = 2,
                                     .memoryPoolType = 1,
                                     .correlationId = 4,
                                     .deviceId = 1,
                                     .minBytesToKeep = 5,
                                     .address = 0x9000,
                                     .size = 6,
                                     .releaseThreshold = 7,
                                     .timestamp = 10,
                                     .utilizedSize = 8 };
  const LnsWireCudaPoolBytes *wire = compact_one (&pool, 72, LNS_WIRE_CUDA_POOL, sizeof *wire);
  LNS_CHECK (wire->operation == 2 && wire->pool_type == 1 && wire->min_bytes_to_keep == 5);
  LNS_CHECK (wire->pool_size == 6 && wire->pool_threshold == 7 && wire->pool_utilized == 8);
  LNS_CHECK (wire->device == 1 && wire->address == 0x9000 && wire->head.ticks == 10);
  CUpti_ActivityUnifiedMemoryCounter3 unified = { .kind =
                                                      CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,
                                                  .counterKind = 1,
                                                  .value = 65536,
                                                  .start = 10,
                                                  .end = 0,
                                                  .address = 0x8000,
                                                  .srcId = 1,
                                                  .dstId = 2,
                                                  .streamId = 3,
                                                  .flags = 4 };
  const LnsWireCudaUnifiedBytes *fault =
      compact_one (&unified, 64, LNS_WIRE_CUDA_UNIFIED, sizeof *fault);
  LNS_CHECK (fault->counter == 1 && fault->value == 65536 && fault->address == 0x8000);
  LNS_CHECK (fault->source == 1 && fault->destination == 2 && fault->flags == 4);
  LNS_CHECK (fault->head.ticks == 10 && fault->end_ticks == 10);
}

static void
test_definitions (void)
{
  CUpti_ActivityDevice5 device = { .kind = CUPTI_ACTIVITY_KIND_DEVICE,
                                   .id = 3,
                                   .globalMemorySize = UINT64_C (80) << 30,
                                   .numMultiprocessors = 132,
                                   .computeCapabilityMajor = 9,
                                   .maxGridDimZ = 65535,
                                   .name = (const char *)0x60,
                                   .uuid.bytes = { 1, 2 },
                                   .isMigEnabled = 1,
                                   .migUuid.bytes = { 3, 4 } };
  for (int old = 0; old < 2; old++)
    {
      const LnsWireCudaDeviceBytes *wire =
          compact_one (&device, old ? offsetof (CUpti_ActivityDevice5, isCudaVisible) : 184,
                       LNS_WIRE_CUDA_DEVICE, sizeof *wire);
      LNS_CHECK (wire->number == 3 && wire->n_multiprocessors == 132 && wire->compute_major == 9);
      LNS_CHECK (wire->memory_bytes == UINT64_C (80) << 30 && wire->max_grid[2] == 65535);
      LNS_CHECK_INT (wire->head.string, 0x60);
      LNS_CHECK_INT (wire->is_mig, !old);
      LNS_CHECK_INT (wire->uuid[0], old ? 1 : 3);
      LNS_CHECK_STR (wire->bus, "0000:03:00.0");
    }
  CUpti_ActivityContext3 context = { .kind = CUPTI_ACTIVITY_KIND_CONTEXT,
                                     .contextId = 5,
                                     .deviceId = 3,
                                     .nullStreamId = 7,
                                     .parentContextId = 4,
                                     .isGreenContext = 1,
                                     .numMultiprocessors = 66 };
  for (int old = 0; old < 2; old++)
    {
      const LnsWireCudaContextBytes *wire =
          compact_one (&context, old ? 16 : 32, LNS_WIRE_CUDA_CONTEXT, sizeof *wire);
      LNS_CHECK (wire->number == 5 && wire->device == 3 && wire->null_stream == 7);
      LNS_CHECK_INT (wire->parent, old ? LNS_WIRE_CUDA_NONE : 4);
      LNS_CHECK_INT (wire->n_multiprocessors, old ? 0 : 66);
    }
  CUpti_ActivityStream stream = { .kind = CUPTI_ACTIVITY_KIND_STREAM,
                                  .contextId = 5,
                                  .streamId = 9,
                                  .priority = (uint32_t)-2,
                                  .flag = 2 };
  const LnsWireCudaStreamBytes *wire =
      compact_one (&stream, sizeof stream, LNS_WIRE_CUDA_STREAM, sizeof *wire);
  LNS_CHECK (wire->number == 9 && wire->context == 5 && wire->priority == -2 && wire->flags == 2);
}

int
main (void)
{
  LNS_TEST (test_overhead_and_jit);
  LNS_TEST (test_memory);
  LNS_TEST (test_definitions);
  return lns_tap_done ();
}
