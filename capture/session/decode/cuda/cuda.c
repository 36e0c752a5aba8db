/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Plays CUDA's records, which the engine made from CUPTI's: each is a finished event of some row. */

#include "capture/session/decode/cuda/cuda.h"
#include "capture/session/decode/cuda/flight.h"
#include "capture/session/decode/cuda/said.h"
#include "capture/session/decode/cuda/tracks.h"
#include "src/base/call-text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* cudaErrorMemoryAllocation, and CUDA_ERROR_OUT_OF_MEMORY. */
#define OUT_OF_MEMORY 2

static LnsEventMaker
make (LnsDecoder *decoder, LnsDecodedProcess *process, LnsLaneKind kind)
{
  return (LnsEventMaker){ .decoder = decoder, .process = process, .kind = kind };
}

/* Puts the event, begun at TICKS and ended at END_TICKS, into the track (NULL: there is no memory for it). */
static void
finish (LnsEventMaker *maker, LnsDecodedTrack *track, uint64_t ticks, uint64_t end_ticks)
{
  if (track != NULL && _lns_maker_finish (maker, track, ticks, end_ticks))
    _lns_cuda_session (maker->decoder)->n_events++;
}

static LnsDecodedTrack *
track_on (LnsEventMaker *maker, LnsTrackKind kind, const LnsWireCudaPlace *place)
{
  return _lns_cuda_track_on (maker, kind, _lns_cuda_stream (maker->decoder, maker->process, place));
}

static LnsDecodedTrack *
track_at (LnsEventMaker *maker, LnsTrackKind kind, uint32_t number)
{
  return _lns_cuda_track_at (
      maker, kind,
      _lns_cuda_device (maker->decoder, maker->process, number == LNS_WIRE_CUDA_NONE ? 0 : number));
}

static LnsDecodedTrack *
track_by (LnsEventMaker *maker, LnsTrackKind kind, uint32_t tid, uint64_t ticks)
{
  return _lns_cuda_track_of (
      maker, kind,
      _lns_decoder_thread_of (maker->decoder, maker->process, tid,
                              lns_clock_line_ns (&maker->decoder->clock, ticks)));
}

/* --- Events ----------------------------------------------------------------------------------- */

/* A call goes by its public name, whichever entry point of the runtime the program was built to use. */
static void
name_call (LnsEventMaker *maker, uint32_t string, const char *otherwise)
{
  LnsIdMap *known = &_lns_cuda_process (maker->process)->public_calls;
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
    _lns_maker_name_registered (maker, string, otherwise);
}

static void
play_api (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireCudaApiBytes *record)
{
  LnsEventMaker maker = make (decoder, process, LNS_LANE_CUDA_API);
  const bool is_runtime = (record->head.depth & LNS_WIRE_CUDA_CALL_RUNTIME) != 0;
  char otherwise[48];
  snprintf (otherwise, sizeof otherwise, "CUDA %s call %u", is_runtime ? "runtime" : "driver",
            (unsigned)record->cbid);
  name_call (&maker, record->head.string, otherwise);
  const uint64_t call = record->cbid | (uint64_t)is_runtime << 32;
  if (record->head.string != 0 &&
      lns_id_map_get (&_lns_cuda_process (process)->calls, call) == NULL)
    lns_id_map_set (&_lns_cuda_process (process)->calls, call,
                    (void *)(uintptr_t)record->head.string);
  _lns_maker_set (&maker, LNS_COLUMN_CORRELATION, record->correlation);
  _lns_maker_set (&maker, LNS_COLUMN_CALLBACK, call);
  _lns_maker_set (&maker, LNS_COLUMN_RETURN_VALUE, record->return_value);
  decoder->counters.n_out_of_memory += record->return_value == OUT_OF_MEMORY;
  finish (&maker, track_by (&maker, LNS_TRACK_CUDA_API, record->tid, record->head.ticks),
          record->head.ticks, record->end_ticks);
}

static void
play_kernel (LnsDecoder *decoder, LnsStream *stream, const LnsWireCudaKernelBytes *record)
{
  LnsEventMaker maker = make (decoder, stream->process, LNS_LANE_CUDA_KERNEL);
  LnsDecodedLaunch **launches = _lns_cuda_launches (stream);
  LnsDecodedLaunch *launch = launches != NULL && record->head.string < LNS_WIRE_CUDA_LAUNCHES
                                 ? launches[record->head.string]
                                 : NULL;
  if (launch == NULL)
    {
      decoder->counters.n_refused++;
      return;
    }
  maker.event.name = _lns_decoder_string (decoder, launch->demangled);
  _lns_maker_set (&maker, LNS_COLUMN_CORRELATION, record->correlation);
  _lns_maker_set (&maker, LNS_COLUMN_LAUNCH, _lns_cuda_launch_id (decoder, launch));
  _lns_maker_set (&maker, LNS_COLUMN_GRID_ID, record->grid_id);
  _lns_maker_set (&maker, LNS_COLUMN_GRAPH_NODE, record->graph_node);
  _lns_maker_set (&maker, LNS_COLUMN_GRAPH, record->graph);
  finish (&maker, track_on (&maker, LNS_TRACK_CUDA_KERNELS, &record->place), record->head.ticks,
          record->end_ticks);
}

static void
play_memcpy (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireCudaMemcpyBytes *record)
{
  LnsEventMaker maker = make (decoder, process, LNS_LANE_CUDA_MEMCPY);
  _lns_maker_name (&maker, record->head.type == LNS_WIRE_CUDA_DECOMPRESS
                               ? "[CUDA memory decompression]"
                               : lns_call_text_copy (record->kind));
  _lns_maker_set (&maker, LNS_COLUMN_CORRELATION, record->correlation);
  _lns_maker_set (&maker, LNS_COLUMN_BYTES, record->size_bytes);
  _lns_maker_set (&maker, LNS_COLUMN_COPY_KIND, record->kind);
  _lns_maker_set (&maker, LNS_COLUMN_MEMORY_KINDS,
                  record->source_kind | (uint64_t)record->destination_kind << 8);
  if (record->kind == 10) /* CUPTI_ACTIVITY_MEMCPY_KIND_PTOP */
    _lns_maker_set (&maker, LNS_COLUMN_PEERS,
                    (record->source_device & 0xff) |
                        (uint64_t)(record->source_context & 0xffffff) << 8 |
                        (uint64_t)(record->destination_device & 0xff) << 32 |
                        (uint64_t)(record->destination_context & 0xffffff) << 40);
  _lns_maker_set (&maker, LNS_COLUMN_GRAPH_NODE, record->graph_node);
  _lns_maker_set (&maker, LNS_COLUMN_COPY_COUNT, record->copy_count);
  finish (&maker, track_on (&maker, LNS_TRACK_CUDA_MEMCPY, &record->place), record->head.ticks,
          record->end_ticks);
}

static void
play_memset (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireCudaMemsetBytes *record)
{
  LnsEventMaker maker = make (decoder, process, LNS_LANE_CUDA_MEMSET);
  _lns_maker_name (&maker, "[CUDA memset]");
  _lns_maker_set (&maker, LNS_COLUMN_CORRELATION, record->correlation);
  _lns_maker_set (&maker, LNS_COLUMN_BYTES, record->size_bytes);
  _lns_maker_set (&maker, LNS_COLUMN_SET_VALUE, record->value);
  _lns_maker_set (&maker, LNS_COLUMN_MEMORY_KINDS, record->memory_kind);
  _lns_maker_set (&maker, LNS_COLUMN_GRAPH_NODE, record->graph_node);
  finish (&maker, track_on (&maker, LNS_TRACK_CUDA_MEMSET, &record->place), record->head.ticks,
          record->end_ticks);
}

static void
play_sync (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireCudaSyncBytes *record)
{
  static const char *const names[] = { "Synchronization", "Event synchronize", "Stream wait event",
                                       "Stream synchronize", "Context synchronize" };
  LnsEventMaker maker = make (decoder, process, LNS_LANE_CUDA_SYNC);
  _lns_maker_name (&maker, names[record->type < sizeof names / sizeof *names ? record->type : 0]);
  _lns_maker_set (&maker, LNS_COLUMN_CORRELATION, record->correlation);
  _lns_maker_set (&maker, LNS_COLUMN_SYNC_TYPE, record->type);
  _lns_maker_set (&maker, LNS_COLUMN_CUDA_EVENT, record->event);
  _lns_maker_set (&maker, LNS_COLUMN_CUDA_EVENT_SYNC, record->event_sync);
  finish (&maker, track_on (&maker, LNS_TRACK_CUDA_SYNC, &record->place), record->head.ticks,
          record->end_ticks);
}

static void
play_cuda_event (LnsDecoder *decoder,
                 LnsDecodedProcess *process,
                 const LnsWireCudaEventBytes *record)
{
  LnsEventMaker maker = make (decoder, process, LNS_LANE_CUDA_EVENT);
  char name[32];
  snprintf (name, sizeof name, "Event %u", (unsigned)record->event);
  _lns_maker_name (&maker, name);
  _lns_maker_set (&maker, LNS_COLUMN_CORRELATION, record->correlation);
  _lns_maker_set (&maker, LNS_COLUMN_CUDA_EVENT, record->event);
  _lns_maker_set (&maker, LNS_COLUMN_CUDA_EVENT_SYNC, record->event_sync);
  if (record->head.ticks != 0) /* an event without a time has no place on a timeline */
    finish (&maker, track_on (&maker, LNS_TRACK_CUDA_EVENTS, &record->place), record->head.ticks,
            record->head.ticks);
}

static void
play_graph (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireCudaGraphBytes *record)
{
  LnsEventMaker maker = make (decoder, process, LNS_LANE_CUDA_GRAPH);
  char name[32];
  snprintf (name, sizeof name, "Graph %u", (unsigned)record->graph);
  _lns_maker_name (&maker, name);
  _lns_maker_set (&maker, LNS_COLUMN_CORRELATION, record->correlation);
  _lns_maker_set (&maker, LNS_COLUMN_GRAPH, record->graph);
  finish (&maker, track_on (&maker, LNS_TRACK_CUDA_GRAPHS, &record->place), record->head.ticks,
          record->end_ticks);
}

static void
play_graph_node (LnsDecoder *decoder,
                 LnsDecodedProcess *process,
                 const LnsWireCudaGraphNodeBytes *record)
{
  LnsEventMaker maker = make (decoder, process, LNS_LANE_CUDA_GRAPH_NODE);
  _lns_maker_name_registered (&maker, record->head.string, "Graph node");
  _lns_maker_set (&maker, LNS_COLUMN_GRAPH_NODE, record->graph_node);
  _lns_maker_set (&maker, LNS_COLUMN_ORIGINAL, record->original);
  _lns_maker_set (&maker, LNS_COLUMN_GRAPH, record->graph);
  _lns_maker_set (&maker, LNS_COLUMN_GRAPH_EXEC, record->graph_exec);
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
  LnsEventMaker maker = make (decoder, process, LNS_LANE_CUDA_OVERHEAD);
  const char *name = "Profiler overhead";
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
    name = names[i].kind == record->kind ? names[i].name : name;
  _lns_maker_name (&maker, name);
  _lns_maker_set (&maker, LNS_COLUMN_CORRELATION, record->correlation);
  _lns_maker_set (&maker, LNS_COLUMN_OVERHEAD_KIND, record->kind);
  LnsDecodedThread *thread =
      record->tid == 0
          ? NULL
          : _lns_decoder_thread_of (decoder, process, record->tid,
                                    lns_clock_line_ns (&decoder->clock, record->head.ticks));
  _lns_maker_set (&maker, LNS_COLUMN_THREAD, thread != NULL ? thread->id : LNS_ID_NONE);
  finish (&maker, _lns_cuda_track (&maker, LNS_TRACK_CUDA_OVERHEAD), record->head.ticks,
          record->end_ticks);
}

static void
play_memory (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireCudaMemoryBytes *record)
{
  LnsEventMaker maker = make (decoder, process, LNS_LANE_CUDA_MEMORY);
  _lns_maker_name_registered (&maker, record->head.string,
                              record->operation == 1 ? "Allocation" : "Release");
  _lns_maker_set (&maker, LNS_COLUMN_CORRELATION, record->correlation);
  _lns_maker_set (&maker, LNS_COLUMN_BYTES, record->size_bytes);
  _lns_maker_set (&maker, LNS_COLUMN_ADDRESS, record->address);
  _lns_maker_set (&maker, LNS_COLUMN_OPERATION,
                  record->operation | (uint64_t)record->memory_kind << 8 |
                      (uint64_t)record->pool_type << 16);
  _lns_maker_set (&maker, LNS_COLUMN_PC, record->pc);
  _lns_maker_set (&maker, LNS_COLUMN_PLACE,
                  record->place.stream | (uint64_t)record->place.context << 32);
  _lns_maker_set (&maker, LNS_COLUMN_POOL_ADDRESS, record->pool_address);
  _lns_maker_set (&maker, LNS_COLUMN_POOL_THRESHOLD, record->pool_threshold);
  _lns_maker_set (&maker, LNS_COLUMN_POOL_SIZE, record->pool_size);
  _lns_maker_set (&maker, LNS_COLUMN_POOL_UTILIZED, record->pool_utilized);
  finish (&maker, track_at (&maker, LNS_TRACK_CUDA_MEMORY, record->place.device),
          record->head.ticks, record->head.ticks);
}

static void
play_pool (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireCudaPoolBytes *record)
{
  static const char *const names[] = { "Pool", "Pool creation", "Pool destruction",
                                       "Pool trimming" };
  LnsEventMaker maker = make (decoder, process, LNS_LANE_CUDA_POOL);
  _lns_maker_name (&maker,
                   names[record->operation < sizeof names / sizeof *names ? record->operation : 0]);
  _lns_maker_set (&maker, LNS_COLUMN_CORRELATION, record->correlation);
  _lns_maker_set (&maker, LNS_COLUMN_BYTES, record->min_bytes_to_keep);
  _lns_maker_set (&maker, LNS_COLUMN_ADDRESS, record->address);
  _lns_maker_set (&maker, LNS_COLUMN_OPERATION,
                  record->operation | (uint64_t)record->pool_type << 16);
  _lns_maker_set (&maker, LNS_COLUMN_POOL_THRESHOLD, record->pool_threshold);
  _lns_maker_set (&maker, LNS_COLUMN_POOL_SIZE, record->pool_size);
  _lns_maker_set (&maker, LNS_COLUMN_POOL_UTILIZED, record->pool_utilized);
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
      LnsEventMaker maker = make (decoder, process, LNS_LANE_CUDA_MEMCPY);
      unsigned kind = record->counter == UNIFIED_TO_DEVICE ? 11
                      : record->counter == UNIFIED_TO_HOST ? 12
                                                           : 13;
      LnsWireCudaPlace place = { .context = 0, .stream = record->stream };
      place.device = record->counter == UNIFIED_TO_HOST ? record->source : record->destination;
      _lns_maker_name (&maker, lns_call_text_copy (kind));
      _lns_maker_set (&maker, LNS_COLUMN_BYTES, record->value);
      _lns_maker_set (&maker, LNS_COLUMN_COPY_KIND, kind);
      _lns_maker_set (&maker, LNS_COLUMN_ADDRESS, record->address);
      _lns_maker_set (&maker, LNS_COLUMN_MIGRATION_CAUSE, record->flags);
      finish (&maker, track_on (&maker, LNS_TRACK_CUDA_MEMCPY, &place), record->head.ticks,
              record->end_ticks);
      return;
    }
  if (record->counter != UNIFIED_CPU_FAULT && record->counter != UNIFIED_GPU_FAULT)
    return;
  const bool is_cpu = record->counter == UNIFIED_CPU_FAULT;
  LnsEventMaker maker = make (decoder, process, LNS_LANE_CUDA_FAULT);
  _lns_maker_name (&maker, is_cpu ? "CPU page fault" : "GPU page faults");
  _lns_maker_set (&maker, LNS_COLUMN_ADDRESS, record->address);
  if (is_cpu)
    _lns_maker_set (&maker, LNS_COLUMN_PC, record->value);
  else
    {
      _lns_maker_set (&maker, LNS_COLUMN_FAULTS, record->value);
      _lns_maker_set (&maker, LNS_COLUMN_FAULT_ACCESS, record->flags);
    }
  finish (&maker,
          is_cpu ? _lns_cuda_track (&maker, LNS_TRACK_CUDA_CPU_FAULTS)
                 : track_at (&maker, LNS_TRACK_CUDA_GPU_FAULTS, record->source),
          record->head.ticks, record->end_ticks > 0 ? record->end_ticks : record->head.ticks);
}

static void
play_jit (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireCudaJitBytes *record)
{
  static const char *const names[] = { "Just-in-time compilation", "Cache load", "Cache store",
                                       "Compilation" };
  LnsEventMaker maker = make (decoder, process, LNS_LANE_CUDA_JIT);
  _lns_maker_name (&maker,
                   names[record->operation < sizeof names / sizeof *names ? record->operation : 0]);
  _lns_maker_set (&maker, LNS_COLUMN_CORRELATION, record->correlation);
  _lns_maker_set (&maker, LNS_COLUMN_JIT_KIND, record->entry | (uint64_t)record->operation << 8);
  _lns_maker_set (&maker, LNS_COLUMN_BYTES, record->cache_bytes);
  finish (&maker, track_at (&maker, LNS_TRACK_CUDA_JIT, record->device), record->head.ticks,
          record->end_ticks);
}

static void
play_library (LnsDecoder *decoder, LnsStream *stream, const LnsWireLibraryCallBytes *record)
{
  LnsEventMaker maker = make (decoder, stream->process, LNS_LANE_LIBRARY_CALL);
  _lns_maker_name_registered (&maker, record->head.string, "Library call");
  _lns_maker_set (&maker, LNS_COLUMN_RETURN_VALUE, record->return_value);
  _lns_maker_set (&maker, LNS_COLUMN_CUDA_STREAM, record->stream);
  if (stream->thread != NULL)
    finish (&maker,
            _lns_cuda_track_of (
                &maker, record->library == LNS_WIRE_CUDNN ? LNS_TRACK_CUDNN : LNS_TRACK_CUBLAS,
                stream->thread),
            record->head.ticks, record->end_ticks);
}

/* --- Records ---------------------------------------------------------------------------------- */

#define PLAY(Type, function, whose)                                                                \
 {                                                                                                 \
  Type bytes;                                                                                      \
  _lns_record_take (record, &bytes, sizeof bytes);                                                 \
  function (decoder, whose, &bytes);                                                               \
  break;                                                                                           \
 }

static void
play (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record)
{
  LnsDecodedProcess *process = stream->process;
  if (record->type == (LnsWireType)LNS_WIRE_CUDA_LAUNCH)
    {
      LnsWireCudaLaunchBytes bytes;
      _lns_record_take (record, &bytes, sizeof bytes);
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
    case LNS_WIRE_LIBRARY_CALL:
      PLAY (LnsWireLibraryCallBytes, play_library, stream)
    default:
      break; /* definitions are known by now */
    }
}

/* --- Reports ---------------------------------------------------------------------------------- */

LnsCudaState
_lns_cuda_state (const LnsDecoder *decoder)
{
  const LnsCudaSession *session = _lns_cuda_session (decoder);
  return session->n_events > 0 ? LNS_CUDA_RECORDED : session->state;
}

static void
settle (LnsDecoder *decoder, LnsDecodedProcess *process)
{
  _lns_tracks_settle (decoder, process, &_lns_cuda_process (process)->tracks);
}

static void
begin_report (LnsDecoder *decoder)
{
  _lns_cuda_session (decoder)->n_events = 0;
}

static void
begin_process (LnsDecoder *decoder, LnsDecodedProcess *process)
{
  LnsCudaProcess *cuda = _lns_cuda_process (process);
  _lns_cuda_add_dropped (decoder, process, cuda->n_dropped_between, decoder->report_start_ns);
  decoder->between.n_dropped -= cuda->n_dropped_between;
  cuda->n_dropped_between = 0;
  _lns_cuda_write_info (decoder, process);
  for (size_t i = 0; i < cuda->devices.n_places; i++)
    if (cuda->devices.entries[i].value != NULL)
      _lns_cuda_device_id (decoder, process, cuda->devices.entries[i].value);
  for (size_t i = 0; i < cuda->streams.n_places; i++)
    if (cuda->streams.entries[i].value != NULL)
      _lns_cuda_stream_id (decoder, process, cuda->streams.entries[i].value);
}

static void
write_held (LnsDecoder *decoder, LnsDecodedProcess *process)
{
  _lns_tracks_write_all (decoder, process, &_lns_cuda_process (process)->tracks);
  _lns_flight_settle (decoder, process);
}

static void
stop_process (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t end_ns)
{
  (void)end_ns;
  write_held (decoder, process);
}

static void
end_process (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t end_ns)
{
  LnsCudaProcess *cuda = _lns_cuda_process (process);
  stop_process (decoder, process, end_ns);
  _lns_tracks_clear (&cuda->tracks);
  _lns_cuda_free_definitions (cuda);
  lns_id_map_clear (&cuda->texts);
  lns_id_map_clear (&cuda->calls);
  for (size_t i = 0; i < cuda->public_calls.n_places; i++)
    lns_name_unref (cuda->public_calls.entries[i].value);
  lns_id_map_clear (&cuda->public_calls);
  lns_id_map_clear (&cuda->problems);
  _lns_flight_free (cuda);
}

const LnsDecoderOps _lns_cuda_ops = {
  .types = { { LNS_WIRE_CUDA_FIRST, LNS_WIRE_MPI_CALL - 1 },
             { LNS_WIRE_LIBRARY_CALL, LNS_WIRE_MPI_COMMUNICATOR - 1 },
             { LNS_WIRE_CUDA_DROPPED, LNS_WIRE_CUDA_LAST } },
  .session_bytes = sizeof (LnsCudaSession),
  .process_bytes = sizeof (LnsCudaProcess),
  .define = _lns_cuda_define,
  .play = play,
  .settle = settle,
  .begin_report = begin_report,
  .begin_process = begin_process,
  .write_held = write_held,
  .stop_process = stop_process,
  .forget_stream = _lns_cuda_forget_launches,
  .end_process = end_process,
};
