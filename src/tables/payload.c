/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/compare.h"
#include "src/base/json.h"
#include "src/base/memory.h"
#include "src/base/search.h"
#include "src/tables/payload-types.h"
#include "src/tables/payload.h"

/* How deep, and how many values, are written of one payload: schemas may refer to each other in a circle, and small
 * ones to large arrays of themselves. */
#define MAX_DEPTH  8
#define MAX_VALUES 65536

struct LnsPayloadDecoder
{
  LnsReport *report;
  const LnsSchema *schemas;
  const LnsDomain *domains;
  uint32_t n_schemas, n_domains;
  uint32_t *by_id;                /* schemas ascending by (domain, schema_id, index)            */
  const LnsSchemaEntry **entries; /* ascending by (schema, position)                            */
  uint32_t *first_entry;          /* n_schemas + 1: where a schema's begin                      */
};

/* What is being decoded, and where to. */
typedef struct
{
  const LnsPayloadDecoder *decoder;
  uint32_t domain;
  const uint8_t *bytes; /* of this part of the payload                                          */
  size_t size_bytes;
  FILE *stream;
  bool json;
  unsigned depth; /* of nesting                                                                 */
  unsigned n_values; /* written so far                                                          */
  bool first; /* JSON: no comma yet                                                         */
} Decoding;

static void write_schema (Decoding *decoding, uint32_t schema, size_t offset, uint64_t member);

/* glibc's qsort_r hands the context last. */
static int
compare_schemas (const void *a, const void *b, void *data)
{
  const LnsSchema *schemas = data;
  uint32_t ia = *(const uint32_t *)a, ib = *(const uint32_t *)b;
  const LnsSchema *sa = &schemas[ia], *sb = &schemas[ib];

  return LNS_COMPARE (sa->domain, sb->domain)
             ?: LNS_COMPARE (sa->schema_id, sb->schema_id)
             ?: LNS_COMPARE (ia, ib);
}

static int
compare_entries (const void *a, const void *b)
{
  const LnsSchemaEntry *ea = *(const LnsSchemaEntry *const *)a,
                       *eb = *(const LnsSchemaEntry *const *)b;

  return LNS_COMPARE (ea->schema, eb->schema) ?: LNS_COMPARE (ea->position, eb->position);
}

LnsPayloadDecoder *
lns_payload_decoder_new (LnsReport *report)
{
  LnsPayloadDecoder *decoder = lns_calloc (1, sizeof *decoder);
  uint32_t n_entries;

  decoder->report = report;
  decoder->schemas = lns_report_schemas (report, &decoder->n_schemas);
  decoder->domains = lns_report_domains (report, &decoder->n_domains);
  const LnsSchemaEntry *entries = lns_report_schema_entries (report, &n_entries);
  decoder->by_id = lns_calloc (decoder->n_schemas, sizeof *decoder->by_id);
  decoder->first_entry = lns_calloc ((size_t)decoder->n_schemas + 1, sizeof *decoder->first_entry);
  decoder->entries = lns_calloc (n_entries, sizeof *decoder->entries);
  for (uint32_t i = 0; i < decoder->n_schemas; i++)
    decoder->by_id[i] = i;
  qsort_r (decoder->by_id, decoder->n_schemas, sizeof *decoder->by_id, compare_schemas,
           (void *)decoder->schemas);
  for (uint32_t i = 0; i < n_entries; i++)
    decoder->entries[i] = &entries[i];
  qsort (decoder->entries, n_entries, sizeof *decoder->entries, compare_entries);
  for (uint32_t schema = 0, i = 0; schema <= decoder->n_schemas; schema++)
    {
      while (i < n_entries && decoder->entries[i]->schema < schema)
        i++;
      decoder->first_entry[schema] = i;
    }
  return decoder;
}

void
lns_payload_decoder_free (LnsPayloadDecoder *decoder)
{
  if (decoder == NULL)
    return;
  free (decoder->by_id);
  free (decoder->first_entry);
  free (decoder->entries);
  free (decoder);
}

/* The schema that SCHEMA_ID names in DOMAIN, the last one where it was registered again, or
 * LNS_ID_NONE. O(log n). */
static uint32_t
find_schema (const LnsPayloadDecoder *decoder, uint32_t domain, uint64_t schema_id)
{
  const LnsSchema *schemas = decoder->schemas;
  const uint32_t *by_id = decoder->by_id;
  const size_t n = LNS_LOWER_BOUND (
      decoder->n_schemas, i,
      schemas[by_id[i]].domain < domain ||
          (schemas[by_id[i]].domain == domain && schemas[by_id[i]].schema_id <= schema_id));

  return n > 0 && schemas[by_id[n - 1]].domain == domain &&
                 schemas[by_id[n - 1]].schema_id == schema_id
             ? by_id[n - 1]
             : LNS_ID_NONE;
}

static uint64_t
read_unsigned (const uint8_t *bytes, size_t size)
{
  uint64_t value = 0;

  for (size_t i = 0; i < size && i < 8; i++)
    value |= (uint64_t)bytes[i] << (8 * i);
  return value;
}

static double
read_half (uint16_t bits)
{
  double fraction = bits & 0x3FF;
  int exponent = (bits >> 10) & 31;
  double value = exponent == 31  ? (fraction == 0 ? __builtin_inf () : __builtin_nan (""))
                 : exponent == 0 ? __builtin_ldexp (fraction, -24)
                                 : __builtin_ldexp (fraction + 1024, exponent - 25);
  return bits & 0x8000 ? -value : value;
}

static double
read_float (const uint8_t *bytes, size_t size)
{
  float single;
  double number;
  long double extended = 0;

  switch (size)
    {
    case 2:
      return read_half ((uint16_t)read_unsigned (bytes, 2));
    case 4:
      memcpy (&single, bytes, 4);
      return single;
    case 8:
      memcpy (&number, bytes, 8);
      return number;
    default:
      memcpy (&extended, bytes, sizeof extended < size ? sizeof extended : size);
      return (double)extended;
    }
}

/* ---- The two forms: JSON, and lines for people ------------------------------------------- */

static void
write_name (Decoding *decoding, const char *name, size_t size)
{
  if (decoding->json)
    {
      fputs (decoding->first ? "" : ",", decoding->stream);
      lns_json_write_string (decoding->stream, name, size);
      putc (':', decoding->stream);
    }
  else
    {
      fprintf (decoding->stream, "%s%*s", decoding->first ? "" : "\n",
               2 * ((int)decoding->depth - 1), "");
      fwrite (name, 1, size, decoding->stream);
      fputs (": ", decoding->stream);
    }
  decoding->first = false;
}

static void
write_text (Decoding *decoding, const void *bytes, size_t size)
{
  if (decoding->json)
    lns_json_write_string (decoding->stream, bytes, size);
  else
    fwrite (bytes, 1, size, decoding->stream);
}

static void
write_hexadecimal (Decoding *decoding, const uint8_t *bytes, size_t size)
{
  fputs (decoding->json ? "\"" : "", decoding->stream);
  for (size_t i = 0; i < size; i++)
    fprintf (decoding->stream, "%02x", bytes[i]);
  fputs (decoding->json ? "\"" : "", decoding->stream);
}

/* A value of a predefined type; the bytes are known to be there. */
static void
write_scalar (Decoding *decoding, LnsPayloadTypeInfo info, const uint8_t *bytes)
{
  uint64_t value = read_unsigned (bytes, info.size_bytes);
  char text[32];
  float single;
  uint32_t bits;

  switch (info.reading)
    {
    case LNS_READ_SIGNED:
    case LNS_READ_UNSIGNED:
      if (info.size_bytes > 8)
        write_hexadecimal (decoding, bytes, info.size_bytes);
      else if (info.reading == LNS_READ_SIGNED)
        fprintf (decoding->stream, "%" PRId64,
                 (int64_t)(value << (64 - 8 * info.size_bytes)) >> (64 - 8 * info.size_bytes));
      else
        fprintf (decoding->stream, "%" PRIu64, value);
      break;
    case LNS_READ_FLOAT:
      if (info.size_bytes == 4)
        fprintf (decoding->stream, "%.9g", read_float (bytes, 4));
      else
        lns_json_write_double (decoding->stream, read_float (bytes, info.size_bytes));
      break;
    case LNS_READ_BFLOAT:
      bits = (uint32_t)value << 16;
      memcpy (&single, &bits, sizeof single);
      lns_json_write_double (decoding->stream, single);
      break;
    case LNS_READ_CHAR:
      write_text (decoding, bytes, info.size_bytes);
      break;
    case LNS_READ_STRING:
    case LNS_READ_ADDRESS:
      snprintf (text, sizeof text, "0x%" PRIx64, value);
      write_text (decoding, text, strlen (text));
      break;
    case LNS_READ_COLOR:
      snprintf (text, sizeof text, "#%08" PRIX64, value);
      write_text (decoding, text, strlen (text));
      break;
    case LNS_READ_NONE:
      fputs ("null", decoding->stream);
      break;
    }
}

/* ---- Schemas ------------------------------------------------------------------------------- */

/* The length of one element of TYPE, and how it is aligned; 0 where TYPE is not known. */
static size_t
element_size (const Decoding *decoding, const LnsSchemaEntry *entry, size_t *ret_align)
{
  LnsPayloadTypeInfo info = lns_payload_type_info (entry->type);
  size_t size = info.size_bytes;

  if ((entry->flags & (LNS_PAYLOAD_ENTRY_POINTER | LNS_PAYLOAD_ENTRY_OFFSET)) != 0)
    size = 8;
  else if (entry->type == LNS_PAYLOAD_TYPE_UNION_SELECTOR)
    size = 4;
  else if (info.reading == LNS_READ_STRING &&
           LNS_PAYLOAD_ENTRY_ARRAY_KIND (entry->flags) == LNS_PAYLOAD_ARRAY_FIXED)
    size = 1;
  *ret_align = size > 0 ? size : 1;
  if (info.reading == LNS_READ_NONE && size == 0)
    {
      uint32_t schema = find_schema (decoding->decoder, decoding->domain, entry->type);
      if (schema == LNS_ID_NONE)
        return 0;
      size = decoding->decoder->schemas[schema].size_bytes;
      *ret_align = decoding->decoder->schemas[schema].is_enum ? (size > 0 ? size : 1) : 8;
    }
  return size;
}

/* The number that entry INDEX of SCHEMA holds at OFFSET, for lengths and selectors; 0 if none. */
static uint64_t
entry_number (const Decoding *decoding, uint32_t schema, uint64_t index, size_t offset)
{
  const LnsPayloadDecoder *decoder = decoding->decoder;
  uint32_t first = decoder->first_entry[schema], n = decoder->first_entry[schema + 1] - first;

  if (index >= n)
    return 0;
  const LnsSchemaEntry *entry = decoder->entries[first + index];
  size_t align, size = element_size (decoding, entry, &align);
  if (size == 0 || size > 8 || entry->offset_bytes > decoding->size_bytes - offset ||
      size > decoding->size_bytes - offset - entry->offset_bytes)
    return 0;
  return read_unsigned (decoding->bytes + offset + entry->offset_bytes, size);
}

static void
write_enum (Decoding *decoding, uint32_t schema, const uint8_t *bytes, size_t size)
{
  const LnsPayloadDecoder *decoder = decoding->decoder;
  uint64_t value = read_unsigned (bytes, size),
           mask = size >= 8 ? UINT64_MAX : (UINT64_C (1) << (8 * size)) - 1;

  for (uint32_t i = decoder->first_entry[schema]; i < decoder->first_entry[schema + 1]; i++)
    if ((decoder->entries[i]->type & mask) == value)
      {
        size_t length;
        const char *name = lns_report_string (decoder->report, decoder->entries[i]->name, &length);
        write_text (decoding, name, length);
        return;
      }
  fprintf (decoding->stream, "%" PRIu64, value);
}

/* One element of ENTRY at OFFSET; its bytes are known to be there. MEMBER: see write_schema (). */
static void
write_element (
    Decoding *decoding, const LnsSchemaEntry *entry, size_t offset, size_t size, uint64_t member)
{
  const uint8_t *bytes = decoding->bytes + offset;
  LnsPayloadTypeInfo info = lns_payload_type_info (entry->type);

  decoding->n_values++;
  if ((entry->flags & (LNS_PAYLOAD_ENTRY_POINTER | LNS_PAYLOAD_ENTRY_OFFSET)) != 0)
    info = (LnsPayloadTypeInfo){ LNS_READ_ADDRESS, 8 };
  else if (entry->type == LNS_PAYLOAD_TYPE_UNION_SELECTOR)
    info = (LnsPayloadTypeInfo){ LNS_READ_UNSIGNED, 4 };
  if (info.reading != LNS_READ_NONE)
    {
      write_scalar (decoding, info, bytes);
      return;
    }
  uint32_t schema = find_schema (decoding->decoder, decoding->domain, entry->type);
  if (schema == LNS_ID_NONE)
    fputs ("null", decoding->stream);
  else if (decoding->decoder->schemas[schema].is_enum)
    write_enum (decoding, schema, bytes, size);
  else
    write_schema (decoding, schema, offset, member);
}

/* How many elements ENTRY has at OFFSET, of those that fit into the payload. */
static size_t
count_elements (const Decoding *decoding,
                const LnsSchemaEntry *entry,
                size_t schema_offset,
                size_t offset,
                size_t size)
{
  size_t n_fit = (decoding->size_bytes - offset) / size, n = 0;

  switch (LNS_PAYLOAD_ENTRY_ARRAY_KIND (entry->flags))
    {
    case 0:
      return n_fit > 0;
    case LNS_PAYLOAD_ARRAY_FIXED:
      return entry->array_or_union_detail < n_fit ? (size_t)entry->array_or_union_detail : n_fit;
    case LNS_PAYLOAD_ARRAY_ZERO:
      while (n < n_fit && read_unsigned (decoding->bytes + offset + n * size, size) != 0)
        n++;
      return n;
    case LNS_PAYLOAD_ARRAY_LENGTH_INDEX:
      n = entry_number (decoding, entry->schema, entry->array_or_union_detail, schema_offset);
      return n < n_fit ? n : n_fit;
    default:
      return n_fit;
    }
}

/* ENTRY's value at OFFSET: an element, an array of them, or a string. */
static void
write_entry (Decoding *decoding,
             const LnsSchemaEntry *entry,
             size_t schema_offset,
             size_t offset,
             size_t size,
             size_t n)
{
  LnsPayloadReading reading = lns_payload_type_info (entry->type).reading;
  unsigned kind = LNS_PAYLOAD_ENTRY_ARRAY_KIND (entry->flags);
  bool pointer = (entry->flags & (LNS_PAYLOAD_ENTRY_POINTER | LNS_PAYLOAD_ENTRY_OFFSET)) != 0;

  if (kind == 0 || pointer)
    {
      uint64_t member =
          entry_number (decoding, entry->schema, entry->array_or_union_detail, schema_offset);
      if (n > 0)
        write_element (decoding, entry, offset, size, member);
      else
        fputs ("null", decoding->stream);
      return;
    }
  if ((reading == LNS_READ_CHAR || reading == LNS_READ_STRING) && size == 1)
    {
      const void *bytes = decoding->bytes + offset;
      write_text (decoding, bytes, strnlen (bytes, n));
      return;
    }
  putc ('[', decoding->stream);
  for (size_t i = 0; i < n && decoding->n_values < MAX_VALUES; i++)
    {
      fputs (i == 0 ? "" : decoding->json ? "," : ", ", decoding->stream);
      write_element (decoding, entry, offset + i * size, size, 0);
    }
  putc (']', decoding->stream);
}

/* The value of SCHEMA whose bytes begin at OFFSET. Of a union only the member that MEMBER (or, for
 * a tagged one, its first entry) selects is written. */
static void
write_schema (Decoding *decoding, uint32_t schema, size_t offset, uint64_t member)
{
  const LnsPayloadDecoder *decoder = decoding->decoder;
  const LnsSchema *definition = &decoder->schemas[schema];
  uint32_t first = decoder->first_entry[schema],
           n_entries = decoder->first_entry[schema + 1] - first;
  bool tagged = definition->type == LNS_PAYLOAD_SCHEMA_UNION_TAGGED;
  bool is_union = tagged || definition->type == LNS_PAYLOAD_SCHEMA_UNION;
  size_t at = 0; /* end of the entry before, from OFFSET                                         */

  if (++decoding->depth > MAX_DEPTH)
    {
      fputs ("null", decoding->stream);
      decoding->depth--;
      return;
    }
  if (tagged)
    member = entry_number (decoding, schema, 0, offset);
  fputs (decoding->json ? "{" : decoding->depth > 1 ? "\n" : "", decoding->stream);
  decoding->first = true;
  for (uint32_t i = 0; i < n_entries && decoding->n_values < MAX_VALUES; i++)
    {
      const LnsSchemaEntry *entry = decoder->entries[first + i];
      size_t align, size = element_size (decoding, entry, &align), length;
      if (definition->align_bytes > 0 && align > definition->align_bytes)
        align = definition->align_bytes;
      if (size == 0)
        continue;
      if (entry->offset_bytes != 0 || i == 0 || is_union)
        at = entry->offset_bytes;
      else
        at = (at + align - 1) / align * align;
      if (at > decoding->size_bytes - offset)
        break;
      size_t n = count_elements (decoding, entry, offset, offset + at, size);
      bool shown = !is_union || i == member + tagged;
      if (shown && (entry->flags & LNS_PAYLOAD_ENTRY_HIDE) == 0)
        {
          const char *name = lns_report_string (decoder->report, entry->name, &length);
          write_name (decoding, name, length);
          write_entry (decoding, entry, offset, offset + at, size, n);
        }
      at += n * size;
    }
  fputs (decoding->json ? "}" : "", decoding->stream);
  decoding->first = false;
  decoding->depth--;
}

/* One part: the bytes of one schema, or of a predefined type. */
static void
write_part (Decoding *decoding, uint64_t schema_id)
{
  LnsPayloadTypeInfo info = lns_payload_type_info (schema_id);
  uint32_t schema = find_schema (decoding->decoder, decoding->domain, schema_id);

  if (schema != LNS_ID_NONE)
    write_schema (decoding, schema, 0, 0);
  else if (info.reading == LNS_READ_STRING)
    write_text (decoding, decoding->bytes,
                strnlen ((const char *)decoding->bytes, decoding->size_bytes));
  else if (info.reading != LNS_READ_NONE && info.size_bytes == decoding->size_bytes)
    write_scalar (decoding, info, decoding->bytes);
  else
    write_hexadecimal (decoding, decoding->bytes, decoding->size_bytes);
}

/* Walks the parts of a payload: { u64 schema id, u32 length, bytes }…; false at the end. */
static bool
next_part (const uint8_t **at, const uint8_t *end, uint64_t *ret_schema_id, Decoding *part)
{
  if (end - *at < 12)
    return false;
  size_t size = read_unsigned (*at + 8, 4);
  *ret_schema_id = read_unsigned (*at, 8);
  *at += 12;
  part->bytes = *at;
  part->size_bytes = size < (size_t)(end - *at) ? size : (size_t)(end - *at);
  *at += part->size_bytes;
  return true;
}

static void
write_binary (Decoding *part, const uint8_t *bytes, size_t size)
{
  const LnsPayloadDecoder *decoder = part->decoder;
  const uint8_t *at = bytes, *end = bytes + size;
  uint64_t header[4] = { part->domain < decoder->n_domains ? decoder->domains[part->domain].number
                                                           : 0,
                         0, 0, 32 };

  while (next_part (&at, end, &header[1], part))
    {
      header[2] = part->size_bytes;
      fwrite (header, sizeof header, 1, part->stream);
      fwrite (part->bytes, 1, part->size_bytes, part->stream);
    }
}

void
lns_payload_write (const LnsPayloadDecoder *decoder,
                   LnsPayloadForm form,
                   uint32_t domain,
                   const void *bytes,
                   size_t size_bytes,
                   FILE *stream)
{
  const bool json = form == LNS_PAYLOAD_AS_JSON;
  Decoding decoding = { .decoder = decoder, .domain = domain, .stream = stream, .json = json };
  const uint8_t *at = bytes, *end = at + size_bytes;
  uint64_t schema_id;
  unsigned n_parts = 0, i = 0;

  if (form == LNS_PAYLOAD_AS_BINARY)
    {
      write_binary (&decoding, bytes, size_bytes);
      return;
    }
  while (next_part (&at, end, &schema_id, &decoding))
    n_parts++;
  fputs (json && n_parts != 1 ? "[" : "", stream);
  for (at = bytes; next_part (&at, end, &schema_id, &decoding); i++)
    {
      fputs (i == 0 ? "" : json ? "," : "\n", stream);
      decoding.first = true;
      write_part (&decoding, schema_id);
    }
  fputs (json && n_parts != 1 ? "]" : "", stream);
}
