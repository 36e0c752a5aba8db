/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a lane stores: one table of lane kinds and their columns. Every event has a start, a
 * duration, a name and flags; a kind adds up to LNS_EXTRA_MAX columns of its own, which an LnsEvent
 * and an LnsChunk hold at the index that this table gives. Column ids never change meaning; a
 * reader skips the ids that it does not know. */

#pragma once

#include <stdint.h>

#define LNS_EXTRA_MAX 10

typedef enum
{
  LNS_LANE_NONE,
  LNS_LANE_NVTX_PUSH_POP,  /* push/pop ranges of one thread and domain, lane = depth             */
  LNS_LANE_NVTX_START_END, /* start/end ranges of one process and domain, lowest free lane       */
  LNS_LANE_NVTX_MARK,      /* marks of one thread and domain, duration 0                         */
  LNS_LANE_COUNTER,        /* samples of one counter, duration 0                                 */
  LNS_N_LANE_KINDS
} LnsLaneKind;

/* Column ids in the file. */
typedef enum
{
  LNS_COLUMN_START = 1,    /* ns of the report clock, int64, ascending within a lane             */
  LNS_COLUMN_DURATION = 2, /* ns, ≥ 0                                                            */
  LNS_COLUMN_NAME = 3,     /* string id                                                          */
  LNS_COLUMN_FLAGS = 4,    /* LnsEventFlags                                                      */
  LNS_COLUMN_COLOR = 5,    /* 0xAARRGGBB; 0 = the program gave none                              */
  LNS_COLUMN_CATEGORY = 6, /* the program's category number within the domain; 0 = none          */
  LNS_COLUMN_PAYLOAD_TYPE = 7, /* LnsPayloadType                                                 */
  LNS_COLUMN_PAYLOAD = 8,      /* the value's bits, or the string id of the bytes                */
  LNS_COLUMN_RANGE_ID = 9,     /* the id that the program got from nvtxRangeStart                */
  LNS_COLUMN_THREAD = 10,      /* thread instance that started the event                         */
  LNS_COLUMN_END_THREAD = 11,  /* thread instance that ended it                                  */
  LNS_COLUMN_VALUE = 12,       /* a counter's sample: bits of the type its track names           */
  LNS_N_COLUMNS = 13           /* one past the highest id                                        */
} LnsColumnId;

typedef enum
{
  LNS_EVENT_OPEN_START = 1 << 0,  /* began before the report did; start is the report's          */
  LNS_EVENT_OPEN_END = 1 << 1,    /* had not ended when the report (or its process) did          */
  LNS_EVENT_END_UNKNOWN = 1 << 2, /* its end was lost: duration says nothing, SQL's end is NULL  */
  LNS_EVENT_LOST_BEFORE = 1 << 3, /* records were dropped between it and the one before          */
  LNS_EVENT_LATE = 1 << 4,        /* came after the watermark                                    */
  LNS_EVENT_CLIPPED = 1 << 5,     /* cut to the report's span                                    */
  LNS_EVENT_REGISTERED = 1 << 6,  /* its name is a registered string                             */
} LnsEventFlags;

typedef enum
{
  LNS_PAYLOAD_NONE,
  LNS_PAYLOAD_UINT64,
  LNS_PAYLOAD_INT64,
  LNS_PAYLOAD_DOUBLE,
  LNS_PAYLOAD_UINT32,
  LNS_PAYLOAD_INT32,
  LNS_PAYLOAD_FLOAT,
  LNS_PAYLOAD_TYPED, /* PAYLOAD is the string id of: { u64 schema id, u32 bytes, bytes }…, LE    */
} LnsPayloadType;

typedef struct
{
  LnsColumnId id;
  const char *name; /* "color"                                                                  */
  const char *unit; /* "ns", "ARGB", "string", "bits", …                                        */
} LnsLaneColumn;

typedef struct
{
  LnsLaneKind kind;
  const char *name; /* "nvtx-push-pop": stable, also in SQL and logs                            */
  unsigned n_extra; /* columns beyond start, duration, name and flags                           */
  LnsLaneColumn extra[LNS_EXTRA_MAX];
} LnsLaneKindInfo;

/* The row of KIND, or NULL where KIND is not known. O(1), any thread. */
const LnsLaneKindInfo *lns_lane_kind_info (LnsLaneKind kind);

/* The index of column ID in LnsEvent.extra and LnsChunk.extra of KIND, or -1. O(columns). */
int lns_lane_kind_extra (LnsLaneKind kind, LnsColumnId id);

/* One event. Plain value. */
typedef struct
{
  int64_t start_ns;    /* report clock: ns since the session's start, may be negative            */
  int64_t duration_ns; /* ≥ 0                                                                    */
  uint32_t name;       /* string id; 0 = none                                                    */
  uint32_t flags;      /* LnsEventFlags                                                          */
  uint64_t extra[LNS_EXTRA_MAX]; /* the kind's own columns, by lns_lane_kind_extra ()            */
} LnsEvent;
