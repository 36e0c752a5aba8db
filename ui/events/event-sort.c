/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/events/event-sort.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/compare.h"

/* With 11 bits, the 2048 positions that are written to stay in the first-level cache. */
#define DIGIT_BITS  11
#define N_BINS      (1u << DIGIT_BITS)
#define CANCEL_ROWS (1u << 20)

/* The keys of a part stay in the second-level cache, and little memory is needed beside the order. */
#define PARTS_BITS 6
#define N_PARTS    (1u << PARTS_BITS)
#define N_SAMPLES  (64 * N_PARTS)
#define SMALL_ROWS (16 * N_SAMPLES) /* so few are one part */

typedef struct
{
  uint64_t key;
  uint32_t row;
} Entry;

static inline bool
before (Entry a, Entry b)
{
  return a.key < b.key || (a.key == b.key && a.row < b.row);
}

static int
compare (const void *a, const void *b)
{
  const Entry *x = a, *y = b;
  return LNS_COMPARE (x->key, y->key) ?: LNS_COMPARE (x->row, y->row);
}

static bool
cancelled (uint32_t row, GCancellable *cancellable)
{
  return row % CANCEL_ROWS == 0 && g_cancellable_is_cancelled (cancellable);
}

/* --- Parts -------------------------------------------------------------------------------------- */

/* Orders like an Entry, and is compared without a branch, which would be predicted wrong half of the time. */
typedef unsigned __int128 Bound;

static inline Bound
bound_of (uint64_t key, uint32_t row)
{
  return (Bound)key << 64 | row;
}

/* Chooses the first row of each part but the first one, so that parts are of about one size. Rows differ even if all keys are
 * equal. */
static void
choose_bounds (LnsKeyFunc key, const void *data, uint32_t n, Bound ret_bounds[N_PARTS - 1])
{
  g_autofree Entry *samples = g_new (Entry, N_SAMPLES);
  for (uint32_t i = 0; i < N_SAMPLES; i++)
    {
      const uint32_t row = (uint32_t)((uint64_t)i * n / N_SAMPLES);
      samples[i] = (Entry){ key (data, row), row };
    }
  qsort (samples, N_SAMPLES, sizeof *samples, compare);
  for (uint32_t part = 1; part < N_PARTS; part++)
    {
      const Entry first = samples[part * (N_SAMPLES / N_PARTS)];
      ret_bounds[part - 1] = bound_of (first.key, first.row);
    }
}

/* The part of what is at AT: the number of BOUNDS that are not after it. */
static inline uint8_t
part_of (const Bound *bounds, Bound at)
{
  unsigned part = 0;
  for (unsigned step = N_PARTS / 2; step > 0; step /= 2)
    part += (at >= bounds[part + step - 1]) * step;
  return (uint8_t)part;
}

/* Rows of a sort whose keys are neighbours. */
typedef struct
{
  uint32_t end;       /* in the order */
  uint64_t low, high; /* the smallest and the largest key */
} Part;

/* Fills ORDER with the rows, part after part, in each by row. */
static bool
divide (LnsKeyFunc key,
        const void *data,
        uint32_t n,
        uint32_t *order,
        Part ret_parts[N_PARTS],
        GCancellable *cancellable)
{
  g_autofree uint8_t *parts = g_try_new (uint8_t, n);
  Bound bounds[N_PARTS - 1];
  uint32_t total = 0;
  if (parts == NULL)
    return false;
  choose_bounds (key, data, n, bounds);
  for (unsigned part = 0; part < N_PARTS; part++)
    ret_parts[part] = (Part){ .low = UINT64_MAX };
  for (uint32_t row = 0; row < n; row++)
    {
      if (cancelled (row, cancellable))
        return false;
      const uint64_t of_row = key (data, row);
      parts[row] = part_of (bounds, bound_of (of_row, row));
      Part *part = &ret_parts[parts[row]];
      part->end++;
      part->low = MIN (part->low, of_row);
      part->high = MAX (part->high, of_row);
    }
  for (unsigned part = 0; part < N_PARTS; part++)
    {
      const uint32_t count = ret_parts[part].end;
      ret_parts[part].end = total;
      total += count;
    }
  for (uint32_t row = 0; row < n; row++)
    order[ret_parts[parts[row]].end++] = row;
  return true;
}

/* --- Digits -------------------------------------------------------------------------------------- */

/* Memory to sort a part in. */
typedef struct
{
  uint64_t *keys; /* of the part's rows, above the smallest one */
  uint32_t *from, *to, *rows;
} Scratch;

/* One stable pass: `from` in the order of the digit at SHIFT into `to`, which change places. */
static void
pass (Scratch *scratch, uint32_t n, unsigned shift)
{
  const uint64_t *keys = scratch->keys;
  uint32_t *from = scratch->from, *to = scratch->to;
  uint32_t bins[N_BINS] = { 0 }, total = 0;
  for (uint32_t i = 0; i < n; i++)
    bins[keys[i] >> shift & (N_BINS - 1)]++;
  for (unsigned bin = 0; bin < N_BINS; bin++)
    {
      const uint32_t count = bins[bin];
      bins[bin] = total;
      total += count;
    }
  for (uint32_t i = 0; i < n; i++)
    to[bins[keys[from[i]] >> shift & (N_BINS - 1)]++] = from[i];
  scratch->from = to;
  scratch->to = from;
}

/* Sorts the N rows of ORDER, which ascend and are those of PART. Its keys are close to each other, so that few digits differ. */
static void
sort_part (LnsKeyFunc key,
           const void *data,
           const Part *part,
           uint32_t n,
           uint32_t *order,
           Scratch *scratch)
{
  if (part->low >= part->high)
    return;
  for (uint32_t i = 0; i < n; i++)
    {
      scratch->keys[i] = key (data, order[i]) - part->low;
      scratch->from[i] = i;
    }
  for (unsigned shift = 0; shift < 64 && (part->high - part->low) >> shift != 0;
       shift += DIGIT_BITS)
    pass (scratch, n, shift);
  memcpy (scratch->rows, order, (size_t)n * sizeof *order);
  for (uint32_t i = 0; i < n; i++)
    order[i] = scratch->rows[scratch->from[i]];
}

bool
lns_event_sort (
    LnsKeyFunc key, const void *data, uint32_t n, uint32_t *ret_order, GCancellable *cancellable)
{
  Part parts[N_PARTS] = { { .end = n, .high = UINT64_MAX } };
  uint32_t n_parts = 1, most = n;
  if (n > SMALL_ROWS)
    {
      n_parts = N_PARTS;
      if (!divide (key, data, n, ret_order, parts, cancellable))
        return false;
      most = parts[0].end;
      for (uint32_t part = 1; part < n_parts; part++)
        most = MAX (most, parts[part].end - parts[part - 1].end);
    }
  else
    for (uint32_t row = 0; row < n; row++)
      ret_order[row] = row;

  g_autofree uint64_t *keys = g_try_new (uint64_t, (gsize)most + 1);
  g_autofree uint32_t *rows = g_try_new (uint32_t, 3 * ((gsize)most + 1));
  if (keys == NULL || rows == NULL)
    return false;
  Scratch scratch = { keys, rows + most + 1, rows + 2 * ((gsize)most + 1), rows };
  for (uint32_t part = 0; part < n_parts; part++)
    {
      const uint32_t first = part > 0 ? parts[part - 1].end : 0;
      if (g_cancellable_is_cancelled (cancellable))
        return false;
      sort_part (key, data, &parts[part], parts[part].end - first, ret_order + first, &scratch);
    }
  return true;
}

/* --- The first ones ------------------------------------------------------------------------------ */

/* Moves the K smallest of ENTRIES to their front. Quickselect: O(n) on average. */
static void
partition_smallest (Entry *entries, uint32_t n, uint32_t k)
{
  uint32_t low = 0;
  uint32_t high = n;
  while (high - low > 1)
    {
      Entry pivot = entries[low + (high - low) / 2];
      uint32_t i = low;
      uint32_t j = high - 1;
      while (true)
        {
          while (before (entries[i], pivot))
            i++;
          while (before (pivot, entries[j]))
            j--;
          if (i >= j)
            break;
          Entry swapped = entries[i];
          entries[i++] = entries[j];
          entries[j--] = swapped;
        }
      /* entries[low … j] ≤ pivot ≤ entries[j + 1 … high), and i is j (the pivot) or j + 1. */
      if (k <= j)
        high = i;
      else if (k > j + 1)
        low = j + 1;
      else
        break;
    }
}

uint32_t
lns_event_sort_first (LnsKeyFunc key,
                      const void *data,
                      uint32_t n,
                      LnsRowFilter accepts,
                      const void *accepts_data,
                      uint32_t k,
                      uint32_t *ret_rows)
{
  enum
  {
    ROOM = 8 * LNS_EVENT_FIRST_MAX
  };
  g_autofree Entry *entries = g_new (Entry, ROOM);
  uint32_t n_entries = 0;
  uint64_t limit = UINT64_MAX; /* larger keys are not among the first K */

  k = MIN (k, LNS_EVENT_FIRST_MAX);
  for (uint32_t row = 0; row < n && k > 0; row++)
    {
      const uint64_t of_row = key (data, row);
      if (of_row > limit || (accepts != NULL && !accepts (row, accepts_data)))
        continue;
      entries[n_entries++] = (Entry){ of_row, row };
      if (n_entries < ROOM)
        continue;
      partition_smallest (entries, n_entries, k);
      n_entries = k;
      limit = 0;
      for (uint32_t i = 0; i < k; i++)
        limit = MAX (limit, entries[i].key);
      /* Rows come in ascending order, so a later row with the largest key is not among the first. */
      if (limit > 0)
        limit--;
    }
  qsort (entries, n_entries, sizeof *entries, compare);
  n_entries = MIN (n_entries, k);
  for (uint32_t i = 0; i < n_entries; i++)
    ret_rows[i] = entries[i].row;
  return n_entries;
}
