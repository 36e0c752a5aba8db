/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a report leaves out by intent (profile --keep-steps and --keep-on): the times of which it keeps no events, and how many steps there were. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/store/read/report.h"

/* The omissions of a report, in order and apart, whatever the file says. Immutable; any thread. */
typedef struct
{
  LnsOmission *items; /* owned */
  size_t n;
} LnsOmissions;

/* Those of REPORT. O(omissions log omissions). */
LnsOmissions lns_omissions_of (const LnsReport *report);
void lns_omissions_clear (LnsOmissions *omissions);

/* The index of the first one that ends behind TIME_NS, or their number. O(log omissions). */
size_t lns_omissions_from (const LnsOmissions *omissions, int64_t time_ns);

/* How much of the time from START_NS to END_NS they take. O(log omissions + those within). */
int64_t lns_omitted_ns (const LnsOmissions *omissions, int64_t start_ns, int64_t end_ns);

/* The steps of a process, of which a report keeps some. */
typedef struct
{
  uint32_t process;
  uint64_t n, n_kept, n_slow; /* slow: longer than the limit that was asked for */
  int64_t sum_ns, p50_ns, p95_ns, p99_ns, most_ns; /* of all N; quantiles up to 1/16 too long */
  const char *range;                               /* the report's */
} LnsCountedSteps;

/* Fills RET_STEPS with the INDEXth counted steps of REPORT. False behind the last. O(log meta values). */
bool lns_counted_steps (const LnsReport *report, unsigned index, LnsCountedSteps *ret_steps);

/* Whether REPORT leaves out a part of what it tells of; RET_KEPT_NS and RET_NS get how long the rest is, and all. O(omissions log
 * omissions). */
bool lns_keeps_part (const LnsReport *report, int64_t *ret_kept_ns, int64_t *ret_ns);
