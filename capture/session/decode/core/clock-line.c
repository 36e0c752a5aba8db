/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/core/clock-line.h"

#include <string.h>

void
lns_clock_line_init (LnsClockLine *line, const LnsWireClockPair *first)
{
  line->t0_ns = first->monotonic_ns;
  line->n = 1;
  line->at = 0;
  line->pairs[0] = *first;
}

/* Makes the line from pair AT the one in use. */
static void
use (LnsClockLine *line, uint32_t at)
{
  const LnsWireClockPair *from = &line->pairs[at], *to = from + 1;
  line->at = at;
  line->ticks = to->ticks - from->ticks;
  line->ns = (uint64_t)(to->monotonic_ns - from->monotonic_ns);
  line->whole = line->ns / line->ticks;
  const unsigned __int128 rest = (unsigned __int128)(line->ns % line->ticks) << 64;
  line->part =
      (uint64_t)((rest + line->ticks - 1) / line->ticks); /* < 2^64, as the rest is < ticks */
}

void
lns_clock_line_add (LnsClockLine *line, const LnsWireClockPair *pair)
{
  const LnsWireClockPair *last = &line->pairs[line->n - 1];
  if (pair->ticks <= last->ticks || pair->monotonic_ns <= last->monotonic_ns)
    return;
  if (line->n == LNS_CLOCK_PAIRS)
    {
      uint32_t n_kept = LNS_CLOCK_PAIRS / 2;
      memmove (&line->pairs[1], &line->pairs[LNS_CLOCK_PAIRS - n_kept],
               n_kept * sizeof *line->pairs);
      line->n = 1 + n_kept;
    }
  line->pairs[line->n++] = *pair;
  use (line, line->n - 2);
}

int64_t
lns_clock_line_ns (LnsClockLine *line, uint64_t ticks)
{
  const LnsWireClockPair *pairs = line->pairs;
  uint32_t last = line->n - 1;
  if (ticks <= pairs[0].ticks)
    return pairs[0].monotonic_ns - line->t0_ns;
  if (ticks >= pairs[last].ticks)
    return pairs[last].monotonic_ns - line->t0_ns;
  if (ticks < pairs[line->at].ticks || ticks >= pairs[line->at + 1].ticks)
    {
      uint32_t low = 0, high = last; /* pairs[low].ticks ≤ ticks < pairs[high].ticks */
      while (high - low > 1)
        {
          uint32_t middle = low + (high - low) / 2;
          *(pairs[middle].ticks <= ticks ? &low : &high) = middle;
        }
      use (line, low);
    }
  /* since * ns / ticks, rounded down, without a division. As the part is rounded up, the product exceeds the exact
   * one by less than ticks / 2^64. That matters only if the exact one is closer to the next ns, from which it is at
   * least 1 / ticks away; then it is one ns too many, and since * ns < product * ticks. */
  const uint64_t since = ticks - pairs[line->at].ticks;
  uint64_t ns = since * line->whole + (uint64_t)(((unsigned __int128)since * line->part) >> 64);
  if (line->ticks > UINT32_MAX && (int64_t)(since * line->ns - ns * line->ticks) < 0)
    ns--;
  return pairs[line->at].monotonic_ns - line->t0_ns + (int64_t)ns;
}

int64_t
lns_clock_line_last_ns (const LnsClockLine *line)
{
  return line->pairs[line->n - 1].monotonic_ns - line->t0_ns;
}
