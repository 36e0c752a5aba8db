/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* NVTX ranges by what they are summed up under: (family, name), a family being a style in domains
 * of one name. A group's number is found by two array accesses. One thread at a time may add. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#define LNS_GROUP_NONE UINT32_MAX

/* Durations are counted by bins an eighth of an octave wide; those below 8 ns exactly. */
#define LNS_RANGE_BINS 512

/* The bin of a duration ≥ 0. */
static inline uint32_t
lns_range_bin (int64_t duration_ns)
{
  uint64_t value = (uint64_t)duration_ns;
  if (value < 8)
    return (uint32_t)value;
  unsigned exponent = 63 - (unsigned)__builtin_clzll (value);
  return (exponent - 2) * 8 + (uint32_t)(value >> (exponent - 3) & 7);
}

/* A group's numbers so far. Durations in ns. */
typedef struct
{
  uint32_t family;
  uint32_t name; /* string id                                                                   */
  uint64_t n;
  int64_t min_ns, max_ns;
  uint64_t total_ns;
  unsigned __int128 squares; /* sum of them; exact while durations are below 2^50 ns (13 days)  */
  uint32_t
      *bins; /* how many durations lie in bins first_bin … first_bin + n_bins - 1; < 2^32 each */
  uint32_t first_bin, n_bins;
} LnsRangeGroup;

typedef struct
{
  LnsRangeGroup *groups;
  uint32_t n_groups, n_allocated;
  uint32_t n_families, n_pages; /* pages a family                                                */
  uint32_t **pages; /* n_families × n_pages: group + 1 by name, in pages of names     */
} LnsRangeGroups;

#define LNS_GROUP_PAGE_NAMES 1024

/* For names below N_NAMES. False without memory. */
bool lns_range_groups_init (LnsRangeGroups *groups, uint32_t n_families, uint32_t n_names);
void lns_range_groups_clear (LnsRangeGroups *groups);

/* The group of NAME in FAMILY, made if need be; LNS_GROUP_NONE without memory. */
uint32_t lns_range_groups_add (LnsRangeGroups *groups, uint32_t family, uint32_t name);

/* The same, but only if it is there. NAME < n_names. Any thread while nobody adds. */
static inline uint32_t
lns_range_groups_find (const LnsRangeGroups *groups, uint32_t family, uint32_t name)
{
  const uint32_t *page =
      groups->pages[(uint64_t)family * groups->n_pages + name / LNS_GROUP_PAGE_NAMES];
  return page != NULL ? page[name % LNS_GROUP_PAGE_NAMES] - 1 : LNS_GROUP_NONE;
}

/* Makes room for BIN. False without memory. */
bool lns_range_group_widen (LnsRangeGroup *group, uint32_t bin);

/* Adds COUNT durations to BIN. False without memory. */
static inline bool
lns_range_group_count (LnsRangeGroup *group, uint32_t bin, uint32_t count)
{
  if (bin - group->first_bin >= group->n_bins && !lns_range_group_widen (group, bin))
    return false;
  group->bins[bin - group->first_bin] += count;
  return true;
}

/* Adds what SOURCE has counted to TARGET. False without memory. */
bool lns_range_group_merge (LnsRangeGroup *target, const LnsRangeGroup *source);
