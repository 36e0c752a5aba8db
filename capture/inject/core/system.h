/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* System calls, made by this library itself: libc's wrappers are cancellation points, may be interposed by the program or other
 * tools, and some need versions of glibc that are too new. Besides, the session tells these calls from those of the program by
 * where they are made (wire/own-calls.h). Each returns the call's result or -errno, and leaves errno alone on machines that are
 * named below. Every slow path keeps the caller's errno by LNS_KEEP_ERRNO. */

#pragma once

#include "capture/wire/own-calls.h"

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

/* The registers are those of syscall(2). */
static inline long
lns_system_call (
    long number, long first, long second, long third, long fourth, long fifth, long sixth)
{
#if defined __x86_64__ && defined __LP64__
  long result;
  register long in_r10 __asm__("r10") = fourth;
  register long in_r8 __asm__("r8") = fifth;
  register long in_r9 __asm__("r9") = sixth;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(first), "S"(second), "d"(third), "r"(in_r10), "r"(in_r8),
                     "r"(in_r9)
                   : "rcx", "r11", "memory");
  return result;
#elif defined __aarch64__ && defined __LP64__
  register long in_x8 __asm__("x8") = number;
  register long in_x0 __asm__("x0") = first;
  register long in_x1 __asm__("x1") = second;
  register long in_x2 __asm__("x2") = third;
  register long in_x3 __asm__("x3") = fourth;
  register long in_x4 __asm__("x4") = fifth;
  register long in_x5 __asm__("x5") = sixth;
  __asm__ volatile("svc #0"
                   : "+r"(in_x0)
                   : "r"(in_x8), "r"(in_x1), "r"(in_x2), "r"(in_x3), "r"(in_x4), "r"(in_x5)
                   : "memory");
  return in_x0;
#else
  const long result = syscall (number, first, second, third, fourth, fifth, sixth);
  return result < 0 ? -(long)errno : result;
#endif
}

/* The call NUMBER with up to six parameters: integers or pointers. */
#define LNS_SYSCALL(...) LNS_SYSCALL_OF (__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define LNS_SYSCALL_OF(number, first, second, third, fourth, fifth, sixth, ...)                    \
 lns_system_call (number, (long)(first), (long)(second), (long)(third), (long)(fourth),            \
                  (long)(fifth), (long)(sixth))

/* Tells the session that what this thread does from here on is Lanescope's own work, or, with LNS_WIRE_OWN_END, the program's
 * again. Costs a system call. */
static inline void
lns_mark_own (uint64_t mark)
{
  (void)LNS_SYSCALL (SYS_gettid, mark);
}

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
