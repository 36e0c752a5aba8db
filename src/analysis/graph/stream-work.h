/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Goes through the operations of one stream of a GPU by start, whatever lanes they lie in. */

#pragma once

#include "src/analysis/facts/lane-cursor.h"
#include "src/analysis/graph/graph.h"

typedef struct
{
  int64_t start_ns, end_ns;
  LnsPieceKind kind;
  uint32_t name, more; /* as LnsGraphLabel has them                                              */
  uint64_t correlation, bytes;
} LnsStreamOperation;

/* Zero, with the report set, before first use. One thread. */
typedef struct
{
  LnsReport *report;
  LNS_ARRAY (LnsLaneCursor) lanes;
  bool has_begun;
} LnsStreamWork;

/* Adds LANE to those of WORK, from which nothing was read yet. */
void lns_stream_work_add (LnsStreamWork *work, uint32_t lane);
void lns_stream_work_clear (LnsStreamWork *work);

/* The next operation; RET_FOUND gets whether there was one. False and ERROR where a chunk is damaged. O(lanes of the stream). */
bool lns_stream_work_next (LnsStreamWork *work,
                           LnsStreamOperation *ret_operation,
                           bool *ret_found,
                           LnsError *error);
