/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/projection/launches.h"

#include <stdlib.h>

#include "src/analysis/ordering.h"
#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/tables/lanes.h"

/* A call, by the process and correlation that its kernels share. */
typedef struct
{
  uint64_t correlation;
  int64_t start_ns, end_ns;
  uint32_t process, lane, name, thread;
} Call;

typedef struct
{
  Call *calls;
  LnsLaunch *launches;
  size_t n_calls, n_launches;
} Join;

static int
compare_calls (const void *a, const void *b)
{
  const Call *ca = a, *cb = b;

  return LNS_COMPARE (ca->process, cb->process)
             ?: LNS_COMPARE (ca->correlation, cb->correlation)
             ?: LNS_COMPARE (ca->lane, cb->lane);
}

static int
compare_launches (const void *a, const void *b)
{
  const LnsLaunch *la = a, *lb = b;

  return LNS_COMPARE (la->thread, lb->thread)
             ?: LNS_COMPARE (la->call_start_ns, lb->call_start_ns)
             ?: LNS_COMPARE (la->start_ns, lb->start_ns);
}

/* The arrays have room for all calls and kernels of the report. */
static void
add_calls (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Join *join = data;
  const int index = lns_lane_kind_extra (LNS_LANE_CUDA_API, LNS_COLUMN_CORRELATION);

  for (uint32_t i = 0; i < chunk->n; i++)
    {
      const uint64_t correlation = lns_chunk_extra (chunk, index, i);
      if (correlation != 0)
        join->calls[join->n_calls++] =
            (Call){ correlation,    chunk->start_ns[i], chunk->start_ns[i] + chunk->duration_ns[i],
                    track->process, chunk->lane,        chunk->name[i],
                    track->thread };
    }
}

static const Call *
find_call (const Join *join, uint32_t process, uint64_t correlation)
{
  const Call wanted = { .correlation = correlation, .process = process };
  const size_t i =
      lns_lower_bound (join->calls, join->n_calls, sizeof wanted, &wanted, compare_calls);

  return i < join->n_calls && join->calls[i].process == process &&
                 join->calls[i].correlation == correlation
             ? &join->calls[i]
             : NULL;
}

static void
add_kernels (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Join *join = data;
  const int index = lns_lane_kind_extra (LNS_LANE_CUDA_KERNEL, LNS_COLUMN_CORRELATION),
            launch = lns_lane_kind_extra (LNS_LANE_CUDA_KERNEL, LNS_COLUMN_LAUNCH);

  for (uint32_t i = 0; i < chunk->n; i++)
    {
      const uint64_t correlation = lns_chunk_extra (chunk, index, i);
      const Call *call = correlation != 0 ? find_call (join, track->process, correlation) : NULL;
      if (call != NULL)
        join->launches[join->n_launches++] =
            (LnsLaunch){ .call_start_ns = call->start_ns,
                         .call_end_ns = call->end_ns,
                         .start_ns = chunk->start_ns[i],
                         .end_ns = chunk->start_ns[i] + chunk->duration_ns[i],
                         .call_name = call->name,
                         .name = chunk->name[i],
                         .launch = (uint32_t)lns_chunk_extra (chunk, launch, i),
                         .thread = call->thread,
                         .device = track->device,
                         .process = track->process,
                         .lane = chunk->lane,
                         .ordinal = (uint32_t)(chunk->first + i),
                         .correlation = correlation };
    }
}

bool
lns_launches (LnsReport *report,
              const atomic_bool *cancel,
              LnsLaunch **ret_launches,
              size_t *ret_n,
              LnsError *error)
{
  const LnsColumnMask columns = LNS_COLUMN_BIT (LNS_COLUMN_NAME) |
                                LNS_COLUMN_BIT (LNS_COLUMN_CORRELATION) |
                                LNS_COLUMN_BIT (LNS_COLUMN_LAUNCH);
  Join join = {
    .calls = lns_calloc (lns_count_events (report, LNS_LANE_CUDA_API), sizeof (Call)),
    .launches = lns_calloc (lns_count_events (report, LNS_LANE_CUDA_KERNEL), sizeof (LnsLaunch)),
  };

  bool good = lns_read_lanes (report, LNS_LANE_CUDA_API, columns, add_calls, &join, cancel, error);
  lns_order (join.calls, join.n_calls, sizeof *join.calls, compare_calls);
  good = good &&
         lns_read_lanes (report, LNS_LANE_CUDA_KERNEL, columns, add_kernels, &join, cancel, error);
  free (join.calls);
  if (!good)
    {
      free (join.launches);
      return false;
    }
  lns_order (join.launches, join.n_launches, sizeof *join.launches, compare_launches);
  *ret_launches = join.launches;
  *ret_n = join.n_launches;
  return true;
}

size_t
lns_launches_from (const LnsLaunch *launches, size_t n, uint32_t thread, int64_t start_ns)
{
  const LnsLaunch wanted = { .thread = thread, .call_start_ns = start_ns, .start_ns = INT64_MIN };

  return lns_lower_bound (launches, n, sizeof wanted, &wanted, compare_launches);
}
