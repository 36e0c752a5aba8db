/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Graphs of the runtime. */

#include "tests/double/runtime/runtime.h"

static int
begin_capture (cudaStream_t handle, bool per_thread)
{
  CUstream stream;
  int result = lns_gpu_stream_resolve (handle, per_thread, &stream);
  return result != 0 ? result : lns_gpu_capture_begin (stream);
}

static int
end_capture (cudaStream_t handle, cudaGraph_t *ret_graph, bool per_thread)
{
  CUstream stream;
  int result = lns_gpu_stream_resolve (handle, per_thread, &stream);
  return result != 0 ? result : lns_gpu_capture_end (stream, ret_graph);
}

static int
launch (cudaGraphExec_t exec, cudaStream_t handle, bool per_thread)
{
  CUstream stream;
  int result = lns_gpu_stream_resolve (handle, per_thread, &stream);
  return result != 0 ? result : lns_gpu_graph_launch (exec, stream);
}

static int
add_kernel (cudaGraphNode_t *ret_node,
            cudaGraph_t graph,
            const cudaGraphNode_t *dependencies,
            size_t n,
            const struct cudaKernelNodeParams *params)
{
  CUfunction function = _lns_runtime_function (params->func);
  if (function == NULL)
    return cudaErrorInvalidDeviceFunction;
  LnsGpuOp op = { .kind = LNS_GPU_OP_KERNEL,
                  .kernel = {
                      .function = function,
                      .grid = { params->gridDim.x, params->gridDim.y, params->gridDim.z },
                      .block = { params->blockDim.x, params->blockDim.y, params->blockDim.z },
                      .dynamic_shared_bytes = params->sharedMemBytes } };
  return lns_gpu_graph_add (graph, dependencies, n, &op, ret_node);
}

static int
add_copy (cudaGraphNode_t *ret_node,
          cudaGraph_t graph,
          const cudaGraphNode_t *dependencies,
          size_t n,
          void *dst,
          const void *src,
          size_t bytes)
{
  LnsGpuOp op = { .kind = LNS_GPU_OP_COPY,
                  .copy = {
                      .dst = dst, .src = src, .width_bytes = bytes, .height = 1, .async = true } };
  lns_gpu_classify_copy (&op.copy);
  return lns_gpu_graph_add (graph, dependencies, n, &op, ret_node);
}

static int
add_set (cudaGraphNode_t *ret_node,
         cudaGraph_t graph,
         const cudaGraphNode_t *dependencies,
         size_t n,
         const struct cudaMemsetParams *params)
{
  LnsGpuOp op = { .kind = LNS_GPU_OP_SET,
                  .set = { .dst = params->dst,
                           .pitch_bytes = params->pitch,
                           .width = params->width,
                           .height = params->height,
                           .element_bytes = params->elementSize,
                           .value = params->value,
                           .async = true,
                           .memory_kind = LNS_GPU_MEMORY_DEVICE } };
  return lns_gpu_graph_add (graph, dependencies, n, &op, ret_node);
}

static int
add_plain (cudaGraphNode_t *ret_node,
           cudaGraph_t graph,
           const cudaGraphNode_t *dependencies,
           size_t n,
           LnsGpuOp op)
{
  return lns_gpu_graph_add (graph, dependencies, n, &op, ret_node);
}

static int
nodes (cudaGraph_t graph, cudaGraphNode_t *ret_nodes, size_t *inout_n)
{
  size_t n = lns_gpu_graph_nodes (graph, ret_nodes, *inout_n);
  if (ret_nodes == NULL || n < *inout_n)
    *inout_n = n;
  return 0;
}

LNS_RUNTIME_STREAM (cudaStreamBeginCapture,
                    v10000,
                    _ptsz,
                    v10000,
                    (cudaStream_t stream, enum cudaStreamCaptureMode mode),
                    (stream, mode),
                    begin_capture (stream, per_thread))
LNS_RUNTIME_STREAM (cudaStreamEndCapture,
                    v10000,
                    _ptsz,
                    v10000,
                    (cudaStream_t stream, cudaGraph_t *pGraph),
                    (stream, pGraph),
                    end_capture (stream, pGraph, per_thread))
LNS_RUNTIME (cudaGraphCreate,
             v10000,
             (cudaGraph_t * pGraph, unsigned flags),
             (pGraph, flags),
             lns_gpu_graph_create (pGraph))
LNS_RUNTIME (cudaGraphDestroy, v10000, (cudaGraph_t graph), (graph), lns_gpu_graph_destroy (graph))
LNS_RUNTIME (cudaGraphAddKernelNode,
             v10000,
             (cudaGraphNode_t * pGraphNode,
              cudaGraph_t graph,
              const cudaGraphNode_t *pDependencies,
              size_t numDependencies,
              const struct cudaKernelNodeParams *pNodeParams),
             (pGraphNode, graph, pDependencies, numDependencies, pNodeParams),
             add_kernel (pGraphNode, graph, pDependencies, numDependencies, pNodeParams))
LNS_RUNTIME (cudaGraphAddMemcpyNode1D,
             v11010,
             (cudaGraphNode_t * pGraphNode,
              cudaGraph_t graph,
              const cudaGraphNode_t *pDependencies,
              size_t numDependencies,
              void *dst,
              const void *src,
              size_t count,
              enum cudaMemcpyKind kind),
             (pGraphNode, graph, pDependencies, numDependencies, dst, src, count, kind),
             add_copy (pGraphNode, graph, pDependencies, numDependencies, dst, src, count))
LNS_RUNTIME (cudaGraphAddMemsetNode,
             v10000,
             (cudaGraphNode_t * pGraphNode,
              cudaGraph_t graph,
              const cudaGraphNode_t *pDependencies,
              size_t numDependencies,
              const struct cudaMemsetParams *pMemsetParams),
             (pGraphNode, graph, pDependencies, numDependencies, pMemsetParams),
             add_set (pGraphNode, graph, pDependencies, numDependencies, pMemsetParams))
LNS_RUNTIME (cudaGraphAddHostNode,
             v10000,
             (cudaGraphNode_t * pGraphNode,
              cudaGraph_t graph,
              const cudaGraphNode_t *pDependencies,
              size_t numDependencies,
              const struct cudaHostNodeParams *pNodeParams),
             (pGraphNode, graph, pDependencies, numDependencies, pNodeParams),
             add_plain (pGraphNode,
                        graph,
                        pDependencies,
                        numDependencies,
                        (LnsGpuOp){ .kind = LNS_GPU_OP_HOST,
                                    .host = { pNodeParams->fn, pNodeParams->userData } }))
LNS_RUNTIME (cudaGraphAddEmptyNode,
             v10000,
             (cudaGraphNode_t * pGraphNode,
              cudaGraph_t graph,
              const cudaGraphNode_t *pDependencies,
              size_t numDependencies),
             (pGraphNode, graph, pDependencies, numDependencies),
             add_plain (pGraphNode,
                        graph,
                        pDependencies,
                        numDependencies,
                        (LnsGpuOp){ .kind = LNS_GPU_OP_EMPTY }))
LNS_RUNTIME (cudaGraphAddChildGraphNode,
             v10000,
             (cudaGraphNode_t * pGraphNode,
              cudaGraph_t graph,
              const cudaGraphNode_t *pDependencies,
              size_t numDependencies,
              cudaGraph_t childGraph),
             (pGraphNode, graph, pDependencies, numDependencies, childGraph),
             add_plain (pGraphNode,
                        graph,
                        pDependencies,
                        numDependencies,
                        (LnsGpuOp){ .kind = LNS_GPU_OP_CHILD, .child = childGraph }))
LNS_RUNTIME (cudaGraphAddDependencies,
             v12030,
             (cudaGraph_t graph,
              const cudaGraphNode_t *from,
              const cudaGraphNode_t *to,
              const cudaGraphEdgeData *edgeData,
              size_t numDependencies),
             (graph, from, to, edgeData, numDependencies),
             lns_gpu_graph_depend (from, to, numDependencies))
LNS_RUNTIME (cudaGraphGetNodes,
             v10000,
             (cudaGraph_t graph, cudaGraphNode_t *nodes_, size_t *numNodes),
             (graph, nodes_, numNodes),
             nodes (graph, nodes_, numNodes))
LNS_RUNTIME (cudaGraphInstantiate,
             v12000,
             (cudaGraphExec_t * pGraphExec, cudaGraph_t graph, unsigned long long flags),
             (pGraphExec, graph, flags),
             lns_gpu_graph_instantiate (graph, pGraphExec))
LNS_RUNTIME (cudaGraphInstantiateWithFlags,
             v11040,
             (cudaGraphExec_t * pGraphExec, cudaGraph_t graph, unsigned long long flags),
             (pGraphExec, graph, flags),
             lns_gpu_graph_instantiate (graph, pGraphExec))
LNS_RUNTIME_STREAM (cudaGraphLaunch,
                    v10000,
                    _ptsz,
                    v10000,
                    (cudaGraphExec_t graphExec, cudaStream_t stream),
                    (graphExec, stream),
                    launch (graphExec, stream, per_thread))
LNS_RUNTIME_STREAM (cudaGraphUpload,
                    v10000,
                    _ptsz,
                    v10000,
                    (cudaGraphExec_t graphExec, cudaStream_t stream),
                    (graphExec, stream),
                    0)
LNS_RUNTIME (cudaGraphExecDestroy,
             v10000,
             (cudaGraphExec_t graphExec),
             (graphExec),
             lns_gpu_graph_exec_destroy (graphExec))
