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
#define N_DIGITS    6
#define N_BINS      (1u << DIGIT_BITS)
#define CANCEL_ROWS (1u << 20)

typedef struct
{
  uint32_t bins[N_DIGITS][N_BINS];
} Histograms;

static inline unsigned
digit (uint64_t key, int index)
{
  return key >> (index * DIGIT_BITS) & (N_BINS - 1);
}

static bool
cancelled (uint32_t row, GCancellable *cancellable)
{
  return row % CANCEL_ROWS == 0 && g_cancellable_is_cancelled (cancellable);
}

/* One stable pass: FROM in the order of digit INDEX into TO. BINS counts each digit's rows, and
 * ends as each digit's end. */
static bool
pass (const uint64_t *keys,
      uint32_t n,
      int index,
      uint32_t *bins,
      const uint32_t *from,
      uint32_t *to,
      GCancellable *cancellable)
{
  uint32_t total = 0;
  for (unsigned bin = 0; bin < N_BINS; bin++)
    {
      uint32_t count = bins[bin];
      bins[bin] = total;
      total += count;
    }
  for (uint32_t i = 0; i < n; i++)
    {
      if (cancelled (i, cancellable))
        return false;
      to[bins[digit (keys[from[i]], index)]++] = from[i];
    }
  return true;
}

bool
lns_event_sort (const uint64_t *keys, uint32_t n, uint32_t *ret_order, GCancellable *cancellable)
{
  g_autofree Histograms *histograms = g_try_new0 (Histograms, 1);
  g_autofree uint32_t *scratch = g_try_new (uint32_t, (gsize)n + 1);
  if (histograms == NULL || scratch == NULL)
    return false;

  for (uint32_t i = 0; i < n; i++)
    {
      if (cancelled (i, cancellable))
        return false;
      ret_order[i] = i;
      for (int index = 0; index < N_DIGITS; index++)
        histograms->bins[index][digit (keys[i], index)]++;
    }

  uint32_t *from = ret_order;
  uint32_t *to = scratch;
  for (int index = 0; index < N_DIGITS && n > 0; index++)
    {
      uint32_t *bins = histograms->bins[index];
      if (bins[digit (keys[0], index)] == n)
        continue; /* all rows have the same digit */
      if (!pass (keys, n, index, bins, from, to, cancellable))
        return false;
      uint32_t *sorted = to;
      to = from;
      from = sorted;
    }
  if (from != ret_order)
    memcpy (ret_order, from, (size_t)n * sizeof *ret_order);
  return true;
}

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
lns_event_sort_first (const uint64_t *keys,
                      uint32_t n,
                      LnsRowFilter accepts,
                      const void *data,
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
      if (keys[row] > limit || (accepts != NULL && !accepts (row, data)))
        continue;
      entries[n_entries++] = (Entry){ keys[row], row };
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
