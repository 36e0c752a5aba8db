/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/recover/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/compare.h"
#include "src/base/search.h"

#define WINDOW_BYTES ((size_t)4 << 20)
#define UUIDS_MAX    64 /* reports whose chunks are counted in one file; others are ignored */

static bool
add (LnsFoundChunks *chunks, const LnsFoundChunk *chunk)
{
  LnsFoundChunk *added = lns_array_try_add (chunks);
  if (added != NULL)
    *added = *chunk;
  return added != NULL;
}

/* Adds the chunks that begin in the first END_BYTES of BYTES, which are at OFFSET_BYTES of the file. *RET_DONE_BYTES gets
 * where the last one ends. */
static bool
scan_window (LnsScan *scan,
             int fd,
             uint64_t offset_bytes,
             const uint8_t *bytes,
             size_t size_bytes,
             size_t end_bytes,
             size_t *ret_done_bytes)
{
  size_t at = 0;

  while (at < end_bytes)
    {
      const uint8_t *hit = memmem (bytes + at, size_bytes - at, LNS_CHUNK_MAGIC, 8);
      if (hit == NULL || (size_t)(hit - bytes) >= end_bytes)
        break;
      at = (size_t)(hit - bytes);
      LnsFoundChunk found = { .offset_bytes = offset_bytes + at, .fd = fd };
      LnsChunkView view;
      if (!lns_chunk_parse_header (hit, size_bytes - at, &found.header))
        at += 8;
      else if (found.header.length_bytes <= size_bytes - at &&
               lns_chunk_parse (hit, found.header.length_bytes, &view, NULL))
        {
          if (!add (&scan->chunks, &found))
            return false;
          at += found.header.length_bytes;
        }
      else
        {
          if (!add (&scan->damaged, &found))
            return false;
          at += 8;
        }
    }
  *ret_done_bytes = at > end_bytes ? at : end_bytes;
  return true;
}

/* Reads SIZE_BYTES from OFFSET_BYTES on, fewer only at the end of the file. Unreadable parts of the disk count as zeros, so
 * that the rest of the file is still searched. */
static size_t
read_window (int fd, uint64_t offset_bytes, uint8_t *bytes, size_t size_bytes)
{
  size_t done = 0;

  while (done < size_bytes)
    {
      ssize_t n = pread (fd, bytes + done, size_bytes - done, (off_t)(offset_bytes + done));
      if (n < 0 && errno == EIO)
        {
          size_t step = size_bytes - done < 4096 ? size_bytes - done : 4096;
          memset (bytes + done, 0, step);
          n = (ssize_t)step;
        }
      if (n <= 0)
        break;
      done += (size_t)n;
    }
  return done;
}

static bool
no_memory (LnsError *error)
{
  return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, "not enough memory to recover the report");
}

bool
_lns_scan_go_on (const LnsOpenOptions *options, double fraction, LnsError *error)
{
  if (options == NULL)
    return true;
  if (options->progress != NULL)
    options->progress (fraction, options->progress_data);
  return options->cancel == NULL || !atomic_load_explicit (options->cancel, memory_order_relaxed) ||
         lns_error_set (error, LNS_ERROR_CANCELLED, 0, "recovery was cancelled");
}

bool
_lns_scan_file (LnsScan *scan, int fd, const LnsOpenOptions *options, LnsError *error)
{
  const off_t file_bytes = lseek (fd, 0, SEEK_END);
  uint8_t *bytes = malloc (WINDOW_BYTES);
  bool ok = bytes != NULL || no_memory (error);

  for (uint64_t offset = 0; ok && file_bytes > 0 && offset < (uint64_t)file_bytes;)
    {
      const size_t n = read_window (fd, offset, bytes, WINDOW_BYTES);
      size_t done = n;
      if (n == 0)
        break;
      /* Chunks that begin near the end of the window are left to the next window. */
      ok = scan_window (scan, fd, offset, bytes, n,
                        n < WINDOW_BYTES ? n : WINDOW_BYTES - LNS_CHUNK_MAX_BYTES, &done) ||
           no_memory (error);
      offset += done;
      ok = ok &&
           _lns_scan_go_on (options, LNS_SCAN_SHARE * (double)offset / (double)file_bytes, error);
    }
  free (bytes);
  return ok;
}

static int
compare_keys (const LnsFoundChunk *left, const LnsFoundChunk *right)
{
  const LnsChunkHeader *a = &left->header, *b = &right->header;

  return LNS_COMPARE (a->kind, b->kind) ?: LNS_COMPARE (a->lane, b->lane)
         ?: LNS_COMPARE (a->level, b->level) ?: LNS_COMPARE (a->sequence, b->sequence);
}

/* Of equal keys the highest revision comes first; of two chunks of one commit, the longer. */
static int
compare_chunks (const void *left, const void *right)
{
  const LnsFoundChunk *a = left, *b = right;

  return compare_keys (a, b) ?: LNS_COMPARE (b->header.revision, a->header.revision)
         ?: LNS_COMPARE (b->header.n, a->header.n);
}

/* The UUID that most chunks have. */
static void
find_uuid (const LnsScan *scan, uint8_t ret_uuid[16])
{
  struct
  {
    uint8_t uuid[16];
    size_t n;
  } counts[UUIDS_MAX];
  size_t n_counts = 0, best = 0;

  for (size_t i = 0; i < scan->chunks.n; i++)
    {
      const uint8_t *uuid = scan->chunks.items[i].header.uuid;
      size_t at = 0;
      while (at < n_counts && memcmp (counts[at].uuid, uuid, 16) != 0)
        at++;
      if (at == UUIDS_MAX)
        continue;
      if (at == n_counts)
        {
          memcpy (counts[at].uuid, uuid, 16);
          counts[n_counts++].n = 0;
        }
      if (++counts[at].n > counts[best].n)
        best = at;
    }
  memset (ret_uuid, 0, 16);
  if (n_counts > 0)
    memcpy (ret_uuid, counts[best].uuid, 16);
}

/* Keeps of the chunks with UUID the newest of each key, in order. */
static void
keep_newest (LnsFoundChunks *chunks, const uint8_t uuid[16])
{
  size_t n = 0, n_kept = 0;

  for (size_t i = 0; i < chunks->n; i++)
    if (memcmp (chunks->items[i].header.uuid, uuid, 16) == 0)
      chunks->items[n++] = chunks->items[i];
  if (n > 0)
    qsort (chunks->items, n, sizeof *chunks->items, compare_chunks);
  for (size_t i = 0; i < n; i++)
    if (n_kept == 0 || compare_keys (&chunks->items[n_kept - 1], &chunks->items[i]) != 0)
      chunks->items[n_kept++] = chunks->items[i];
  chunks->n = n_kept;
}

void
_lns_scan_choose (LnsScan *scan)
{
  LnsFoundChunks *chunks = &scan->chunks, *damaged = &scan->damaged;
  uint8_t uuid[16];
  size_t n_damaged = 0, at = 0;

  find_uuid (scan, uuid);
  keep_newest (chunks, uuid);
  keep_newest (damaged, uuid);
  for (size_t i = 0; i < damaged->n; i++)
    {
      while (at < chunks->n && compare_keys (&chunks->items[at], &damaged->items[i]) < 0)
        at++;
      if (at == chunks->n || compare_keys (&chunks->items[at], &damaged->items[i]) != 0)
        damaged->items[n_damaged++] = damaged->items[i];
    }
  damaged->n = n_damaged;
}

/* The first chunk of KIND or a later one. */
static size_t
first_of (const LnsScan *scan, LnsChunkKind kind)
{
  return LNS_LOWER_BOUND (scan->chunks.n, i, scan->chunks.items[i].header.kind < kind);
}

const LnsFoundChunk *
_lns_scan_chunks (const LnsScan *scan, LnsChunkKind kind, size_t *ret_n)
{
  const size_t first = first_of (scan, kind);

  *ret_n = first_of (scan, kind + 1) - first;
  return scan->chunks.items + first;
}

bool
_lns_scan_read (const LnsFoundChunk *chunk, uint8_t *bytes, LnsChunkView *ret_view)
{
  const size_t length_bytes = chunk->header.length_bytes;

  return read_window (chunk->fd, chunk->offset_bytes, bytes, length_bytes) == length_bytes &&
         lns_chunk_parse (bytes, length_bytes, ret_view, NULL);
}

void
_lns_scan_clear (LnsScan *scan)
{
  lns_array_clear (&scan->chunks);
  lns_array_clear (&scan->damaged);
}
