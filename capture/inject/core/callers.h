/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The callers of a call of the program. Frame pointers are followed; where they do not lead to the start of the thread, its
 * stack is taken instead, without its data. */

#pragma once

#include "capture/inject/core/stack-words.h"
#include "capture/inject/core/stream.h"
#include "capture/wire/call-chains.h"

/* Where chains are made: in the stream's memory for names, as the thread's stack may be small. Room for
 * LNS_WIRE_STACK_WORDS_MAX words and N_MORE more. */
#define LNS_CALLERS_FIT(n_more)                                                                    \
 (LNS_STACK_WORDS_BYTES + (LNS_WIRE_STACK_WORDS_MAX + (n_more)) * sizeof (uint64_t) <=             \
      LNS_STRINGS_WIDE_BYTES &&                                                                    \
  (LNS_WIRE_STACK_WORDS_MAX + (n_more)) * sizeof (uint64_t) <= LNS_STRINGS_CACHED_MAX)

/* Finds the callers of the frame record FRAME. *RET_CHAIN, in STREAM, which is entered, gets their addresses or the words of
 * the stack, FLAGS what of LNS_WIRE_CHAIN_… is so. At most N_STACK_BYTES of the stack are taken. Returns how many words there
 * are, or -errno if the kernel does not read the stack. */
long lns_callers_find (LnsInjectStream *stream,
                       const void *frame,
                       size_t n_stack_bytes,
                       uint64_t **ret_chain,
                       uint8_t *flags);

/* Writes the N words of CHAIN as the callers of the call with CORRELATION. Returns 0 or -ENOSPC. */
int lns_callers_write (LnsInjectStream *stream,
                       uint64_t ticks,
                       uint8_t flags,
                       uint32_t correlation,
                       const uint64_t *chain,
                       size_t n);

/* Learns where the process has mapped code since, if that was not done for a second. Any thread; while one does, others go
 * on. Returns whether it was done. */
bool lns_callers_follow_code (void);

/* Writes which code the process has mapped: the session may not have seen it before the process ends. Not inside a stream.
 * One thread at a time. */
void lns_callers_tell_code (void);
