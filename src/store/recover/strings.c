/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/recover/strings.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/compare.h"
#include "src/base/search.h"
#include "src/store/format/definition-codec.h"
#include "src/store/format/kept-codec.h"

/* Parses the string chunk; OFFSETS as in lns_strings_parse (). */
static bool
parse_strings (const LnsRecoveredStrings *strings,
               const LnsFoundChunk *chunk,
               uint32_t *offsets,
               const uint8_t **ret_bytes,
               uint64_t *ret_total_bytes)
{
  LnsChunkView view;

  return _lns_scan_read (chunk, strings->bytes, &view) && view.header.n <= LNS_STRING_CHUNK_MAX &&
         lns_strings_parse (&view, offsets, ret_bytes, ret_total_bytes, NULL);
}

uint32_t
_lns_recovered_string (const LnsRecoveredStrings *strings, uint32_t old_id, uint32_t lost)
{
  const size_t after = LNS_LOWER_BOUND (strings->n_runs, i, strings->runs[i].first <= old_id);
  const LnsStringRun *run = after > 0 ? &strings->runs[after - 1] : NULL;

  if (old_id == 0)
    return 0;
  return run != NULL && old_id - run->first < run->n
             ? strings->new_ids[run->at + (old_id - run->first)]
             : lost;
}

static int
compare_ids (const void *a, const void *b)
{
  return LNS_COMPARE (*(const uint32_t *)a, *(const uint32_t *)b);
}

void
_lns_recovered_strings_set_blocks (LnsRecoveredStrings *strings, uint32_t *old_ids, size_t n)
{
  strings->blocks = old_ids;
  strings->n_blocks = n;
  qsort (old_ids, n, sizeof *old_ids, compare_ids);
}

/* Whether string OLD_ID is a block of kept rows. O(log blocks). */
static bool
is_block (const LnsRecoveredStrings *strings, uint32_t old_id)
{
  return bsearch (&old_id, strings->blocks, strings->n_blocks, sizeof *strings->blocks,
                  compare_ids) != NULL;
}

/* Writes the block to WRITER with the new ids of the strings in it. These come before the block, so they have their new ids
 * already. Returns 0 if it is damaged. */
static uint32_t
write_block (const LnsRecoveredStrings *strings,
             LnsWriter *writer,
             const uint8_t *bytes,
             size_t size_bytes)
{
  uint32_t n_rows, n_columns, id = 0;
  LnsKeptValue *values = lns_kept_decode ((const char *)bytes, size_bytes, &n_rows, &n_columns);
  LnsBuffer block = { 0 };

  if (values == NULL)
    return 0;
  for (size_t i = 0; i < (size_t)n_rows * n_columns; i++)
    if (values[i].type == LNS_KEPT_STRING)
      values[i].integer =
          _lns_recovered_string (strings, (uint32_t)values[i].integer, strings->lost_name);
  lns_kept_encode (&block, values, n_rows, n_columns);
  if (!block.failed)
    id = lns_writer_bytes (writer, block.bytes, block.size_bytes);
  lns_buffer_clear (&block);
  free (values);
  return id;
}

static uint32_t
write_string (LnsRecoveredStrings *strings,
              LnsWriter *writer,
              uint32_t old_id,
              const uint8_t *bytes,
              size_t size_bytes)
{
  return is_block (strings, old_id) ? write_block (strings, writer, bytes, size_bytes)
                                    : lns_writer_string (writer, bytes, size_bytes);
}

/* Joins the pieces of a long string, CHUNKS[0 …], as far as they are there. */
static uint32_t
write_pieces (LnsRecoveredStrings *strings,
              LnsWriter *writer,
              const LnsFoundChunk *chunks,
              size_t n_chunks,
              uint32_t *offsets)
{
  LnsBuffer whole = { 0 };
  uint64_t total_bytes = 0, ignored;
  const uint8_t *bytes;

  for (size_t c = 0; c < n_chunks; c++)
    {
      if ((c > 0 && (chunks[c].header.lane != chunks[c - 1].header.lane + 1 ||
                     whole.size_bytes >= total_bytes)) ||
          !parse_strings (strings, &chunks[c], offsets, &bytes, c == 0 ? &total_bytes : &ignored))
        break;
      lns_buffer_append (&whole, bytes, offsets[1] - offsets[0] - 1);
    }
  uint32_t id =
      write_string (strings, writer, chunks[0].header.lane, whole.bytes, whole.size_bytes);
  lns_buffer_clear (&whole);
  return id;
}

bool
_lns_recovered_strings_write (LnsRecoveredStrings *strings, LnsWriter *writer)
{
  size_t n_chunks, n_ids = 0;
  const LnsFoundChunk *chunks = _lns_scan_chunks (strings->scan, LNS_CHUNK_STRINGS, &n_chunks);
  uint32_t *offsets = malloc ((LNS_STRING_CHUNK_MAX + 1) * sizeof *offsets);

  for (size_t c = 0; c < n_chunks; c++)
    n_ids += chunks[c].header.n;
  strings->runs = calloc (n_chunks + 1, sizeof *strings->runs);
  strings->new_ids = calloc (n_ids + 1, sizeof *strings->new_ids);
  if (offsets == NULL || strings->runs == NULL || strings->new_ids == NULL)
    {
      free (offsets);
      return false;
    }
  strings->lost_name = lns_writer_string (writer, "(lost)", 6);
  size_t at = 0;
  for (size_t c = 0; c < n_chunks; c++)
    {
      const uint8_t *bytes;
      uint64_t total_bytes;
      if (!parse_strings (strings, &chunks[c], offsets, &bytes, &total_bytes))
        continue;
      const uint32_t n = chunks[c].header.n;
      strings->runs[strings->n_runs++] = (LnsStringRun){ chunks[c].header.lane, n, at };
      if (total_bytes > 0)
        strings->new_ids[at] = write_pieces (strings, writer, &chunks[c], n_chunks - c, offsets);
      else
        for (uint32_t i = 0; i < n; i++)
          strings->new_ids[at + i] =
              write_string (strings, writer, chunks[c].header.lane + i, bytes + offsets[i],
                            offsets[i + 1] - offsets[i] - 1);
      at += n;
    }
  free (offsets);
  return true;
}

void
_lns_recovered_text (const LnsRecoveredStrings *strings,
                     uint32_t old_id,
                     char *text,
                     size_t text_bytes)
{
  size_t n_chunks;
  const LnsFoundChunk *chunks = _lns_scan_chunks (strings->scan, LNS_CHUNK_STRINGS, &n_chunks);
  uint32_t *offsets = malloc ((LNS_STRING_CHUNK_MAX + 1) * sizeof *offsets);
  const uint8_t *bytes;
  uint64_t total_bytes;

  text[0] = '\0';
  for (size_t c = 0; offsets != NULL && c < n_chunks; c++)
    if (chunks[c].header.lane <= old_id && old_id - chunks[c].header.lane < chunks[c].header.n &&
        parse_strings (strings, &chunks[c], offsets, &bytes, &total_bytes))
      {
        strncpy (text, (const char *)bytes + offsets[old_id - chunks[c].header.lane],
                 text_bytes - 1);
        text[text_bytes - 1] = '\0';
      }
  free (offsets);
}

void
_lns_recovered_strings_clear (LnsRecoveredStrings *strings)
{
  free (strings->runs);
  free (strings->new_ids);
  free (strings->blocks);
  *strings = (LnsRecoveredStrings){ 0 };
}
