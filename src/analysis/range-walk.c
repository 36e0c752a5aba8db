/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "src/analysis/range-walk.h"
#include "src/base/memory.h"
#include "src/store/format/chunk-format.h"
#include "src/tables/lanes.h"

/* A worker takes so many chunks at a time: a lane may hold nearly all of a report. */
#define CHUNKS_A_TURN 64

typedef struct
{
  uint32_t lane, family;
  uint32_t first, n; /* chunks                                                                  */
  uint64_t first_event, end_event; /* the events of these chunks that are looked at, by number */
} Turn;

struct LnsRangeWalk
{
  LnsReport *report;
  const LnsRangeQuery *query;
  const atomic_bool *cancel;
  LNS_ARRAY (LnsRangeFamily) families;
  LNS_ARRAY (Turn) turns;
  unsigned n_workers;
};

/* What the workers of a pass share. */
typedef struct
{
  LnsRangeWalk *walk;
  LnsRangeWalkFunc function;
  void *data;
  atomic_uint next_turn, next_worker;
  atomic_bool failed;
  pthread_mutex_t lock; /* over `error`                                                         */
  LnsError error;
} Pass;

unsigned
lns_range_style (LnsLaneKind kind)
{
  switch (kind)
    {
    case LNS_LANE_NVTX_PUSH_POP:
      return LNS_STYLE_PUSH_POP;
    case LNS_LANE_NVTX_START_END:
      return LNS_STYLE_START_END;
    case LNS_LANE_CUDA_API:
      return LNS_STYLE_CALL;
    case LNS_LANE_CUDA_KERNEL:
      return LNS_STYLE_KERNEL;
    case LNS_LANE_CUDA_MEMCPY:
      return LNS_STYLE_COPY;
    case LNS_LANE_CUDA_MEMSET:
      return LNS_STYLE_SET;
    default:
      return 0;
    }
}

static uint32_t
family_of (LnsRangeWalk *walk, uint32_t lane)
{
  const LnsRangeStyle style = lns_range_style (lns_report_lanes (walk->report, NULL)[lane].kind);
  const uint32_t name = lns_domain_name_of (walk->report, lane);

  for (uint32_t i = 0; i < walk->families.n; i++)
    if (walk->families.items[i].domain_name == name && walk->families.items[i].style == style)
      return i;
  *lns_array_add (&walk->families) = (LnsRangeFamily){ style, name };
  return (uint32_t)walk->families.n - 1;
}

static unsigned
count_cores (void)
{
  cpu_set_t set;
  unsigned n = sched_getaffinity (0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT (&set) : 1;
  return n < 1 ? 1 : n > LNS_RANGE_MAX_WORKERS ? LNS_RANGE_MAX_WORKERS : n;
}

/* Finds the events of LANE that overlap SPAN: from RET_FIRST up to RET_END - 1, neighbours, as those of a lane do not overlap each
 * other. */
static bool
find_events (LnsReport *report,
             uint32_t lane,
             const LnsFilterSpan *span,
             uint64_t *ret_first,
             uint64_t *ret_end,
             LnsError *error)
{
  const uint64_t n_events = lns_report_lane_info (report, lane)->n_events;
  LnsEvent event;

  if (!lns_report_find (report, lane, span->start_ns, ret_first, error) ||
      !lns_report_find (report, lane, span->end_ns, ret_end, error))
    return false;
  /* Those without length at the end of the span, and the one that lasts longer. */
  for (; *ret_end < n_events; ++*ret_end)
    {
      if (!lns_report_event (report, lane, *ret_end, &event, error))
        return false;
      if (event.start_ns > span->end_ns)
        break;
    }
  return true;
}

/* Adds the turns of LANE, which the query asks for. */
static bool
add_turns (LnsRangeWalk *walk, uint32_t lane, LnsError *error)
{
  const LnsFilterSpan *span = walk->query->span;
  const uint32_t family = family_of (walk, lane);
  uint64_t first_event = 0, end_event = UINT64_MAX;
  uint32_t first = 0, end = lns_report_lane_info (walk->report, lane)->n_chunks;

  if (span != NULL && end > 0)
    {
      if (span->process != LNS_ID_NONE &&
          lns_track_of (walk->report, lane)->process != span->process)
        return true;
      if (!find_events (walk->report, lane, span, &first_event, &end_event, error))
        return false;
      if (first_event >= end_event)
        return true;
      first = lns_report_chunk_of (walk->report, lane, first_event);
      end = lns_report_chunk_of (walk->report, lane, end_event - 1) + 1;
    }
  for (; first < end; first += CHUNKS_A_TURN)
    *lns_array_add (&walk->turns) =
        (Turn){ lane,        family,
                first,       end - first < CHUNKS_A_TURN ? end - first : CHUNKS_A_TURN,
                first_event, end_event };
  return true;
}

LnsRangeWalk *
lns_range_walk_new (LnsReport *report,
                    const LnsRangeQuery *query,
                    const atomic_bool *cancel,
                    LnsError *error)
{
  LnsRangeWalk *walk = lns_calloc (1, sizeof *walk);
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);

  walk->report = report;
  walk->query = query;
  walk->cancel = cancel;
  walk->n_workers = count_cores ();
  for (uint32_t i = 0; i < n_lanes; i++)
    if ((lns_range_style (lanes[i].kind) & query->styles) != 0 && !add_turns (walk, i, error))
      {
        lns_range_walk_free (walk);
        return NULL;
      }
  return walk;
}

void
lns_range_walk_free (LnsRangeWalk *walk)
{
  if (walk == NULL)
    return;
  lns_array_clear (&walk->families);
  lns_array_clear (&walk->turns);
  free (walk);
}

const LnsRangeFamily *
lns_range_walk_families (const LnsRangeWalk *walk, uint32_t *ret_n)
{
  *ret_n = (uint32_t)walk->families.n;
  return walk->families.items;
}

unsigned
lns_range_walk_n_workers (const LnsRangeWalk *walk)
{
  return walk->n_workers;
}

static void
fail (Pass *pass, const LnsError *error)
{
  pthread_mutex_lock (&pass->lock);
  lns_error_set (&pass->error, error->domain, error->code, "%s", error->message);
  pthread_mutex_unlock (&pass->lock);
  atomic_store (&pass->failed, true);
}

/* Room in which a worker replaces names by keys and durations by sizes. No chunk has more events. */
typedef struct
{
  uint32_t keys[LNS_CHUNK_MAX_EVENTS];
  int64_t sizes[LNS_CHUNK_MAX_EVENTS];
} Places;

/* CHUNK with names and durations replaced by the keys and sizes that the query asks for. */
static LnsChunk
put_in_place (const LnsRangeWalk *walk, LnsLaneKind kind, const LnsChunk *chunk, Places *places)
{
  const LnsRangeQuery *query = walk->query;
  int launch = lns_lane_kind_extra (kind, LNS_COLUMN_LAUNCH),
      bytes = lns_lane_kind_extra (kind, LNS_COLUMN_BYTES);
  const uint32_t n_strings = lns_report_n_strings (walk->report);
  LnsChunk result = *chunk;

  if (query->keys.kernels != NULL && kind == LNS_LANE_CUDA_KERNEL)
    {
      for (uint32_t i = 0; i < chunk->n; i++)
        places->keys[i] = lns_kernel_keys_find (query->keys.kernels, chunk->name[i],
                                                lns_chunk_extra (chunk, launch, i));
      result.name = places->keys;
    }
  else if (query->keys.calls != NULL && kind == LNS_LANE_CUDA_API)
    {
      for (uint32_t i = 0; i < chunk->n; i++)
        places->keys[i] = chunk->name[i] < n_strings ? query->keys.calls[chunk->name[i]] : 0;
      result.name = places->keys;
    }
  if (query->by_bytes)
    {
      for (uint32_t i = 0; i < chunk->n; i++)
        places->sizes[i] = (int64_t)lns_chunk_extra (chunk, bytes, i);
      result.duration_ns = places->sizes;
    }
  return result;
}

/* The events of CHUNK that TURN looks at; none may be left. */
static LnsChunk
slice (const LnsChunk *chunk, const Turn *turn)
{
  const uint64_t end = chunk->first + chunk->n;
  const uint32_t skipped = (uint32_t)(turn->first_event <= chunk->first ? 0
                                      : turn->first_event < end ? turn->first_event - chunk->first
                                                                : chunk->n),
                 left_out = (uint32_t)(turn->end_event >= end           ? 0
                                       : turn->end_event > chunk->first ? end - turn->end_event
                                                                        : chunk->n);
  LnsChunk result = *chunk;

  if (skipped + left_out >= chunk->n)
    {
      result.n = 0;
      return result;
    }
  result.first += skipped;
  result.n -= skipped + left_out;
  result.start_ns += skipped;
  result.duration_ns += skipped;
  result.name += skipped;
  result.flags += skipped;
  for (unsigned i = 0; i < LNS_EXTRA_MAX; i++)
    if (result.extra[i] != NULL)
      result.extra[i] += skipped;
  return result;
}

static bool
take_turn (Pass *pass, unsigned worker, const Turn *turn, LnsError *error)
{
  const LnsColumnMask columns =
      LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_FLAGS) |
      LNS_COLUMN_BIT (pass->walk->query->by_bytes ? LNS_COLUMN_BYTES : LNS_COLUMN_NAME) |
      LNS_COLUMN_BIT (pass->walk->query->keys.kernels != NULL ? LNS_COLUMN_LAUNCH
                                                              : LNS_COLUMN_NAME);
  LnsChunkWalker *walker = lns_chunk_walker_new (pass->walk->report, turn->lane, columns);
  const LnsLaneKind kind = lns_report_lanes (pass->walk->report, NULL)[turn->lane].kind;
  const LnsChunk *chunk;
  Places places;

  lns_chunk_walker_seek (walker, turn->first);
  for (uint32_t i = 0; i < turn->n && (chunk = lns_chunk_walker_next (walker, error)) != NULL; i++)
    {
      const LnsChunk within = slice (chunk, turn),
                     asked = put_in_place (pass->walk, kind, &within, &places);
      pass->function (pass->data, worker, turn->family, &asked);
    }
  lns_chunk_walker_free (walker);
  return error->domain == LNS_ERROR_NONE;
}

static void *
work (void *data)
{
  Pass *pass = data;
  LnsRangeWalk *walk = pass->walk;
  unsigned worker = atomic_fetch_add (&pass->next_worker, 1);
  LnsError error = { 0 };

  while (!atomic_load_explicit (&pass->failed, memory_order_relaxed))
    {
      unsigned turn = atomic_fetch_add (&pass->next_turn, 1);
      if (turn >= walk->turns.n)
        break;
      if (!lns_go_on (walk->cancel, &error) ||
          !take_turn (pass, worker, &walk->turns.items[turn], &error))
        fail (pass, &error);
    }
  return NULL;
}

bool
lns_range_walk_run (LnsRangeWalk *walk, LnsRangeWalkFunc function, void *data, LnsError *error)
{
  Pass pass = {
    .walk = walk, .function = function, .data = data, .lock = PTHREAD_MUTEX_INITIALIZER
  };
  pthread_t threads[LNS_RANGE_MAX_WORKERS];
  unsigned n_threads = 0;

  /* This thread works too, and works alone if no other thread can be created. */
  while (n_threads + 1 < walk->n_workers && n_threads + 1 < walk->turns.n &&
         pthread_create (&threads[n_threads], NULL, work, &pass) == 0)
    n_threads++;
  work (&pass);
  for (unsigned i = 0; i < n_threads; i++)
    pthread_join (threads[i], NULL);
  if (pass.error.domain != LNS_ERROR_NONE)
    return lns_error_set (error, pass.error.domain, pass.error.code, "%s", pass.error.message);
  return true;
}
