/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/base/array.h"

#include <string.h>

#include "src/base/memory.h"

/* The first allocation, so that short arrays are allocated only once. */
#define MIN_ITEMS 16

void *
lns_array_try_grow_ (void *items, size_t n, size_t *n_allocated, size_t item_bytes)
{
  if (n == *n_allocated)
    {
      const size_t n_larger = n < MIN_ITEMS ? MIN_ITEMS : n + n / 2;
      void *larger = reallocarray (items, n_larger, item_bytes);
      if (larger == NULL)
        return NULL;
      items = larger;
      *n_allocated = n_larger;
    }
  memset ((char *)items + n * item_bytes, 0, item_bytes);
  return items;
}

void *
lns_array_grow_ (void *items, size_t n, size_t *n_allocated, size_t item_bytes)
{
  void *larger = lns_array_try_grow_ (items, n, n_allocated, item_bytes);

  if (larger == NULL)
    lns_out_of_memory ();
  return larger;
}
