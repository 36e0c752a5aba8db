/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which strings of a report are rows of StringIds. Of our own recordings those are that rows of other tables refer
 * to. What else a report stores as strings is nobody's business who is given its tables: meta values (the recorded
 * environment among them), command lines, and what a later definition has replaced, as after exec (). What was
 * imported has the strings that its source had, referred to or not, so that these come back. */

#include <stdlib.h>
#include <string.h>

#include "src/tables/tables-private.h"

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
        continue; /* its rows are nobody's */
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
      if (walker == NULL)
        return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                              "not enough memory to read names; close other programs");
      while ((chunk = lns_chunk_walker_next (walker, &problem)) != NULL)
        show_chunk (hiding, lanes[lane].kind, chunk);
      lns_chunk_walker_free (walker);
    }
  if (problem.domain != LNS_ERROR_NONE && error != NULL)
    *error = problem;
  return problem.domain == LNS_ERROR_NONE;
}

bool
_lns_tables_hidden_strings (LnsTables *tables, const uint64_t **ret_bitmap, LnsError *error)
{
  Hiding hiding = { .report = tables->report, .n_strings = lns_report_n_strings (tables->report) };
  const size_t n_words = hiding.n_strings / 64 + 1;
  const uint64_t *payloads;
  bool good = true;

  if (!_lns_tables_payload_strings (tables, &payloads, error))
    return false;
  pthread_mutex_lock (&tables->lock);
  if (tables->hidden_strings == NULL)
    {
      hiding.bitmap = calloc (n_words, sizeof *hiding.bitmap);
      good =
          hiding.bitmap != NULL ||
          lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                         "not enough memory to tell metadata from strings; close other programs");
      if (good)
        {
          if (lns_report_meta (tables->report, "imported_from") == NULL)
            hide_all (&hiding);
          else
            hide_metadata (&hiding);
          show_definitions (&hiding);
          show_kept_rows (&hiding);
          good = show_events (&hiding, error);
        }
      for (size_t i = 0; good && i < n_words; i++)
        hiding.bitmap[i] |= payloads[i];
      if (good)
        tables->hidden_strings = hiding.bitmap;
      else
        free (hiding.bitmap);
    }
  *ret_bitmap = tables->hidden_strings;
  pthread_mutex_unlock (&tables->lock);
  return good;
}
