/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* cuda-why CAUSE: trains in steps, and loses its time to CAUSE, a word that `lanescope why` has for it. Each step loads a batch
 * ("load"), launches kernels ("forward") and waits for them ("loss"). */

#include "cuda-program.h"

#include <cuda.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STEPS 10
/* What a step loses, in µs: long against all that the GPU does in it. */
#define LOST_USEC 15000
#define START_USEC 300000
#define SPINNERS 3
/* One of SLOW_STEPS steps reads for as long as the slowest of them. */
#define SLOW_STEPS 20
#define SLOW_STEP 13
#define SLOW_USEC 200000
#define SYNCS 400
#define TINY 1500
#define TENSORS 4000
#define BATCH_BYTES 4096

static float *cells;
static const char *cause;
static char batch[BATCH_BYTES];
static volatile double sum;

__global__ void
layer (float *data)
{
  data[threadIdx.x] *= 2;
}

static int
is (const char *word)
{
  return strcmp (cause, word) == 0;
}

static long
now_usec (clockid_t clock)
{
  struct timespec now;
  clock_gettime (clock, &now);
  return now.tv_sec * 1000000L + now.tv_nsec / 1000;
}

/* Computes until CLOCK went on by USEC µs. */
extern "C" __attribute__ ((noinline)) void
decode_batch (clockid_t clock, long usec)
{
  const long end = now_usec (clock) + usec;
  while (now_usec (clock) < end)
    for (int i = 0; i < 2000; i++)
      sum = sum + i * 0.5;
}

/* --- Batches from elsewhere ------------------------------------------------------------------- */

static sem_t wanted, ready;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int n_wanted, n_ready;

static void *
load_for_semaphore (void *)
{
  pthread_setname_np (pthread_self (), "loader");
  for (int i = 0; i < STEPS; i++)
    {
      sem_wait (&wanted);
      nvtxRangePushA ("decode");
      decode_batch (CLOCK_MONOTONIC, LOST_USEC);
      nvtxRangePop ();
      sem_post (&ready);
    }
  return NULL;
}

static void *
load_for_condition (void *)
{
  pthread_setname_np (pthread_self (), "loader");
  for (int i = 1; i <= STEPS; i++)
    {
      pthread_mutex_lock (&mutex);
      while (n_wanted < i)
        pthread_cond_wait (&changed, &mutex);
      pthread_mutex_unlock (&mutex);
      nvtxRangePushA ("decode");
      decode_batch (CLOCK_MONOTONIC, LOST_USEC);
      nvtxRangePop ();
      pthread_mutex_lock (&mutex);
      n_ready = i;
      pthread_cond_broadcast (&changed);
      pthread_mutex_unlock (&mutex);
    }
  return NULL;
}

static void
wait_for_condition (void)
{
  pthread_mutex_lock (&mutex);
  n_wanted++;
  pthread_cond_broadcast (&changed);
  while (n_ready < n_wanted)
    pthread_cond_wait (&changed, &mutex);
  pthread_mutex_unlock (&mutex);
}

static void *
spin (void *)
{
  for (;;)
    sum = sum + 1;
}

static int from_source, to_source;

/* Starts a process that answers each byte with a batch, the one of step SLOW late. */
static void
start_source (long usec, int slow, long slow_usec)
{
  int up[2], down[2];
  if (pipe2 (up, O_CLOEXEC) != 0 || pipe2 (down, O_CLOEXEC) != 0)
    exit (1);
  if (fork () == 0)
    {
      char byte;
      close (up[1]);
      close (down[0]);
      for (int i = 0; read (up[0], &byte, 1) == 1; i++)
        {
          usleep (i == slow ? slow_usec : usec);
          if (write (down[1], batch, sizeof batch) < 0)
            break;
        }
      _exit (0);
    }
  close (up[0]);
  close (down[1]);
  to_source = up[1];
  from_source = down[0];
}

static void
read_batch (void)
{
  if (write (to_source, "", 1) != 1 || read (from_source, batch, sizeof batch) <= 0)
    exit (1);
}

/* Writes a checkpoint to the disk, until it took long enough. */
static void
write_checkpoint (void)
{
  const long end = now_usec (CLOCK_MONOTONIC) + LOST_USEC;
  FILE *file = tmpfile ();
  while (now_usec (CLOCK_MONOTONIC) < end)
    if (write (fileno (file), batch, sizeof batch) < 0 || fsync (fileno (file)) != 0)
      exit (1);
  fclose (file);
}

/* --- Code that is loaded ---------------------------------------------------------------------- */

#define PTX_BYTES (8 << 20)
static char *ptx;

static void
make_code (void)
{
  static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry fused () { ret; }\n";
  ptx = (char *)malloc (PTX_BYTES);
  memset (ptx, ' ', PTX_BYTES - 1);
  memcpy (ptx, text, sizeof text - 1);
  ptx[PTX_BYTES - 1] = '\0';
}

static void
load_code (void)
{
  CUmodule module;
  for (int i = 0; i < 20; i++)
    if (cuModuleLoadData (&module, ptx) != CUDA_SUCCESS || cuModuleUnload (module) != CUDA_SUCCESS)
      exit (1);
}

/* As many allocations as a step has tensors, each with an address of its own. */
static void
allocate (void)
{
  float *tensor;
  for (int i = 0; i < TENSORS; i++)
    {
      CHECK (cudaMalloc ((void **)&tensor, BATCH_BYTES));
      CHECK (cudaFree (tensor));
    }
}

/* --- Steps ------------------------------------------------------------------------------------ */

static void
prepare (void)
{
  pthread_t thread;
  if (is ("lock-wait"))
    {
      sem_init (&wanted, 0, 0);
      sem_init (&ready, 0, 0);
      pthread_create (&thread, NULL, load_for_semaphore, NULL);
    }
  else if (is ("lock-wait-condition"))
    pthread_create (&thread, NULL, load_for_condition, NULL);
  else if (is ("io-wait"))
    start_source (LOST_USEC, -1, 0);
  else if (is ("slow-step"))
    start_source (100, SLOW_STEP, SLOW_USEC);
  else if (is ("module-load"))
    make_code ();
  else if (is ("start-up"))
    {
      nvtxRangePushA ("tokenize");
      decode_batch (CLOCK_MONOTONIC, START_USEC);
      nvtxRangePop ();
    }
  else if (is ("cpu-contention"))
    {
      cpu_set_t one, all;
      CPU_ZERO (&one);
      sched_getaffinity (0, sizeof all, &all);
      for (int cpu = 0; CPU_COUNT (&one) == 0; cpu++)
        if (CPU_ISSET (cpu, &all))
          CPU_SET (cpu, &one);
      sched_setaffinity (0, sizeof one, &one);
      for (int i = 0; i < SPINNERS; i++)
        pthread_create (&thread, NULL, spin, NULL);
    }
}

static void
load (void)
{
  if (is ("lock-wait"))
    {
      sem_post (&wanted);
      sem_wait (&ready);
    }
  else if (is ("lock-wait-condition"))
    wait_for_condition ();
  else if (is ("io-wait") || is ("slow-step"))
    read_batch ();
  else if (is ("io-wait-disk"))
    write_checkpoint ();
  else if (is ("sleep"))
    usleep (LOST_USEC);
  else if (is ("cpu-work"))
    decode_batch (CLOCK_THREAD_CPUTIME_ID, LOST_USEC);
  else if (is ("cpu-contention"))
    decode_batch (CLOCK_THREAD_CPUTIME_ID, LOST_USEC / SPINNERS);
  else if (is ("module-load"))
    load_code ();
  else if (is ("allocation"))
    allocate ();
}

static void
forward (void)
{
  if (is ("gpu-sync"))
    for (int i = 0; i < SYNCS; i++)
      {
        layer<<<1, 32>>> (cells);
        CHECK (cudaDeviceSynchronize ());
      }
  else if (is ("launch-rate"))
    for (int i = 0; i < TINY; i++)
      {
        layer<<<1, 1>>> (cells);
        decode_batch (CLOCK_MONOTONIC, 20); /* as a framework does between two launches */
      }
  else
    for (int i = 0; i < 4; i++)
      layer<<<1056, 1024>>> (cells);
}

int
main (int argc, char **argv)
{
  cause = argc > 1 ? argv[1] : "";
  const int n = is ("slow-step") ? SLOW_STEPS : STEPS;
  prepare ();
  CHECK (cudaMalloc ((void **)&cells, BATCH_BYTES));
  layer<<<1, 32>>> (cells); /* what follows is lost while the program works */
  CHECK (cudaDeviceSynchronize ());
  for (int i = 0; i < n; i++)
    {
      nvtxRangePushA ("step");
      nvtxRangePushA ("load");
      load ();
      nvtxRangePop ();
      nvtxRangePushA ("forward");
      forward ();
      nvtxRangePop ();
      nvtxRangePushA ("loss");
      CHECK (cudaStreamSynchronize (0));
      nvtxRangePop ();
      nvtxRangePop ();
    }
  return 0;
}
