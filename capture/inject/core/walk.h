/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The callers of a function, found by frame pointers. Nothing is read that could fault: on the stack that the system gave
 * the thread, what lies between a frame and the stack's end stays mapped while the thread runs, and is read as it is. Any
 * other stack (of a coroutine, of a signal handler, one that the program brought) may be gone in part by the next
 * instruction of another thread, and is read by the kernel, which refuses where we would fault. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The stack that the system gave a thread: frames between LOW and HIGH may be read as they are. Both 0: none. */
typedef struct
{
  uintptr_t low, high;
} LnsStack;

/* What both functions need to work in, as the stack that they run on may be small. */
#define LNS_WALK_SCRATCH_BYTES 8192u

/* ADDRESS without the signature that AArch64 may put into its upper bits. */
static inline uint64_t
lns_walk_without_signature (uintptr_t address)
{
#if defined(__aarch64__)
  return address & ((UINT64_C (1) << 48) - 1);
#else
  return address;
#endif
}

/* Whether the program runs under Valgrind, which tells of decisions by memory that the program has not set, and may change the
 * exit code for it. Such memory is on every stack. What the kernel has copied counts as set. */
bool lns_walk_is_checked (void);

/* Finds the stack of this thread; IS_FIRST: it is the one that the program began with. Reads all mappings of the process.
 * Returns none for a thread whose stack the program itself has brought, and if memory is checked. */
LnsStack lns_walk_find_stack (bool is_first, void *scratch);

/* Puts the addresses to which the frame at FRAME (an address of a frame record) and its callers return into RET_ADDRESSES, the
 * innermost first. Returns how many there are, at most N_MAX; RET_IS_CUT says whether there are more. The walk ends where
 * the next frame does not lie further up in the stack, or can not be read. Returns -errno if the kernel does not read even
 * the first one of another stack. */
long lns_walk (LnsStack own,
               uintptr_t frame,
               void *scratch,
               uint64_t *ret_addresses,
               size_t n_max,
               bool *ret_is_cut);
