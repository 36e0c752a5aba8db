/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/core/decoder-private.h"
#include "capture/session/decode/core/record-count.h"

#include <stdlib.h>
#include <string.h>

bool
_lns_pointers_add (LnsPointers *pointers, void *item)
{
  if (pointers->n == pointers->n_allocated)
    {
      size_t n = pointers->n_allocated == 0 ? 16 : pointers->n_allocated * 2;
      void **items = realloc (pointers->items, n * sizeof *items);
      if (items == NULL)
        return false;
      pointers->items = items;
      pointers->n_allocated = n;
    }
  pointers->items[pointers->n++] = item;
  return true;
}

LnsDecoder *
lns_decoder_new (const LnsWireClockPair *first)
{
  LnsDecoder *decoder = calloc (1, sizeof *decoder);
  if (decoder == NULL)
    return NULL;
  lns_clock_line_init (&decoder->clock, first);
  decoder->ended_ns = INT64_MIN;
  for (int kind = 1; kind < LNS_N_LANE_KINDS; kind++)
    for (int column = 1; column < LNS_N_COLUMNS; column++)
      {
        int at = lns_lane_kind_extra ((LnsLaneKind)kind, (LnsColumnId)column);
        decoder->extra[kind][column] = at < 0 ? 0 : (uint8_t)at;
      }
  return decoder;
}

void
lns_decoder_set_filter (LnsDecoder *decoder, const LnsDomainFilter *filter)
{
  decoder->filter = *filter;
}

void
lns_decoder_free (LnsDecoder *decoder)
{
  if (decoder == NULL)
    return;
  decoder->writer = NULL;
  for (uint32_t i = 0; i < decoder->processes.n; i++)
    lns_decoder_end_process (decoder, i, lns_decoder_now_ns (decoder), NULL);
  _lns_decoder_free_definitions (decoder);
  _lns_mpi_stop_report (decoder);
  free (decoder->changed.items);
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

int64_t
lns_decoder_now_ns (const LnsDecoder *decoder)
{
  return lns_clock_line_last_ns (&decoder->clock);
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

bool
lns_decoder_has_python (const LnsDecoder *decoder)
{
  return decoder->has_python;
}

const LnsUnrecorded *
lns_decoder_unrecorded (const LnsDecoder *decoder, size_t index)
{
  return index < decoder->unrecorded.n ? decoder->unrecorded.items[index] : NULL;
}

/* --- Events ----------------------------------------------------------------------------------- */

uint32_t
_lns_decoder_string (LnsDecoder *decoder, LnsName *name)
{
  if (name == NULL)
    return 0;
  if (name->report != decoder->report)
    {
      name->id = lns_writer_string (decoder->writer, name->bytes, name->n_bytes);
      name->report = decoder->report;
    }
  return name->id;
}

bool
_lns_decoder_event (LnsDecoder *decoder,
                    LnsLaneKind kind,
                    const LnsEventDetail *detail,
                    int64_t start_ns,
                    int64_t end_ns,
                    LnsEvent *ret_event)
{
  const uint8_t *extra = decoder->extra[kind];
  if (end_ns < decoder->report_start_ns)
    return false;
  uint32_t flags = detail->flags;
  if (start_ns < decoder->report_start_ns)
    {
      start_ns = decoder->report_start_ns;
      flags |= LNS_EVENT_OPEN_START;
    }
  uint64_t payload = detail->payload;
  if (detail->typed != NULL)
    {
      LnsName *typed = detail->typed;
      if (typed->report != decoder->report)
        {
          typed->id = lns_writer_bytes (decoder->writer, typed->bytes, typed->n_bytes);
          typed->report = decoder->report;
        }
      payload = typed->id;
    }
  *ret_event = (LnsEvent){
    .start_ns = start_ns,
    .duration_ns = end_ns > start_ns ? end_ns - start_ns : 0,
    .name = _lns_decoder_string (decoder, detail->name),
    .flags = flags,
  };
  ret_event->extra[extra[LNS_COLUMN_COLOR]] = detail->color;
  ret_event->extra[extra[LNS_COLUMN_CATEGORY]] = detail->category;
  ret_event->extra[extra[LNS_COLUMN_PAYLOAD_TYPE]] = detail->payload_type;
  ret_event->extra[extra[LNS_COLUMN_PAYLOAD]] = payload;
  return true;
}

void
_lns_decoder_lane (
    LnsDecoder *decoder, LnsReportRef *ref, uint32_t track, uint32_t ordinal, LnsLaneKind kind)
{
  LnsLane lane = { .track = track, .ordinal = ordinal, .kind = kind };
  if (ref->report != decoder->report)
    *ref = (LnsReportRef){ decoder->report, lns_writer_add_lane (decoder->writer, &lane) };
}

/* The bytes of a typed payload as FORMAT.md has them: for each blob its schema id, its size and its
 * data. NULL if memory is short. */
static LnsName *
typed_payload (LnsWireList blobs)
{
  LnsWireBlob blob;
  LnsWireList walk = blobs;
  size_t n_bytes = 0;
  while (lns_wire_blob_next (&walk, &blob))
    n_bytes += 12 + blob.data.n_bytes;
  uint8_t *bytes = malloc (n_bytes > 0 ? n_bytes : 1);
  if (bytes == NULL || n_bytes > UINT32_MAX)
    {
      free (bytes);
      return NULL;
    }
  size_t at = 0;
  while (lns_wire_blob_next (&blobs, &blob))
    {
      memcpy (bytes + at, &blob.schema, 8);
      memcpy (bytes + at + 8, &blob.data.n_bytes, 4);
      if (blob.data.n_bytes > 0)
        memcpy (bytes + at + 12, blob.data.bytes, blob.data.n_bytes);
      at += 12 + blob.data.n_bytes;
    }
  LnsName *typed = lns_name_new (bytes, (uint32_t)n_bytes);
  free (bytes);
  return typed;
}

/* What STRING is called in STREAM; NULL where nobody said so. Held by the tables. */
static LnsName *
find_name (const LnsStream *stream, uint32_t string)
{
  if (string & LNS_WIRE_STRING_REGISTERED)
    return lns_id_map_get (&stream->process->registered, string);
  return string < stream->n_names ? stream->names[string] : NULL;
}

void
_lns_decoder_detail (LnsDecoder *decoder,
                     LnsStream *stream,
                     const LnsWireEvent *event,
                     LnsEventDetail *ret_detail)
{
  *ret_detail = (LnsEventDetail){
    .name = lns_name_ref (find_name (stream, event->string)),
    .payload = event->payload,
    .color = event->color_type == 1 ? event->color : 0,
    .category = event->category,
    .flags = event->string & LNS_WIRE_STRING_REGISTERED ? LNS_EVENT_REGISTERED : 0,
    /* nvtxPayloadType_t counts as LnsPayloadType does. */
    .payload_type = event->payload_type <= LNS_PAYLOAD_FLOAT ? event->payload_type : 0,
  };
  if (event->blobs.n_left > 0 && (ret_detail->typed = typed_payload (event->blobs)) != NULL)
    ret_detail->payload_type = LNS_PAYLOAD_TYPED;
  if (stream->lost_before)
    ret_detail->flags |= LNS_EVENT_LOST_BEFORE;
  stream->lost_before = false;
}

void
_lns_event_detail_clear (LnsEventDetail *detail)
{
  lns_name_unref (detail->name);
  lns_name_unref (detail->typed);
  *detail = (LnsEventDetail){ 0 };
}

/* --- Streams ---------------------------------------------------------------------------------- */

LnsStream *
_lns_decoder_find_stream (LnsDecoder *decoder, const LnsDecoderSource *source)
{
  if (source->process >= decoder->processes.n)
    return NULL;
  LnsDecodedProcess *process = decoder->processes.items[source->process];
  LnsStream *stream = lns_id_map_get (&process->streams, source->stream);
  if (stream != NULL)
    return stream;
  stream = calloc (1, sizeof *stream);
  if (stream == NULL || !lns_id_map_set (&process->streams, source->stream, stream))
    {
      free (stream);
      decoder->counters.n_refused++;
      return NULL;
    }
  stream->process = process;
  return stream;
}

static void
forget_names (LnsStream *stream)
{
  for (uint32_t i = 0; i < stream->n_names; i++)
    lns_name_unref (stream->names[i]);
  free (stream->names);
  stream->names = NULL;
  stream->n_names = 0;
}

void
_lns_stream_free (LnsStream *stream)
{
  forget_names (stream);
  free (stream->launches);
  lns_wire_assembler_clear (&stream->events);
  lns_wire_assembler_clear (&stream->definitions);
  free (stream);
}

static void
set_stream_name (LnsDecoder *decoder, LnsStream *stream, const LnsWireNamed *named)
{
  if (named->id == 0 || named->id >= LNS_WIRE_STREAM_STRINGS)
    return;
  if (named->id >= stream->n_names)
    {
      uint32_t n = stream->n_names < 16 ? 16 : stream->n_names;
      while (n <= named->id)
        n *= 2;
      LnsName **names = realloc (stream->names, n * sizeof *names);
      if (names == NULL)
        {
          decoder->counters.n_refused++;
          return;
        }
      memset (names + stream->n_names, 0, (n - stream->n_names) * sizeof *names);
      stream->names = names;
      stream->n_names = n;
    }
  lns_name_unref (stream->names[named->id]);
  stream->names[named->id] = lns_name_new (named->text.bytes, named->text.n_bytes);
}

/* The thread that writes STREAM: where its THREAD record is lost, one of which only the tid is
 * known. */
static bool
know_thread (LnsDecoder *decoder, LnsStream *stream, const LnsDecoderSource *source, uint64_t ticks)
{
  if (stream->thread != NULL)
    return true;
  LnsWireThread unknown = { .tid = source->tid, .serial = UINT64_MAX - source->stream };
  stream->thread = _lns_decoder_thread (decoder, stream->process, &unknown, ticks);
  stream->stack = NULL;
  return stream->thread != NULL;
}

static void
end_thread (LnsDecoder *decoder, LnsStream *stream, int64_t end_ns)
{
  LnsDecodedThread *thread = stream->thread;
  for (size_t i = 0; i < thread->stacks.n_places; i++)
    if (thread->stacks.entries[i].value != NULL)
      {
        _lns_stack_end (decoder, thread->stacks.entries[i].value, end_ns);
        _lns_stack_free (decoder, thread->stacks.entries[i].value);
      }
  lns_id_map_clear (&thread->stacks);
  thread->end_ns = end_ns;
  if (decoder->writer != NULL)
    _lns_decoder_write_thread (decoder, thread, false);
  stream->thread = NULL;
  stream->stack = NULL;
}

/* --- Records ---------------------------------------------------------------------------------- */

/* Records of STREAM are missing: what follows must not be taken for what belongs to those before. */
static void
break_stream (LnsStream *stream)
{
  forget_names (stream);
  free (stream->launches);
  stream->launches = NULL;
  lns_wire_assembler_clear (&stream->events);
  stream->lost_before = true;
}

static void
play_lost (LnsDecoder *decoder, LnsStream *stream, const LnsWireLost *lost)
{
  break_stream (stream);
  const uint64_t *events = lost->losses.events;
  for (int i = 0; i < LNS_WIRE_LOSS_KINDS; i++)
    stream->process->told.events[i] += events[i];
  stream->process->told.n_bytes += lost->losses.n_bytes;
  decoder->n_told += lns_decoder_lost_events (&lost->losses);
  if (decoder->writer == NULL)
    return;
  stream->process->n_lost_records += events[LNS_WIRE_LOSS_SAMPLE] + events[LNS_WIRE_LOSS_OTHER];
  LnsLoss loss = {
    .process = stream->process->id,
    .thread = stream->thread != NULL ? stream->thread->id : LNS_ID_NONE,
    .first_ns = lns_clock_line_ns (&decoder->clock, lost->first_ticks),
    .last_ns = lns_clock_line_ns (&decoder->clock, lost->last_ticks),
    .pushes = events[LNS_WIRE_LOSS_PUSH],
    .pops = events[LNS_WIRE_LOSS_POP],
    .marks = events[LNS_WIRE_LOSS_MARK],
    .starts = events[LNS_WIRE_LOSS_START],
    .ends = events[LNS_WIRE_LOSS_END],
    .others = events[LNS_WIRE_LOSS_SAMPLE] + events[LNS_WIRE_LOSS_OTHER],
    .bytes = lost->losses.n_bytes,
  };
  lns_writer_add_loss (decoder->writer, &loss);
}

/* PUSH, POP and MARK. */
static void
play_event (LnsDecoder *decoder,
            LnsStream *stream,
            LnsWireType type,
            uint64_t ticks,
            uint32_t domain,
            const LnsWireEvent *event)
{
  int64_t time_ns = lns_clock_line_ns (&decoder->clock, ticks);
  LnsRangeStack *stack = _lns_decoder_stack (decoder, stream, domain);
  if (stack == NULL)
    return;
  if (type == LNS_WIRE_POP)
    {
      _lns_stack_pop (decoder, stack, event->depth, time_ns);
      return;
    }
  LnsEventDetail detail;
  _lns_decoder_detail (decoder, stream, event, &detail);
  if (type == LNS_WIRE_PUSH)
    _lns_stack_push (decoder, stack, event->depth, time_ns, &detail);
  else
    _lns_stack_mark (decoder, stack, time_ns, &detail);
  _lns_event_detail_clear (&detail);
}

static void
play_start_end (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record)
{
  LnsStartEnd start_end = {
    .time_ns = lns_clock_line_ns (&decoder->clock, record->ticks),
    .is_end = record->type == LNS_WIRE_END,
    .range = record->event.range,
    .thread = stream->thread,
  };
  if (!start_end.is_end)
    {
      start_end.domain = _lns_decoder_domain (decoder, stream->process, record->domain);
      if (start_end.domain == NULL)
        return;
      _lns_decoder_detail (decoder, stream, &record->event, &start_end.detail);
    }
  _lns_decoder_add_start_end (decoder, stream->process, &start_end);
}

/* What a thread did. */
static void
play_deed (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record)
{
  switch (record->type)
    {
    case LNS_WIRE_PUSH:
    case LNS_WIRE_POP:
    case LNS_WIRE_MARK:
      play_event (decoder, stream, record->type, record->ticks, record->domain, &record->event);
      break;
    case LNS_WIRE_POP_EMPTY:
      decoder->counters.n_orphan_pops++;
      break;
    case LNS_WIRE_START:
    case LNS_WIRE_END:
      play_start_end (decoder, stream, record);
      break;
    case LNS_WIRE_THREAD_END:
      end_thread (decoder, stream, lns_clock_line_ns (&decoder->clock, record->ticks));
      break;
    case LNS_WIRE_SAMPLE:
      _lns_decoder_sample (decoder, stream, record);
      break;
    case LNS_WIRE_SAMPLE_BATCH:
      _lns_decoder_sample_batch (decoder, stream, record);
      break;
    case LNS_WIRE_DEFERRED:
      _lns_decoder_deferred (decoder, stream, record);
      break;
    default:
      break;
    }
}

static void
play_record (LnsDecoder *decoder,
             LnsStream *stream,
             const LnsDecoderSource *source,
             const LnsWireRecord *record)
{
  LnsWireRecord whole;
  switch (record->type)
    {
    case LNS_WIRE_THREAD:
      stream->thread =
          _lns_decoder_thread (decoder, stream->process, &record->thread, record->ticks);
      stream->stack = NULL;
      break;
    case LNS_WIRE_LOST:
      play_lost (decoder, stream, &record->lost);
      break;
    case LNS_WIRE_STRING:
      set_stream_name (decoder, stream, &record->named);
      break;
    case LNS_WIRE_PIECE:
      if (lns_wire_assembler_add (&stream->events, record, &whole) > 0)
        play_record (decoder, stream, source, &whole);
      break;
    default:
      /* Definitions are known by now; what is not is of a later version. */
      if (record->type >= LNS_WIRE_CUDA_FIRST && record->type <= LNS_WIRE_CUDA_LAST)
        _lns_decoder_cuda (decoder, stream, record);
      else if (record->type <= LNS_WIRE_DEFERRED &&
               know_thread (decoder, stream, source, record->ticks))
        play_deed (decoder, stream, record);
    }
}

/* Plays the record of 16 bytes at BYTES without the detour of lns_wire_record_decode (), which costs
 * more than all else: nearly every record is one. False if it is not PUSH, POP or MARK. */
static bool
play_short (LnsDecoder *decoder,
            LnsStream *stream,
            const LnsDecoderSource *source,
            const uint8_t *bytes)
{
  LnsWireHead head;
  memcpy (&head, bytes, sizeof head);
  if ((head.type != LNS_WIRE_PUSH && head.type != LNS_WIRE_POP && head.type != LNS_WIRE_MARK) ||
      head.depth == LNS_WIRE_DEPTH_LONG)
    return false;
  LnsWireEvent event = { .depth = head.depth, .string = head.string };
  if (know_thread (decoder, stream, source, head.ticks))
    play_event (decoder, stream, head.type, head.ticks, head.domain, &event);
  return true;
}

/* Counts what is lost of N_BYTES at BYTES, which begin with a record that the program has overwritten. */
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
  LnsStream *stream = _lns_decoder_find_stream (decoder, source);
  size_t at = 0;
  while (stream != NULL && at < n_bytes)
    {
      LnsWireRecord record;
      if (n_bytes - at >= sizeof (LnsWireHead) && play_short (decoder, stream, source, bytes + at))
        at += sizeof (LnsWireHead);
      else if (lns_wire_record_next (bytes, n_bytes, &at, &record) > 0)
        play_record (decoder, stream, source, &record);
      else
        {
          play_damaged (decoder, stream, bytes + at, n_bytes - at);
          return;
        }
    }
}

void
lns_decoder_define (LnsDecoder *decoder,
                    const LnsDecoderSource *source,
                    const uint8_t *bytes,
                    size_t n_bytes)
{
  LnsStream *stream = _lns_decoder_find_stream (decoder, source);
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
        _lns_decoder_definition (decoder, stream->process, &record);
      else if (lns_wire_assembler_add (&stream->definitions, &record, &whole) > 0)
        _lns_decoder_definition (decoder, stream->process, &whole);
    }
}

void
lns_decoder_settle (LnsDecoder *decoder)
{
  for (size_t i = 0; i < decoder->processes.n; i++)
    {
      _lns_process_settle (decoder, decoder->processes.items[i]);
      _lns_cuda_settle (decoder, decoder->processes.items[i]);
    }
}
