/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How the viewer shows each kind of lane: one line of a table for each kind. */

#pragma once

#include <glib.h>
#include <stdbool.h>

#include "src/store/format/lane-kind.h"

typedef enum
{
  LNS_LOOK_BARS,
  LNS_LOOK_MARKS, /* its events have no length    */
  LNS_LOOK_CURVE  /* its events are values, joined */
} LnsLookForm;

typedef struct
{
  const char *name; /* of such an event, to be translated: "Kernel". NULL: none of its own */
  LnsLookForm form;
  bool is_work;       /* such events keep a GPU busy                                        */
  uint8_t link_order; /* how soon a person looks for such an event among those that are tied
                         to another: 0 first                                                 */
} LnsLaneLook;

/* The line of KIND. Static; a kind that is not known has the line of LNS_LANE_NONE. */
const LnsLaneLook *lns_lane_look (LnsLaneKind kind);
