/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/timeline-rows.h"

/* Up to so many rows all have widgets, for assistive technology; of more, those in view have. GTK looks at the style of all that follow one that is
 * inserted: among a thousand that took 55 ms. */
#define MAX_PLAIN_ROWS 512
#define ROWS_AN_IDLE                                                                               \
 8 /* widgets that are made, described or hidden at a time for rows out of view */
#define ROWS_AT_ONCE 64 /* widgets that are hidden at once when their rows go */
#define MAX_STICKY   2  /* the outermost group and the innermost one of the first row in view */

struct _LnsTimelineRows
{
  GtkWidget parent_instance;

  const LnsRowPlan *plan;
  const LnsRowContext *context; /* of A */
  GtkAdjustment *adjustment;    /* owned, or NULL */
  const GArray *pinned;         /* of uint32_t: of A */
  GHashTable *bound;            /* key_of () a row → its LnsTimelineRow, a child */
  GPtrArray *spare;             /* children that show no row, and are hidden */
  gboolean shows_rows;          /* lns_timeline_rows_begin () */
  GPtrArray *leaving;           /* children that show no row, and are to be hidden */
  guint hiding;                 /* source that hides them, or 0 */
  uint32_t first, end;          /* the places in view */
  guint filling;                /* source that makes the widgets of rows out of view, or 0 */
  GArray *undescribed; /* of gpointer: keys of rows out of view whose descriptions are due */
  guint describing;    /* source that updates these, or 0 */

  /* Groups that were scrolled out of view while rows of theirs are in view stay at the top, as widgets of their own, behind the other
   * children, so that they are drawn over these. */
  LnsTimelineRow *sticky[MAX_STICKY]; /* children; NULL where nothing is scrolled */
  int sticky_top_px[MAX_STICKY];
  guint n_sticky; /* how many of them show */
};

G_DEFINE_FINAL_TYPE (LnsTimelineRows, lns_timeline_rows, GTK_TYPE_WIDGET)

/* --- Places: the rows that the widget shows, numbered from the top -------------------------- */

static gboolean
is_pinned (LnsTimelineRows *self, int side, uint32_t row)
{
  const LnsRowContext *context = self->plan->contexts[side];
  if (side == 1)
    row = lns_row_pairs_other (context->pairs, 1, row);
  for (guint i = 0; i < self->pinned->len; i++)
    if (g_array_index (self->pinned, uint32_t, i) == row)
      return TRUE;
  return FALSE;
}

static uint32_t
n_places (LnsTimelineRows *self)
{
  return lns_row_plan_n (self->plan);
}

static const LnsPlannedRow *
at (LnsTimelineRows *self, uint32_t place)
{
  return lns_row_plan_at (self->plan, place);
}

static const LnsRowTree *
tree_of (LnsTimelineRows *self, int side)
{
  return self->plan->contexts[side]->tree;
}

static int
height_of (LnsTimelineRows *self, int side, uint32_t row)
{
  return lns_row_tree_height_px (tree_of (self, side), row);
}

/* How far the rows are scrolled. */
static int
scrolled_px (LnsTimelineRows *self)
{
  return self->adjustment != NULL ? (int)gtk_adjustment_get_value (self->adjustment) : 0;
}

/* The upper edge of PLACE in the widget, scrolled. */
static int
top_of (LnsTimelineRows *self, uint32_t place)
{
  return lns_row_plan_top_px (self->plan, place) - scrolled_px (self);
}

static uint32_t
place_at (LnsTimelineRows *self, int y_px)
{
  return lns_row_plan_at_px (self->plan, y_px + scrolled_px (self));
}

int
lns_timeline_rows_total_px (LnsTimelineRows *self)
{
  return self->plan->total_px;
}

/* --- Widgets ------------------------------------------------------------------------------- */

static gpointer
key_of (int side, uint32_t row)
{
  return GSIZE_TO_POINTER ((gsize)row << 1 | (gsize)side);
}

static int
side_of_key (gconstpointer key)
{
  return (int)(GPOINTER_TO_SIZE (key) & 1);
}

static uint32_t
row_of_key (gconstpointer key)
{
  return (uint32_t)(GPOINTER_TO_SIZE (key) >> 1);
}

static LnsTimelineRow *
lookup (LnsTimelineRows *self, int side, uint32_t row)
{
  return g_hash_table_lookup (self->bound, key_of (side, row));
}

static LnsTimelineRow *
lookup_place (LnsTimelineRows *self, uint32_t place)
{
  return lookup (self, at (self, place)->side, at (self, place)->row);
}

/* Has WIDGET show ROW of SIDE. */
static void
show (LnsTimelineRows *self, LnsTimelineRow *widget, int side, uint32_t row)
{
  lns_timeline_row_bind (widget, self->plan->contexts[side], row, is_pinned (self, side, row),
                         self->adjustment == NULL);
}

/* Whether WIDGET shows ROW of SIDE. */
static gboolean
shows (LnsTimelineRow *widget, int side, uint32_t row)
{
  return lns_timeline_row_get_row (widget) == row &&
         lns_timeline_row_get_context (widget)->side == side;
}

/* The widget of PLACE; children stand in the order of rows, as assistive technology reads them. */
static LnsTimelineRow *
bind (LnsTimelineRows *self, uint32_t place)
{
  const LnsPlannedRow *it = at (self, place);
  LnsTimelineRow *widget = lookup (self, it->side, it->row);
  if (widget == NULL)
    {
      LnsTimelineRow *before = NULL;
      for (uint32_t up = place; up > 0 && before == NULL && place - up < MAX_PLAIN_ROWS; up--)
        before = lookup_place (self, up - 1);
      GPtrArray *from = self->leaving->len > 0 ? self->leaving : self->spare;
      GtkWidget *child = from->len > 0 ? g_ptr_array_steal_index_fast (from, from->len - 1)
                                       : GTK_WIDGET (lns_timeline_row_new (self->context));
      widget = LNS_TIMELINE_ROW (child);
      show (self, widget, it->side, it->row);
      gtk_widget_insert_after (child, GTK_WIDGET (self), GTK_WIDGET (before));
      gtk_widget_set_visible (child, TRUE);
      g_hash_table_insert (self->bound, key_of (it->side, it->row), widget);
    }
  return widget;
}

/* Hides a widget that shows no row. */
static void
put_aside (LnsTimelineRows *self, GtkWidget *child)
{
  gtk_widget_set_visible (child, FALSE);
  g_ptr_array_add (self->spare, child);
}

static gboolean
hide_cb (gpointer data)
{
  LnsTimelineRows *self = data;
  for (guint i = 0; i < ROWS_AN_IDLE && self->leaving->len > 0; i++)
    put_aside (self, g_ptr_array_steal_index_fast (self->leaving, self->leaving->len - 1));
  if (self->leaving->len > 0)
    return G_SOURCE_CONTINUE;
  self->hiding = 0;
  return G_SOURCE_REMOVE;
}

/* Takes the widgets away from the rows for which WANTED is false. Hiding a widget tells assistive technology, so that of many, most are
 * hidden a few at a time while there is nothing else to do; until then they are only not drawn. */
static void
unbind (LnsTimelineRows *self, gboolean (*wanted) (LnsTimelineRows *self, int side, uint32_t row))
{
  GHashTableIter iter;
  gpointer key, value;
  guint n_hidden = 0;
  g_hash_table_iter_init (&iter, self->bound);
  while (g_hash_table_iter_next (&iter, &key, &value))
    if (!wanted (self, side_of_key (key), row_of_key (key)))
      {
        lns_timeline_row_release (value, self->context);
        g_hash_table_iter_remove (&iter);
        /* The focus does not stay where no row is. */
        if (n_hidden < ROWS_AT_ONCE || value == gtk_widget_get_focus_child (GTK_WIDGET (self)))
          {
            put_aside (self, value);
            n_hidden++;
            continue;
          }
        gtk_widget_set_child_visible (value, FALSE);
        g_ptr_array_add (self->leaving, value);
      }
  if (self->leaving->len > 0 && self->hiding == 0)
    self->hiding = g_idle_add_full (G_PRIORITY_LOW, hide_cb, self, NULL);
}

static gboolean
has_place (LnsTimelineRows *self, int side, uint32_t row)
{
  return lns_row_plan_place_of (self->plan, side, row) != LNS_ID_NONE;
}

static gboolean
in_view (LnsTimelineRows *self, int side, uint32_t row)
{
  const guint place = lns_row_plan_place_of (self->plan, side, row);
  return place >= self->first && place < self->end;
}

static gboolean
fill_cb (gpointer data)
{
  LnsTimelineRows *self = data;
  guint n_made = 0;
  for (uint32_t place = 0; place < n_places (self) && n_made < ROWS_AN_IDLE; place++)
    if (lookup_place (self, place) == NULL)
      {
        bind (self, place);
        n_made++;
      }
  if (n_made > 0)
    return G_SOURCE_CONTINUE;
  self->filling = 0;
  return G_SOURCE_REMOVE;
}

/* --- Groups that stay at the top -------------------------------------------------------------- */

/* The outermost row above ROW of SIDE that is a group, if OUTERMOST, or else the innermost; or LNS_ID_NONE. */
static uint32_t
group_of (LnsTimelineRows *self, int side, uint32_t row, gboolean outermost)
{
  const LnsRowTree *tree = tree_of (self, side);
  uint32_t found = LNS_ID_NONE;
  for (uint32_t up = lns_row_tree_row (tree, row)->parent;
       up != LNS_ID_NONE && (outermost || found == LNS_ID_NONE);
       up = lns_row_tree_row (tree, up)->parent)
    if (lns_row_kind_is_group (lns_row_tree_row (tree, up)->kind))
      found = up;
  return found;
}

/* How much of the top groups take that stay there while ROW of SIDE is the first row below them. */
static int
sticky_px_above (LnsTimelineRows *self, int side, uint32_t row)
{
  const uint32_t outer = group_of (self, side, row, TRUE),
                 inner = group_of (self, side, row, FALSE);
  if (outer == LNS_ID_NONE)
    return 0;
  return height_of (self, side, outer) + (inner != outer ? height_of (self, side, inner) : 0);
}

/* The lower edge of the last row of GROUP of SIDE, if that is above LIMIT_PX, or else LIMIT_PX. */
static int
end_of_group (LnsTimelineRows *self, int side, uint32_t group, int limit_px)
{
  const LnsRow *it = lns_row_tree_row (tree_of (self, side), group);
  for (uint32_t place = self->first; place < n_places (self) && top_of (self, place) < limit_px;
       place++)
    if (at (self, place)->side == side &&
        lns_row_tree_row (tree_of (self, side), at (self, place)->row)->rank >
            it->rank + it->n_below)
      return top_of (self, place);
  return limit_px;
}

/* Puts the group of the row at TOP_PX there, unless it is in view. Returns the lower edge of what stays. */
static int
stick (LnsTimelineRows *self, int top_px, gboolean outermost)
{
  const LnsPlannedRow *first = at (self, place_at (self, top_px));
  /* That of A stands for a pair. */
  if (first->side == 1 && first->partner != LNS_ID_NONE)
    first = at (self, first->partner);
  const int side = first->side;
  const uint32_t group = group_of (self, side, first->row, outermost);
  const uint32_t place =
      group != LNS_ID_NONE ? lns_row_plan_place_of (self->plan, side, group) : LNS_ID_NONE;
  if (place == LNS_ID_NONE || top_of (self, place) >= top_px ||
      (self->n_sticky > 0 && shows (self->sticky[0], side, group)))
    return top_px;
  const int row_px = height_of (self, side, group);
  /* The next group pushes it out. */
  const int bottom_px = end_of_group (self, side, group, top_px + row_px);
  LnsTimelineRow *widget = self->sticky[self->n_sticky];
  self->sticky_top_px[self->n_sticky++] = bottom_px - row_px;
  lns_timeline_row_bind (widget, self->plan->contexts[side], group, is_pinned (self, side, group),
                         FALSE);
  return bottom_px;
}

static void
place_sticky (LnsTimelineRows *self)
{
  const int width_px = gtk_widget_get_width (GTK_WIDGET (self));
  for (guint i = 0; i < MAX_STICKY && self->adjustment != NULL; i++)
    {
      GtkWidget *widget = GTK_WIDGET (self->sticky[i]);
      int needed_px, unused;
      gtk_widget_set_child_visible (widget, i < self->n_sticky);
      if (i >= self->n_sticky)
        continue;
      const int row_px = height_of (self, lns_timeline_row_get_context (self->sticky[i])->side,
                                    lns_timeline_row_get_row (self->sticky[i]));
      lns_timeline_row_set_shown (self->sticky[i], 0, row_px);
      gtk_widget_measure (widget, GTK_ORIENTATION_HORIZONTAL, -1, &needed_px, &unused, NULL, NULL);
      gtk_widget_size_allocate (
          widget, &(GtkAllocation){ 0, self->sticky_top_px[i], MAX (width_px, needed_px), row_px },
          -1);
    }
}

/* The lower edge of the groups that stay at the top. */
static int
sticky_end_px (LnsTimelineRows *self)
{
  const guint last = self->n_sticky - 1;
  return self->n_sticky == 0
             ? 0
             : self->sticky_top_px[last] + gtk_widget_get_height (GTK_WIDGET (self->sticky[last]));
}

/* Which of them is at Y_PX, or -1. */
static int
sticky_at (LnsTimelineRows *self, double y_px)
{
  for (guint i = 0; i < self->n_sticky; i++)
    if (y_px >= self->sticky_top_px[i] &&
        y_px < self->sticky_top_px[i] + gtk_widget_get_height (GTK_WIDGET (self->sticky[i])))
      return (int)i;
  return -1;
}

static void
sticky_clicked_cb (GtkGestureClick *gesture, int n_press, double x, double y, LnsTimelineRows *self)
{
  GtkWidget *widget = gtk_event_controller_get_widget (GTK_EVENT_CONTROLLER (gesture));
  const uint32_t row = lns_timeline_row_get_row (LNS_TIMELINE_ROW (widget));
  const int side = lns_timeline_row_get_context (LNS_TIMELINE_ROW (widget))->side;
  if (x < self->context->header_px && row != LNS_ID_NONE)
    lns_timeline_rows_scroll_to (self, side, row, 0, height_of (self, side, row));
}

static void
add_sticky (LnsTimelineRows *self)
{
  for (guint i = 0; i < MAX_STICKY; i++)
    {
      GtkGesture *click = gtk_gesture_click_new ();
      GtkWidget *widget = GTK_WIDGET (lns_timeline_row_new (self->context));
      self->sticky[i] = LNS_TIMELINE_ROW (widget);
      gtk_widget_insert_before (widget, GTK_WIDGET (self), NULL);
      gtk_widget_set_child_visible (widget, FALSE);
      gtk_widget_set_focusable (widget, FALSE);
      gtk_widget_add_css_class (widget, "sticky");
      /* The rows themselves are there for assistive technology. */
      gtk_accessible_update_state (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_STATE_HIDDEN, TRUE, -1);
      g_signal_connect (click, "released", G_CALLBACK (sticky_clicked_cb), self);
      gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (click));
    }
}

static gboolean
is_sticky (LnsTimelineRows *self, GtkWidget *child)
{
  for (guint i = 0; i < MAX_STICKY; i++)
    if (child == (GtkWidget *)self->sticky[i])
      return TRUE;
  return FALSE;
}

/* --- Places of widgets -------------------------------------------------------------------------- */

/* Gives the rows in view their widgets. */
static void
bind_rows (LnsTimelineRows *self)
{
  const uint32_t n = n_places (self);
  const int height_px = gtk_widget_get_height (GTK_WIDGET (self));
  if (!self->shows_rows)
    return;
  const gboolean plain = self->adjustment == NULL || n <= MAX_PLAIN_ROWS;
  self->first = place_at (self, 0);
  self->end = n == 0 ? 0 : MIN (place_at (self, height_px - 1) + 1, n);
  unbind (self, plain ? has_place : in_view);
  if (plain && g_hash_table_size (self->bound) < n && self->filling == 0)
    self->filling = g_idle_add_full (G_PRIORITY_LOW, fill_cb, self, NULL);
  for (uint32_t place = self->first; place < self->end; place++)
    bind (self, place);
  self->n_sticky = 0;
  if (self->adjustment != NULL && n > 0)
    stick (self, stick (self, 0, TRUE), FALSE);
}

/* Other rows are in view. They get their widgets before the layout: what wants another size while only SELF is laid out leaves the
 * widgets around it without a place. */
static void
scrolled_cb (LnsTimelineRows *self)
{
  bind_rows (self);
  gtk_widget_queue_allocate (GTK_WIDGET (self));
}

/* Gives the rows in view their places. */
static void
place_rows (LnsTimelineRows *self)
{
  int width_px = gtk_widget_get_width (GTK_WIDGET (self));
  int height_px = gtk_widget_get_height (GTK_WIDGET (self));
  bind_rows (self);
  for (GtkWidget *child = gtk_widget_get_first_child (GTK_WIDGET (self)); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      uint32_t row = lns_timeline_row_get_row (LNS_TIMELINE_ROW (child));
      const int side = lns_timeline_row_get_context (LNS_TIMELINE_ROW (child))->side;
      if (is_sticky (self, child))
        continue;
      gboolean seen = self->adjustment == NULL || (row != LNS_ID_NONE && in_view (self, side, row));
      if (!seen)
        gtk_widget_set_child_visible (child, FALSE);
    }
  for (uint32_t place = self->first; place < self->end; place++)
    {
      LnsTimelineRow *row = lookup_place (self, place);
      int top_px = top_of (self, place), needed_px, unused;
      int row_px = height_of (self, at (self, place)->side, at (self, place)->row);
      lns_timeline_row_set_shown (row, -top_px, height_px - top_px);
      gtk_widget_set_child_visible (GTK_WIDGET (row), TRUE);
      gtk_widget_measure (GTK_WIDGET (row), GTK_ORIENTATION_HORIZONTAL, -1, &needed_px, &unused,
                          NULL, NULL);
      gtk_widget_size_allocate (
          GTK_WIDGET (row), &(GtkAllocation){ 0, top_px, MAX (width_px, needed_px), row_px }, -1);
    }
  place_sticky (self);
}

/* --- Interface ----------------------------------------------------------------------------- */

/* Has no group stay at the top that is of a report which is no longer there. */
static void
release_sticky (LnsTimelineRows *self)
{
  for (guint i = 0; i < MAX_STICKY && self->adjustment != NULL; i++)
    {
      const LnsRowContext *context = lns_timeline_row_get_context (self->sticky[i]);
      if (context == self->plan->contexts[0] || context == self->plan->contexts[1])
        continue;
      lns_timeline_row_release (self->sticky[i], self->context);
      gtk_widget_set_child_visible (GTK_WIDGET (self->sticky[i]), FALSE);
      self->n_sticky = MIN (self->n_sticky, i);
    }
}

void
lns_timeline_rows_begin (LnsTimelineRows *self)
{
  self->shows_rows = TRUE;
  scrolled_cb (self);
}

void
lns_timeline_rows_sync (LnsTimelineRows *self)
{
  GHashTableIter iter;
  gpointer key, value;
  unbind (self, has_place);
  release_sticky (self);
  g_hash_table_iter_init (&iter, self->bound);
  while (g_hash_table_iter_next (&iter, &key, &value))
    show (self, value, side_of_key (key), row_of_key (key));
  gtk_widget_queue_resize (GTK_WIDGET (self));
}

void
lns_timeline_rows_redraw (LnsTimelineRows *self)
{
  for (uint32_t place = self->first; place < self->end && place < n_places (self); place++)
    lns_timeline_rows_redraw_row (self, at (self, place)->side, at (self, place)->row);
  for (guint i = 0; i < self->n_sticky; i++)
    gtk_widget_queue_draw (GTK_WIDGET (self->sticky[i]));
}

void
lns_timeline_rows_redraw_row (LnsTimelineRows *self, int side, uint32_t row)
{
  LnsTimelineRow *widget = lookup (self, side, row);
  if (widget != NULL)
    gtk_widget_queue_draw (GTK_WIDGET (widget));
  for (guint i = 0; i < self->n_sticky; i++)
    if (shows (self->sticky[i], side, row))
      gtk_widget_queue_draw (GTK_WIDGET (self->sticky[i]));
}

void
lns_timeline_rows_append_spans (LnsTimelineRows *self, int side, GArray *spans)
{
  int height_px = gtk_widget_get_height (GTK_WIDGET (self));
  for (uint32_t place = self->first; place < self->end && place < n_places (self); place++)
    {
      LnsTimelineRow *row = lookup_place (self, place);
      int top_px = top_of (self, place);
      if (row == NULL || at (self, place)->side != side)
        continue;
      LnsStripSpan span = lns_timeline_row_set_shown (row, -top_px, height_px - top_px);
      g_array_append_val (spans, span);
    }
  for (guint i = 0; i < self->n_sticky; i++)
    if (lns_timeline_row_get_context (self->sticky[i])->side == side)
      {
        LnsStripSpan span = lns_timeline_row_set_shown (
            self->sticky[i], 0, gtk_widget_get_height (GTK_WIDGET (self->sticky[i])));
        g_array_append_val (spans, span);
      }
}

LnsTimelineRow *
lns_timeline_rows_row_at (LnsTimelineRows *self, double y_px, double *ret_row_y_px)
{
  if (n_places (self) == 0 || y_px < 0 || y_px >= lns_timeline_rows_total_px (self))
    return NULL;
  const int i = sticky_at (self, y_px);
  if (i >= 0)
    {
      *ret_row_y_px = y_px - self->sticky_top_px[i];
      return self->sticky[i];
    }
  uint32_t place = place_at (self, (int)y_px);
  *ret_row_y_px = y_px - top_of (self, place);
  return lookup_place (self, place);
}

LnsTimelineRow *
lns_timeline_rows_find (LnsTimelineRows *self, int side, uint32_t row, int *ret_top_px)
{
  for (guint i = 0; i < self->n_sticky; i++)
    if (shows (self->sticky[i], side, row))
      {
        *ret_top_px = self->sticky_top_px[i];
        return self->sticky[i];
      }
  if (!in_view (self, side, row))
    return NULL;
  *ret_top_px = top_of (self, lns_row_plan_place_of (self->plan, side, row));
  /* Groups may cover it. */
  return *ret_top_px + height_of (self, side, row) > sticky_end_px (self) ? lookup (self, side, row)
                                                                          : NULL;
}

void
lns_timeline_rows_scroll_to (
    LnsTimelineRows *self, int side, uint32_t row, int top_px, int bottom_px)
{
  const guint place = lns_row_plan_place_of (self->plan, side, row);
  if (self->adjustment == NULL || place == LNS_ID_NONE)
    return;
  /* Rows that have just been unfolded are not laid out yet. */
  gtk_adjustment_set_upper (
      self->adjustment,
      MAX (lns_timeline_rows_total_px (self), gtk_adjustment_get_page_size (self->adjustment)));
  int row_px = lns_row_plan_top_px (self->plan, place);
  gtk_adjustment_clamp_page (self->adjustment, row_px + top_px - sticky_px_above (self, side, row),
                             row_px + bottom_px);
}

static gboolean
describe_cb (gpointer data)
{
  LnsTimelineRows *self = data;
  for (guint i = 0; i < ROWS_AN_IDLE && self->undescribed->len > 0; i++)
    {
      const guint last = self->undescribed->len - 1;
      LnsTimelineRow *widget =
          g_hash_table_lookup (self->bound, g_array_index (self->undescribed, gpointer, last));
      g_array_set_size (self->undescribed, last);
      if (widget != NULL)
        lns_timeline_row_update_description (widget);
    }
  if (self->undescribed->len > 0)
    return G_SOURCE_CONTINUE;
  self->describing = 0;
  return G_SOURCE_REMOVE;
}

void
lns_timeline_rows_update_descriptions (LnsTimelineRows *self)
{
  GHashTableIter iter;
  gpointer key, value;
  g_array_set_size (self->undescribed, 0);
  g_hash_table_iter_init (&iter, self->bound);
  while (g_hash_table_iter_next (&iter, &key, &value))
    if (in_view (self, side_of_key (key), row_of_key (key)))
      lns_timeline_row_update_description (value);
    else
      g_array_append_val (self->undescribed, key);
  for (guint i = 0; i < self->n_sticky; i++)
    lns_timeline_row_update_description (self->sticky[i]);
  if (self->undescribed->len > 0 && self->describing == 0)
    self->describing = g_idle_add_full (G_PRIORITY_LOW, describe_cb, self, NULL);
}

/* --- Widget -------------------------------------------------------------------------------- */

static void
lns_timeline_rows_measure (GtkWidget *widget,
                           GtkOrientation orientation,
                           int for_size,
                           int *minimum,
                           int *natural,
                           int *minimum_baseline,
                           int *natural_baseline)
{
  LnsTimelineRows *self = LNS_TIMELINE_ROWS (widget);
  *minimum = *natural = 0;
  if (orientation == GTK_ORIENTATION_VERTICAL)
    {
      *natural = lns_timeline_rows_total_px (self);
      *minimum = self->adjustment == NULL ? *natural : 0;
    }
}

static void
lns_timeline_rows_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  LnsTimelineRows *self = LNS_TIMELINE_ROWS (widget);
  if (self->adjustment != NULL)
    {
      int total_px = MAX (lns_timeline_rows_total_px (self), height);
      double value = gtk_adjustment_get_value (self->adjustment);
      gtk_adjustment_configure (self->adjustment, CLAMP (value, 0, total_px - height), 0, total_px,
                                lns_row_tree_lane_px (self->context->tree), height * 0.9, height);
    }
  place_rows (self);
}

/* Scrolls a row that gets the focus into view, unless a part of it is in view. */
static void
lns_timeline_rows_set_focus_child (GtkWidget *widget, GtkWidget *child)
{
  LnsTimelineRows *self = LNS_TIMELINE_ROWS (widget);
  GTK_WIDGET_CLASS (lns_timeline_rows_parent_class)->set_focus_child (widget, child);
  if (child == NULL || self->adjustment == NULL)
    return;
  const uint32_t row = lns_timeline_row_get_row (LNS_TIMELINE_ROW (child));
  const int side = lns_timeline_row_get_context (LNS_TIMELINE_ROW (child))->side;
  if (row != LNS_ID_NONE && has_place (self, side, row) &&
      (!in_view (self, side, row) ||
       top_of (self, lns_row_plan_place_of (self->plan, side, row)) <
           MIN (sticky_px_above (self, side, row), sticky_end_px (self))))
    lns_timeline_rows_scroll_to (self, side, row, 0, height_of (self, side, row));
}

LnsTimelineRows *
lns_timeline_rows_new (const LnsRowPlan *plan,
                       const LnsRowContext *context,
                       const GArray *pinned,
                       GtkAdjustment *adjustment)
{
  LnsTimelineRows *self = g_object_new (LNS_TYPE_TIMELINE_ROWS, NULL);
  self->plan = plan;
  self->context = context;
  self->pinned = pinned;
  if (adjustment != NULL)
    {
      self->adjustment = g_object_ref (adjustment);
      g_signal_connect_object (adjustment, "value-changed", G_CALLBACK (scrolled_cb), self,
                               G_CONNECT_SWAPPED);
      add_sticky (self);
    }
  return self;
}

static void
lns_timeline_rows_dispose (GObject *object)
{
  LnsTimelineRows *self = LNS_TIMELINE_ROWS (object);
  g_clear_handle_id (&self->filling, g_source_remove);
  g_clear_handle_id (&self->describing, g_source_remove);
  g_clear_handle_id (&self->hiding, g_source_remove);
  GtkWidget *child;
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self))) != NULL)
    gtk_widget_unparent (child);
  g_clear_pointer (&self->bound, g_hash_table_unref);
  g_clear_pointer (&self->spare, g_ptr_array_unref);
  g_clear_pointer (&self->leaving, g_ptr_array_unref);
  g_clear_pointer (&self->undescribed, g_array_unref);
  g_clear_object (&self->adjustment);
  G_OBJECT_CLASS (lns_timeline_rows_parent_class)->dispose (object);
}

static void
lns_timeline_rows_class_init (LnsTimelineRowsClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  object_class->dispose = lns_timeline_rows_dispose;
  widget_class->measure = lns_timeline_rows_measure;
  widget_class->size_allocate = lns_timeline_rows_size_allocate;
  widget_class->set_focus_child = lns_timeline_rows_set_focus_child;
  gtk_widget_class_set_css_name (widget_class, "timelinerows");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_TREE_GRID);
}

static void
lns_timeline_rows_init (LnsTimelineRows *self)
{
  self->bound = g_hash_table_new (NULL, NULL);
  self->spare = g_ptr_array_new ();
  self->leaving = g_ptr_array_new ();
  self->undescribed = g_array_new (FALSE, FALSE, sizeof (gpointer));
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
}
