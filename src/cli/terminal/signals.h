/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Signals as events of a loop. They are blocked everywhere except in lns_signals_poll (), so no other code is
 * interrupted. (A signalfd would do the same, but some sandboxes refuse to make one.) Only the main thread may call these
 * functions, and it must have blocked the signals. */

#pragma once

#include <poll.h>
#include <signal.h>
#include <stdbool.h>

/* The signals that a command handles while it runs a program: those that the terminal and other processes send to both,
 * and SIGCHLD. */
void lns_signals_shared (sigset_t *ret_signals);

/* Starts to catch the blocked SIGNALS. May be called again after lns_signals_release (). */
void lns_signals_catch (const sigset_t *signals);

/* Restores the actions that the caught signals had before the first lns_signals_catch (), for code that unblocks them.
 * Pending signals whose action is to ignore them are discarded. */
void lns_signals_release (void);

/* poll(2) that also returns at a signal, which lns_signals_next () then returns. */
void lns_signals_poll (struct pollfd *fds, nfds_t n_fds, int timeout_ms);

/* Fetches a signal that has arrived. False if there is none. */
bool lns_signals_next (siginfo_t *ret_info);

/* Whether this process was started with SIGNAL_NUMBER ignored, as nohup(1) does. */
bool lns_signals_was_ignored (int signal_number);

/* Stops this process by SIGNAL_NUMBER, as Ctrl-Z asks. Returns when it continues, or at once if SIGCONT is already
 * pending. */
void lns_signals_stop_self (int signal_number);

/* Ends this process by SIGNAL_NUMBER, without a core dump. Returns only if the kernel does not deliver the signal, as
 * to the first process of a container. */
void lns_signals_end_self (int signal_number);
