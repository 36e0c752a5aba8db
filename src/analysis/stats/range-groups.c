/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdlib.h>

#include "src/analysis/stats/range-groups.h"

bool
lns_range_groups_init (LnsRangeGroups *groups, uint32_t n_families, uint32_t n_names)
{
  *groups =
      (LnsRangeGroups){ .n_families = n_families, .n_pages = n_names / LNS_GROUP_PAGE_NAMES + 1 };
  groups->pages = calloc ((uint64_t)n_families * groups->n_pages + 1, sizeof *groups->pages);
  return groups->pages != NULL;
}

void
lns_range_groups_clear (LnsRangeGroups *groups)
{
  for (uint64_t i = 0; groups->pages != NULL && i < (uint64_t)groups->n_families * groups->n_pages;
       i++)
    free (groups->pages[i]);
  for (uint32_t i = 0; i < groups->n_groups; i++)
    free (groups->groups[i].bins);
  free (groups->pages);
  free (groups->groups);
  *groups = (LnsRangeGroups){ 0 };
}

uint32_t
lns_range_groups_add (LnsRangeGroups *groups, uint32_t family, uint32_t name)
{
  uint32_t **page =
      &groups->pages[(uint64_t)family * groups->n_pages + name / LNS_GROUP_PAGE_NAMES];

  if (*page == NULL && (*page = calloc (LNS_GROUP_PAGE_NAMES, sizeof **page)) == NULL)
    return LNS_GROUP_NONE;
  uint32_t *slot = &(*page)[name % LNS_GROUP_PAGE_NAMES];
  if (*slot != 0)
    return *slot - 1;
  if (groups->n_groups == groups->n_allocated)
    {
      uint32_t n = groups->n_allocated * 2 + 64;
      LnsRangeGroup *larger = realloc (groups->groups, n * sizeof *larger);
      if (larger == NULL)
        return LNS_GROUP_NONE;
      groups->groups = larger;
      groups->n_allocated = n;
    }
  groups->groups[groups->n_groups] =
      (LnsRangeGroup){ .family = family, .name = name, .min_ns = INT64_MAX };
  *slot = ++groups->n_groups;
  return groups->n_groups - 1;
}

bool
lns_range_group_widen (LnsRangeGroup *group, uint32_t bin)
{
  /* An octave at a time. */
  uint32_t first = bin & ~7u, end = first + 8;

  if (group->n_bins > 0)
    {
      first = first < group->first_bin ? first : group->first_bin;
      end = end > group->first_bin + group->n_bins ? end : group->first_bin + group->n_bins;
    }
  uint32_t *bins = calloc (end - first, sizeof *bins);
  if (bins == NULL)
    return false;
  for (uint32_t i = 0; i < group->n_bins; i++)
    bins[group->first_bin + i - first] = group->bins[i];
  free (group->bins);
  group->bins = bins;
  group->first_bin = first;
  group->n_bins = end - first;
  return true;
}

bool
lns_range_group_merge (LnsRangeGroup *target, const LnsRangeGroup *source)
{
  target->n += source->n;
  target->total_ns += source->total_ns;
  target->squares += source->squares;
  target->min_ns = source->min_ns < target->min_ns ? source->min_ns : target->min_ns;
  target->max_ns = source->max_ns > target->max_ns ? source->max_ns : target->max_ns;
  for (uint32_t i = 0; i < source->n_bins; i++)
    if (source->bins[i] > 0 &&
        !lns_range_group_count (target, source->first_bin + i, source->bins[i]))
      return false;
  return true;
}
