/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/critical-strip.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "src/base/format.h"
#include "ui/model/display-text.h"
#include "ui/model/event-text.h"
#include "ui/model/lane-look.h"
#include "ui/model/palette.h"
#include "ui/model/theme.h"

#define PAD_PX        4 /* beside names */
#define LINE_PX       2 /* a lane is so much higher than its text … */
#define GAP_PX        1 /* … with so much between two */
#define LEAST_NAME_PX 28
#define FAINT_ALPHA   0.35F /* of the path beside the selected time */
#define HATCH_PX      6
#define HOP_ALPHA     0.4F /* of the lines between lanes */
#define LEAST_HOP_PX  3    /* narrower links have none beside them */

#define N_LANES 2 /* GPUs, threads */

struct _LnsCriticalStrip
{
  GtkWidget parent_instance;

  LnsView *view;         /* owned, or NULL */
  LnsCritical *critical; /* owned, or NULL */
  LnsHues *hues;         /* a reference, or NULL */
  PangoLayout *layout;   /* owned, or NULL */
  int line_px;
  gboolean is_shown; /* as the person asked for     */
  gboolean wants;    /* and it is on the screen     */
};

G_DEFINE_FINAL_TYPE (LnsCriticalStrip, lns_critical_strip, GTK_TYPE_WIDGET)

static const LnsGraphLabel *
label_of (const LnsCriticalPath *path, const LnsPathLink *link)
{
  return &path->graph->labels.items[link->label];
}

/* The lane of LABEL. */
static int
lane_of (const LnsCriticalPath *path, const LnsGraphLabel *label)
{
  return path->graph->agents.items[label->agent].thread == LNS_ID_NONE ? 0 : 1;
}

/* The path that is shown at TIME_NS: that of the time that panes speak of in it, and elsewhere that of the run. */
static const LnsCriticalPath *
path_at (LnsCriticalStrip *self, int64_t time_ns)
{
  const LnsCriticalPath *part = lns_critical_get_path (self->critical);

  return part->path.start_ns <= time_ns && time_ns < part->path.end_ns
             ? part
             : lns_critical_get_whole (self->critical);
}

const LnsPathLink *
lns_critical_strip_at (LnsCriticalStrip *self, double x_px, const LnsCriticalPath **ret_path)
{
  const LnsScale *scale = lns_view_get_scale (self->view);
  const int64_t px = scale->first_px + (int64_t)floor (x_px),
                start_ns = lns_scale_time_of (scale, px),
                end_ns = MAX (start_ns, lns_scale_time_of (scale, px + 1) - 1);

  if (lns_critical_get_whole (self->critical) == NULL)
    return NULL;
  *ret_path = path_at (self, start_ns);
  return lns_critical_longest_between (self->critical, *ret_path, start_ns, end_ns);
}

/* --- The picture ------------------------------------------------------------------------------ */

/* The colour of LABEL's pieces: that which its event has in its row. */
static uint32_t
color_of (LnsCriticalStrip *self, const LnsPalette *palette, const LnsGraphLabel *label)
{
  const char *name = lns_critical_path_name (lns_view_get_report (self->view), label);
  size_t size = strlen (name);
  unsigned hue;

  switch (label->kind)
    {
    case LNS_PIECE_RUN:
    case LNS_PIECE_HOST:
      return palette->running;
    case LNS_PIECE_NO_CPU:
      return palette->runnable;
    case LNS_PIECE_CALL:
    case LNS_PIECE_SYNC:
      if (lns_lane_find_hue (LNS_LANE_CUDA_API, name, size, &hue))
        return lns_palette_color (palette, 0, hue);
      break;
    case LNS_PIECE_COPY:
    case LNS_PIECE_SET:
      if (lns_lane_find_hue (LNS_LANE_CUDA_MEMCPY, name, size, &hue))
        return lns_palette_color (palette, 0, hue);
      break;
    case LNS_PIECE_KERNEL:
      name = lns_event_short_name (LNS_NAMES_KERNELS, name, &size);
      break;
    case LNS_PIECE_GRAPH:
    case LNS_PIECE_MPI:
      break;
    default:
      return palette->blocked;
    }
  return lns_palette_color (palette, 0,
                            self->hues != NULL ? lns_hues_get (self->hues, name, size) : 0);
}

/* Whether nobody knows what LINK was. */
static gboolean
is_hatched (const LnsGraphLabel *label, const LnsPathLink *link)
{
  return link->is_unknown || label->kind == LNS_PIECE_UNKNOWN || label->kind == LNS_PIECE_JOIN;
}

/* Some pixels in which one link is the longest. */
typedef struct
{
  const LnsCriticalPath *path;
  const LnsPathLink *link;
  float x_px, width_px;
} Run;

static void
fill (GtkSnapshot *snapshot, GdkRGBA color, const graphene_rect_t *area)
{
  gtk_snapshot_append_color (snapshot, &color, area);
}

static void
snapshot_hatch (GtkSnapshot *snapshot, GdkRGBA color, const graphene_rect_t *area)
{
  const GdkRGBA none = { color.red, color.green, color.blue, 0 };
  const GskColorStop stops[] = { { 0, color }, { 0.3F, color }, { 0.3F, none }, { 1, none } };

  gtk_snapshot_append_repeating_linear_gradient (snapshot, area, &GRAPHENE_POINT_INIT (0, 0),
                                                 &GRAPHENE_POINT_INIT (HATCH_PX, HATCH_PX), stops,
                                                 G_N_ELEMENTS (stops));
}

/* What is written onto RUN: what it is, or, of a thread that runs, in which function. Free with g_free (). */
static char *
bar_text (LnsCriticalStrip *self, const Run *run)
{
  const LnsGraphLabel *label = label_of (run->path, run->link);
  const uint32_t function = label->kind == LNS_PIECE_RUN && label->name == 0
                                ? lns_critical_function_in (self->critical, run->path, run->link)
                                : 0;

  return function != 0 ? lns_event_text_string (lns_view_get_report (self->view), function, TRUE)
                       : lns_critical_what (self->critical, run->path, run->link->label, TRUE);
}

/* Writes what RUN's link is onto AREA, as far as there is room. */
static void
snapshot_name (LnsCriticalStrip *self,
               GtkSnapshot *snapshot,
               const Run *run,
               const graphene_rect_t *area,
               GdkRGBA color)
{
  /* What began out of view is named where it is in view. */
  const float left_px = MAX (area->origin.x, 0),
              right_px = MIN (area->origin.x + area->size.width,
                              (float)gtk_widget_get_width (GTK_WIDGET (self)));
  g_autofree char *what = NULL, *cut = NULL;

  if (right_px - left_px < LEAST_NAME_PX)
    return;
  what = bar_text (self, run);
  cut = lns_display_cut (what);
  pango_layout_set_text (self->layout, cut, -1);
  pango_layout_set_width (self->layout, (int)(right_px - left_px - 2 * PAD_PX) * PANGO_SCALE);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (left_px + PAD_PX, area->origin.y));
  gtk_snapshot_append_layout (snapshot, self->layout, &color);
  gtk_snapshot_restore (snapshot);
}

static float
lane_top_px (LnsCriticalStrip *self, int lane)
{
  return (float)(GAP_PX + lane * (self->line_px + LINE_PX + GAP_PX));
}

static void
snapshot_run (LnsCriticalStrip *self, GtkSnapshot *snapshot, const Run *run, gboolean is_faint)
{
  const LnsPalette *palette = lns_palette_get (lns_theme_now ());
  const LnsGraphLabel *label = label_of (run->path, run->link);
  const float height_px = (float)(self->line_px + LINE_PX),
              space_px = run->width_px > 2 * LEAST_HOP_PX ? 1 : 0; /* between bars */
  const graphene_rect_t area =
      GRAPHENE_RECT_INIT (run->x_px, lane_top_px (self, lane_of (run->path, label)),
                          run->width_px - space_px, height_px);
  const gboolean is_blank = is_hatched (label, run->link);
  const uint32_t color = is_blank ? palette->blocked : color_of (self, palette, label);
  LnsPathLink current;

  fill (snapshot, lns_palette_rgba (color, is_faint ? FAINT_ALPHA : 1), &area);
  if (is_blank && run->width_px >= HATCH_PX)
    snapshot_hatch (snapshot, lns_palette_rgba (palette->blocked_edge, is_faint ? 0.2F : 0.4F),
                    &area);
  else if (color == palette->blocked)
    fill (snapshot, lns_palette_rgba (palette->blocked_edge, is_faint ? FAINT_ALPHA : 1),
          &GRAPHENE_RECT_INIT (area.origin.x, area.origin.y + height_px - 1, area.size.width, 1));
  if (!is_faint)
    snapshot_name (self, snapshot, run, &area, lns_palette_rgba (lns_palette_text_on (color), 1));
  if (lns_critical_get_current (self->critical, &current) &&
      current.start_ns == run->link->start_ns && current.label == run->link->label)
    {
      const GdkRGBA accent = lns_palette_rgba (palette->accent, 1);
      GskRoundedRect outline;
      gsk_rounded_rect_init_from_rect (
          &outline,
          &GRAPHENE_RECT_INIT (area.origin.x, area.origin.y, MAX (area.size.width, 4), height_px),
          0);
      gtk_snapshot_append_border (snapshot, &outline, (float[]){ 2, 2, 2, 2 },
                                  (GdkRGBA[]){ accent, accent, accent, accent });
    }
}

/* A line from where the path leaves the lane of BEFORE to where it goes on in that of RUN. */
static void
snapshot_hop (LnsCriticalStrip *self, GtkSnapshot *snapshot, const Run *before, const Run *run)
{
  const LnsPalette *palette = lns_palette_get (lns_theme_now ());
  const float top_px = lane_top_px (self, 0),
              bottom_px = lane_top_px (self, 1) + (float)(self->line_px + LINE_PX);

  if (before->width_px >= LEAST_HOP_PX && run->width_px >= LEAST_HOP_PX &&
      lane_of (before->path, label_of (before->path, before->link)) !=
          lane_of (run->path, label_of (run->path, run->link)))
    fill (snapshot, lns_palette_rgba (palette->text, HOP_ALPHA),
          &GRAPHENE_RECT_INIT (run->x_px - 1, top_px, 1, bottom_px - top_px));
}

/* Shows what RUN, a pixel whose links are too narrow to be told apart, is in: bars as high as the time that they take. */
static void
snapshot_narrow (LnsCriticalStrip *self, GtkSnapshot *snapshot, const Run *run, gboolean is_faint)
{
  const LnsScale *scale = lns_view_get_scale (self->view);
  const LnsPalette *palette = lns_palette_get (lns_theme_now ());
  const int64_t px = scale->first_px + (int64_t)run->x_px, start_ns = lns_scale_time_of (scale, px),
                end_ns = lns_scale_time_of (scale, px + 1);
  int64_t ns[N_LANES];

  lns_critical_work_between (self->critical, run->path, start_ns, end_ns, &ns[0], &ns[1]);
  for (int lane = 0; lane < N_LANES; lane++)
    {
      const double share = (double)ns[lane] / (double)MAX (end_ns - start_ns, 1);
      const float high_px = (float)ceil (CLAMP (share, 0, 1) * (self->line_px + LINE_PX));
      if (high_px > 0)
        fill (snapshot,
              lns_palette_rgba (lane == 0 ? palette->coverage : palette->running,
                                is_faint ? FAINT_ALPHA : 1),
              &GRAPHENE_RECT_INIT (
                  run->x_px, lane_top_px (self, lane) + (float)(self->line_px + LINE_PX) - high_px,
                  1, high_px));
    }
}

static void
snapshot_path (LnsCriticalStrip *self, GtkSnapshot *snapshot)
{
  const LnsCriticalPath *whole = lns_critical_get_whole (self->critical);
  const int n_px = gtk_widget_get_width (GTK_WIDGET (self));
  const gboolean has_part = lns_critical_get_path (self->critical) != whole;
  const double ns_per_px = lns_scale_ns_per_px (lns_view_get_scale (self->view));
  Run run = { 0 }, before = { 0 };

  for (int x = 0; x <= n_px; x++)
    {
      const LnsCriticalPath *path = NULL;
      const LnsPathLink *link = x < n_px ? lns_critical_strip_at (self, x, &path) : NULL;
      if (link != NULL && link == run.link)
        {
          run.width_px++;
          continue;
        }
      const gboolean is_narrow =
          run.link != NULL && (double)(run.link->end_ns - run.link->start_ns) < ns_per_px;
      if (is_narrow)
        for (; run.width_px > 0; run.x_px++, run.width_px--)
          snapshot_narrow (self, snapshot, &run, has_part && run.path == whole);
      else if (run.link != NULL)
        {
          snapshot_run (self, snapshot, &run, has_part && run.path == whole);
          if (before.link != NULL)
            snapshot_hop (self, snapshot, &before, &run);
        }
      before = is_narrow ? (Run){ 0 } : run;
      run = (Run){ path, link, (float)x, 1 };
    }
}

/* What there is to say in place of a path, or NULL. Free with g_free (). */
static char *
excuse_of (LnsCriticalStrip *self)
{
  g_autofree char *excuse = lns_critical_get_excuse (self->critical);
  const LnsCriticalPath *whole = lns_critical_get_whole (self->critical);

  if (lns_critical_get_state (self->critical) == LNS_CRITICAL_UNASKED)
    return g_strdup_printf ("%s %s", excuse, _ ("Click to find it."));
  if (whole != NULL && whole->path.links.n == 0)
    return lns_critical_get_sentence (self->critical, whole);
  return g_steal_pointer (&excuse);
}

static void
lns_critical_strip_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LnsCriticalStrip *self = LNS_CRITICAL_STRIP (widget);
  const LnsPalette *palette = lns_palette_get (lns_theme_now ());
  const float width_px = (float)gtk_widget_get_width (widget),
              height_px = (float)gtk_widget_get_height (widget);

  if (self->critical == NULL || !self->is_shown || self->layout == NULL)
    return;
  fill (snapshot, lns_palette_rgba (palette->background[0], 1),
        &GRAPHENE_RECT_INIT (0, 0, width_px, height_px));
  g_autofree char *excuse = excuse_of (self);
  if (excuse == NULL)
    {
      snapshot_path (self, snapshot);
      return;
    }
  const GdkRGBA text = lns_palette_rgba (palette->text, 0.8F);
  pango_layout_set_text (self->layout, excuse, -1);
  pango_layout_set_width (self->layout, (int)(width_px - 2 * PAD_PX) * PANGO_SCALE);
  gtk_snapshot_translate (
      snapshot, &GRAPHENE_POINT_INIT (2 * PAD_PX, (height_px - (float)self->line_px) / 2));
  gtk_snapshot_append_layout (snapshot, self->layout, &text);
}

static void
lns_critical_strip_measure (GtkWidget *widget,
                            GtkOrientation orientation,
                            int for_size,
                            int *minimum,
                            int *natural,
                            int *minimum_baseline,
                            int *natural_baseline)
{
  LnsCriticalStrip *self = LNS_CRITICAL_STRIP (widget);

  if (self->layout == NULL)
    {
      self->layout = gtk_widget_create_pango_layout (widget, "X");
      pango_layout_set_ellipsize (self->layout, PANGO_ELLIPSIZE_END);
      pango_layout_set_single_paragraph_mode (self->layout, TRUE);
      pango_layout_get_pixel_size (self->layout, NULL, &self->line_px);
    }
  *minimum = *natural = orientation == GTK_ORIENTATION_VERTICAL && self->is_shown
                            ? N_LANES * (self->line_px + LINE_PX + GAP_PX) + GAP_PX + 1
                            : 0;
}

/* --- Words ------------------------------------------------------------------------------------ */

char *
lns_critical_strip_get_text (LnsCriticalStrip *self)
{
  const LnsCriticalPath *path =
      self->critical != NULL ? lns_critical_get_path (self->critical) : NULL;
  int64_t gpu_ns, thread_ns;

  if (path == NULL || path->path.end_ns <= path->path.start_ns)
    return g_strdup (_ ("Critical path"));
  lns_critical_path_shares (path, &gpu_ns, &thread_ns);
  const double all_ns = (double)(path->path.end_ns - path->path.start_ns);
  const double gpu_share = 100 * (double)gpu_ns / all_ns,
               thread_share = 100 * (double)thread_ns / all_ns;
  /* Translators: two lines; which shares of the critical path GPUs and threads have */
  return path == lns_critical_get_whole (self->critical)
             ? g_strdup_printf (_ ("Critical path: %.0f %% on GPUs\n%.0f %% in threads"), gpu_share,
                                thread_share)
             : g_strdup_printf (_ ("Path of this time: %.0f %% on GPUs\n%.0f %% in threads"),
                                gpu_share, thread_share);
}

/* LINK of PATH in words, a line for each thing. Free with g_free (). */
static char *
link_text (LnsCriticalStrip *self, const LnsCriticalPath *path, const LnsPathLink *link)
{
  char duration[LNS_FORMAT_SIZE], start[LNS_FORMAT_SIZE];
  const int64_t ns = link->end_ns - link->start_ns;
  g_autofree char *whole = lns_critical_what (self->critical, path, link->label, FALSE),
                  *what = lns_display_cut (whole),
                  *who = lns_critical_who (self->critical, path, link->label);
  const char *doubt = lns_critical_doubt (link);
  const uint32_t function = lns_critical_function_in (self->critical, path, link);
  g_autofree char *name = lns_event_text_string (lns_view_get_report (self->view), function, TRUE);
  /* Translators: the function in which a thread was most of the time */
  g_autofree char *mostly = g_strdup_printf (_ ("mostly in %s"), name);

  lns_format_duration (ns, duration);
  lns_format_duration (link->start_ns, start);
  /* Translators: how long something is on the critical path, its share of it, and when it began */
  g_autofree char *times = g_strdup_printf (
      _ ("%s, %.2g %% of the critical path, from %s on"), duration,
      100 * (double)ns / (double)MAX (path->path.end_ns - path->path.start_ns, 1), start);
  g_autofree char *text = g_strjoin ("\n", what, who, times, doubt, NULL);
  return function != 0 ? g_strjoin ("\n", text, mostly, NULL) : g_steal_pointer (&text);
}

static gboolean
query_tooltip_cb (LnsCriticalStrip *self, int x, int y, gboolean keyboard, GtkTooltip *tooltip)
{
  const LnsCriticalPath *path;
  const LnsPathLink *link =
      self->critical != NULL && !keyboard ? lns_critical_strip_at (self, x, &path) : NULL;

  if (link == NULL)
    return FALSE;
  g_autofree char *text = link_text (self, path, link);
  gtk_tooltip_set_text (tooltip, text);
  return TRUE;
}

/* Tells assistive technology what the path is, and where on it somebody went. */
static void
describe (LnsCriticalStrip *self)
{
  const LnsCriticalPath *path = lns_critical_get_path (self->critical);
  g_autofree char *excuse = excuse_of (self), *sentence = NULL, *at = NULL;
  LnsPathLink current;

  if (path != NULL && path->path.links.n > 0)
    sentence = lns_critical_get_sentence (self->critical, path);
  if (path != NULL && lns_critical_get_current (self->critical, &current))
    at = link_text (self, path, &current);
  g_autofree char *all = g_strjoin (at != NULL ? "\n" : "", at != NULL ? at : "",
                                    sentence != NULL ? sentence : excuse, NULL);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, all,
                                  -1);
}

/* --- Life ------------------------------------------------------------------------------------- */

static void
clicked_cb (GtkGestureClick *gesture, int n_press, double x, double y, LnsCriticalStrip *self)
{
  const LnsCriticalPath *path;

  lns_critical_ask (self->critical);
  const LnsPathLink *link = lns_critical_strip_at (self, x, &path);
  if (link != NULL)
    lns_critical_go (self->critical, path, link);
}

static void
changed_cb (LnsCriticalStrip *self)
{
  if (!self->is_shown)
    return;
  describe (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
lns_critical_strip_set_view (LnsCriticalStrip *self, LnsView *view)
{
  g_return_if_fail (self->view == NULL);
  self->view = g_object_ref (view);
  self->critical = lns_critical_of (view);
  g_signal_connect_object (view, "span-changed", G_CALLBACK (gtk_widget_queue_draw), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (view, "time-selection-changed", G_CALLBACK (gtk_widget_queue_draw), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->critical, "changed", G_CALLBACK (changed_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->critical, "went", G_CALLBACK (changed_cb), self,
                           G_CONNECT_SWAPPED);
  lns_theme_connect (G_CALLBACK (gtk_widget_queue_draw), self);
}

void
lns_critical_strip_set_hues (LnsCriticalStrip *self, LnsHues *hues)
{
  g_hash_table_ref (hues);
  g_clear_pointer (&self->hues, g_hash_table_unref);
  self->hues = hues;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* Wants the path while people can see it, and not in a tab that is not selected. */
static void
update_want (LnsCriticalStrip *self)
{
  const gboolean wants = self->is_shown && gtk_widget_get_mapped (GTK_WIDGET (self));

  if (self->wants == wants)
    return;
  self->wants = wants;
  if (wants)
    lns_critical_want (self->critical);
  else
    lns_critical_leave (self->critical);
}

void
lns_critical_strip_set_shown (LnsCriticalStrip *self, gboolean is_shown)
{
  if (self->is_shown == is_shown)
    return;
  self->is_shown = is_shown;
  update_want (self);
  if (is_shown)
    changed_cb (self);
  gtk_widget_queue_resize (GTK_WIDGET (self));
}

static void
lns_critical_strip_map (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (lns_critical_strip_parent_class)->map (widget);
  update_want (LNS_CRITICAL_STRIP (widget));
}

static void
lns_critical_strip_unmap (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (lns_critical_strip_parent_class)->unmap (widget);
  update_want (LNS_CRITICAL_STRIP (widget));
}

static void
lns_critical_strip_css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  GTK_WIDGET_CLASS (lns_critical_strip_parent_class)->css_changed (widget, change);
  g_clear_object (&LNS_CRITICAL_STRIP (widget)->layout);
  gtk_widget_queue_resize (widget);
}

static void
lns_critical_strip_dispose (GObject *object)
{
  LnsCriticalStrip *self = LNS_CRITICAL_STRIP (object);

  g_clear_object (&self->layout);
  g_clear_pointer (&self->hues, g_hash_table_unref);
  g_clear_object (&self->critical);
  g_clear_object (&self->view);
  G_OBJECT_CLASS (lns_critical_strip_parent_class)->dispose (object);
}

static void
lns_critical_strip_class_init (LnsCriticalStripClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = lns_critical_strip_dispose;
  widget_class->map = lns_critical_strip_map;
  widget_class->unmap = lns_critical_strip_unmap;
  widget_class->snapshot = lns_critical_strip_snapshot;
  widget_class->measure = lns_critical_strip_measure;
  widget_class->css_changed = lns_critical_strip_css_changed;
  gtk_widget_class_set_css_name (widget_class, "criticalstrip");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
lns_critical_strip_init (LnsCriticalStrip *self)
{
  GtkGesture *click = gtk_gesture_click_new ();

  g_signal_connect (click, "released", G_CALLBACK (clicked_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
  g_signal_connect (self, "query-tooltip", G_CALLBACK (query_tooltip_cb), NULL);
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
}
