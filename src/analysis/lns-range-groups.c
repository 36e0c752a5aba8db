/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdlib.h>

#include "src/analysis/lns-range-groups.h"

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

void
lns_range_group_merge (LnsRangeGroup *target, const LnsRangeGroup *source)
{
  target->n += source->n;
  target->total_ns += source->total_ns;
  target->squares += source->squares;
  target->min_ns = source->min_ns < target->min_ns ? source->min_ns : target->min_ns;
  target->max_ns = source->max_ns > target->max_ns ? source->max_ns : target->max_ns;
}
