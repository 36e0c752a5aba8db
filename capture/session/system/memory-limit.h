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

/* The largest shared mapping that fits into what this process and PID (0 = none other) may have of
 * address space and of a file's size, in bytes; UINT64_MAX where neither is limited. */
uint64_t lns_memory_mapping_limit (int32_t pid);
