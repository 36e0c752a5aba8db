/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The steps of a program without ranges: the kernels that a GPU executes again and again. A step begins with the launch of its
 * first kernel. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/facts/lane-cursor.h"
#include "src/analysis/facts/period.h"
#include "src/analysis/why/maker.h"
#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/tables/lanes.h"

/* The period is looked for in the names of so many kernels, which takes 9 bytes for each. */
#define MOST_KERNELS 2000000

/* Steps are where this share of all kernels is in steps of about the typical length. */
#define LEAST_SHARE 0.8

/* Kernels by start, with their names. */
typedef struct
{
  LnsWorkWalk *walk;
  LnsLaneCursor *
      cursors; /* for each lane that the report had then: others may have ranges projected meanwhile */
  uint32_t n_cursors;
} Kernels;

/* Cuts the kernels where the word of the first ones of a step is. */
typedef struct
{
  LnsWhyMaker *maker;
  const LnsDeviceWork *work;
  const uint32_t *word; /* string ids */
  unsigned word_size;
  size_t length; /* kernels of a typical step */
  LnsOperation ahead[LNS_PERIOD_ANCHOR];
  uint32_t names[LNS_PERIOD_ANCHOR];
  size_t n_read, n_taken;
  LnsWorkWalk
      *graphs; /* that were recorded as a whole: they are none of the kernels, and work, too */
  LnsOperation graph; /* the next of them */
  bool has_graph;
  int64_t last_end_ns; /* of the work before the kernel at hand */
  bool is_within;      /* a step has begun */
  size_t n;            /* its kernels */
  int64_t start_ns;    /* its first launch */
  int64_t end_ns;      /* end of its last work, of what a typical step has */
  LnsOperation beyond; /* the first kernel that a typical step does not have, if n > length */
  size_t n_regular;    /* kernels in steps of about the typical length */
} Cutter;

static Kernels
kernels_new (LnsWhyMaker *maker, const LnsDeviceWork *work)
{
  Kernels kernels = { 0 };

  lns_report_lanes (maker->report, &kernels.n_cursors);
  kernels.walk =
      lns_work_walk_new (maker->report, work, UINT32_C (1) << LNS_LANE_CUDA_KERNEL, maker->cancel);
  kernels.cursors = lns_calloc (kernels.n_cursors, sizeof *kernels.cursors);
  for (uint32_t i = 0; i < kernels.n_cursors; i++)
    kernels.cursors[i] = (LnsLaneCursor){ .report = maker->report,
                                          .lane = i,
                                          .columns = LNS_COLUMN_BIT (LNS_COLUMN_NAME) };
  return kernels;
}

static void
kernels_clear (Kernels *kernels)
{
  for (uint32_t i = 0; i < kernels->n_cursors; i++)
    lns_lane_cursor_clear (&kernels->cursors[i]);
  free (kernels->cursors);
  lns_work_walk_free (kernels->walk);
}

static bool
kernels_next (Kernels *kernels,
              LnsOperation *ret_kernel,
              uint32_t *ret_name,
              bool *ret_found,
              LnsError *error)
{
  if (!lns_work_walk_next (kernels->walk, ret_kernel, ret_found, error))
    return false;
  if (!*ret_found)
    return true;
  LnsLaneCursor *cursor = &kernels->cursors[ret_kernel->lane];
  if (!lns_lane_cursor_go (cursor, ret_kernel->ordinal, error))
    return false;
  *ret_name = cursor->chunk->name[cursor->i];
  return true;
}

/* --- The period ------------------------------------------------------------------------------- */

/* Finds the period of the kernels of WORK; RET_WORD gets the names of the first of a step. RET_FOUND gets whether there is one. */
static bool
find_period (LnsWhyMaker *maker,
             const LnsDeviceWork *work,
             LnsPeriod *ret_period,
             uint32_t ret_word[LNS_PERIOD_ANCHOR],
             bool *ret_found,
             LnsError *error)
{
  Kernels kernels = kernels_new (maker, work);
  LNS_ARRAY (uint32_t) names = { 0 };
  LNS_ARRAY (uint8_t) pauses = { 0 };
  LnsOperation kernel;
  uint32_t name;
  int64_t end_ns = INT64_MAX;
  bool good = true, found = true;

  while (good && found && names.n < MOST_KERNELS)
    {
      good = kernels_next (&kernels, &kernel, &name, &found, error);
      if (!good || !found)
        break;
      *lns_array_add (&names) = name;
      *lns_array_add (&pauses) =
          kernel.start_ns > end_ns
              ? (uint8_t)(64 - __builtin_clzll ((uint64_t)(kernel.start_ns - end_ns)))
              : 0;
      end_ns = end_ns == INT64_MAX || kernel.end_ns > end_ns ? kernel.end_ns : end_ns;
    }
  *ret_found = good && lns_period_find (names.items, pauses.items, names.n, ret_period);
  if (*ret_found)
    memcpy (ret_word, names.items + ret_period->first, ret_period->anchor * sizeof *ret_word);
  lns_array_clear (&names);
  lns_array_clear (&pauses);
  kernels_clear (&kernels);
  return good;
}

/* --- Cutting ---------------------------------------------------------------------------------- */

/* When KERNEL was launched, or when it started, where that is not known, or it was queued behind other work: then the GPU sets
 * the pace, and not the thread. A launch that is not after the former step's tells nothing: one launch of a graph may be several
 * steps. */
static bool
launch_of (Cutter *cutter, const LnsOperation *kernel, int64_t *ret_ns, LnsError *error)
{
  LnsLaunchCall call;
  bool found;

  if (!lns_launch_finder_find (cutter->maker->finder, kernel->lane, kernel->ordinal, &found, &call,
                               error))
    return false;
  *ret_ns = kernel->start_ns;
  if (found && call.start_ns < *ret_ns && call.start_ns >= cutter->last_end_ns &&
      (!cutter->is_within || call.start_ns > cutter->start_ns))
    *ret_ns =
        call.start_ns > cutter->work->span.start_ns ? call.start_ns : cutter->work->span.start_ns;
  return true;
}

/* Ends the step at hand, before the one that begins at NEXT_NS. */
static bool
end_step (Cutter *cutter, int64_t next_ns, LnsError *error)
{
  const size_t length = cutter->length;

  /* What is between two steps is in neither. */
  if (cutter->n >= 2 * length && !launch_of (cutter, &cutter->beyond, &next_ns, error))
    return false;
  if (4 * cutter->n >= 3 * length && 3 * cutter->n <= 4 * length)
    cutter->n_regular += cutter->n;
  if (next_ns > cutter->start_ns)
    *lns_array_add (&cutter->maker->steps) = (LnsSpan){ cutter->start_ns, next_ns };
  cutter->is_within = false;
  return true;
}

/* Takes the graphs that start before TIME_NS. */
static bool
take_graphs (Cutter *cutter, int64_t time_ns, LnsError *error)
{
  while (cutter->has_graph && cutter->graph.start_ns < time_ns)
    {
      const int64_t end_ns = cutter->graph.end_ns;
      cutter->last_end_ns = end_ns > cutter->last_end_ns ? end_ns : cutter->last_end_ns;
      if (cutter->is_within && cutter->n <= cutter->length && end_ns > cutter->end_ns)
        cutter->end_ns = end_ns;
      if (!lns_work_walk_next (cutter->graphs, &cutter->graph, &cutter->has_graph, error))
        return false;
    }
  return true;
}

/* Takes the oldest kernel that was read. */
static bool
take (Cutter *cutter, LnsError *error)
{
  const size_t at = cutter->n_taken++ % LNS_PERIOD_ANCHOR;
  const LnsOperation *kernel = &cutter->ahead[at];
  if (!take_graphs (cutter, kernel->start_ns, error))
    return false;
  bool is_first = cutter->n_read - (cutter->n_taken - 1) >= cutter->word_size;

  for (unsigned i = 0; is_first && i < cutter->word_size; i++)
    is_first = cutter->names[(at + i) % LNS_PERIOD_ANCHOR] == cutter->word[i];
  if (is_first)
    {
      int64_t start_ns;
      if (!launch_of (cutter, kernel, &start_ns, error) ||
          (cutter->is_within && !end_step (cutter, start_ns, error)))
        return false;
      cutter->is_within = true;
      cutter->start_ns = cutter->end_ns = start_ns;
      cutter->n = 0;
    }
  cutter->last_end_ns = kernel->end_ns > cutter->last_end_ns ? kernel->end_ns : cutter->last_end_ns;
  if (!cutter->is_within)
    return true;
  if (cutter->n < cutter->length)
    cutter->end_ns = kernel->end_ns > cutter->end_ns ? kernel->end_ns : cutter->end_ns;
  else if (cutter->n == cutter->length)
    cutter->beyond = *kernel;
  cutter->n++;
  return true;
}

static int
compare_ns (const void *a, const void *b)
{
  const int64_t *na = a, *nb = b;
  return LNS_COMPARE (*na, *nb);
}

/* Ends the last step, if it is whole. No launch tells when, so it counts as no longer than the median of the others. */
static bool
end_last (Cutter *cutter, LnsError *error)
{
  const size_t n = cutter->maker->steps.n;

  if (!take_graphs (cutter, INT64_MAX, error))
    return false;
  if (!cutter->is_within || 4 * cutter->n < 3 * cutter->length || n == 0)
    return true;
  int64_t *values = lns_calloc (n, sizeof *values);
  for (size_t i = 0; i < n; i++)
    values[i] = cutter->maker->steps.items[i].end_ns - cutter->maker->steps.items[i].start_ns;
  qsort (values, n, sizeof *values, compare_ns);
  const int64_t median_ns = values[n / 2];
  free (values);
  return end_step (cutter,
                   cutter->end_ns - cutter->start_ns < median_ns ? cutter->end_ns
                                                                 : cutter->start_ns + median_ns,
                   error);
}

bool
_lns_why_find_kernel_steps (LnsWhyMaker *maker,
                            const LnsDeviceWork *work,
                            uint32_t thread,
                            LnsError *error)
{
  uint32_t word[LNS_PERIOD_ANCHOR];
  LnsPeriod period;
  bool found;

  if (!find_period (maker, work, &period, word, &found, error))
    return false;
  if (!found || word[0] == 0)
    return true;
  Cutter cutter = { .maker = maker,
                    .work = work,
                    .word = word,
                    .word_size = period.anchor,
                    .length = period.length,
                    .graphs = lns_work_walk_new (
                        maker->report, work, UINT32_C (1) << LNS_LANE_CUDA_GRAPH, maker->cancel),
                    .last_end_ns = INT64_MIN };
  Kernels kernels = kernels_new (maker, work);
  bool good = lns_work_walk_next (cutter.graphs, &cutter.graph, &cutter.has_graph, error);
  while (good && found && maker->steps.n < LNS_WHY_MOST_STEPS)
    {
      const size_t at = cutter.n_read % LNS_PERIOD_ANCHOR;
      good = kernels_next (&kernels, &cutter.ahead[at], &cutter.names[at], &found, error);
      cutter.n_read += good && found;
      if (good && found && cutter.n_read - cutter.n_taken == LNS_PERIOD_ANCHOR)
        good = take (&cutter, error);
    }
  while (good && !found && cutter.n_taken < cutter.n_read)
    good = take (&cutter, error);
  good = good && (found || end_last (&cutter, error));
  lns_work_walk_free (cutter.graphs);
  kernels_clear (&kernels);
  if (!good)
    return false;
  if (maker->steps.n < 4 || (double)cutter.n_regular < LEAST_SHARE * (double)cutter.n_taken)
    {
      maker->steps.n = 0;
      return true;
    }
  maker->why->steps.name = word[0];
  maker->why->steps.is_kernel = true;
  maker->why->steps.thread = thread;
  maker->step_lane = LNS_ID_NONE;
  maker->step_ns = lns_calloc (maker->steps.n * (1 + LNS_N_IDLE_CAUSES), sizeof *maker->step_ns);
  return true;
}
