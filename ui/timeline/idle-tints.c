/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/idle-tints.h"

#include <math.h>

#include "ui/model/palette.h"

/* Narrower stretches are drawn together, where they take this share of a pixel; names only into what is wider. */
#define LEAST_PX       3
#define LEAST_SHARE    0.2
#define LEAST_NAMED_PX 36
/* In less, a name that must be cut off tells nothing. */
#define LEAST_CUT_PX 72
#define NAME_SCALE   0.83 /* of the font, as names on bars are */

/* Stretches that are named together have no more between them, and take this share of what they span: a name over work would be
 * read as the name of that work. */
#define MOST_BETWEEN_PX   8
#define LEAST_NAMED_SHARE 0.5f

/* So many at most in one frame. */
#define MOST_NAMED 200

#define TINT_ALPHA 0.16f

/* The ledger of the answer that ROW is of, or -1. */
static gssize
ledger_of (const LnsWhy *why, const LnsRow *row)
{
  for (size_t l = 0; l < why->ledgers.n; l++)
    {
      const LnsLedger *ledger = &why->ledgers.items[l];
      if (row->kind == LNS_ROW_DEVICE
              ? ledger->is_device && ledger->device == row->device &&
                    ledger->process == row->process
              : row->kind == LNS_ROW_THREAD && !ledger->is_device && ledger->thread == row->thread)
        return (gssize)l;
    }
  return -1;
}

/* Stretches that are narrower than LEAST_PX, by pixel. */
typedef struct
{
  double idle_ns;
  const LnsIdle *most; /* one of those that have most of it …                                   */
  double vote_ns;      /* … as a majority vote has it                                           */
} Pixel;

static gboolean
is_alike (const LnsIdle *a, const LnsIdle *b)
{
  return a->cause == b->cause && a->finding == b->finding;
}

/* Adds NS for IDLE to the vote of MOST. */
static void
vote (const LnsIdle **most, double *vote_ns, const LnsIdle *idle, double ns)
{
  if (*most == NULL || (!is_alike (*most, idle) && ns > *vote_ns))
    {
      *vote_ns = *most == NULL ? ns : ns - *vote_ns;
      *most = idle;
    }
  else
    *vote_ns += is_alike (*most, idle) ? ns : -ns;
}

typedef struct
{
  const LnsRowContext *context;
  GtkWidget *widget;
  GtkSnapshot *snapshot;
  float height_px;
  gboolean has_bars; /* the row's own bars bear the names of calls, and of ranges                */
  unsigned n_named;
  /* Stretches that have one name together: */
  const LnsIdle *named; /* one of them, or NULL                                                  */
  float from_px, to_px;
  float idle_px;   /* what they take of it */
  float widest_px; /* the widest one */
} Drawing;

/* Whether a bar that is wide enough to bear its name stands where the name would. */
static gboolean
has_named_bar (const Drawing *drawing)
{
  const LnsWhy *why = lns_answer_get_why (drawing->context->answer);
  const uint32_t finding = drawing->named->finding;

  if (!drawing->has_bars || drawing->widest_px < LEAST_NAMED_PX || finding == 0)
    return FALSE;
  const LnsOccupation *own = &why->findings.items[finding - 1].own;
  return own->call != 0 || own->range != 0;
}

/* Writes the name of the stretches that have one together. */
static void
name (Drawing *drawing)
{
  const LnsIdle *named = drawing->named;
  const float width_px = drawing->to_px - drawing->from_px;
  const gboolean is_hidden = named != NULL && has_named_bar (drawing);
  int line_px;

  drawing->named = NULL;
  if (named == NULL || is_hidden || width_px < LEAST_NAMED_PX ||
      drawing->idle_px < LEAST_NAMED_SHARE * width_px || drawing->n_named++ >= MOST_NAMED)
    return;
  const GdkRGBA text = lns_palette_rgba (lns_palette_get (drawing->context->theme)->text, 1);
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (
      drawing->widget, lns_answer_get_label (drawing->context->answer, named));
  g_autoptr (PangoAttrList) attributes = pango_attr_list_new ();
  pango_attr_list_insert (attributes, pango_attr_scale_new (NAME_SCALE));
  pango_layout_set_attributes (layout, attributes);
  pango_layout_set_width (layout, (int)((width_px - 2 * LNS_LABEL_PAD_PX) * PANGO_SCALE));
  pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
  pango_layout_get_pixel_size (layout, NULL, &line_px);
  if (width_px < LEAST_CUT_PX && pango_layout_is_ellipsized (layout))
    return;
  gtk_snapshot_save (drawing->snapshot);
  gtk_snapshot_translate (
      drawing->snapshot, &GRAPHENE_POINT_INIT (drawing->from_px + LNS_LABEL_PAD_PX,
                                               floorf ((drawing->height_px - (float)line_px) / 2)));
  gtk_snapshot_append_layout (drawing->snapshot, layout, &text);
  gtk_snapshot_restore (drawing->snapshot);
}

/* Draws what is idle from FROM_PX to TO_PX, by the cause of IDLE. Stretches of one cause with little work between them are named
 * together. */
static void
draw (Drawing *drawing, const LnsIdle *idle, float from_px, float to_px, double share)
{
  const LnsPalette *palette = lns_palette_get (drawing->context->theme);
  const GdkRGBA tint =
      lns_palette_rgba (lns_answer_is_warm (idle->cause) ? palette->finding : palette->blocked_edge,
                        TINT_ALPHA * (float)share);

  gtk_snapshot_append_color (drawing->snapshot, &tint,
                             &GRAPHENE_RECT_INIT (from_px, 0, to_px - from_px, drawing->height_px));
  if (drawing->named == NULL || !is_alike (drawing->named, idle) ||
      from_px - drawing->to_px > MOST_BETWEEN_PX || from_px < drawing->from_px)
    {
      name (drawing);
      drawing->named = idle;
      drawing->from_px = from_px;
      drawing->idle_px = drawing->widest_px = 0;
    }
  drawing->to_px = to_px;
  drawing->widest_px = MAX (drawing->widest_px, to_px - from_px);
  drawing->idle_px += (float)share * (to_px - from_px);
}

/* Adds IDLE to the pixels that it is in. */
static void
add_narrow (Pixel *pixels, int n_px, const LnsScale *scale, const LnsIdle *idle)
{
  const double ns_per_px = lns_scale_ns_per_px (scale),
               from_px = lns_scale_x_of (scale, idle->start_ns),
               to_px = lns_scale_x_of (scale, idle->end_ns);

  for (int x = (int)MAX (0, floor (from_px)); x < n_px && x < to_px; x++)
    {
      const double ns = (MIN (to_px, x + 1) - MAX (from_px, x)) * ns_per_px;
      pixels[x].idle_ns += ns;
      vote (&pixels[x].most, &pixels[x].vote_ns, idle, ns);
    }
}

/* Draws what narrow stretches take together, each run of pixels by what has most of it. */
static void
draw_narrow (Drawing *drawing, const Pixel *pixels, int n_px, double ns_per_px)
{
  for (int x = 0, end; x < n_px; x = end)
    {
      const LnsIdle *most = NULL;
      double sum = 0, vote_ns = 0;
      for (end = x; end < n_px && pixels[end].idle_ns >= LEAST_SHARE * ns_per_px; end++)
        {
          sum += pixels[end].idle_ns;
          vote (&most, &vote_ns, pixels[end].most, pixels[end].idle_ns);
        }
      if (most != NULL)
        draw (drawing, most, (float)x, (float)end, MIN (1, sum / (ns_per_px * MAX (1, end - x))));
      end = MAX (end, x + 1);
    }
}

void
lns_idle_tints_snapshot (const LnsRowContext *context,
                         const LnsRow *row,
                         GtkWidget *widget,
                         GtkSnapshot *snapshot,
                         const graphene_rect_t *body)
{
  const LnsWhy *why = lns_answer_get_why (context->answer);
  const gssize ledger = why != NULL ? ledger_of (why, row) : -1;
  const LnsScale *scale = lns_view_get_scale (context->view);
  const int64_t start_ns = lns_view_get_start_ns (context->view),
                end_ns = lns_view_get_end_ns (context->view);
  size_t n, first = 0;
  if (ledger < 0)
    return;
  const LnsIdle *idle = lns_answer_get_idle (context->answer, (size_t)ledger, &n);
  for (size_t end = n; first < end;)
    {
      const size_t middle = first + (end - first) / 2;
      if (idle[middle].end_ns <= start_ns)
        first = middle + 1;
      else
        end = middle;
    }
  const int n_px = lns_view_get_width_px (context->view);
  const double ns_per_px = lns_scale_ns_per_px (scale);
  g_autofree Pixel *pixels = g_new0 (Pixel, MAX (n_px, 1));
  Drawing drawing = {
    .context = context,
    .widget = widget,
    .snapshot = snapshot,
    .height_px = body->size.height - 1,
    .has_bars = row->kind == LNS_ROW_THREAD,
  };
  for (size_t i = first; i < n && idle[i].start_ns < end_ns; i++)
    if ((double)(idle[i].end_ns - idle[i].start_ns) < LEAST_PX * ns_per_px)
      add_narrow (pixels, n_px, scale, &idle[i]);
    else
      draw (&drawing, &idle[i], (float)MAX (0, lns_scale_x_of (scale, idle[i].start_ns)),
            (float)MIN (body->size.width, lns_scale_x_of (scale, idle[i].end_ns)), 1);
  name (&drawing);
  draw_narrow (&drawing, pixels, n_px, ns_per_px);
  name (&drawing);
}
