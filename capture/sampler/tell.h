/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What both kinds of sampler need: the way to the session, and the clock. */

#pragma once

#include <stddef.h>

#include "capture/wire/gpu.h"

/* Sends a message. Ends the process if the session is gone. Any thread. */
void lns_sampler_tell (const void *message, size_t n_bytes);

void lns_sampler_tell_failure (
    LnsWireGpuCause cause, uint32_t gpu, const char *bus, int result, const char *text);

/* CLOCK_MONOTONIC. */
int64_t lns_sampler_now_ns (void);
