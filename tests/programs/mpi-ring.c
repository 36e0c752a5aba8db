/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* mpi-ring ROUNDS: makes MPI calls whose number, sizes and peers follow from the number of
 * processes and ROUNDS. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int
main (int argc, char **argv)
{
  static double sent[250], got[1000], all[1000];
  const int rounds = argc > 1 ? atoi (argv[1]) : 10;
  int rank, size, counts[64], places[64];
  double sum = 0;
  MPI_Init (&argc, &argv);
  MPI_Comm_rank (MPI_COMM_WORLD, &rank);
  MPI_Comm_size (MPI_COMM_WORLD, &size);
  for (int i = 0; i < rounds; i++)
    {
      MPI_Request requests[2];
      sent[0] = rank + i;
      MPI_Irecv (got, 250, MPI_DOUBLE, (rank + size - 1) % size, 7, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend (sent, 250, MPI_DOUBLE, (rank + 1) % size, 7, MPI_COMM_WORLD, &requests[1]);
      MPI_Waitall (2, requests, MPI_STATUSES_IGNORE);
      MPI_Allreduce (&got[0], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
  if (rank == 0)
    MPI_Send (sent, 10, MPI_INT, 1, 3, MPI_COMM_WORLD);
  else if (rank == 1)
    MPI_Recv (got, 500, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < size; i++)
    {
      counts[i] = i + 1;
      places[i] = i * (i + 1) / 2;
    }
  MPI_Gatherv (sent, rank + 1, MPI_CHAR, got, counts, places, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Bcast (&sum, 1, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
  MPI_Alltoall (sent, 3, MPI_FLOAT, all, 3, MPI_FLOAT, MPI_COMM_WORLD);
  /* What means nothing need be nothing. */
  int *items = (int *)all;
  MPI_Gather (rank == 0 ? MPI_IN_PLACE : items, 2, rank == 0 ? MPI_DATATYPE_NULL : MPI_INT, items,
              2, rank == 0 ? MPI_INT : MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
  MPI_Scatter (items, 2, rank == 0 ? MPI_INT : MPI_DATATYPE_NULL, rank == 0 ? MPI_IN_PLACE : items,
               2, rank == 0 ? MPI_DATATYPE_NULL : MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Allgather (MPI_IN_PLACE, 5, MPI_DATATYPE_NULL, items, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Comm half;
  MPI_Comm_split (MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Barrier (half);
  MPI_Comm_free (&half);
  printf ("rank %d of %d: %g\n", rank, size, sum);
  MPI_Finalize ();
  return 0;
}
