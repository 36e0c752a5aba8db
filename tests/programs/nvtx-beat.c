/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* nvtx-beat FILE MS: for MS milliseconds makes ranges "beat 0", "beat 1", …, each around a hundred
 * others, inside one "outer" that is never closed. When a beat has ended, its number's place in FILE
 * gets the time by CLOCK_MONOTONIC: eight bytes each, so that they are there whatever ends the
 * process. Exits with 7. */

#include <nvtx3/nvToolsExt.h>

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define BEATS_MAX 1000000

static int64_t
now_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C (1000000000) + now.tv_nsec;
}

int
main (int argc, char **argv)
{
  const size_t n_bytes = BEATS_MAX * sizeof (int64_t);
  int fd = argc == 3 ? open (argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
  if (fd < 0 || ftruncate (fd, (off_t)n_bytes) != 0)
    return 1;
  int64_t *ended_ns = mmap (NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (ended_ns == MAP_FAILED)
    return 1;
  const int64_t end_ns = now_ns () + atoll (argv[2]) * 1000000;
  nvtxRangePushA ("outer");
  for (int beat = 0; beat < BEATS_MAX && now_ns () < end_ns; beat++)
    {
      char name[32];
      snprintf (name, sizeof name, "beat %d", beat);
      nvtxRangePushA (name);
      for (int i = 0; i < 100; i++)
        {
          nvtxRangePushA ("work");
          nvtxRangePop ();
        }
      nvtxRangePop ();
      __atomic_store_n (&ended_ns[beat], now_ns (), __ATOMIC_RELEASE);
      usleep (500);
    }
  return 7;
}
