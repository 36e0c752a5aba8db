/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* mpi-loop CALLS: calls MPI_Barrier and MPI_Allreduce CALLS times each, in one process, and prints how many
 * nanoseconds a call of each took: the least of five rounds. bench/mpi.py compiles it for each installed MPI. */

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 5

static double
now_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int
main (int argc, char **argv)
{
  MPI_Init (&argc, &argv);
  const int calls = argc > 1 ? atoi (argv[1]) / ROUNDS : 0;
  double least[2] = { 1e18, 1e18 };
  int one = 1, sum = 0;
  for (int round = 0; round < ROUNDS; round++)
    {
      const double begun = now_ns ();
      for (int i = 0; i < calls; i++)
        MPI_Barrier (MPI_COMM_SELF);
      const double between = now_ns ();
      for (int i = 0; i < calls; i++)
        MPI_Allreduce (&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
      const double ended = now_ns ();
      if ((between - begun) / calls < least[0])
        least[0] = (between - begun) / calls;
      if ((ended - between) / calls < least[1])
        least[1] = (ended - between) / calls;
    }
  MPI_Finalize ();
  printf ("%.1f %.1f\n", least[0], least[1]);
  return calls > 0 ? 0 : 1;
}
