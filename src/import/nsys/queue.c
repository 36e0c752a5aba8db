/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/nsys/queue.h"

void
_lns_queue_init (LnsQueue *queue)
{
  *queue = (LnsQueue){ 0 };
  pthread_mutex_init (&queue->lock, NULL);
  pthread_cond_init (&queue->changed, NULL);
}

void
_lns_queue_clear (LnsQueue *queue)
{
  pthread_cond_destroy (&queue->changed);
  pthread_mutex_destroy (&queue->lock);
}

bool
_lns_queue_fill (LnsQueue *queue)
{
  pthread_mutex_lock (&queue->lock);
  queue->n_filled++;
  pthread_cond_signal (&queue->changed);
  while (queue->n_filled - queue->n_emptied == LNS_QUEUE_SLOTS && !queue->is_ended)
    pthread_cond_wait (&queue->changed, &queue->lock);
  bool goes_on = !queue->is_ended;
  pthread_mutex_unlock (&queue->lock);
  return goes_on;
}

void
_lns_queue_end (LnsQueue *queue, bool has_last)
{
  pthread_mutex_lock (&queue->lock);
  queue->n_filled += has_last;
  queue->is_done = true;
  pthread_cond_signal (&queue->changed);
  pthread_mutex_unlock (&queue->lock);
}

bool
_lns_queue_wait (LnsQueue *queue)
{
  pthread_mutex_lock (&queue->lock);
  while (queue->n_filled == queue->n_emptied && !queue->is_done)
    pthread_cond_wait (&queue->changed, &queue->lock);
  bool is_filled = queue->n_filled != queue->n_emptied;
  pthread_mutex_unlock (&queue->lock);
  return is_filled;
}

void
_lns_queue_empty (LnsQueue *queue, bool goes_on)
{
  pthread_mutex_lock (&queue->lock);
  queue->n_emptied++;
  queue->is_ended = !goes_on;
  pthread_cond_signal (&queue->changed);
  pthread_mutex_unlock (&queue->lock);
}
