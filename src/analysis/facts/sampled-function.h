/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* In which function a thread was found, by its samples: what is written onto the time that it runs. */

#pragma once

#include "src/store/read/report.h"

typedef struct
{
  uint32_t name;   /* string id of the function, 0 = none is known */
  uint32_t n_in;   /* samples in which it was the innermost one … */
  uint32_t n_read; /* … of those that were read: at most LNS_SAMPLED_MAX, evenly over the time */
} LnsSampledFunction;

#define LNS_SAMPLED_MAX 16

/* Finds the function that was the innermost one in most of THREAD's samples from START_NS to before END_NS, those of Python where
 * there are any; the name stays 0 if none has half of them. In place of all samples, LNS_SAMPLED_MAX are read. Any thread.
 * O(lanes + LNS_SAMPLED_MAX chunks). */
LnsSampledFunction
lns_sampled_function (LnsReport *report, uint32_t thread, int64_t start_ns, int64_t end_ns);
