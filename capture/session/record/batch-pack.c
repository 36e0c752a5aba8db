/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/record/batch-pack.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "capture/wire/layout.h"

/* The size of a slice, in units of 16 bytes. Not a power of two, with which all planes would share a few lines of
 * the cache. */
#define SLICE        16320
#define SLICE_BYTES  ((size_t)SLICE * LNS_WIRE_ALIGN_BYTES)
#define PACKED_BYTES ZSTD_COMPRESSBOUND (SLICE_BYTES)

struct LnsPacker
{
  ZSTD_CCtx *compressor;
  ZSTD_DCtx *decompressor;
  uint8_t *plain;  /* SLICE_BYTES, as in the batch */
  uint8_t *planes; /* SLICE_BYTES, byte i of all units after byte i - 1 of all */
  uint8_t *packed; /* PACKED_BYTES: one slice */
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

/* Packs the slice, adds it to those of BATCH, and empties it. */
static bool
end_slice (LnsPacker *packer, LnsBatch *batch)
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
  const uint32_t head = (uint32_t)n_bytes;
  packer->n_plain = 0;
  if (ZSTD_isError (n_bytes))
    return false;
  uint8_t *grown = realloc (batch->packed, batch->n_packed_bytes + sizeof head + n_bytes);
  if (grown == NULL)
    return false;
  batch->packed = grown;
  memcpy (grown + batch->n_packed_bytes, &head, sizeof head);
  memcpy (grown + batch->n_packed_bytes + sizeof head, packer->packed, n_bytes);
  batch->n_packed_bytes += sizeof head + n_bytes;
  return true;
}

static bool
add (LnsPacker *packer, LnsBatch *batch, const LnsBatchPiece *piece)
{
  for (size_t at = 0; at < piece->n_bytes;)
    {
      const size_t room = SLICE_BYTES - packer->n_plain;
      const size_t n = piece->n_bytes - at < room ? piece->n_bytes - at : room;
      memcpy (packer->plain + packer->n_plain, piece->bytes + at, n);
      packer->n_plain += n;
      at += n;
      if (packer->n_plain == SLICE_BYTES && !end_slice (packer, batch))
        return false;
    }
  return true;
}

bool
lns_batch_pack (LnsBatch *batch, LnsPacker *packer)
{
  bool done = true;
  if (batch->pieces.n == 0)
    return true;
  packer->n_plain = 0;
  for (size_t i = 0; i < batch->pieces.n; i++)
    {
      LnsBatchPiece *piece = &batch->pieces.items[i];
      batch->n_packed_begun += piece->begun.n;
      piece->begun = (LnsBegun){ 0 };
      done = done && add (packer, batch, piece);
    }
  done = done && (packer->n_plain == 0 || end_slice (packer, batch));
  lns_batch_free_blocks (batch);
  if (done)
    return true;
  lns_array_clear (&batch->pieces);
  free (batch->packed);
  batch->packed = NULL;
  batch->n_packed_bytes = 0;
  return false;
}

size_t
lns_batch_held_bytes (const LnsBatch *batch)
{
  size_t n = sizeof *batch + batch->n_bytes + batch->n_packed_bytes +
             batch->pieces.n * sizeof *batch->pieces.items +
             batch->events.n * sizeof *batch->events.items;
  for (size_t i = 0; i < batch->events.n; i++)
    {
      n += batch->events.items[i].salvage != NULL ? batch->events.items[i].salvage->n_bytes : 0;
      n += batch->events.items[i].n_gpu_bytes + batch->events.items[i].n_cpu_bytes;
    }
  return n;
}

/* --- Unpacking -------------------------------------------------------------------------------- */

/* Unpacks the slice at *INOUT_AT, and moves *INOUT_AT behind it. */
static bool
begin_slice (LnsPacker *packer, const uint8_t **inout_at)
{
  uint32_t n_bytes;
  memcpy (&n_bytes, *inout_at, sizeof n_bytes);
  const size_t n_plain = ZSTD_decompressDCtx (packer->decompressor, packer->planes, SLICE_BYTES,
                                              *inout_at + sizeof n_bytes, n_bytes);
  if (ZSTD_isError (n_plain))
    return false;
  *inout_at += sizeof n_bytes + n_bytes;
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

/* Adds PIECE to BATCH with its bytes, which begin at *TAKEN of the present slice and go on in the slices from
 * *INOUT_AT on. */
static bool
fill (LnsBatch *batch,
      const LnsBatchPiece *piece,
      LnsPacker *packer,
      const uint8_t **inout_at,
      size_t *taken)
{
  uint8_t *bytes = lns_batch_reserve (batch, piece->n_bytes);
  if (bytes == NULL)
    return false;
  for (size_t filled = 0; filled < piece->n_bytes;)
    {
      if (*taken == packer->n_plain)
        {
          if (!begin_slice (packer, inout_at))
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
lns_batch_unpack (LnsBatch *batch, LnsPacker *packer)
{
  LnsBatchPieces pieces = batch->pieces;
  const uint8_t *at = batch->packed;
  size_t taken = 0;
  bool done = true;
  if (batch->packed == NULL)
    return true;
  batch->pieces = (LnsBatchPieces){ 0 };
  packer->n_plain = 0;
  for (size_t i = 0; i < pieces.n && done; i++)
    done = fill (batch, &pieces.items[i], packer, &at, &taken);
  lns_array_clear (&pieces);
  free (batch->packed);
  batch->packed = NULL;
  batch->n_packed_bytes = 0;
  return done;
}
