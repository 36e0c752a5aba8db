/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/graph/releases.h"

#include <stddef.h>

#include "src/analysis/facts/call-pairs.h"

void
lns_releases_add (
    LnsReleases *releases, uint32_t thread, const char *name, int64_t ns, uint32_t point)
{
  releases->last[releases->n++ % LNS_N_RELEASES] =
      (LnsRelease){ .ns = ns, .thread = thread, .point = point, .name = name };
}

const LnsRelease *
lns_releases_find (
    const LnsReleases *releases, uint32_t thread, const char *wait, int64_t from_ns, int64_t to_ns)
{
  for (unsigned i = releases->n; i > 0 && i + LNS_N_RELEASES > releases->n; i--)
    {
      const LnsRelease *release = &releases->last[(i - 1) % LNS_N_RELEASES];
      if (release->ns < from_ns)
        return NULL;
      if (release->ns <= to_ns && release->thread != thread &&
          lns_call_may_release (wait, release->name))
        return release;
    }
  return NULL;
}
