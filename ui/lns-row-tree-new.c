/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdlib.h>

#include "ui/lns-display-text.h"
#include "ui/lns-row-tree-private.h"

/* A lane with events, and what decides where its row stands. */
typedef struct
{
  uint32_t lane;
  uint32_t process;
  uint64_t thread_rank; /* 0 = of the whole process, 1 = its main thread, 2 + id = others        */
  LnsRowKind kind;
  uint32_t domain_rank; /* 0 = the default one                                                   */
  uint32_t counter;     /* its track; 0 for other kinds, whose tracks may share a row */
  uint32_t track_kind;  /* ranges above marks                                                    */
  uint32_t ordinal;
  uint32_t thread, domain, name;
  uint64_t n_events;
} Leaf;

typedef struct
{
  LnsReport *report;
  const LnsProcess *processes;
  const LnsThread *threads;
  const LnsDomain *domains;
  uint32_t n_processes, n_threads, n_domains;
  LnsRowTree *tree;
} Builder;

static LnsRowKind
row_kind (LnsTrackKind kind)
{
  switch (kind)
    {
    case LNS_TRACK_NVTX_START_END:
      return LNS_ROW_START_END;
    case LNS_TRACK_COUNTER:
      return LNS_ROW_COUNTER;
    default:
      return LNS_ROW_RANGES;
    }
}

static uint64_t
thread_rank (const Builder *builder, uint32_t thread)
{
  if (thread >= builder->n_threads)
    return 0;
  const LnsThread *it = &builder->threads[thread];
  if (it->process < builder->n_processes && it->tid == builder->processes[it->process].pid)
    return 1;
  return UINT64_C (2) + thread;
}

/* Each field counts before those after it. */
static int
compare_leaves (const void *a, const void *b)
{
  const Leaf *x = a, *y = b;
#define COMPARE(field)                                                                             \
 if (x->field != y->field)                                                                         \
 return x->field < y->field ? -1 : 1
  COMPARE (process);
  COMPARE (thread_rank);
  COMPARE (kind);
  COMPARE (domain_rank);
  COMPARE (domain);
  COMPARE (counter);
  COMPARE (track_kind);
  COMPARE (ordinal);
  COMPARE (lane);
#undef COMPARE
  return 0;
}

static GArray *
collect_leaves (const Builder *builder)
{
  uint32_t n_tracks, n_lanes;
  const LnsTrack *tracks = lns_report_tracks (builder->report, &n_tracks);
  const LnsLane *lanes = lns_report_lanes (builder->report, &n_lanes);
  GArray *leaves = g_array_new (FALSE, TRUE, sizeof (Leaf));
  for (uint32_t lane = 0; lane < n_lanes; lane++)
    {
      const LnsLaneInfo *info = lns_report_lane_info (builder->report, lane);
      if (info == NULL || info->n_events == 0 || lanes[lane].track >= n_tracks)
        continue;
      const LnsTrack *track = &tracks[lanes[lane].track];
      gboolean has_domain = track->domain < builder->n_domains;
      Leaf leaf = {
        .lane = lane,
        .process = track->process,
        .thread_rank = thread_rank (builder, track->thread),
        .kind = row_kind (track->kind),
        .domain_rank = has_domain ? builder->domains[track->domain].number : 0,
        .counter = track->kind == LNS_TRACK_COUNTER ? lanes[lane].track : 0,
        .track_kind = track->kind,
        .ordinal = lanes[lane].ordinal,
        .thread = track->thread,
        .domain = track->domain,
        .name = track->name,
        .n_events = info->n_events,
      };
      g_array_append_val (leaves, leaf);
    }
  if (leaves->len > 0)
    qsort (leaves->data, leaves->len, sizeof (Leaf), compare_leaves);
  return leaves;
}

/* --- Labels -------------------------------------------------------------------------------- */

static char *
text_of (const Builder *builder, uint32_t string)
{
  size_t size_bytes;
  const char *bytes = lns_report_string (builder->report, string, &size_bytes);
  g_autofree char *text = lns_display_text (bytes, size_bytes, TRUE);
  return lns_display_cut (text);
}

static char *
numbered (char *name, const char *fallback, int number)
{
  g_autofree char *owned = name;
  return g_strdup_printf ("%s (%d)", *owned != '\0' ? owned : fallback, number);
}

static char *
process_label (const Builder *builder, uint32_t process)
{
  if (process >= builder->n_processes)
    return g_strdup ("No process");
  const LnsProcess *it = &builder->processes[process];
  return numbered (text_of (builder, it->name), "Process", it->pid);
}

static char *
thread_label (const Builder *builder, uint32_t thread)
{
  const LnsThread *it = &builder->threads[thread];
  return numbered (text_of (builder, it->name), "Thread", it->tid != 0 ? it->tid : it->target_tid);
}

static char *
leaf_label (const Builder *builder, const Leaf *leaf)
{
  if (leaf->kind == LNS_ROW_COUNTER)
    {
      char *name = text_of (builder, leaf->name);
      if (*name != '\0')
        return name;
      g_free (name);
      return g_strdup ("Counter");
    }
  const char *what = leaf->kind == LNS_ROW_START_END ? "NVTX start/end" : "NVTX";
  uint32_t name = leaf->domain < builder->n_domains ? builder->domains[leaf->domain].name : 0;
  g_autofree char *domain = text_of (builder, name);
  return *domain == '\0' ? g_strdup (what) : g_strdup_printf ("%s: %s", what, domain);
}

/* --- Rows ---------------------------------------------------------------------------------- */

/* Appends a row for LEAF under PARENT; takes LABEL. */
static uint32_t
add_row (Builder *builder, LnsRowKind kind, uint32_t parent, const Leaf *leaf, char *label)
{
  LnsRowTree *tree = builder->tree;
  LnsRow row = {
    .kind = kind,
    .expanded = true,
    .depth = parent == LNS_ID_NONE ? 0 : lns_row_tree_row (tree, parent)->depth + 1,
    .parent = parent,
    .process = leaf->process,
    .thread = kind == LNS_ROW_PROCESS ? LNS_ID_NONE : leaf->thread,
    .domain = kind <= LNS_ROW_THREAD ? LNS_ID_NONE : leaf->domain,
    .lanes = tree->lanes->len,
    .label = label,
  };
  g_array_append_val (tree->rows, row);
  uint32_t id = tree->rows->len - 1;
  for (uint32_t up = parent; up != LNS_ID_NONE; up = lns_row_tree_row (tree, up)->parent)
    g_array_index (tree->rows, LnsRow, up).n_below++;
  return id;
}

static void
add_lane (LnsRowTree *tree, uint32_t row, const Leaf *leaf)
{
  g_array_append_val (tree->lanes, leaf->lane);
  tree->row_of_lane[leaf->lane] = row;
  g_array_index (tree->rows, LnsRow, row).n_own++;
  for (uint32_t up = row; up != LNS_ID_NONE; up = lns_row_tree_row (tree, up)->parent)
    {
      g_array_index (tree->rows, LnsRow, up).n_lanes++;
      g_array_index (tree->rows, LnsRow, up).n_events += leaf->n_events;
    }
}

static void
add_rows (Builder *builder, const Leaf *leaves, uint32_t n_leaves)
{
  uint32_t process = LNS_ID_NONE, thread = LNS_ID_NONE, row = LNS_ID_NONE;
  for (uint32_t i = 0; i < n_leaves; i++)
    {
      const Leaf *leaf = &leaves[i], *last = i > 0 ? &leaves[i - 1] : NULL;
      gboolean new_process = last == NULL || leaf->process != last->process;
      gboolean new_thread = new_process || leaf->thread_rank != last->thread_rank;
      gboolean new_row = new_thread || leaf->kind != last->kind || leaf->domain != last->domain ||
                         leaf->counter != last->counter;
      if (new_process)
        process = add_row (builder, LNS_ROW_PROCESS, LNS_ID_NONE, leaf,
                           process_label (builder, leaf->process));
      if (new_thread)
        thread = leaf->thread_rank == 0 ? LNS_ID_NONE
                                        : add_row (builder, LNS_ROW_THREAD, process, leaf,
                                                   thread_label (builder, leaf->thread));
      if (new_row)
        row = add_row (builder, leaf->kind, thread != LNS_ID_NONE ? thread : process, leaf,
                       leaf_label (builder, leaf));
      add_lane (builder->tree, row, leaf);
    }
}

LnsRowTree *
lns_row_tree_new (LnsReport *report)
{
  Builder builder = { .report = report, .tree = g_atomic_rc_box_new0 (LnsRowTree) };
  LnsRowTree *tree = builder.tree;
  builder.processes = lns_report_processes (report, &builder.n_processes);
  builder.threads = lns_report_threads (report, &builder.n_threads);
  builder.domains = lns_report_domains (report, &builder.n_domains);

  tree->rows = g_array_new (FALSE, FALSE, sizeof (LnsRow));
  tree->lanes = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  tree->visible = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  tree->tops = g_array_new (FALSE, FALSE, sizeof (int));
  lns_report_lanes (report, &tree->n_report_lanes);
  tree->row_of_lane = g_new (uint32_t, tree->n_report_lanes + 1);
  for (uint32_t lane = 0; lane < tree->n_report_lanes; lane++)
    tree->row_of_lane[lane] = LNS_ID_NONE;

  g_autoptr (GArray) leaves = collect_leaves (&builder);
  add_rows (&builder, (const Leaf *)(void *)leaves->data, leaves->len);
  _lns_row_tree_lay_out (tree);
  return tree;
}
