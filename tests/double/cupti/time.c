/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Converts times to the client's clock. That clock may count nanoseconds from any origin, or another unit such as
 * processor ticks: a time is then interpolated between the readings of both clocks before and after it. */

#include "tests/double/cupti/cupti.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define READINGS_MAX 65536

/* Clocks whose rates differ by less are assumed to count the same unit. */
#define SAME_RATE 0.01

#define DRIFT_PERIOD_NS 1000000000

typedef struct
{
  int64_t host_ns, client;
} Reading;

static CUpti_TimestampCallbackFunc timestamp;
static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER;         /* a leaf: no other lock is taken while it is held */
static Reading readings[READINGS_MAX]; /* guarded by the lock, like the next */
static size_t n_readings;
static bool is_same_rate;
static int64_t own_start_ns, own_offset_ns;

/* Returns the library's own clock at TIME_NS of CLOCK_MONOTONIC. It starts as CLOCK_REALTIME plus the configured
 * error; in alternating periods it runs too fast and too slowly. */
static uint64_t
own_time (int64_t time_ns)
{
  const LnsCuptiOptions *options = _lns_cupti_options ();
  int64_t since_ns = time_ns - own_start_ns;
  int64_t phase_ns = ((since_ns % DRIFT_PERIOD_NS) + DRIFT_PERIOD_NS) % DRIFT_PERIOD_NS;
  int64_t fast_ns = phase_ns < DRIFT_PERIOD_NS / 2 ? phase_ns : DRIFT_PERIOD_NS - phase_ns;
  return (uint64_t)(time_ns + own_offset_ns + fast_ns / 1000 * options->own_drift_ppm / 1000);
}

static void
start_own_clock (void)
{
  struct timespec now;
  clock_gettime (CLOCK_REALTIME, &now);
  own_start_ns = lns_gpu_now ();
  own_offset_ns =
      now.tv_sec * 1000000000LL + now.tv_nsec - own_start_ns + _lns_cupti_options ()->own_offset_ns;
}

bool
_lns_cupti_has_clients_clock (void)
{
  return timestamp != NULL;
}

uint64_t
_lns_cupti_now (void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (timestamp != NULL)
    return timestamp ();
  pthread_once (&once, start_own_clock);
  return own_time (lns_gpu_now ());
}

/* Reads both clocks several times and returns the closest pair. */
static Reading
read_clocks (void)
{
  Reading best = { 0 };
  int64_t best_ns = INT64_MAX;
  for (int i = 0; i < 8; i++)
    {
      int64_t before_ns = lns_gpu_now ();
      int64_t client = (int64_t)_lns_cupti_now ();
      int64_t after_ns = lns_gpu_now ();
      if (after_ns - before_ns >= best_ns)
        continue;
      best_ns = after_ns - before_ns;
      best = (Reading){ before_ns + best_ns / 2, client };
    }
  /* The client's clock is this clock. */
  if (llabs (best.client - best.host_ns) <= best_ns)
    best.client = best.host_ns;
  return best;
}

void
_lns_cupti_set_clock (CUpti_TimestampCallbackFunc callback)
{
  timestamp = callback;
  pthread_mutex_lock (&lock);
  Reading first = read_clocks (), second;
  do
    second = read_clocks ();
  while (second.host_ns < first.host_ns + 100000);
  double rate = (double)(second.client - first.client) / (double)(second.host_ns - first.host_ns);
  is_same_rate = rate > 1 - SAME_RATE && rate < 1 + SAME_RATE;
  readings[0] = first;
  readings[1] = second;
  n_readings = 2;
  pthread_mutex_unlock (&lock);
}

/* Adds a reading if it is later than the last one; the caller holds the lock. */
static void
add_reading (void)
{
  Reading now = read_clocks ();
  const Reading *last = &readings[n_readings - 1];
  if (now.host_ns <= last->host_ns || now.client <= last->client)
    return;
  if (n_readings == READINGS_MAX)
    {
      for (size_t i = 1; i < READINGS_MAX / 2; i++)
        readings[i] = readings[2 * i];
      n_readings = READINGS_MAX / 2;
    }
  readings[n_readings++] = now;
}

/* Interpolates TIME_NS between the readings around it; the caller holds the lock. */
static int64_t
convert (int64_t time_ns)
{
  if (is_same_rate)
    return time_ns + readings[0].client - readings[0].host_ns;
  if (time_ns > readings[n_readings - 1].host_ns)
    add_reading ();
  size_t low = 0, high = n_readings - 1;
  while (high - low > 1 && time_ns <= readings[n_readings - 1].host_ns)
    {
      size_t middle = low + (high - low) / 2;
      if (readings[middle].host_ns <= time_ns)
        low = middle;
      else
        high = middle;
    }
  const Reading *from = &readings[low], *to = &readings[high];
  return from->client +
         (int64_t)((double)(time_ns - from->host_ns) * (double)(to->client - from->client) /
                   (double)(to->host_ns - from->host_ns));
}

uint64_t
_lns_cupti_time (int64_t time_ns, bool is_gpu)
{
  const LnsCuptiOptions *options = _lns_cupti_options ();
  pthread_mutex_lock (&lock);
  if (is_gpu && !_lns_cupti_is_by_hardware ())
    time_ns += options->gpu_offset_ns +
               (time_ns - readings[0].host_ns) / 1000 * options->gpu_drift_ppm / 1000;
  int64_t result = timestamp != NULL ? convert (time_ns) : (int64_t)own_time (time_ns);
  pthread_mutex_unlock (&lock);
  return (uint64_t)result;
}
