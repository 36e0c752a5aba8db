/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How long a run would take with changes, and how sure that is. */

#pragma once

#include "src/analysis/facts/device-work.h"
#include "src/analysis/graph/replay.h"

/* Of 100 such intervals so many hold what happens. */
#define LNS_FORECAST_PERCENT 90

typedef struct
{
  int64_t ns, low_ns, high_ns; /* of the run                                                     */
  int64_t step_ns[2]; /* the median step, as it was and with the changes; 0: there are none      */
} LnsForecast;

/* The steps that chance is taken from. */
typedef struct
{
  const LnsSpan *items; /* borrowed, in order                                                    */
  size_t n;
  uint32_t thread; /* that does them, or LNS_ID_NONE: GPUs do                                    */
} LnsForecastSteps;

/* Foretells how long the run of GRAPH takes with CHANGES, if it does the same work again. MEASURED are the times of its replay without, TIMES, as long,
 * gets those with changes. The interval has three parts, whose squares add up. What is left to chance on the path of the changed run: how long
 * threads compute and wait for files, but neither what GPUs are asked to do nor for how long threads ask to sleep; how much that differs from
 * step to step says what it may be in all, and of what is in no step, or where these are fewer than 4, it is 3 %. The 1 % by which
 * two runs of a program differ at least. And what nobody knows: UNKNOWN, the share of the path of which it is not known what it depends on,
 * and how long threads could run and had no CPU, which is up to other programs.
 * Any thread. O(points). */
void lns_forecast_make (const LnsGraph *graph,
                        const int64_t *measured,
                        const LnsGraphChanges *changes,
                        const LnsForecastSteps *steps,
                        double unknown,
                        int64_t *times,
                        LnsForecast *ret_forecast);
