/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a session asks of a process. It lies in the pool's header page and is set before the process sees
 * the pool; of it only the range changes then, by lns_wire_pool_set_range (). All zero but for NVTX is what
 * was asked before CUDA. */

#pragma once

#include <stdint.h>

/* LnsWireOptions.traces */
enum
{
  LNS_WIRE_TRACE_NVTX = 1 << 0,
  LNS_WIRE_TRACE_CUDA = 1 << 1,
  LNS_WIRE_TRACE_CUBLAS = 1 << 2,
  LNS_WIRE_TRACE_CUBLAS_VERBOSE = 1 << 3, /* the calls that cuBLAS makes of itself too */
  LNS_WIRE_TRACE_CUDNN = 1 << 4,
  LNS_WIRE_TRACE_MPI = 1 << 5,
};

/* LnsWireOptions.cuda: only with LNS_WIRE_TRACE_CUDA. */
enum
{
  LNS_WIRE_CUDA_MEMORY_USAGE = 1 << 0,
  LNS_WIRE_CUDA_GRAPH_NODES = 1 << 1, /* the nodes of a graph one by one, not as a whole */
  LNS_WIRE_CUDA_UM_CPU_FAULTS = 1 << 2,
  LNS_WIRE_CUDA_UM_GPU_FAULTS = 1 << 3,
  LNS_WIRE_CUDA_ALL_APIS = 1 << 4, /* also those that only ask, such as cudaGetLastError() */
  LNS_WIRE_CUDA_EVENTS = 1 << 5,
  LNS_WIRE_CUDA_FLUSH_ON_STOP =
      1 << 6,                         /* at cudaProfilerStop() everything is handed over at once */
  LNS_WIRE_CUDA_EVENTS_AUTO = 1 << 7, /* EVENTS where they cost no order of the program's streams */
};

/* What begins and ends recording. */
typedef enum
{
  LNS_WIRE_RANGE_NONE = 0, /* LnsWirePoolHeader.recording alone */
  LNS_WIRE_RANGE_PROFILER_API = 1,
  LNS_WIRE_RANGE_NVTX = 2 /* a pushed or started range whose name and domain are those given */
} LnsWireRangeKind;

/* What the end of a range does. The process itself only looks at how often it may begin again; to
 * end the program is the session's part. */
typedef enum
{
  LNS_WIRE_RANGE_END_NONE = 0, /* nothing: recording goes on to the process's end */
  LNS_WIRE_RANGE_END_STOP = 1,
  LNS_WIRE_RANGE_END_STOP_SHUTDOWN = 2,
  LNS_WIRE_RANGE_END_REPEAT = 3,
  LNS_WIRE_RANGE_END_REPEAT_SHUTDOWN = 4
} LnsWireRangeEnd;

#define LNS_WIRE_RANGE_TEXT_BYTES 256 /* with its terminator */

typedef struct
{
  uint32_t traces;            /* LNS_WIRE_TRACE_… */
  uint32_t cuda;              /* LNS_WIRE_CUDA_… */
  uint32_t flush_ms;          /* how often CUPTI's buffers are emptied; 0: each second */
  uint32_t range_kind;        /* LnsWireRangeKind; not NONE: the pool begins with recording = 0 */
  uint32_t range_end;         /* LnsWireRangeEnd */
  uint32_t n_ranges;          /* of REPEAT and REPEAT_SHUTDOWN: how many are recorded; 0: all */
  uint32_t range_any_domain;  /* 1: RANGE_DOMAIN does not count */
  uint32_t range_serial;      /* changes with the range, whose count begins anew */
  uint32_t device_buffer_kib; /* of each of CUPTI's buffers on the GPU; 0: as it likes */
  char range_message[LNS_WIRE_RANGE_TEXT_BYTES]; /* UTF-8, terminated */
  char range_domain[LNS_WIRE_RANGE_TEXT_BYTES];  /* "": the default domain */
  char cupti_path[1024]; /* libcupti.so, or the folder that holds it; "": looked for */
} LnsWireOptions;
_Static_assert(sizeof (LnsWireOptions) <= 2048, "the pool's header page has room for no more");
