/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Streams, events and graphs of the driver. */

#include "tests/double/driver/driver.h"

/* Looks HANDLE up as the variable `stream` and evaluates EXPRESSION with it. */
#define WITH_STREAM(HANDLE, PER_THREAD, EXPRESSION)                                                \
 CUstream stream;                                                                                  \
 int result = lns_gpu_stream_resolve (HANDLE, PER_THREAD, &stream);                                \
 return result != 0 ? result : (EXPRESSION)

static int
query_stream (CUstream handle, bool per_thread)
{
  WITH_STREAM (handle, per_thread, lns_gpu_stream_query (stream));
}

static int
context_of (CUstream handle, CUcontext *ret_context, bool per_thread)
{
  WITH_STREAM (handle, per_thread, (*ret_context = stream->context, CUDA_SUCCESS));
}

static int
synchronize_stream (CUstream handle, bool per_thread)
{
  WITH_STREAM (handle, per_thread, lns_gpu_stream_synchronize (stream));
}

static int
wait_event (CUstream handle, CUevent event, bool per_thread)
{
  WITH_STREAM (handle, per_thread,
               event == NULL ? CUDA_ERROR_INVALID_HANDLE
                             : lns_gpu_stream_wait_event (stream, event));
}

static int
record_event (CUevent event, CUstream handle, bool per_thread)
{
  WITH_STREAM (handle, per_thread, lns_gpu_event_record (event, stream));
}

static int
run_on_host (CUstream handle, CUhostFn function, void *data, bool per_thread)
{
  LnsGpuOp op = { .kind = LNS_GPU_OP_HOST, .host = { function, data } };
  WITH_STREAM (handle, per_thread, lns_gpu_submit (stream, &op));
}

static int
begin_capture (CUstream handle, bool per_thread)
{
  WITH_STREAM (handle, per_thread, lns_gpu_capture_begin (stream));
}

static int
end_capture (CUstream handle, CUgraph *ret_graph, bool per_thread)
{
  WITH_STREAM (handle, per_thread, lns_gpu_capture_end (stream, ret_graph));
}

static int
is_capturing (CUstream handle, CUstreamCaptureStatus *ret_status, bool per_thread)
{
  WITH_STREAM (handle, per_thread,
               (*ret_status = stream->capture != NULL ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                                      : CU_STREAM_CAPTURE_STATUS_NONE,
                0));
}

static int
launch_graph (CUgraphExec exec, CUstream handle, bool per_thread)
{
  WITH_STREAM (handle, per_thread, lns_gpu_graph_launch (exec, stream));
}

static int
add_kernel (CUgraphNode *ret_node,
            CUgraph graph,
            const CUgraphNode *dependencies,
            size_t n,
            const CUDA_KERNEL_NODE_PARAMS *params)
{
  LnsGpuOp op = { .kind = LNS_GPU_OP_KERNEL,
                  .kernel = { .function =
                                  params->func != NULL ? params->func : (CUfunction)params->kern,
                              .grid = { params->gridDimX, params->gridDimY, params->gridDimZ },
                              .block = { params->blockDimX, params->blockDimY, params->blockDimZ },
                              .dynamic_shared_bytes = params->sharedMemBytes } };
  if (op.kernel.function == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  return lns_gpu_graph_add (graph, dependencies, n, &op, ret_node);
}

LNS_DRIVER (cuStreamCreate,
            (CUstream * phStream, unsigned Flags),
            (phStream, Flags),
            lns_gpu_stream_create (Flags, 0, phStream))
LNS_DRIVER (cuStreamCreateWithPriority,
            (CUstream * phStream, unsigned flags, int priority),
            (phStream, flags, priority),
            lns_gpu_stream_create (flags, priority, phStream))
LNS_DRIVER (cuStreamDestroy_v2, (CUstream hStream), (hStream), lns_gpu_stream_destroy (hStream))
LNS_DRIVER_STREAM (cuStreamGetCtx,
                   _ptsz,
                   (CUstream handle, CUcontext *context),
                   (handle, context),
                   context_of (handle, context, per_thread))
LNS_DRIVER_STREAM (
    cuStreamQuery, _ptsz, (CUstream hStream), (hStream), query_stream (hStream, per_thread))
LNS_DRIVER_STREAM (cuStreamSynchronize,
                   _ptsz,
                   (CUstream hStream),
                   (hStream),
                   synchronize_stream (hStream, per_thread))
LNS_DRIVER_STREAM (cuStreamWaitEvent,
                   _ptsz,
                   (CUstream hStream, CUevent hEvent, unsigned Flags),
                   (hStream, hEvent, Flags),
                   wait_event (hStream, hEvent, per_thread))
LNS_DRIVER_STREAM (cuLaunchHostFunc,
                   _ptsz,
                   (CUstream hStream, CUhostFn fn, void *userData),
                   (hStream, fn, userData),
                   run_on_host (hStream, fn, userData, per_thread))

LNS_DRIVER (cuEventCreate,
            (CUevent * phEvent, unsigned Flags),
            (phEvent, Flags),
            lns_gpu_event_create (Flags, phEvent))
LNS_DRIVER (cuEventDestroy_v2, (CUevent hEvent), (hEvent), lns_gpu_event_destroy (hEvent))
LNS_DRIVER (cuEventQuery, (CUevent hEvent), (hEvent), lns_gpu_event_query (hEvent))
LNS_DRIVER (cuEventSynchronize, (CUevent hEvent), (hEvent), lns_gpu_event_synchronize (hEvent))
LNS_DRIVER (cuEventElapsedTime_v2,
            (float *pMilliseconds, CUevent hStart, CUevent hEnd),
            (pMilliseconds, hStart, hEnd),
            lns_gpu_event_elapsed (hStart, hEnd, pMilliseconds))
LNS_DRIVER_STREAM (cuEventRecord,
                   _ptsz,
                   (CUevent hEvent, CUstream hStream),
                   (hEvent, hStream),
                   record_event (hEvent, hStream, per_thread))

LNS_DRIVER_STREAM (cuStreamBeginCapture_v2,
                   _ptsz,
                   (CUstream hStream, CUstreamCaptureMode mode),
                   (hStream, mode),
                   begin_capture (hStream, per_thread))
LNS_DRIVER_STREAM (cuStreamEndCapture,
                   _ptsz,
                   (CUstream hStream, CUgraph *phGraph),
                   (hStream, phGraph),
                   end_capture (hStream, phGraph, per_thread))
LNS_DRIVER_STREAM (cuStreamIsCapturing,
                   _ptsz,
                   (CUstream hStream, CUstreamCaptureStatus *captureStatus),
                   (hStream, captureStatus),
                   is_capturing (hStream, captureStatus, per_thread))
LNS_DRIVER (cuGraphCreate,
            (CUgraph * phGraph, unsigned flags),
            (phGraph, flags),
            lns_gpu_graph_create (phGraph))
LNS_DRIVER (cuGraphDestroy, (CUgraph hGraph), (hGraph), lns_gpu_graph_destroy (hGraph))
LNS_DRIVER (cuGraphAddKernelNode_v2,
            (CUgraphNode * phGraphNode,
             CUgraph hGraph,
             const CUgraphNode *dependencies,
             size_t numDependencies,
             const CUDA_KERNEL_NODE_PARAMS *nodeParams),
            (phGraphNode, hGraph, dependencies, numDependencies, nodeParams),
            add_kernel (phGraphNode, hGraph, dependencies, numDependencies, nodeParams))
LNS_DRIVER (cuGraphInstantiateWithFlags,
            (CUgraphExec * phGraphExec, CUgraph hGraph, unsigned long long flags),
            (phGraphExec, hGraph, flags),
            lns_gpu_graph_instantiate (hGraph, phGraphExec))
LNS_DRIVER_STREAM (cuGraphLaunch,
                   _ptsz,
                   (CUgraphExec hGraphExec, CUstream hStream),
                   (hGraphExec, hStream),
                   launch_graph (hGraphExec, hStream, per_thread))
LNS_DRIVER (cuGraphExecDestroy,
            (CUgraphExec hGraphExec),
            (hGraphExec),
            lns_gpu_graph_exec_destroy (hGraphExec))
