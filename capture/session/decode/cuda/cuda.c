/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* CUDA's records, of which the engine made what CUPTI told: each is a finished event of some row. */

#include "capture/session/decode/cuda/cuda-private.h"
#include "src/base/call-text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* CUPTI hands out what is finished each second; what comes later than this opens a lane of its own. */
#define LATE_NS INT64_C (2000000000)

/* cudaErrorMemoryAllocation, and CUDA_ERROR_OUT_OF_MEMORY. */
#define OUT_OF_MEMORY 2

/* What is said of an event besides its times. */
typedef struct
{
  LnsDecoder *decoder;
  LnsDecodedProcess *process;
  LnsLaneKind kind;
  LnsEvent event;
} Maker;

static Maker
make (LnsDecoder *decoder, LnsDecodedProcess *process, LnsLaneKind kind)
{
  return (Maker){ .decoder = decoder, .process = process, .kind = kind };
}

static void
set (Maker *maker, LnsColumnId column, uint64_t value)
{
  maker->event.extra[maker->decoder->extra[maker->kind][column]] = value;
}

static void
name_by (Maker *maker, const char *text)
{
  maker->event.name = lns_writer_string (maker->decoder->writer, text, strlen (text));
}

static void
name_registered (Maker *maker, uint32_t string, const char *otherwise)
{
  LnsName *name = lns_id_map_get (&maker->process->registered, string);
  if (name != NULL)
    maker->event.name = _lns_decoder_string (maker->decoder, name);
  else
    name_by (maker, otherwise);
}

/* Puts the event, begun at TICKS and ended at END_TICKS, into the track. */
static void
finish (Maker *maker, LnsCudaTrack *track, uint64_t ticks, uint64_t end_ticks)
{
  LnsClockLine *clock = &maker->decoder->clock;
  if (track != NULL)
    _lns_cuda_add (maker->decoder, maker->process, track, &maker->event,
                   lns_clock_line_ns (clock, ticks), lns_clock_line_ns (clock, end_ticks));
}

static LnsCudaTrack *
track_on (Maker *maker, LnsTrackKind kind, const LnsWireCudaPlace *place)
{
  LnsDecodedCudaStream *stream = _lns_cuda_stream (maker->decoder, maker->process, place);
  return stream == NULL ? NULL
                        : _lns_cuda_track (maker->decoder, maker->process, kind, maker->kind, NULL,
                                           NULL, stream);
}

static LnsCudaTrack *
track_at (Maker *maker, LnsTrackKind kind, uint32_t number)
{
  LnsDecodedDevice *device =
      _lns_cuda_device (maker->decoder, maker->process, number == LNS_WIRE_CUDA_NONE ? 0 : number);
  return device == NULL ? NULL
                        : _lns_cuda_track (maker->decoder, maker->process, kind, maker->kind, NULL,
                                           device, NULL);
}

static LnsCudaTrack *
track_by (Maker *maker, LnsTrackKind kind, uint32_t tid, uint64_t ticks)
{
  LnsDecodedThread *thread = _lns_decoder_thread_of (
      maker->decoder, maker->process, tid, lns_clock_line_ns (&maker->decoder->clock, ticks));
  return thread == NULL ? NULL
                        : _lns_cuda_track (maker->decoder, maker->process, kind, maker->kind,
                                           thread, NULL, NULL);
}

/* --- Events ----------------------------------------------------------------------------------- */

/* A call goes by its public name, whichever entry point of the runtime the program was built to use. */
static void
name_call (Maker *maker, uint32_t string, const char *otherwise)
{
  LnsIdMap *known = &maker->process->cuda->public_calls;
  const LnsName *symbol = lns_id_map_get (&maker->process->registered, string);
  const char *text = symbol != NULL ? lns_call_text_public (symbol->bytes, symbol->n_bytes) : NULL;
  LnsName *name = text != NULL ? lns_id_map_get (known, string) : NULL;
  if (text != NULL && name == NULL)
    {
      name = lns_name_new (text, (uint32_t)strlen (text));
      if (name == NULL || !lns_id_map_set (known, string, name))
        {
          lns_name_unref (name);
          name = NULL;
          maker->decoder->counters.n_refused++;
        }
    }
  if (name != NULL)
    maker->event.name = _lns_decoder_string (maker->decoder, name);
  else
    name_registered (maker, string, otherwise);
}

static void
play_api (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireCudaApiBytes *record)
{
  Maker maker = make (decoder, process, LNS_LANE_CUDA_API);
  const bool is_runtime = (record->head.depth & LNS_WIRE_CUDA_CALL_RUNTIME) != 0;
  char otherwise[48];
  snprintf (otherwise, sizeof otherwise, "CUDA %s call %u", is_runtime ? "runtime" : "driver",
            (unsigned)record->cbid);
  name_call (&maker, record->head.string, otherwise);
  const uint64_t call = record->cbid | (uint64_t)is_runtime << 32;
  if (record->head.string != 0 && lns_id_map_get (&process->cuda->calls, call) == NULL)
    lns_id_map_set (&process->cuda->calls, call, (void *)(uintptr_t)record->head.string);
  set (&maker, LNS_COLUMN_CORRELATION, record->correlation);
  set (&maker, LNS_COLUMN_CALLBACK, call);
  set (&maker, LNS_COLUMN_RETURN_VALUE, record->return_value);
  decoder->counters.n_out_of_memory += record->return_value == OUT_OF_MEMORY;
  finish (&maker, track_by (&maker, LNS_TRACK_CUDA_API, record->tid, record->head.ticks),
          record->head.ticks, record->end_ticks);
}

static void
play_kernel (LnsDecoder *decoder, LnsStream *stream, const LnsWireCudaKernelBytes *record)
{
  Maker maker = make (decoder, stream->process, LNS_LANE_CUDA_KERNEL);
  LnsDecodedLaunch *launch =
      stream->launches != NULL && record->head.string < LNS_WIRE_CUDA_LAUNCHES
          ? stream->launches[record->head.string]
          : NULL;
  if (launch == NULL)
    {
      decoder->counters.n_refused++;
      return;
    }
  maker.event.name = _lns_decoder_string (decoder, launch->demangled);
  set (&maker, LNS_COLUMN_CORRELATION, record->correlation);
  set (&maker, LNS_COLUMN_LAUNCH, _lns_cuda_launch_id (decoder, launch));
  set (&maker, LNS_COLUMN_GRID_ID, record->grid_id);
  set (&maker, LNS_COLUMN_GRAPH_NODE, record->graph_node);
  set (&maker, LNS_COLUMN_GRAPH, record->graph);
  finish (&maker, track_on (&maker, LNS_TRACK_CUDA_KERNELS, &record->place), record->head.ticks,
          record->end_ticks);
}

/* By CUpti_ActivityMemcpyKind; 11 to 13 are those of unified memory. */
static const char *const copy_names[] = {
  "[CUDA memcpy Unknown]",
  "[CUDA memcpy Host-to-Device]",
  "[CUDA memcpy Device-to-Host]",
  "[CUDA memcpy Host-to-Array]",
  "[CUDA memcpy Array-to-Host]",
  "[CUDA memcpy Array-to-Array]",
  "[CUDA memcpy Array-to-Device]",
  "[CUDA memcpy Device-to-Array]",
  "[CUDA memcpy Device-to-Device]",
  "[CUDA memcpy Host-to-Host]",
  "[CUDA memcpy Peer-to-Peer]",
  "[CUDA memcpy Unified Host-to-Device]",
  "[CUDA memcpy Unified Device-to-Host]",
  "[CUDA memcpy Unified Device-to-Device]",
};
#define N_COPY_NAMES (sizeof copy_names / sizeof *copy_names)

static void
play_memcpy (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireCudaMemcpyBytes *record)
{
  Maker maker = make (decoder, process, LNS_LANE_CUDA_MEMCPY);
  name_by (&maker, record->head.type == LNS_WIRE_CUDA_DECOMPRESS ? "[CUDA memory decompression]"
                   : record->kind < N_COPY_NAMES                 ? copy_names[record->kind]
                                                                 : copy_names[0]);
  set (&maker, LNS_COLUMN_CORRELATION, record->correlation);
  set (&maker, LNS_COLUMN_BYTES, record->size_bytes);
  set (&maker, LNS_COLUMN_COPY_KIND, record->kind);
  set (&maker, LNS_COLUMN_MEMORY_KINDS,
       record->source_kind | (uint64_t)record->destination_kind << 8);
  if (record->kind == 10) /* CUPTI_ACTIVITY_MEMCPY_KIND_PTOP */
    set (&maker, LNS_COLUMN_PEERS,
         (record->source_device & 0xff) | (uint64_t)(record->source_context & 0xffffff) << 8 |
             (uint64_t)(record->destination_device & 0xff) << 32 |
             (uint64_t)(record->destination_context & 0xffffff) << 40);
  set (&maker, LNS_COLUMN_GRAPH_NODE, record->graph_node);
  set (&maker, LNS_COLUMN_COPY_COUNT, record->copy_count);
  finish (&maker, track_on (&maker, LNS_TRACK_CUDA_MEMCPY, &record->place), record->head.ticks,
          record->end_ticks);
}

static void
play_memset (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireCudaMemsetBytes *record)
{
  Maker maker = make (decoder, process, LNS_LANE_CUDA_MEMSET);
  name_by (&maker, "[CUDA memset]");
  set (&maker, LNS_COLUMN_CORRELATION, record->correlation);
  set (&maker, LNS_COLUMN_BYTES, record->size_bytes);
  set (&maker, LNS_COLUMN_SET_VALUE, record->value);
  set (&maker, LNS_COLUMN_MEMORY_KINDS, record->memory_kind);
  set (&maker, LNS_COLUMN_GRAPH_NODE, record->graph_node);
  finish (&maker, track_on (&maker, LNS_TRACK_CUDA_MEMSET, &record->place), record->head.ticks,
          record->end_ticks);
}

static void
play_sync (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireCudaSyncBytes *record)
{
  static const char *const names[] = { "Synchronization", "Event synchronize", "Stream wait event",
                                       "Stream synchronize", "Context synchronize" };
  Maker maker = make (decoder, process, LNS_LANE_CUDA_SYNC);
  name_by (&maker, names[record->type < sizeof names / sizeof *names ? record->type : 0]);
  set (&maker, LNS_COLUMN_CORRELATION, record->correlation);
  set (&maker, LNS_COLUMN_SYNC_TYPE, record->type);
  set (&maker, LNS_COLUMN_CUDA_EVENT, record->event);
  set (&maker, LNS_COLUMN_CUDA_EVENT_SYNC, record->event_sync);
  finish (&maker, track_on (&maker, LNS_TRACK_CUDA_SYNC, &record->place), record->head.ticks,
          record->end_ticks);
}

static void
play_cuda_event (LnsDecoder *decoder,
                 LnsDecodedProcess *process,
                 const LnsWireCudaEventBytes *record)
{
  Maker maker = make (decoder, process, LNS_LANE_CUDA_EVENT);
  char name[32];
  snprintf (name, sizeof name, "Event %u", (unsigned)record->event);
  name_by (&maker, name);
  set (&maker, LNS_COLUMN_CORRELATION, record->correlation);
  set (&maker, LNS_COLUMN_CUDA_EVENT, record->event);
  set (&maker, LNS_COLUMN_CUDA_EVENT_SYNC, record->event_sync);
  if (record->head.ticks != 0) /* an event without a time has no place on a timeline */
    finish (&maker, track_on (&maker, LNS_TRACK_CUDA_EVENTS, &record->place), record->head.ticks,
            record->head.ticks);
}

static void
play_graph (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireCudaGraphBytes *record)
{
  Maker maker = make (decoder, process, LNS_LANE_CUDA_GRAPH);
  char name[32];
  snprintf (name, sizeof name, "Graph %u", (unsigned)record->graph);
  name_by (&maker, name);
  set (&maker, LNS_COLUMN_CORRELATION, record->correlation);
  set (&maker, LNS_COLUMN_GRAPH, record->graph);
  finish (&maker, track_on (&maker, LNS_TRACK_CUDA_GRAPHS, &record->place), record->head.ticks,
          record->end_ticks);
}

static void
play_graph_node (LnsDecoder *decoder,
                 LnsDecodedProcess *process,
                 const LnsWireCudaGraphNodeBytes *record)
{
  Maker maker = make (decoder, process, LNS_LANE_CUDA_GRAPH_NODE);
  name_registered (&maker, record->head.string, "Graph node");
  set (&maker, LNS_COLUMN_GRAPH_NODE, record->graph_node);
  set (&maker, LNS_COLUMN_ORIGINAL, record->original);
  set (&maker, LNS_COLUMN_GRAPH, record->graph);
  set (&maker, LNS_COLUMN_GRAPH_EXEC, record->graph_exec);
  finish (&maker, track_by (&maker, LNS_TRACK_CUDA_GRAPH_NODES, record->tid, record->head.ticks),
          record->head.ticks, record->end_ticks);
}

static void
play_overhead (LnsDecoder *decoder,
               LnsDecodedProcess *process,
               const LnsWireCudaOverheadBytes *record)
{
  static const struct
  {
    uint32_t kind; /* CUpti_ActivityOverheadKind */
    const char *name;
  } names[] = { { 1, "Driver compiler" },
                { 1 << 16, "CUPTI buffer flush" },
                { 2 << 16, "CUPTI instrumentation" },
                { 3 << 16, "CUPTI resource" },
                { 4 << 16, "Runtime triggered module loading" },
                { 5 << 16, "Lazy function loading" },
                { 6 << 16, "Command buffer full" },
                { 7 << 16, "CUPTI buffer request" },
                { 8 << 16, "Unified memory tracing set-up" } };
  Maker maker = make (decoder, process, LNS_LANE_CUDA_OVERHEAD);
  const char *name = "Profiler overhead";
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
    name = names[i].kind == record->kind ? names[i].name : name;
  name_by (&maker, name);
  set (&maker, LNS_COLUMN_CORRELATION, record->correlation);
  set (&maker, LNS_COLUMN_OVERHEAD_KIND, record->kind);
  LnsDecodedThread *thread =
      record->tid == 0
          ? NULL
          : _lns_decoder_thread_of (decoder, process, record->tid,
                                    lns_clock_line_ns (&decoder->clock, record->head.ticks));
  set (&maker, LNS_COLUMN_THREAD, thread != NULL ? thread->id : LNS_ID_NONE);
  finish (&maker,
          _lns_cuda_track (decoder, process, LNS_TRACK_CUDA_OVERHEAD, maker.kind, NULL, NULL, NULL),
          record->head.ticks, record->end_ticks);
}

static void
play_memory (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireCudaMemoryBytes *record)
{
  Maker maker = make (decoder, process, LNS_LANE_CUDA_MEMORY);
  name_registered (&maker, record->head.string, record->operation == 1 ? "Allocation" : "Release");
  set (&maker, LNS_COLUMN_CORRELATION, record->correlation);
  set (&maker, LNS_COLUMN_BYTES, record->size_bytes);
  set (&maker, LNS_COLUMN_ADDRESS, record->address);
  set (&maker, LNS_COLUMN_OPERATION,
       record->operation | (uint64_t)record->memory_kind << 8 | (uint64_t)record->pool_type << 16);
  set (&maker, LNS_COLUMN_PC, record->pc);
  set (&maker, LNS_COLUMN_PLACE, record->place.stream | (uint64_t)record->place.context << 32);
  set (&maker, LNS_COLUMN_POOL_ADDRESS, record->pool_address);
  set (&maker, LNS_COLUMN_POOL_THRESHOLD, record->pool_threshold);
  set (&maker, LNS_COLUMN_POOL_SIZE, record->pool_size);
  set (&maker, LNS_COLUMN_POOL_UTILIZED, record->pool_utilized);
  finish (&maker, track_at (&maker, LNS_TRACK_CUDA_MEMORY, record->place.device),
          record->head.ticks, record->head.ticks);
}

static void
play_pool (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireCudaPoolBytes *record)
{
  static const char *const names[] = { "Pool", "Pool creation", "Pool destruction",
                                       "Pool trimming" };
  Maker maker = make (decoder, process, LNS_LANE_CUDA_POOL);
  name_by (&maker, names[record->operation < sizeof names / sizeof *names ? record->operation : 0]);
  set (&maker, LNS_COLUMN_CORRELATION, record->correlation);
  set (&maker, LNS_COLUMN_BYTES, record->min_bytes_to_keep);
  set (&maker, LNS_COLUMN_ADDRESS, record->address);
  set (&maker, LNS_COLUMN_OPERATION, record->operation | (uint64_t)record->pool_type << 16);
  set (&maker, LNS_COLUMN_POOL_THRESHOLD, record->pool_threshold);
  set (&maker, LNS_COLUMN_POOL_SIZE, record->pool_size);
  set (&maker, LNS_COLUMN_POOL_UTILIZED, record->pool_utilized);
  finish (&maker, track_at (&maker, LNS_TRACK_CUDA_POOLS, record->device), record->head.ticks,
          record->head.ticks);
}

/* CUpti_ActivityUnifiedMemoryCounterKind */
enum
{
  UNIFIED_TO_DEVICE = 1,
  UNIFIED_TO_HOST = 2,
  UNIFIED_CPU_FAULT = 3,
  UNIFIED_GPU_FAULT = 4,
  UNIFIED_DEVICE_TO_DEVICE = 8
};

/* Pages that moved are copies without a call; faults have rows of their own. */
static void
play_unified (LnsDecoder *decoder,
              LnsDecodedProcess *process,
              const LnsWireCudaUnifiedBytes *record)
{
  const bool is_copy = record->counter == UNIFIED_TO_DEVICE || record->counter == UNIFIED_TO_HOST ||
                       record->counter == UNIFIED_DEVICE_TO_DEVICE;
  if (is_copy)
    {
      Maker maker = make (decoder, process, LNS_LANE_CUDA_MEMCPY);
      unsigned kind = record->counter == UNIFIED_TO_DEVICE ? 11
                      : record->counter == UNIFIED_TO_HOST ? 12
                                                           : 13;
      LnsWireCudaPlace place = { .context = 0, .stream = record->stream };
      place.device = record->counter == UNIFIED_TO_HOST ? record->source : record->destination;
      name_by (&maker, copy_names[kind]);
      set (&maker, LNS_COLUMN_BYTES, record->value);
      set (&maker, LNS_COLUMN_COPY_KIND, kind);
      set (&maker, LNS_COLUMN_ADDRESS, record->address);
      set (&maker, LNS_COLUMN_MIGRATION_CAUSE, record->flags);
      finish (&maker, track_on (&maker, LNS_TRACK_CUDA_MEMCPY, &place), record->head.ticks,
              record->end_ticks);
      return;
    }
  if (record->counter != UNIFIED_CPU_FAULT && record->counter != UNIFIED_GPU_FAULT)
    return;
  const bool is_cpu = record->counter == UNIFIED_CPU_FAULT;
  Maker maker = make (decoder, process, LNS_LANE_CUDA_FAULT);
  name_by (&maker, is_cpu ? "CPU page fault" : "GPU page faults");
  set (&maker, LNS_COLUMN_ADDRESS, record->address);
  if (is_cpu)
    set (&maker, LNS_COLUMN_PC, record->value);
  else
    {
      set (&maker, LNS_COLUMN_FAULTS, record->value);
      set (&maker, LNS_COLUMN_FAULT_ACCESS, record->flags);
    }
  finish (&maker,
          is_cpu ? _lns_cuda_track (decoder, process, LNS_TRACK_CUDA_CPU_FAULTS, maker.kind, NULL,
                                    NULL, NULL)
                 : track_at (&maker, LNS_TRACK_CUDA_GPU_FAULTS, record->source),
          record->head.ticks, record->end_ticks > 0 ? record->end_ticks : record->head.ticks);
}

static void
play_jit (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireCudaJitBytes *record)
{
  static const char *const names[] = { "Just-in-time compilation", "Cache load", "Cache store",
                                       "Compilation" };
  Maker maker = make (decoder, process, LNS_LANE_CUDA_JIT);
  name_by (&maker, names[record->operation < sizeof names / sizeof *names ? record->operation : 0]);
  set (&maker, LNS_COLUMN_CORRELATION, record->correlation);
  set (&maker, LNS_COLUMN_JIT_KIND, record->entry | (uint64_t)record->operation << 8);
  set (&maker, LNS_COLUMN_BYTES, record->cache_bytes);
  finish (&maker, track_at (&maker, LNS_TRACK_CUDA_JIT, record->device), record->head.ticks,
          record->end_ticks);
}

static void
play_library (LnsDecoder *decoder, LnsStream *stream, const LnsWireLibraryCallBytes *record)
{
  Maker maker = make (decoder, stream->process, LNS_LANE_LIBRARY_CALL);
  name_registered (&maker, record->head.string, "Library call");
  set (&maker, LNS_COLUMN_RETURN_VALUE, record->return_value);
  set (&maker, LNS_COLUMN_CUDA_STREAM, record->stream);
  if (stream->thread != NULL)
    finish (&maker,
            _lns_cuda_track (decoder, stream->process,
                             record->library == LNS_WIRE_CUDNN ? LNS_TRACK_CUDNN : LNS_TRACK_CUBLAS,
                             maker.kind, stream->thread, NULL, NULL),
            record->head.ticks, record->end_ticks);
}

static void
play_mpi (LnsDecoder *decoder, LnsStream *stream, const LnsWireMpiCallBytes *record)
{
  Maker maker = make (decoder, stream->process, LNS_LANE_MPI_CALL);
  if (stream->thread == NULL)
    return;
  _lns_mpi_tell_rank (decoder, stream->thread, record->world_rank);
  name_registered (&maker, record->head.string, "MPI call");
  set (&maker, LNS_COLUMN_EVENT_CLASS, record->class);
  set (&maker, LNS_COLUMN_BYTES, record->bytes);
  set (&maker, LNS_COLUMN_RECEIVED_BYTES, record->received_bytes);
  set (&maker, LNS_COLUMN_PEER_RANK, (uint64_t)(int64_t)record->peer);
  set (&maker, LNS_COLUMN_TAG, (uint64_t)(int64_t)record->tag);
  set (&maker, LNS_COLUMN_COMMUNICATOR, record->communicator);
  set (&maker, LNS_COLUMN_COMMUNICATOR_UID, record->communicator_uid);
  set (&maker, LNS_COLUMN_REQUEST, record->request);
  if (record->class == LNS_WIRE_MPI_COLLECTIVE && !record->has_peer)
    set (&maker, LNS_COLUMN_REMAINDER, _lns_mpi_rootless (decoder));
  finish (&maker,
          _lns_cuda_track (decoder, stream->process, LNS_TRACK_MPI, maker.kind, stream->thread,
                           NULL, NULL),
          record->head.ticks, record->end_ticks);
}

/* --- Records ---------------------------------------------------------------------------------- */

#define PLAY(Type, function, whose)                                                                \
 {                                                                                                 \
  Type bytes;                                                                                      \
  _lns_cuda_take (record, &bytes, sizeof bytes);                                                   \
  function (decoder, whose, &bytes);                                                               \
  break;                                                                                           \
 }

bool
_lns_decoder_has_cuda (LnsDecoder *decoder, LnsDecodedProcess *process)
{
  if (process->cuda == NULL)
    process->cuda = calloc (1, sizeof *process->cuda);
  if (process->cuda == NULL)
    decoder->counters.n_refused++;
  return process->cuda != NULL;
}

void
_lns_decoder_cuda (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record)
{
  LnsDecodedProcess *process = stream->process;
  if (!_lns_decoder_has_cuda (decoder, process))
    return;
  if (record->type == (LnsWireType)LNS_WIRE_CUDA_LAUNCH)
    {
      LnsWireCudaLaunchBytes bytes;
      _lns_cuda_take (record, &bytes, sizeof bytes);
      _lns_cuda_set_launch (decoder, stream, &bytes);
      return;
    }
  _lns_cuda_said (decoder, process, record);
  if (!_lns_flight_admits (decoder, process, record))
    return;
  switch ((LnsWireCudaType)record->type)
    {
    case LNS_WIRE_CUDA_API:
      PLAY (LnsWireCudaApiBytes, play_api, process)
    case LNS_WIRE_CUDA_KERNEL:
      PLAY (LnsWireCudaKernelBytes, play_kernel, stream)
    case LNS_WIRE_CUDA_MEMCPY:
    case LNS_WIRE_CUDA_DECOMPRESS:
      PLAY (LnsWireCudaMemcpyBytes, play_memcpy, process)
    case LNS_WIRE_CUDA_MEMSET:
      PLAY (LnsWireCudaMemsetBytes, play_memset, process)
    case LNS_WIRE_CUDA_SYNC:
      PLAY (LnsWireCudaSyncBytes, play_sync, process)
    case LNS_WIRE_CUDA_EVENT:
      PLAY (LnsWireCudaEventBytes, play_cuda_event, process)
    case LNS_WIRE_CUDA_GRAPH:
      PLAY (LnsWireCudaGraphBytes, play_graph, process)
    case LNS_WIRE_CUDA_GRAPH_NODE:
      PLAY (LnsWireCudaGraphNodeBytes, play_graph_node, process)
    case LNS_WIRE_CUDA_OVERHEAD:
      PLAY (LnsWireCudaOverheadBytes, play_overhead, process)
    case LNS_WIRE_CUDA_MEMORY:
      PLAY (LnsWireCudaMemoryBytes, play_memory, process)
    case LNS_WIRE_CUDA_POOL:
      PLAY (LnsWireCudaPoolBytes, play_pool, process)
    case LNS_WIRE_CUDA_UNIFIED:
      PLAY (LnsWireCudaUnifiedBytes, play_unified, process)
    case LNS_WIRE_CUDA_JIT:
      PLAY (LnsWireCudaJitBytes, play_jit, process)
    case LNS_WIRE_MPI_CALL:
      PLAY (LnsWireMpiCallBytes, play_mpi, stream)
    case LNS_WIRE_LIBRARY_CALL:
      PLAY (LnsWireLibraryCallBytes, play_library, stream)
    default:
      break; /* definitions are known by now */
    }
}

void
_lns_cuda_settle (LnsDecoder *decoder, LnsDecodedProcess *process)
{
  if (process->cuda != NULL)
    _lns_cuda_write (decoder, process, lns_decoder_now_ns (decoder) - LATE_NS);
}

void
lns_decoder_write_held (LnsDecoder *decoder)
{
  for (size_t i = 0; i < decoder->processes.n; i++)
    _lns_cuda_stop_report (decoder, decoder->processes.items[i]);
}

LnsCudaState
lns_decoder_cuda_state (const LnsDecoder *decoder)
{
  return decoder->n_cuda_events > 0 ? LNS_CUDA_RECORDED : decoder->cuda_state;
}

void
_lns_cuda_stop_report (LnsDecoder *decoder, LnsDecodedProcess *process)
{
  if (process->cuda == NULL)
    return;
  _lns_cuda_write (decoder, process, INT64_MAX);
  _lns_flight_settle (decoder, process);
}
