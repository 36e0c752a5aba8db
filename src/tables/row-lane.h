/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reads some consecutive events of one lane as rows. A cursor goes through these one by one, or merges them. */

#pragma once

#include "src/tables/row-cursor.h"
#include "src/tables/tables-private.h"

typedef struct
{
  int64_t min, max;
} LnsRowRange;

#define LNS_ROW_RANGE_ALL ((LnsRowRange){ INT64_MIN, INT64_MAX })

static inline bool
lns_row_range_is_all (LnsRowRange range)
{
  return range.min == INT64_MIN && range.max == INT64_MAX;
}

static inline bool
lns_row_range_has (LnsRowRange range, int64_t value)
{
  return value >= range.min && value <= range.max;
}

/* A cursor's constraints, as ranges that events must be in. */
typedef struct
{
  LnsRowRange of[LNS_N_ROLES]; /* by LnsColumnRole; all of LNS_ROLE_NONE and LNS_ROLE_LANE       */
  const LnsTable *table; /* whose filter they must pass                                         */
} LnsRowBounds;

typedef struct
{
  const LnsTableLane *lane;
  uint64_t ordinal, last; /* the event, and one past the last that may match                    */
  const LnsChunk *chunk;
  LnsChunkWalker *walker; /* for long stretches, which are not worth the cache                  */
  const int8_t *extra;  /* index of each LnsColumnId in the chunk's, or -1                       */
  uint64_t correlation; /* which events have, or 0 for any                                      */
} LnsRowLane;

/* The NVTX_EVENTS.eventType of events of KIND. */
int _lns_row_event_type (LnsLaneKind kind);

/* Puts ROWS before the first event of LANE that BOUNDS allow. COLUMNS is a mask of LnsColumnId. MAY_WALK:
 * a long stretch is read past the cache, through a connection of its own. */
bool _lns_row_lane_open (LnsRowLane *rows,
                         const LnsTables *tables,
                         const LnsTableLane *lane,
                         const LnsRowBounds *bounds,
                         LnsColumnMask columns,
                         bool may_walk,
                         LnsError *error);
void _lns_row_lane_close (LnsRowLane *rows);

/* Loads the event at `ordinal`, or the first after it that BOUNDS allow. RET_ROW: there is one. */
bool _lns_row_lane_settle (LnsRowLane *rows,
                           const LnsTables *tables,
                           const LnsRowBounds *bounds,
                           LnsColumnMask columns,
                           bool *ret_row,
                           LnsError *error);

/* Its values. */
int64_t _lns_row_lane_start (const LnsRowLane *rows);
LnsValue _lns_row_lane_cell (const LnsRowLane *rows, const LnsTables *tables, const LnsCell *cell);

/* What CELL is in all events of LANE; it is one that the lane alone tells (LNS_ROLE_LANE).       */
int64_t _lns_lane_cell (const LnsTableLane *lane, const LnsCell *cell);

/* The lane columns that CELL is made of. */
LnsColumnMask _lns_cell_columns (const LnsCell *cell);

/* The value of COLUMN in the event, 0 where its kind has none. */
static inline uint64_t
_lns_row_lane_extra (const LnsRowLane *rows, LnsColumnId column)
{
  int index = rows->extra[column];
  return index >= 0 && rows->chunk->extra[index] != NULL
             ? rows->chunk->extra[index][rows->ordinal - rows->chunk->first]
             : 0;
}
