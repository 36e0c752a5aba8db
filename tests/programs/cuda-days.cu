/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Bad days, by the first argument:
 *
 * fault    a kernel writes where it must not: prints the error that follows, and again at the end
 * memory   allocates 64 MiB until there is no more, prints how often, frees, ends well
 * reset    cudaDeviceReset between two runs of KERNELS kernels
 * fork     a child of fork() uses CUDA: prints its error; the parent goes on
 * exit     _exit(3) from a second thread, with work under way
 * loop     launches for as many seconds as the second argument says, or until killed; prints "ready"
 * long     kernels that take long, and an end without waiting for them
 * many     so many that the queue is full
 * clock    ROUNDS ranges of NVTX, each around one call of the runtime; what there is by then is handed over
 *          after each, where that is asked for (--flush-on-cudaprofilerstop) */

#include "cuda-program.h"

#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KERNELS 20
#define ROUNDS 24

__global__ void
step (int *cell)
{
  *cell += 1;
}

__global__ void
fault (int *nothing)
{
  *nothing = 1;
}

static int *cell;

static void
run_kernels (int n)
{
  for (int i = 0; i < n; i++)
    step<<<2, 64>>> (cell);
}

static int
fault_day (void)
{
  run_kernels (KERNELS);
  CHECK (cudaDeviceSynchronize ());
  fault<<<1, 32>>> (NULL);
  cudaError_t first = cudaDeviceSynchronize ();
  cudaError_t later = cudaFree (cell);
  printf ("%d %d\n", first, later);
  return 4;
}

static int
memory_day (void)
{
  static void *blocks[1 << 16];
  int n = 0;
  cudaError_t error;
  while ((error = cudaMalloc (&blocks[n], 64 << 20)) == cudaSuccess)
    n++;
  printf ("%d %d\n", n, error);
  CHECK (cudaPeekAtLastError () == cudaErrorMemoryAllocation ? cudaSuccess : cudaErrorUnknown);
  cudaGetLastError ();
  while (n > 0)
    CHECK (cudaFree (blocks[--n]));
  run_kernels (KERNELS);
  CHECK (cudaDeviceSynchronize ());
  return 0;
}

static int
reset_day (void)
{
  run_kernels (KERNELS);
  CHECK (cudaDeviceSynchronize ());
  CHECK (cudaDeviceReset ());
  CHECK (cudaMalloc (&cell, sizeof *cell));
  run_kernels (KERNELS);
  CHECK (cudaDeviceSynchronize ());
  return 0;
}

static int
fork_day (void)
{
  run_kernels (KERNELS);
  CHECK (cudaDeviceSynchronize ());
  pid_t child = fork ();
  if (child == 0)
    {
      int *mine;
      cudaError_t error = cudaMalloc (&mine, 64);
      run_kernels (1);
      _exit (error);
    }
  int status;
  waitpid (child, &status, 0);
  printf ("%d\n", WEXITSTATUS (status));
  run_kernels (KERNELS);
  CHECK (cudaDeviceSynchronize ());
  return 0;
}

static void *
end_process (void *data)
{
  usleep (100000);
  run_kernels (KERNELS);
  _exit (3);
}

static int
exit_day (void)
{
  pthread_t thread;
  run_kernels (KERNELS);
  pthread_create (&thread, NULL, end_process, NULL);
  pthread_join (thread, NULL);
  return 0;
}

static int
loop_day (double seconds)
{
  struct timespec pause = { 0, 200000 };
  time_t end = time (NULL) + (time_t) seconds;
  for (int i = 0; time (NULL) < end; i++)
    {
      run_kernels (KERNELS);
      CHECK (cudaDeviceSynchronize ());
      nanosleep (&pause, NULL);
      if (i == 20)
        {
          printf ("ready\n");
          fflush (stdout);
        }
    }
  return 0;
}

static int
long_day (void)
{
  for (int i = 0; i < 3; i++)
    step<<<1 << 20, 512>>> (cell);
  return 0;
}

static int
many_day (void)
{
  for (int i = 0; i < 40; i++)
    step<<<1 << 22, 512>>> (cell);
  CHECK (cudaDeviceSynchronize ());
  return 0;
}

static int
clock_day (void)
{
  struct timespec pause = { 0, 40000000 };
  for (int i = 0; i < ROUNDS; i++)
    {
      nvtxRangePushA ("round");
      CHECK (cudaMemset (cell, 0, sizeof *cell));
      nvtxRangePop ();
      CHECK (cudaProfilerStop ());
      nanosleep (&pause, NULL);
    }
  return 0;
}

int
main (int argc, char **argv)
{
  const char *day = argc > 1 ? argv[1] : "";
  CHECK (cudaMalloc (&cell, sizeof *cell));
  if (strcmp (day, "fault") == 0)
    return fault_day ();
  if (strcmp (day, "memory") == 0)
    return memory_day ();
  if (strcmp (day, "reset") == 0)
    return reset_day ();
  if (strcmp (day, "fork") == 0)
    return fork_day ();
  if (strcmp (day, "exit") == 0)
    return exit_day ();
  if (strcmp (day, "loop") == 0)
    return loop_day (argc > 2 ? atof (argv[2]) : 10);
  if (strcmp (day, "long") == 0)
    return long_day ();
  if (strcmp (day, "many") == 0)
    return many_day ();
  if (strcmp (day, "clock") == 0)
    return clock_day ();
  fprintf (stderr, "usage: %s fault|memory|reset|fork|exit|loop|long|many|clock\n", argv[0]);
  return 125;
}
