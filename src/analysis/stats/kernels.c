/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Sums of kernels by the ranges that their calls were in, and by name. */

#include "src/analysis/stats/maker.h"

typedef struct
{
  const LnsStatsResult *result;
  LnsStatsValues values;
} Kernels;

static void
add_kernels (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Kernels *kernels = data;
  const LnsStatsResult *result = kernels->result;
  const int correlation = lns_lane_kind_extra (LNS_LANE_CUDA_KERNEL, LNS_COLUMN_CORRELATION),
            launch = lns_lane_kind_extra (LNS_LANE_CUDA_KERNEL, LNS_COLUMN_LAUNCH);

  for (uint32_t i = 0; i < chunk->n; i++)
    *lns_array_add (&kernels->values) = (LnsStatsValue){
      .range = chunk->extra[correlation] != NULL
                   ? lns_call_ranges_find (result->call_ranges, track->process,
                                           chunk->extra[correlation][i])
                   : NULL,
      .name = result->kernels.kinds.n > 0
                  ? lns_kernel_keys_find (&result->kernels, chunk->name[i],
                                          lns_chunk_extra (chunk, launch, i))
                  : chunk->name[i],
      .value = chunk->duration_ns[i],
    };
}

bool
_lns_stats_add_kernel_sums (LnsStatsResult *result, const atomic_bool *cancel, LnsError *error)
{
  Kernels kernels = { .result = result };
  const bool good =
      lns_read_lanes (lns_tables_report (result->tables), LNS_LANE_CUDA_KERNEL,
                      LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_CORRELATION) |
                          LNS_COLUMN_BIT (LNS_COLUMN_LAUNCH),
                      add_kernels, &kernels, cancel, error);

  if (good)
    _lns_stats_add_sums (result, &kernels.values, LNS_STYLE_KERNEL);
  lns_array_clear (&kernels.values);
  return good;
}
