/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Draws over the rows. Everything is a colour node, so a pointer that moves costs a line of pixels, and no row is
 * drawn again. */

#include "ui/timeline/timeline-overlay.h"

#include <glib/gi18n.h>
#include <math.h>

#include "src/base/format.h"
#include "ui/model/palette.h"

#define BAND_ALPHA     0.12f
#define POINTER_ALPHA  0.55f
#define PILL_PAD_PX    8
#define MIN_MARK_PX    3
#define LINK_INSET_PX  6 /* from the left edge of a call to its line */
#define LINK_HEAD_PX   6
#define HINT_PX        360 /* of its text, at most */
#define HINT_MARGIN_PX 4
#define HINT_TOP_PX    28 /* below the words of the selected time */
#define MAX_LINKS      8  /* of more, only the first gets a line, with their number */

static void
append_rect (GtkSnapshot *snapshot, const GdkRGBA *color, float x, float y, float w, float h)
{
  if (w > 0 && h > 0)
    gtk_snapshot_append_color (snapshot, color, &GRAPHENE_RECT_INIT (x, y, w, h));
}

/* --- The selected time --------------------------------------------------------------------- */

/* Draws TEXT in a box around MIDDLE_PX with its upper edge at TOP_PX. */
static void
snapshot_pill (const LnsTimelineLayout *layout,
               GtkSnapshot *snapshot,
               const char *text,
               float middle_px,
               float top_px,
               const graphene_rect_t *body)
{
  g_autoptr (PangoLayout) words = gtk_widget_create_pango_layout (layout->timeline, text);
  int text_px, line_px;
  pango_layout_get_pixel_size (words, &text_px, &line_px);
  uint32_t rgb = lns_palette_get (layout->context->theme)->accent;
  GdkRGBA back = lns_palette_rgba (rgb, 1), front = lns_palette_rgba (lns_palette_text_on (rgb), 1);
  float width_px = (float)(text_px + 2 * PILL_PAD_PX), height_px = (float)line_px + 4;
  float left_px = CLAMP (middle_px - width_px / 2, body->origin.x,
                         MAX (body->origin.x + body->size.width - width_px, body->origin.x));
  GskRoundedRect pill;
  gsk_rounded_rect_init_from_rect (
      &pill, &GRAPHENE_RECT_INIT (floorf (left_px), top_px, width_px, height_px), 5);
  gtk_snapshot_push_rounded_clip (snapshot, &pill);
  gtk_snapshot_append_color (snapshot, &back, &pill.bounds);
  gtk_snapshot_pop (snapshot);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot,
                          &GRAPHENE_POINT_INIT (pill.bounds.origin.x + PILL_PAD_PX, top_px + 2));
  gtk_snapshot_append_layout (snapshot, words, &front);
  gtk_snapshot_restore (snapshot);
}

/* Draws the span from START_NS to END_NS, with TEXT at its top. */
static void
snapshot_span (const LnsTimelineLayout *layout,
               GtkSnapshot *snapshot,
               const graphene_rect_t *body,
               int64_t start_ns,
               int64_t end_ns,
               const char *text)
{
  const LnsScale *scale = lns_view_get_scale (layout->context->view);
  double width = body->size.width;
  double left = CLAMP (lns_scale_x_of (scale, start_ns), -2.0, width + 2);
  double right = CLAMP (lns_scale_x_of (scale, end_ns), -2.0, width + 2);
  float x0 = body->origin.x + floorf ((float)left), x1 = body->origin.x + floorf ((float)right);
  uint32_t accent = lns_palette_get (layout->context->theme)->accent;
  GdkRGBA tint = lns_palette_rgba (accent, BAND_ALPHA), edge = lns_palette_rgba (accent, 1);
  append_rect (snapshot, &tint, x0, body->origin.y, x1 - x0, body->size.height);
  append_rect (snapshot, &edge, x0, body->origin.y, 1, body->size.height);
  append_rect (snapshot, &edge, x1, body->origin.y, 1, body->size.height);
  append_rect (snapshot, &edge, x0, body->origin.y, x1 - x0, 2);
  if (right >= 0 && left < width)
    snapshot_pill (layout, snapshot, text,
                   (MAX (x0, body->origin.x) + MIN (x1, body->origin.x + (float)width)) / 2,
                   body->origin.y + 3, body);
}

/* "2: 12.3 ms, +20.7 %": the length of span NUMBER, and how much longer it is than the first one, which takes FIRST_NS. Free with
 * g_free (). */
static char *
span_text (guint number, int64_t length_ns, int64_t first_ns)
{
  char length[LNS_FORMAT_SIZE], percent[LNS_FORMAT_SIZE];
  lns_format_duration (length_ns, length);
  if (number == 1 || first_ns <= 0)
    return g_strdup_printf ("%u: %s", number, length);
  const double more = 100 * ((double)length_ns / (double)first_ns - 1);
  return g_strdup_printf ("%u: %s, %s%s %%", number, length, more < 0 ? "−" : "+",
                          lns_format_fixed (fabs (more), 1, percent));
}

/* Draws the selected time, and the spans that are selected beside it, each with its length. */
static void
snapshot_band (const LnsTimelineLayout *layout, GtkSnapshot *snapshot, const graphene_rect_t *body)
{
  int64_t start_ns, end_ns, first_ns = 0;
  guint n = 0;
  for (; lns_view_get_further_span (layout->context->view, n, &start_ns, &end_ns); n++)
    {
      if (n == 0)
        first_ns = lns_difference (end_ns, start_ns);
      g_autofree char *text = span_text (n + 1, lns_difference (end_ns, start_ns), first_ns);
      snapshot_span (layout, snapshot, body, start_ns, end_ns, text);
    }
  if (!lns_view_get_time_selection (layout->context->view, &start_ns, &end_ns))
    return;
  char length[LNS_FORMAT_SIZE];
  lns_format_duration (lns_difference (end_ns, start_ns), length);
  g_autofree char *text =
      n > 0 ? span_text (n + 1, lns_difference (end_ns, start_ns), first_ns) : g_strdup (length);
  snapshot_span (layout, snapshot, body, start_ns, end_ns, text);
}

/* --- Events -------------------------------------------------------------------------------- */

static void
append_outline (GtkSnapshot *snapshot,
                const graphene_rect_t *rect,
                float line,
                const GdkRGBA *color)
{
  float x = rect->origin.x, y = rect->origin.y, w = rect->size.width, h = rect->size.height;
  append_rect (snapshot, color, x, y, w, line);
  append_rect (snapshot, color, x, y + h - line, w, line);
  append_rect (snapshot, color, x, y + line, line, h - 2 * line);
  append_rect (snapshot, color, x + w - line, y + line, line, h - 2 * line);
}

/* Outlines AREA by two lines: one of them is visible on any colour. */
static void
append_double_outline (GtkSnapshot *snapshot,
                       graphene_rect_t area,
                       const LnsPalette *palette,
                       uint32_t outer_rgb)
{
  GdkRGBA outer = lns_palette_rgba (outer_rgb, 1),
          inner = lns_palette_rgba (palette->background[0], 1);
  append_outline (snapshot, &area, 1, &inner);
  graphene_rect_inset (&area, -2, -2);
  append_outline (snapshot, &area, 2, &outer);
}

/* The area of the event of LANE from START_NS to END_NS. Returns false if it is not in view. */
static gboolean
event_area (const LnsTimelineLayout *layout,
            uint32_t lane,
            int64_t start_ns,
            int64_t end_ns,
            graphene_rect_t *ret_area)
{
  const LnsScale *scale = lns_view_get_scale (layout->context->view);
  if (!lns_timeline_layout_lane_area (layout, lane, ret_area))
    return FALSE;
  double width = ret_area->size.width;
  double left = round (lns_scale_x_of (scale, start_ns));
  double right = round (lns_scale_x_of (scale, end_ns));
  if (right < 0 || left > width)
    return FALSE;
  left = CLAMP (left, -8.0, width + 8);
  right = CLAMP (right, -8.0, width + 8);
  double missing = MAX (MIN_MARK_PX - (right - left), 0);
  ret_area->origin.x += (float)floor (left - missing / 2);
  ret_area->size.width = (float)(right - left + missing);
  ret_area->size.height -= 1;
  return TRUE;
}

/* --- What is tied to the selected event -------------------------------------------------------- */

/* The line at the time of a waking, from the thread that woke to the end of the wait of the other one, in whose area it is. */
static gboolean
waking_line (const LnsTimelineLayout *layout,
             const LnsLinkedEvent *linked,
             uint32_t lane,
             LnsLinkLine *ret_line)
{
  graphene_rect_t from, to;
  const bool is_waker = linked->kind == LNS_LINK_WAKER;
  const double x_px =
      round (lns_scale_x_of (lns_view_get_scale (layout->context->view), linked->woken_ns)) - 1;
  if (!lns_timeline_layout_lane_area (layout, is_waker ? linked->id.lane : lane, &from) ||
      !lns_timeline_layout_lane_area (layout, is_waker ? lane : linked->id.lane, &to) || x_px < 0 ||
      x_px >= to.size.width)
    return FALSE;
  const bool is_below = to.origin.y > from.origin.y;
  ret_line->x_px = ret_line->end_px = to.origin.x + (float)x_px;
  ret_line->from_px = is_below ? from.origin.y + from.size.height - 1 : from.origin.y - 1;
  ret_line->to_px = is_below ? to.origin.y : to.origin.y + to.size.height - 1;
  return TRUE;
}

gboolean
lns_timeline_overlay_link_line (const LnsTimelineLayout *layout,
                                const LnsLinkedEvent *linked,
                                LnsLinkLine *ret_line)
{
  int64_t start_ns, end_ns;
  graphene_rect_t call, work;
  LnsReport *report = lns_view_get_report (layout->context->view);
  LnsEventId id = lns_view_get_selected_event (layout->context->view, NULL);
  if (id.lane != LNS_ID_NONE && linked->kind != LNS_LINK_LAUNCH)
    return waking_line (layout, linked, id.lane, ret_line);
  lns_view_get_selected_times (layout->context->view, &start_ns, &end_ns);
  if (id.lane == LNS_ID_NONE || !event_area (layout, id.lane, start_ns, end_ns, &call) ||
      !event_area (layout, linked->id.lane, linked->start_ns, linked->end_ns, &work))
    return FALSE;
  LnsLaneKind kind = lns_report_lanes (report, NULL)[id.lane].kind;
  if (kind != LNS_LANE_CUDA_API && kind != LNS_LANE_NVTX_PUSH_POP &&
      kind != LNS_LANE_NVTX_START_END)
    {
      graphene_rect_t other = call;
      call = work;
      work = other;
    }
  gboolean is_below = work.origin.y > call.origin.y;
  ret_line->x_px = floorf (call.origin.x + MIN (call.size.width / 2, LINK_INSET_PX));
  ret_line->from_px = is_below ? call.origin.y + call.size.height : call.origin.y - 1;
  ret_line->end_px = floorf (work.origin.x + MIN (work.size.width / 2, LINK_INSET_PX));
  ret_line->to_px = is_below ? work.origin.y : work.origin.y + work.size.height;
  return TRUE;
}

/* Draws the line in the gap beside the call, where it crosses no name, then down or up to the work. */
static void
append_link (GtkSnapshot *snapshot, const LnsLinkLine *line, const GdkRGBA *color)
{
  float left_px = MIN (line->x_px, line->end_px), right_px = MAX (line->x_px, line->end_px);
  float top_px = MIN (line->from_px, line->to_px), bottom_px = MAX (line->from_px, line->to_px);
  append_rect (snapshot, color, left_px, line->from_px, right_px - left_px + 1, 1);
  append_rect (snapshot, color, line->end_px, top_px, 1, bottom_px - top_px);
  for (int i = 0; i < LINK_HEAD_PX; i++)
    {
      float half_px = (float)(i / 2);
      float y = line->to_px > line->from_px ? line->to_px - 1 - (float)i : line->to_px + (float)i;
      append_rect (snapshot, color, line->end_px - half_px, y, 2 * half_px + 1, 1);
    }
}

/* Writes "first of 500" beside the one line that is drawn. */
static void
snapshot_count (const LnsTimelineLayout *layout,
                GtkSnapshot *snapshot,
                const LnsLinkLine *line,
                const graphene_rect_t *body)
{
  char count[LNS_FORMAT_SIZE];
  lns_format_unsigned (lns_view_get_linked (layout->context->view)->n_all, count);
  /* Translators: where a line leads, "first of 500" kernels */
  g_autofree char *text = g_strdup_printf (_ ("first of %s"), count);
  float middle_px = (line->from_px + line->to_px) / 2;
  snapshot_pill (layout, snapshot, text, line->end_px, middle_px - 10, body);
}

/* --- What is tied to the selected event and out of view ----------------------------------------- */

/* Whether LANE stands above the selected event. */
static gboolean
is_above (const LnsTimelineLayout *layout, uint32_t lane)
{
  const LnsRowTree *tree = layout->context->tree;
  const uint32_t selected = lns_row_tree_row_of_lane (
      tree, lns_view_get_selected_event (layout->context->view, NULL).lane);
  const uint32_t row = lns_row_tree_row_of_lane (tree, lane);
  return row != LNS_ID_NONE && selected != LNS_ID_NONE &&
         lns_row_tree_row (tree, row)->rank < lns_row_tree_row (tree, selected)->rank;
}

/* Whether the row of the selected event is in view, wherever its time is. */
static gboolean
is_row_in_view (const LnsTimelineLayout *layout, const graphene_rect_t *body)
{
  graphene_rect_t area;
  const LnsEventId id = lns_view_get_selected_event (layout->context->view, NULL);

  return lns_timeline_layout_lane_area (layout, id.lane, &area) &&
         area.origin.y + area.size.height > body->origin.y &&
         area.origin.y < body->origin.y + body->size.height;
}

/* The words of the hint, a new reference, and its place; or NULL if none is needed. */
static PangoLayout *
find_hint (const LnsTimelineLayout *layout, graphene_rect_t *ret_area)
{
  guint n;
  graphene_rect_t lane, area;
  const graphene_rect_t body = lns_timeline_layout_body (layout);
  const LnsScale *scale = lns_view_get_scale (layout->context->view);
  const LnsLinkedEvent *to = lns_view_get_linked_events (layout->context->view, &n);
  if (n == 0 || event_area (layout, to->id.lane, to->start_ns, to->end_ns, &area))
    return NULL;
  int64_t start_ns, end_ns;
  char away[LNS_FORMAT_SIZE];
  int text_px, line_px;
  const char *words = lns_view_get_linked (layout->context->view)->words;
  const double left_px = lns_scale_x_of (scale, to->start_ns),
               right_px = lns_scale_x_of (scale, to->end_ns);
  const gboolean is_left = right_px<0, is_right = left_px> body.size.width;
  /* Up and down are as seen from the event. */
  if (!is_left && !is_right && !is_row_in_view (layout, &body))
    return NULL;
  const gboolean has_lane = lns_timeline_layout_lane_area (layout, to->id.lane, &lane);
  const gboolean is_up = is_above (layout, to->id.lane);
  lns_view_get_selected_times (layout->context->view, &start_ns, &end_ns);
  const int64_t away_ns = lns_difference (to->start_ns, start_ns);
  lns_format_duration (away_ns < 0 ? -away_ns : away_ns, away);
  g_autofree char *text =
      g_strdup_printf ("%s %s%s · %s",
                       is_left    ? "◂"
                       : is_right ? "▸"
                       : is_up    ? "▴"
                                  : "▾",
                       away_ns < 0 ? "−" : "+", away, words != NULL ? words : _ ("linked event"));
  PangoLayout *hint = gtk_widget_create_pango_layout (layout->timeline, text);
  pango_layout_set_width (hint, HINT_PX * PANGO_SCALE);
  pango_layout_set_ellipsize (hint, PANGO_ELLIPSIZE_END);
  pango_layout_get_pixel_size (hint, &text_px, &line_px);
  const float width_px = (float)(text_px + 2 * PILL_PAD_PX), height_px = (float)line_px + 4;
  const float most_px = MAX (body.size.width - width_px - HINT_MARGIN_PX, HINT_MARGIN_PX);
  const float x = is_left    ? HINT_MARGIN_PX
                  : is_right ? most_px
                             : CLAMP ((float)left_px - width_px / 2, HINT_MARGIN_PX, most_px);
  const float top_px = body.origin.y + HINT_TOP_PX;
  const float end_px = MAX (body.origin.y + body.size.height - height_px - HINT_MARGIN_PX, top_px);
  /* A row may be in view by a few pixels alone. */
  const float y = has_lane
                      ? CLAMP (lane.origin.y + (lane.size.height - height_px) / 2, top_px, end_px)
                  : is_up ? top_px
                          : end_px;
  *ret_area = GRAPHENE_RECT_INIT (floorf (body.origin.x + x), floorf (y), width_px, height_px);
  return hint;
}

gboolean
lns_timeline_overlay_is_hint (const LnsTimelineLayout *layout, double x, double y)
{
  graphene_rect_t area;
  g_autoptr (PangoLayout) hint = find_hint (layout, &area);
  return hint != NULL &&
         graphene_rect_contains_point (&area, &GRAPHENE_POINT_INIT ((float)x, (float)y));
}

static void
snapshot_hint (const LnsTimelineLayout *layout, GtkSnapshot *snapshot)
{
  GskRoundedRect pill;
  graphene_rect_t area;
  g_autoptr (PangoLayout) hint = find_hint (layout, &area);
  if (hint == NULL)
    return;
  const LnsPalette *palette = lns_palette_get (layout->context->theme);
  const GdkRGBA back = lns_palette_rgba (palette->text, 0.9f),
                front = lns_palette_rgba (palette->background[0], 1);
  gsk_rounded_rect_init_from_rect (&pill, &area, 5);
  gtk_snapshot_push_rounded_clip (snapshot, &pill);
  gtk_snapshot_append_color (snapshot, &back, &pill.bounds);
  gtk_snapshot_pop (snapshot);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot,
                          &GRAPHENE_POINT_INIT (area.origin.x + PILL_PAD_PX, area.origin.y + 2));
  gtk_snapshot_append_layout (snapshot, hint, &front);
  gtk_snapshot_restore (snapshot);
}

static void
snapshot_linked (const LnsTimelineLayout *layout,
                 GtkSnapshot *snapshot,
                 const graphene_rect_t *body)
{
  guint n;
  const LnsLinkedEvent *linked = lns_view_get_linked_events (layout->context->view, &n);
  const LnsPalette *palette = lns_palette_get (layout->context->theme);
  GdkRGBA text = lns_palette_rgba (palette->text, 1);
  for (guint i = 0; i < n; i++)
    {
      graphene_rect_t area;
      LnsLinkLine line;
      bool is_many = lns_view_get_linked (layout->context->view)->n_all > MAX_LINKS;
      if ((i == 0 || !is_many) && lns_timeline_overlay_link_line (layout, &linked[i], &line))
        {
          append_link (snapshot, &line, &text);
          if (is_many)
            snapshot_count (layout, snapshot, &line, body);
        }
      if (event_area (layout, linked[i].id.lane, linked[i].start_ns, linked[i].end_ns, &area))
        append_double_outline (snapshot, area, palette, palette->accent);
    }
}

static void
snapshot_events (const LnsTimelineLayout *layout,
                 const LnsPixelEvent *hovered,
                 GtkSnapshot *snapshot)
{
  const LnsPalette *palette = lns_palette_get (layout->context->theme);
  graphene_rect_t area;
  LnsEventId id = lns_view_get_hovered_event (layout->context->view);
  if (id.lane != LNS_ID_NONE && id.ordinal == hovered->ordinal &&
      event_area (layout, id.lane, hovered->start_ns,
                  lns_sum (hovered->start_ns, hovered->duration_ns), &area))
    {
      GdkRGBA color = lns_palette_rgba (palette->text, 0.8f);
      append_outline (snapshot, &area, 1, &color);
    }
  int64_t start_ns, end_ns;
  LnsEventId selected = lns_view_get_selected_event (layout->context->view, NULL);
  lns_view_get_selected_times (layout->context->view, &start_ns, &end_ns);
  if (selected.lane != LNS_ID_NONE && event_area (layout, selected.lane, start_ns, end_ns, &area))
    append_double_outline (snapshot, area, palette, palette->text);
}

void
lns_timeline_overlay_snapshot (const LnsTimelineLayout *layout,
                               const LnsTimelineLayout *other,
                               const LnsPixelEvent *hovered,
                               double pointer_x,
                               GtkSnapshot *snapshot)
{
  const LnsTimelineLayout *layouts[] = { layout, other };
  const guint n = other != NULL ? 2 : 1;
  graphene_rect_t body = lns_timeline_layout_body (layout);
  gtk_snapshot_push_clip (snapshot, &body);
  for (guint i = 0; i < n; i++)
    {
      snapshot_linked (layouts[i], snapshot, &body);
      snapshot_events (layouts[i], hovered, snapshot);
    }
  snapshot_band (layout, snapshot, &body);
  for (guint i = 0; i < n; i++)
    snapshot_hint (layouts[i], snapshot);
  if (pointer_x >= body.origin.x)
    {
      GdkRGBA color =
          lns_palette_rgba (lns_palette_get (layout->context->theme)->text, POINTER_ALPHA);
      append_rect (snapshot, &color, floorf ((float)pointer_x), body.origin.y, 1, body.size.height);
    }
  gtk_snapshot_pop (snapshot);
}
