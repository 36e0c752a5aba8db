/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How the process gets into a session, and into one of its own after a fork. */

#pragma once

#include "capture/inject/core/process.h"

/* Whether there is a session to join, as far as can be known without asking it. */
bool lns_process_has_session (void);

/* Joins the session named in the environment, once, within LNS_WIRE_HANDSHAKE_MS; other threads that come
 * meanwhile wait, no longer than that. Returns the generation: LNS_GENERATION_FIRST or more on
 * success. Signals of the thread are blocked meanwhile. */
uint64_t lns_process_join (void);

/* The same within LNS_WIRE_PATIENT_MS, and once more where the session was late. */
uint64_t lns_process_join_patiently (void);

/* Tells the session that free chunks are running out, once each time that it has lent some. */
void lns_process_notice_low (void);
