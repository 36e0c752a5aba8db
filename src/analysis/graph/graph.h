/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a program did as a graph: what had to be over before something else could go on.
 *
 * A *point* is an instant of a thread or of a stream, and ends a *piece* of what that did: the piece begins with the point BEFORE and
 * takes NS. A point may have a second edge, from SOURCE, an instant of another thread or stream, LAG after which it can come at the
 * earliest. So a point comes when both are over:
 *
 *   time[i] = max (time[before[i]] + ns[i], time[source[i]] + lag[i])
 *
 * Of NS, OWN is what the piece takes itself; the rest comes with it: a call of CUDA and what its thread does until the next; the time that an
 * operation of the GPU waits for its turn, and the operation, of which OWN is in LAG, too. Of a wait, NS is what it takes where there is nothing to wait for: how long it was follows from SOURCE. Points are in an order in which
 * BEFORE and SOURCE come first, so that one pass forward gives all times. With what was measured it gives the times that were measured. */

#pragma once

#include "src/base/array.h"
#include "src/base/id-map.h"
#include "src/store/read/report.h"

/* What a piece is. */
typedef enum
{
  LNS_PIECE_JOIN,    /* joins edges, and takes no time                                           */
  LNS_PIECE_RUN,     /* a thread runs, or is in a call that is not known to wait                 */
  LNS_PIECE_CALL,    /* a CUDA call that waits for nothing                                       */
  LNS_PIECE_SYNC,    /* a CUDA call that waits for the GPU                                       */
  LNS_PIECE_WAIT,    /* waits for another thread                                                 */
  LNS_PIECE_OUTSIDE, /* waits for what is outside of the report: a time, a disk, a network       */
  LNS_PIECE_NO_CPU,  /* could run, and has no CPU                                                */
  LNS_PIECE_MPI,     /* a call of MPI                                                            */
  LNS_PIECE_UNKNOWN, /* what the thread did was not recorded                                     */
  LNS_PIECE_QUEUED,  /* an operation of a GPU waits for its turn                                 */
  LNS_PIECE_KERNEL,
  LNS_PIECE_COPY,
  LNS_PIECE_SET,
  LNS_PIECE_GRAPH, /* a CUDA graph as a whole                                                    */
  LNS_PIECE_HOST,  /* a host function that a stream waits for                                    */
  LNS_N_PIECES
} LnsPieceKind;

/* Why a point comes after its SOURCE. */
typedef enum
{
  LNS_EDGE_NONE,
  LNS_EDGE_LAUNCH,     /* an operation after the call that launched it                           */
  LNS_EDGE_SYNC,       /* a call after the operation that it waits for                           */
  LNS_EDGE_EVENT,      /* an operation after one of another stream, by an event                  */
  LNS_EDGE_WAKE,       /* a thread after the one that had it go on                               */
  LNS_EDGE_BIRTH,      /* a thread after the one that began it                                   */
  LNS_EDGE_COLLECTIVE, /* what ranks do together after the last of them came                     */
  LNS_EDGE_QUEUE,      /* a call that launches after there was room in the queue                 */
  LNS_N_EDGES
} LnsEdgeKind;

/* Marks of a point, beside its LnsEdgeKind in the lower four bits. */
#define LNS_EDGE_MASK 0x0f
#define LNS_POINT_INFERRED                                                                         \
 0x10                       /* the report does not tell of the edge: times let it be assumed    */
#define LNS_POINT_LATE 0x20 /* it came later than its edges explain: why is not known           */
#define LNS_POINT_NOT_BOUND                                                                        \
 0x40 /* the edges leave room: what bound it is in the next point         */
#define LNS_POINT_BY_SOURCE                                                                        \
 0x80 /* of the two edges SOURCE was the one that it waited for           */

#define LNS_POINT_NONE UINT32_MAX

/* What pieces are told apart by. */
typedef struct
{
  LnsPieceKind kind;
  uint32_t agent; /* index in agents                                                             */
  uint32_t name;  /* string id: of the call, kernel, or of the call that waits; 0 = none         */
  uint32_t more;  /* of copies: LNS_COLUMN_COPY_KIND | LNS_COLUMN_MEMORY_KINDS << 8; else 0      */
  uint64_t n;     /* pieces                                                                      */
  int64_t ns;     /* that they took in the report                                                */
  uint64_t bytes; /* of copies and sets                                                          */
  bool is_collective; /* kernels in which GPUs wait for each other                               */
  bool
      has_branches; /* nodes of a CUDA graph that ran side by side with others of it: which one waits for which is not recorded */
} LnsGraphLabel;

/* A thread, or a stream of a GPU. */
typedef struct
{
  uint32_t thread;  /* instance, or LNS_ID_NONE                                                  */
  uint32_t stream;  /* LnsCudaStream, or LNS_ID_NONE                                             */
  uint32_t device;  /* LnsCudaDevice of a stream, or LNS_ID_NONE                                 */
  uint32_t process; /* instance                                                                  */
  uint32_t last;    /* its last point that is no wait without an end, or LNS_POINT_NONE          */
  uint32_t rest;    /* label of what pieces have beside their own time                           */
  bool ends_run;    /* the run is over when this one is                                          */
} LnsGraphAgent;

/* A time of a thread that is of interest: asked for, so that pieces tell how much of them lies in it. Or an operation of a GPU. */
typedef struct
{
  int64_t start_ns, end_ns;
  uint32_t thread;      /* instance, or LNS_ID_NONE: it is an operation with these times         */
  uint32_t edit;        /* number of what it is for                                              */
  bool is_moved;        /* it is to be done by another thread                                    */
  int64_t operation_ns; /* of an operation: how much of it counts                                */
} LnsGraphMark;

typedef LNS_ARRAY (LnsGraphMark) LnsGraphMarks;

/* Puts MARKS in the order in which a graph is built with them, and leaves those out of one edit that lie in others of it. O(n log n). */
void lns_graph_marks_sort (LnsGraphMarks *marks);

/* How much of the piece of POINT lies in a mark of EDIT, and how long it was as a whole. */
typedef struct
{
  uint32_t point, edit;
  int64_t ns, whole_ns;
} LnsGraphOverlap;

/* Where a thread comes into a mark that is moved, and where it leaves it. */
typedef struct
{
  uint32_t point; /* whose piece takes no time                                                   */
  uint32_t thread, edit;
  bool is_end;
} LnsGraphMove;

/* 25 bytes a point, and what is said below. Immutable once built; any thread. */
typedef struct
{
  LnsReport *report; /* borrowed                                                                 */
  int64_t start_ns;  /* time of point 0, from which all begin                                    */
  int64_t measured_ns; /* from there to the end of the run, as it was measured                   */
  uint32_t n, n_allocated;
  uint32_t *before, *source, *ns, *own, *label;
  int32_t *lag; /* ns                                                                            */
  uint8_t *marks;
  LNS_ARRAY (LnsGraphLabel) labels;
  LNS_ARRAY (LnsGraphAgent) agents;
  LNS_ARRAY (LnsGraphOverlap) overlaps; /* by point                                              */
  LNS_ARRAY (LnsGraphMove) moves;       /* by point                                              */
  LnsIdMap label_of;                    /* hash of what tells labels apart -> 1 + index          */
  uint64_t n_operations, n_unlaunched;  /* of GPUs; of them without a call that was recorded     */
  bool has_states;                      /* when threads ran was recorded                         */
  bool has_wakers;                      /* who ended waits was recorded                          */
  bool is_full;                         /* there are more points than can be numbered            */
} LnsGraph;

/* The number of the label of these, which is added where there is none. */
uint32_t
lns_graph_label (LnsGraph *graph, LnsPieceKind kind, uint32_t agent, uint32_t name, uint32_t more);

/* Adds a point NS (≥ 0) after BEFORE, LNS_POINT_NONE only for the first one. More than 4 s become several points,
 * and more than five hours are cut. Returns the last. */
uint32_t lns_graph_add (LnsGraph *graph, uint32_t before, int64_t ns, uint32_t label);

/* The same for a piece of which OWN_NS ≤ NS < 2³² are its own, and the rest has the label REST. */
uint32_t lns_graph_add_own (
    LnsGraph *graph, uint32_t before, int64_t ns, int64_t own_ns, uint32_t label, uint32_t rest);

/* Has the last piece of POINT, which nothing comes after yet, last for NS longer, of what has the label REST. False, and nothing is changed, if it
 * would be too long. */
bool lns_graph_extend (LnsGraph *graph, uint32_t point, int64_t ns, uint32_t rest);

/* Gives point POINT, which has no source, one: SOURCE < POINT. LAG_NS is cut to ± 2 s. MARKS: LnsEdgeKind and marks. */
void lns_graph_set_source (
    LnsGraph *graph, uint32_t point, uint32_t source, int64_t lag_ns, unsigned marks);

/* Says which agents the run of GRAPH, in which points were at TIMES, is over with, and so how long it took: GPUs, and the main threads MAINS, by process, N
 * of them (LNS_ID_NONE: it has none), of programs that no other one of the report began, or, if there are such, of ranks of MPI: who
 * launched them only waits. Without such threads all agents. O(agents + processes). */
void
lns_graph_choose_ends (LnsGraph *graph, const uint32_t *mains, uint32_t n, const int64_t *times);

/* Puts the overlaps in the order of points. O(n log n). */
void lns_graph_sort_overlaps (LnsGraph *graph);

/* How many bytes the points take, and frees them: labels and agents stay. */
size_t lns_graph_points_bytes (const LnsGraph *graph);
void lns_graph_forget_points (LnsGraph *graph);

void lns_graph_free (LnsGraph *graph); /* NULL is fine                                            */

static inline LnsEdgeKind
lns_graph_edge (const LnsGraph *graph, uint32_t point)
{
  return (LnsEdgeKind)(graph->marks[point] & LNS_EDGE_MASK);
}

static inline const LnsGraphLabel *
lns_graph_label_of (const LnsGraph *graph, uint32_t point)
{
  return &graph->labels.items[graph->label[point]];
}
