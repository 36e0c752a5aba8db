/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The rows of a page: processes, below them their GPUs and streams, then what belongs to the process, then its threads, those that call
 * CUDA first; behind all processes the CPUs. The order and the labels are those of the viewer. */

#pragma once

#include "src/base/array.h"
#include "src/extract/selection.h"

typedef struct
{
  char *label; /* owned                                                                          */
  unsigned depth;
  bool is_group;   /* it stands for the deeper rows that follow                                 */
  bool is_folded;  /* … which are of little interest                                           */
  bool is_device;  /* … and are a GPU: its strip is all work below it                           */
  bool is_of_cpus; /* … or the CPUs                                                            */
  uint32_t process, device; /* or LNS_ID_NONE                                                    */
  size_t first_lane, n_lanes; /* of the page's lanes; by strip                                    */
} LnsPageRow;

/* A lane, and which strip of its row it is drawn in. */
typedef struct
{
  uint32_t lane;
  unsigned strip;
} LnsPageLane;

typedef struct
{
  LNS_ARRAY (LnsPageRow) all;
  LNS_ARRAY (LnsPageLane) lanes;
} LnsPageRows;

/* Makes the rows of the lanes of REPORT that SELECTION has and that have events in its span. To be cleared. False and ERROR where a
 * chunk is damaged. O(lanes × log). */
bool _lns_page_rows_make (LnsReport *report,
                          const LnsSelection *selection,
                          LnsPageRows *ret_rows,
                          LnsError *error);
void _lns_page_rows_clear (LnsPageRows *rows);
