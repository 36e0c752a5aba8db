/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/facts/span-compare.h"

#include <stdlib.h>

#include "src/base/compare.h"
#include "src/base/hash.h"
#include "src/base/plain-name.h"
#include "src/base/saturate.h"

/* A part, and what it is found by. */
typedef struct
{
  uint64_t key;
  LnsSpanPart part;
} Keyed;

typedef LNS_ARRAY (Keyed) Keyeds;

static int
compare_keys (const void *a, const void *b)
{
  const Keyed *x = a, *y = b;
  return LNS_COMPARE (x->part.sort, y->part.sort) ?: LNS_COMPARE (x->key, y->key);
}

static int64_t
difference_of (const LnsSpanPart *part)
{
  return llabs (lns_difference (part->ns[0], part->ns[1]));
}

static int
compare_differences (const void *a, const void *b)
{
  const LnsSpanPart *x = a, *y = b;
  return LNS_COMPARE (difference_of (y), difference_of (x)) ?:
         LNS_COMPARE (x->sort, y->sort) ?: LNS_COMPARE (x->name, y->name);
}

/* Adds NAMES of span SIDE. Names of different kinds of lanes are different parts. */
static void
add_names (Keyeds *all, LnsReport *report, const LnsSpanNames *names, unsigned side)
{
  const LnsLane *lanes = lns_report_lanes (report, NULL);
  char plain[LNS_PLAIN_NAME_SIZE];

  for (size_t i = 0; i < names->n; i++)
    {
      const LnsSpanName *name = &names->items[i];
      size_t size_bytes;
      const char *bytes = lns_report_string (report, name->name, &size_bytes);
      Keyed *keyed = lns_array_add (all);
      keyed->key = lns_hash (plain, lns_plain_name (bytes, size_bytes, plain)) ^
                   (uint64_t)lanes[name->lane].kind;
      keyed->part.name = name->name;
      keyed->part.lane = name->lane;
      keyed->part.n[side] = name->n;
      keyed->part.ns[side] = name->ns;
    }
}

static void
add_share (
    Keyeds *all, LnsSpanPartSort sort, uint64_t key, const LnsSpanShare *share, unsigned side)
{
  Keyed *keyed = lns_array_add (all);

  keyed->key = key;
  keyed->part.sort = sort;
  keyed->part.share = *share;
  keyed->part.ns[side] = share->ns;
}

static void
add_sums (Keyeds *all, LnsReport *report, const LnsSpanSums *sums, unsigned side)
{
  add_names (all, report, &sums->threads, side);
  add_names (all, report, &sums->gpus, side);
  for (size_t i = 0; i < sums->devices.n; i++)
    add_share (all, LNS_SPAN_PART_DEVICE, sums->devices.items[i].device, &sums->devices.items[i],
               side);
  for (size_t i = 0; i < sums->running.n; i++)
    add_share (all, LNS_SPAN_PART_THREAD, sums->running.items[i].thread, &sums->running.items[i],
               side);
}

/* Makes one part of those with one key. */
static void
merge (Keyeds *all, LnsSpanParts *ret_parts)
{
  if (all->n > 1)
    qsort (all->items, all->n, sizeof *all->items, compare_keys);
  for (size_t i = 0; i < all->n; i++)
    {
      const LnsSpanPart *part = &all->items[i].part;
      if (i == 0 || compare_keys (&all->items[i - 1], &all->items[i]) != 0)
        {
          *lns_array_add (ret_parts) = *part;
          continue;
        }
      LnsSpanPart *last = &ret_parts->items[ret_parts->n - 1];
      for (unsigned side = 0; side < 2; side++)
        {
          last->n[side] += part->n[side];
          last->ns[side] = lns_sum (last->ns[side], part->ns[side]);
        }
    }
  if (ret_parts->n > 1)
    qsort (ret_parts->items, ret_parts->n, sizeof *ret_parts->items, compare_differences);
}

bool
lns_span_compare (LnsReport *report,
                  const LnsSpan spans[2],
                  const atomic_bool *cancel,
                  LnsSpanParts *ret_parts,
                  LnsError *error)
{
  Keyeds all = { 0 };
  bool good = true;

  *ret_parts = (LnsSpanParts){ 0 };
  for (unsigned side = 0; good && side < 2; side++)
    {
      LnsSpanSums sums;
      good = lns_span_sums_make (report, &spans[side], SIZE_MAX, cancel, &sums, error);
      if (good)
        add_sums (&all, report, &sums, side);
      lns_span_sums_clear (&sums);
    }
  if (good)
    merge (&all, ret_parts);
  lns_array_clear (&all);
  return good;
}
