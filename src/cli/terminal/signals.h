/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Signals as events of a loop: they are blocked everywhere but in lns_signals_poll (), so that no other code
 * is interrupted. A signalfd would do the same, but sandboxes refuse to make one. For the main thread alone,
 * which must have the signals blocked. */

#pragma once

#include <poll.h>
#include <signal.h>
#include <stdbool.h>

/* Those that a command reads by itself while it runs a program: what the terminal and other processes send to
 * both, and the ends of children. */
void lns_signals_shared (sigset_t *ret_signals);

/* Takes over the blocked SIGNALS; again after lns_signals_release (). */
void lns_signals_catch (const sigset_t *signals);

/* Gives the signals that were caught the actions back that they had before the first
 * lns_signals_catch (): for code that unblocks them. What waits and is ignored then is discarded. */
void lns_signals_release (void);

/* poll(2), which ends at a signal as well: lns_signals_next () has it then. */
void lns_signals_poll (struct pollfd *fds, nfds_t n_fds, int timeout_ms);

/* Fetches a signal that has arrived. False where there is none. */
bool lns_signals_next (siginfo_t *ret_info);

/* Whether the caller of this process had it ignore SIGNAL_NUMBER, as nohup(1) does. */
bool lns_signals_was_ignored (int signal_number);

/* Stops this process by SIGNAL_NUMBER, as a terminal asks for; returns when it continues, or at once where
 * that has been asked for since. */
void lns_signals_stop_self (int signal_number);

/* Ends this process by SIGNAL_NUMBER, without a core dump. Returns only if the kernel does not do that: to
 * the first process of a container. */
void lns_signals_end_self (int signal_number);
