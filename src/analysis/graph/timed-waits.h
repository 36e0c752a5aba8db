/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Waits that time ended. A thread that waits for another one in a call with a time looks whether there is something to do when that is over, and
 * waits again: how often it did so makes no difference to when the other one has it go on. */

#pragma once

#include "src/analysis/graph/graph.h"

/* Zero before first use; `points` is to be cleared. */
typedef struct
{
  uint32_t name;               /* of the call                                                    */
  LNS_ARRAY (uint32_t) points; /* at which waits in it ended                                     */
} LnsTimedWaits;

/* A wait in the call NAME, a string id, ended at POINT, by time if IS_TIMED. Those in other calls are forgotten. */
void lns_timed_waits_add (LnsTimedWaits *waits, uint32_t name, uint32_t point, bool is_timed);

/* Another thread ended the next wait in the call NAME: those before, if in the same call, take no time in GRAPH. All are forgotten. */
void lns_timed_waits_forget (LnsTimedWaits *waits, uint32_t name, LnsGraph *graph);
