/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The table of sources, and what all sources have in common: batches of records, reports, and the ends of threads
 * and processes. */

#include "capture/session/decode/decoder.h"
#include "capture/session/decode/core/record-count.h"
#include "capture/session/decode/core/sieve.h"
#include "capture/session/decode/core/tracks.h"
#include "capture/session/decode/cuda/definitions.h"
#include "capture/session/decode/cuda/salvage.h"
#include "capture/session/decode/nvtx/definitions.h"
#include "capture/session/decode/nvtx/ranges.h"
#include "capture/session/system/memory-limit.h"
#include "src/base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const LnsDecoderOps *const sources[LNS_N_SOURCES] = {
  [LNS_SOURCE_NVTX] = &_lns_nvtx_ops,
  [LNS_SOURCE_CUDA] = &_lns_cuda_ops,
  [LNS_SOURCE_TOPOLOGY] = &_lns_topology_ops,
  [LNS_SOURCE_MPI] = &_lns_mpi_ops,
  [LNS_SOURCE_PYTHON] = &_lns_python_ops,
  [LNS_SOURCE_GPU] = &_lns_gpu_ops,
  [LNS_SOURCE_OS] = &_lns_os_ops,
  [LNS_SOURCE_CPU] = &_lns_cpu_ops,
  [LNS_SOURCE_PYTHON_SAMPLES] = &_lns_python_samples_ops,
};

/* Serials of streams that no process has, as serials count from 1. */
#define SALVAGED_STREAM UINT32_MAX
#define COPIED_STREAM   (UINT32_MAX - 1)

/* The share of the memory that this process may have, for events that wait until it is decided which steps are kept. */
#define MEMORY_SHARE 4

/* Calls FUNCTION of each source that has it. */
#define CALL_SOURCES(function, ...)                                                                \
 do                                                                                                \
  {                                                                                                \
   for (int i_source = 0; i_source < LNS_N_SOURCES; i_source++)                                    \
    if (sources[i_source]->function != NULL)                                                       \
     sources[i_source]->function (__VA_ARGS__);                                                    \
  }                                                                                                \
 while (0)

/* The source that plays records of TYPE; NULL for types of a later version. */
static const LnsDecoderOps *
source_of (const LnsDecoder *decoder, uint8_t type)
{
  const uint8_t source = decoder->source_of[type];
  return source < LNS_N_SOURCES ? sources[source] : NULL;
}

/* --- The session ------------------------------------------------------------------------------ */

LnsDecoder *
lns_decoder_new (const LnsWireClockPair *first, const LnsDomainFilter *filter)
{
  LnsDecoder *decoder = lns_calloc (1, sizeof *decoder);
  lns_clock_line_init (&decoder->clock, first);
  decoder->ended_ns = INT64_MIN;
  for (int kind = 1; kind < LNS_N_LANE_KINDS; kind++)
    for (int column = 1; column < LNS_N_COLUMNS; column++)
      {
        int at = lns_lane_kind_extra ((LnsLaneKind)kind, (LnsColumnId)column);
        decoder->extra[kind][column] = at < 0 ? 0 : (uint8_t)at;
      }
  memset (decoder->source_of, LNS_N_SOURCES, sizeof decoder->source_of);
  for (int i = 0; i < LNS_N_SOURCES; i++)
    {
      for (const LnsRecordTypes *types = sources[i]->types; types->first != 0; types++)
        memset (decoder->source_of + types->first, i, types->last - types->first + 1u);
      decoder->state[i] = lns_calloc (1, sources[i]->session_bytes);
    }
  _lns_nvtx_session (decoder)->filter = *filter;
  return decoder;
}

static void
free_pointers (LnsPointers *pointers)
{
  for (size_t i = 0; i < pointers->n; i++)
    free (pointers->items[i]);
  free (pointers->items);
}

void
lns_decoder_free (LnsDecoder *decoder)
{
  if (decoder == NULL)
    return;
  decoder->writer = NULL;
  _lns_sieve_free (decoder->sieve);
  decoder->sieve = NULL;
  for (uint32_t i = 0; i < decoder->processes.n; i++)
    lns_decoder_end_process (decoder, i, lns_clock_line_last_ns (&decoder->clock), NULL);
  CALL_SOURCES (free_session, decoder);
  free (decoder->rule);
  for (int i = 0; i < LNS_N_SOURCES; i++)
    free (decoder->state[i]);
  for (size_t i = 0; i < decoder->threads.n; i++)
    lns_name_unref (((LnsDecodedThread *)decoder->threads.items[i])->name);
  for (size_t i = 0; i < decoder->processes.n; i++)
    {
      LnsDecodedProcess *process = decoder->processes.items[i];
      lns_process_info_clear (&process->info);
      lns_id_map_clear (&process->tids);
    }
  free_pointers (&decoder->threads);
  free_pointers (&decoder->processes);
  free_pointers (&decoder->unrecorded);
  lns_array_clear (&decoder->spare_devices);
  free (decoder);
}

void
lns_decoder_add_pair (LnsDecoder *decoder, const LnsWireClockPair *pair)
{
  lns_clock_line_add (&decoder->clock, pair);
}

int64_t
lns_decoder_time_ns (LnsDecoder *decoder, uint64_t ticks)
{
  return lns_clock_line_ns (&decoder->clock, ticks);
}

LnsDecoderCounters
lns_decoder_counters (const LnsDecoder *decoder)
{
  return decoder->counters;
}

LnsDecoderBetween
lns_decoder_take_between (LnsDecoder *decoder)
{
  const LnsDecoderBetween between = decoder->between;
  decoder->between = (LnsDecoderBetween){ 0 };
  return between;
}

const LnsUnrecorded *
lns_decoder_unrecorded (const LnsDecoder *decoder, size_t index)
{
  return index < decoder->unrecorded.n ? decoder->unrecorded.items[index] : NULL;
}

/* --- Processes -------------------------------------------------------------------------------- */

/* Allocates the state of all sources for PROCESS. Returns false if memory is short. */
static bool
make_state (LnsDecoder *decoder, LnsDecodedProcess *process)
{
  for (int i = 0; i < LNS_N_SOURCES; i++)
    if (process->state[i] == NULL && sources[i]->process_bytes > 0 &&
        (process->state[i] = calloc (1, sources[i]->process_bytes)) == NULL)
      {
        decoder->counters.n_refused++;
        return false;
      }
  process->has_state = true;
  return true;
}

/* Finds or makes the stream of BYTES and the state of its process. Returns NULL if the process is unknown or memory
 * is short. */
static LnsStream *
stream_of (LnsDecoder *decoder, const LnsDecoderSource *bytes)
{
  LnsStream *stream = _lns_decoder_find_stream (decoder, bytes);
  if (stream == NULL || (!stream->process->has_state && !make_state (decoder, stream->process)))
    return NULL;
  stream->tid = bytes->tid;
  return stream;
}

void
lns_decoder_set_process (LnsDecoder *decoder, uint32_t id, const LnsProcessInfo *info)
{
  if (id > decoder->processes.n)
    return;
  bool anew = id == decoder->processes.n;
  LnsDecodedProcess *process = anew ? calloc (1, sizeof *process) : decoder->processes.items[id];
  if (anew && (process == NULL || !_lns_pointers_add (&decoder->processes, process)))
    {
      free (process);
      decoder->counters.n_refused++;
      return;
    }
  if (anew)
    {
      process->id = id;
      process->end_ns = LNS_TIME_UNKNOWN;
      process->exit_code = -1;
    }
  lns_process_info_clear (&process->info);
  process->info = lns_process_info_copy (info);
  process->start_ns =
      info->start_ns == INT64_MIN ? LNS_TIME_UNKNOWN : info->start_ns - decoder->clock.t0_ns;
  _lns_decoder_write_process (decoder, process, anew);
}

void
lns_decoder_set_exit_code (
    LnsDecoder *decoder, uint32_t id, int64_t end_ns, int exit_code, int exit_signal)
{
  if (id >= decoder->processes.n)
    return;
  LnsDecodedProcess *process = decoder->processes.items[id];
  process->exit_code = exit_code;
  process->exit_signal = exit_signal;
  if (process->end_ns == LNS_TIME_UNKNOWN)
    process->end_ns = end_ns;
  _lns_decoder_write_process (decoder, process, false);
}

/* --- Losses ----------------------------------------------------------------------------------- */

uint64_t
lns_decoder_n_told (const LnsDecoder *decoder)
{
  return decoder->n_told;
}

void
lns_decoder_set_withheld (LnsDecoder *decoder, uint32_t id, uint64_t ticks)
{
  LnsDecodedProcess *process = id < decoder->processes.n ? decoder->processes.items[id] : NULL;
  if (process != NULL)
    process->withheld_ticks = ticks;
}

void
lns_decoder_add_losses (LnsDecoder *decoder, uint32_t id, const LnsWireLosses *losses)
{
  if (id >= decoder->processes.n)
    return;
  LnsDecodedProcess *process = decoder->processes.items[id];
  LnsWireLosses rest = { 0 };
  uint64_t n = 0;
  for (int i = 0; i < LNS_WIRE_LOSS_KINDS; i++)
    if (losses->events[i] > process->told.events[i])
      n += rest.events[i] = losses->events[i] - process->told.events[i];
  if (losses->n_bytes > process->told.n_bytes)
    rest.n_bytes = losses->n_bytes - process->told.n_bytes;
  _lns_decoder_count_told (decoder, process, &rest);
  for (int i = 0; i < LNS_WIRE_CAUSES; i++)
    if (losses->by_cause[i] > process->told.by_cause[i])
      {
        decoder->counters.n_lost_by[i] += losses->by_cause[i] - process->told.by_cause[i];
        process->told.by_cause[i] = losses->by_cause[i];
      }
  const LnsLoss loss = { .thread = LNS_ID_NONE,
                         .first_ns = LNS_TIME_UNKNOWN,
                         .last_ns = LNS_TIME_UNKNOWN };
  if (n > 0)
    _lns_decoder_write_loss (decoder, process, &rest, loss);
}

/* --- The end of threads and processes --------------------------------------------------------- */

static void
free_streams (LnsDecodedProcess *process)
{
  LnsStream *stream;
  for (size_t at = 0; (stream = lns_id_map_next (&process->streams, &at)) != NULL;)
    {
      CALL_SOURCES (forget_stream, stream);
      _lns_stream_free (stream);
    }
  lns_id_map_clear (&process->streams);
}

static void
end_threads (LnsDecoder *decoder, LnsDecodedProcess *process, int64_t end_ns)
{
  LnsDecodedThread *thread;
  for (size_t at = 0; (thread = lns_id_map_next (&process->threads, &at)) != NULL;)
    {
      CALL_SOURCES (end_thread, decoder, thread, end_ns);
      if (thread->end_ns == LNS_TIME_UNKNOWN)
        _lns_decoder_end_thread (decoder, thread, end_ns);
    }
}

/* Writes what waits for its order. */
static void
write_held (LnsDecoder *decoder, LnsDecodedProcess *process)
{
  _lns_tracks_write_all (decoder, process);
  CALL_SOURCES (count_missing, decoder, process);
}

void
lns_decoder_end_process (LnsDecoder *decoder,
                         uint32_t id,
                         int64_t end_ns,
                         const LnsWireLosses *losses)
{
  if (id >= decoder->processes.n)
    return;
  LnsDecodedProcess *process = decoder->processes.items[id];
  end_threads (decoder, process, end_ns);
  if (losses != NULL)
    lns_decoder_add_losses (decoder, id, losses);
  if (process->has_state)
    {
      write_held (decoder, process);
      CALL_SOURCES (end_process, decoder, process, end_ns);
    }
  _lns_tracks_clear (process);
  for (int i = 0; i < LNS_N_SOURCES; i++)
    {
      free (process->state[i]);
      process->state[i] = NULL;
    }
  process->has_state = false;
  free_streams (process);
  lns_id_map_clear (&process->threads);
  _lns_names_clear (&process->registered);
  _lns_names_clear (&process->thread_names);
  process->end_ns = end_ns;
  _lns_decoder_write_process (decoder, process, false);
}

/* Ends the thread that writes STREAM. */
static void
end_thread (LnsDecoder *decoder, LnsStream *stream, int64_t end_ns)
{
  CALL_SOURCES (end_thread, decoder, stream->thread, end_ns);
  _lns_decoder_end_thread (decoder, stream->thread, end_ns);
  stream->thread = NULL;
}

/* --- Records ---------------------------------------------------------------------------------- */

static void
break_stream (LnsStream *stream)
{
  _lns_stream_break (stream);
  CALL_SOURCES (forget_stream, stream);
}

static void
play_lost (LnsDecoder *decoder, LnsStream *stream, const LnsWireLostBytes *lost)
{
  break_stream (stream);
  _lns_decoder_count_told (decoder, stream->process, &lost->losses);
  const LnsLoss loss = { .thread = stream->thread != NULL ? stream->thread->id : LNS_ID_NONE,
                         .first_ns = lns_clock_line_ns (&decoder->clock, lost->first_ticks),
                         .last_ns = lns_clock_line_ns (&decoder->clock, lost->head.ticks) };
  _lns_decoder_write_loss (decoder, stream->process, &lost->losses, loss);
}

/* Has the source of its type play RECORD. */
static void
play_by_source (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record)
{
  const LnsDecoderOps *source = source_of (decoder, (uint8_t)record->type);
  if (source != NULL && source->play != NULL)
    source->play (decoder, stream, record);
}

static void
play_record (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record)
{
  LnsWireRecord whole;
  switch (record->type)
    {
    case LNS_WIRE_THREAD:
      stream->thread =
          _lns_decoder_thread (decoder, stream->process, &record->thread, record->ticks);
      break;
    case LNS_WIRE_THREAD_END:
      if (_lns_stream_know_thread (decoder, stream, record->ticks))
        end_thread (decoder, stream, lns_clock_line_ns (&decoder->clock, record->ticks));
      break;
    case LNS_WIRE_LOST:
      play_lost (decoder, stream, &record->lost);
      break;
    case LNS_WIRE_STRING:
      _lns_stream_set_name (decoder, stream, &record->named);
      break;
    case LNS_WIRE_PIECE:
      if (lns_wire_assembler_add (&stream->events, record, &whole) > 0)
        play_record (decoder, stream, &whole);
      break;
    default:
      play_by_source (decoder, stream, record);
    }
}

/* Plays the record of 16 bytes at BYTES if it is PUSH, POP or MARK; else returns false. Nearly all records are, and
 * lns_wire_record_decode () would cost more than all other work on them. */
static bool
play_short (LnsDecoder *decoder, LnsStream *stream, const uint8_t *bytes)
{
  LnsWireHead head;
  memcpy (&head, bytes, sizeof head);
  if ((head.type != LNS_WIRE_PUSH && head.type != LNS_WIRE_POP && head.type != LNS_WIRE_MARK) ||
      head.depth == LNS_WIRE_DEPTH_LONG)
    return false;
  LnsWireEvent event = { .depth = head.depth, .string = head.string };
  _lns_nvtx_play_event (decoder, stream, head.type, head.ticks, head.domain, &event);
  return true;
}

/* Counts the events in the N_BYTES at BYTES as lost, as the program has overwritten the first record. */
static void
play_damaged (LnsDecoder *decoder, LnsStream *stream, const uint8_t *bytes, size_t n_bytes)
{
  break_stream (stream);
  decoder->counters.n_bad_chunks++;
  if (decoder->writer == NULL)
    return;
  const uint64_t n = lns_records_count_damaged (bytes, n_bytes);
  const LnsLoss loss = {
    .process = stream->process->id,
    .thread = stream->thread != NULL ? stream->thread->id : LNS_ID_NONE,
    .first_ns = LNS_TIME_UNKNOWN,
    .last_ns = LNS_TIME_UNKNOWN,
    .others = n,
    .bytes = n_bytes,
  };
  decoder->counters.n_damaged += n;
  stream->process->n_lost_records += n;
  lns_writer_add_loss (decoder->writer, &loss);
}

void
lns_decoder_play (LnsDecoder *decoder,
                  const LnsDecoderSource *source,
                  const uint8_t *bytes,
                  size_t n_bytes)
{
  LnsStream *stream = stream_of (decoder, source);
  size_t at = 0;
  while (stream != NULL && at < n_bytes)
    {
      LnsWireRecord record;
      if (n_bytes - at >= sizeof (LnsWireHead) && play_short (decoder, stream, bytes + at))
        at += sizeof (LnsWireHead);
      else if (lns_wire_record_next (bytes, n_bytes, &at, &record) > 0)
        play_record (decoder, stream, &record);
      else
        {
          play_damaged (decoder, stream, bytes + at, n_bytes - at);
          return;
        }
    }
}

static void
define_record (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireRecord *record)
{
  const LnsDecoderOps *source = source_of (decoder, (uint8_t)record->type);
  if (record->type == LNS_WIRE_REGISTERED)
    _lns_decoder_register (decoder, process, &record->named);
  else if (source != NULL && source->define != NULL)
    source->define (decoder, process, record);
}

void
lns_decoder_define (LnsDecoder *decoder,
                    const LnsDecoderSource *source,
                    const uint8_t *bytes,
                    size_t n_bytes)
{
  LnsStream *stream = stream_of (decoder, source);
  size_t at = 0;
  while (stream != NULL && at + sizeof (LnsWireHead) <= n_bytes)
    {
      /* Most records are 16 bytes long and define nothing. */
      uint8_t type = bytes[at + offsetof (LnsWireHead, type)];
      if (type < LNS_WIRE_LONG_TYPES)
        {
          at += sizeof (LnsWireHead);
          continue;
        }
      LnsWireRecord record, whole;
      if (lns_wire_record_next (bytes, n_bytes, &at, &record) <= 0)
        return; /* lns_decoder_play () counts it */
      if (record.type == LNS_WIRE_LOST)
        lns_wire_assembler_clear (&stream->definitions);
      if (record.type != LNS_WIRE_PIECE)
        define_record (decoder, stream->process, &record);
      else if (lns_wire_assembler_add (&stream->definitions, &record, &whole) > 0)
        define_record (decoder, stream->process, &whole);
    }
}

/* Whether RECORD is an event of CUDA or MPI: these begin alike. */
static bool
has_correlation (const LnsWireRecord *record)
{
  return (record->type >= LNS_WIRE_CUDA_FIRST &&
          record->type < (LnsWireType)LNS_WIRE_LIBRARY_CALL) ||
         record->type == (LnsWireType)LNS_WIRE_CUDA_HOST_FUNCTION;
}

/* The launches of STREAM, the one of SOURCE, where TAKING has come to; NULL if memory is short. */
static LnsDecodedLaunch **
taking_slots (LnsTaking *taking, const LnsDecoderSource *source, const LnsStream *stream)
{
  const uint64_t key = (uint64_t)source->process << 32 | source->stream;
  LnsDecodedLaunch **slots = lns_id_map_get (&taking->slots, key);
  if (slots != NULL || (slots = calloc (1, LNS_CUDA_SLOTS_BYTES)) == NULL)
    return slots;
  if (stream->state[LNS_SOURCE_CUDA] != NULL)
    memcpy (slots, stream->state[LNS_SOURCE_CUDA], LNS_CUDA_SLOTS_BYTES);
  if (lns_id_map_set (&taking->slots, key, slots))
    return slots;
  free (slots);
  return NULL;
}

void
lns_decoder_end_taking (LnsTaking *taking)
{
  void *slots;
  for (size_t at = 0; (slots = lns_id_map_next (&taking->slots, &at)) != NULL;)
    free (slots);
  lns_id_map_clear (&taking->slots);
}

size_t
lns_decoder_take_cuda (LnsDecoder *decoder,
                       LnsTaking *taking,
                       const LnsDecoderSource *source,
                       uint8_t *bytes,
                       size_t n_bytes)
{
  LnsStream *stream = stream_of (decoder, source);
  LnsDecodedLaunch **slots = stream != NULL ? taking_slots (taking, source, stream) : NULL;
  if (slots == NULL)
    return n_bytes;
  /* The records that stay are played later. Their launches stay with them, and the stream's slots must be then as they
   * are now. */
  LnsDecodedLaunch **before = stream->state[LNS_SOURCE_CUDA];
  stream->state[LNS_SOURCE_CUDA] = slots;
  size_t n_kept = 0, next = 0;
  LnsWireRecord record;
  for (size_t at = 0; at < n_bytes; at = next)
    {
      LnsCudaRecord event;
      if (lns_wire_record_next (bytes, n_bytes, &next, &record) <= 0)
        next = n_bytes; /* lns_decoder_play () counts it */
      else if (record.type == LNS_WIRE_LOST)
        memset (slots, 0, LNS_CUDA_SLOTS_BYTES);
      else if (record.type == (LnsWireType)LNS_WIRE_CUDA_LAUNCH ||
               record.type == (LnsWireType)LNS_WIRE_CUDA_LATENCY)
        play_by_source (decoder, stream, &record);
      else if (has_correlation (&record))
        {
          _lns_record_take (&record, &event, sizeof event);
          if (taking->is_wanted (taking->data, &event.head, event.event.correlation))
            {
              play_by_source (decoder, stream, &record);
              continue;
            }
        }
      memmove (bytes + n_kept, bytes + at, next - at);
      n_kept += next - at;
    }
  stream->state[LNS_SOURCE_CUDA] = before;
  return n_kept;
}

uint8_t *
lns_decoder_read_buffer (LnsDecoder *decoder,
                         uint32_t id,
                         const LnsSalvage *salvage,
                         bool is_copy,
                         LnsDecoderSource *ret_source,
                         size_t *ret_n_bytes)
{
  LnsDecodedProcess *process = id < decoder->processes.n ? decoder->processes.items[id] : NULL;
  *ret_n_bytes = 0;
  if (process == NULL || (!process->has_state && !make_state (decoder, process)))
    return NULL;
  *ret_source =
      (LnsDecoderSource){ .process = id, .stream = is_copy ? COPIED_STREAM : SALVAGED_STREAM };
  return _lns_cuda_read_buffer (decoder, process, salvage, is_copy, ret_n_bytes);
}

uint32_t
lns_decoder_last_call (const LnsDecoder *decoder, uint32_t id)
{
  const LnsDecodedProcess *process =
      id < decoder->processes.n ? decoder->processes.items[id] : NULL;
  return process != NULL && process->has_state ? _lns_cuda_process (process)->last_call : 0;
}

void
lns_decoder_note_copied (LnsDecoder *decoder, uint32_t id, uint64_t ticks)
{
  LnsDecodedProcess *process = id < decoder->processes.n ? decoder->processes.items[id] : NULL;
  if (process != NULL && process->has_state)
    _lns_cuda_process (process)->copied_ticks = ticks;
}

/* --- Reports ---------------------------------------------------------------------------------- */

/* The next process from *INOUT_I on that has state of sources; NULL at the end. */
static LnsDecodedProcess *
next_process (const LnsDecoder *decoder, size_t *inout_i)
{
  while (*inout_i < decoder->processes.n)
    {
      LnsDecodedProcess *process = decoder->processes.items[(*inout_i)++];
      if (process->has_state)
        return process;
    }
  return NULL;
}

void
lns_decoder_settle (LnsDecoder *decoder, int64_t drained_ns)
{
  LnsDecodedProcess *process;
  int64_t calls_ns = drained_ns;
  for (size_t i = 0; (process = next_process (decoder, &i)) != NULL;)
    {
      const int64_t settled_ns = _lns_tracks_settle (decoder, process, drained_ns);
      calls_ns = settled_ns < calls_ns ? settled_ns : calls_ns;
      CALL_SOURCES (settle, decoder, process);
    }
  if (decoder->sieve != NULL)
    _lns_sieve_settle (decoder->sieve, drained_ns, calls_ns);
}

uint64_t
lns_decoder_waiting (LnsDecoder *decoder, int64_t *inout_start_ns)
{
  const LnsDecodedProcess *process;
  uint64_t n = 0;
  for (size_t i = 0; (process = next_process (decoder, &i)) != NULL;)
    n += _lns_tracks_waiting (process, inout_start_ns);
  if (decoder->sieve != NULL)
    n += _lns_sieve_waiting (decoder->sieve, inout_start_ns);
  return n;
}

void
lns_decoder_keep_steps (LnsDecoder *decoder, const LnsStepRule *rule)
{
  free (decoder->rule);
  decoder->rule = rule != NULL ? lns_calloc (1, sizeof *rule) : NULL;
  if (rule != NULL)
    *decoder->rule = *rule;
}

void
lns_decoder_keep_around (LnsDecoder *decoder, int64_t time_ns)
{
  if (decoder->sieve != NULL)
    _lns_sieve_keep_around (decoder->sieve, time_ns);
}

const LnsKeptSteps *
lns_decoder_end_steps (LnsDecoder *decoder, int64_t end_ns)
{
  return decoder->sieve != NULL ? _lns_sieve_end (decoder->sieve, end_ns) : NULL;
}

void
lns_decoder_start_report (LnsDecoder *decoder, LnsWriter *writer, int64_t start_ns)
{
  char value[24];
  LnsDecodedProcess *process;
  decoder->writer = writer;
  decoder->report++;
  decoder->report_start_ns = start_ns;
  decoder->report_ticks = UINT64_MAX;
  decoder->is_followed = false;
  if (decoder->report == 1)
    decoder->first_start_ns = start_ns;
  snprintf (value, sizeof value, "%" PRId64, start_ns);
  lns_writer_set_meta (writer, "start_ns", value);
  decoder->counters = (LnsDecoderCounters){ 0 };
  if (decoder->rule != NULL)
    decoder->sieve =
        _lns_sieve_new (decoder->rule, writer, start_ns,
                        decoder->rule->max_bytes > 0 ? decoder->rule->max_bytes
                                                     : lns_memory_limit () / MEMORY_SHARE);
  for (size_t i = 0; i < decoder->processes.n; i++)
    {
      process = decoder->processes.items[i];
      process->n_lost_records = 0;
      _lns_decoder_write_process (decoder, process, true);
    }
  for (size_t i = 0; i < decoder->threads.n; i++)
    _lns_decoder_write_thread (decoder, decoder->threads.items[i], true);
  CALL_SOURCES (begin_report, decoder);
  for (size_t i = 0; (process = next_process (decoder, &i)) != NULL;)
    CALL_SOURCES (begin_process, decoder, process);
}

void
lns_decoder_follow_late (LnsDecoder *decoder)
{
  decoder->is_followed = true;
}

void
lns_decoder_write_held (LnsDecoder *decoder)
{
  LnsDecodedProcess *process;
  for (size_t i = 0; (process = next_process (decoder, &i)) != NULL;)
    write_held (decoder, process);
}

void
lns_decoder_stop_report (LnsDecoder *decoder, int64_t end_ns)
{
  LnsDecodedProcess *process;
  lns_decoder_write_held (decoder);
  lns_decoder_end_steps (decoder, end_ns);
  for (size_t i = 0; (process = next_process (decoder, &i)) != NULL;)
    CALL_SOURCES (stop_process, decoder, process, end_ns);
  decoder->ended_ns = decoder->is_followed ? end_ns : INT64_MIN;
  decoder->is_followed = false;
  decoder->report_end_ns = end_ns;
  CALL_SOURCES (stop_report, decoder);
  _lns_sieve_free (decoder->sieve);
  decoder->sieve = NULL;
  decoder->writer = NULL;
}

void
lns_decoder_show_open (LnsDecoder *decoder)
{
  LnsDecodedProcess *process;
  if (decoder->writer == NULL)
    return;
  CALL_SOURCES (show_session, decoder);
  for (size_t i = 0; (process = next_process (decoder, &i)) != NULL;)
    CALL_SOURCES (show_process, decoder, process);
  if (decoder->sieve != NULL)
    _lns_sieve_tell (decoder->sieve);
}

void
lns_decoder_diagnose (
    LnsDecoder *decoder, const char *code, LnsSeverity severity, uint32_t process, const char *text)
{
  if (decoder->writer == NULL)
    return;
  LnsDiagnostic diagnostic = {
    .code = _lns_decoder_text (decoder, code),
    .severity = severity,
    .time_ns = LNS_TIME_UNKNOWN,
    .process = process,
    .text = _lns_decoder_text (decoder, text),
  };
  lns_writer_add_diagnostic (decoder->writer, &diagnostic);
}
