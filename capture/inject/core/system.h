/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* System calls, made through syscall() alone: libc's own wrappers are cancellation points, may be interposed by the
 * program or other tools, and some need versions of glibc that are too new. Each returns the call's result or -errno.
 * Every slow path keeps the caller's errno by LNS_KEEP_ERRNO. */

#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline void
lns_restore_errno (const int *saved)
{
  errno = *saved;
}

/* Gives the program back its errno at the end of the block. */
#define LNS_KEEP_ERRNO                                                                             \
 __attribute__ ((cleanup (lns_restore_errno), unused)) const int saved_errno = errno

static inline long
lns_or_errno (long result)
{
  return result < 0 ? -(long)errno : result;
}

#define LNS_SYSCALL(...) lns_or_errno (syscall (__VA_ARGS__))

/* Anonymous private memory of N_BYTES, zeroed, and never backed by huge pages, as a few touched bytes must not cost
 * 2 MiB. Null if there is none. These two keep errno. */
void *lns_inject_map (size_t n_bytes);

void lns_inject_unmap (void *memory, size_t n_bytes);

/* CLOCK_MONOTONIC in ms. */
int64_t lns_inject_monotonic_ms (void);

/* Blocks all signals of this thread and returns the old mask, which lns_inject_unblock() restores. For short pieces of
 * code that a signal handler which uses NVTX must not interrupt. */
uint64_t lns_inject_block_signals (void);
void lns_inject_unblock_signals (uint64_t before);

/* What atexit() and pthread_atfork() call: these are in glibc's static part, and would name this library. */
extern int __cxa_atexit (void (*function) (void *), void *argument, void *dso);
extern int
__register_atfork (void (*prepare) (void), void (*parent) (void), void (*child) (void), void *dso);
extern void *__dso_handle;
