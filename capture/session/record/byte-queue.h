/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Bytes that wait, first in, first out, in memory of their own: what is taken out goes back to the system,
 * whatever else the process has allocated meanwhile. Used by one thread. */

#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct LnsByteQueuePart LnsByteQueuePart;

/* All zero, it is empty. */
typedef struct
{
  LnsByteQueuePart *first,
      *last;         /* the oldest, and where the next byte goes; NULL: there is none */
  size_t n_bytes;    /* that wait */
  size_t held_bytes; /* of memory: at most two parts more than that, see below */
} LnsByteQueue;

#define LNS_BYTE_QUEUE_PART_BYTES ((size_t)256 << 10)

/* Puts N bytes at the end. False where memory is short: then QUEUE is as it was. */
bool lns_byte_queue_push (LnsByteQueue *queue, const void *bytes, size_t n);

/* Takes the N oldest bytes out; RET_BYTES may be NULL. False where there are fewer: then QUEUE is as it was. */
bool lns_byte_queue_pop (LnsByteQueue *queue, void *ret_bytes, size_t n);

/* Takes all out, and gives their memory back. */
void lns_byte_queue_clear (LnsByteQueue *queue);
