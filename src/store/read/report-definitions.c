/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Meta values and definitions. Opening reads and checks all of them, so that code that follows a link from one definition
 * to another need not check it. */

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lns-config.h"
#include "src/base/search.h"
#include "src/store/format/identity.h"
#include "src/store/read/report-private.h"
#include "src/store/database/sql.h"
#include "src/store/database/tally.h"

/* Limit of all keys and values. An environment and a program's output take a few MiB. */
#define META_MAX_BYTES ((size_t)64 << 20)

static int
compare_meta (const void *a, const void *b)
{
  return strcmp (((const LnsReportMeta *)a)->key, ((const LnsReportMeta *)b)->key);
}

/* The place of the first key that is KEY or comes after it. */
static size_t
meta_from (const LnsReport *report, const char *key)
{
  return LNS_LOWER_BOUND (report->meta.n, i, strcmp (report->meta.items[i].key, key) < 0);
}

const char *
lns_report_meta (const LnsReport *report, const char *key)
{
  const size_t at = meta_from (report, key);

  return at < report->meta.n && strcmp (report->meta.items[at].key, key) == 0
             ? report->meta.items[at].value
             : NULL;
}

const char *
lns_report_meta_at (const LnsReport *report, const char *prefix, size_t i, const char **ret_value)
{
  const size_t at = meta_from (report, prefix) + i;

  if (at >= report->meta.n || strncmp (report->meta.items[at].key, prefix, strlen (prefix)) != 0)
    return NULL;
  *ret_value = report->meta.items[at].value;
  return report->meta.items[at].key;
}

void
_lns_report_free_definitions (LnsReport *report)
{
  for (int kind = 0; kind < LNS_N_DEFINITION_KINDS; kind++)
    free (report->definitions[kind].records);
  for (size_t i = 0; i < report->meta.n; i++)
    {
      free (report->meta.items[i].key);
      free (report->meta.items[i].value);
    }
  lns_array_clear (&report->meta);
}

static bool
add_meta (LnsReport *report, const char *key, const char *value)
{
  LnsReportMeta *meta = lns_array_try_add (&report->meta);
  if (meta == NULL)
    return false;
  meta->key = strdup (key);
  meta->value = strdup (value);
  return meta->key != NULL && meta->value != NULL;
}

static bool
load_meta (LnsReport *report, LnsConnection *connection, LnsError *error)
{
  sqlite3_stmt *statement = _lns_connection_query (connection, LNS_QUERY_META);
  size_t n_bytes = 0;
  int step = SQLITE_ERROR;

  while (statement != NULL && (step = sqlite3_step (statement)) == SQLITE_ROW)
    {
      const char *key = (const char *)sqlite3_column_text (statement, 0);
      const char *value = (const char *)sqlite3_column_text (statement, 1);
      n_bytes += sizeof (LnsReportMeta) + (size_t)sqlite3_column_bytes (statement, 0) +
                 (size_t)sqlite3_column_bytes (statement, 1);
      if (n_bytes > META_MAX_BYTES)
        return lns_error_set (
            error, LNS_ERROR_FORMAT, 0,
            "%s has more than 64 MiB in \"lns_meta\", which no report of Lanescope has",
            report->shared->file.path);
      if (!add_meta (report, key != NULL ? key : "", value != NULL ? value : ""))
        return _lns_report_file_no_memory (&report->shared->file, error);
    }
  if (step != SQLITE_DONE)
    return _lns_report_file_sqlite_error (&report->shared->file, connection, error);
  if (report->meta.n > 0)
    qsort (report->meta.items, report->meta.n, sizeof *report->meta.items, compare_meta);
  return true;
}

/* The decimal meta value of KEY, which may be negative; FALLBACK if there is none. */
static uint64_t
meta_number (const LnsReport *report, const char *key, uint64_t fallback)
{
  const char *text = lns_report_meta (report, key);

  return text != NULL ? strtoull (text, NULL, 10) : fallback;
}

bool
_lns_report_parse_uuid (const char *text, uint8_t ret_uuid[16])
{
  if (text == NULL || strlen (text) != 32)
    return false;
  for (int i = 0; i < 16; i++)
    {
      unsigned byte;
      if (!isxdigit ((unsigned char)text[2 * i]) || !isxdigit ((unsigned char)text[2 * i + 1]) ||
          sscanf (text + 2 * i, "%2x", &byte) != 1)
        return false;
      ret_uuid[i] = (uint8_t)byte;
    }
  return true;
}

static bool
check_features (LnsReport *report, LnsError *error)
{
  uint64_t incompatible = meta_number (report, "incompatible", 0) & ~LNS_FEATURES_INCOMPATIBLE;
  const char *needs = lns_report_meta (report, "needs");

  report->info.unknown_compatible =
      meta_number (report, "compatible", 0) & ~LNS_FEATURES_COMPATIBLE;
  if (incompatible == 0)
    return true;
  if (needs != NULL && *needs != '\0')
    return lns_error_set (error, LNS_ERROR_VERSION, 0,
                          "%s: the report needs Lanescope %s or newer (feature bits 0x%" PRIx64
                          "); update lanescope",
                          report->shared->file.path, needs, incompatible);
  return lns_error_set (error, LNS_ERROR_VERSION, 0,
                        "%s: the report needs a Lanescope newer than %s (feature bits 0x%" PRIx64
                        "); update lanescope",
                        report->shared->file.path, LNS_VERSION, incompatible);
}

/* Adds what the recorder has counted since the last commit. */
static void
add_tally (LnsReport *report)
{
  LnsReportInfo *info = &report->info;
  LnsTally tally;
  const uint64_t n_begun = meta_number (report, "seen_begun", 0),
                 n_lost = meta_number (report, "seen_lost", 0);
  if (!lns_tally_read (report->shared->file.path, &tally) || tally.seen_ns <= info->seen_ns)
    return;
  info->n_waiting += tally.n_begun > n_begun ? tally.n_begun - n_begun : 0;
  info->n_lost += tally.n_lost > n_lost ? tally.n_lost - n_lost : 0;
  info->seen_ns = tally.seen_ns;
}

bool
_lns_report_is_written (const char *path, const char *writer)
{
  return (writer != NULL && lns_identity_lives (writer)) || lns_sql_is_written (path);
}

bool
_lns_report_read_meta (LnsReport *report, LnsConnection *connection, LnsError *error)
{
  LnsReportInfo *info = &report->info;

  if (!load_meta (report, connection, error) || !check_features (report, error))
    return false;
  const char *state = lns_report_meta (report, "state");
  const char *writer = lns_report_meta (report, "writer");
  if (state == NULL || !_lns_report_parse_uuid (lns_report_meta (report, "uuid"), info->uuid))
    return _lns_report_file_damaged (&report->shared->file, error,
                                     "its state or its identity is missing");
  if (strcmp (state, "complete") == 0)
    info->state = LNS_STATE_COMPLETE;
  else if (strcmp (state, "recovered") == 0)
    info->state = LNS_STATE_RECOVERED;
  else if (strcmp (state, "incomplete") == 0)
    info->state = LNS_STATE_INCOMPLETE;
  else
    info->state = _lns_report_is_written (report->shared->file.real_path, writer)
                      ? LNS_STATE_RECORDING
                      : LNS_STATE_CUT_OFF;
  report->is_live = info->state == LNS_STATE_RECORDING;
  if (info->state == LNS_STATE_RECORDING || info->state == LNS_STATE_CUT_OFF)
    {
      info->n_lost = meta_number (report, "untold", 0);
      info->n_waiting = meta_number (report, "waiting", 0);
      info->is_least = meta_number (report, "waiting_least", 0) != 0;
      const uint64_t now_ns = meta_number (report, "now_ns", 0);
      info->reached_ns = (int64_t)meta_number (report, "reached_ns", now_ns);
      info->seen_ns = (int64_t)meta_number (report, "seen_ns", (uint64_t)info->reached_ns);
      add_tally (report);
    }
  info->n_commits = meta_number (report, "commit", 0);
  info->t0_monotonic_ns = (int64_t)meta_number (report, "t0_monotonic_ns", 0);
  info->t0_realtime_ns = (int64_t)meta_number (report, "t0_realtime_ns", 0);
  info->t0_tsc = meta_number (report, "t0_tsc", 0);
  /* String 0 is not stored; each other one takes at least the byte of its NUL. */
  const uint64_t n_strings = meta_number (report, "next_string", 0);
  if (n_strings >= UINT32_MAX || n_strings > info->file_bytes)
    return _lns_report_file_damaged (&report->shared->file, error,
                                     "it cannot hold the strings that it counts");
  report->n_strings = (uint32_t)n_strings;
  return true;
}

static const char *const kind_names[LNS_N_DEFINITION_KINDS] = {
  [LNS_DEFINITION_PROCESS] = "process",       [LNS_DEFINITION_THREAD] = "thread",
  [LNS_DEFINITION_DOMAIN] = "domain",         [LNS_DEFINITION_CATEGORY] = "category",
  [LNS_DEFINITION_SCHEMA] = "schema",         [LNS_DEFINITION_SCHEMA_ENTRY] = "schema entry",
  [LNS_DEFINITION_TRACK] = "track",           [LNS_DEFINITION_LANE] = "lane",
  [LNS_DEFINITION_DIAGNOSTIC] = "diagnostic", [LNS_DEFINITION_LOSS] = "loss",
  [LNS_DEFINITION_META] = "meta value",       [LNS_DEFINITION_RESOURCE] = "resource",
  [LNS_DEFINITION_DEVICE] = "device",         [LNS_DEFINITION_CONTEXT] = "context",
  [LNS_DEFINITION_STREAM] = "stream",         [LNS_DEFINITION_LAUNCH] = "launch",
  [LNS_DEFINITION_KEPT_TABLE] = "kept table", [LNS_DEFINITION_KEPT_ROWS] = "kept rows",
  [LNS_DEFINITION_MODULE] = "module",         [LNS_DEFINITION_FRAME] = "frame",
  [LNS_DEFINITION_CALL_NODE] = "call node",   [LNS_DEFINITION_OMISSION] = "omission",
};

/* Checks that the links and owners in the definitions of KIND exist. */
static bool
check_links (const LnsReport *report, LnsDefinitionKind kind, LnsError *error)
{
  const LnsDefinitionTable *from = &report->definitions[kind];
  const size_t size = lns_definition_size (kind);

  for (const LnsDefinitionField *field = lns_definition_fields (kind); field->tag != 0; field++)
    for (uint32_t i = 0; i < from->n; i++)
      {
        uint32_t id;
        if (field->type != LNS_FIELD_LINK && field->type != LNS_FIELD_OWNER)
          break;
        memcpy (&id, (const char *)from->records + i * size + field->offset, sizeof id);
        if (id >= report->definitions[field->kind].n &&
            (field->type == LNS_FIELD_OWNER || id != LNS_ID_NONE))
          return _lns_report_file_damaged (&report->shared->file, error,
                                           "%s %u refers to %s %u, which is not there",
                                           kind_names[kind], i, kind_names[field->kind], id);
      }
  return true;
}

bool
_lns_report_end_circles (void *processes, size_t stride_bytes, uint32_t n, uint32_t *ret_n_ended)
{
  uint32_t *seen =
      calloc ((size_t)n + 1, sizeof *seen); /* 1 + the process from which it was seen */

  *ret_n_ended = 0;
  if (seen == NULL)
    return false;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t at = i; at != LNS_ID_NONE && seen[at] == 0;)
      {
        LnsProcess *process = (LnsProcess *)((char *)processes + at * stride_bytes);
        seen[at] = i + 1;
        if (process->parent != LNS_ID_NONE && seen[process->parent] == i + 1)
          {
            process->parent = LNS_ID_NONE;
            ++*ret_n_ended;
          }
        at = process->parent;
      }
  free (seen);
  return true;
}

/* Rejects processes that are their own ancestors: code that follows parents would never end. */
static bool
check_ancestry (const LnsReport *report, LnsError *error)
{
  const LnsDefinitionTable *table = &report->definitions[LNS_DEFINITION_PROCESS];
  uint32_t n_ended;

  if (!_lns_report_end_circles (table->records, sizeof (LnsProcess), table->n, &n_ended))
    return _lns_report_file_no_memory (&report->shared->file, error);
  return n_ended == 0 ||
         _lns_report_file_damaged (&report->shared->file, error, "a process is its own ancestor");
}

/* Rejects tracks without the process or thread that those of their kind belong to, and lanes of another kind than their
 * track's: code that reads events of a kind takes what its tracks belong to without a look. Kinds that this version does not
 * know are not read. */
static bool
check_tracks (const LnsReport *report, LnsError *error)
{
  uint32_t n_tracks, n_lanes;
  const LnsTrack *tracks = lns_report_tracks (report, &n_tracks);
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);

  for (uint32_t i = 0; i < n_tracks; i++)
    {
      const LnsTrackKindInfo *info = lns_track_kind_info (tracks[i].kind);
      if (info != NULL && info->has_process && tracks[i].process == LNS_ID_NONE)
        return _lns_report_file_damaged (&report->shared->file, error, "track %u has no process",
                                         i);
      if (info != NULL && info->has_thread && tracks[i].thread == LNS_ID_NONE)
        return _lns_report_file_damaged (&report->shared->file, error, "track %u has no thread", i);
    }
  for (uint32_t i = 0; i < n_lanes; i++)
    {
      const LnsTrackKindInfo *info = lns_track_kind_info (tracks[lanes[i].track].kind);
      if (lns_lane_kind_info (lanes[i].kind) != NULL &&
          (info == NULL || info->lane != lanes[i].kind))
        return _lns_report_file_damaged (&report->shared->file, error,
                                         "lane %u is of another kind than its track", i);
    }
  return true;
}

/* Rejects severities that do not exist. */
static bool
check_diagnostics (const LnsReport *report, LnsError *error)
{
  uint32_t n;
  const LnsDiagnostic *diagnostics = lns_report_diagnostics (report, &n);

  for (uint32_t i = 0; i < n; i++)
    if ((unsigned)diagnostics[i].severity > LNS_SEVERITY_ERROR)
      return _lns_report_file_damaged (&report->shared->file, error,
                                       "diagnostic %u has no severity", i);
  return true;
}

/* Rejects call nodes that do not come behind their parents: code that follows parents would never end. */
static bool
check_call_nodes (const LnsReport *report, LnsError *error)
{
  uint32_t n;
  const LnsCallNode *nodes = lns_report_call_nodes (report, &n);

  for (uint32_t i = 0; i < n; i++)
    if (nodes[i].parent != LNS_ID_NONE && nodes[i].parent >= i)
      return _lns_report_file_damaged (&report->shared->file, error,
                                       "call node %u comes before its parent", i);
  return true;
}

/* Rejects inlined calls that do not come behind their callers: code that walks chains would never end. */
static bool
check_inlined (const LnsReport *report, LnsError *error)
{
  uint32_t n;
  const LnsStackFrame *frames = lns_report_frames (report, &n);

  for (uint32_t i = 0; i < n; i++)
    if (frames[i].inlined_in > i || frames[i].innermost > n ||
        (frames[i].innermost != 0 && frames[i].innermost - 1 <= i))
      return _lns_report_file_damaged (&report->shared->file, error,
                                       "the inlined calls of frame %u are out of order", i);
  return true;
}

/* Adds a record to its table, or replaces the earlier one with the same id. */
static bool
keep_record (LnsReport *report,
             LnsDefinitionKind kind,
             uint32_t id,
             const LnsDefinition *definition,
             LnsError *error)
{
  LnsDefinitionTable *table = &report->definitions[kind];
  const size_t size = lns_definition_size (kind);

  if (id > table->n || id == LNS_ID_NONE)
    return _lns_report_file_damaged (&report->shared->file, error,
                                     "the definition of %s %u is missing", kind_names[kind],
                                     table->n);
  if (id == table->n)
    {
      void *records = lns_array_try_grow_ (table->records, id, &table->n_allocated, size);
      if (records == NULL)
        return _lns_report_file_no_memory (&report->shared->file, error);
      table->records = records;
      table->n++;
    }
  memcpy ((char *)table->records + id * size, definition, size);
  return true;
}

static bool
keep_chunk (LnsReport *report, const uint8_t *bytes, size_t size_bytes, LnsError *error)
{
  LnsChunkView view;
  LnsError cause = { 0 };

  if (!lns_chunk_parse (bytes, size_bytes, &view, &cause) ||
      view.header.kind != LNS_CHUNK_DEFINITIONS)
    return _lns_report_file_damaged (&report->shared->file, error, "definitions: %s",
                                     cause.message);
  const LnsChunkColumn *column = lns_chunk_column (&view, LNS_DEFINITION_COLUMN_RECORDS);
  const uint8_t *records = column != NULL ? column->bytes : NULL;
  size_t records_bytes = column != NULL ? column->size_bytes : 0;
  for (uint32_t i = 0; i < view.header.n; i++)
    {
      LnsDefinitionKind kind;
      LnsDefinition definition;
      uint32_t id;
      if (!lns_definition_decode (&records, &records_bytes, &kind, &id, &definition))
        return _lns_report_file_damaged (&report->shared->file, error,
                                         "a definition cannot be read");
      if (lns_definition_size (kind) == 0)
        continue;
      if (!keep_record (report, kind, id, &definition, error))
        return false;
    }
  return true;
}

/* Begins with the definitions of OLDER: later commits add to them, and replace single ones. */
static bool
copy_definitions (LnsReport *report, const LnsReport *older, LnsError *error)
{
  for (int kind = 0; kind < LNS_N_DEFINITION_KINDS; kind++)
    {
      const LnsDefinitionTable *from = &older->definitions[kind];
      LnsDefinitionTable *to = &report->definitions[kind];
      const size_t size = lns_definition_size ((LnsDefinitionKind)kind);
      if (from->n == 0)
        continue;
      to->records = malloc (from->n * size);
      if (to->records == NULL)
        return _lns_report_file_no_memory (&report->shared->file, error);
      memcpy (to->records, from->records, from->n * size);
      to->n = from->n;
      to->n_allocated = from->n;
    }
  report->last_definitions = older->last_definitions;
  return true;
}

bool
_lns_report_read_definitions (LnsReport *report,
                              const LnsReport *older,
                              LnsConnection *connection,
                              const LnsOpenOptions *options,
                              LnsError *error)
{
  int step = SQLITE_ERROR;

  report->last_definitions = INT64_MIN;
  if (older != NULL && !copy_definitions (report, older, error))
    return false;
  sqlite3_stmt *statement = _lns_connection_query (connection, LNS_QUERY_DEFS);
  if (statement != NULL)
    sqlite3_bind_int64 (statement, 1, report->last_definitions);
  while (statement != NULL && (step = sqlite3_step (statement)) == SQLITE_ROW)
    {
      const uint8_t *bytes;
      size_t size_bytes;
      int64_t id = sqlite3_column_int64 (statement, 0);
      /* A damaged b-tree may contain a cycle, which would never end. */
      if (id <= report->last_definitions ||
          !_lns_connection_blob (statement, 1, &bytes, &size_bytes))
        return _lns_report_file_damaged (&report->shared->file, error,
                                         "its definitions are out of order");
      report->last_definitions = id;
      if (options->cancel != NULL && atomic_load_explicit (options->cancel, memory_order_relaxed))
        return lns_error_set (error, LNS_ERROR_CANCELLED, 0, "%s: opening was cancelled",
                              report->shared->file.path);
      if (!keep_chunk (report, bytes, size_bytes, error))
        return false;
    }
  if (step != SQLITE_DONE)
    return _lns_report_file_sqlite_error (&report->shared->file, connection, error);

  uint32_t n_losses;
  const LnsLoss *losses = lns_report_losses (report, &n_losses);
  for (uint32_t i = 0; i < n_losses; i++)
    report->info.n_lost += lns_loss_events (&losses[i]);
  for (LnsDefinitionKind kind = LNS_DEFINITION_PROCESS; kind < LNS_N_DEFINITION_KINDS; kind++)
    if (!check_links (report, kind, error))
      return false;
  return check_tracks (report, error) && check_diagnostics (report, error) &&
         check_ancestry (report, error) && check_call_nodes (report, error) &&
         check_inlined (report, error);
}

const void *
lns_report_definitions (const LnsReport *report, LnsDefinitionKind kind, uint32_t *ret_n)
{
  /* What is attached repeats the report's tracks and lanes, before its own. */
  const LnsReport *derived = kind == LNS_DEFINITION_TRACK || kind == LNS_DEFINITION_LANE
                                 ? atomic_load_explicit (&report->derived, memory_order_acquire)
                                 : NULL;
  const LnsDefinitionTable *table = &(derived != NULL ? derived : report)->definitions[kind];
  if (ret_n != NULL)
    *ret_n = table->n;
  return table->records;
}

/* Whether DERIVED's definitions of KIND begin with those of REPORT. */
static bool
repeats (const LnsReport *derived, const LnsReport *report, LnsDefinitionKind kind)
{
  uint32_t n, n_own;
  const void *records = lns_report_definitions (derived, kind, &n),
             *own = lns_report_definitions (report, kind, &n_own);
  return n >= n_own &&
         (n_own == 0 || memcmp (records, own, n_own * lns_definition_size (kind)) == 0);
}

bool
lns_report_attach (LnsReport *report, LnsReport *derived, LnsError *error)
{
  LnsReport *none = NULL;
  if (!repeats (derived, report, LNS_DEFINITION_TRACK) ||
      !repeats (derived, report, LNS_DEFINITION_LANE))
    return lns_error_set (error, LNS_ERROR_FORMAT, 0,
                          "%s was not derived from %s; remove it, and Lanescope makes it again",
                          derived->info.path, report->shared->file.path);
  if (!atomic_compare_exchange_strong (&report->derived, &none, derived))
    return lns_error_set (error, LNS_ERROR_USAGE, 0, "%s: another file is attached to it already",
                          report->shared->file.path);
  return true;
}
