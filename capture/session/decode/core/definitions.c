/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Definitions: kept in order for the session, so that each report can get them all under the same
 * ids. */

#include "capture/session/decode/core/decoder-private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

LnsName *
_lns_decoder_name (LnsWireText text)
{
  return text.n_bytes > 0 ? lns_name_new (text.bytes, text.n_bytes) : NULL;
}

static void
replace_name (LnsName **name, LnsName *with)
{
  lns_name_unref (*name);
  *name = with;
}

static uint32_t
text_id (LnsDecoder *decoder, const char *text)
{
  return text != NULL ? lns_writer_string (decoder->writer, text, strlen (text)) : 0;
}

/* --- To the report ---------------------------------------------------------------------------- */

void
_lns_decoder_write_process (LnsDecoder *decoder, const LnsDecodedProcess *process, bool anew)
{
  const LnsProcessInfo *info = &process->info;
  LnsProcess definition = {
    .pid = info->pid,
    .target_pid = info->target_pid,
    .parent = info->parent,
    .name = text_id (decoder, info->name),
    .command_line = text_id (decoder, info->command_line),
    .executable = text_id (decoder, info->executable),
    .start_ns = process->start_ns,
    .end_ns = process->end_ns,
    .exit_code = process->exit_code,
    .exit_signal = (uint32_t)process->exit_signal,
    .mpi_rank = info->mpi_rank,
  };
  if (anew)
    lns_writer_add_process (decoder->writer, &definition);
  else
    lns_writer_set_process (decoder->writer, process->id, &definition);
}

static void
write_domain (LnsDecoder *decoder, const LnsDecodedDomain *domain, bool anew)
{
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

void
_lns_decoder_replay (LnsDecoder *decoder)
{
  for (size_t i = 0; i < decoder->processes.n; i++)
    _lns_decoder_write_process (decoder, decoder->processes.items[i], true);
  for (size_t i = 0; i < decoder->threads.n; i++)
    _lns_decoder_write_thread (decoder, decoder->threads.items[i], true);
  for (size_t i = 0; i < decoder->domains.n; i++)
    write_domain (decoder, decoder->domains.items[i], true);
  for (size_t i = 0; i < decoder->categories.n; i++)
    write_category (decoder, decoder->categories.items[i], true);
  for (size_t i = 0; i < decoder->schemas.n; i++)
    write_schema (decoder, decoder->schemas.items[i]);
  for (size_t i = 0; i < decoder->resources.n; i++)
    _lns_decoder_write_resource (decoder, decoder->resources.items[i], true);
}

bool
_lns_decoder_keep (LnsDecoder *decoder, LnsPointers *list, LnsIdMap *map, uint64_t key, void *item)
{
  if (item != NULL && _lns_pointers_add (list, item))
    {
      if (lns_id_map_set (map, key, item))
        return true;
      list->n--;
    }
  free (item);
  decoder->counters.n_refused++;
  return false;
}

/* --- Domains ---------------------------------------------------------------------------------- */

LnsDecodedDomain *
_lns_decoder_domain (LnsDecoder *decoder, LnsDecodedProcess *process, uint32_t number)
{
  LnsDecodedDomain *domain = lns_id_map_get (&process->domains, number);
  if (domain != NULL)
    return domain;
  domain = calloc (1, sizeof *domain);
  if (!_lns_decoder_keep (decoder, &decoder->domains, &process->domains, number, domain))
    return NULL;
  *domain = (LnsDecodedDomain){
    .process = process,
    .id = (uint32_t)decoder->domains.n - 1,
    .number = number,
    .is_left_out = number == 0 && lns_domain_filter_leaves_out (&decoder->filter, NULL, 0),
    .created_ns = lns_decoder_now_ns (decoder),
    .destroyed_ns = LNS_TIME_UNKNOWN,
  };
  if (decoder->writer != NULL)
    write_domain (decoder, domain, true);
  return domain;
}

static void
name_domain (LnsDecoder *decoder, LnsDecodedDomain *domain, LnsWireText text)
{
  replace_name (&domain->name, _lns_decoder_name (text));
  domain->is_left_out = lns_domain_filter_leaves_out (
      &decoder->filter, domain->name != NULL ? domain->name->bytes : "",
      domain->name != NULL ? domain->name->n_bytes : 0);
  domain->destroyed_ns = LNS_TIME_UNKNOWN;
  if (decoder->writer != NULL)
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
      if (!_lns_decoder_keep (decoder, &decoder->categories, &domain->categories, named->id,
                              category))
        return;
      category->id = (uint32_t)decoder->categories.n - 1;
      category->domain = domain;
      category->number = named->id;
    }
  replace_name (&category->name, _lns_decoder_name (named->text));
  if (decoder->writer != NULL)
    write_category (decoder, category, anew);
}

/* --- Schemas ---------------------------------------------------------------------------------- */

/* A schema or enum ID of DOMAIN, or NULL where there is one already: they never change. */
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
  if (!_lns_decoder_keep (decoder, &decoder->schemas, map, id, schema))
    {
      free (entries);
      return NULL;
    }
  *schema = (LnsDecodedSchema){
    .id = (uint32_t)decoder->schemas.n - 1,
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
  LnsDecodedSchema *schema = new_schema (decoder, domain, &domain->schemas, record->id,
                                         record->name, record->entries.n_left);
  if (schema == NULL)
    return;
  schema->type = record->type;
  schema->flags = record->flags;
  schema->size_bytes = record->static_bytes;
  schema->align_bytes = record->pack_align_bytes;
  LnsWireList list = record->entries;
  LnsWireSchemaEntry entry;
  while (lns_wire_schema_entry_next (&list, &entry))
    schema->entries[schema->n_entries++] = (LnsDecodedEntry){
      .name = _lns_decoder_name (entry.name),
      .description = _lns_decoder_name (entry.description),
      .unit = _lns_decoder_name (entry.unit),
      .flags = entry.flags,
      .type = entry.type,
      .detail = entry.detail,
      .offset_bytes = entry.offset_bytes,
      .time_domain = entry.semantics.time_domain,
    };
  if (decoder->writer != NULL)
    write_schema (decoder, schema);
}

static void
define_enum (LnsDecoder *decoder, LnsDecodedDomain *domain, const LnsWireEnum *record)
{
  LnsDecodedSchema *schema = new_schema (decoder, domain, &domain->enums, record->id, record->name,
                                         record->entries.n_left);
  if (schema == NULL)
    return;
  schema->is_enum = true;
  schema->size_bytes = record->value_bytes;
  LnsWireList list = record->entries;
  LnsWireEnumEntry entry;
  while (lns_wire_enum_entry_next (&list, &entry))
    schema->entries[schema->n_entries++] = (LnsDecodedEntry){
      .name = _lns_decoder_name (entry.name),
      .flags = entry.is_flag,
      .type = entry.value,
    };
  if (decoder->writer != NULL)
    write_schema (decoder, schema);
}

/* --- Records ---------------------------------------------------------------------------------- */

static void
register_string (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireNamed *named)
{
  LnsName *name = lns_name_new (named->text.bytes, named->text.n_bytes);
  LnsName *old = lns_id_map_take (&process->registered, named->id);
  if (name == NULL || !lns_id_map_set (&process->registered, named->id, name))
    {
      lns_name_unref (name);
      decoder->counters.n_refused++;
    }
  lns_name_unref (old);
}

LnsUnrecorded *
_lns_decoder_tell (LnsDecoder *decoder,
                   const LnsDecodedProcess *process,
                   const char *code,
                   const char *format,
                   ...)
{
  LnsUnrecorded *unrecorded = calloc (1, sizeof *unrecorded);
  if (unrecorded == NULL || !_lns_pointers_add (&decoder->unrecorded, unrecorded))
    {
      free (unrecorded);
      return NULL;
    }
  va_list arguments;
  va_start (arguments, format);
  vsnprintf (unrecorded->text, sizeof unrecorded->text, format, arguments);
  va_end (arguments);
  unrecorded->process = process->id;
  unrecorded->code = code;
  unrecorded->severity = LNS_SEVERITY_WARNING;
  return unrecorded;
}

/* What the process itself says. */
static void
tell_said (LnsDecoder *decoder, LnsDecodedProcess *process, LnsWireText text)
{
  _lns_decoder_tell (decoder, process, "LNS-NVTX-005",
                     "process %d uses %.*s, which is not recorded", process->info.pid,
                     (int)text.n_bytes, text.n_bytes > 0 ? text.bytes : "");
}

void
_lns_decoder_definition (LnsDecoder *decoder,
                         LnsDecodedProcess *process,
                         const LnsWireRecord *record)
{
  if (record->type == LNS_WIRE_REGISTERED)
    register_string (decoder, process, &record->named);
  else if (record->type == LNS_WIRE_THREAD_NAME)
    _lns_decoder_name_thread (decoder, process, record->named.id,
                              _lns_decoder_name (record->named.text));
  else if (record->type == LNS_WIRE_UNRECORDED)
    tell_said (decoder, process, record->named.text);
  else if (record->type == LNS_WIRE_PYTHON_SAID)
    _lns_python_said (decoder, process, record->named.text);
  else if (record->type >= LNS_WIRE_CUDA_FIRST && record->type <= LNS_WIRE_CUDA_LAST)
    _lns_decoder_cuda_definition (decoder, process, record);
  if (record->type < LNS_WIRE_DOMAIN || record->type > LNS_WIRE_TIME_DOMAIN)
    return;
  LnsDecodedDomain *domain = _lns_decoder_domain (decoder, process, record->domain);
  if (domain == NULL)
    return;
  switch (record->type)
    {
    case LNS_WIRE_DOMAIN:
      name_domain (decoder, domain, record->named.text);
      break;
    case LNS_WIRE_DOMAIN_END:
      domain->destroyed_ns = lns_decoder_now_ns (decoder);
      if (decoder->writer != NULL)
        write_domain (decoder, domain, false);
      break;
    case LNS_WIRE_CATEGORY:
      name_category (decoder, domain, &record->named);
      break;
    case LNS_WIRE_RESOURCE:
    case LNS_WIRE_RESOURCE_END:
      _lns_decoder_resource (decoder, process, domain, record);
      break;
    case LNS_WIRE_SCHEMA:
      define_schema (decoder, domain, &record->schema);
      break;
    case LNS_WIRE_ENUM:
      define_enum (decoder, domain, &record->enumeration);
      break;
    case LNS_WIRE_TIME_DOMAIN:
      lns_id_map_set (&domain->clocks, record->scope.id, (void *)(uintptr_t)record->scope.parent);
      break;
    case LNS_WIRE_COUNTER:
      _lns_decoder_counter (decoder, domain, &record->counter);
      break;
    default:
      break;
    }
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
  _lns_domain_free_counters (domain);
  lns_name_unref (domain->name);
  lns_id_map_clear (&domain->categories);
  lns_id_map_clear (&domain->schemas);
  lns_id_map_clear (&domain->enums);
  lns_id_map_clear (&domain->clocks);
  lns_overlap_clear (&domain->lanes);
  free (domain->lane_refs);
  free (domain);
}

void
_lns_decoder_free_definitions (LnsDecoder *decoder)
{
  for (size_t i = 0; i < decoder->schemas.n; i++)
    free_schema (decoder->schemas.items[i]);
  for (size_t i = 0; i < decoder->categories.n; i++)
    {
      lns_name_unref (((LnsDecodedCategory *)decoder->categories.items[i])->name);
      free (decoder->categories.items[i]);
    }
  for (size_t i = 0; i < decoder->domains.n; i++)
    free_domain (decoder->domains.items[i]);
  for (size_t i = 0; i < decoder->threads.n; i++)
    {
      lns_name_unref (((LnsDecodedThread *)decoder->threads.items[i])->name);
      free (decoder->threads.items[i]);
    }
  for (size_t i = 0; i < decoder->resources.n; i++)
    {
      lns_name_unref (((LnsDecodedResource *)decoder->resources.items[i])->name);
      free (decoder->resources.items[i]);
    }
  for (size_t i = 0; i < decoder->processes.n; i++)
    {
      LnsDecodedProcess *process = decoder->processes.items[i];
      lns_process_info_clear (&process->info);
      free (process);
    }
  for (size_t i = 0; i < decoder->unrecorded.n; i++)
    free (decoder->unrecorded.items[i]);
  free (decoder->unrecorded.items);
  lns_id_map_clear (&decoder->python);
  free (decoder->resources.items);
  free (decoder->schemas.items);
  free (decoder->categories.items);
  free (decoder->domains.items);
  free (decoder->threads.items);
  free (decoder->processes.items);
}
