/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/source-lines.h"

#include <stdlib.h>

#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/store/read/call-walk.h"
#include "src/tables/lanes.h"

typedef struct
{
  int chains; /* the column with the call chain, or -1                                           */
  uint32_t n_nodes;
  uint64_t *self; /* by call node                                                                */
  uint64_t n_samples;
} Counting;

static void
count_chunk (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  Counting *it = data;

  it->n_samples += chunk->n;
  for (uint32_t i = 0; i < chunk->n; i++)
    {
      const uint64_t node = lns_chunk_extra (chunk, it->chains, i);
      if (node - 1 < it->n_nodes)
        it->self[node - 1]++;
    }
}

static bool
is_same_line (const LnsStackFrame *a, const LnsStackFrame *b)
{
  return a->file == b->file && a->line == b->line;
}

/* Whether FRAME's line is also on the way from WALK, which stands behind it, to where the thread begins. */
static bool
is_above (LnsCallWalk walk, const LnsStackFrame *frame)
{
  const LnsStackFrame *caller;

  while ((caller = lns_call_walk_next (&walk)) != NULL)
    if (is_same_line (caller, frame))
      return true;
  return false;
}

/* Adds the functions at NODE alone, where SELF samples were taken, and TOTAL with what it called. */
static void
add_node (LnsReport *report, uint32_t node, uint64_t self, uint64_t total, LnsSourceLines *lines)
{
  LnsCallWalk walk = lns_call_walk (report, node);
  bool is_innermost = true;

  while (walk.node == node)
    {
      const LnsStackFrame *frame = lns_call_walk_next (&walk);
      if (frame->file != 0)
        *lns_array_add (lines) = (LnsSourceLine){ .file = frame->file,
                                                  .line = frame->line,
                                                  .self = is_innermost ? self : 0,
                                                  .total = is_above (walk, frame) ? 0 : total };
      is_innermost = false;
    }
}

static int
compare_lines (const void *a, const void *b)
{
  const LnsSourceLine *x = a, *y = b;
  return LNS_COMPARE (x->file, y->file) ?: LNS_COMPARE (x->line, y->line);
}

/* Makes one line of those that are the same. */
static void
merge (LnsSourceLines *lines)
{
  size_t n = 0;

  if (lines->n > 1)
    qsort (lines->items, lines->n, sizeof *lines->items, compare_lines);
  for (size_t i = 0; i < lines->n; i++)
    if (n > 0 && compare_lines (&lines->items[n - 1], &lines->items[i]) == 0)
      {
        lines->items[n - 1].self += lines->items[i].self;
        lines->items[n - 1].total += lines->items[i].total;
      }
    else
      lines->items[n++] = lines->items[i];
  lines->n = n;
}

bool
lns_source_lines (LnsReport *report,
                  LnsLaneKind kind,
                  const atomic_bool *cancel,
                  LnsSourceLines *ret_lines,
                  uint64_t *ret_n_samples,
                  LnsError *error)
{
  Counting it = { .chains = lns_lane_kind_extra (kind, LNS_COLUMN_CALL_CHAIN) };
  const LnsCallNode *nodes = lns_report_call_nodes (report, &it.n_nodes);

  *ret_lines = (LnsSourceLines){ 0 };
  it.self = lns_calloc ((size_t)it.n_nodes + 1, sizeof *it.self);
  bool good = lns_read_lanes (report, kind, LNS_COLUMN_BIT (LNS_COLUMN_CALL_CHAIN), count_chunk,
                              &it, cancel, error);
  uint64_t *total = lns_calloc ((size_t)it.n_nodes + 1, sizeof *total);
  for (uint32_t i = it.n_nodes; i-- > 0;)
    {
      total[i] += it.self[i];
      if (nodes[i].parent < i)
        total[nodes[i].parent] += total[i];
    }
  for (uint32_t i = 0; good && i < it.n_nodes; i++)
    {
      if (total[i] > 0)
        add_node (report, i, it.self[i], total[i], ret_lines);
      good = i % 4096 != 0 || lns_go_on (cancel, error);
    }
  merge (ret_lines);
  *ret_n_samples = it.n_samples;
  free (total);
  free (it.self);
  if (!good)
    lns_array_clear (ret_lines);
  return good;
}
