/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What lies where in this process, to tell a word of a stack that may be an address of code from any other. It is read from
 * time to time; what was mapped since is not known yet. Any thread may ask, without a lock. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Reads all mappings of the process. To be called by one thread at a time. */
void lns_addresses_read (void);

/* Changes when a reading has found that code was unmapped, so that addresses may be of other code now. */
uint32_t lns_addresses_generation (void);

/* Whether ADDRESS may lie in code: between the lowest and the highest of the process, and not where data is known to be. */
bool lns_address_may_be_code (uintptr_t address);

/* Whether ADDRESS lies in the code of a C library, which calls main () and the functions of threads. */
bool lns_address_is_start (uintptr_t address);
