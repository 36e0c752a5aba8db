/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/timeline-tree.h"

#include <glib/gi18n.h>

#include "src/tables/lanes.h"
#include "ui/model/job.h"

#define MAX_PINNED 64 /* rows that are pinned together: more than fit a window */

/* Rows that are read come into the tree together, which is made anew for them: as many as were read in READ_USEC, at most MAX_READ. */
#define MAX_READ  256
#define READ_USEC 200000

/* Puts TREE, in which rows have kept their numbers, in the place of the timeline's. */
static void
put_tree (LnsTimelineTree *self, LnsRowTree *tree)
{
  LnsRowTree *old = self->context->tree;
  lns_tile_set_replace_tree (self->context->tiles, tree);
  self->context->tree = tree;
  lns_row_tree_unref (old);
}

static LnsReport *
report_of (LnsTimelineTree *self)
{
  return lns_view_get_report (self->context->view);
}

void
lns_timeline_tree_follow (LnsTimelineTree *self)
{
  LnsRowTree *tree =
      lns_row_state_follow (&self->state, self->context->tree, report_of (self), self->pinned);
  if (tree != NULL)
    put_tree (self, tree);
}

static void
replace_tree (LnsTimelineTree *self, LnsRowTree *tree)
{
  put_tree (self, tree);
  lns_timeline_tree_follow (self);
  self->funcs->changed (self->owner);
}

void
lns_timeline_tree_restore (LnsTimelineTree *self, LnsKeptView *view)
{
  lns_row_state_restore (&self->state, view);
  lns_timeline_tree_follow (self);
  self->funcs->changed (self->owner);
}

/* --- Rows that are read first: the kernels of a stream by name, streams together ------------ */

typedef struct
{
  LnsRowWant wants[MAX_READ];
  uint32_t *lanes[MAX_READ]; /* owned: of each want */
  uint32_t n_lanes[MAX_READ];
  uint32_t n;
  GPtrArray *sets; /* owned, of LnsFacetSet: of as many wants as were read */
  LnsError error;  /* if there are none */
} Reading;

static void
reading_free (gpointer data)
{
  Reading *reading = data;
  for (uint32_t i = 0; i < reading->n; i++)
    g_free (reading->lanes[i]);
  g_ptr_array_unref (reading->sets);
  g_free (reading);
}

static void
read_rows (LnsWorker *worker, gpointer job)
{
  Reading *it = job;
  const gint64 end_usec = g_get_monotonic_time () + READ_USEC;
  do
    {
      const uint32_t i = it->sets->len;
      LnsFacetSet *set = lns_facet_set_new (worker->report, it->lanes[i], it->n_lanes[i],
                                            it->wants[i].by, &worker->cancelled, &it->error);
      if (set == NULL)
        return;
      g_ptr_array_add (it->sets, set);
    }
  while (it->sets->len < it->n && g_get_monotonic_time () < end_usec);
}

static void
rows_read_cb (gpointer job, gpointer owner)
{
  const Reading *it = job;
  LnsTimelineTree *self = owner;
  if (it->sets->len > 0)
    replace_tree (self, lns_row_tree_with (self->context->tree, report_of (self), it->wants,
                                           (LnsFacetSet *const *)it->sets->pdata, it->sets->len));
  else /* the row stays as it is, and no other row is read */
    g_warning ("%s", it->error.message);
}

static const LnsJobFuncs read_funcs = { read_rows, rows_read_cb, reading_free };

/* Whether a row that no fold hides waits for its ranges. */
static gboolean
any_waits (LnsTimelineTree *self)
{
  const LnsRowTree *tree = self->context->tree;
  for (uint32_t v = 0; v < lns_row_tree_n_visible (tree); v++)
    if (lns_row_is_waiting (lns_row_tree_row (tree, lns_row_tree_visible (tree, v))))
      return TRUE;
  return FALSE;
}

void
lns_timeline_tree_read (LnsTimelineTree *self)
{
  const LnsRowTree *tree = self->context->tree;
  LnsRowWant wants[MAX_READ];
  if (self->gpu_ranges.finding != NULL && !any_waits (self))
    lns_job_cancel (&self->gpu_ranges.finding);
  if (self->reading != NULL)
    return;
  const uint32_t n = lns_row_tree_wanted (tree, report_of (self), wants, MAX_READ);
  if (n == 0)
    return;
  Reading *job = g_new0 (Reading, 1);
  job->n = n;
  job->sets = g_ptr_array_new_full (n, (GDestroyNotify)lns_facet_set_unref);
  for (uint32_t i = 0; i < n; i++)
    {
      job->wants[i] = wants[i];
      job->lanes[i] = g_new (uint32_t, lns_row_tree_row (tree, wants[i].row)->n_lanes);
      job->n_lanes[i] =
          lns_row_tree_wanted_lanes (tree, report_of (self), &wants[i], job->lanes[i]);
    }
  lns_job_start (&self->reading, self->context->view, &read_funcs, job, self);
}

/* --- Ranges on the GPU ---------------------------------------------------------------------- */

/* Sets the text of rows that wait for ranges on the GPU. */
static void
set_waiting_text (char *text, gpointer owner)
{
  LnsTimelineTree *self = owner;
  g_free (self->context->waiting_text);
  self->context->waiting_text = text;
  self->funcs->redraw (self->owner);
}

static void
projected_cb (gpointer owner)
{
  LnsTimelineTree *self = owner;
  replace_tree (self, lns_row_tree_with_projections (self->context->tree, report_of (self)));
}

static const LnsGpuRangesFuncs gpu_ranges_funcs = { set_waiting_text, projected_cb };

void
lns_timeline_tree_find_ranges (LnsTimelineTree *self, const GArray *spans)
{
  gboolean wanted = FALSE;
  if (self->reading != NULL)
    return;
  for (guint i = 0; i < spans->len && !wanted; i++)
    {
      uint32_t row = g_array_index (spans, LnsStripSpan, i).row;
      wanted = lns_row_is_waiting (lns_row_tree_row (self->context->tree, row));
    }
  if (wanted)
    lns_gpu_ranges_find (&self->gpu_ranges, self->context->view, &gpu_ranges_funcs, self);
}

/* --- What people do with one row -------------------------------------------------------------- */

static void
toggle_expanded (LnsTimelineTree *self, uint32_t row, int unused)
{
  lns_row_tree_set_expanded (self->context->tree, row,
                             !lns_row_tree_row (self->context->tree, row)->expanded);
}

/* The place of ROW among the pinned ones, or -1. */
static int
pin_of (const LnsTimelineTree *self, uint32_t row)
{
  for (guint i = 0; i < self->pinned->len; i++)
    if (g_array_index (self->pinned, uint32_t, i) == row)
      return (int)i;
  return -1;
}

static void
toggle_pinned (LnsTimelineTree *self, uint32_t row, int unused)
{
  const int pin = pin_of (self, row);
  if (pin >= 0)
    g_array_remove_index (self->pinned, (guint)pin);
  else
    g_array_append_val (self->pinned, row);
}

static void
hide (LnsTimelineTree *self, uint32_t row, int unused)
{
  lns_row_tree_set_hidden (self->context->tree, row, true);
}

/* Hides what neither is ROW, nor lies below or above it. */
static void
hide_others (LnsTimelineTree *self, uint32_t row, int unused)
{
  LnsRowTree *tree = self->context->tree;
  lns_row_tree_hold (tree);
  for (uint32_t kept = row; kept != LNS_ID_NONE; kept = lns_row_tree_row (tree, kept)->parent)
    for (uint32_t other = 0; other < lns_row_tree_n_rows (tree); other++)
      if (other != kept &&
          lns_row_tree_row (tree, other)->parent == lns_row_tree_row (tree, kept)->parent)
        lns_row_tree_set_hidden (tree, other, true);
  lns_row_tree_release (tree);
}

static void
resize (LnsTimelineTree *self, uint32_t row, int by)
{
  const int now = MAX (lns_row_tree_row (self->context->tree, row)->lanes_high, 1);
  lns_row_tree_set_lanes_high (self->context->tree, row, now + by);
}

static void
move (LnsTimelineTree *self, uint32_t row, int by)
{
  LnsRowTree *tree = lns_row_state_move (&self->state, self->context->tree, row, by);
  if (tree != NULL)
    put_tree (self, tree);
}

/* --- What people do with all rows of a kind --------------------------------------------------- */

/* Whether OTHER shows the same kind of thing as ROW, of whatever thread, process or GPU. */
static gboolean
is_alike (LnsTimelineTree *self, const LnsRow *row, const LnsRow *other)
{
  const uint32_t *lanes = lns_row_tree_lanes (self->context->tree);
  if (row->kind != other->kind)
    return FALSE;
  if (lns_row_kind_is_group (row->kind) || row->n_lanes == 0 || other->n_lanes == 0)
    return TRUE;
  return lns_track_of (report_of (self), lanes[row->lanes])->kind ==
         lns_track_of (report_of (self), lanes[other->lanes])->kind;
}

static void
pin_it (LnsTimelineTree *self, uint32_t row, int unused)
{
  if (self->pinned->len < MAX_PINNED && pin_of (self, row) < 0)
    g_array_append_val (self->pinned, row);
}

static void
expand_it (LnsTimelineTree *self, uint32_t row, int expanded)
{
  lns_row_tree_set_expanded (self->context->tree, row, expanded != 0);
}

typedef struct
{
  const char *name;
  void (*act) (LnsTimelineTree *self, uint32_t row, int amount);
  int amount;
  gboolean on_alike; /* on all rows that are alike */
} RowAction;

static const RowAction row_actions[] = {
  { "row.expand", toggle_expanded, 0, FALSE },
  { "row.pin", toggle_pinned, 0, FALSE },
  { "row.hide", hide, 0, FALSE },
  { "row.hide-others", hide_others, 0, FALSE },
  { "row.move-up", move, -1, FALSE },
  { "row.move-down", move, 1, FALSE },
  { "row.higher", resize, 1, FALSE },
  { "row.lower", resize, -1, FALSE },
  { "row.pin-alike", pin_it, 0, TRUE },
  { "row.hide-alike", hide, 0, TRUE },
  { "row.unfold-alike", expand_it, TRUE, TRUE },
  { "row.fold-alike", expand_it, FALSE, TRUE },
};

void
lns_timeline_tree_change_row (LnsTimelineTree *self, const char *name, uint32_t row)
{
  LnsRowTree *tree = self->context->tree;
  for (gsize i = 0; i < G_N_ELEMENTS (row_actions); i++)
    {
      const RowAction *it = &row_actions[i];
      if (!g_str_equal (it->name, name))
        continue;
      if (it->on_alike)
        lns_row_tree_hold (tree);
      for (uint32_t rank = 0; rank < lns_row_tree_n_ranks (tree) && it->on_alike; rank++)
        {
          const uint32_t other = lns_row_tree_at_rank (tree, rank);
          if (is_alike (self, lns_row_tree_row (tree, row), lns_row_tree_row (tree, other)))
            it->act (self, other, it->amount);
        }
      if (it->on_alike)
        lns_row_tree_release (tree);
      else
        it->act (self, row, it->amount);
    }
  self->funcs->changed (self->owner);
}

/* --- What people do with all rows ------------------------------------------------------------- */

void
lns_timeline_tree_set_all_expanded (LnsTimelineTree *self, gboolean expanded)
{
  if (lns_row_tree_set_all_expanded (self->context->tree, expanded))
    self->funcs->changed (self->owner);
}

void
lns_timeline_tree_unfold_depth (LnsTimelineTree *self, uint32_t depth)
{
  if (lns_row_tree_unfold_depth (self->context->tree, depth))
    self->funcs->changed (self->owner);
}

guint
lns_timeline_tree_n_hidden (const LnsTimelineTree *self)
{
  guint n = 0;
  for (uint32_t row = 0; row < lns_row_tree_n_rows (self->context->tree); row++)
    n += lns_row_tree_row (self->context->tree, row)->is_hidden;
  return n;
}

void
lns_timeline_tree_show_hidden (LnsTimelineTree *self)
{
  lns_row_tree_hold (self->context->tree);
  for (uint32_t row = 0; row < lns_row_tree_n_rows (self->context->tree); row++)
    lns_row_tree_set_hidden (self->context->tree, row, false);
  lns_row_tree_release (self->context->tree);
  self->funcs->changed (self->owner);
}

void
lns_timeline_tree_reset (LnsTimelineTree *self)
{
  put_tree (self, lns_row_state_reset (&self->state, self->context->tree, self->pinned));
  self->funcs->changed (self->owner);
}

/* --- The part ---------------------------------------------------------------------------------- */

void
lns_timeline_tree_init (LnsTimelineTree *self,
                        LnsRowContext *context,
                        const LnsTimelineTreeFuncs *funcs,
                        gpointer owner)
{
  self->context = context;
  self->pinned = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  self->funcs = funcs;
  self->owner = owner;
}

void
lns_timeline_tree_stop (LnsTimelineTree *self)
{
  lns_job_cancel (&self->reading);
  lns_job_cancel (&self->gpu_ranges.finding);
}

void
lns_timeline_tree_clear (LnsTimelineTree *self)
{
  lns_row_state_clear (&self->state);
  g_array_unref (self->pinned);
}
