/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/tables/omissions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/compare.h"
#include "src/base/memory.h"
#include "src/base/saturate.h"
#include "src/tables/lanes.h"

static int
compare_starts (const void *a, const void *b)
{
  const LnsOmission *oa = a, *ob = b;
  return LNS_COMPARE (oa->start_ns, ob->start_ns);
}

LnsOmissions
lns_omissions_of (const LnsReport *report)
{
  uint32_t n;
  const LnsOmission *stored = lns_report_omissions (report, &n);
  LnsOmissions omissions = { 0 };

  if (n == 0)
    return omissions;
  omissions.items = lns_calloc (n, sizeof *omissions.items);
  memcpy (omissions.items, stored, n * sizeof *stored);
  qsort (omissions.items, n, sizeof *omissions.items, compare_starts);
  for (uint32_t i = 0; i < n; i++)
    {
      const LnsOmission next = omissions.items[i];
      LnsOmission *last = omissions.n > 0 ? &omissions.items[omissions.n - 1] : NULL;
      if (next.start_ns >= next.end_ns || next.start_ns == LNS_TIME_UNKNOWN)
        continue;
      if (last != NULL && next.start_ns <= last->end_ns)
        last->end_ns = next.end_ns > last->end_ns ? next.end_ns : last->end_ns;
      else
        omissions.items[omissions.n++] = next;
    }
  return omissions;
}

void
lns_omissions_clear (LnsOmissions *omissions)
{
  free (omissions->items);
  *omissions = (LnsOmissions){ 0 };
}

size_t
lns_omissions_from (const LnsOmissions *omissions, int64_t time_ns)
{
  size_t first = 0, n = omissions->n;

  while (n > 0)
    {
      const size_t half = n / 2;
      if (omissions->items[first + half].end_ns <= time_ns)
        {
          first += half + 1;
          n -= half + 1;
        }
      else
        n = half;
    }
  return first;
}

int64_t
lns_omitted_ns (const LnsOmissions *omissions, int64_t start_ns, int64_t end_ns)
{
  int64_t ns = 0;

  for (size_t i = lns_omissions_from (omissions, start_ns);
       i < omissions->n && omissions->items[i].start_ns < end_ns; i++)
    {
      const LnsOmission *omission = &omissions->items[i];
      const int64_t from_ns = omission->start_ns > start_ns ? omission->start_ns : start_ns,
                    to_ns = omission->end_ns < end_ns ? omission->end_ns : end_ns;
      ns = lns_sum (ns, lns_difference (to_ns, from_ns));
    }
  return ns;
}

bool
lns_counted_steps (const LnsReport *report, unsigned index, LnsCountedSteps *ret_steps)
{
  char key[32];
  int n_read = 0;

  snprintf (key, sizeof key, "kept_steps.%u", index);
  const char *value = lns_report_meta (report, key);
  *ret_steps = (LnsCountedSteps){ 0 };
  if (value == NULL ||
      sscanf (value,
              "%" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNd64 " %" SCNd64 " %" SCNd64
              " %" SCNd64 " %" SCNd64 "%n",
              &ret_steps->process, &ret_steps->n, &ret_steps->n_kept, &ret_steps->n_slow,
              &ret_steps->sum_ns, &ret_steps->p50_ns, &ret_steps->p95_ns, &ret_steps->p99_ns,
              &ret_steps->most_ns, &n_read) != 9 ||
      value[n_read] != ' ' || ret_steps->n_kept > ret_steps->n ||
      ret_steps->n_slow > ret_steps->n || ret_steps->p50_ns < 0 || ret_steps->p95_ns < 0 ||
      ret_steps->p99_ns < 0 || ret_steps->most_ns < 0)
    return false;
  ret_steps->range = value + n_read + 1;
  return true;
}

bool
lns_keeps_part (const LnsReport *report, int64_t *ret_kept_ns, int64_t *ret_ns)
{
  const LnsReportInfo *info = lns_report_info (report);
  LnsOmissions omissions = lns_omissions_of (report);
  const bool keeps_part = omissions.n > 0;

  *ret_ns = lns_recorded_ns (report);
  *ret_kept_ns =
      *ret_ns - lns_omitted_ns (&omissions, lns_difference (info->end_ns, *ret_ns), info->end_ns);
  lns_omissions_clear (&omissions);
  return keeps_part;
}
