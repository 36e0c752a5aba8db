/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/record/batch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "capture/wire/cuda-layout.h"
#include "capture/wire/record.h"

LnsBatch *
lns_batch_new (void)
{
  return calloc (1, sizeof (LnsBatch));
}

void
lns_batch_event_clear (LnsBatchEvent *event)
{
  lns_process_info_clear (&event->info);
  if (event->writer != NULL)
    lns_writer_abandon (event->writer);
  event->writer = NULL;
  free (event->salvage);
  event->salvage = NULL;
  free (event->text);
  event->text = NULL;
}

void
lns_batch_free_records (LnsBatch *batch)
{
  for (LnsBlock *block = batch->blocks, *next; block != NULL; block = next)
    {
      next = block->next;
      munmap (block, sizeof *block);
    }
  batch->blocks = NULL;
  free (batch->pieces);
  batch->pieces = NULL;
  batch->n_pieces = batch->n_pieces_allocated = batch->n_bytes = 0;
}

void
lns_batch_free (LnsBatch *batch)
{
  if (batch == NULL)
    return;
  for (size_t i = 0; i < batch->n_events; i++)
    lns_batch_event_clear (&batch->events[i]);
  lns_batch_free_records (batch);
  free (batch->events);
  free (batch);
}

uint8_t *
lns_batch_reserve (LnsBatch *batch, size_t n_bytes)
{
  LnsBlock *block = batch->blocks;
  if (block == NULL || LNS_BLOCK_BYTES - block->n_bytes < n_bytes)
    {
      if (n_bytes > LNS_BLOCK_BYTES)
        return NULL;
      /* Not from the heap: what a moment of much leaves there stays this process's. */
      block =
          mmap (NULL, sizeof *block, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (block == MAP_FAILED)
        return NULL;
      block->next = batch->blocks;
      block->n_bytes = 0;
      batch->blocks = block;
    }
  return block->bytes + block->n_bytes;
}

bool
lns_batch_add (LnsBatch *batch, const LnsDecoderSource *source, size_t n_bytes, LnsBegun begun)
{
  if (batch->n_pieces == batch->n_pieces_allocated)
    {
      size_t n = batch->n_pieces_allocated == 0 ? 64 : batch->n_pieces_allocated * 2;
      LnsBatchPiece *pieces = realloc (batch->pieces, n * sizeof *pieces);
      if (pieces == NULL)
        return false;
      batch->pieces = pieces;
      batch->n_pieces_allocated = n;
    }
  LnsBlock *block = batch->blocks;
  batch->pieces[batch->n_pieces++] =
      (LnsBatchPiece){ *source, begun, block->bytes + block->n_bytes, n_bytes };
  block->n_bytes += n_bytes;
  batch->n_bytes += n_bytes;
  return true;
}

bool
lns_batch_add_event (LnsBatch *batch, LnsBatchEvent *event)
{
  LnsBatchEvent *events = realloc (batch->events, (batch->n_events + 1) * sizeof *events);
  if (events == NULL)
    {
      lns_batch_event_clear (event);
      return false;
    }
  batch->events = events;
  batch->events[batch->n_events++] = *event;
  *event = (LnsBatchEvent){ 0 };
  return true;
}
