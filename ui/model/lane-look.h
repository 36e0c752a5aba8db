/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How the viewer shows each kind of lane: one line of a table for each kind. */

#pragma once

#include "ui/model/cuda-text.h"

typedef enum
{
  LNS_LOOK_BARS,
  LNS_LOOK_MARKS,  /* its events have no length    */
  LNS_LOOK_TICKS,  /* the same, many and all alike */
  LNS_LOOK_STATES, /* of a thread: see src/analysis/facts/thread-states.h */
  LNS_LOOK_CURVE   /* its events are values, joined */
} LnsLookForm;

/* What the colour of an event tells. */
typedef enum
{
  LNS_HUE_OF_NAME,  /* what it is called                                           */
  LNS_HUE_OF_CALL,  /* what the call is for                                        */
  LNS_HUE_OF_WORK,  /* the direction of a copy or memset; what a kernel is called  */
  LNS_HUE_OF_THREAD /* which thread it is: the whole name, with the number         */
} LnsHueOf;

#define LNS_LINK_RANK_MAX 3

/* Most kinds have 0 in all fields but the first. */
typedef struct
{
  const char *name; /* of such an event, to be translated: "Kernel". NULL: none of its own */
  LnsLookForm form;
  LnsHueOf hue_of;
  bool is_work;      /* such events keep a GPU busy                                        */
  uint8_t link_rank; /* how soon a person looks for such an event among those that are tied
                         to another: LNS_LINK_RANK_MAX first                                 */
} LnsLaneLook;

/* The line of KIND. Static; a kind that is not known has the line of LNS_LANE_NONE. */
const LnsLaneLook *lns_lane_look (LnsLaneKind kind);

/* The hue (see palette.h) of calls of KIND; LNS_HUE_WAITING for those that wait. */
unsigned lns_lane_call_hue (LnsCudaCallKind kind);

/* Finds the hue of events called NAME in lanes of KIND, if their kind decides it. Returns false if their name does: then
 * lns_hues_get () chooses the hue. O(size). */
bool lns_lane_find_hue (LnsLaneKind kind, const char *name, size_t size_bytes, unsigned *ret_hue);
