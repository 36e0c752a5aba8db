/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Finds out what the steps of a run were spent on. */

#pragma once

#include "src/analysis/compare/parts.h"
#include "src/tables/tables.h"

/* The parts of the steps that WHY found in the report of TABLES; steps without one where it found none. CANCEL may be NULL. To be
 * freed. NULL and ERROR where a chunk is damaged, or cancelled. O(events); at most 64 MiB. Any thread. */
LnsStepTimes *lns_step_times_new (LnsTables *tables,
                                  const LnsWhy *why,
                                  const atomic_bool *cancel,
                                  LnsError *error);
void lns_step_times_free (LnsStepTimes *times); /* NULL is fine */
