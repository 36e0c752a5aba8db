/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Compares an event with all of its name, in whatever thread or stream: how many there are, how long they take, how many are
 * shorter, and which are the longest. */

#pragma once

#include <stdatomic.h>

#include "src/store/read/report.h"

#define LNS_ALIKE_BARS    16
#define LNS_ALIKE_LONGEST 5

typedef struct
{
  uint32_t lane;
  uint64_t ordinal;
  int64_t start_ns, duration_ns;
} LnsAlikeEvent;

typedef struct
{
  uint64_t n;       /* of events with a length                                                   */
  uint64_t n_below; /* how many are shorter                                                      */
  int64_t sum_ns, least_ns, most_ns, p50_ns, p99_ns;
  uint64_t bars[LNS_ALIKE_BARS]; /* how many there are of each length, from least_ns to most_ns   */
  unsigned own;                  /* the bar that the event is in                                 */
  /* In this order; of equal ones first those of the lane before, and the earlier ones. */
  LnsAlikeEvent longest[LNS_ALIKE_LONGEST];
  unsigned n_longest; /* how many there are */
} LnsAlikeEvents;

/* More events of one name are not compared: a median takes 8 bytes each. */
#define LNS_ALIKE_MOST 8000000

/* Compares an event called NAME (string id) that takes OWN_NS with all such in lanes of KIND. False where there are not at least two, or
 * too many, or CANCEL was set, or a chunk is damaged. Any thread. O(events of the kind). */
bool lns_alike_find (LnsReport *report,
                     LnsLaneKind kind,
                     uint32_t name,
                     int64_t own_ns,
                     const atomic_bool *cancel,
                     LnsAlikeEvents *ret_events);
