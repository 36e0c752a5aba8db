/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Strings by id: a table of pointers in pages of 4,096 ids, which all snapshots of a file share, as ids stay. The first access
 * to a string reads its whole chunk. Looking up a string that was read takes no lock. */

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/store/read/report-private.h"

/* The string of unknown ids and of unreadable chunks. */
static const struct
{
  LnsReportString string;
  char nul;
} empty = { { 0 }, '\0' };

void
_lns_report_free_strings (LnsReportShared *shared)
{
  for (uint32_t i = 0; i < LNS_STRING_SHELVES; i++)
    {
      LnsStringShelf *shelf = shared->string_shelves[i];
      for (uint32_t page = 0; shelf != NULL && page < LNS_PAGES_PER_SHELF; page++)
        free (shelf->pages[page]);
      free (shelf);
    }
  for (LnsStringBlock *block = shared->string_blocks, *next; block != NULL; block = next)
    {
      next = block->next;
      free (block);
    }
}

/* What the atomic pointer *AT points to, which is all 0 if nobody has come here before. */
#define GET_OR_MAKE(at)                                                                            \
 ({                                                                                                \
 __typeof__ (atomic_load (at)) found_ = atomic_load_explicit (at, memory_order_acquire);           \
 if (found_ == NULL)                                                                               \
  {                                                                                                \
   __typeof__ (found_) fresh_ = lns_calloc (1, sizeof *fresh_);                                    \
   if (atomic_compare_exchange_strong (at, &found_, fresh_))                                       \
    found_ = fresh_;                                                                               \
   else                                                                                            \
    free (fresh_);                                                                                 \
  }                                                                                                \
 found_;                                                                                           \
 })

/* The slot of ID < n_strings. */
static _Atomic (const LnsReportString *) *
slot_of (LnsReport *report, uint32_t id)
{
  const uint32_t page = id / LNS_STRINGS_PER_PAGE;
  LnsStringShelf *shelf = GET_OR_MAKE (&report->shared->string_shelves[page / LNS_PAGES_PER_SHELF]);
  LnsStringPage *at = GET_OR_MAKE (&shelf->pages[page % LNS_PAGES_PER_SHELF]);

  return &at->strings[id % LNS_STRINGS_PER_PAGE];
}

/* Publishes the string, unless another thread has done so already. */
static void
publish (LnsReport *report, uint32_t id, const LnsReportString *string)
{
  const LnsReportString *none = NULL;

  atomic_compare_exchange_strong_explicit (slot_of (report, id), &none, string,
                                           memory_order_release, memory_order_relaxed);
}

static LnsStringBlock *
new_block (LnsReport *report, size_t size_bytes)
{
  LnsStringBlock *block = lns_realloc (NULL, sizeof *block + size_bytes, 1);

  block->next = atomic_load_explicit (&report->shared->string_blocks, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit (&report->shared->string_blocks, &block->next,
                                                 block, memory_order_relaxed, memory_order_relaxed))
    ;
  return block;
}

/* A string chunk. The bytes are SQLite's, and valid until the statement is reset. */
typedef struct
{
  uint32_t first, n;
  const uint8_t *bytes;
  uint64_t total_bytes; /* of a long string in pieces; else 0 */
  uint32_t offsets[LNS_STRING_CHUNK_MAX + 1];
} StringChunk;

/* Reads the chunk that has string ID. */
static bool
read_chunk (LnsReport *report, LnsConnection *connection, uint32_t id, StringChunk *ret_chunk)
{
  sqlite3_stmt *statement = _lns_connection_query (connection, LNS_QUERY_STRING);
  const uint8_t *bytes;
  size_t size_bytes;
  LnsChunkView view;

  if (statement == NULL || sqlite3_bind_int64 (statement, 1, id) != SQLITE_OK ||
      sqlite3_step (statement) != SQLITE_ROW ||
      !_lns_connection_blob (statement, 1, &bytes, &size_bytes) ||
      !lns_chunk_parse (bytes, size_bytes, &view, NULL) || view.header.kind != LNS_CHUNK_STRINGS ||
      view.header.n > LNS_STRING_CHUNK_MAX || view.header.lane > id ||
      id - view.header.lane >= view.header.n ||
      memcmp (view.header.uuid, report->info.uuid, sizeof view.header.uuid) != 0 ||
      !lns_strings_parse (&view, ret_chunk->offsets, &ret_chunk->bytes, &ret_chunk->total_bytes,
                          NULL))
    return false;
  ret_chunk->first = view.header.lane;
  ret_chunk->n = view.header.n;
  return true;
}

static size_t
string_room (size_t size_bytes)
{
  return (sizeof (LnsReportString) + size_bytes + 1 + 7) & ~(size_t)7;
}

static uint32_t
string_size (const StringChunk *chunk, uint32_t i)
{
  return chunk->offsets[i + 1] - chunk->offsets[i] - 1;
}

/* Publishes all strings of CHUNK. */
static void
keep_chunk (LnsReport *report, const StringChunk *chunk)
{
  size_t room = 0;
  for (uint32_t i = 0; i < chunk->n; i++)
    room += string_room (string_size (chunk, i));
  char *at = new_block (report, room)->bytes;
  for (uint32_t i = 0; i < chunk->n && i < report->n_strings - chunk->first; i++)
    {
      LnsReportString *string = (LnsReportString *)at;
      string->size_bytes = string_size (chunk, i);
      memcpy (string->bytes, chunk->bytes + chunk->offsets[i], string->size_bytes);
      string->bytes[string->size_bytes] = '\0';
      publish (report, chunk->first + i, string);
      at += string_room (string->size_bytes);
    }
}

/* Publishes the long string whose first piece is CHUNK. Overwrites CHUNK with the other pieces. */
static void
keep_pieces (LnsReport *report, LnsConnection *connection, StringChunk *chunk)
{
  const uint32_t first = chunk->first;
  const uint64_t total_bytes = chunk->total_bytes;

  /* The file must have room for all bytes, and enough ids for all pieces. Otherwise the length is wrong. */
  if (chunk->n != 1 || total_bytes > UINT32_MAX - 64 || total_bytes > report->info.file_bytes ||
      total_bytes / LNS_STRING_PIECE_BYTES > report->n_strings - first)
    return;
  LnsReportString *string = (LnsReportString *)new_block (report, string_room (total_bytes))->bytes;
  uint32_t id = first;
  size_t size_bytes = 0;
  for (;;)
    {
      const uint32_t piece_bytes = string_size (chunk, 0);
      if (piece_bytes == 0 || piece_bytes > total_bytes - size_bytes)
        return;
      memcpy (string->bytes + size_bytes, chunk->bytes + chunk->offsets[0], piece_bytes);
      size_bytes += piece_bytes;
      if (size_bytes == total_bytes)
        break;
      if (!read_chunk (report, connection, ++id, chunk) || chunk->n != 1)
        return;
    }
  string->size_bytes = (uint32_t)size_bytes;
  string->bytes[size_bytes] = '\0';
  publish (report, first, string);
}

static void
load (LnsReport *report, uint32_t id)
{
  LnsConnection *connection = _lns_report_file_take (&report->shared->file, NULL);
  StringChunk chunk;

  if (connection != NULL && read_chunk (report, connection, id, &chunk))
    {
      if (chunk.total_bytes > 0)
        keep_pieces (report, connection, &chunk);
      else
        keep_chunk (report, &chunk);
    }
  if (connection != NULL)
    _lns_report_file_give (&report->shared->file, connection);
  publish (report, id, &empty.string);
}

const char *
lns_report_string (LnsReport *report, uint32_t id, size_t *ret_size_bytes)
{
  const LnsReportString *string = &empty.string;

  if (id != 0 && id < report->n_strings)
    {
      _Atomic (const LnsReportString *) *slot = slot_of (report, id);
      string = atomic_load_explicit (slot, memory_order_acquire);
      if (string == NULL)
        {
          load (report, id);
          string = atomic_load_explicit (slot, memory_order_acquire);
        }
    }
  if (ret_size_bytes != NULL)
    *ret_size_bytes = string->size_bytes;
  return string->bytes;
}

uint32_t
lns_report_n_strings (const LnsReport *report)
{
  return report->n_strings;
}
