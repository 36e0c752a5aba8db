/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* An array that grows. Zero it before first use:
 *
 *   LNS_ARRAY (int64_t) times = { 0 };
 *   *lns_array_add (&times) = time_ns;
 *   for (size_t i = 0; i < times.n; i++) … times.items[i] …
 *   lns_array_clear (&times);
 *
 * Adding is amortised O(1) and moves the items. Not thread-safe. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* The type of an array of TYPE. Give it a name with typedef where functions share it. */
#define LNS_ARRAY(type)                                                                            \
 struct                                                                                            \
 {                                                                                                 \
  type *items; /* owned; NULL until the first one is added */                                      \
  size_t n, n_allocated;                                                                           \
 }

/* Adds an item that is all zero and returns a pointer to it, which is valid until the next one is added. Ends the process
 * if memory runs out (memory.h). */
#define lns_array_add(array)                                                                       \
 ((array)->items =                                                                                 \
      lns_array_grow_ ((array)->items, (array)->n, &(array)->n_allocated, sizeof *(array)->items), \
  &(array)->items[(array)->n++])

/* The same for code that handles a lack of memory: returns NULL and leaves the array alone. */
#define lns_array_try_add(array)                                                                   \
 __extension__({                                                                                   \
 void *lns_items_ = lns_array_try_grow_ ((array)->items, (array)->n, &(array)->n_allocated,        \
                                         sizeof *(array)->items);                                  \
 if (lns_items_ != NULL)                                                                           \
  (array)->items = lns_items_;                                                                     \
 lns_items_ != NULL ? &(array)->items[(array)->n++] : NULL;                                        \
 })

/* Frees the items, but not what they own. The array may be used again. */
#define lns_array_clear(array)                                                                     \
 do                                                                                                \
  {                                                                                                \
   free ((array)->items);                                                                          \
   (array)->items = NULL;                                                                          \
   (array)->n = (array)->n_allocated = 0;                                                          \
  }                                                                                                \
 while (0)

/* Returns ITEMS, moved if necessary, with room for one more item after N, which is set to zero. For the
 * macros above, and for items whose size is known only at run time. */
void *lns_array_grow_ (void *items, size_t n, size_t *n_allocated, size_t item_bytes);
void *lns_array_try_grow_ (void *items, size_t n, size_t *n_allocated, size_t item_bytes);
