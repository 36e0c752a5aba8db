/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A hash map from 64-bit ids to pointers or numbers other than 0. Zero it before first use. It owns its table, not the
 * values. All functions are O(1) on average. Any number of threads may read while none writes. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct
{
  uint64_t key;
  void *value; /* NULL: the place is free */
} LnsIdMapEntry;

typedef struct
{
  LnsIdMapEntry *entries; /* for walks: n_places of them, in no order */
  size_t n_places;        /* 0, or a power of two */
  size_t n;
} LnsIdMap;

/* The place where the search for KEY begins. Fibonacci hashing, because most ids count up or are addresses. */
static inline size_t
lns_id_map_place (const LnsIdMap *map, uint64_t key)
{
  const uint64_t product = key * UINT64_C (0x9E3779B97F4A7C15);

  return (size_t)(product ^ product >> 32) & (map->n_places - 1);
}

/* The value of KEY, or NULL. */
static inline void *
lns_id_map_get (const LnsIdMap *map, uint64_t key)
{
  if (map->n == 0)
    return NULL;
  size_t at = lns_id_map_place (map, key);
  while (map->entries[at].value != NULL && map->entries[at].key != key)
    at = (at + 1) & (map->n_places - 1);
  return map->entries[at].value;
}

/* The next value of a walk over MAP, in no order, or NULL at the end. *INOUT_AT is 0 at the beginning of the walk, during
 * which nothing may be set or taken out. */
static inline void *
lns_id_map_next (const LnsIdMap *map, size_t *inout_at)
{
  while (*inout_at < map->n_places)
    {
      void *value = map->entries[(*inout_at)++].value;
      if (value != NULL)
        return value;
    }
  return NULL;
}

/* Sets the value of KEY; VALUE is not NULL. Returns false and changes nothing if memory runs out. */
bool lns_id_map_set (LnsIdMap *map, uint64_t key, void *value);

/* Removes KEY and returns its value, or NULL. Moves other entries. */
void *lns_id_map_take (LnsIdMap *map, uint64_t key);

/* Frees the table; the map may be used again. */
void lns_id_map_clear (LnsIdMap *map);

/* The same for values that are numbers: 0 means "none". Setting one ends the process if memory runs out (memory.h). */
static inline uint64_t
lns_id_map_number (const LnsIdMap *map, uint64_t key)
{
  return (uintptr_t)lns_id_map_get (map, key);
}

void lns_id_map_set_number (LnsIdMap *map, uint64_t key, uint64_t value);
