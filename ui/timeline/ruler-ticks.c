/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/timeline/ruler-ticks.h"

#include <stdio.h>
#include <string.h>

/* Labels with more significant digits are harder to read than offsets. */
#define MAX_DIGITS 6
#define MAX_POWER  INT64_C (1000000000000000000)

static int64_t
divide_down (int64_t a, int64_t b)
{
  return a / b - (a % b < 0);
}

LnsRulerTicks
lns_ruler_ticks (double ns_per_px, double min_px, int64_t end_ns)
{
  double wanted_ns = ns_per_px * min_px;
  int64_t power = 1;
  while (power < MAX_POWER && (double)power * 5 < wanted_ns)
    power *= 10;
  int factor = (double)power >= wanted_ns ? 1 : (double)power * 2 >= wanted_ns ? 2 : 5;
  LnsRulerTicks ticks = { .step_ns = power * factor };
  int64_t minor = factor == 2 ? 4 : 5;
  ticks.minor_ns = ticks.step_ns >= minor ? ticks.step_ns / minor : 1;

  int64_t limit = power;
  for (int i = 0; i < MAX_DIGITS && limit < MAX_POWER; i++)
    limit *= 10;
  if (end_ns >= limit && power < MAX_POWER / 1000)
    ticks.base_ns = power * 1000;
  return ticks;
}

int64_t
lns_ruler_first_tick (const LnsRulerTicks *ticks, int64_t time_ns)
{
  return -divide_down (-time_ns, ticks->step_ns) * ticks->step_ns;
}

int64_t
lns_ruler_base_of (const LnsRulerTicks *ticks, int64_t time_ns)
{
  return ticks->base_ns > 0 ? divide_down (time_ns, ticks->base_ns) * ticks->base_ns : time_ns;
}

/* Ends the number of TEXT, an exact time, with as many zeros as make the labels of all ticks equally precise. */
static void
pad (const LnsRulerTicks *ticks, int64_t time_ns, char text[LNS_FORMAT_SIZE])
{
  char *unit = strrchr (text, ' '), zeros[LNS_FORMAT_SIZE], end[LNS_FORMAT_SIZE];
  const int64_t unit_ns = unit[1] == 'n'   ? 1
                          : unit[1] == 'm' ? 1000000
                          : unit[1] == 's' ? 1000000000
                                           : 1000;
  int wanted = 0, has = 0;

  for (int64_t power = unit_ns; power > 1 && ticks->step_ns % power != 0; power /= 10)
    wanted++;
  if (time_ns % unit_ns != 0)
    while (unit[-1 - has] >= '0' && unit[-1 - has] <= '9')
      has++;
  if (has >= wanted || strlen (text) + (size_t)wanted + 2 > LNS_FORMAT_SIZE)
    return;
  /* "0.000": its point is that of the person's language. */
  lns_format_fixed (0, wanted, zeros);
  strcpy (end, unit);
  strcpy (unit, has > 0 ? zeros + strlen (zeros) - (size_t)(wanted - has) : zeros + 1);
  strcat (text, end);
}

const char *
lns_ruler_label (const LnsRulerTicks *ticks,
                 int64_t time_ns,
                 bool *ret_is_base,
                 char ret_text[LNS_FORMAT_SIZE])
{
  int64_t base_ns = lns_ruler_base_of (ticks, time_ns);
  bool is_base = base_ns == time_ns;
  if (ret_is_base != NULL)
    *ret_is_base = is_base && ticks->base_ns > 0;
  if (time_ns == 0)
    return strcpy (ret_text, "0");
  if (is_base)
    {
      lns_format_duration_exact (time_ns, ret_text);
      if (ticks->base_ns == 0)
        pad (ticks, time_ns, ret_text);
      return ret_text;
    }
  char offset[LNS_FORMAT_SIZE];
  lns_format_duration_exact (time_ns - base_ns, offset);
  pad (ticks, time_ns - base_ns, offset);
  snprintf (ret_text, LNS_FORMAT_SIZE, "+%.*s", LNS_FORMAT_SIZE - 2, offset);
  return ret_text;
}
