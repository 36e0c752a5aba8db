/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a thread does, in one lane: at each pixel the innermost of its ranges and calls. What a call of CUDA, a library or MPI does
 * inside, such as polling a descriptor, is that call. */

#pragma once

#include "src/store/read/pixels.h"
#include "ui/model/row-tree.h"
#include "ui/tiles/tile.h"

/* An event that is the innermost one from pixel X0 to before X1 of the query. The event itself may reach further. */
typedef struct
{
  LnsPixelEvent event;
  int x0, x1;
} LnsCombinedBar;

/* What is narrower than QUERY.min_event_px and innermost in a pixel, or the one that takes most of it. */
typedef struct
{
  uint32_t lane; /* LNS_ID_NONE: nothing */
  uint32_t name;
  uint32_t color;
  uint32_t count; /* events that start in the pixel */
  float busy;     /* 0–1 */
} LnsCombinedPixel;

/* Zero it before first use; it may be reused. */
typedef struct
{
  LnsCombinedBar *bars; /* ascending, none over another */
  uint32_t n_bars;
  LnsCombinedPixel *narrow; /* n_px of the query */
  bool coarse;              /* cached_only left something out */
} LnsCombined;

/* Fills RET_COMBINED with what ROW, of a thread, shows for QUERY. SCRATCH is as in lns_report_query_pixels (). Returns false and sets
 * ERROR as that does. Any thread. O(lanes of ROW × their pixel query). */
bool lns_combined_query (LnsReport *report,
                         const LnsRowTree *tree,
                         uint32_t row,
                         const LnsPixelQuery *query,
                         LnsPixelResult *scratch,
                         LnsCombined *ret_combined,
                         LnsError *error);

/* Replaces the states that TILE has, of the thread, by what shows: these between the bars of SELF, whose query began BESIDE device pixels
 * left of the tile. A call of the OS runtime in which the thread was on a CPU for less than half of the time, or which only waits where
 * states were not recorded, has the colour WAITING (0xRRGGBB). */
void lns_combined_join (
    const LnsCombined *self, LnsReport *report, int beside, uint32_t waiting, LnsTile *tile);

void lns_combined_clear (LnsCombined *self);
