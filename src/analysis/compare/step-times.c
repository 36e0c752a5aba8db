/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/compare/step-times.h"

#include <math.h>
#include <stdlib.h>

#include "src/analysis/compare/reader.h"
#include "src/analysis/compare/shift.h"
#include "src/base/memory.h"

/* Chooses the steps that are told. */
static void
choose (LnsStepTimes *times, const LnsWhySteps *steps)
{
  times->n_all = steps->all.n;
  times->n = times->n_all < LNS_MOST_COMPARED ? times->n_all : LNS_MOST_COMPARED;
  times->are_ranges = !steps->is_kernel;
  times->spans = lns_calloc (times->n, sizeof *times->spans);
  times->indices = lns_calloc (times->n, sizeof *times->indices);
  times->ns = lns_calloc (times->n, sizeof *times->ns);
  times->waited_ns = lns_calloc (times->n, sizeof *times->waited_ns);
  for (size_t i = 0; i < times->n; i++)
    {
      times->indices[i] = i * times->n_all / times->n;
      const LnsStep *step = &steps->all.items[times->indices[i]];
      times->spans[i] = (LnsSpan){ step->start_ns, step->end_ns };
      times->ns[i] = (double)(step->end_ns - step->start_ns);
    }
}

static void
find_typical (LnsStepTimes *times)
{
  const double median_ns = lns_quantile (times->ns, times->n, 0.5);

  for (size_t i = 1; i < times->n; i++)
    if (fabs (times->ns[i] - median_ns) < fabs (times->ns[times->typical] - median_ns))
      times->typical = i;
}

LnsStepTimes *
lns_step_times_new (LnsTables *tables,
                    const LnsWhy *why,
                    const atomic_bool *cancel,
                    LnsError *error)
{
  LnsReport *report = lns_tables_report (tables);
  LnsPartReader reader = { .report = report,
                           .why = why,
                           .cancel = cancel,
                           .times = lns_calloc (1, sizeof (LnsStepTimes)),
                           .facts = lns_thread_facts_new (report) };
  bool good = true;

  reader.classes = lns_thread_facts_classes (reader.facts);
  choose (reader.times, &why->steps);
  if (reader.times->n >= LNS_LEAST_COMPARED)
    {
      good = _lns_part_find_waits (&reader, error);
      find_typical (reader.times);
      good = good && _lns_part_read_threads (&reader, error) &&
             _lns_part_read_functions (&reader, error) && _lns_part_read_devices (&reader, error);
    }
  lns_thread_facts_free (reader.facts);
  lns_id_map_clear (&reader.names);
  lns_id_map_clear (&reader.wholes);
  if (good)
    return reader.times;
  lns_step_times_free (reader.times);
  return NULL;
}

void
lns_step_times_free (LnsStepTimes *times)
{
  if (times == NULL)
    return;
  for (size_t i = 0; i < times->parts.n; i++)
    free (times->parts.items[i].ns);
  lns_array_clear (&times->parts);
  lns_array_clear (&times->order);
  lns_id_map_clear (&times->by_key);
  free (times->spans);
  free (times->indices);
  free (times->ns);
  free (times->waited_ns);
  free (times);
}
