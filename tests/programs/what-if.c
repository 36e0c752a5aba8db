/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* what-if SEED [RANGE=FACTOR | prefetch]…: a program drawn from SEED, whose threads or processes wait for each other as real ones do. RANGE
 * takes FACTOR times as long as SEED says; with "prefetch", "load" is done by another thread, one ahead. All else is the same, so
 * that a forecast of such a change can be compared with the change really made. Work is a sleep: a busy machine makes it little longer. */

#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_STEPS 40
#define N_WORKERS  3

typedef enum
{
  SERIAL,     /* load, train, save, one after the other                                          */
  LOADER,     /* another thread loads, at most one ahead: semaphores                             */
  PIPELINE,   /* load, decode, train, each in a thread of its own: a condition                   */
  CONTENTION, /* workers with a lock around part of what they do                                 */
  CHILD,      /* another process loads: pipes                                                    */
  FORK_JOIN,  /* each step is shared out to workers, and waits for the slowest                   */
  SHARED,     /* as PIPELINE, with one condition that tells all of all                           */
  N_SHAPES
} Shape;

enum
{
  LOAD,
  DECODE,
  TRAIN,
  SAVE,
  N_RANGES
};

static const char *const names[N_RANGES] = { "load", "decode", "train", "save" };
static double factors[N_RANGES] = { 1, 1, 1, 1 };
static int usec[N_WORKERS + 1][MOST_STEPS][N_RANGES];
static int n_steps, prefetches;
static uint64_t state;

static unsigned
draw (unsigned below)
{
  state = state * UINT64_C (6364136223846793005) + UINT64_C (1442695040888963407);
  return (unsigned)(state >> 33) % below;
}

static void
sleep_usec (int n)
{
  struct timespec left = { n / 1000000, n % 1000000 * 1000L };
  nanosleep (&left, NULL);
}

/* Does RANGE of step I, as thread WHO of several. */
static void
work (int who, int i, int range)
{
  nvtxRangePushA (names[range]);
  sleep_usec ((int)(usec[who][i][range] * factors[range]));
  nvtxRangePop ();
}

/* --- Loader, or prefetch ---------------------------------------------------------------------- */

static sem_t wanted, ready;

static void *
load_all (void *unused)
{
  (void)unused;
  for (int i = 0; i < n_steps; i++)
    {
      sem_wait (&wanted);
      work (0, i, LOAD);
      sem_post (&ready);
    }
  return NULL;
}

static void
run_loader (void)
{
  pthread_t thread;
  sem_init (&wanted, 0, 2);
  sem_init (&ready, 0, 0);
  pthread_create (&thread, NULL, load_all, NULL);
  for (int i = 0; i < n_steps; i++)
    {
      nvtxRangePushA ("step");
      sem_wait (&ready);
      sem_post (&wanted);
      work (0, i, TRAIN);
      work (0, i, SAVE);
      nvtxRangePop ();
    }
  pthread_join (thread, NULL);
}

/* --- Pipeline --------------------------------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* A queue of at most ROOM items, as most programs have it. */
#define ROOM 2

typedef struct
{
  pthread_mutex_t mutex;
  pthread_cond_t not_empty, not_full;
  int n;
} Queue;

static Queue queues[2] = {
  { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 },
  { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 },
};

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_shared;

static void
wait_for (Queue *queue, pthread_cond_t *condition)
{
  pthread_cond_wait (is_shared ? &changed : condition, is_shared ? &mutex : &queue->mutex);
}

/* Puts N items into QUEUE, 1 or −1. */
static void
add (Queue *queue, int n)
{
  queue->n += n;
  if (is_shared)
    pthread_cond_broadcast (&changed);
  else
    pthread_cond_signal (n > 0 ? &queue->not_empty : &queue->not_full);
}

static void
put (Queue *queue)
{
  pthread_mutex_lock (is_shared ? &mutex : &queue->mutex);
  while (queue->n == ROOM)
    wait_for (queue, &queue->not_full);
  add (queue, 1);
  pthread_mutex_unlock (is_shared ? &mutex : &queue->mutex);
}

static void
get (Queue *queue)
{
  pthread_mutex_lock (is_shared ? &mutex : &queue->mutex);
  while (queue->n == 0)
    wait_for (queue, &queue->not_empty);
  add (queue, -1);
  pthread_mutex_unlock (is_shared ? &mutex : &queue->mutex);
}

static void *
run_stage (void *data)
{
  const int stage = (int)(intptr_t)data;
  for (int i = 0; i < n_steps; i++)
    {
      if (stage > 0)
        get (&queues[stage - 1]);
      work (0, i, stage);
      put (&queues[stage]);
    }
  return NULL;
}

static void
run_pipeline (void)
{
  pthread_t threads[2];
  for (intptr_t k = 0; k < 2; k++)
    pthread_create (&threads[k], NULL, run_stage, (void *)k);
  for (int i = 0; i < n_steps; i++)
    {
      nvtxRangePushA ("step");
      get (&queues[1]);
      work (0, i, TRAIN);
      nvtxRangePop ();
    }
  for (int k = 0; k < 2; k++)
    pthread_join (threads[k], NULL);
}

/* --- Contention ------------------------------------------------------------------------------- */

static void *
contend (void *data)
{
  const int who = (int)(intptr_t)data;
  for (int i = 0; i < n_steps; i++)
    {
      work (who, i, DECODE);
      pthread_mutex_lock (&mutex);
      work (who, i, SAVE);
      pthread_mutex_unlock (&mutex);
    }
  return NULL;
}

static void
run_contention (void)
{
  pthread_t threads[N_WORKERS];
  for (intptr_t k = 0; k < N_WORKERS; k++)
    pthread_create (&threads[k], NULL, contend, (void *)(k + 1));
  for (int k = 0; k < N_WORKERS; k++)
    pthread_join (threads[k], NULL);
}

/* --- Child ------------------------------------------------------------------------------------ */

static void
run_child (void)
{
  int to_child[2], from_child[2];
  char byte = 0;
  if (pipe (to_child) != 0 || pipe (from_child) != 0)
    exit (1);
  const pid_t child = fork ();
  if (child == 0)
    {
      for (int i = 0; read (to_child[0], &byte, 1) == 1 && byte == 1; i++)
        {
          work (0, i, LOAD);
          if (write (from_child[1], &byte, 1) != 1)
            break;
        }
      exit (0);
    }
  for (int i = 0; i < n_steps; i++)
    {
      byte = 1;
      nvtxRangePushA ("step");
      if (write (to_child[1], &byte, 1) != 1)
        exit (1);
      work (0, i, SAVE);
      if (read (from_child[0], &byte, 1) != 1)
        exit (1);
      work (0, i, TRAIN);
      nvtxRangePop ();
    }
  byte = 0;
  if (write (to_child[1], &byte, 1) != 1)
    exit (1);
  waitpid (child, NULL, 0);
}

/* --- Fork and join ---------------------------------------------------------------------------- */

static sem_t begin[N_WORKERS], done;

static void *
share (void *data)
{
  const int who = (int)(intptr_t)data;
  for (int i = 0; i < n_steps; i++)
    {
      sem_wait (&begin[who - 1]);
      work (who, i, who == 1 ? LOAD : DECODE);
      sem_post (&done);
    }
  return NULL;
}

static void
run_fork_join (void)
{
  pthread_t threads[N_WORKERS];
  sem_init (&done, 0, 0);
  for (intptr_t k = 0; k < N_WORKERS; k++)
    {
      sem_init (&begin[k], 0, 0);
      pthread_create (&threads[k], NULL, share, (void *)(k + 1));
    }
  for (int i = 0; i < n_steps; i++)
    {
      nvtxRangePushA ("step");
      for (int k = 0; k < N_WORKERS; k++)
        sem_post (&begin[k]);
      for (int k = 0; k < N_WORKERS; k++)
        sem_wait (&done);
      work (0, i, TRAIN);
      nvtxRangePop ();
    }
  for (int k = 0; k < N_WORKERS; k++)
    pthread_join (threads[k], NULL);
}

static void
run_serial (void)
{
  for (int i = 0; i < n_steps; i++)
    {
      nvtxRangePushA ("step");
      work (0, i, LOAD);
      work (0, i, TRAIN);
      work (0, i, SAVE);
      nvtxRangePop ();
    }
}

int
main (int argc, char **argv)
{
  const unsigned seed = argc > 1 ? (unsigned)atoi (argv[1]) : 1;
  for (int i = 2; i < argc; i++)
    for (int k = 0; k < N_RANGES; k++)
      {
        const size_t n = strlen (names[k]);
        prefetches |= strcmp (argv[i], "prefetch") == 0;
        if (strncmp (argv[i], names[k], n) == 0 && argv[i][n] == '=')
          factors[k] = atof (argv[i] + n + 1);
      }
  state = seed * UINT64_C (1000003) + 17;
  for (int k = 0; k < 8; k++)
    draw (2);
  n_steps = 20 + (int)draw (MOST_STEPS - 20);
  int typical[N_RANGES];
  for (int k = 0; k < N_RANGES; k++)
    typical[k] = 2000 + (int)draw (12000);
  for (int who = 0; who <= N_WORKERS; who++)
    for (int i = 0; i < n_steps; i++)
      for (int k = 0; k < N_RANGES; k++)
        usec[who][i][k] = typical[k] * (int)(60 + draw (80)) / 100;
  switch ((Shape)(seed % N_SHAPES))
    {
    case LOADER:
      run_loader ();
      break;
    case SHARED:
      is_shared = 1;
      run_pipeline ();
      break;
    case PIPELINE:
      run_pipeline ();
      break;
    case CONTENTION:
      run_contention ();
      break;
    case CHILD:
      run_child ();
      break;
    case FORK_JOIN:
      run_fork_join ();
      break;
    default:
      if (prefetches)
        run_loader ();
      else
        run_serial ();
    }
  return 0;
}
