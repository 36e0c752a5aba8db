/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Forks children one after the other, each of which makes a mark and exits, and prints the median of what one
 * takes, in us: from fork() to the return of waitpid().
 *
 *   forks-loop FORKS */

#include <nvtx3/nvToolsExt.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double
now_us (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int
compare (const void *a, const void *b)
{
  const double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

int
main (int argc, char **argv)
{
  const long n = argc > 1 ? strtol (argv[1], NULL, 10) : 300;
  double *times = n > 0 ? malloc ((size_t)n * sizeof *times) : NULL;
  if (times == NULL)
    return 2;
  nvtxMarkA ("parent");
  for (long i = 0; i < n; i++)
    {
      const double begin = now_us ();
      const pid_t pid = fork ();
      if (pid == 0)
        {
          nvtxMarkA ("child");
          _exit (0);
        }
      if (pid < 0 || waitpid (pid, NULL, 0) != pid)
        return 1;
      times[i] = now_us () - begin;
    }
  qsort (times, (size_t)n, sizeof *times, compare);
  printf ("%.1f\n", times[n / 2]);
  free (times);
  return 0;
}
