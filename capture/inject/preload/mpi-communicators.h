/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The communicators of this process: each has a number that is the same in all processes of it, whether they
 * are recorded or not, since each makes it out of what all of them know: the communicator's parent, its
 * members, and how many of the same parent and members came before. Nothing is sent for it. */

#pragma once

#include "capture/inject/preload/libraries.h"

typedef uint64_t LnsMpiWord; /* a parameter of a function of MPI, or what it returns */

/* What is asked of the implementation beside the program's calls, by the names of its profiling interface, which
 * no tool stands before. */
typedef struct
{
  int (*type_size) (LnsMpiWord type, int *size);
  int (*size) (LnsMpiWord communicator, int *size);
  int (*rank) (LnsMpiWord communicator, int *rank);
  int (*is_between) (LnsMpiWord communicator, int *is_between);
  int (*group) (LnsMpiWord communicator, LnsMpiWord *group);
  int (*translate) (LnsMpiWord group, int n, const int *ranks, LnsMpiWord other, int *ret_ranks);
  int (*free_group) (LnsMpiWord *group);
  LnsMpiWord world, self, none; /* handles */
  int world_rank;               /* of this process, or -1 */
} LnsMpi;

/* MPI_COMM_WORLD and MPI_COMM_SELF, once MPI runs. Tells them and all later ones to HOOKS, where that is not
 * null. By one thread. */
void lns_mpi_communicators_begin (const LnsMpi *mpi, const LnsLibraryHooks *hooks);

/* The program has made HANDLE of PARENT: MPI_COMM_NULL, and one of two groups, have no number. By any thread. */
void lns_mpi_communicator_made (const LnsMpi *mpi,
                                const LnsLibraryHooks *hooks,
                                LnsMpiWord parent,
                                LnsMpiWord handle);

/* HANDLE may stand for another one from now on. By any thread. */
void lns_mpi_communicator_gone (LnsMpiWord handle);

/* The number of HANDLE, or 0: none is known. By any thread; O(1). */
uint64_t lns_mpi_communicator_uid (LnsMpiWord handle);
