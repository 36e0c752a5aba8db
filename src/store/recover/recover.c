/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/recover/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lns-config.h"
#include "src/base/compare.h"
#include "src/base/language.h"
#include "src/base/format.h"
#include "src/base/search.h"
#include "src/store/format/event-codec.h"
#include "src/store/database/guarded-vfs.h"
#include "src/store/database/sql.h"
#include "src/store/database/tally.h"
#include "src/store/format/definition-codec.h"
#include "src/store/recover/scan.h"
#include "src/store/recover/strings.h"
#include "src/store/database/connection.h"
#include "src/base/array.h"
#include "src/store/read/report-private.h"
#include "src/store/read/report-cache.h"

#define COMMIT_BYTES ((size_t)32 << 20)

/* What stand-ins for lost definitions may take, all together: as much as two million call nodes, or 300,000 threads. Ids beyond
 * those are not of definitions that were lost, but wrong. */
#define STAND_INS_MAX_BYTES ((size_t)16 << 20)

/* How many steps SQLite may take, because a hostile schema could make a query endless. */
#define STEPS_MAX 1000000

/* The definitions of one kind, by id, with stand-ins for lost ones. */
typedef LnsDefinitionTable Table;

/* The records of TABLE, which are of TYPE. */
#define RECORDS(table, Type) ((Type *)(table)->records)

typedef struct
{
  LnsScan scan;
  LnsWriter *writer; /* NULL until the meta values are known */
  Table tables[LNS_N_DEFINITION_KINDS];
  size_t stand_ins_bytes; /* that further stand-ins may take */
  uint64_t n_beyond;      /* definitions that were left out, as their ids are wrong */
  uint32_t lost_process;  /* stand-in for that of tracks that need one, or LNS_ID_NONE */
  uint32_t lost_thread;   /* likewise */
  LNS_ARRAY (uint32_t)
  lane_ids; /* ascending ids of the lanes of the old report: the places are the new ids */
  LnsRecoveredStrings strings;
  uint8_t *bytes; /* LNS_CHUNK_MAX_BYTES; owned */
  LnsRecovery counts;
  const char *path;
  const LnsOpenOptions *options; /* get the progress and may cancel it; or NULL */
  LnsError *error;
} Recover;

/* Decoded events of one chunk. */
typedef struct
{
  int64_t start_ns[LNS_CHUNK_MAX_EVENTS], duration_ns[LNS_CHUNK_MAX_EVENTS];
  uint32_t name[LNS_CHUNK_MAX_EVENTS], flags[LNS_CHUNK_MAX_EVENTS];
  uint64_t extra[LNS_EXTRA_MAX][LNS_CHUNK_MAX_EVENTS];
} Events;

static bool
no_memory (Recover *recover)
{
  return lns_error_set (recover->error, LNS_ERROR_NO_MEMORY, 0,
                        "%s: not enough memory to recover it; close other programs", recover->path);
}

/* Scans PATH and the journal beside it. Both descriptors stay open for reading the chunks. The journal has the old contents
 * of the pages that an interrupted commit has overwritten. Of all chunks in both files the highest revision is used, so
 * the journal need not be rolled back. */
static bool
scan (Recover *recover, const char *path, int ret_fds[2])
{
  uint64_t file_bytes;

  if (!_lns_report_file_check (path, &file_bytes, recover->error))
    return false;
  ret_fds[0] = open (path, O_RDONLY | O_CLOEXEC);
  if (ret_fds[0] < 0)
    return lns_error_set_errno (recover->error, errno, "cannot read %s", path);
  ret_fds[1] = lns_journal_open (path);
  for (int i = 0; i < 2; i++)
    if (ret_fds[i] >= 0 &&
        !_lns_scan_file (&recover->scan, ret_fds[i], recover->options, recover->error))
      return false;
  _lns_scan_choose (&recover->scan);
  return true;
}

/* ---- Definitions ----------------------------------------------------------------------------- */

/* Definitions keep their ids, which are dense. Only lanes, of which chunks tell their number, are numbered anew without
 * those that nothing is known of. */

/* A definition in place of a lost one: it links to nothing and has no times. */
static LnsDefinition
stand_in (LnsDefinitionKind kind)
{
  LnsDefinition definition;

  memset (&definition, 0, sizeof definition);
  if (kind == LNS_DEFINITION_PROCESS)
    definition.process.exit_code = -1;
  for (const LnsDefinitionField *field = lns_definition_fields (kind); field->tag != 0; field++)
    if (field->type == LNS_FIELD_TIME)
      memcpy ((char *)&definition + field->offset, &(int64_t){ LNS_TIME_UNKNOWN }, 8);
    else if (field->type == LNS_FIELD_LINK || field->type == LNS_FIELD_OWNER)
      memcpy ((char *)&definition + field->offset, &(uint32_t){ LNS_ID_NONE }, 4);
  return definition;
}

/* Makes the table of KIND reach to ID. False if memory runs out, or ID is too far off. */
static bool
reach (Recover *recover, LnsDefinitionKind kind, uint32_t id)
{
  Table *table = &recover->tables[kind];
  const size_t size = lns_definition_size (kind);

  if (id < table->n)
    return true;
  if (id == LNS_ID_NONE || (size_t)(id - table->n) > recover->stand_ins_bytes / size)
    return false;
  recover->stand_ins_bytes -= (size_t)(id - table->n) * size;
  while (table->n <= id)
    {
      const LnsDefinition definition = stand_in (kind);
      void *records = lns_array_try_grow_ (table->records, table->n, &table->n_allocated, size);
      if (records == NULL)
        return false;
      table->records = records;
      memcpy ((char *)records + size * table->n++, &definition, size);
    }
  return true;
}

typedef bool (*DefinitionFunc) (Recover *recover,
                                LnsDefinitionKind kind,
                                uint32_t id,
                                const LnsDefinition *definition);

/* Calls FUNCTION with each definition of a known kind until it returns false. */
static bool
each_definition (Recover *recover, DefinitionFunc function)
{
  size_t n_chunks;
  const LnsFoundChunk *chunks = _lns_scan_chunks (&recover->scan, LNS_CHUNK_DEFINITIONS, &n_chunks);

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
        if (lns_definition_size (kind) != 0 && !function (recover, kind, id, &definition))
          return false;
    }
  return true;
}

static bool
add_lane_id (Recover *recover, uint32_t id)
{
  uint32_t *added = lns_array_try_add (&recover->lane_ids);
  if (added != NULL)
    *added = id;
  return added != NULL;
}

static bool
note_lane (Recover *recover, LnsDefinitionKind kind, uint32_t id, const LnsDefinition *definition)
{
  return kind != LNS_DEFINITION_LANE || add_lane_id (recover, id);
}

static int
compare_ids (const void *a, const void *b)
{
  return LNS_COMPARE (*(const uint32_t *)a, *(const uint32_t *)b);
}

/* Lists the lanes that have a definition or chunks. */
static bool
list_lanes (Recover *recover)
{
  static const LnsChunkKind kinds[] = { LNS_CHUNK_EVENTS, LNS_CHUNK_OPEN_EVENT };
  bool ok = each_definition (recover, note_lane);

  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    {
      size_t n_chunks;
      const LnsFoundChunk *chunks = _lns_scan_chunks (&recover->scan, kinds[k], &n_chunks);
      for (size_t c = 0; ok && c < n_chunks; c++)
        if (c == 0 || chunks[c].header.lane != chunks[c - 1].header.lane)
          ok = add_lane_id (recover, chunks[c].header.lane);
    }
  uint32_t *ids = recover->lane_ids.items;
  size_t n = 0;
  if (recover->lane_ids.n > 0)
    qsort (ids, recover->lane_ids.n, sizeof *ids, compare_ids);
  for (size_t i = 0; i < recover->lane_ids.n; i++)
    if (n == 0 || ids[n - 1] != ids[i])
      ids[n++] = ids[i];
  recover->lane_ids.n = n;
  return ok || no_memory (recover);
}

/* The new id of lane OLD_ID, which has a definition or chunks. O(log lanes). */
static uint32_t
lane_number (const Recover *recover, uint32_t old_id)
{
  return (uint32_t)LNS_LOWER_BOUND (recover->lane_ids.n, i, recover->lane_ids.items[i] < old_id);
}

static bool
keep_definition (Recover *recover,
                 LnsDefinitionKind kind,
                 uint32_t id,
                 const LnsDefinition *definition)
{
  const size_t size = lns_definition_size (kind);

  if (kind == LNS_DEFINITION_LANE)
    id = lane_number (recover, id);
  if (reach (recover, kind, id))
    memcpy ((char *)recover->tables[kind].records + size * id, definition, size);
  else
    recover->n_beyond++;
  return true;
}

/* Reads the definition chunks into the tables. */
static bool
read_definitions (Recover *recover)
{
  if (!list_lanes (recover))
    return false;
  each_definition (recover, keep_definition);
  for (int kind = 0; kind < LNS_N_DEFINITION_KINDS; kind++)
    if (recover->tables[kind].n > 0)
      return true;
  return lns_error_set (recover->error, LNS_ERROR_FORMAT, 0,
                        "%s: cannot recover anything; the file is not a Lanescope report, "
                        "or too little of it is left; use another copy of the report",
                        recover->path);
}

/* Finds out which strings are blocks of kept rows. */
static bool
find_blocks (Recover *recover)
{
  const Table *rows = &recover->tables[LNS_DEFINITION_KEPT_ROWS];
  const Table *tables = &recover->tables[LNS_DEFINITION_KEPT_TABLE];
  uint32_t *ids = calloc ((size_t)rows->n + tables->n + 1, sizeof *ids);
  size_t n = 0;

  if (ids == NULL)
    return no_memory (recover);
  for (uint32_t i = 0; i < rows->n; i++)
    ids[n++] = RECORDS (rows, LnsKeptRows)[i].rows;
  for (uint32_t i = 0; i < tables->n; i++)
    ids[n++] = RECORDS (tables, LnsKeptTable)[i].columns;
  _lns_recovered_strings_set_blocks (&recover->strings, ids, n);
  return true;
}

/* Gives each lane of unknown kind the kind of its chunks in CHUNKS. */
static void
learn_lane_kinds (Recover *recover, const LnsFoundChunk *chunks, size_t n_chunks)
{
  const Table *table = &recover->tables[LNS_DEFINITION_LANE];

  for (size_t c = 0; c < n_chunks; c++)
    {
      const LnsChunkHeader *header = &chunks[c].header;
      const uint32_t id = lane_number (recover, header->lane);
      LnsLane *lane = id < table->n ? &RECORDS (table, LnsLane)[id] : NULL;
      if (lane != NULL && lns_lane_kind_info (lane->kind) == NULL &&
          lns_lane_kind_info ((LnsLaneKind)header->lane_kind) != NULL)
        lane->kind = (LnsLaneKind)header->lane_kind;
    }
}

/* Sets LANE's track to one of its kind: its own one, if that is of this kind or lost, or else a new one. */
static bool
give_track (Recover *recover, LnsLane *lane)
{
  const Table *tracks = &recover->tables[LNS_DEFINITION_TRACK];
  const bool is_there =
      lane->track != LNS_ID_NONE && reach (recover, LNS_DEFINITION_TRACK, lane->track);
  LnsTrack *track = is_there ? &RECORDS (tracks, LnsTrack)[lane->track] : NULL;
  const LnsTrackKindInfo *info = is_there ? lns_track_kind_info (track->kind) : NULL;

  if (info != NULL && info->lane == lane->kind)
    return true;
  if (track == NULL || track->kind != 0)
    {
      lane->track = (uint32_t)tracks->n;
      if (!reach (recover, LNS_DEFINITION_TRACK, lane->track))
        return no_memory (recover);
      track = &RECORDS (tracks, LnsTrack)[lane->track];
    }
  track->kind = lns_lane_kind_info (lane->kind)->track;
  return true;
}

/* Makes up a lane for each one of which only chunks are left, and gives each lane a track of its kind. */
static bool
add_lost_lanes (Recover *recover)
{
  const Table *lanes = &recover->tables[LNS_DEFINITION_LANE];
  size_t n_chunks;

  if (recover->lane_ids.n > 0 &&
      !reach (recover, LNS_DEFINITION_LANE, (uint32_t)recover->lane_ids.n - 1))
    return no_memory (recover);
  const LnsFoundChunk *chunks = _lns_scan_chunks (&recover->scan, LNS_CHUNK_EVENTS, &n_chunks);
  learn_lane_kinds (recover, chunks, n_chunks);
  chunks = _lns_scan_chunks (&recover->scan, LNS_CHUNK_OPEN_EVENT, &n_chunks);
  learn_lane_kinds (recover, chunks, n_chunks);
  for (uint32_t i = 0; i < lanes->n; i++)
    {
      LnsLane *lane = &RECORDS (lanes, LnsLane)[i];
      if (lns_lane_kind_info (lane->kind) == NULL)
        lane->kind = LNS_LANE_NVTX_PUSH_POP;
      if (!give_track (recover, lane))
        return false;
    }
  return true;
}

/* Adds a stand-in of KIND if *LOST has none yet, and sets *LOST to its id. */
static bool
need (Recover *recover, LnsDefinitionKind kind, uint32_t *lost)
{
  if (*lost != LNS_ID_NONE)
    return true;
  const uint32_t id = recover->tables[kind].n;
  if (!reach (recover, kind, id))
    return no_memory (recover);
  *lost = id;
  return true;
}

/* Gives tracks that lost the thread or process that those of their kind have a stand-in of it. */
static bool
mend_tracks (Recover *recover)
{
  const Table *tracks = &recover->tables[LNS_DEFINITION_TRACK],
              *threads = &recover->tables[LNS_DEFINITION_THREAD],
              *processes = &recover->tables[LNS_DEFINITION_PROCESS];

  for (uint32_t i = 0; i < tracks->n; i++)
    {
      LnsTrack *track = &RECORDS (tracks, LnsTrack)[i];
      const LnsTrackKindInfo *info = lns_track_kind_info (track->kind);
      if (info == NULL)
        continue;
      if (info->has_process && track->process == LNS_ID_NONE && track->thread < threads->n)
        track->process = RECORDS (threads, LnsThread)[track->thread].process;
      if (info->has_process && track->process >= processes->n)
        {
          if (!need (recover, LNS_DEFINITION_PROCESS, &recover->lost_process))
            return false;
          track->process = recover->lost_process;
        }
      if (info->has_thread && track->thread == LNS_ID_NONE)
        {
          if (!need (recover, LNS_DEFINITION_THREAD, &recover->lost_thread))
            return false;
          LnsThread *lost = &RECORDS (threads, LnsThread)[recover->lost_thread];
          if (lost->process == LNS_ID_NONE)
            lost->process = track->process;
          track->thread = recover->lost_thread;
        }
    }
  return true;
}

static void
mend_severities (Recover *recover)
{
  const Table *diagnostics = &recover->tables[LNS_DEFINITION_DIAGNOSTIC];

  for (uint32_t i = 0; i < diagnostics->n; i++)
    if ((unsigned)RECORDS (diagnostics, LnsDiagnostic)[i].severity > LNS_SEVERITY_ERROR)
      RECORDS (diagnostics, LnsDiagnostic)[i].severity = LNS_SEVERITY_ERROR;
}

/* Makes the links and owners of the definitions of KIND lead somewhere, if need be to stand-ins. */
static bool
mend_links (Recover *recover, LnsDefinitionKind kind)
{
  const Table *from = &recover->tables[kind];
  const size_t size = lns_definition_size (kind);

  for (const LnsDefinitionField *field = lns_definition_fields (kind); field->tag != 0; field++)
    for (uint32_t i = 0; i < from->n; i++)
      {
        const bool is_owner = field->type == LNS_FIELD_OWNER;
        uint32_t id;
        if (!is_owner && field->type != LNS_FIELD_LINK)
          break;
        memcpy (&id, (char *)from->records + size * i + field->offset, sizeof id);
        if (id == LNS_ID_NONE && is_owner)
          id = 0;
        if (id != LNS_ID_NONE && !reach (recover, field->kind, id))
          {
            id = is_owner ? 0 : LNS_ID_NONE;
            if (is_owner && !reach (recover, field->kind, id))
              return no_memory (recover);
          }
        memcpy ((char *)from->records + size * i + field->offset, &id, sizeof id);
      }
  return true;
}

/* Takes from call nodes the parents that do not come before them, as no report has that was not damaged. */
static void
cut_call_nodes (Recover *recover)
{
  const Table *nodes = &recover->tables[LNS_DEFINITION_CALL_NODE];

  for (uint32_t i = 0; i < nodes->n; i++)
    if (RECORDS (nodes, LnsCallNode)[i].parent >= i)
      RECORDS (nodes, LnsCallNode)[i].parent = LNS_ID_NONE;
}

/* The same for inlined calls and the frames of their callers. */
static void
cut_inlined (Recover *recover)
{
  const Table *frames = &recover->tables[LNS_DEFINITION_FRAME];

  for (uint32_t i = 0; i < frames->n; i++)
    {
      LnsStackFrame *frame = &RECORDS (frames, LnsStackFrame)[i];
      if (frame->inlined_in > i)
        frame->inlined_in = 0;
      if (frame->innermost > frames->n || frame->innermost <= i + 1)
        frame->innermost = 0;
    }
}

/* Makes every link lead somewhere, and no process its own ancestor. */
static bool
mend_all_links (Recover *recover)
{
  /* Each kind before those that it names, as stand-ins of these may be added. */
  static const LnsDefinitionKind kinds[] = {
    LNS_DEFINITION_LANE,       LNS_DEFINITION_TRACK,     LNS_DEFINITION_STREAM,
    LNS_DEFINITION_CONTEXT,    LNS_DEFINITION_DEVICE,    LNS_DEFINITION_SCHEMA_ENTRY,
    LNS_DEFINITION_SCHEMA,     LNS_DEFINITION_CATEGORY,  LNS_DEFINITION_RESOURCE,
    LNS_DEFINITION_DIAGNOSTIC, LNS_DEFINITION_LOSS,      LNS_DEFINITION_DOMAIN,
    LNS_DEFINITION_THREAD,     LNS_DEFINITION_CALL_NODE, LNS_DEFINITION_FRAME,
    LNS_DEFINITION_MODULE,     LNS_DEFINITION_PROCESS,   LNS_DEFINITION_KEPT_ROWS,
  };
  const Table *processes = &recover->tables[LNS_DEFINITION_PROCESS];
  uint32_t n_ended;

  cut_call_nodes (recover);
  cut_inlined (recover);
  mend_severities (recover);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    {
      if (!mend_links (recover, kinds[i]) ||
          (kinds[i] == LNS_DEFINITION_TRACK && !mend_tracks (recover)))
        return false;
    }
  return _lns_report_end_circles (processes->records, sizeof (LnsProcess), processes->n,
                                  &n_ended) ||
         no_memory (recover);
}

/* Adds a diagnostic about missing data to the new report. */
static void
add_diagnostic (Recover *recover, const char *text)
{
  const LnsDiagnostic diagnostic = {
    .code = lns_writer_string (recover->writer, "LNS-STORE-001", 13),
    .severity = LNS_SEVERITY_ERROR,
    .time_ns = LNS_TIME_UNKNOWN,
    .process = LNS_ID_NONE,
    .text = lns_writer_string (recover->writer, text, strlen (text)),
  };
  lns_writer_add_diagnostic (recover->writer, &diagnostic);
}

/* Adds a diagnostic: N rows of the kept table whose name has OLD_ID are missing. */
static void
tell_lost_rows (Recover *recover, uint32_t old_id, uint64_t n)
{
  char name[80], text[200];

  _lns_recovered_text (&recover->strings, old_id, name, sizeof name);
  snprintf (text, sizeof text,
            LNS_SENTENCE ("%" PRIu64 " row%s of table %s %s unreadable and %s left out."), n,
            lns_plural (n, "", "s"), name[0] != '\0' ? name : "(lost)",
            lns_plural (n, "was", "were"), lns_plural (n, "is", "are"));
  add_diagnostic (recover, text);
}

/* Whether the block that had OLD_ID is not in the new report. */
static bool
is_lost (const Recover *recover, uint32_t old_id)
{
  const uint32_t id = _lns_recovered_string (&recover->strings, old_id, recover->strings.lost_name);

  return id == 0 || id == recover->strings.lost_name;
}

/* Empties the blocks of kept rows whose bytes are lost, so that the rest of their table can be read, and adds a diagnostic
 * with the number of rows for each table. */
static bool
empty_lost_blocks (Recover *recover)
{
  const Table *tables = &recover->tables[LNS_DEFINITION_KEPT_TABLE],
              *blocks = &recover->tables[LNS_DEFINITION_KEPT_ROWS];
  uint64_t *n_lost = calloc ((size_t)tables->n + 1, sizeof *n_lost);

  if (n_lost == NULL)
    return no_memory (recover);
  for (uint32_t i = 0; i < blocks->n; i++)
    {
      LnsKeptRows *rows = &RECORDS (blocks, LnsKeptRows)[i];
      /* Rows are also useless if the columns of their table are lost. */
      if (!is_lost (recover, rows->rows) &&
          !is_lost (recover, RECORDS (tables, LnsKeptTable)[rows->table].columns))
        continue;
      n_lost[rows->table] += rows->n_rows;
      recover->counts.n_lost_rows += rows->n_rows;
      rows->n_rows = 0;
    }
  for (uint32_t i = 0; i < tables->n; i++)
    if (n_lost[i] > 0)
      tell_lost_rows (recover, RECORDS (tables, LnsKeptTable)[i].name, n_lost[i]);
  free (n_lost);
  return true;
}

/* Puts stand-ins where definitions are missing that others or event chunks refer to, and gives all to the writer
 * under their old ids. Meta values are written later, from their texts. */
static bool
write_definitions (Recover *recover)
{
  if (!add_lost_lanes (recover) || !mend_all_links (recover) || !empty_lost_blocks (recover))
    return false;
  for (LnsDefinitionKind kind = LNS_DEFINITION_PROCESS; kind < LNS_N_DEFINITION_KINDS; kind++)
    for (size_t i = 0; kind != LNS_DEFINITION_META && i < recover->tables[kind].n; i++)
      {
        char *definition = (char *)recover->tables[kind].records + lns_definition_size (kind) * i;
        const LnsDefinitionField *field = lns_definition_fields (kind);
        for (; field->tag != 0; field++)
          {
            uint32_t id;
            if (field->type != LNS_FIELD_STRING)
              continue;
            memcpy (&id, definition + field->offset, sizeof id);
            id = _lns_recovered_string (&recover->strings, id, recover->strings.lost_name);
            memcpy (definition + field->offset, &id, sizeof id);
          }
        lns_writer_define (recover->writer, kind, definition);
      }
  return true;
}

/* ---- Events and meta values ------------------------------------------------------------------ */

/* Creates the new report with the old one's clock. */
static bool
create (Recover *recover, const char *out_path, bool overwrite)
{
  const Table *meta = &recover->tables[LNS_DEFINITION_META];
  LnsWriterOptions options = { .overwrite = overwrite };
  char key[64], value[32];

  for (uint32_t i = 0; i < meta->n; i++)
    {
      _lns_recovered_text (&recover->strings, RECORDS (meta, LnsMetaDefinition)[i].key, key,
                           sizeof key);
      if (!lns_writer_has_meta (key))
        continue;
      _lns_recovered_text (&recover->strings, RECORDS (meta, LnsMetaDefinition)[i].value, value,
                           sizeof value);
      if (strcmp (key, "incompatible") == 0 &&
          (strtoull (value, NULL, 10) & ~LNS_FEATURES_INCOMPATIBLE) != 0)
        return lns_error_set (recover->error, LNS_ERROR_VERSION, 0,
                              "%s: the report needs a Lanescope newer than %s to be recovered; "
                              "update lanescope",
                              recover->path, LNS_VERSION);
      if (strcmp (key, "t0_monotonic_ns") == 0)
        options.t0_monotonic_ns = strtoll (value, NULL, 10);
      else if (strcmp (key, "t0_realtime_ns") == 0)
        options.t0_realtime_ns = strtoll (value, NULL, 10);
      else if (strcmp (key, "t0_tsc") == 0)
        options.t0_tsc = strtoull (value, NULL, 10);
    }
  recover->writer = lns_writer_create (out_path, &options, recover->error);
  return recover->writer != NULL;
}

static void
write_meta (Recover *recover)
{
  const Table *meta = &recover->tables[LNS_DEFINITION_META];
  char key[256], *value = malloc (LNS_STRING_PIECE_BYTES + 1);

  for (uint32_t i = 0; value != NULL && i < meta->n; i++)
    {
      _lns_recovered_text (&recover->strings, RECORDS (meta, LnsMetaDefinition)[i].key, key,
                           sizeof key);
      if (key[0] == '\0' || lns_writer_has_meta (key))
        continue;
      _lns_recovered_text (&recover->strings, RECORDS (meta, LnsMetaDefinition)[i].value, value,
                           LNS_STRING_PIECE_BYTES + 1);
      lns_writer_set_meta (recover->writer, key, value);
    }
  free (value);
}

/* Event I of EVENTS with the new report's string ids. */
static LnsEvent
take_event (const Recover *recover, LnsLaneKind kind, const Events *events, uint32_t i)
{
  const LnsLaneKindInfo *info = lns_lane_kind_info (kind);
  const int type = lns_lane_kind_extra (kind, LNS_COLUMN_PAYLOAD_TYPE);
  const int payload = lns_lane_kind_extra (kind, LNS_COLUMN_PAYLOAD);
  LnsEvent event = { .start_ns = events->start_ns[i],
                     .duration_ns = events->duration_ns[i],
                     .name = _lns_recovered_string (&recover->strings, events->name[i],
                                                    recover->strings.lost_name),
                     .flags = events->flags[i] };

  for (unsigned e = 0; info->extra[e] != 0; e++)
    event.extra[e] = events->extra[e][i];
  if (type >= 0 && payload >= 0 &&
      (event.extra[type] == LNS_PAYLOAD_TYPED || event.extra[type] == LNS_PAYLOAD_JSON))
    event.extra[payload] =
        _lns_recovered_string (&recover->strings, (uint32_t)event.extra[payload], 0);
  return event;
}

static bool
decode_chunk (Recover *recover, const LnsFoundChunk *chunk, Events *events)
{
  LnsEventColumns columns = {
    events->start_ns, events->duration_ns, events->name, events->flags, { NULL }
  };
  LnsChunkView view;

  for (int e = 0; e < LNS_EXTRA_MAX; e++)
    columns.extra[e] = events->extra[e];
  return _lns_scan_read (chunk, recover->bytes, &view) && lns_events_decode (&view, &columns, NULL);
}

/* How much of a lane has been written. */
typedef struct
{
  uint64_t n_old;    /* one more than the last ordinal of the old report */
  uint32_t n_chunks; /* the next sequence number */
  int64_t end_ns;
  bool has_gap;
} LaneProgress;

static void
write_chunk (Recover *recover, const LnsFoundChunk *chunk, Events *events, LaneProgress *lane)
{
  const LnsChunkHeader *header = &chunk->header;
  const uint32_t id = lane_number (recover, header->lane);

  if (header->sequence > lane->n_chunks)
    {
      recover->counts.n_missing += header->sequence - lane->n_chunks;
      lane->has_gap = true;
    }
  lane->n_chunks = header->sequence + 1;
  if (!decode_chunk (recover, chunk, events))
    {
      recover->counts.n_damaged++;
      lane->has_gap = true;
      return;
    }
  recover->counts.n_chunks++;
  if (header->first > lane->n_old)
    recover->counts.n_lost += header->first - lane->n_old;
  /* An old tail may repeat events of the chunk before it. */
  uint32_t i = 0;
  if (lane->n_old > header->first)
    i = lane->n_old - header->first < header->n ? (uint32_t)(lane->n_old - header->first)
                                                : header->n;
  for (; i < header->n; i++)
    {
      LnsEvent event = take_event (recover, (LnsLaneKind)header->lane_kind, events, i);
      if (lane->has_gap)
        event.flags |= LNS_EVENT_LOST_BEFORE;
      lane->has_gap = false;
      lns_writer_append (recover->writer, id, &event);
      lane->end_ns = event.start_ns + event.duration_ns;
    }
  if (header->first + header->n > lane->n_old)
    lane->n_old = header->first + header->n;
}

/* Sets the open event of CHUNK's lane, if nothing was appended after it. */
static void
write_open (Recover *recover,
            const LnsFoundChunk *chunk,
            Events *events,
            const LaneProgress *lane,
            int64_t *end_ns)
{
  const LnsChunkHeader *header = &chunk->header;

  if (header->first < lane->n_old || !decode_chunk (recover, chunk, events))
    return;
  LnsEvent event = take_event (recover, (LnsLaneKind)header->lane_kind, events, 0);
  lns_writer_set_open (recover->writer, lane_number (recover, header->lane), &event);
  recover->counts.n_events++;
  *end_ns = event.start_ns > *end_ns ? event.start_ns : *end_ns;
}

static bool
write_events (Recover *recover, int64_t *ret_end_ns)
{
  const uint32_t n_lanes = recover->tables[LNS_DEFINITION_LANE].n;
  size_t n_chunks, n_opens, c = 0, o = 0;
  const LnsFoundChunk *chunks = _lns_scan_chunks (&recover->scan, LNS_CHUNK_EVENTS, &n_chunks);
  const LnsFoundChunk *opens = _lns_scan_chunks (&recover->scan, LNS_CHUNK_OPEN_EVENT, &n_opens);
  Events *events = malloc (sizeof *events);
  bool ok = events != NULL || no_memory (recover);

  *ret_end_ns = 0;
  for (uint32_t id = 0; ok && id < n_lanes; id++)
    {
      LaneProgress lane = { .end_ns = INT64_MIN };
      for (; ok && c < n_chunks && lane_number (recover, chunks[c].header.lane) <= id; c++)
        {
          write_chunk (recover, &chunks[c], events, &lane);
          if (lns_writer_waiting_bytes (recover->writer) > COMMIT_BYTES)
            ok = lns_writer_commit (recover->writer, lane.end_ns, recover->error);
          ok = ok && _lns_scan_go_on (recover->options,
                                      LNS_SCAN_SHARE +
                                          (1 - LNS_SCAN_SHARE) * (double)c / (double)n_chunks,
                                      recover->error);
        }
      if (lane.end_ns > *ret_end_ns)
        *ret_end_ns = lane.end_ns;
      for (; ok && o < n_opens && lane_number (recover, opens[o].header.lane) <= id; o++)
        write_open (recover, &opens[o], events, &lane, ret_end_ns);
    }
  free (events);
  return ok;
}

/* ---- What is lost ---------------------------------------------------------------------------- */

static int
stop_cb (void *data)
{
  return 1;
}

static bool
ask (sqlite3 *database, const char *query, uint64_t *ret_number)
{
  sqlite3_stmt *statement = NULL;
  bool told = sqlite3_prepare_v2 (database, query, -1, &statement, NULL) == SQLITE_OK &&
              sqlite3_step (statement) == SQLITE_ROW &&
              sqlite3_column_type (statement, 0) == SQLITE_INTEGER &&
              sqlite3_column_int64 (statement, 0) >= 0;

  if (told)
    *ret_number = (uint64_t)sqlite3_column_int64 (statement, 0);
  sqlite3_finalize (statement);
  return told;
}

/* The number of events that the recorder of the file at PATH has counted since its last commit, which DATABASE has. */
static uint64_t
ask_tally (sqlite3 *database, const char *path)
{
  LnsTally tally;
  uint64_t seen_ns = 0, n_begun = 0, n_lost = 0; /* before the first commit of events */
  if (!lns_tally_read (path, &tally))
    return 0;
  (void)ask (database, "SELECT CAST(value AS INTEGER) FROM lns_meta WHERE key = 'seen_ns'",
             &seen_ns);
  (void)ask (database, "SELECT CAST(value AS INTEGER) FROM lns_meta WHERE key = 'seen_begun'",
             &n_begun);
  (void)ask (database, "SELECT CAST(value AS INTEGER) FROM lns_meta WHERE key = 'seen_lost'",
             &n_lost);
  if ((uint64_t)tally.seen_ns <= seen_ns)
    return 0;
  return (tally.n_begun > n_begun ? tally.n_begun - n_begun : 0) +
         (tally.n_lost > n_lost ? tally.n_lost - n_lost : 0);
}

/* Reads from the tables of the file at PATH how many events it had, and how many it lacked, when it was last committed.
 * Returns false if the tables cannot be read. All else in a recovery reads chunks only. */
static bool
ask_told_events (const char *path, uint64_t *ret_n_events)
{
  int code;
  char *uri = lns_sql_immutable_uri (path);
  LnsConnection *connection =
      uri != NULL ? _lns_connection_open (uri, NULL, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, &code)
                  : NULL;
  bool told = false;

  free (uri);
  if (connection == NULL)
    return false;
  sqlite3_progress_handler (connection->db, STEPS_MAX, stop_cb, NULL);
  /* This makes SQLite read a file that is too short as far as it goes. */
  sqlite3_db_config (connection->db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
  if (sqlite3_exec (connection->db, "PRAGMA writable_schema = ON", NULL, NULL, NULL) == SQLITE_OK)
    told = ask (connection->db,
                "SELECT CAST(events.value AS INTEGER)"
                " + IFNULL((SELECT SUM(MAX(0, MIN(1 << 60, CAST(value AS INTEGER)))) FROM lns_meta"
                " WHERE key IN ('waiting', 'untold')), 0)"
                " FROM lns_meta AS events WHERE events.key = 'events'",
                ret_n_events) ||
           ask (connection->db, "SELECT IFNULL(SUM(n_events), 0) FROM lns_lane", ret_n_events);
  if (told)
    *ret_n_events += ask_tally (connection->db, path);
  _lns_connection_close (connection);
  return told;
}

/* Compares the number of events in the new report with the number that the old one says it had. */
static void
count_lost (Recover *recover)
{
  LnsRecovery *counts = &recover->counts;
  const uint64_t n_kept = lns_writer_counts (recover->writer)->n_events;
  uint64_t n_told;

  counts->is_lost_known = ask_told_events (recover->path, &n_told);
  if (counts->is_lost_known && n_told > n_kept && n_told - n_kept > counts->n_lost)
    counts->n_lost = n_told - n_kept;
  if (counts->is_lost_known)
    snprintf (counts->lost_text, sizeof counts->lost_text, "%" PRIu64 " event%s", counts->n_lost,
              lns_plural (counts->n_lost, "", "s"));
  else if (counts->n_lost > 0)
    snprintf (counts->lost_text, sizeof counts->lost_text,
              "at least %" PRIu64 " event%s; the count of all is gone too", counts->n_lost,
              lns_plural (counts->n_lost, "", "s"));
  else
    snprintf (counts->lost_text, sizeof counts->lost_text,
              "not known, as the count of all events is gone too");
  const size_t n = strlen (counts->lost_text);
  if (counts->n_lost_rows > 0)
    snprintf (counts->lost_text + n, sizeof counts->lost_text - n,
              "; %" PRIu64 " row%s of other tables", counts->n_lost_rows,
              lns_plural (counts->n_lost_rows, "", "s"));
}

/* Records in the new report what is missing in it. */
static void
write_losses (Recover *recover)
{
  const LnsRecovery *counts = &recover->counts;
  const LnsLoss loss = { .process = LNS_ID_NONE,
                         .thread = LNS_ID_NONE,
                         .first_ns = LNS_TIME_UNKNOWN,
                         .last_ns = LNS_TIME_UNKNOWN,
                         .others = counts->n_lost };
  char text[300];

  lns_writer_set_meta (recover->writer, "missing", counts->lost_text);
  if (counts->n_lost > 0)
    lns_writer_add_loss (recover->writer, &loss);
  if (recover->n_beyond > 0)
    {
      snprintf (text, sizeof text,
                LNS_SENTENCE ("Definitions that were left out because their ids are far beyond "
                              "all others: %" PRIu64 "."),
                recover->n_beyond);
      add_diagnostic (recover, text);
    }
  if (counts->n_damaged + counts->n_missing + counts->n_lost == 0 && counts->is_lost_known)
    return;
  snprintf (text, sizeof text,
            LNS_SENTENCE ("The report was recovered from a damaged file: %llu %s unreadable and "
                          "%llu %s gone; ranges after a gap are marked; missing: %s."),
            (unsigned long long)counts->n_damaged,
            lns_plural (counts->n_damaged, "chunk was", "chunks were"),
            (unsigned long long)counts->n_missing, lns_plural (counts->n_missing, "was", "were"),
            counts->lost_text);
  add_diagnostic (recover, text);
}

/* How many damaged chunks mean lost data. Levels of detail are built anew. */
static uint64_t
count_damaged (const LnsScan *scan)
{
  uint64_t n = 0;

  for (size_t i = 0; i < scan->damaged.n; i++)
    n += scan->damaged.items[i].header.kind != LNS_CHUNK_NODES &&
         scan->damaged.items[i].header.kind != LNS_CHUNK_OPEN_EVENT;
  return n;
}

/* Whether the new report has no events although the old one had some. */
static bool
brings_nothing_back (const Recover *recover)
{
  const LnsRecovery *counts = &recover->counts;
  return counts->n_events == 0 &&
         (lns_writer_counts (recover->writer)->n_lost > 0 ||
          counts->n_damaged + counts->n_missing > 0 || !counts->is_lost_known);
}

/* Sets the error to the reason why there are no events: they are unreadable, or none were written. Returns false. */
static bool
tell_nothing (Recover *recover)
{
  const LnsRecovery *counts = &recover->counts;
  const uint64_t n_lost = lns_writer_counts (recover->writer)->n_lost;
  char what[64] = "its only event was lost when it was";
  if (n_lost != 1)
    snprintf (what, sizeof what, "all %" PRIu64 " events were lost when they were", n_lost);
  if (counts->n_damaged + counts->n_missing + counts->n_lost == 0 && counts->is_lost_known)
    return lns_error_set (recover->error, LNS_ERROR_FORMAT, 0,
                          "%s: there is nothing to recover because %s recorded; record again",
                          recover->path, what);
  return lns_error_set (recover->error, LNS_ERROR_FORMAT, 0,
                        "%s: cannot recover anything because the file has no readable event; "
                        "missing: %s; copy the file again, or record again",
                        recover->path, counts->lost_text);
}

static bool
rebuild (Recover *recover, const char *out_path, bool overwrite)
{
  int64_t end_ns;

  recover->bytes = malloc (LNS_CHUNK_MAX_BYTES);
  if (recover->bytes == NULL)
    return no_memory (recover);
  recover->strings.scan = &recover->scan;
  recover->strings.bytes = recover->bytes;
  recover->counts.n_damaged = count_damaged (&recover->scan);
  if (!read_definitions (recover) || !create (recover, out_path, overwrite))
    return false;
  if (!find_blocks (recover))
    return false;
  if (!_lns_recovered_strings_write (&recover->strings, recover->writer))
    return no_memory (recover);
  if (!write_definitions (recover) || !write_events (recover, &end_ns))
    return false;
  write_meta (recover);
  count_lost (recover);
  write_losses (recover);
  recover->counts.n_events += lns_writer_counts (recover->writer)->n_events;
  if (brings_nothing_back (recover))
    return tell_nothing (recover);
  LnsWriter *writer = recover->writer;
  recover->writer = NULL;
  return lns_writer_finish (writer, LNS_STATE_RECOVERED, end_ns, recover->error);
}

bool
lns_recover (const char *path,
             const char *out_path,
             bool overwrite,
             const LnsOpenOptions *options,
             LnsRecovery *ret_recovery,
             LnsError *error)
{
  Recover recover = { .path = path,
                      .options = options,
                      .error = error,
                      .stand_ins_bytes = STAND_INS_MAX_BYTES,
                      .lost_process = LNS_ID_NONE,
                      .lost_thread = LNS_ID_NONE };
  struct stat in, out;
  int fds[2] = { -1, -1 };

  if (stat (path, &in) == 0 && stat (out_path, &out) == 0 && in.st_dev == out.st_dev &&
      in.st_ino == out.st_ino)
    return lns_error_set (error, LNS_ERROR_USAGE, 0,
                          "%s: a report cannot be recovered into itself; choose another output",
                          path);
  bool ok = scan (&recover, path, fds) && rebuild (&recover, out_path, overwrite);
  if (recover.writer != NULL)
    lns_writer_abandon (recover.writer);
  for (int i = 0; i < 2; i++)
    if (fds[i] >= 0)
      close (fds[i]);
  for (int kind = 0; kind < LNS_N_DEFINITION_KINDS; kind++)
    free (recover.tables[kind].records);
  lns_array_clear (&recover.lane_ids);
  _lns_recovered_strings_clear (&recover.strings);
  free (recover.bytes);
  _lns_scan_clear (&recover.scan);
  if (ok && ret_recovery != NULL)
    *ret_recovery = recover.counts;
  return ok;
}

/* Sets ERROR to why a report could be neither opened (CAUSE) nor recovered (PROBLEM). CAUSE may advise to recover the
 * report; if nothing was found, other advice replaces that. */
static void
tell_cause (const LnsError *cause, const LnsError *problem, LnsError *error)
{
  const char *advice = strrchr (cause->message, ';');

  if (problem->domain == LNS_ERROR_FORMAT && advice != NULL && strstr (advice, "recover") != NULL)
    lns_error_set (error, LNS_ERROR_FORMAT, 0,
                   "%.*s, and none of it can be recovered; copy it again or record again",
                   (int)(advice - cause->message), cause->message);
  else
    lns_error_set (error, cause->domain, cause->code, "%s", cause->message);
}

LnsReport *
lns_report_open_or_recover (const char *path,
                            const LnsOpenOptions *options,
                            bool *ret_recovered,
                            LnsError *error)
{
  LnsError cause = { 0 };
  LnsReport *report = lns_report_open (path, options, &cause);

  *ret_recovered = false;
  if (report != NULL && _lns_report_check_lanes (report, &cause))
    return report;
  lns_report_close (report);
  report = NULL;
  char *copy = cause.domain == LNS_ERROR_FORMAT ? _lns_rescue_path (path, NULL) : NULL;
  LnsError problem = { 0 };
  if (copy != NULL && lns_recover (path, copy, true, options, NULL, &problem))
    {
      _lns_rescue_prune (copy);
      report = lns_report_open (copy, options, &problem);
    }
  free (copy);
  *ret_recovered = report != NULL;
  if (problem.domain == LNS_ERROR_CANCELLED)
    lns_error_set (error, LNS_ERROR_CANCELLED, 0, "%s: recovery was cancelled", path);
  else if (report == NULL)
    tell_cause (&cause, &problem, error);
  return report;
}
