/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/event-set.h"

#include "src/base/search.h"

LnsEventSet *
lns_event_set_ref (LnsEventSet *self)
{
  g_atomic_ref_count_inc (&self->refs);
  return self;
}

/* Sets of this many rows take noticeably long to free. */
#define LARGE_ROWS (1u << 20)

static gpointer
free_set (gpointer data)
{
  LnsEventSet *self = data;

  lns_event_times_clear (&self->start_ns);
  lns_event_times_clear (&self->duration_ns);
  g_free (self->name);
  g_free (self->place);
  g_free (self->category);
  g_free (self->thread);
  g_free (self->payload_type);
  g_free (self->payload);
  g_free (self->flags);
  g_free (self->names);
  g_free (self->lanes);
  g_free (self->first_place);
  g_free (self->first_ordinal);
  g_free (self->damage);
  g_free (self);
  return NULL;
}

void
lns_event_set_unref (LnsEventSet *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->refs))
    return;
  GThread *thread =
      self->n >= LARGE_ROWS ? g_thread_try_new ("free-events", free_set, self, NULL) : NULL;
  if (thread != NULL)
    g_thread_unref (thread);
  else
    free_set (self);
}

/* The last lane that begins at or before the row's place: one that is not empty. */
uint32_t
lns_event_set_lane (const LnsEventSet *self, uint32_t row)
{
  const uint32_t place = self->place[row];
  return (uint32_t)LNS_LOWER_BOUND (self->n_lanes, i, self->first_place[i] <= place) - 1;
}

void
lns_event_set_id (const LnsEventSet *self, uint32_t row, uint32_t *ret_lane, uint64_t *ret_ordinal)
{
  uint32_t lane = lns_event_set_lane (self, row);
  *ret_lane = self->lanes[lane];
  *ret_ordinal = self->first_ordinal[lane] + (self->place[row] - self->first_place[lane]);
}

bool
lns_event_set_find (
    const LnsEventSet *self, uint32_t lane, uint64_t ordinal, int64_t start_ns, uint32_t *ret_row)
{
  uint32_t first =
      (uint32_t)LNS_LOWER_BOUND (self->n, i, lns_event_set_start (self, (uint32_t)i) < start_ns);
  for (uint32_t row = first; row < self->n && lns_event_set_start (self, row) == start_ns; row++)
    {
      uint32_t row_lane;
      uint64_t row_ordinal;
      lns_event_set_id (self, row, &row_lane, &row_ordinal);
      if (row_lane == lane && row_ordinal == ordinal)
        {
          *ret_row = row;
          return true;
        }
    }
  return false;
}

uint64_t
lns_event_set_bytes (const LnsEventSet *self)
{
  uint64_t row_bytes = 8;
  row_bytes += self->category != NULL ? 4 : 0;
  row_bytes += self->thread != NULL ? 4 : 0;
  row_bytes += self->payload_type != NULL ? 1 : 0;
  row_bytes += self->payload != NULL ? 8 : 0;
  row_bytes += self->flags != NULL ? 1 : 0;
  return row_bytes * self->n + lns_event_times_bytes (&self->start_ns) +
         lns_event_times_bytes (&self->duration_ns) + UINT64_C (4) * self->n_names;
}
