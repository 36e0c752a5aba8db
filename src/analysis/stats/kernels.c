/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Sums of kernels by the ranges that their calls were in, and by name. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/stats/maker.h"
#include "src/base/memory.h"

typedef struct
{
  const LnsCallRange *range; /* or NULL                                                         */
  uint32_t key;              /* of the result's, or the name                                    */
  int64_t duration_ns;
} Kernel;

typedef struct
{
  const LnsStatsResult *result;
  Kernel *kernels;
  size_t n;
} Kernels;

/* There is room for all. */
static void
add_kernels (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Kernels *kernels = data;
  const LnsStatsResult *result = kernels->result;
  const int correlation = lns_lane_kind_extra (LNS_LANE_CUDA_KERNEL, LNS_COLUMN_CORRELATION),
            launch = lns_lane_kind_extra (LNS_LANE_CUDA_KERNEL, LNS_COLUMN_LAUNCH);

  for (uint32_t i = 0; i < chunk->n; i++)
    kernels->kernels[kernels->n++] = (Kernel){
      .range = chunk->extra[correlation] != NULL
                   ? lns_call_ranges_find (result->call_ranges, track->process,
                                           chunk->extra[correlation][i])
                   : NULL,
      .key = result->kernels.kinds.n > 0 ? lns_kernel_keys_find (&result->kernels, chunk->name[i],
                                                                 lns_chunk_extra (chunk, launch, i))
                                         : chunk->name[i],
      .duration_ns = chunk->duration_ns[i],
    };
}

static int
compare_groups (const Kernel *a, const Kernel *b)
{
  const int order = _lns_stats_compare_ranges (a->range, b->range);

  return order != 0 ? order : a->key < b->key ? -1 : a->key > b->key;
}

static int
compare_kernels (const void *a, const void *b)
{
  const Kernel *ka = a, *kb = b;
  const int order = compare_groups (ka, kb);

  return order != 0 ? order
                    : (ka->duration_ns > kb->duration_ns) - (ka->duration_ns < kb->duration_ns);
}

/* Adds a sum for each group of KERNELS, which are sorted. */
static void
add_sums (LnsStatsResult *result, const Kernels *kernels)
{
  size_t n_groups = 0;

  for (size_t i = 0; i < kernels->n; i++)
    n_groups += i == 0 || compare_groups (&kernels->kernels[i - 1], &kernels->kernels[i]) != 0;
  result->sums = lns_realloc (result->sums, result->n + n_groups, sizeof *result->sums);
  for (size_t from = 0, to; from < kernels->n; from = to)
    {
      const Kernel *first = &kernels->kernels[from];
      for (to = from + 1; to < kernels->n && compare_groups (first, &kernels->kernels[to]) == 0;)
        to++;
      LnsRangeStat *sum = &result->sums[result->n++];
      *sum =
          _lns_stats_sum_sorted (&first->duration_ns, sizeof *first, to - from, LNS_STYLE_KERNEL);
      sum->name = first->key;
      sum->range = first->range;
    }
}

bool
_lns_stats_add_kernel_sums (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  LnsReport *report = lns_tables_report (result->tables);
  Kernels kernels = { result,
                      lns_calloc (lns_count_events (report, LNS_LANE_CUDA_KERNEL), sizeof (Kernel)),
                      0 };
  const bool good =
      lns_read_lanes (report, LNS_LANE_CUDA_KERNEL,
                      LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_CORRELATION) |
                          LNS_COLUMN_BIT (LNS_COLUMN_LAUNCH),
                      add_kernels, &kernels, cancel, error);

  if (good)
    {
      qsort (kernels.kernels, kernels.n, sizeof *kernels.kernels, compare_kernels);
      add_sums (result, &kernels);
    }
  free (kernels.kernels);
  return good;
}
