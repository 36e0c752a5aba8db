/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The list of the tables that are imported, and how each is. */

#include <stdio.h>
#include <string.h>

#include "src/base/call-text.h"
#include "src/import/nsys/import-private.h"
#include "src/tables/enums.h"

static void
name_event (LnsImport *import, LnsEvent *event, const char *name)
{
  event->name = _lns_import_bytes (import, name, strlen (name));
}

static void
finish_copy (LnsImport *import, LnsEvent *event, LnsTrackKind *track, LnsLaneKind *lane)
{
  uint64_t kind = event->extra[lns_lane_kind_extra (LNS_LANE_CUDA_MEMCPY, LNS_COLUMN_COPY_KIND)];

  name_event (import, event, lns_call_text_copy (kind));
}

static void
finish_set (LnsImport *import, LnsEvent *event, LnsTrackKind *track, LnsLaneKind *lane)
{
  name_event (import, event, "[CUDA memset]");
}

/* Rows that hold the call chain of another row's call go to a track of their own. */
static void
finish_call (LnsImport *import, LnsEvent *event, LnsTrackKind *track, LnsLaneKind *lane)
{
  uint64_t callback = event->extra[lns_lane_kind_extra (LNS_LANE_CUDA_API, LNS_COLUMN_CALLBACK)];

  event->name = _lns_import_find (&import->public_calls, event->name, event->name);
  *lane = callback >> 40 == LNS_CLASS_BACKTRACE ? LNS_LANE_CUDA_BACKTRACE : LNS_LANE_CUDA_API;
  if (*lane == LNS_LANE_CUDA_BACKTRACE)
    *track = LNS_TRACK_CUDA_BACKTRACES;
}

/* Names the time on a CPU after that CPU, so that the timeline shows where a thread ran. */
static void
finish_sched (LnsImport *import, LnsEvent *event, LnsTrackKind *track, LnsLaneKind *lane)
{
  char name[32];

  snprintf (name, sizeof name, "CPU %u",
            (unsigned)event->extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_CPU)]);
  if (event->extra[lns_lane_kind_extra (LNS_LANE_SCHED, LNS_COLUMN_SCHED_IN)] != 0)
    name_event (import, event, name);
}

/* Names a sample after its innermost function. */
static void
finish_sample (LnsImport *import, LnsEvent *event, LnsTrackKind *track, LnsLaneKind *lane)
{
  uint64_t id = event->extra[lns_lane_kind_extra (LNS_LANE_CPU_SAMPLE, LNS_COLUMN_CALL_CHAIN)];

  event->name = _lns_import_find (&import->leaves, id, 0);
}

/* In the order in which they are imported. Strings and names come first, because all others refer to them. Of GPU work,
 * kernels come first: their rows tell best which device a context is of. */
static const LnsImportTable tables[] = {
  { .name = "StringIds", .row = _lns_import_string_row, .columns = { "id", "value" } },
  { .name = "PROCESSES",
    .row = _lns_import_process_row,
    .columns = { "globalPid", "name", "pid" } },
  { .name = "ThreadNames",
    .row = _lns_import_thread_row,
    .columns = { "globalTid", "nameId", "priority" } },
  { .name = "MPI_RANKS", .row = _lns_import_rank_row, .columns = { "globalTid", "rank" } },
  { .name = "DIAGNOSTIC_EVENT",
    .row = _lns_import_diagnostic_row,
    .columns = { "timestamp", "severity", "text", "globalPid" } },
  { .name = "ANALYSIS_DETAILS", .row = _lns_import_details_row, .columns = { "duration" } },
  { .name = "TARGET_INFO_GPU", .import = _lns_import_gpus },
  { .name = "TARGET_INFO_CUDA_DEVICE",
    .row = _lns_import_device_row,
    .columns = { "gpuId", "cudaId", "pid", "uuid", "numMultiprocessors" } },
  { .name = "TARGET_INFO_CUDA_CONTEXT_INFO",
    .row = _lns_import_context_row,
    .columns = { "hwId", "vmId", "processId", "deviceId", "contextId", "nullStreamId",
                 "parentContextId", "isGreenContext", "numMultiprocessors" } },
  { .name = "TARGET_INFO_CUDA_NULL_STREAM",
    .row = _lns_import_context_row,
    .columns = { "hwId", "vmId", "processId", "deviceId", "contextId", "streamId",
                 "parentContextId", "isGreenContext", "numMultiprocessors" } },
  { .name = "CUPTI_ACTIVITY_KIND_RUNTIME", .track = LNS_TRACK_CUDA_API, .finish = finish_call },
  { .name = "CUPTI_ACTIVITY_KIND_KERNEL", .track = LNS_TRACK_CUDA_KERNELS },
  { .name = "CUPTI_ACTIVITY_KIND_MEMCPY", .track = LNS_TRACK_CUDA_MEMCPY, .finish = finish_copy },
  { .name = "CUPTI_ACTIVITY_KIND_MEMSET", .track = LNS_TRACK_CUDA_MEMSET, .finish = finish_set },
  { .name = "TARGET_INFO_CUDA_STREAM",
    .row = _lns_import_stream_row,
    .columns = { "hwId", "vmId", "processId", "contextId", "streamId", "priority", "flag",
                 "deviceId" } },
  { .name = "TARGET_INFO_NVTX_CUDA_STREAM",
    .row = _lns_import_stream_name_row,
    .columns = { "hwId", "vmId", "processId", "contextId", "streamId", "name", "deviceId" } },
  { .name = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", .track = LNS_TRACK_CUDA_SYNC },
  { .name = "CUPTI_ACTIVITY_KIND_CUDA_EVENT", .track = LNS_TRACK_CUDA_EVENTS },
  { .name = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", .track = LNS_TRACK_CUDA_GRAPHS },
  { .name = "CUDA_GRAPH_NODE_EVENTS", .track = LNS_TRACK_CUDA_GRAPH_NODES },
  { .name = "CUDA_GRAPH_EVENTS", .track = LNS_TRACK_CUDA_GRAPH_NODES },
  { .name = "CUDA_GPU_MEMORY_USAGE_EVENTS", .track = LNS_TRACK_CUDA_MEMORY },
  { .name = "CUDA_GPU_MEMORY_POOL_EVENTS", .track = LNS_TRACK_CUDA_POOLS },
  { .name = "CUDA_UM_CPU_PAGE_FAULT_EVENTS", .track = LNS_TRACK_CUDA_CPU_FAULTS },
  { .name = "CUDA_UM_GPU_PAGE_FAULT_EVENTS", .track = LNS_TRACK_CUDA_GPU_FAULTS },
  { .name = "PROFILER_OVERHEAD", .track = LNS_TRACK_CUDA_OVERHEAD },
  { .name = "CUPTI_ACTIVITY_KIND_OVERHEAD", .track = LNS_TRACK_CUDA_OVERHEAD },
  { .name = "CUPTI_ACTIVITY_KIND_JIT", .track = LNS_TRACK_CUDA_JIT },
  { .name = "CUBLAS_EVENTS", .track = LNS_TRACK_CUBLAS },
  { .name = "CUDNN_EVENTS", .track = LNS_TRACK_CUDNN },
  { .name = "OSRT_API", .track = LNS_TRACK_OS_CALLS },
  { .name = "SCHED_EVENTS", .track = LNS_TRACK_SCHED, .finish = finish_sched },
  { .name = "SAMPLING_CALLCHAINS",
    .row = _lns_import_leaf_row,
    .columns = { "id", "symbol", "stackDepth" } },
  { .name = "COMPOSITE_EVENTS", .track = LNS_TRACK_CPU_SAMPLES, .finish = finish_sample },
  { .name = "TARGET_INFO_GPU_METRICS",
    .row = _lns_import_metric_row,
    .columns = { "typeId", "metricId", "metricName" } },
  { .name = "GPU_METRICS", .track = LNS_TRACK_GPU_METRIC },
  { .name = "MPI_P2P_EVENTS", .track = LNS_TRACK_MPI },
  { .name = "MPI_COLLECTIVES_EVENTS", .track = LNS_TRACK_MPI },
  { .name = "MPI_START_WAIT_EVENTS", .track = LNS_TRACK_MPI },
  { .name = "MPI_OTHER_EVENTS", .track = LNS_TRACK_MPI },
  { .name = "LNS_COUNTERS", .import = _lns_import_counters },
  /* Last: ranges that are open end with the report.                                               */
  { .name = "NVTX_EVENTS", .import = _lns_import_nvtx },
};

const LnsImportTable *
_lns_import_tables (unsigned *ret_n)
{
  *ret_n = sizeof tables / sizeof *tables;
  return tables;
}
