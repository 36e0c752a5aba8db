/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* How a column is computed from an event, or from a definition. Each column has one rule, so a table of events is a list
 * of columns and needs no function of its own. */

#pragma once

#include "src/store/format/lane-kind.h"

typedef enum
{
  LNS_CELL_NONE,       /* NULL                                                                 */
  LNS_CELL_CONSTANT,   /* `argument`                                                           */
  LNS_CELL_EMPTY_LIST, /* the text "[]"                                                        */
  /* Of definitions: what stands in `n_bits` at offset `argument` of the struct. */
  LNS_CELL_FIELD,              /* the number                                                     */
  LNS_CELL_FIELD_OR_NULL,      /* the same, NULL for 0                                           */
  LNS_CELL_FIELD_TIME,         /* ns, NULL for LNS_TIME_UNKNOWN                                  */
  LNS_CELL_FIELD_TEXT,         /* the text of a string id                                        */
  LNS_CELL_FIELD_TEXT_OR_NULL, /* the same, NULL for 0                                           */
  LNS_CELL_FIELD_UUID,   /* the same without its kind: "8f2c…" of "GPU-8f2c…"              */
  LNS_CELL_FIELD_DOMAIN, /* the program's number of a domain                               */
  LNS_CELL_FIELD_PID,    /* the system's id of a process                                   */
  LNS_CELL_FIELD_GLOBAL_PID, /* globalPid of a process, or NULL                                */
  LNS_CELL_FIELD_GLOBAL_TID, /* globalTid of a thread, or NULL                                 */
  /* Of events. */
  LNS_CELL_START,        /* ns                                                                   */
  LNS_CELL_END,          /* ns                                                                   */
  LNS_CELL_END_IF_KNOWN, /* the same; NULL for marks, and where no end was recorded              */
  LNS_CELL_START_PLUS,   /* start + `column`, ns                                                 */
  LNS_CELL_START_LESS,   /* start - (`column` - 1), ns; NULL for 0                               */
  LNS_CELL_ROWID,
  LNS_CELL_NAME, /* string id                                                                    */
  LNS_CELL_NAME_TEXT,
  LNS_CELL_PLAIN_NAME,      /* the text of a name that the program gave as text, else NULL       */
  LNS_CELL_REGISTERED_NAME, /* the string id of a name that it had registered, else NULL         */
  LNS_CELL_BITS,            /* `n_bits` of `column` from bit `shift` on                          */
  LNS_CELL_BITS_OR_NULL,    /* the same, NULL for 0                                              */
  LNS_CELL_BITS_IF_ANY,     /* the same, NULL where all of `column` is 0                         */
  LNS_CELL_BITS_PLUS,       /* the same + `argument`                                             */
  LNS_CELL_BITS_LESS_ONE,   /* the same - 1: an enumeration whose 0 is CUPTI's 1                 */
  LNS_CELL_BITS_PID, /* globalPid of the process with that id on the machine of the lane's; NULL for 0 */
  LNS_CELL_MEMORY_KIND, /* ENUM_CUDA_MEM_KIND of a CUpti_ActivityMemoryKind, which counts from unknown */
  LNS_CELL_OVERHEAD_KIND, /* ENUM_CUPTI_OVERHEAD_TYPE of a CUpti_ActivityOverheadKind            */
  LNS_CELL_CUDA_CALL_CLASS, /* ENUM_NSYS_EVENT_CLASS of a call of the runtime or driver          */
  LNS_CELL_GRAPH_CLASS, /* … of the making of a graph                                        */
  LNS_CELL_LAUNCH,      /* the `n_bits` at offset `argument` of the LnsCudaLaunch >> `shift` */
  LNS_CELL_VALUE,       /* a counter's sample, of the type that its track names              */
  LNS_CELL_PAYLOAD, /* the payload if its LnsPayloadType is `argument`, else NULL                */
  LNS_CELL_PAYLOAD_JSON,   /* a payload that is JSON or has a schema, as JSON                    */
  LNS_CELL_PAYLOAD_BINARY, /* a payload that has a schema, as lns_payload_write_binary () has it */
  LNS_CELL_THREAD,  /* globalTid of the thread in `column`; NULL where there is none             */
  LNS_CELL_STARTER, /* globalTid of the thread that started the event, or else its globalPid     */
  LNS_CELL_ENDER,   /* globalTid of the thread that ended it, if that is another one, else NULL  */
  LNS_CELL_TRACK_NAME, /* string id                                                              */
  LNS_CELL_TRACK_NAME_TEXT,
  LNS_CELL_TRACK_UNIT, /* text, or NULL                                                          */
  LNS_CELL_DOMAIN,     /* the program's number of the NVTX domain                                */
  LNS_CELL_EVENT_TYPE, /* NVTX_EVENTS.eventType                                                  */
  /* From here on the lane alone tells: lns_cell_is_of_lane (). */
  LNS_CELL_GLOBAL_TID,
  LNS_CELL_GLOBAL_PID,
  LNS_CELL_DEVICE,        /* CUDA's number in the process                                        */
  LNS_CELL_CONTEXT,       /* CUPTI's contextId                                                   */
  LNS_CELL_GREEN_CONTEXT, /* the same if it is green, else 0                                     */
  LNS_CELL_STREAM,        /* CUPTI's streamId                                                    */
  LNS_CELL_STREAM_OR_ALL, /* the same, 4294967295 for waits that are for no single stream        */
  LNS_CELL_GPU,           /* TARGET_INFO_GPU.id                                                  */
  LNS_CELL_DEPTH,         /* the lane's ordinal                                                  */
  LNS_CELL_TRACK_NUMBER,
  LNS_CELL_TRACK_METRIC,
} LnsCellRule;

/* Whether the value is the same in all events of a lane. */
static inline bool
lns_cell_is_of_lane (LnsCellRule rule)
{
  return rule >= LNS_CELL_GLOBAL_TID;
}

typedef struct
{
  LnsCellRule rule;
  LnsColumnId column;
  uint8_t shift, n_bits;
  uint32_t argument;
} LnsCell;
