/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a page shows of a lane: its longest events one by one, and how dense the others are. */

#pragma once

#include "src/analysis/filter.h"
#include "src/base/buffer.h"
#include "src/extract/page-names.h"

typedef struct
{
  int64_t start_ns, duration_ns;
  uint64_t ordinal;
  uint32_t name;  /* index in the page's names                                                    */
  uint32_t color; /* what the program gave it, 0xAARRGGBB, or 0                                   */
  bool is_open; /* it may have begun before, or ended later                                       */
} LnsPageItem;

/* How many events of LANE overlap SPAN; RET_FIRST (may be NULL) gets the ordinal of the first one. O(log n). */
bool _lns_page_items_count (LnsReport *report,
                            uint32_t lane,
                            const LnsFilterSpan *span,
                            uint64_t *ret_first,
                            uint64_t *ret_n,
                            LnsError *error);

typedef struct
{
  uint64_t n;         /* events in the span                                                       */
  uint64_t n_left;    /* of them, those that are told by density alone                            */
  int64_t longest_ns; /* of these                                                                 */
  LnsBuffer
      events; /* for each: start, from the one before (from the span for the first), folded to be unsigned; duration × 2, + 1 if open; name; colour
                         if `has_colors`: all varints                                             */
  bool has_colors;
  LnsBuffer
      density; /* N_PLACES bytes: 0 to 255 for the share of the time; then as many varints: how many begin there */
} LnsPageStrip;

/* Reads LANE of the report of NAMES: the N_MOST longest of the events that overlap SPAN, and N_PLACES of density if there are more.
 * RET_STRIP is to be cleared whatever is returned. False and ERROR where a chunk is damaged, or CANCEL (may be NULL) is set.
 * O(events in the span × log N_MOST). */
bool _lns_page_items_read (LnsPageNames *names,
                           uint32_t lane,
                           const LnsFilterSpan *span,
                           size_t n_most,
                           uint32_t n_places,
                           const atomic_bool *cancel,
                           LnsPageStrip *ret_strip,
                           LnsError *error);
void _lns_page_strip_clear (LnsPageStrip *strip);

/* Appends N ITEMS, which are in order, as LnsPageStrip.events has them. */
void _lns_page_items_pack (
    LnsBuffer *events, const LnsPageItem *items, size_t n, int64_t origin_ns, bool has_colors);
