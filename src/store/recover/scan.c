/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/recover/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/search.h"

#define WINDOW_BYTES ((size_t)4 << 20)
#define UUIDS_MAX    64 /* reports whose chunks one file may hold: of others nothing is kept     */

static bool
add (LnsFoundChunk **chunks, size_t *n, size_t *n_allocated, const LnsFoundChunk *chunk)
{
  if (*n == *n_allocated)
    {
      size_t n_grown = *n_allocated < 512 ? 1024 : *n_allocated * 2;
      LnsFoundChunk *grown = reallocarray (*chunks, n_grown, sizeof *grown);
      if (grown == NULL)
        return false;
      *chunks = grown;
      *n_allocated = n_grown;
    }
  (*chunks)[(*n)++] = *chunk;
  return true;
}

/* Adds the chunks that begin in the first END_BYTES of BYTES, which lie at OFFSET_BYTES of the file.
 * *RET_DONE_BYTES says to where they reach. */
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
          if (!add (&scan->chunks, &scan->n_chunks, &scan->n_chunks_allocated, &found))
            return false;
          at += found.header.length_bytes;
        }
      else
        {
          if (!add (&scan->damaged, &scan->n_damaged, &scan->n_damaged_allocated, &found))
            return false;
          at += 8;
        }
    }
  *ret_done_bytes = at > end_bytes ? at : end_bytes;
  return true;
}

/* Fills BYTES from OFFSET_BYTES on; fewer than SIZE_BYTES come only at the end. A part of the disk
 * that cannot be read counts as zeros: what lies behind it is looked at all the same. */
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
      /* A chunk that begins near the window's end is left to the next one. */
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
compare_keys (const LnsFoundChunk *a, const LnsFoundChunk *b)
{
#define ORDER(field)                                                                               \
 if (a->header.field != b->header.field)                                                           \
 return a->header.field < b->header.field ? -1 : 1
  ORDER (kind);
  ORDER (lane);
  ORDER (level);
  ORDER (sequence);
  return 0;
}

static int
compare_chunks (const void *left, const void *right)
{
  const LnsFoundChunk *a = left, *b = right;
  const int by_key = compare_keys (a, b);

  if (by_key != 0)
    return by_key;
  if (a->header.revision != b->header.revision)
    return a->header.revision > b->header.revision ? -1 : 1;
  /* Of two of one commit, the longer. */
  return (a->header.n < b->header.n) - (a->header.n > b->header.n);
#undef ORDER
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

  for (size_t i = 0; i < scan->n_chunks; i++)
    {
      const uint8_t *uuid = scan->chunks[i].header.uuid;
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

/* Keeps those with UUID; returns how many. */
static size_t
keep_uuid (LnsFoundChunk *chunks, size_t n, const uint8_t uuid[16])
{
  size_t kept = 0;

  for (size_t i = 0; i < n; i++)
    if (memcmp (chunks[i].header.uuid, uuid, 16) == 0)
      chunks[kept++] = chunks[i];
  return kept;
}

/* Sorts, and keeps the first of each key; returns how many. */
static size_t
keep_newest (LnsFoundChunk *chunks, size_t n)
{
  size_t kept = 0;

  if (n > 0)
    qsort (chunks, n, sizeof *chunks, compare_chunks);
  for (size_t i = 0; i < n; i++)
    if (kept == 0 || compare_keys (&chunks[kept - 1], &chunks[i]) != 0)
      chunks[kept++] = chunks[i];
  return kept;
}

void
_lns_scan_choose (LnsScan *scan)
{
  uint8_t uuid[16];

  find_uuid (scan, uuid);
  scan->n_chunks = keep_newest (scan->chunks, keep_uuid (scan->chunks, scan->n_chunks, uuid));
  scan->n_damaged = keep_newest (scan->damaged, keep_uuid (scan->damaged, scan->n_damaged, uuid));
  size_t n_damaged = 0, at = 0;
  for (size_t i = 0; i < scan->n_damaged; i++)
    {
      while (at < scan->n_chunks && compare_keys (&scan->chunks[at], &scan->damaged[i]) < 0)
        at++;
      if (at == scan->n_chunks || compare_keys (&scan->chunks[at], &scan->damaged[i]) != 0)
        scan->damaged[n_damaged++] = scan->damaged[i];
    }
  scan->n_damaged = n_damaged;
}

/* The first chunk of KIND or a later one. */
static size_t
first_of (const LnsScan *scan, LnsChunkKind kind)
{
  return LNS_LOWER_BOUND (scan->n_chunks, i, scan->chunks[i].header.kind < kind);
}

const LnsFoundChunk *
_lns_scan_chunks (const LnsScan *scan, LnsChunkKind kind, size_t *ret_n)
{
  const size_t first = first_of (scan, kind);

  *ret_n = first_of (scan, kind + 1) - first;
  return scan->chunks + first;
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
  free (scan->chunks);
  free (scan->damaged);
  *scan = (LnsScan){ 0 };
}
