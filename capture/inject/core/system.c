/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/core/system.h"

#include <signal.h>
#include <sys/mman.h>
#include <time.h>

void *
lns_inject_map (size_t n_bytes)
{
  LNS_KEEP_ERRNO;
  long memory = LNS_SYSCALL (SYS_mmap, NULL, n_bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory < 0 && memory > -4096)
    return NULL;
  (void)LNS_SYSCALL (SYS_madvise, memory, n_bytes, MADV_NOHUGEPAGE);
  return (void *)memory;
}

void
lns_inject_unmap (void *memory, size_t n_bytes)
{
  LNS_KEEP_ERRNO;
  (void)LNS_SYSCALL (SYS_munmap, memory, n_bytes);
}

int64_t
lns_inject_monotonic_ms (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

#define BIT(Signal) (UINT64_C (1) << ((Signal)-1))

uint64_t
lns_inject_block_signals (void)
{
  /* Leaves signals of faults open, and the two that glibc uses itself, for which setuid() in another thread waits. */
  const uint64_t open_signals = BIT (SIGILL) | BIT (SIGTRAP) | BIT (SIGBUS) | BIT (SIGFPE) |
                                BIT (SIGSEGV) | BIT (32) | BIT (33);
  const uint64_t blocked = ~open_signals;
  uint64_t before = 0;
  (void)LNS_SYSCALL (SYS_rt_sigprocmask, SIG_BLOCK, &blocked, &before, sizeof blocked);
  return before;
}

void
lns_inject_unblock_signals (uint64_t before)
{
  (void)LNS_SYSCALL (SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
}
