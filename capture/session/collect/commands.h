/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The last command that any thread gave to all processes. The collector's thread sends it and hears the answers;
 * who gave it may wait for them. */

#pragma once

#include <pthread.h>

#include "capture/session/collect/watches.h"

typedef struct
{
  pthread_mutex_t lock;
  pthread_cond_t changed; /* the command was sent, or a process has answered or is gone */
  /* Under the lock: */
  LnsWireCommandKind kind;
  uint32_t serial; /* 0: there was no command */
  bool is_sent;
  unsigned n_unanswered; /* processes that it was sent to */
} LnsCommands;

void lns_commands_init (LnsCommands *commands);
void lns_commands_clear (LnsCommands *commands);

/* Gives a command, which lns_commands_send () then sends. Returns its serial. */
uint32_t lns_commands_give (LnsCommands *commands, LnsWireCommandKind kind);

/* Waits up to BOUND_MS until each process that got the command SERIAL has answered or is gone. Returns how many
 * have not. */
unsigned lns_commands_wait (LnsCommands *commands, uint32_t serial, int bound_ms);

/* Sends the command to all processes that listen, if it was not sent yet. The collector's thread, as the next. */
void lns_commands_send (LnsCommands *commands, const LnsWatches *watches);

/* PEER has answered the command that it is awaited for, or is gone and will not answer. */
void lns_commands_forget (LnsCommands *commands, LnsPeer *peer);
