/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/projection/cuda-keys.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"

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
  *keys = (LnsCudaKeys){ 0 };
}

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
