/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests capture ranges and commands on the double: exactly the events inside them must be
 * recorded. */

#include "tests/tap.h"
#include "tests/unit/cuda-fixture.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- Scenes. --------------------------------------------------------------------------------- */

/* N kernels and as many marks, all over when it returns. */
static void
work (int n)
{
  cuda_launch (n, false, 4, 64, NULL);
  for (int i = 0; i < n; i++)
    nvtx_mark ("kernel");
  cuda.cudaDeviceSynchronize ();
}

static int
scene_profiler (void)
{
  cuda_start ();
  nvtx_start ();
  work (3);
  for (int i = 0; i < 3; i++)
    {
      cuda.cudaProfilerStart ();
      work (10);
      cuda.cudaProfilerStop ();
      work (3);
    }
  return 0;
}

/* Ranges called "epoch" in all the ways that NVTX has, others among them. */
static int
scene_nvtx (void)
{
  cuda_start ();
  nvtx_start ();
  const void *domain = nvtx_domain ("training");
  LnsNvtxEventAttributes wide = { .size = sizeof wide,
                                  .message_type = LNS_NVTX_MESSAGE_WIDE,
                                  .message.wide = L"epoch" };
  LnsNvtxEventAttributes registered = { .size = sizeof registered,
                                        .message_type = LNS_NVTX_MESSAGE_REGISTERED,
                                        .message.registered = nvtx_register (domain, "epoch") };
  work (1);
  nvtx_push ("outer");
  nvtx_push ("epoch");
  nvtx_push ("epoch"); /* inside of itself */
  work (10);
  nvtx_pop ();
  nvtx_domain_push (domain, &wide);
  work (10);
  nvtx_domain_pop (domain);
  nvtx_pop ();
  work (2);
  nvtx_domain_push (domain, &wide);
  work (100);
  nvtx_domain_pop (domain);
  work (3);
  nvtx_domain_push (domain, &registered);
  work (100);
  nvtx_domain_pop (domain);
  nvtx_pop ();
  uint64_t other = nvtx_range_start ("epochs");
  uint64_t range = nvtx_range_start ("epoch");
  nvtx_range_end (other);
  work (1000);
  nvtx_range_end (range);
  work (4);
  return 0;
}

/* One long range, and many short ones. */
static int
scene_crossed (void)
{
  cuda_start ();
  nvtx_start ();
  cuda.cudaProfilerStart ();
  for (int i = 0; i < 50; i++)
    {
      work (1);
      usleep (2000);
    }
  cuda.cudaProfilerStop ();
  for (int i = 0; i < 500; i++)
    {
      cuda.cudaProfilerStart ();
      work (1);
      cuda.cudaProfilerStop ();
    }
  return 0;
}

/* What the session of `commands` and its program, another process, know of each other: a memfd that the program
 * inherits, whose number is in its environment. */
typedef struct
{
  int n_kernels; /* that the program has run */
  int is_over;   /* all commands are answered */
} Talk;

#define TALK_VARIABLE "LNS_TEST_TALK"

static Talk *talk;

static Talk *
map_talk (int fd)
{
  return mmap (NULL, sizeof (Talk), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

/* Works for a while, whoever listens. */
static int
scene_steady (void)
{
  cuda_start ();
  nvtx_start ();
  for (int i = 0; i < 60; i++)
    {
      work (1);
      usleep (10000);
    }
  return 0;
}

/* Goes on until it has answered all commands. */
static int
scene_commands (void)
{
  talk = map_talk (atoi (getenv (TALK_VARIABLE)));
  if (talk == MAP_FAILED)
    return 96;
  cuda_start ();
  nvtx_start ();
  while (!__atomic_load_n (&talk->is_over, __ATOMIC_ACQUIRE))
    {
      work (1);
      __atomic_add_fetch (&talk->n_kernels, 1, __ATOMIC_RELEASE);
      usleep (1000);
    }
  return 0;
}

static const CudaScene scenes[] = { { "profiler", scene_profiler }, { "nvtx", scene_nvtx },
                                    { "crossed", scene_crossed },   { "commands", scene_commands },
                                    { "steady", scene_steady },     { NULL, NULL } };

/* --- Tests. ---------------------------------------------------------------------------------- */

/* Runs SCENE and checks that N kernels and marks were recorded, and N_RANGES of NVTX among them, in
 * N_BEGUN capture ranges of which N_ENDED ended. */
static void
check (const char *scene, const LnsWireOptions *asked, size_t n, size_t n_begun, size_t n_ended)
{
  MiniSession *session = cuda_run (scene, asked, true, NULL);
  LNS_CHECK (cuda_is_sound (session));
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_PROBLEM), 0);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL), n);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_MARK), n);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_RANGE), n_begun + n_ended);
  LNS_CHECK_INT (session->n_notice[LNS_WIRE_NOTICE_RANGE_BEGAN], n_begun);
  LNS_CHECK_INT (session->n_notice[LNS_WIRE_NOTICE_RANGE_ENDED], n_ended);
  uint64_t last_ticks = 0;
  for (size_t i = 0; i < n_begun + n_ended; i++)
    {
      const LnsWireRangeBytes *range = cuda_record (LNS_WIRE_RANGE, i);
      LNS_CHECK_INT (range->is_end, i % 2);
      LNS_CHECK (range->head.ticks > last_ticks);
      last_ticks = range->head.ticks;
      if (asked->range_message[0] != '\0')
        LNS_CHECK_STR (cuda_text (session, range->head.string), asked->range_message);
    }
  /* Definitions come whenever they are. */
  LNS_CHECK (cuda_count (LNS_WIRE_CUDA_CONTEXT) >= 1);
  LNS_CHECK_INT (session->n_wrong_depths, 0);
  mini_session_free (session);
}

static LnsWireOptions
ask (LnsWireRangeKind kind, LnsWireRangeEnd end, uint32_t n_ranges)
{
  return (LnsWireOptions){ .traces = LNS_WIRE_TRACE_NVTX | LNS_WIRE_TRACE_CUDA,
                           .range_kind = kind,
                           .range_end = end,
                           .n_ranges = n_ranges };
}

static void
test_profiler_api (void)
{
  LnsWireOptions asked = ask (LNS_WIRE_RANGE_PROFILER_API, LNS_WIRE_RANGE_END_STOP, 0);
  check ("profiler", &asked, 10, 1, 1);
  asked = ask (LNS_WIRE_RANGE_PROFILER_API, LNS_WIRE_RANGE_END_REPEAT, 2);
  check ("profiler", &asked, 20, 2, 2);
  asked = ask (LNS_WIRE_RANGE_PROFILER_API, LNS_WIRE_RANGE_END_REPEAT, 0);
  check ("profiler", &asked, 30, 3, 3);
  asked = ask (LNS_WIRE_RANGE_PROFILER_API, LNS_WIRE_RANGE_END_NONE, 0);
  check ("profiler", &asked, 39, 1, 0);
}

static void
test_nvtx (void)
{
  LnsWireOptions asked = ask (LNS_WIRE_RANGE_NVTX, LNS_WIRE_RANGE_END_STOP, 0);
  strcpy (asked.range_message, "epoch");
  check ("nvtx", &asked, 20, 1, 1);
  strcpy (asked.range_domain, "training");
  check ("nvtx", &asked, 10, 1, 1);
  asked.range_end = LNS_WIRE_RANGE_END_REPEAT;
  check ("nvtx", &asked, 210, 3, 3);
  asked.range_domain[0] = '\0';
  check ("nvtx", &asked, 1020, 2, 2);
  asked.range_any_domain = 1;
  check ("nvtx", &asked, 1220, 4, 4);
  strcpy (asked.range_message, "nothing");
  check ("nvtx", &asked, 0, 0, 0);
}

/* --- Commands. ------------------------------------------------------------------------------- */

/* The program runs so many kernels between two commands. */
#define KERNELS_BETWEEN 5

static int n_sent, n_kernels_then;

/* Sends the next command when the one before is answered. */
static void
send_next (MiniSession *session)
{
  static const uint32_t kinds[] = { LNS_WIRE_COMMAND_START, LNS_WIRE_COMMAND_FLUSH,
                                    LNS_WIRE_COMMAND_STOP, LNS_WIRE_COMMAND_FINISH };
  MiniProcess *process = &session->processes[0];
  const int n_kernels = __atomic_load_n (&talk->n_kernels, __ATOMIC_ACQUIRE);
  if (session->n_processes == 0 || process->pool == NULL || process->connection < 0 ||
      !lns_wire_pool_listens (process->pool) || n_kernels < n_kernels_then + KERNELS_BETWEEN ||
      session->n_notice[LNS_WIRE_NOTICE_FLUSHED] < (uint64_t)n_sent)
    return;
  if (n_sent == 4)
    {
      __atomic_store_n (&talk->is_over, 1, __ATOMIC_RELEASE);
      return;
    }
  if (kinds[n_sent] == LNS_WIRE_COMMAND_START || kinds[n_sent] == LNS_WIRE_COMMAND_STOP)
    lns_wire_pool_set_recording (process->pool, kinds[n_sent] == LNS_WIRE_COMMAND_START);
  LnsWireCommand command = { .magic = LNS_WIRE_MAGIC,
                             .kind = kinds[n_sent],
                             .serial = (uint32_t)++n_sent };
  (void)send (process->connection, &command, sizeof command, MSG_NOSIGNAL | MSG_DONTWAIT);
  n_kernels_then = n_kernels;
}

static void
test_commands (void)
{
  LnsWireOptions asked = ask (LNS_WIRE_RANGE_NONE, LNS_WIRE_RANGE_END_NONE, 0);
  const int fd = memfd_create ("talk", 0);
  char variable[64];
  const char *environment[] = { variable, NULL };
  snprintf (variable, sizeof variable, TALK_VARIABLE "=%d", fd);
  LNS_CHECK (fd >= 0 && ftruncate (fd, sizeof *talk) == 0);
  talk = map_talk (fd);
  LNS_CHECK (talk != MAP_FAILED);
  n_sent = n_kernels_then = 0;
  cuda_on_visit = send_next;
  MiniSession *session = cuda_run ("commands", &asked, true, environment);
  cuda_on_visit = NULL;
  LNS_CHECK (cuda_is_sound (session));
  LNS_CHECK_INT (session->n_notice[LNS_WIRE_NOTICE_FLUSHED], 4);
  /* None before the first command, and none after the third. */
  const size_t n = cuda_count (LNS_WIRE_CUDA_KERNEL);
  LNS_CHECK (n > 0 && n <= (size_t)talk->n_kernels - 2 * KERNELS_BETWEEN);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_RANGE), 0);
  mini_session_free (session);
  munmap (talk, sizeof *talk);
  close (fd);
}

/* Lets the process record as others do that are in a range, and not any more, again and again. */
static void
cross (MiniSession *session)
{
  MiniProcess *process = &session->processes[0];
  if (session->n_processes == 0 || process->pool == NULL || process->connection < 0 ||
      !lns_wire_pool_listens (process->pool) || session->n_notice[LNS_WIRE_NOTICE_RANGE_BEGAN] == 0)
    return;
  const bool lets = n_sent++ % 2 != 0;
  lns_wire_pool_let_record (process->pool, lets);
  LnsWireCommand command = { .magic = LNS_WIRE_MAGIC,
                             .kind = lets ? LNS_WIRE_COMMAND_START : LNS_WIRE_COMMAND_STOP };
  (void)send (process->connection, &command, sizeof command, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* What is asked for because of other processes' ranges crosses the process's own, which lose nothing. */
static void
test_ranges_of_others_cross_ours (void)
{
  LnsWireOptions asked = ask (LNS_WIRE_RANGE_PROFILER_API, LNS_WIRE_RANGE_END_REPEAT, 0);
  n_sent = 0;
  cuda_on_visit = cross;
  MiniSession *session = cuda_run ("crossed", &asked, true, NULL);
  cuda_on_visit = NULL;
  LNS_CHECK (cuda_is_sound (session));
  LNS_CHECK (n_sent > 2);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_RANGE), 2 * 501);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL), 550);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_MARK), 550);
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

/* A session that is gone: the program goes on, and nothing is recorded for nobody. */
static void
test_session_gone (void)
{
  LnsWireOptions asked = ask (LNS_WIRE_RANGE_NONE, LNS_WIRE_RANGE_END_NONE, 0);
  asked.flush_ms = 20;
  cuda_on_visit = hang_up;
  MiniSession *session = cuda_run ("steady", &asked, false, NULL);
  cuda_on_visit = NULL;
  LNS_CHECK (cuda_is_sound (session));
  size_t n = cuda_count (LNS_WIRE_CUDA_KERNEL);
  LNS_CHECK (n > 0 && n < 60);
  LNS_CHECK_INT (lns_wire_pool_view (session->processes[0].pool)->header->recording, 0);
  mini_session_free (session);
}

int
main (int argc, char **argv)
{
  cuda_scenes (scenes, argv);
  LNS_TEST (test_profiler_api);
  LNS_TEST (test_nvtx);
  LNS_TEST (test_commands);
  LNS_TEST (test_ranges_of_others_cross_ours);
  LNS_TEST (test_session_gone);
  return lns_tap_done ();
}
