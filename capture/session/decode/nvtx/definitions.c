/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/nvtx/definitions.h"

#include <stdlib.h>

/* NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE: the identifier is a thread's. */
#define TYPE_THREAD 0x10003

typedef struct
{
  uint32_t id; /* in the session */
  LnsDecodedDomain *domain;
  uint64_t identifier;
  uint32_t type;
  LnsName *name;
  int64_t created_ns, destroyed_ns;
} LnsDecodedResource;

typedef struct
{
  uint32_t id; /* in the session */
  LnsDecodedDomain *domain;
  uint32_t number;
  LnsName *name;
} LnsDecodedCategory;

static void
replace_name (LnsName **name, LnsName *with)
{
  lns_name_unref (*name);
  *name = with;
}

static void
write_domain (LnsDecoder *decoder, const LnsDecodedDomain *domain, bool anew)
{
  if (decoder->writer == NULL)
    return;
  LnsDomain definition = {
    .process = domain->process->id,
    .number = domain->number,
    .name = _lns_decoder_string (decoder, domain->name),
    .created_ns = domain->created_ns,
    .destroyed_ns = domain->destroyed_ns,
    .thread = LNS_ID_NONE,
  };
  if (anew)
    lns_writer_add_domain (decoder->writer, &definition);
  else
    lns_writer_set_domain (decoder->writer, domain->id, &definition);
}

static void
write_category (LnsDecoder *decoder, const LnsDecodedCategory *category, bool anew)
{
  if (decoder->writer == NULL)
    return;
  LnsCategory definition = {
    .domain = category->domain->id,
    .category = category->number,
    .name = _lns_decoder_string (decoder, category->name),
  };
  if (anew)
    lns_writer_add_category (decoder->writer, &definition);
  else
    lns_writer_set_category (decoder->writer, category->id, &definition);
}

static void
write_schema (LnsDecoder *decoder, const LnsDecodedSchema *schema)
{
  if (decoder->writer == NULL)
    return;
  LnsSchema definition = {
    .domain = schema->domain->id,
    .schema_id = schema->schema_id,
    .name = _lns_decoder_string (decoder, schema->name),
    .type = (uint32_t)schema->type,
    .flags = (uint32_t)schema->flags,
    .size_bytes = (uint32_t)schema->size_bytes,
    .align_bytes = (uint32_t)schema->align_bytes,
    .is_enum = schema->is_enum,
  };
  uint32_t id = lns_writer_add_schema (decoder->writer, &definition);
  for (uint32_t i = 0; i < schema->n_entries; i++)
    {
      const LnsDecodedEntry *entry = &schema->entries[i];
      LnsSchemaEntry row = {
        .schema = id,
        .position = i,
        .name = _lns_decoder_string (decoder, entry->name),
        .description = _lns_decoder_string (decoder, entry->description),
        .flags = (uint32_t)entry->flags,
        .type = entry->type,
        .offset_bytes = entry->offset_bytes,
        .array_or_union_detail = entry->detail,
      };
      lns_writer_add_schema_entry (decoder->writer, &row);
    }
}

static void
write_resource (LnsDecoder *decoder, const LnsDecodedResource *resource, bool anew)
{
  if (decoder->writer == NULL)
    return;
  LnsResource definition = {
    .domain = resource->domain->id,
    .type = resource->type,
    .identifier = resource->identifier,
    .name = _lns_decoder_string (decoder, resource->name),
    .created_ns = resource->created_ns,
    .destroyed_ns = resource->destroyed_ns,
  };
  if (anew)
    lns_writer_add_resource (decoder->writer, &definition);
  else
    lns_writer_set_resource (decoder->writer, resource->id, &definition);
}

/* --- Domains ---------------------------------------------------------------------------------- */

LnsDecodedDomain *
_lns_nvtx_domain (LnsDecoder *decoder, LnsDecodedProcess *process, uint32_t number)
{
  LnsDecodedDomain *domain = lns_id_map_get (&_lns_nvtx_process (process)->domains, number);
  if (domain != NULL)
    return domain;
  domain = calloc (1, sizeof *domain);
  if (!_lns_decoder_keep (decoder, &_lns_nvtx_session (decoder)->domains,
                          &_lns_nvtx_process (process)->domains, number, domain))
    return NULL;
  *domain = (LnsDecodedDomain){
    .process = process,
    .id = (uint32_t)_lns_nvtx_session (decoder)->domains.n - 1,
    .number = number,
    .is_left_out =
        number == 0 && lns_domain_filter_leaves_out (&_lns_nvtx_session (decoder)->filter, NULL, 0),
    .created_ns = lns_clock_line_last_ns (&decoder->clock),
    .destroyed_ns = LNS_TIME_UNKNOWN,
  };
  write_domain (decoder, domain, true);
  return domain;
}

static void
name_domain (LnsDecoder *decoder, LnsDecodedDomain *domain, LnsWireText text)
{
  replace_name (&domain->name, _lns_decoder_name (text));
  domain->is_left_out = lns_domain_filter_leaves_out (
      &_lns_nvtx_session (decoder)->filter, domain->name != NULL ? domain->name->bytes : "",
      domain->name != NULL ? domain->name->n_bytes : 0);
  domain->destroyed_ns = LNS_TIME_UNKNOWN;
  write_domain (decoder, domain, false);
}

static void
name_category (LnsDecoder *decoder, LnsDecodedDomain *domain, const LnsWireNamed *named)
{
  LnsDecodedCategory *category = lns_id_map_get (&domain->categories, named->id);
  bool anew = category == NULL;
  if (anew)
    {
      category = calloc (1, sizeof *category);
      if (!_lns_decoder_keep (decoder, &_lns_nvtx_session (decoder)->categories,
                              &domain->categories, named->id, category))
        return;
      category->id = (uint32_t)_lns_nvtx_session (decoder)->categories.n - 1;
      category->domain = domain;
      category->number = named->id;
    }
  replace_name (&category->name, _lns_decoder_name (named->text));
  write_category (decoder, category, anew);
}

/* --- Schemas ---------------------------------------------------------------------------------- */

/* Makes the schema or enum ID of DOMAIN. Returns NULL if there is one already, as they never change, or if memory
 * is short. */
static LnsDecodedSchema *
new_schema (LnsDecoder *decoder,
            LnsDecodedDomain *domain,
            LnsIdMap *map,
            uint64_t id,
            LnsWireText name,
            uint64_t n_entries)
{
  if (lns_id_map_get (map, id) != NULL || n_entries > LNS_WIRE_RECORD_MAX_BYTES)
    return NULL;
  LnsDecodedEntry *entries = calloc (n_entries > 0 ? n_entries : 1, sizeof *entries);
  LnsDecodedSchema *schema = entries != NULL ? calloc (1, sizeof *schema) : NULL;
  if (!_lns_decoder_keep (decoder, &_lns_nvtx_session (decoder)->schemas, map, id, schema))
    {
      free (entries);
      return NULL;
    }
  *schema = (LnsDecodedSchema){
    .id = (uint32_t)_lns_nvtx_session (decoder)->schemas.n - 1,
    .domain = domain,
    .schema_id = id,
    .name = _lns_decoder_name (name),
    .entries = entries,
  };
  return schema;
}

static void
define_schema (LnsDecoder *decoder, LnsDecodedDomain *domain, const LnsWireSchema *record)
{
  LnsDecodedSchema *schema = new_schema (decoder, domain, &domain->schemas, record->said.id,
                                         record->name, record->entries.n_left);
  if (schema == NULL)
    return;
  schema->type = record->said.type;
  schema->flags = record->said.flags;
  schema->size_bytes = record->said.static_bytes;
  schema->align_bytes = record->said.pack_align_bytes;
  LnsWireList list = record->entries;
  LnsWireSchemaEntry entry;
  while (lns_wire_schema_entry_next (&list, &entry))
    schema->entries[schema->n_entries++] = (LnsDecodedEntry){
      .name = _lns_decoder_name (entry.name),
      .description = _lns_decoder_name (entry.description),
      .unit = _lns_decoder_name (entry.unit),
      .flags = entry.said.flags,
      .type = entry.said.type,
      .detail = entry.said.detail,
      .offset_bytes = entry.said.offset_bytes,
      .time_domain = entry.said.time_domain,
    };
  write_schema (decoder, schema);
}

static void
define_enum (LnsDecoder *decoder, LnsDecodedDomain *domain, const LnsWireEnum *record)
{
  LnsDecodedSchema *schema = new_schema (decoder, domain, &domain->enums, record->said.id,
                                         record->name, record->entries.n_left);
  if (schema == NULL)
    return;
  schema->is_enum = true;
  schema->size_bytes = record->said.value_bytes;
  LnsWireList list = record->entries;
  LnsWireEnumEntry entry;
  while (lns_wire_enum_entry_next (&list, &entry))
    schema->entries[schema->n_entries++] = (LnsDecodedEntry){
      .name = _lns_decoder_name (entry.name),
      .flags = entry.said.is_flag != 0,
      .type = entry.said.value,
    };
  write_schema (decoder, schema);
}

/* --- Resources -------------------------------------------------------------------------------- */

static LnsName *
name_of (LnsDecodedProcess *process, const LnsWireResource *record)
{
  return record->said.head.string != 0
             ? lns_name_ref (lns_id_map_get (&process->registered, record->said.head.string))
             : _lns_decoder_name (record->name);
}

static LnsDecodedResource *
new_resource (LnsDecoder *decoder, LnsDecodedDomain *domain, const LnsWireResource *record)
{
  LnsDecodedResource *resource = calloc (1, sizeof *resource);
  if (!_lns_decoder_keep (decoder, &_lns_nvtx_session (decoder)->resources,
                          &_lns_nvtx_process (domain->process)->resources, record->said.handle,
                          resource))
    return NULL;
  *resource = (LnsDecodedResource){
    .id = (uint32_t)_lns_nvtx_session (decoder)->resources.n - 1,
    .domain = domain,
    .identifier = record->said.identifier,
    .type = (uint32_t)record->said.identifier_type,
    .created_ns = lns_clock_line_last_ns (&decoder->clock),
    .destroyed_ns = LNS_TIME_UNKNOWN,
  };
  return resource;
}

static void
define_resource (LnsDecoder *decoder, LnsDecodedDomain *domain, const LnsWireRecord *record)
{
  LnsDecodedProcess *process = domain->process;
  const LnsWireResource *told = &record->resource;
  LnsDecodedResource *resource =
      lns_id_map_get (&_lns_nvtx_process (process)->resources, told->said.handle);
  bool anew = resource == NULL;
  if (record->type == LNS_WIRE_RESOURCE_END)
    {
      if (anew)
        return;
      resource->destroyed_ns = lns_clock_line_last_ns (&decoder->clock);
    }
  else
    {
      if (anew && (resource = new_resource (decoder, domain, told)) == NULL)
        return;
      lns_name_unref (resource->name);
      resource->name = name_of (process, told);
      if (told->said.identifier_type == TYPE_THREAD)
        _lns_decoder_name_thread (decoder, process, (uint32_t)told->said.identifier,
                                  lns_name_ref (resource->name));
    }
  write_resource (decoder, resource, anew);
}

/* --- Records ---------------------------------------------------------------------------------- */

void
_lns_nvtx_define (LnsDecoder *decoder, LnsDecodedDomain *domain, const LnsWireRecord *record)
{
  switch (record->type)
    {
    case LNS_WIRE_RESOURCE:
    case LNS_WIRE_RESOURCE_END:
      define_resource (decoder, domain, record);
      break;
    case LNS_WIRE_DOMAIN:
      name_domain (decoder, domain, record->named.text);
      break;
    case LNS_WIRE_DOMAIN_END:
      domain->destroyed_ns = lns_clock_line_last_ns (&decoder->clock);
      write_domain (decoder, domain, false);
      break;
    case LNS_WIRE_CATEGORY:
      name_category (decoder, domain, &record->named);
      break;
    case LNS_WIRE_SCHEMA:
      define_schema (decoder, domain, &record->schema);
      break;
    case LNS_WIRE_ENUM:
      define_enum (decoder, domain, &record->enumeration);
      break;
    case LNS_WIRE_TIME_DOMAIN:
      if (record->time_domain.type == 0)
        break; /* no clock, and no value of the map */
      lns_id_map_set (&domain->clocks, record->time_domain.id,
                      (void *)(uintptr_t)record->time_domain.type);
      break;
    default:
      break;
    }
}

void
_lns_nvtx_replay (LnsDecoder *decoder)
{
  const LnsNvtxSession *session = _lns_nvtx_session (decoder);
  for (size_t i = 0; i < session->domains.n; i++)
    write_domain (decoder, session->domains.items[i], true);
  for (size_t i = 0; i < session->categories.n; i++)
    write_category (decoder, session->categories.items[i], true);
  for (size_t i = 0; i < session->schemas.n; i++)
    write_schema (decoder, session->schemas.items[i]);
  for (size_t i = 0; i < session->resources.n; i++)
    write_resource (decoder, session->resources.items[i], true);
}

/* --- The end ---------------------------------------------------------------------------------- */

static void
free_schema (LnsDecodedSchema *schema)
{
  for (uint32_t i = 0; i < schema->n_entries; i++)
    {
      lns_name_unref (schema->entries[i].name);
      lns_name_unref (schema->entries[i].description);
      lns_name_unref (schema->entries[i].unit);
    }
  lns_name_unref (schema->name);
  free (schema->entries);
  free (schema);
}

static void
free_domain (LnsDecodedDomain *domain)
{
  lns_name_unref (domain->name);
  lns_id_map_clear (&domain->categories);
  lns_id_map_clear (&domain->schemas);
  lns_id_map_clear (&domain->enums);
  lns_id_map_clear (&domain->clocks);
  lns_overlap_clear (&domain->lanes);
  lns_array_clear (&domain->lane_refs);
  free (domain);
}

void
_lns_nvtx_free_definitions (LnsNvtxSession *session)
{
  for (size_t i = 0; i < session->schemas.n; i++)
    free_schema (session->schemas.items[i]);
  for (size_t i = 0; i < session->categories.n; i++)
    {
      lns_name_unref (((LnsDecodedCategory *)session->categories.items[i])->name);
      free (session->categories.items[i]);
    }
  for (size_t i = 0; i < session->resources.n; i++)
    {
      lns_name_unref (((LnsDecodedResource *)session->resources.items[i])->name);
      free (session->resources.items[i]);
    }
  for (size_t i = 0; i < session->domains.n; i++)
    free_domain (session->domains.items[i]);
  free (session->resources.items);
  free (session->schemas.items);
  free (session->categories.items);
  free (session->domains.items);
}
