/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/unit/cuda-fixture.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const LnsWireHead *cuda_records[CUDA_RECORDS_MAX];
size_t n_cuda_records;
CudaFunctions cuda;
void (*cuda_on_visit) (MiniSession *);
bool cuda_has_buffers = true;
uint32_t cuda_n_free;
int cuda_drain_every_ms;
int cuda_answer_after_ms;
size_t n_cuda_unknown_slots;

static const char *scene_name;
static const char *const *scene_environment;

/* --- In the scene. --------------------------------------------------------------------------- */

/* Where kernels are known to the runtime: the addresses of these. */
static char kernels[2];

void
cuda_start (void)
{
  void *runtime = dlopen ("libcudart.so.13", RTLD_NOW | RTLD_GLOBAL);
  if (runtime == NULL)
    {
      fprintf (stderr, "# %s\n", dlerror ());
      exit (97);
    }
#define X(name) cuda.name = (__typeof__ (&name))dlsym (runtime, #name);
  CUDA_FUNCTIONS (X)
#undef X
  static const char image[] =
      ".visible .entry add ()\n.visible .entry scale ()\n"; /* PTX, all but */
  static struct
  {
    int magic, version;
    const void *image, *unused;
  } wrapper = { 0x466243b1, 1, image, NULL };
  void **(*register_binary) (void *) =
      (void **(*)(void *))dlsym (runtime, "__cudaRegisterFatBinary");
  void (*register_function) (void **, const char *, char *, const char *, int, void *, void *,
                             void *, void *, int *) =
      (__typeof__ (register_function))dlsym (runtime, "__cudaRegisterFunction");
  void **handle = register_binary (&wrapper);
  static char names[2][8] = { "add", "scale" };
  for (int i = 0; i < 2; i++)
    register_function (handle, &kernels[i], names[i], names[i], -1, NULL, NULL, NULL, NULL, NULL);
}

void
cuda_launch (int n, bool scale, unsigned blocks, unsigned threads, cudaStream_t stream)
{
  void *arguments[1] = { NULL };
  dim3 grid = { blocks, 1, 1 }, block = { threads, 1, 1 };
  for (int i = 0; i < n; i++)
    {
      int error = cuda.cudaLaunchKernel (&kernels[scale], grid, block, arguments, 0, stream);
      if (error == 0)
        continue;
      fprintf (stderr, "# cudaLaunchKernel says %d\n", error);
      exit (96);
    }
}

void
cuda_scenes (const CudaScene *scenes, char **argv)
{
  for (; argv[1] != NULL && scenes->name != NULL; scenes++)
    if (strcmp (argv[1], scenes->name) == 0)
      exit (scenes->run ());
}

/* --- In the test. ---------------------------------------------------------------------------- */

static int
start_scene (void)
{
  char with[4096], self[4096];
  snprintf (with, sizeof with, "%s/tests/double/with", getenv ("LNS_SOURCE_ROOT"));
  setenv ("CUDA_INJECTION64_PATH", getenv ("NVTX_INJECTION64_PATH"), 1);
  for (const char *const *pair = scene_environment; pair != NULL && *pair != NULL; pair++)
    putenv (strdup (*pair));
  ssize_t n = readlink ("/proc/self/exe", self, sizeof self - 1);
  self[n > 0 ? n : 0] = '\0';
  execl (with, with, self, scene_name, NULL);
  return 95;
}

/* The launch slots of a stream that have a meaning since its last gap. */
static struct
{
  const MiniStream *stream;
  uint64_t n_lost_bytes;
  bool is_known[LNS_WIRE_CUDA_LAUNCHES];
} slots[64];

static void
follow_slots (const MiniStream *stream, const LnsWireHead *head)
{
  size_t i = 0;
  while (slots[i].stream != stream && slots[i].stream != NULL && i < 63)
    i++;
  if (slots[i].stream != stream || slots[i].n_lost_bytes != stream->told.n_bytes)
    memset (&slots[i], 0, sizeof slots[i]);
  slots[i].stream = stream;
  slots[i].n_lost_bytes = stream->told.n_bytes;
  if (head->type == LNS_WIRE_CUDA_LAUNCH)
    slots[i].is_known[head->string % LNS_WIRE_CUDA_LAUNCHES] = true;
  else if (head->type == LNS_WIRE_CUDA_KERNEL)
    n_cuda_unknown_slots += !slots[i].is_known[head->string % LNS_WIRE_CUDA_LAUNCHES];
}

static void
keep (MiniSession *session, MiniProcess *process, MiniStream *stream, const LnsWireHead *head)
{
  uint32_t n_bytes;
  follow_slots (stream, head);
  memcpy (&n_bytes, head + 1, sizeof n_bytes);
  if (n_cuda_records == CUDA_RECORDS_MAX)
    return;
  void *copy = malloc (n_bytes);
  memcpy (copy, head, n_bytes);
  cuda_records[n_cuda_records++] = copy;
}

MiniSession *
cuda_run (const char *scene,
          const LnsWireOptions *asked,
          bool paused,
          const char *const *environment)
{
  for (size_t i = 0; i < n_cuda_records; i++)
    free ((void *)cuda_records[i]);
  n_cuda_records = n_cuda_unknown_slots = 0;
  memset (slots, 0, sizeof slots);
  scene_name = scene;
  scene_environment = environment;
  MiniOptions options = { .asked = asked,
                          .paused = paused,
                          .no_buffers = !cuda_has_buffers,
                          .n_free = cuda_n_free,
                          .drain_every_ms = cuda_drain_every_ms,
                          .answer_after_ms = cuda_answer_after_ms,
                          .on_visit = cuda_on_visit,
                          .on_cuda = keep,
                          .keep_events = true };
  return mini_session_run (&options, start_scene);
}

bool
cuda_is_sound (const MiniSession *session)
{
  if (session->exit_status == 0 && session->n_bad_records == 0 && session->n_wrong_times == 0 &&
      n_cuda_unknown_slots == 0)
    return true;
  fprintf (stderr, "# status %#x, %lu bad records, %lu wrong times, %zu unknown slots\n",
           (unsigned)session->exit_status, (unsigned long)session->n_bad_records,
           (unsigned long)session->n_wrong_times, n_cuda_unknown_slots);
  return false;
}

const void *
cuda_record (LnsWireCudaType type, size_t n)
{
  for (size_t i = 0; i < n_cuda_records; i++)
    if (cuda_records[i]->type == type && n-- == 0)
      return cuda_records[i];
  return NULL;
}

size_t
cuda_count (LnsWireCudaType type)
{
  size_t n = 0;
  for (size_t i = 0; i < n_cuda_records; i++)
    n += cuda_records[i]->type == type;
  return n;
}

const char *
cuda_text (const MiniSession *session, uint32_t string)
{
  uint32_t id = string & ~LNS_WIRE_STRING_REGISTERED;
  return id < session->processes[0].n_registered ? session->processes[0].registered[id].text : NULL;
}

size_t
cuda_problems (LnsWireCudaProblem problem)
{
  size_t n = 0;
  for (size_t i = 0; i < n_cuda_records; i++)
    n += cuda_records[i]->type == LNS_WIRE_CUDA_PROBLEM &&
         ((const LnsWireCudaProblemBytes *)cuda_records[i])->problem == problem;
  return n;
}
