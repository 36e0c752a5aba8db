/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The kinds of lanes and their columns. Every event has a start, a duration, a name and flags. A kind adds up to
 * LNS_EXTRA_MAX columns of its own; LnsEvent.extra and LnsChunk.extra have them in the order of this table. Column ids
 * never change their meaning. Readers skip unknown ids. */

#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LNS_EXTRA_MAX 12

typedef enum
{
  LNS_LANE_NONE,
  LNS_LANE_NVTX_PUSH_POP,   /* push/pop ranges of one thread and domain, lane = depth */
  LNS_LANE_NVTX_START_END,  /* start/end ranges of one process and domain, lowest free lane */
  LNS_LANE_NVTX_MARK,       /* marks of one thread and domain, duration 0 */
  LNS_LANE_COUNTER,         /* samples of one counter, duration 0 */
  LNS_LANE_CUDA_API,        /* runtime and driver calls of one thread, lane = nesting depth */
  LNS_LANE_CUDA_KERNEL,     /* kernels of one stream */
  LNS_LANE_CUDA_MEMCPY,     /* copies of one stream */
  LNS_LANE_CUDA_MEMSET,     /* memsets of one stream */
  LNS_LANE_CUDA_SYNC,       /* waits for a stream, a context or an event */
  LNS_LANE_CUDA_EVENT,      /* CUDA events recorded in one stream, duration 0 */
  LNS_LANE_CUDA_GRAPH,      /* launches of whole graphs in one stream */
  LNS_LANE_CUDA_GRAPH_NODE, /* calls of one thread that made graphs and their nodes */
  LNS_LANE_CUDA_OVERHEAD,   /* overhead of the capture in one process */
  LNS_LANE_CUDA_MEMORY,     /* allocations and frees on one device, duration 0 */
  LNS_LANE_CUDA_POOL,       /* what happened to the memory pools of one device, duration 0 */
  LNS_LANE_CUDA_FAULT,      /* page faults of unified memory */
  LNS_LANE_CUDA_JIT,        /* compilations and cache look-ups */
  LNS_LANE_LIBRARY_CALL,    /* CUDA library calls of one thread, lane = nesting depth */
  LNS_LANE_OS_CALL,         /* calls of the OS runtime (libc, …) of one thread, lane = depth */
  LNS_LANE_SCHED,           /* one thread on CPUs; duration 0: it left a CPU */
  LNS_LANE_CPU_SAMPLE,      /* where one thread was found on a CPU, duration 0 */
  LNS_LANE_MPI_CALL,        /* MPI calls of one thread, lane = nesting depth */
  LNS_LANE_NVTX_PROJECTED,  /* where on the GPU ranges of one domain had their work: derived */
  LNS_LANE_CUDA_BACKTRACE,  /* imported: call chains of CUDA calls of one thread, lane = depth */
  LNS_LANE_CUDA_HOST,       /* host functions that one stream waits for */
  LNS_LANE_CUDA_UNIFIED,    /* what the driver does about pages that several processors want */
  LNS_LANE_GPU_SWITCH,      /* which context a GPU works for; duration 0: one left the GPU */
  LNS_LANE_PYTHON_SAMPLE,   /* in which Python functions one thread was found, duration 0 */
  LNS_LANE_CPU_RUN,         /* the threads that ran on one CPU */
  LNS_LANE_SYSTEM_CALL,     /* system calls of one thread */
  LNS_N_LANE_KINDS
} LnsLaneKind;

/* Column ids in the file. */
typedef enum
{
  LNS_COLUMN_START = 1,         /* ns of the report clock, int64, ascending within a lane */
  LNS_COLUMN_DURATION = 2,      /* ns, ≥ 0 */
  LNS_COLUMN_NAME = 3,          /* string id */
  LNS_COLUMN_FLAGS = 4,         /* LnsEventFlags */
  LNS_COLUMN_COLOR = 5,         /* 0xAARRGGBB; 0 = the program gave none */
  LNS_COLUMN_CATEGORY = 6,      /* the program's category number within the domain; 0 = none */
  LNS_COLUMN_PAYLOAD_TYPE = 7,  /* LnsPayloadType */
  LNS_COLUMN_PAYLOAD = 8,       /* the value's bits, or the string id of the bytes */
  LNS_COLUMN_RANGE_ID = 9,      /* the id that the program got from nvtxRangeStart */
  LNS_COLUMN_THREAD = 10,       /* thread instance that started the event */
  LNS_COLUMN_END_THREAD = 11,   /* thread instance that ended it */
  LNS_COLUMN_VALUE = 12,        /* a counter's sample: bits of the type its track names */
  LNS_COLUMN_CORRELATION = 13,  /* of API call and GPU work, unique in the process; 0 = none; of */
                                /* projections: 1 + the range's ordinal in its lane */
  LNS_COLUMN_CALLBACK = 14,     /* CUPTI callback id | 1 << 32 for runtime, 0 for driver calls; */
                                /* others (imported): their ENUM_NSYS_EVENT_CLASS << 40 */
  LNS_COLUMN_RETURN_VALUE = 15, /* cudaError_t, CUresult or the status of a CUDA library; of OS */
                                /* and system calls: int64, of these −errno if they failed */
  LNS_COLUMN_LAUNCH = 16,       /* LnsCudaLaunch id: which kernel, in what shape */
  LNS_COLUMN_GRID_ID = 17,      /* the driver's number of a kernel launch */
  LNS_COLUMN_GRAPH_NODE = 18,   /* CUDA graph node id, 0 = none */
  LNS_COLUMN_GRAPH = 19,        /* CUDA graph id, 0 = none */
  LNS_COLUMN_BYTES = 20,
  LNS_COLUMN_COPY_KIND = 21,    /* CUpti_ActivityMemcpyKind */
  LNS_COLUMN_MEMORY_KINDS = 22, /* CUpti_ActivityMemoryKind of source | of destination << 8 */
  LNS_COLUMN_PEERS = 23,        /* copies between GPUs: source device | source context << 8 | */
                                /* destination device << 32 | destination context << 40; else 0; */
                                /* of unified memory: CUPTI's source | destination << 32 */
  LNS_COLUMN_COPY_COUNT = 24,   /* copies that one record stands for; of projections: operations */
  LNS_COLUMN_ADDRESS = 25,      /* virtual address */
  LNS_COLUMN_MIGRATION_CAUSE = 26, /* CUpti_ActivityUnifiedMemoryMigrationCause; */
                                   /* LNS_LANE_CUDA_UNIFIED: the record's flags */
  LNS_COLUMN_SET_VALUE = 27,       /* what a memset wrote */
  LNS_COLUMN_SYNC_TYPE = 28,       /* CUpti_ActivitySynchronizationType */
  LNS_COLUMN_CUDA_EVENT = 29,      /* CUDA event id; of a wait UINT32_MAX: none */
  LNS_COLUMN_CUDA_EVENT_SYNC = 30, /* which record of the event a wait is for */
  LNS_COLUMN_GRAPH_EXEC = 31,      /* id of the executable graph */
  LNS_COLUMN_OVERHEAD_KIND = 32,   /* CUpti_ActivityOverheadKind */
  LNS_COLUMN_OPERATION = 33, /* memory: CUpti_ActivityMemoryOperationType or …PoolOperationType */
                             /* | CUpti_ActivityMemoryPoolType << 8; of unified memory: */
                             /* CUpti_ActivityUnifiedMemoryCounterKind; of a switch of GPU */
                             /* contexts: ENUM_GPU_CTX_SWITCH; of a Python sample: */
                             /* LnsPythonLock */
  LNS_COLUMN_PC = 34,        /* program counter that asked for it */
  LNS_COLUMN_PLACE = 35,     /* CUDA stream id | context id << 32; of a switch of GPU contexts: */
                             /* system's id of the process, 0 = not known, | context id << 32 */
  LNS_COLUMN_POOL_ADDRESS = 36,
  LNS_COLUMN_POOL_THRESHOLD = 37, /* bytes that a pool keeps */
  LNS_COLUMN_POOL_SIZE = 38,      /* bytes */
  LNS_COLUMN_POOL_UTILIZED = 39,  /* bytes */
  LNS_COLUMN_FAULTS = 40,         /* page faults that one record stands for; 0 = a CPU page fault */
  LNS_COLUMN_FAULT_ACCESS = 41,   /* CUpti_ActivityUnifiedMemoryAccessType */
  LNS_COLUMN_ORIGINAL = 42, /* graph or node that it was cloned from, 0 = none; of projections: */
                            /* lane of the range */
  LNS_COLUMN_JIT_KIND = 43, /* CUpti_ActivityJitEntryType | …JitOperationType << 8 */
  LNS_COLUMN_CUDA_STREAM = 44, /* handle of the stream that a library's call was for, 0 = default */
  LNS_COLUMN_REMAINDER = 45,   /* 1 + id of the LnsKeptRows with what no other column has, or 0 */
  LNS_COLUMN_EVENT_CLASS = 46, /* OS call: ENUM_NSYS_EVENT_CLASS - 27; system call: the same */
                               /* - 107; MPI: LnsMpiClass */
  LNS_COLUMN_CALL_CHAIN =
      47, /* 1 + LnsCallNode; imported: id in the table of call chains; 0 = none */
  LNS_COLUMN_ARGUMENTS = 48, /* id in OSRT_ARGUMENTS, 0 = none */
  LNS_COLUMN_CPU = 49,
  LNS_COLUMN_SCHED_IN = 50,     /* 1 = got a CPU, 0 = left it */
  LNS_COLUMN_THREAD_STATE = 51, /* ENUM_SAMPLING_THREAD_STATE */
  LNS_COLUMN_THREAD_BLOCK = 52, /* ENUM_SCHEDULING_THREAD_BLOCK, 0 = not known */
  LNS_COLUMN_CYCLES = 53,       /* CPU cycles since the sample before */
  LNS_COLUMN_RAW_TIME = 54,     /* the source's own time stamp - start */
  LNS_COLUMN_PEER_RANK = 55,    /* of the other side, or the root; int64, MPI's own values < 0 */
  LNS_COLUMN_TAG = 56,          /* int64 */
  LNS_COLUMN_RECEIVED_BYTES = 57,
  LNS_COLUMN_COMMUNICATOR = 58,     /* handle */
  LNS_COLUMN_COMMUNICATOR_UID = 59, /* the same in all ranks, 0 = not known */
  LNS_COLUMN_REQUEST = 60,          /* handle, 0 = none */
  LNS_COLUMN_QUEUED =
      61, /* 1 + ns from when the call queued the kernel to its start, 0 = not known */
  LNS_COLUMN_SUBMITTED = 62, /* the same, from when it was submitted to the GPU */
  LNS_N_COLUMNS = 63         /* one past the highest id */
} LnsColumnId;

/* A set of columns. */
typedef uint64_t LnsColumnMask;
#define LNS_COLUMN_BIT(id) (UINT64_C (1) << (id))
_Static_assert(LNS_N_COLUMNS <= 64, "a mask has 64 bits");

typedef enum
{
  LNS_EVENT_OPEN_START = 1 << 0,  /* began before the report did; start is the report's */
  LNS_EVENT_OPEN_END = 1 << 1,    /* had not ended when the report (or its process) did */
  LNS_EVENT_END_UNKNOWN = 1 << 2, /* its end was lost: the duration is meaningless */
  LNS_EVENT_LOST_BEFORE = 1 << 3, /* records were dropped between it and the one before */
  LNS_EVENT_LATE = 1 << 4,        /* came after the watermark */
  LNS_EVENT_CLIPPED = 1 << 5,     /* cut to the report's span */
  LNS_EVENT_REGISTERED = 1 << 6,  /* its name is a registered string */
} LnsEventFlags;

/* Whether the length of an event with FLAGS is known. An event that had not ended when the report or its process did lasts
 * until then. If the end was lost, nothing is known. */
static inline bool
lns_event_has_length (uint32_t flags)
{
  return (flags & LNS_EVENT_END_UNKNOWN) == 0 || (flags & LNS_EVENT_OPEN_END) != 0;
}

typedef enum
{
  LNS_PAYLOAD_NONE,
  LNS_PAYLOAD_UINT64,
  LNS_PAYLOAD_INT64,
  LNS_PAYLOAD_DOUBLE,
  LNS_PAYLOAD_UINT32,
  LNS_PAYLOAD_INT32,
  LNS_PAYLOAD_FLOAT,
  LNS_PAYLOAD_TYPED, /* PAYLOAD is the string id of: { u64 schema id, u32 bytes, bytes }…, LE */
  LNS_PAYLOAD_JSON,  /* PAYLOAD is the string id of a JSON text */
} LnsPayloadType;

/* The number that the BITS of a value of TYPE stand for. */
static inline double
lns_payload_number (LnsPayloadType type, uint64_t bits)
{
  const uint32_t low = (uint32_t)bits;
  double wide;
  float narrow;

  switch (type)
    {
    case LNS_PAYLOAD_INT64:
      return (double)(int64_t)bits;
    case LNS_PAYLOAD_DOUBLE:
      memcpy (&wide, &bits, sizeof wide);
      return wide;
    case LNS_PAYLOAD_UINT32:
      return low;
    case LNS_PAYLOAD_INT32:
      return (int32_t)low;
    case LNS_PAYLOAD_FLOAT:
      memcpy (&narrow, &low, sizeof narrow);
      return narrow;
    default:
      return (double)bits;
    }
}

/* What a thread has to do with the lock that lets one thread of an interpreter run Python code at a time (GIL). */
typedef enum
{
  LNS_PYTHON_LOCK_UNKNOWN,
  LNS_PYTHON_LOCK_NONE, /* the thread neither holds it nor waits for it */
  LNS_PYTHON_LOCK_HELD,
  LNS_PYTHON_LOCK_WAITED_FOR,
} LnsPythonLock;

/* The kind of an MPI call, which decides in which table it is. */
typedef enum
{
  LNS_MPI_OTHER,
  LNS_MPI_START_WAIT,
  LNS_MPI_P2P,
  LNS_MPI_COLLECTIVE,
} LnsMpiClass;

typedef enum
{
  LNS_TRACK_NVTX_RANGES = 1, /* push/pop ranges of (thread, domain) */
  LNS_TRACK_NVTX_START_END,  /* start/end ranges of (process, domain) */
  LNS_TRACK_NVTX_MARKS,      /* marks of (thread, domain) */
  LNS_TRACK_COUNTER,      /* samples of one counter of (process, domain), or of (process, device) */
  LNS_TRACK_CUDA_API,     /* calls of (thread) */
  LNS_TRACK_CUDA_KERNELS, /* of (stream) */
  LNS_TRACK_CUDA_MEMCPY,  /* of (stream) */
  LNS_TRACK_CUDA_MEMSET,  /* of (stream) */
  LNS_TRACK_CUDA_SYNC,    /* of (stream); waits for a whole context are those of its stream 0 */
  LNS_TRACK_CUDA_EVENTS,  /* of (stream) */
  LNS_TRACK_CUDA_GRAPHS,  /* of (stream) */
  LNS_TRACK_CUDA_GRAPH_NODES, /* made by (thread) */
  LNS_TRACK_CUDA_OVERHEAD,    /* of (process) */
  LNS_TRACK_CUDA_MEMORY,      /* of (process, device) */
  LNS_TRACK_CUDA_POOLS,       /* of (process, device) */
  LNS_TRACK_CUDA_CPU_FAULTS,  /* of (process) */
  LNS_TRACK_CUDA_GPU_FAULTS,  /* of (process, device) */
  LNS_TRACK_CUDA_JIT,         /* of (process, device) */
  LNS_TRACK_CUBLAS,           /* calls of (thread) */
  LNS_TRACK_CUDNN,            /* calls of (thread) */
  LNS_TRACK_OS_CALLS,         /* of (thread) */
  LNS_TRACK_SCHED,            /* of (thread) */
  LNS_TRACK_CPU_SAMPLES,      /* of (thread) */
  LNS_TRACK_MPI,              /* calls of (thread) */
  LNS_TRACK_GPU_METRIC,       /* samples of one metric of a GPU */
  LNS_TRACK_NVTX_PROJECTED,   /* of (stream, domain), or of (device, domain): of its streams */
  LNS_TRACK_CUDA_BACKTRACES,  /* of (thread) */
  LNS_TRACK_CUDA_HOST,        /* of (stream) */
  LNS_TRACK_CUDA_UNIFIED,     /* of (process) */
  LNS_TRACK_GPU_SWITCHES,     /* of (process, device): as the process was told */
  LNS_TRACK_PYTHON_SAMPLES,   /* of (thread) */
  LNS_TRACK_CPU,              /* of one CPU of the machine */
  LNS_TRACK_SYSTEM_CALLS,     /* of (thread) */
  LNS_TRACK_CUSPARSE,         /* calls of (thread) */
  LNS_TRACK_CUSOLVER,         /* calls of (thread) */
  LNS_N_TRACK_KINDS
} LnsTrackKind;

typedef struct
{
  LnsTrackKind track; /* that has such lanes; the first, if several do */
  LnsColumnId
      extra[LNS_EXTRA_MAX + 1]; /* columns beyond start, duration, name and flags; 0 ends them */
} LnsLaneKindInfo;

/* The entry of KIND, or NULL if KIND is unknown. O(1), any thread. */
const LnsLaneKindInfo *lns_lane_kind_info (LnsLaneKind kind);

typedef struct
{
  LnsLaneKind lane; /* the kind of its lanes */
  bool has_process; /* each track of the kind names a process */
  bool has_thread;  /* … and a thread */
} LnsTrackKindInfo;

/* The entry of KIND, or NULL if KIND is unknown. O(1), any thread. */
const LnsTrackKindInfo *lns_track_kind_info (LnsTrackKind kind);

/* The index of column ID in LnsEvent.extra and LnsChunk.extra of KIND, or -1. O(columns). */
int lns_lane_kind_extra (LnsLaneKind kind, LnsColumnId id);

/* All starts and ends of events and nodes lie between these, so that the difference of any two fits into int64. Readers
 * reject others. */
#define LNS_TIME_MIN (-(INT64_C (1) << 61))
#define LNS_TIME_MAX (INT64_C (1) << 62)

/* One event. Plain value. */
typedef struct
{
  int64_t start_ns;              /* report clock: ns since the session's start, may be negative */
  int64_t duration_ns;           /* ≥ 0 */
  uint32_t name;                 /* string id; 0 = none */
  uint32_t flags;                /* LnsEventFlags */
  uint64_t extra[LNS_EXTRA_MAX]; /* the kind's own columns, by lns_lane_kind_extra () */
} LnsEvent;
