/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The names that events of a page have, each once. */

#pragma once

#include "src/base/array.h"
#include "src/base/id-map.h"
#include "src/store/read/report.h"

/* A name that is in the report, or else a static text. */
typedef struct
{
  uint32_t string; /* id                                                                          */
  const char *text; /* … or this                                                                  */
  LnsLaneKind kind; /* of the lane: names of kernels and calls are shortened                      */
} LnsPageName;

typedef struct
{
  LnsReport *report; /* borrowed                                                                  */
  LnsIdMap places;   /* 1 + index by what names it                                                */
  LNS_ARRAY (LnsPageName) all;
} LnsPageNames;

/* The index of the name of EVENT of LANE. O(1). */
uint32_t _lns_page_names_of_event (LnsPageNames *names, uint32_t lane, const LnsEvent *event);

/* The index of TEXT, which is static, or kept as long as the page is made. O(1). */
uint32_t _lns_page_names_of_text (LnsPageNames *names, const char *text);

void _lns_page_names_clear (LnsPageNames *names);

/* What tracks of KIND are called, in the person's language. Static. */
const char *_lns_page_track (LnsTrackKind kind);
