/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The rows that come from definitions. */

#include <stdlib.h>
#include <string.h>

#include "src/tables/enums.h"
#include "src/tables/cell-builder.h"

static void
build_thread_names (LnsCellBuilder *builder)
{
  uint32_t n, n_reused, n_processes;
  const LnsThread *threads = lns_report_threads (builder->report, &n);
  const LnsProcess *processes = lns_report_processes (builder->report, &n_processes);
  LnsKeyedId *items = _lns_builder_named_threads (builder, &n, &n_reused);

  for (uint32_t i = 0; i < n; i++)
    {
      const LnsThread *thread = &threads[items[i].id];
      LnsValue *row = _lns_builder_add_row (builder);
      if (row == NULL)
        break;
      row[0] = _lns_cell_integer (thread->name != 0 || thread->listed != 0
                                      ? thread->name
                                      : processes[thread->process].name);
      if (thread->listed == 2)
        row[1] = _lns_cell_integer (thread->priority);
      row[2] = _lns_cell_integer (items[i].key);
    }
  free (items);
}

static void
build_processes (LnsCellBuilder *builder)
{
  uint32_t n, n_listed = 0;
  const LnsProcess *processes = lns_report_processes (builder->report, &n);
  LnsKeyedId *items = calloc (n + 1, sizeof *items);

  builder->good = items != NULL;
  for (uint32_t i = 0; items != NULL && i < n; i++)
    if (processes[i].is_listed || !_lns_builder_is_import (builder))
      items[n_listed++] = (LnsKeyedId){ lns_tables_global_pid (builder->tables, i), i };
  n = items != NULL ? _lns_builder_keep_last (items, n_listed) : 0;
  for (uint32_t i = 0; i < n; i++)
    {
      LnsValue *row = _lns_builder_add_row (builder);
      if (row == NULL)
        break;
      row[0] = _lns_cell_integer (items[i].key);
      row[1] = _lns_cell_integer (processes[items[i].id].pid);
      row[2] = _lns_builder_string (builder, processes[items[i].id].name);
    }
  free (items);
}

/* ---- NVTX ------------------------------------------------------------------------------------ */

static LnsValue *
add_nvtx_row (LnsCellBuilder *builder,
              int event_type,
              int64_t time_ns,
              uint32_t name,
              uint32_t domain,
              int64_t global_tid)
{
  uint32_t n_domains;
  const LnsDomain *domains = lns_report_domains (builder->report, &n_domains);
  LnsValue *row = _lns_builder_add_row (builder);

  if (row == NULL)
    return NULL;
  row[LNS_NVTX_START] = _lns_cell_integer (time_ns != LNS_TIME_UNKNOWN ? time_ns : 0);
  row[LNS_NVTX_EVENT_TYPE] = _lns_cell_integer (event_type);
  if (event_type != LNS_EVENT_TYPE_DOMAIN_DESTROY)
    row[LNS_NVTX_TEXT] = _lns_builder_string (builder, name);
  row[LNS_NVTX_GLOBAL_TID] = _lns_cell_integer_or_null (global_tid);
  row[LNS_NVTX_DOMAIN_ID] = _lns_cell_integer (domain < n_domains ? domains[domain].number : 0);
  return row;
}

static int
compare_nvtx_rows (const void *a, const void *b)
{
  const LnsValue *ra = a, *rb = b;
  int64_t sa = ra[LNS_NVTX_START].integer, sb = rb[LNS_NVTX_START].integer;

  if (sa != sb)
    return sa < sb ? -1 : 1;
  return ra[LNS_NVTX_EVENT_ID].integer < rb[LNS_NVTX_EVENT_ID].integer ? -1 : 1;
}

/* The thread that created DOMAIN, or its process where that is not known. */
static int64_t
domain_tid (LnsCellBuilder *builder, uint32_t domain)
{
  uint32_t n;
  const LnsDomain *domains = lns_report_domains (builder->report, &n);
  int64_t tid = domain < n ? lns_tables_global_tid (builder->tables, domains[domain].thread) : 0;

  return tid != 0 || domain >= n ? tid
                                 : lns_tables_global_pid (builder->tables, domains[domain].process);
}

/* Domains, categories and thread names as the events that the reference makes of them. */
static void
build_nvtx (LnsCellBuilder *builder)
{
  LnsTableCells *cells = builder->cells;
  uint32_t n_domains, n_categories, n_threads, n_reused;
  const LnsDomain *domains = lns_report_domains (builder->report, &n_domains);
  const LnsCategory *categories = lns_report_categories (builder->report, &n_categories);
  const LnsThread *threads = lns_report_threads (builder->report, &n_threads);
  LnsKeyedId *named = _lns_builder_named_threads (builder, &n_threads, &n_reused);
  LnsValue *row;

  /* A program neither creates nor destroys the default domain. A file of others has the rows that it has: some
   * destroy what nothing created, and the default domain.                                         */
  const bool is_imported = _lns_builder_is_import (builder);
  for (uint32_t i = 0; i < n_domains; i++)
    {
      const bool is_created = domains[i].created_ns != LNS_TIME_UNKNOWN,
                 is_destroyed = domains[i].destroyed_ns != LNS_TIME_UNKNOWN;
      if (is_created && (is_imported || domains[i].number != 0))
        add_nvtx_row (builder, LNS_EVENT_TYPE_DOMAIN_CREATE, domains[i].created_ns, domains[i].name,
                      i, domain_tid (builder, i));
      if (is_destroyed && (is_imported || (is_created && domains[i].number != 0)))
        add_nvtx_row (builder, LNS_EVENT_TYPE_DOMAIN_DESTROY, domains[i].destroyed_ns, 0, i,
                      domain_tid (builder, i));
    }
  for (uint32_t i = 0; i < n_categories; i++)
    {
      uint32_t domain = categories[i].domain;
      row = add_nvtx_row (builder, LNS_EVENT_TYPE_CATEGORY,
                          domain < n_domains ? domains[domain].created_ns : 0, categories[i].name,
                          domain, domain_tid (builder, domain));
      if (row != NULL)
        row[LNS_NVTX_CATEGORY] = _lns_cell_integer (categories[i].category);
    }
  for (uint32_t i = 0; i < n_threads; i++)
    {
      const LnsThread *thread = &threads[named[i].id];
      if (thread->is_named)
        add_nvtx_row (builder, LNS_EVENT_TYPE_THREAD_NAME, thread->start_ns, thread->name,
                      LNS_ID_NONE, named[i].key);
    }
  free (named);
  for (uint64_t i = 0; i < cells->n_rows; i++)
    cells->values[i * builder->n_columns + LNS_NVTX_EVENT_ID] = _lns_cell_integer ((int64_t)i);
  if (cells->n_rows > 0)
    qsort (cells->values, cells->n_rows, builder->n_columns * sizeof *cells->values,
           compare_nvtx_rows);
  for (uint64_t i = 0; i < cells->n_rows; i++)
    cells->values[i * builder->n_columns + LNS_NVTX_EVENT_ID] =
        _lns_cell_integer ((int64_t)(builder->tables->nvtx->n_events + i + 1));
}

static int64_t
domain_number (LnsCellBuilder *builder, uint32_t domain)
{
  uint32_t n;
  const LnsDomain *domains = lns_report_domains (builder->report, &n);

  return domain < n ? domains[domain].number : 0;
}

/* NVTX_RESOURCE_TYPE_* without that prefix, from nvToolsExt.h, nvToolsExtCuda.h, nvToolsExtCudaRt.h,
 * nvToolsExtOpenCL.h and nvToolsExtSync.h. */
static const char *
resource_type_name (uint32_t type)
{
  static const struct
  {
    uint32_t type;
    const char *name;
  } known[] = {
    { 0x10001, "GENERIC_POINTER" },
    { 0x10002, "GENERIC_HANDLE" },
    { 0x10003, "GENERIC_THREAD_NATIVE" },
    { 0x10004, "GENERIC_THREAD_POSIX" },
    { 0x20001, "SYNC_LINUX_MUTEX" },
    { 0x20002, "SYNC_LINUX_FUTEX" },
    { 0x20003, "SYNC_LINUX_SEMAPHORE" },
    { 0x20004, "SYNC_LINUX_COMPLETION" },
    { 0x20005, "SYNC_LINUX_SPINLOCK" },
    { 0x20006, "SYNC_LINUX_SEQLOCK" },
    { 0x20007, "SYNC_LINUX_RCU" },
    { 0x30001, "SYNC_PTHREAD_MUTEX" },
    { 0x30002, "SYNC_PTHREAD_CONDITION" },
    { 0x30003, "SYNC_PTHREAD_RWLOCK" },
    { 0x30004, "SYNC_PTHREAD_BARRIER" },
    { 0x30005, "SYNC_PTHREAD_SPINLOCK" },
    { 0x30006, "SYNC_PTHREAD_ONCE" },
    { 0x40001, "CUDA_DEVICE" },
    { 0x40002, "CUDA_CONTEXT" },
    { 0x40003, "CUDA_STREAM" },
    { 0x40004, "CUDA_EVENT" },
    { 0x50000, "CUDART_DEVICE" },
    { 0x50001, "CUDART_STREAM" },
    { 0x50002, "CUDART_EVENT" },
    { 0x60001, "OPENCL_DEVICE" },
    { 0x60002, "OPENCL_CONTEXT" },
    { 0x60003, "OPENCL_COMMANDQUEUE" },
    { 0x60004, "OPENCL_MEMOBJECT" },
    { 0x60005, "OPENCL_SAMPLER" },
    { 0x60006, "OPENCL_PROGRAM" },
    { 0x60007, "OPENCL_EVENT" },
  };

  for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
    if (known[i].type == type)
      return known[i].name;
  return "UNKNOWN";
}

static void
build_resources (LnsCellBuilder *builder)
{
  uint32_t n, n_domains;
  const LnsResource *resources = lns_report_resources (builder->report, &n);
  const LnsDomain *domains = lns_report_domains (builder->report, &n_domains);
  LnsValue *row;

  for (uint32_t i = 0; i < n && (row = _lns_builder_add_row (builder)) != NULL; i++)
    {
      const LnsResource *resource = &resources[i];
      if (resource->created_ns != LNS_TIME_UNKNOWN)
        row[0] = _lns_cell_integer (resource->created_ns);
      if (resource->destroyed_ns != LNS_TIME_UNKNOWN)
        row[1] = _lns_cell_integer (resource->destroyed_ns);
      if (resource->domain < n_domains)
        row[2] = _lns_cell_integer_or_null (
            lns_tables_global_pid (builder->tables, domains[resource->domain].process));
      row[3] = _lns_cell_integer (domain_number (builder, resource->domain));
      row[4] = _lns_cell_integer (resource->type);
      row[5] = _lns_cell_constant (resource_type_name (resource->type));
      row[6] = _lns_cell_integer ((int64_t)resource->identifier);
      row[7] = _lns_cell_integer (resource->name);
      row[8] = _lns_builder_string (builder, resource->name);
    }
}

static void
build_payload_schemas (LnsCellBuilder *builder, bool enums)
{
  uint32_t n, n_entries;
  const LnsSchema *schemas = lns_report_schemas (builder->report, &n);
  const LnsSchemaEntry *entries = lns_report_schema_entries (builder->report, &n_entries);
  uint32_t *counts = calloc (n + 1, sizeof *counts);

  builder->good = counts != NULL;
  for (uint32_t i = 0; counts != NULL && i < n_entries; i++)
    if (entries[i].schema < n)
      counts[entries[i].schema]++;
  for (uint32_t i = 0; counts != NULL && i < n; i++)
    {
      LnsValue *row = (schemas[i].is_enum != 0) == enums ? _lns_builder_add_row (builder) : NULL;
      if (row == NULL)
        continue;
      row[0] = _lns_cell_integer (domain_number (builder, schemas[i].domain));
      row[1] = _lns_cell_integer ((int64_t)schemas[i].schema_id);
      row[2] = _lns_builder_string_or_null (builder, schemas[i].name);
      row[enums ? 3 : 5] = _lns_cell_integer (counts[i]);
      row[enums ? 4 : 6] = _lns_cell_integer (schemas[i].size_bytes);
      if (enums)
        continue;
      row[3] = _lns_cell_integer (schemas[i].type);
      row[4] = _lns_cell_integer_or_null (schemas[i].flags);
      row[7] = _lns_cell_integer_or_null (schemas[i].align_bytes);
    }
  free (counts);
}

static void
build_payload_entries (LnsCellBuilder *builder, bool enums)
{
  uint32_t n, n_schemas;
  const LnsSchemaEntry *entries = lns_report_schema_entries (builder->report, &n);
  const LnsSchema *schemas = lns_report_schemas (builder->report, &n_schemas);

  for (uint32_t i = 0; i < n; i++)
    {
      const LnsSchemaEntry *entry = &entries[i];
      if (entry->schema >= n_schemas || (schemas[entry->schema].is_enum != 0) != enums)
        continue;
      LnsValue *row = _lns_builder_add_row (builder);
      if (row == NULL)
        return;
      row[0] = _lns_cell_integer (domain_number (builder, schemas[entry->schema].domain));
      row[1] = _lns_cell_integer ((int64_t)schemas[entry->schema].schema_id);
      row[2] = _lns_cell_integer (entry->position);
      row[enums ? 3 : 5] = _lns_builder_string_or_null (builder, entry->name);
      row[4] = _lns_cell_integer ((int64_t)entry->type);
      if (enums)
        {
          row[5] = _lns_cell_integer_or_null (entry->flags);
          continue;
        }
      row[3] = _lns_cell_integer_or_null (entry->flags);
      row[6] = _lns_builder_string_or_null (builder, entry->description);
      row[7] = _lns_cell_integer_or_null ((int64_t)entry->array_or_union_detail);
      row[8] = _lns_cell_integer_or_null ((int64_t)entry->offset_bytes);
    }
}

static void
build_enum (LnsCellBuilder *builder, const char *name)
{
  const LnsEnum *found = NULL;
  LnsValue *row;

  for (unsigned i = 0; i < LNS_N_ENUMS; i++)
    if (strcmp (lns_enums[i].name, name) == 0)
      found = &lns_enums[i];
  for (unsigned i = 0;
       found != NULL && i < found->n_values && (row = _lns_builder_add_row (builder)) != NULL; i++)
    {
      row[0] = _lns_cell_integer (found->values[i].id);
      row[1] = _lns_cell_constant (found->values[i].name);
      row[2] = _lns_cell_constant (found->values[i].label);
    }
}

bool
_lns_cells_build (LnsTables *tables, const LnsTable *table, LnsTableCells *cells)
{
  LnsCellBuilder builder = { tables, tables->report, cells, table->n_columns, true };
  const char *name = table->name;

  cells->n_rows = 0;
  if (table->source == LNS_ROWS_KEPT)
    _lns_builder_kept (&builder, table);
  else if (table->source == LNS_ROWS_ENUM)
    build_enum (&builder, name);
  else if (table->source == LNS_ROWS_NVTX)
    build_nvtx (&builder);
  else if (table->source != LNS_ROWS_DEFINITIONS || _lns_builder_session (&builder, name) ||
           _lns_builder_cuda (&builder, name))
    return builder.good;
  else if (strcmp (name, "ThreadNames") == 0)
    build_thread_names (&builder);
  else if (strcmp (name, "PROCESSES") == 0)
    build_processes (&builder);
  else if (strcmp (name, "LNS_NVTX_RESOURCES") == 0)
    build_resources (&builder);
  else if (strcmp (name, "NVTX_PAYLOAD_SCHEMAS") == 0 || strcmp (name, "NVTX_PAYLOAD_ENUMS") == 0)
    build_payload_schemas (&builder, strcmp (name, "NVTX_PAYLOAD_ENUMS") == 0);
  else
    build_payload_entries (&builder, strcmp (name, "NVTX_PAYLOAD_ENUM_ENTRIES") == 0);
  return builder.good;
}
