/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/tiles/event-color.h"

#include "src/base/hash.h"

#define KEPT 4096

typedef struct
{
  uint32_t name, row;
  unsigned hue; /* 1 + the hue; 0 marks an empty entry */
  uint64_t key; /* lns_event_name_key () */
} Kept;

struct LnsEventColors
{
  LnsReport *report;
  const LnsRowTree *tree;
  Kept kept[KEPT];
};

uint64_t
lns_event_name_key (LnsReport *report, LnsNames names, uint32_t name)
{
  size_t size_bytes;
  const char *text = lns_report_string (report, name, &size_bytes);

  text = lns_event_short_name (names, text, &size_bytes);
  return lns_hash (text, size_bytes) | 1;
}

LnsEventColors *
lns_event_colors_new (LnsReport *report, const LnsRowTree *tree)
{
  LnsEventColors *self = g_new0 (LnsEventColors, 1);

  self->report = report;
  self->tree = tree;
  return self;
}

void
lns_event_colors_free (LnsEventColors *self)
{
  g_free (self);
}

static Kept
look_at (LnsReport *report, const LnsRowTree *tree, uint32_t row, uint32_t name)
{
  const LnsRow *it = lns_row_tree_row (tree, row);

  return (Kept){ .name = name,
                 .row = row,
                 .hue = 1 + lns_event_hue (report, tree, it, name),
                 .key = lns_event_name_key (report, lns_row_names (it), name) };
}

static uint32_t
color_of (LnsTheme theme,
          const LnsColoring *coloring,
          const Kept *kept,
          uint32_t own_argb,
          int64_t duration_ns)
{
  const LnsPalette *palette = lns_palette_get (theme);

  return coloring->only_name != 0 && kept->key != coloring->only_name ? lns_palette_gray (palette)
         : coloring->mode == LNS_COLORS_BY_DURATION && duration_ns >= 0
             ? lns_palette_duration (palette, duration_ns)
             : lns_palette_color (palette, own_argb, kept->hue - 1);
}

uint32_t
lns_event_colors_get (LnsEventColors *self,
                      LnsTheme theme,
                      const LnsColoring *coloring,
                      uint32_t row,
                      uint32_t own_argb,
                      uint32_t name,
                      int64_t duration_ns)
{
  Kept *kept = &self->kept[(name * 31 + row) % KEPT];

  if (kept->hue == 0 || kept->name != name || kept->row != row)
    *kept = look_at (self->report, self->tree, row, name);
  return color_of (theme, coloring, kept, own_argb, duration_ns);
}

uint32_t
lns_event_color (LnsReport *report,
                 const LnsRowTree *tree,
                 LnsTheme theme,
                 const LnsColoring *coloring,
                 uint32_t row,
                 uint32_t own_argb,
                 uint32_t name,
                 int64_t duration_ns)
{
  const Kept kept = look_at (report, tree, row, name);

  return color_of (theme, coloring, &kept, own_argb, duration_ns);
}
