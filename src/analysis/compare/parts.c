/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/compare/parts.h"

#include <math.h>

#include "src/base/memory.h"
#include "src/base/search.h"

const char *
lns_part_kind_name (LnsPartKind kind)
{
  static const char *const names[LNS_N_PART_KINDS] = { "kernel", "copy", "range",
                                                       "call",   "gap",  "function" };
  return names[kind];
}

LnsStepPart *
_lns_step_part (LnsStepTimes *times, uint64_t key, bool *ret_is_new)
{
  const uint64_t found = lns_id_map_number (&times->by_key, key);

  *ret_is_new = found == 0 && times->parts.n < LNS_MOST_PARTS;
  if (found != 0)
    return &times->parts.items[found - 1];
  if (!*ret_is_new)
    {
      times->n_left_out++;
      return NULL;
    }
  LnsStepPart *part = lns_array_add (&times->parts);
  *part = (LnsStepPart){ .key = key,
                         .device = LNS_ID_NONE,
                         .thread = LNS_ID_NONE,
                         .ns = lns_calloc (times->n, sizeof (double)) };
  lns_id_map_set_number (&times->by_key, key, times->parts.n);
  return part;
}

void
_lns_step_part_add (LnsStepPart *part, size_t step, double ns, const LnsEvidence *event)
{
  const int64_t length_ns = event->end_ns - event->start_ns;
  unsigned at = part->n_events_kept;

  part->ns[step] += ns;
  part->n_events++;
  while (at > 0 && part->events[at - 1].end_ns - part->events[at - 1].start_ns < length_ns)
    at--;
  if (at == LNS_PART_EVENTS)
    return;
  if (part->n_events_kept < LNS_PART_EVENTS)
    part->n_events_kept++;
  for (unsigned i = part->n_events_kept - 1; i > at; i--)
    part->events[i] = part->events[i - 1];
  part->events[at] = *event;
}

size_t
_lns_step_at (const LnsStepTimes *times, int64_t time_ns, size_t near)
{
  for (size_t i = near; i < near + 2 && i < times->n; i++)
    if (time_ns >= times->spans[i].start_ns && time_ns < times->spans[i].end_ns)
      return i;
  const size_t at = LNS_LOWER_BOUND (times->n, i, times->spans[i].end_ns <= time_ns);
  return at < times->n && time_ns >= times->spans[at].start_ns ? at : SIZE_MAX;
}

double *
_lns_step_own (const LnsStepTimes *times, size_t part, bool *ret_has_parts)
{
  const double *all = part == 0 ? times->ns : times->parts.items[part - 1].ns;
  double *own = lns_memdup (all, times->n * sizeof (double));

  for (size_t i = 0; i < times->parts.n; i++)
    {
      const LnsStepPart *inner = &times->parts.items[i];
      if (inner->parent != part || (part == 0 && !inner->is_on_thread))
        continue;
      *ret_has_parts = true;
      for (size_t step = 0; step < times->n; step++)
        own[step] = fmax (0, own[step] - inner->ns[step]);
    }
  return own;
}
