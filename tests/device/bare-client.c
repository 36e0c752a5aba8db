/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The least that recording can cost: a CUPTI client for CUDA_INJECTION64_PATH that enables the same kinds as
 * `lanescope profile -t cuda` and discards the buffers. Without a libcupti of CUDA 12 or 13 it ends the program,
 * because a run without it would look as if it cost nothing. */

#include <cupti.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BUFFER_BYTES (1 << 20)

static const CUpti_ActivityKind kinds[] = {
  CUPTI_ACTIVITY_KIND_RUNTIME,           CUPTI_ACTIVITY_KIND_DRIVER,
  CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
  CUPTI_ACTIVITY_KIND_MEMCPY2,           CUPTI_ACTIVITY_KIND_MEMSET,
  CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,   CUPTI_ACTIVITY_KIND_OVERHEAD
};

static __typeof__ (cuptiActivityFlushAll) *flush_all;

static void
request_cb (uint8_t **ret_buffer, size_t *ret_bytes, size_t *ret_max_records)
{
  *ret_buffer = aligned_alloc (8, BUFFER_BYTES);
  *ret_bytes = *ret_buffer != NULL ? BUFFER_BYTES : 0;
  *ret_max_records = 0;
}

static void
complete_cb (CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid_bytes)
{
  free (buffer);
}

static void
flush_at_exit (void)
{
  flush_all (CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

int InitializeInjection (void);

/* The CUDA driver calls this in each process that uses CUDA. Returns 1: stay loaded. */
__attribute__ ((visibility ("default"))) int
InitializeInjection (void)
{
  /* The library that the program has loaded comes first: PyTorch brings its own. */
  static const char *const names[] = { "libcupti.so.13", "libcupti.so.12" };
  void *library = NULL;
  for (int i = 0; i < 4 && library == NULL; i++)
    library = dlopen (names[i % 2], RTLD_NOW | RTLD_LOCAL | (i < 2 ? RTLD_NOLOAD : 0));
  if (library == NULL)
    library = dlopen ("/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL)
    {
      fprintf (stderr, "bare-client: %s\n", dlerror ());
      _exit (77);
    }
  __typeof__ (cuptiActivityRegisterCallbacks) *register_callbacks =
      dlsym (library, "cuptiActivityRegisterCallbacks");
  __typeof__ (cuptiActivityEnable) *enable = dlsym (library, "cuptiActivityEnable");
  flush_all = dlsym (library, "cuptiActivityFlushAll");
  CUptiResult result = register_callbacks (request_cb, complete_cb);
  for (size_t i = 0; result == CUPTI_SUCCESS && i < sizeof kinds / sizeof *kinds; i++)
    result = enable (kinds[i]);
  if (result != CUPTI_SUCCESS)
    {
      fprintf (stderr, "bare-client: CUPTI result %d\n", (int)result);
      _exit (77);
    }
  atexit (flush_at_exit);
  return 1;
}
