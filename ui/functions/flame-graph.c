/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/functions/flame-graph.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>

#include "src/base/array.h"
#include "src/base/format.h"
#include "ui/model/context-menu.h"
#include "ui/model/display-text.h"
#include "ui/model/theme.h"
#include "ui/model/shortcuts.h"

#define MIN_ROW_PX  20
#define TEXT_SCALE  0.88 /* of the font */
#define PAD_PX      4
#define MIN_TEXT_PX 26   /* narrower bars have no text */
#define DIMMED      0.65 /* of the background, over bars that the filter does not find */
#define SHADES      4    /* of the hue of a module, by function */
#define SHADE       0.09 /* of the background, more for each of them */
#define MIN_BAR_PX  1.0

/* The last so many functions on the way to what is shown have links. */
#define MAX_CRUMBS 4

/* A bar of less than this share of the width is beside others. */
#define FORK_SHARE      0.8
#define CALLERS_OF_FORK 2

/* A bar, or several siblings that are too narrow. */
typedef struct
{
  uint32_t branch; /* the first of several */
  uint32_t n_left_out;
  uint32_t row;
  double x_px, width_px;
  uint64_t n_samples; /* of several */
} Bar;

struct _LnsFlameGraph
{
  GtkWidget parent_instance;

  LnsFunctions *functions; /* owned */
  GMenuModel *menu;        /* owned */
  LnsFunctionSums *sums;   /* owned; or NULL */
  gboolean is_upwards;
  uint32_t zoom;    /* the branch that is as wide as the widget */
  uint32_t focus;   /* the branch of the bar with the focus, or LNS_ID_NONE */
  uint32_t hovered; /* that under the pointer, or LNS_ID_NONE */

  LNS_ARRAY (Bar) bars; /* at this width: */
  int width_px;         /* -1: none are there */
  int row_px;           /* as high as the font wants it */
  uint32_t n_rows;
  GskRenderNode *picture; /* owned: the bars; or NULL */
};

G_DEFINE_FINAL_TYPE (LnsFlameGraph, lns_flame_graph, GTK_TYPE_WIDGET)

static const LnsCallBranch *
branch_at (LnsFlameGraph *self, uint32_t branch)
{
  return &self->sums->down->branches.items[branch];
}

/* --- Layout ----------------------------------------------------------------------------------- */

/* TEXT as it is written on bars. Free with g_object_unref (). */
static PangoLayout *
layout_of (LnsFlameGraph *self, const char *text)
{
  PangoLayout *layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), text);
  PangoAttrList *attributes = pango_attr_list_new ();

  pango_attr_list_insert (attributes, pango_attr_scale_new (TEXT_SCALE));
  pango_layout_set_attributes (layout, attributes);
  pango_attr_list_unref (attributes);
  return layout;
}

/* Makes rows as high as a line, with a pixel above it, and one below it beside the gap. */
static void
fit_rows (LnsFlameGraph *self)
{
  g_autoptr (PangoLayout) layout = layout_of (self, "X");
  int line_px;

  pango_layout_get_pixel_size (layout, NULL, &line_px);
  self->row_px = MAX (line_px + 3, MIN_ROW_PX);
}

static void
add_bar (LnsFlameGraph *self, Bar bar)
{
  *lns_array_add (&self->bars) = bar;
  self->n_rows = MAX (self->n_rows, bar.row + 1);
}

/* Adds the bars below BAR. Siblings are sorted, so that the narrow ones are the last. */
static void
add_below (LnsFlameGraph *self, const Bar bar)
{
  const LnsCallBranch above = *lns_call_branches_grow (self->sums->down, bar.branch);
  const double px_per_sample = bar.width_px / (double)MAX (above.count.total, 1);
  double x_px = bar.x_px;
  Bar rest = { .row = bar.row + 1 };

  for (uint32_t i = 0; i < above.n_below; i++)
    {
      const uint32_t below = above.first_below + i;
      const uint64_t n = branch_at (self, below)->count.total;
      const double width_px = (double)n * px_per_sample;
      if (width_px >= MIN_BAR_PX)
        add_bar (self,
                 (Bar){ .branch = below, .row = bar.row + 1, .x_px = x_px, .width_px = width_px });
      else
        {
          if (rest.n_left_out++ == 0)
            {
              rest.branch = below;
              rest.x_px = x_px;
            }
          rest.n_samples += n;
          rest.width_px += width_px;
        }
      x_px += width_px;
    }
  if (rest.width_px >= MIN_BAR_PX)
    add_bar (self, rest);
}

static void
lay_out (LnsFlameGraph *self, int width_px)
{
  if (width_px == self->width_px)
    return;
  self->width_px = width_px;
  self->bars.n = 0;
  self->n_rows = 0;
  g_clear_pointer (&self->picture, gsk_render_node_unref);
  if (self->sums == NULL || branch_at (self, 0)->count.total == 0)
    return;
  for (uint32_t at = self->zoom;; at = branch_at (self, at)->parent)
    {
      add_bar (self,
               (Bar){ .branch = at, .row = branch_at (self, at)->depth, .width_px = width_px });
      if (at == 0)
        break;
    }
  add_below (self, self->bars.items[0]);
  for (size_t i = branch_at (self, self->zoom)->depth + 1; i < self->bars.n; i++)
    if (self->bars.items[i].n_left_out == 0)
      add_below (self, self->bars.items[i]);
}

/* Lays the bars out again with the widget. */
static void
change (LnsFlameGraph *self)
{
  self->width_px = -1;
  self->hovered = LNS_ID_NONE;
  g_clear_pointer (&self->picture, gsk_render_node_unref);
  lay_out (self, gtk_widget_get_width (GTK_WIDGET (self)));
  gtk_widget_queue_resize (GTK_WIDGET (self));
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static double
top_px (LnsFlameGraph *self, uint32_t row)
{
  return self->is_upwards
             ? gtk_widget_get_height (GTK_WIDGET (self)) - (double)(row + 1) * self->row_px
             : (double)row * self->row_px;
}

static const Bar *
bar_at (LnsFlameGraph *self, double x_px, double y_px)
{
  for (size_t i = 0; i < self->bars.n; i++)
    {
      const Bar *bar = &self->bars.items[i];
      const double y = top_px (self, bar->row);
      if (y_px >= y && y_px < y + self->row_px && x_px >= bar->x_px &&
          x_px < bar->x_px + bar->width_px)
        return bar;
    }
  return NULL;
}

static const Bar *
bar_of (LnsFlameGraph *self, uint32_t branch)
{
  for (size_t i = 0; i < self->bars.n; i++)
    if (self->bars.items[i].branch == branch && self->bars.items[i].n_left_out == 0)
      return &self->bars.items[i];
  return NULL;
}

static void
lns_flame_graph_measure (GtkWidget *widget,
                         GtkOrientation orientation,
                         int for_size,
                         int *minimum,
                         int *natural,
                         int *minimum_baseline,
                         int *natural_baseline)
{
  LnsFlameGraph *self = LNS_FLAME_GRAPH (widget);

  *minimum = *natural =
      orientation == GTK_ORIENTATION_HORIZONTAL ? 100 : (int)MAX (self->n_rows, 1) * self->row_px;
}

static void
lns_flame_graph_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  LnsFlameGraph *self = LNS_FLAME_GRAPH (widget);
  const uint32_t n_rows = self->n_rows;

  /* The picture depends on the height, too, if bars stand on it. */
  g_clear_pointer (&self->picture, gsk_render_node_unref);
  lay_out (self, width);
  if (self->n_rows != n_rows)
    gtk_widget_queue_resize (widget);
  lns_context_menu_present (widget);
}

/* --- Picture ---------------------------------------------------------------------------------- */

static const LnsPalette *
palette_now (void)
{
  return lns_palette_get (lns_theme_now ());
}

static uint32_t
color_of (LnsFlameGraph *self, const Bar *bar)
{
  const LnsPalette *palette = palette_now ();
  const LnsCallBranch *branch = branch_at (self, bar->branch);

  if (bar->n_left_out > 0)
    return palette->coverage;
  if (bar->branch == 0)
    return lns_palette_mix (palette->background[0], palette->text, 0.15);
  const uint32_t hue =
      lns_palette_color (palette, 0, lns_functions_module_hue (self->functions, branch->function));
  const uint32_t rgb =
      lns_palette_mix (hue, palette->background[0], branch->function % SHADES * SHADE);
  return self->sums->matches != NULL && !self->sums->matches[branch->function]
             ? lns_palette_mix (rgb, palette->background[0], DIMMED)
             : rgb;
}

/* What is written on a bar. Free with g_free (). */
static char *
text_of (LnsFlameGraph *self, const Bar *bar)
{
  const LnsCallBranch *branch = branch_at (self, bar->branch);

  if (bar->branch != 0)
    return lns_functions_bar_name (self->functions, branch->function);
  g_autofree char *amount = lns_functions_amount_in_words (self->functions, branch->count.total);
  return g_strdup_printf (self->sums->source == LNS_FUNCTIONS_OF_GPU ? _ ("All GPU time: %s")
                                                                     : _ ("All call chains: %s"),
                          amount);
}

static void
snapshot_bar (LnsFlameGraph *self, GtkSnapshot *snapshot, PangoLayout *layout, const Bar *bar)
{
  const uint32_t rgb = color_of (self, bar);
  const GdkRGBA back = lns_palette_rgba (rgb, 1);
  const GdkRGBA front = lns_palette_rgba (lns_palette_text_on (rgb), 1);
  const float y = (float)top_px (self, bar->row);
  /* A gap of one pixel where there is room for it. */
  const float x0 = (float)floor (bar->x_px + 0.5);
  const float x1 = (float)floor (bar->x_px + bar->width_px + 0.5) - (bar->width_px >= 3 ? 1 : 0);
  int height_px;

  if (x1 <= x0)
    return;
  gtk_snapshot_append_color (snapshot, &back,
                             &GRAPHENE_RECT_INIT (x0, y, x1 - x0, self->row_px - 1));
  if (bar->width_px < MIN_TEXT_PX || bar->n_left_out > 0)
    return;
  g_autofree char *text = text_of (self, bar);
  g_autofree char *cut = lns_display_cut (text);
  pango_layout_set_text (layout, cut, -1);
  pango_layout_set_width (layout, (int)(x1 - x0 - 2 * PAD_PX) * PANGO_SCALE);
  pango_layout_get_pixel_size (layout, NULL, &height_px);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (
      snapshot,
      &GRAPHENE_POINT_INIT (x0 + PAD_PX, y + floorf ((self->row_px - 1 - (float)height_px) / 2)));
  gtk_snapshot_append_layout (snapshot, layout, &front);
  gtk_snapshot_restore (snapshot);
}

static GskRenderNode *
make_picture (LnsFlameGraph *self)
{
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  g_autoptr (PangoLayout) layout = layout_of (self, NULL);

  pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
  pango_layout_set_single_paragraph_mode (layout, TRUE);
  for (size_t i = 0; i < self->bars.n; i++)
    snapshot_bar (self, snapshot, layout, &self->bars.items[i]);
  return gtk_snapshot_free_to_node (snapshot);
}

static void
snapshot_outline (
    LnsFlameGraph *self, GtkSnapshot *snapshot, const Bar *bar, float width, uint32_t rgb)
{
  const GdkRGBA color = lns_palette_rgba (rgb, 1);
  const GskRoundedRect outline = GSK_ROUNDED_RECT_INIT (
      (float)bar->x_px, (float)top_px (self, bar->row), (float)bar->width_px, self->row_px - 1);

  gtk_snapshot_append_border (snapshot, &outline, (float[4]){ width, width, width, width },
                              (GdkRGBA[4]){ color, color, color, color });
}

static void
lns_flame_graph_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LnsFlameGraph *self = LNS_FLAME_GRAPH (widget);
  const LnsPalette *palette = palette_now ();
  const Bar *focus = self->focus != LNS_ID_NONE ? bar_of (self, self->focus) : NULL;

  if (self->bars.n == 0)
    return;
  if (self->picture == NULL)
    self->picture = make_picture (self);
  if (self->picture != NULL)
    gtk_snapshot_append_node (snapshot, self->picture);
  /* All bars of the function under the pointer. */
  for (size_t i = 0; i < self->bars.n && self->hovered != LNS_ID_NONE; i++)
    {
      const Bar *bar = &self->bars.items[i];
      if (bar->n_left_out == 0 &&
          branch_at (self, bar->branch)->function == branch_at (self, self->hovered)->function)
        snapshot_outline (self, snapshot, bar, 1, palette->text);
    }
  if (focus != NULL && gtk_widget_has_focus (widget))
    {
      snapshot_outline (self, snapshot, focus, 2, palette->background[0]);
      snapshot_outline (self, snapshot, focus, 1, palette->text);
    }
}

static void
dark_changed_cb (LnsFlameGraph *self)
{
  g_clear_pointer (&self->picture, gsk_render_node_unref);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* --- Zoom and focus ----------------------------------------------------------------------------- */

static void
set_focus (LnsFlameGraph *self, uint32_t branch)
{
  self->focus = branch;
  if (branch != LNS_ID_NONE && branch != 0)
    {
      const LnsCallBranch *it = branch_at (self, branch);
      g_autofree char *text = lns_functions_describe (self->functions, it->function, it->count);
      gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                      text, -1);
    }
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* Scrolls what holds the widget until BAR is in view. */
static void
scroll_to (LnsFlameGraph *self, const Bar *bar)
{
  GtkWidget *port = gtk_widget_get_ancestor (GTK_WIDGET (self), GTK_TYPE_VIEWPORT);
  const double y_px = top_px (self, bar->row);

  if (port != NULL)
    gtk_adjustment_clamp_page (gtk_scrollable_get_vadjustment (GTK_SCROLLABLE (port)), y_px,
                               y_px + self->row_px);
}

static void
set_zoom (LnsFlameGraph *self, uint32_t branch)
{
  self->zoom = branch;
  change (self);
  g_signal_emit_by_name (self, "zoomed");
}

static void
zoom_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LnsFlameGraph *self = LNS_FLAME_GRAPH (widget);

  if (self->sums == NULL)
    return;
  if (g_str_equal (name, "flame.zoom-all"))
    set_zoom (self, 0);
  else if (g_str_equal (name, "flame.zoom-out"))
    set_zoom (self, self->zoom != 0 ? branch_at (self, self->zoom)->parent : 0);
  else if (self->focus != LNS_ID_NONE)
    set_zoom (self, self->focus);
}

/* The bar that the key goes to from the one with the focus, or NULL. */
static const Bar *
neighbour (LnsFlameGraph *self, const Bar *from, gboolean is_out, gboolean is_in, int side)
{
  const LnsCallBranch *branch = branch_at (self, from->branch);

  if (is_out)
    return from->branch != 0 ? bar_of (self, branch->parent) : NULL;
  if (is_in)
    return branch->is_grown && branch->n_below > 0 ? bar_of (self, branch->first_below) : NULL;
  if (from->branch == 0)
    return NULL;
  const LnsCallBranch *above = branch_at (self, branch->parent);
  const int64_t at = (int64_t)from->branch + side;
  return at >= above->first_below && at < (int64_t)above->first_below + above->n_below
             ? bar_of (self, (uint32_t)at)
             : NULL;
}

static gboolean
key_cb (GtkEventControllerKey *controller,
        guint key,
        guint code,
        GdkModifierType state,
        LnsFlameGraph *self)
{
  const gboolean is_up = key == GDK_KEY_Up || key == GDK_KEY_KP_Up;
  const gboolean is_down = key == GDK_KEY_Down || key == GDK_KEY_KP_Down;
  const int side = key == GDK_KEY_Left || key == GDK_KEY_KP_Left     ? -1
                   : key == GDK_KEY_Right || key == GDK_KEY_KP_Right ? 1
                                                                     : 0;

  if (self->bars.n == 0 || !(is_up || is_down || side != 0) ||
      (state & gtk_accelerator_get_default_mod_mask ()) != 0)
    return GDK_EVENT_PROPAGATE;
  const Bar *from = self->focus != LNS_ID_NONE ? bar_of (self, self->focus) : NULL;
  const Bar *to = from == NULL ? &self->bars.items[0]
                               : neighbour (self, from, self->is_upwards ? is_down : is_up,
                                            self->is_upwards ? is_up : is_down, side);
  if (to != NULL)
    {
      set_focus (self, to->branch);
      scroll_to (self, to);
    }
  return GDK_EVENT_STOP;
}

/* --- Pointer ----------------------------------------------------------------------------------- */

static void
click_cb (GtkGestureClick *gesture, int n_presses, double x, double y, LnsFlameGraph *self)
{
  const Bar *bar = bar_at (self, x, y);

  gtk_widget_grab_focus (GTK_WIDGET (self));
  if (bar == NULL || bar->n_left_out > 0)
    return;
  const uint32_t branch = bar->branch;
  set_focus (self, branch);
  if (n_presses == 1)
    set_zoom (self, branch);
  else if (n_presses == 2)
    lns_functions_show_next (self->functions, self->sums->down, branch);
}

static void
menu_cb (GtkGestureClick *gesture, int n_presses, double x, double y, LnsFlameGraph *self)
{
  const Bar *bar = bar_at (self, x, y);

  gtk_widget_grab_focus (GTK_WIDGET (self));
  if (bar == NULL || bar->n_left_out > 0)
    return;
  set_focus (self, bar->branch);
  lns_context_menu_open (GTK_WIDGET (self), GTK_WIDGET (self), self->menu, (int)x, (int)y);
}

static void
hover (LnsFlameGraph *self, uint32_t branch)
{
  if (self->hovered == branch)
    return;
  self->hovered = branch;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
motion_cb (GtkEventControllerMotion *controller, double x, double y, LnsFlameGraph *self)
{
  const Bar *bar = bar_at (self, x, y);

  hover (self, bar != NULL && bar->n_left_out == 0 ? bar->branch : LNS_ID_NONE);
}

static void
leave_cb (GtkEventControllerMotion *controller, LnsFlameGraph *self)
{
  hover (self, LNS_ID_NONE);
}

static gboolean
lns_flame_graph_query_tooltip (
    GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip)
{
  LnsFlameGraph *self = LNS_FLAME_GRAPH (widget);
  const Bar *bar = keyboard ? (self->focus != LNS_ID_NONE ? bar_of (self, self->focus) : NULL)
                            : bar_at (self, x, y);
  g_autofree char *text = NULL;
  char number[LNS_FORMAT_SIZE];

  if (bar == NULL)
    return FALSE;
  const LnsCallBranch *branch = branch_at (self, bar->branch);
  if (bar->n_left_out > 0)
    {
      g_autofree char *share = lns_functions_share (self->functions, bar->n_samples);
      /* Translators: a number of bars, and their share: "12 bars that are too narrow: 0.4 %" */
      text = g_strdup_printf (ngettext ("%s bar that is too narrow: %s",
                                        "%s bars that are too narrow: %s", bar->n_left_out),
                              lns_format_unsigned (bar->n_left_out, number), share);
    }
  else if (bar->branch == 0)
    text = text_of (self, bar);
  else
    text = lns_functions_describe (self->functions, branch->function, branch->count);
  g_autofree char *cut = lns_display_cut (text);
  gtk_tooltip_set_text (tooltip, cut);
  gtk_tooltip_set_tip_area (tooltip, &(GdkRectangle){ (int)bar->x_px, (int)top_px (self, bar->row),
                                                      (int)bar->width_px, self->row_px });
  return TRUE;
}

/* --- Actions ---------------------------------------------------------------------------------- */

static void
show_next_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LnsFlameGraph *self = LNS_FLAME_GRAPH (widget);

  if (self->focus != LNS_ID_NONE)
    lns_functions_show_next (self->functions, self->sums->down, self->focus);
}

static void
copy_name_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LnsFlameGraph *self = LNS_FLAME_GRAPH (widget);

  if (self->focus == LNS_ID_NONE || self->focus == 0)
    return;
  g_autofree char *text =
      lns_functions_name (self->functions, branch_at (self, self->focus)->function);
  gdk_clipboard_set_text (gtk_widget_get_clipboard (widget), text);
}

/* --- Life ----------------------------------------------------------------------------------- */

/* The branch of TO with the functions of BRANCH of FROM, or the last one on the way there. Sets RET_IS_SAME. */
static uint32_t
same_branch (const LnsCallBranches *from,
             uint32_t branch,
             LnsCallBranches *to,
             gboolean *ret_is_same)
{
  g_autoptr (GArray) path = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  uint32_t at = 0;

  *ret_is_same = from->tree == to->tree && from->is_by_module == to->is_by_module;
  for (; branch != 0; branch = from->branches.items[branch].parent)
    g_array_append_val (path, from->branches.items[branch].function);
  for (guint i = path->len; i > 0 && *ret_is_same; i--)
    {
      const LnsCallBranch above = *lns_call_branches_grow (to, at);
      *ret_is_same = FALSE;
      for (uint32_t j = 0; j < above.n_below && !*ret_is_same; j++)
        if (to->branches.items[above.first_below + j].function ==
            g_array_index (path, uint32_t, i - 1))
          {
            at = above.first_below + j;
            *ret_is_same = TRUE;
          }
    }
  return at;
}

static void
changed_cb (LnsFunctions *functions, LnsFlameGraph *self)
{
  LnsFunctionSums *sums = lns_functions_get_sums (functions), *old = self->sums;
  gboolean is_same;

  if (sums == NULL || sums == old)
    return;
  self->sums = lns_function_sums_ref (sums);
  if (old != NULL)
    {
      self->zoom = same_branch (old->down, self->zoom, sums->down, &is_same);
      if (self->focus != LNS_ID_NONE)
        {
          self->focus = same_branch (old->down, self->focus, sums->down, &is_same);
          self->focus = is_same ? self->focus : LNS_ID_NONE;
        }
    }
  lns_function_sums_unref (old);
  change (self);
  g_signal_emit_by_name (self, "zoomed");
}

/* Adds BRANCH, which is called TEXT, to MARKUP: as a link unless it is shown. */
static void
add_crumb (LnsFlameGraph *self, GString *markup, uint32_t branch, const char *text)
{
  g_autofree char *escaped = g_markup_escape_text (text, -1);

  g_string_append (markup, markup->len > 0 ? " › " : "");
  if (branch == self->zoom)
    g_string_append_printf (markup, "<b>%s</b>", escaped);
  else
    g_string_append_printf (markup, "<a href=\"%u\">%s</a>", branch, escaped);
}

char *
lns_flame_graph_crumbs (LnsFlameGraph *self)
{
  uint32_t path[MAX_CRUMBS], n = 0;

  if (self->sums == NULL || self->zoom == 0)
    return NULL;
  GString *markup = g_string_new (NULL);
  add_crumb (self, markup, 0, _ ("All"));
  uint32_t branch = self->zoom;
  for (; branch != 0 && n < MAX_CRUMBS; branch = branch_at (self, branch)->parent)
    path[n++] = branch;
  if (branch != 0)
    g_string_append (markup, " › …");
  while (n-- > 0)
    {
      g_autofree char *name =
          lns_functions_name (self->functions, branch_at (self, path[n])->function);
      g_autofree char *cut = lns_display_cut (name);
      add_crumb (self, markup, path[n], cut);
    }
  g_autofree char *share =
      lns_functions_share (self->functions, branch_at (self, self->zoom)->count.total);
  /* Translators: a share of all samples */
  g_autofree char *words = g_strdup_printf (_ ("%s of all"), share);
  g_string_append_printf (markup, "   %s", words);
  return g_string_free (markup, FALSE);
}

void
lns_flame_graph_show (LnsFlameGraph *self, uint32_t branch)
{
  if (self->sums != NULL && branch < self->sums->down->branches.n)
    set_zoom (self, branch);
}

void
lns_flame_graph_set_upwards (LnsFlameGraph *self, gboolean is_upwards)
{
  self->is_upwards = is_upwards;
  change (self);
}

double
lns_flame_graph_get_fork_px (LnsFlameGraph *self)
{
  uint32_t fork = 0;

  for (size_t i = 0; i < self->bars.n; i++)
    if (self->bars.items[i].width_px >= FORK_SHARE * self->width_px)
      fork = MAX (fork, self->bars.items[i].row);
  return self->bars.n > 0 ? (double)(fork - MIN (fork, CALLERS_OF_FORK)) * self->row_px : -1;
}

uint32_t
lns_flame_graph_function_at (LnsFlameGraph *self, double x_px, double y_px)
{
  const Bar *bar = bar_at (self, x_px, y_px);

  return bar != NULL && bar->n_left_out == 0 ? branch_at (self, bar->branch)->function
                                             : LNS_ID_NONE;
}

uint32_t
lns_flame_graph_get_zoom (LnsFlameGraph *self)
{
  return self->zoom;
}

GtkWidget *
lns_flame_graph_new (LnsFunctions *functions, GMenuModel *menu)
{
  LnsFlameGraph *self = g_object_new (LNS_TYPE_FLAME_GRAPH, NULL);

  self->functions = g_object_ref (functions);
  self->menu = g_object_ref (menu);
  g_signal_connect_object (functions, "changed", G_CALLBACK (changed_cb), self, 0);
  changed_cb (functions, self);
  return GTK_WIDGET (self);
}

/* The font may have changed. */
static void
lns_flame_graph_css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  LnsFlameGraph *self = LNS_FLAME_GRAPH (widget);

  GTK_WIDGET_CLASS (lns_flame_graph_parent_class)->css_changed (widget, change);
  fit_rows (self);
  g_clear_pointer (&self->picture, gsk_render_node_unref);
  gtk_widget_queue_resize (widget);
}

static void
lns_flame_graph_unmap (GtkWidget *widget)
{
  lns_context_menu_close (widget);
  GTK_WIDGET_CLASS (lns_flame_graph_parent_class)->unmap (widget);
}

static void
lns_flame_graph_finalize (GObject *object)
{
  LnsFlameGraph *self = LNS_FLAME_GRAPH (object);

  lns_array_clear (&self->bars);
  g_clear_pointer (&self->picture, gsk_render_node_unref);
  lns_function_sums_unref (self->sums);
  g_clear_object (&self->menu);
  g_clear_object (&self->functions);
  G_OBJECT_CLASS (lns_flame_graph_parent_class)->finalize (object);
}

static void
lns_flame_graph_class_init (LnsFlameGraphClass *klass)
{
  g_signal_new ("zoomed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                G_TYPE_NONE, 0);
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->finalize = lns_flame_graph_finalize;
  widget_class->css_changed = lns_flame_graph_css_changed;
  widget_class->measure = lns_flame_graph_measure;
  widget_class->size_allocate = lns_flame_graph_size_allocate;
  widget_class->unmap = lns_flame_graph_unmap;
  widget_class->snapshot = lns_flame_graph_snapshot;
  widget_class->query_tooltip = lns_flame_graph_query_tooltip;
  gtk_widget_class_install_action (widget_class, "functions.show-next", NULL, show_next_cb);
  gtk_widget_class_install_action (widget_class, "functions.copy-name", NULL, copy_name_cb);
  gtk_widget_class_install_action (widget_class, "flame.zoom-in", NULL, zoom_cb);
  gtk_widget_class_install_action (widget_class, "flame.zoom-out", NULL, zoom_cb);
  gtk_widget_class_install_action (widget_class, "flame.zoom-all", NULL, zoom_cb);
  lns_shortcuts_add_to_class (widget_class, "functions.");
  lns_shortcuts_add_to_class (widget_class, "flame.");
  gtk_widget_class_set_css_name (widget_class, "flamegraph");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
lns_flame_graph_init (LnsFlameGraph *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  GtkGesture *click = gtk_gesture_click_new (), *menu = gtk_gesture_click_new ();
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkEventController *keys = gtk_event_controller_key_new ();

  self->focus = self->hovered = LNS_ID_NONE;
  self->width_px = -1;
  fit_rows (self);
  gtk_widget_set_focusable (widget, TRUE);
  gtk_widget_set_has_tooltip (widget, TRUE);
  gtk_widget_set_overflow (widget, GTK_OVERFLOW_HIDDEN);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Flame graph"), -1);
  g_signal_connect (click, "pressed", G_CALLBACK (click_cb), self);
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (menu), GDK_BUTTON_SECONDARY);
  g_signal_connect (menu, "pressed", G_CALLBACK (menu_cb), self);
  g_signal_connect (motion, "motion", G_CALLBACK (motion_cb), self);
  g_signal_connect (motion, "leave", G_CALLBACK (leave_cb), self);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (key_cb), self);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (click));
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (menu));
  gtk_widget_add_controller (widget, motion);
  gtk_widget_add_controller (widget, keys);
  lns_theme_connect (G_CALLBACK (dark_changed_cb), self);
}
