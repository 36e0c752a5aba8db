/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The definitions of a report: what events refer to. Each kind has dense ids from 0 in the order of
 * definition; a later definition with the same id replaces the earlier one. The structs are plain
 * values: strings are ids of the report's string table (0 = none), so nothing here is owned. */

#pragma once

#include <stdint.h>

#include "src/store/format/lane-kind.h"

#define LNS_ID_NONE      UINT32_MAX
#define LNS_TIME_UNKNOWN INT64_MIN

typedef enum
{
  LNS_DEFINITION_PROCESS = 1,
  LNS_DEFINITION_THREAD,
  LNS_DEFINITION_DOMAIN,
  LNS_DEFINITION_CATEGORY,
  LNS_DEFINITION_SCHEMA,
  LNS_DEFINITION_SCHEMA_ENTRY,
  LNS_DEFINITION_TRACK,
  LNS_DEFINITION_LANE,
  LNS_DEFINITION_DIAGNOSTIC,
  LNS_DEFINITION_LOSS,
  LNS_DEFINITION_META,
  LNS_DEFINITION_RESOURCE,
  LNS_DEFINITION_DEVICE,
  LNS_DEFINITION_CONTEXT,
  LNS_DEFINITION_STREAM,
  LNS_DEFINITION_LAUNCH,
  LNS_DEFINITION_KEPT_TABLE,
  LNS_DEFINITION_KEPT_ROWS,
  LNS_DEFINITION_MODULE,
  LNS_DEFINITION_FRAME,
  LNS_DEFINITION_CALL_NODE,
  LNS_DEFINITION_OMISSION,
  LNS_N_DEFINITION_KINDS
} LnsDefinitionKind;

/* Linux' pids and tids end at 2²². Those from here on are made up, for processes and threads of which a trace gives only
 * the names. */
#define LNS_FIRST_MADE_UP_ID 0xf00000

/* How far a report was written. */
typedef enum
{
  LNS_STATE_RECORDING, /* the writer is alive; readers report a dead one as CUT_OFF */
  LNS_STATE_COMPLETE,
  LNS_STATE_RECOVERED, /* rebuilt by `recover`, or imported from a file that ends early */
  LNS_STATE_CUT_OFF,   /* only read: recording, but its writer is dead */
  LNS_STATE_INCOMPLETE /* finished, but events could not be written */
} LnsState;

/* One process instance of the session. A reused pid is another instance. */
typedef struct
{
  int32_t pid;           /* in the session's pid namespace */
  int32_t target_pid;    /* as the process itself sees it */
  uint32_t parent;       /* process instance, or LNS_ID_NONE */
  uint32_t name;         /* the comm or file name */
  uint32_t command_line; /* arguments, shell-quoted, or 0 */
  uint32_t executable;   /* path, or 0 */
  int64_t start_ns;      /* report clock, or LNS_TIME_UNKNOWN */
  int64_t end_ns;        /* LNS_TIME_UNKNOWN while it runs */
  int32_t exit_code;     /* 0–255; 128+N after signal N; -1 = not known */
  uint32_t machine;      /* bits 48–63 of its globalPid: which machine, 0 in our own recordings */
  uint32_t is_listed;    /* imported: 1 = in PROCESSES */
  uint32_t exit_signal;  /* that killed it, 0 = none or not known */
  uint32_t mpi_rank;     /* 1 + its rank among the processes of MPI or torchrun, 0 = not known */
} LnsProcess;

typedef struct
{
  uint32_t process; /* process instance */
  int32_t tid;      /* in the session's pid namespace, or 0 if it could not be read */
  int32_t target_tid;
  uint32_t name;    /* the name that the program gave it (through NVTX, else the OS) */
  int64_t start_ns; /* LNS_TIME_UNKNOWN where not known */
  int64_t end_ns;
  uint32_t is_named; /* 1: the program named it through NVTX */
  int32_t priority;
  uint32_t listed; /* imported: in ThreadNames, 1 = without `priority`, 2 = with it */
} LnsThread;

/* An NVTX domain of one process. The default domain has name 0 and number 0. */
typedef struct
{
  uint32_t process;
  uint32_t name;
  uint64_t number; /* the nsys domainId: 0 = default, then in order of creation in its process */
  int64_t created_ns;
  int64_t destroyed_ns; /* LNS_TIME_UNKNOWN = lives */
  uint32_t thread;      /* thread that created it, or LNS_ID_NONE */
} LnsDomain;

typedef struct
{
  uint32_t domain;   /* domain id */
  uint32_t category; /* the program's number */
  uint32_t name;
} LnsCategory;

/* An object that the program named through NVTX: a CUDA stream, a lock, … */
typedef struct
{
  uint32_t domain;     /* domain id */
  uint32_t type;       /* NVTX_RESOURCE_TYPE_*: what the identifier is                          */
  uint64_t identifier; /* the pointer, handle or number that the program knows it by */
  uint32_t name;
  int64_t created_ns;
  int64_t destroyed_ns; /* LNS_TIME_UNKNOWN = lives */
} LnsResource;

/* A typed payload's description (NVTX payload extension). Entries refer to it by `schema`. */
typedef struct
{
  uint32_t domain;
  uint64_t schema_id; /* as the program got it */
  uint32_t name;
  uint32_t type;  /* NVTX_PAYLOAD_SCHEMA_TYPE_* */
  uint32_t flags; /* NVTX_PAYLOAD_SCHEMA_FLAG_* */
  uint32_t size_bytes;
  uint32_t align_bytes;
  uint32_t is_enum; /* 1: entries are (name, value) */
} LnsSchema;

typedef struct
{
  uint32_t schema;   /* index of its LnsSchema */
  uint32_t position; /* 0, 1, … within the schema */
  uint32_t name;
  uint32_t description;
  uint32_t flags; /* NVTX_PAYLOAD_ENTRY_FLAG_* */
  uint64_t type;  /* NVTX_PAYLOAD_ENTRY_TYPE_* or a schema id; an enum entry's value         */
  uint64_t offset_bytes;
  uint64_t array_or_union_detail;
} LnsSchemaEntry;

/* A GPU as one process sees it: CUDA numbers devices per process. Sizes are in bytes, clocks in kHz and bandwidth in
 * kB/s, as in CUpti_ActivityDevice5; 0 = CUPTI did not report it. */
typedef struct
{
  uint32_t process;
  uint32_t number; /* CUDA's, as the process counts */
  uint32_t name;
  uint32_t bus;  /* "0000:b2:00.0", or 0 */
  uint32_t uuid; /* "GPU-…" (or "MIG-…") in 8-4-4-4-12 hex digits, or 0 */
  uint32_t compute_major, compute_minor;
  uint32_t n_multiprocessors;
  uint64_t memory_bytes, memory_bandwidth, constant_bytes, l2_bytes;
  uint32_t core_clock;
  uint32_t n_copy_engines;
  uint32_t threads_per_warp, max_ipc, max_warps_per_sm, max_blocks_per_sm;
  uint32_t max_registers_per_block, max_registers_per_sm;
  uint32_t max_shared_per_block, max_shared_per_sm; /* bytes */
  uint32_t max_threads_per_block;
  uint32_t max_block[3], max_grid[3]; /* x, y, z */
} LnsCudaDevice;

typedef struct
{
  uint32_t device;
  uint32_t number;            /* CUPTI's contextId */
  uint32_t null_stream;       /* CUPTI's streamId of the default stream */
  uint32_t parent;            /* CUPTI's contextId of a green context's parent, or 0 */
  uint32_t is_green;          /* 0 or 1 */
  uint32_t n_multiprocessors; /* that a green context may use, or 0 */
  uint32_t name;              /* its name from NVTX, or 0 */
} LnsCudaContext;

typedef struct
{
  uint32_t context;
  uint32_t number; /* CUPTI's streamId */
  int32_t priority;
  uint32_t flags; /* CUpti_ActivityStreamFlag */
  uint32_t name;  /* its name from NVTX, or 0 */
} LnsCudaStream;

/* A kernel and its launch configuration. The event's own name is the kernel's demangled name. */
typedef struct
{
  uint32_t short_name;        /* without return type, template arguments and parameters */
  uint32_t mangled_name;      /* as the module has it */
  uint32_t grid[3], block[3]; /* x, y, z */
  uint32_t cluster[3];        /* 0 where the kernel has none */
  uint32_t registers;         /* a thread */
  uint32_t static_shared_bytes, dynamic_shared_bytes, shared_executed_bytes; /* a block */
  uint32_t local_bytes;                                                      /* a thread */
  uint64_t local_total_bytes; /* of the whole launch */
  uint32_t launch_type;       /* CUpti_ActivityLaunchType */
  uint32_t cache_config;      /* requested | executed << 4: CUfunc_cache */
  uint32_t shared_config;     /* CUpti_FuncShmemLimitConfig */
  uint32_t shared_carveout;   /* percent that was asked for */
  uint32_t cluster_policy, max_potential_cluster, max_active_clusters;
} LnsCudaLaunch;

/* A row of the timeline. Its lanes hold the events. */
typedef struct
{
  LnsTrackKind kind;
  uint32_t process;    /* process instance, or LNS_ID_NONE */
  uint32_t thread;     /* thread instance, or LNS_ID_NONE */
  uint32_t domain;     /* domain id, or LNS_ID_NONE */
  uint32_t name;       /* a counter's name; else 0 */
  uint32_t value_type; /* of counters: LnsPayloadType of the samples */
  uint32_t unit;       /* of counters: string id, or 0 */
  uint64_t number;     /* the program's counter id; LNS_TRACK_GPU_METRIC: typeId; */
                       /* LNS_TRACK_NVTX_PROJECTED: context id; */
                       /* LNS_TRACK_CPU: the CPU's number; else 0 */
  uint32_t device;     /* device id, or LNS_ID_NONE; of tracks with a stream too */
  uint32_t stream;     /* stream id, or LNS_ID_NONE */
  uint32_t metric;     /* LNS_TRACK_GPU_METRIC: metricId; else 0 */
} LnsTrack;

typedef struct
{
  uint32_t track;
  uint32_t ordinal; /* 0, 1, …: the depth of push/pop lanes */
  LnsLaneKind kind;
} LnsLane;

typedef enum
{
  LNS_SEVERITY_INFO,
  LNS_SEVERITY_WARNING,
  LNS_SEVERITY_ERROR
} LnsSeverity;

/* A message for the user. CODE is stable: "LNS-NVTX-003". */
typedef struct
{
  uint32_t code;
  LnsSeverity severity;
  int64_t time_ns;  /* LNS_TIME_UNKNOWN = of the whole session */
  uint32_t process; /* or LNS_ID_NONE */
  uint32_t text;
} LnsDiagnostic;

/* Records that a thread (or a whole process) made and that were lost. It counts API calls; lns_loss_events () gives the
 * number of events. */
typedef struct
{
  uint32_t process;
  uint32_t thread;  /* LNS_ID_NONE = not known which */
  int64_t first_ns; /* the gap's ends, report clock; LNS_TIME_UNKNOWN = not known */
  int64_t last_ns;
  uint64_t pushes, pops, marks, starts, ends, others;
  uint64_t bytes;
} LnsLoss;

/* A foreign table that no lane can represent, kept unchanged; or, if `is_remainder`, the values of rows of the table NAME
 * that their events' lanes have no columns for. */
typedef struct
{
  uint32_t name;
  uint32_t columns; /* string id of a block (kept-codec.h): name, type, is not NULL */
  uint32_t is_remainder;
} LnsKeptTable;

/* A meta value. Recover restores the rows of lns_meta from these. */
typedef struct
{
  uint32_t key, value; /* string ids */
} LnsMetaDefinition;

/* Some rows of a kept table, in its order, or the remainder of one event. */
typedef struct
{
  uint32_t table; /* LnsKeptTable */
  uint32_t rows;  /* string id of a block */
  uint32_t n_rows;
  int64_t min, max; /* of its first column; all of int64 where that does not only hold integers */
} LnsKeptRows;

typedef enum
{
  LNS_MODULE_ELF, /* a file */
  LNS_MODULE_VDSO,
  LNS_MODULE_KERNEL,
  LNS_MODULE_ANONYMOUS /* no file: code that the program made */
} LnsModuleKind;

/* A stretch of code in a process's memory. Processes that it forked share the definition until they map something else. */
typedef struct
{
  uint32_t process;     /* that mapped it */
  uint32_t kind;        /* LnsModuleKind */
  uint32_t path;        /* or what the kernel calls it: "[vdso]", "//anon" */
  uint32_t build_id;    /* string id of its bytes, 0 = none or not known */
  uint64_t start, end;  /* addresses */
  uint64_t file_offset; /* of what lies at `start` */
  int64_t mapped_ns;    /* LNS_TIME_UNKNOWN = before the recording */
} LnsModule;

/* Where the name of a frame is from, the best last. */
typedef enum
{
  LNS_FRAME_NOT_RESOLVED,
  LNS_FRAME_DYNAMIC_TABLE, /* the exported functions of a file: it may be one that lies before the place */
  LNS_FRAME_SYMBOL_TABLE,
  LNS_FRAME_MAP, /* what a just-in-time compiler or the kernel tells of its code */
  LNS_FRAME_DEBUG_INFO
} LnsFrameSource;

/* The symbol of a frame without a module that ends a call chain whose further callers are not known. Without it, what they
 * called would look like where the program begins. */
#define LNS_CALLERS_NOT_RECORDED "[callers not recorded]"

/* A place in code. OFFSET is in the module's file; without a file, from where the module begins; without a module, an
 * address. A caller is at one byte less than its return address, so that the place lies within the call.
 *
 * Where the compiler inlined calls, several functions have the place. The frame that call nodes refer to is then the function
 * that has the code; each inlined call has a frame of its own, behind that of the function that it is inlined into. Walk all
 * of them with src/store/read/call-walk.h. */
typedef struct
{
  uint32_t module; /* or LNS_ID_NONE */
  uint32_t
      symbol; /* function; until it is resolved MODULE+0xOFFSET, of the function if that is known; MODULE+0x… in
                 code that the program made itself */
  uint64_t offset;
  uint32_t is_resolved; /* 1: `symbol` is the function */
  uint32_t source;      /* LnsFrameSource, where it was looked up */
  uint32_t file;        /* path of the source, 0 = not known */
  uint32_t line;        /* from 1 on; 0 = not known */
  uint32_t innermost;   /* 1 + the frame of the innermost call inlined at this place, 0 = none */
  uint32_t inlined_in;  /* of an inlined call: 1 + the frame of its caller; else 0 */
} LnsStackFrame;

/* A function call in the tree of all calls that samples found. A call chain is a node and its ancestors; it is stored once,
 * and what it shares with others once, too. A node comes behind its parent. */
typedef struct
{
  uint32_t parent; /* the caller's node, or LNS_ID_NONE */
  uint32_t frame;
} LnsCallNode;

/* A stretch of time of which the report keeps, by intent, only events that reach into another one: nothing is known of it but counts. In
 * order, and apart. */
typedef struct
{
  int64_t start_ns, end_ns; /* report clock */
} LnsOmission;

/* How many events LOSS stands for: stored and lost events add up to those that were made. A lost pop or end does not lose
 * an event: its range is stored with an unknown end. */
static inline uint64_t
lns_loss_events (const LnsLoss *loss)
{
  return loss->pushes + loss->marks + loss->starts + loss->others;
}
