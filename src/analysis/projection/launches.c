/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/projection/launches.h"

#include <stdlib.h>

#include "src/analysis/ordering.h"

/* A call by what ties it to its kernels. */
typedef struct
{
  uint64_t correlation;
  int64_t start_ns, end_ns;
  uint32_t process, lane, name, thread;
} Call;

typedef struct
{
  LnsReport *report;
  const LnsLane *lanes;
  const LnsTrack *tracks;
  uint32_t n_lanes, n_tracks;
  const atomic_bool *cancel;
  Call *calls;
  LnsLaunch *launches;
  size_t n_calls, n_launches;
} Join;

/* Looks at CHUNK of a lane of TRACK. */
typedef void (*ChunkFunc) (Join *join, const LnsTrack *track, const LnsChunk *chunk);

static uint64_t
extra (const LnsChunk *chunk, LnsLaneKind kind, LnsColumnId column, uint32_t i)
{
  int index = lns_lane_kind_extra (kind, column);
  return index >= 0 && chunk->extra[index] != NULL ? chunk->extra[index][i] : 0;
}

static int
compare_calls (const void *a, const void *b)
{
  const Call *ca = a, *cb = b;

  if (ca->process != cb->process)
    return ca->process < cb->process ? -1 : 1;
  if (ca->correlation != cb->correlation)
    return ca->correlation < cb->correlation ? -1 : 1;
  return ca->lane < cb->lane ? -1 : ca->lane > cb->lane;
}

static int
compare_launches (const void *a, const void *b)
{
  const LnsLaunch *la = a, *lb = b;

  if (la->thread != lb->thread)
    return la->thread < lb->thread ? -1 : 1;
  if (la->call_start_ns != lb->call_start_ns)
    return la->call_start_ns < lb->call_start_ns ? -1 : 1;
  return la->start_ns < lb->start_ns ? -1 : la->start_ns > lb->start_ns;
}

/* The arrays have room for all: what lanes hold is known. */
static void
add_calls (Join *join, const LnsTrack *track, const LnsChunk *chunk)
{
  for (uint32_t i = 0; i < chunk->n; i++)
    {
      uint64_t correlation = extra (chunk, LNS_LANE_CUDA_API, LNS_COLUMN_CORRELATION, i);
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
  size_t low = 0, high = join->n_calls;

  while (low < high)
    {
      size_t middle = low + (high - low) / 2;
      if (compare_calls (&join->calls[middle], &wanted) < 0)
        low = middle + 1;
      else
        high = middle;
    }
  return low < join->n_calls && join->calls[low].process == process &&
                 join->calls[low].correlation == correlation
             ? &join->calls[low]
             : NULL;
}

static void
add_kernels (Join *join, const LnsTrack *track, const LnsChunk *chunk)
{
  for (uint32_t i = 0; i < chunk->n; i++)
    {
      uint64_t correlation = extra (chunk, LNS_LANE_CUDA_KERNEL, LNS_COLUMN_CORRELATION, i);
      const Call *call = correlation != 0 ? find_call (join, track->process, correlation) : NULL;
      if (call != NULL)
        join->launches[join->n_launches++] = (LnsLaunch){
          .call_start_ns = call->start_ns,
          .call_end_ns = call->end_ns,
          .start_ns = chunk->start_ns[i],
          .end_ns = chunk->start_ns[i] + chunk->duration_ns[i],
          .call_name = call->name,
          .name = chunk->name[i],
          .launch = (uint32_t)extra (chunk, LNS_LANE_CUDA_KERNEL, LNS_COLUMN_LAUNCH, i),
          .thread = call->thread,
          .device = track->device,
          .process = track->process,
          .correlation = correlation,
        };
    }
}

/* How many events lanes of KIND hold. */
static size_t
count (const Join *join, LnsLaneKind kind)
{
  size_t n = 0;

  for (uint32_t i = 0; i < join->n_lanes; i++)
    if (join->lanes[i].kind == kind)
      n += lns_report_lane_info (join->report, i)->n_events;
  return n;
}

/* Has FUNCTION look at all chunks of lanes of KIND. */
static bool
walk (Join *join, LnsLaneKind kind, ChunkFunc function, LnsError *error)
{
  const LnsColumnMask columns = LNS_COLUMN_BIT (LNS_COLUMN_NAME) |
                                LNS_COLUMN_BIT (LNS_COLUMN_CORRELATION) |
                                LNS_COLUMN_BIT (LNS_COLUMN_LAUNCH);
  LnsError local = { 0 };

  for (uint32_t i = 0; i < join->n_lanes && local.domain == LNS_ERROR_NONE; i++)
    {
      if (join->lanes[i].kind != kind || join->lanes[i].track >= join->n_tracks)
        continue;
      LnsChunkWalker *walker = lns_chunk_walker_new (join->report, i, columns);
      const LnsChunk *chunk;
      if (walker == NULL)
        lns_error_set (&local, LNS_ERROR_NO_MEMORY, 0,
                       "not enough memory to read the kernels; close other programs");
      while (walker != NULL && (chunk = lns_chunk_walker_next (walker, &local)) != NULL)
        {
          function (join, &join->tracks[join->lanes[i].track], chunk);
          if (join->cancel != NULL && atomic_load_explicit (join->cancel, memory_order_relaxed))
            {
              lns_error_set (&local, LNS_ERROR_CANCELLED, 0, "interrupted");
              break;
            }
        }
      lns_chunk_walker_free (walker);
    }
  if (local.domain != LNS_ERROR_NONE)
    return lns_error_set (error, local.domain, local.code, "%s", local.message);
  return true;
}

bool
lns_launches (LnsReport *report,
              const atomic_bool *cancel,
              LnsLaunch **ret_launches,
              size_t *ret_n,
              LnsError *error)
{
  Join join = { .report = report, .cancel = cancel };

  join.lanes = lns_report_lanes (report, &join.n_lanes);
  join.tracks = lns_report_tracks (report, &join.n_tracks);
  join.calls = calloc (count (&join, LNS_LANE_CUDA_API) + 1, sizeof *join.calls);
  join.launches = calloc (count (&join, LNS_LANE_CUDA_KERNEL) + 1, sizeof *join.launches);
  bool good = (join.calls != NULL && join.launches != NULL) ||
              lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                             "not enough memory to tie kernels to their calls; close other "
                             "programs");
  good = good && walk (&join, LNS_LANE_CUDA_API, add_calls, error);
  if (good)
    lns_order (join.calls, join.n_calls, sizeof *join.calls, compare_calls);
  good = good && walk (&join, LNS_LANE_CUDA_KERNEL, add_kernels, error);
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
  size_t low = 0, high = n;

  while (low < high)
    {
      size_t middle = low + (high - low) / 2;
      if (compare_launches (&launches[middle], &wanted) < 0)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}
