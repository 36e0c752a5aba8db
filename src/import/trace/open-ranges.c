/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/trace/open-ranges.h"

#include <stdlib.h>

#define NONE UINT32_MAX

static uint32_t *
bucket_of (uint32_t *buckets, uint32_t n, uint64_t key)
{
  return &buckets[(key * UINT64_C (0x9E3779B97F4A7C15)) >> 32 & (n - 1)];
}

/* Puts PLACE on top of the list that begins at FIRST. */
static void
push (LnsOpenRanges *open, uint32_t *first, uint32_t place)
{
  open->ranges[place].below = *first;
  *first = place;
}

/* Takes off the place on top of the list that begins at FIRST. */
static uint32_t
pop (LnsOpenRanges *open, uint32_t *first)
{
  const uint32_t place = *first;

  *first = open->ranges[place].below;
  return place;
}

/* Doubles the room. Those of one key stay in order: they leave their bucket by way of another list. */
static bool
grow (LnsOpenRanges *open)
{
  const uint32_t n_before = open->n_allocated, n = n_before == 0 ? 64 : 2 * n_before;
  LnsOpenRange *ranges = reallocarray (open->ranges, n, sizeof *ranges);
  uint32_t *buckets = malloc (n * sizeof *buckets);

  open->ranges = ranges != NULL ? ranges : open->ranges;
  if (ranges == NULL || buckets == NULL)
    {
      free (buckets);
      return false;
    }
  for (uint32_t i = 0; i < n; i++)
    buckets[i] = NONE;
  for (uint32_t i = 0; i < n_before; i++)
    {
      uint32_t turned = NONE;
      while (open->buckets[i] != NONE)
        push (open, &turned, pop (open, &open->buckets[i]));
      while (turned != NONE)
        {
          const uint32_t place = pop (open, &turned);
          push (open, bucket_of (buckets, n, open->ranges[place].key), place);
        }
    }
  open->free = NONE;
  for (uint32_t place = n_before; place < n; place++)
    push (open, &open->free, place);
  free (open->buckets);
  open->buckets = buckets;
  open->n_allocated = n;
  return true;
}

void
_lns_open_ranges_clear (LnsOpenRanges *open)
{
  free (open->ranges);
  free (open->buckets);
  *open = (LnsOpenRanges){ 0 };
}

bool
_lns_open_ranges_add (LnsOpenRanges *open, const LnsOpenRange *range)
{
  if ((open->n_allocated == 0 || open->free == NONE) && !grow (open))
    return false;
  const uint32_t place = pop (open, &open->free);
  open->ranges[place] = *range;
  push (open, bucket_of (open->buckets, open->n_allocated, range->key), place);
  open->n_emptied = 0;
  open->n_open++;
  return true;
}

LnsOpenRange *
_lns_open_ranges_last (const LnsOpenRanges *open, uint64_t key)
{
  uint32_t at = open->n_allocated > 0 ? *bucket_of (open->buckets, open->n_allocated, key) : NONE;

  while (at != NONE && open->ranges[at].key != key)
    at = open->ranges[at].below;
  return at != NONE ? &open->ranges[at] : NULL;
}

bool
_lns_open_ranges_take (LnsOpenRanges *open, uint64_t key, LnsOpenRange *ret_range)
{
  if (open->n_allocated == 0)
    return false;
  uint32_t *at = bucket_of (open->buckets, open->n_allocated, key);
  while (*at != NONE && open->ranges[*at].key != key)
    at = &open->ranges[*at].below;
  if (*at == NONE)
    return false;
  const uint32_t place = pop (open, at);
  *ret_range = open->ranges[place];
  push (open, &open->free, place);
  open->n_open--;
  return true;
}

bool
_lns_open_ranges_take_any (LnsOpenRanges *open, LnsOpenRange *ret_range)
{
  while (open->n_emptied < open->n_allocated && open->buckets[open->n_emptied] == NONE)
    open->n_emptied++;
  if (open->n_emptied == open->n_allocated)
    return false;
  const uint32_t place = pop (open, &open->buckets[open->n_emptied]);
  *ret_range = open->ranges[place];
  push (open, &open->free, place);
  open->n_open--;
  return true;
}
