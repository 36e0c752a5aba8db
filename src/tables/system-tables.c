/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The tables about the operating system, CPUs, GPU metrics and MPI: names, columns, types and what each is
 * made of. Columns and their order are those of public exports of schema 3.25; of GPU_METRICS and MPI_*,
 * which none of them has, those of the reference's documentation. */

#include "src/tables/event-columns-private.h"

static const LnsTableColumn OSRT_API[] = {
  INTEGER_NOT_NULL ("start", START),
  INTEGER_NOT_NULL ("end", END),
  INTEGER_NOT_NULL ("eventClass", BITS_PLUS (EVENT_CLASS, 27)),
  INTEGER ("globalTid", TID),
  INTEGER_NOT_NULL ("nameId", NAME),
  INTEGER_NOT_NULL ("returnValue", BITS (RETURN_VALUE)),
  INTEGER ("nestingLevel", DEPTH),
  INTEGER_NOT_NULL ("callchainId", BITS (CALL_CHAIN)),
  INTEGER_NOT_NULL ("argumentsId", BITS (ARGUMENTS)),
};

static const LnsTableColumn SCHED_EVENTS[] = {
  INTEGER_NOT_NULL ("start", START),
  INTEGER_NOT_NULL ("cpu", BITS (CPU)),
  INTEGER_NOT_NULL ("isSchedIn", BITS (SCHED_IN)),
  INTEGER ("globalTid", TID),
  INTEGER ("threadState", BITS (THREAD_STATE)),
  INTEGER ("threadBlock", BITS_OR_NULL (THREAD_BLOCK)),
};

static const LnsTableColumn COMPOSITE_EVENTS[] = {
  INTEGER_NOT_NULL ("id", BITS (CALL_CHAIN)),
  INTEGER_NOT_NULL ("start", START),
  INTEGER ("cpu", BITS (CPU)),
  INTEGER ("threadState", BITS (THREAD_STATE)),
  INTEGER ("globalTid", TID),
  INTEGER_NOT_NULL ("cpuCycles", BITS (CYCLES)),
};

static const LnsTableColumn GPU_METRICS[] = {
  INTEGER_NOT_NULL ("rawTimestamp", START_PLUS (RAW_TIME)),
  INTEGER_NOT_NULL ("timestamp", START),
  INTEGER_NOT_NULL ("typeId", TRACK_NUMBER),
  INTEGER_NOT_NULL ("metricId", TRACK_METRIC),
  INTEGER_NOT_NULL ("value", VALUE),
};

/* clang-format off */
#define MPI_CALL                                                                                   \
  INTEGER_NOT_NULL ("start", START),                                                               \
  INTEGER ("end", END_IF_KNOWN),                                                                   \
  INTEGER ("globalTid", TID),                                                                      \
  INTEGER ("textId", NAME)
#define MPI_COMMUNICATOR                                                                           \
  INTEGER ("commHandle", BITS (COMMUNICATOR)),                                                     \
  INTEGER ("commUid", BITS_OR_NULL (COMMUNICATOR_UID))
/* clang-format on */

static const LnsTableColumn MPI_P2P_EVENTS[] = {
  MPI_CALL,
  MPI_COMMUNICATOR,
  INTEGER ("tag", BITS (TAG)),
  INTEGER ("remoteRank", BITS (PEER_RANK)),
  INTEGER ("size", BITS (BYTES)),
  INTEGER ("requestHandle", BITS_OR_NULL (REQUEST)),
};

static const LnsTableColumn MPI_COLLECTIVES_EVENTS[] = {
  MPI_CALL,
  MPI_COMMUNICATOR,
  INTEGER ("rootRank", BITS (PEER_RANK)),
  INTEGER ("size", BITS (BYTES)),
  INTEGER ("recvSize", BITS (RECEIVED_BYTES)),
  INTEGER ("requestHandle", BITS_OR_NULL (REQUEST)),
};

static const LnsTableColumn MPI_START_WAIT_EVENTS[] = {
  MPI_CALL,
  INTEGER ("requestHandle", BITS_OR_NULL (REQUEST)),
};

static const LnsTableColumn MPI_OTHER_EVENTS[] = {
  MPI_CALL,
};

#define MPI(name, class)                                                                           \
 {                                                                                                 \
  COLUMNS (name, EVENTS), .kinds = 1u << LNS_LANE_MPI_CALL, .filter = BITS (EVENT_CLASS),          \
                          .passes = 1u << LNS_MPI_##class, .is_optional = true                     \
 }
#define OPTIONAL(name, kind)                                                                       \
 {                                                                                                 \
  COLUMNS (name, EVENTS), .kinds = 1u << LNS_LANE_##kind, .is_optional = true                      \
 }

const LnsTable _lns_system_tables[LNS_N_SYSTEM_TABLES] = {
  OPTIONAL (OSRT_API, OS_CALL),
  OPTIONAL (SCHED_EVENTS, SCHED),
  /* Readers ask for its share of threads without looking whether it is there. */
  { COLUMNS (COMPOSITE_EVENTS, EVENTS), .kinds = 1u << LNS_LANE_CPU_SAMPLE },
  { COLUMNS (GPU_METRICS, EVENTS), .kinds = 1u << LNS_LANE_COUNTER,
    .tracks = 1u << LNS_TRACK_GPU_METRIC, .is_optional = true },
  MPI (MPI_P2P_EVENTS, P2P),
  MPI (MPI_COLLECTIVES_EVENTS, COLLECTIVE),
  MPI (MPI_START_WAIT_EVENTS, START_WAIT),
  MPI (MPI_OTHER_EVENTS, OTHER),
};
