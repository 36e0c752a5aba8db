/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Creates communicators in every way, calls MPI_Barrier on each a number of times that no other
 * has, and prints the members, as they tell each other: lines of "NAME BARRIERS MEMBERS". */

#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int rank;

static void
use (const char *name, MPI_Comm communicator, int n_barriers)
{
  int members[64], size, inner;
  char line[256];
  if (communicator == MPI_COMM_NULL)
    return;
  MPI_Comm_size (communicator, &size);
  MPI_Comm_rank (communicator, &inner);
  MPI_Allgather (&rank, 1, MPI_INT, members, 1, MPI_INT, communicator);
  for (int i = 0; i < n_barriers; i++)
    MPI_Barrier (communicator);
  int n = snprintf (line, sizeof line, "%s %d %d", name, n_barriers, members[0]);
  for (int i = 1; i < size; i++)
    n += snprintf (line + n, sizeof line - (size_t)n, ",%d", members[i]);
  n += snprintf (line + n, sizeof line - (size_t)n, "\n");
  if (inner == 0 && write (STDOUT_FILENO, line, (size_t)n) != n) /* at once: ranks share the pipe */
    MPI_Abort (communicator, 1);
}

int
main (int argc, char **argv)
{
  int size;
  MPI_Comm twin, other, part, reversed, ring, first, between, all;
  MPI_Group group;
  MPI_Init (&argc, &argv);
  MPI_Comm_rank (MPI_COMM_WORLD, &rank);
  MPI_Comm_size (MPI_COMM_WORLD, &size);
  use ("world", MPI_COMM_WORLD, 1);
  use ("self", MPI_COMM_SELF, 2);
  MPI_Comm_dup (MPI_COMM_WORLD, &twin);
  use ("twin", twin, 3);
  MPI_Comm_dup (MPI_COMM_WORLD, &other);
  use ("other", other, 4);
  MPI_Comm_split (twin, rank == 0, 0, &part);
  use ("part", part, 5);
  MPI_Comm_split (MPI_COMM_WORLD, rank == 1 ? MPI_UNDEFINED : 0, -rank, &reversed);
  use ("reversed", reversed, 6);
  MPI_Cart_create (other, 1, &size, (int[]){ 1 }, 0, &ring);
  use ("ring", ring, 7);
  MPI_Comm_group (MPI_COMM_WORLD, &group);
  MPI_Group_incl (group, 1, (int[]){ 0 }, &group);
  MPI_Comm_create (MPI_COMM_WORLD, group, &first);
  use ("first", first, 8);
  /* Handles come back. */
  for (int i = 0; i < 3; i++)
    {
      MPI_Comm_free (&other);
      MPI_Comm_dup (twin, &other);
      use ("again", other, 9);
    }
  MPI_Intercomm_create (part, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 5, &between);
  MPI_Barrier (between);
  MPI_Intercomm_merge (between, rank == 0, &all);
  use ("merged", all, 10);
  MPI_Finalize ();
  return 0;
}
