/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The communicators of this process. Each has a number that is the same in all its processes, recorded or not: each
 * process computes it from what all of them know, which is the communicator's parent, its members, and how many with
 * the same parent and members came before. No message is sent for it. */

#pragma once

#include "capture/inject/preload/libraries.h"

typedef uint64_t LnsMpiWord; /* a parameter of a function of MPI, or what it returns */

/* Functions of the implementation that are called in addition to the program's calls, by the names of the profiling
 * interface, which no tool wraps. */
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

/* Adds MPI_COMM_WORLD and MPI_COMM_SELF, once MPI runs. Reports them, and all later communicators, to
 * the injection library. One thread. */
void lns_mpi_communicators_begin (const LnsMpi *mpi);

/* Notes that the program made HANDLE from PARENT. MPI_COMM_NULL and intercommunicators have no number. Any thread. */
void lns_mpi_communicator_made (const LnsMpi *mpi, LnsMpiWord parent, LnsMpiWord handle);

/* Notes that HANDLE may stand for another communicator from now on. Any thread. */
void lns_mpi_communicator_gone (LnsMpiWord handle);

/* The number of HANDLE, or 0 if none is known. Any thread; O(1). */
uint64_t lns_mpi_communicator_uid (LnsMpiWord handle);
