/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/core/step-lengths.h"

#include <math.h>
#include <string.h>

#include "src/base/saturate.h"

/* The first place in the N of SORTED whose value is LENGTH_NS or more. */
static size_t
place_of (const int64_t *sorted, size_t n, int64_t length_ns)
{
  size_t first = 0;
  while (n > 0)
    {
      const size_t half = n / 2;
      if (sorted[first + half] < length_ns)
        {
          first += half + 1;
          n -= half + 1;
        }
      else
        n = half;
    }
  return first;
}

static unsigned
class_of (uint64_t length_ns)
{
  const uint64_t one = UINT64_C (1) << LNS_STEP_CLASS_BITS;
  if (length_ns < one)
    return (unsigned)length_ns;
  const unsigned power = 63 - (unsigned)__builtin_clzll (length_ns) - LNS_STEP_CLASS_BITS;
  return ((power + 1) << LNS_STEP_CLASS_BITS) + (unsigned)((length_ns >> power) & (one - 1));
}

/* The greatest length of CLASS. */
static int64_t
end_of (unsigned class)
{
  const unsigned one = 1u << LNS_STEP_CLASS_BITS;
  if (class < one)
    return class;
  const unsigned power = (class >> LNS_STEP_CLASS_BITS) - 1;
  return (int64_t)(((uint64_t)(one + class % one + 1) << power) - 1);
}

void
_lns_step_lengths_add (LnsStepLengths *lengths, int64_t length_ns)
{
  int64_t *sorted = lengths->sorted;
  int64_t *oldest = &lengths->recent[lengths->n % LNS_STEP_WINDOW];
  if (lengths->n_recent == LNS_STEP_WINDOW)
    {
      const size_t at = place_of (sorted, lengths->n_recent--, *oldest);
      memmove (sorted + at, sorted + at + 1, (lengths->n_recent - at) * sizeof *sorted);
    }
  const size_t at = place_of (sorted, lengths->n_recent, length_ns);
  memmove (sorted + at + 1, sorted + at, (lengths->n_recent++ - at) * sizeof *sorted);
  sorted[at] = *oldest = length_ns;
  lengths->n++;
  lengths->sum_ns = lns_sum (lengths->sum_ns, length_ns);
  lengths->most_ns = length_ns > lengths->most_ns ? length_ns : lengths->most_ns;
  lengths->n_of[class_of ((uint64_t)length_ns)]++;
}

bool
_lns_step_lengths_recent (const LnsStepLengths *lengths, double quantile, int64_t *ret_ns)
{
  if (lengths->n_recent < LNS_STEP_LEAST)
    return false;
  const size_t rank = (size_t)ceil (quantile * (double)lengths->n_recent);
  *ret_ns = lengths->sorted[rank == 0                  ? 0
                            : rank > lengths->n_recent ? lengths->n_recent - 1
                                                       : rank - 1];
  return true;
}

int64_t
_lns_step_lengths_all (const LnsStepLengths *lengths, double quantile)
{
  const double rank = ceil (quantile * (double)lengths->n);
  uint64_t n = 0;
  for (unsigned class = 0; class < LNS_STEP_CLASSES; class ++)
    if ((n += lengths->n_of[class]) > 0 && (double)n >= rank)
      return end_of (class) < lengths->most_ns ? end_of (class) : lengths->most_ns;
  return lengths->most_ns;
}
