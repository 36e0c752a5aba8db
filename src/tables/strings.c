/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tells the strings of a report apart: which are payloads instead of texts, which are rows of StringIds, and which one has
 * given bytes. Each answer is made when first asked for. */

#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/memory.h"
#include "src/tables/tables-private.h"

/* ---- Payloads -------------------------------------------------------------------------------- */

static bool
mark_payloads_of_lane (LnsTables *tables,
                       const LnsTableLane *lane,
                       uint64_t *bitmap,
                       LnsError *error)
{
  uint32_t n_strings = lns_report_n_strings (tables->report);
  int type = lns_lane_kind_extra (lane->kind, LNS_COLUMN_PAYLOAD_TYPE);
  int payload = lns_lane_kind_extra (lane->kind, LNS_COLUMN_PAYLOAD);
  LnsError local = { 0 };
  const LnsChunk *chunk;

  if (type < 0 || payload < 0)
    return true;
  LnsChunkWalker *walker = lns_chunk_walker_new (tables->report, lane->lane,
                                                 LNS_COLUMN_BIT (LNS_COLUMN_PAYLOAD_TYPE) |
                                                     LNS_COLUMN_BIT (LNS_COLUMN_PAYLOAD));
  while ((chunk = lns_chunk_walker_next (walker, &local)) != NULL)
    for (uint32_t i = 0;
         chunk->extra[type] != NULL && chunk->extra[payload] != NULL && i < chunk->n; i++)
      if (chunk->extra[type][i] == LNS_PAYLOAD_TYPED && chunk->extra[payload][i] < n_strings)
        bitmap[chunk->extra[payload][i] / 64] |= UINT64_C (1) << (chunk->extra[payload][i] % 64);
  lns_chunk_walker_free (walker);
  if (local.domain != LNS_ERROR_NONE && error != NULL)
    *error = local;
  return local.domain == LNS_ERROR_NONE;
}

static void
mark_kept_blocks (LnsTables *tables, uint64_t *bitmap)
{
  uint32_t n_tables, n_rows, n_strings = lns_report_n_strings (tables->report);
  const LnsKeptTable *kept = lns_report_kept_tables (tables->report, &n_tables);
  const LnsKeptRows *rows = lns_report_kept_rows (tables->report, &n_rows);

  for (uint32_t i = 0; i < n_tables + n_rows; i++)
    {
      uint32_t id = i < n_tables ? kept[i].columns : rows[i - n_tables].rows;
      if (id < n_strings)
        bitmap[id / 64] |= UINT64_C (1) << (id % 64);
    }
  bitmap[0] &= ~UINT64_C (1); /* the empty string stays one                                       */
}

const uint64_t *
_lns_tables_payload_strings (LnsTables *tables, LnsError *error)
{
  pthread_mutex_lock (&tables->lock);
  if (tables->payload_strings == NULL)
    {
      uint64_t *bitmap =
          lns_calloc (lns_report_n_strings (tables->report) / 64 + 1, sizeof *bitmap);
      bool good = true;
      mark_kept_blocks (tables, bitmap);
      for (uint32_t i = 0; good && i < tables->nvtx->n_lanes; i++)
        good = mark_payloads_of_lane (tables, &tables->nvtx->lanes[i], bitmap, error);
      if (good)
        tables->payload_strings = bitmap;
      else
        free (bitmap);
    }
  const uint64_t *result = tables->payload_strings;
  pthread_mutex_unlock (&tables->lock);
  return result;
}

/* ---- Rows of StringIds ----------------------------------------------------------------------- */

/* Decides which strings of a report are rows of StringIds. A recording of our own shows only those that rows of other
 * tables refer to: its other strings are private, such as meta values (the recorded environment among them), command
 * lines, and what a later definition replaced after exec (). An import shows every string that its source had, so
 * that an export has them again. */
typedef struct
{
  LnsReport *report;
  uint64_t *bitmap; /* of the strings that are hidden                                             */
  uint32_t n_strings;
} Hiding;

static void
hide (Hiding *hiding, uint32_t id)
{
  if (id != 0 && id < hiding->n_strings)
    hiding->bitmap[id / 64] |= UINT64_C (1) << id % 64;
}

static void
show (Hiding *hiding, uint64_t id)
{
  if (id < hiding->n_strings)
    hiding->bitmap[id / 64] &= ~(UINT64_C (1) << id % 64);
}

static void
hide_all (Hiding *hiding)
{
  memset (hiding->bitmap, 0xFF, (hiding->n_strings / 64 + 1) * sizeof *hiding->bitmap);
  show (hiding, 0);
}

static void
hide_metadata (Hiding *hiding)
{
  uint32_t n_metas, n_processes;
  const LnsMetaDefinition *metas = lns_report_metas (hiding->report, &n_metas);
  const LnsProcess *processes = lns_report_processes (hiding->report, &n_processes);

  for (uint32_t i = 0; i < n_metas; i++)
    {
      hide (hiding, metas[i].key);
      hide (hiding, metas[i].value);
    }
  for (uint32_t i = 0; i < n_processes; i++)
    {
      hide (hiding, processes[i].command_line);
      hide (hiding, processes[i].executable);
    }
}

/* Shows the strings FIRST … LAST (fields of TYPE, one behind the other) of all definitions of a kind. */
#define SHOW(Type, of, first, last)                                                                \
 do                                                                                                \
  {                                                                                                \
   uint32_t n_of;                                                                                  \
   const Type *all_of = lns_report_##of (hiding->report, &n_of);                                   \
   for (uint32_t i = 0; i < n_of; i++)                                                             \
    for (const uint32_t *id = &all_of[i].first; id <= &all_of[i].last; id++)                       \
     show (hiding, *id);                                                                           \
  }                                                                                                \
 while (0)

static void
show_definitions (Hiding *hiding)
{
  SHOW (LnsProcess, processes, name, name);
  SHOW (LnsThread, threads, name, name);
  SHOW (LnsDomain, domains, name, name);
  SHOW (LnsCategory, categories, name, name);
  SHOW (LnsResource, resources, name, name);
  SHOW (LnsSchema, schemas, name, name);
  SHOW (LnsSchemaEntry, schema_entries, name, description);
  SHOW (LnsTrack, tracks, name, name);
  SHOW (LnsTrack, tracks, unit, unit);
  SHOW (LnsCudaDevice, devices, name, uuid);
  SHOW (LnsCudaContext, contexts, name, name);
  SHOW (LnsCudaStream, streams, name, name);
  SHOW (LnsCudaLaunch, launches, short_name, mangled_name);
  SHOW (LnsDiagnostic, diagnostics, code, code);
  SHOW (LnsDiagnostic, diagnostics, text, text);
}

static void
show_kept_rows (Hiding *hiding)
{
  uint32_t n;
  const LnsKeptRows *rows = lns_report_kept_rows (hiding->report, &n);

  for (uint32_t i = 0; i < n; i++)
    {
      uint32_t n_rows, n_columns;
      size_t size;
      const char *bytes = lns_report_string (hiding->report, rows[i].rows, &size);
      LnsKeptValue *values = lns_kept_decode (bytes, size, &n_rows, &n_columns);
      if (values == NULL)
        continue; /* no table shows these rows */
      for (size_t k = 0; k < (size_t)n_rows * n_columns; k++)
        if (values[k].type == LNS_KEPT_STRING)
          show (hiding, (uint64_t)values[k].integer);
      free (values);
    }
}

static void
show_chunk (Hiding *hiding, LnsLaneKind kind, const LnsChunk *chunk)
{
  const int type_at = lns_lane_kind_extra (kind, LNS_COLUMN_PAYLOAD_TYPE),
            payload_at = lns_lane_kind_extra (kind, LNS_COLUMN_PAYLOAD);
  const uint64_t *types = type_at >= 0 ? chunk->extra[type_at] : NULL,
                 *payloads = payload_at >= 0 ? chunk->extra[payload_at] : NULL;

  for (uint32_t i = 0; i < chunk->n; i++)
    show (hiding, chunk->name[i]);
  for (uint32_t i = 0; types != NULL && payloads != NULL && i < chunk->n; i++)
    if (types[i] == LNS_PAYLOAD_JSON)
      show (hiding, payloads[i]);
}

static bool
show_events (Hiding *hiding, LnsError *error)
{
  uint32_t n;
  const LnsLane *lanes = lns_report_lanes (hiding->report, &n);
  LnsError problem = { 0 };

  for (uint32_t lane = 0; lane < n && problem.domain == LNS_ERROR_NONE; lane++)
    {
      const LnsChunk *chunk;
      LnsChunkWalker *walker = lns_chunk_walker_new (hiding->report, lane,
                                                     LNS_COLUMN_BIT (LNS_COLUMN_NAME) |
                                                         LNS_COLUMN_BIT (LNS_COLUMN_PAYLOAD_TYPE) |
                                                         LNS_COLUMN_BIT (LNS_COLUMN_PAYLOAD));
      while ((chunk = lns_chunk_walker_next (walker, &problem)) != NULL)
        show_chunk (hiding, lanes[lane].kind, chunk);
      lns_chunk_walker_free (walker);
    }
  if (problem.domain != LNS_ERROR_NONE && error != NULL)
    *error = problem;
  return problem.domain == LNS_ERROR_NONE;
}

const uint64_t *
_lns_tables_hidden_strings (LnsTables *tables, LnsError *error)
{
  Hiding hiding = { .report = tables->report, .n_strings = lns_report_n_strings (tables->report) };
  const size_t n_words = hiding.n_strings / 64 + 1;
  const uint64_t *payloads = _lns_tables_payload_strings (tables, error);

  if (payloads == NULL)
    return NULL;
  pthread_mutex_lock (&tables->lock);
  if (tables->hidden_strings == NULL)
    {
      hiding.bitmap = lns_calloc (n_words, sizeof *hiding.bitmap);
      if (lns_report_meta (tables->report, "imported_from") == NULL)
        hide_all (&hiding);
      else
        hide_metadata (&hiding);
      show_definitions (&hiding);
      show_kept_rows (&hiding);
      const bool good = show_events (&hiding, error);
      for (size_t i = 0; i < n_words; i++)
        hiding.bitmap[i] |= payloads[i];
      if (good)
        tables->hidden_strings = hiding.bitmap;
      else
        free (hiding.bitmap);
    }
  const uint64_t *result = tables->hidden_strings;
  pthread_mutex_unlock (&tables->lock);
  return result;
}

/* ---- From texts to ids ----------------------------------------------------------------------- */

/* Replaces: a look at all strings for each comparison with a text. The slots hold ids alone, which take a tenth of the
 * memory of an LnsStringTable with its copies: a report may have 100 million strings. */

/* The slot of the string, or the free one where it would be. */
static uint32_t *
find_slot (const LnsTables *tables, uint32_t *slots, unsigned bits, const void *bytes, size_t size)
{
  uint64_t mask = (UINT64_C (1) << bits) - 1, i = lns_hash (bytes, size) & mask;

  for (; slots[i] != 0; i = (i + 1) & mask)
    {
      size_t other_size;
      const char *other = lns_report_string (tables->report, slots[i] - 1, &other_size);
      if (other_size == size && memcmp (other, bytes, size) == 0)
        break;
    }
  return &slots[i];
}

/* Leaves payloads out: one may have the bytes of a text. Called under the lock. */
static void
build (LnsTables *tables, const uint64_t *payloads)
{
  uint32_t n = lns_report_n_strings (tables->report);
  unsigned bits = 4;

  while (UINT64_C (1) << bits < (uint64_t)n * 2)
    bits++;
  uint32_t *slots = lns_calloc (UINT64_C (1) << bits, sizeof *slots);
  for (uint32_t id = 0; id < n; id++)
    {
      size_t size;
      const char *bytes = lns_report_string (tables->report, id, &size);
      uint32_t *slot = find_slot (tables, slots, bits, bytes, size);
      if (*slot == 0 && (payloads[id / 64] >> (id % 64) & 1) == 0)
        *slot = id + 1;
    }
  tables->strings_by_hash = slots;
  tables->string_bits = bits;
}

bool
lns_tables_find_string (
    LnsTables *tables, const void *bytes, size_t size_bytes, uint32_t *ret_id, LnsError *error)
{
  const uint64_t *payloads = _lns_tables_payload_strings (tables, error);

  if (payloads == NULL)
    return false;
  pthread_mutex_lock (&tables->lock);
  if (tables->strings_by_hash == NULL)
    build (tables, payloads);
  pthread_mutex_unlock (&tables->lock);
  *ret_id =
      *find_slot (tables, tables->strings_by_hash, tables->string_bits, bytes, size_bytes) - 1;
  return true;
}
