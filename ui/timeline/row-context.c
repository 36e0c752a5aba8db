/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/row-context.h"

#include "src/analysis/call-tree.h"
#include "src/analysis/facts/gpu-time.h"
#include "ui/model/text-size.h"
#include "ui/model/theme.h"

#define MAX_HEADER_PX 480  /* the user may drag them wider */
#define HEADER_SCALE  0.88 /* of the font, as in shell/style.css */
/* What is beside the label of a GPU or a thread: indent, expander, share, margins. */
#define HEADER_EXTRA_PX 112

/* Which label of a thread is longest, about: to shape those of thousands of threads takes long. Or LNS_ID_NONE. */
static uint32_t
find_longest_thread (const LnsRowTree *tree)
{
  uint32_t longest = LNS_ID_NONE;
  glong most_chars = 0;

  for (uint32_t row = 0; row < lns_row_tree_n_rows (tree); row++)
    {
      const LnsRow *it = lns_row_tree_row (tree, row);
      const glong n_chars = it->kind == LNS_ROW_THREAD ? g_utf8_strlen (it->label, -1) : 0;
      if (n_chars > most_chars)
        longest = row;
      most_chars = MAX (most_chars, n_chars);
    }
  return longest;
}

int
lns_row_context_fitting_header_px (const LnsRowContext *self, GtkWidget *timeline)
{
  int header_px = LNS_HEADER_PX;
  const uint32_t longest = find_longest_thread (self->tree);
  for (uint32_t row = 0; row < lns_row_tree_n_rows (self->tree); row++)
    {
      int width_px;
      const LnsRow *it = lns_row_tree_row (self->tree, row);
      if (it->kind != LNS_ROW_DEVICE && row != longest)
        continue;
      g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (timeline, it->label);
      g_autoptr (PangoAttrList) bold = pango_attr_list_new ();
      pango_attr_list_insert (bold, pango_attr_weight_new (PANGO_WEIGHT_BOLD));
      pango_attr_list_insert (bold, pango_attr_scale_new (HEADER_SCALE));
      pango_layout_set_attributes (layout, bold);
      pango_layout_get_pixel_size (layout, &width_px, NULL);
      header_px = MAX (header_px, width_px + HEADER_EXTRA_PX);
    }
  return MIN (header_px, MAX_HEADER_PX);
}

bool
lns_row_context_fit_lanes (LnsRowContext *self, GtkWidget *timeline)
{
  int line_px;
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (timeline, "X");
  g_autoptr (PangoAttrList) attributes = pango_attr_list_new ();
  pango_attr_list_insert (attributes, pango_attr_weight_new (PANGO_WEIGHT_BOLD));
  pango_attr_list_insert (attributes, pango_attr_scale_new (HEADER_SCALE));
  pango_layout_set_attributes (layout, attributes);
  pango_layout_get_pixel_size (layout, NULL, &line_px);
  /* Names on bars are as large as lanes want them, and follow the size of text so. */
  const int lane_px = MAX (line_px, lns_text_scaled_px (timeline, LNS_LANE_PX));
  lns_tile_labels_set_lane_px (self->labels, lane_px);
  return lns_row_tree_set_lane_px (self->tree, lane_px);
}

void
lns_row_context_read_report (LnsRowContext *self)
{
  LnsReport *report = lns_view_get_report (self->view);
  lns_omissions_clear (&self->omissions);
  self->omissions = lns_omissions_of (report);
  self->has_functions = lns_call_has_samples (report, LNS_LANE_CPU_SAMPLE) ||
                        lns_call_has_samples (report, LNS_LANE_PYTHON_SAMPLE) ||
                        lns_gpu_time_is_there (report);
}

void
lns_row_context_init (LnsRowContext *self,
                      LnsView *view,
                      int side,
                      GtkWidget *timeline,
                      void (*tile_changed) (uint32_t row, gpointer data),
                      gpointer data)
{
  LnsReport *report = lns_view_get_report (view);
  const PangoFontDescription *font =
      pango_context_get_font_description (gtk_widget_get_pango_context (timeline));
  self->side = side;
  self->view = g_object_ref (view);
  self->tree = lns_row_tree_new (report);
  self->tiles = lns_tile_set_new (view, self->tree, font, tile_changed, data);
  self->labels = lns_tile_labels_new (report, font);
  lns_row_context_fit_lanes (self, timeline);
  self->answer = lns_answer_of (view);
  lns_row_context_read_report (self);
  self->theme = lns_theme_now ();
}

void
lns_row_context_clear (LnsRowContext *self)
{
  lns_tile_set_free (self->tiles);
  lns_tile_labels_free (self->labels);
  lns_row_tree_unref (self->tree);
  lns_omissions_clear (&self->omissions);
  g_clear_object (&self->answer);
  g_clear_object (&self->view);
  g_free (self->waiting_text);
}
