/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/base/plain-name.h"

#include <stdbool.h>
#include <string.h>

/* What may stand before such a number. */
#define BEFORE_COUNT " #=.:(["

/* Whether the digit at NAME[I] belongs to such a number. */
static bool
is_count (const char *name, size_t i, bool was_count)
{
  return name[i] >= '0' && name[i] <= '9' &&
         (was_count || i == 0 ||
          (name[i - 1] != '\0' && strchr (BEFORE_COUNT, name[i - 1]) != NULL));
}

size_t
lns_plain_name (const char *name, size_t size_bytes, char ret_plain[LNS_PLAIN_NAME_SIZE])
{
  size_t n = 0;
  bool was_count = false;

  if (size_bytes > LNS_PLAIN_NAME_SIZE)
    size_bytes = LNS_PLAIN_NAME_SIZE;
  for (size_t i = 0; i < size_bytes; i++)
    {
      was_count = is_count (name, i, was_count);
      if (!was_count)
        ret_plain[n++] = name[i];
    }
  return n;
}

size_t
lns_plain_title (const char *name, size_t size_bytes, char ret_plain[LNS_PLAIN_NAME_SIZE])
{
  const size_t n = lns_plain_name (name, size_bytes, ret_plain);
  size_t n_left = n;

  while (n_left > 0 && strchr (BEFORE_COUNT, ret_plain[n_left - 1]) != NULL)
    n_left--;
  return n_left > 0 ? n_left : n;
}
