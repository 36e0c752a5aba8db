/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The least that recording can cost: a CUPTI client for CUDA_INJECTION64_PATH that enables the same kinds as
 * `lanescope profile -t cuda`, leaves the same calls out, and discards the records. Without a libcupti of CUDA 12 or 13 it
 * ends the program, because a run without it would look as if it cost nothing.
 *
 * With LNS_BARE_OUT=FILE it counts the kernels instead, and those without times: at the end of the program, FILE has
 * {"kernels":N,"timeless":N,"dropped":N}. With LNS_BARE_CLOCK=callback, CUPTI gets a clock from it instead of its own.
 * LNS_BARE_CUPTI names the folder of the libcupti that is used. */

#include <cupti.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lns-cuda-calls-generated.h"

#define BUFFER_BYTES (1 << 20)
#define MAX_KEPT     64

static const CUpti_ActivityKind kinds[] = {
  CUPTI_ACTIVITY_KIND_RUNTIME,           CUPTI_ACTIVITY_KIND_DRIVER,
  CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
  CUPTI_ACTIVITY_KIND_MEMCPY2,           CUPTI_ACTIVITY_KIND_MEMSET,
  CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,   CUPTI_ACTIVITY_KIND_OVERHEAD
};

static struct
{
  __typeof__ (cuptiActivityRegisterCallbacks) *register_callbacks;
  __typeof__ (cuptiActivityRegisterTimestampCallback) *register_clock;
  __typeof__ (cuptiActivitySetAttribute) *set_attribute;
  __typeof__ (cuptiActivityEnable) *enable;
  __typeof__ (cuptiActivityEnableRuntimeApi) *enable_runtime;
  __typeof__ (cuptiActivityEnableDriverApi) *enable_driver;
  __typeof__ (cuptiActivityGetNextRecord) *next_record;
  __typeof__ (cuptiActivityGetNumDroppedRecords) *dropped;
  __typeof__ (cuptiActivityFlushAll) *flush_all;
} cupti;

/* Buffers are used again and are zeroed here, as Lanescope does, not on the program's threads. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *kept[MAX_KEPT];
static size_t n_kept;
static const char *out;
static uint64_t n_kernels, n_timeless, n_dropped;

static uint64_t
now_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void
request_cb (uint8_t **ret_buffer, size_t *ret_bytes, size_t *ret_max_records)
{
  pthread_mutex_lock (&lock);
  *ret_buffer = n_kept > 0 ? kept[--n_kept] : NULL;
  pthread_mutex_unlock (&lock);
  if (*ret_buffer == NULL)
    *ret_buffer = calloc (1, BUFFER_BYTES);
  *ret_bytes = *ret_buffer != NULL ? BUFFER_BYTES : 0;
  *ret_max_records = 0;
}

static void
count (CUcontext context, uint32_t stream, uint8_t *buffer, size_t valid_bytes)
{
  CUpti_Activity *record = NULL;
  size_t n = 0;
  while (cupti.next_record (buffer, valid_bytes, &record) == CUPTI_SUCCESS)
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
      {
        /* Later versions of the record have the same first fields. */
        const CUpti_ActivityKernel9 *kernel = (const CUpti_ActivityKernel9 *)record;
        n_kernels++;
        n_timeless += kernel->start == 0 || kernel->end < kernel->start;
      }
  if (cupti.dropped (context, stream, &n) == CUPTI_SUCCESS)
    n_dropped += n;
}

static void
complete_cb (CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid_bytes)
{
  if (out == NULL)
    memset (buffer, 0, valid_bytes);
  pthread_mutex_lock (&lock);
  if (out != NULL)
    count (context, stream, buffer, valid_bytes);
  if (out == NULL && n_kept < MAX_KEPT)
    {
      kept[n_kept++] = buffer;
      buffer = NULL;
    }
  pthread_mutex_unlock (&lock);
  free (buffer);
}

static void
finish (void)
{
  cupti.flush_all (CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  FILE *file = out != NULL ? fopen (out, "w") : NULL;
  if (file == NULL)
    return;
  pthread_mutex_lock (&lock);
  fprintf (file, "{\"kernels\":%llu,\"timeless\":%llu,\"dropped\":%llu}\n",
           (unsigned long long)n_kernels, (unsigned long long)n_timeless,
           (unsigned long long)n_dropped);
  pthread_mutex_unlock (&lock);
  fclose (file);
}

static bool
is_set (const char *variable, const char *value)
{
  const char *is = getenv (variable);
  return is != NULL && strcmp (is, value) == 0;
}

static void *
open_cupti (void)
{
  static const char *const names[] = { "libcupti.so.13", "libcupti.so.12" };
  const char *folder = getenv ("LNS_BARE_CUPTI");
  char path[PATH_MAX];
  void *library = NULL;
  for (int i = 0; folder != NULL && i < 2 && library == NULL; i++)
    {
      snprintf (path, sizeof path, "%s/%s", folder, names[i]);
      library = dlopen (path, RTLD_NOW | RTLD_LOCAL);
    }
  if (folder != NULL && library == NULL)
    {
      fprintf (stderr, "bare-client: %s\n", dlerror ());
      _exit (77);
    }
  /* The library that the program has loaded comes first: PyTorch brings its own. */
  for (int i = 0; i < 4 && library == NULL; i++)
    library = dlopen (names[i % 2], RTLD_NOW | RTLD_LOCAL | (i < 2 ? RTLD_NOLOAD : 0));
  if (library == NULL)
    library = dlopen ("/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL)
    {
      fprintf (stderr, "bare-client: %s\n", dlerror ());
      _exit (77);
    }
  return library;
}

static void
find_functions (void)
{
  void *library = open_cupti ();
  cupti.register_callbacks = dlsym (library, "cuptiActivityRegisterCallbacks");
  cupti.register_clock = dlsym (library, "cuptiActivityRegisterTimestampCallback");
  cupti.set_attribute = dlsym (library, "cuptiActivitySetAttribute");
  cupti.enable = dlsym (library, "cuptiActivityEnable");
  cupti.enable_runtime = dlsym (library, "cuptiActivityEnableRuntimeApi"); /* from 12.5 on */
  cupti.enable_driver = dlsym (library, "cuptiActivityEnableDriverApi");
  cupti.next_record = dlsym (library, "cuptiActivityGetNextRecord");
  cupti.dropped = dlsym (library, "cuptiActivityGetNumDroppedRecords");
  cupti.flush_all = dlsym (library, "cuptiActivityFlushAll");
}

static CUptiResult
start (void)
{
  uint8_t yes = 1;
  size_t n_bytes = sizeof yes;
  CUptiResult result = cupti.register_callbacks (request_cb, complete_cb);
  if (result == CUPTI_SUCCESS && is_set ("LNS_BARE_CLOCK", "callback"))
    result = cupti.register_clock (now_ns);
  if (result == CUPTI_SUCCESS)
    result = cupti.set_attribute (CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &n_bytes, &yes);
  for (size_t i = 0; result == CUPTI_SUCCESS && i < sizeof kinds / sizeof *kinds; i++)
    result = cupti.enable (kinds[i]);
  for (const LnsCudaCall *question = lns_cuda_questions; question->cbid != 0; question++)
    if (question->is_runtime && cupti.enable_runtime != NULL)
      (void)cupti.enable_runtime (question->cbid, 0);
    else if (!question->is_runtime && cupti.enable_driver != NULL)
      (void)cupti.enable_driver (question->cbid, 0);
  return result;
}

int InitializeInjection (void);

/* The CUDA driver calls this in each process that uses CUDA. Returns 1: stay loaded. */
__attribute__ ((visibility ("default"))) int
InitializeInjection (void)
{
  out = getenv ("LNS_BARE_OUT");
  find_functions ();
  const CUptiResult result = start ();
  if (result != CUPTI_SUCCESS)
    {
      fprintf (stderr, "bare-client: CUPTI result %d\n", (int)result);
      _exit (77);
    }
  atexit (finish);
  return 1;
}
