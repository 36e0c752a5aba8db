/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Two parts of a report's time side by side, such as a slow step and one that is not: what took longer, and by how much. */

#pragma once

#include "src/analysis/facts/span-sums.h"

typedef enum
{
  LNS_SPAN_PART_NAME, /* ranges, calls or work of one name, but for numbers that tell one of many apart */
  LNS_SPAN_PART_DEVICE, /* how long a GPU worked                                                 */
  LNS_SPAN_PART_THREAD  /* how long a thread was on a CPU                                        */
} LnsSpanPartSort;

typedef struct
{
  LnsSpanPartSort sort;
  uint32_t name, lane; /* of LNS_SPAN_PART_NAME, as LnsSpanName has them                       */
  LnsSpanShare share;  /* of the others; its time is that of the first span                    */
  uint64_t n[2];       /* of LNS_SPAN_PART_NAME: how many there are in each span               */
  int64_t ns[2];       /* how long it took in each                                             */
} LnsSpanPart;

typedef LNS_ARRAY (LnsSpanPart) LnsSpanParts;

/* Compares SPANS of REPORT: what differs most first. CANCEL may be NULL. False and ERROR where a chunk is damaged, or cancelled. The
 * caller clears the array. O(log n) a lane, and the events within. Any thread. */
bool lns_span_compare (LnsReport *report,
                       const LnsSpan spans[2],
                       const atomic_bool *cancel,
                       LnsSpanParts *ret_parts,
                       LnsError *error);
