/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Sums of kernels by the ranges that their calls were in, and by name. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/analysis/stats/maker.h"
#include "src/base/saturate.h"

typedef struct
{
  const LnsCallRange *range; /* or NULL                                                         */
  uint32_t key;              /* of the result's, or the name                                     */
  int64_t duration_ns;
} Kernel;

typedef struct
{
  Kernel *kernels;
  size_t n;
} Kernels;

static bool
no_memory (LnsError *error)
{
  return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                        "not enough memory for statistics; close other programs");
}

/* Adds the kernels of LANE; there is room. */
static bool
read_lane (const LnsStatsResult *result, uint32_t lane, Kernels *kernels, LnsError *error)
{
  LnsReport *report = lns_tables_report (result->tables);
  const LnsTrack *track =
      &lns_report_tracks (report, NULL)[lns_report_lanes (report, NULL)[lane].track];
  int correlation = lns_lane_kind_extra (LNS_LANE_CUDA_KERNEL, LNS_COLUMN_CORRELATION),
      launch = lns_lane_kind_extra (LNS_LANE_CUDA_KERNEL, LNS_COLUMN_LAUNCH);
  LnsChunkWalker *walker = lns_chunk_walker_new (report, lane,
                                                 LNS_COLUMN_BIT (LNS_COLUMN_NAME) |
                                                     LNS_COLUMN_BIT (LNS_COLUMN_CORRELATION) |
                                                     LNS_COLUMN_BIT (LNS_COLUMN_LAUNCH));
  const LnsChunk *chunk;
  LnsError local = { 0 };

  if (walker == NULL)
    return no_memory (error);
  while ((chunk = lns_chunk_walker_next (walker, &local)) != NULL)
    for (uint32_t i = 0; i < chunk->n; i++)
      {
        uint64_t id = chunk->extra[launch] != NULL ? chunk->extra[launch][i] : 0;
        kernels->kernels[kernels->n++] = (Kernel){
          .range = chunk->extra[correlation] != NULL
                       ? lns_call_ranges_find (result->call_ranges, track->process,
                                               chunk->extra[correlation][i])
                       : NULL,
          .key = result->kernels.n > 0 ? lns_kernel_keys_find (&result->kernels, chunk->name[i], id)
                                       : chunk->name[i],
          .duration_ns = chunk->duration_ns[i],
        };
      }
  lns_chunk_walker_free (walker);
  return local.domain == LNS_ERROR_NONE ||
         lns_error_set (error, local.domain, local.code, "%s", local.message);
}

static int
compare_groups (const Kernel *a, const Kernel *b)
{
  static const LnsCallRange none = { LNS_ID_NONE, LNS_ID_NONE };
  const LnsCallRange *ra = a->range != NULL ? a->range : &none,
                     *rb = b->range != NULL ? b->range : &none;
  const uint32_t ka[] = { ra->domain_name, ra->name, a->key },
                 kb[] = { rb->domain_name, rb->name, b->key };

  for (unsigned i = 0; i < 3; i++)
    if (ka[i] != kb[i])
      return ka[i] < kb[i] ? -1 : 1;
  return 0;
}

static int
compare_kernels (const void *a, const void *b)
{
  const Kernel *ka = a, *kb = b;
  int order = compare_groups (ka, kb);

  return order != 0 ? order
                    : (ka->duration_ns > kb->duration_ns) - (ka->duration_ns < kb->duration_ns);
}

LnsRangeStat
_lns_stats_sum_sorted (const int64_t *first_ns, size_t stride_bytes, size_t n, LnsRangeStyle style)
{
#define DURATION(i) (*(const int64_t *)((const char *)first_ns + (i)*stride_bytes))
  LnsRangeStat sum = { .style = style,
                       .n = n,
                       .min_ns = DURATION (0),
                       .max_ns = DURATION (n - 1),
                       .doubled_median_ns = lns_sum (DURATION ((n - 1) / 2), DURATION (n / 2)) };
  long double squares = 0;

  for (size_t i = 0; i < n; i++)
    sum.total_ns += (uint64_t)DURATION (i);
  for (size_t i = 0; i < n; i++)
    {
      long double distance = (long double)DURATION (i) - (long double)sum.total_ns / (long double)n;
      squares += distance * distance;
    }
  sum.deviation_ns = n > 1 ? (double)sqrtl (squares / (long double)(n - 1)) : 0;
  return sum;
#undef DURATION
}

/* Adds a sum for each group of KERNELS, which are sorted. */
static bool
add_sums (LnsStatsResult *result, const Kernels *kernels)
{
  size_t n_groups = 0;

  for (size_t i = 0; i < kernels->n; i++)
    n_groups += i == 0 || compare_groups (&kernels->kernels[i - 1], &kernels->kernels[i]) != 0;
  LnsRangeStat *sums = realloc (result->sums, (result->n + n_groups + 1) * sizeof *sums);
  if (sums == NULL)
    return false;
  result->sums = sums;
  for (size_t from = 0, to; from < kernels->n; from = to)
    {
      const Kernel *first = &kernels->kernels[from];
      for (to = from + 1; to < kernels->n && compare_groups (first, &kernels->kernels[to]) == 0;
           to++)
        ;
      LnsRangeStat *sum = &sums[result->n++];
      *sum =
          _lns_stats_sum_sorted (&first->duration_ns, sizeof *first, to - from, LNS_STYLE_KERNEL);
      sum->name = first->key;
      sum->range = first->range;
    }
  return true;
}

bool
_lns_stats_add_kernel_sums (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  LnsReport *report = lns_tables_report (result->tables);
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  Kernels kernels = { 0 };
  uint64_t n = 0;

  for (uint32_t i = 0; i < n_lanes; i++)
    if (lanes[i].kind == LNS_LANE_CUDA_KERNEL)
      n += lns_report_lane_info (report, i)->n_events;
  kernels.kernels = calloc (n + 1, sizeof *kernels.kernels);
  bool good = kernels.kernels != NULL || no_memory (error);
  for (uint32_t i = 0; good && i < n_lanes; i++)
    {
      if (lanes[i].kind != LNS_LANE_CUDA_KERNEL)
        continue;
      good = read_lane (result, i, &kernels, error);
      if (good && cancel != NULL && atomic_load_explicit (cancel, memory_order_relaxed))
        good = lns_error_set (error, LNS_ERROR_CANCELLED, 0, "interrupted");
    }
  if (good && kernels.n > 0)
    qsort (kernels.kernels, kernels.n, sizeof *kernels.kernels, compare_kernels);
  good = good && (add_sums (result, &kernels) || no_memory (error));
  free (kernels.kernels);
  return good;
}
