/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The functions of MPI whose calls are recorded, as the MPI standard (4.0) declares them: MPI_CALL (number of
 * parameters, name without MPI_, class, which parameter, counted from 1, is what). Left out are those that only
 * ask or build types. No include guard: read once, by mpi.c. */

#define SEND      .count = 2, .type = 3, .peer = 4, .tag = 5, .communicator = 6
#define ONE_SIDED .count = 2, .type = 3, .peer = 4
#define TO_ALL(comm)                                                                               \
 .count = 2, .type = 3, .received_count = 5, .received_type = 6, .communicator = comm
#define REDUCE(comm)                                                                               \
 .count = 3, .type = 4, .received_count = 3, .received_type = 4, .communicator = comm
#define GATHER  TO_ALL (8), .peer = 7, .received_per_rank = ONE_AT_ROOT
#define SCATTER TO_ALL (8), .peer = 7, .sent_per_rank = ONE_AT_ROOT
#define GATHERV                                                                                    \
 .count = 2, .type = 3, .received_count = 5, .received_type = 7, .peer = 8, .communicator = 9,     \
 .received_per_rank = AT_ROOT
#define SCATTERV                                                                                   \
 .count = 2, .type = 4, .received_count = 6, .received_type = 7, .peer = 8, .communicator = 9,     \
 .sent_per_rank = AT_ROOT
#define ALLGATHERV                                                                                 \
 .count = 2, .type = 3, .received_count = 5, .received_type = 7, .communicator = 8,                \
 .received_per_rank = EVERYWHERE
#define ALLTOALLV                                                                                  \
 .count = 2, .type = 4, .received_count = 6, .received_type = 8, .communicator = 9,                \
 .sent_per_rank = EVERYWHERE, .received_per_rank = EVERYWHERE
#define MAKES(parameter) .communicator = 1, .made_communicator = parameter
#define BCAST            .count = 2, .type = 3, .peer = 4, .communicator = 5

/* clang-format off */

/* Between two processes. */
MPI_CALL (6, Send, P2P, SEND)
MPI_CALL (6, Bsend, P2P, SEND)
MPI_CALL (6, Ssend, P2P, SEND)
MPI_CALL (6, Rsend, P2P, SEND)
MPI_CALL (7, Isend, P2P, SEND, .made_request = 7)
MPI_CALL (7, Ibsend, P2P, SEND, .made_request = 7)
MPI_CALL (7, Issend, P2P, SEND, .made_request = 7)
MPI_CALL (7, Irsend, P2P, SEND, .made_request = 7)
MPI_CALL (7, Recv, P2P, SEND, .status = 7)
MPI_CALL (7, Irecv, P2P, SEND, .made_request = 7)
MPI_CALL (5, Mrecv, P2P, .count = 2, .type = 3, .status = 5)
MPI_CALL (5, Imrecv, P2P, .count = 2, .type = 3, .made_request = 5)
MPI_CALL (12, Sendrecv, P2P, .count = 2, .type = 3, .peer = 4, .tag = 5, .communicator = 11)
MPI_CALL (9, Sendrecv_replace, P2P, .count = 2, .type = 3, .peer = 4, .tag = 5, .communicator = 8)
MPI_CALL (4, Probe, P2P, .peer = 1, .tag = 2, .communicator = 3, .status = 4)
MPI_CALL (5, Iprobe, P2P, .peer = 1, .tag = 2, .communicator = 3)
MPI_CALL (5, Mprobe, P2P, .peer = 1, .tag = 2, .communicator = 3, .status = 5)
MPI_CALL (6, Improbe, P2P, .peer = 1, .tag = 2, .communicator = 3)
MPI_CALL (8, Put, P2P, ONE_SIDED)
MPI_CALL (8, Get, P2P, ONE_SIDED)
MPI_CALL (9, Accumulate, P2P, ONE_SIDED)
MPI_CALL (9, Rput, P2P, ONE_SIDED, .made_request = 9)
MPI_CALL (9, Rget, P2P, ONE_SIDED, .made_request = 9)
MPI_CALL (10, Raccumulate, P2P, ONE_SIDED, .made_request = 10)
MPI_CALL (12, Get_accumulate, P2P, .count = 5, .type = 6, .peer = 7)
MPI_CALL (7, Fetch_and_op, P2P, .peer = 4)
MPI_CALL (7, Compare_and_swap, P2P, .peer = 5)

/* Among all processes of a communicator. */
MPI_CALL (1, Barrier, COLLECTIVE, .communicator = 1)
MPI_CALL (2, Ibarrier, COLLECTIVE, .communicator = 1, .made_request = 2)
MPI_CALL (5, Bcast, COLLECTIVE, BCAST)
MPI_CALL (6, Ibcast, COLLECTIVE, BCAST, .made_request = 6)
MPI_CALL (8, Gather, COLLECTIVE, GATHER)
MPI_CALL (9, Igather, COLLECTIVE, GATHER, .made_request = 9)
MPI_CALL (9, Gatherv, COLLECTIVE, GATHERV)
MPI_CALL (10, Igatherv, COLLECTIVE, GATHERV, .made_request = 10)
MPI_CALL (8, Scatter, COLLECTIVE, SCATTER)
MPI_CALL (9, Iscatter, COLLECTIVE, SCATTER, .made_request = 9)
MPI_CALL (9, Scatterv, COLLECTIVE, SCATTERV)
MPI_CALL (10, Iscatterv, COLLECTIVE, SCATTERV, .made_request = 10)
MPI_CALL (7, Allgather, COLLECTIVE, TO_ALL (7))
MPI_CALL (8, Iallgather, COLLECTIVE, TO_ALL (7), .made_request = 8)
MPI_CALL (8, Allgatherv, COLLECTIVE, ALLGATHERV)
MPI_CALL (9, Iallgatherv, COLLECTIVE, ALLGATHERV, .made_request = 9)
MPI_CALL (7, Alltoall, COLLECTIVE, TO_ALL (7))
MPI_CALL (8, Ialltoall, COLLECTIVE, TO_ALL (7), .made_request = 8)
MPI_CALL (9, Alltoallv, COLLECTIVE, ALLTOALLV)
MPI_CALL (10, Ialltoallv, COLLECTIVE, ALLTOALLV, .made_request = 10)
MPI_CALL (9, Alltoallw, COLLECTIVE, .communicator = 9)
MPI_CALL (10, Ialltoallw, COLLECTIVE, .communicator = 9, .made_request = 10)
MPI_CALL (7, Reduce, COLLECTIVE, REDUCE (7), .peer = 6)
MPI_CALL (8, Ireduce, COLLECTIVE, REDUCE (7), .peer = 6, .made_request = 8)
MPI_CALL (6, Allreduce, COLLECTIVE, REDUCE (6))
MPI_CALL (7, Iallreduce, COLLECTIVE, REDUCE (6), .made_request = 7)
MPI_CALL (6, Reduce_scatter, COLLECTIVE, .count = 3, .type = 4, .communicator = 6, .sent_per_rank = EVERYWHERE)
MPI_CALL (7, Ireduce_scatter, COLLECTIVE, .count = 3, .type = 4, .communicator = 6, .sent_per_rank = EVERYWHERE, .made_request = 7)
MPI_CALL (6, Reduce_scatter_block, COLLECTIVE, REDUCE (6))
MPI_CALL (7, Ireduce_scatter_block, COLLECTIVE, REDUCE (6), .made_request = 7)
MPI_CALL (6, Scan, COLLECTIVE, REDUCE (6))
MPI_CALL (7, Iscan, COLLECTIVE, REDUCE (6), .made_request = 7)
MPI_CALL (6, Exscan, COLLECTIVE, REDUCE (6))
MPI_CALL (7, Iexscan, COLLECTIVE, REDUCE (6), .made_request = 7)
MPI_CALL (7, Neighbor_allgather, COLLECTIVE, TO_ALL (7))
MPI_CALL (8, Ineighbor_allgather, COLLECTIVE, TO_ALL (7), .made_request = 8)
MPI_CALL (7, Neighbor_alltoall, COLLECTIVE, TO_ALL (7))
MPI_CALL (8, Ineighbor_alltoall, COLLECTIVE, TO_ALL (7), .made_request = 8)
MPI_CALL (8, Neighbor_allgatherv, COLLECTIVE, .count = 2, .type = 3, .communicator = 8)
MPI_CALL (9, Ineighbor_allgatherv, COLLECTIVE, .count = 2, .type = 3, .communicator = 8, .made_request = 9)
MPI_CALL (9, Neighbor_alltoallv, COLLECTIVE, .communicator = 9)
MPI_CALL (10, Ineighbor_alltoallv, COLLECTIVE, .communicator = 9, .made_request = 10)
MPI_CALL (9, Neighbor_alltoallw, COLLECTIVE, .communicator = 9)
MPI_CALL (10, Ineighbor_alltoallw, COLLECTIVE, .communicator = 9, .made_request = 10)

/* About requests: of several, the first is told. */
MPI_CALL (1, Start, START_WAIT, .request = 1)
MPI_CALL (2, Startall, START_WAIT, .n_requests = 1, .request = 2)
MPI_CALL (2, Wait, START_WAIT, .request = 1)
MPI_CALL (3, Waitall, START_WAIT, .n_requests = 1, .request = 2)
MPI_CALL (4, Waitany, START_WAIT, .n_requests = 1, .request = 2)
MPI_CALL (5, Waitsome, START_WAIT, .n_requests = 1, .request = 2)
MPI_CALL (3, Test, START_WAIT, .request = 1)
MPI_CALL (4, Testall, START_WAIT, .n_requests = 1, .request = 2)
MPI_CALL (5, Testany, START_WAIT, .n_requests = 1, .request = 2)
MPI_CALL (5, Testsome, START_WAIT, .n_requests = 1, .request = 2)
MPI_CALL (1, Cancel, START_WAIT, .request = 1)

/* Others that take time. */
MPI_CALL (2, Init, OTHER, .begins = true)
MPI_CALL (4, Init_thread, OTHER, .begins = true)
MPI_CALL (0, Finalize, OTHER, .ends = true)
MPI_CALL (7, Send_init, OTHER)
MPI_CALL (7, Recv_init, OTHER)
MPI_CALL (7, Bsend_init, OTHER)
MPI_CALL (7, Ssend_init, OTHER)
MPI_CALL (7, Rsend_init, OTHER)
MPI_CALL (2, Comm_dup, OTHER, MAKES (2))
MPI_CALL (4, Comm_split, OTHER, MAKES (4))
MPI_CALL (5, Comm_split_type, OTHER, MAKES (5))
MPI_CALL (3, Comm_create, OTHER, MAKES (3))
MPI_CALL (4, Comm_create_group, OTHER, MAKES (4))
MPI_CALL (6, Cart_create, OTHER, MAKES (6))
MPI_CALL (3, Comm_dup_with_info, OTHER, MAKES (3))
MPI_CALL (3, Cart_sub, OTHER, MAKES (3))
MPI_CALL (6, Graph_create, OTHER, MAKES (6))
MPI_CALL (9, Dist_graph_create, OTHER, MAKES (9))
MPI_CALL (10, Dist_graph_create_adjacent, OTHER, MAKES (10))
MPI_CALL (3, Intercomm_merge, OTHER, MAKES (3))
MPI_CALL (6, Intercomm_create, OTHER, MAKES (6))
MPI_CALL (1, Comm_free, OTHER, .freed_communicator = 1)
MPI_CALL (1, Comm_disconnect, OTHER, .freed_communicator = 1)
MPI_CALL (7, Pack, OTHER)
MPI_CALL (7, Unpack, OTHER)
MPI_CALL (6, Win_create, OTHER)
MPI_CALL (6, Win_allocate, OTHER)
MPI_CALL (6, Win_allocate_shared, OTHER)
MPI_CALL (3, Win_create_dynamic, OTHER)
MPI_CALL (2, Win_fence, OTHER)
MPI_CALL (4, Win_lock, OTHER)
MPI_CALL (2, Win_unlock, OTHER)
MPI_CALL (2, Win_lock_all, OTHER)
MPI_CALL (1, Win_unlock_all, OTHER)
MPI_CALL (2, Win_flush, OTHER)
MPI_CALL (1, Win_flush_all, OTHER)
MPI_CALL (2, Win_flush_local, OTHER)
MPI_CALL (1, Win_flush_local_all, OTHER)
MPI_CALL (3, Win_post, OTHER)
MPI_CALL (3, Win_start, OTHER)
MPI_CALL (1, Win_complete, OTHER)
MPI_CALL (1, Win_wait, OTHER)
MPI_CALL (1, Win_free, OTHER)
MPI_CALL (5, File_open, OTHER)
MPI_CALL (1, File_close, OTHER)
MPI_CALL (5, File_read, OTHER)
MPI_CALL (5, File_write, OTHER)
MPI_CALL (5, File_read_all, OTHER)
MPI_CALL (5, File_write_all, OTHER)
MPI_CALL (6, File_read_at, OTHER)
MPI_CALL (6, File_write_at, OTHER)
MPI_CALL (6, File_read_at_all, OTHER)
MPI_CALL (6, File_write_at_all, OTHER)
MPI_CALL (5, File_read_shared, OTHER)
MPI_CALL (5, File_write_shared, OTHER)
MPI_CALL (5, File_read_ordered, OTHER)
MPI_CALL (5, File_write_ordered, OTHER)
MPI_CALL (5, File_iread, OTHER)
MPI_CALL (5, File_iwrite, OTHER)
MPI_CALL (6, File_iread_at, OTHER)
MPI_CALL (6, File_iwrite_at, OTHER)
MPI_CALL (6, File_set_view, OTHER)
MPI_CALL (1, File_sync, OTHER)

/* clang-format on */
