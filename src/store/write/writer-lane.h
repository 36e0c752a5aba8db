/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* One lane while it is written: its events in columns, columns in chunks, and above them nodes of each level of
 * detail. It knows no file: closed chunks go where it is told, and what is left in SQL's statements. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/buffer.h"
#include "src/store/format/definitions.h"
#include "src/store/write/chunk-builder.h"
#include "src/store/write/node-sum.h"
#include "src/store/write/writer-rows.h"
#include "src/store/write/writer-statements.h"

/* One level of detail of a lane. */
typedef struct
{
  LnsNodeSum sum; /* the node in the making                                                     */
  LnsChunkBuilder builder;
} LnsWriterLevel;

typedef struct
{
  LnsLaneKind kind;
  LnsPayloadType value_type; /* of counters, else LNS_PAYLOAD_NONE                              */
  int8_t color_at;           /* index of the column COLOR in LnsEvent.extra, or −1              */
  uint8_t n_extra;
  uint8_t n_levels;
  bool is_dirty;  /* it changed since the last commit                                          */
  bool is_closed; /* nothing comes any more; what it owned may be gone                          */
  bool is_open;   /* `open` says what                                                           */
  uint32_t tails; /* bit = slot that the file may have a row of                                 */
  uint64_t n_events;
  int64_t start_ns;
  int64_t busy_ns;
  LnsChunkBuilder events; /* its end_ns is the lane's                                           */
  LnsWriterLevel *levels; /* n_levels, from level 1 on                                          */
  LnsEvent *open;         /* owned; NULL until the first one                                    */
} LnsWriterLane;

/* Begins lane ID of the report with UUID, without events. VALUE_TYPE is that of a counter's track. False where
 * memory ran out. */
bool _lns_writer_lane_init (LnsWriterLane *lane,
                            const uint8_t uuid[16],
                            uint32_t id,
                            LnsLaneKind kind,
                            LnsPayloadType value_type);

/* Frees what it owns. */
void _lns_writer_lane_clear (LnsWriterLane *lane);

/* Appends EVENT, fitted behind those before; the open event is none any more. Chunks that are full go to ROWS
 * with REVISION. False where memory ran out: the event is not in it. */
bool _lns_writer_lane_append (LnsWriterLane *lane,
                              const LnsEvent *event,
                              uint64_t revision,
                              LnsWriterRows *rows);

/* Makes EVENT (NULL for none) the open one, which a later one replaces. False where memory ran out. */
bool _lns_writer_lane_set_open (LnsWriterLane *lane, const LnsEvent *event);

/* Writes the tails and the directory row within the open transaction; SCRATCH is used for the blobs. False where
 * SQLite refused: its database says why. FAILED is set where memory has run out for nodes. */
bool _lns_writer_lane_put (LnsWriterLane *lane,
                           uint64_t revision,
                           const LnsWriterStatements *statements,
                           LnsBuffer *scratch,
                           bool *failed);
