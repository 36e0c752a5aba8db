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
  take (reader, &ret_blob->said, sizeof ret_blob->said);
  ret_blob->data = take_data (reader, ret_blob->said.n_bytes);
  return !reader->bad;
}

static bool
take_schema_entry (Reader *reader, LnsWireSchemaEntry *ret_entry)
{
  take (reader, &ret_entry->said, sizeof ret_entry->said);
  ret_entry->name = take_text (reader, ret_entry->said.n_name_bytes);
  ret_entry->description = take_text (reader, ret_entry->said.n_description_bytes);
  ret_entry->unit = take_text (reader, ret_entry->said.n_unit_bytes);
  return !reader->bad;
}

static bool
take_enum_entry (Reader *reader, LnsWireEnumEntry *ret_entry)
{
  take (reader, &ret_entry->said, sizeof ret_entry->said);
  ret_entry->name = take_text (reader, ret_entry->said.n_name_bytes);
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
decode_event (Reader *reader, LnsWireEvent *ret_event)
{
  LnsWireLong said;
  take (reader, &said, sizeof said);
  ret_event->color_type = said.color_type;
  ret_event->depth = said.head.depth;
  ret_event->string = said.head.string;
  if (said.fields & LNS_WIRE_FIELD_RANGE)
    ret_event->range = take_u64 (reader);
  if (said.fields & LNS_WIRE_FIELD_DEPTH)
    ret_event->depth = (uint32_t)take_u64 (reader);
  if (said.fields & LNS_WIRE_FIELD_COLOR)
    {
      const uint64_t both = take_u64 (reader);
      ret_event->color = (uint32_t)both;
      ret_event->category = (uint32_t)(both >> 32);
    }
  if (said.fields & LNS_WIRE_FIELD_PAYLOAD)
    {
      ret_event->payload_type = said.payload_type;
      ret_event->payload = take_u64 (reader);
    }
  if (said.fields & LNS_WIRE_FIELD_BLOBS)
    {
      uint64_t n_blobs = take_u64 (reader);
      TAKE_LIST (reader, n_blobs, LnsWireBlob, take_blob, &ret_event->blobs);
    }
}

static void
decode_sample (Reader *reader, LnsWireSample *ret_sample)
{
  take (reader, &ret_sample->said, sizeof ret_sample->said);
  ret_sample->data = take_data (reader, ret_sample->said.n_data_bytes);
  if (ret_sample->said.kind > LNS_WIRE_SAMPLE_NO_VALUE ||
      (ret_sample->said.kind <= LNS_WIRE_SAMPLE_FLOAT64 && ret_sample->data.n_bytes != 8))
    reader->bad = true;
}

static void
decode_thread (Reader *reader, LnsWireThread *ret_thread)
{
  take (reader, &ret_thread->said, sizeof ret_thread->said);
  if (reader->bad)
    return;
  /* In the record's own bytes, as RET_THREAD may be copied. */
  const char *name = (const char *)reader->bytes - sizeof ret_thread->said.name;
  ret_thread->name = (LnsWireText){ name, (uint32_t)strnlen (name, sizeof ret_thread->said.name) };
}

static void
decode_piece (Reader *reader, LnsWirePiece *ret_piece)
{
  LnsWirePieceBytes *said = &ret_piece->said;
  take (reader, said, sizeof *said);
  ret_piece->data = take_data (reader, said->n_data_bytes);
  if (said->n_whole_bytes > LNS_WIRE_RECORD_MAX_BYTES || said->offset_bytes > said->n_whole_bytes ||
      said->n_data_bytes > said->n_whole_bytes - said->offset_bytes)
    reader->bad = true;
}

/* Decodes the record of TYPE. */
static void
decode_long (Reader *reader, uint8_t type, LnsWireRecord *record)
{
  LnsWireTextBytes named;
  switch (type)
    {
    case LNS_WIRE_PUSH_LONG:
    case LNS_WIRE_POP_LONG:
    case LNS_WIRE_MARK_LONG:
      record->type = type - LNS_WIRE_LONG_TYPES;
      decode_event (reader, &record->event);
      break;
    case LNS_WIRE_START:
    case LNS_WIRE_END:
      decode_event (reader, &record->event);
      break;
    case LNS_WIRE_SAMPLE:
      decode_sample (reader, &record->sample);
      break;
    case LNS_WIRE_SAMPLE_BATCH:
    case LNS_WIRE_DEFERRED:
      take (reader, &record->batch.said, sizeof record->batch.said);
      record->batch.data = take_data (reader, record->batch.said.n_data_bytes);
      record->batch.times = take_data (reader, record->batch.said.n_times_bytes);
      break;
    case LNS_WIRE_LOST:
      take (reader, &record->lost, sizeof record->lost);
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
      take (reader, &named, sizeof named);
      record->named.id = named.head.string;
      record->named.text = take_text (reader, named.n_text_bytes);
      break;
    case LNS_WIRE_RESOURCE:
    case LNS_WIRE_RESOURCE_END:
      take (reader, &record->resource.said, sizeof record->resource.said);
      record->resource.name = take_text (reader, record->resource.said.n_text_bytes);
      break;
    case LNS_WIRE_SCHEMA:
      take (reader, &record->schema.said, sizeof record->schema.said);
      record->schema.name = take_text (reader, record->schema.said.n_text_bytes);
      TAKE_LIST (reader, record->schema.said.n_entries, LnsWireSchemaEntry, take_schema_entry,
                 &record->schema.entries);
      break;
    case LNS_WIRE_ENUM:
      take (reader, &record->enumeration.said, sizeof record->enumeration.said);
      record->enumeration.name = take_text (reader, record->enumeration.said.n_text_bytes);
      TAKE_LIST (reader, record->enumeration.said.n_entries, LnsWireEnumEntry, take_enum_entry,
                 &record->enumeration.entries);
      break;
    case LNS_WIRE_COUNTER:
      take (reader, &record->counter.said, sizeof record->counter.said);
      record->counter.name = take_text (reader, record->counter.said.n_text_bytes);
      record->counter.unit = take_text (reader, record->counter.said.n_unit_bytes);
      break;
    case LNS_WIRE_TIME_DOMAIN:
      take (reader, &record->time_domain, sizeof record->time_domain);
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

  *ret_record = (LnsWireRecord){
    .type = head.type,
    .n_bytes = sizeof head,
    .ticks = head.ticks,
    .domain = head.domain,
  };
  if (head.type < LNS_WIRE_LONG_TYPES)
    {
      ret_record->event.depth = head.depth;
      ret_record->event.string = head.string;
      return head.depth == LNS_WIRE_DEPTH_LONG ? -EBADMSG : 1;
    }

  take (&reader, &ret_record->n_bytes, sizeof ret_record->n_bytes);
  if (reader.bad || ret_record->n_bytes > n_bytes ||
      ret_record->n_bytes % LNS_WIRE_ALIGN_BYTES != 0 ||
      ret_record->n_bytes < sizeof head + LNS_WIRE_ALIGN_BYTES)
    return -EBADMSG;
  reader = (Reader){ bytes, ret_record->n_bytes, false };
  if (head.type >= LNS_WIRE_CUDA_FIRST && head.type <= LNS_WIRE_OS_LAST)
    ret_record->raw = (LnsWireData){ bytes, ret_record->n_bytes };
  else
    decode_long (&reader, head.type, ret_record);
  return reader.bad ? -EBADMSG : 1;
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
  const uint32_t n_whole_bytes = piece->said.n_whole_bytes;
  if (piece->said.offset_bytes == 0)
    {
      uint8_t *grown = realloc (assembler->bytes, n_whole_bytes ? n_whole_bytes : 1);
      if (grown == NULL)
        return -ENOMEM;
      *assembler = (LnsWireAssembler){ .bytes = grown, .n_whole_bytes = n_whole_bytes };
    }
  if (n_whole_bytes != assembler->n_whole_bytes || piece->said.offset_bytes != assembler->n_bytes)
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
