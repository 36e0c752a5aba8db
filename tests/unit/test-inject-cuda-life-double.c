/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests programs that use CUDA and crash, fork or execute another program, on the double. The
 * program's own result must be the same as without Lanescope, and no record may be lost that could
 * be kept. */

#include "capture/wire/compact.h"
#include "capture/wire/patience.h"
#include "tests/tap.h"
#include "tests/unit/cuda-fixture.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Nothing is flushed before the end, unless a scene waits for long. */
static const LnsWireOptions plain = { .traces = LNS_WIRE_TRACE_NVTX | LNS_WIRE_TRACE_CUDA,
                                      .flush_ms = 60000 };
static const LnsWireOptions flushed = { .traces = LNS_WIRE_TRACE_CUDA, .flush_ms = 20 };

/* --- Scenes. --------------------------------------------------------------------------------- */

/* CUPTI's own thread writes records of what has ended; what it has not, nobody can salvage. */
#define SETTLE_US 200000

static int
scene_killed (void)
{
  cuda_start ();
  cuda_launch (500, false, 4, 64, NULL);
  cuda.cudaDeviceSynchronize ();
  usleep (SETTLE_US);
  raise (SIGKILL);
  return 1;
}

/* Killed with some records flushed and some not. */
static int
scene_killed_later (void)
{
  cuda_start ();
  cuda_launch (300, false, 4, 64, NULL);
  cuda.cudaDeviceSynchronize ();
  usleep (200000);
  cuda_launch (200, true, 4, 64, NULL);
  cuda.cudaDeviceSynchronize ();
  usleep (SETTLE_US);
  raise (SIGKILL);
  return 1;
}

static void *
leave (void *unused)
{
  cuda_launch (100, false, 4, 64, NULL);
  cuda.cudaDeviceSynchronize ();
  usleep (SETTLE_US);
  _exit (0);
}

/* _exit() from a worker runs no handlers. */
static int
scene_left (void)
{
  pthread_t thread;
  cuda_start ();
  cuda_launch (10, false, 4, 64, NULL);
  pthread_create (&thread, NULL, leave, NULL);
  pthread_join (thread, NULL);
  return 1;
}

/* Bytes of the pool that this process has mapped. */
static size_t
n_shared_bytes (void)
{
  char line[512];
  size_t n = 0;
  FILE *maps = fopen ("/proc/self/maps", "r");
  while (maps != NULL && fgets (line, sizeof line, maps) != NULL)
    {
      size_t first, end;
      if (strstr (line, "lanescope-pool") != NULL && sscanf (line, "%zx-%zx", &first, &end) == 2)
        n += end - first;
    }
  if (maps != NULL)
    fclose (maps);
  return n;
}

static int
scene_forked (void)
{
  cuda_start ();
  nvtx_start ();
  cuda_launch (10, false, 4, 64, NULL);
  size_t n_bytes = n_shared_bytes ();
  pid_t pid = fork ();
  if (pid == 0)
    {
      void *memory;
      /* CUPTI has pointers to the parent's buffers, and would write there. */
      if (n_bytes == 0 || n_shared_bytes () > n_bytes - (64u << 20))
        exit (9);
      nvtx_push ("child");
      bool failed = cuda.cudaMalloc (&memory, 100) != cudaSuccess;
      cuda.cudaDeviceSynchronize ();
      nvtx_pop ();
      exit (failed ? 7 : 8);
    }
  int status;
  waitpid (pid, &status, 0);
  cuda_launch (20, false, 4, 64, NULL);
  cuda.cudaDeviceSynchronize ();
  return status == 7 << 8 ? 0 : 1;
}

/* NVTX asks first; its patience ends before the answer comes. */
static int
scene_late (void)
{
  nvtx_start ();
  nvtx_push ("unheard");
  nvtx_pop ();
  cuda_start ();
  cuda_launch (10, false, 4, 64, NULL);
  cuda.cudaDeviceSynchronize ();
  nvtx_push ("heard");
  nvtx_pop ();
  return 0;
}

static int
scene_reset (void)
{
  cuda_start ();
  for (int i = 0; i < 3; i++)
    {
      cuda_launch (10, false, 4, 64, NULL);
      cuda.cudaDeviceSynchronize ();
      if (cuda.cudaDeviceReset () != cudaSuccess)
        return 1;
    }
  return 0;
}

/* What was of the context is handed over before it goes. */
static int
scene_reset_and_killed (void)
{
  cuda_start ();
  cuda_launch (10, false, 4, 64, NULL);
  cuda.cudaDeviceSynchronize ();
  cuda.cudaDeviceReset ();
  raise (SIGKILL);
  return 1;
}

static int
scene_faulting (void)
{
  cuda_start ();
  cuda_launch (10, false, 4, 64, NULL);
  cuda.cudaDeviceSynchronize ();
  cuda_launch (1, true, 4, 64, NULL);
  return cuda.cudaDeviceSynchronize () == cudaErrorIllegalAddress ? 0 : 1;
}

#define N_THREADS 8
#define N_EACH    2000

static void *
launch_many (void *unused)
{
  cuda_launch (N_EACH, false, 4, 64, NULL);
  return NULL;
}

static int
scene_threads (void)
{
  pthread_t threads[N_THREADS];
  cuda_start ();
  for (int i = 0; i < N_THREADS; i++)
    pthread_create (&threads[i], NULL, launch_many, NULL);
  for (int i = 0; i < N_THREADS; i++)
    pthread_join (threads[i], NULL);
  cuda.cudaDeviceSynchronize ();
  return 0;
}

/* Closes whatever it did not open. */
static int
scene_closing (void)
{
  cuda_start ();
  cuda_launch (10, false, 4, 64, NULL);
  for (int fd = 3; fd < 1024; fd++)
    close (fd);
  cuda_launch (10, false, 4, 64, NULL);
  cuda.cudaDeviceSynchronize ();
  usleep (100000);
  return 0;
}

static const CudaScene scenes[] = { { "killed", scene_killed },
                                    { "killed-later", scene_killed_later },
                                    { "left", scene_left },
                                    { "forked", scene_forked },
                                    { "late", scene_late },
                                    { "reset", scene_reset },
                                    { "reset-and-killed", scene_reset_and_killed },
                                    { "faulting", scene_faulting },
                                    { "threads", scene_threads },
                                    { "closing", scene_closing },
                                    { NULL, NULL } };

/* --- Salvage, as the session does it. -------------------------------------------------------- */

static struct
{
  uint8_t bytes[256];
  size_t n_kernels, n_calls, n_named;
  LnsWireLaunches launches;
} salvaged;

static uint8_t *
reserve (void *context, size_t n_bytes)
{
  return n_bytes <= sizeof salvaged.bytes ? salvaged.bytes : NULL;
}

static void
commit (void *context, size_t n_bytes)
{
  const LnsWireHead *head = (const LnsWireHead *)salvaged.bytes;
  salvaged.n_kernels += head->type == LNS_WIRE_CUDA_KERNEL;
  salvaged.n_calls += head->type == LNS_WIRE_CUDA_API;
  if (head->type == LNS_WIRE_CUDA_LAUNCH)
    salvaged.n_named += ((const LnsWireCudaLaunchBytes *)head)->name != 0;
}

static void
lose (void *context, size_t n_bytes)
{
  LNS_CHECK (false);
}

static uint32_t
text (void *context, uint64_t address, bool is_lasting)
{
  const LnsWireCudaNameBytes *name;
  for (size_t i = 0; (name = cuda_record (LNS_WIRE_CUDA_NAME, i)) != NULL; i++)
    if (name->address == address)
      return name->head.string;
  return 0;
}

static uint32_t
call_name (void *context, bool is_runtime, uint32_t cbid)
{
  return 0;
}

static void
bus (void *context, uint32_t device, char *ret_bus, size_t n_max)
{
}

/* Compacts what the first process of SESSION has left in its buffers. */
static void
salvage (MiniSession *session)
{
  const LnsWireCuptiSink sink = { .reserve = reserve,
                                  .commit = commit,
                                  .lose = lose,
                                  .text = text,
                                  .call_name = call_name,
                                  .bus = bus,
                                  .launches = &salvaged.launches };
  LnsWirePool *pool = session->processes[0].pool;
  LnsWireCuptiCounts counts = { 0 };
  LnsWireCuptiSizes sizes;
  static uint8_t bytes[LNS_WIRE_BUFFER_BYTES];
  memset (&salvaged, 0, sizeof salvaged);
  sizes = lns_wire_pool_view (pool)->header->cupti;
  for (uint32_t i = 0; i < lns_wire_pool_view (pool)->n_buffers; i++)
    {
      size_t n_bytes = lns_wire_pool_salvage (pool, i, bytes);
      lns_wire_cupti_compact (&sizes, bytes, n_bytes, &sink, NULL, &counts);
    }
  LNS_CHECK_INT (counts.unknown_kind, 0);
}

/* --- Tests. ---------------------------------------------------------------------------------- */

static void
test_killed (void)
{
  /* The engine's thread takes what is there when it begins, which may be all of it. */
  MiniSession *session = NULL;
  for (int i = 0; i < 50 && (session == NULL || salvaged.n_kernels == 0); i++)
    {
      if (session != NULL)
        mini_session_free (session);
      session = cuda_run ("killed", &plain, false, NULL);
      LNS_CHECK_INT (session->exit_status, SIGKILL);
      salvage (session);
      LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL) + salvaged.n_kernels, 500);
    }
  LNS_CHECK (salvaged.n_kernels > 0);
  LNS_CHECK (cuda_count (LNS_WIRE_CUDA_API) + salvaged.n_calls >= 500);
  /* By the names that were told as the kernels were launched. */
  LNS_CHECK (salvaged.n_named > 0);
  mini_session_free (session);

  session = cuda_run ("killed-later", &flushed, false, NULL);
  LNS_CHECK_INT (session->exit_status, SIGKILL);
  size_t n_told = cuda_count (LNS_WIRE_CUDA_KERNEL);
  salvage (session);
  LNS_CHECK (n_told >= 300);
  /* What our own thread asks of the driver is nothing that the program did. */
  const LnsWireCudaApiBytes *call;
  for (size_t i = 0; (call = cuda_record (LNS_WIRE_CUDA_API, i)) != NULL; i++)
    LNS_CHECK_INT (call->tid, session->processes[0].hello.pid);
  LNS_CHECK_INT (n_told + salvaged.n_kernels, 500);
  mini_session_free (session);
}

static void
test_left_by_a_worker (void)
{
  MiniSession *session = cuda_run ("left", &plain, false, NULL);
  LNS_CHECK (cuda_is_sound (session));
  salvage (session);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL) + salvaged.n_kernels, 110);
  mini_session_free (session);
}

static void
test_fork (void)
{
  MiniSession *session = cuda_run ("forked", &plain, false, NULL);
  LNS_CHECK (cuda_is_sound (session));
  LNS_CHECK_INT (session->n_processes, 2);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL), 30);
  LNS_CHECK_INT (session->processes[1].n_type[LNS_WIRE_CUDA_KERNEL], 0);
  LNS_CHECK_INT (session->processes[1].n_type[LNS_WIRE_PUSH], 1);
  LNS_CHECK_INT (session->processes[1].n_type[LNS_WIRE_CUDA_PROBLEM], 1);
  LNS_CHECK_INT (mini_session_lost_all (session), 0);
  salvage (session);
  LNS_CHECK_INT (salvaged.n_calls + salvaged.n_kernels, 0);
  mini_session_free (session);
}

/* The answer of a session that takes longer than NVTX waits for is waited for by CUDA, which has the time. */
static void
test_late (void)
{
  const char *given = getenv ("LNS_TEST_PATIENCE");
  setenv ("LNS_TEST_PATIENCE", "1", 1);
  cuda_answer_after_ms = lns_patience ().handshake_ms + 150;
  MiniSession *session = cuda_run ("late", &plain, false, NULL);
  cuda_answer_after_ms = 0;
  setenv ("LNS_TEST_PATIENCE", given != NULL ? given : "1", 1);
  LNS_CHECK (cuda_is_sound (session));
  LNS_CHECK_INT (session->n_processes, 1);
  LNS_CHECK (lns_wire_pool_is_joined (session->processes[0].pool));
  LNS_CHECK_INT (session->processes[0].n_type[LNS_WIRE_PUSH], 1);
  LNS_CHECK_INT (session->processes[0].losses.by_cause[LNS_WIRE_CAUSE_UNANSWERED], 1);
  LNS_CHECK_INT (mini_session_lost_all (session), 1);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL), 10);
  mini_session_free (session);
}

static void
test_reset (void)
{
  MiniSession *session = cuda_run ("reset", &plain, false, NULL);
  LNS_CHECK (cuda_is_sound (session));
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL), 30);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_PROBLEM), 0);
  mini_session_free (session);
  session = cuda_run ("reset-and-killed", &plain, false, NULL);
  LNS_CHECK_INT (session->exit_status, SIGKILL);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL), 10);
  mini_session_free (session);
}

static void
test_fault (void)
{
  const char *const environment[] = { "LNS_DOUBLE_FAULTING_KERNEL=scale", NULL };
  MiniSession *session = cuda_run ("faulting", &plain, false, environment);
  LNS_CHECK (cuda_is_sound (session));
  LNS_CHECK (cuda_count (LNS_WIRE_CUDA_KERNEL) >= 10);
  mini_session_free (session);
}

/* A problem that was told of; -1: none was. */
static int
told_problem (void)
{
  for (int problem = 0; problem < 256; problem++)
    if (cuda_problems ((LnsWireCudaProblem)problem) > 0)
      return problem;
  return -1;
}

static void
check_threads (const LnsWireOptions *asked, const char *setting)
{
  const char *const environment[] = { setting, NULL };
  MiniSession *session = cuda_run ("threads", asked, false, environment);
  LNS_CHECK (cuda_is_sound (session));
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL), N_THREADS * N_EACH);
  LNS_CHECK_INT (mini_session_lost_all (session), 0);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_DROPPED), 0);
  LNS_CHECK_INT (told_problem (), -1);
  mini_session_free (session);
}

static void
test_threads (void)
{
  check_threads (&plain, "LNS_DOUBLE_PER_THREAD=1");
  check_threads (&flushed, "LNS_DOUBLE_PER_THREAD=0");
  check_threads (&flushed, "LNS_DOUBLE_REORDER=16");
}

/* A session without room for CUPTI's buffers: they are private then. */
static void
test_no_buffers (void)
{
  cuda_has_buffers = false;
  check_threads (&flushed, "LNS_DOUBLE_PER_THREAD=1");
  cuda_has_buffers = true;
}

/* More comes than the session takes: what is lost is counted, and what follows a gap is whole. */
static void
test_starving (void)
{
  cuda_n_free = 2;
  cuda_drain_every_ms = 5;
  MiniSession *session = cuda_run ("threads", &flushed, false, NULL);
  cuda_n_free = 0;
  cuda_drain_every_ms = 0;
  LNS_CHECK (cuda_is_sound (session));
  uint64_t n_lost = mini_session_lost (session, LNS_WIRE_LOSS_OTHER);
  LNS_CHECK (n_lost > 0);
  LNS_CHECK (cuda_count (LNS_WIRE_CUDA_KERNEL) < N_THREADS * N_EACH);
  LNS_CHECK (cuda_count (LNS_WIRE_CUDA_KERNEL) + cuda_count (LNS_WIRE_CUDA_API) + n_lost >=
             2 * N_THREADS * N_EACH);
  mini_session_free (session);
}

static void
test_closed_descriptors (void)
{
  MiniSession *session = cuda_run ("closing", &flushed, false, NULL);
  LNS_CHECK (cuda_is_sound (session));
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL), 20);
  mini_session_free (session);
}

int
main (int argc, char **argv)
{
  cuda_scenes (scenes, argv);
  LNS_TEST (test_killed);
  LNS_TEST (test_left_by_a_worker);
  LNS_TEST (test_fork);
  LNS_TEST_LONG (test_late);
  LNS_TEST (test_reset);
  LNS_TEST (test_fault);
  LNS_TEST (test_threads);
  LNS_TEST (test_no_buffers);
  LNS_TEST (test_starving);
  LNS_TEST (test_closed_descriptors);
  return lns_tap_done ();
}
