/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Strings and definitions: gathered as records, cut into chunks when there are enough or a commit
 * comes. */

#include "src/store/write/writer-private.h"

#include <stdlib.h>
#include <string.h>

static LnsChunkHeader
header_of (const LnsWriter *writer, LnsChunkKind kind, uint32_t sequence)
{
  LnsChunkHeader header = { .kind = kind, .sequence = sequence, .revision = writer->n_commits + 1 };
  memcpy (header.uuid, writer->uuid, sizeof header.uuid);
  return header;
}

/* Queues the waiting strings as one chunk; TOTAL_BYTES as in lns_strings_build (). */
static void
queue_strings (LnsWriter *writer, uint64_t total_bytes)
{
  if (writer->n_waiting_strings == 0)
    return;
  LnsChunkHeader header = header_of (writer, LNS_CHUNK_STRINGS, writer->string_sequence++);
  LnsBuffer blob = { 0 };
  header.lane = writer->first_waiting_string;
  writer->failed |= writer->waiting_strings.failed;
  lns_strings_build (&blob, header, writer->first_waiting_string, writer->n_waiting_strings,
                     writer->waiting_lengths, writer->waiting_strings.bytes,
                     writer->waiting_strings.size_bytes, total_bytes);
  _lns_writer_queue (writer, &header, 0, &blob);
  lns_buffer_clear (&blob);
  lns_buffer_reset (&writer->waiting_strings);
  writer->n_waiting_strings = 0;
}

static void
queue_definitions (LnsWriter *writer)
{
  if (writer->n_waiting_definitions == 0)
    return;
  LnsChunkHeader header = header_of (writer, LNS_CHUNK_DEFINITIONS, writer->definition_sequence++);
  header.n = writer->n_waiting_definitions;
  LnsBuffer *records = &writer->waiting_definitions, blob = { 0 };
  const LnsChunkColumn column = { LNS_DEFINITION_COLUMN_RECORDS, LNS_ENCODING_BYTES, records->bytes,
                                  records->size_bytes };
  writer->failed |= records->failed;
  lns_chunk_build (&blob, &header, &column, 1);
  _lns_writer_queue (writer, &header, 0, &blob);
  lns_buffer_clear (&blob);
  lns_buffer_reset (records);
  writer->n_waiting_definitions = 0;
}

void
_lns_writer_queue_definitions (LnsWriter *writer)
{
  queue_strings (writer, 0);
  queue_definitions (writer);
}

/* Adds one string, or piece, behind the waiting ones. */
static void
add_waiting (LnsWriter *writer, const uint8_t *bytes, size_t size_bytes)
{
  if (writer->n_waiting_strings == LNS_STRING_CHUNK_MAX ||
      writer->waiting_strings.size_bytes + size_bytes > LNS_STRING_PIECE_BYTES)
    queue_strings (writer, 0);
  if (writer->n_waiting_strings == 0)
    writer->first_waiting_string = writer->n_strings;
  lns_buffer_append (&writer->waiting_strings, bytes, size_bytes);
  lns_buffer_append_int (&writer->waiting_strings, 0, 1);
  writer->waiting_lengths[writer->n_waiting_strings++] = size_bytes;
  writer->n_strings++;
}

/* Gives the bytes an id of their own: as many ids as there are pieces. */
static void
add_string (LnsWriter *writer, const uint8_t *bytes, size_t size_bytes)
{
  if (size_bytes <= LNS_STRING_PIECE_BYTES)
    {
      add_waiting (writer, bytes, size_bytes);
      return;
    }
  queue_strings (writer, 0);
  for (size_t at = 0; at < size_bytes; at += LNS_STRING_PIECE_BYTES)
    {
      size_t left = size_bytes - at;
      add_waiting (writer, bytes + at,
                   left < LNS_STRING_PIECE_BYTES ? left : LNS_STRING_PIECE_BYTES);
      queue_strings (writer, at == 0 ? size_bytes : 0);
    }
}

uint32_t
lns_writer_string (LnsWriter *writer, const void *bytes, size_t size_bytes)
{
  if (size_bytes == 0)
    return 0;
  uint32_t new_id = writer->n_strings;
  uint32_t id = lns_string_table_intern (writer->string_table, bytes, size_bytes, new_id);
  if (id == new_id)
    add_string (writer, bytes, size_bytes);
  return id;
}

uint32_t
lns_writer_bytes (LnsWriter *writer, const void *bytes, size_t size_bytes)
{
  if (size_bytes == 0)
    return 0;
  uint32_t id = writer->n_strings;
  add_string (writer, bytes, size_bytes);
  return id;
}

uint32_t
lns_writer_n_strings (const LnsWriter *writer)
{
  return writer->n_strings;
}

static void
put_record (LnsWriter *writer, LnsDefinitionKind kind, uint32_t id, const void *definition)
{
  lns_definition_encode (&writer->waiting_definitions, kind, id, definition);
  writer->n_waiting_definitions++;
  if (writer->waiting_definitions.size_bytes > LNS_STRING_PIECE_BYTES)
    queue_definitions (writer);
}

uint32_t
_lns_writer_define (LnsWriter *writer, LnsDefinitionKind kind, const void *definition)
{
  uint32_t id = writer->n_defined[kind]++;
  put_record (writer, kind, id, definition);
  return id;
}

static void
redefine (LnsWriter *writer, LnsDefinitionKind kind, uint32_t id, const void *definition)
{
  if (id < writer->n_defined[kind])
    put_record (writer, kind, id, definition);
}

/* Room for one more of N elements of SIZE_BYTES in *ARRAY. */
static bool
make_room (void **array, uint32_t n, uint32_t *n_allocated, size_t size_bytes)
{
  if (n < *n_allocated)
    return true;
  uint32_t grown = *n_allocated == 0 ? 64 : *n_allocated * 2;
  void *bytes = realloc (*array, grown * size_bytes);
  if (bytes == NULL)
    return false;
  *array = bytes;
  *n_allocated = grown;
  return true;
}

uint32_t
lns_writer_add_track (LnsWriter *writer, const LnsTrack *track)
{
  if (!make_room ((void **)&writer->tracks, writer->n_defined[LNS_DEFINITION_TRACK],
                  &writer->n_tracks_allocated, sizeof *writer->tracks))
    {
      writer->failed = true;
      return LNS_ID_NONE;
    }
  uint32_t id = _lns_writer_define (writer, LNS_DEFINITION_TRACK, track);
  writer->tracks[id] = *track;
  return id;
}

uint32_t
lns_writer_add_lane (LnsWriter *writer, const LnsLane *lane)
{
  uint32_t id = writer->n_defined[LNS_DEFINITION_LANE];
  if (!make_room ((void **)&writer->lanes, id, &writer->n_lanes_allocated, sizeof *writer->lanes) ||
      !_lns_writer_lane_init (writer, id, lane))
    {
      writer->failed = true;
      return LNS_ID_NONE;
    }
  return _lns_writer_define (writer, LNS_DEFINITION_LANE, lane);
}

uint32_t
lns_writer_add_loss (LnsWriter *writer, const LnsLoss *loss)
{
  writer->n_lost += lns_loss_events (loss);
  return _lns_writer_define (writer, LNS_DEFINITION_LOSS, loss);
}

/* lns_writer_add_NAME (). */
#define ADD(Type, name, kind)                                                                      \
 uint32_t lns_writer_add_##name (LnsWriter *writer, const Type *name)                              \
 {                                                                                                 \
  return _lns_writer_define (writer, kind, name);                                                  \
 }

/* lns_writer_set_NAME (). */
#define SET(Type, name, kind)                                                                      \
 void lns_writer_set_##name (LnsWriter *writer, uint32_t id, const Type *name)                     \
 {                                                                                                 \
  redefine (writer, kind, id, name);                                                               \
 }

ADD (LnsProcess, process, LNS_DEFINITION_PROCESS)
ADD (LnsThread, thread, LNS_DEFINITION_THREAD)
ADD (LnsDomain, domain, LNS_DEFINITION_DOMAIN)
ADD (LnsCategory, category, LNS_DEFINITION_CATEGORY)
ADD (LnsResource, resource, LNS_DEFINITION_RESOURCE)
ADD (LnsSchema, schema, LNS_DEFINITION_SCHEMA)
ADD (LnsSchemaEntry, schema_entry, LNS_DEFINITION_SCHEMA_ENTRY)
ADD (LnsDiagnostic, diagnostic, LNS_DEFINITION_DIAGNOSTIC)
ADD (LnsCudaDevice, device, LNS_DEFINITION_DEVICE)
ADD (LnsCudaContext, context, LNS_DEFINITION_CONTEXT)
ADD (LnsCudaStream, stream, LNS_DEFINITION_STREAM)
ADD (LnsCudaLaunch, launch, LNS_DEFINITION_LAUNCH)
ADD (LnsKeptTable, kept_table, LNS_DEFINITION_KEPT_TABLE)
ADD (LnsKeptRows, kept_rows, LNS_DEFINITION_KEPT_ROWS)

SET (LnsProcess, process, LNS_DEFINITION_PROCESS)
SET (LnsThread, thread, LNS_DEFINITION_THREAD)
SET (LnsDomain, domain, LNS_DEFINITION_DOMAIN)
SET (LnsCategory, category, LNS_DEFINITION_CATEGORY)
SET (LnsResource, resource, LNS_DEFINITION_RESOURCE)
SET (LnsCudaDevice, device, LNS_DEFINITION_DEVICE)
SET (LnsCudaContext, context, LNS_DEFINITION_CONTEXT)
SET (LnsCudaStream, stream, LNS_DEFINITION_STREAM)
