/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Orders two numbers, for comparators such as those of qsort (3): -1, 0 or 1 where A is less than, equal to or greater
 * than B. What is compared by several numbers is written as
 *
 *   return LNS_COMPARE (a->thread, b->thread) ?: LNS_COMPARE (a->start_ns, b->start_ns);
 *
 * Descending order swaps A and B. Both are evaluated up to twice. Equality comes first, so that GCC goes from there
 * straight to the next numbers; subtracting one comparison from the other made joins of launches 10 % slower. */

#pragma once

#define LNS_COMPARE(a, b) ((a) != (b) ? ((a) < (b) ? -1 : 1) : 0)
