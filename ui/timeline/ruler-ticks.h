/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Computes the ticks of a ruler and their labels. Pure functions; any thread. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/format.h"

/* Major ticks are at the multiples of step_ns, minor ticks at those of minor_ns. Where the whole time of a tick would
 * be too long to read, its label is the offset from the last multiple of base_ns; base_ns 0 means that labels are
 * whole times. */
typedef struct
{
  int64_t step_ns;  /* 1, 2 or 5 × 10^k                                                         */
  int64_t minor_ns; /* a fifth or a tenth of it, ≥ 1                                            */
  int64_t base_ns;  /* 10^k, a multiple of step_ns, or 0                                        */
} LnsRulerTicks;

/* The closest ticks that are at least MIN_PX pixels of NS_PER_PX apart, in a report that ends at END_NS. */
LnsRulerTicks lns_ruler_ticks (double ns_per_px, double min_px, int64_t end_ns);

/* The first major tick at or after TIME_NS. */
int64_t lns_ruler_first_tick (const LnsRulerTicks *ticks, int64_t time_ns);

/* The multiple of base_ns at or before TIME_NS, or TIME_NS if there is no base. */
int64_t lns_ruler_base_of (const LnsRulerTicks *ticks, int64_t time_ns);

/* The label of the tick at TIME_NS, with as many digits as its neighbours: "1.250 s", or "+20 ns" after its base. RET_IS_BASE (may be NULL) gets whether the
 * label is a whole time among offsets. */
const char *lns_ruler_label (const LnsRulerTicks *ticks,
                             int64_t time_ns,
                             bool *ret_is_base,
                             char ret_text[LNS_FORMAT_SIZE]);
