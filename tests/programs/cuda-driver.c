/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The driver's API alone, without nvcc: two contexts of one device, a module in PTX, a library,
 * kernels, copies, sets, a pool and a graph. By NVTX the first context, its stream, its default stream and the
 * device have names. LAUNCHES kernels `scale` of each way to launch. */

#include <cuda.h>
#include <nvtx3/nvToolsExtCuda.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* cudaProfiler.h has them, but is not in NVIDIA's wheels. */
CUresult cuProfilerStart (void);
CUresult cuProfilerStop (void);

#define LAUNCHES 10
#define N        2048

static const char ptx[] = ".version 7.0\n"
                          ".target sm_70\n"
                          ".address_size 64\n"
                          ".visible .entry scale(\n"
                          "  .param .u64 cells\n"
                          ")\n"
                          "{\n"
                          "  ret;\n"
                          "}\n";

#define CHECK(CALL) check ((CALL), __LINE__, #CALL)

static void
check (CUresult result, int line, const char *call)
{
  const char *text = "?";
  if (result == CUDA_SUCCESS)
    return;
  cuGetErrorString (result, &text);
  fprintf (stderr, "cuda-driver.c:%d: %s: %s\n", line, call, text);
  exit (1);
}

static void
launch (CUfunction function, CUstream stream, CUdeviceptr cells)
{
  void *arguments[] = { &cells };
  CUlaunchConfig config = { .gridDimX = 3,
                            .gridDimY = 2,
                            .gridDimZ = 1,
                            .blockDimX = 64,
                            .blockDimY = 2,
                            .blockDimZ = 1,
                            .hStream = stream };
  for (int i = 0; i < LAUNCHES; i++)
    {
      CHECK (cuLaunchKernel (function, 8, 1, 1, 256, 1, 1, 512, stream, arguments, NULL));
      CHECK (cuLaunchKernelEx (&config, function, arguments, NULL));
    }
  CHECK (cuLaunchCooperativeKernel (function, 4, 1, 1, 32, 1, 1, 0, stream, arguments));
}

static void
copy_and_set (CUstream stream, CUdeviceptr cells, CUdeviceptr other)
{
  static unsigned host[N], back[N];
  unsigned *pinned;
  CHECK (cuMemAllocHost ((void **)&pinned, sizeof host));
  for (int i = 0; i < N; i++)
    pinned[i] = host[i] = (unsigned)i;
  CHECK (cuMemcpyHtoD (cells, host, sizeof host));
  CHECK (cuMemcpyDtoDAsync (other, cells, sizeof host, stream));
  CHECK (cuMemcpyHtoDAsync (cells, pinned, sizeof host, stream));
  CHECK (cuMemcpyDtoH (back, other, sizeof host));
  if (memcmp (host, back, sizeof host) != 0)
    exit (2);
  CHECK (cuMemsetD32 (cells, 0xabcd, N));
  CHECK (cuMemsetD8Async (other, 7, N, stream));
  CHECK (cuStreamSynchronize (stream));
  CHECK (cuMemFreeHost (pinned));
}

static void
replay (CUfunction function, CUstream stream, CUdeviceptr cells)
{
  CUgraph graph;
  CUgraphExec exec;
  void *arguments[] = { &cells };
  CHECK (cuStreamBeginCapture (stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CHECK (cuLaunchKernel (function, 2, 1, 1, 32, 1, 1, 0, stream, arguments, NULL));
  CHECK (cuStreamEndCapture (stream, &graph));
  CHECK (cuGraphInstantiate (&exec, graph, 0));
  for (int i = 0; i < 3; i++)
    CHECK (cuGraphLaunch (exec, stream));
  CHECK (cuStreamSynchronize (stream));
}

int
main (void)
{
  CUdevice device;
  CUcontext context, second;
  CUmodule module;
  CUfunction function;
  CUlibrary library;
  CUkernel kernel;
  CUstream stream;
  CUdeviceptr cells, other, from_pool;
  void *arguments[] = { &cells };
  char name[64];
  CHECK (cuInit (0));
  CHECK (cuDeviceGet (&device, 0));
  CHECK (cuDeviceGetName (name, sizeof name, device));
  CHECK (cuCtxCreate (&context, NULL, 0, device));
  CHECK (cuModuleLoadData (&module, ptx));
  CHECK (cuModuleGetFunction (&function, module, "scale"));
  if (cuModuleGetFunction (&function, module, "no_such") != CUDA_ERROR_NOT_FOUND)
    return 3;
  CHECK (cuModuleGetFunction (&function, module, "scale"));
  CHECK (cuStreamCreate (&stream, CU_STREAM_NON_BLOCKING));
  nvtxNameCuDeviceA (device, "the first");
  nvtxNameCuContextA (context, "main");
  nvtxNameCuStreamW (stream, L"Strom für Arbeit");
  nvtxNameCuStreamA (NULL, "default");
  CHECK (cuMemAlloc (&cells, N * sizeof (unsigned)));
  CHECK (cuMemAlloc (&other, N * sizeof (unsigned)));
  copy_and_set (stream, cells, other);
  CHECK (cuProfilerStart ());
  launch (function, stream, cells);
  CHECK (cuCtxSynchronize ());
  CHECK (cuProfilerStop ());
  replay (function, stream, cells);
  CHECK (cuMemAllocAsync (&from_pool, 4096, stream));
  CHECK (cuMemFreeAsync (from_pool, stream));
  CHECK (cuCtxCreate (&second, NULL, 0, device));
  CHECK (cuLibraryLoadData (&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
  CHECK (cuLibraryGetKernel (&kernel, library, "scale"));
  CHECK (cuLaunchKernel ((CUfunction)kernel, 1, 1, 1, 96, 1, 1, 0, NULL, arguments, NULL));
  CHECK (cuCtxDestroy (second));
  CHECK (cuCtxSetCurrent (context));
  CHECK (cuMemFree (cells));
  CHECK (cuMemFree (other));
  CHECK (cuModuleUnload (module));
  CHECK (cuCtxDestroy (context));
  puts (name);
  return 0;
}
