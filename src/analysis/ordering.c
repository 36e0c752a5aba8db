/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/ordering.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

typedef struct
{
  size_t size;
  int (*compare) (const void *, const void *);
} Order;

/* Where the ascending run that begins at FIRST ends. */
static size_t
end_of_run (const Order *order, const char *items, size_t first, size_t n)
{
  while (first + 1 < n &&
         order->compare (items + first * order->size, items + (first + 1) * order->size) <= 0)
    first++;
  return first < n ? first + 1 : n;
}

/* Merges FROM's runs [first, middle) and [middle, end) into TO. */
static void
merge_runs (const Order *order, const char *from, char *to, size_t first, size_t middle, size_t end)
{
  size_t a = first, b = middle, size = order->size;

  for (size_t i = first; i < end; i++)
    {
      bool left =
          b == end || (a < middle && order->compare (from + a * size, from + b * size) <= 0);
      memcpy (to + i * size, from + (left ? a++ : b++) * size, size);
    }
}

void
lns_order (void *items, size_t n, size_t size_bytes, int (*compare) (const void *, const void *))
{
  const Order order = { size_bytes, compare };
  char *from = items, *to = NULL, *other;

  while (end_of_run (&order, from, 0, n) < n)
    {
      if (to == NULL)
        to = lns_realloc (NULL, n, size_bytes);
      for (size_t first = 0, middle, end; first < n; first = end)
        {
          middle = end_of_run (&order, from, first, n);
          end = middle < n ? end_of_run (&order, from, middle, n) : n;
          merge_runs (&order, from, to, first, middle, end);
        }
      other = from;
      from = to;
      to = other;
    }
  if (from != items)
    memcpy (items, from, n * size_bytes);
  free (from != items ? from : to);
}

void
lns_select (int64_t *values, size_t n, size_t k)
{
  size_t left = 0, right = n - 1;

  while (left < right)
    {
      int64_t pivot = values[left + (right - left) / 2];
      size_t i = left - 1, j = right + 1;
      for (;;)
        {
          do
            i++;
          while (values[i] < pivot);
          do
            j--;
          while (values[j] > pivot);
          if (i >= j)
            break;
          int64_t value = values[i];
          values[i] = values[j];
          values[j] = value;
        }
      if (k <= j)
        right = j;
      else
        left = j + 1;
    }
}
