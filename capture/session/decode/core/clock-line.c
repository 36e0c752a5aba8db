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
  line->rate = 0;
  line->pairs[0] = *first;
}

/* Makes the line from pair AT the one in use. */
static void
use (LnsClockLine *line, uint32_t at)
{
  const LnsWireClockPair *from = &line->pairs[at], *to = from + 1;
  uint64_t ns = (uint64_t)(to->monotonic_ns - from->monotonic_ns);
  line->at = at;
  /* Rounded up, so that whole results come out whole; what that adds stays below half a ns. */
  uint64_t ticks = to->ticks - from->ticks;
  line->rate = (uint64_t)((((unsigned __int128)ns << 40) + ticks - 1) / ticks);
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
  uint64_t since = ticks - pairs[line->at].ticks;
  return pairs[line->at].monotonic_ns - line->t0_ns +
         (int64_t)(((unsigned __int128)since * line->rate) >> 40);
}

int64_t
lns_clock_line_last_ns (const LnsClockLine *line)
{
  return line->pairs[line->n - 1].monotonic_ns - line->t0_ns;
}
