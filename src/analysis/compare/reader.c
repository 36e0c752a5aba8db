/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/compare/reader.h"

#include "src/base/hash.h"

uint64_t
_lns_part_whole_key (LnsPartReader *reader, uint32_t id)
{
  uint64_t key = lns_id_map_number (&reader->wholes, (uint64_t)id + 1);
  size_t size;

  if (id == 0 || key != 0)
    return key;
  const char *name = lns_report_string (reader->report, id, &size);
  key = lns_hash (name, size) | 1;
  lns_id_map_set_number (&reader->wholes, (uint64_t)id + 1, key);
  return key;
}
