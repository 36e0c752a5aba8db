/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How long the run would take without its first findings. */

#include <stdlib.h>

#include "src/analysis/graph/build.h"
#include "src/analysis/graph/forecast.h"
#include "src/analysis/graph/path.h"
#include "src/analysis/why/maker.h"
#include "src/analysis/why/why.h"
#include "src/base/memory.h"

/* Whether what is lost to FINDING is in parts that can be taken out of the run. */
static bool
is_foretold (const LnsWhyFinding *finding)
{
  return finding->ns > 0 && _lns_why_accuses (finding->cause);
}

/* Adds the parts of the first findings of WHY: times in which their threads lost time, and operations that took too long. */
static void
add_marks (const LnsWhy *why, LnsGraphMarks *marks)
{
  for (size_t i = 0; i < why->gaps.n; i++)
    {
      const LnsWhyGap *gap = &why->gaps.items[i];
      const size_t k = gap->finding - 1;
      if (gap->finding != 0 && k < LNS_WHY_GAINS && is_foretold (&why->findings.items[k]) &&
          gap->thread != LNS_ID_NONE)
        *lns_array_add (marks) = (LnsGraphMark){ .start_ns = gap->start_ns,
                                                 .end_ns = gap->end_ns,
                                                 .thread = gap->thread,
                                                 .edit = (uint32_t)k };
    }
  for (size_t i = 0; i < why->costs.n; i++)
    {
      const LnsWhyCost *cost = &why->costs.items[i];
      const size_t k = cost->finding - 1;
      if (cost->finding != 0 && k < LNS_WHY_GAINS && is_foretold (&why->findings.items[k]))
        *lns_array_add (marks) = (LnsGraphMark){ .start_ns = cost->start_ns,
                                                 .end_ns = cost->end_ns,
                                                 .thread = LNS_ID_NONE,
                                                 .edit = (uint32_t)k,
                                                 .operation_ns = cost->ns };
    }
  lns_graph_marks_sort (marks);
}

/* Fills in the gain of finding K of WHY, by a replay of GRAPH without what was lost to it. */
static void
foretell (LnsWhy *why,
          size_t k,
          const LnsGraph *graph,
          const int64_t *measured,
          const LnsForecastSteps *steps,
          double unknown,
          int64_t *times)
{
  LnsGraphChange of_marks[LNS_WHY_GAINS];
  const LnsGraphChanges changes = { .of_marks = of_marks, .n_edits = LNS_WHY_GAINS };
  LnsWhyGain *gain = &why->findings.items[k].gain;
  LnsForecast forecast;
  bool is_marked = false;

  for (size_t i = 0; i < graph->overlaps.n && !is_marked; i++)
    is_marked = graph->overlaps.items[i].edit == k;
  if (!is_marked)
    return;
  for (size_t i = 0; i < LNS_WHY_GAINS; i++)
    of_marks[i] = (LnsGraphChange){ i == k ? 0 : 1, i == k };
  lns_forecast_make (graph, measured, &changes, steps, unknown, times, &forecast);
  *gain = (LnsWhyGain){ .is_known = true,
                        .run_ns = graph->measured_ns,
                        .ns = forecast.ns,
                        .low_ns = forecast.low_ns,
                        .high_ns = forecast.high_ns };
}

bool
lns_why_foretell (LnsTables *tables, LnsWhy *why, const atomic_bool *cancel, LnsError *error)
{
  LnsGraphMarks marks = { 0 };
  LnsPath path;

  add_marks (why, &marks);
  if (marks.n == 0)
    return true;
  LnsGraph *graph =
      lns_graph_build (lns_tables_report (tables), marks.items, marks.n, cancel, error);
  lns_array_clear (&marks);
  if (graph == NULL)
    return false;
  int64_t *measured = lns_calloc (graph->n, sizeof *measured),
          *times = lns_calloc (graph->n, sizeof *times);
  LnsSpan *spans = lns_calloc (why->steps.all.n + 1, sizeof *spans);
  for (size_t i = 0; i < why->steps.all.n; i++)
    spans[i] = (LnsSpan){ why->steps.all.items[i].start_ns, why->steps.all.items[i].end_ns };
  const LnsForecastSteps steps = { spans, why->steps.all.n,
                                   why->steps.is_kernel ? LNS_ID_NONE : why->steps.thread };
  lns_graph_replay (graph, NULL, measured);
  const uint32_t end = lns_graph_end (graph, measured);
  lns_path_find (graph, measured, end, measured[0], measured[end], 0, false, &path);
  const LnsPathShares shares = lns_path_shares (graph, &path);
  for (size_t k = 0; k < why->findings.n && k < LNS_WHY_GAINS && shares.is_known; k++)
    foretell (why, k, graph, measured, &steps, shares.unknown, times);
  lns_path_clear (&path);
  free (spans);
  free (measured);
  free (times);
  lns_graph_free (graph);
  return true;
}
