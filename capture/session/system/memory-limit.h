/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The memory that a process may use. */

#pragma once

#include <stdint.h>

/* The smallest of the limits of this process's control groups (v2 or v1) and the machine's memory, in bytes. Reads a
 * few files. */
uint64_t lns_memory_limit (void);

/* The largest shared mapping, in bytes, that the limits of address space and file size allow in this process and in
 * PID (0: this process only). UINT64_MAX if there are no limits. */
uint64_t lns_memory_mapping_limit (int32_t pid);
