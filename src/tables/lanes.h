/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reads lanes, chunk by chunk. */

#pragma once

#include "src/store/read/report.h"

/* Looks at CHUNK of a lane of TRACK. */
typedef void (*LnsChunkFunc) (void *data, const LnsTrack *track, const LnsChunk *chunk);

/* False and ERROR where CANCEL (may be NULL) is set. */
bool lns_go_on (const atomic_bool *cancel, LnsError *error);

/* Has FUNCTION look at each chunk of LANE, with the columns that COLUMNS names (0 = all), in order. False and ERROR
 * where a chunk is damaged, or CANCEL (may be NULL) turned true. */
bool lns_read_lane (LnsReport *report,
                    uint32_t lane,
                    LnsColumnMask columns,
                    LnsChunkFunc function,
                    void *data,
                    const atomic_bool *cancel,
                    LnsError *error);

/* The same for the chunks that may have events from FROM_NS on, until one begins at *BEFORE_NS or later: FUNCTION may make that
 * earlier. */
bool lns_read_lane_between (LnsReport *report,
                            uint32_t lane,
                            LnsColumnMask columns,
                            int64_t from_ns,
                            const int64_t *before_ns,
                            LnsChunkFunc function,
                            void *data,
                            const atomic_bool *cancel,
                            LnsError *error);

/* The same as lns_read_lane () for all lanes of KIND. */
bool lns_read_lanes (LnsReport *report,
                     LnsLaneKind kind,
                     LnsColumnMask columns,
                     LnsChunkFunc function,
                     void *data,
                     const atomic_bool *cancel,
                     LnsError *error);

/* How many events the lanes of KIND hold. O(lanes). */
uint64_t lns_count_events (LnsReport *report, LnsLaneKind kind);

/* Meta keys of a report that is a part of another one: its span, in ns of the report's clock. */
#define LNS_PART_START_KEY "part_start_ns"
#define LNS_PART_END_KEY   "part_end_ns"

/* … and which ends of it are not those of the recording: "start", "end", "start,end" or "". */
#define LNS_PART_CUT_KEY "part_cut"

/* Whether REPORT is a part of another one. What is outside of its span, which RET_START_NS and RET_END_NS get, was left out, except
 * for events that reach into it. O(log meta values). */
bool lns_part_of_report (const LnsReport *report, int64_t *ret_start_ns, int64_t *ret_end_ns);

/* Whether REPORT is a part that begins behind the start of its recording, or that ends before its end. O(log meta values). */
bool lns_part_is_cut_at_start (const LnsReport *report);
bool lns_part_is_cut_at_end (const LnsReport *report);

/* How long a time REPORT tells of, in ns: from the start of collecting, which in imported reports is the first event or 0, or of the
 * last seconds that it keeps, or of the span that it is a part of. O(log meta values). */
int64_t lns_recorded_ns (const LnsReport *report);

/* Whether PROCESS, an instance, is none: PyTorch's profiler writes of itself under such names into its traces. */
bool lns_process_is_of_profiler (LnsReport *report, uint32_t process);

/* Finds when the first event of the lanes of KINDS (1 << LnsLaneKind each; 0 = all) begins and when the last one ends, on the
 * report's clock. Returns false, and leaves both alone, if there is none. O(lanes). */
bool
lns_span_of_events (LnsReport *report, uint32_t kinds, int64_t *ret_start_ns, int64_t *ret_end_ns);

/* The lanes of REPORT for which IS_ASKED (of DATA) holds, by process and then by lane: RET_N of them, to be freed. */
uint32_t *lns_lanes_by_process (LnsReport *report,
                                bool (*is_asked) (const void *data, uint32_t lane),
                                const void *data,
                                uint32_t *ret_n);

/* The track of LANE. */
const LnsTrack *lns_track_of (LnsReport *report, uint32_t lane);

/* The name (a string id) of the domain of LANE; 0 is the default domain's. */
uint32_t lns_domain_name_of (LnsReport *report, uint32_t lane);

/* Whether lanes of KIND hold what a GPU did: kernels, copies, sets and graphs. */
static inline bool
lns_is_gpu_operation (LnsLaneKind kind)
{
  return kind == LNS_LANE_CUDA_KERNEL || kind == LNS_LANE_CUDA_MEMCPY ||
         kind == LNS_LANE_CUDA_MEMSET || kind == LNS_LANE_CUDA_GRAPH;
}

/* Event I of CHUNK in column INDEX, as lns_lane_kind_extra () gives it; 0 where there is no such column. */
static inline uint64_t
lns_chunk_extra (const LnsChunk *chunk, int index, uint32_t i)
{
  return index >= 0 && chunk->extra[index] != NULL ? chunk->extra[index][i] : 0;
}
