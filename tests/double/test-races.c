/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Runs the double with many threads, compiled with the thread sanitizer: launches, pools, flushes, and kinds
 * that are enabled and disabled. Of the kinds that stay enabled, every record is counted. */

#include "tests/double/gpu/gpu.h"
#include "tests/tap.h"

#include <cupti.h>

#include <pthread.h>

#define THREADS 4
#define ROUNDS  200

static unsigned n_kernels, n_memory, n_other, n_dropped, stopped;

static void
request_cb (uint8_t **buffer, size_t *size, size_t *max_records)
{
  *size = 4096;
  *max_records = 0;
  *buffer = aligned_alloc (8, *size);
}

static void
complete_cb (CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid_bytes)
{
  CUpti_Activity *record = NULL;
  while (cuptiActivityGetNextRecord (buffer, valid_bytes, &record) == CUPTI_SUCCESS)
    {
      unsigned *counter = record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ? &n_kernels
                          : record->kind == CUPTI_ACTIVITY_KIND_MEMORY2         ? &n_memory
                                                                                : &n_other;
      __atomic_add_fetch (counter, 1, __ATOMIC_RELAXED);
    }
  free (buffer);
}

static void
callback_cb (void *data, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *what)
{
  __atomic_add_fetch ((unsigned *)data, 1, __ATOMIC_RELAXED);
}

typedef struct
{
  CUcontext context;
  CUfunction function;
  CUmemoryPool pool;
  int failures;
} Work;

/* Calls as the runtime makes them: each operation lies between an entry and an exit. */
static void *
work_cb (void *data)
{
  Work *work = data;
  CUstream stream;
  lns_gpu_context_set_current (work->context);
  int failures = lns_gpu_stream_create (CU_STREAM_NON_BLOCKING, 0, &stream);
  LnsGpuKernel kernel = { .function = work->function, .grid = { 2, 1, 1 }, .block = { 32, 1, 1 } };
  for (int i = 0; i < ROUNDS; i++)
    {
      void *memory;
      LnsGpuCall call = { .domain = CUPTI_CB_DOMAIN_RUNTIME_API,
                          .cbid = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
                          .name = "cudaLaunchKernel" };
      failures += lns_gpu_call_enter (&call) != 0;
      failures += lns_gpu_pool_allocate (work->pool, 4096, stream, &memory) != 0;
      failures += lns_gpu_launch (stream, &kernel) != 0;
      failures += lns_gpu_pool_release (memory, stream) != 0;
      lns_gpu_call_exit (&call, 0);
    }
  failures += lns_gpu_stream_synchronize (stream) != 0;
  failures += lns_gpu_stream_destroy (stream) != 0;
  __atomic_add_fetch (&work->failures, failures, __ATOMIC_RELAXED);
  return NULL;
}

/* The tool, in another thread: flushes, queries, and enables other kinds. */
static void *
meddle_cb (void *data)
{
  CUpti_SubscriberHandle subscriber = data;
  for (unsigned i = 0; !__atomic_load_n (&stopped, __ATOMIC_RELAXED); i++)
    {
      size_t dropped;
      cuptiActivityFlushAll (0);
      cuptiActivityGetNumDroppedRecords (NULL, 0, &dropped);
      __atomic_add_fetch (&n_dropped, (unsigned)dropped, __ATOMIC_RELAXED);
      (i % 2 ? cuptiActivityEnable : cuptiActivityDisable) (CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
      (i % 3 ? cuptiActivityEnable : cuptiActivityDisable) (CUPTI_ACTIVITY_KIND_RUNTIME);
      cuptiActivityEnableRuntimeApi (211, i % 2);
      cuptiEnableDomain (i % 2, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
    }
  return NULL;
}

static void
test_all_at_once (void)
{
  static unsigned n_callbacks;
  CUpti_SubscriberHandle subscriber;
  pthread_t threads[THREADS], meddler;
  Work work = { 0 };
  LNS_CHECK_INT (cuptiSubscribe (&subscriber, callback_cb, &n_callbacks), CUPTI_SUCCESS);
  LNS_CHECK_INT (cuptiActivityRegisterCallbacks (request_cb, complete_cb), CUPTI_SUCCESS);
  LNS_CHECK_INT (cuptiActivityFlushPeriod (1), CUPTI_SUCCESS);
  LNS_CHECK_INT (cuptiActivityEnable (CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), CUPTI_SUCCESS);
  LNS_CHECK_INT (cuptiActivityEnable (CUPTI_ACTIVITY_KIND_MEMORY2), CUPTI_SUCCESS);
  LNS_CHECK_INT (lns_gpu_initialize (), 0);
  LNS_CHECK_INT (lns_gpu_context_create (0, &work.context), 0);
  LNS_CHECK_INT (lns_gpu_pool_create (0, &work.pool), 0);
  work.function = lns_gpu_module_function (lns_gpu_module_new (".entry work("), "work");
  LNS_CHECK (work.function != NULL);
  pthread_create (&meddler, NULL, meddle_cb, subscriber);
  for (int i = 0; i < THREADS; i++)
    pthread_create (&threads[i], NULL, work_cb, &work);
  for (int i = 0; i < THREADS; i++)
    pthread_join (threads[i], NULL);
  __atomic_store_n (&stopped, 1, __ATOMIC_RELAXED);
  pthread_join (meddler, NULL);
  LNS_CHECK_INT (lns_gpu_context_synchronize (work.context), 0);
  LNS_CHECK_INT (cuptiFinalize (), CUPTI_SUCCESS);
  LNS_CHECK_INT (work.failures, 0);
  LNS_CHECK_INT (n_kernels, THREADS * ROUNDS);
  LNS_CHECK_INT (n_memory, 2 * THREADS * ROUNDS);
  LNS_CHECK_INT (n_dropped, 0);
}

int
main (void)
{
  LNS_TEST (test_all_at_once);
  return lns_tap_done ();
}
