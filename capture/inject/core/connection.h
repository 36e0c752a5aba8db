/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The connection to the session: a high-numbered, close-on-exec descriptor. The program may close it or reuse its
 * number at any time, so it is checked before each use. */

#pragma once

#include "capture/wire/pool.h"
#include "capture/wire/protocol.h"

/* Whether the environment names a session that seems to listen, or that this process or its parent has joined. */
bool lns_connection_is_possible (void);

/* Says HELLO to the session named in the environment and waits for the answer, BOUND_MS at most, and no longer than some
 * milliseconds while the session is stopped, unless IS_PATIENT. A process that cannot reach the session's path uses the
 * connection that it inherited by fork, which is closed here on success, or the session's abstract name.
 * Returns 0 and the mapped pool in RET_POOL; -ETIMEDOUT if the answer is yet to come: the same call with the same HELLO
 * goes on waiting for it; or -errno and no open descriptor: -ENOENT if there is no session to join, the session's own
 * refusal (RET_IS_REFUSED), or a system call's error.
 * Called by one thread at a time. */
int lns_connection_open (const LnsWireHello *hello,
                         int bound_ms,
                         bool is_patient,
                         LnsWirePoolView *ret_pool,
                         bool *ret_is_refused);

/* Closes the connection on which an answer is awaited, if there is one. The same thread as above. */
void lns_connection_give_up (void);

/* Tells the session, which has not answered, of N_EVENTS that are lost: this process ends. The same thread as above. */
void lns_connection_tell_unanswered (uint64_t n_events);

/* Sends NOTICE without waiting. Returns 0; -EPIPE if the session is gone; -EBADF if the descriptor is gone, its number
 * is the program's now, or the session has closed its end and goes on; -EAGAIN if the session does not take it. */
int lns_connection_notify (const LnsWireNotice *notice);

/* Waits for a command until DEADLINE_MS of CLOCK_MONOTONIC; without CONNECTED, only waits for the time to pass.
 * Returns 1 and RET_COMMAND; 0 at the deadline; -EPIPE if the session is gone; -EBADF as above. */
int lns_connection_receive (LnsWireCommand *ret_command, bool connected, int64_t deadline_ms);
