/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The bundled demo: looks, to NVTX, like the training of a small network. For about two seconds a main
 * thread runs iterations (forward, backward, optimizer, each with its layers), two loader threads
 * prepare batches that the main thread consumes, and a third one writes checkpoints. Nested ranges in
 * their own colours, domains, categories, payloads, start/end ranges that end on another thread,
 * marks and counters all occur. The work is real arithmetic; the numbers mean nothing.
 *
 * usage: demo [ITERATIONS]   (default 72) */

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>
#if __has_include(<nvtx3/nvToolsExtCounters.h>)
# include <nvtx3/nvToolsExtCounters.h>
# define HAVE_COUNTERS 1
#endif

#define QUEUE_LENGTH 4

enum
{
  CATEGORY_COMPUTE = 1,
  CATEGORY_DATA = 2,
  CATEGORY_SYNC = 3
};

enum
{
  GREEN = 0xFF2E9E5B,
  BLUE = 0xFF3B7DD8,
  ORANGE = 0xFFD9822B,
  PURPLE = 0xFF8E5BC0,
  TEAL = 0xFF2A9D9D,
  ROSE = 0xFFC8507A,
  GREY = 0xFF7A8490
};

typedef struct
{
  int number;
  nvtxRangeId_t in_flight; /* begun by the loader, ended by the trainer                          */
} Batch;

static nvtxDomainHandle_t data_domain, io_domain;
static pthread_mutex_t queue_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_changed = PTHREAD_COND_INITIALIZER;
static Batch queue[QUEUE_LENGTH];
static int queue_used, next_batch;
static int checkpoint_wanted, finished;
static uint64_t loss_counter, depth_counter;
static volatile double sink; /* what the arithmetic comes to, so that it is done                 */

static void
push (nvtxDomainHandle_t domain, const char *name, unsigned color, unsigned category, int64_t value)
{
  nvtxEventAttributes_t event = { 0 };
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.colorType = NVTX_COLOR_ARGB;
  event.color = color;
  event.category = category;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = name;
  if (value >= 0)
    {
      event.payloadType = NVTX_PAYLOAD_TYPE_INT64;
      event.payload.llValue = value;
    }
  nvtxDomainRangePushEx (domain, &event);
}

static void
pop (nvtxDomainHandle_t domain)
{
  nvtxDomainRangePop (domain);
}

/* Keeps this core busy for about MICROSECONDS, a little more or less each time. */
static void
work (double microseconds)
{
  static _Thread_local unsigned seed = 7;
  seed = seed * 1103515245 + 12345;
  double wanted_ns = microseconds * 1000 * (0.8 + 0.4 * ((seed >> 16) % 1000) / 1000.0);
  struct timespec start, now;
  clock_gettime (CLOCK_MONOTONIC, &start);
  double value = 1;
  do
    {
      for (int i = 0; i < 64; i++)
        value = sqrt (value + i);
      clock_gettime (CLOCK_MONOTONIC, &now);
    }
  while ((now.tv_sec - start.tv_sec) * 1e9 + (now.tv_nsec - start.tv_nsec) < wanted_ns);
  sink = value;
}

static void
sample (uint64_t counter, double value)
{
#ifdef HAVE_COUNTERS
  nvtxCounterSampleFloat64 (data_domain, counter, value);
#else
  (void)counter, (void)value;
#endif
}

static uint64_t
make_counter (const char *name)
{
#ifdef HAVE_COUNTERS
  nvtxCounterAttr_t attributes = { 0 };
  attributes.structSize = sizeof attributes;
  attributes.schemaId = NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE;
  attributes.name = name;
  attributes.counterId = NVTX_COUNTER_ID_NONE;
  return nvtxCounterRegister (data_domain, &attributes);
#else
  (void)name;
  return 0;
#endif
}

static void
name_thread (const char *name)
{
  nvtxNameOsThreadA ((uint32_t)syscall (SYS_gettid), name);
}

static void *
load_batches (void *name)
{
  name_thread (name);
  for (;;)
    {
      push (data_domain, "read", TEAL, CATEGORY_DATA, -1);
      usleep (2500);
      pop (data_domain);
      push (data_domain, "decode", ORANGE, CATEGORY_DATA, -1);
      for (int image = 0; image < 8; image++)
        {
          push (data_domain, "decode image", ROSE, CATEGORY_DATA, image);
          work (300);
          pop (data_domain);
        }
      pop (data_domain);

      pthread_mutex_lock (&queue_mutex);
      push (data_domain, "queue full", GREY, CATEGORY_SYNC, -1);
      while (queue_used == QUEUE_LENGTH && !finished)
        pthread_cond_wait (&queue_changed, &queue_mutex);
      pop (data_domain);
      if (finished)
        break;
      Batch *batch = &queue[queue_used++];
      batch->number = next_batch++;
      batch->in_flight = nvtxDomainRangeStartEx (
          data_domain, &(nvtxEventAttributes_t){ .version = NVTX_VERSION,
                                                 .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                                                 .category = CATEGORY_DATA,
                                                 .colorType = NVTX_COLOR_ARGB,
                                                 .color = PURPLE,
                                                 .payloadType = NVTX_PAYLOAD_TYPE_INT32,
                                                 .payload.iValue = batch->number,
                                                 .messageType = NVTX_MESSAGE_TYPE_ASCII,
                                                 .message.ascii = "batch in queue" });
      sample (depth_counter, queue_used);
      pthread_cond_broadcast (&queue_changed);
      pthread_mutex_unlock (&queue_mutex);
    }
  pthread_mutex_unlock (&queue_mutex);
  return NULL;
}

static void *
write_checkpoints (void *name)
{
  name_thread (name);
  pthread_mutex_lock (&queue_mutex);
  while (!finished)
    {
      while (!checkpoint_wanted && !finished)
        pthread_cond_wait (&queue_changed, &queue_mutex);
      int wanted = checkpoint_wanted;
      checkpoint_wanted = 0;
      pthread_mutex_unlock (&queue_mutex);
      if (wanted)
        {
          push (io_domain, "checkpoint", BLUE, 0, wanted);
          push (io_domain, "serialize", TEAL, 0, -1);
          work (9000);
          pop (io_domain);
          push (io_domain, "write", ORANGE, 0, -1);
          usleep (25000);
          pop (io_domain);
          pop (io_domain);
        }
      pthread_mutex_lock (&queue_mutex);
    }
  pthread_mutex_unlock (&queue_mutex);
  return NULL;
}

static Batch
take_batch (void)
{
  push (NULL, "wait for data", GREY, CATEGORY_SYNC, -1);
  pthread_mutex_lock (&queue_mutex);
  while (queue_used == 0)
    pthread_cond_wait (&queue_changed, &queue_mutex);
  Batch batch = queue[0];
  memmove (queue, queue + 1, sizeof *queue * (size_t)--queue_used);
  sample (depth_counter, queue_used);
  pthread_cond_broadcast (&queue_changed);
  pthread_mutex_unlock (&queue_mutex);
  nvtxDomainRangeEnd (data_domain, batch.in_flight);
  pop (NULL);
  return batch;
}

/* One pass over the layers, each with its two parts. */
static void
pass (const char *name, const char *const parts[2], unsigned color, double scale)
{
  push (NULL, name, color, CATEGORY_COMPUTE, -1);
  for (int layer = 0; layer < 6; layer++)
    {
      char layer_name[32];
      snprintf (layer_name, sizeof layer_name, "layer %d", layer);
      push (NULL, layer_name, layer % 2 ? TEAL : BLUE, CATEGORY_COMPUTE, layer);
      push (NULL, parts[0], ROSE, CATEGORY_COMPUTE, -1);
      work (scale * (260 + 60 * layer));
      pop (NULL);
      push (NULL, parts[1], PURPLE, CATEGORY_COMPUTE, -1);
      work (scale * 180);
      pop (NULL);
      pop (NULL);
    }
  pop (NULL);
}

static void
train (int n_iterations)
{
  static const char *const forward[2] = { "attention", "mlp" };
  static const char *const backward[2] = { "mlp grad", "attention grad" };
  for (int iteration = 0; iteration < n_iterations; iteration++)
    {
      push (NULL, "iteration", GREEN, CATEGORY_COMPUTE, iteration);
      take_batch ();
      pass ("forward", forward, BLUE, 2.0);
      pass ("backward", backward, ORANGE, 4.0);
      push (NULL, "optimizer step", PURPLE, CATEGORY_COMPUTE, -1);
      work (3000);
      pop (NULL);
      sample (loss_counter, 2.3 * exp (-iteration / 9.0) + 0.2);
      pop (NULL);
      if (iteration % 8 == 7)
        {
          nvtxMarkA ("checkpoint requested");
          pthread_mutex_lock (&queue_mutex);
          checkpoint_wanted = iteration + 1;
          pthread_cond_broadcast (&queue_changed);
          pthread_mutex_unlock (&queue_mutex);
        }
    }
}

int
main (int argc, char **argv)
{
  int n_iterations = argc > 1 ? atoi (argv[1]) : 72;
  data_domain = nvtxDomainCreateA ("data");
  io_domain = nvtxDomainCreateA ("io");
  nvtxNameCategoryA (CATEGORY_COMPUTE, "compute");
  nvtxNameCategoryA (CATEGORY_SYNC, "synchronisation");
  nvtxDomainNameCategoryA (data_domain, CATEGORY_DATA, "input pipeline");
  nvtxDomainNameCategoryA (data_domain, CATEGORY_SYNC, "synchronisation");
  loss_counter = make_counter ("loss");
  depth_counter = make_counter ("queue depth");
  name_thread ("trainer");

  pthread_t loaders[2], checkpointer;
  pthread_create (&loaders[0], NULL, load_batches, (void *)"loader 0");
  pthread_create (&loaders[1], NULL, load_batches, (void *)"loader 1");
  pthread_create (&checkpointer, NULL, write_checkpoints, (void *)"checkpointer");
  train (n_iterations);

  pthread_mutex_lock (&queue_mutex);
  finished = 1;
  pthread_cond_broadcast (&queue_changed);
  pthread_mutex_unlock (&queue_mutex);
  pthread_join (loaders[0], NULL);
  pthread_join (loaders[1], NULL);
  pthread_join (checkpointer, NULL);
  printf ("trained %d iterations\n", n_iterations);
  return 0;
}
