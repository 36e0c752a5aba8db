/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A tile: a picture of LNS_TILE_PX pixels of one strip of a row, and the data that it shows. A worker paints it;
 * after that it is only read. Tile k of a zoom shows [k × ns_per_tile, (k + 1) × ns_per_tile), so that a tile stays
 * valid wherever the view moves at that zoom. */

#pragma once

#include <gtk/gtk.h>

#include "src/analysis/facts/thread-states.h"
#include "src/store/read/pixels.h"
#include "ui/model/event-text.h"
#include "ui/model/palette.h"
#include "ui/model/row-tree.h"
#include "ui/model/summary.h"
#include "ui/model/scale.h"

/* Height of the lower edge of a state that is drawn by it. */
#define LNS_STATE_EDGE_PX 2

/* Height of the line below a range or call that tells the state. */
#define LNS_STATE_UNDERLINE_PX 4

typedef enum
{
  LNS_STRIP_RANGES,   /* bars of one lane                          LNS_LANE_PX high, or more     */
  LNS_STRIP_MARKS,    /* flags of one lane of marks                LNS_LANE_PX                   */
  LNS_STRIP_STATES,   /* what a thread does                        LNS_LANE_PX                   */
  LNS_STRIP_COMBINED, /* the same, with what it is in               LNS_LANE_PX                   */
  LNS_STRIP_SUMMARY,  /* how busy what is below the row is         LNS_SUMMARY_PX                */
  LNS_STRIP_COUNTER   /* samples of one lane                       LNS_COUNTER_PX                */
} LnsStripKind;

typedef struct
{
  LnsStripKind kind;
  uint32_t row;  /* of the row tree                                                             */
  uint32_t lane; /* of the report, where lanes are combined that of the states; LNS_ID_NONE for a
                    summary, and where lanes are merged                                         */
  bool odd;      /* which background the row has, among the rows that no fold hides             */
  bool quiet;    /* a summary of what is shown below it                                         */
  int lane_px;   /* lns_row_tree_row_lane_px ()                                                 */
} LnsStrip;

typedef struct
{
  LnsStrip strip;
  int64_t ns_per_tile;
  int64_t index;
  int scale; /* device pixels a pixel                                                           */
  LnsTheme theme;
  LnsColoring coloring;
} LnsTileKey;

typedef enum
{
  LNS_TILE_COARSE, /* painted from what was in memory; an exact one will replace it */
  LNS_TILE_EXACT,
  LNS_TILE_DAMAGED /* the report could not be read here                                         */
} LnsTileState;

/* Device pixels from the tile's left edge; they may lie beside the tile. */
typedef struct
{
  int x0, x1;
} LnsTileEdges;

typedef struct
{
  LnsTileKey key;
  LnsTileState state;
  cairo_surface_t
      *surface;          /* RGB24, LNS_TILE_PX × scale wide, opaque; NULL: all of it BACKGROUND  */
  uint32_t background;   /* 0xRRGGBB                                                         */
  LnsPixelEvent *events; /* drawn one by one, ascending; marks have duration 0               */
  uint32_t n_events;
  LnsThreadSpan *
      spans; /* of a strip of states: what each event stands for, which has the span's times and the
                           name of its call; else NULL */
  LnsTileEdges *
      edges; /* of a combined strip: where each event or state shows, which may be less than it takes; spans then
                          have LNS_STATE_NONE for what is an event; else NULL */
  uint32_t *
      narrow; /* of a combined strip, per pixel: the lane of what is too narrow to be told apart, or LNS_ID_NONE */
  LnsPixel *pixels;         /* LNS_TILE_PX × scale of them, or NULL                             */
  LnsCounterPixel *samples; /* the same, of a counter, or NULL                                  */
  double most;              /* with samples: the greatest value of the whole counter            */
} LnsTile;

guint lns_tile_key_hash (gconstpointer key);
gboolean lns_tile_key_equal (gconstpointer a, gconstpointer b);

/* Whether ROW stands at an odd place among the rows that no fold hides. On the tree's thread. */
bool lns_row_is_odd (const LnsRowTree *tree, uint32_t row);

/* The strips of ROW: how many there are, strip number I, and where a strip lies in the row. On the tree's thread. */
uint32_t lns_strip_count (const LnsRowTree *tree, uint32_t row);
LnsStrip lns_strip_of (LnsReport *report, const LnsRowTree *tree, uint32_t row, uint32_t i);

/* What the busy share of STRIP's pixels is one of; LNS_ACTIVITY_NONE: of its own events. Any thread. O(lanes of its row). */
LnsActivity lns_strip_activity (LnsReport *report, const LnsRowTree *tree, const LnsStrip *strip);
int lns_strip_height_px (const LnsStrip *strip);
int lns_strip_top_px (const LnsStrip *strip, uint32_t i);

/* The time at the tile's left edge, exact. */
static inline int64_t
lns_tile_origin_ns (const LnsTileKey *key)
{
  int64_t origin_ns;
  return !__builtin_mul_overflow (key->index, key->ns_per_tile, &origin_ns) ? origin_ns
         : key->index < 0                                                   ? INT64_MIN
                                                                            : INT64_MAX;
}

/* The hue of an event called NAME of ROW of TREE: the one that its kind of lane has (model/lane-look.h), or else the one
 * of its name, turned by that of the domain. */
unsigned
lns_event_hue (LnsReport *report, const LnsRowTree *tree, const LnsRow *row, uint32_t name);

/* The row of TREE that says what events of LANE, which STRIP shows, are called and which hue they have. */
uint32_t lns_strip_row_of (const LnsRowTree *tree, const LnsStrip *strip, uint32_t lane);

/* The kind of names that events of ROW have. */
LnsNames lns_row_names (const LnsRow *row);

/* The edges of EVENT of TILE. Adjacent bars share an edge, as all edges are rounded alike. A bar is at least a pixel wide. */
void lns_tile_edges_of (const LnsTile *tile, const LnsPixelEvent *event, int *ret_x0, int *ret_x1);

/* The memory that TILE takes. */
gsize lns_tile_bytes (const LnsTile *tile);
void lns_tile_free (LnsTile *tile); /* NULL is fine */

/* The event drawn at X_PX (0 … LNS_TILE_PX) of the tile or at most SLACK_PX beside it, or NULL. */
const LnsPixelEvent *lns_tile_event_at (const LnsTile *tile, double x_px, double slack_px);
