/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The groups that NVTX ranges are summed up under: (family, name), where a family is a style in domains of one name.
 * One thread at a time may add. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/array.h"
#include "src/base/id-map.h"

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
  uint32_t max_lane; /* of the longest one, the first if several are, …                       */
  uint64_t max_ordinal; /* … and its number there                                                */
  uint64_t total_ns;
  unsigned __int128 squares; /* sum of them; exact while durations are below 2^50 ns (13 days)  */
  uint32_t
      *bins; /* how many durations lie in bins first_bin … first_bin + n_bins - 1; < 2^32 each */
  uint32_t first_bin, n_bins;
} LnsRangeGroup;

/* Has GROUP's longest be event ORDINAL of LANE if that is longer, or as long and stands before it. */
static inline void
lns_range_group_lengthen (LnsRangeGroup *group,
                          int64_t duration_ns,
                          uint32_t lane,
                          uint64_t ordinal)
{
  if (duration_ns < group->max_ns ||
      (duration_ns == group->max_ns &&
       (lane > group->max_lane || (lane == group->max_lane && ordinal > group->max_ordinal))))
    return;
  group->max_ns = duration_ns;
  group->max_lane = lane;
  group->max_ordinal = ordinal;
}

/* A group's number is found by two array accesses, which is as fast as such a pass can be. But a file of 1 MiB may have
 * 32,000 families, and a name in each page: what does not fit into the pages that may be made is found through a map. */
#define LNS_GROUP_PAGE_NAMES 1024

typedef struct
{
  LNS_ARRAY (LnsRangeGroup) array;
  uint32_t n_names;             /* names from here on are a damaged report's, and count as name 0 */
  uint32_t n_families, n_pages; /* families that have pages, and how many each has */
  uint32_t **pages; /* n_families × n_pages: group + 1 by name; NULL where none was made */
  uint32_t n_made;
  LnsIdMap others; /* group + 1 by family and name */
} LnsRangeGroups;

/* For N_FAMILIES families and names below N_NAMES. */
void lns_range_groups_init (LnsRangeGroups *groups, uint32_t n_families, uint32_t n_names);
void lns_range_groups_clear (LnsRangeGroups *groups);

/* The group of NAME in FAMILY, or LNS_GROUP_NONE. Any thread while nobody adds. */
static inline uint32_t
lns_range_groups_find (const LnsRangeGroups *groups, uint32_t family, uint32_t name)
{
  name = name < groups->n_names ? name : 0;
  if (family < groups->n_families)
    {
      const uint32_t *page =
          groups->pages[(uint64_t)family * groups->n_pages + name / LNS_GROUP_PAGE_NAMES];
      if (page != NULL)
        return page[name % LNS_GROUP_PAGE_NAMES] - 1;
    }
  return (uint32_t)lns_id_map_number (&groups->others, (uint64_t)family << 32 | name) - 1;
}

/* The same, but makes the group where it is not there yet. */
uint32_t lns_range_groups_add (LnsRangeGroups *groups, uint32_t family, uint32_t name);

/* Makes room for BIN. */
void lns_range_group_widen (LnsRangeGroup *group, uint32_t bin);

/* Adds COUNT durations to BIN. */
static inline void
lns_range_group_count (LnsRangeGroup *group, uint32_t bin, uint32_t count)
{
  if (bin - group->first_bin >= group->n_bins)
    lns_range_group_widen (group, bin);
  group->bins[bin - group->first_bin] += count;
}

/* Adds what SOURCE has counted to TARGET. */
void lns_range_group_merge (LnsRangeGroup *target, const LnsRangeGroup *source);
