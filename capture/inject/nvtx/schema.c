/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The handlers of NVTX's payload and counters extensions that define things. Each returns the id that the caller chose,
 * or a new one if it chose none; 0 if the attributes are null or incomplete, or memory is short. */

#include "capture/inject/core/definitions.h"
#include "capture/inject/nvtx/nvtx.h"
#include "capture/inject/core/system.h"

/* The maximum number of entries. More are taken for an error of the caller. */
#define ENTRIES_MAX 4096u

/* Texts of definitions are cut here, so that a schema's record has room for all of them. */
#define TEXT_MAX_BYTES 4096u

/* Parts per entry of a schema: its numbers, name, description and unit. */
#define ENTRY_PARTS 4u

static LnsPart
fixed (const void *bytes, size_t n_bytes)
{
  return (LnsPart){ .bytes = bytes, .n_bytes = n_bytes };
}

/* TEXT, which may be null, padded to 8 bytes; RET_N_BYTES gets its length. */
static LnsPart
text_part (const char *text, uint32_t *ret_n_bytes)
{
  size_t n_bytes = text == NULL ? 0 : strnlen (text, TEXT_MAX_BYTES);
  *ret_n_bytes = (uint32_t)n_bytes;
  return (
      LnsPart){ .bytes = text, .n_bytes = n_bytes, .n_padded_bytes = (n_bytes + 7) & ~(size_t)7 };
}

static uint64_t
id_or_new (bool given, uint64_t id)
{
  return given && id != 0 ? id : LNS_NVTX_DYNAMIC_ID_START + lns_definitions_serial ();
}

/* Finds the time domain in the list of a number's semantics; 0 if it has none. Sets RET_UNIT, which may be null. */
static uint64_t
time_domain_of (const LnsNvtxSemantics *semantics, const char **ret_unit)
{
  uint64_t time_domain = 0;
  *ret_unit = NULL;
  for (int i = 0; semantics != NULL && i < 16; i++, semantics = semantics->next)
    if (semantics->id == LNS_NVTX_SEMANTICS_COUNTER &&
        semantics->struct_bytes >= sizeof (LnsNvtxCounterSemantics))
      *ret_unit = ((const LnsNvtxCounterSemantics *)semantics)->unit;
    else if (semantics->id == LNS_NVTX_SEMANTICS_TIME &&
             semantics->struct_bytes >= sizeof (LnsNvtxTimeSemantics))
      time_domain = ((const LnsNvtxTimeSemantics *)semantics)->time_domain;
  return time_domain;
}

static bool
add_definition (const LnsPart *parts, size_t n_parts)
{
  if (lns_definitions_add (parts, n_parts) < 0)
    return false;
  lns_nvtx_send_definitions ();
  return true;
}

uint64_t
lns_nvtx_define_schema (const void *domain, const LnsNvtxSchemaAttributes *attributes)
{
  const uint64_t needed =
      LNS_NVTX_SCHEMA_HAS_TYPE | LNS_NVTX_SCHEMA_HAS_ENTRIES | LNS_NVTX_SCHEMA_HAS_N_ENTRIES;
  if (attributes == NULL || (attributes->fields & needed) != needed ||
      attributes->entries == NULL || attributes->n_entries > ENTRIES_MAX)
    return 0;
  uint64_t fields = attributes->fields;
  size_t n = attributes->n_entries, n_parts = 2 + ENTRY_PARTS * n;
  LnsWireSchemaEntryBytes *entry;
  size_t n_memory_bytes = n_parts * sizeof (LnsPart) + n * sizeof *entry;
  LnsPart *parts = lns_inject_map (n_memory_bytes), *part = parts;
  if (parts == NULL)
    return 0;

  LnsWireSchemaBytes schema = {
    .head = { .type = LNS_WIRE_SCHEMA, .domain = (uint16_t)lns_nvtx_domain (domain) },
    .id = id_or_new (fields & LNS_NVTX_SCHEMA_HAS_ID, attributes->id),
    .type = attributes->type,
    .flags = fields & LNS_NVTX_SCHEMA_HAS_FLAGS ? attributes->flags : 0,
    .static_bytes = fields & LNS_NVTX_SCHEMA_HAS_STATIC_SIZE ? attributes->static_bytes : 0,
    .pack_align_bytes = fields & LNS_NVTX_SCHEMA_HAS_ALIGNMENT ? attributes->pack_align : 0,
    .n_entries = n,
  };
  *part++ = fixed (&schema, sizeof schema);
  *part++ =
      text_part (fields & LNS_NVTX_SCHEMA_HAS_NAME ? attributes->name : NULL, &schema.n_text_bytes);
  entry = (LnsWireSchemaEntryBytes *)(parts + n_parts);
  for (size_t i = 0; i < n; i++, entry++)
    {
      const LnsNvtxSchemaEntry *from = &attributes->entries[i];
      const char *unit;
      *entry = (LnsWireSchemaEntryBytes){
        .flags = from->flags,
        .type = from->type,
        .detail = from->detail,
        .offset_bytes = from->offset,
        .time_domain = time_domain_of (from->semantics, &unit),
      };
      *part++ = fixed (entry, sizeof *entry);
      *part++ = text_part (from->name, &entry->n_name_bytes);
      *part++ = text_part (from->description, &entry->n_description_bytes);
      *part++ = text_part (unit, &entry->n_unit_bytes);
    }
  bool added = add_definition (parts, n_parts);
  lns_inject_unmap (parts, n_memory_bytes);
  return added ? schema.id : 0;
}

static uint64_t
define_enum (const void *domain, const LnsNvtxEnumAttributes *attributes)
{
  const uint64_t needed = LNS_NVTX_ENUM_HAS_ENTRIES | LNS_NVTX_ENUM_HAS_N_ENTRIES;
  if (attributes == NULL || (attributes->fields & needed) != needed ||
      attributes->entries == NULL || attributes->n_entries > ENTRIES_MAX)
    return 0;
  uint64_t fields = attributes->fields;
  size_t n = attributes->n_entries, n_parts = 2 + 2 * n;
  LnsWireEnumEntryBytes *entry;
  size_t n_memory_bytes = n_parts * sizeof (LnsPart) + n * sizeof *entry;
  LnsPart *parts = lns_inject_map (n_memory_bytes), *part = parts;
  if (parts == NULL)
    return 0;

  LnsWireEnumBytes enumeration = {
    .head = { .type = LNS_WIRE_ENUM, .domain = (uint16_t)lns_nvtx_domain (domain) },
    .id = id_or_new (fields & LNS_NVTX_ENUM_HAS_ID, attributes->id),
    .value_bytes = fields & LNS_NVTX_ENUM_HAS_SIZE ? attributes->value_bytes : sizeof (int),
    .n_entries = n,
  };
  *part++ = fixed (&enumeration, sizeof enumeration);
  *part++ = text_part (fields & LNS_NVTX_ENUM_HAS_NAME ? attributes->name : NULL,
                       &enumeration.n_text_bytes);
  entry = (LnsWireEnumEntryBytes *)(parts + n_parts);
  for (size_t i = 0; i < n; i++, entry++)
    {
      const LnsNvtxEnumEntry *from = &attributes->entries[i];
      entry->value = from->value;
      entry->is_flag = from->is_flag != 0;
      *part++ = fixed (entry, sizeof *entry);
      *part++ = text_part (from->name, &entry->n_name_bytes);
    }
  bool added = add_definition (parts, n_parts);
  lns_inject_unmap (parts, n_memory_bytes);
  return added ? enumeration.id : 0;
}

/* Scopes are not recorded: a scope is only given its id. */
static uint64_t
define_scope (const void *domain, const LnsNvtxScopeAttributes *attributes)
{
  const bool is_whole = attributes != NULL && attributes->struct_bytes >= sizeof *attributes;
  return is_whole ? id_or_new (true, attributes->id) : 0;
}

static uint64_t
define_counter (const void *domain, const LnsNvtxCounterAttributes *attributes)
{
  if (attributes == NULL || attributes->struct_bytes < sizeof *attributes)
    return 0;
  const char *unit;
  LnsWireCounterBytes counter = {
    .head = { .type = LNS_WIRE_COUNTER, .domain = (uint16_t)lns_nvtx_domain (domain) },
    .id = id_or_new (true, attributes->id),
    .schema = attributes->schema,
    .time_domain = time_domain_of (attributes->semantics, &unit),
  };
  LnsPart parts[] = { fixed (&counter, sizeof counter),
                      text_part (attributes->name, &counter.n_text_bytes),
                      text_part (unit, &counter.n_unit_bytes) };
  return add_definition (parts, 3) ? counter.id : 0;
}

static uint64_t
define_time_domain (const void *domain, const LnsNvtxTimeDomainAttributes *attributes)
{
  if (attributes == NULL)
    return 0;
  LnsWireTimeDomainBytes clock = {
    .head = { .type = LNS_WIRE_TIME_DOMAIN, .domain = (uint16_t)lns_nvtx_domain (domain) },
    .id = id_or_new (true, attributes->id),
    .type = attributes->type,
  };
  LnsPart part = fixed (&clock, sizeof clock);
  return add_definition (&part, 1) ? clock.id : 0;
}

const LnsNvtxHandler lns_schema_handlers[] = {
  LNS_NVTX_EXTENSION_HANDLER (PAYLOAD, SCHEMA_REGISTER, lns_nvtx_define_schema),
  LNS_NVTX_EXTENSION_HANDLER (PAYLOAD, ENUM_REGISTER, define_enum),
  LNS_NVTX_EXTENSION_HANDLER (PAYLOAD, SCOPE_REGISTER, define_scope),
  LNS_NVTX_EXTENSION_HANDLER (PAYLOAD, TIME_DOMAIN_REGISTER, define_time_domain),
  LNS_NVTX_EXTENSION_HANDLER (COUNTERS, REGISTER, define_counter),
  { 0 },
};
