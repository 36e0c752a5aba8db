/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/facts/gpu-time.h"

#include <stdlib.h>

#include "src/analysis/call-maker.h"
#include "src/analysis/facts/lane-cursor.h"
#include "src/analysis/facts/launch-finder.h"
#include "src/analysis/name-key.h"
#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/tables/lanes.h"

/* Of a tree in which steps and layers are one: names that differ by more than numbers, each time. */
#define MAX_NODES (4 * LNS_GPU_TIME_MAX_NODES)

/* A range that is open. */
typedef struct
{
  int64_t start_ns, end_ns;
  uint32_t function;
  uint32_t place; /* of its lane among those of the thread */
} Open;

/* The ranges of a thread, and those around the call that was looked at last. */
typedef struct
{
  LNS_ARRAY (LnsLaneCursor) lanes;
  int64_t from_ns, to_ns; /* ranges neither begin nor end between these */
  uint32_t stack;         /* around calls between them */
  bool has_stack;
} Thread;

/* Open ranges on a thread: a node of the tree. */
typedef struct
{
  uint32_t node;
  LnsGpuChainOwner owner;
} Stack;

typedef struct
{
  LnsReport *report;
  const LnsLane *lanes;
  const atomic_bool *cancel;
  LnsCallMaker made;
  bool is_full; /* the tree is not to get larger */
  /* With strips_numbers: */
  LnsIdMap name_keys;
  LnsIdMap domains;           /* 1 + index in alike by 1 + name of the domain */
  LNS_ARRAY (LnsIdMap) alike; /* 1 + function by name key */
  LnsIdMap first_alike;       /* 1 + function that stands for it by function */
  LnsLaunchFinder *finder;
  Thread *threads; /* by thread instance */
  uint32_t n_threads;
  LNS_ARRAY (Open) open;
  LNS_ARRAY (Stack) stacks;
  LnsIdMap stack_of;            /* node << 32 | thread, or process without a launch → 1 + stack */
  LnsIdMap chain_of;            /* stack << 32 | function of an operation → 1 + chain */
  LNS_ARRAY (uint32_t) node_of; /* by chain */
  LNS_ARRAY (LnsGpuChainOwner) owners;
  LnsGpuTime *time;
  LnsError error; /* of a chunk's function */
} Maker;

/* ---- Stacks ----------------------------------------------------------------------------------- */

static uint32_t
add_stack (Maker *maker, uint32_t node, LnsGpuChainOwner owner)
{
  const uint64_t key =
      (uint64_t)node << 32 | (owner.thread != LNS_ID_NONE ? owner.thread : owner.process);
  uint64_t found = lns_id_map_number (&maker->stack_of, key);

  if (found == 0)
    {
      *lns_array_add (&maker->stacks) = (Stack){ node, owner };
      found = maker->stacks.n;
      lns_id_map_set_number (&maker->stack_of, key, found);
    }
  return (uint32_t)(found - 1);
}

static int
compare_open (const void *a, const void *b)
{
  const Open *oa = a, *ob = b;

  return LNS_COMPARE (oa->start_ns, ob->start_ns)
             ?: LNS_COMPARE (ob->end_ns, oa->end_ns)
             ?: LNS_COMPARE (oa->place, ob->place);
}

/* The function of the first range that is called like that of FUNCTION but for numbers. */
static uint32_t
find_alike (Maker *maker, uint32_t function)
{
  const uint64_t known = lns_id_map_number (&maker->first_alike, function);
  const LnsCallFunction *it = &maker->made.functions.items[function];

  if (known != 0)
    return (uint32_t)(known - 1);
  uint64_t domain = lns_id_map_number (&maker->domains, 1 + (uint64_t)it->module);
  if (domain == 0)
    {
      *lns_array_add (&maker->alike) = (LnsIdMap){ 0 };
      domain = maker->alike.n;
      lns_id_map_set_number (&maker->domains, 1 + (uint64_t)it->module, domain);
    }
  LnsIdMap *alike = &maker->alike.items[domain - 1];
  const uint64_t key = lns_name_key (maker->report, &maker->name_keys, it->symbol);
  uint64_t first = lns_id_map_number (alike, key);
  if (first == 0)
    {
      first = 1 + (uint64_t)function;
      lns_id_map_set_number (alike, key, first);
    }
  else
    maker->made.functions.items[first - 1].is_many = true;
  lns_id_map_set_number (&maker->first_alike, function, first);
  return (uint32_t)(first - 1);
}

/* Puts the range of lane PLACE of THREAD that is around CALL into `open`, if there is one, and narrows the time in which nothing
 * changes. */
static bool
look_at_lane (
    Maker *maker, Thread *thread, uint32_t place, const LnsLaunchCall *call, LnsError *error)
{
  LnsLaneCursor *cursor = &thread->lanes.items[place];

  if (!lns_lane_cursor_seek (cursor, call->start_ns, error))
    return false;
  if (!lns_lane_cursor_has (cursor))
    return true;
  const int64_t start_ns = lns_lane_cursor_start (cursor), end_ns = lns_lane_cursor_end (cursor);
  const bool has_begun = start_ns <= call->start_ns,
             is_around = has_begun && end_ns >= call->end_ns &&
                         lns_event_has_length (cursor->chunk->flags[cursor->i]);
  /* A range that ends within the call may be around another call within that. */
  const int64_t until_ns = is_around ? end_ns : has_begun ? INT64_MIN : start_ns - 1;
  thread->to_ns = until_ns < thread->to_ns ? until_ns : thread->to_ns;
  if (!is_around)
    return true;
  const LnsCallFunction range = { .symbol = cursor->chunk->name[cursor->i],
                                  .module = lns_domain_name_of (maker->report, cursor->lane),
                                  .sort = LNS_CALL_RANGE };
  uint32_t function = lns_call_maker_function (&maker->made, range);
  if (maker->time->strips_numbers)
    function = find_alike (maker, function);
  *lns_array_add (&maker->open) = (Open){ start_ns, end_ns, function, place };
  return true;
}

/* Ends the making if the tree has no room for N more nodes. */
static bool
has_room (Maker *maker, size_t n, LnsError *error)
{
  const size_t n_most = maker->time->strips_numbers ? MAX_NODES : LNS_GPU_TIME_MAX_NODES;

  maker->is_full = maker->made.nodes.n + n > n_most;
  return !maker->is_full ||
         lns_error_set (error, LNS_ERROR_FORMAT, 0,
                        "%s: the ranges around GPU work are more than can be summed up",
                        lns_report_info (maker->report)->path);
}

/* Puts the number of the stack around CALL into RET_STACK. */
static bool
find_stack (Maker *maker, const LnsLaunchCall *call, uint32_t *ret_stack, LnsError *error)
{
  Thread *thread = &maker->threads[call->thread];

  if (thread->has_stack && call->start_ns >= thread->from_ns && call->end_ns <= thread->to_ns)
    {
      *ret_stack = thread->stack;
      return true;
    }
  maker->open.n = 0;
  thread->from_ns = call->start_ns;
  thread->to_ns = INT64_MAX;
  for (uint32_t i = 0; i < thread->lanes.n; i++)
    if (!look_at_lane (maker, thread, i, call, error))
      return false;
  if (maker->open.n > 1)
    qsort (maker->open.items, maker->open.n, sizeof *maker->open.items, compare_open);
  if (!has_room (maker, maker->open.n + 1, error))
    return false;
  uint32_t node = LNS_ID_NONE;
  for (size_t i = 0; i < maker->open.n; i++)
    node = lns_call_maker_node (&maker->made, node, maker->open.items[i].function);
  if (node == LNS_ID_NONE)
    node = lns_call_maker_node (
        &maker->made, node,
        lns_call_maker_function (
            &maker->made, (LnsCallFunction){ .symbol = call->thread, .sort = LNS_CALL_NO_RANGE }));
  const LnsThread *threads = lns_report_threads (maker->report, NULL);
  thread->stack =
      add_stack (maker, node, (LnsGpuChainOwner){ call->thread, threads[call->thread].process });
  thread->has_stack = true;
  *ret_stack = thread->stack;
  return true;
}

/* The stack of what PROCESS did and no recorded call launched. */
static uint32_t
stack_without_launch (Maker *maker, uint32_t process)
{
  const LnsCallFunction function = { .symbol = process, .sort = LNS_CALL_NO_LAUNCH };
  const uint32_t node = lns_call_maker_node (&maker->made, LNS_ID_NONE,
                                             lns_call_maker_function (&maker->made, function));

  return add_stack (maker, node, (LnsGpuChainOwner){ LNS_ID_NONE, process });
}

/* ---- Operations ------------------------------------------------------------------------------- */

static LnsCallSort
sort_of (LnsLaneKind kind)
{
  return kind == LNS_LANE_CUDA_MEMCPY   ? LNS_CALL_COPY
         : kind == LNS_LANE_CUDA_MEMSET ? LNS_CALL_SET
         : kind == LNS_LANE_CUDA_GRAPH  ? LNS_CALL_GRAPH
                                        : LNS_CALL_KERNEL;
}

/* Puts the number of the stack around the call that launched event ORDINAL of LANE into RET_STACK. */
static bool
find_stack_of (Maker *maker, uint32_t lane, uint64_t ordinal, uint32_t *ret_stack, LnsError *error)
{
  bool is_launched;
  LnsLaunchCall call;

  if (!lns_launch_finder_find (maker->finder, lane, ordinal, &is_launched, &call, error))
    return false;
  if (is_launched && call.thread < maker->n_threads)
    return find_stack (maker, &call, ret_stack, error);
  *ret_stack = stack_without_launch (maker, lns_track_of (maker->report, lane)->process);
  return true;
}

/* Puts the number, less 1, of the chain of operation I of CHUNK into RET_CHAIN. */
static bool
find_chain (Maker *maker, const LnsChunk *chunk, uint32_t i, uint32_t *ret_chain)
{
  uint32_t stack = 0;

  if (!find_stack_of (maker, chunk->lane, chunk->first + i, &stack, &maker->error))
    return false;
  const uint32_t function = lns_call_maker_function (
      &maker->made,
      (LnsCallFunction){ .symbol = chunk->name[i],
                         .sort = (uint16_t)sort_of (maker->lanes[chunk->lane].kind) });
  const uint64_t key = (uint64_t)stack << 32 | function;
  uint64_t found = lns_id_map_number (&maker->chain_of, key);
  if (found == 0)
    {
      if (!has_room (maker, 1, &maker->error))
        return false;
      const Stack *of = &maker->stacks.items[stack];
      *lns_array_add (&maker->node_of) = lns_call_maker_node (&maker->made, of->node, function);
      *lns_array_add (&maker->owners) = of->owner;
      found = maker->node_of.n;
      lns_id_map_set_number (&maker->chain_of, key, found);
    }
  *ret_chain = (uint32_t)(found - 1);
  return true;
}

static void
add_operations (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Maker *maker = data;
  uint32_t *chains = maker->time->chains[chunk->lane];

  for (uint32_t i = 0; i < chunk->n && maker->error.domain == LNS_ERROR_NONE; i++)
    if (!find_chain (maker, chunk, i, &chains[chunk->first + i]))
      return;
}

static bool
read_operations (Maker *maker, LnsError *error)
{
  LnsGpuTime *time = maker->time;
  bool good = true;

  for (uint32_t i = 0; good && i < time->n_lanes; i++)
    {
      const uint64_t n = lns_report_lane_info (maker->report, i)->n_events;
      if (!lns_is_gpu_operation (maker->lanes[i].kind) || n == 0)
        continue;
      time->chains[i] = lns_calloc (n, sizeof *time->chains[i]);
      good = lns_read_lane (maker->report, i, LNS_COLUMN_BIT (LNS_COLUMN_NAME), add_operations,
                            maker, maker->cancel, error);
      if (good && maker->error.domain != LNS_ERROR_NONE)
        good = lns_error_set (error, maker->error.domain, maker->error.code, "%s",
                              maker->error.message);
    }
  return good;
}

/* ---- The tree ------------------------------------------------------------------------------------ */

/* Moves what was made into its tree. */
static void
finish (Maker *maker)
{
  LnsGpuTime *time = maker->time;

  time->tree = lns_calloc (1, sizeof *time->tree);
  time->tree->report = maker->report;
  time->tree->n_chains = (uint32_t)maker->node_of.n;
  time->tree->node_of = maker->node_of.items;
  time->tree->is_whole = lns_calloc (maker->node_of.n, sizeof *time->tree->is_whole);
  time->owners = maker->owners.items;
  lns_call_maker_finish (&maker->made, time->tree);
}

static void
open_threads (Maker *maker)
{
  maker->threads = lns_calloc (maker->n_threads, sizeof *maker->threads);
  for (uint32_t i = 0; i < maker->time->n_lanes; i++)
    {
      const uint32_t thread = lns_track_of (maker->report, i)->thread;
      if (maker->lanes[i].kind == LNS_LANE_NVTX_PUSH_POP && thread < maker->n_threads)
        *lns_array_add (&maker->threads[thread].lanes) = (LnsLaneCursor){
          .report = maker->report, .lane = i, .columns = LNS_COLUMN_BIT (LNS_COLUMN_NAME)
        };
    }
}

static void
clear (Maker *maker)
{
  for (uint32_t i = 0; i < maker->n_threads; i++)
    {
      for (size_t k = 0; k < maker->threads[i].lanes.n; k++)
        lns_lane_cursor_clear (&maker->threads[i].lanes.items[k]);
      lns_array_clear (&maker->threads[i].lanes);
    }
  free (maker->threads);
  lns_array_clear (&maker->open);
  lns_array_clear (&maker->stacks);
  lns_id_map_clear (&maker->stack_of);
  lns_id_map_clear (&maker->chain_of);
  lns_id_map_clear (&maker->name_keys);
  lns_id_map_clear (&maker->domains);
  lns_id_map_clear (&maker->first_alike);
  for (size_t i = 0; i < maker->alike.n; i++)
    lns_id_map_clear (&maker->alike.items[i]);
  lns_array_clear (&maker->alike);
  lns_launch_finder_free (maker->finder);
}

bool
lns_gpu_time_is_there (LnsReport *report)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);

  for (uint32_t i = 0; i < n_lanes; i++)
    if (lns_is_gpu_operation (lanes[i].kind) && lns_report_lane_info (report, i)->n_events > 0)
      return true;
  return false;
}

/* Makes the tree. RET_IS_FULL gets whether it would have too many nodes, of which ERROR tells, too. */
static LnsGpuTime *
make (LnsReport *report,
      bool strips_numbers,
      const atomic_bool *cancel,
      bool *ret_is_full,
      LnsError *error)
{
  LnsCallClasses *classes = lns_call_classes_new (report);
  Maker maker = { .report = report, .cancel = cancel };

  maker.time = lns_calloc (1, sizeof *maker.time);
  maker.time->strips_numbers = strips_numbers;
  maker.lanes = lns_report_lanes (report, &maker.time->n_lanes);
  maker.time->chains = lns_calloc (maker.time->n_lanes, sizeof *maker.time->chains);
  maker.finder = lns_launch_finder_new (report, classes, cancel);
  lns_report_threads (report, &maker.n_threads);
  open_threads (&maker);
  const bool good = read_operations (&maker, error);
  clear (&maker);
  lns_call_classes_free (classes);
  finish (&maker);
  *ret_is_full = maker.is_full;
  if (good)
    return maker.time;
  lns_gpu_time_free (maker.time);
  return NULL;
}

LnsGpuTime *
lns_gpu_time_new (LnsReport *report,
                  bool strips_numbers,
                  const atomic_bool *cancel,
                  LnsError *error)
{
  bool is_full;
  LnsError local = { 0 };
  LnsGpuTime *time = make (report, strips_numbers, cancel, &is_full, &local);

  if (time == NULL && is_full && !strips_numbers)
    {
      local = (LnsError){ 0 };
      time = make (report, true, cancel, &is_full, &local);
    }
  if (time == NULL)
    lns_error_set (error, local.domain, local.code, "%s", local.message);
  return time;
}

void
lns_gpu_time_free (LnsGpuTime *self)
{
  if (self == NULL)
    return;
  lns_call_tree_free (self->tree);
  for (uint32_t i = 0; i < self->n_lanes; i++)
    free (self->chains[i]);
  free (self->chains);
  free (self->owners);
  free (self);
}

/* ---- Sums ------------------------------------------------------------------------------------- */

/* What is done with the operations in the time of a query. */
typedef struct
{
  const LnsGpuTime *time;
  const LnsCallQuery *query;
  bool *is_of_threads; /* by chain: it counts */
  uint64_t *by_chain;  /* by 1 + chain: ns */
  const bool *nodes;
  int64_t from_ns, before_ns; /* operations that begin outside of these are of no interest */
  uint32_t found_lane;
  uint64_t found_ordinal;
} Search;

/* By chain: whether the threads of QUERY launched it. To be freed. */
static bool *
find_chains (const LnsGpuTime *self, const LnsCallQuery *query)
{
  uint32_t n_threads, n_processes;
  const LnsThread *threads = lns_report_threads (self->tree->report, &n_threads);
  lns_report_processes (self->tree->report, &n_processes);
  bool *is_whole = lns_calloc (n_processes, sizeof *is_whole); /* all threads of it count */
  bool *counts = lns_calloc (self->tree->n_chains, sizeof *counts);

  for (uint32_t i = 0; i < n_processes; i++)
    is_whole[i] = true;
  for (uint32_t i = 0; query->threads != NULL && i < n_threads; i++)
    if (threads[i].process < n_processes)
      is_whole[threads[i].process] &= query->threads[i];
  for (uint32_t i = 0; i < self->tree->n_chains; i++)
    {
      const LnsGpuChainOwner *owner = &self->owners[i];
      counts[i] =
          query->threads == NULL ||
          (owner->thread != LNS_ID_NONE ? query->threads[owner->thread]
                                        : owner->process < n_processes && is_whole[owner->process]);
    }
  free (is_whole);
  return counts;
}

/* The part in ns of operation I of CHUNK in the time of QUERY; negative if it does not reach there. */
static inline int64_t
part_ns (const LnsCallQuery *query, const LnsChunk *chunk, uint32_t i)
{
  const int64_t start_ns = chunk->start_ns[i], end_ns = lns_sum (start_ns, chunk->duration_ns[i]);

  return lns_difference (end_ns < query->end_ns ? end_ns : query->end_ns,
                         start_ns > query->start_ns ? start_ns : query->start_ns);
}

static void
sum_chunk (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Search *search = data;
  const uint32_t *chains = search->time->chains[chunk->lane] + chunk->first;

  for (uint32_t i = 0; i < chunk->n; i++)
    {
      const int64_t ns = part_ns (search->query, chunk, i);
      if (ns > 0)
        search->by_chain[1 + chains[i]] += (uint64_t)ns;
    }
}

static void
find_in_chunk (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Search *search = data;
  const uint32_t *chains = search->time->chains[chunk->lane] + chunk->first;

  for (uint32_t i = 0; i < chunk->n && chunk->start_ns[i] < search->before_ns; i++)
    if (chunk->start_ns[i] >= search->from_ns && part_ns (search->query, chunk, i) > 0 &&
        search->is_of_threads[chains[i]] && search->nodes[search->time->tree->node_of[chains[i]]])
      {
        search->found_lane = chunk->lane;
        search->found_ordinal = chunk->first + i;
        search->before_ns = chunk->start_ns[i];
      }
}

/* Has VISIT look at the chunks whose operations may be of interest to SEARCH. */
static bool
walk (Search *search, LnsChunkFunc visit, const atomic_bool *cancel, LnsError *error)
{
  const int64_t from_ns =
      search->from_ns > search->query->start_ns ? search->from_ns : search->query->start_ns;
  bool good = true;

  search->is_of_threads = find_chains (search->time, search->query);
  for (uint32_t i = 0; good && i < search->time->n_lanes; i++)
    if (search->time->chains[i] != NULL)
      good =
          lns_read_lane_between (search->time->tree->report, i, LNS_COLUMN_BIT (LNS_COLUMN_START),
                                 from_ns, &search->before_ns, visit, search, cancel, error);
  return good;
}

bool
lns_gpu_time_sum (const LnsGpuTime *self,
                  const LnsCallQuery *query,
                  const atomic_bool *cancel,
                  LnsCallSums *ret_sums,
                  LnsError *error)
{
  Search search = {
    .time = self, .query = query, .from_ns = INT64_MIN, .before_ns = query->end_ns
  };
  const LnsCallTree *tree = self->tree;

  search.by_chain = lns_calloc ((size_t)tree->n_chains + 1, sizeof *search.by_chain);
  const bool good = walk (&search, sum_chunk, cancel, error);
  for (uint32_t i = 0; i < tree->n_chains; i++)
    if (!search.is_of_threads[i])
      search.by_chain[1 + i] = 0;
  *ret_sums = good ? lns_call_tree_fold (tree, search.by_chain) : (LnsCallSums){ 0 };
  free (search.is_of_threads);
  free (search.by_chain);
  return good;
}

bool
lns_gpu_time_find (const LnsGpuTime *self,
                   const LnsCallQuery *query,
                   int64_t from_ns,
                   const bool *nodes,
                   const atomic_bool *cancel,
                   uint32_t *ret_lane,
                   uint64_t *ret_ordinal,
                   LnsError *error)
{
  Search search = { .time = self,
                    .query = query,
                    .nodes = nodes,
                    .from_ns = from_ns,
                    .before_ns = query->end_ns,
                    .found_lane = LNS_ID_NONE };
  const bool good = walk (&search, find_in_chunk, cancel, error);

  free (search.is_of_threads);
  *ret_lane = search.found_lane;
  *ret_ordinal = search.found_ordinal;
  return good;
}
