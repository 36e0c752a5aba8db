/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/call-tree.h"

#include <stdlib.h>
#include <string.h>

#include "src/analysis/call-maker.h"
#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/base/search.h"
#include "src/store/read/call-walk.h"
#include "src/tables/call-chain.h"
#include "src/tables/lanes.h"

/* Ids of kept chains are small numbers. */
#define MAX_KEPT (INT64_C (1) << 27)

/* Call nodes between two looks at `cancel`. */
#define STRETCH 4096

typedef LNS_ARRAY (uint32_t) Path;

typedef struct
{
  LnsReport *report;
  LnsCallMaker made;
  Path path; /* functions at one place, the innermost first */
} Maker;

/* ---- The tree --------------------------------------------------------------------------------- */

static uint32_t
find_function (Maker *maker, uint32_t symbol, uint32_t module)
{
  return lns_call_maker_function (&maker->made,
                                  (LnsCallFunction){ .symbol = symbol, .module = module });
}

static bool
too_many (const LnsReport *report, LnsError *error)
{
  return lns_error_set (error, LNS_ERROR_FORMAT, 0,
                        "%s: the report's call chains have more functions than can be summed up",
                        lns_report_info (report)->path);
}

/* Finds the node of the path below PARENT, and makes what is missing. */
static bool
add_path (Maker *maker, uint32_t parent, uint32_t *ret_node, LnsError *error)
{
  if (!lns_call_maker_has_room (&maker->made, maker->path.n))
    return too_many (maker->report, error);
  for (size_t i = maker->path.n; i > 0; i--)
    parent = lns_call_maker_node (&maker->made, parent, maker->path.items[i - 1]);
  *ret_node = parent;
  return true;
}

/* Adds the functions at the place of call NODE below PARENT, and puts the innermost into RET_NODE. */
static bool
add_call (Maker *maker, uint32_t call_node, uint32_t parent, uint32_t *ret_node, LnsError *error)
{
  const LnsModule *modules = lns_report_modules (maker->report, NULL);
  LnsCallWalk walk = lns_call_walk (maker->report, call_node);
  maker->path.n = 0;
  while (walk.node == call_node)
    {
      const LnsStackFrame *frame = lns_call_walk_next (&walk);
      const uint32_t module = frame->module != LNS_ID_NONE ? modules[frame->module].path : 0;
      *lns_array_add (&maker->path) = find_function (maker, frame->symbol, module);
    }
  return add_path (maker, parent, ret_node, error);
}

/* Whether SYMBOL stands for callers that are not known, in a report of our own or of nsys. */
static bool
is_cut (LnsReport *report, uint32_t symbol)
{
  const char *text = lns_report_string (report, symbol, NULL);
  return text[0] == '[' &&
         (strcmp (text, LNS_CALLERS_NOT_RECORDED) == 0 ||
          strcmp (text, "[Broken backtraces]") == 0 || strcmp (text, "[Max depth]") == 0);
}

/* Makes the nodes of the report's own call chains. */
static bool
add_calls (Maker *maker, LnsCallTree *tree, const atomic_bool *cancel, LnsError *error)
{
  const LnsCallNode *calls = lns_report_call_nodes (maker->report, &tree->n_chains);
  const LnsStackFrame *frames = lns_report_frames (maker->report, NULL);
  bool *is_known = lns_calloc (tree->n_chains, sizeof *is_known); /* no caller is missing */
  bool good = true;

  tree->node_of = lns_calloc (tree->n_chains, sizeof *tree->node_of);
  tree->is_whole = lns_calloc (tree->n_chains, sizeof *tree->is_whole);
  for (uint32_t i = 0; good && i < tree->n_chains; i++)
    {
      const uint32_t parent = calls[i].parent;
      good = (i % STRETCH != 0 || lns_go_on (cancel, error)) &&
             add_call (maker, i, parent != LNS_ID_NONE ? tree->node_of[parent] : LNS_ID_NONE,
                       &tree->node_of[i], error);
      is_known[i] = (parent == LNS_ID_NONE || is_known[parent]) &&
                    !is_cut (maker->report, frames[calls[i].frame].symbol);
      /* A lone place in code has callers that nobody looked for: where a thread begins, hardly any sample is taken. */
      tree->is_whole[i] = is_known[i] && parent != LNS_ID_NONE;
    }
  free (is_known);
  return good;
}

/* What the chains that an import keeps become. */
typedef struct
{
  Maker *maker;
  const atomic_bool *cancel;
  LnsError *error;
  Path node_of; /* by id, less 1 */
  LNS_ARRAY (bool) is_whole;
} Kept;

/* Adds a chain that an import keeps, known by its id. */
static bool
add_kept (void *data, int64_t id, const LnsCallFrame *frames, size_t n)
{
  Kept *kept = data;

  if (!lns_go_on (kept->cancel, kept->error))
    return false;
  if (id <= 0 || id > MAX_KEPT)
    return too_many (kept->maker->report, kept->error);
  kept->maker->path.n = 0;
  for (size_t i = 0; i < n; i++)
    *lns_array_add (&kept->maker->path) =
        find_function (kept->maker, frames[i].symbol, frames[i].module);
  while (kept->node_of.n < (uint64_t)id)
    {
      *lns_array_add (&kept->node_of) = LNS_ID_NONE;
      *lns_array_add (&kept->is_whole) = false;
    }
  kept->is_whole.items[id - 1] = n > 1 && !is_cut (kept->maker->report, frames[n - 1].symbol);
  return add_path (kept->maker, LNS_ID_NONE, &kept->node_of.items[id - 1], kept->error);
}

static bool
add_all_kept (Maker *maker, LnsCallTree *tree, const atomic_bool *cancel, LnsError *error)
{
  Kept kept = { .maker = maker, .cancel = cancel, .error = error };
  const bool good = lns_call_chain_each (maker->report, lns_call_chain_table (LNS_LANE_CPU_SAMPLE),
                                         add_kept, &kept, error);

  free (tree->node_of);
  free (tree->is_whole);
  tree->node_of = kept.node_of.items;
  tree->is_whole = kept.is_whole.items;
  tree->n_chains = (uint32_t)kept.node_of.n;
  return good;
}

LnsCallTree *
lns_call_tree_new (LnsReport *report, const atomic_bool *cancel, LnsError *error)
{
  LnsCallTree *tree = lns_calloc (1, sizeof *tree);
  Maker maker = { .report = report };
  bool good;

  tree->report = report;
  good = add_calls (&maker, tree, cancel, error);
  if (good && tree->n_chains == 0)
    good = add_all_kept (&maker, tree, cancel, error);
  lns_call_maker_finish (&maker.made, tree);
  lns_array_clear (&maker.path);
  if (good)
    return tree;
  lns_call_tree_free (tree);
  return NULL;
}

void
lns_call_tree_free (LnsCallTree *tree)
{
  if (tree == NULL)
    return;
  free (tree->functions);
  free (tree->first_of_module);
  free (tree->nodes);
  free (tree->node_of);
  for (uint32_t lane = 0; lane < tree->n_lanes; lane++)
    free (tree->ends_of[lane].items);
  free (tree->ends_of);
  free (tree->is_whole);
  free (tree);
}

/* ---- Sums ------------------------------------------------------------------------------------- */

bool
lns_call_has_samples (const LnsReport *report, LnsLaneKind kind)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  for (uint32_t lane = 0; lane < n_lanes; lane++)
    if (lanes[lane].kind == kind && lns_report_lane_info (report, lane)->n_events > 0)
      return true;
  return false;
}

LnsLaneKind
lns_call_sample_kind (const LnsReport *report)
{
  return lns_call_has_samples (report, LNS_LANE_CPU_SAMPLE) ? LNS_LANE_CPU_SAMPLE
                                                            : LNS_LANE_PYTHON_SAMPLE;
}

static const uint64_t *
call_chains (const LnsChunk *chunk, LnsLaneKind kind)
{
  const int at = lns_lane_kind_extra (kind, LNS_COLUMN_CALL_CHAIN);
  return at >= 0 ? chunk->extra[at] : NULL;
}

/* What is done with the chunks of a lane. */
typedef struct
{
  const LnsCallTree *tree;
  const LnsCallQuery *query;
  uint64_t *n_by_call;     /* by 1 + call node of the report; 0: without call chain */
  const uint32_t *node_of; /* by call node of the report: that of the tree, or LNS_ID_NONE */
  const bool *nodes;
  int64_t before_ns; /* samples from then on are of no interest */
  uint32_t found_lane;
  uint64_t found_ordinal;
} Search;

/* Counts by call node of the report, not by node of the tree: one place in memory a sample, not two. */
static void
count_chunk (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Search *search = data;
  const uint64_t *chains = call_chains (chunk, search->query->kind);
  const uint32_t n_calls = search->tree->n_chains;
  const uint32_t first =
      (uint32_t)LNS_LOWER_BOUND (chunk->n, i, chunk->start_ns[i] < search->query->start_ns);
  const uint32_t end =
      (uint32_t)LNS_LOWER_BOUND (chunk->n, i, chunk->start_ns[i] < search->before_ns);

  if (chains == NULL && end > first)
    search->n_by_call[0] += end - first;
  for (uint32_t i = first; chains != NULL && i < end; i++)
    search->n_by_call[chains[i] <= n_calls ? chains[i] : 0]++;
}

static void
find_in_chunk (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Search *search = data;
  const uint64_t *chains = call_chains (chunk, search->query->kind);

  for (uint32_t i = 0; i < chunk->n && chunk->start_ns[i] < search->before_ns; i++)
    {
      const uint64_t chain = chains != NULL ? chains[i] : 0;
      const uint32_t node =
          chain - 1 < search->tree->n_chains ? search->node_of[chain - 1] : LNS_ID_NONE;
      if (chunk->start_ns[i] < search->query->start_ns || node == LNS_ID_NONE ||
          !search->nodes[node])
        continue;
      search->found_lane = chunk->lane;
      search->found_ordinal = chunk->first + i;
      search->before_ns = chunk->start_ns[i];
    }
}

/* Has VISIT look at the chunks of LANE from the start of the query on. */
static bool
walk_lane (
    Search *search, uint32_t lane, LnsChunkFunc visit, const atomic_bool *cancel, LnsError *error)
{
  return lns_read_lane_between (
      search->tree->report, lane,
      LNS_COLUMN_BIT (LNS_COLUMN_START) | LNS_COLUMN_BIT (LNS_COLUMN_CALL_CHAIN),
      search->query->start_ns, &search->before_ns, visit, search, cancel, error);
}

/* Owned: LNS_ID_NONE, N times. */
static uint32_t *
no_nodes (uint32_t n)
{
  uint32_t *nodes = lns_calloc (n, sizeof *nodes);

  for (uint32_t i = 0; i < n; i++)
    nodes[i] = LNS_ID_NONE;
  return nodes;
}

/* The first time after that of QUERY. */
static int64_t
end_of (const LnsCallQuery *query)
{
  return query->end_ns < INT64_MAX ? query->end_ns + 1 : INT64_MAX;
}

static bool
is_counted (const LnsReport *report, const LnsCallQuery *query, const LnsLane *lane)
{
  const uint32_t thread = lns_report_tracks (report, NULL)[lane->track].thread;
  return lane->kind == query->kind &&
         (query->threads == NULL || (thread != LNS_ID_NONE && query->threads[thread]));
}

/* Makes the totals of what was counted. */
static void
add_up (const LnsCallTree *tree, LnsCallSums *sums)
{
  for (uint32_t i = tree->n_nodes; i > 0; i--)
    {
      LnsCallCount *count = &sums->nodes[i - 1];
      count->total += count->self;
      if (tree->nodes[i - 1].parent != LNS_ID_NONE)
        sums->nodes[tree->nodes[i - 1].parent].total += count->total;
    }
}

LnsCallSums
lns_call_tree_fold (const LnsCallTree *tree, const uint64_t *by_chain)
{
  LnsCallSums sums = { .nodes = lns_calloc (tree->n_nodes, sizeof *sums.nodes),
                       .n_samples = by_chain[0],
                       .n_without_chain = by_chain[0] };

  for (uint32_t i = 0; i < tree->n_chains; i++)
    {
      sums.n_samples += by_chain[1 + i];
      sums.n_whole += tree->is_whole[i] ? by_chain[1 + i] : 0;
      if (tree->node_of[i] != LNS_ID_NONE)
        sums.nodes[tree->node_of[i]].self += by_chain[1 + i];
      else
        sums.n_without_chain += by_chain[1 + i];
    }
  add_up (tree, &sums);
  return sums;
}

/* Moves what was counted of a lane whose chains end in ENDS from BY_CHAIN to its nodes. */
static void
take_lane (const LnsCallTree *tree, LnsCallEnds ends, uint64_t *by_chain, LnsCallSums *sums)
{
  uint64_t n_without_chain = by_chain[0];

  by_chain[0] = 0;
  for (size_t i = 0; i < ends.n; i++)
    {
      const LnsCallEnd end = ends.items[i];
      const uint64_t n = by_chain[1 + end.chain];
      by_chain[1 + end.chain] = 0;
      sums->n_samples += n;
      sums->n_whole += tree->is_whole[end.chain] ? n : 0;
      if (end.node != LNS_ID_NONE)
        sums->nodes[end.node].self += n;
      else
        sums->n_without_chain += n;
    }
  sums->n_samples += n_without_chain;
  sums->n_without_chain += n_without_chain;
}

bool
lns_call_tree_sum (const LnsCallTree *tree,
                   const LnsCallQuery *query,
                   const atomic_bool *cancel,
                   LnsCallSums *ret_sums,
                   LnsError *error)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (tree->report, &n_lanes);
  uint64_t *n_by_call = lns_calloc ((size_t)tree->n_chains + 1, sizeof *n_by_call);
  Search search = { tree, query, n_by_call, .before_ns = end_of (query) };
  LnsCallSums by_lane = { 0 };
  bool good = true;

  if (tree->ends_of != NULL)
    by_lane.nodes = lns_calloc (tree->n_nodes, sizeof *by_lane.nodes);
  for (uint32_t lane = 0; good && lane < n_lanes; lane++)
    if (is_counted (tree->report, query, &lanes[lane]))
      {
        good = walk_lane (&search, lane, count_chunk, cancel, error);
        if (tree->ends_of != NULL)
          take_lane (tree, tree->ends_of[lane], n_by_call, &by_lane);
      }
  if (good && tree->ends_of != NULL)
    add_up (tree, &by_lane);
  else if (good)
    by_lane = lns_call_tree_fold (tree, n_by_call);
  else
    lns_call_sums_clear (&by_lane);
  *ret_sums = by_lane;
  free (n_by_call);
  return good;
}

void
lns_call_sums_clear (LnsCallSums *sums)
{
  free (sums->nodes);
  *sums = (LnsCallSums){ 0 };
}

const char *
lns_call_sums_share_whole (const LnsCallTree *tree,
                           const LnsCallSums *sums,
                           LnsLaneKind kind,
                           char ret_text[LNS_FORMAT_SIZE])
{
  const char *method = lns_report_meta (tree->report, "backtrace");
  if (kind != LNS_LANE_CPU_SAMPLE || sums->n_samples == sums->n_without_chain ||
      (method != NULL && strcmp (method, "fp") == 0))
    return NULL;
  return lns_format_share (sums->n_whole, sums->n_samples - sums->n_without_chain, ret_text);
}

void
lns_call_tree_functions (const LnsCallTree *tree,
                         const LnsCallSums *sums,
                         bool is_by_module,
                         LnsCallCount *ret_functions)
{
  if (tree->n_functions > 0)
    memset (ret_functions, 0, tree->n_functions * sizeof *ret_functions);
  for (uint32_t i = 0; i < tree->n_nodes; i++)
    {
      const LnsCallTreeNode *node = &tree->nodes[i];
      LnsCallCount *count =
          &ret_functions[is_by_module ? tree->first_of_module[node->function] : node->function];
      count->self += sums->nodes[i].self;
      if (is_by_module ? !node->is_in_again : !node->is_recursive)
        count->total += sums->nodes[i].total;
    }
}

void
lns_call_tree_mark_below (const LnsCallTree *tree, bool *nodes)
{
  for (uint32_t i = 0; i < tree->n_nodes; i++)
    if (tree->nodes[i].parent != LNS_ID_NONE)
      nodes[i] |= nodes[tree->nodes[i].parent];
}

void
lns_call_sums_keep (const LnsCallTree *tree, const bool *nodes, LnsCallSums *sums)
{
  sums->n_samples = 0;
  sums->n_without_chain = 0;
  sums->n_whole = 0;
  for (uint32_t i = 0; i < tree->n_nodes; i++)
    {
      LnsCallCount *count = &sums->nodes[i];
      count->self = nodes[i] ? count->self : 0;
      count->total = 0;
      sums->n_samples += count->self;
    }
  add_up (tree, sums);
}

/* Puts the nodes of ENDS into NODE_OF, by chain, or takes them out again. */
static void
set_nodes (LnsCallEnds ends, bool are_there, uint32_t *node_of)
{
  for (size_t i = 0; i < ends.n; i++)
    node_of[ends.items[i].chain] = are_there ? ends.items[i].node : LNS_ID_NONE;
}

bool
lns_call_tree_find_sample (const LnsCallTree *tree,
                           const LnsCallQuery *query,
                           const bool *nodes,
                           const atomic_bool *cancel,
                           uint32_t *ret_lane,
                           uint64_t *ret_ordinal,
                           LnsError *error)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (tree->report, &n_lanes);
  uint32_t *of_lane = tree->ends_of != NULL ? no_nodes (tree->n_chains) : NULL;
  Search search = { .tree = tree,
                    .query = query,
                    .node_of = of_lane != NULL ? of_lane : tree->node_of,
                    .nodes = nodes,
                    .before_ns = end_of (query),
                    .found_lane = LNS_ID_NONE };
  bool good = true;

  for (uint32_t lane = 0; good && lane < n_lanes; lane++)
    if (is_counted (tree->report, query, &lanes[lane]))
      {
        if (of_lane != NULL)
          set_nodes (tree->ends_of[lane], true, of_lane);
        good = walk_lane (&search, lane, find_in_chunk, cancel, error);
        if (of_lane != NULL)
          set_nodes (tree->ends_of[lane], false, of_lane);
      }
  free (of_lane);
  *ret_lane = search.found_lane;
  *ret_ordinal = search.found_ordinal;
  return good;
}

/* ---- By thread -------------------------------------------------------------------------------- */

/* A tree by thread in the making. */
typedef struct
{
  const LnsCallTree *whole; /* the tree of all chains, whatever their threads */
  LnsCallMaker made;        /* its first functions are those of `whole` */
  LnsLaneKind kind;
  /* Of the thread, or the process, that is looked at: */
  uint32_t owner;    /* its node, or LNS_ID_NONE */
  uint32_t *node_of; /* by node of `whole`: the one made of it, or LNS_ID_NONE */
  Path copied;       /* the nodes that have one */
  /* Of its lane: */
  bool *is_seen; /* by chain */
  Path seen;     /* the chains that are */
  Path path;     /* the nodes on the way to one that has a copy */
} Splitter;

static void
see_chunk (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Splitter *splitter = data;
  const uint64_t *chains = call_chains (chunk, splitter->kind);

  for (uint32_t i = 0; chains != NULL && i < chunk->n; i++)
    if (chains[i] - 1 < splitter->whole->n_chains && !splitter->is_seen[chains[i] - 1])
      {
        splitter->is_seen[chains[i] - 1] = true;
        *lns_array_add (&splitter->seen) = (uint32_t)(chains[i] - 1);
      }
}

/* The node of NODE of the whole tree below the owner. */
static uint32_t
copy_node (Splitter *splitter, uint32_t node)
{
  const LnsCallTreeNode *nodes = splitter->whole->nodes;

  splitter->path.n = 0;
  for (; node != LNS_ID_NONE && splitter->node_of[node] == LNS_ID_NONE; node = nodes[node].parent)
    *lns_array_add (&splitter->path) = node;
  uint32_t at = node != LNS_ID_NONE ? splitter->node_of[node] : splitter->owner;
  for (size_t i = splitter->path.n; i > 0; i--)
    {
      const uint32_t from = splitter->path.items[i - 1];
      at = lns_call_maker_new_node (&splitter->made, at, nodes[from].function);
      splitter->node_of[from] = at;
      *lns_array_add (&splitter->copied) = from;
    }
  return at;
}

/* Goes on with the thread, or where there is none the process, that LANE is of. Lanes of one owner come together. */
static void
set_owner (Splitter *splitter, uint32_t lane)
{
  LnsReport *report = splitter->whole->report;
  const LnsTrack *track =
      &lns_report_tracks (report, NULL)[lns_report_lanes (report, NULL)[lane].track];
  const LnsCallFunction process = { .sort = LNS_CALL_PROCESS, .symbol = track->process };
  const LnsCallFunction thread = { .sort = LNS_CALL_THREAD, .symbol = track->thread };
  uint32_t owner = lns_call_maker_node (&splitter->made, LNS_ID_NONE,
                                        lns_call_maker_function (&splitter->made, process));

  if (track->thread != LNS_ID_NONE)
    owner = lns_call_maker_node (&splitter->made, owner,
                                 lns_call_maker_function (&splitter->made, thread));
  if (owner == splitter->owner)
    return;
  splitter->owner = owner;
  for (size_t i = 0; i < splitter->copied.n; i++)
    splitter->node_of[splitter->copied.items[i]] = LNS_ID_NONE;
  splitter->copied.n = 0;
}

/* Makes the nodes of the chains that LANE has, and puts them into RET_ENDS. */
static bool
split_lane (Splitter *splitter,
            uint32_t lane,
            LnsCallEnds *ret_ends,
            const atomic_bool *cancel,
            LnsError *error)
{
  const LnsCallTree *whole = splitter->whole;
  const int64_t before_ns = INT64_MAX;
  bool good = lns_read_lane_between (whole->report, lane,
                                     LNS_COLUMN_BIT (LNS_COLUMN_START) |
                                         LNS_COLUMN_BIT (LNS_COLUMN_CALL_CHAIN),
                                     INT64_MIN, &before_ns, see_chunk, splitter, cancel, error);

  if (splitter->seen.n > 0)
    set_owner (splitter, lane);
  ret_ends->items = lns_calloc (splitter->seen.n, sizeof *ret_ends->items);
  for (size_t i = 0; i < splitter->seen.n; i++)
    {
      const uint32_t chain = splitter->seen.items[i], node = whole->node_of[chain];
      splitter->is_seen[chain] = false;
      good = good && (i % STRETCH != 0 || lns_go_on (cancel, error)) &&
             (lns_call_maker_has_room (&splitter->made, whole->n_nodes) ||
              too_many (whole->report, error));
      if (good)
        ret_ends->items[ret_ends->n++] =
            (LnsCallEnd){ chain, node != LNS_ID_NONE ? copy_node (splitter, node) : LNS_ID_NONE };
    }
  splitter->seen.n = 0;
  return good;
}

typedef struct
{
  uint32_t process, thread, lane;
} OwnedLane;

static int
compare_owned (const void *a, const void *b)
{
  const OwnedLane *la = a, *lb = b;

  return LNS_COMPARE (la->process, lb->process) ?: LNS_COMPARE (la->thread, lb->thread)
                 ?: LNS_COMPARE (la->lane, lb->lane);
}

/* The lanes of KIND, those of a thread together. Owned. */
static OwnedLane *
list_lanes (const LnsReport *report, LnsLaneKind kind, size_t *ret_n)
{
  uint32_t n_lanes;
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  const LnsTrack *tracks = lns_report_tracks (report, NULL);
  OwnedLane *owned = lns_calloc (n_lanes, sizeof *owned);
  size_t n = 0;

  for (uint32_t lane = 0; lane < n_lanes; lane++)
    if (lanes[lane].kind == kind)
      owned[n++] =
          (OwnedLane){ tracks[lanes[lane].track].process, tracks[lanes[lane].track].thread, lane };
  if (n > 1)
    qsort (owned, n, sizeof *owned, compare_owned);
  *ret_n = n;
  return owned;
}

/* Splits WHOLE, which is left without what TREE has of it. */
static bool
split (LnsCallTree *whole,
       LnsLaneKind kind,
       LnsCallTree *tree,
       const atomic_bool *cancel,
       LnsError *error)
{
  Splitter splitter = { .whole = whole,
                        .kind = kind,
                        .owner = LNS_ID_NONE,
                        .node_of = no_nodes (whole->n_nodes),
                        .is_seen = lns_calloc (whole->n_chains, sizeof (bool)) };
  bool good = true;
  size_t n;
  OwnedLane *owned = list_lanes (whole->report, kind, &n);

  for (uint32_t i = 0; i < whole->n_functions; i++)
    lns_call_maker_function (&splitter.made, whole->functions[i]);
  tree->report = whole->report;
  lns_report_lanes (whole->report, &tree->n_lanes);
  tree->ends_of = lns_calloc (tree->n_lanes, sizeof *tree->ends_of);
  for (size_t i = 0; good && i < n; i++)
    good = split_lane (&splitter, owned[i].lane, &tree->ends_of[owned[i].lane], cancel, error);
  tree->n_chains = whole->n_chains;
  tree->is_whole = whole->is_whole;
  whole->is_whole = NULL;
  lns_call_maker_finish (&splitter.made, tree);
  free (splitter.is_seen);
  free (owned);
  free (splitter.node_of);
  lns_array_clear (&splitter.seen);
  lns_array_clear (&splitter.copied);
  lns_array_clear (&splitter.path);
  return good;
}

LnsCallTree *
lns_call_tree_new_by_thread (LnsReport *report,
                             LnsLaneKind kind,
                             const atomic_bool *cancel,
                             LnsError *error)
{
  LnsCallTree *whole = lns_call_tree_new (report, cancel, error);
  if (whole == NULL)
    return NULL;
  LnsCallTree *tree = lns_calloc (1, sizeof *tree);
  const bool good = split (whole, kind, tree, cancel, error);

  lns_call_tree_free (whole);
  if (good)
    return tree;
  lns_call_tree_free (tree);
  return NULL;
}
