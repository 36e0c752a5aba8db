/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/collect/mailbox.h"

#include <stdlib.h>
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
  for (size_t i = 0; i < mailbox->n_events; i++)
    lns_batch_event_clear (&mailbox->events[i]);
  free (mailbox->events);
  if (mailbox->fd >= 0)
    close (mailbox->fd);
  pthread_mutex_destroy (&mailbox->lock);
}

void
lns_mailbox_add (LnsMailbox *mailbox, LnsBatchEvent *event)
{
  pthread_mutex_lock (&mailbox->lock);
  LnsBatchEvent *events = realloc (mailbox->events, (mailbox->n_events + 1) * sizeof *events);
  if (events != NULL)
    {
      mailbox->events = events;
      events[mailbox->n_events++] = *event;
    }
  pthread_mutex_unlock (&mailbox->lock);
  if (events == NULL)
    lns_batch_event_clear (event);
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
  batch->n_events = mailbox->n_events;
  mailbox->events = NULL;
  mailbox->n_events = 0;
  pthread_mutex_unlock (&mailbox->lock);
}
