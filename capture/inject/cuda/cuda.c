/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/cuda/buffers.h"
#include "capture/inject/cuda/callbacks.h"
#include "capture/inject/cuda/calls.h"
#include "capture/inject/cuda/clock.h"
#include "capture/inject/cuda/kinds.h"
#include "capture/inject/cuda/records.h"
#include "capture/inject/core/system.h"
#include "capture/inject/core/join.h"

#include <fcntl.h>
#include <sys/mman.h>

#define LNS_EXPORT __attribute__ ((visibility ("default")))

LNS_EXPORT int InitializeInjection (void);

/* Compacting a buffer takes 1 ms where the processor is free. */
#define FINISH_MS 500

/* From glibc's static part: atexit() and pthread_atfork() would name this library. */
extern int __cxa_atexit (void (*function) (void *), void *argument, void *dso);
extern int
__register_atfork (void (*prepare) (void), void (*parent) (void), void (*child) (void), void *dso);
extern void *__dso_handle;

/* Where the pool's buffers begin; they are its end. */
static uint8_t *
buffers_end (void)
{
  return (uint8_t *)lns_process.pool.header + lns_process.pool.pool_bytes;
}

/* In a fork's child CUPTI has pointers to the parent's buffers and may write there: it gets memory of
 * its own in their place. */
static void
part_from_parent (void)
{
  if (lns_cuda_engine.generation == 0 || lns_process.pool.n_buffers == 0)
    return;
  LNS_KEEP_ERRNO;
  (void)LNS_SYSCALL (SYS_mmap, lns_process.pool.buffers,
                     (size_t)(buffers_end () - lns_process.pool.buffers), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/* In a fork's child that joins a session of its own: CUPTI's copies of pointers into the parent's pool must go
 * on to point to memory. */
static void
leave_parent (void)
{
  if (lns_cuda_engine.generation == 0 || lns_process.pool.n_buffers == 0)
    return;
  part_from_parent ();
  lns_process.pool.pool_bytes -= (size_t)(buffers_end () - lns_process.pool.buffers);
}

/* Waits for the threads that are compacting a buffer just now, and would die with it; what a thread
 * that takes longer leaves is salvaged. */
static void
wait_for_others (void)
{
  struct timespec pause = { .tv_nsec = 1000000 };
  for (int i = 0; i < FINISH_MS; i++)
    {
      if (__atomic_load_n (&lns_cuda_engine.n_compacting, __ATOMIC_ACQUIRE) == 0)
        return;
      (void)LNS_SYSCALL (SYS_nanosleep, &pause, NULL);
    }
}

/* Waits until the thread of ours knows the devices' bus ids: were the driver asked for them here, CUPTI
 * would record that as the program's own calls. */
static void
wait_for_buses (void)
{
  struct timespec pause = { .tv_nsec = 1000000 };
  for (int i = 0;
       i < FINISH_MS && __atomic_load_n (&lns_cuda_engine.has_thread, __ATOMIC_ACQUIRE) &&
       __atomic_load_n (&lns_process.pool.header->listens, __ATOMIC_ACQUIRE) == 0;
       i++)
    (void)LNS_SYSCALL (SYS_nanosleep, &pause, NULL);
}

/* exit() and return from main(): the last chance of what is not finished. */
static void
finish (void *unused)
{
  LNS_KEEP_ERRNO;
  if (!lns_cuda_is_here ())
    return;
  __atomic_store_n (&lns_cuda_engine.is_over, true, __ATOMIC_RELEASE);
  wait_for_buses ();
  lns_cuda_flush (true);
  wait_for_others ();
  lns_cuda_tell_dropped (NULL, 0);
}

/* Asks CUPTI who has subscribed; by trying to, since there is no other way. */
static void
ask_for_other (char *ret_name, size_t n_max)
{
  CUpti_SubscriberHandle subscriber;
  CUpti_SubscriberParams parameters = {
    /* As in CUDA 13.0: later ones know more, and older ones would refuse that. */
    .structSize = offsetof (CUpti_SubscriberParams, oldSubscriberSize) + sizeof (size_t),
    .subscriberName = "lanescope",
    .oldSubscriberName = ret_name,
    .oldSubscriberSize = n_max,
  };
  if (lns_cupti.Subscribe_v2 != NULL &&
      lns_cupti.Subscribe_v2 (&subscriber, lns_cuda_callback, NULL, &parameters) == CUPTI_SUCCESS)
    (void)LNS_CUPTI_TRY (Unsubscribe, subscriber);
  ret_name[n_max - 1] = '\0';
}

/* Subscribes; false where another tool has, or nobody can. By the first of the two functions: who
 * subscribes by the second must use only what belongs to it. */
static bool
subscribe (void)
{
  char other[64] = "";
  CUptiResult result = lns_cupti.Subscribe (&lns_cuda_engine.subscriber, lns_cuda_callback, NULL);
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
    {
      ask_for_other (other, sizeof other);
      lns_cuda_problem (LNS_WIRE_PROBLEM_BUSY, result, 0, other[0] == '\0' ? NULL : other);
    }
  else if (result != CUPTI_SUCCESS)
    lns_cuda_problem (LNS_WIRE_PROBLEM_SUBSCRIBE, result, 0, NULL);
  return result == CUPTI_SUCCESS;
}

/* Loads CUPTI and tells which; false where there is none that can be used. */
static bool
load (void)
{
  char words[512];
  int error = lns_cupti_load (lns_cuda_options ()->cupti_path, words, sizeof words);
  if (error == -ENOENT)
    lns_cuda_problem (LNS_WIRE_PROBLEM_NO_CUPTI, 0, 0, words[0] == '\0' ? NULL : words);
  else if (error < 0)
    lns_cuda_problem (LNS_WIRE_PROBLEM_OLD_CUPTI, lns_cupti.version, 0, NULL);
  lns_cuda_tell_info ();
  if (error < 0)
    return false;
  (void)lns_cuda_learn_sizes (false);
  return true;
}

/* In this order: who we are, the clock, the buffers, what all contexts are made with; records last. */
static void
start (uint64_t generation)
{
  static LnsProcessWatcher watcher = { .leave_parent = leave_parent,
                                       .follow_recording = lns_cuda_follow_recording };
  lns_cuda_engine.generation = generation;
  lns_process_add_watcher (&watcher);
  if (!load () || !subscribe ())
    goto fail;
  (void)LNS_CUPTI_TRY (SetThreadIdType, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  /* Without either of these nothing can be recorded. */
  if (!lns_cuda_share_clock () ||
      !LNS_CUPTI_TRY (ActivityRegisterCallbacks, lns_cuda_buffer_requested,
                      lns_cuda_buffer_completed))
    goto unsubscribe;
  __register_atfork (NULL, NULL, part_from_parent, __dso_handle);
  __cxa_atexit (finish, NULL, __dso_handle);
  lns_cuda_set_attributes ();
  lns_cuda_enable_callbacks ();
  if (lns_cuda_options ()->traces & LNS_WIRE_TRACE_CUDA)
    lns_cuda_enable_definitions ();
  lns_cuda_follow_recording ();
  return;

unsubscribe:
  (void)LNS_CUPTI_TRY (Unsubscribe, lns_cuda_engine.subscriber);
fail:
  lns_cuda_engine.generation = 0;
}

/* The CUDA driver calls this from within cuInit(), on the first thread that does. Returns 1: the
 * program goes on whatever has happened. */
int
InitializeInjection (void)
{
  static uint32_t is_started;
  LNS_KEEP_ERRNO;
  uint64_t generation = lns_process_join_patiently ();
  if (generation < LNS_GENERATION_FIRST)
    return 1;
  const LnsWireOptions *options = lns_cuda_options ();
  if (((options->traces & LNS_WIRE_TRACE_CUDA) ||
       options->range_kind == LNS_WIRE_RANGE_PROFILER_API) &&
      __atomic_exchange_n (&is_started, 1, __ATOMIC_ACQ_REL) == 0)
    start (generation);
  return 1;
}
