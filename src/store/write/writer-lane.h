/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A lane while it is written: builds chunks from its events, and the nodes of each level of detail. Closed chunks are passed
 * on as rows; tails are written through prepared statements. */

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
  LnsNodeSum sum; /* the node in the making */
  LnsChunkBuilder builder;
} LnsWriterLevel;

typedef struct
{
  LnsLaneKind kind;
  LnsPayloadType value_type; /* of counters, else LNS_PAYLOAD_NONE */
  int8_t color_at;           /* index of the column COLOR in LnsEvent.extra, or −1 */
  uint8_t n_extra;
  uint8_t n_levels;
  bool is_dirty;  /* it changed since the last commit */
  bool is_closed; /* no more events follow; what it owned may have been freed */
  bool is_open;   /* it has an open event, `open` */
  uint32_t tails; /* bit = slot for which the file may have a row */
  uint64_t n_events;
  int64_t start_ns;
  int64_t busy_ns;
  LnsChunkBuilder events; /* its end_ns is the lane's */
  LnsWriterLevel *levels; /* n_levels, from level 1 on */
  LnsEvent *open;         /* owned; NULL until the first one */
} LnsWriterLane;

/* Initialises lane ID of the report with UUID, without events. VALUE_TYPE is that of a counter's track. Returns false if
 * memory runs out. */
bool _lns_writer_lane_init (LnsWriterLane *lane,
                            const uint8_t uuid[16],
                            uint32_t id,
                            LnsLaneKind kind,
                            LnsPayloadType value_type);

/* Frees everything that LANE owns. */
void _lns_writer_lane_clear (LnsWriterLane *lane);

/* Appends EVENT, moved behind those before if necessary, and forgets the open event. Full chunks are added to ROWS with
 * REVISION. Returns false, without appending it, if memory runs out. */
bool _lns_writer_lane_append (LnsWriterLane *lane,
                              const LnsEvent *event,
                              uint64_t revision,
                              LnsWriterRows *rows);

/* Makes EVENT (NULL for none) the open event. Returns false if memory runs out. */
bool _lns_writer_lane_set_open (LnsWriterLane *lane, const LnsEvent *event);

/* Writes the tails and the directory row within the open transaction. Uses SCRATCH for the blobs. Returns false if SQLite
 * failed; the database has the reason. Sets FAILED if memory ran out for nodes. */
bool _lns_writer_lane_put (LnsWriterLane *lane,
                           uint64_t revision,
                           const LnsWriterStatements *statements,
                           LnsBuffer *scratch,
                           bool *failed);
