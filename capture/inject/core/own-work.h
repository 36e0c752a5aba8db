/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a thread of the program does for Lanescope alone, such as calls of CUPTI. */

#pragma once

#include <stdbool.h>

/* Calls of the kernel and of the C library that this thread makes between these two are not recorded. Each costs a system call.
 * One end is enough for several beginnings. */
void lns_own_work_begin (void);
void lns_own_work_end (void);
bool lns_own_work_goes_on (void);
