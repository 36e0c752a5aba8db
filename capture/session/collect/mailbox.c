/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/collect/mailbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

bool
lns_mailbox_open (LnsMailbox *mailbox)
{
  *mailbox = (LnsMailbox){ .fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK) };
  pthread_mutex_init (&mailbox->lock, NULL);
  return mailbox->fd >= 0;
}

void
lns_mailbox_close (LnsMailbox *mailbox)
{
  lns_batch_events_clear (&mailbox->events);
  if (mailbox->fd >= 0)
    close (mailbox->fd);
  pthread_mutex_destroy (&mailbox->lock);
}

void
lns_mailbox_add (LnsMailbox *mailbox, LnsBatchEvent *event)
{
  pthread_mutex_lock (&mailbox->lock);
  lns_batch_events_add (&mailbox->events, event);
  pthread_mutex_unlock (&mailbox->lock);
}

void
lns_mailbox_note_samples (LnsMailbox *mailbox, int64_t until_ns)
{
  pthread_mutex_lock (&mailbox->lock);
  const bool has_begun =
      until_ns != INT64_MAX && (mailbox->sampled_ns == 0 || mailbox->sampled_ns == INT64_MAX);
  mailbox->sampled_ns = until_ns;
  pthread_mutex_unlock (&mailbox->lock);
  if (has_begun)
    lns_mailbox_wake (mailbox); /* it may have had nothing to drain, and sleep long */
}

void
lns_mailbox_post (LnsMailbox *mailbox, LnsBatchEvent *event)
{
  lns_mailbox_add (mailbox, event);
  lns_mailbox_wake (mailbox);
}

void
lns_mailbox_wake (LnsMailbox *mailbox)
{
  eventfd_write (mailbox->fd, 1); /* fails only where it is readable already */
}

void
lns_mailbox_empty (LnsMailbox *mailbox, LnsBatch *batch)
{
  pthread_mutex_lock (&mailbox->lock);
  batch->events = mailbox->events;
  batch->sampled_ns = mailbox->sampled_ns;
  mailbox->events = (LnsBatchEvents){ 0 };
  pthread_mutex_unlock (&mailbox->lock);
}
