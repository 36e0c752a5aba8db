/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/forecast.h"

#include <math.h>
#include <stdlib.h>

#include "src/analysis/ordering.h"
#include "src/base/memory.h"

/* Of a normal distribution 90 % lie within so many standard deviations. */
#define DEVIATIONS 1.645

/* Two runs of one program differ by this share at least. */
#define LEAST_SHARE 0.01

/* From so many steps on their times tell how much they differ. */
#define LEAST_STEPS 4

/* … and else the run as a whole is taken to differ by this share. */
#define WITHOUT_STEPS 0.03

/* Sets RET to when each step of STEPS begins by TIMES, and the last one ends: one more than there are. Between two points of the thread
 * times are where they were between them. */
static void
find_starts (const LnsGraph *graph,
             const int64_t *measured,
             const int64_t *times,
             const LnsForecastSteps *steps,
             int64_t *ret)
{
  int64_t last_measured_ns = measured[0], last_ns = times[0];
  size_t k = 0;

  for (uint32_t i = 1; i < graph->n && k <= steps->n; i++)
    {
      const LnsGraphAgent *agent = &graph->agents.items[lns_graph_label_of (graph, i)->agent];
      if (agent->thread != steps->thread ||
          (agent->thread == LNS_ID_NONE && agent->stream == LNS_ID_NONE))
        continue;
      for (; k <= steps->n; k++)
        {
          const int64_t at_ns =
              k < steps->n ? steps->items[k].start_ns : steps->items[k - 1].end_ns;
          if (measured[i] < at_ns)
            break;
          const double all = (double)(measured[i] - last_measured_ns);
          const double part = all > 0 ? (double)(at_ns - last_measured_ns) / all : 1;
          ret[k] = last_ns + (int64_t)(part * (double)(times[i] - last_ns));
        }
      last_measured_ns = measured[i];
      last_ns = times[i];
    }
  for (; k <= steps->n; k++)
    ret[k] = last_ns;
}

/* How far the N lengths at NS are from their mean, squared and added up. */
static double
variance_of (const int64_t *ns, size_t n)
{
  double mean = 0, sum = 0;

  for (size_t i = 0; i < n; i++)
    mean += (double)ns[i] / (double)n;
  for (size_t i = 0; i < n; i++)
    sum += ((double)ns[i] - mean) * ((double)ns[i] - mean);
  return sum / (double)(n - 1);
}

static int64_t
median_step (const LnsGraph *graph,
             const int64_t *measured,
             const int64_t *times,
             const LnsForecastSteps *steps,
             double *ret_variance)
{
  int64_t *starts = lns_calloc (steps->n + 1, sizeof *starts);

  find_starts (graph, measured, times, steps, starts);
  for (size_t i = 0; i < steps->n; i++)
    starts[i] = starts[i + 1] - starts[i];
  *ret_variance = variance_of (starts, steps->n);
  lns_select (starts, steps->n, steps->n / 2);
  const int64_t median_ns = starts[steps->n / 2];
  free (starts);
  return median_ns;
}

void
lns_forecast_make (const LnsGraph *graph,
                   const int64_t *measured,
                   const LnsGraphChanges *changes,
                   const LnsForecastSteps *steps,
                   double unknown,
                   int64_t *times,
                   LnsForecast *ret_forecast)
{
  double variance = 0, chance;

  lns_graph_replay (graph, changes, times);
  *ret_forecast = (LnsForecast){ .ns = lns_graph_length (graph, times) };
  const double ns = (double)ret_forecast->ns;
  if (steps->n >= LEAST_STEPS)
    {
      ret_forecast->step_ns[0] = median_step (graph, measured, measured, steps, &variance);
      ret_forecast->step_ns[1] = median_step (graph, measured, times, steps, &variance);
      chance = DEVIATIONS * sqrt (variance * (double)steps->n);
    }
  else
    chance = WITHOUT_STEPS * ns;
  const double rest = (unknown + LEAST_SHARE) * ns;
  const double half = sqrt (chance * chance + rest * rest);
  ret_forecast->low_ns = half < ns ? (int64_t)(ns - half) : 0;
  ret_forecast->high_ns = (int64_t)(ns + half);
}
