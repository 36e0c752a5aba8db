/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/wire/cupti-clock.h"

#include <string.h>

/* A reading that is further than this, and than 1 % of the distance, from where the readings before lead is a jump and
 * not drift. */
#define JUMP_NS 1000000

/* Two readings that are closer than this do not tell the rate of CUPTI's clock. */
#define APART_NS 1000000

/* The rate of a new line is that of the clock since the last one began, if that was so long ago. The longer a line was
 * right, the better the next one will be. */
#define LONG_NS 100000000

/* CUPTI tells nanoseconds, and both clocks are rounded. */
#define ROUNDING_NS 2

#define ADD_TRIES  2000
#define COPY_TRIES 100

/* A thousand ticks a nanosecond. Keeps the products of on_line() below 2^127. */
#define RATE_MAX (UINT64_C (1000) << LNS_WIRE_CUPTI_RATE_BITS)

/* Ticks in NS at RATE, rounded down on both sides of 0, so that they ascend with NS. */
static int64_t
ticks_in (uint64_t rate, int64_t ns)
{
  return (int64_t)((__int128)ns * rate >> LNS_WIRE_CUPTI_RATE_BITS);
}

static uint64_t
on_line (const LnsWireCuptiJoint *line, uint64_t cupti_ns)
{
  return line->ticks + (uint64_t)ticks_in (line->rate, (int64_t)(cupti_ns - line->cupti_ns));
}

/* The rate that takes RUN_TICKS in RUN_NS, rounded up, so that a line ends where it was meant to. */
static uint64_t
rate_of (uint64_t run_ns, uint64_t run_ticks)
{
  const unsigned __int128 rate =
      (((unsigned __int128)run_ticks << LNS_WIRE_CUPTI_RATE_BITS) + run_ns - 1) / run_ns;
  return rate < RATE_MAX ? (uint64_t)rate : RATE_MAX;
}

static uint64_t
distance (uint64_t a, uint64_t b)
{
  return a < b ? b - a : a - b;
}

/* Whether A and B cannot be told apart, as each may have been earlier or later. */
static bool
are_one_moment (const LnsWireCuptiReading *a, const LnsWireCuptiReading *b)
{
  return distance (a->ticks, b->ticks) <= a->within_ticks + b->within_ticks;
}

/* The rate of CUPTI's clock up to READING; UNKNOWN if the readings are too close to each other. */
static uint64_t
rate_up_to (const LnsWireCuptiClock *clock, const LnsWireCuptiReading *reading, uint64_t unknown)
{
  const LnsWireCuptiReading *from = &clock->origins[1];
  if (reading->cupti_ns - from->cupti_ns < LONG_NS)
    from = &clock->origins[0];
  const uint64_t run_ns = reading->cupti_ns - from->cupti_ns;
  return run_ns < APART_NS ? unknown : rate_of (run_ns, reading->ticks - from->ticks);
}

/* Whether READING, the latest, continues the readings before. */
static bool
goes_on (const LnsWireCuptiClock *clock, const LnsWireCuptiReading *reading)
{
  const LnsWireCuptiReading *last = &clock->last;
  if (reading->cupti_ns <= last->cupti_ns)
    return are_one_moment (last, reading);
  const uint64_t run_ns = reading->cupti_ns - last->cupti_ns;
  const uint64_t rate = rate_up_to (clock, last, 0);
  const uint64_t bound_ns = run_ns / 100 < JUMP_NS ? JUMP_NS : run_ns / 100;
  const uint64_t expected = last->ticks + (uint64_t)ticks_in (rate, (int64_t)run_ns);
  return rate == 0 ||
         distance (reading->ticks, expected) < (uint64_t)ticks_in (rate, (int64_t)bound_ns);
}

/* Makes room for two joints. */
static void
drop_old_joints (LnsWireCuptiLines *lines)
{
  const uint32_t n_old = LNS_WIRE_CUPTI_JOINTS / 2, n_kept = n_old / 2;
  LnsWireCuptiJoint *joints = lines->joints;
  if (lines->n + 2 <= LNS_WIRE_CUPTI_JOINTS)
    return;
  for (uint32_t i = 0; i < n_kept; i++)
    {
      const LnsWireCuptiJoint *from = &joints[2 * i], *to = &joints[2 * i + 2];
      const uint64_t rate = rate_of (to->cupti_ns - from->cupti_ns, to->ticks - from->ticks);
      joints[i] = (LnsWireCuptiJoint){ from->cupti_ns, from->ticks, rate };
    }
  memmove (&joints[n_kept], &joints[n_old], (lines->n - n_old) * sizeof *joints);
  lines->n -= n_old - n_kept;
}

/* Has LINES go from where they are at LAST to READING, and from there on at RATE. */
static void
bend (LnsWireCuptiLines *lines,
      const LnsWireCuptiReading *last,
      const LnsWireCuptiReading *reading,
      uint64_t rate)
{
  LnsWireCuptiJoint from = { .cupti_ns = last->cupti_ns,
                             .ticks = lns_wire_cupti_clock_ticks (lines, last->cupti_ns) };
  LnsWireCuptiJoint to = { reading->cupti_ns, reading->ticks, rate };
  if (to.cupti_ns - from.cupti_ns < APART_NS)
    {
      /* A gentle slope: this reading may be less certain than the last one. */
      to.ticks = on_line (&to, from.cupti_ns + APART_NS);
      to.cupti_ns = from.cupti_ns + APART_NS;
    }
  if (to.ticks < from.ticks)
    to.ticks = from.ticks;
  from.rate = rate_of (to.cupti_ns - from.cupti_ns, to.ticks - from.ticks);
  while (lines->n > 0 && lines->joints[lines->n - 1].cupti_ns >= from.cupti_ns)
    lines->n--; /* nothing was converted by what comes after LAST */
  drop_old_joints (lines);
  lines->joints[lines->n++] = from;
  lines->joints[lines->n++] = to;
}

/* Whether READING lies on LINES, as far as it can tell, or they are on their way to an earlier one. */
static bool
is_on_lines (const LnsWireCuptiLines *lines, const LnsWireCuptiReading *reading)
{
  const LnsWireCuptiJoint *line = &lines->joints[lines->n - 1];
  const uint64_t bound_ticks =
      reading->within_ticks + (uint64_t)ticks_in (line->rate, ROUNDING_NS) + 1;
  return reading->cupti_ns <= line->cupti_ns ||
         distance (on_line (line, reading->cupti_ns), reading->ticks) <= bound_ticks;
}

/* Adds READING. Returns false if CUPTI's clock has jumped. */
static bool
add (LnsWireCuptiClock *clock, const LnsWireCuptiReading *reading)
{
  const LnsWireCuptiLines *known = &clock->sides[clock->n_changed % 2];
  LnsWireCuptiLines *next = &clock->sides[(clock->n_changed + 1) % 2];
  const bool is_first = known->n == 0;
  if (!is_first && reading->ticks <= clock->last.ticks)
    {
      /* The thread that read it has times up to then. */
      if (reading->cupti_ns > clock->last.cupti_ns && are_one_moment (reading, &clock->last))
        __atomic_store_n (&clock->last.cupti_ns, reading->cupti_ns, __ATOMIC_RELAXED);
      return true;
    }
  const bool goes = is_first || goes_on (clock, reading);
  if (goes && !is_first && reading->cupti_ns <= clock->last.cupti_ns)
    return true;
  const uint64_t old_rate = is_first ? 0 : known->joints[known->n - 1].rate;
  if (is_first || !goes)
    {
      *next = (LnsWireCuptiLines){ .n = 1,
                                   .joints = { { reading->cupti_ns, reading->ticks, old_rate } } };
      clock->origins[0] = clock->origins[1] = *reading;
    }
  else if (old_rate == 0 && known->n == 1)
    {
      *next = *known;
      next->joints[0].rate = rate_of (reading->cupti_ns - known->joints[0].cupti_ns,
                                      reading->ticks - known->joints[0].ticks);
    }
  else if (!is_on_lines (known, reading))
    {
      *next = *known;
      bend (next, &clock->last, reading, rate_up_to (clock, reading, old_rate));
      if (reading->cupti_ns - clock->origins[1].cupti_ns >= LONG_NS)
        {
          clock->origins[0] = clock->origins[1];
          clock->origins[1] = *reading;
        }
    }
  else
    next = NULL;
  clock->last = *reading;
  if (next != NULL)
    __atomic_store_n (&clock->n_changed, clock->n_changed + 1, __ATOMIC_RELEASE);
  return goes;
}

bool
lns_wire_cupti_clock_add (LnsWireCuptiClock *clock, LnsWireCuptiReading reading)
{
  /* The other thread takes less than a microsecond, unless it is interrupted. */
  int n_tries = 0;
  while (__atomic_load_n (&clock->is_adding, __ATOMIC_RELAXED) != 0 ||
         __atomic_exchange_n (&clock->is_adding, 1, __ATOMIC_ACQUIRE) != 0)
    if (++n_tries == ADD_TRIES)
      return true;
  const bool goes = add (clock, &reading);
  __atomic_store_n (&clock->is_adding, 0, __ATOMIC_RELEASE);
  return goes;
}

/* Has LINES, a copy of those of CLOCK, go to READING if that could not be added. */
static void
reach (const LnsWireCuptiClock *clock, LnsWireCuptiLines *lines, const LnsWireCuptiReading *reading)
{
  const LnsWireCuptiReading last = { .cupti_ns = __atomic_load_n (&clock->last.cupti_ns,
                                                                  __ATOMIC_RELAXED) };
  if (reading->cupti_ns > last.cupti_ns && last.cupti_ns >= lines->joints[0].cupti_ns &&
      !is_on_lines (lines, reading))
    bend (lines, &last, reading, lines->joints[lines->n - 1].rate);
}

bool
lns_wire_cupti_clock_copy (const LnsWireCuptiClock *clock,
                           const LnsWireCuptiReading *until,
                           LnsWireCuptiLines *ret_copy)
{
  bool is_whole = false;
  for (int i = 0; i < COPY_TRIES && !is_whole; i++)
    {
      const uint32_t n_changed = __atomic_load_n (&clock->n_changed, __ATOMIC_ACQUIRE);
      memcpy (ret_copy, &clock->sides[n_changed % 2], sizeof *ret_copy);
      __atomic_thread_fence (__ATOMIC_ACQUIRE);
      is_whole = __atomic_load_n (&clock->n_changed, __ATOMIC_RELAXED) == n_changed;
    }
  is_whole = is_whole && ret_copy->n <= LNS_WIRE_CUPTI_JOINTS;
  for (uint32_t i = 0; is_whole && i < ret_copy->n; i++)
    if (ret_copy->joints[i].rate > RATE_MAX ||
        (i > 0 && (ret_copy->joints[i].cupti_ns <= ret_copy->joints[i - 1].cupti_ns ||
                   ret_copy->joints[i].ticks < ret_copy->joints[i - 1].ticks)))
      is_whole = false;
  if (!is_whole)
    memset (ret_copy, 0, sizeof *ret_copy);
  else if (until != NULL && ret_copy->n > 0)
    reach (clock, ret_copy, until);
  return is_whole;
}

uint64_t
lns_wire_cupti_clock_ticks (const LnsWireCuptiLines *lines, uint64_t cupti_ns)
{
  const LnsWireCuptiJoint *line = &lines->joints[lines->n - 1];
  if (line->cupti_ns <= cupti_ns || lines->n == 1)
    return on_line (line, cupti_ns);
  do
    line--;
  while (line > lines->joints && line->cupti_ns > cupti_ns);
  /* A long line may end a tick too late. */
  const uint64_t ticks = on_line (line, cupti_ns);
  return ticks < line[1].ticks ? ticks : line[1].ticks;
}

void
lns_wire_cupti_clock_convert (const LnsWireCuptiLines *lines, uint8_t *bytes)
{
  uint64_t time;
  memcpy (&time, bytes, sizeof time);
  if (time != 0)
    time = lns_wire_cupti_clock_ticks (lines, time);
  memcpy (bytes, &time, sizeof time);
}
