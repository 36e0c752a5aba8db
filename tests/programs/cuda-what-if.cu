/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* cuda-what-if SEED [WORD]…: a program drawn from SEED that trains in steps on a GPU. A WORD is a change really made, all else is the same:
 *
 *   gemm=FACTOR, norm=FACTOR   these kernels take so many times as long
 *   load=FACTOR, save=FACTOR   the host takes so many times as long in these ranges
 *   no-copy, pinned            batches are not copied to the GPU; are copied from pinned memory
 *   no-sync                    steps do not wait for the GPU, as far as their program is one that can do without
 *   prefetch                   "load" is done by another thread, one ahead
 *
 * Times of the host are sleeps, and those of the GPU follow from grids: a busy machine makes neither much longer. */

#include "cuda-program.h"

#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define MOST_STEPS 24
#define MOST_BYTES 96000
#define THREADS 1024
/* On the double N − 1 waves of so many blocks take N times so long, but for 24 ns (tests/double/README.md). */
#define BLOCKS_A_WAVE 264
#define WAVE_NSEC 2024
/* Kernels have a multiple of so many, as factors are quarters. */
#define WAVES 4

typedef enum
{
  EAGER,       /* load, copy, kernels, wait                                                     */
  SYNCED,      /* waits after each kernel                                                       */
  AHEAD,       /* launches step after step, and waits at the end                                */
  DOUBLE,      /* copies the next batch in a stream of its own while this one is worked on      */
  BRANCHES,    /* two streams work side by side, and join                                       */
  GRAPH,       /* kernels of a step are a graph                                                 */
  LOADER,      /* another thread loads                                                          */
  TWO_THREADS, /* two threads, each with a stream and batches of its own                        */
  N_SHAPES
} Shape;

typedef enum
{
  GEMM,
  NORM,
  LOAD,
  SAVE,
  N_TIMES
} Time;

static const char *const names[N_TIMES] = { "gemm", "norm", "load", "save" };
static double factors[N_TIMES] = { 1, 1, 1, 1 };
static int usec[2][MOST_STEPS][N_TIMES];
static int n_steps, n_layers, is_pinned, is_async, copies = 1, syncs = 1, prefetches;
static size_t n_bytes;
static uint64_t state;
static sem_t wanted, ready;

__global__ void
gemm (float *cells)
{
  cells[threadIdx.x] *= 2;
}

__global__ void
norm (float *cells)
{
  cells[threadIdx.x] += 1;
}

static unsigned
draw (unsigned below)
{
  state = state * UINT64_C (6364136223846793005) + UINT64_C (1442695040888963407);
  return (unsigned) (state >> 33) % below;
}

/* The host is in range TIME of step I, as thread WHO. */
static void
on_host (int who, int i, Time time)
{
  const int n = (int) (usec[who][i][time] * factors[time]);
  timespec left = { n / 1000000, n % 1000000 * 1000L };
  nvtxRangePushA (names[time]);
  nanosleep (&left, NULL);
  nvtxRangePop ();
}

/* Launches kernel TIME of step I in STREAM. */
static void
on_gpu (int who, int i, Time time, float *cells, cudaStream_t stream)
{
  const int quarters = usec[who][i][time] * 1000 / WAVE_NSEC / WAVES;
  const int blocks = ((int) (quarters * WAVES * factors[time]) - 1) * BLOCKS_A_WAVE;
  if (time == GEMM)
    gemm<<<blocks, THREADS, 0, stream>>> (cells);
  else
    norm<<<blocks, THREADS, 0, stream>>> (cells);
}

/* What one thread needs. */
typedef struct
{
  int who;
  float *cells, *batch;
  cudaStream_t stream, side;
  cudaEvent_t there, done;
} Place;

static Place
make_place (int who)
{
  Place place = {};
  place.who = who;
  CHECK (cudaMalloc ((void **) &place.cells, MOST_BYTES));
  if (is_pinned)
    CHECK (cudaMallocHost ((void **) &place.batch, MOST_BYTES));
  else
    place.batch = (float *) malloc (MOST_BYTES);
  memset (place.batch, 0, MOST_BYTES);
  CHECK (cudaStreamCreateWithFlags (&place.stream, cudaStreamNonBlocking));
  CHECK (cudaStreamCreateWithFlags (&place.side, cudaStreamNonBlocking));
  CHECK (cudaEventCreateWithFlags (&place.there, cudaEventDisableTiming));
  CHECK (cudaEventCreateWithFlags (&place.done, cudaEventDisableTiming));
  return place;
}

/* Copies a batch, in STREAM where that is asynchronous. */
static void
copy (const Place *place, cudaStream_t stream)
{
  if (!copies)
    return;
  if (is_async)
    CHECK (cudaMemcpyAsync (place->cells, place->batch, n_bytes, cudaMemcpyHostToDevice, stream));
  else
    CHECK (cudaMemcpy (place->cells, place->batch, n_bytes, cudaMemcpyHostToDevice));
}

static void
layers (const Place *place, int i)
{
  for (int k = 0; k < n_layers; k++)
    {
      on_gpu (place->who, i, GEMM, place->cells, place->stream);
      on_gpu (place->who, i, NORM, place->cells, place->stream);
    }
}

static void
load (const Place *place, int i)
{
  if (!prefetches)
    on_host (place->who, i, LOAD);
  else
    {
      sem_wait (&ready);
      sem_post (&wanted);
    }
}

static void
step (const Place *place, int i)
{
  load (place, i);
  copy (place, place->stream);
  layers (place, i);
  if (syncs)
    CHECK (cudaStreamSynchronize (place->stream));
  on_host (place->who, i, SAVE);
}

static void
step_synced (const Place *place, int i)
{
  load (place, i);
  for (int k = 0; k < n_layers; k++)
    for (int time = GEMM; time <= NORM; time++)
      {
        on_gpu (place->who, i, (Time) time, place->cells, place->stream);
        if (syncs)
          CHECK (cudaStreamSynchronize (place->stream));
      }
  on_host (place->who, i, SAVE);
}

/* The next batch is copied when the kernels of the last one but one are done with it. */
static void
step_double (const Place *place, int i)
{
  load (place, i);
  if (i > 0)
    CHECK (cudaStreamWaitEvent (place->side, place->done, 0));
  copy (place, place->side);
  CHECK (cudaEventRecord (place->there, place->side));
  CHECK (cudaEventRecord (place->done, place->stream));
  CHECK (cudaStreamWaitEvent (place->stream, place->there, 0));
  layers (place, i);
  if (i % 4 == 3 && syncs)
    CHECK (cudaStreamSynchronize (place->stream));
}

static void
step_branches (const Place *place, int i)
{
  load (place, i);
  CHECK (cudaEventRecord (place->there, place->stream));
  CHECK (cudaStreamWaitEvent (place->side, place->there, 0));
  for (int k = 0; k < n_layers; k++)
    {
      on_gpu (place->who, i, GEMM, place->cells, place->stream);
      on_gpu (place->who, i, NORM, place->cells, place->side);
    }
  CHECK (cudaEventRecord (place->done, place->side));
  CHECK (cudaStreamWaitEvent (place->stream, place->done, 0));
  on_gpu (place->who, i, NORM, place->cells, place->stream);
  if (syncs)
    CHECK (cudaStreamSynchronize (place->stream));
  on_host (place->who, i, SAVE);
}

static cudaGraphExec_t graph_exec;

static void
capture (const Place *place)
{
  cudaGraph_t graph;
  CHECK (cudaStreamBeginCapture (place->stream, cudaStreamCaptureModeThreadLocal));
  CHECK (cudaEventRecord (place->there, place->stream));
  CHECK (cudaStreamWaitEvent (place->side, place->there, 0));
  on_gpu (place->who, 0, NORM, place->cells, place->side);
  for (int k = 0; k < n_layers; k++)
    on_gpu (place->who, 0, GEMM, place->cells, place->stream);
  CHECK (cudaEventRecord (place->done, place->side));
  CHECK (cudaStreamWaitEvent (place->stream, place->done, 0));
  on_gpu (place->who, 0, NORM, place->cells, place->stream);
  CHECK (cudaStreamEndCapture (place->stream, &graph));
  CHECK (cudaGraphInstantiate (&graph_exec, graph, 0));
}

static void
step_graph (const Place *place, int i)
{
  load (place, i);
  CHECK (cudaGraphLaunch (graph_exec, place->stream));
  if (syncs)
    CHECK (cudaStreamSynchronize (place->stream));
  on_host (place->who, i, SAVE);
}

static void *
load_all (void *)
{
  for (int i = 0; i < n_steps; i++)
    {
      sem_wait (&wanted);
      on_host (0, i, LOAD);
      sem_post (&ready);
    }
  return NULL;
}

static void *
run (void *data)
{
  const Place *place = (const Place *) data;
  for (int i = 0; i < n_steps; i++)
    {
      nvtxRangePushA ("step");
      step (place, i);
      nvtxRangePop ();
    }
  return NULL;
}

static void
run_shape (Shape shape, Place *places)
{
  static void (*const steps[N_SHAPES]) (const Place *, int) = {
    step, step_synced, step, step_double, step_branches, step_graph, step, step
  };
  pthread_t thread;
  const int has_thread = shape == LOADER || prefetches || shape == TWO_THREADS;
  if (shape == GRAPH)
    capture (&places[0]);
  nvtxRangePushA ("train");
  if (has_thread)
    pthread_create (&thread, NULL, shape == TWO_THREADS ? run : load_all, &places[1]);
  for (int i = 0; i < n_steps; i++)
    {
      nvtxRangePushA ("step");
      steps[shape](&places[0], i);
      nvtxRangePop ();
    }
  if (has_thread)
    pthread_join (thread, NULL);
  CHECK (cudaDeviceSynchronize ());
  nvtxRangePop ();
}

static void
read_words (int argc, char **argv)
{
  for (int i = 2; i < argc; i++)
    {
      copies &= strcmp (argv[i], "no-copy") != 0;
      syncs &= strcmp (argv[i], "no-sync") != 0;
      is_pinned |= strcmp (argv[i], "pinned") == 0;
      prefetches |= strcmp (argv[i], "prefetch") == 0;
      for (int k = 0; k < N_TIMES; k++)
        if (strncmp (argv[i], names[k], 4) == 0 && argv[i][4] == '=')
          factors[k] = atof (argv[i] + 5);
    }
}

int
main (int argc, char **argv)
{
  const unsigned seed = argc > 1 ? (unsigned) atoi (argv[1]) : 1;
  const Shape shape = (Shape) (seed % N_SHAPES);
  state = seed * UINT64_C (1000003) + 29;
  for (int k = 0; k < 8; k++)
    draw (2);
  n_steps = 12 + (int) draw (MOST_STEPS - 11);
  n_layers = 1 + (int) draw (4);
  is_async = draw (2) || shape == AHEAD || shape == DOUBLE || shape == TWO_THREADS;
  is_pinned = shape == AHEAD || shape == DOUBLE || shape == TWO_THREADS;
  syncs = shape != AHEAD;
  prefetches = shape == LOADER;
  n_bytes = MOST_BYTES / 16 * (1 + draw (is_pinned ? 8 : 4));
  int typical[N_TIMES];
  for (int k = 0; k < N_TIMES; k++)
    typical[k] = k <= NORM ? (300 + (int) draw (3000)) / n_layers : 500 + (int) draw (k == LOAD ? 6000 : 2000);
  for (int who = 0; who < 2; who++)
    for (int i = 0; i < n_steps; i++)
      for (int k = 0; k < N_TIMES; k++)
        usec[who][i][k] = typical[k] * (int) (60 + draw (80)) / 100;
  read_words (argc, argv);
  sem_init (&wanted, 0, 2);
  sem_init (&ready, 0, 0);
  Place places[2] = { make_place (0), make_place (1) };
  gemm<<<1, 32>>> (places[0].cells);
  norm<<<1, 32>>> (places[0].cells);
  CHECK (cudaDeviceSynchronize ());
  run_shape (shape, places);
  return 0;
}
