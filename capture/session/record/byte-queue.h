/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A first-in, first-out queue of bytes in memory of its own: what is taken out goes back to the system, whatever
 * else the process has allocated meanwhile. Used by one thread. */

#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct LnsByteQueuePart LnsByteQueuePart;

/* Empty if all zero. */
typedef struct
{
  LnsByteQueuePart *first,
      *last;         /* the oldest part, and the one that gets the next byte; NULL: none */
  size_t n_bytes;    /* in the queue */
  size_t held_bytes; /* memory held: at most two parts more than n_bytes */
} LnsByteQueue;

#define LNS_BYTE_QUEUE_PART_BYTES ((size_t)256 << 10)

/* Adds N bytes at the end. Returns false if memory is short, and leaves QUEUE as it was. */
bool lns_byte_queue_push (LnsByteQueue *queue, const void *bytes, size_t n);

/* Takes the N oldest bytes out; RET_BYTES may be NULL. Returns false if there are fewer, and leaves QUEUE as it
 * was. */
bool lns_byte_queue_pop (LnsByteQueue *queue, void *ret_bytes, size_t n);

/* Takes all bytes out and frees their memory. */
void lns_byte_queue_clear (LnsByteQueue *queue);
