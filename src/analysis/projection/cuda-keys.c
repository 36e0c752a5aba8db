/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/projection/cuda-keys.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/string-table.h"

size_t
lns_cuda_call_name_size (const char *name, size_t size)
{
  size_t digits = 0;

  while (digits < size && name[size - 1 - digits] >= '0' && name[size - 1 - digits] <= '9')
    digits++;
  return digits == 4 && size > 6 && memcmp (name + size - 6, "_v", 2) == 0 ? size - 6 : size;
}

uint32_t *
lns_cuda_call_keys (LnsReport *report)
{
  const uint32_t n = lns_report_n_strings (report);
  uint32_t *keys = lns_calloc (n, sizeof *keys);
  LnsStringTable *table = lns_string_table_new ();

  if (table == NULL)
    lns_out_of_memory ();
  for (uint32_t id = 0; id < n; id++)
    {
      size_t size;
      const char *name = lns_report_string (report, id, &size);
      keys[id] = lns_string_table_intern (table, name, lns_cuda_call_name_size (name, size), id);
    }
  lns_string_table_free (table);
  return keys;
}
