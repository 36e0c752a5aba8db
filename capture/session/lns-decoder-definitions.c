/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Definitions: kept in order for the session, so that each report can get them all under the same
 * ids. */

#include "capture/session/lns-decoder-private.h"

#include <stdlib.h>
#include <string.h>

/* The bytes of TEXT as a name of its own. */
static LnsName *
name_of (LnsWireText text)
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
  };
  if (anew)
    lns_writer_add_process (decoder->writer, &definition);
  else
    lns_writer_set_process (decoder->writer, process->id, &definition);
}

void
_lns_decoder_write_thread (LnsDecoder *decoder, const LnsDecodedThread *thread, bool anew)
{
  LnsThread definition = {
    .process = thread->process->id,
    .tid = thread->tid,
    .target_tid = thread->target_tid,
    .name = _lns_decoder_string (decoder, thread->name),
    .start_ns = thread->start_ns,
    .end_ns = thread->end_ns,
  };
  if (anew)
    lns_writer_add_thread (decoder->writer, &definition);
  else
    lns_writer_set_thread (decoder->writer, thread->id, &definition);
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
}

/* --- Threads ---------------------------------------------------------------------------------- */

/* Puts ITEM, just made, on the list of its kind and into MAP. False, and ITEM freed, if memory is
 * short. */
static bool
keep (LnsDecoder *decoder, LnsPointers *list, LnsIdMap *map, uint64_t key, void *item)
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

LnsDecodedThread *
_lns_decoder_thread (LnsDecoder *decoder,
                     LnsDecodedProcess *process,
                     const LnsWireThread *record,
                     uint64_t ticks)
{
  LnsDecodedThread *thread = lns_id_map_get (&process->threads, record->serial);
  if (thread != NULL)
    return thread;
  thread = calloc (1, sizeof *thread);
  if (!keep (decoder, &decoder->threads, &process->threads, record->serial, thread))
    return NULL;
  LnsName *named = lns_id_map_get (&process->thread_names, 1 + (uint64_t)record->tid);
  /* Where the process lives in our own pid namespace, its thread ids are ours. */
  bool same_ids = process->info.pid == process->info.target_pid;
  *thread = (LnsDecodedThread){
    .process = process,
    .id = (uint32_t)decoder->threads.n - 1,
    .serial = record->serial,
    .tid = same_ids ? (int32_t)record->tid : 0,
    .target_tid = (int32_t)record->tid,
    .start_ns = lns_clock_line_ns (&decoder->clock, ticks),
    .end_ns = LNS_TIME_UNKNOWN,
    .name = named != NULL ? lns_name_ref (named) : name_of (record->name),
  };
  if (decoder->writer != NULL)
    _lns_decoder_write_thread (decoder, thread, true);
  return thread;
}

/* The program calls its thread TID so: those that live with that id, and those to come. */
static void
name_thread (LnsDecoder *decoder, LnsDecodedProcess *process, const LnsWireNamed *named)
{
  LnsName *name = name_of (named->text);
  uint64_t key = 1 + (uint64_t)named->id;
  lns_name_unref (lns_id_map_take (&process->thread_names, key));
  if (name == NULL || !lns_id_map_set (&process->thread_names, key, name))
    {
      lns_name_unref (name);
      return;
    }
  for (size_t i = 0; i < process->threads.n_places; i++)
    {
      LnsDecodedThread *thread = process->threads.entries[i].value;
      if (thread == NULL || (uint32_t)thread->target_tid != named->id ||
          thread->end_ns != LNS_TIME_UNKNOWN)
        continue;
      replace_name (&thread->name, lns_name_ref (name));
      if (decoder->writer != NULL)
        _lns_decoder_write_thread (decoder, thread, false);
    }
}

/* --- Domains ---------------------------------------------------------------------------------- */

LnsDecodedDomain *
_lns_decoder_domain (LnsDecoder *decoder, LnsDecodedProcess *process, uint32_t number)
{
  LnsDecodedDomain *domain = lns_id_map_get (&process->domains, number);
  if (domain != NULL)
    return domain;
  domain = calloc (1, sizeof *domain);
  if (!keep (decoder, &decoder->domains, &process->domains, number, domain))
    return NULL;
  *domain = (LnsDecodedDomain){
    .process = process,
    .id = (uint32_t)decoder->domains.n - 1,
    .number = number,
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
  replace_name (&domain->name, name_of (text));
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
      if (!keep (decoder, &decoder->categories, &domain->categories, named->id, category))
        return;
      category->id = (uint32_t)decoder->categories.n - 1;
      category->domain = domain;
      category->number = named->id;
    }
  replace_name (&category->name, name_of (named->text));
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
  if (!keep (decoder, &decoder->schemas, map, id, schema))
    {
      free (entries);
      return NULL;
    }
  *schema = (LnsDecodedSchema){
    .id = (uint32_t)decoder->schemas.n - 1,
    .domain = domain,
    .schema_id = id,
    .name = name_of (name),
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
      .name = name_of (entry.name),
      .description = name_of (entry.description),
      .unit = name_of (entry.unit),
      .flags = entry.flags,
      .type = entry.type,
      .detail = entry.detail,
      .offset_bytes = entry.offset_bytes,
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
      .name = name_of (entry.name),
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

void
_lns_decoder_definition (LnsDecoder *decoder,
                         LnsDecodedProcess *process,
                         const LnsWireRecord *record)
{
  if (record->type == LNS_WIRE_REGISTERED)
    register_string (decoder, process, &record->named);
  else if (record->type == LNS_WIRE_THREAD_NAME)
    name_thread (decoder, process, &record->named);
  if (record->type < LNS_WIRE_DOMAIN || record->type > LNS_WIRE_DOMAIN_END)
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
    case LNS_WIRE_SCHEMA:
      define_schema (decoder, domain, &record->schema);
      break;
    case LNS_WIRE_ENUM:
      define_enum (decoder, domain, &record->enumeration);
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
  for (size_t i = 0; i < decoder->processes.n; i++)
    {
      LnsDecodedProcess *process = decoder->processes.items[i];
      lns_process_info_clear (&process->info);
      free (process);
    }
  free (decoder->schemas.items);
  free (decoder->categories.items);
  free (decoder->domains.items);
  free (decoder->threads.items);
  free (decoder->processes.items);
}
