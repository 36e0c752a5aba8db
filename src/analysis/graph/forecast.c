/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/forecast.h"

#include <math.h>
#include <stdlib.h>

#include "src/analysis/facts/call-class.h"
#include "src/analysis/ordering.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"

/* Of a normal distribution 90 % lie within so many standard deviations. */
#define DEVIATIONS 1.645

/* Two runs of one program differ by this share at least. */
#define LEAST_SHARE 0.01

/* From so many steps on their times tell how much they differ. */
#define LEAST_STEPS 4

/* … and what is in none, or in fewer, is taken to differ by this share. */
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

/* How far the N values are from their mean, squared and added up. */
static double
variance_of (const double *values, size_t n)
{
  double mean = 0, sum = 0;

  for (size_t i = 0; i < n; i++)
    mean += values[i] / (double)n;
  for (size_t i = 0; i < n; i++)
    sum += (values[i] - mean) * (values[i] - mean);
  return sum / (double)(n - 1);
}

/* Whether how long pieces of LABEL take is left to chance: what is asked of a GPU, or to sleep for, is the same each time. */
static bool
is_by_chance (const LnsGraph *graph, const LnsGraphLabel *label)
{
  if (label->kind == LNS_PIECE_OUTSIDE && label->name != 0)
    return lns_call_class_of_text (LNS_LANE_OS_CALL, lns_report_string (graph->report, label->name,
                                                                        NULL)) != LNS_CALL_SLEEP;
  return label->kind < LNS_PIECE_QUEUED || label->kind == LNS_PIECE_HOST;
}

/* What of a path is left to chance, ns. */
typedef struct
{
  double *of_steps; /* owned                                                                     */
  double elsewhere; /* in no step                                                                */
  double no_cpu;    /* other programs have the CPUs: that is in neither of them                  */
} Chance;

/* Which of the two points before I that was after by TIMES, of a run with changes. A wait may have been dropped, and then its other side is late, or
 * far from explaining when I came. */
static uint32_t
came_from (const LnsGraph *graph, const int64_t *times, uint32_t i)
{
  const uint32_t before = graph->before[i], source = graph->source[i];

  if (source == LNS_POINT_NONE || times[source] > times[i])
    return before;
  const int64_t by_before = lns_difference (times[i], lns_sum (times[before], graph->ns[i])),
                by_source = lns_difference (times[i], lns_sum (times[source], graph->lag[i]));
  return (by_source < 0 ? -by_source : by_source) <= (by_before < 0 ? -by_before : by_before)
             ? source
             : before;
}

/* Finds what of the path of GRAPH by TIMES is left to chance. STARTS are those of the N_STEPS steps, and the last one's end. */
static Chance
find_chance (const LnsGraph *graph, const int64_t *times, const int64_t *starts, size_t n_steps)
{
  bool *by_chance = lns_calloc (graph->labels.n + 1, sizeof *by_chance);
  Chance chance = { .of_steps = lns_calloc (n_steps + 1, sizeof *chance.of_steps) };
  size_t k = n_steps;

  for (size_t i = 0; i < graph->labels.n; i++)
    by_chance[i] = is_by_chance (graph, &graph->labels.items[i]);
  for (uint32_t i = lns_graph_end (graph, times), next; i > 0; i = next)
    {
      next = came_from (graph, times, i);
      if (!by_chance[graph->label[i]])
        continue;
      while (k > 0 && times[i] <= starts[k - 1])
        k--;
      const double ns = (double)(times[i] - times[next]);
      if (lns_graph_label_of (graph, i)->kind == LNS_PIECE_NO_CPU)
        chance.no_cpu += ns;
      else if (n_steps > 0 && k > 0 && times[i] <= starts[n_steps])
        chance.of_steps[k - 1] += ns;
      else
        chance.elsewhere += ns;
    }
  free (by_chance);
  return chance;
}

static int64_t
median_step (const int64_t *starts, size_t n)
{
  int64_t *ns = lns_calloc (n + 1, sizeof *ns);

  for (size_t i = 0; i < n; i++)
    ns[i] = starts[i + 1] - starts[i];
  lns_select (ns, n, n / 2);
  const int64_t median_ns = ns[n / 2];
  free (ns);
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
  const size_t n = steps->n >= LEAST_STEPS ? steps->n : 0;
  int64_t *starts = lns_calloc (n + 1, sizeof *starts);

  lns_graph_replay (graph, changes, times);
  *ret_forecast = (LnsForecast){ .ns = lns_graph_length (graph, times) };
  const double ns = (double)ret_forecast->ns;
  if (n > 0)
    {
      find_starts (graph, measured, measured, steps, starts);
      ret_forecast->step_ns[0] = median_step (starts, n);
      find_starts (graph, measured, times, steps, starts);
      ret_forecast->step_ns[1] = median_step (starts, n);
    }
  const Chance found = find_chance (graph, times, starts, n);
  const double chance = n > 0 ? DEVIATIONS * sqrt (variance_of (found.of_steps, n) * (double)n) : 0;
  const double elsewhere = WITHOUT_STEPS * found.elsewhere;
  const double rest = (unknown + LEAST_SHARE) * ns + found.no_cpu;
  const double half = sqrt (chance * chance + elsewhere * elsewhere + rest * rest);
  ret_forecast->low_ns = half < ns ? (int64_t)(ns - half) : 0;
  ret_forecast->high_ns = (int64_t)(ns + half);
  free (starts);
  free (found.of_steps);
}
