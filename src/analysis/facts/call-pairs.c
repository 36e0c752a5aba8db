/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/facts/call-pairs.h"

#include <stddef.h>
#include <string.h>

bool
lns_call_may_release (const char *wait, const char *release)
{
  static const struct
  {
    const char *wait, *release;
  } kinds[] = { { "sem_", "sem_" },       { "cond_", "cond_" }, { "mutex_", "mutex_" },
                { "rwlock_", "rwlock_" }, { "spin_", "spin_" }, { "barrier_", "barrier_" },
                { "mutex_", "cond_" },    { "mtx_", "mtx_" },   { "cnd_", "cnd_" } };
  bool is_of_kind = false;

  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    {
      const bool is_it = strstr (wait, kinds[i].wait) != NULL;
      if (is_it && strstr (release, kinds[i].release) != NULL)
        return true;
      is_of_kind |= is_it;
    }
  return !is_of_kind;
}
