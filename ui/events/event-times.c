/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/event-times.h"

#include <string.h>

#define BLOCK (1u << LNS_EVENT_TIMES_BITS)

static uint32_t
n_blocks_of (uint32_t n)
{
  return n / BLOCK + (n % BLOCK != 0);
}

void
lns_event_times_init (LnsEventTimes *self, int64_t *values, uint32_t n)
{
  const uint32_t n_blocks = n_blocks_of (n);
  *self = (LnsEventTimes){ .n = n };
  self->lowest = g_new0 (int64_t, MAX (n_blocks, 1));
  self->wide = g_new0 (int64_t *, MAX (n_blocks, 1));
  for (uint32_t block = 0; block < n_blocks; block++)
    {
      /* A copy: what is written into the values' memory stands before what is still to be read. */
      int64_t of[BLOCK] = { 0 };
      uint32_t above[BLOCK] = { 0 };
      const uint32_t first = block * BLOCK, n_here = MIN (n - first, BLOCK);
      int64_t low = INT64_MAX, high = INT64_MIN;
      memcpy (of, values + first, n_here * sizeof *of);
      for (uint32_t i = 0; i < n_here; i++)
        {
          low = MIN (low, of[i]);
          high = MAX (high, of[i]);
        }
      if ((uint64_t)high - (uint64_t)low > UINT32_MAX)
        {
          self->wide[block] = g_memdup2 (of, sizeof of);
          self->n_wide++;
        }
      else
        for (uint32_t i = 0; i < n_here; i++)
          above[i] = (uint32_t)((uint64_t)of[i] - (uint64_t)low);
      self->lowest[block] = low;
      memcpy ((char *)values + (gsize)first * sizeof *above, above, n_here * sizeof *above);
    }
  self->above = g_realloc_n (values, MAX (n, 1), sizeof *self->above);
}

void
lns_event_times_clear (LnsEventTimes *self)
{
  for (uint32_t block = 0; self->n_wide > 0 && block < n_blocks_of (self->n); block++)
    g_free (self->wide[block]);
  g_clear_pointer (&self->wide, g_free);
  g_clear_pointer (&self->lowest, g_free);
  g_clear_pointer (&self->above, g_free);
}

uint64_t
lns_event_times_bytes (const LnsEventTimes *self)
{
  return (uint64_t)self->n * sizeof *self->above +
         (uint64_t)n_blocks_of (self->n) * (sizeof *self->lowest + sizeof *self->wide) +
         (uint64_t)self->n_wide * BLOCK * sizeof **self->wide;
}
