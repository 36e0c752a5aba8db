/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests the engine against behaviour that CUPTI's header and release notes describe, which the double plays when its
 * variables ask for it. */

#include "capture/inject/cuda/library.h"
#include "tests/tap.h"
#include "tests/unit/cuda-fixture.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const LnsWireOptions plain = { .traces = LNS_WIRE_TRACE_CUDA, .flush_ms = 20 };

/* --- Scenes. --------------------------------------------------------------------------------- */

#define N_BUSY 2000

/* Launches kernels of a millisecond each without waiting for any, and ends so that nobody can ask CUPTI for the rest. The GPU's
 * queue is always full, so that each buffer in use holds the record of a kernel that has not ended. */
static int
scene_busy (void)
{
  cuda_start ();
  cuda_launch (N_BUSY, false, 2u << 20, 128, NULL);
  _exit (0);
}

/* A kernel of 128 ms withholds the buffer that tells of the context of GPU 1. */
static int
scene_context (void)
{
  cuda_start ();
  if (cuda.cudaSetDevice (1) != cudaSuccess)
    return 1;
  cuda_launch (1, false, 1u << 24, 1024, NULL);
  _exit (0);
}

static void *
launch_one (void *unused)
{
  cuda_launch (1, false, 4, 64, NULL);
  return NULL;
}

/* More threads than there are buffers launch a kernel each, whose records are never complete. */
static int
scene_short (void)
{
  cuda_start ();
  for (int i = 0; i < 1100; i++)
    {
      pthread_t thread;
      if (pthread_create (&thread, NULL, launch_one, NULL) != 0)
        return 96;
      pthread_join (thread, NULL);
    }
  return 0;
}

static int
scene_fatal (void)
{
  cuda_start ();
  cuda_launch (100, false, 4, 64, NULL);
  cuda.cudaDeviceSynchronize ();
  usleep (100000); /* what the double tolerates is over */
  cuda_launch (10, true, 4, 64, NULL);
  cuda.cudaDeviceSynchronize ();
  return 0;
}

static int
scene_exit (void)
{
  cuda_start ();
  cuda_launch (10, false, 4, 64, NULL);
  usleep (60000);
  return 0;
}

/* Launches kernels until the process is killed, for at most a minute. */
static int
scene_until_killed (void)
{
  cuda_start ();
  for (int i = 0; i < 6000; i++)
    {
      cuda_launch (1, false, 4, 64, NULL);
      cuda.cudaDeviceSynchronize ();
      usleep (10000);
    }
  return 0;
}

/* Launches kernels for as long as the engine flushes several times. */
static int
scene_several (void)
{
  cuda_start ();
  for (int i = 0; i < 300; i++)
    {
      cuda_launch (1, false, 4, 64, NULL);
      cuda.cudaDeviceSynchronize ();
      usleep (1000);
    }
  return 0;
}

#define N_RANGES   3
#define N_LAUNCHES 5

/* Launches a graph in each of several ranges, and once before each. */
static int
scene_ranges (void)
{
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cuda_start ();
  cuda.cudaStreamCreate (&stream);
  cuda.cudaStreamBeginCapture (stream, cudaStreamCaptureModeGlobal);
  cuda_launch (2, false, 2, 256, stream);
  if (cuda.cudaStreamEndCapture (stream, &graph) != cudaSuccess ||
      cuda.cudaGraphInstantiate (&exec, graph, 0) != cudaSuccess)
    return 1;
  for (int range = 0; range < N_RANGES; range++)
    {
      cuda.cudaGraphLaunch (exec, stream);
      cuda.cudaProfilerStart ();
      for (int i = 0; i < N_LAUNCHES; i++)
        cuda.cudaGraphLaunch (exec, stream);
      cuda.cudaStreamSynchronize (stream);
      cuda.cudaProfilerStop ();
    }
  return 0;
}

/* Flushes all the time, beside the thread that hears that the session is gone. */
static int
scene_flushes (void)
{
  cuda_start ();
  for (int i = 0; i < 300; i++)
    {
      cuda_launch (1, false, 4, 64, NULL);
      cuda.cudaProfilerStop ();
      usleep (1000);
    }
  return 0;
}

/* --- Another client, which uses the functions for several. */

#define N_BEFORE 5
#define N_BOTH   50
#define N_AFTER  7

static LnsCuptiShared shared;
static CUpti_SubscriberHandle other;
static unsigned n_kernels_of_other;

static void
request (uint8_t **buffer, size_t *size, size_t *max_records, void *info)
{
  *size = 65536;
  *buffer = aligned_alloc (8, *size);
  *max_records = 0;
}

static void
complete (uint8_t *buffer, size_t size, size_t valid, void *info)
{
  CUpti_Activity *record = NULL;
  while (shared.ActivityGetNextRecord (other, buffer, valid, &record) == CUPTI_SUCCESS)
    n_kernels_of_other += record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  free (buffer);
}

/* Records its own kernels for a while, as torch.profiler does, and fails with what CUPTI says if it cannot. */
static int
scene_other (void)
{
  cuda_start ();
  cuda_launch (N_BEFORE, false, 4, 64, NULL);
  cuda.cudaDeviceSynchronize ();
  void *cupti = dlopen ("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
  if (cupti == NULL)
    return 98;
#define X(name, ...)                                                                               \
 shared.name = (__typeof__ (shared.name))dlsym (cupti, "cupti" #name "_v2");                       \
 if (shared.name == NULL)                                                                          \
  return 97;
  LNS_CUPTI_SHARED_FUNCTIONS (X)
#undef X
  __typeof__ (&cuptiActivityFlushAll) flush =
      (__typeof__ (flush))dlsym (cupti, "cuptiActivityFlushAll");
  __typeof__ (&cuptiUnsubscribe) unsubscribe =
      (__typeof__ (unsubscribe))dlsym (cupti, "cuptiUnsubscribe");
  LnsCuptiSubscriberParameters parameters = { .struct_bytes = sizeof parameters,
                                              .name = "test",
                                              .allows_others = 1 };
  CUptiResult result = shared.Subscribe (&other, NULL, NULL, &parameters);
  if (result == CUPTI_SUCCESS)
    result = shared.ActivityRegisterCallbacks (other, request, complete);
  if (result == CUPTI_SUCCESS)
    result = shared.ActivityEnable (other, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, NULL);
  cuda_launch (N_BOTH, false, 4, 64, NULL);
  cuda.cudaDeviceSynchronize ();
  if (result != CUPTI_SUCCESS || flush (CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != CUPTI_SUCCESS ||
      shared.ActivityDisable (other, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, NULL) !=
          CUPTI_SUCCESS ||
      unsubscribe (other) != CUPTI_SUCCESS)
    return (int)result;
  cuda_launch (N_AFTER, false, 4, 64, NULL);
  cuda.cudaDeviceSynchronize ();
  return n_kernels_of_other == N_BOTH ? 0 : 96;
}

static const CudaScene scenes[] = { { "flushes", scene_flushes },
                                    { "ranges", scene_ranges },
                                    { "until-killed", scene_until_killed },
                                    { "several", scene_several },
                                    { "short", scene_short },
                                    { "fatal", scene_fatal },
                                    { "exit", scene_exit },
                                    { "busy", scene_busy },
                                    { "other", scene_other },
                                    { "context", scene_context },
                                    { NULL, NULL } };

/* --- Tests. ---------------------------------------------------------------------------------- */

/* CUPTI gives back no buffer that holds an incomplete record. Kernels come all the same while the GPU is busy. */
static void
test_buffers_are_withheld (void)
{
  static const char *const environment[] = { "LNS_DOUBLE_WITHHOLD=1", NULL };
  MiniSession *session = cuda_run ("busy", &plain, false, environment);
  LNS_CHECK (cuda_is_sound (session));
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_PROBLEM), 0);
  /* The queue holds 250 ms of kernels, and the thread's buffer no more than twice that. */
  const size_t n = cuda_count (LNS_WIRE_CUDA_KERNEL);
  LNS_CHECK (n >= N_BUSY / 2 && n < N_BUSY);
  mini_session_free (session);
}

static void
test_contexts_are_told_at_once (void)
{
  static const char *const environment[] = { "LNS_DOUBLE_WITHHOLD=1", "LNS_DOUBLE_DEVICES=2",
                                             NULL };
  MiniSession *session = cuda_run ("context", &plain, false, environment);
  LNS_CHECK (cuda_is_sound (session));
  const LnsWireCudaContextBytes *context = cuda_record (LNS_WIRE_CUDA_CONTEXT, 0);
  LNS_CHECK (context != NULL && context->device == 1 && context->number != 0);
  mini_session_free (session);
}

/* Before 12.9, CUPTI crashes if it gets no buffer. */
static void
test_no_buffer_is_refused (void)
{
  static const char *const environment[] = { "LNS_DOUBLE_WITHHOLD=1", "LNS_DOUBLE_HELD=1",
                                             "LNS_DOUBLE_CUPTI_VERSION=22",
                                             "LNS_DOUBLE_DRIVER_VERSION=12040", NULL };
  cuda_has_buffers = false;
  MiniSession *session = cuda_run ("short", &plain, false, environment);
  cuda_has_buffers = true;
  LNS_CHECK_INT (session->exit_status, 0);
  LNS_CHECK_INT (cuda_problems (LNS_WIRE_PROBLEM_BUFFERS), 1);
  mini_session_free (session);
}

/* Any call would initialise CUPTI again. */
static void
test_nothing_is_called_after_a_fatal_error (void)
{
  static const char *const environment[] = { "LNS_DOUBLE_FATAL=50", NULL };
  MiniSession *session = cuda_run ("fatal", &plain, false, environment);
  LNS_CHECK_INT (session->exit_status, 0);
  LNS_CHECK_INT (cuda_problems (LNS_WIRE_PROBLEM_STATE), 1);
  mini_session_free (session);
}

/* CUPTI is torn down after the last handler of exit(). */
static void
test_the_end_waits_for_flushes (void)
{
  static const char *const environment[] = { "LNS_DOUBLE_FLUSH_MS=100", NULL };
  for (int i = 0; i < 5; i++)
    {
      MiniSession *session = cuda_run ("exit", &plain, false, environment);
      LNS_CHECK_INT (session->exit_status, 0);
      LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL), 10);
      mini_session_free (session);
    }
}

/* So it is while we look for a driver that comes late, or never. */
static void
test_the_end_waits_for_the_search_for_a_driver (void)
{
  static const char *const environment[] = { "LNS_DOUBLE_CUPTI_VERSION=130500",
                                             "LNS_DOUBLE_LATE_DRIVER=1000000",
                                             "LNS_DOUBLE_LOOK_MS=100", NULL };
  for (int i = 0; i < 5; i++)
    {
      MiniSession *session = cuda_run ("exit", &plain, false, environment);
      LNS_CHECK_INT (session->exit_status, 0);
      LNS_CHECK_INT (cuda_problems (LNS_WIRE_PROBLEM_SUBSCRIBE), 1);
      mini_session_free (session);
    }
}

/* Another client of CUPTI has taken our place, or disabled what we enabled: all that comes after is missing. */
static void
test_another_client_is_told (void)
{
  static const char *const takeovers[] = { "LNS_DOUBLE_TAKEOVER=80", "LNS_DOUBLE_TAKEOVER=80:120",
                                           "LNS_DOUBLE_TAKEOVER=0:80" };
  for (size_t i = 0; i < sizeof takeovers / sizeof *takeovers; i++)
    {
      const char *const environment[] = { takeovers[i], NULL };
      MiniSession *session = cuda_run ("several", &plain, false, environment);
      fprintf (stderr, "# %s\n", takeovers[i]);
      LNS_CHECK (cuda_is_sound (session));
      const size_t n = cuda_count (LNS_WIRE_CUDA_KERNEL);
      LNS_CHECK (n > 0 && n < 100);
      LNS_CHECK_INT (cuda_problems (LNS_WIRE_PROBLEM_TAKEN), 1);
      LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_PROBLEM), 1);
      mini_session_free (session);
    }
}

static void
kill_when_taken (MiniSession *session)
{
  if (cuda_problems (LNS_WIRE_PROBLEM_TAKEN) > 0)
    kill (session->processes[0].pid, SIGKILL);
}

/* A program that runs for long, or is killed, says it before its end. */
static void
test_another_client_is_told_while_it_runs (void)
{
  static const char *const environment[] = { "LNS_DOUBLE_TAKEOVER=80", NULL };
  cuda_on_visit = kill_when_taken;
  MiniSession *session = cuda_run ("until-killed", &plain, false, environment);
  cuda_on_visit = NULL;
  LNS_CHECK (WIFSIGNALED (session->exit_status));
  LNS_CHECK_INT (cuda_problems (LNS_WIRE_PROBLEM_TAKEN), 1);
  mini_session_free (session);
}

/* It has come before the engine's thread has flushed once. */
static void
test_another_client_is_told_that_comes_early (void)
{
  static const char *const takeovers[] = { "LNS_DOUBLE_TAKEOVER=3", "LNS_DOUBLE_TAKEOVER=4" };
  for (size_t i = 0; i < 2; i++)
    {
      const char *const environment[] = { takeovers[i], NULL };
      MiniSession *session = cuda_run ("several", &plain, false, environment);
      LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL), 0);
      LNS_CHECK_INT (cuda_problems (LNS_WIRE_PROBLEM_TAKEN), 1);
      LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_PROBLEM), 1);
      mini_session_free (session);
    }
}

/* CUPTI that drops records, holds them back or shares a buffer between threads is still ours. */
static void
test_no_other_client_is_told (void)
{
  static const char *const settings[][2] = { { "LNS_DOUBLE_DROP=2", NULL },
                                             { "LNS_DOUBLE_HELD=2", NULL },
                                             { "LNS_DOUBLE_WITHHOLD=1", "LNS_DOUBLE_PER_THREAD=0" },
                                             { "LNS_DOUBLE_LATE_MS=3000",
                                               "LNS_DOUBLE_PER_THREAD=0" } };
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
    {
      const char *const environment[] = { settings[i][0], settings[i][1], NULL };
      MiniSession *session = cuda_run ("several", &plain, false, environment);
      fprintf (stderr, "# %s\n", settings[i][0]);
      LNS_CHECK_INT (session->exit_status, 0);
      LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_PROBLEM), 0);
      mini_session_free (session);
    }
}

/* CUPTI 13.2 to 13.5 answers 999 before there is a driver. */
static void
test_a_driver_that_comes_late (void)
{
  static const char *const versions[] = { "LNS_DOUBLE_CUPTI_VERSION=130200",
                                          "LNS_DOUBLE_CUPTI_VERSION=130501" };
  for (size_t i = 0; i < 2; i++)
    {
      const char *const environment[] = { versions[i], "LNS_DOUBLE_LATE_DRIVER=1",
                                          "LNS_DOUBLE_DRIVER_VERSION=13050", NULL };
      MiniSession *session = cuda_run ("several", &plain, false, environment);
      LNS_CHECK (cuda_is_sound (session));
      LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_PROBLEM), 0);
      LNS_CHECK (cuda_count (LNS_WIRE_CUDA_KERNEL) > 0);
      const LnsWireCudaInfoBytes *info, *last = NULL;
      for (size_t k = 0; (info = cuda_record (LNS_WIRE_CUDA_INFO, k)) != NULL; k++)
        last = info;
      LNS_CHECK (last != NULL && last->cupti_version >= 130200);
      mini_session_free (session);
    }
}

/* The program has made its context before CUPTI finds the driver. */
static void
test_a_context_from_before_the_driver (void)
{
  static const char *const drivers[] = { "LNS_DOUBLE_DRIVER_VERSION=13020",
                                         "LNS_DOUBLE_DRIVER_VERSION=13050" };
  for (size_t i = 0; i < 2; i++)
    {
      const char *const environment[] = { "LNS_DOUBLE_CUPTI_VERSION=130500",
                                          "LNS_DOUBLE_LATE_DRIVER=40", drivers[i], NULL };
      MiniSession *session = cuda_run ("several", &plain, false, environment);
      const LnsWireCudaContextBytes *context = cuda_record (LNS_WIRE_CUDA_CONTEXT, 0);
      const LnsWireCudaKernelBytes *kernel = cuda_record (LNS_WIRE_CUDA_KERNEL, 0);
      LNS_CHECK (cuda_is_sound (session));
      LNS_CHECK (kernel != NULL && cuda_count (LNS_WIRE_CUDA_KERNEL) < 300);
      LNS_CHECK (context != NULL && context->number == kernel->place.context);
      LNS_CHECK (cuda_count (LNS_WIRE_CUDA_STREAM) > 0 && cuda_count (LNS_WIRE_CUDA_DEVICE) > 0);
      mini_session_free (session);
    }
}

/* Up to 13.1, CUPTI gives graph launches wrong correlations after kinds were disabled and enabled again. Ranges do neither. */
static void
test_ranges_are_one_session (void)
{
  static const char *const environment[] = { "LNS_DOUBLE_SECOND_SESSION=1", NULL };
  LnsWireOptions asked = plain;
  asked.range_kind = LNS_WIRE_RANGE_PROFILER_API;
  asked.range_end = LNS_WIRE_RANGE_END_REPEAT;
  MiniSession *session = cuda_run ("ranges", &asked, true, environment);
  LNS_CHECK (cuda_is_sound (session));
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_GRAPH), N_RANGES * N_LAUNCHES);
  for (size_t i = 0; i < N_RANGES * N_LAUNCHES; i++)
    {
      const LnsWireCudaGraphBytes *graph = cuda_record (LNS_WIRE_CUDA_GRAPH, i);
      const LnsWireCudaApiBytes *api;
      size_t n_calls = 0;
      for (size_t k = 0; (api = cuda_record (LNS_WIRE_CUDA_API, k)) != NULL; k++)
        n_calls += graph != NULL && api->correlation == graph->correlation;
      LNS_CHECK_INT (n_calls, 1);
    }
  mini_session_free (session);
}

static void
hang_up (MiniSession *session)
{
  MiniProcess *process = &session->processes[0];
  if (session->n_processes == 0 || process->connection < 0 ||
      !lns_wire_pool_listens (process->pool) || cuda_count (LNS_WIRE_CUDA_KERNEL) == 0)
    return;
  close (process->connection);
  process->connection = -1;
}

/* Before 13.0 U1, CUPTI waits forever if kernels are disabled while another thread flushes. */
static void
test_kernels_are_not_disabled_beside_a_flush (void)
{
  static const char *const environment[] = { "LNS_DOUBLE_CUPTI_VERSION=28", "LNS_DOUBLE_FLUSH_MS=1",
                                             "LNS_DOUBLE_DRIVER_VERSION=12090", NULL };
  LnsWireOptions asked = plain;
  asked.cuda = LNS_WIRE_CUDA_FLUSH_ON_STOP;
  cuda_on_visit = hang_up;
  for (int i = 0; i < 5; i++)
    {
      MiniSession *session = cuda_run ("flushes", &asked, false, environment);
      LNS_CHECK_INT (session->exit_status, 0);
      mini_session_free (session);
    }
  cuda_on_visit = NULL;
}

/* From CUPTI 13.3 on, with a driver of r610, each of several clients gets its own records: 13.3 with its own clock, later
 * versions with ours. */
static void
test_another_client_records_as_well (void)
{
  static const char *const versions[] = { "LNS_DOUBLE_CUPTI_VERSION=130301",
                                          "LNS_DOUBLE_CUPTI_VERSION=130500" };
  for (size_t i = 0; i < 2; i++)
    {
      const char *const environment[] = { versions[i], "LNS_DOUBLE_DRIVER_VERSION=13030", NULL };
      MiniSession *session = cuda_run ("other", &plain, false, environment);
      LNS_CHECK (cuda_is_sound (session));
      LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL), N_BEFORE + N_BOTH + N_AFTER);
      LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_PROBLEM), 0);
      mini_session_free (session);
    }
}

/* The other client uses the older functions: CUPTI refuses it, and we lose nothing. */
static void
test_another_client_cannot_take_over (void)
{
  static const char *const environment[] = { "LNS_DOUBLE_CUPTI_VERSION=130500",
                                             "LNS_DOUBLE_DRIVER_VERSION=13030",
                                             "LNS_DOUBLE_TAKEOVER=80:120", NULL };
  MiniSession *session = cuda_run ("several", &plain, false, environment);
  LNS_CHECK (cuda_is_sound (session));
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL), 300);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_PROBLEM), 0);
  mini_session_free (session);
}

/* With an older driver, or if the user wants that, we are the only client: CUPTI refuses the other one. */
static void
test_another_client_is_refused (void)
{
  static const char *const drivers[] = { "LNS_DOUBLE_DRIVER_VERSION=13000",
                                         "LNS_DOUBLE_DRIVER_VERSION=13030" };
  for (size_t i = 0; i < 2; i++)
    {
      const char *const environment[] = { "LNS_DOUBLE_CUPTI_VERSION=130500", drivers[i], NULL };
      LnsWireOptions asked = plain;
      asked.cuda = i == 1 ? LNS_WIRE_CUDA_ALONE : 0;
      MiniSession *session = cuda_run ("other", &asked, false, environment);
      LNS_CHECK_INT (WEXITSTATUS (session->exit_status),
                     CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
      LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL), N_BEFORE + N_BOTH);
      LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_PROBLEM), 0);
      mini_session_free (session);
    }
}

int
main (int argc, char **argv)
{
  cuda_scenes (scenes, argv);
  LNS_TEST_LONG (test_buffers_are_withheld);
  LNS_TEST (test_contexts_are_told_at_once);
  LNS_TEST (test_no_buffer_is_refused);
  LNS_TEST (test_nothing_is_called_after_a_fatal_error);
  LNS_TEST (test_the_end_waits_for_flushes);
  LNS_TEST (test_the_end_waits_for_the_search_for_a_driver);
  LNS_TEST (test_another_client_records_as_well);
  LNS_TEST (test_another_client_cannot_take_over);
  LNS_TEST (test_another_client_is_refused);
  LNS_TEST_LONG (test_another_client_is_told);
  LNS_TEST_LONG (test_another_client_is_told_while_it_runs);
  LNS_TEST (test_another_client_is_told_that_comes_early);
  LNS_TEST_LONG (test_no_other_client_is_told);
  LNS_TEST (test_a_driver_that_comes_late);
  LNS_TEST (test_a_context_from_before_the_driver);
  LNS_TEST (test_ranges_are_one_session);
  LNS_TEST_LONG (test_kernels_are_not_disabled_beside_a_flush);
  return lns_tap_done ();
}
