/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Counters. A counter is a track. If its samples are structures, each number in them has a track of its own,
 * "counter.entry". */

#include "capture/session/decode/nvtx/counters.h"
#include "capture/session/decode/nvtx/fields.h"

#include <stdlib.h>
#include <string.h>

/* One number of a counter. */
typedef struct
{
  LnsName *name, *unit;
  const LnsNumberType *type;
  uint64_t offset_bytes;
  LnsReportRef track, lane;
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
  if (lns_id_map_get (&domain->counters, record->id) != NULL)
    return;
  const LnsDecodedSchema *schema = lns_id_map_get (&domain->schemas, record->schema);
  uint32_t n_entries = schema != NULL ? schema->n_entries : 1;
  LnsDecodedCounter *counter =
      calloc (1, sizeof *counter + (size_t)n_entries * sizeof *counter->numbers);
  if (!_lns_decoder_keep (decoder, NULL, &domain->counters, record->id, counter))
    return;
  counter->domain = domain;
  counter->id = record->id;
  counter->time_domain = record->semantics.time_domain;
  counter->sample_bytes = schema != NULL ? schema->size_bytes : 0;
  for (uint32_t i = 0; i < n_entries; i++)
    {
      const LnsDecodedEntry *entry = schema != NULL ? &schema->entries[i] : NULL;
      const LnsNumberType *type =
          _lns_nvtx_number_type (entry != NULL ? entry->type : record->schema);
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
  if (number->track.report != decoder->report)
    {
      LnsTrack track = {
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
      number->track =
          (LnsReportRef){ decoder->report, lns_writer_add_track (decoder->writer, &track) };
    }
  _lns_decoder_lane (decoder, &number->lane, number->track.id, 0, LNS_LANE_COUNTER);
  LnsEvent event = { .start_ns = time_ns };
  event.extra[decoder->extra[LNS_LANE_COUNTER][LNS_COLUMN_VALUE]] = bits;
  event.extra[decoder->extra[LNS_LANE_COUNTER][LNS_COLUMN_THREAD]] = thread->id;
  lns_writer_append (decoder->writer, number->lane.id, &event);
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
                    _lns_nvtx_read_number (number->type, data.bytes + number->offset_bytes),
                    time_ns);
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
  LnsDecodedCounter *counter = find_counter (decoder, stream, record, sample->counter);
  if (counter == NULL || counter->n_numbers == 0)
    return;
  int64_t time_ns = lns_clock_line_ns (&decoder->clock, record->ticks);
  uint64_t bits = 0;
  switch (sample->kind)
    {
    case LNS_WIRE_SAMPLE_INT64:
      memcpy (&bits, &sample->int64, 8);
      write_sample (decoder, counter, &counter->numbers[0], stream->thread, LNS_PAYLOAD_INT64, bits,
                    time_ns);
      break;
    case LNS_WIRE_SAMPLE_FLOAT64:
      memcpy (&bits, &sample->float64, 8);
      write_sample (decoder, counter, &counter->numbers[0], stream->thread, LNS_PAYLOAD_DOUBLE,
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
  LnsDecodedCounter *counter = find_counter (decoder, stream, record, batch->counter);
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
      if (!timed ||
          !_lns_nvtx_foreign_ns (decoder, counter->domain, counter->time_domain, time, &time_ns))
        time_ns = handed_in_ns - before_ns;
      write_structure (decoder, counter, stream->thread, data, time_ns);
    }
}
