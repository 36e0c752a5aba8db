/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/tiles/tile-labels.h"

#include <glib/gi18n.h>

#include "ui/model/display-text.h"
#include "ui/model/row-tree.h"

#define FONT_PX       11 /* in lanes of LNS_LANE_PX */
#define MAX_LAYOUTS   8192
#define MIDDLE_MIN_PX 80 /* in less, what is left of a name is too little on both sides */
#define WIDTH_STEP                                                                                 \
 16 /* widths are rounded down to this, so that a zoom finds its layouts again  \
                        */
#define MAX_NAME_LEN 512 /* no screen shows more; a name may have 64 KiB */

struct LnsTileLabels
{
  LnsReport *report;
  PangoContext *context; /* owned */
  int lane_px;
  GHashTable
      *layouts; /* name << 32 | LnsNames << 30 | width in steps (0 = uncut) → PangoLayout, owned */
};

LnsTileLabels *
lns_tile_labels_new (LnsReport *report, const PangoFontDescription *font)
{
  LnsTileLabels *self = g_new0 (LnsTileLabels, 1);
  self->report = report;
  g_autoptr (PangoFontMap) map = pango_cairo_font_map_new ();
  self->context = pango_font_map_create_context (map);
  pango_context_set_font_description (self->context, font);
  cairo_font_options_t *options = cairo_font_options_create ();
  cairo_font_options_set_antialias (options, CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_style (options, CAIRO_HINT_STYLE_SLIGHT);
  pango_cairo_context_set_font_options (self->context, options);
  cairo_font_options_destroy (options);
  self->layouts = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_object_unref);
  lns_tile_labels_set_lane_px (self, LNS_LANE_PX);
  return self;
}

void
lns_tile_labels_set_lane_px (LnsTileLabels *self, int lane_px)
{
  if (self->lane_px == lane_px)
    return;
  self->lane_px = lane_px;
  PangoFontDescription *font =
      pango_font_description_copy (pango_context_get_font_description (self->context));
  pango_font_description_set_absolute_size (font, (double)(FONT_PX * lane_px / LNS_LANE_PX) *
                                                      PANGO_SCALE);
  pango_context_set_font_description (self->context, font);
  pango_font_description_free (font);
  g_hash_table_remove_all (self->layouts);
}

void
lns_tile_labels_free (LnsTileLabels *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->layouts);
  g_object_unref (self->context);
  g_free (self);
}

/* Beside the LnsNames: the name is the number of a CPU. */
#define NAMES_CPU 3

/* Free with g_free (). */
static char *
text_of (LnsTileLabels *self, uint32_t name, unsigned names)
{
  size_t size_bytes;
  if (names == NAMES_CPU)
    return g_strdup_printf (_ ("CPU %u"), name);
  const char *bytes = lns_report_string (self->report, name, &size_bytes);
  bytes = lns_event_bar_name ((LnsNames)names, bytes, &size_bytes);
  return lns_display_text (bytes, MIN (size_bytes, MAX_NAME_LEN), TRUE);
}

/* Sets LAYOUT to TEXT without as much of its middle as it takes to fit into WIDTH_PX. Pango would stretch the "…" to the width. */
static void
cut_middle (PangoLayout *layout, const char *text, int width_px)
{
  const glong length = g_utf8_strlen (text, -1);
  int all_px, line_px;
  pango_layout_get_pixel_size (layout, &all_px, &line_px);
  for (glong kept = length * width_px / MAX (all_px, 1); kept > 0 && all_px > width_px; kept--)
    {
      const char *tail = g_utf8_offset_to_pointer (text, length - kept / 2);
      const int head_bytes = (int)(g_utf8_offset_to_pointer (text, kept - kept / 2) - text);
      g_autofree char *cut = g_strdup_printf ("%.*s…%s", head_bytes, text, tail);
      pango_layout_set_text (layout, cut, -1);
      pango_layout_get_pixel_size (layout, &all_px, &line_px);
    }
}

/* WIDTH_PX: 0 = uncut. */
static PangoLayout *
new_layout (LnsTileLabels *self, uint32_t name, unsigned names, int width_px)
{
  g_autofree char *text = text_of (self, name, names);
  PangoLayout *layout = pango_layout_new (self->context);
  pango_layout_set_single_paragraph_mode (layout, TRUE);
  pango_layout_set_text (layout, text, -1);
  /* Names of one kind begin alike, and end differently. */
  if (width_px >= MIDDLE_MIN_PX)
    cut_middle (layout, text, width_px);
  else if (width_px > 0)
    {
      pango_layout_set_width (layout, width_px * PANGO_SCALE);
      pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
    }
  return layout;
}

static PangoLayout *
kept_layout (LnsTileLabels *self, uint32_t name, unsigned names, int steps)
{
  gint64 key = (gint64)((guint64)name << 32 | names << 30 | (guint32)steps);
  PangoLayout *layout = g_hash_table_lookup (self->layouts, &key);
  if (layout != NULL)
    return layout;
  if (g_hash_table_size (self->layouts) >= MAX_LAYOUTS)
    g_hash_table_remove_all (self->layouts);
  layout = new_layout (self, name, names, steps * WIDTH_STEP);
  g_hash_table_insert (self->layouts, g_memdup2 (&key, sizeof key), layout);
  return layout;
}

PangoLayout *
lns_tile_labels_layout (LnsTileLabels *self,
                        uint32_t name,
                        LnsNames names,
                        double width_px,
                        int *ret_width_px,
                        int *ret_height_px)
{
  if (name == 0 || width_px < WIDTH_STEP)
    return NULL;
  PangoLayout *layout = kept_layout (self, name, names, 0);
  pango_layout_get_pixel_size (layout, ret_width_px, ret_height_px);
  if (*ret_width_px > width_px)
    {
      layout = kept_layout (self, name, names, (int)MIN (width_px, 4096.0) / WIDTH_STEP);
      pango_layout_get_pixel_size (layout, ret_width_px, ret_height_px);
    }
  return *ret_width_px > 0 ? layout : NULL;
}

PangoLayout *
lns_tile_labels_span (LnsTileLabels *self,
                      const LnsThreadSpan *span,
                      double width_px,
                      int *ret_width_px,
                      int *ret_height_px)
{
  if (lns_thread_state_is_blocked (span->state))
    return lns_tile_labels_layout (self, span->call_name, LNS_NAMES_OWN, width_px, ret_width_px,
                                   ret_height_px);
  if (span->state == LNS_STATE_RUNNING && span->function != 0)
    return lns_tile_labels_layout (self, span->function, LNS_NAMES_OWN, width_px, ret_width_px,
                                   ret_height_px);
  if (span->state != LNS_STATE_RUNNING || span->cpu == LNS_ID_NONE)
    return NULL;
  PangoLayout *layout = kept_layout (self, span->cpu, NAMES_CPU, 0);
  pango_layout_get_pixel_size (layout, ret_width_px, ret_height_px);
  return *ret_width_px <= width_px ? layout : NULL;
}
