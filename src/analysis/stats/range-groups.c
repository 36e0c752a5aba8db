/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/stats/range-groups.h"

#include "src/base/memory.h"

/* 8 MiB of pointers to pages, and 16 MiB of pages. */
#define MAX_POINTERS (1u << 20)
#define MAX_PAGES    4096

void
lns_range_groups_init (LnsRangeGroups *groups, uint32_t n_families, uint32_t n_names)
{
  const uint32_t n_pages = n_names / LNS_GROUP_PAGE_NAMES + 1,
                 max_families = MAX_POINTERS / n_pages;

  *groups = (LnsRangeGroups){
    .n_names = n_names,
    .n_families = n_families < max_families ? n_families : max_families,
    .n_pages = n_pages,
  };
  groups->pages = lns_calloc ((size_t)groups->n_families * n_pages, sizeof *groups->pages);
}

void
lns_range_groups_clear (LnsRangeGroups *groups)
{
  for (size_t i = 0; i < (size_t)groups->n_families * groups->n_pages; i++)
    free (groups->pages[i]);
  for (size_t i = 0; i < groups->array.n; i++)
    free (groups->array.items[i].bins);
  free (groups->pages);
  lns_array_clear (&groups->array);
  lns_id_map_clear (&groups->others);
  *groups = (LnsRangeGroups){ 0 };
}

/* The place in a page where the number of the group belongs; NULL where it belongs into the map. */
static uint32_t *
place_of (LnsRangeGroups *groups, uint32_t family, uint32_t name)
{
  if (family >= groups->n_families)
    return NULL;
  uint32_t **page =
      &groups->pages[(uint64_t)family * groups->n_pages + name / LNS_GROUP_PAGE_NAMES];
  if (*page == NULL && groups->n_made < MAX_PAGES)
    {
      *page = lns_calloc (LNS_GROUP_PAGE_NAMES, sizeof **page);
      groups->n_made++;
    }
  return *page != NULL ? &(*page)[name % LNS_GROUP_PAGE_NAMES] : NULL;
}

uint32_t
lns_range_groups_add (LnsRangeGroups *groups, uint32_t family, uint32_t name)
{
  const uint32_t found = lns_range_groups_find (groups, family, name);

  if (found != LNS_GROUP_NONE)
    return found;
  name = name < groups->n_names ? name : 0;
  *lns_array_add (&groups->array) =
      (LnsRangeGroup){ .family = family, .name = name, .min_ns = INT64_MAX, .max_ns = -1 };
  uint32_t *place = place_of (groups, family, name);
  if (place != NULL)
    *place = (uint32_t)groups->array.n;
  else
    lns_id_map_set_number (&groups->others, (uint64_t)family << 32 | name, groups->array.n);
  return (uint32_t)groups->array.n - 1;
}

void
lns_range_group_widen (LnsRangeGroup *group, uint32_t bin)
{
  /* An octave at a time. */
  uint32_t first = bin & ~7u, end = first + 8;

  if (group->n_bins > 0)
    {
      first = first < group->first_bin ? first : group->first_bin;
      end = end > group->first_bin + group->n_bins ? end : group->first_bin + group->n_bins;
    }
  uint32_t *bins = lns_calloc (end - first, sizeof *bins);
  for (uint32_t i = 0; i < group->n_bins; i++)
    bins[group->first_bin + i - first] = group->bins[i];
  free (group->bins);
  group->bins = bins;
  group->first_bin = first;
  group->n_bins = end - first;
}

void
lns_range_group_merge (LnsRangeGroup *target, const LnsRangeGroup *source)
{
  target->n += source->n;
  target->total_ns += source->total_ns;
  target->squares += source->squares;
  target->min_ns = source->min_ns < target->min_ns ? source->min_ns : target->min_ns;
  lns_range_group_lengthen (target, source->max_ns, source->max_lane, source->max_ordinal);
  for (uint32_t i = 0; i < source->n_bins; i++)
    if (source->bins[i] > 0)
      lns_range_group_count (target, source->first_bin + i, source->bins[i]);
}
