/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/lns-lane-kind.h"

#include <stddef.h>

#define COLOR                                                                                      \
 {                                                                                                 \
  LNS_COLUMN_COLOR, "color", "ARGB"                                                                \
 }
#define CATEGORY                                                                                   \
 {                                                                                                 \
  LNS_COLUMN_CATEGORY, "category", "number"                                                        \
 }
#define PAYLOAD_TYPE                                                                               \
 {                                                                                                 \
  LNS_COLUMN_PAYLOAD_TYPE, "payload-type", "type"                                                  \
 }
#define PAYLOAD                                                                                    \
 {                                                                                                 \
  LNS_COLUMN_PAYLOAD, "payload", "bits"                                                            \
 }
#define THREAD                                                                                     \
 {                                                                                                 \
  LNS_COLUMN_THREAD, "thread", "thread"                                                            \
 }

static const LnsLaneKindInfo kinds[LNS_N_LANE_KINDS] = {
  [LNS_LANE_NVTX_PUSH_POP] = { LNS_LANE_NVTX_PUSH_POP,
                               "nvtx-push-pop",
                               4,
                               { COLOR, CATEGORY, PAYLOAD_TYPE, PAYLOAD } },
  [LNS_LANE_NVTX_START_END] = { LNS_LANE_NVTX_START_END,
                                "nvtx-start-end",
                                7,
                                { COLOR,
                                  CATEGORY,
                                  PAYLOAD_TYPE,
                                  PAYLOAD,
                                  { LNS_COLUMN_RANGE_ID, "range-id", "number" },
                                  THREAD,
                                  { LNS_COLUMN_END_THREAD, "end-thread", "thread" } } },
  [LNS_LANE_NVTX_MARK] = { LNS_LANE_NVTX_MARK,
                           "nvtx-mark",
                           4,
                           { COLOR, CATEGORY, PAYLOAD_TYPE, PAYLOAD } },
  [LNS_LANE_COUNTER] = { LNS_LANE_COUNTER,
                         "counter",
                         2,
                         { { LNS_COLUMN_VALUE, "value", "bits" }, THREAD } },
};

const LnsLaneKindInfo *
lns_lane_kind_info (LnsLaneKind kind)
{
  if ((unsigned)kind >= LNS_N_LANE_KINDS || kinds[kind].kind == LNS_LANE_NONE)
    return NULL;
  return &kinds[kind];
}

int
lns_lane_kind_extra (LnsLaneKind kind, LnsColumnId id)
{
  const LnsLaneKindInfo *info = lns_lane_kind_info (kind);
  for (unsigned i = 0; info != NULL && i < info->n_extra; i++)
    if (info->extra[i].id == id)
      return (int)i;
  return -1;
}
