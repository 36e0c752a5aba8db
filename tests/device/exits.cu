/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* exits HOW: runs KERNELS kernels and waits for them, then ends while a long kernel runs: by `_exit` or, in another
 * thread, by exit (`thread`), both with 3; by `abort`; by SIGTERM (`term`) or SIGKILL (`kill`). */

#include "tests/programs/cuda-program.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define KERNELS 100

__global__ void
step (void)
{
}

__global__ void
unfinished (long long cycles)
{
  const long long begin = clock64 ();
  while (clock64 () - begin < cycles)
    ;
}

static void *
exit_here (void *data)
{
  exit (3);
}

int
main (int argc, char **argv)
{
  const char *how = argc > 1 ? argv[1] : "";
  pthread_t thread;
  for (int i = 0; i < KERNELS; i++)
    step<<<1, 32>>> ();
  CHECK (cudaDeviceSynchronize ());
  unfinished<<<1 << 20, 512>>> (100000);
  CHECK (cudaGetLastError ());
  if (strcmp (how, "_exit") == 0)
    _exit (3);
  if (strcmp (how, "abort") == 0)
    abort ();
  if (strcmp (how, "term") == 0)
    raise (SIGTERM);
  if (strcmp (how, "kill") == 0)
    raise (SIGKILL);
  if (strcmp (how, "thread") == 0 && pthread_create (&thread, NULL, exit_here, NULL) == 0)
    for (;;)
      cudaDeviceSynchronize ();
  return 125;
}
