/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/kernel-keys.h"

#include <stdlib.h>

#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/tables/lanes.h"

/* The name that NAMING asks for, as the launch has it; 0 where it has none. */
static uint32_t
own_name (const LnsCudaLaunch *launches, uint32_t n_launches, LnsKernelName naming, uint64_t launch)
{
  if (naming == LNS_KERNEL_NAME || launch >= n_launches)
    return 0;
  return naming == LNS_KERNEL_SHORT_NAME ? launches[launch].short_name
                                         : launches[launch].mangled_name;
}

uint32_t
lns_kernel_name (const LnsReport *report, LnsKernelName naming, uint32_t name, uint64_t launch)
{
  uint32_t n;
  const LnsCudaLaunch *launches = lns_report_launches (report, &n);

  return own_name (launches, n, naming, launch) ?: name;
}

/* ---- Kinds ----------------------------------------------------------------------------------- */

/* Has kernels of kind I found: at once, until another kind of their launch is noted. */
static void
note_kind (LnsKernelKeys *keys, uint32_t i)
{
  const LnsKernelKind *kind = &keys->kinds.items[i];

  if (kind->launch < keys->n_launches)
    keys->by_launch[kind->launch] = i + 1;
  lns_id_map_set_number (&keys->by_both, (uint64_t)kind->name << 32 | kind->launch, i + 1);
}

/* The index of the kind of NAME and LAUNCH, and 1; 0 where there is none. Almost every launch has one name, so
 * that few kernels need the map, which would take as long as all else that is done for a kernel. */
static inline uint32_t
find_kind (const LnsKernelKeys *keys, uint32_t name, uint32_t launch)
{
  const uint32_t first = launch < keys->n_launches ? keys->by_launch[launch] : 0;

  if (first > 0 && keys->kinds.items[first - 1].name == name)
    return first;
  return (uint32_t)lns_id_map_number (&keys->by_both, (uint64_t)name << 32 | launch);
}

static void
count_kernels (void *data, const LnsTrack *track, const LnsChunk *chunk)
{
  LnsKernelKeys *keys = data;
  const int index = lns_lane_kind_extra (LNS_LANE_CUDA_KERNEL, LNS_COLUMN_LAUNCH);

  for (uint32_t i = 0; i < chunk->n; i++)
    {
      const uint32_t launch = (uint32_t)lns_chunk_extra (chunk, index, i);
      uint32_t kind = find_kind (keys, chunk->name[i], launch);
      if (kind == 0)
        {
          *lns_array_add (&keys->kinds) =
              (LnsKernelKind){ .name = chunk->name[i], .launch = launch };
          kind = (uint32_t)keys->kinds.n;
          note_kind (keys, kind - 1);
        }
      keys->kinds.items[kind - 1].n++;
    }
}

static int
compare_kinds (const void *a, const void *b)
{
  const LnsKernelKind *ka = a, *kb = b;

  return LNS_COMPARE (ka->launch, kb->launch) ?: LNS_COMPARE (ka->name, kb->name);
}

/* ---- Keys ------------------------------------------------------------------------------------ */

/* What kinds are compared by. */
typedef struct
{
  const LnsKernelKind *kinds;
  const LnsCudaLaunch *launches;
  uint32_t n_launches;
  bool by_shape;
} Order;

static int
compare_keys (const Order *order, const LnsKernelKind *a, const LnsKernelKind *b)
{
  static const LnsCudaLaunch unknown = { 0 };
  const LnsCudaLaunch *la = a->launch < order->n_launches ? &order->launches[a->launch] : &unknown,
                      *lb = b->launch < order->n_launches ? &order->launches[b->launch] : &unknown;

  int result = LNS_COMPARE (a->shown, b->shown);

  for (unsigned i = 0; order->by_shape && result == 0 && i < 3; i++)
    result = LNS_COMPARE (la->grid[i], lb->grid[i]) ?: LNS_COMPARE (la->block[i], lb->block[i]);
  return result;
}

static int
compare_indices (const void *a, const void *b, void *data)
{
  const Order *order = data;
  uint32_t ia = *(const uint32_t *)a, ib = *(const uint32_t *)b;

  return compare_keys (order, &order->kinds[ia], &order->kinds[ib]) ?: LNS_COMPARE (ia, ib);
}

/* Gives kinds that differ in nothing that counts one key. */
static void
join_kinds (LnsKernelKeys *keys, const LnsCudaLaunch *launches, bool by_shape)
{
  const size_t n = keys->kinds.n;
  Order order = { keys->kinds.items, launches, keys->n_launches, by_shape };
  uint32_t *sorted = lns_calloc (n, sizeof *sorted);

  for (uint32_t i = 0; i < n; i++)
    sorted[i] = i;
  qsort_r (sorted, n, sizeof *sorted, compare_indices, &order);
  for (uint32_t i = 0; i < n; i++)
    {
      LnsKernelKind *kind = &keys->kinds.items[sorted[i]],
                    *before = i > 0 ? &keys->kinds.items[sorted[i - 1]] : NULL;
      kind->key =
          before != NULL && compare_keys (&order, before, kind) == 0 ? before->key : sorted[i];
    }
  free (sorted);
}

bool
lns_kernel_keys_init (LnsKernelKeys *keys,
                      LnsReport *report,
                      LnsKernelName naming,
                      bool by_shape,
                      const atomic_bool *cancel,
                      LnsError *error)
{
  *keys = (LnsKernelKeys){ 0 };
  const LnsCudaLaunch *launches = lns_report_launches (report, &keys->n_launches);
  keys->by_launch = lns_calloc (keys->n_launches, sizeof (uint32_t));
  if (!lns_read_lanes (report, LNS_LANE_CUDA_KERNEL,
                       LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_LAUNCH),
                       count_kernels, keys, cancel, error))
    {
      lns_kernel_keys_clear (keys);
      return false;
    }
  if (keys->kinds.n > 0)
    qsort (keys->kinds.items, keys->kinds.n, sizeof *keys->kinds.items, compare_kinds);
  for (uint32_t i = 0; i < keys->kinds.n; i++)
    {
      LnsKernelKind *kind = &keys->kinds.items[i];
      const uint32_t own = own_name (launches, keys->n_launches, naming, kind->launch);
      kind->shown = own != 0 ? own : kind->name;
      if (naming != LNS_KERNEL_NAME && own == 0)
        keys->n_unnamed += kind->n;
      note_kind (keys, i);
    }
  join_kinds (keys, launches, by_shape);
  return true;
}

void
lns_kernel_keys_clear (LnsKernelKeys *keys)
{
  lns_array_clear (&keys->kinds);
  lns_id_map_clear (&keys->by_both);
  free (keys->by_launch);
  *keys = (LnsKernelKeys){ 0 };
}

uint32_t
lns_kernel_keys_find (const LnsKernelKeys *keys, uint32_t name, uint64_t launch)
{
  uint32_t index = find_kind (keys, name, (uint32_t)launch);

  return index > 0 ? keys->kinds.items[index - 1].key : 0;
}
