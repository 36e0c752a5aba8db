/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/record/batch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "capture/wire/cuda-layout.h"
#include "capture/wire/record.h"

LnsBatchEvent
lns_batch_diagnostic (
    uint32_t process, const char *code, LnsSeverity severity, const char *format, ...)
{
  LnsBatchEvent event = {
    .kind = LNS_BATCH_DIAGNOSTIC, .process = process, .code = code, .severity = severity
  };
  va_list arguments;
  va_start (arguments, format);
  if (vasprintf (&event.text, format, arguments) < 0)
    event.text = NULL;
  va_end (arguments);
  return event;
}

void
lns_batch_event_count_off (LnsBatchEvent *event)
{
  if (event->waiting != NULL)
    atomic_fetch_sub (event->waiting, event->n_gpu_bytes + event->n_cpu_bytes);
  event->waiting = NULL;
}

void
lns_batch_event_clear (LnsBatchEvent *event)
{
  lns_batch_event_count_off (event);
  lns_process_info_clear (&event->info);
  if (event->writer != NULL)
    lns_writer_abandon (event->writer);
  event->writer = NULL;
  free (event->salvage);
  event->salvage = NULL;
  free (event->gpu);
  event->gpu = NULL;
  free (event->cpu);
  event->cpu = NULL;
  free (event->text);
  event->text = NULL;
  free (event->steps);
  event->steps = NULL;
}

void
lns_batch_events_clear (LnsBatchEvents *events)
{
  for (size_t i = 0; i < events->n; i++)
    lns_batch_event_clear (&events->items[i]);
  lns_array_clear (events);
}

void
lns_batch_free_blocks (LnsBatch *batch)
{
  for (LnsBlock *block = batch->blocks, *next; block != NULL; block = next)
    {
      next = block->next;
      munmap (block, sizeof *block);
    }
  batch->blocks = NULL;
  batch->n_bytes = 0;
}

void
lns_batch_free (LnsBatch *batch)
{
  if (batch == NULL)
    return;
  lns_batch_events_clear (&batch->events);
  lns_batch_free_blocks (batch);
  lns_array_clear (&batch->pieces);
  free (batch->packed);
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
      /* Not from the heap, which would keep the memory after a busy moment. */
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
  LnsBatchPiece *piece = lns_array_try_add (&batch->pieces);
  if (piece == NULL)
    return false;
  LnsBlock *block = batch->blocks;
  *piece = (LnsBatchPiece){ *source, begun, block->bytes + block->n_bytes, n_bytes };
  block->n_bytes += n_bytes;
  batch->n_bytes += n_bytes;
  return true;
}

bool
lns_batch_events_add (LnsBatchEvents *events, LnsBatchEvent *event)
{
  LnsBatchEvent *added = lns_array_try_add (events);
  if (added == NULL)
    {
      lns_batch_event_clear (event);
      return false;
    }
  *added = *event;
  *event = (LnsBatchEvent){ 0 };
  return true;
}
