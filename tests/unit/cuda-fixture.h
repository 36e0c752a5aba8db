/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Runs scenes that use CUDA on the double, with the injected library loaded, and keeps the
 * records. A scene is a function of the test program, which is started again for it, because the
 * loader reads LD_LIBRARY_PATH only when a program starts. */

#pragma once

#include "capture/wire/cuda-layout.h"
#include "tests/unit/mini-session.h"

#include <cuda_runtime_api.h>

/* cuda_profiler_api.h has them, but is not in NVIDIA's wheels. */
cudaError_t cudaProfilerStart (void);
cudaError_t cudaProfilerStop (void);

#define CUDA_RECORDS_MAX 65536

/* The functions of the runtime that scenes call, found in the double. */
#define CUDA_FUNCTIONS(X)                                                                          \
 X (cudaMalloc)                                                                                    \
 X (cudaFree)                                                                                      \
 X (cudaMallocAsync)                                                                               \
 X (cudaFreeAsync)                                                                                 \
 X (cudaMallocManaged)                                                                             \
 X (cudaMemPrefetchAsync)                                                                          \
 X (cudaMemcpy)                                                                                    \
 X (cudaMemset)                                                                                    \
 X (cudaSetDevice)                                                                                 \
 X (cudaDeviceSynchronize)                                                                         \
 X (cudaDeviceReset)                                                                               \
 X (cudaGetDevice)                                                                                 \
 X (cudaGetLastError)                                                                              \
 X (cudaProfilerStart)                                                                             \
 X (cudaProfilerStop)                                                                              \
 X (cudaStreamCreate)                                                                              \
 X (cudaStreamSynchronize)                                                                         \
 X (cudaStreamBeginCapture)                                                                        \
 X (cudaStreamEndCapture)                                                                          \
 X (cudaGraphInstantiate)                                                                          \
 X (cudaGraphLaunch)                                                                               \
 X (cudaEventCreate)                                                                               \
 X (cudaEventRecord)                                                                               \
 X (cudaEventSynchronize)                                                                          \
 X (cudaMemcpyPeer)                                                                                \
 X (cudaLaunchKernel)

typedef struct
{
#define X(name) __typeof__ (&name) name;
  CUDA_FUNCTIONS (X)
#undef X
} CudaFunctions;

/* --- In the scene. --------------------------------------------------------------------------- */

extern CudaFunctions cuda;

/* Finds the functions and registers kernels "add" and "scale"; exits with 97 where there is no
 * double. */
void cuda_start (void);

/* Launches N times kernel "add" (or "scale") with BLOCKS of THREADS on STREAM. */
void cuda_launch (int n, bool scale, unsigned blocks, unsigned threads, cudaStream_t stream);

/* --- In the test. ---------------------------------------------------------------------------- */

typedef struct
{
  const char *name;
  int (*run) (void);
} CudaScene;

/* All records of the last session's CUDA engine, in the order of their coming. */
extern const LnsWireHead *cuda_records[CUDA_RECORDS_MAX];
extern size_t n_cuda_records;

/* To be called first in main(): runs the scene that ARGV names, if it does, and exits. */
void cuda_scenes (const CudaScene *scenes, char **argv);

/* What the next sessions do on each visit; null: nothing. */
extern void (*cuda_on_visit) (MiniSession *);

/* Whether the next sessions lend buffers: yes at first. */
extern bool cuda_has_buffers;

/* How many chunks the next sessions lend, and how often they drain: 0 at first, as the mini session
 * does. */
extern uint32_t cuda_n_free;
extern int cuda_drain_every_ms;

/* How long the next sessions let each hello wait: 0 at first. */
extern int cuda_answer_after_ms;

/* Kernels of the last session whose launch slot had no meaning when they came. */
extern size_t n_cuda_unknown_slots;

/* Runs SCENE under a session that asks for ASKED. ENVIRONMENT: "NAME=VALUE" pairs, or null. */
MiniSession *cuda_run (const char *scene,
                       const LnsWireOptions *asked,
                       bool paused,
                       const char *const *environment);

/* Whether the scene has ended with 0, and no record is broken or out of its time. */
bool cuda_is_sound (const MiniSession *session);

/* The Nth record of TYPE, or null. */
const void *cuda_record (LnsWireCudaType type, size_t n);
size_t cuda_count (LnsWireCudaType type);

/* The text of a registered string of SESSION's first process. */
const char *cuda_text (const MiniSession *session, uint32_t string);

/* The PROBLEM records of kind PROBLEM. */
size_t cuda_problems (LnsWireCudaProblem problem);
