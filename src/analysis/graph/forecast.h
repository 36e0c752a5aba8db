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

/* Foretells how long the run of GRAPH takes with CHANGES. MEASURED are the times of its replay without, TIMES, as long, gets those with
 * changes. The interval has two parts, whose squares add up: what the times of single steps say about their sum, as if the steps
 * were drawn from all there could be (the run as a whole in place of steps where these are fewer than 4), and UNKNOWN, the share of the path of which it is not known what it depends on.
 * Any thread. O(points). */
void lns_forecast_make (const LnsGraph *graph,
                        const int64_t *measured,
                        const LnsGraphChanges *changes,
                        const LnsForecastSteps *steps,
                        double unknown,
                        int64_t *times,
                        LnsForecast *ret_forecast);
