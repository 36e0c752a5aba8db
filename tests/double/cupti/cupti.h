/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shared by the files of the stand-in for libcupti. */

#pragma once

#include "tests/double/gpu/gpu.h"

#include <cupti.h>

#include <pthread.h>

#define LNS_CUPTI_API __attribute__ ((visibility ("default")))

#define LNS_CUPTI_KINDS 64 /* more than any version knows */

/* Every entry point calls this first. Returns the failure that LNS_DOUBLE_FAIL asks for, CUPTI_ERROR_UNKNOWN
 * if the stand-in for libcuda is not loaded (NVIDIA's library does the same), and CUPTI_SUCCESS otherwise. */
CUptiResult _lns_cupti_enter (const char *function, long argument);

/* Whether CUPTI answers anything: see LNS_DOUBLE_LATE_DRIVER. */
bool _lns_cupti_answers (void);

/* After a fatal error any call initialises NVIDIA's library again. This one aborts. */
void _lns_cupti_check_fatal (void);
void _lns_cupti_set_fatal (void);

/* How many calls of the program have returned since CUPTI was called first. */
extern uint32_t _lns_cupti_n_calls;

/* How many threads are in cuptiActivityFlushAll (). */
uint32_t _lns_cupti_n_in_flush (void);

/* Threads that look for a driver. */
uint32_t _lns_cupti_n_looking (void);

#define LNS_CUPTI_ENTER(ARGUMENT)                                                                  \
 do                                                                                                \
  {                                                                                                \
   CUptiResult entered = _lns_cupti_enter (__func__, ARGUMENT);                                    \
   if (entered != CUPTI_SUCCESS)                                                                   \
    return entered;                                                                                \
  }                                                                                                \
 while (0)

/* Settings from the environment. They are read once, because a program may change its environment. */
typedef struct
{
  uint32_t version;
  int per_thread;  /* buffers by thread: 1, 0, or -1: as the client's attribute says */
  size_t drop;     /* drop every Nth record; 0: none */
  size_t together; /* deliver records in groups of this size, in reverse order */
  int64_t late_ns;
  size_t held;
  bool disable_holds;
  uint32_t fatal; /* a fatal error with the Nth call; 0: none */
  uint32_t taken,
      left; /* another client takes over with this call, and disables its kinds with that; 0: none */
  bool second_session; /* graph launches have wrong correlations after kinds were enabled again */
  uint32_t
      late_driver; /* CUPTI 13.2 to 13.5 answers nothing before cuInit, or so many calls, have returned */
  int64_t flush_ns;   /* how much longer a flush takes */
  int64_t look_ns;    /* how much longer a call takes that finds no driver yet */
  int host_graphs;    /* graphs begin on the host: 1; and end there: 2 */
  size_t zero_times;  /* every Nth kernel, in versions that do so with a clock of the client's */
  size_t wrong_times; /* every Nth kernel, in any version */
  bool withholds;     /* buffers with incomplete records */
  bool topology;      /* tells how devices are connected */
  long gpu_offset_ns;
  long gpu_drift_ppm;
  long own_offset_ns, own_drift_ppm; /* of the library's own clock */
  const char *other_tool;            /* NULL: none */
} LnsCuptiOptions;

const LnsCuptiOptions *_lns_cupti_options (void);

/* --- generations -------------------------------------------------------------------------------- */

/* Bytes of a record of KIND in the version that is played; 0 for kinds that it does not record. */
size_t _lns_cupti_record_bytes (uint32_t kind);

/* --- time --------------------------------------------------------------------------------------- */

/* The client's clock is CALLBACK; CLOCK_REALTIME with LNS_DOUBLE_CUPTI_CLOCK's error, if that is NULL. */
void _lns_cupti_set_clock (CUpti_TimestampCallbackFunc callback);

bool _lns_cupti_has_clients_clock (void);

/* Whether kinds were enabled after they had been disabled. */
bool _lns_cupti_is_second_session (void);

uint64_t _lns_cupti_now (void);

/* TIME_NS of CLOCK_MONOTONIC in that clock; GPU times carry LNS_DOUBLE_GPU_CLOCK's error. */
uint64_t _lns_cupti_time (int64_t time_ns, bool is_gpu);

/* --- subscribers --------------------------------------------------------------------------------- */

#define LNS_CUPTI_SUBSCRIBERS 4
#define LNS_CUPTI_CBIDS       2048

/* The functions that CUPTI 13.3 (130300) and later have for several subscribers, as its headers declare them: those of
 * 13.0 lack them. */
typedef struct
{
  size_t structSize;
} LnsCuptiRequestInfo;

typedef struct
{
  size_t structSize;
  uint64_t threadId;
  void *ppRecordLayouts;
  size_t numRecordLayouts;
} LnsCuptiCompleteInfo;

typedef void (*LnsCuptiRequest) (uint8_t **, size_t *, size_t *, LnsCuptiRequestInfo *);
typedef void (*LnsCuptiComplete) (uint8_t *, size_t, size_t, LnsCuptiCompleteInfo *);

/* A client. The first one is also that of clients which use the functions for a single subscriber. */
struct CUpti_Subscriber_st
{
  CUpti_CallbackFunc callback;
  void *data;
  bool is_subscribed;
  uint8_t wanted[CUPTI_CB_DOMAIN_SIZE][LNS_CUPTI_CBIDS];
  uint8_t enabled[LNS_CUPTI_KINDS];
  uint8_t api_changed[3][LNS_CUPTI_CBIDS]; /* by domain: 0 as the kind, 1 on, 2 off */
  CUpti_ActivityThreadIdType thread_type;
  /* Of buffers: either these two or those. */
  CUpti_BuffersCallbackRequestFunc request;
  CUpti_BuffersCallbackCompleteFunc complete;
  LnsCuptiRequest request_v2;
  LnsCuptiComplete complete_v2;
  size_t n_dropped;
};

extern struct CUpti_Subscriber_st _lns_cupti_subscribers[LNS_CUPTI_SUBSCRIBERS];

/* Which of the two families of functions the process uses: the other one is refused. */
typedef enum
{
  LNS_CUPTI_NEITHER,
  LNS_CUPTI_SINGLE,
  LNS_CUPTI_SEVERAL,
} LnsCuptiFamily;

/* Notes that a function of FAMILY is called. Returns false if the process uses the other one. */
bool _lns_cupti_use (LnsCuptiFamily family);

/* Whether several may subscribe. */
bool _lns_cupti_is_shared (void);

/* LNS_CUPTI_ENTER of a function for a single subscriber that has a successor. */
#define LNS_CUPTI_ENTER_SINGLE(ARGUMENT)                                                           \
 LNS_CUPTI_ENTER (ARGUMENT);                                                                       \
 if (!_lns_cupti_use (LNS_CUPTI_SINGLE))                                                           \
 return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED

/* Whether SUBSCRIBER gets RECORD. */
bool _lns_cupti_gets (const struct CUpti_Subscriber_st *subscriber, const void *record);

/* Whether graphs are recorded as a whole. */
bool _lns_cupti_traces_graphs (void);

CUptiResult
_lns_cupti_enable (struct CUpti_Subscriber_st *subscriber, CUpti_ActivityKind kind, bool on);
CUptiResult _lns_cupti_change_api (struct CUpti_Subscriber_st *subscriber,
                                   uint32_t domain,
                                   CUpti_CallbackId cbid,
                                   uint8_t on);
/* The values of the functions that switch something, by the number of their attribute in CUPTI 13.3. NULL: none. */
uint8_t *_lns_cupti_switch (uint32_t attribute);
CUptiResult _lns_cupti_set_attribute (uint32_t attribute, const size_t *size, const void *value);
CUptiResult _lns_cupti_next_record (uint8_t *buffer, size_t n_bytes, CUpti_Activity **record);
CUptiResult _lns_cupti_subscribe (struct CUpti_Subscriber_st *subscriber,
                                  CUpti_CallbackFunc callback,
                                  void *data);
CUptiResult _lns_cupti_dropped (struct CUpti_Subscriber_st *subscriber, size_t *ret_n);

/* Whether this copy is one that does not work with the driver. */
bool _lns_cupti_refuses (void);

/* Calls the subscribers that enabled (DOMAIN, CBID). */
void _lns_cupti_call_back (CUpti_CallbackDomain domain, uint32_t cbid, const void *data);
bool _lns_cupti_wants (CUpti_CallbackDomain domain, uint32_t cbid);
void _lns_cupti_drop_subscribers (void);

/* --- buffers ------------------------------------------------------------------------------------ */

/* Copies RECORD, of its kind's size in this version, into the calling thread's buffer of each subscriber that gets it;
 * records of the GPU go to the one buffer they share. Counted as dropped where there is no room. */
void _lns_cupti_write (const void *record, bool is_gpu);

/* Where a record lies, for each subscriber, that was written before it was complete. */
typedef struct
{
  bool is_reserved; /* else the record is written when it is complete */
  struct
  {
    struct LnsCuptiBuffer *buffer; /* NULL: the subscriber does not get it */
    size_t at;
  } in[LNS_CUPTI_SUBSCRIBERS];
} LnsCuptiPlace;

/* Copies RECORD, which is incomplete, into the calling thread's buffers, which are then not delivered before
 * _lns_cupti_complete () has replaced the record. Returns false if the record was dropped. */
bool _lns_cupti_reserve (const void *record, LnsCuptiPlace *ret_place);
void _lns_cupti_complete (const LnsCuptiPlace *place, const void *record);

/* Hands every full buffer to the client; with FLUSH also those that hold any record. Buffers with incomplete records
 * stay. */
void _lns_cupti_deliver (bool flush);

/* Another client registers buffers and a clock of its own, as Kineto does since August 2026. It loses what it gets. */
void _lns_cupti_take_over (void);

/* Disables what that client has enabled. */
void _lns_cupti_leave (void);

/* Starts the worker thread, once. */
void _lns_cupti_start_worker (void);
void _lns_cupti_stop_worker (void);

/* --- records ------------------------------------------------------------------------------------ */

extern const LnsGpuTracer _lns_cupti_tracer;

/* Records of later versions, which the headers of 13.0 do not know, as cupti_activity.h of CUDA 13.5 has them: from 13.1 on
 * GRAPH_HOST_NODE, COMPUTE_ENGINE_CTX_SWITCH and HOST_LAUNCH, and the process in the record of a context; from 13.2 on
 * GREEN_CONTEXT. */
#define LNS_CUPTI_HOST_NODE     56
#define LNS_CUPTI_SWITCH        57
#define LNS_CUPTI_HOST_LAUNCH   58
#define LNS_CUPTI_GREEN_CONTEXT 59
typedef struct
{
  uint32_t kind, stream, context, device, correlation, graph;
  uint64_t node;
  uint32_t pid, tid;
  uint64_t start, end;
} LnsCuptiHostNode;
typedef struct
{
  uint32_t kind, context;
  uint64_t timestamp;
  uint32_t operation, padding;
} LnsCuptiSwitch;
typedef struct
{
  uint32_t kind, stream, context, device, correlation, pid, tid, padding;
  uint64_t start, end;
} LnsCuptiHostLaunch;
typedef struct
{
  CUpti_ActivityContext3 known;
  uint64_t pid;
} LnsCuptiContext;
typedef struct
{
  uint32_t kind, context, parent, device, n_tpcs;
  uint16_t n_multiprocessors;
  uint8_t n_mask_words, padding;
  uint32_t mask[32];
} LnsCuptiGreenContext;

/* What the records of NVLink have in common; then come the ports, the bandwidth and whether there is a switch. */
#define LNS_CUPTI_NVLINK_FIELDS                                                                    \
 CUpti_ActivityKind kind;                                                                          \
 uint32_t nvlinkVersion;                                                                           \
 CUpti_DevType typeDev0, typeDev1;                                                                 \
 union                                                                                             \
 {                                                                                                 \
  CUuuid uuidDev;                                                                                  \
  uint32_t npu[2];                                                                                 \
 } idDev0, idDev1;                                                                                 \
 uint32_t flag, physicalNvLinkCount

/* CUpti_ActivityNvLink3 as CUPTI 11 has it: later headers say 32 ports. */
typedef struct
{
  LNS_CUPTI_NVLINK_FIELDS;
  int8_t portDev0[16], portDev1[16];
  uint64_t bandwidth;
  uint8_t nvswitchConnected, pad[7];
} LnsCuptiNvLink3;
_Static_assert(sizeof (LnsCuptiNvLink3) == 104, "as in CUPTI 11.0 to 11.8");

/* CUpti_ActivityNvLink5, of CUPTI 13.2 and later. */
typedef struct
{
  LNS_CUPTI_NVLINK_FIELDS;
  uint32_t *portDev0, *portDev1;
  uint64_t bandwidth;
  uint8_t nvswitchConnected, pad[7];
} LnsCuptiNvLink;
_Static_assert(sizeof (LnsCuptiNvLink) == 88, "as in CUPTI 13.2 to 13.5");
#if CUPTI_API_VERSION >= 130100
_Static_assert(sizeof (CUpti_ActivityGraphHostNode) == sizeof (LnsCuptiHostNode), "its size");
_Static_assert(sizeof (CUpti_ActivityComputeEngineCtxSwitch) == sizeof (LnsCuptiSwitch),
               "its size");
_Static_assert(sizeof (CUpti_ActivityHostLaunch) == sizeof (LnsCuptiHostLaunch), "its size");
_Static_assert(sizeof (CUpti_ActivityContext4) == sizeof (LnsCuptiContext), "its size");
#endif

/* OP has run between START_NS and END_NS on DEVICE, for CONTEXT: the engine has switched to it if it worked for another one. */
void
_lns_cupti_follow_switches (uint32_t device, uint32_t context, int64_t start_ns, int64_t end_ns);

/* The engines of all devices end to work for their contexts. */
void _lns_cupti_end_switches (void);

bool _lns_cupti_is_enabled (uint32_t kind);
/* Whether the client has configured the COUNTER of unified memory. */
bool _lns_cupti_counts (uint32_t counter);
bool _lns_cupti_api_is_enabled (uint32_t domain, uint32_t cbid);
/* The calling thread as the first subscriber names it. */
uint32_t _lns_cupti_thread (void);
bool _lns_cupti_wants_latency (void);
bool _lns_cupti_wants_sources (void);

/* Whether the GPU itself takes the times of its work, and has it do so. */
bool _lns_cupti_is_by_hardware (void);
CUptiResult _lns_cupti_trace_by_hardware (uint8_t on);

bool _lns_cupti_wants_all_syncs (void);
bool _lns_cupti_wants_event_times (void);

/* The innermost external id that the thread pushed for KIND; FALSE without one. */
bool _lns_cupti_external (uint32_t kind, uint64_t *ret_id);

typedef enum
{
  LNS_CUPTI_COLLECT_IF_FREE,    /* what has ended, unless another thread is at it */
  LNS_CUPTI_COLLECT_ENDED,      /* what has ended, and what another thread has taken */
  LNS_CUPTI_COLLECT_EVERYTHING, /* also the rest, which then has no times */
} LnsCuptiCollect;

/* Keeps OP until it has ended; writes what was kept. */
void _lns_cupti_keep (const LnsGpuOp *op);
void _lns_cupti_collect (LnsCuptiCollect how);

/* KIND is disabled or enabled: with LNS_DOUBLE_DISABLE_HOLDS, kernels that run while theirs is disabled are kept until it
 * is enabled again, and end then. */
void _lns_cupti_hold (uint32_t kind, bool on);

void _lns_cupti_write_devices (void);
void _lns_cupti_dump (uint32_t kind);

/* Writes the records of KIND, which tell how devices are connected. */
void _lns_cupti_write_topology (uint32_t kind);
