/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How a column of a table of events is computed from an event: one rule a column, so that a table is a
 * list of columns and no function. */

#pragma once

#include "src/store/format/lane-kind.h"

typedef enum
{
  LNS_CELL_NONE,       /* NULL                                                                   */
  LNS_CELL_CONSTANT,   /* `argument`                                                             */
  LNS_CELL_EMPTY_LIST, /* the text "[]"                                                          */
  LNS_CELL_START,      /* ns                                                                     */
  LNS_CELL_END,        /* ns                                                                     */
  LNS_CELL_END_IF_KNOWN, /* the same, NULL where the event had not ended or its end was lost      */
  LNS_CELL_START_PLUS,   /* start + `column`, ns                                                  */
  LNS_CELL_NAME, /* string id                                                              */
  LNS_CELL_NAME_TEXT,
  LNS_CELL_BITS,         /* `n_bits` of `column` from bit `shift` on                             */
  LNS_CELL_BITS_OR_NULL, /* the same, NULL for 0                                                 */
  LNS_CELL_BITS_IF_ANY,  /* the same, NULL where all of `column` is 0                            */
  LNS_CELL_BITS_PLUS,    /* the same + `argument`                                                */
  LNS_CELL_VALUE, /* a counter's sample, of the type that its track names                         */
  LNS_CELL_BITS_LESS_ONE, /* the same - 1: an enumeration whose 0 is CUPTI's 1                 */
  LNS_CELL_MEMORY_KIND, /* the same - 1, as CUPTI counts from unknown, and the reference ends there */
  LNS_CELL_OVERHEAD_KIND,   /* CUpti_ActivityOverheadKind in `column` as ENUM_CUPTI_OVERHEAD_TYPE */
  LNS_CELL_CUDA_CALL_CLASS, /* ENUM_NSYS_EVENT_CLASS of a call of the runtime or driver          */
  LNS_CELL_GRAPH_CLASS, /* … of the making of a graph                                        */
  LNS_CELL_LAUNCH, /* the uint32_t at offset `argument` of the LnsCudaLaunch, from bit `shift` on */
  LNS_CELL_LAUNCH_WIDE, /* the uint64_t there                                                */
  LNS_CELL_THREAD,      /* globalTid of the thread in `column`; NULL where there is none     */
  /* What the lane alone tells.                                                                   */
  LNS_CELL_GLOBAL_TID,
  LNS_CELL_GLOBAL_PID,
  LNS_CELL_DEVICE,        /* CUDA's number in the process                                        */
  LNS_CELL_CONTEXT,       /* CUPTI's contextId                                                   */
  LNS_CELL_GREEN_CONTEXT, /* the same if it is green, else 0                                     */
  LNS_CELL_STREAM,        /* CUPTI's streamId                                                    */
  LNS_CELL_STREAM_OR_ALL, /* the same, 4294967295 for waits that are for no single stream        */
  LNS_CELL_DEPTH,         /* the lane's ordinal                                                  */
  LNS_CELL_TRACK_NUMBER,
  LNS_CELL_TRACK_METRIC,
} LnsCellRule;

typedef struct
{
  LnsCellRule rule;
  LnsColumnId column;
  uint8_t shift, n_bits;
  uint32_t argument;
} LnsCell;
