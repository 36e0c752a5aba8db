/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/core/record.h"

#include <stdint.h>
#include <string.h>

size_t
lns_parts_bytes (const LnsPart *parts, size_t n_parts)
{
  size_t n_bytes = 0;
  for (size_t i = 0; i < n_parts; i++)
    n_bytes += lns_part_bytes (&parts[i]);
  return (n_bytes + LNS_WIRE_ALIGN_BYTES - 1) & ~(size_t)(LNS_WIRE_ALIGN_BYTES - 1);
}

void
lns_parts_copy (
    const LnsPart *parts, size_t n_parts, size_t offset, uint8_t *ret_bytes, size_t n_max)
{
  memset (ret_bytes, 0, n_max);
  size_t at = 0; /* of the part in the record */
  for (size_t i = 0; i < n_parts && at < offset + n_max; i++)
    {
      const LnsPart *part = &parts[i];
      size_t first = offset > at ? offset - at : 0; /* byte of the part to begin with */
      if (first < part->n_bytes)
        {
          size_t to = at + first - offset;
          size_t n = part->n_bytes - first;
          memcpy (ret_bytes + to, (const uint8_t *)part->bytes + first,
                  n < n_max - to ? n : n_max - to);
        }
      at += lns_part_bytes (part);
    }
}
