/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/lns-cuda-keys.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/lns-hash.h"

static bool
no_memory (LnsError *error)
{
  return lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                        "not enough memory to sum up what CUDA did; close other programs");
}

void
lns_cuda_keys_clear (LnsCudaKeys *keys)
{
  free (keys->keys);
  free (keys->names);
  *keys = (LnsCudaKeys){ 0 };
}

/* ---- Calls ----------------------------------------------------------------------------------- */

size_t
lns_cuda_call_name_size (const char *name, size_t size)
{
  size_t digits = 0;

  while (digits < size && name[size - 1 - digits] >= '0' && name[size - 1 - digits] <= '9')
    digits++;
  return digits == 4 && size > 6 && memcmp (name + size - 6, "_v", 2) == 0 ? size - 6 : size;
}

bool
lns_cuda_call_keys (LnsReport *report, LnsCudaKeys *ret_keys, LnsError *error)
{
  uint32_t n = lns_report_n_strings (report);
  uint64_t mask = 16;

  while (mask < (uint64_t)n * 2)
    mask *= 2;
  mask--;
  uint32_t *slots = calloc (mask + 1, sizeof *slots); /* id + 1 of the first of a name            */
  *ret_keys = (LnsCudaKeys){ .keys = calloc ((size_t)n + 1, sizeof (uint32_t)), .n = n };
  for (uint32_t id = 0; slots != NULL && ret_keys->keys != NULL && id < n; id++)
    {
      size_t size, other_size;
      const char *name = lns_report_string (report, id, &size);
      size = lns_cuda_call_name_size (name, size);
      uint64_t i = lns_hash (name, size) & mask;
      for (; slots[i] != 0; i = (i + 1) & mask)
        {
          const char *other = lns_report_string (report, slots[i] - 1, &other_size);
          if (lns_cuda_call_name_size (other, other_size) == size &&
              memcmp (other, name, size) == 0)
            break;
        }
      if (slots[i] == 0)
        slots[i] = id + 1;
      ret_keys->keys[id] = slots[i] - 1;
    }
  bool good = slots != NULL && ret_keys->keys != NULL;
  free (slots);
  if (good)
    return true;
  lns_cuda_keys_clear (ret_keys);
  return no_memory (error);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* The names of the kernels of LANE by launch. */
static bool
read_names (LnsReport *report, uint32_t lane, LnsCudaKeys *keys, LnsError *error)
{
  LnsChunkWalker *walker = lns_chunk_walker_new (
      report, lane, LNS_COLUMN_BIT (LNS_COLUMN_NAME) | LNS_COLUMN_BIT (LNS_COLUMN_LAUNCH));
  int launch = lns_lane_kind_extra (LNS_LANE_CUDA_KERNEL, LNS_COLUMN_LAUNCH);
  const LnsChunk *chunk;
  LnsError local = { 0 };

  if (walker == NULL)
    return no_memory (error);
  while ((chunk = lns_chunk_walker_next (walker, &local)) != NULL)
    for (uint32_t i = 0; i < chunk->n; i++)
      {
        uint64_t id = chunk->extra[launch] != NULL ? chunk->extra[launch][i] : 0;
        if (id < keys->n)
          keys->names[id] = chunk->name[i];
      }
  lns_chunk_walker_free (walker);
  if (local.domain != LNS_ERROR_NONE)
    return lns_error_set (error, local.domain, local.code, "%s", local.message);
  return true;
}

typedef struct
{
  const LnsCudaLaunch *launches;
  const uint32_t *names;
  bool by_shape;
} ShapeOrder;

static int
compare_shapes (const ShapeOrder *order, uint32_t a, uint32_t b)
{
  const LnsCudaLaunch *la = &order->launches[a], *lb = &order->launches[b];

  if (order->names[a] != order->names[b])
    return order->names[a] < order->names[b] ? -1 : 1;
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
compare_launches (const void *a, const void *b, void *data)
{
  uint32_t ia = *(const uint32_t *)a, ib = *(const uint32_t *)b;
  int order = compare_shapes (data, ia, ib);
  return order != 0 ? order : ia < ib ? -1 : ia > ib;
}

/* Gives launches that differ in nothing that counts one key. */
static bool
join_launches (const LnsCudaLaunch *launches, bool by_shape, LnsCudaKeys *keys, LnsError *error)
{
  ShapeOrder order = { launches, keys->names, by_shape };
  uint32_t *sorted = calloc ((size_t)keys->n + 1, sizeof *sorted);

  if (sorted == NULL)
    return no_memory (error);
  for (uint32_t i = 0; i < keys->n; i++)
    sorted[i] = i;
  qsort_r (sorted, keys->n, sizeof *sorted, compare_launches, &order);
  for (uint32_t i = 0; i < keys->n; i++)
    keys->keys[sorted[i]] = i > 0 && compare_shapes (&order, sorted[i - 1], sorted[i]) == 0
                                ? keys->keys[sorted[i - 1]]
                                : sorted[i];
  free (sorted);
  return true;
}

bool
lns_cuda_kernel_keys (
    LnsReport *report, LnsKernelName name, bool by_shape, LnsCudaKeys *ret_keys, LnsError *error)
{
  uint32_t n, n_lanes;
  const LnsCudaLaunch *launches = lns_report_launches (report, &n);
  const LnsLane *lanes = lns_report_lanes (report, &n_lanes);

  *ret_keys = (LnsCudaKeys){ .keys = calloc ((size_t)n + 1, sizeof (uint32_t)),
                             .names = calloc ((size_t)n + 1, sizeof (uint32_t)),
                             .n = n };
  bool good = (ret_keys->keys != NULL && ret_keys->names != NULL) || no_memory (error);
  for (uint32_t i = 0; good && name == LNS_KERNEL_NAME && i < n_lanes; i++)
    if (lanes[i].kind == LNS_LANE_CUDA_KERNEL)
      good = read_names (report, i, ret_keys, error);
  for (uint32_t i = 0; good && name != LNS_KERNEL_NAME && i < n; i++)
    ret_keys->names[i] =
        name == LNS_KERNEL_SHORT_NAME ? launches[i].short_name : launches[i].mangled_name;
  good = good && join_launches (launches, by_shape, ret_keys, error);
  if (!good)
    lns_cuda_keys_clear (ret_keys);
  return good;
}
