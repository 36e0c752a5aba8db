/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The simulated GPU, which the stand-ins for libcuda, libcudart and libcupti share.
 *
 * Work is queued in virtual time: submitting an operation computes when it starts and ends, on the host's
 * CLOCK_MONOTONIC. Waiting for an operation waits until that time. Data are copied when the operation is
 * submitted; kernels compute nothing. README.md lists the durations.
 *
 * Functions return 0 or a CUresult (cudaError_t has the same values). They are thread-safe. Only lns_gpu_now()
 * may be called while a lock of the tracer is held. */

#pragma once

#include <cuda.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LNS_GPU_API __attribute__ ((visibility ("default")))

/* A call of an API function, from its entry to its return. */
typedef struct LnsGpuCall
{
  uint32_t domain; /* CUPTI_CB_DOMAIN_RUNTIME_API or CUPTI_CB_DOMAIN_DRIVER_API */
  uint32_t cbid;
  const char *name;
  const void *params;
  const char *symbol;       /* the kernel's mangled name in launches, else NULL */
  uint32_t correlation;     /* unique in the process, from 1 */
  uint64_t correlation_tag; /* for the tracer, between entry and exit */
  uint64_t start;           /* the tracer's clock */
  int result;
  struct LnsGpuCall *outer;
} LnsGpuCall;

typedef enum
{
  LNS_GPU_OP_KERNEL,
  LNS_GPU_OP_COPY,
  LNS_GPU_OP_SET,
  LNS_GPU_OP_HOST,
  LNS_GPU_OP_EVENT_RECORD,
  LNS_GPU_OP_EVENT_WAIT,
  LNS_GPU_OP_EMPTY,
  LNS_GPU_OP_CHILD,
  LNS_GPU_OP_GRAPH,
} LnsGpuOpKind;

/* Where memory lies; the values are CUpti_ActivityMemoryKind's. */
typedef enum
{
  LNS_GPU_MEMORY_UNKNOWN = 0,
  LNS_GPU_MEMORY_PAGEABLE = 1,
  LNS_GPU_MEMORY_PINNED = 2,
  LNS_GPU_MEMORY_DEVICE = 3,
  LNS_GPU_MEMORY_MANAGED = 5,
  LNS_GPU_MEMORY_DEVICE_STATIC = 6,
} LnsGpuMemoryKind;

typedef struct
{
  CUfunction function;
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t cluster[3]; /* zeroes without clusters */
  uint32_t dynamic_shared_bytes;
  uint8_t launch_type; /* CUpti_ActivityLaunchType */
} LnsGpuKernel;

typedef struct
{
  void *dst;
  const void *src;
  size_t dst_pitch_bytes;
  size_t src_pitch_bytes;
  size_t width_bytes;
  size_t height; /* rows */
  bool async;
  uint8_t kind;     /* CUpti_ActivityMemcpyKind */
  uint8_t src_kind; /* LnsGpuMemoryKind */
  uint8_t dst_kind;
  int src_device;
  int dst_device;
} LnsGpuCopy;

typedef struct
{
  void *dst;
  size_t pitch_bytes;
  size_t width; /* elements */
  size_t height;
  uint32_t element_bytes; /* 1, 2 or 4 */
  uint32_t value;
  bool async;
  uint8_t memory_kind;
} LnsGpuSet;

typedef struct LnsGpuOp
{
  LnsGpuOpKind kind;
  uint32_t correlation;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t graph; /* 0 outside graphs */
  uint64_t node;
  int64_t queued_ns; /* CLOCK_MONOTONIC, as are start and end */
  int64_t start_ns;
  int64_t end_ns;
  union
  {
    LnsGpuKernel kernel;
    LnsGpuCopy copy;
    LnsGpuSet set;
    CUevent event;
    CUgraph child;
    struct
    {
      CUhostFn function;
      void *data;
      uint32_t thread; /* on which it ran */
    } host;
  };
} LnsGpuOp;

struct CUctx_st
{
  uint32_t id;
  int device;
  bool primary;
  bool destroyed;
  int references;
  int fault; /* sticky: the CUresult of each later call, 0 while well */
  CUstream null_stream;
  CUstream streams; /* list of all, the null stream included */
  struct CUctx_st *next;
};

struct CUstream_st
{
  uint32_t id;
  CUcontext context;
  unsigned flags;
  int priority;
  pid_t thread; /* whose default stream this is, 0 for the others */
  int64_t ready_ns;
  CUgraph capture; /* the graph being captured, NULL outside captures */
  CUgraphNode *capture_tail;
  size_t n_capture_tail;
  struct CUstream_st *next;
};

struct CUevent_st
{
  uint32_t id;
  CUcontext context;
  unsigned flags;
  bool recorded;
  int64_t time_ns;
  uint32_t stream;
  uint64_t sync_id; /* grows with each record */
  CUgraph capture;
  CUgraphNode *capture_tail;
  size_t n_capture_tail;
};

struct CUfunc_st
{
  const char *name; /* lives as long as the process */
  uint16_t registers;
  uint32_t static_shared_bytes;
  uint32_t local_bytes;
  uint32_t max_dynamic_shared_bytes;
  bool faults;
  bool loaded; /* launched before */
  CUmodule module;
  struct CUfunc_st *next;
};

struct CUmod_st
{
  uint32_t id;
  const char *image;
  size_t image_bytes; /* 0: unknown */
  bool text;          /* PTX, compiled on load */
  CUfunction functions;
};

struct CUmemPoolHandle_st
{
  int device;
  bool is_default;
  uint64_t address;
  uint64_t release_threshold;
  uint64_t reserved_bytes;
  uint64_t used_bytes;
};

typedef struct
{
  void *address;
  size_t size;
  LnsGpuMemoryKind kind;
  int device; /* -1 on the host */
  uint32_t context;
  CUmemoryPool pool;
  struct CUmemPoolHandle_st pool_state; /* of the pool when the tracer is told */
  bool on_device;                       /* where managed memory is … */
  int resident;                         /* … and, if it is on a device, which one */
  bool registered;                      /* the program's own pages, pinned by cuMemHostRegister */
  unsigned flags;
} LnsGpuAllocation;

/* What the double of libcupti is told. Members but `op` run without locks. */
struct LnsGpuGraphChange;

typedef struct LnsGpuTracer
{
  void (*call) (LnsGpuCall *call, bool is_exit);
  void (*op) (const LnsGpuOp *op); /* queued; called under the GPU's lock */
  void (*resource) (uint32_t cbid, CUcontext context, CUstream stream, void *descriptor);
  void (*sync) (uint32_t type,
                CUcontext context,
                uint32_t stream,
                CUevent event,
                int64_t start_ns,
                int result);
  void (*event) (CUevent event, uint32_t correlation);
  void (*memory) (const LnsGpuAllocation *allocation,
                  bool is_release,
                  uint32_t stream,
                  bool is_async);
  void (*pool) (const struct CUmemPoolHandle_st *pool,
                uint32_t operation,
                size_t min_bytes_to_keep);
  void (*module) (CUmodule module, bool is_unload, int64_t start_ns);
  void (*first_launch) (CUfunction function, int64_t start_ns);
  void (*full) (int64_t start_ns); /* the queue was, since then */
  /* FROM and TO are devices; -1: the host. */
  void (*migration) (const LnsGpuAllocation *allocation,
                     int from,
                     int to,
                     bool is_fault,
                     int64_t start_ns,
                     int64_t end_ns);
  void (*fault) (CUcontext context, int result);
  void (*graph) (uint32_t cbid, CUcontext context, const struct LnsGpuGraphChange *change);
} LnsGpuTracer;

/* --- options ------------------------------------------------------------------------------------ */

/* Returns the value of the environment variable NAME, or FALLBACK where it is unset or no number. */
LNS_GPU_API long lns_gpu_option (const char *name, long fallback);

/* Returns the error that LNS_DOUBLE_FAIL wants this call of FUNCTION to return, or 0. ARGUMENT is
 * the first enum-like argument ("cuptiActivityEnable:10"), or -1. */
LNS_GPU_API int lns_gpu_wanted_failure (const char *function, long argument);

/* --- calls and the process ---------------------------------------------------------------------- */

LNS_GPU_API int64_t lns_gpu_now (void);

/* Sleeps until CLOCK_MONOTONIC reaches TIME_NS. */
LNS_GPU_API void lns_gpu_wait_until (int64_t time_ns);

/* What cuInit does: reads the options, loads CUDA_INJECTION64_PATH once. */
LNS_GPU_API int lns_gpu_initialize (void);
LNS_GPU_API bool lns_gpu_is_initialized (void);

/* TRUE in a child of fork() whose parent had initialised. */
LNS_GPU_API bool lns_gpu_is_forked (void);

LNS_GPU_API void lns_gpu_set_tracer (const LnsGpuTracer *tracer);

/* Brackets an API function; lns_gpu_call_enter returns the error that the function must return
 * instead of doing its work, or 0. */
LNS_GPU_API int lns_gpu_call_enter (LnsGpuCall *call);
LNS_GPU_API int lns_gpu_call_exit (LnsGpuCall *call, int result);

/* Correlation of the calling thread's outermost call, 0 outside calls. */
LNS_GPU_API uint32_t lns_gpu_correlation (void);

/* --- devices and contexts ----------------------------------------------------------------------- */

typedef struct
{
  char name[64];
  CUuuid uuid;
  int pci_domain;
  int pci_bus;
  int pci_device;
  int compute_major;
  int compute_minor;
  int n_multiprocessors;
  uint64_t memory_bytes;
} LnsGpuDevice;

LNS_GPU_API int lns_gpu_device_count (void);
LNS_GPU_API const LnsGpuDevice *lns_gpu_device (int device); /* NULL out of range */
LNS_GPU_API int lns_gpu_device_attribute (int device, CUdevice_attribute attribute, int *ret_value);

/* The calling thread's context; the runtime makes the device's primary one where there is none. */
LNS_GPU_API CUcontext lns_gpu_context_current (void);
LNS_GPU_API int lns_gpu_context_ensure (CUcontext *ret_context);
LNS_GPU_API void lns_gpu_context_set_current (CUcontext context);
LNS_GPU_API int lns_gpu_context_push (CUcontext context);
LNS_GPU_API int lns_gpu_context_pop (CUcontext *ret_context);
LNS_GPU_API int lns_gpu_context_create (int device, CUcontext *ret_context);
LNS_GPU_API int lns_gpu_context_destroy (CUcontext context);
LNS_GPU_API int lns_gpu_primary_retain (int device, CUcontext *ret_context);
LNS_GPU_API int lns_gpu_primary_release (int device);
LNS_GPU_API int lns_gpu_primary_reset (int device);
LNS_GPU_API bool lns_gpu_primary_is_active (int device);
LNS_GPU_API int lns_gpu_runtime_device (void);
LNS_GPU_API int lns_gpu_set_runtime_device (int device);

/* Calls EACH for every live context, or every stream of them, without the lock held. */
LNS_GPU_API void lns_gpu_each_stream (void (*each) (CUstream stream, void *data), void *data);
LNS_GPU_API void lns_gpu_each_context (void (*each) (CUcontext context, void *data), void *data);

/* --- streams and events ------------------------------------------------------------------------- */

/* The stream that HANDLE (0, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD or a stream) means. */
LNS_GPU_API int lns_gpu_stream_resolve (CUstream handle, bool per_thread, CUstream *ret_stream);
LNS_GPU_API int lns_gpu_stream_create (unsigned flags, int priority, CUstream *ret_stream);
LNS_GPU_API int lns_gpu_stream_destroy (CUstream stream);
LNS_GPU_API int lns_gpu_stream_query (CUstream stream);
LNS_GPU_API int lns_gpu_stream_synchronize (CUstream stream);
LNS_GPU_API int lns_gpu_stream_wait_event (CUstream stream, CUevent event);
LNS_GPU_API int lns_gpu_context_synchronize (CUcontext context);

LNS_GPU_API int lns_gpu_event_create (unsigned flags, CUevent *ret_event);
LNS_GPU_API int lns_gpu_event_destroy (CUevent event);
LNS_GPU_API int lns_gpu_event_record (CUevent event, CUstream stream);
LNS_GPU_API int lns_gpu_event_query (CUevent event);
LNS_GPU_API int lns_gpu_event_synchronize (CUevent event);
LNS_GPU_API int lns_gpu_event_elapsed (CUevent start, CUevent end, float *ret_ms);

/* Queues OP on STREAM, or adds it to the graph that STREAM captures. Sets its ids and times. */
LNS_GPU_API int lns_gpu_submit (CUstream stream, LnsGpuOp *op);

/* Fills in the kinds, the devices and the direction of COPY from its pointers. */
LNS_GPU_API void lns_gpu_classify_copy (LnsGpuCopy *copy);
LNS_GPU_API int lns_gpu_copy (CUstream stream, const LnsGpuCopy *copy);
LNS_GPU_API int lns_gpu_set (CUstream stream, const LnsGpuSet *set);
LNS_GPU_API int lns_gpu_launch (CUstream stream, const LnsGpuKernel *kernel);

/* --- memory ------------------------------------------------------------------------------------- */

LNS_GPU_API int lns_gpu_allocate (LnsGpuMemoryKind kind, size_t size, void **ret_address);
LNS_GPU_API int lns_gpu_release (void *address);
LNS_GPU_API int lns_gpu_register_static (void *address, size_t size);
LNS_GPU_API int lns_gpu_register_host (void *address, size_t size);
LNS_GPU_API int lns_gpu_unregister_host (void *address);
LNS_GPU_API bool lns_gpu_find_allocation (const void *address, LnsGpuAllocation *ret_allocation);
LNS_GPU_API int lns_gpu_memory_info (size_t *ret_free, size_t *ret_total);
LNS_GPU_API int lns_gpu_prefetch (const void *address, size_t size, int device, CUstream stream);

LNS_GPU_API int lns_gpu_pool_default (int device, CUmemoryPool *ret_pool);
LNS_GPU_API int lns_gpu_pool_create (int device, CUmemoryPool *ret_pool);
LNS_GPU_API int lns_gpu_pool_destroy (CUmemoryPool pool);
LNS_GPU_API int lns_gpu_pool_trim (CUmemoryPool pool, size_t min_bytes_to_keep);
LNS_GPU_API int
lns_gpu_pool_allocate (CUmemoryPool pool, size_t size, CUstream stream, void **ret_address);
LNS_GPU_API int lns_gpu_pool_release (void *address, CUstream stream);

/* --- graphs ------------------------------------------------------------------------------------- */

LNS_GPU_API int lns_gpu_capture_begin (CUstream stream);
LNS_GPU_API int lns_gpu_capture_end (CUstream stream, CUgraph *ret_graph);
LNS_GPU_API int lns_gpu_graph_create (CUgraph *ret_graph);
LNS_GPU_API int lns_gpu_graph_destroy (CUgraph graph);

/* Adds OP as a node that waits for DEPENDENCIES. */
LNS_GPU_API int lns_gpu_graph_add (CUgraph graph,
                                   const CUgraphNode *dependencies,
                                   size_t n_dependencies,
                                   const LnsGpuOp *op,
                                   CUgraphNode *ret_node);
LNS_GPU_API int lns_gpu_graph_depend (const CUgraphNode *from, const CUgraphNode *to, size_t n);
LNS_GPU_API size_t lns_gpu_graph_nodes (CUgraph graph, CUgraphNode *ret_nodes, size_t room);
LNS_GPU_API int lns_gpu_graph_instantiate (CUgraph graph, CUgraphExec *ret_exec);
LNS_GPU_API int lns_gpu_graph_launch (CUgraphExec exec, CUstream stream);
LNS_GPU_API int lns_gpu_graph_exec_destroy (CUgraphExec exec);
LNS_GPU_API uint64_t lns_gpu_graph_node_id (CUgraphNode node);
LNS_GPU_API uint32_t lns_gpu_graph_id (CUgraph graph);
LNS_GPU_API uint32_t lns_gpu_graph_exec_id (CUgraphExec exec);

/* What the tracer's `graph` is told. */
typedef struct LnsGpuGraphChange
{
  CUgraph graph;
  CUgraph original_graph;
  CUgraphNode node;
  CUgraphNode original_node;
  CUgraphNodeType node_type;
  CUgraphNode dependency;
  CUgraphExec exec;
} LnsGpuGraphChange;

/* --- modules ------------------------------------------------------------------------------------ */

LNS_GPU_API CUmodule lns_gpu_module_new (const void *image);
LNS_GPU_API void lns_gpu_module_free (CUmodule module);

/* Finds or makes the function NAME of MODULE; NULL where a PTX text has no such entry. */
LNS_GPU_API CUfunction lns_gpu_module_function (CUmodule module, const char *name);
