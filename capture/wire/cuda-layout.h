/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The records of the CUDA engine, as bytes inside a chunk (layout.h tells what a record and
 * a stream are; the decoder is record.h). What CUPTI hands out is compacted into these
 * at once, by the thread that CUPTI calls; the session does the same with what a killed process left.
 *
 * All ticks are of the pool's clock: CUPTI is given that clock, or its times are converted. The numbers of
 * devices, contexts, streams, graphs and nodes are CUPTI's. STRING of a head is a registered string
 * (LNS_WIRE_STRING_REGISTERED) unless a comment says otherwise. Fields that are CUPTI's enumerations have the
 * values of its header. Fields that the loaded CUPTI does not have are 0; numbers of devices, contexts and
 * streams are LNS_WIRE_CUDA_NONE then. */

#pragma once

#include "capture/wire/layout.h"

#include <stdbool.h>

typedef enum
{
  /* Events. STRING and the ticks of begin are in the head. */
  LNS_WIRE_CUDA_API = 0x80,    /* STRING: its name as CUPTI gives it, or 0: CBID tells */
  LNS_WIRE_CUDA_KERNEL = 0x81, /* STRING: a launch slot of this stream */
  LNS_WIRE_CUDA_MEMCPY = 0x82,
  LNS_WIRE_CUDA_MEMSET = 0x83,
  LNS_WIRE_CUDA_SYNC = 0x84,
  LNS_WIRE_CUDA_EVENT = 0x85, /* ticks 0: CUPTI gave no device time */
  LNS_WIRE_CUDA_GRAPH = 0x86,
  LNS_WIRE_CUDA_GRAPH_NODE = 0x87, /* STRING: the call that made it */
  LNS_WIRE_CUDA_OVERHEAD = 0x88,
  LNS_WIRE_CUDA_MEMORY = 0x89, /* STRING: the variable's or the caller's name, or 0 */
  LNS_WIRE_CUDA_POOL = 0x8a,
  LNS_WIRE_CUDA_UNIFIED = 0x8b,
  LNS_WIRE_CUDA_JIT = 0x8c, /* STRING: the cache's path, or 0 */
  LNS_WIRE_CUDA_DECOMPRESS =
      0x8d,                     /* by the copy engine; LnsWireCudaMemcpyBytes, COPY_COUNT blocks */
  LNS_WIRE_MPI_CALL = 0x8e,     /* DEPTH: how many calls of MPI it is within */
  LNS_WIRE_LIBRARY_CALL = 0x8f, /* DEPTH: how many calls of the same library it is within */

  /* About the stream. */
  LNS_WIRE_CUDA_LAUNCH = 0x90, /* gives a launch slot of this stream a (new) meaning */

  /* Definitions, of the process. They may come more than once; the last one counts. */
  LNS_WIRE_CUDA_DEVICE = 0x91,  /* STRING: its name */
  LNS_WIRE_CUDA_CONTEXT = 0x92, /* LnsWireCudaContextBytes */
  LNS_WIRE_CUDA_STREAM = 0x93,
  LNS_WIRE_CUDA_INFO = 0x94,        /* STRING: the driver's version, "580.65.06", or 0 */
  LNS_WIRE_CUDA_NAME = 0x95,        /* STRING: the text at an address of the process */
  LNS_WIRE_CUDA_NAMED = 0x96,       /* STRING: what NVTX named a context or a stream */
  LNS_WIRE_MPI_COMMUNICATOR = 0x97, /* made at the head's ticks; comes once */

  /* Said of the capture. */
  LNS_WIRE_CUDA_DROPPED = 0x98, /* records that CUPTI had no room for */
  LNS_WIRE_CUDA_PROBLEM = 0x99, /* STRING: a name that belongs to it, or 0 */
  LNS_WIRE_RANGE = 0x9a,        /* a capture range began or ended */
  LNS_WIRE_CUDA_RANGE = 0x9b,   /* CUDA is recorded from here on, or was up to here */

  /* A definition, too. Those of devices and contexts come with CUPTI's records, a second later. */
  LNS_WIRE_CUDA_USED =
      0x9c, /* LnsWireCudaUsedBytes: the process has made a context on the device */

  /* More events. */
  LNS_WIRE_CUDA_HOST_FUNCTION = 0x9d, /* a function ran on the host, for which a stream waited */
  LNS_WIRE_CUDA_SWITCH = 0x9e,        /* a GPU begins or ends to work for a context */

  /* Of the kernel that comes next in the stream. */
  LNS_WIRE_CUDA_LATENCY = 0x9f,

  /* Of the machine: how its GPUs are connected. */
  LNS_WIRE_CUDA_TOPOLOGY = 0xb0, /* LnsWireCudaTopologyBytes */

} LnsWireCudaType;

#define LNS_WIRE_CUDA_NONE UINT32_MAX

/* INT_MAX. In place of a device or a context: a graph that begins and ends with work of the host. */
#define LNS_WIRE_CUDA_HOST UINT32_C (0x7fffffff)

/* Whether records of TYPE (LnsWireCudaType or another one) are events of CUDA, of one of its libraries, or of MPI. */
static inline bool
lns_wire_is_cuda_event (uint8_t type)
{
  return (type >= LNS_WIRE_CUDA_FIRST && type <= (uint8_t)LNS_WIRE_LIBRARY_CALL) ||
         type == (uint8_t)LNS_WIRE_CUDA_HOST_FUNCTION || type == (uint8_t)LNS_WIRE_CUDA_SWITCH;
}

/* Launch slots of a stream; after LNS_WIRE_LOST no slot has a meaning until it is defined again. */
#define LNS_WIRE_CUDA_LAUNCHES 1024u

typedef struct
{
  uint32_t device, context, stream;
} LnsWireCudaPlace;

/* What a call is, in its record's DEPTH; bits. */
enum
{
  LNS_WIRE_CUDA_CALL_RUNTIME = 1 << 0,  /* of the runtime's API, not the driver's */
  LNS_WIRE_CUDA_CALL_LAUNCH = 1 << 4,   /* launches one kernel */
  LNS_WIRE_CUDA_CALL_CAPTURE = 1 << 5,  /* its thread's launches go into a graph from here on … */
  LNS_WIRE_CUDA_CALL_CAPTURED = 1 << 6, /* … to here, and do not run */
  LNS_WIRE_CUDA_CALL_ROLES =
      LNS_WIRE_CUDA_CALL_LAUNCH | LNS_WIRE_CUDA_CALL_CAPTURE | LNS_WIRE_CUDA_CALL_CAPTURED
};

typedef struct
{
  LnsWireHead head; /* DEPTH: LNS_WIRE_CUDA_CALL_… */
  uint32_t n_bytes;
  uint32_t correlation; /* unique in the process, 0 none */
  uint64_t end_ticks;   /* ≥ the head's */
  uint32_t cbid;
  uint32_t return_value;
  uint32_t tid; /* of the caller, in the target's pid namespace */
  uint32_t reserved;
} LnsWireCudaApiBytes;

typedef struct
{
  /* Ticks and end 0: it had not ended when CUPTI was asked for what had not, or has no times; then GRID_ID is when that was,
   * as in LnsWireCuptiSink, and DEPTH is 1 if it is a copy or a memset. */
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t correlation;
  uint64_t end_ticks;
  uint64_t grid_id;
  uint64_t graph_node;
  LnsWireCudaPlace place;
  uint32_t graph;
} LnsWireCudaKernelBytes;
_Static_assert(sizeof (LnsWireCudaKernelBytes) == 64, "most of a busy report is kernels");

typedef struct
{
  LnsWireHead head; /* ticks: of the kernel's begin */
  uint32_t n_bytes;
  uint32_t correlation;
  uint64_t queued_ticks, submitted_ticks; /* 0: not known */
} LnsWireCudaLatencyBytes;

typedef struct
{
  LnsWireHead head; /* STRING: the slot; ticks 0 */
  uint32_t n_bytes;
  uint32_t name; /* registered string: the mangled name; 0 if it is unknown */
  uint32_t grid[3], block[3], cluster[3];
  uint32_t registers;
  uint32_t static_shared_bytes, dynamic_shared_bytes, shared_executed_bytes;
  uint32_t local_bytes;
  uint64_t local_total_bytes;
  uint32_t shared_carveout; /* percent; NONE: not asked for */
  uint32_t max_potential_cluster, max_active_clusters;
  uint8_t launch_type, cache_config, shared_config, cluster_policy;
} LnsWireCudaLaunchBytes;
_Static_assert(sizeof (LnsWireCudaLaunchBytes) == 104, "no padding: they are compared as bytes");

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t correlation;
  uint64_t end_ticks;
  uint64_t size_bytes;
  uint64_t graph_node;
  uint64_t copy_count;
  LnsWireCudaPlace place;
  uint8_t kind, source_kind, destination_kind, flags;
  uint32_t source_device, source_context, destination_device, destination_context; /* PtoP */
} LnsWireCudaMemcpyBytes;

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t correlation;
  uint64_t end_ticks;
  uint64_t size_bytes;
  uint64_t graph_node;
  LnsWireCudaPlace place;
  uint32_t value;
  uint16_t memory_kind, flags;
  uint32_t reserved;
} LnsWireCudaMemsetBytes;

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t correlation;
  uint64_t end_ticks;
  uint64_t event_sync;
  LnsWireCudaPlace place; /* DEVICE is not known; STREAM is NONE for a whole context */
  uint32_t type;
  uint32_t event;
  uint32_t return_value;
} LnsWireCudaSyncBytes;

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t correlation;
  uint64_t event_sync;
  LnsWireCudaPlace place;
  uint32_t event;
} LnsWireCudaEventBytes;

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t correlation;
  uint64_t end_ticks;
  LnsWireCudaPlace place;
  uint32_t graph;
  uint32_t launcher; /* the graph that launched it from the device, or 0 */
  uint32_t reserved;
} LnsWireCudaGraphBytes;

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t tid;
  uint64_t end_ticks;
  uint64_t graph_node, original; /* of nodes; ORIGINAL of a clone, of graphs too */
  uint32_t graph, graph_exec;
} LnsWireCudaGraphNodeBytes;

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t correlation;
  uint64_t end_ticks;
  uint32_t kind;
  uint32_t tid;          /* 0 where it is not a thread's */
  uint32_t channel;      /* of a command buffer that was full */
  uint32_t channel_type; /* 1 + CUpti_ChannelType; 0: not told */
} LnsWireCudaOverheadBytes;

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t correlation;
  uint64_t address, size_bytes, pc;
  uint64_t pool_address, pool_threshold, pool_size, pool_utilized; /* of stream-ordered ones */
  LnsWireCudaPlace place;
  uint8_t operation, memory_kind, pool_type, is_async;
  uint32_t source; /* registered string: the library that asked for it; 0: not told */
  uint32_t reserved;
} LnsWireCudaMemoryBytes;

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t correlation;
  uint64_t address, min_bytes_to_keep;
  uint64_t pool_threshold, pool_size, pool_utilized;
  uint32_t device;
  uint8_t operation, pool_type;
  uint16_t reserved;
} LnsWireCudaPoolBytes;

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t counter; /* CUpti_ActivityUnifiedMemoryCounterKind: what VALUE and the rest mean */
  uint64_t end_ticks;
  uint64_t value, address;
  uint32_t source, destination, stream, flags;
} LnsWireCudaUnifiedBytes;

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t correlation;
  uint64_t end_ticks;
  uint64_t cache_bytes;
  uint32_t device;
  uint8_t entry, operation;
  uint16_t reserved;
  uint32_t tid;
  uint32_t reserved2;
} LnsWireCudaJitBytes;

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t correlation;
  uint64_t end_ticks;
  uint64_t graph_node; /* 0: of no graph */
  LnsWireCudaPlace place;
  uint32_t graph;
  uint32_t tid; /* where it ran */
  uint32_t reserved;
} LnsWireCudaHostBytes;

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t context;
  uint32_t is_end;
  uint32_t reserved;
} LnsWireCudaSwitchBytes;

/* Of the thread that writes the stream. */
typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t library; /* LnsWireLibrary */
  uint64_t end_ticks;
  uint64_t stream; /* handle of the CUDA stream that the library's handle is bound to */
  uint32_t return_value;
  uint32_t reserved;
} LnsWireLibraryCallBytes;

typedef enum
{
  LNS_WIRE_CUBLAS = 1,
  LNS_WIRE_CUBLAS_LT = 2,
  LNS_WIRE_CUDNN = 3,
  LNS_WIRE_MPI = 4,
  LNS_WIRE_CUSPARSE = 5,
  LNS_WIRE_CUSOLVER = 6,
  LNS_WIRE_CUSOLVER_MG = 7,
  LNS_WIRE_N_LIBRARIES
} LnsWireLibrary;

/* What kind of call: LnsMpiClass of the store. */
typedef enum
{
  LNS_WIRE_MPI_OTHER,
  LNS_WIRE_MPI_START_WAIT,
  LNS_WIRE_MPI_P2P,
  LNS_WIRE_MPI_COLLECTIVE
} LnsWireMpiClass;

/* Of the thread that writes the stream. Handles are as the implementation has them: numbers or
 * addresses. */
typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t class; /* LnsWireMpiClass */
  uint64_t end_ticks;
  uint64_t bytes, received_bytes;
  uint64_t communicator;
  uint64_t communicator_uid; /* LnsWireMpiCommunicatorBytes; 0: not known */
  uint64_t request;          /* 0: none */
  int32_t
      peer; /* rank in the communicator of the other side, or of the root; below 0 the implementation's own */
  int32_t tag;
  int32_t world_rank; /* of this process, in MPI_COMM_WORLD; below 0: not known yet */
  uint32_t has_peer;  /* 0: the call has no other side, or no root */
} LnsWireMpiCallBytes;

/* Followed by the members' ranks in MPI_COMM_WORLD, in the order of their own ranks, int32 each: all, or
 * the first ones. */
typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t n_members;      /* that follow */
  uint64_t uid;            /* the same in all its processes */
  uint64_t handle, parent; /* handles in this process; parent 0: none */
  int32_t world_rank;      /* of this process */
  int32_t rank, size;      /* of this process in it, and of it */
  int32_t root;            /* rank in MPI_COMM_WORLD of its rank 0 */
} LnsWireMpiCommunicatorBytes;

/* Units as in CUpti_ActivityDevice5. */
typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t number;
  uint32_t compute_major, compute_minor, n_multiprocessors, core_clock;
  uint64_t memory_bytes, memory_bandwidth;
  uint32_t constant_bytes, l2_bytes, n_copy_engines, threads_per_warp, max_ipc, max_warps_per_sm,
      max_blocks_per_sm, max_registers_per_block, max_registers_per_sm, max_shared_per_block,
      max_shared_per_sm, max_threads_per_block;
  uint32_t max_block[3], max_grid[3];
  uint8_t uuid[16];
  uint8_t is_mig; /* UUID is of the MIG instance */
  char bus[23];   /* "0000:b2:00.0", zero-padded; "" where the driver does not tell */
} LnsWireCudaDeviceBytes;

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t device;
  char bus[24]; /* as in LnsWireCudaDeviceBytes */
} LnsWireCudaUsedBytes;

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t number, device;
  uint32_t null_stream; /* LNS_WIRE_CUDA_NONE: another record tells it */
  uint32_t parent;
  uint16_t is_green; /* 0: or another record tells it, with PARENT and N_MULTIPROCESSORS */
  uint16_t n_multiprocessors;
  uint32_t
      pid; /* of the process that it is of, in the target's pid namespace; 0: CUPTI does not tell */
  uint32_t reserved;
} LnsWireCudaContextBytes;

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t number, context;
  int32_t priority;
  uint32_t flags;
} LnsWireCudaStreamBytes;

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t cupti_version;  /* cuptiGetVersion() */
  uint32_t driver_version; /* cuDriverGetVersion(): 13000 */
  uint32_t header_version; /* CUPTI_API_VERSION that we were built with */
  uint32_t path;           /* a string: the file of CUPTI; 0: not known */
} LnsWireCudaInfoBytes;

/* The text at an address of the process. In the buffers of a killed process, the name of a kernel is its address. */
typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t reserved;
  uint64_t address;
} LnsWireCudaNameBytes;

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t context;
  uint32_t stream; /* NONE: the context itself */
  uint32_t reserved;
} LnsWireCudaNamedBytes;

/* LNS_WIRE_LOST does not include these records: CUPTI only counts them. */
enum
{
  LNS_WIRE_DROPPED_FULL = 0, /* CUPTI had no room */
  LNS_WIRE_DROPPED_UNFINISHED =
      1, /* not dropped, but not ended when the process wrote its last records */
  LNS_WIRE_DROPPED_MISTIMED =
      2 /* CUPTI gave work that has ended no times, or an end before its start */
};

typedef struct
{
  LnsWireHead head; /* ticks: when it was learnt */
  uint32_t n_bytes;
  uint32_t context, stream; /* NONE where CUPTI does not tell */
  uint32_t reason;          /* LNS_WIRE_DROPPED_… */
  uint64_t count;
} LnsWireCudaDroppedBytes;

/* The reasons for which CUDA, or a part of it, is not recorded. The session turns them into diagnostics. */
typedef enum
{
  LNS_WIRE_PROBLEM_NO_CUPTI = 1,      /* no libcupti could be loaded; STRING: the loader's words */
  LNS_WIRE_PROBLEM_OLD_CUPTI = 2,     /* RESULT: its version */
  LNS_WIRE_PROBLEM_BUSY = 3,          /* another tool subscribed; STRING: its name, or 0 */
  LNS_WIRE_PROBLEM_SUBSCRIBE = 4,     /* subscribing failed otherwise; RESULT: CUptiResult */
  LNS_WIRE_PROBLEM_ENABLE = 5,        /* a kind of activity was refused; DETAIL: the kind */
  LNS_WIRE_PROBLEM_BUFFERS = 6,       /* no buffer for CUPTI, which may drop records by that */
  LNS_WIRE_PROBLEM_FORK = 7,          /* a fork's child uses CUDA: not recorded, nor does it work */
  LNS_WIRE_PROBLEM_FLUSH = 8,         /* flushing failed; RESULT: CUptiResult */
  LNS_WIRE_PROBLEM_STATE = 9,         /* CUPTI's own report; RESULT; STRING: its words */
  LNS_WIRE_PROBLEM_UNKNOWN_KIND = 10, /* DETAIL: a record kind that is not known */
  LNS_WIRE_PROBLEM_ATTRIBUTE = 11,    /* a setting was refused; DETAIL: the attribute */
  LNS_WIRE_PROBLEM_LIBRARY = 12,      /* a library's calls cannot be traced; STRING: why */
  LNS_WIRE_PROBLEM_CALL = 13,         /* STRING, a function of CUPTI's, failed; RESULT */
  LNS_WIRE_PROBLEM_THREAD = 14,       /* no thread to flush in; RESULT: errno */
  LNS_WIRE_PROBLEM_CLOCK = 15,        /* CUPTI's own clock was set */
  LNS_WIRE_PROBLEM_TAKEN = 16,        /* another client gets the records, or has disabled them */
  LNS_WIRE_PROBLEM_HARDWARE = 17,     /* the GPU itself cannot take the times; RESULT */
  LNS_WIRE_PROBLEM_STACK = 18,        /* a stack is not read for callers; RESULT: errno */
  LNS_WIRE_PROBLEM_PYTHON =
      19, /* no Python callers; RESULT: LnsPythonLayoutResult; DETAIL: version */
} LnsWireCudaProblem;

typedef struct
{
  LnsWireHead head; /* ticks: when */
  uint32_t n_bytes;
  uint32_t problem; /* LnsWireCudaProblem; others are shown by their number */
  uint32_t result;
  uint32_t detail;
} LnsWireCudaProblemBytes;

typedef struct
{
  LnsWireHead head; /* ticks: from when on (or up to when) events belong to it; STRING: its name */
  uint32_t n_bytes;
  uint32_t is_end; /* 0 began, 1 ended */
} LnsWireRangeBytes;

/* What CUPTI has recorded outside these ranges is left out; see LnsWireCuptiRange in compact.h. */
typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t serial;      /* from 0 on */
  uint32_t first, last; /* correlations */
  uint64_t first_ticks, last_ticks;
} LnsWireCudaRangeBytes;
_Static_assert(sizeof (LnsWireCudaRangeBytes) % 8 == 0, "no padding in the middle");

/* Ports of one end of a link, at most. */
#define LNS_WIRE_LINK_PORTS   32u
#define LNS_WIRE_LINK_NO_PORT -1

/* CUpti_DevType: what is at the end of a link. */
#define LNS_WIRE_LINK_GPU 1u
#define LNS_WIRE_LINK_NPU 2u /* a processor that has NVLink, as of POWER9 */

/* NVLink between two devices. */
typedef struct
{
  uint32_t version, flags; /* CUpti_LinkFlag */
  uint64_t bandwidth;      /* as CUPTI tells it: "kbytes/sec" */
  uint32_t n_links;        /* physical ones */
  uint8_t types[2];        /* LNS_WIRE_LINK_… */
  uint8_t is_switched, padding;
  uint8_t ids[2][16];                    /* a GPU's UUID; of others the index and the domain */
  int16_t ports[2][LNS_WIRE_LINK_PORTS]; /* of the first `n_links` */
} LnsWireCudaLink;

/* A GPU or a bridge, and its link to the bus above it. */
typedef struct
{
  uint32_t is_bridge;
  uint32_t id; /* of a GPU its number in the process */
  uint32_t domain;
  uint16_t generation, rate; /* GT/s */
  uint16_t width, upstream_bus;
  uint16_t secondary_bus, vendor, device, padding; /* of a bridge */
  uint32_t reserved;
  uint8_t uuid[16]; /* of a GPU */
} LnsWireCudaPcie;

typedef struct
{
  LnsWireHead head;
  uint32_t n_bytes;
  uint32_t is_link; /* else `pcie` */
  union
  {
    LnsWireCudaLink link;
    LnsWireCudaPcie pcie;
  };
} LnsWireCudaTopologyBytes;
_Static_assert(sizeof (LnsWireCudaLink) == 184 && sizeof (LnsWireCudaPcie) == 48,
               "no padding: they are compared as bytes");
