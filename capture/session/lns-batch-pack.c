/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/lns-batch-pack.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "capture/wire/lns-wire-layout.h"

/* Records are taken in slices of so many of their 16 bytes. */
#define SLICE       65536
#define SLICE_BYTES ((size_t)SLICE * LNS_WIRE_ALIGN_BYTES)

struct LnsPacker
{
  ZSTD_CCtx *compressor;
  ZSTD_DCtx *decompressor;
  uint8_t *plain;  /* SLICE_BYTES, as in the batch */
  uint8_t *planes; /* SLICE_BYTES, byte i of all units after byte i - 1 of all */
  uint8_t *packed; /* n_packed_allocated */
  size_t n_plain, n_packed, n_packed_allocated;
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
  if (packer->compressor != NULL && packer->decompressor != NULL && packer->plain != NULL &&
      packer->planes != NULL)
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

/* Packs the slice, and empties it. */
static bool
end_slice (LnsPacker *packer)
{
  const size_t n = packer->n_plain / LNS_WIRE_ALIGN_BYTES;
  const size_t most = ZSTD_compressBound (packer->n_plain) + sizeof (uint32_t);
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
  if (packer->n_packed_allocated - packer->n_packed < most)
    {
      uint8_t *packed = realloc (packer->packed, packer->n_packed + most);
      if (packed == NULL)
        return false;
      packer->packed = packed;
      packer->n_packed_allocated = packer->n_packed + most;
    }
  uint8_t *out = packer->packed + packer->n_packed;
  const size_t n_bytes = ZSTD_compressCCtx (packer->compressor, out + sizeof (uint32_t), most,
                                            packer->planes, packer->n_plain, 1);
  if (ZSTD_isError (n_bytes))
    return false;
  memcpy (out, &(uint32_t){ (uint32_t)n_bytes }, sizeof (uint32_t));
  packer->n_packed += sizeof (uint32_t) + n_bytes;
  packer->n_plain = 0;
  return true;
}

static bool
add (LnsPacker *packer, const uint8_t *bytes, size_t n_bytes)
{
  for (size_t at = 0; at < n_bytes;)
    {
      const size_t room = SLICE_BYTES - packer->n_plain;
      const size_t n = n_bytes - at < room ? n_bytes - at : room;
      memcpy (packer->plain + packer->n_plain, bytes + at, n);
      packer->n_plain += n;
      at += n;
      if (packer->n_plain == SLICE_BYTES && !end_slice (packer))
        return false;
    }
  return true;
}

bool
lns_batch_pack (LnsBatch *batch, LnsPacker *packer)
{
  packer->n_plain = packer->n_packed = 0;
  for (size_t i = 0; i < batch->n_pieces; i++)
    if (!add (packer, batch->pieces[i].bytes, batch->pieces[i].n_bytes))
      return false;
  if (packer->n_plain > 0 && !end_slice (packer))
    return false;
  uint8_t *packed = malloc (packer->n_packed + 1);
  if (packed == NULL)
    return false;
  memcpy (packed, packer->packed, packer->n_packed);
  batch->packed = packed;
  batch->n_packed_bytes = packer->n_packed;
  lns_batch_free_blocks (batch);
  LnsBatchPiece *pieces = realloc (batch->pieces, batch->n_pieces * sizeof *pieces);
  if (pieces != NULL)
    {
      batch->pieces = pieces;
      batch->n_pieces_allocated = batch->n_pieces;
    }
  return true;
}

size_t
lns_batch_packed_bytes (const LnsBatch *batch)
{
  size_t n = sizeof *batch + batch->n_packed_bytes + batch->n_pieces * sizeof *batch->pieces +
             batch->n_events * sizeof *batch->events;
  for (size_t i = 0; i < batch->n_events; i++)
    if (batch->events[i].salvage != NULL)
      n += batch->events[i].salvage->n_bytes;
  return n;
}

/* --- Unpacking -------------------------------------------------------------------------------- */

/* Unpacks the slice at *AT and goes on behind it. */
static bool
begin_slice (LnsPacker *packer, const LnsBatch *batch, size_t *at)
{
  uint32_t n_bytes;
  if (batch->n_packed_bytes - *at < sizeof n_bytes)
    return false;
  memcpy (&n_bytes, batch->packed + *at, sizeof n_bytes);
  *at += sizeof n_bytes;
  packer->n_plain = ZSTD_decompressDCtx (packer->decompressor, packer->planes, SLICE_BYTES,
                                         batch->packed + *at, n_bytes);
  *at += n_bytes;
  if (ZSTD_isError (packer->n_plain))
    return false;
  const size_t n = packer->n_plain / LNS_WIRE_ALIGN_BYTES;
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

bool
lns_batch_unpack (LnsBatch *batch, LnsPacker *packer)
{
  LnsBatchPiece *pieces = batch->pieces;
  const size_t n_pieces = batch->n_pieces;
  size_t at = 0, taken = 0;
  bool done = true;
  batch->pieces = NULL;
  batch->n_pieces = batch->n_pieces_allocated = batch->n_bytes = 0;
  packer->n_plain = 0;
  for (size_t i = 0; i < n_pieces && done; i++)
    {
      const size_t n_bytes = pieces[i].n_bytes;
      uint8_t *bytes = lns_batch_reserve (batch, n_bytes);
      done = bytes != NULL;
      for (size_t filled = 0; done && filled < n_bytes;)
        {
          if (taken == packer->n_plain)
            {
              done = begin_slice (packer, batch, &at);
              taken = 0;
              continue;
            }
          size_t n = packer->n_plain - taken;
          if (n > n_bytes - filled)
            n = n_bytes - filled;
          memcpy (bytes + filled, packer->plain + taken, n);
          filled += n;
          taken += n;
        }
      done = done && lns_batch_add (batch, &pieces[i].source, n_bytes);
    }
  free (pieces);
  free (batch->packed);
  batch->packed = NULL;
  batch->n_packed_bytes = 0;
  return done;
}
