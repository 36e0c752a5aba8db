/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Counters and deferred events: numbers and times in the structures that a program hands over, which are read by its
 * schemas. */

#include "capture/session/decode/nvtx/payloads.h"
#include "capture/session/decode/nvtx/ranges.h"
#include "src/base/monotonic.h"

#include <stdlib.h>
#include <string.h>

/* How a number is stored: NVTX_PAYLOAD_ENTRY_TYPE_… of 64-bit Linux. */
typedef struct
{
  uint8_t n_bytes;     /* 0: not a number */
  LnsPayloadType type; /* how the value is stored */
} NumberType;

/* NVTX_PAYLOAD_ENTRY_TYPE_* of nvToolsExtPayload.h, as far as they are numbers of up to 64 bits on
 * 64-bit Linux. */
static const NumberType number_types[] = {
  [1] = { 1, LNS_PAYLOAD_INT64 },   [2] = { 1, LNS_PAYLOAD_UINT64 },
  [3] = { 2, LNS_PAYLOAD_INT64 },   [4] = { 2, LNS_PAYLOAD_UINT64 },
  [5] = { 4, LNS_PAYLOAD_INT64 },   [6] = { 4, LNS_PAYLOAD_UINT64 },
  [7] = { 8, LNS_PAYLOAD_INT64 },   [8] = { 8, LNS_PAYLOAD_UINT64 },
  [9] = { 8, LNS_PAYLOAD_INT64 },   [10] = { 8, LNS_PAYLOAD_UINT64 },
  [11] = { 1, LNS_PAYLOAD_INT64 },  [12] = { 1, LNS_PAYLOAD_UINT64 },
  [13] = { 2, LNS_PAYLOAD_INT64 },  [14] = { 2, LNS_PAYLOAD_UINT64 },
  [15] = { 4, LNS_PAYLOAD_INT64 },  [16] = { 4, LNS_PAYLOAD_UINT64 },
  [17] = { 8, LNS_PAYLOAD_INT64 },  [18] = { 8, LNS_PAYLOAD_UINT64 },
  [19] = { 4, LNS_PAYLOAD_FLOAT },  [20] = { 8, LNS_PAYLOAD_DOUBLE },
  [22] = { 8, LNS_PAYLOAD_UINT64 }, [23] = { 8, LNS_PAYLOAD_UINT64 },
  [32] = { 1, LNS_PAYLOAD_UINT64 }, [43] = { 4, LNS_PAYLOAD_FLOAT },
  [44] = { 8, LNS_PAYLOAD_DOUBLE },
};

/* The field of TYPE. Never NULL. */
static const NumberType *
number_type (uint64_t type)
{
  return &number_types[type < sizeof number_types / sizeof *number_types ? type : 0];
}

/* Reads the number of TYPE at BYTES. Integers are widened to 64 bits; floats are not. */
static uint64_t
read_number (const NumberType *type, const uint8_t *bytes)
{
  uint64_t bits = 0;
  memcpy (&bits, bytes, type->n_bytes);
  if (type->type == LNS_PAYLOAD_INT64 && type->n_bytes < 8 && bits >> (type->n_bytes * 8 - 1))
    bits |= UINT64_MAX << (type->n_bytes * 8);
  return bits;
}

/* --- Times ------------------------------------------------------------------------------------ */

/* NVTX_TIMESTAMP_TYPE_* of nvToolsExtPayload.h. */
enum
{
  CLOCK_OF_TOOL = 1,
  CLOCK_TSC = 10,
  CLOCK_REAL = 12,
  CLOCK_REAL_COARSE = 13,
  CLOCK_MONO = 14,
  CLOCK_MONO_RAW = 15,
  CLOCK_MONO_COARSE = 16,
  CLOCK_BOOT = 17,
  CLOCK_TIMESPEC_GET = 42,
  CLOCK_CPP_STEADY = 50,
  CLOCK_CPP_HIGH_RESOLUTION = 51, /* of libstdc++: the system clock */
  CLOCK_CPP_SYSTEM = 52,
  FIRST_TIME_DOMAIN = 1 << 24,
};

/* Converts TIME of TIME_DOMAIN, an id of DOMAIN or NVTX_TIMESTAMP_TYPE_…, to report time. Returns false if that clock
 * is unknown. */
static bool
foreign_ns (LnsDecoder *decoder,
            const LnsDecodedDomain *domain,
            uint64_t time_domain,
            int64_t time,
            int64_t *ret_ns)
{
  LnsClockLine *line = &decoder->clock;
  const LnsWireClockPair *last = &line->pairs[line->n - 1];
  if (time_domain >= FIRST_TIME_DOMAIN)
    time_domain = (uintptr_t)lns_id_map_get (&domain->clocks, time_domain);
  switch (time_domain)
    {
    case CLOCK_TSC:
      if (last->ticks == (uint64_t)last->monotonic_ns)
        return false; /* the session's clock is another one */
      *ret_ns = lns_clock_line_ns (line, (uint64_t)time);
      return true;
    case CLOCK_OF_TOOL:
      *ret_ns = lns_clock_line_ns (line, (uint64_t)time);
      return true;
    case CLOCK_MONO:
    case CLOCK_MONO_COARSE:
    case CLOCK_CPP_STEADY:
      break;
    case CLOCK_REAL:
    case CLOCK_REAL_COARSE:
    case CLOCK_TIMESPEC_GET:
    case CLOCK_CPP_HIGH_RESOLUTION:
    case CLOCK_CPP_SYSTEM:
      time = (int64_t)((uint64_t)time - (uint64_t)(last->realtime_ns - last->monotonic_ns));
      break;
    case CLOCK_MONO_RAW:
      time = (int64_t)((uint64_t)time -
                       (uint64_t)(lns_clock_now_ns (CLOCK_MONOTONIC_RAW) - lns_monotonic_ns ()));
      break;
    case CLOCK_BOOT:
      time = (int64_t)((uint64_t)time -
                       (uint64_t)(lns_clock_now_ns (CLOCK_BOOTTIME) - lns_monotonic_ns ()));
      break;
    default:
      return false;
    }
  *ret_ns = (int64_t)((uint64_t)time - (uint64_t)line->t0_ns);
  return *ret_ns <= lns_clock_line_last_ns (line) && *ret_ns > INT64_MIN / 4;
}

/* --- Counters --------------------------------------------------------------------------------- */

/* A counter is a track. If its samples are structures, each number in them has a track of its own, "counter.entry". */

/* One number of a counter. */
typedef struct
{
  LnsName *name, *unit;
  const NumberType *type;
  uint64_t offset_bytes;
  LnsReportRef lane;
} LnsCounterNumber;

typedef struct
{
  LnsDecodedDomain *domain;
  uint64_t id;
  uint64_t sample_bytes; /* of a structure; 0: not known */
  uint64_t time_domain;  /* of batches; 0: not known */
  uint32_t n_numbers;
  LnsCounterNumber numbers[];
} LnsDecodedCounter;

static LnsName *
joined_name (LnsWireText counter, const LnsName *entry)
{
  if (entry == NULL)
    return lns_name_new (counter.bytes, counter.n_bytes);
  LnsName *name = lns_name_alloc (counter.n_bytes + 1 + entry->n_bytes);
  if (name == NULL)
    return NULL;
  if (counter.n_bytes > 0)
    memcpy (name->bytes, counter.bytes, counter.n_bytes);
  name->bytes[counter.n_bytes] = '.';
  memcpy (name->bytes + counter.n_bytes + 1, entry->bytes, entry->n_bytes);
  return name;
}

void
_lns_nvtx_counter (LnsDecoder *decoder, LnsDecodedDomain *domain, const LnsWireCounter *record)
{
  if (lns_id_map_get (&domain->counters, record->said.id) != NULL)
    return;
  const LnsDecodedSchema *schema = lns_id_map_get (&domain->schemas, record->said.schema);
  uint32_t n_entries = schema != NULL ? schema->n_entries : 1;
  LnsDecodedCounter *counter =
      calloc (1, sizeof *counter + (size_t)n_entries * sizeof *counter->numbers);
  if (!_lns_decoder_keep (decoder, NULL, &domain->counters, record->said.id, counter))
    return;
  counter->domain = domain;
  counter->id = record->said.id;
  counter->time_domain = record->said.time_domain;
  counter->sample_bytes = schema != NULL ? schema->size_bytes : 0;
  for (uint32_t i = 0; i < n_entries; i++)
    {
      const LnsDecodedEntry *entry = schema != NULL ? &schema->entries[i] : NULL;
      const NumberType *type = number_type (entry != NULL ? entry->type : record->said.schema);
      if (entry != NULL && type->n_bytes == 0)
        continue;
      counter->numbers[counter->n_numbers++] = (LnsCounterNumber){
        .name = joined_name (record->name, entry != NULL ? entry->name : NULL),
        .unit = entry != NULL && entry->unit != NULL
                    ? lns_name_ref (entry->unit)
                    : lns_name_new (record->unit.bytes, record->unit.n_bytes),
        .type = type,
        .offset_bytes = entry != NULL ? entry->offset_bytes : 0,
      };
      if (counter->sample_bytes == 0)
        counter->sample_bytes = type->n_bytes;
    }
}

void
_lns_nvtx_free_counters (LnsDecodedDomain *domain)
{
  LnsDecodedCounter *counter;
  for (size_t at = 0; (counter = lns_id_map_next (&domain->counters, &at)) != NULL;)
    {
      for (uint32_t i = 0; i < counter->n_numbers; i++)
        {
          lns_name_unref (counter->numbers[i].name);
          lns_name_unref (counter->numbers[i].unit);
        }
      free (counter);
    }
  lns_id_map_clear (&domain->counters);
}

/* Appends the sample BITS, of TYPE, to NUMBER's lane. */
static void
write_sample (LnsDecoder *decoder,
              const LnsDecodedCounter *counter,
              LnsCounterNumber *number,
              const LnsDecodedThread *thread,
              LnsPayloadType type,
              uint64_t bits,
              int64_t time_ns)
{
  if (decoder->writer == NULL || counter->domain->is_left_out || time_ns < decoder->report_start_ns)
    return;
  if (number->lane.report != decoder->report)
    {
      const LnsTrack track = {
        .device = LNS_ID_NONE,
        .stream = LNS_ID_NONE,
        .kind = LNS_TRACK_COUNTER,
        .process = counter->domain->process->id,
        .thread = LNS_ID_NONE,
        .domain = counter->domain->id,
        .name = _lns_decoder_string (decoder, number->name),
        .value_type = type,
        .unit = _lns_decoder_string (decoder, number->unit),
        .number = counter->id,
      };
      _lns_decoder_lane (decoder, &number->lane, _lns_decoder_add_track (decoder, &track), 0,
                         LNS_LANE_COUNTER);
    }
  LnsEvent event = { .start_ns = time_ns };
  event.extra[decoder->extra[LNS_LANE_COUNTER][LNS_COLUMN_VALUE]] = bits;
  event.extra[decoder->extra[LNS_LANE_COUNTER][LNS_COLUMN_THREAD]] = thread->id;
  _lns_decoder_append (decoder, number->lane.id, &event);
}

static void
write_structure (LnsDecoder *decoder,
                 LnsDecodedCounter *counter,
                 const LnsDecodedThread *thread,
                 LnsWireData data,
                 int64_t time_ns)
{
  for (uint32_t i = 0; i < counter->n_numbers; i++)
    {
      LnsCounterNumber *number = &counter->numbers[i];
      if (number->type->n_bytes == 0 || number->offset_bytes > data.n_bytes ||
          data.n_bytes - number->offset_bytes < number->type->n_bytes)
        continue;
      write_sample (decoder, counter, number, thread, number->type->type,
                    read_number (number->type, data.bytes + number->offset_bytes), time_ns);
    }
}

static LnsDecodedCounter *
find_counter (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record, uint64_t id)
{
  LnsDecodedDomain *domain = _lns_nvtx_domain (decoder, stream->process, record->domain);
  LnsDecodedCounter *counter = domain != NULL ? lns_id_map_get (&domain->counters, id) : NULL;
  decoder->counters.n_orphan_samples += counter == NULL;
  return counter;
}

void
_lns_nvtx_sample (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record)
{
  const LnsWireSample *sample = &record->sample;
  LnsDecodedCounter *counter = find_counter (decoder, stream, record, sample->said.counter);
  if (counter == NULL || counter->n_numbers == 0)
    return;
  int64_t time_ns = lns_clock_line_ns (&decoder->clock, record->ticks);
  uint64_t bits = 0;
  switch ((LnsWireSampleKind)sample->said.kind)
    {
    case LNS_WIRE_SAMPLE_INT64:
    case LNS_WIRE_SAMPLE_FLOAT64:
      memcpy (&bits, sample->data.bytes, sizeof bits);
      write_sample (decoder, counter, &counter->numbers[0], stream->thread,
                    sample->said.kind == LNS_WIRE_SAMPLE_INT64 ? LNS_PAYLOAD_INT64
                                                               : LNS_PAYLOAD_DOUBLE,
                    bits, time_ns);
      break;
    case LNS_WIRE_SAMPLE_DATA:
      write_structure (decoder, counter, stream->thread, sample->data, time_ns);
      break;
    case LNS_WIRE_SAMPLE_NO_VALUE:
      break;
    }
}

void
_lns_nvtx_sample_batch (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record)
{
  const LnsWireBatch *batch = &record->batch;
  LnsDecodedCounter *counter = find_counter (decoder, stream, record, batch->said.counter);
  if (counter == NULL || counter->sample_bytes == 0)
    return;
  uint64_t n = batch->data.n_bytes / counter->sample_bytes;
  bool timed = n > 0 && batch->times.n_bytes / 8 == n;
  int64_t handed_in_ns = lns_clock_line_ns (&decoder->clock, record->ticks), last = 0, time;
  if (timed)
    memcpy (&last, batch->times.bytes + (n - 1) * 8, 8);
  for (uint64_t i = 0; i < n; i++)
    {
      /* With a clock of the program's own, only the distances between samples are known, and that the last one is
       * before the time of the batch. */
      int64_t before_ns = 0, time_ns;
      if (timed)
        {
          memcpy (&time, batch->times.bytes + i * 8, 8);
          if (__builtin_sub_overflow (last, time, &before_ns) || before_ns < 0 ||
              before_ns > handed_in_ns)
            before_ns = 0;
        }
      LnsWireData data = { batch->data.bytes + i * counter->sample_bytes,
                           (uint32_t)counter->sample_bytes };
      if (!timed || !foreign_ns (decoder, counter->domain, counter->time_domain, time, &time_ns))
        time_ns = handed_in_ns - before_ns;
      write_structure (decoder, counter, stream->thread, data, time_ns);
    }
}

/* --- Deferred events -------------------------------------------------------------------------- */

/* Structures that a program hands in at any later time and that hold their own times, by a clock of the program's
 * choice. Ranges go with the start/end ranges of their domain. An event with a single time becomes a range without
 * length there, as the lane of the thread's marks has already gone past it. */

/* Flags of schema entries, from nvToolsExtPayload.h. */
#define ENTRY_MESSAGE(flags)   (((flags) >> 10 & 3) == 1)
#define ENTRY_TIMESTAMP(flags) (((flags) >> 10 & 3) == 2)

/* Marks the ids of deferred ranges; the program's own ranges never have this bit. */
#define DEFERRED_RANGE (UINT64_C (1) << 63)

/* The entry's time in the event at BYTES. */
static bool
time_of (LnsDecoder *decoder,
         const LnsDecodedDomain *domain,
         const LnsDecodedEntry *entry,
         const uint8_t *bytes,
         uint64_t n_bytes,
         int64_t *ret_ns)
{
  int64_t time;
  if (number_type (entry->type)->n_bytes != sizeof time || entry->offset_bytes > n_bytes ||
      n_bytes - entry->offset_bytes < sizeof time)
    return false;
  memcpy (&time, bytes + entry->offset_bytes, sizeof time);
  return foreign_ns (decoder, domain, entry->time_domain, time, ret_ns);
}

/* The name in the event at BYTES, a registered string or characters; NULL if there is none. */
static LnsName *
message_of (const LnsDecodedDomain *domain,
            const LnsDecodedEntry *entry,
            const uint8_t *bytes,
            uint64_t n_bytes)
{
  uint64_t handle;
  if (entry->offset_bytes >= n_bytes)
    return NULL;
  uint64_t left = n_bytes - entry->offset_bytes;
  if (entry->detail > 0)
    {
      uint64_t n = entry->detail < left ? entry->detail : left;
      const char *text = (const char *)bytes + entry->offset_bytes;
      return lns_name_new (text, (uint32_t)strnlen (text, n));
    }
  if (left < sizeof handle)
    return NULL;
  memcpy (&handle, bytes + entry->offset_bytes, sizeof handle);
  return lns_name_ref (lns_id_map_get (&domain->process->registered, handle));
}

/* The event as a typed payload, as FORMAT.md has it. */
static LnsName *
payload_of (uint64_t schema, const uint8_t *bytes, uint32_t n_bytes)
{
  LnsName *typed = lns_name_alloc (12 + n_bytes);
  if (typed == NULL)
    return NULL;
  memcpy (typed->bytes, &schema, 8);
  memcpy (typed->bytes + 8, &n_bytes, 4);
  memcpy (typed->bytes + 12, bytes, n_bytes);
  return typed;
}

static void
add_event (LnsDecoder *decoder,
           LnsStream *stream,
           const LnsDecodedSchema *schema,
           const uint8_t *bytes,
           uint64_t n_bytes)
{
  int64_t times_ns[2];
  unsigned n_times = 0;
  LnsName *name = NULL;
  for (uint32_t i = 0; i < schema->n_entries; i++)
    {
      const LnsDecodedEntry *entry = &schema->entries[i];
      if (ENTRY_TIMESTAMP (entry->flags) && n_times < 2)
        n_times += time_of (decoder, schema->domain, entry, bytes, n_bytes, &times_ns[n_times]);
      else if (ENTRY_MESSAGE (entry->flags) && name == NULL)
        name = message_of (schema->domain, entry, bytes, n_bytes);
    }
  if (n_times == 0)
    {
      decoder->counters.n_untimed++;
      lns_name_unref (name);
      return;
    }
  LnsStartEnd start_end = {
    .time_ns = times_ns[0],
    .range = DEFERRED_RANGE | ++_lns_nvtx_process (stream->process)->n_deferred,
    .thread = stream->thread,
    .domain = schema->domain,
    .detail = { .name = name,
                .typed = payload_of (schema->schema_id, bytes, (uint32_t)n_bytes),
                .payload_type = LNS_PAYLOAD_TYPED },
  };
  _lns_nvtx_add_start_end (decoder, stream->process, &start_end);
  start_end.is_end = true;
  start_end.detail = (LnsEventDetail){ 0 };
  start_end.time_ns = n_times == 2 && times_ns[1] > times_ns[0] ? times_ns[1] : times_ns[0];
  _lns_nvtx_add_start_end (decoder, stream->process, &start_end);
}

void
_lns_nvtx_deferred (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record)
{
  LnsDecodedDomain *domain = _lns_nvtx_domain (decoder, stream->process, record->domain);
  const LnsDecodedSchema *schema =
      domain != NULL ? lns_id_map_get (&domain->schemas, record->batch.said.counter) : NULL;
  uint64_t n_bytes =
      schema != NULL && schema->size_bytes > 0 ? schema->size_bytes : record->batch.data.n_bytes;
  if (schema == NULL || n_bytes == 0)
    {
      decoder->counters.n_untimed++;
      return;
    }
  const uint8_t *bytes = record->batch.data.bytes;
  for (uint64_t left = record->batch.data.n_bytes; left >= n_bytes; left -= n_bytes)
    {
      add_event (decoder, stream, schema, bytes, n_bytes);
      bytes += n_bytes;
    }
}
