/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What finding the callers of code without frame pointers needs: the registers that a call preserves, and of the stack the
 * words that may be addresses of code or of the stack itself. The session finds the callers from them. All other words,
 * the program's data, are left out, so that a call that is made again from the same place has the same words. */

#pragma once

#include "capture/inject/core/walk.h"

/* Of a stack, no more can be taken. */
#define LNS_STACK_WORDS_BYTES 16384u

/* Puts the words (lns_wire_stack_word ()) of this thread, as it is in the caller, into RET_WORDS, N_MAX > 16 at most, and
 * returns how many there are. N_BYTES of the stack are taken, LNS_STACK_WORDS_BYTES at most. OWN is the stack of this thread; another one is read by the kernel. SCRATCH has
 * LNS_STACK_WORDS_BYTES. Returns -errno if the kernel does not read it. */
long
lns_stack_words (LnsStack own, size_t n_bytes, void *scratch, uint64_t *ret_words, size_t n_max);
