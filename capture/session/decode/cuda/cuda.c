/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Plays the records of CUDA, which the engine made from CUPTI's. Each event has one record, written when it has
 * ended. */

#include "capture/session/decode/core/source.h"
#include "capture/session/decode/core/tracks.h"
#include "capture/session/decode/cuda/calls.h"
#include "capture/session/decode/cuda/flight.h"
#include "capture/session/decode/cuda/problems.h"
#include "capture/session/decode/cuda/switches.h"
#include "src/base/call-text.h"

#include <stdio.h>
#include <string.h>

/* cudaErrorMemoryAllocation and CUDA_ERROR_OUT_OF_MEMORY. */
#define OUT_OF_MEMORY 2

/* --- Memory in use ---------------------------------------------------------------------------- */

/* The lane of the counter of memory of KIND that is in use on DEVICE. */
static uint32_t
usage_lane (LnsDecoder *decoder, LnsDecodedDevice *device, uint8_t kind)
{
  static const char *const names[] = { "Memory of unknown kind", "Pageable memory",
                                       "Pinned memory",          "Device memory",
                                       "Array memory",           "Managed memory",
                                       "Static device memory",   "Static managed memory" };
  LnsReportRef *lane = &device->counters[kind];
  if (lane->report == decoder->report)
    return lane->id;
  const char *name = names[kind < sizeof names / sizeof *names ? kind : 0];
  LnsTrack track = {
    .kind = LNS_TRACK_COUNTER,
    .process = device->process->id,
    .thread = LNS_ID_NONE,
    .domain = LNS_ID_NONE,
    .name = _lns_decoder_text (decoder, name),
    .value_type = LNS_PAYLOAD_UINT64,
    .unit = _lns_decoder_text (decoder, "B"),
    .number = kind,
    .device = _lns_cuda_device_id (decoder, device),
    .stream = LNS_ID_NONE,
  };
  _lns_decoder_lane (decoder, lane, _lns_decoder_add_track (decoder, &track), 0, LNS_LANE_COUNTER);
  return lane->id;
}

/* Updates the memory in use by EVENT, an allocation or a release. */
static void
count_memory (LnsDecoder *decoder, const LnsDecodedTrack *track, const LnsEvent *event)
{
  LnsDecodedDevice *device = track->on;
  const uint8_t *extra = decoder->extra[LNS_LANE_CUDA_MEMORY];
  const uint64_t operation = event->extra[extra[LNS_COLUMN_OPERATION]];
  const uint64_t bytes = event->extra[extra[LNS_COLUMN_BYTES]];
  const uint8_t kind = (uint8_t)(operation >> 8);
  uint64_t *used = &device->used_bytes[kind];
  if ((uint8_t)operation == 1) /* CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION */
    *used += bytes;
  else
    *used -= bytes < *used ? bytes : *used; /* its allocation may be from before the report */
  LnsEvent sample = { .start_ns = event->start_ns };
  sample.extra[decoder->extra[LNS_LANE_COUNTER][LNS_COLUMN_VALUE]] = *used;
  sample.extra[decoder->extra[LNS_LANE_COUNTER][LNS_COLUMN_THREAD]] = LNS_ID_NONE;
  _lns_decoder_append (decoder, usage_lane (decoder, device, kind), &sample);
}

/* --- Tracks ----------------------------------------------------------------------------------- */

static void
place_at (LnsDecoder *decoder, const LnsDecodedTrack *track, LnsTrack *definition)
{
  definition->device = _lns_cuda_device_id (decoder, track->on);
}

static void
place_on (LnsDecoder *decoder, const LnsDecodedTrack *track, LnsTrack *definition)
{
  LnsDecodedCudaStream *stream = track->on;
  definition->stream = _lns_cuda_stream_id (decoder, stream);
  definition->device = _lns_cuda_device_id (decoder, stream->context->device);
}

static const LnsTrackOps device_ops = { .place = place_at };
static const LnsTrackOps memory_ops = { .place = place_at, .written = count_memory };
static bool
is_placed_on (const LnsDecodedTrack *track)
{
  const LnsDecodedCudaStream *stream = track->on;
  return !stream->context->is_assumed;
}

static const LnsTrackOps work_ops = { .is_sequence = true,
                                      .place = place_on,
                                      .is_placed = is_placed_on };
static const LnsTrackOps wait_ops = { .place = place_on, .is_placed = is_placed_on };

/* Follows EVENT, a call. */
static void
follow_call (LnsDecoder *decoder, const LnsDecodedTrack *track, const LnsEvent *event)
{
  const uint8_t *extra = decoder->extra[LNS_LANE_CUDA_API];
  _lns_flight_written_call (decoder, track->thread->process, (uint32_t)track->thread->target_tid,
                            event->extra[extra[LNS_COLUMN_CALLBACK]],
                            (uint32_t)event->extra[extra[LNS_COLUMN_CORRELATION]],
                            event->extra[extra[LNS_COLUMN_RETURN_VALUE]] != 0);
}

/* Adds where EVENT, a call, comes from. By now that is known, as its record is written when the call ends. */
static bool
add_callers (LnsDecoder *decoder, const LnsDecodedTrack *track, uint32_t lane, LnsEvent *event)
{
  const uint8_t *extra = decoder->extra[LNS_LANE_CUDA_API];
  const uint64_t is_runtime = event->extra[extra[LNS_COLUMN_CALLBACK]] >> 32;
  event->extra[extra[LNS_COLUMN_CALL_CHAIN]] =
      _lns_call_nodes_take (&track->thread->process->call_nodes, decoder->report,
                            event->extra[extra[LNS_COLUMN_CORRELATION]] | is_runtime << 32);
  return true;
}

static const LnsTrackOps call_ops = { .writing = add_callers, .written = follow_call };

/* The track KIND of a thread, a device, a CUDA stream or the process; NULL if memory is short. */
static LnsDecodedTrack *
track_of (LnsEventMaker *maker, LnsTrackKind kind, LnsDecodedThread *thread)
{
  const LnsDecodedTrack like = { .kind = kind,
                                 .ops = kind == LNS_TRACK_CUDA_API ? &call_ops : NULL,
                                 .thread = thread };
  return thread != NULL ? _lns_maker_track (maker, &like, thread->id) : NULL;
}

static LnsDecodedTrack *
track_at (LnsEventMaker *maker, LnsTrackKind kind, uint32_t number)
{
  LnsDecodedDevice *device = _lns_cuda_device (maker->decoder, maker->stream->process,
                                               number == LNS_WIRE_CUDA_NONE ? 0 : number);
  const LnsDecodedTrack like = { .kind = kind,
                                 .ops = kind == LNS_TRACK_CUDA_MEMORY ? &memory_ops : &device_ops,
                                 .on = device };
  return device != NULL ? _lns_maker_track (maker, &like, device->said.number) : NULL;
}

static LnsDecodedTrack *
track_on (LnsEventMaker *maker, LnsTrackKind kind, const LnsWireCudaPlace *place)
{
  LnsDecodedCudaStream *stream = _lns_cuda_stream (maker->decoder, maker->stream->process, place);
  const LnsDecodedTrack like = { .kind = kind,
                                 .ops = kind == LNS_TRACK_CUDA_SYNC ? &wait_ops : &work_ops,
                                 .on = stream };
  /* Context numbers are small, as CUPTI counts them. */
  return stream != NULL
             ? _lns_maker_track (maker, &like,
                                 (uint64_t)stream->said.context << 32 | stream->said.number)
             : NULL;
}

static LnsDecodedTrack *
track_of_process (LnsEventMaker *maker, LnsTrackKind kind)
{
  return _lns_maker_track (maker, &(LnsDecodedTrack){ .kind = kind }, 0);
}

static LnsDecodedThread *
thread_of (LnsEventMaker *maker, uint32_t tid, uint64_t ticks)
{
  return _lns_decoder_thread_of (maker->decoder, maker->stream->process, tid,
                                 lns_clock_line_ns (&maker->decoder->clock, ticks));
}

/* --- What has no column of its own ------------------------------------------------------------ */

/* Keeps VALUES beside the event: MAKER's remainder table is that of the table NAME, with N columns. */
static void
keep (LnsEventMaker *maker,
      LnsKeptTableMaker **table,
      const char *name,
      const LnsKeptColumn *columns,
      unsigned n,
      const LnsKeptValue *values)
{
  LnsDecoder *decoder = maker->decoder;
  if (decoder->writer == NULL)
    return;
  if (*table == NULL)
    *table = lns_kept_table_maker_new (decoder->writer, name, columns, n, true);
  if (*table == NULL)
    decoder->counters.n_refused++;
  else
    _lns_maker_set (maker, LNS_COLUMN_REMAINDER, lns_kept_table_maker_remainder (*table, values));
}

static void
keep_source (LnsEventMaker *maker, uint32_t string)
{
  static const LnsKeptColumn columns[] = { { "source", "TEXT", false } };
  const LnsName *name = lns_id_map_get (&maker->stream->process->registered, string);
  if (name == NULL)
    return;
  const LnsKeptValue value = { .type = LNS_KEPT_TEXT,
                               .bytes = name->bytes,
                               .size_bytes = name->n_bytes };
  keep (maker, &_lns_cuda_session (maker->decoder)->sources, "CUDA_GPU_MEMORY_USAGE_EVENTS",
        columns, 1, &value);
}

static void
keep_channel (LnsEventMaker *maker, uint32_t channel, uint32_t type)
{
  static const LnsKeptColumn columns[] = { { "channelId", "INTEGER", false },
                                           { "channelType", "INTEGER", false } };
  const LnsKeptValue values[] = { { .type = LNS_KEPT_INTEGER, .integer = channel },
                                  { .type = LNS_KEPT_INTEGER, .integer = type } };
  keep (maker, &_lns_cuda_session (maker->decoder)->channels, "CUPTI_ACTIVITY_KIND_OVERHEAD",
        columns, 2, values);
}

/* --- Events ----------------------------------------------------------------------------------- */

/* Names the event by the public name of the call, whichever entry point of the runtime the program uses. */
static void
name_call (LnsEventMaker *maker, uint32_t string, const char *otherwise)
{
  LnsIdMap *known = &_lns_cuda_process (maker->stream->process)->public_calls;
  const LnsName *symbol = lns_id_map_get (&maker->stream->process->registered, string);
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

static LnsDecodedTrack *
make_api (LnsEventMaker *maker, const LnsCudaRecord *record)
{
  const LnsWireCudaApiBytes *api = &record->api;
  const bool is_runtime = (api->head.depth & LNS_WIRE_CUDA_CALL_RUNTIME) != 0;
  char otherwise[48];
  const char *known = _lns_cuda_call_name (is_runtime, api->cbid);
  snprintf (otherwise, sizeof otherwise, "CUDA %s call %u", is_runtime ? "runtime" : "driver",
            (unsigned)api->cbid);
  name_call (maker, api->head.string, known != NULL ? known : otherwise);
  const uint64_t call = api->cbid | (uint64_t)is_runtime << 32;
  LnsIdMap *calls = &_lns_cuda_process (maker->stream->process)->calls;
  if (api->head.string != 0 && lns_id_map_get (calls, call) == NULL)
    lns_id_map_set (calls, call, (void *)(uintptr_t)api->head.string);
  _lns_maker_set (maker, LNS_COLUMN_CALLBACK, call);
  _lns_maker_set (maker, LNS_COLUMN_RETURN_VALUE, api->return_value);
  maker->decoder->counters.n_out_of_memory += api->return_value == OUT_OF_MEMORY;
  return track_of (maker, LNS_TRACK_CUDA_API, thread_of (maker, api->tid, api->head.ticks));
}

/* Sets how long KERNEL waited, if the record before said that. */
static void
set_latency (LnsEventMaker *maker, const LnsWireCudaKernelBytes *kernel)
{
  const LnsCudaSlots *slots = maker->stream->state[LNS_SOURCE_CUDA];
  const LnsWireCudaLatencyBytes *said = &slots->latency;
  if (said->head.ticks != kernel->head.ticks || said->correlation != kernel->correlation)
    return;
  const uint64_t ticks[] = { said->queued_ticks, said->submitted_ticks };
  static const LnsColumnId columns[] = { LNS_COLUMN_QUEUED, LNS_COLUMN_SUBMITTED };
  const int64_t start_ns = lns_clock_line_ns (&maker->decoder->clock, kernel->head.ticks);
  for (int i = 0; i < 2; i++)
    if (ticks[i] != 0)
      {
        const int64_t at_ns = lns_clock_line_ns (&maker->decoder->clock, ticks[i]);
        _lns_maker_set (maker, columns[i], 1 + (uint64_t)(at_ns < start_ns ? start_ns - at_ns : 0));
      }
}

static LnsDecodedTrack *
make_kernel (LnsEventMaker *maker, const LnsCudaRecord *record)
{
  const LnsWireCudaKernelBytes *kernel = &record->kernel;
  LnsDecodedLaunch **launches = _lns_cuda_launches (maker->stream);
  LnsDecodedLaunch *launch = launches != NULL && kernel->head.string < LNS_WIRE_CUDA_LAUNCHES
                                 ? launches[kernel->head.string]
                                 : NULL;
  if (launch == NULL)
    {
      maker->decoder->counters.n_refused++;
      return NULL;
    }
  maker->event.name = _lns_decoder_string (maker->decoder, launch->demangled);
  _lns_maker_set (maker, LNS_COLUMN_LAUNCH, _lns_cuda_launch_id (maker->decoder, launch));
  _lns_maker_set (maker, LNS_COLUMN_GRID_ID, kernel->grid_id);
  _lns_maker_set (maker, LNS_COLUMN_GRAPH_NODE, kernel->graph_node);
  _lns_maker_set (maker, LNS_COLUMN_GRAPH, kernel->graph);
  set_latency (maker, kernel);
  return track_on (maker, LNS_TRACK_CUDA_KERNELS, &kernel->place);
}

static LnsDecodedTrack *
make_copy (LnsEventMaker *maker, const LnsCudaRecord *record)
{
  const LnsWireCudaMemcpyBytes *copy = &record->copy;
  _lns_maker_name (maker, copy->head.type == LNS_WIRE_CUDA_DECOMPRESS
                              ? "[CUDA memory decompression]"
                              : lns_call_text_copy (copy->kind));
  _lns_maker_set (maker, LNS_COLUMN_BYTES, copy->size_bytes);
  _lns_maker_set (maker, LNS_COLUMN_COPY_KIND, copy->kind);
  _lns_maker_set (maker, LNS_COLUMN_MEMORY_KINDS,
                  copy->source_kind | (uint64_t)copy->destination_kind << 8);
  if (copy->kind == 10) /* CUPTI_ACTIVITY_MEMCPY_KIND_PTOP */
    _lns_maker_set (maker, LNS_COLUMN_PEERS,
                    (copy->source_device & 0xff) |
                        (uint64_t)(copy->source_context & 0xffffff) << 8 |
                        (uint64_t)(copy->destination_device & 0xff) << 32 |
                        (uint64_t)(copy->destination_context & 0xffffff) << 40);
  _lns_maker_set (maker, LNS_COLUMN_GRAPH_NODE, copy->graph_node);
  _lns_maker_set (maker, LNS_COLUMN_COPY_COUNT, copy->copy_count);
  return track_on (maker, LNS_TRACK_CUDA_MEMCPY, &copy->place);
}

static LnsDecodedTrack *
make_set (LnsEventMaker *maker, const LnsCudaRecord *record)
{
  const LnsWireCudaMemsetBytes *set = &record->set;
  _lns_maker_name (maker, "[CUDA memset]");
  _lns_maker_set (maker, LNS_COLUMN_BYTES, set->size_bytes);
  _lns_maker_set (maker, LNS_COLUMN_SET_VALUE, set->value);
  _lns_maker_set (maker, LNS_COLUMN_MEMORY_KINDS, set->memory_kind);
  _lns_maker_set (maker, LNS_COLUMN_GRAPH_NODE, set->graph_node);
  return track_on (maker, LNS_TRACK_CUDA_MEMSET, &set->place);
}

static LnsDecodedTrack *
make_sync (LnsEventMaker *maker, const LnsCudaRecord *record)
{
  static const char *const names[] = { "Synchronization", "Event synchronize", "Stream wait event",
                                       "Stream synchronize", "Context synchronize" };
  const LnsWireCudaSyncBytes *sync = &record->sync;
  _lns_maker_name (maker, names[sync->type < sizeof names / sizeof *names ? sync->type : 0]);
  _lns_maker_set (maker, LNS_COLUMN_SYNC_TYPE, sync->type);
  _lns_maker_set (maker, LNS_COLUMN_CUDA_EVENT, sync->event);
  _lns_maker_set (maker, LNS_COLUMN_CUDA_EVENT_SYNC, sync->event_sync);
  return track_on (maker, LNS_TRACK_CUDA_SYNC, &sync->place);
}

static LnsDecodedTrack *
make_cuda_event (LnsEventMaker *maker, const LnsCudaRecord *record)
{
  const LnsWireCudaEventBytes *event = &record->cuda_event;
  char name[32];
  snprintf (name, sizeof name, "Event %u", (unsigned)event->event);
  _lns_maker_name (maker, name);
  _lns_maker_set (maker, LNS_COLUMN_CUDA_EVENT, event->event);
  _lns_maker_set (maker, LNS_COLUMN_CUDA_EVENT_SYNC, event->event_sync);
  /* An event without a time has no place on a timeline. */
  return event->head.ticks != 0 ? track_on (maker, LNS_TRACK_CUDA_EVENTS, &event->place) : NULL;
}

static LnsDecodedTrack *
make_graph (LnsEventMaker *maker, const LnsCudaRecord *record)
{
  const LnsWireCudaGraphBytes *graph = &record->graph;
  char name[32];
  snprintf (name, sizeof name, "Graph %u", (unsigned)graph->graph);
  _lns_maker_name (maker, name);
  _lns_maker_set (maker, LNS_COLUMN_GRAPH, graph->graph);
  return track_on (maker, LNS_TRACK_CUDA_GRAPHS, &graph->place);
}

static LnsDecodedTrack *
make_node (LnsEventMaker *maker, const LnsCudaRecord *record)
{
  const LnsWireCudaGraphNodeBytes *node = &record->node;
  const char *name = node->graph_node != 0   ? "Graph node"
                     : node->graph_exec != 0 ? "Graph instantiation"
                                             : "Graph creation";
  _lns_maker_name_registered (maker, node->head.string, name);
  _lns_maker_set (maker, LNS_COLUMN_GRAPH_NODE, node->graph_node);
  _lns_maker_set (maker, LNS_COLUMN_ORIGINAL, node->original);
  _lns_maker_set (maker, LNS_COLUMN_GRAPH, node->graph);
  _lns_maker_set (maker, LNS_COLUMN_GRAPH_EXEC, node->graph_exec);
  return track_of (maker, LNS_TRACK_CUDA_GRAPH_NODES,
                   thread_of (maker, node->tid, node->head.ticks));
}

static LnsDecodedTrack *
make_overhead (LnsEventMaker *maker, const LnsCudaRecord *record)
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
  const LnsWireCudaOverheadBytes *overhead = &record->overhead;
  const char *name = "Profiler overhead";
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
    name = names[i].kind == overhead->kind ? names[i].name : name;
  _lns_maker_name (maker, name);
  _lns_maker_set (maker, LNS_COLUMN_OVERHEAD_KIND, overhead->kind);
  const LnsDecodedThread *thread =
      overhead->tid != 0 ? thread_of (maker, overhead->tid, overhead->head.ticks) : NULL;
  _lns_maker_set (maker, LNS_COLUMN_THREAD, thread != NULL ? thread->id : LNS_ID_NONE);
  if (overhead->channel_type != 0)
    keep_channel (maker, overhead->channel, overhead->channel_type - 1);
  return track_of_process (maker, LNS_TRACK_CUDA_OVERHEAD);
}

static LnsDecodedTrack *
make_memory (LnsEventMaker *maker, const LnsCudaRecord *record)
{
  const LnsWireCudaMemoryBytes *memory = &record->memory;
  _lns_maker_name_registered (maker, memory->head.string,
                              memory->operation == 1 ? "Allocation" : "Release");
  _lns_maker_set (maker, LNS_COLUMN_BYTES, memory->size_bytes);
  _lns_maker_set (maker, LNS_COLUMN_ADDRESS, memory->address);
  _lns_maker_set (maker, LNS_COLUMN_OPERATION,
                  memory->operation | (uint64_t)memory->memory_kind << 8 |
                      (uint64_t)memory->pool_type << 16);
  _lns_maker_set (maker, LNS_COLUMN_PC, memory->pc);
  _lns_maker_set (maker, LNS_COLUMN_PLACE,
                  memory->place.stream | (uint64_t)memory->place.context << 32);
  _lns_maker_set (maker, LNS_COLUMN_POOL_ADDRESS, memory->pool_address);
  _lns_maker_set (maker, LNS_COLUMN_POOL_THRESHOLD, memory->pool_threshold);
  _lns_maker_set (maker, LNS_COLUMN_POOL_SIZE, memory->pool_size);
  _lns_maker_set (maker, LNS_COLUMN_POOL_UTILIZED, memory->pool_utilized);
  if (memory->source != 0)
    keep_source (maker, memory->source);
  return track_at (maker, LNS_TRACK_CUDA_MEMORY, memory->place.device);
}

static LnsDecodedTrack *
make_pool (LnsEventMaker *maker, const LnsCudaRecord *record)
{
  static const char *const names[] = { "Pool", "Pool creation", "Pool destruction",
                                       "Pool trimming" };
  const LnsWireCudaPoolBytes *pool = &record->pool;
  _lns_maker_name (maker,
                   names[pool->operation < sizeof names / sizeof *names ? pool->operation : 0]);
  _lns_maker_set (maker, LNS_COLUMN_BYTES, pool->min_bytes_to_keep);
  _lns_maker_set (maker, LNS_COLUMN_ADDRESS, pool->address);
  _lns_maker_set (maker, LNS_COLUMN_OPERATION, pool->operation | (uint64_t)pool->pool_type << 16);
  _lns_maker_set (maker, LNS_COLUMN_POOL_THRESHOLD, pool->pool_threshold);
  _lns_maker_set (maker, LNS_COLUMN_POOL_SIZE, pool->pool_size);
  _lns_maker_set (maker, LNS_COLUMN_POOL_UTILIZED, pool->pool_utilized);
  return track_at (maker, LNS_TRACK_CUDA_POOLS, pool->device);
}

/* CUpti_ActivityUnifiedMemoryCounterKind */
enum
{
  UNIFIED_TO_DEVICE = 1,
  UNIFIED_TO_HOST = 2,
  UNIFIED_CPU_FAULT = 3,
  UNIFIED_GPU_FAULT = 4,
  UNIFIED_THRASHING = 5,
  UNIFIED_THROTTLING = 6,
  UNIFIED_REMOTE_MAP = 7,
  UNIFIED_DEVICE_TO_DEVICE = 8
};

/* What the driver does about pages that several processors want. */
static LnsDecodedTrack *
make_contention (LnsEventMaker *maker, const LnsWireCudaUnifiedBytes *unified)
{
  maker->kind = LNS_LANE_CUDA_UNIFIED;
  _lns_maker_name (maker, unified->counter == UNIFIED_THRASHING    ? "Thrashing"
                          : unified->counter == UNIFIED_THROTTLING ? "Throttling"
                                                                   : "Remote mapping");
  _lns_maker_set (maker, LNS_COLUMN_OPERATION, unified->counter);
  _lns_maker_set (maker, LNS_COLUMN_ADDRESS, unified->address);
  _lns_maker_set (maker, LNS_COLUMN_BYTES, unified->value);
  _lns_maker_set (maker, LNS_COLUMN_PEERS, unified->source | (uint64_t)unified->destination << 32);
  _lns_maker_set (maker, LNS_COLUMN_MIGRATION_CAUSE, unified->flags);
  return track_of_process (maker, LNS_TRACK_CUDA_UNIFIED);
}

/* Pages that moved are shown as copies without a call. Faults have tracks of their own. */
static LnsDecodedTrack *
make_unified (LnsEventMaker *maker, const LnsCudaRecord *record)
{
  const LnsWireCudaUnifiedBytes *unified = &record->unified;
  const bool is_copy = unified->counter == UNIFIED_TO_DEVICE ||
                       unified->counter == UNIFIED_TO_HOST ||
                       unified->counter == UNIFIED_DEVICE_TO_DEVICE;
  if (is_copy)
    {
      maker->kind = LNS_LANE_CUDA_MEMCPY;
      unsigned kind = unified->counter == UNIFIED_TO_DEVICE ? 11
                      : unified->counter == UNIFIED_TO_HOST ? 12
                                                            : 13;
      LnsWireCudaPlace place = { .context = 0, .stream = unified->stream };
      place.device = unified->counter == UNIFIED_TO_HOST ? unified->source : unified->destination;
      _lns_maker_name (maker, lns_call_text_copy (kind));
      _lns_maker_set (maker, LNS_COLUMN_BYTES, unified->value);
      _lns_maker_set (maker, LNS_COLUMN_COPY_KIND, kind);
      _lns_maker_set (maker, LNS_COLUMN_ADDRESS, unified->address);
      _lns_maker_set (maker, LNS_COLUMN_MIGRATION_CAUSE, unified->flags);
      return track_on (maker, LNS_TRACK_CUDA_MEMCPY, &place);
    }
  if (unified->counter >= UNIFIED_THRASHING && unified->counter <= UNIFIED_REMOTE_MAP)
    return make_contention (maker, unified);
  if (unified->counter != UNIFIED_CPU_FAULT && unified->counter != UNIFIED_GPU_FAULT)
    return NULL;
  const bool is_cpu = unified->counter == UNIFIED_CPU_FAULT;
  _lns_maker_name (maker, is_cpu ? "CPU page fault" : "GPU page faults");
  _lns_maker_set (maker, LNS_COLUMN_ADDRESS, unified->address);
  if (is_cpu)
    _lns_maker_set (maker, LNS_COLUMN_PC, unified->value);
  else
    {
      _lns_maker_set (maker, LNS_COLUMN_FAULTS, unified->value);
      _lns_maker_set (maker, LNS_COLUMN_FAULT_ACCESS, unified->flags);
    }
  return is_cpu ? track_of_process (maker, LNS_TRACK_CUDA_CPU_FAULTS)
                : track_at (maker, LNS_TRACK_CUDA_GPU_FAULTS, unified->source);
}

static LnsDecodedTrack *
make_jit (LnsEventMaker *maker, const LnsCudaRecord *record)
{
  static const char *const names[] = { "Just-in-time compilation", "Cache load", "Cache store",
                                       "Compilation" };
  const LnsWireCudaJitBytes *jit = &record->jit;
  _lns_maker_name (maker,
                   names[jit->operation < sizeof names / sizeof *names ? jit->operation : 0]);
  _lns_maker_set (maker, LNS_COLUMN_JIT_KIND, jit->entry | (uint64_t)jit->operation << 8);
  _lns_maker_set (maker, LNS_COLUMN_BYTES, jit->cache_bytes);
  return track_at (maker, LNS_TRACK_CUDA_JIT, jit->device);
}

static LnsDecodedTrack *
make_library (LnsEventMaker *maker, const LnsCudaRecord *record)
{
  static const LnsTrackKind tracks[LNS_WIRE_N_LIBRARIES] = {
    [LNS_WIRE_CUBLAS] = LNS_TRACK_CUBLAS,     [LNS_WIRE_CUBLAS_LT] = LNS_TRACK_CUBLAS,
    [LNS_WIRE_CUDNN] = LNS_TRACK_CUDNN,       [LNS_WIRE_CUSPARSE] = LNS_TRACK_CUSPARSE,
    [LNS_WIRE_CUSOLVER] = LNS_TRACK_CUSOLVER, [LNS_WIRE_CUSOLVER_MG] = LNS_TRACK_CUSOLVER,
  };
  const LnsWireLibraryCallBytes *library = &record->library;
  const LnsTrackKind kind = library->library < LNS_WIRE_N_LIBRARIES ? tracks[library->library] : 0;
  if (kind == 0)
    {
      maker->decoder->counters.n_refused++;
      return NULL;
    }
  _lns_maker_name_registered (maker, library->head.string, "Library call");
  _lns_maker_set (maker, LNS_COLUMN_RETURN_VALUE, library->return_value);
  _lns_maker_set (maker, LNS_COLUMN_CUDA_STREAM, library->stream);
  return track_of (maker, kind, maker->stream->thread);
}

/* --- Host functions --------------------------------------------------------------------------- */

static LnsDecodedTrack *
make_host (LnsEventMaker *maker, const LnsCudaRecord *record)
{
  const LnsWireCudaHostBytes *host = &record->host;
  const LnsDecodedThread *thread = thread_of (maker, host->tid, host->head.ticks);
  _lns_maker_name (maker, host->graph_node != 0 ? "Host node" : "Host function");
  _lns_maker_set (maker, LNS_COLUMN_THREAD, thread != NULL ? thread->id : LNS_ID_NONE);
  _lns_maker_set (maker, LNS_COLUMN_GRAPH_NODE, host->graph_node);
  _lns_maker_set (maker, LNS_COLUMN_GRAPH, host->graph);
  return track_on (maker, LNS_TRACK_CUDA_HOST, &host->place);
}

/* --- Records ---------------------------------------------------------------------------------- */

/* By type of record, from LNS_WIRE_CUDA_FIRST on: how its event is made. */
static const struct
{
  LnsLaneKind lane_kind;
  bool has_correlation, has_end; /* which of these fields of LnsCudaRecord.event the record has */
  /* Fills in the event and returns its track; NULL: there is no event, or no memory for it. */
  LnsDecodedTrack *(*make) (LnsEventMaker *maker, const LnsCudaRecord *record);
} events[] = {
#define AT(type) [LNS_WIRE_##type - LNS_WIRE_CUDA_FIRST]
  AT (CUDA_API) = { LNS_LANE_CUDA_API, true, true, make_api },
  AT (CUDA_KERNEL) = { LNS_LANE_CUDA_KERNEL, true, true, make_kernel },
  AT (CUDA_MEMCPY) = { LNS_LANE_CUDA_MEMCPY, true, true, make_copy },
  AT (CUDA_MEMSET) = { LNS_LANE_CUDA_MEMSET, true, true, make_set },
  AT (CUDA_SYNC) = { LNS_LANE_CUDA_SYNC, true, true, make_sync },
  AT (CUDA_EVENT) = { LNS_LANE_CUDA_EVENT, true, false, make_cuda_event },
  AT (CUDA_GRAPH) = { LNS_LANE_CUDA_GRAPH, true, true, make_graph },
  AT (CUDA_GRAPH_NODE) = { LNS_LANE_CUDA_GRAPH_NODE, false, true, make_node },
  AT (CUDA_OVERHEAD) = { LNS_LANE_CUDA_OVERHEAD, true, true, make_overhead },
  AT (CUDA_MEMORY) = { LNS_LANE_CUDA_MEMORY, true, false, make_memory },
  AT (CUDA_POOL) = { LNS_LANE_CUDA_POOL, true, false, make_pool },
  AT (CUDA_UNIFIED) = { LNS_LANE_CUDA_FAULT, false, true, make_unified },
  AT (CUDA_JIT) = { LNS_LANE_CUDA_JIT, true, true, make_jit },
  AT (CUDA_DECOMPRESS) = { LNS_LANE_CUDA_MEMCPY, true, true, make_copy },
  AT (CUDA_HOST_FUNCTION) = { LNS_LANE_CUDA_HOST, true, true, make_host },
  AT (LIBRARY_CALL) = { LNS_LANE_LIBRARY_CALL, false, true, make_library },
#undef AT
};

static void
play_event (LnsDecoder *decoder, LnsStream *stream, const LnsCudaRecord *record)
{
  const uint8_t type = record->head.type - LNS_WIRE_CUDA_FIRST;
  if (type >= sizeof events / sizeof *events || events[type].make == NULL ||
      !_lns_flight_admits (decoder, stream->process, record))
    return;
  LnsEventMaker maker = { .decoder = decoder, .stream = stream, .kind = events[type].lane_kind };
  if (events[type].has_correlation)
    _lns_maker_set (&maker, LNS_COLUMN_CORRELATION, record->event.correlation);
  LnsDecodedTrack *track = events[type].make (&maker, record);
  /* CUPTI does not tell when page faults of the CPU end. */
  const bool has_end = events[type].has_end && record->event.end_ticks > 0;
  const uint64_t ticks = record->head.ticks;
  if (track != NULL &&
      _lns_maker_finish (&maker, track, ticks, has_end ? record->event.end_ticks : ticks))
    _lns_cuda_session (decoder)->n_events++;
}

static void
play (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record)
{
  LnsCudaRecord bytes;
  switch ((LnsWireCudaType)record->type)
    {
    case LNS_WIRE_CUDA_LAUNCH:
      _lns_record_take (record, &bytes, sizeof bytes);
      _lns_cuda_set_launch (decoder, stream, &bytes.launch);
      break;
    case LNS_WIRE_CUDA_DEVICE:
    case LNS_WIRE_CUDA_CONTEXT:
    case LNS_WIRE_CUDA_STREAM:
    case LNS_WIRE_CUDA_NAMED:
    case LNS_WIRE_CUDA_INFO:
      /* Defined again, as the strings that it names are known by now, whichever stream they came in. */
      _lns_cuda_define (decoder, stream->process, record);
      break;
    case LNS_WIRE_CUDA_USED:
      break; /* names no string */
    case LNS_WIRE_CUDA_LATENCY:
      if (_lns_cuda_slots (stream) != NULL)
        _lns_record_take (record, &_lns_cuda_slots (stream)->latency,
                          sizeof (LnsWireCudaLatencyBytes));
      break;
    case LNS_WIRE_CUDA_SWITCH:
      _lns_record_take (record, &bytes, sizeof bytes);
      _lns_switches_play (decoder, stream, &bytes.change);
      break;
    case LNS_WIRE_CUDA_DROPPED:
      _lns_cuda_dropped (decoder, stream->process, record);
      break;
    case LNS_WIRE_CUDA_PROBLEM:
      _lns_cuda_problem (decoder, stream->process, record);
      break;
    default:
      _lns_record_take (record, &bytes, sizeof bytes);
      play_event (decoder, stream, &bytes);
    }
}

/* --- Reports ---------------------------------------------------------------------------------- */

LnsCudaState
lns_decoder_cuda_state (const LnsDecoder *decoder)
{
  const LnsCudaSession *session = _lns_cuda_session (decoder);
  return session->n_events > 0 ? LNS_CUDA_RECORDED : session->state;
}

static void
begin_report (LnsDecoder *decoder)
{
  _lns_cuda_session (decoder)->n_events = 0;
}

static void
stop_report (LnsDecoder *decoder)
{
  LnsCudaSession *session = _lns_cuda_session (decoder);
  lns_kept_table_maker_free (session->sources);
  lns_kept_table_maker_free (session->channels);
  session->sources = session->channels = NULL;
}

static void
begin_process (LnsDecoder *decoder, LnsDecodedProcess *process)
{
  LnsCudaProcess *cuda = _lns_cuda_process (process);
  _lns_cuda_add_dropped (decoder, process, cuda->n_dropped_between, cuda->n_mistimed_between,
                         decoder->report_start_ns);
  decoder->between.n_dropped -= cuda->n_dropped_between;
  decoder->between.n_mistimed -= cuda->n_mistimed_between;
  cuda->n_dropped_between = cuda->n_mistimed_between = 0;
  _lns_cuda_write_info (decoder, process);
  LnsDecodedDevice *device;
  LnsDecodedCudaStream *stream;
  for (size_t at = 0; (device = lns_id_map_next (&cuda->devices, &at)) != NULL;)
    _lns_cuda_device_id (decoder, device);
  for (size_t at = 0; (stream = lns_id_map_next (&cuda->streams, &at)) != NULL;)
    _lns_cuda_stream_id (decoder, stream);
}

static void
end_process (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t end_ns)
{
  LnsCudaProcess *cuda = _lns_cuda_process (process);
  _lns_switches_finish (decoder, process, end_ns);
  _lns_cuda_free_definitions (cuda);
  lns_id_map_clear (&cuda->texts);
  lns_id_map_clear (&cuda->calls);
  _lns_names_clear (&cuda->public_calls);
  lns_id_map_clear (&cuda->problems);
  _lns_flight_free (cuda);
}

const LnsDecoderOps _lns_cuda_ops = {
  .types = { { LNS_WIRE_CUDA_FIRST, LNS_WIRE_MPI_CALL - 1 },
             { LNS_WIRE_LIBRARY_CALL, LNS_WIRE_MPI_COMMUNICATOR - 1 },
             { LNS_WIRE_CUDA_DROPPED, LNS_WIRE_CUDA_TOPOLOGY - 1 } },
  .session_bytes = sizeof (LnsCudaSession),
  .process_bytes = sizeof (LnsCudaProcess),
  .define = _lns_cuda_define,
  .play = play,
  .begin_report = begin_report,
  .begin_process = begin_process,
  .count_missing = _lns_flight_settle,
  .stop_process = _lns_switches_finish,
  .stop_report = stop_report,
  .forget_stream = _lns_cuda_forget_launches,
  .end_process = end_process,
  .free_session = stop_report,
};
