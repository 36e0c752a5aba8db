/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Events that wait for the collector's next batch. Any thread may add one. */

#pragma once

#include <pthread.h>

#include "capture/session/record/batch.h"

typedef struct
{
  int fd; /* an eventfd; readable after lns_mailbox_wake (), until it is read */
  pthread_mutex_t lock;
  LnsBatchEvents events;
  int64_t sampled_ns; /* see LnsBatch */ /* under the lock */
} LnsMailbox;

/* Returns false and sets errno if there is no descriptor left. Close MAILBOX in either case. */
bool lns_mailbox_open (LnsMailbox *mailbox);
void lns_mailbox_close (LnsMailbox *mailbox);

/* Adds EVENT, which is taken over. If memory is short, the event is dropped. */
void lns_mailbox_add (LnsMailbox *mailbox, LnsBatchEvent *event);

/* Notes that all samples of CPUs up to UNTIL_NS (CLOCK_MONOTONIC) were added; INT64_MAX: no more will come.
 * When samples begin, this wakes the collector. */
void lns_mailbox_note_samples (LnsMailbox *mailbox, int64_t until_ns);

/* Adds EVENT and wakes the collector, which drains at once. */
void lns_mailbox_post (LnsMailbox *mailbox, LnsBatchEvent *event);
void lns_mailbox_wake (LnsMailbox *mailbox);

/* Moves all events to BATCH, which has none. */
void lns_mailbox_empty (LnsMailbox *mailbox, LnsBatch *batch);
