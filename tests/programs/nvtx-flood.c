/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* nvtx-flood FILE THREADS MS: for MS milliseconds each of THREADS threads makes ranges as fast as it can.
 * FILE gets, eight bytes each, the time of CLOCK_MONOTONIC at the start, and then for each thread and
 * each 10 ms how many ranges it had made by then (0: none was counted in these), so that they are there
 * whatever ends the process. Exits with 7. */

#include <nvtx3/nvToolsExt.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SLOT_NS     INT64_C (10000000)
#define SLOTS       3000
#define THREADS_MAX 64
#define BURST       64

static int64_t start_ns, end_ns;

static int64_t
now_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C (1000000000) + now.tv_nsec;
}

static void *
flood (void *data)
{
  int64_t *made = data, n = 0;
  for (int64_t at_ns = now_ns (); at_ns < end_ns; at_ns = now_ns ())
    {
      for (int i = 0; i < BURST; i++)
        {
          nvtxRangePushA ("flood");
          nvtxRangePop ();
        }
      n += BURST;
      __atomic_store_n (&made[(now_ns () - start_ns) / SLOT_NS], n, __ATOMIC_RELEASE);
    }
  return NULL;
}

int
main (int argc, char **argv)
{
  const int n_threads = argc == 4 ? atoi (argv[2]) : 0;
  const int64_t n_ms = argc == 4 ? atoll (argv[3]) : 0;
  if (n_threads < 1 || n_threads > THREADS_MAX || n_ms < 1 || n_ms > SLOTS * 10 / 2)
    return 1;
  const size_t n_bytes = (1 + (size_t)n_threads * SLOTS) * sizeof (int64_t);
  int fd = open (argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || ftruncate (fd, (off_t)n_bytes) != 0)
    return 1;
  int64_t *told = mmap (NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (told == MAP_FAILED)
    return 1;
  start_ns = told[0] = now_ns ();
  end_ns = start_ns + n_ms * 1000000;
  pthread_t threads[THREADS_MAX];
  for (int i = 0; i < n_threads; i++)
    if (pthread_create (&threads[i], NULL, flood, told + 1 + (size_t)i * SLOTS) != 0)
      return 1;
  for (int i = 0; i < n_threads; i++)
    pthread_join (threads[i], NULL);
  return 7;
}
