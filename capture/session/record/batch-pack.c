/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/record/batch-pack.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "capture/wire/layout.h"

/* Records are taken in slices of so many of their 16 bytes: no power of two, or all planes would fall on the same
 * few lines of the cache. */
#define SLICE        16320
#define SLICE_BYTES  ((size_t)SLICE * LNS_WIRE_ALIGN_BYTES)
#define PACKED_BYTES ZSTD_COMPRESSBOUND (SLICE_BYTES)

struct LnsPacker
{
  ZSTD_CCtx *compressor;
  ZSTD_DCtx *decompressor;
  uint8_t *plain;  /* SLICE_BYTES, as in the batch */
  uint8_t *planes; /* SLICE_BYTES, byte i of all units after byte i - 1 of all */
  uint8_t *packed; /* PACKED_BYTES */
  size_t n_plain;
};

LnsPacker *
lns_packer_new (void)
{
  LnsPacker *packer = calloc (1, sizeof *packer);
  if (packer == NULL)
    return NULL;
  packer->compressor = ZSTD_createCCtx ();
  packer->decompressor = ZSTD_createDCtx ();
  packer->plain = malloc (SLICE_BYTES);
  packer->planes = malloc (SLICE_BYTES);
  packer->packed = malloc (PACKED_BYTES);
  if (packer->compressor != NULL && packer->decompressor != NULL && packer->plain != NULL &&
      packer->planes != NULL && packer->packed != NULL)
    return packer;
  lns_packer_free (packer);
  return NULL;
}

void
lns_packer_free (LnsPacker *packer)
{
  if (packer == NULL)
    return;
  ZSTD_freeCCtx (packer->compressor);
  ZSTD_freeDCtx (packer->decompressor);
  free (packer->plain);
  free (packer->planes);
  free (packer->packed);
  free (packer);
}

/* --- Packing ---------------------------------------------------------------------------------- */

/* Packs the slice into QUEUE, and empties it. */
static bool
end_slice (LnsPacker *packer, LnsByteQueue *queue)
{
  const size_t n = packer->n_plain / LNS_WIRE_ALIGN_BYTES;
  uint64_t before = 0;
  for (size_t i = 0; i < n; i++)
    {
      uint64_t words[2];
      memcpy (words, packer->plain + i * sizeof words, sizeof words);
      const uint64_t since = words[0] - before;
      before = words[0];
      for (size_t k = 0; k < 8; k++)
        {
          packer->planes[k * n + i] = (uint8_t)(since >> (8 * k));
          packer->planes[(k + 8) * n + i] = (uint8_t)(words[1] >> (8 * k));
        }
    }
  const size_t n_bytes = ZSTD_compressCCtx (packer->compressor, packer->packed, PACKED_BYTES,
                                            packer->planes, packer->n_plain, 1);
  packer->n_plain = 0;
  const uint32_t head = (uint32_t)n_bytes;
  return !ZSTD_isError (n_bytes) && lns_byte_queue_push (queue, &head, sizeof head) &&
         lns_byte_queue_push (queue, packer->packed, n_bytes);
}

static bool
add (LnsPacker *packer, const LnsBatchPiece *piece, LnsByteQueue *queue)
{
  for (size_t at = 0; at < piece->n_bytes;)
    {
      const size_t room = SLICE_BYTES - packer->n_plain;
      const size_t n = piece->n_bytes - at < room ? piece->n_bytes - at : room;
      memcpy (packer->plain + packer->n_plain, piece->bytes + at, n);
      packer->n_plain += n;
      at += n;
      if (packer->n_plain == SLICE_BYTES && !end_slice (packer, queue))
        return false;
    }
  return true;
}

bool
lns_batch_pack (LnsBatch *batch, LnsPacker *packer, LnsByteQueue *queue)
{
  const size_t before = queue->n_bytes, n_pieces = batch->pieces.n;
  if (n_pieces == 0)
    return true;
  for (size_t i = 0; i < n_pieces; i++)
    {
      batch->n_packed_begun += batch->pieces.items[i].begun.n;
      batch->pieces.items[i].begun = (LnsBegun){ 0 };
    }
  bool done =
      lns_byte_queue_push (queue, &n_pieces, sizeof n_pieces) &&
      lns_byte_queue_push (queue, batch->pieces.items, n_pieces * sizeof *batch->pieces.items);
  packer->n_plain = 0;
  for (size_t i = 0; i < n_pieces && done; i++)
    done = add (packer, &batch->pieces.items[i], queue);
  done = done && (packer->n_plain == 0 || end_slice (packer, queue));
  lns_batch_free_records (batch);
  batch->n_packed_bytes = queue->n_bytes - before;
  batch->is_torn = !done;
  return done;
}

size_t
lns_batch_unpacked_bytes (const LnsBatch *batch)
{
  size_t n = sizeof *batch + batch->n_bytes + batch->events.n * sizeof *batch->events.items;
  for (size_t i = 0; i < batch->events.n; i++)
    if (batch->events.items[i].salvage != NULL)
      n += batch->events.items[i].salvage->n_bytes;
  return n;
}

/* --- Unpacking -------------------------------------------------------------------------------- */

/* Unpacks the next slice of QUEUE. */
static bool
begin_slice (LnsPacker *packer, LnsByteQueue *queue)
{
  uint32_t n_bytes;
  packer->n_plain = 0;
  if (!lns_byte_queue_pop (queue, &n_bytes, sizeof n_bytes) || n_bytes > PACKED_BYTES ||
      !lns_byte_queue_pop (queue, packer->packed, n_bytes))
    return false;
  const size_t n_plain = ZSTD_decompressDCtx (packer->decompressor, packer->planes, SLICE_BYTES,
                                              packer->packed, n_bytes);
  if (ZSTD_isError (n_plain))
    return false;
  packer->n_plain = n_plain;
  const size_t n = n_plain / LNS_WIRE_ALIGN_BYTES;
  uint64_t before = 0;
  for (size_t i = 0; i < n; i++)
    {
      uint64_t words[2] = { 0 };
      for (size_t k = 0; k < 8; k++)
        {
          words[0] |= (uint64_t)packer->planes[k * n + i] << (8 * k);
          words[1] |= (uint64_t)packer->planes[(k + 8) * n + i] << (8 * k);
        }
      words[0] = before += words[0];
      memcpy (packer->plain + i * sizeof words, words, sizeof words);
    }
  return true;
}

/* Adds to BATCH what PIECE tells of, from *TAKEN of the slice on, and from the next ones. */
static bool
fill (LnsBatch *batch,
      const LnsBatchPiece *piece,
      LnsPacker *packer,
      LnsByteQueue *queue,
      size_t *taken)
{
  uint8_t *bytes = lns_batch_reserve (batch, piece->n_bytes);
  if (bytes == NULL)
    return false;
  for (size_t filled = 0; filled < piece->n_bytes;)
    {
      if (*taken == packer->n_plain)
        {
          if (!begin_slice (packer, queue))
            return false;
          *taken = 0;
        }
      size_t n = packer->n_plain - *taken;
      if (n > piece->n_bytes - filled)
        n = piece->n_bytes - filled;
      memcpy (bytes + filled, packer->plain + *taken, n);
      filled += n;
      *taken += n;
    }
  return lns_batch_add (batch, &piece->source, piece->n_bytes, piece->begun);
}

bool
lns_batch_unpack (LnsBatch *batch, LnsPacker *packer, LnsByteQueue *queue)
{
  const size_t behind = queue->n_bytes - batch->n_packed_bytes;
  size_t n_pieces, taken = 0;
  if (batch->n_packed_bytes == 0)
    return true;
  bool done = !batch->is_torn && lns_byte_queue_pop (queue, &n_pieces, sizeof n_pieces);
  LnsBatchPiece *pieces = done ? malloc (n_pieces * sizeof *pieces) : NULL;
  done = pieces != NULL && lns_byte_queue_pop (queue, pieces, n_pieces * sizeof *pieces);
  packer->n_plain = 0;
  for (size_t i = 0; i < n_pieces && done; i++)
    done = fill (batch, &pieces[i], packer, queue, &taken);
  free (pieces);
  lns_byte_queue_pop (queue, NULL, queue->n_bytes - behind);
  batch->n_packed_bytes = 0;
  return done;
}
