/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/event-numbers.h"

#define BLOCK (1u << LNS_EVENT_NUMBERS_BITS)

/* Makes room for a block. */
static bool
grow (LnsEventNumbers *self)
{
  const uint64_t needed_bytes = self->n_bytes + BLOCK * sizeof (uint64_t) + sizeof (uint64_t);
  const uint32_t n_blocks = (self->n - 1) >> LNS_EVENT_NUMBERS_BITS; /* before it */
  if (needed_bytes > self->room_bytes)
    {
      const uint64_t room_bytes = needed_bytes + needed_bytes / 2;
      uint8_t *bytes = g_try_realloc (self->bytes, room_bytes);
      if (bytes == NULL)
        return false;
      self->bytes = bytes;
      self->room_bytes = room_bytes;
    }
  if (n_blocks == self->room_blocks)
    {
      const uint32_t room_blocks = n_blocks + n_blocks / 2 + 16;
      LnsEventBlock *blocks = g_try_realloc_n (self->blocks, room_blocks, sizeof *blocks);
      if (blocks == NULL)
        return false;
      self->blocks = blocks;
      self->room_blocks = room_blocks;
    }
  return true;
}

/* Packs the N waiting numbers, the last ones of `n`. */
static void
pack (LnsEventNumbers *self, uint32_t n)
{
  int64_t low = INT64_MAX, high = INT64_MIN;
  self->failed = self->failed || !grow (self);
  if (self->failed)
    return;
  for (uint32_t i = 0; i < n; i++)
    {
      low = MIN (low, self->waiting[i]);
      high = MAX (high, self->waiting[i]);
    }
  const uint64_t range = (uint64_t)high - (uint64_t)low;
  unsigned width = range == 0 ? 0 : 64 - (unsigned)__builtin_clzll (range);
  width = width > 57 ? 64 : width;
  self->blocks[(self->n - 1) >> LNS_EVENT_NUMBERS_BITS] =
      (LnsEventBlock){ low, self->n_bytes << 8 | width };
  memset (self->bytes + self->n_bytes, 0, BLOCK * sizeof (uint64_t) + sizeof (uint64_t));
  for (uint32_t i = 0; i < n; i++)
    {
      const uint64_t above = (uint64_t)self->waiting[i] - (uint64_t)low, bit = (uint64_t)i * width;
      uint8_t *at = self->bytes + self->n_bytes + bit / 8;
      uint64_t word;
      memcpy (&word, at, sizeof word);
      word |= above << bit % 8;
      memcpy (at, &word, sizeof word);
    }
  self->n_bytes += ((uint64_t)n * width + 7) / 8;
}

void
lns_event_numbers_add (LnsEventNumbers *self, int64_t value)
{
  if (self->waiting == NULL)
    self->waiting = g_new (int64_t, BLOCK);
  self->waiting[self->n++ & LNS_EVENT_NUMBERS_MASK] = value;
  if ((self->n & LNS_EVENT_NUMBERS_MASK) == 0)
    pack (self, BLOCK);
}

bool
lns_event_numbers_finish (LnsEventNumbers *self)
{
  if ((self->n & LNS_EVENT_NUMBERS_MASK) != 0)
    pack (self, self->n & LNS_EVENT_NUMBERS_MASK);
  g_clear_pointer (&self->waiting, g_free);
  if (self->failed)
    {
      lns_event_numbers_clear (self);
      return false;
    }
  self->room_bytes = self->n_bytes + sizeof (uint64_t);
  self->bytes = g_realloc (self->bytes, self->room_bytes);
  self->room_blocks = (self->n + BLOCK - 1) >> LNS_EVENT_NUMBERS_BITS;
  self->blocks = g_realloc_n (self->blocks, MAX (self->room_blocks, 1), sizeof *self->blocks);
  return true;
}

void
lns_event_numbers_clear (LnsEventNumbers *self)
{
  g_free (self->bytes);
  g_free (self->blocks);
  g_free (self->waiting);
  *self = (LnsEventNumbers){ 0 };
}

uint64_t
lns_event_numbers_bytes (const LnsEventNumbers *self)
{
  return self->room_bytes + (uint64_t)self->room_blocks * sizeof *self->blocks;
}
