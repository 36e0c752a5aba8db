/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A hash map from 64-bit ids to pointers. Zero-initialise; owns its table, not the values. Used by
 * one thread. All functions are O(1) on the average. */

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

/* The value of KEY, or NULL. */
void *lns_id_map_get (const LnsIdMap *map, uint64_t key);

/* Sets KEY's value (not NULL). False, and nothing changed, if memory is short. */
bool lns_id_map_set (LnsIdMap *map, uint64_t key, void *value);

/* Takes KEY out and returns what it had, or NULL. Moves other entries. */
void *lns_id_map_take (LnsIdMap *map, uint64_t key);

/* Frees the table. */
void lns_id_map_clear (LnsIdMap *map);
