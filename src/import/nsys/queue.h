/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Synchronizes a thread that fills slots with one that empties them, in order. The slots belong to the threads:
 * LNS_QUEUE_SLOTS of whatever they hand over. */

#pragma once

#include <pthread.h>
#include <stdbool.h>

#define LNS_QUEUE_SLOTS 4

typedef struct
{
  pthread_mutex_t lock;
  pthread_cond_t changed;
  unsigned n_filled, n_emptied; /* so far                                                        */
  bool is_done;                 /* nothing more is filled                                        */
  bool is_ended;                /* nothing more is wanted                                        */
} LnsQueue;

void _lns_queue_init (LnsQueue *queue);
void _lns_queue_clear (LnsQueue *queue); /* once both threads have done                          */

/* For the thread that fills. Its slot is number n_filled % LNS_QUEUE_SLOTS. */

/* Hands the slot over and waits for the next one to be empty. Returns false if nothing more is wanted. */
bool _lns_queue_fill (LnsQueue *queue);

/* Ends the filling. If HAS_LAST, the slot is handed over too. */
void _lns_queue_end (LnsQueue *queue, bool has_last);

/* For the thread that empties. Its slot is number n_emptied % LNS_QUEUE_SLOTS. */

/* Waits for the slot to be filled. Returns false behind the last one. */
bool _lns_queue_wait (LnsQueue *queue);

/* Gives the slot back. Without GOES_ON, no more slots are wanted. */
void _lns_queue_empty (LnsQueue *queue, bool goes_on);
