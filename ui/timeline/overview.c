/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/overview.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>

#include "ui/model/answer.h"
#include "ui/model/bookmarks.h"
#include "ui/model/job.h"
#include "ui/model/pair.h"
#include "ui/model/summary.h"
#include "ui/model/theme.h"
#include "ui/tiles/tile-raster.h"
#include "ui/timeline/step-bars.h"

#define HEIGHT_PX     36
#define CHART_PX      28
#define MIN_WINDOW_PX 3
#define DIM_ALPHA     0.62f
#define BOOKMARK_PX   10 /* the height of one */
#define CLICK_PX      3  /* the pointer moves no more in a click */
#define MARKS_PX      4  /* height of the lane of a finding's places */

struct _LnsOverview
{
  GtkWidget parent_instance;

  LnsView *view;           /* owned, or NULL */
  LnsRowTree *tree;        /* owned, or NULL */
  LnsBookmarks *bookmarks; /* owned, or NULL */
  LnsAnswer *answer;       /* owned, or NULL; has the steps */
  LnsPair *pair;           /* owned, or NULL; has those of another run */
  float *shares;           /* owned; n_px of them, or NULL */
  gboolean is_of_gpus;     /* … and they are of GPUs */
  int n_px;
  LnsTheme painted_theme;
  GskRenderNode *chart; /* owned; shows the steps or `shares`, or NULL */
  GskRenderNode *marks; /* owned; where the chosen finding is, or NULL */
  int asked_px;         /* width of the query under way or answered … */
  LnsScale drawn;       /* … and its scale, with which all is drawn */
  GCancellable *asking; /* of the query under way, or NULL */
  double grab_px;       /* from the window's left edge to the pointer, while dragging */
};

G_DEFINE_FINAL_TYPE (LnsOverview, lns_overview, GTK_TYPE_WIDGET)

/* The scale at which the whole report fits the widget. */
static LnsScale
whole_scale (LnsOverview *self)
{
  LnsScale scale;
  lns_view_fit_width (self->view, gtk_widget_get_width (GTK_WIDGET (self)), &scale);
  return scale;
}

/* The steps of the other run, or NULL. */
static const GArray *
other_steps (LnsOverview *self)
{
  const LnsPairFacts *facts = lns_pair_get_facts (self->pair);
  return facts != NULL ? facts->step_spans[1] : NULL;
}

/* --- The chart's data: a worker asks the report -------------------------------------------- */

typedef struct
{
  LnsRowTree *tree; /* owned */
  LnsPixelQuery query;
  float *shares; /* owned */
  bool is_of_gpus;
  bool ok;
} Job;

static void
job_free (gpointer data)
{
  Job *job = data;
  lns_row_tree_unref (job->tree);
  g_free (job->shares);
  g_free (job);
}

/* Sets the shares of JOB to the mean over all GPUs. */
static bool
query_gpus (LnsReport *report, Job *job, LnsPixelResult *scratch, LnsError *error)
{
  uint32_t n_gpus = 0;

  for (uint32_t row = 0; row < lns_row_tree_n_rows (job->tree); row++)
    {
      if (lns_row_tree_row (job->tree, row)->kind != LNS_ROW_DEVICE)
        continue;
      n_gpus++;
      if (!lns_work_query (report, job->tree, row, &job->query, scratch, error))
        return false;
      for (uint32_t p = 0; p < job->query.n_px; p++)
        job->shares[p] += scratch->pixels[p].busy;
    }
  job->is_of_gpus = n_gpus > 0;
  for (uint32_t p = 0; p < job->query.n_px && n_gpus > 0; p++)
    job->shares[p] /= (float)n_gpus;
  return true;
}

static void
query_chart (LnsWorker *worker, gpointer data)
{
  Job *job = data;
  LnsPixelResult scratch = { 0 };
  LnsError error = { 0 };
  job->ok = query_gpus (worker->report, job, &scratch, &error) &&
            (job->is_of_gpus || lns_summary_query (worker->report, job->tree, LNS_ID_NONE,
                                                   &job->query, &scratch, job->shares, &error));
  lns_pixel_result_clear (&scratch);
}

static void update_picture (LnsOverview *self);

static void
chart_ready_cb (gpointer data, gpointer owner)
{
  LnsOverview *self = owner;
  Job *job = data;
  /* The rows show where a report is damaged; the overview stays as it was. */
  if (!job->ok)
    return;
  g_free (self->shares);
  self->shares = g_steal_pointer (&job->shares);
  self->n_px = (int)job->query.n_px;
  self->is_of_gpus = job->is_of_gpus;
  update_picture (self);
}

static const LnsJobFuncs chart_funcs = { query_chart, chart_ready_cb, job_free };

static void
ask (LnsOverview *self)
{
  int width_px = gtk_widget_get_width (GTK_WIDGET (self));
  if (self->view == NULL || width_px < 1 || width_px == self->asked_px)
    return;
  self->asked_px = width_px;
  LnsScale scale = self->drawn = whole_scale (self);
  Job *job = g_new0 (Job, 1);
  job->tree = lns_row_tree_ref (self->tree);
  job->query.origin_ns = lns_scale_time_of (&scale, scale.first_px);
  job->query.ns_per_px = lns_scale_ns_per_px (&scale);
  job->query.n_px = (uint32_t)MIN (width_px, 16384);
  job->shares = g_new0 (float, job->query.n_px);
  lns_job_start (&self->asking, self->view, &chart_funcs, job, self);
}

/* --- Picture ------------------------------------------------------------------------------- */

static GskRenderNode *
chart_node (LnsOverview *self, const LnsPalette *palette)
{
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, self->n_px, HEIGHT_PX);
  cairo_surface_flush (surface);
  LnsRaster raster = { (uint32_t *)(void *)cairo_image_surface_get_data (surface),
                       cairo_image_surface_get_stride (surface) / 4, self->n_px, HEIGHT_PX };
  lns_raster_fill (&raster, 0, self->n_px, 0, HEIGHT_PX, palette->background[1]);
  for (int p = 0; p < self->n_px; p++)
    {
      int height_px = (int)ceilf (fminf (self->shares[p], 1) * CHART_PX),
          top_px = HEIGHT_PX - height_px;
      lns_raster_fill (&raster, p, p + 1, top_px, HEIGHT_PX, palette->chart);
      if (height_px > 0)
        lns_raster_fill (&raster, p, p + 1, top_px, top_px + 1, palette->chart_line);
    }
  cairo_surface_mark_dirty (surface);

  GskRenderNode *node = gsk_cairo_node_new (&GRAPHENE_RECT_INIT (0, 0, self->n_px, HEIGHT_PX));
  cairo_t *cr = gsk_cairo_node_get_draw_context (node);
  cairo_set_source_surface (cr, surface, 0, 0);
  cairo_paint (cr);
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
  return node;
}

/* Something else is to be shown. */
static void
update_picture (LnsOverview *self)
{
  g_autofree char *text = lns_overview_get_text (self);

  g_clear_pointer (&self->chart, gsk_render_node_unref);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text,
                                  -1);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit_by_name (self, "text-changed");
}

/* The edges of the span in view, in pixels of the widget. */
static void
window_of (LnsOverview *self, float *ret_left_px, float *ret_right_px)
{
  LnsScale scale = whole_scale (self);
  float width_px = (float)gtk_widget_get_width (GTK_WIDGET (self));
  double left = lns_scale_x_of (&scale, lns_view_get_start_ns (self->view));
  double right = lns_scale_x_of (&scale, lns_view_get_end_ns (self->view));
  double missing_px = fmax (MIN_WINDOW_PX - (right - left), 0);
  *ret_left_px = (float)CLAMP (floor (left - missing_px / 2), 0, width_px - MIN_WINDOW_PX);
  *ret_right_px =
      (float)CLAMP (ceil (right + missing_px / 2), *ret_left_px + MIN_WINDOW_PX, width_px);
}

/* The places of the chosen finding, a pixel each where they are shorter. */
static GskRenderNode *
marks_node (LnsOverview *self, int n_px, const LnsPalette *palette)
{
  const LnsScale scale = whole_scale (self);
  const GdkRGBA color = lns_palette_rgba (palette->finding, 1);
  g_autofree bool *is_marked = g_new0 (bool, n_px + 1); /* the last one ends all */
  size_t n;
  const LnsSpan *places =
      lns_answer_get_places (self->answer, lns_answer_get_chosen (self->answer), &n);
  GtkSnapshot *snapshot = gtk_snapshot_new ();

  for (size_t i = 0; i < n; i++)
    {
      const double from_px = lns_scale_x_of (&scale, places[i].start_ns),
                   to_px = lns_scale_x_of (&scale, places[i].end_ns);
      for (int x = (int)CLAMP (from_px, 0, n_px - 1); x < n_px && x < MAX (to_px, from_px + 1); x++)
        is_marked[x] = true;
    }
  for (int x = 0, from = 0; x <= n_px; x++)
    if (!is_marked[x])
      {
        if (x > from)
          gtk_snapshot_append_color (
              snapshot, &color, &GRAPHENE_RECT_INIT ((float)from, 0, (float)(x - from), MARKS_PX));
        from = x + 1;
      }
  return gtk_snapshot_free_to_node (snapshot);
}

/* Another finding is chosen, or the widget has another width. */
static void
update_marks (LnsOverview *self)
{
  g_clear_pointer (&self->marks, gsk_render_node_unref);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
snapshot_marks (LnsOverview *self, GtkSnapshot *snapshot, const LnsPalette *palette)
{
  const int n_px = gtk_widget_get_width (GTK_WIDGET (self));

  if (lns_answer_get_chosen (self->answer) == LNS_ANSWER_NOTHING || n_px < 1)
    return;
  if (self->marks == NULL)
    self->marks = marks_node (self, n_px, palette);
  if (self->marks != NULL)
    gtk_snapshot_append_node (snapshot, self->marks);
}

/* Shows where bookmarks begin. */
static void
snapshot_bookmarks (LnsOverview *self, GtkSnapshot *snapshot)
{
  guint n;
  const LnsMark *marks = lns_bookmarks_get (self->bookmarks, &n);
  const LnsScale scale = whole_scale (self);
  const GdkRGBA color = lns_palette_rgba (lns_palette_get (lns_theme_now ())->accent, 1);
  for (guint i = 0; i < n; i++)
    {
      const float x = (float)floor (
          CLAMP (lns_scale_x_of (&scale, marks[i].start_ns), -BOOKMARK_PX, G_MAXINT16));
      gtk_snapshot_append_color (snapshot, &color,
                                 &GRAPHENE_RECT_INIT (x, HEIGHT_PX - BOOKMARK_PX, 2, BOOKMARK_PX));
    }
}

static void
lns_overview_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LnsOverview *self = LNS_OVERVIEW (widget);
  if (self->view == NULL)
    return;
  const LnsTheme theme = lns_theme_now ();
  const LnsPalette *palette = lns_palette_get (theme);
  if (self->chart != NULL && self->painted_theme != theme)
    g_clear_pointer (&self->chart, gsk_render_node_unref);
  if (self->chart == NULL && lns_step_bars_are_there (self->answer))
    {
      const LnsScale scale = whole_scale (self);
      self->chart = lns_step_bars_node (self->answer, other_steps (self), &scale,
                                        gtk_widget_get_width (widget), HEIGHT_PX, palette);
    }
  else if (self->chart == NULL && self->shares != NULL)
    self->chart = chart_node (self, palette);
  if (self->painted_theme != theme)
    g_clear_pointer (&self->marks, gsk_render_node_unref);
  self->painted_theme = theme;
  if (self->chart != NULL)
    gtk_snapshot_append_node (snapshot, self->chart);

  float width_px = (float)gtk_widget_get_width (widget), left_px, right_px;
  window_of (self, &left_px, &right_px);
  GdkRGBA dim = lns_palette_rgba (palette->background[0], DIM_ALPHA);
  GdkRGBA edge = lns_palette_rgba (palette->accent, 1);
  gtk_snapshot_append_color (snapshot, &dim, &GRAPHENE_RECT_INIT (0, 0, left_px, HEIGHT_PX));
  gtk_snapshot_append_color (snapshot, &dim,
                             &GRAPHENE_RECT_INIT (right_px, 0, width_px - right_px, HEIGHT_PX));
  gtk_snapshot_append_color (snapshot, &edge, &GRAPHENE_RECT_INIT (left_px, 0, 1, HEIGHT_PX));
  gtk_snapshot_append_color (snapshot, &edge, &GRAPHENE_RECT_INIT (right_px - 1, 0, 1, HEIGHT_PX));
  snapshot_marks (self, snapshot, palette);
  snapshot_bookmarks (self, snapshot);
}

static void
lns_overview_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  LnsOverview *self = LNS_OVERVIEW (widget);
  if (self->answer != NULL && lns_step_bars_are_there (self->answer))
    g_clear_pointer (&self->chart, gsk_render_node_unref);
  update_marks (self);
  ask (self);
}

/* --- Dragging ------------------------------------------------------------------------------ */

/* Moves the view so that its window begins at LEFT_PX. */
static void
move_window (LnsOverview *self, double left_px)
{
  LnsScale whole = whole_scale (self);
  const LnsScale *scale = lns_view_get_scale (self->view);
  int64_t start_ns = lns_scale_time_of (&whole, whole.first_px + llround (left_px));
  lns_view_pan (self->view, lns_difference (lns_scale_px_of (scale, start_ns), scale->first_px));
}

static void
drag_begin_cb (GtkGestureDrag *gesture, double x, double y, LnsOverview *self)
{
  float left_px, right_px;
  if (self->view == NULL)
    return;
  window_of (self, &left_px, &right_px);
  gboolean inside = x >= left_px && x < right_px;
  self->grab_px = inside ? x - left_px : (right_px - left_px) / 2;
  if (!inside)
    move_window (self, x - self->grab_px);
}

static void
drag_update_cb (GtkGestureDrag *gesture, double dx, double dy, LnsOverview *self)
{
  double x, y;
  if (self->view != NULL && gtk_gesture_drag_get_start_point (gesture, &x, &y))
    move_window (self, x + dx - self->grab_px);
}

/* A click selects the step that it hits. */
static void
drag_end_cb (GtkGestureDrag *gesture, double dx, double dy, LnsOverview *self)
{
  double x, y;
  if (self->view == NULL || fabs (dx) > CLICK_PX ||
      !gtk_gesture_drag_get_start_point (gesture, &x, &y))
    return;
  const LnsScale scale = whole_scale (self);
  const LnsStep *step = lns_step_bars_at (self->answer, &scale, x);
  if (step != NULL)
    lns_answer_show (
        self->answer,
        &(LnsEvidence){ .start_ns = step->start_ns, .end_ns = step->end_ns, .lane = LNS_ID_NONE });
}

static gboolean
query_tooltip_cb (LnsOverview *self, int x, int y, gboolean keyboard, GtkTooltip *tooltip)
{
  if (self->view == NULL || keyboard)
    return FALSE;
  const LnsScale scale = whole_scale (self);
  const LnsStep *step = lns_step_bars_at (self->answer, &scale, x);
  if (step == NULL)
    return FALSE;
  g_autofree char *text = lns_step_bars_step_text (self->answer, step, other_steps (self));
  gtk_tooltip_set_text (tooltip, text);
  return TRUE;
}

/* --- The object ---------------------------------------------------------------------------- */

/* The view shows something else; where there is another report on its axis, or no longer, all of it is another span. */
static void
span_changed_cb (LnsOverview *self)
{
  const LnsScale scale = whole_scale (self);
  if (self->asked_px > 0 &&
      (scale.ns_per_tile != self->drawn.ns_per_tile || scale.first_px != self->drawn.first_px))
    {
      self->asked_px = 0;
      update_picture (self);
      update_marks (self);
      ask (self);
    }
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
lns_overview_set_view (LnsOverview *self, LnsView *view, const LnsRowTree *tree)
{
  g_return_if_fail (self->view == NULL);
  self->view = g_object_ref (view);
  self->tree = lns_row_tree_ref (tree);
  self->answer = lns_answer_of (view);
  self->bookmarks = lns_bookmarks_of (view);
  g_signal_connect_object (self->bookmarks, "changed", G_CALLBACK (gtk_widget_queue_draw), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->answer, "changed", G_CALLBACK (update_picture), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->answer, "chosen", G_CALLBACK (update_marks), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (view, "span-changed", G_CALLBACK (span_changed_cb), self,
                           G_CONNECT_SWAPPED);
  self->pair = lns_pair_of (view);
  g_signal_connect_object (self->pair, "changed", G_CALLBACK (update_picture), self,
                           G_CONNECT_SWAPPED);
  ask (self);
}

void
lns_overview_grow (LnsOverview *self, const LnsRowTree *tree)
{
  lns_row_tree_unref (self->tree);
  self->tree = lns_row_tree_ref (tree);
  self->asked_px = 0;
  gtk_widget_queue_draw (GTK_WIDGET (self));
  if (self->asking == NULL)
    ask (self);
}

char *
lns_overview_get_text (LnsOverview *self)
{
  if (self->answer != NULL && lns_step_bars_are_there (self->answer))
    return lns_step_bars_text (self->answer);
  return g_strdup (self->shares == NULL ? "" : self->is_of_gpus ? _ ("GPU work") : _ ("Activity"));
}

gboolean
lns_overview_is_complete (LnsOverview *self)
{
  return self->asking == NULL && self->asked_px > 0;
}

static void
lns_overview_finalize (GObject *object)
{
  LnsOverview *self = LNS_OVERVIEW (object);
  lns_job_cancel (&self->asking);
  g_clear_pointer (&self->chart, gsk_render_node_unref);
  g_clear_pointer (&self->marks, gsk_render_node_unref);
  g_free (self->shares);
  lns_row_tree_unref (self->tree);
  g_clear_object (&self->answer);
  g_clear_object (&self->pair);
  g_clear_object (&self->bookmarks);
  g_clear_object (&self->view);
  G_OBJECT_CLASS (lns_overview_parent_class)->finalize (object);
}

static void
lns_overview_class_init (LnsOverviewClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  G_OBJECT_CLASS (klass)->finalize = lns_overview_finalize;
  g_signal_new ("text-changed", LNS_TYPE_OVERVIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                G_TYPE_NONE, 0);
  widget_class->snapshot = lns_overview_snapshot;
  widget_class->size_allocate = lns_overview_size_allocate;
  gtk_widget_class_set_css_name (widget_class, "timelineoverview");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
lns_overview_init (LnsOverview *self)
{
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
  gtk_widget_set_size_request (GTK_WIDGET (self), -1, HEIGHT_PX);
  GtkGesture *drag = gtk_gesture_drag_new ();
  g_signal_connect (drag, "drag-begin", G_CALLBACK (drag_begin_cb), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (drag_update_cb), self);
  g_signal_connect (drag, "drag-end", G_CALLBACK (drag_end_cb), self);
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
  g_signal_connect (self, "query-tooltip", G_CALLBACK (query_tooltip_cb), NULL);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (drag));
}
