/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Definitions of a recovery. Their ids stay, as they are dense. */

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/format.h"
#include "src/store/recover/recover-private.h"
#include "src/store/read/report-private.h"

/* How far an id may lie beyond what is known: no lost chunks hold more definitions than this. */
#define HOLE_MAX 1000000

/* The fields that are string ids. */
static const struct
{
  LnsDefinitionKind kind;
  size_t offset;
} string_fields[] = {
  { LNS_DEFINITION_PROCESS, offsetof (LnsProcess, name) },
  { LNS_DEFINITION_PROCESS, offsetof (LnsProcess, command_line) },
  { LNS_DEFINITION_PROCESS, offsetof (LnsProcess, executable) },
  { LNS_DEFINITION_THREAD, offsetof (LnsThread, name) },
  { LNS_DEFINITION_DOMAIN, offsetof (LnsDomain, name) },
  { LNS_DEFINITION_CATEGORY, offsetof (LnsCategory, name) },
  { LNS_DEFINITION_RESOURCE, offsetof (LnsResource, name) },
  { LNS_DEFINITION_SCHEMA, offsetof (LnsSchema, name) },
  { LNS_DEFINITION_SCHEMA_ENTRY, offsetof (LnsSchemaEntry, name) },
  { LNS_DEFINITION_SCHEMA_ENTRY, offsetof (LnsSchemaEntry, description) },
  { LNS_DEFINITION_TRACK, offsetof (LnsTrack, name) },
  { LNS_DEFINITION_TRACK, offsetof (LnsTrack, unit) },
  { LNS_DEFINITION_DEVICE, offsetof (LnsCudaDevice, name) },
  { LNS_DEFINITION_DEVICE, offsetof (LnsCudaDevice, bus) },
  { LNS_DEFINITION_DEVICE, offsetof (LnsCudaDevice, uuid) },
  { LNS_DEFINITION_STREAM, offsetof (LnsCudaStream, name) },
  { LNS_DEFINITION_LAUNCH, offsetof (LnsCudaLaunch, short_name) },
  { LNS_DEFINITION_LAUNCH, offsetof (LnsCudaLaunch, mangled_name) },
  { LNS_DEFINITION_DIAGNOSTIC, offsetof (LnsDiagnostic, code) },
  { LNS_DEFINITION_DIAGNOSTIC, offsetof (LnsDiagnostic, text) },
  { LNS_DEFINITION_KEPT_TABLE, offsetof (LnsKeptTable, name) },
  { LNS_DEFINITION_KEPT_TABLE, offsetof (LnsKeptTable, columns) },
  { LNS_DEFINITION_KEPT_ROWS, offsetof (LnsKeptRows, rows) },
};

/* What stands for a lost definition: it refers to nothing and tells no time. */
static LnsDefinition
stand_in (LnsDefinitionKind kind)
{
  LnsDefinition definition;

  memset (&definition, 0, sizeof definition);
  if (kind == LNS_DEFINITION_PROCESS)
    {
      definition.process.start_ns = definition.process.end_ns = LNS_TIME_UNKNOWN;
      definition.process.exit_code = -1;
    }
  if (kind == LNS_DEFINITION_THREAD)
    definition.thread.start_ns = definition.thread.end_ns = LNS_TIME_UNKNOWN;
  if (kind == LNS_DEFINITION_DOMAIN)
    definition.domain.created_ns = definition.domain.destroyed_ns = LNS_TIME_UNKNOWN;
  if (kind == LNS_DEFINITION_RESOURCE)
    definition.resource.created_ns = definition.resource.destroyed_ns = LNS_TIME_UNKNOWN;
  for (size_t r = 0; r < _lns_n_definition_references; r++)
    if (_lns_definition_references[r].from == kind)
      memcpy ((char *)&definition + _lns_definition_references[r].offset,
              &(uint32_t){ LNS_ID_NONE }, sizeof (uint32_t));
  return definition;
}

/* Makes the table of KIND reach to ID. False where that cannot be (memory, or a wild id). */
static bool
reach (LnsRecover *recover, LnsDefinitionKind kind, uint32_t id)
{
  LnsRecoveredTable *table = &recover->tables[kind];

  if (id < table->n)
    return true;
  if (id - table->n > HOLE_MAX)
    return false;
  if (id >= table->n_allocated)
    {
      uint32_t n_allocated = id + 1 + id / 2 + 64;
      LnsDefinition *definitions =
          reallocarray (table->definitions, n_allocated, sizeof *definitions);
      if (definitions == NULL)
        return false;
      table->definitions = definitions;
      table->n_allocated = n_allocated;
    }
  for (; table->n <= id; table->n++)
    table->definitions[table->n] = stand_in (kind);
  return true;
}

bool
_lns_recover_read_definitions (LnsRecover *recover)
{
  size_t n_chunks;
  const LnsFoundChunk *chunks = _lns_scan_chunks (&recover->scan, LNS_CHUNK_DEFINITIONS, &n_chunks);
  bool any = false;

  for (size_t c = 0; c < n_chunks; c++)
    {
      LnsChunkView view;
      if (!_lns_scan_read (&chunks[c], recover->bytes, &view))
        continue;
      const LnsChunkColumn *column = lns_chunk_column (&view, LNS_DEFINITION_COLUMN_RECORDS);
      const uint8_t *records = column != NULL ? column->bytes : NULL;
      size_t records_bytes = column != NULL ? column->size_bytes : 0;
      LnsDefinitionKind kind;
      LnsDefinition definition;
      uint32_t id;
      for (uint32_t i = 0; i < view.header.n && lns_definition_decode (&records, &records_bytes,
                                                                       &kind, &id, &definition);
           i++)
        {
          if (lns_definition_size (kind) == 0 || !reach (recover, kind, id))
            continue;
          memcpy (&recover->tables[kind].definitions[id], &definition, lns_definition_size (kind));
          any = true;
        }
    }
  return any || lns_error_set (recover->error, LNS_ERROR_FORMAT, 0,
                               "%s: cannot recover anything; the file is not a Lanescope report, "
                               "or too little of it is left; use another copy of the report",
                               recover->path);
}

bool
_lns_recover_find_blocks (LnsRecover *recover)
{
  const LnsRecoveredTable *rows = &recover->tables[LNS_DEFINITION_KEPT_ROWS];
  const LnsRecoveredTable *tables = &recover->tables[LNS_DEFINITION_KEPT_TABLE];
  uint32_t *ids = calloc ((size_t)rows->n + tables->n + 1, sizeof *ids);
  size_t n = 0;

  if (ids == NULL)
    return _lns_recover_no_memory (recover);
  for (uint32_t i = 0; i < rows->n; i++)
    ids[n++] = rows->definitions[i].kept_rows.rows;
  for (uint32_t i = 0; i < tables->n; i++)
    ids[n++] = tables->definitions[i].kept_table.columns;
  _lns_recovered_strings_set_blocks (&recover->strings, ids, n);
  return true;
}

/* The track that lanes of KIND belong to: the first, where several have such. */
static LnsTrackKind
track_kind_of (LnsLaneKind kind)
{
  static const LnsTrackKind kinds[LNS_N_LANE_KINDS] = {
    [LNS_LANE_NVTX_PUSH_POP] = LNS_TRACK_NVTX_RANGES,
    [LNS_LANE_NVTX_START_END] = LNS_TRACK_NVTX_START_END,
    [LNS_LANE_NVTX_MARK] = LNS_TRACK_NVTX_MARKS,
    [LNS_LANE_COUNTER] = LNS_TRACK_COUNTER,
    [LNS_LANE_CUDA_API] = LNS_TRACK_CUDA_API,
    [LNS_LANE_CUDA_KERNEL] = LNS_TRACK_CUDA_KERNELS,
    [LNS_LANE_CUDA_MEMCPY] = LNS_TRACK_CUDA_MEMCPY,
    [LNS_LANE_CUDA_MEMSET] = LNS_TRACK_CUDA_MEMSET,
    [LNS_LANE_CUDA_SYNC] = LNS_TRACK_CUDA_SYNC,
    [LNS_LANE_CUDA_EVENT] = LNS_TRACK_CUDA_EVENTS,
    [LNS_LANE_CUDA_GRAPH] = LNS_TRACK_CUDA_GRAPHS,
    [LNS_LANE_CUDA_GRAPH_NODE] = LNS_TRACK_CUDA_GRAPH_NODES,
    [LNS_LANE_CUDA_OVERHEAD] = LNS_TRACK_CUDA_OVERHEAD,
    [LNS_LANE_CUDA_MEMORY] = LNS_TRACK_CUDA_MEMORY,
    [LNS_LANE_CUDA_POOL] = LNS_TRACK_CUDA_POOLS,
    [LNS_LANE_CUDA_FAULT] = LNS_TRACK_CUDA_CPU_FAULTS,
    [LNS_LANE_CUDA_JIT] = LNS_TRACK_CUDA_JIT,
    [LNS_LANE_LIBRARY_CALL] = LNS_TRACK_CUBLAS,
    [LNS_LANE_OS_CALL] = LNS_TRACK_OS_CALLS,
    [LNS_LANE_SCHED] = LNS_TRACK_SCHED,
    [LNS_LANE_CPU_SAMPLE] = LNS_TRACK_CPU_SAMPLES,
    [LNS_LANE_MPI_CALL] = LNS_TRACK_MPI,
    [LNS_LANE_NVTX_PROJECTED] = LNS_TRACK_NVTX_PROJECTED,
    [LNS_LANE_CUDA_BACKTRACE] = LNS_TRACK_CUDA_BACKTRACES,
  };
  return kinds[kind];
}

/* Gives the lane of each chunk in CHUNKS the chunk's kind, unless it is known what kind it has. */
static void
learn_lane_kinds (LnsRecover *recover, const LnsFoundChunk *chunks, size_t n_chunks)
{
  const LnsRecoveredTable *lanes = &recover->tables[LNS_DEFINITION_LANE];

  for (size_t c = 0; c < n_chunks; c++)
    {
      const LnsChunkHeader *header = &chunks[c].header;
      if (lns_lane_kind_info ((LnsLaneKind)header->lane_kind) != NULL &&
          reach (recover, LNS_DEFINITION_LANE, header->lane) &&
          lns_lane_kind_info (lanes->definitions[header->lane].lane.kind) == NULL)
        lanes->definitions[header->lane].lane.kind = (LnsLaneKind)header->lane_kind;
    }
}

/* Makes a lane, and a track of its own, for each lane of which only chunks are known. */
static bool
add_lost_lanes (LnsRecover *recover)
{
  const LnsRecoveredTable *lanes = &recover->tables[LNS_DEFINITION_LANE];
  const LnsRecoveredTable *tracks = &recover->tables[LNS_DEFINITION_TRACK];
  size_t n_chunks;

  const LnsFoundChunk *chunks = _lns_scan_chunks (&recover->scan, LNS_CHUNK_EVENTS, &n_chunks);
  learn_lane_kinds (recover, chunks, n_chunks);
  chunks = _lns_scan_chunks (&recover->scan, LNS_CHUNK_OPEN_EVENT, &n_chunks);
  learn_lane_kinds (recover, chunks, n_chunks);
  for (uint32_t i = 0; i < lanes->n; i++)
    {
      LnsLane *lane = &lanes->definitions[i].lane;
      if (lns_lane_kind_info (lane->kind) == NULL)
        lane->kind = LNS_LANE_NVTX_PUSH_POP;
      if (lane->track != LNS_ID_NONE)
        continue;
      if (!reach (recover, LNS_DEFINITION_TRACK, tracks->n))
        return _lns_recover_no_memory (recover);
      lane->track = tracks->n - 1;
      tracks->definitions[lane->track].track.kind = track_kind_of (lane->kind);
    }
  return true;
}

/* Makes every reference lead somewhere, and none of them in a circle. */
static bool
mend_references (LnsRecover *recover)
{
  for (size_t r = 0; r < _lns_n_definition_references; r++)
    {
      const LnsDefinitionReference *reference = &_lns_definition_references[r];
      const LnsRecoveredTable *from = &recover->tables[reference->from];
      for (uint32_t i = 0; i < from->n; i++)
        {
          char *field = (char *)&from->definitions[i] + reference->offset;
          uint32_t id;
          memcpy (&id, field, sizeof id);
          if (id == LNS_ID_NONE && reference->required)
            id = 0;
          if (id != LNS_ID_NONE && !reach (recover, reference->to, id))
            {
              id = reference->required ? 0 : LNS_ID_NONE;
              if (id == 0 && !reach (recover, reference->to, id))
                return _lns_recover_no_memory (recover);
            }
          memcpy ((char *)&from->definitions[i] + reference->offset, &id, sizeof id);
        }
    }
  const LnsRecoveredTable *processes = &recover->tables[LNS_DEFINITION_PROCESS];
  uint32_t n_ended;
  return _lns_report_end_circles (processes->definitions, sizeof *processes->definitions,
                                  processes->n, &n_ended) ||
         _lns_recover_no_memory (recover);
}

static void
write_definition (LnsRecover *recover, LnsDefinitionKind kind, const LnsDefinition *definition)
{
  LnsWriter *writer = recover->writer;

  switch (kind)
    {
    case LNS_DEFINITION_PROCESS:
      lns_writer_add_process (writer, &definition->process);
      break;
    case LNS_DEFINITION_THREAD:
      lns_writer_add_thread (writer, &definition->thread);
      break;
    case LNS_DEFINITION_DOMAIN:
      lns_writer_add_domain (writer, &definition->domain);
      break;
    case LNS_DEFINITION_CATEGORY:
      lns_writer_add_category (writer, &definition->category);
      break;
    case LNS_DEFINITION_RESOURCE:
      lns_writer_add_resource (writer, &definition->resource);
      break;
    case LNS_DEFINITION_SCHEMA:
      lns_writer_add_schema (writer, &definition->schema);
      break;
    case LNS_DEFINITION_SCHEMA_ENTRY:
      lns_writer_add_schema_entry (writer, &definition->schema_entry);
      break;
    case LNS_DEFINITION_TRACK:
      lns_writer_add_track (writer, &definition->track);
      break;
    case LNS_DEFINITION_LANE:
      lns_writer_add_lane (writer, &definition->lane);
      break;
    case LNS_DEFINITION_DIAGNOSTIC:
      lns_writer_add_diagnostic (writer, &definition->diagnostic);
      break;
    case LNS_DEFINITION_LOSS:
      lns_writer_add_loss (writer, &definition->loss);
      break;
    case LNS_DEFINITION_DEVICE:
      lns_writer_add_device (writer, &definition->device);
      break;
    case LNS_DEFINITION_CONTEXT:
      lns_writer_add_context (writer, &definition->context);
      break;
    case LNS_DEFINITION_STREAM:
      lns_writer_add_stream (writer, &definition->stream);
      break;
    case LNS_DEFINITION_LAUNCH:
      lns_writer_add_launch (writer, &definition->launch);
      break;
    case LNS_DEFINITION_KEPT_TABLE:
      lns_writer_add_kept_table (writer, &definition->kept_table);
      break;
    case LNS_DEFINITION_KEPT_ROWS:
      lns_writer_add_kept_rows (writer, &definition->kept_rows);
      break;
    default:
      break;
    }
}

/* Says that N rows of the kept table whose name has OLD_ID are not there. */
static void
tell_lost_rows (LnsRecover *recover, uint32_t old_id, uint64_t n)
{
  char name[80], text[200];

  _lns_recovered_text (&recover->strings, old_id, name, sizeof name);
  const int size =
      snprintf (text, sizeof text, "%" PRIu64 " row%s of table %s %s unreadable and %s left out.",
                n, lns_plural (n, "", "s"), name[0] != '\0' ? name : "(lost)",
                lns_plural (n, "was", "were"), lns_plural (n, "is", "are"));
  const LnsDiagnostic diagnostic = { .code =
                                         lns_writer_string (recover->writer, "LNS-STORE-001", 13),
                                     .severity = LNS_SEVERITY_ERROR,
                                     .time_ns = LNS_TIME_UNKNOWN,
                                     .process = LNS_ID_NONE,
                                     .text =
                                         lns_writer_string (recover->writer, text, (size_t)size) };
  lns_writer_add_diagnostic (recover->writer, &diagnostic);
}

/* Whether the block that had OLD_ID is not in the new report. */
static bool
is_lost (const LnsRecover *recover, uint32_t old_id)
{
  const uint32_t id = _lns_recovered_string (&recover->strings, old_id, recover->strings.lost_name);

  return id == 0 || id == recover->strings.lost_name;
}

/* Empties the blocks of kept rows whose bytes are lost, so that the rest of their table can be read, and says how many
 * rows of each table that takes. */
static bool
empty_lost_blocks (LnsRecover *recover)
{
  const LnsRecoveredTable *tables = &recover->tables[LNS_DEFINITION_KEPT_TABLE],
                          *blocks = &recover->tables[LNS_DEFINITION_KEPT_ROWS];
  uint64_t *n_lost = calloc ((size_t)tables->n + 1, sizeof *n_lost);

  if (n_lost == NULL)
    return _lns_recover_no_memory (recover);
  for (uint32_t i = 0; i < blocks->n; i++)
    {
      LnsKeptRows *rows = &blocks->definitions[i].kept_rows;
      /* Rows without the columns of their table say nothing either.                               */
      if (!is_lost (recover, rows->rows) &&
          (rows->table >= tables->n ||
           !is_lost (recover, tables->definitions[rows->table].kept_table.columns)))
        continue;
      if (rows->table < tables->n)
        n_lost[rows->table] += rows->n_rows;
      recover->counts.n_lost_rows += rows->n_rows;
      rows->n_rows = 0;
    }
  for (uint32_t i = 0; i < tables->n; i++)
    if (n_lost[i] > 0)
      tell_lost_rows (recover, tables->definitions[i].kept_table.name, n_lost[i]);
  free (n_lost);
  return true;
}

bool
_lns_recover_write_definitions (LnsRecover *recover)
{
  if (!add_lost_lanes (recover) || !mend_references (recover) || !empty_lost_blocks (recover))
    return false;
  for (size_t f = 0; f < sizeof string_fields / sizeof *string_fields; f++)
    {
      const LnsRecoveredTable *table = &recover->tables[string_fields[f].kind];
      for (uint32_t i = 0; i < table->n; i++)
        {
          char *field = (char *)&table->definitions[i] + string_fields[f].offset;
          uint32_t id;
          memcpy (&id, field, sizeof id);
          id = _lns_recovered_string (&recover->strings, id, recover->strings.lost_name);
          memcpy (field, &id, sizeof id);
        }
    }
  for (LnsDefinitionKind kind = LNS_DEFINITION_PROCESS; kind < LNS_N_DEFINITION_KINDS; kind++)
    for (uint32_t i = 0; i < recover->tables[kind].n; i++)
      write_definition (recover, kind, &recover->tables[kind].definitions[i]);
  return true;
}
