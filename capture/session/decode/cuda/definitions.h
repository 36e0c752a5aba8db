/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Devices, contexts, streams and launches. Events may come before the definition of their device, context or stream:
 * it is then made from its number alone and corrected later. */

#pragma once

#include "capture/session/decode/core/source.h"
#include "capture/session/decode/core/tracks.h"
#include "capture/session/decode/cuda/state.h"
#include "capture/wire/compact.h"
#include "capture/wire/cuda-layout.h"
#include "src/base/buffer.h"
#include "src/store/write/kept-table.h"

#include <stdlib.h>

/* An event or another record of CUDA. */
typedef union
{
  LnsWireHead head; /* all records begin with it */
  /* Events begin so, except calls of libraries and events without a duration, whose third field is another one. */
  struct
  {
    LnsWireHead head;
    uint32_t n_bytes, correlation;
    uint64_t end_ticks;
  } event;
  LnsWireCudaApiBytes api;
  LnsWireCudaKernelBytes kernel;
  LnsWireCudaLaunchBytes launch;
  LnsWireCudaMemcpyBytes copy;
  LnsWireCudaMemsetBytes set;
  LnsWireCudaSyncBytes sync;
  LnsWireCudaEventBytes cuda_event;
  LnsWireCudaGraphBytes graph;
  LnsWireCudaGraphNodeBytes node;
  LnsWireCudaOverheadBytes overhead;
  LnsWireCudaMemoryBytes memory;
  LnsWireCudaPoolBytes pool;
  LnsWireCudaUnifiedBytes unified;
  LnsWireCudaJitBytes jit;
  LnsWireLibraryCallBytes library;
  LnsWireCudaHostBytes host;
  LnsWireCudaSwitchBytes change;
  LnsWireCudaLatencyBytes latency;
} LnsCudaRecord;

/* A context that a GPU works for, since when. */
typedef struct
{
  uint64_t place; /* LNS_COLUMN_PLACE */
  int64_t start_ns;
} LnsGpuHold;

/* Definitions are written when a report first needs them. Their ids are valid in the report whose serial they
 * bear. */
typedef struct
{
  LnsDecodedProcess *process;
  LnsReportRef ref;
  LnsWireCudaDeviceBytes said;  /* all 0 except the number, if it was not defined */
  uint64_t used_bytes[256];     /* of memory, by CUpti_ActivityMemoryKind */
  LnsReportRef counters[256];   /* lanes of the memory in use, by kind */
  bool is_used;                 /* it has a context */
  LNS_ARRAY (LnsGpuHold) holds; /* contexts that it works for */
  LnsDecodedTrack *switches;    /* the track of its context switches, or NULL */
  int64_t left_ns;              /* up to when that is written in this report */
  uint32_t left_report;
} LnsDecodedDevice;

typedef struct
{
  LnsReportRef ref;
  LnsDecodedDevice *device;
  LnsWireCudaContextBytes said;
  uint32_t name;   /* registered string of what NVTX named it, or 0 */
  bool is_assumed; /* its device is not known yet */
} LnsDecodedContext;

typedef struct
{
  LnsReportRef ref;
  LnsDecodedContext *context;
  LnsWireCudaStreamBytes said;
  uint32_t name; /* registered string of what NVTX named it, or 0 */
} LnsDecodedCudaStream;

typedef struct LnsDecodedLaunch LnsDecodedLaunch;

/* A kernel and the shape of its launch, shared by all streams of records that tell of it. */
struct LnsDecodedLaunch
{
  LnsReportRef ref;
  LnsDecodedLaunch *next;      /* of the same hash */
  LnsWireCudaLaunchBytes said; /* head, sizes and padding zero */
  LnsName *mangled, *demangled, *short_name;
};

/* The state of the launches with the last correlation ids, which CUPTI counts up: two bits each. See flight.c. */
typedef struct
{
  uint64_t *words; /* NULL until the first launch */
  uint32_t newest; /* id */
} LnsFlights;

/* The state of the session. */
typedef struct
{
  LnsCudaState state; /* of all processes, whatever events there are */
  uint64_t n_events;  /* in this report */
  bool is_double_told;
  void (*gpu_used) (void *data, const char *bus); /* or NULL */
  void *gpu_used_data;
  /* What events of this report have that no column of theirs holds; NULL until the first one does. */
  LnsKeptTableMaker *sources, *channels;
} LnsCudaSession;

/* The state of a process. */
typedef struct
{
  LnsIdMap devices;      /* LnsDecodedDevice by number */
  LnsIdMap contexts;     /* LnsDecodedContext by number */
  LnsIdMap streams;      /* LnsDecodedCudaStream by number | context << 32 */
  LnsIdMap launches;     /* LnsDecodedLaunch by hash */
  LnsIdMap texts;        /* registered string ids by the address of the text in the process */
  LnsIdMap public_calls; /* LnsName of the public function by string id of an entry point */
  LnsIdMap calls;        /* registered string ids by callback id | 1 << 32 for the runtime's */
  LnsIdMap problems;     /* what was told, by problem and detail */
  LnsWireCudaInfoBytes info;
  LnsWireCuptiRanges *ranges; /* in which CUDA was recorded; NULL: none was told */
  uint64_t n_dropped_between; /* by CUPTI, while there was no report */
  uint64_t n_mistimed_between;
  LnsFlights flights;    /* the state of launches */
  LnsIdMap waited_for;   /* flight.c's last call that waited, by its key of a stream or context */
  uint64_t waited_ticks; /* when the last of these calls returned */
  uint64_t asked_ticks;  /* when CUPTI was asked for work that had not ended; 0: not known */
  LnsBuffer untimed;     /* flight.c's kernels of this report that CUPTI gave back without times */
  LnsIdMap capturing;    /* by 1 + tid: this thread's launches go into a graph */
  bool has_captures;     /* some thread's did */
  uint8_t roles
      [2]
      [LNS_WIRE_CUPTI_CALLS]; /* LNS_WIRE_CUDA_CALL_…, by [is of the runtime][callback id], as far as seen */
  uint32_t last_call; /* the greatest correlation id of calls in reports, which CUPTI counts … */
  uint64_t
      copied_ticks; /* calls up to here were read in copies of CUPTI's buffers, and come once more; 0: none */
  uint32_t copied_call;  /* the same as a correlation id, once their report has ended */
  uint32_t settled_call; /* … when the last report ended, if it was followed; else 0 */
} LnsCudaProcess;

static inline LnsCudaSession *
_lns_cuda_session (const LnsDecoder *decoder)
{
  return decoder->state[LNS_SOURCE_CUDA];
}

static inline LnsCudaProcess *
_lns_cuda_process (const LnsDecodedProcess *process)
{
  return process->state[LNS_SOURCE_CUDA];
}

/* Finds the device, stream or context in PROCESS, or makes it if it was not defined. A place that names its device defines
 * that of its context. Returns NULL if memory is short. */
LnsDecodedDevice *
_lns_cuda_device (LnsDecoder *decoder, LnsDecodedProcess *process, uint32_t number);
LnsDecodedCudaStream *
_lns_cuda_stream (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireCudaPlace *place);
LnsDecodedContext *
_lns_cuda_context (LnsDecoder *decoder, LnsDecodedProcess *process, uint32_t number);

/* The device at BUS of a process that lives, or NULL. O(devices of all processes). */
LnsDecodedDevice *_lns_cuda_device_at (const LnsDecoder *decoder, const char *bus);

/* Takes what RECORD defines, if it is the definition of a device, context, stream or name, or
 * tells of versions. */
void
_lns_cuda_define (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record);

/* Writes the versions of PROCESS's CUPTI and driver to the report's meta data, if there is a report. */
void _lns_cuda_write_info (LnsDecoder *decoder, LnsDecodedProcess *process);

/* Their ids in the present report. */
uint32_t _lns_cuda_device_id (LnsDecoder *decoder, LnsDecodedDevice *device);
uint32_t _lns_cuda_stream_id (LnsDecoder *decoder, LnsDecodedCudaStream *stream);
uint32_t _lns_cuda_launch_id (LnsDecoder *decoder, LnsDecodedLaunch *launch);

/* What the session knows of a stream. */
typedef struct
{
  LnsDecodedLaunch *launches[LNS_WIRE_CUDA_LAUNCHES]; /* by slot */
  LnsWireCudaLatencyBytes latency;                    /* of the next kernel */
} LnsCudaSlots;

#define LNS_CUDA_SLOTS_BYTES sizeof (LnsCudaSlots)

/* The state of STREAM, which is made if need be; NULL if memory is short. */
static inline LnsCudaSlots *
_lns_cuda_slots (LnsStream *stream)
{
  if (stream->state[LNS_SOURCE_CUDA] == NULL)
    stream->state[LNS_SOURCE_CUDA] = calloc (1, LNS_CUDA_SLOTS_BYTES);
  return stream->state[LNS_SOURCE_CUDA];
}

/* The launches of STREAM, by slot: LNS_WIRE_CUDA_LAUNCHES of them; NULL: none yet. */
static inline LnsDecodedLaunch **
_lns_cuda_launches (const LnsStream *stream)
{
  return stream->state[LNS_SOURCE_CUDA];
}

/* Sets the slot of STREAM that LAUNCH defines. */
void
_lns_cuda_set_launch (LnsDecoder *decoder, LnsStream *stream, const LnsWireCudaLaunchBytes *launch);

/* Forgets the slots of STREAM. */
void _lns_cuda_forget_launches (LnsStream *stream);

/* Frees all of them. */
void _lns_cuda_free_definitions (LnsCudaProcess *cuda);
