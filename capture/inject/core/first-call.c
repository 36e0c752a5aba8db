/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/core/first-call.h"
#include "capture/inject/core/oldest-glibc.h"
#include "capture/inject/core/system.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/uio.h>

LNS_OLDEST (pthread_self);

/* So many threads are in first calls at a time, of a link unit each; further ones are not noted. */
#define N_CALLS 8

/* NVTX changes the word within microseconds. After this time it is not looked at any more, as a library that was
 * unloaded may have had it. */
#define CALL_MAX_MS 1000

static struct
{
  bool is_taken;
  size_t n_bytes;
  uint64_t started;
  pthread_t thread; /* has the same value in the child of a fork, unlike an id */
  int64_t begun_ms;
  volatile void *state; /* stored last; null: nothing else counts */
} calls[N_CALLS];

void
lns_first_call_begin (volatile void *state, size_t n_bytes, uint64_t started)
{
  for (size_t i = 0; i < N_CALLS; i++)
    if (!__atomic_load_n (&calls[i].is_taken, __ATOMIC_RELAXED) &&
        !__atomic_exchange_n (&calls[i].is_taken, true, __ATOMIC_ACQUIRE))
      {
        calls[i].n_bytes = n_bytes;
        calls[i].started = started;
        calls[i].thread = pthread_self ();
        calls[i].begun_ms = lns_inject_monotonic_ms ();
        __atomic_store_n (&calls[i].state, state, __ATOMIC_RELEASE);
        return;
      }
}

/* Two threads may forget the same call. */
static void
forget (size_t i)
{
  if (__atomic_exchange_n (&calls[i].state, NULL, __ATOMIC_ACQ_REL) != NULL)
    __atomic_store_n (&calls[i].is_taken, false, __ATOMIC_RELEASE);
}

void
lns_first_call_end (void)
{
  for (size_t i = 0; i < N_CALLS; i++)
    if (__atomic_load_n (&calls[i].state, __ATOMIC_ACQUIRE) != NULL &&
        pthread_equal (calls[i].thread, pthread_self ()))
      forget (i);
}

/* Before each fork. Keeps children from looking at what is over. */
static void
forget_old (void)
{
  for (size_t i = 0; i < N_CALLS; i++)
    if (__atomic_load_n (&calls[i].state, __ATOMIC_ACQUIRE) != NULL &&
        lns_inject_monotonic_ms () - calls[i].begun_ms > CALL_MAX_MS)
      forget (i);
}

/* Whether the word of the call I says that a thread is in it. Read by the kernel, which refuses where the word's library
 * was unloaded. */
static bool
is_started (size_t i)
{
  uint64_t word = 0;
  struct iovec here = { &word, calls[i].n_bytes };
  struct iovec there = { (void *)calls[i].state, calls[i].n_bytes };
  return LNS_SYSCALL (SYS_process_vm_readv, LNS_SYSCALL (SYS_getpid), &here, 1, &there, 1, 0) ==
             (long)calls[i].n_bytes &&
         word == calls[i].started;
}

/* In the child, which has one thread: the one that forked. If that was in a first call itself, it goes on with it. */
static void
restore_in_child (void)
{
  LNS_KEEP_ERRNO;
  for (size_t i = 0; i < N_CALLS; i++)
    {
      if (calls[i].state == NULL || pthread_equal (calls[i].thread, pthread_self ()))
        continue;
      if (is_started (i) && calls[i].n_bytes == sizeof (uint32_t))
        *(volatile uint32_t *)calls[i].state = 0;
      else if (is_started (i))
        *(volatile uint64_t *)calls[i].state = 0;
      forget (i);
    }
}

__attribute__ ((constructor)) static void
watch_forks (void)
{
  __register_atfork (forget_old, NULL, restore_in_child, __dso_handle);
}
