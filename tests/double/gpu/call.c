/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The process: initialisation, which loads the injected library; correlation ids of calls; fork. */

#include "tests/double/gpu/private.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

pthread_mutex_t _lns_gpu_lock = PTHREAD_MUTEX_INITIALIZER;
const LnsGpuTracer *_lns_gpu_tracer;
static const LnsGpuTracer *parents_tracer; /* in a forked child: receives calls only */

enum
{
  STATE_NEW,
  STATE_INITIALIZING,
  STATE_READY,
  STATE_FAILED,
};

static pthread_mutex_t init_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int state;
static int init_result;
static bool forked;
static uint32_t last_correlation;
static __thread LnsGpuCall *current_call;

int64_t
lns_gpu_now (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

void
lns_gpu_wait_until (int64_t time_ns)
{
  struct timespec until = { time_ns / 1000000000, time_ns % 1000000000 };
  if (lns_gpu_now () < time_ns)
    while (clock_nanosleep (CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0)
      continue;
}

static void
forked_cb (void)
{
  forked = state != STATE_NEW;
  current_call = NULL;
  /* A thread of the parent that does not exist here may have held the lock. */
  pthread_mutex_init (&_lns_gpu_lock, NULL);
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init (&recursive);
  pthread_mutexattr_settype (&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init (&init_lock, &recursive);
  if (_lns_gpu_tracer != NULL)
    parents_tracer = _lns_gpu_tracer;
  __atomic_store_n (&_lns_gpu_tracer, NULL, __ATOMIC_RELEASE);
}

static void
tell_call (LnsGpuCall *call, bool is_exit)
{
  LNS_GPU_TELL (call, call, is_exit);
  if (forked && parents_tracer != NULL)
    parents_tracer->call (call, is_exit);
}

/* Loads the tool inside cuInit, as NVIDIA's driver does. */
static void
load_injection (void)
{
  const char *path = getenv ("CUDA_INJECTION64_PATH");
  if (path == NULL || *path == '\0' || strcmp (path, "none") == 0)
    return;
  void *library = dlopen (path, RTLD_NOW);
  if (library == NULL)
    return;
  int (*initialize) (void);
  *(void **)&initialize = dlsym (library, "InitializeInjection");
  if (initialize != NULL)
    initialize ();
}

int
lns_gpu_initialize (void)
{
  if (forked)
    return CUDA_ERROR_NOT_INITIALIZED;
  if (__atomic_load_n (&state, __ATOMIC_ACQUIRE) == STATE_READY)
    return 0;
  pthread_mutex_lock (&init_lock);
  if (state == STATE_NEW)
    {
      pthread_atfork (NULL, NULL, forked_cb);
      state = STATE_INITIALIZING;
      init_result = lns_gpu_wanted_failure ("cuInit", -1);
      if (init_result == 0 && lns_gpu_device_count () == 0)
        init_result = CUDA_ERROR_NO_DEVICE;
      if (init_result == 0)
        load_injection ();
      __atomic_store_n (&state, init_result == 0 ? STATE_READY : STATE_FAILED, __ATOMIC_RELEASE);
      if (init_result == 0)
        LNS_GPU_TELL (resource, 5 /* CUPTI_CBID_RESOURCE_CU_INIT_FINISHED */, NULL, NULL, NULL);
    }
  int result = init_result;
  pthread_mutex_unlock (&init_lock);
  return result;
}

bool
lns_gpu_is_initialized (void)
{
  return !forked && __atomic_load_n (&state, __ATOMIC_ACQUIRE) == STATE_READY;
}

bool
lns_gpu_is_forked (void)
{
  return forked;
}

void
lns_gpu_set_tracer (const LnsGpuTracer *tracer)
{
  __atomic_store_n (&_lns_gpu_tracer, tracer, __ATOMIC_RELEASE);
}

int
lns_gpu_call_enter (LnsGpuCall *call)
{
  call->outer = current_call;
  call->correlation = __atomic_add_fetch (&last_correlation, 1, __ATOMIC_RELAXED);
  current_call = call;
  tell_call (call, false);
  int result = lns_gpu_wanted_failure (call->name, -1);
  if (result == 0 && forked)
    result = CUDA_ERROR_NOT_INITIALIZED;
  return result;
}

int
lns_gpu_call_exit (LnsGpuCall *call, int result)
{
  call->result = result;
  tell_call (call, true);
  current_call = call->outer;
  return result;
}

uint32_t
lns_gpu_correlation (void)
{
  const LnsGpuCall *call = current_call;
  while (call != NULL && call->outer != NULL)
    call = call->outer;
  return call != NULL ? call->correlation : 0;
}
