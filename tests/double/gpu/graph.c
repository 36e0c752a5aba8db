/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Graphs: captured from streams or built node by node, instantiated, launched.
 *
 * Graphs, nodes and instances are never freed, because records and events refer to them. */

#include "tests/double/gpu/private.h"

#include <stdlib.h>
#include <string.h>

/* CUPTI_CBID_RESOURCE_… */
#define GRAPH_CREATED          9
#define GRAPH_DESTROY_STARTING 10
#define NODE_CREATED           13
#define DEPENDENCY_CREATED     15
#define EXEC_CREATE_STARTING   17
#define EXEC_CREATED           18
#define EXEC_DESTROY_STARTING  19
#define NODE_CLONED            20

#define LAUNCH_LATENCY_NS 2000

struct CUgraphNode_st
{
  uint64_t id;
  CUgraph graph;
  LnsGpuOp op;
  CUgraphNode *dependencies;
  size_t n_dependencies;
  CUgraphNode clone;    /* in the instance being made */
  CUgraphNode *inlined; /* of a child graph: the clones of its nodes */
  size_t n_inlined;
  int64_t end_ns; /* of the current launch */
};

struct CUgraph_st
{
  uint32_t id;
  CUcontext context;
  CUgraphNode *nodes;
  size_t n_nodes;
  bool capturing;
};

struct CUgraphExec_st
{
  uint32_t id;
  CUgraph graph; /* a copy, with its nodes in topological order */
};

static uint32_t last_graph;
static uint64_t last_node;

static void
append (CUgraphNode **list, size_t *n, CUgraphNode node)
{
  for (size_t i = 0; i < *n; i++)
    if ((*list)[i] == node)
      return;
  *list = realloc (*list, (*n + 1) * sizeof **list);
  (*list)[(*n)++] = node;
}

static CUgraphNodeType
type_of (const LnsGpuOp *op)
{
  switch (op->kind)
    {
    case LNS_GPU_OP_KERNEL:
      return CU_GRAPH_NODE_TYPE_KERNEL;
    case LNS_GPU_OP_COPY:
      return CU_GRAPH_NODE_TYPE_MEMCPY;
    case LNS_GPU_OP_SET:
      return CU_GRAPH_NODE_TYPE_MEMSET;
    case LNS_GPU_OP_HOST:
      return CU_GRAPH_NODE_TYPE_HOST;
    case LNS_GPU_OP_EVENT_RECORD:
      return CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    case LNS_GPU_OP_EVENT_WAIT:
      return CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    case LNS_GPU_OP_CHILD:
      return CU_GRAPH_NODE_TYPE_GRAPH;
    default:
      return CU_GRAPH_NODE_TYPE_EMPTY;
    }
}

static void
tell (uint32_t cbid, CUgraph graph, CUgraphNode node, CUgraphNode original, CUgraphExec exec)
{
  LnsGpuGraphChange change = {
    .graph = graph,
    .original_graph = original != NULL ? original->graph : NULL,
    .node = node,
    .original_node = original,
    .node_type = node != NULL ? type_of (&node->op) : 0,
    .exec = exec,
  };
  LNS_GPU_TELL (graph, cbid, graph->context, &change);
}

static CUgraph
graph_new (CUcontext context)
{
  CUgraph graph = calloc (1, sizeof *graph);
  graph->id = __atomic_add_fetch (&last_graph, 1, __ATOMIC_RELAXED);
  graph->context = context;
  return graph;
}

static CUgraphNode
node_new (CUgraph graph, const LnsGpuOp *op)
{
  CUgraphNode node = calloc (1, sizeof *node);
  node->id = __atomic_add_fetch (&last_node, 1, __ATOMIC_RELAXED);
  node->graph = graph;
  node->op = *op;
  append (&graph->nodes, &graph->n_nodes, node);
  return node;
}

int
lns_gpu_graph_create (CUgraph *ret_graph)
{
  *ret_graph = graph_new (lns_gpu_context_current ());
  tell (GRAPH_CREATED, *ret_graph, NULL, NULL, NULL);
  return 0;
}

int
lns_gpu_graph_destroy (CUgraph graph)
{
  if (graph == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  tell (GRAPH_DESTROY_STARTING, graph, NULL, NULL, NULL);
  return 0;
}

int
lns_gpu_graph_add (CUgraph graph,
                   const CUgraphNode *dependencies,
                   size_t n_dependencies,
                   const LnsGpuOp *op,
                   CUgraphNode *ret_node)
{
  if (graph == NULL || (n_dependencies > 0 && dependencies == NULL))
    return CUDA_ERROR_INVALID_VALUE;
  CUgraphNode node = node_new (graph, op);
  tell (NODE_CREATED, graph, node, NULL, NULL);
  for (size_t i = 0; i < n_dependencies; i++)
    lns_gpu_graph_depend (&dependencies[i], &node, 1);
  *ret_node = node;
  return 0;
}

int
lns_gpu_graph_depend (const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
  for (size_t i = 0; i < n; i++)
    {
      if (from[i] == NULL || to[i] == NULL || from[i]->graph != to[i]->graph)
        return CUDA_ERROR_INVALID_VALUE;
      append (&to[i]->dependencies, &to[i]->n_dependencies, from[i]);
      LnsGpuGraphChange change = { .graph = to[i]->graph,
                                   .node = to[i],
                                   .dependency = from[i],
                                   .node_type = type_of (&to[i]->op) };
      LNS_GPU_TELL (graph, DEPENDENCY_CREATED, to[i]->graph->context, &change);
    }
  return 0;
}

size_t
lns_gpu_graph_nodes (CUgraph graph, CUgraphNode *ret_nodes, size_t room)
{
  for (size_t i = 0; ret_nodes != NULL && i < graph->n_nodes && i < room; i++)
    ret_nodes[i] = graph->nodes[i];
  return graph->n_nodes;
}

/* --- capture ------------------------------------------------------------------------------------ */

int
lns_gpu_capture_begin (CUstream stream)
{
  if (stream == stream->context->null_stream)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->capture != NULL)
    return CUDA_ERROR_ILLEGAL_STATE;
  CUgraph graph;
  lns_gpu_graph_create (&graph);
  graph->capturing = true;
  stream->capture = graph;
  stream->n_capture_tail = 0;
  return 0;
}

int
lns_gpu_capture_end (CUstream stream, CUgraph *ret_graph)
{
  CUgraph graph = stream->capture;
  if (graph == NULL)
    return CUDA_ERROR_ILLEGAL_STATE;
  LNS_GPU_LOCK ();
  graph->capturing = false;
  for (CUstream each = stream->context->streams; each != NULL; each = each->next)
    if (each->capture == graph)
      {
        each->capture = NULL;
        each->n_capture_tail = 0;
      }
  LNS_GPU_UNLOCK ();
  *ret_graph = graph;
  return 0;
}

/* A stream that waits for an event of a captured stream joins the capture. */
bool
_lns_gpu_joins_capture (CUstream stream, const LnsGpuOp *op)
{
  return op->kind == LNS_GPU_OP_EVENT_WAIT && op->event->capture != NULL &&
         op->event->capture->capturing;
}

int
_lns_gpu_capture (CUstream stream, const LnsGpuOp *op)
{
  CUevent event = op->event;
  if (op->kind == LNS_GPU_OP_EVENT_RECORD)
    {
      event->capture = stream->capture;
      event->n_capture_tail = 0;
      for (size_t i = 0; i < stream->n_capture_tail; i++)
        append (&event->capture_tail, &event->n_capture_tail, stream->capture_tail[i]);
      return 0;
    }
  if (op->kind == LNS_GPU_OP_EVENT_WAIT)
    {
      if (event->capture == NULL || (stream->capture != NULL && stream->capture != event->capture))
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
      stream->capture = event->capture;
      for (size_t i = 0; i < event->n_capture_tail; i++)
        append (&stream->capture_tail, &stream->n_capture_tail, event->capture_tail[i]);
      return 0;
    }
  CUgraphNode node;
  int result =
      lns_gpu_graph_add (stream->capture, stream->capture_tail, stream->n_capture_tail, op, &node);
  if (result == 0)
    {
      stream->n_capture_tail = 0;
      append (&stream->capture_tail, &stream->n_capture_tail, node);
    }
  return result;
}

/* --- instances ---------------------------------------------------------------------------------- */

/* Gives CLONE the clones of NODE's dependencies; a dependency on a child graph becomes one on all its nodes. */
static void
link_clone (CUgraphNode clone, const struct CUgraphNode_st *node)
{
  for (size_t i = 0; i < node->n_dependencies; i++)
    {
      CUgraphNode dependency = node->dependencies[i];
      append (&clone->dependencies, &clone->n_dependencies, dependency->clone);
      for (size_t j = 0; j < dependency->n_inlined; j++)
        append (&clone->dependencies, &clone->n_dependencies, dependency->inlined[j]);
    }
}

static bool
is_ready (const struct CUgraphNode_st *node)
{
  for (size_t i = 0; i < node->n_dependencies; i++)
    if (node->dependencies[i]->clone == NULL)
      return false;
  return node->clone == NULL;
}

/* Copies the nodes of GRAPH into INTO in topological order. Child graphs are copied in place, after PARENT.
 * Returns false if the graph has a cycle. */
static bool
clone_into (CUgraph into, CUgraph graph, CUgraphNode parent)
{
  size_t n_done = 0;
  for (size_t i = 0; i < graph->n_nodes; i++)
    {
      graph->nodes[i]->clone = NULL;
      graph->nodes[i]->n_inlined = 0;
    }
  for (bool found = true; found;)
    {
      found = false;
      for (size_t i = 0; i < graph->n_nodes; i++)
        {
          CUgraphNode node = graph->nodes[i];
          if (!is_ready (node))
            continue;
          CUgraphNode clone = node_new (into, &node->op);
          link_clone (clone, node);
          if (parent != NULL && clone->n_dependencies == 0)
            append (&clone->dependencies, &clone->n_dependencies, parent);
          node->clone = clone;
          tell (NODE_CLONED, into, clone, node, NULL);
          size_t before = into->n_nodes;
          if (node->op.kind == LNS_GPU_OP_CHILD && !clone_into (into, node->op.child, clone))
            return false;
          for (size_t j = before; j < into->n_nodes; j++)
            append (&node->inlined, &node->n_inlined, into->nodes[j]);
          found = true;
          n_done++;
        }
    }
  return n_done == graph->n_nodes;
}

int
lns_gpu_graph_instantiate (CUgraph graph, CUgraphExec *ret_exec)
{
  if (graph == NULL || graph->capturing)
    return CUDA_ERROR_INVALID_VALUE;
  CUgraphExec exec = calloc (1, sizeof *exec);
  exec->graph = graph_new (graph->context);
  exec->id = exec->graph->id;
  tell (EXEC_CREATE_STARTING, graph, NULL, NULL, exec);
  if (!clone_into (exec->graph, graph, NULL))
    {
      free (exec);
      return CUDA_ERROR_INVALID_VALUE;
    }
  tell (EXEC_CREATED, graph, NULL, NULL, exec);
  *ret_exec = exec;
  return 0;
}

int
lns_gpu_graph_exec_destroy (CUgraphExec exec)
{
  if (exec == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  tell (EXEC_DESTROY_STARTING, exec->graph, NULL, NULL, exec);
  return 0;
}

/* Sets the times of all nodes; returns whether one of them faults. The lock is held. */
static bool
schedule_nodes (CUgraphExec exec, CUstream stream, LnsGpuOp *whole)
{
  int64_t first_ns = whole->start_ns + LAUNCH_LATENCY_NS;
  whole->start_ns = first_ns;
  whole->end_ns = first_ns;
  for (size_t i = 0; i < exec->graph->n_nodes; i++)
    {
      CUgraphNode node = exec->graph->nodes[i];
      int64_t earliest_ns = first_ns;
      for (size_t j = 0; j < node->n_dependencies; j++)
        if (node->dependencies[j]->end_ns > earliest_ns)
          earliest_ns = node->dependencies[j]->end_ns;
      LnsGpuOp op = node->op;
      op.graph = exec->id;
      op.node = node->id;
      op.queued_ns = whole->queued_ns;
      _lns_gpu_schedule_node (stream, &op, earliest_ns);
      node->end_ns = op.end_ns;
      if (op.end_ns > whole->end_ns)
        whole->end_ns = op.end_ns;
      if (op.kind == LNS_GPU_OP_KERNEL && op.kernel.function->faults)
        return true;
      if (op.kind <= LNS_GPU_OP_SET)
        LNS_GPU_TELL (op, &op);
    }
  return false;
}

int
lns_gpu_graph_launch (CUgraphExec exec, CUstream stream)
{
  if (exec == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  if (stream->capture != NULL)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  LnsGpuOp whole = { .kind = LNS_GPU_OP_GRAPH, .graph = exec->id };
  LNS_GPU_LOCK ();
  _lns_gpu_schedule (stream, &whole);
  bool faults = schedule_nodes (exec, stream, &whole);
  stream->ready_ns = whole.end_ns;
  if (!faults)
    LNS_GPU_TELL (op, &whole);
  LNS_GPU_UNLOCK ();
  if (faults)
    {
      _lns_gpu_lose_context (stream->context, CUDA_ERROR_ILLEGAL_ADDRESS);
      return 0;
    }
  for (size_t i = 0; i < exec->graph->n_nodes; i++)
    {
      LnsGpuOp op = exec->graph->nodes[i]->op;
      op.graph = exec->id;
      op.node = exec->graph->nodes[i]->id;
      op.correlation = whole.correlation;
      op.device = whole.device;
      op.context = whole.context;
      op.stream = whole.stream;
      if (op.kind == LNS_GPU_OP_HOST)
        _lns_gpu_run_host (&op);
      else
        _lns_gpu_execute (&op);
    }
  _lns_gpu_hold_back (&whole);
  return 0;
}

uint64_t
lns_gpu_graph_node_id (CUgraphNode node)
{
  return node->id;
}

uint32_t
lns_gpu_graph_id (CUgraph graph)
{
  return graph->id;
}

uint32_t
lns_gpu_graph_exec_id (CUgraphExec exec)
{
  return exec->id;
}
