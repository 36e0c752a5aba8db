/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Changes the inside of a report: rows, headers, values of columns and fields of definitions. Each
 * checksum is corrected, as anybody can do who has read FORMAT.md. */

#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/store/format/codec.h"
#include "src/store/format/definition-codec.h"
#include "tests/fuzz/hostile.h"

/* Where chunks are, by how much they are worth a change. */
static const struct
{
  const char *table, *key, *column;
} chunk_places[] = {
  { "lns_def", "id", "data" },       { "lns_def", "id", "data" },   { "lns_def", "id", "data" },
  { "lns_chunk", "id", "data" },     { "lns_tail", "id", "data" },  { "lns_tail", "id", "data" },
  { "lns_string", "first", "data" }, { "lns_lane", "lane", "top" },
};

/* The columns of numbers in tables. */
static const struct
{
  const char *table, *key, *column;
} number_places[] = {
  { "lns_lane", "lane", "n_events" },
  { "lns_lane", "lane", "n_chunks" },
  { "lns_lane", "lane", "n_open" },
  { "lns_lane", "lane", "start_ns" },
  { "lns_lane", "lane", "end_ns" },
  { "lns_lane", "lane", "busy_ns" },
  { "lns_lane", "lane", "top_level" },
  { "lns_lane", "lane", "lane" },
  { "lns_chunk", "id", "lane" },
  { "lns_chunk", "id", "level" },
  { "lns_chunk", "id", "seq" },
  { "lns_chunk", "id", "first" },
  { "lns_chunk", "id", "n" },
  { "lns_chunk", "id", "start_ns" },
  { "lns_chunk", "id", "end_ns" },
  { "lns_chunk", "id", "correlation_min" },
  { "lns_chunk", "id", "correlation_max" },
  { "lns_chunk", "id", "id" },
  { "lns_string", "first", "first" },
  { "lns_def", "id", "id" },
  { "lns_tail", "id", "id" },
};

static const char *const meta_keys[] = { "next_string",    "now_ns",  "events", "t0_monotonic_ns",
                                         "t0_realtime_ns", "t0_tsc",  "commit", "state",
                                         "compatible",     "missing", "writer", "derived_from" };

/* Runs SQL, which may well fail: a key may be taken. */
static void
change (sqlite3 *db, char *sql)
{
  sqlite3_exec (db, sql, NULL, NULL, NULL);
  sqlite3_free (sql);
}

/* Some row of TABLE by its KEY. False where it has none. */
static bool
pick (sqlite3 *db, const char *table, const char *key, int64_t *ret_key)
{
  sqlite3_stmt *rows = NULL;
  char *sql = sqlite3_mprintf ("SELECT %s FROM %s", key, table);
  uint64_t n = 0;

  if (sqlite3_prepare_v2 (db, sql, -1, &rows, NULL) == SQLITE_OK)
    while (sqlite3_step (rows) == SQLITE_ROW)
      if (hostile_one_in (++n))
        *ret_key = sqlite3_column_int64 (rows, 0);
  sqlite3_finalize (rows);
  sqlite3_free (sql);
  return n > 0;
}

/* ---- Inside a chunk -------------------------------------------------------------------------- */

/* Makes one of the links of DEFINITION, of KIND, lead nowhere. */
static void
cut_link (LnsDefinitionKind kind, LnsDefinition *definition)
{
  const LnsDefinitionField *chosen = NULL;
  uint64_t n = 0;

  for (const LnsDefinitionField *field = lns_definition_fields (kind); field->tag != 0; field++)
    if ((field->type == LNS_FIELD_LINK || field->type == LNS_FIELD_OWNER) && hostile_one_in (++n))
      chosen = field;
  if (chosen != NULL)
    memcpy ((char *)definition + chosen->offset, &(uint32_t){ LNS_ID_NONE }, 4);
}

/* Changes a word of one of the records. */
static void
change_records (LnsBuffer *out, const LnsChunkView *view, const LnsChunkColumn *column)
{
  const uint8_t *bytes = column->bytes;
  size_t size_bytes = column->size_bytes;
  const uint64_t chosen = hostile_draw (view->header.n > 0 ? view->header.n : 1);

  for (uint32_t i = 0; i < view->header.n; i++)
    {
      LnsDefinitionKind kind;
      LnsDefinition definition;
      uint32_t id;
      if (!lns_definition_decode (&bytes, &size_bytes, &kind, &id, &definition))
        return;
      const size_t words = lns_definition_size (kind) / 4;
      if (i == chosen && words > 0)
        {
          const uint64_t number = hostile_number ();
          const size_t at = (size_t)hostile_draw (words);
          memcpy ((char *)&definition + 4 * at, &number,
                  at + 1 < words && hostile_one_in (2) ? 8 : 4);
          if (hostile_one_in (3))
            cut_link (kind, &definition);
          if (hostile_one_in (20))
            id = hostile_one_in (2) ? 1000000 : (uint32_t)hostile_number ();
        }
      lns_definition_encode (out, kind, id, &definition);
      if (i == chosen && hostile_one_in (10))
        lns_definition_encode (out, kind, id, &definition);
    }
}

/* Changes some of the values of blocks. */
static void
change_values (LnsBuffer *out, const LnsChunkView *view, const LnsChunkColumn *column)
{
  static uint64_t values[65536];
  const uint32_t n = view->header.n;

  if (n == 0 || n > 65536 || !lns_codec_decode_u64 (column->bytes, column->size_bytes, values, n))
    return;
  for (uint64_t i = 1 + hostile_draw (3); i > 0; i--)
    values[hostile_draw (n)] = hostile_number ();
  for (uint32_t i = 0; i < n; i += LNS_BLOCK)
    lns_codec_encode_block (out, values + i, n - i < LNS_BLOCK ? n - i : LNS_BLOCK,
                            LNS_CODEC_TRY_DELTA | LNS_CODEC_TRY_DICTIONARY);
}

/* Changes bytes in place: of texts, of blocks of kept rows, of payloads. */
static void
change_bytes (LnsBuffer *out, const LnsChunkColumn *column)
{
  lns_buffer_append (out, column->bytes, column->size_bytes);
  for (uint64_t i = 1 + hostile_draw (4); i > 0 && column->size_bytes > 0; i--)
    {
      uint8_t *byte = &out->bytes[hostile_draw (column->size_bytes)];
      if (*byte != 0 || hostile_one_in (4))
        *byte = hostile_one_in (2) ? 0xFF : (uint8_t)hostile_draw (256);
    }
}

static void
change_header (LnsChunkHeader *header)
{
  switch (hostile_draw (6))
    {
    case 0:
      header->n = (uint32_t)hostile_number ();
      break;
    case 1:
      header->first = hostile_number ();
      break;
    case 2:
      header->lane = (uint32_t)hostile_number ();
      break;
    case 3:
      header->level = (uint16_t)hostile_number ();
      break;
    case 4:
      header->lane_kind = (uint8_t)hostile_draw (LNS_N_LANE_KINDS + 2u);
      break;
    default:
      header->start_ns = (int64_t)hostile_number ();
    }
}

/* Puts a changed chunk in the place of the SIZE_BYTES at BYTES into OUT. */
static bool
rebuild (LnsBuffer *out, const uint8_t *bytes, size_t size_bytes)
{
  LnsChunkView view;
  LnsBuffer changed = { 0 };

  if (!lns_chunk_parse (bytes, size_bytes, &view, NULL))
    return false;
  LnsChunkHeader header = view.header;
  if (hostile_one_in (4) || header.n_columns == 0)
    change_header (&header);
  else
    {
      LnsChunkColumn *column = &view.columns[hostile_draw (header.n_columns)];
      if (header.kind == LNS_CHUNK_DEFINITIONS)
        change_records (&changed, &view, column);
      else if (column->encoding == LNS_ENCODING_BLOCKS)
        change_values (&changed, &view, column);
      else
        change_bytes (&changed, column);
      column->bytes = changed.bytes;
      column->size_bytes = changed.size_bytes;
      if (hostile_one_in (30))
        column->id = (uint16_t)hostile_draw (64);
    }
  lns_chunk_build (out, &header, view.columns, view.header.n_columns);
  lns_buffer_clear (&changed);
  return !out->failed;
}

static void
change_chunk (sqlite3 *db)
{
  const size_t place = (size_t)hostile_draw (sizeof chunk_places / sizeof *chunk_places);
  const char *table = chunk_places[place].table, *key = chunk_places[place].key,
             *column = chunk_places[place].column;
  sqlite3_blob *blob = NULL;
  LnsBuffer out = { 0 };
  int64_t id;

  if (!pick (db, table, key, &id) ||
      sqlite3_blob_open (db, "main", table, column, id, 0, &blob) != SQLITE_OK)
    return;
  const size_t size_bytes = (size_t)sqlite3_blob_bytes (blob);
  uint8_t *bytes = malloc (size_bytes + 1);
  if (sqlite3_blob_read (blob, bytes, (int)size_bytes, 0) == SQLITE_OK &&
      rebuild (&out, bytes, size_bytes))
    {
      sqlite3_stmt *update = NULL;
      char *sql = sqlite3_mprintf ("UPDATE %s SET %s = ?1 WHERE %s = ?2", table, column, key);
      sqlite3_blob_close (blob);
      blob = NULL;
      sqlite3_prepare_v2 (db, sql, -1, &update, NULL);
      sqlite3_bind_blob64 (update, 1, out.bytes, out.size_bytes, SQLITE_STATIC);
      sqlite3_bind_int64 (update, 2, id);
      sqlite3_step (update);
      sqlite3_finalize (update);
      sqlite3_free (sql);
    }
  sqlite3_blob_close (blob);
  free (bytes);
  lns_buffer_clear (&out);
}

/* ---- A lane elsewhere in time ---------------------------------------------------------------- */

/* SQL function: the chunk ?1 beginning ?2 ns later. */
static void
shifted (sqlite3_context *context, int n, sqlite3_value **values)
{
  LnsChunkView view;
  LnsBuffer out = { 0 };
  (void)n;

  if (!lns_chunk_parse (sqlite3_value_blob (values[0]), (size_t)sqlite3_value_bytes (values[0]),
                        &view, NULL))
    {
      sqlite3_result_value (context, values[0]);
      return;
    }
  view.header.start_ns =
      (int64_t)((uint64_t)view.header.start_ns + (uint64_t)sqlite3_value_int64 (values[1]));
  lns_chunk_build (&out, &view.header, view.columns, view.header.n_columns);
  sqlite3_result_blob64 (context, out.bytes, out.size_bytes, SQLITE_TRANSIENT);
  lns_buffer_clear (&out);
}

/* Moves a lane, whole and with its level of detail, to where its first start or its last end is an end of
 * int64 or another hostile time. */
static void
shift_lane (sqlite3 *db)
{
  int64_t lane;
  char sql[256];

  if (!pick (db, "lns_lane", "lane", &lane))
    return;
  sqlite3_snprintf (sizeof sql, sql, "SELECT %s FROM lns_lane WHERE lane = %lld AND n_events > 0",
                    hostile_one_in (2) ? "start_ns" : "end_ns", lane);
  sqlite3_stmt *row = NULL;
  sqlite3_prepare_v2 (db, sql, -1, &row, NULL);
  const bool found = sqlite3_step (row) == SQLITE_ROW;
  const uint64_t from = found ? (uint64_t)sqlite3_column_int64 (row, 0) : 0;
  sqlite3_finalize (row);
  if (!found)
    return;
  const int64_t by = (int64_t)((hostile_one_in (2)   ? (uint64_t)INT64_MAX
                                : hostile_one_in (2) ? (uint64_t)INT64_MIN
                                                     : hostile_number ()) -
                               from);
  change (db, sqlite3_mprintf (
                  "UPDATE lns_lane SET start_ns = start_ns + %lld, end_ns = end_ns + %lld, "
                  "top = shifted (top, %lld) WHERE lane = %lld",
                  by, by, by, lane));
  change (db, sqlite3_mprintf ("UPDATE lns_chunk SET start_ns = start_ns + %lld, end_ns = end_ns + "
                               "%lld, data = shifted (data, %lld) WHERE lane = %lld",
                               by, by, by, lane));
  change (db,
          sqlite3_mprintf ("UPDATE lns_tail SET data = shifted (data, %lld) WHERE id >> 8 = %lld",
                           by, lane));
}

static void
change_number (sqlite3 *db)
{
  const size_t place = (size_t)hostile_draw (sizeof number_places / sizeof *number_places);
  int64_t id;

  if (pick (db, number_places[place].table, number_places[place].key, &id))
    change (db, sqlite3_mprintf ("UPDATE OR REPLACE %s SET %s = %lld WHERE %s = %lld",
                                 number_places[place].table, number_places[place].column,
                                 (long long)hostile_number (), number_places[place].key,
                                 (long long)id));
}

void
hostile_change_report (const char *path)
{
  sqlite3 *db = NULL;

  if (sqlite3_open (path, &db) != SQLITE_OK)
    abort ();
  sqlite3_exec (db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL, NULL, NULL);
  sqlite3_create_function (db, "shifted", 2, SQLITE_UTF8, NULL, shifted, NULL, NULL);
  for (uint64_t n = 1 + hostile_draw (3); n > 0; n--)
    switch (hostile_draw (8))
      {
      case 0:
        change (db, sqlite3_mprintf ("INSERT OR REPLACE INTO lns_meta VALUES (%Q, '%llu')",
                                     meta_keys[hostile_draw (sizeof meta_keys / sizeof *meta_keys)],
                                     (unsigned long long)hostile_number ()));
        break;
      case 1:
        change_number (db);
        break;
      case 2:
      case 3:
        shift_lane (db);
        break;
      default:
        change_chunk (db);
      }
  sqlite3_close (db);
}
