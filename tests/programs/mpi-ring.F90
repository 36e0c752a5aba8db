! Copyright the Lanescope authors
!
! SPDX-License-Identifier: Apache-2.0

! What mpi-ring.c does, in Fortran: with mpif.h, or the module MODULE.

program ring
#ifdef MODULE
  use MODULE
#endif
  implicit none
#ifndef MODULE
  include 'mpif.h'
#endif
#ifdef HANDLES
  type(MPI_Comm) :: half
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status
#else
  integer :: status(MPI_STATUS_SIZE)
  integer :: half, requests(2)
#endif
  double precision :: sent(250), got(1000), all(1000), total
  real :: few(3), many(192)
  integer :: numbers(10), items(128)
  character :: letters(64), gathered(1000)
  integer :: i, rounds, rank, size, error, counts(64), places(64)
  character(len=16) :: word

  rounds = 10
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) rounds
  end if
  sent = 0
  few = 0
  letters = 'x'
  numbers = 0
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  do i = 0, rounds - 1
    sent(1) = rank + i
    call MPI_Irecv(got, 250, MPI_DOUBLE_PRECISION, mod(rank + size - 1, size), 7, MPI_COMM_WORLD, requests(1), error)
    call MPI_Isend(sent, 250, MPI_DOUBLE_PRECISION, mod(rank + 1, size), 7, MPI_COMM_WORLD, requests(2), error)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
    call MPI_Allreduce(got(1), total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  end do
  if (rank == 0) call MPI_Send(numbers, 10, MPI_INTEGER, 1, 3, MPI_COMM_WORLD, error)
  if (rank == 1) call MPI_Recv(numbers, 10, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status, error)
  do i = 0, size - 1
    counts(i + 1) = i + 1
    places(i + 1) = i * (i + 1) / 2
  end do
  call MPI_Gatherv(letters, rank + 1, MPI_CHARACTER, gathered, counts, places, MPI_CHARACTER, 0, MPI_COMM_WORLD, error)
  call MPI_Bcast(total, 1, MPI_DOUBLE_PRECISION, size - 1, MPI_COMM_WORLD, error)
  call MPI_Alltoall(few, 3, MPI_REAL, many, 3, MPI_REAL, MPI_COMM_WORLD, error)
  if (rank == 0) then
    call MPI_Gather(MPI_IN_PLACE, 2, MPI_DATATYPE_NULL, items, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call MPI_Scatter(items, 2, MPI_INTEGER, MPI_IN_PLACE, 2, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD, error)
  else
    call MPI_Gather(numbers, 2, MPI_INTEGER, items, 2, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD, error)
    call MPI_Scatter(items, 2, MPI_DATATYPE_NULL, numbers, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  end if
  call MPI_Allgather(MPI_IN_PLACE, 5, MPI_DATATYPE_NULL, items, 1, MPI_INTEGER, MPI_COMM_WORLD, error)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, error)
  call MPI_Barrier(half, error)
  call MPI_Comm_free(half, error)
  print '("rank ", i0, " of ", i0, ": ", i0)', rank, size, int(total)
  call MPI_Finalize(error)
end program ring
