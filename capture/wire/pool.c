/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/wire/pool.h"
#include "capture/wire/protocol.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static bool
layout_is_sound (const LnsWirePoolHeader *header, size_t pool_bytes)
{
  uint64_t chunk_bytes = header->chunk_bytes, n_chunks = header->n_chunks;
  if (chunk_bytes < LNS_WIRE_CHUNK_BYTES_MIN || chunk_bytes > LNS_WIRE_RECORD_MAX_BYTES ||
      chunk_bytes % 4096 != 0 || n_chunks == 0 || n_chunks > LNS_WIRE_CHUNKS_MAX)
    return false;
  /* The parts follow one another; each begins aligned and ends before the next. */
  return header->loss_offset >= sizeof *header &&
         header->loss_offset % _Alignof(LnsWireLossShard) == 0 &&
         header->lines_offset % _Alignof(LnsWireLine) == 0 && header->chunks_offset % 4096 == 0 &&
         header->pool_bytes == pool_bytes && header->loss_offset <= pool_bytes &&
         header->lines_offset <= pool_bytes && header->chunks_offset <= pool_bytes &&
         header->loss_offset + LNS_WIRE_LOSS_SHARDS * sizeof (LnsWireLossShard) <=
             header->lines_offset &&
         header->lines_offset + n_chunks * sizeof (LnsWireLine) <= header->chunks_offset &&
         header->chunks_offset + n_chunks * chunk_bytes <= pool_bytes;
}

static bool
buffers_are_sound (const LnsWirePoolHeader *header, size_t pool_bytes)
{
  uint64_t buffer_bytes = header->buffer_bytes, n_buffers = header->n_buffers;
  if (n_buffers == 0)
    return true;
  return n_buffers <= LNS_WIRE_BUFFERS_MAX && buffer_bytes >= 4096 &&
         buffer_bytes <= LNS_WIRE_BUFFER_BYTES && buffer_bytes % 4096 == 0 &&
         header->buffer_lines_offset % _Alignof(LnsWireBufferLine) == 0 &&
         header->buffers_offset % 4096 == 0 && header->buffer_lines_offset <= pool_bytes &&
         header->buffers_offset <= pool_bytes &&
         header->chunks_offset + (uint64_t)header->n_chunks * header->chunk_bytes <=
             header->buffer_lines_offset &&
         header->buffer_lines_offset + n_buffers * sizeof (LnsWireBufferLine) <=
             header->buffers_offset &&
         header->buffers_offset + n_buffers * buffer_bytes <= pool_bytes;
}

int
lns_wire_pool_map (int fd, size_t pool_bytes, LnsWirePoolView *ret_view)
{
  if (pool_bytes < sizeof (LnsWirePoolHeader))
    return -EPROTO;
  /* NORESERVE, as most of the pool is never touched; the session limits its memory. */
  void *map = mmap (NULL, pool_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (map == MAP_FAILED)
    return -errno;
  LnsWirePoolHeader *header = map;
  if (header->magic != LNS_WIRE_MAGIC || header->abi != LNS_WIRE_ABI ||
      !layout_is_sound (header, pool_bytes) || !buffers_are_sound (header, pool_bytes))
    {
      munmap (map, pool_bytes);
      return -EPROTO;
    }
  *ret_view = (LnsWirePoolView){
    .header = header,
    .shards = (LnsWireLossShard *)((uint8_t *)map + header->loss_offset),
    .lines = (LnsWireLine *)((uint8_t *)map + header->lines_offset),
    .chunks = (uint8_t *)map + header->chunks_offset,
    .pool_bytes = pool_bytes,
    .chunk_bytes = header->chunk_bytes,
    .capacity_bytes = header->chunk_bytes - LNS_WIRE_APART_BYTES,
    .n_chunks = header->n_chunks,
  };
  if (header->n_buffers > 0)
    {
      ret_view->buffer_lines = (LnsWireBufferLine *)((uint8_t *)map + header->buffer_lines_offset);
      ret_view->buffers = (uint8_t *)map + header->buffers_offset;
      ret_view->buffer_bytes = header->buffer_bytes;
      ret_view->n_buffers = header->n_buffers;
    }
  return 0;
}

void
lns_wire_pool_unmap (LnsWirePoolView *view)
{
  if (view->header != NULL)
    munmap (view->header, view->pool_bytes);
  *view = (LnsWirePoolView){ 0 };
}

int
lns_wire_pool_claim (
    const LnsWirePoolView *view, uint32_t stream, uint64_t sequence, uint32_t pid, uint32_t tid)
{
  LnsWirePoolHeader *header = view->header;
  if (lns_wire_pool_n_free (view) == 0)
    return -EAGAIN;
  uint32_t limit = __atomic_load_n (&header->limit, __ATOMIC_RELAXED);
  if (limit > view->n_chunks)
    limit = view->n_chunks;
  uint32_t index = __atomic_load_n (&header->hint, __ATOMIC_RELAXED);
  for (uint32_t tried = 0; tried < limit; tried++, index++)
    {
      if (index >= limit)
        index = 0;
      LnsWireLine *line = &view->lines[index];
      uint32_t state = LNS_WIRE_CHUNK_FREE;
      if (__atomic_load_n (&line->state, __ATOMIC_RELAXED) != state ||
          !__atomic_compare_exchange_n (&line->state, &state, LNS_WIRE_CHUNK_OWNED, false,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        continue;
      __atomic_fetch_add (&header->claimed, 1, __ATOMIC_RELAXED);
      __atomic_store_n (&header->hint, index + 1, __ATOMIC_RELAXED);
      line->pid = pid;
      line->tid = tid;
      line->sequence = sequence;
      __atomic_store_n (&line->stream, stream, __ATOMIC_RELEASE);
      return (int)index;
    }
  return -EAGAIN;
}

void
lns_wire_pool_count_cause (const LnsWirePoolView *view,
                           uint32_t stream,
                           LnsWireLossKind kind,
                           LnsWireLossCause cause)
{
  LnsWireLosses *losses = &view->shards[stream % LNS_WIRE_LOSS_SHARDS].losses;
  lns_wire_pool_count_lost (view, stream, kind, 1, sizeof (LnsWireHead));
  if (lns_wire_loss_is_missed (kind))
    __atomic_fetch_add (&losses->by_cause[cause], 1, __ATOMIC_RELAXED);
}

void
lns_wire_pool_count_unanswered (const LnsWirePoolView *view, uint64_t count)
{
  lns_wire_pool_count_lost (view, 0, LNS_WIRE_LOSS_OTHER, count, count * sizeof (LnsWireHead));
  __atomic_fetch_add (&view->shards[0].losses.by_cause[LNS_WIRE_CAUSE_UNANSWERED], count,
                      __ATOMIC_RELAXED);
}

void
lns_wire_pool_count_lost (const LnsWirePoolView *view,
                          uint32_t stream,
                          LnsWireLossKind kind,
                          uint64_t count,
                          uint64_t n_bytes)
{
  LnsWireLosses *losses = &view->shards[stream % LNS_WIRE_LOSS_SHARDS].losses;
  __atomic_fetch_add (&losses->events[kind], count, __ATOMIC_RELAXED);
  __atomic_fetch_add (&losses->n_bytes, n_bytes, __ATOMIC_RELAXED);
}

int
lns_wire_pool_claim_buffer (const LnsWirePoolView *view)
{
  for (uint32_t i = 0; i < view->n_buffers; i++)
    {
      LnsWireBufferLine *line = &view->buffer_lines[i];
      uint32_t state = LNS_WIRE_BUFFER_FREE;
      if (__atomic_load_n (&line->state, __ATOMIC_RELAXED) != state ||
          !__atomic_compare_exchange_n (&line->state, &state, LNS_WIRE_BUFFER_LENT, false,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        continue;
      line->n_uses++;
      __atomic_store_n (&line->claimed_ticks,
                        lns_wire_clock_ticks ((LnsWireClock)view->header->clock), __ATOMIC_RELEASE);
      return (int)i;
    }
  return -EAGAIN;
}

int
lns_wire_pool_buffer_index (const LnsWirePoolView *view, const void *bytes)
{
  uintptr_t offset = (uintptr_t)bytes - (uintptr_t)view->buffers;
  if (view->n_buffers == 0 || offset % view->buffer_bytes != 0 ||
      offset / view->buffer_bytes >= view->n_buffers)
    return -ENOENT;
  return (int)(offset / view->buffer_bytes);
}

void
lns_wire_pool_complete_buffer (const LnsWirePoolView *view, uint32_t index, uint32_t valid)
{
  LnsWireBufferLine *line = &view->buffer_lines[index];
  line->valid = valid;
  __atomic_store_n (&line->state, LNS_WIRE_BUFFER_COMPLETE, __ATOMIC_RELEASE);
}

void
lns_wire_pool_free_buffer (const LnsWirePoolView *view, uint32_t index)
{
  LnsWireBufferLine *line = &view->buffer_lines[index];
  /* All of it counts as compacted until it is zeroed, so that no record is salvaged twice if the process dies now. */
  __atomic_store_n (&line->compacted, view->buffer_bytes, __ATOMIC_RELEASE);
  memset (lns_wire_pool_buffer (view, index), 0,
          line->valid <= view->buffer_bytes ? line->valid : view->buffer_bytes);
  line->valid = 0;
  line->compacted = 0;
  __atomic_store_n (&line->claimed_ticks, 0, __ATOMIC_RELAXED);
  __atomic_store_n (&line->state, LNS_WIRE_BUFFER_FREE, __ATOMIC_RELEASE);
}
