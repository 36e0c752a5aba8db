/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Threads that are in the first call of a link unit's NVTX. NVTX keeps a word in the program's memory that says so, and
 * makes all other threads wait until the thread has changed it. The child of a fork has the word, but not the thread: it
 * would wait for ever. So a handler of fork() gives the child the word of before, and its own first call starts anew.
 *
 * This holds for fork() alone: a child of _Fork() or of a bare clone() runs no handlers, and one of vfork() has the
 * thread. It holds from the call of this library on; before, a thread spends 3 µs in NVTX and in the loader if the library
 * is loaded already (preload/early.c), and 140 µs if it is not. */

#pragma once

#include <stddef.h>
#include <stdint.h>

/* Notes that this thread is in a first call, and that the N_BYTES (4 or 8) at STATE are STARTED until it has returned from
 * it; they are 0 before. STATE may be unmapped later. Any thread. */
void lns_first_call_begin (volatile void *state, size_t n_bytes, uint64_t started);

/* Notes that this thread has returned from its first calls. Any thread, also in signal handlers. */
void lns_first_call_end (void);
