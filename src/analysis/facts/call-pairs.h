/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which calls of the OS runtime end which waits. */

#pragma once

#include <stdbool.h>

/* Whether a call named RELEASE can end one named WAIT: what works on semaphores ends no wait for a condition. Any thread. */
bool lns_call_may_release (const char *wait, const char *release);
