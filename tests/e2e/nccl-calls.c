/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Stands in for NCCL's side of the profiler plug-in (ext-profiler/README.md of NCCL): loads what NCCL_PROFILER_PLUGIN names, as
 * NCCL does, and tells it of operations that nobody carries out. Shares no line with the plug-in.
 *
 *   nccl-calls VERSION N    N collectives and as many sends on two communicators, through ncclProfiler_vVERSION
 *
 * Prints the mask that the plug-in asked for, and how many events it gave a handle. */

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As profiler_v6.h describes it: the parts that are set below. */
typedef struct
{
  uint64_t type;
  void *parentObj;
  int rank;
  union
  {
    struct
    {
      bool graphCaptured;
      int groupDepth;
    } groupApi;
    struct
    {
      const char *func;
      size_t count;
      const char *datatype;
      int root;
      void *stream;
      bool graphCaptured;
    } collApi;
    struct
    {
      const char *func;
      size_t count;
      const char *datatype;
      void *stream;
      bool graphCaptured;
    } p2pApi;
    struct
    {
      uint64_t seqNumber;
      const char *func;
      void const *sendBuff;
      void *recvBuff;
      size_t count;
      int root;
      const char *datatype;
      uint8_t nChannels;
      uint8_t nWarps;
      const char *algo;
      const char *proto;
      void *parentGroup;
    } coll;
    struct
    {
      const char *func;
      void *buff;
      const char *datatype;
      size_t count;
      int peer;
      uint8_t nChannels;
      void *parentGroup;
    } p2p;
    struct
    {
      pid_t pid;
      uint8_t channelId;
      int peer;
      int nSteps;
      int chunkSize;
      int isSend;
    } proxyOp;
    struct
    {
      int step;
    } proxyStep;
    struct
    {
      int numOps;
      size_t totalBytes;
      bool useIntraSync;
    } ceCollBatch;
    uint64_t room[16];
  };
} Descriptor;

typedef struct
{
  const char *name;
  int (*init) (void **, uint64_t, int *, const char *, int, int, int, void *);
  int (*start) (void *, void **, Descriptor *);
  int (*stop) (void *);
  int (*state) (void *, int, void *);
  int (*finalize) (void *);
} Plugin;

static const Plugin *plugin;
static int mask;
static unsigned n_handles;

static void *
start (void *context, Descriptor descriptor)
{
  void *handle = NULL;

  if (!((uint64_t)mask & descriptor.type))
    return NULL;
  if (plugin->start (context, &handle, &descriptor) != 0)
    abort ();
  n_handles += handle != NULL;
  return handle;
}

static void
stop (void *handle)
{
  if (handle != NULL && plugin->stop (handle) != 0)
    abort ();
}

typedef struct
{
  void *context, *parent;
} Work;

/* What the proxy's thread does for an operation, and its end. */
static void *
proxy (void *data)
{
  const Work *work = data;
  void *op = start (work->context, (Descriptor){ .type = 1 << 3,
                                                 .parentObj = work->parent,
                                                 .proxyOp = { getpid (), 2, 3, 4, 524288, 1 } });
  void *step =
      start (work->context, (Descriptor){ .type = 1 << 4, .parentObj = op, .proxyStep = { 7 } });
  if (step != NULL)
    {
      plugin->state (step, 8, NULL);
      plugin->state (step, 9, NULL);
      plugin->state (step, 77, NULL); /* of a later NCCL */
    }
  stop (step);
  stop (op);
  stop (work->parent);
  return NULL;
}

int
main (int argc, char **argv)
{
  void *contexts[2];
  char symbol[32];
  const char *path = getenv ("NCCL_PROFILER_PLUGIN");
  const int n = argc > 2 ? atoi (argv[2]) : 1;
  void *library = path != NULL ? dlopen (path, RTLD_NOW | RTLD_LOCAL) : NULL;

  if (library == NULL)
    {
      puts ("no plug-in");
      return 0;
    }
  snprintf (symbol, sizeof symbol, "ncclProfiler_v%s", argc > 1 ? argv[1] : "5");
  plugin = dlsym (library, symbol);
  if (plugin == NULL)
    {
      puts ("no such version");
      return 0;
    }
  for (int i = 0; i < 2; i++)
    if (plugin->init (&contexts[i], 0xabc0 + (uint64_t)i, &mask, i == 0 ? "world" : NULL, 1, 8, 5,
                      NULL) != 0)
      abort ();
  for (int i = 0; i < n; i++)
    {
      void *context = contexts[i % 2];
      pthread_t thread;
      void *call =
          start (context, (Descriptor){ .type = 1 << 8, .rank = 5, .groupApi = { false, 1 } });
      void *all = start (
          context, (Descriptor){ .type = 1 << 9,
                                 .parentObj = call,
                                 .rank = 5,
                                 .collApi = { "AllReduce", 1000, "ncclFloat32", 0, NULL, false } });
      stop (all);
      void *send =
          start (context, (Descriptor){ .type = 1 << 10,
                                        .parentObj = call,
                                        .rank = 5,
                                        .p2pApi = { "Send", 10, "ncclBfloat16", NULL, false } });
      stop (send);
      void *group = start (context, (Descriptor){ .type = 1 << 0, .parentObj = call, .rank = 5 });
      Work work = { context,
                    start (context, (Descriptor){ .type = 1 << 1,
                                                  .parentObj = group,
                                                  .rank = 5,
                                                  .coll = { (uint64_t)i, "AllReduce", NULL, NULL,
                                                            1000, -1, "ncclFloat32", 8, 16, "RING",
                                                            "SIMPLE", NULL } }) };
      void *p2p =
          start (context, (Descriptor){ .type = 1 << 2,
                                        .parentObj = group,
                                        .rank = 5,
                                        .p2p = { "Send", NULL, "ncclBfloat16", 10, 3, 1, NULL } });
      void *launch =
          start (context, (Descriptor){ .type = 1 << 11, .parentObj = group, .rank = 5 });
      stop (launch);
      void *copies = start (context, (Descriptor){ .type = 1 << 14,
                                                   .parentObj = group,
                                                   .rank = 5,
                                                   .ceCollBatch = { 6, 4096, false } });
      stop (copies);
      stop (start (context, (Descriptor){ .type = UINT64_C (1) << 40, .rank = 5 }));
      stop (p2p);
      if (pthread_create (&thread, NULL, proxy, &work) != 0)
        abort ();
      pthread_join (thread, NULL);
      stop (group);
      stop (call);
    }
  for (int i = 0; i < 2; i++)
    plugin->finalize (contexts[i]);
  printf ("mask %d, %u handles\n", mask, n_handles);
  dlclose (library);
  return 0;
}
