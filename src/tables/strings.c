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
#include "src/store/format/definition-codec.h"
#include "src/tables/lanes.h"
#include "src/tables/tables-private.h"

/* A bit set for each string id that is marked. */
typedef struct
{
  LnsReport *report;
  uint64_t *bitmap; /* owned by who made it                                                      */
  uint32_t n_strings;
} Marks;

static Marks
make_marks (const LnsTables *tables)
{
  const uint32_t n_strings = lns_report_n_strings (tables->report);

  return (Marks){ tables->report, lns_calloc (n_strings / 64 + 1, sizeof (uint64_t)), n_strings };
}

/* The empty string is never marked: it is a text everywhere. */
static void
mark (Marks *marks, uint64_t id)
{
  if (id != 0 && id < marks->n_strings)
    marks->bitmap[id / 64] |= UINT64_C (1) << id % 64;
}

static void
unmark (Marks *marks, uint64_t id)
{
  if (id < marks->n_strings)
    marks->bitmap[id / 64] &= ~(UINT64_C (1) << id % 64);
}

/* Has FUNCTION look at the payload of each event of CHUNK that is of TYPE. */
static void
for_payloads (Marks *marks,
              const LnsChunk *chunk,
              LnsPayloadType type,
              void (*function) (Marks *marks, uint64_t id))
{
  const LnsLaneKind kind = lns_report_lanes (marks->report, NULL)[chunk->lane].kind;
  const int types = lns_lane_kind_extra (kind, LNS_COLUMN_PAYLOAD_TYPE),
            payloads = lns_lane_kind_extra (kind, LNS_COLUMN_PAYLOAD);

  for (uint32_t i = 0; types >= 0 && payloads >= 0 && i < chunk->n; i++)
    if (lns_chunk_extra (chunk, types, i) == type)
      function (marks, lns_chunk_extra (chunk, payloads, i));
}

/* ---- Payloads -------------------------------------------------------------------------------- */

static void
mark_payloads (void *marks, const LnsTrack *track, const LnsChunk *chunk)
{
  for_payloads (marks, chunk, LNS_PAYLOAD_TYPED, mark);
}

static void
mark_kept_blocks (Marks *marks)
{
  uint32_t n_tables, n_rows;
  const LnsKeptTable *kept = lns_report_kept_tables (marks->report, &n_tables);
  const LnsKeptRows *rows = lns_report_kept_rows (marks->report, &n_rows);

  for (uint32_t i = 0; i < n_tables; i++)
    mark (marks, kept[i].columns);
  for (uint32_t i = 0; i < n_rows; i++)
    mark (marks, rows[i].rows);
}

/* A bitmap with a bit set for each string id that holds a typed payload instead of a text. The first call reads
 * the payload columns of all lanes. NULL and ERROR where a chunk is damaged. */
static const uint64_t *
payload_strings (LnsTables *tables, LnsError *error)
{
  pthread_mutex_lock (&tables->lock);
  if (tables->payload_strings == NULL)
    {
      const LnsColumnMask columns =
          LNS_COLUMN_BIT (LNS_COLUMN_PAYLOAD_TYPE) | LNS_COLUMN_BIT (LNS_COLUMN_PAYLOAD);
      Marks marks = make_marks (tables);
      bool good = true;
      mark_kept_blocks (&marks);
      for (uint32_t i = 0; good && i < tables->nvtx->n_lanes; i++)
        good = lns_read_lane (tables->report, tables->nvtx->lanes[i].lane, columns, mark_payloads,
                              &marks, NULL, error);
      if (good)
        tables->payload_strings = marks.bitmap;
      else
        free (marks.bitmap);
    }
  const uint64_t *result = tables->payload_strings;
  pthread_mutex_unlock (&tables->lock);
  return result;
}

/* ---- Rows of StringIds ----------------------------------------------------------------------- */

/* Decides which strings of a report are hidden, and which are rows of StringIds. A recording of our own shows only those
 * that rows of other tables refer to: its other strings are private, such as meta values (the recorded environment among
 * them), command lines, and what a later definition replaced after exec (). An import shows every string that its source
 * had, so that an export has them again. */

static void
mark_metadata (Marks *marks)
{
  uint32_t n_metas, n_processes;
  const LnsMetaDefinition *metas = lns_report_metas (marks->report, &n_metas);
  const LnsProcess *processes = lns_report_processes (marks->report, &n_processes);

  for (uint32_t i = 0; i < n_metas; i++)
    {
      mark (marks, metas[i].key);
      mark (marks, metas[i].value);
    }
  for (uint32_t i = 0; i < n_processes; i++)
    {
      mark (marks, processes[i].command_line);
      mark (marks, processes[i].executable);
    }
}

/* Whether a string at OFFSET of definitions of KIND is for Lanescope alone. */
static bool
is_private (LnsDefinitionKind kind, size_t offset)
{
  return kind == LNS_DEFINITION_KEPT_TABLE || kind == LNS_DEFINITION_KEPT_ROWS ||
         (kind == LNS_DEFINITION_MODULE && offset == offsetof (LnsModule, build_id)) ||
         (kind == LNS_DEFINITION_PROCESS && offset != offsetof (LnsProcess, name));
}

static void
show_definitions (Marks *marks)
{
  for (LnsDefinitionKind kind = LNS_DEFINITION_PROCESS; kind < LNS_N_DEFINITION_KINDS; kind++)
    {
      uint32_t n, id;
      const char *records = lns_report_definitions (marks->report, kind, &n);
      for (const LnsDefinitionField *field = lns_definition_fields (kind); field->tag != 0; field++)
        for (uint32_t i = 0; i < n && field->type == LNS_FIELD_STRING; i++)
          {
            memcpy (&id, records + i * lns_definition_size (kind) + field->offset, sizeof id);
            if (!is_private (kind, field->offset))
              unmark (marks, id);
          }
    }
}

static void
show_kept_rows (Marks *marks)
{
  uint32_t n;
  const LnsKeptRows *rows = lns_report_kept_rows (marks->report, &n);

  for (uint32_t i = 0; i < n; i++)
    {
      uint32_t n_rows, n_columns;
      size_t size;
      const char *bytes = lns_report_string (marks->report, rows[i].rows, &size);
      LnsKeptValue *values = lns_kept_decode (bytes, size, &n_rows, &n_columns);
      if (values == NULL)
        continue; /* no table shows these rows */
      for (size_t k = 0; k < (size_t)n_rows * n_columns; k++)
        if (values[k].type == LNS_KEPT_STRING)
          unmark (marks, (uint64_t)values[k].integer);
      free (values);
    }
}

static void
show_chunk (void *marks, const LnsTrack *track, const LnsChunk *chunk)
{
  for (uint32_t i = 0; i < chunk->n; i++)
    unmark (marks, chunk->name[i]);
  for_payloads (marks, chunk, LNS_PAYLOAD_JSON, unmark);
}

static bool
show_events (Marks *marks, LnsError *error)
{
  const LnsColumnMask columns = LNS_COLUMN_BIT (LNS_COLUMN_NAME) |
                                LNS_COLUMN_BIT (LNS_COLUMN_PAYLOAD_TYPE) |
                                LNS_COLUMN_BIT (LNS_COLUMN_PAYLOAD);
  uint32_t n;
  bool good = true;

  lns_report_lanes (marks->report, &n);
  for (uint32_t lane = 0; good && lane < n; lane++)
    good = lns_read_lane (marks->report, lane, columns, show_chunk, marks, NULL, error);
  return good;
}

const uint64_t *
_lns_tables_hidden_strings (LnsTables *tables, LnsError *error)
{
  const uint64_t *payloads = payload_strings (tables, error);

  if (payloads == NULL)
    return NULL;
  pthread_mutex_lock (&tables->lock);
  if (tables->hidden_strings == NULL)
    {
      Marks marks = make_marks (tables);
      if (tables->is_import)
        mark_metadata (&marks);
      else
        {
          memset (marks.bitmap, 0xFF, (marks.n_strings / 64 + 1) * sizeof *marks.bitmap);
          unmark (&marks, 0);
        }
      show_definitions (&marks);
      show_kept_rows (&marks);
      const bool good = show_events (&marks, error);
      for (size_t i = 0; i < marks.n_strings / 64 + 1; i++)
        marks.bitmap[i] |= payloads[i];
      if (good)
        tables->hidden_strings = marks.bitmap;
      else
        free (marks.bitmap);
    }
  const uint64_t *result = tables->hidden_strings;
  pthread_mutex_unlock (&tables->lock);
  return result;
}

/* ---- From texts to ids ----------------------------------------------------------------------- */

/* Replaces: comparing all strings for each comparison with a text. The slots hold ids alone, which take a tenth of the
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
  const uint64_t *payloads = payload_strings (tables, error);

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
