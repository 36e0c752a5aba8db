/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/base/id-map.h"

#include <stdlib.h>

#include "src/base/memory.h"

/* The entry of KEY, or the place where it would go. */
static LnsIdMapEntry *
find (const LnsIdMap *map, uint64_t key)
{
  size_t at = lns_id_map_place (map, key);
  while (map->entries[at].value != NULL && map->entries[at].key != key)
    at = (at + 1) & (map->n_places - 1);
  return &map->entries[at];
}

static bool
grow (LnsIdMap *map)
{
  LnsIdMap grown = { .n_places = map->n_places == 0 ? 16 : map->n_places * 2, .n = map->n };
  grown.entries = calloc (grown.n_places, sizeof *grown.entries);
  if (grown.entries == NULL)
    return false;
  for (size_t i = 0; i < map->n_places; i++)
    if (map->entries[i].value != NULL)
      *find (&grown, map->entries[i].key) = map->entries[i];
  free (map->entries);
  *map = grown;
  return true;
}

bool
lns_id_map_set (LnsIdMap *map, uint64_t key, void *value)
{
  if ((map->n + 1) * 2 > map->n_places && !grow (map))
    return false;
  LnsIdMapEntry *entry = find (map, key);
  map->n += entry->value == NULL;
  *entry = (LnsIdMapEntry){ key, value };
  return true;
}

void *
lns_id_map_take (LnsIdMap *map, uint64_t key)
{
  if (map->n == 0)
    return NULL;
  LnsIdMapEntry *entry = find (map, key);
  void *value = entry->value;
  if (value == NULL)
    return NULL;
  map->n--;
  /* Close the gap: the entries that follow without a break move into it, unless their own place is after it. */
  size_t mask = map->n_places - 1, gap = (size_t)(entry - map->entries);
  for (size_t at = (gap + 1) & mask; map->entries[at].value != NULL; at = (at + 1) & mask)
    if (((at - lns_id_map_place (map, map->entries[at].key)) & mask) >= ((at - gap) & mask))
      {
        map->entries[gap] = map->entries[at];
        gap = at;
      }
  map->entries[gap].value = NULL;
  return value;
}

void
lns_id_map_clear (LnsIdMap *map)
{
  free (map->entries);
  *map = (LnsIdMap){ 0 };
}

void
lns_id_map_set_number (LnsIdMap *map, uint64_t key, uint64_t value)
{
  if (!lns_id_map_set (map, key, (void *)(uintptr_t)value))
    lns_out_of_memory ();
}
