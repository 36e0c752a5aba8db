/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/wire/pool-session-private.h"

#include <string.h>

/* So many buffers wait for CUPTI, which takes one for each thread that calls CUDA, and more at once
 * than a visit to the pool would bring. */
#define FREE_BUFFERS 8u

/* A free one that was never used holds nothing, but may do so before it is looked at again. */
#define COLD_SHARE 16u

/* Notes whether buffer INDEX is in use; returns its state as far as this side lets it be one. */
static uint32_t
look_at (LnsWirePool *pool, uint32_t index)
{
  if (!pool->buffers[index].lent)
    return LNS_WIRE_BUFFER_NONE;
  const LnsWireBufferLine *line = &pool->view.buffer_lines[index];
  uint32_t state = __atomic_load_n (&line->state, __ATOMIC_ACQUIRE);
  if (state != LNS_WIRE_BUFFER_FREE || __atomic_load_n (&line->n_uses, __ATOMIC_RELAXED) > 0)
    pool->buffers[index].touched = true;
  return state;
}

static uint64_t
weight (const LnsWirePool *pool, uint32_t index)
{
  const LnsWireBufferRecord *buffer = &pool->buffers[index];
  return !buffer->lent     ? 0
         : buffer->touched ? pool->view.buffer_bytes
                           : pool->view.buffer_bytes / COLD_SHARE;
}

uint64_t
_lns_wire_buffers_weight (const LnsWirePool *pool)
{
  uint64_t weight_bytes = 0;
  for (uint32_t i = 0; i < pool->view.n_buffers; i++)
    weight_bytes += weight (pool, i);
  return weight_bytes;
}

static void
lend (LnsWirePool *pool, uint32_t index)
{
  LnsWireBufferLine *line = &pool->view.buffer_lines[index];
  pool->buffers[index] = (LnsWireBufferRecord){ .lent = true };
  line->n_uses = 0;
  __atomic_store_n (&line->state, LNS_WIRE_BUFFER_FREE, __ATOMIC_RELEASE);
}

/* Takes buffer INDEX back with its memory, if it is free; false when it was claimed just now. */
static bool
withdraw (LnsWirePool *pool, uint32_t index)
{
  uint32_t state = LNS_WIRE_BUFFER_FREE;
  if (!__atomic_compare_exchange_n (&pool->view.buffer_lines[index].state, &state,
                                    LNS_WIRE_BUFFER_NONE, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED))
    return false;
  uint64_t buffers_offset = (uint64_t)(pool->view.buffers - (uint8_t *)pool->view.header);
  if (pool->buffers[index].touched)
    (void)_lns_wire_pool_punch (pool, buffers_offset + (uint64_t)index * pool->view.buffer_bytes,
                                pool->view.buffer_bytes);
  pool->buffers[index] = (LnsWireBufferRecord){ 0 };
  return true;
}

void
_lns_wire_buffers_top_up (LnsWirePool *pool, uint64_t cap_bytes)
{
  uint32_t n_free = 0;
  for (uint32_t i = 0; i < pool->view.n_buffers; i++)
    n_free += look_at (pool, i) == LNS_WIRE_BUFFER_FREE;
  uint64_t all = _lns_wire_buffers_weight (pool);
  for (uint32_t i = pool->view.n_buffers; i-- > 0 && all > cap_bytes;)
    {
      uint64_t before = weight (pool, i);
      if (before > 0 && withdraw (pool, i))
        all -= before;
    }
  for (uint32_t i = 0; i < pool->view.n_buffers && n_free < FREE_BUFFERS; i++)
    {
      all += pool->view.buffer_bytes / COLD_SHARE;
      if (all > cap_bytes)
        break;
      if (pool->buffers[i].lent)
        {
          all -= pool->view.buffer_bytes / COLD_SHARE;
          continue;
        }
      lend (pool, i);
      n_free++;
    }
}

uint64_t
_lns_wire_buffers_punch (LnsWirePool *pool, uint64_t keep_bytes)
{
  uint64_t given_back = 0, held = 0;
  for (uint32_t i = 0; i < pool->view.n_buffers; i++)
    if (look_at (pool, i) != LNS_WIRE_BUFFER_NONE && pool->buffers[i].touched)
      held += pool->view.buffer_bytes;
  for (uint32_t i = pool->view.n_buffers; i-- > 0 && held - given_back > keep_bytes;)
    if (pool->buffers[i].touched && withdraw (pool, i))
      {
        given_back += pool->view.buffer_bytes;
        lend (pool, i);
      }
  return given_back;
}

uint32_t
lns_wire_pool_n_buffers (const LnsWirePool *pool)
{
  return pool->view.n_buffers;
}

size_t
lns_wire_pool_salvage (LnsWirePool *pool, uint32_t index, void *ret_bytes)
{
  if (index >= pool->view.n_buffers)
    return 0;
  uint32_t state = look_at (pool, index);
  LnsWireBufferLine *line = &pool->view.buffer_lines[index];
  uint32_t first = __atomic_load_n (&line->compacted, __ATOMIC_ACQUIRE);
  uint32_t valid = pool->view.buffer_bytes;
  if (state == LNS_WIRE_BUFFER_COMPLETE)
    valid = __atomic_load_n (&line->valid, __ATOMIC_RELAXED);
  else if (state != LNS_WIRE_BUFFER_LENT)
    return 0;
  if (valid > pool->view.buffer_bytes)
    valid = pool->view.buffer_bytes;
  size_t n_bytes = first < valid ? valid - first : 0;
  memcpy (ret_bytes, lns_wire_pool_buffer (&pool->view, index) + first, n_bytes);
  line->valid = line->compacted = 0;
  __atomic_store_n (&line->state, LNS_WIRE_BUFFER_FREE, __ATOMIC_RELEASE);
  (void)withdraw (pool, index);
  return n_bytes;
}

void
lns_wire_pool_cupti_sizes (const LnsWirePool *pool, LnsWireCuptiSizes *ret_sizes)
{
  memcpy (ret_sizes, &pool->view.header->cupti, sizeof *ret_sizes);
}

bool
lns_wire_pool_cupti_clock (const LnsWirePool *pool, LnsWireCuptiReadings *ret_readings)
{
  return lns_wire_cupti_clock_copy (&pool->view.header->cupti_clock, ret_readings);
}

bool
lns_wire_pool_is_joined (const LnsWirePool *pool)
{
  return __atomic_load_n (&pool->view.header->joined, __ATOMIC_ACQUIRE) != 0;
}

bool
lns_wire_pool_listens (const LnsWirePool *pool)
{
  return __atomic_load_n (&pool->view.header->listens, __ATOMIC_ACQUIRE) != 0;
}
