/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/kernel-keys.h"

#include <stdlib.h>

#include "src/base/hash.h"

#define NO_MEMORY "not enough memory to sum up kernels; close other programs"

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
lns_kernel_name (const LnsCudaLaunch *launches,
                 uint32_t n_launches,
                 LnsKernelName naming,
                 uint32_t name,
                 uint64_t launch)
{
  uint32_t own = own_name (launches, n_launches, naming, launch);
  return own != 0 ? own : name;
}

/* ---- Kinds ----------------------------------------------------------------------------------- */

/* The slot of NAME and LAUNCH, or the empty one where they belong. */
static uint32_t
find_slot (const LnsKernelKeys *keys, uint32_t name, uint32_t launch)
{
  const uint32_t both[2] = { name, launch };
  uint32_t i = (uint32_t)lns_hash (both, sizeof both) & keys->mask;

  for (; keys->slots[i] != 0; i = (i + 1) & keys->mask)
    {
      const LnsKernelKind *kind = &keys->kinds[keys->slots[i] - 1];
      if (kind->name == name && kind->launch == launch)
        break;
    }
  return i;
}

/* Has kernels of kind I found at once, until another kind of their launch is noted. */
static void
note_kind (LnsKernelKeys *keys, uint32_t i)
{
  if (keys->kinds[i].launch < keys->n_launches)
    keys->by_launch[keys->kinds[i].launch] = i + 1;
}

/* The index of the kind of NAME and LAUNCH, and 1; 0 where there is none. Almost every launch has one name, so
 * that few kernels need the hash, which would take as long as all else that is done for a kernel. */
static inline uint32_t
find_kind (const LnsKernelKeys *keys, uint32_t name, uint32_t launch)
{
  uint32_t first = launch < keys->n_launches ? keys->by_launch[launch] : 0;

  if (first > 0 && keys->kinds[first - 1].name == name)
    return first;
  return keys->slots != NULL ? keys->slots[find_slot (keys, name, launch)] : 0;
}

/* Makes the slots anew, twice as many as there is room for kinds at least. */
static bool
fill_slots (LnsKernelKeys *keys)
{
  uint64_t n = 64;

  while (n < (uint64_t)keys->n_allocated * 2)
    n *= 2;
  free (keys->slots);
  keys->slots = n > UINT32_MAX ? NULL : calloc (n, sizeof *keys->slots);
  if (keys->slots == NULL)
    return false;
  keys->mask = (uint32_t)(n - 1);
  for (uint32_t i = 0; i < keys->n; i++)
    {
      keys->slots[find_slot (keys, keys->kinds[i].name, keys->kinds[i].launch)] = i + 1;
      note_kind (keys, i);
    }
  return true;
}

/* Counts an event of NAME and LAUNCH. */
static bool
count_kernel (LnsKernelKeys *keys, uint32_t name, uint32_t launch)
{
  uint32_t index = find_kind (keys, name, launch);

  if (index == 0)
    {
      if (keys->n == keys->n_allocated)
        {
          uint64_t n = 2 * (uint64_t)keys->n_allocated + 64;
          LnsKernelKind *larger = n > UINT32_MAX ? NULL : realloc (keys->kinds, n * sizeof *larger);
          if (larger == NULL)
            return false;
          keys->kinds = larger;
          keys->n_allocated = (uint32_t)n;
          if (!fill_slots (keys))
            return false;
        }
      index = keys->n + 1;
      keys->slots[find_slot (keys, name, launch)] = index;
      keys->kinds[keys->n] = (LnsKernelKind){ .name = name, .launch = launch };
      note_kind (keys, keys->n++);
    }
  keys->kinds[index - 1].n++;
  return true;
}

/* Counts the kernels of LANE. */
static bool
count_lane (LnsKernelKeys *keys, LnsReport *report, uint32_t lane, LnsError *error)
{
  LnsChunkWalker *walker = lns_chunk_walker_new (
      report, lane, LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_LAUNCH));
  int launch = lns_lane_kind_extra (LNS_LANE_CUDA_KERNEL, LNS_COLUMN_LAUNCH);
  const LnsChunk *chunk;
  LnsError local = { 0 };
  bool good = walker != NULL;

  while (good && (chunk = lns_chunk_walker_next (walker, &local)) != NULL)
    for (uint32_t i = 0; good && i < chunk->n; i++)
      good = count_kernel (keys, chunk->name[i],
                           chunk->extra[launch] != NULL ? (uint32_t)chunk->extra[launch][i] : 0);
  lns_chunk_walker_free (walker);
  if (!good)
    return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, NO_MEMORY);
  return local.domain == LNS_ERROR_NONE ||
         lns_error_set (error, local.domain, local.code, "%s", local.message);
}

static int
compare_kinds (const void *a, const void *b)
{
  const LnsKernelKind *ka = a, *kb = b;

  if (ka->launch != kb->launch)
    return ka->launch < kb->launch ? -1 : 1;
  return ka->name < kb->name ? -1 : ka->name > kb->name;
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

  if (a->shown != b->shown)
    return a->shown < b->shown ? -1 : 1;
  for (unsigned i = 0; order->by_shape && i < 3; i++)
    {
      if (la->grid[i] != lb->grid[i])
        return la->grid[i] < lb->grid[i] ? -1 : 1;
      if (la->block[i] != lb->block[i])
        return la->block[i] < lb->block[i] ? -1 : 1;
    }
  return 0;
}

static int
compare_indices (const void *a, const void *b, void *data)
{
  const Order *order = data;
  uint32_t ia = *(const uint32_t *)a, ib = *(const uint32_t *)b;
  int result = compare_keys (order, &order->kinds[ia], &order->kinds[ib]);
  return result != 0 ? result : ia < ib ? -1 : ia > ib;
}

/* Gives kinds that differ in nothing that counts one key. */
static bool
join_kinds (LnsKernelKeys *keys, const LnsCudaLaunch *launches, uint32_t n_launches, bool by_shape)
{
  Order order = { keys->kinds, launches, n_launches, by_shape };
  uint32_t *sorted = calloc ((size_t)keys->n + 1, sizeof *sorted);

  if (sorted == NULL)
    return false;
  for (uint32_t i = 0; i < keys->n; i++)
    sorted[i] = i;
  qsort_r (sorted, keys->n, sizeof *sorted, compare_indices, &order);
  for (uint32_t i = 0; i < keys->n; i++)
    {
      LnsKernelKind *kind = &keys->kinds[sorted[i]],
                    *before = i > 0 ? &keys->kinds[sorted[i - 1]] : NULL;
      kind->key =
          before != NULL && compare_keys (&order, before, kind) == 0 ? before->key : sorted[i];
    }
  free (sorted);
  return true;
}

bool
lns_kernel_keys_init (LnsKernelKeys *keys,
                      LnsReport *report,
                      LnsKernelName naming,
                      bool by_shape,
                      const atomic_bool *cancel,
                      LnsError *error)
{
  uint32_t n_launches, n_lanes;
  const LnsCudaLaunch *launches = lns_report_launches (report, &n_launches);
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);
  *keys = (LnsKernelKeys){ .by_launch = calloc ((size_t)n_launches + 1, sizeof (uint32_t)),
                           .n_launches = n_launches };
  bool good = keys->by_launch != NULL || lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, NO_MEMORY);
  for (uint32_t i = 0; good && i < n_lanes; i++)
    {
      if (lanes[i].kind == LNS_LANE_CUDA_KERNEL)
        good = count_lane (keys, report, i, error);
      if (good && cancel != NULL && atomic_load_explicit (cancel, memory_order_relaxed))
        good = lns_error_set (error, LNS_ERROR_CANCELLED, 0, "interrupted");
    }
  if (good && keys->n > 0)
    qsort (keys->kinds, keys->n, sizeof *keys->kinds, compare_kinds);
  for (uint32_t i = 0; good && i < keys->n; i++)
    {
      LnsKernelKind *kind = &keys->kinds[i];
      kind->shown = lns_kernel_name (launches, n_launches, naming, kind->name, kind->launch);
      if (naming != LNS_KERNEL_NAME && own_name (launches, n_launches, naming, kind->launch) == 0)
        keys->n_unnamed += kind->n;
    }
  if (good && !(fill_slots (keys) && join_kinds (keys, launches, n_launches, by_shape)))
    good = lns_error_set (error, LNS_ERROR_NO_MEMORY, 0, NO_MEMORY);
  if (!good)
    lns_kernel_keys_clear (keys);
  return good;
}

void
lns_kernel_keys_clear (LnsKernelKeys *keys)
{
  free (keys->kinds);
  free (keys->slots);
  free (keys->by_launch);
  *keys = (LnsKernelKeys){ 0 };
}

uint32_t
lns_kernel_keys_find (const LnsKernelKeys *keys, uint32_t name, uint64_t launch)
{
  uint32_t index = find_kind (keys, name, (uint32_t)launch);

  return index > 0 ? keys->kinds[index - 1].key : 0;
}
