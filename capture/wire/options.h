/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The options of a process: what the session asks it to record. They lie in the pool's header page and are set
 * before the process sees the pool. Only the capture range changes later, by lns_wire_pool_set_range (). */

#pragma once

#include <stdint.h>

/* LnsWireOptions.traces */
enum
{
  LNS_WIRE_TRACE_NVTX = 1 << 0,
  LNS_WIRE_TRACE_CUDA = 1 << 1,
  LNS_WIRE_TRACE_CUBLAS = 1 << 2,
  LNS_WIRE_TRACE_CUBLAS_VERBOSE = 1 << 3, /* also the calls that cuBLAS makes internally */
  LNS_WIRE_TRACE_CUDNN = 1 << 4,
  LNS_WIRE_TRACE_MPI = 1 << 5,
  LNS_WIRE_TRACE_OS = 1 << 6, /* calls of the C library */
  LNS_WIRE_TRACE_CUSPARSE = 1 << 7,
  LNS_WIRE_TRACE_CUSPARSE_VERBOSE = 1 << 8, /* also the calls that libraries make of it */
  LNS_WIRE_TRACE_CUSOLVER = 1 << 9,
  LNS_WIRE_TRACE_CUSOLVER_VERBOSE = 1 << 10, /* also the calls that libraries make of it */
  /* Those of liblanescope-libraries.so. */
  LNS_WIRE_TRACE_LIBRARIES = LNS_WIRE_TRACE_CUBLAS | LNS_WIRE_TRACE_CUBLAS_VERBOSE |
                             LNS_WIRE_TRACE_CUDNN | LNS_WIRE_TRACE_CUSPARSE |
                             LNS_WIRE_TRACE_CUSPARSE_VERBOSE | LNS_WIRE_TRACE_CUSOLVER |
                             LNS_WIRE_TRACE_CUSOLVER_VERBOSE
};

/* LnsWireOptions.cuda: only with LNS_WIRE_TRACE_CUDA. */
enum
{
  LNS_WIRE_CUDA_MEMORY_USAGE = 1 << 0,
  LNS_WIRE_CUDA_GRAPH_NODES = 1 << 1, /* each node of a graph rather than the graph as a whole */
  LNS_WIRE_CUDA_UM_CPU_FAULTS = 1 << 2,
  LNS_WIRE_CUDA_UM_GPU_FAULTS = 1 << 3,
  LNS_WIRE_CUDA_ALL_APIS = 1 << 4, /* also calls that only query, such as cudaGetLastError() */
  LNS_WIRE_CUDA_EVENTS = 1 << 5,
  LNS_WIRE_CUDA_FLUSH_ON_STOP = 1 << 6, /* cudaProfilerStop() hands over everything at once */
  LNS_WIRE_CUDA_EVENTS_AUTO =
      1 << 7, /* EVENTS, unless they would serialise the program's streams */
  LNS_WIRE_CUDA_DEVICE_GRAPHS = 1 << 8, /* also graphs that the GPU launches, as a whole */
  LNS_WIRE_CUDA_ALONE = 1 << 9,         /* as CUPTI's only client, even where it allows several */
  LNS_WIRE_CUDA_SWITCHES = 1 << 10,     /* which context a GPU works for */
  LNS_WIRE_CUDA_HOST_BUFFERS =
      1 << 11, /* what the GPU measures goes to page-locked memory of the host */
  LNS_WIRE_CUDA_SOURCES = 1 << 12,   /* which library asked for memory */
  LNS_WIRE_CUDA_LATENCIES = 1 << 13, /* when kernels were queued and submitted */
  LNS_WIRE_CUDA_HARDWARE = 1 << 14,  /* the GPU itself takes the times */
};

/* LnsWireOptions.nccl: which operations NCCL's profiler plug-in is told of, as bits of its own event types. */
enum
{
  LNS_WIRE_NCCL_GROUP = 1 << 0,
  LNS_WIRE_NCCL_COLLECTIVE = 1 << 1,
  LNS_WIRE_NCCL_P2P = 1 << 2,
  LNS_WIRE_NCCL_PROXY_OP = 1 << 3,
  LNS_WIRE_NCCL_PROXY_STEP = 1 << 4,
  LNS_WIRE_NCCL_GROUP_API = 1 << 8,
  LNS_WIRE_NCCL_COLLECTIVE_API = 1 << 9,
  LNS_WIRE_NCCL_P2P_API = 1 << 10,
  LNS_WIRE_NCCL_KERNEL_LAUNCH = 1 << 11,
  LNS_WIRE_NCCL_CE_COLLECTIVE = 1 << 12,
  LNS_WIRE_NCCL_CE_SYNC = 1 << 13,
  LNS_WIRE_NCCL_CE_BATCH = 1 << 14,
};

/* The NVTX domain that they are ranges of. */
#define LNS_WIRE_NCCL_DOMAIN "NCCL trace"

/* The calls of CUDA whose callers are recorded. */
typedef enum
{
  LNS_WIRE_CALLS_KERNEL, /* launches */
  LNS_WIRE_CALLS_MEMORY, /* allocations, copies, sets */
  LNS_WIRE_CALLS_SYNC,   /* waits */
  LNS_WIRE_CALLS_OTHER,
  LNS_WIRE_CALL_CLASSES
} LnsWireCallClass;

/* In place of a threshold: no callers of this class are recorded. */
#define LNS_WIRE_NO_CALLERS UINT32_MAX

/* The kind of capture range, which begins and ends recording. */
typedef enum
{
  LNS_WIRE_RANGE_NONE = 0, /* LnsWirePoolHeader.recording alone */
  LNS_WIRE_RANGE_PROFILER_API = 1,
  LNS_WIRE_RANGE_NVTX = 2 /* a pushed or started range with the name and domain below */
} LnsWireRangeKind;

/* What the end of a capture range does. The process itself only counts how often a range may begin; ending the
 * program is up to the session. */
typedef enum
{
  LNS_WIRE_RANGE_END_NONE = 0, /* nothing: recording goes on until the process ends */
  LNS_WIRE_RANGE_END_STOP = 1,
  LNS_WIRE_RANGE_END_STOP_SHUTDOWN = 2,
  LNS_WIRE_RANGE_END_REPEAT = 3,
  LNS_WIRE_RANGE_END_REPEAT_SHUTDOWN = 4
} LnsWireRangeEnd;

#define LNS_WIRE_RANGE_TEXT_BYTES 256 /* with its terminator */

typedef struct
{
  uint32_t traces;           /* LNS_WIRE_TRACE_… */
  uint32_t cuda;             /* LNS_WIRE_CUDA_… */
  uint32_t flush_ms;         /* interval at which CUPTI's buffers are emptied; 0: a second */
  uint32_t range_kind;       /* LnsWireRangeKind; not NONE: the pool begins with recording = 0 */
  uint32_t range_end;        /* LnsWireRangeEnd */
  uint32_t n_ranges;         /* of REPEAT and REPEAT_SHUTDOWN: how many are recorded; 0: all */
  uint32_t range_any_domain; /* 1: a range of any domain counts, whatever RANGE_DOMAIN is */
  uint32_t range_serial;     /* changes with the range; the count of ranges begins anew */
  uint32_t os_threshold_ns;  /* shorter calls of the C library are not recorded */
  uint32_t os_files;         /* 1: all calls about files are, each with the path of its file */
  uint32_t os_callers_ns;   /* calls that took this long are with their callers; UINT32_MAX: none */
  uint32_t os_callers_most; /* no more callers of a call are recorded */
  uint32_t os_stack_bytes;  /* no more of a stack is taken to find them */
  uint32_t has_callers;     /* 1: callers of CUDA calls are recorded … */
  uint32_t callers_ns[LNS_WIRE_CALL_CLASSES]; /* … that took this long, by LnsWireCallClass */
  uint32_t has_python_callers;                /* 1: … with the Python functions among them */
  uint32_t nccl;                              /* LNS_WIRE_NCCL_…; only with LNS_WIRE_TRACE_NVTX */
  uint32_t device_buffer_kib; /* size of each CUPTI buffer on the GPU; 0: CUPTI's default */
  char range_message[LNS_WIRE_RANGE_TEXT_BYTES]; /* UTF-8, terminated */
  char range_domain[LNS_WIRE_RANGE_TEXT_BYTES];  /* "": the default domain */
  char cupti_path[1024]; /* libcupti.so or its folder; "": the library is searched */
} LnsWireOptions;
_Static_assert(sizeof (LnsWireOptions) <= 2048, "the pool's header page has room for no more");
