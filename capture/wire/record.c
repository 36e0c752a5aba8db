/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/wire/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The rest of a record that is being read. Reading past its end sets `bad` and gives zeros, so that a decoder
 * checks once, at the end. */
typedef struct
{
  const uint8_t *bytes;
  size_t n_bytes;
  bool bad;
} Reader;

static void
take (Reader *reader, void *ret_value, size_t n_bytes)
{
  if (reader->bad || reader->n_bytes < n_bytes)
    {
      reader->bad = true;
      memset (ret_value, 0, n_bytes);
      return;
    }
  memcpy (ret_value, reader->bytes, n_bytes);
  reader->bytes += n_bytes;
  reader->n_bytes -= n_bytes;
}

static uint64_t
take_u64 (Reader *reader)
{
  uint64_t value;
  take (reader, &value, sizeof value);
  return value;
}

static uint32_t
take_u32 (Reader *reader)
{
  uint32_t value;
  take (reader, &value, sizeof value);
  return value;
}

/* Takes N_BYTES of data and the zeros that pad them to a multiple of 8. The last padding of a record may be
 * shorter. */
static LnsWireData
take_data (Reader *reader, uint64_t n_bytes)
{
  if (reader->bad || reader->n_bytes < n_bytes)
    {
      reader->bad = true;
      return (LnsWireData){ 0 };
    }
  LnsWireData data = { reader->bytes, (uint32_t)n_bytes };
  uint64_t padded = (n_bytes + 7) & ~UINT64_C (7);
  if (padded > reader->n_bytes)
    padded = reader->n_bytes;
  reader->bytes += padded;
  reader->n_bytes -= padded;
  return data;
}

static LnsWireText
take_text (Reader *reader, uint64_t n_bytes)
{
  LnsWireData data = take_data (reader, n_bytes);
  return (LnsWireText){ (const char *)data.bytes, data.n_bytes };
}

static bool
take_blob (Reader *reader, LnsWireBlob *ret_blob)
{
  LnsWireBlobBytes head;
  take (reader, &head, sizeof head);
  ret_blob->schema = head.schema;
  ret_blob->data = take_data (reader, head.n_bytes);
  ret_blob->n_given_bytes = head.n_given;
  return !reader->bad;
}

static bool
take_schema_entry (Reader *reader, LnsWireSchemaEntry *ret_entry)
{
  LnsWireSchemaEntryBytes head;
  take (reader, &head, sizeof head);
  *ret_entry = (LnsWireSchemaEntry){
    .flags = head.flags,
    .type = head.type,
    .detail = head.detail,
    .offset_bytes = head.offset_bytes,
    .semantics = head.semantics,
  };
  ret_entry->name = take_text (reader, head.n_name_bytes);
  ret_entry->description = take_text (reader, head.n_description_bytes);
  ret_entry->unit = take_text (reader, head.n_unit_bytes);
  return !reader->bad;
}

static bool
take_enum_entry (Reader *reader, LnsWireEnumEntry *ret_entry)
{
  LnsWireEnumEntryBytes head;
  take (reader, &head, sizeof head);
  ret_entry->value = head.value;
  ret_entry->is_flag = head.is_flag != 0;
  ret_entry->name = take_text (reader, head.n_name_bytes);
  return !reader->bad;
}

/* Reads the N items of a list once, so that the caller's walk cannot fail later. */
#define TAKE_LIST(reader, n, Item, take_item, ret_list)                                            \
 do                                                                                                \
  {                                                                                                \
   Item item;                                                                                      \
   *(ret_list) = (LnsWireList){ (reader)->bytes, (reader)->n_bytes, (n) };                         \
   for (uint64_t i = 0; i < (ret_list)->n_left && take_item ((reader), &item); i++)                \
    ;                                                                                              \
  }                                                                                                \
 while (0)

#define LIST_NEXT(list, take_item, ret_item)                                                       \
 do                                                                                                \
  {                                                                                                \
   Reader reader = { (list)->bytes, (list)->n_bytes, false };                                      \
   if ((list)->n_left == 0 || !take_item (&reader, (ret_item)))                                    \
    return false;                                                                                  \
   *(list) = (LnsWireList){ reader.bytes, reader.n_bytes, (list)->n_left - 1 };                    \
   return true;                                                                                    \
  }                                                                                                \
 while (0)

bool
lns_wire_blob_next (LnsWireList *list, LnsWireBlob *ret_blob)
{
  LIST_NEXT (list, take_blob, ret_blob);
}

bool
lns_wire_schema_entry_next (LnsWireList *list, LnsWireSchemaEntry *ret_entry)
{
  LIST_NEXT (list, take_schema_entry, ret_entry);
}

bool
lns_wire_enum_entry_next (LnsWireList *list, LnsWireEnumEntry *ret_entry)
{
  LIST_NEXT (list, take_enum_entry, ret_entry);
}

static void
decode_event (Reader *reader, const LnsWireHead *head, LnsWireEvent *ret_event)
{
  uint16_t fields;
  take (reader, &fields, sizeof fields);
  take (reader, &ret_event->payload_type, 1);
  take (reader, &ret_event->color_type, 1);
  ret_event->depth = head->depth;
  ret_event->string = head->string;
  if (fields & LNS_WIRE_FIELD_RANGE)
    ret_event->range = take_u64 (reader);
  if (fields & LNS_WIRE_FIELD_DEPTH)
    ret_event->depth = (uint32_t)take_u64 (reader);
  if (fields & LNS_WIRE_FIELD_COLOR)
    {
      ret_event->color = take_u32 (reader);
      ret_event->category = take_u32 (reader);
    }
  if (fields & LNS_WIRE_FIELD_PAYLOAD)
    ret_event->payload = take_u64 (reader);
  else
    ret_event->payload_type = 0;
  if (fields & LNS_WIRE_FIELD_BLOBS)
    {
      uint64_t n_blobs = take_u64 (reader);
      TAKE_LIST (reader, n_blobs, LnsWireBlob, take_blob, &ret_event->blobs);
    }
}

static void
decode_sample (Reader *reader, LnsWireSample *ret_sample)
{
  uint32_t n_data_bytes = take_u32 (reader);
  uint8_t kind_reason[8];
  ret_sample->counter = take_u64 (reader);
  take (reader, kind_reason, sizeof kind_reason);
  ret_sample->kind = kind_reason[0];
  ret_sample->reason = kind_reason[1];
  ret_sample->data = take_data (reader, n_data_bytes);
  if (ret_sample->kind > LNS_WIRE_SAMPLE_NO_VALUE ||
      (ret_sample->kind <= LNS_WIRE_SAMPLE_FLOAT64 && ret_sample->data.n_bytes != 8))
    reader->bad = true;
  else if (ret_sample->kind == LNS_WIRE_SAMPLE_INT64)
    memcpy (&ret_sample->int64, ret_sample->data.bytes, 8);
  else if (ret_sample->kind == LNS_WIRE_SAMPLE_FLOAT64)
    memcpy (&ret_sample->float64, ret_sample->data.bytes, 8);
}

static void
decode_batch (Reader *reader, LnsWireBatch *ret_batch)
{
  uint32_t n_data_bytes = take_u32 (reader);
  ret_batch->counter = take_u64 (reader);
  ret_batch->flags = take_u64 (reader);
  uint64_t n_times_bytes = take_u64 (reader);
  ret_batch->data = take_data (reader, n_data_bytes);
  ret_batch->times = take_data (reader, n_times_bytes);
}

static void
decode_lost (Reader *reader, const LnsWireHead *head, LnsWireLost *ret_lost)
{
  take_u32 (reader);
  ret_lost->first_ticks = take_u64 (reader);
  ret_lost->last_ticks = head->ticks;
  take (reader, &ret_lost->losses, sizeof ret_lost->losses);
}

static void
decode_thread (Reader *reader, LnsWireThread *ret_thread)
{
  ret_thread->tid = take_u32 (reader);
  ret_thread->serial = take_u64 (reader);
  LnsWireText name = take_text (reader, 16);
  name.n_bytes = name.bytes == NULL ? 0 : (uint32_t)strnlen (name.bytes, name.n_bytes);
  ret_thread->name = name;
}

static void
decode_resource (Reader *reader, const LnsWireHead *head, LnsWireResource *ret_resource)
{
  uint32_t n_text_bytes = take_u32 (reader);
  ret_resource->string = head->string;
  ret_resource->handle = take_u64 (reader);
  ret_resource->identifier = take_u64 (reader);
  ret_resource->identifier_type = (uint32_t)take_u64 (reader);
  ret_resource->name = take_text (reader, n_text_bytes);
}

static void
decode_schema (Reader *reader, LnsWireSchema *ret_schema)
{
  uint32_t n_text_bytes = take_u32 (reader);
  ret_schema->id = take_u64 (reader);
  ret_schema->type = take_u64 (reader);
  ret_schema->flags = take_u64 (reader);
  ret_schema->static_bytes = take_u64 (reader);
  ret_schema->pack_align_bytes = take_u64 (reader);
  uint64_t n_entries = take_u64 (reader);
  ret_schema->name = take_text (reader, n_text_bytes);
  TAKE_LIST (reader, n_entries, LnsWireSchemaEntry, take_schema_entry, &ret_schema->entries);
}

static void
decode_enum (Reader *reader, LnsWireEnum *ret_enum)
{
  uint32_t n_text_bytes = take_u32 (reader);
  ret_enum->id = take_u64 (reader);
  ret_enum->value_bytes = take_u64 (reader);
  uint64_t n_entries = take_u64 (reader);
  ret_enum->name = take_text (reader, n_text_bytes);
  TAKE_LIST (reader, n_entries, LnsWireEnumEntry, take_enum_entry, &ret_enum->entries);
}

static void
decode_counter (Reader *reader, LnsWireCounter *ret_counter)
{
  uint32_t n_text_bytes = take_u32 (reader);
  ret_counter->id = take_u64 (reader);
  ret_counter->schema = take_u64 (reader);
  ret_counter->scope = take_u64 (reader);
  take (reader, &ret_counter->semantics, sizeof ret_counter->semantics);
  uint32_t n_description_bytes = take_u32 (reader);
  uint32_t n_unit_bytes = take_u32 (reader);
  ret_counter->name = take_text (reader, n_text_bytes);
  ret_counter->description = take_text (reader, n_description_bytes);
  ret_counter->unit = take_text (reader, n_unit_bytes);
}

static void
decode_scope (Reader *reader, LnsWireScope *ret_scope)
{
  uint32_t n_text_bytes = take_u32 (reader);
  ret_scope->id = take_u64 (reader);
  ret_scope->parent = take_u64 (reader);
  ret_scope->path = take_text (reader, n_text_bytes);
}

static void
decode_piece (Reader *reader, LnsWirePiece *ret_piece)
{
  uint32_t n_data_bytes = take_u32 (reader);
  ret_piece->n_whole_bytes = take_u32 (reader);
  ret_piece->offset_bytes = take_u32 (reader);
  ret_piece->data = take_data (reader, n_data_bytes);
  if (ret_piece->n_whole_bytes > LNS_WIRE_RECORD_MAX_BYTES ||
      ret_piece->offset_bytes > ret_piece->n_whole_bytes ||
      n_data_bytes > ret_piece->n_whole_bytes - ret_piece->offset_bytes)
    reader->bad = true;
}

/* Decodes what follows the head and the size. */
static void
decode_long (Reader *reader, const LnsWireHead *head, LnsWireRecord *record)
{
  switch (head->type)
    {
    case LNS_WIRE_PUSH_LONG:
    case LNS_WIRE_POP_LONG:
    case LNS_WIRE_MARK_LONG:
      record->type = head->type - LNS_WIRE_LONG_TYPES;
      decode_event (reader, head, &record->event);
      break;
    case LNS_WIRE_START:
    case LNS_WIRE_END:
      decode_event (reader, head, &record->event);
      break;
    case LNS_WIRE_SAMPLE:
      decode_sample (reader, &record->sample);
      break;
    case LNS_WIRE_SAMPLE_BATCH:
    case LNS_WIRE_DEFERRED:
      decode_batch (reader, &record->batch);
      break;
    case LNS_WIRE_LOST:
      decode_lost (reader, head, &record->lost);
      break;
    case LNS_WIRE_THREAD:
      decode_thread (reader, &record->thread);
      break;
    case LNS_WIRE_STRING:
    case LNS_WIRE_REGISTERED:
    case LNS_WIRE_DOMAIN:
    case LNS_WIRE_DOMAIN_END:
    case LNS_WIRE_CATEGORY:
    case LNS_WIRE_THREAD_NAME:
    case LNS_WIRE_UNRECORDED:
    case LNS_WIRE_PYTHON_SAID:
      record->named.id = head->string;
      record->named.text = take_text (reader, take_u32 (reader));
      break;
    case LNS_WIRE_RESOURCE:
    case LNS_WIRE_RESOURCE_END:
      decode_resource (reader, head, &record->resource);
      break;
    case LNS_WIRE_SCHEMA:
      decode_schema (reader, &record->schema);
      break;
    case LNS_WIRE_ENUM:
      decode_enum (reader, &record->enumeration);
      break;
    case LNS_WIRE_COUNTER:
      decode_counter (reader, &record->counter);
      break;
    case LNS_WIRE_SCOPE:
    case LNS_WIRE_TIME_DOMAIN:
      decode_scope (reader, &record->scope);
      break;
    case LNS_WIRE_PIECE:
      decode_piece (reader, &record->piece);
      break;
    default:
      break;
    }
}

int
lns_wire_record_decode (const void *bytes, size_t n_bytes, LnsWireRecord *ret_record)
{
  if (n_bytes == 0)
    return 0;
  Reader reader = { bytes, n_bytes, false };
  LnsWireHead head;
  take (&reader, &head, sizeof head);
  if (reader.bad || head.type == LNS_WIRE_NONE)
    return -EBADMSG;

  LnsWireRecord record = {
    .type = head.type,
    .n_bytes = sizeof head,
    .ticks = head.ticks,
    .domain = head.domain,
  };
  if (head.type < LNS_WIRE_LONG_TYPES)
    {
      if (head.depth == LNS_WIRE_DEPTH_LONG)
        return -EBADMSG;
      record.event.depth = head.depth;
      record.event.string = head.string;
      *ret_record = record;
      return 1;
    }

  record.n_bytes = take_u32 (&reader);
  if (reader.bad || record.n_bytes > n_bytes || record.n_bytes % LNS_WIRE_ALIGN_BYTES != 0 ||
      record.n_bytes < sizeof head + LNS_WIRE_ALIGN_BYTES)
    return -EBADMSG;
  reader.n_bytes = record.n_bytes - sizeof head - sizeof record.n_bytes;
  if (head.type >= LNS_WIRE_CUDA_FIRST && head.type <= LNS_WIRE_CUDA_LAST)
    record.raw = (LnsWireData){ bytes, record.n_bytes };
  else
    decode_long (&reader, &head, &record);
  if (reader.bad)
    return -EBADMSG;
  *ret_record = record;
  return 1;
}

int
lns_wire_record_next (const void *bytes, size_t n_bytes, size_t *at, LnsWireRecord *ret_record)
{
  if (*at >= n_bytes)
    return 0;
  int result = lns_wire_record_decode ((const uint8_t *)bytes + *at, n_bytes - *at, ret_record);
  if (result > 0)
    *at += ret_record->n_bytes;
  return result;
}

int
lns_wire_assembler_add (LnsWireAssembler *assembler,
                        const LnsWireRecord *record,
                        LnsWireRecord *ret_record)
{
  const LnsWirePiece *piece = &record->piece;
  if (piece->offset_bytes == 0)
    {
      uint8_t *grown = realloc (assembler->bytes, piece->n_whole_bytes ? piece->n_whole_bytes : 1);
      if (grown == NULL)
        return -ENOMEM;
      *assembler = (LnsWireAssembler){ .bytes = grown, .n_whole_bytes = piece->n_whole_bytes };
    }
  if (piece->n_whole_bytes != assembler->n_whole_bytes || piece->offset_bytes != assembler->n_bytes)
    {
      lns_wire_assembler_clear (assembler);
      return -EBADMSG;
    }
  if (piece->data.n_bytes > 0)
    memcpy (assembler->bytes + assembler->n_bytes, piece->data.bytes, piece->data.n_bytes);
  assembler->n_bytes += piece->data.n_bytes;
  if (assembler->n_bytes < assembler->n_whole_bytes)
    return 0;

  int result = lns_wire_record_decode (assembler->bytes, assembler->n_bytes, ret_record);
  assembler->n_bytes = assembler->n_whole_bytes = 0;
  if (result != 1 || ret_record->type == LNS_WIRE_PIECE)
    return -EBADMSG;
  return 1;
}

void
lns_wire_assembler_clear (LnsWireAssembler *assembler)
{
  free (assembler->bytes);
  *assembler = (LnsWireAssembler){ 0 };
}
