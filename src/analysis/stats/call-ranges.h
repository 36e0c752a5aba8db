/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Finds the innermost range around each call of the CUDA API, on the call's thread. Push/pop ranges of all domains
 * count if they have an end; the one that began last is the innermost. Replaces: a join of calls with ranges by thread
 * and time, the latest start of each. */

#pragma once

#include "src/store/read/report.h"

/* String ids. */
typedef struct
{
  uint32_t domain_name; /* 0 = the default domain                                               */
  uint32_t name;
} LnsCallRange;

typedef struct LnsCallRanges LnsCallRanges;

/* Reads REPORT, which is borrowed. The result is to be freed. CANCEL may be NULL. NULL and ERROR where a chunk is
 * damaged, or cancelled. O(calls log calls + calls × lanes of their threads), 64 bytes a call. */
LnsCallRanges *lns_call_ranges_new (LnsReport *report, const atomic_bool *cancel, LnsError *error);
void lns_call_ranges_free (LnsCallRanges *ranges); /* NULL is fine                              */

/* The range around the call of PROCESS (instance) with CORRELATION; of nested calls the outermost counts. NULL where
 * there is no such call, or no range around it. O(log n). Any thread. */
const LnsCallRange *
lns_call_ranges_find (const LnsCallRanges *ranges, uint32_t process, uint64_t correlation);
