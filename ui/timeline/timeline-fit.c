/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How large headers and lanes are, which depends on the font and on the report. */

#include "src/analysis/call-tree.h"
#include "src/analysis/facts/gpu-time.h"
#include "ui/timeline/timeline-private.h"

#define MAX_HEADER_PX 480  /* the user may drag them wider */
#define HEADER_SCALE  0.88 /* of the font, as in shell/style.css */
/* What is beside a GPU's label: indent, expander, share, margins. */
#define HEADER_EXTRA_PX 112

int
_lns_timeline_fitting_header_px (LnsTimeline *self)
{
  int header_px = LNS_HEADER_PX;
  for (uint32_t row = 0; row < lns_row_tree_n_rows (self->context.tree); row++)
    {
      int width_px;
      const LnsRow *it = lns_row_tree_row (self->context.tree, row);
      if (it->kind != LNS_ROW_DEVICE)
        continue;
      g_autoptr (PangoLayout) layout =
          gtk_widget_create_pango_layout (GTK_WIDGET (self), it->label);
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
_lns_timeline_fit_lanes (LnsTimeline *self)
{
  int line_px;
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), "X");
  g_autoptr (PangoAttrList) attributes = pango_attr_list_new ();
  pango_attr_list_insert (attributes, pango_attr_weight_new (PANGO_WEIGHT_BOLD));
  pango_attr_list_insert (attributes, pango_attr_scale_new (HEADER_SCALE));
  pango_layout_set_attributes (layout, attributes);
  pango_layout_get_pixel_size (layout, NULL, &line_px);
  lns_tile_labels_set_lane_px (self->context.labels, MAX (line_px, LNS_LANE_PX));
  return lns_row_tree_set_lane_px (self->context.tree, line_px);
}

void
_lns_timeline_find_functions (LnsTimeline *self)
{
  LnsReport *report = lns_view_get_report (self->context.view);
  self->context.has_functions = lns_call_has_samples (report, LNS_LANE_CPU_SAMPLE) ||
                                lns_call_has_samples (report, LNS_LANE_PYTHON_SAMPLE) ||
                                lns_gpu_time_is_there (report);
}
