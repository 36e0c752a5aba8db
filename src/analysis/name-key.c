/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/name-key.h"

#include <ctype.h>

#include "src/base/hash.h"

#define KEY_BYTES 256

uint64_t
lns_name_key (LnsReport *report, LnsIdMap *keys, uint32_t id)
{
  uint64_t key = lns_id_map_number (keys, (uint64_t)id + 1);

  if (id == 0 || key != 0)
    return key;
  const char *name = lns_report_string (report, id, NULL);
  char plain[KEY_BYTES];
  size_t n = 0;
  for (; *name != '\0' && n < sizeof plain; name++)
    if (!isdigit ((unsigned char)*name))
      plain[n++] = *name;
  key = lns_hash (plain, n) | 1;
  lns_id_map_set_number (keys, (uint64_t)id + 1, key);
  return key;
}
