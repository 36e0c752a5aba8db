/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How much memory this process may use. */

#pragma once

#include <stdint.h>

/* The least of what the control groups (v2 or v1) of this process allow and what the machine has,
 * in bytes. Reads a few files. */
uint64_t lns_memory_limit (void);
