/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reads the records that the test session receives. */

#pragma once

#include "tests/unit/mini-session.h"

/* The stream SERIAL of PROCESS, new where it was not seen yet. */
MiniStream *mini_process_stream (MiniProcess *process, uint32_t serial);

/* Reads the next N_BYTES of STREAM. */
void mini_session_take (MiniSession *session,
                        MiniProcess *process,
                        MiniStream *stream,
                        const uint8_t *bytes,
                        size_t n_bytes);

void mini_losses_add (LnsWireLosses *losses, const LnsWireLosses *more);

/* Puts the texts of registered names in the kept events. */
void mini_session_resolve (MiniSession *session);
