/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/call-tree.h"

#include <stdlib.h>
#include <string.h>

#include "src/analysis/call-maker.h"
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
too_many (const Maker *maker, LnsError *error)
{
  return lns_error_set (error, LNS_ERROR_FORMAT, 0,
                        "%s: the report's call chains have more functions than can be summed up",
                        lns_report_info (maker->report)->path);
}

/* Finds the node of the path below PARENT, and makes what is missing. */
static bool
add_path (Maker *maker, uint32_t parent, uint32_t *ret_node, LnsError *error)
{
  if (!lns_call_maker_has_room (&maker->made, maker->path.n))
    return too_many (maker, error);
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
    return too_many (kept->maker, kept->error);
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

/* The node of the tree in which sample I of CHUNK was taken, or LNS_ID_NONE. CHAINS as call_chains () returns them. */
static uint32_t
node_of_sample (const LnsCallTree *tree, const uint64_t *chains, uint32_t i)
{
  const uint64_t chain = chains != NULL ? chains[i] : 0;
  return chain - 1 < tree->n_chains ? tree->node_of[chain - 1] : LNS_ID_NONE;
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
  uint64_t *n_by_call; /* by 1 + call node of the report; 0: without call chain */
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
      const uint32_t node = node_of_sample (search->tree, chains, i);
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
  bool good = true;

  for (uint32_t lane = 0; good && lane < n_lanes; lane++)
    if (is_counted (tree->report, query, &lanes[lane]))
      good = walk_lane (&search, lane, count_chunk, cancel, error);
  *ret_sums = good ? lns_call_tree_fold (tree, n_by_call) : (LnsCallSums){ 0 };
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
  Search search = { .tree = tree,
                    .query = query,
                    .nodes = nodes,
                    .before_ns = end_of (query),
                    .found_lane = LNS_ID_NONE };
  bool good = true;

  for (uint32_t lane = 0; good && lane < n_lanes; lane++)
    if (is_counted (tree->report, query, &lanes[lane]))
      good = walk_lane (&search, lane, find_in_chunk, cancel, error);
  *ret_lane = search.found_lane;
  *ret_ordinal = search.found_ordinal;
  return good;
}
