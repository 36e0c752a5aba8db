/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Joins the process to a session; after a fork, the child joins for itself. */

#pragma once

#include "capture/inject/core/process.h"

/* Whether there seems to be a session to join. Does not ask it. */
bool lns_process_has_session (void);

/* Joins the session named in the environment, once, within LNS_WIRE_HANDSHAKE_MS. Other threads that call this
 * meanwhile wait, no longer than that. Returns the generation, LNS_GENERATION_FIRST or more on success. Blocks the
 * thread's signals meanwhile. */
uint64_t lns_process_join (void);

/* The same within LNS_WIRE_PATIENT_MS; tries again if the session was late before. */
uint64_t lns_process_join_patiently (void);

/* Tells the session that free chunks are running out, once after each time that it has lent some. */
void lns_process_notice_low (void);
