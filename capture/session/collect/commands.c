/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/collect/commands.h"

#include "src/base/monotonic.h"

void
lns_commands_init (LnsCommands *commands)
{
  *commands = (LnsCommands){ 0 };
  pthread_mutex_init (&commands->lock, NULL);
  pthread_cond_init (&commands->changed, NULL);
}

void
lns_commands_clear (LnsCommands *commands)
{
  pthread_cond_destroy (&commands->changed);
  pthread_mutex_destroy (&commands->lock);
}

uint32_t
lns_commands_give (LnsCommands *commands, LnsWireCommandKind kind)
{
  pthread_mutex_lock (&commands->lock);
  commands->kind = kind;
  commands->is_sent = false;
  commands->n_unanswered = 0;
  const uint32_t serial = ++commands->serial;
  pthread_mutex_unlock (&commands->lock);
  return serial;
}

unsigned
lns_commands_wait (LnsCommands *commands, uint32_t serial, int bound_ms)
{
  const int64_t until_ns = lns_monotonic_ns () + bound_ms * INT64_C (1000000);
  const struct timespec until = { .tv_sec = until_ns / 1000000000,
                                  .tv_nsec = until_ns % 1000000000 };
  pthread_mutex_lock (&commands->lock);
  while (commands->serial == serial && (!commands->is_sent || commands->n_unanswered > 0))
    if (pthread_cond_clockwait (&commands->changed, &commands->lock, CLOCK_MONOTONIC, &until) != 0)
      break;
  const unsigned n_unanswered = commands->n_unanswered;
  pthread_mutex_unlock (&commands->lock);
  return n_unanswered;
}

void
lns_commands_send (LnsCommands *commands, const LnsWatches *watches)
{
  pthread_mutex_lock (&commands->lock);
  const bool is_due = commands->serial > 0 && !commands->is_sent;
  const LnsWireCommand command = { .magic = LNS_WIRE_MAGIC,
                                   .kind = commands->kind,
                                   .serial = commands->serial };
  pthread_mutex_unlock (&commands->lock);
  if (!is_due)
    return;
  unsigned n_sent = 0;
  for (size_t i = 0; i < watches->all.n; i++)
    {
      LnsPeer *peer = watches->all.items[i]->peer;
      if (peer == NULL || peer->is_gone || !lns_watch_send (watches->all.items[i], &command))
        continue;
      peer->awaited = command.serial;
      n_sent++;
    }
  pthread_mutex_lock (&commands->lock);
  /* Another command may have come meanwhile, to be sent after this one. */
  if (commands->serial == command.serial)
    {
      commands->is_sent = true;
      commands->n_unanswered = n_sent;
    }
  pthread_cond_broadcast (&commands->changed);
  pthread_mutex_unlock (&commands->lock);
}

void
lns_commands_forget (LnsCommands *commands, LnsPeer *peer)
{
  if (peer->awaited == 0)
    return;
  pthread_mutex_lock (&commands->lock);
  if (peer->awaited == commands->serial && commands->is_sent && commands->n_unanswered > 0)
    commands->n_unanswered--;
  pthread_cond_broadcast (&commands->changed);
  pthread_mutex_unlock (&commands->lock);
  peer->awaited = 0;
}
