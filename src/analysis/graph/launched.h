/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which point launched the work with a correlation, in one process. */

#pragma once

#include "src/base/array.h"
#include "src/base/id-map.h"

/* Zero before first use. 4 bytes a call where correlations count up, else 16 to 32. */
typedef struct
{
  uint64_t base;
  LNS_ARRAY (uint32_t) dense; /* 1 + point, by correlation - base                                */
  LnsIdMap sparse;
  uint64_t n; /* that were set                                                                   */
} LnsLaunched;

void lns_launched_set (LnsLaunched *launched, uint64_t correlation, uint32_t point);

/* The point that was set last for CORRELATION. False if there is none. O(1). */
bool lns_launched_find (const LnsLaunched *launched, uint64_t correlation, uint32_t *ret_point);

void lns_launched_clear (LnsLaunched *launched);
