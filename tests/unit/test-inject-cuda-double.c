/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests the CUDA engine on the double: what programs do must arrive as records in the pool. */

#include "tests/tap.h"
#include "tests/unit/cuda-fixture.h"

#include <unistd.h>

static const LnsWireOptions plain = { .traces = LNS_WIRE_TRACE_NVTX | LNS_WIRE_TRACE_CUDA };

/* --- Scenes. --------------------------------------------------------------------------------- */

#define N_BYTES 16384

static int
scene_vector (void)
{
  static char host[N_BYTES];
  void *device;
  cuda_start ();
  cuda.cudaMalloc (&device, N_BYTES);
  cuda.cudaMemcpy (device, host, N_BYTES, cudaMemcpyHostToDevice);
  cuda_launch (100, false, 16, 256, NULL);
  cuda_launch (50, true, 4, 64, NULL);
  cuda.cudaDeviceSynchronize ();
  cuda.cudaMemcpy (host, device, N_BYTES, cudaMemcpyDeviceToHost);
  cuda.cudaFree (device);
  return 0;
}

/* A program that asks all the time. */
static int
scene_questions (void)
{
  int device;
  cuda_start ();
  for (int i = 0; i < 10; i++)
    {
      cuda.cudaGetDevice (&device);
      cuda.cudaGetLastError ();
    }
  cuda_launch (1, false, 1, 32, NULL);
  cuda.cudaDeviceSynchronize ();
  return 0;
}

static int
scene_nvtx (void)
{
  NvtxUnit unit = { 0 };
  nvtx_start ();
  nvtx_push ("before CUDA");
  nvtx_pop ();
  cuda_start ();
  nvtx_mark ("after");
  cuda_launch (5, false, 1, 32, NULL);
  cuda.cudaDeviceSynchronize ();
  nvtx_mark ("after");
  /* Who comes when it is known gets no handlers at all. */
  return nvtx_load (&unit, 16, 16) ? 1 : 0;
}

static const CudaScene scenes[] = { { "vector", scene_vector },
                                    { "nvtx", scene_nvtx },
                                    { "questions", scene_questions },
                                    { NULL, NULL } };

/* --- Tests. ---------------------------------------------------------------------------------- */

/* The call of correlation ID, or null. */
static const LnsWireCudaApiBytes *
call_of (uint32_t id)
{
  const LnsWireCudaApiBytes *call;
  for (size_t i = 0; (call = cuda_record (LNS_WIRE_CUDA_API, i)) != NULL; i++)
    if (call->correlation == id && (call->head.depth & LNS_WIRE_CUDA_CALL_RUNTIME))
      return call;
  return NULL;
}

/* The first definition of a launch of the kernel NAME, or null. */
static const LnsWireCudaLaunchBytes *
launch_of (const MiniSession *session, const char *name)
{
  const LnsWireCudaLaunchBytes *launch;
  for (size_t i = 0; (launch = cuda_record (LNS_WIRE_CUDA_LAUNCH, i)) != NULL; i++)
    if (strcmp (cuda_text (session, launch->name), name) == 0)
      return launch;
  return NULL;
}

static void
test_vector (void)
{
  MiniSession *session = cuda_run ("vector", &plain, false, NULL);
  LNS_CHECK (cuda_is_sound (session));
  LNS_CHECK_INT (mini_session_lost_all (session), 0);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_PROBLEM), 0);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_DROPPED), 0);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL), 150);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_MEMCPY), 2);
  /* Defined once by each thread that compacts buffers. */
  const LnsWireCudaLaunchBytes *add = launch_of (session, "add");
  const LnsWireCudaLaunchBytes *scale = launch_of (session, "scale");
  LNS_CHECK (add != NULL && scale != NULL);
  LNS_CHECK (add->grid[0] == 16 && add->grid[1] == 1 && add->block[0] == 256);
  LNS_CHECK (scale->grid[0] == 4 && scale->block[0] == 64);
  size_t n_add = 0, n_scale = 0;
  for (size_t i = 0; i < 150; i++)
    {
      const LnsWireCudaKernelBytes *kernel = cuda_record (LNS_WIRE_CUDA_KERNEL, i);
      n_add += kernel->head.string == add->head.string;
      n_scale += kernel->head.string == scale->head.string;
      const LnsWireCudaApiBytes *call = call_of (kernel->correlation);
      LNS_CHECK (call != NULL);
      LNS_CHECK_INT (call->tid, session->processes[0].hello.pid);
      LNS_CHECK_STR (cuda_text (session, call->head.string), "cudaLaunchKernel_v7000");
      LNS_CHECK (call->head.ticks >= session->first_ticks && call->end_ticks > call->head.ticks);
    }
  LNS_CHECK (n_add == 100 && n_scale == 50);
  const LnsWireCudaMemcpyBytes *to = cuda_record (LNS_WIRE_CUDA_MEMCPY, 0);
  const LnsWireCudaMemcpyBytes *from = cuda_record (LNS_WIRE_CUDA_MEMCPY, 1);
  if (to->kind == 2) /* it was in a later buffer, which another thread compacted */
    {
      to = from;
      from = cuda_record (LNS_WIRE_CUDA_MEMCPY, 0);
    }
  LNS_CHECK (to->kind == 1 && to->size_bytes == N_BYTES);
  LNS_CHECK (from->kind == 2 && from->size_bytes == N_BYTES);
  LNS_CHECK (cuda_count (LNS_WIRE_CUDA_SYNC) >= 1);
  LNS_CHECK (cuda_count (LNS_WIRE_CUDA_DEVICE) >= 1);
  LNS_CHECK (cuda_count (LNS_WIRE_CUDA_CONTEXT) >= 1);
  const LnsWireCudaInfoBytes *info = cuda_record (LNS_WIRE_CUDA_INFO, 0);
  LNS_CHECK_INT (info->cupti_version, 130001);
  LNS_CHECK_INT (info->driver_version, 13000);
  mini_session_free (session);
}

static void
test_questions (void)
{
  for (int all = 0; all < 2; all++)
    {
      LnsWireOptions asked = plain;
      asked.cuda = all ? LNS_WIRE_CUDA_ALL_APIS : 0;
      MiniSession *session = cuda_run ("questions", &asked, false, NULL);
      LNS_CHECK (cuda_is_sound (session));
      size_t n = 0;
      const LnsWireCudaApiBytes *call;
      for (size_t i = 0; (call = cuda_record (LNS_WIRE_CUDA_API, i)) != NULL; i++)
        n += (call->head.depth & LNS_WIRE_CUDA_CALL_RUNTIME) &&
             (call->cbid == 10 || call->cbid == 17);
      LNS_CHECK_INT (n, all ? 20 : 0);
      LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL), 1);
      mini_session_free (session);
    }
}

/* Of a session that does not ask for them, ranges are not recorded; and one without CUDA leaves it alone. */
static void
test_not_asked_for (void)
{
  LnsWireOptions asked = { .traces = LNS_WIRE_TRACE_CUDA };
  MiniSession *session = cuda_run ("nvtx", &asked, false, NULL);
  LNS_CHECK (cuda_is_sound (session));
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL), 5);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_PUSH), 0);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_MARK), 0);
  mini_session_free (session);
  asked.traces = LNS_WIRE_TRACE_NVTX;
  session = cuda_run ("vector", &asked, false, NULL);
  LNS_CHECK (cuda_is_sound (session));
  LNS_CHECK_INT (n_cuda_records, 0);
  mini_session_free (session);
}

int
main (int argc, char **argv)
{
  cuda_scenes (scenes, argv);
  LNS_TEST (test_vector);
  LNS_TEST (test_questions);
  LNS_TEST (test_not_asked_for);
  return lns_tap_done ();
}
