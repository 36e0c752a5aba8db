/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The colours of events on the timeline, as LnsColoring has them. */

#pragma once

#include "ui/tiles/tile.h"

/* What tells the name NAME (a string id) of events with NAMES from others: equal where what is shown of two names is. Not 0. Any
 * thread. O(size). */
uint64_t lns_event_name_key (LnsReport *report, LnsNames names, uint32_t name);

/* Remembers what names look like in rows. One thread. */
typedef struct LnsEventColors LnsEventColors;

/* REPORT and TREE must outlive it. */
LnsEventColors *lns_event_colors_new (LnsReport *report, const LnsRowTree *tree);
void lns_event_colors_free (LnsEventColors *self); /* NULL is fine */

/* The colour of an event of ROW called NAME that takes DURATION_NS, in a tile of THEME and COLORING. OWN_ARGB is the one that the
 * program gave it, or 0. A DURATION_NS below 0 is none: such events are coloured by name. */
uint32_t lns_event_colors_get (LnsEventColors *self,
                               LnsTheme theme,
                               const LnsColoring *coloring,
                               uint32_t row,
                               uint32_t own_argb,
                               uint32_t name,
                               int64_t duration_ns);

/* The same of one event, of which nothing is remembered. O(size of its name). */
uint32_t lns_event_color (LnsReport *report,
                          const LnsRowTree *tree,
                          LnsTheme theme,
                          const LnsColoring *coloring,
                          uint32_t row,
                          uint32_t own_argb,
                          uint32_t name,
                          int64_t duration_ns);
