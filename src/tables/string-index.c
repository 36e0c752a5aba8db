/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* From texts to their ids. Replaces: a look at all strings for each comparison with a text. */

#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/tables/tables-private.h"

/* The slot of the string, or the free one where it would be. */
static uint32_t *
find_slot (const LnsTables *tables, uint32_t *slots, unsigned bits, const void *bytes, size_t size)
{
  uint64_t mask = (UINT64_C (1) << bits) - 1, i = lns_hash (bytes, size) & mask;

  for (; slots[i] != 0; i = (i + 1) & mask)
    {
      size_t other_size;
      const char *other = lns_report_string (tables->report, slots[i] - 1, &other_size);
      if (other_size == size && memcmp (other, bytes, size) == 0)
        break;
    }
  return &slots[i];
}

/* Payloads are left out: one may have the bytes of a text. Called under the lock. */
static bool
build (LnsTables *tables, const uint64_t *payloads)
{
  uint32_t n = lns_report_n_strings (tables->report);
  unsigned bits = 4;

  while (UINT64_C (1) << bits < (uint64_t)n * 2)
    bits++;
  uint32_t *slots = calloc (UINT64_C (1) << bits, sizeof *slots);
  if (slots == NULL)
    return false;
  for (uint32_t id = 0; id < n; id++)
    {
      size_t size;
      const char *bytes = lns_report_string (tables->report, id, &size);
      uint32_t *slot = find_slot (tables, slots, bits, bytes, size);
      if (*slot == 0 && (payloads[id / 64] >> (id % 64) & 1) == 0)
        *slot = id + 1;
    }
  tables->strings_by_hash = slots;
  tables->string_bits = bits;
  return true;
}

bool
lns_tables_find_string (
    LnsTables *tables, const void *bytes, size_t size_bytes, uint32_t *ret_id, LnsError *error)
{
  const uint64_t *payloads;

  if (!_lns_tables_payload_strings (tables, &payloads, error))
    return false;
  pthread_mutex_lock (&tables->lock);
  bool built = tables->strings_by_hash != NULL || build (tables, payloads);
  pthread_mutex_unlock (&tables->lock);
  if (!built)
    return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                          "not enough memory for an index of the strings; close other programs");
  *ret_id =
      *find_slot (tables, tables->strings_by_hash, tables->string_bits, bytes, size_bytes) - 1;
  return true;
}
