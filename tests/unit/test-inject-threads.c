/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests threads: at full rate, many at once, many one after the other; and what is lost if the
 * pool is small. */

#include "tests/tap.h"
#include "tests/unit/mini-session.h"

#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum
{
  N_BUSY = 50,
  N_RANGES = 100000,
  N_LIVE = 2000,
  N_SHORT = 100000
};

static MiniSession *
run (const MiniOptions *options, int (*target) (void))
{
  MiniSession *session = mini_session_run (options, target);
  LNS_CHECK_INT (session->exit_status, 0);
  LNS_CHECK_INT (session->n_bad_records, 0);
  LNS_CHECK_INT (session->n_wrong_times, 0);
  LNS_CHECK_INT (session->n_wrong_depths, 0);
  LNS_CHECK_INT (session->n_unknown_names, 0);
  LNS_CHECK_INT (session->n_processes, 1);
  return session;
}

/* Runs FUNCTION in N threads at once. */
static int
run_threads (int n, void *(*function) (void *))
{
  pthread_t *threads = calloc ((size_t)n, sizeof *threads);
  pthread_attr_t attributes;
  pthread_attr_init (&attributes);
  pthread_attr_setstacksize (&attributes, 65536);
  for (int i = 0; i < n; i++)
    if (pthread_create (&threads[i], &attributes, function, (void *)(intptr_t)i) != 0)
      return 1;
  for (int i = 0; i < n; i++)
    pthread_join (threads[i], NULL);
  free (threads);
  return 0;
}

static void *
push_ranges (void *argument)
{
  static const char *const names[] = { "load", "forward", "backward", "step" };
  for (int i = 0; i < N_RANGES; i++)
    {
      nvtx_push (names[i % 4]);
      nvtx_pop ();
    }
  return NULL;
}

static int
busy_threads (void)
{
  nvtx_start ();
  return run_threads (N_BUSY, push_ranges);
}

static void
test_fifty_busy_threads (void)
{
  MiniOptions options = { 0 };
  MiniSession *session = run (&options, busy_threads);
  uint64_t made = (uint64_t)N_BUSY * N_RANGES;
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_PUSH) +
                     mini_session_lost (session, LNS_WIRE_LOSS_PUSH),
                 made);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_POP) +
                     mini_session_lost (session, LNS_WIRE_LOSS_POP),
                 made);
  /* A thread of which everything was lost is not known by name. */
  LNS_CHECK (session->processes[0].n_threads <= N_BUSY);
  LNS_CHECK (session->processes[0].n_threads > 0);
  mini_session_free (session);
}

/* A pool of 1 MiB, drained rarely: most is lost, and every bit of it is known. */
static void
test_fifty_busy_threads_in_a_small_pool (void)
{
  MiniOptions options = { .n_chunks = 16, .drain_every_ms = 5 };
  MiniSession *session = run (&options, busy_threads);
  uint64_t made = (uint64_t)N_BUSY * N_RANGES;
  uint64_t lost = mini_session_lost (session, LNS_WIRE_LOSS_PUSH);
  LNS_CHECK (lost > 0);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_PUSH) + lost, made);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_POP) +
                     mini_session_lost (session, LNS_WIRE_LOSS_POP),
                 made);
  const MiniProcess *process = &session->processes[0];
  LNS_CHECK (process->told.events[LNS_WIRE_LOSS_PUSH] <= lost);
  LNS_CHECK (process->told.events[LNS_WIRE_LOSS_PUSH] > 0);
  LNS_CHECK (session->n_notices > 0);
  mini_session_free (session);
}

static pthread_barrier_t all_live;

static void *
push_once_and_wait (void *argument)
{
  char name[16];
  snprintf (name, sizeof name, "worker-%d", (int)(intptr_t)argument);
  prctl (PR_SET_NAME, name);
  nvtx_push (name);
  pthread_barrier_wait (&all_live);
  nvtx_pop ();
  return NULL;
}

static int
live_threads (void)
{
  nvtx_start ();
  pthread_barrier_init (&all_live, NULL, N_LIVE);
  return run_threads (N_LIVE, push_once_and_wait);
}

static uint64_t n_names_of_threads;

/* The name that the system has for a thread is the name of its range. */
static void
check_thread_name (MiniSession *session,
                   MiniProcess *process,
                   MiniStream *stream,
                   const LnsWireRecord *record)
{
  if (record->type == LNS_WIRE_PUSH)
    n_names_of_threads +=
        strcmp (stream->strings[record->event.string].text, stream->thread_name) == 0;
}

static void
test_two_thousand_live_threads (void)
{
  MiniOptions options = { .on_record = check_thread_name, .n_free = 4096 };
  n_names_of_threads = 0;
  MiniSession *session = run (&options, live_threads);
  LNS_CHECK_INT (mini_session_lost_all (session), 0);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_PUSH), N_LIVE);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_POP), N_LIVE);
  LNS_CHECK_INT (session->processes[0].n_threads, N_LIVE);
  LNS_CHECK_INT (n_names_of_threads, N_LIVE);
  mini_session_free (session);
}

static void *
push_once (void *argument)
{
  nvtx_push ("short");
  nvtx_mark ("life");
  if ((intptr_t)argument % 2)
    nvtx_pop (); /* half of them leave their range open */
  return NULL;
}

static int
short_threads (void)
{
  nvtx_start ();
  pthread_attr_t attributes;
  pthread_attr_init (&attributes);
  pthread_attr_setstacksize (&attributes, 65536);
  for (int i = 0; i < N_SHORT; i += 4)
    {
      pthread_t threads[4];
      for (int k = 0; k < 4; k++)
        if (pthread_create (&threads[k], &attributes, push_once, (void *)(intptr_t)k) != 0)
          return 1;
      for (int k = 0; k < 4; k++)
        pthread_join (threads[k], NULL);
    }
  return 0;
}

static void
test_many_short_threads (void)
{
  MiniOptions options = { 0 };
  MiniSession *session = run (&options, short_threads);
  const MiniProcess *process = &session->processes[0];
  LNS_CHECK_INT (mini_session_lost_all (session), 0);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_PUSH), N_SHORT);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_MARK), N_SHORT);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_POP), N_SHORT / 2);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_THREAD_END), N_SHORT);
  LNS_CHECK_INT (process->n_threads, N_SHORT);
  /* They share what the few that live at once need. */
  LNS_CHECK (process->n_streams <= 16);
  LNS_CHECK (process->n_max_owned <= 16);
  /* And their names are told once a chunk's owner, not once a thread. */
  LNS_CHECK (mini_session_count (session, LNS_WIRE_STRING) <= 2 * process->n_streams);
  mini_session_free (session);
}

/* Idle chunks of ended threads do not starve those that live on in a tiny pool. */

static void *
fill_a_little (void *argument)
{
  nvtx_mark ("ended");
  pthread_barrier_wait (&all_live);
  return NULL;
}

static void *
live_on (void *argument)
{
  for (int i = 0; i < 2000; i++)
    {
      nvtx_push ("alive");
      nvtx_pop ();
      usleep (50);
    }
  return NULL;
}

static int
starving (void)
{
  nvtx_start ();
  pthread_barrier_init (&all_live, NULL, 10);
  if (run_threads (10, fill_a_little) != 0)
    return 1;
  /* The next one finds all ten chunks in the hands of those. */
  pthread_barrier_init (&all_live, NULL, 1);
  return run_threads (1, live_on);
}

static void
test_ended_threads_starve_nobody (void)
{
  MiniOptions options = { .n_chunks = 10, .chunk_bytes = 4096, .drain_every_ms = 40 };
  MiniSession *session = run (&options, starving);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_PUSH) +
                     mini_session_lost (session, LNS_WIRE_LOSS_PUSH),
                 2000);
  /* Once it has starved until the next drain, it has all ten chunks; with one alone it would starve
   * most of the time. */
  LNS_CHECK (mini_session_count (session, LNS_WIRE_PUSH) > 1000);
  mini_session_free (session);
}

/* Random work in a tiny pool: after each gap the first record has its depth and its name. */

static void *
nest_at_random (void *argument)
{
  uint64_t seed = (uint64_t)(intptr_t)argument + 1;
  int depth = 0;
  char name[40];
  for (int i = 0; i < 60000; i++)
    {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      uint32_t random = (uint32_t)(seed >> 33);
      if (i % 100 == 0)
        usleep (random % 50); /* many short gaps rather than one long one */
      if (depth > 0 && random % 2)
        {
          if (nvtx_pop () != --depth)
            abort ();
        }
      else
        {
          /* The name tells the depth, which the other side compares. */
          snprintf (name, sizeof name, "%d%s", depth,
                    random % 8 == 0 ? " and a longer ending" : "");
          if (nvtx_push (name) != depth++)
            abort ();
        }
    }
  return NULL;
}

static int
random_drops (void)
{
  nvtx_start ();
  return run_threads (6, nest_at_random);
}

static uint64_t n_wrong_names;

static void
check_depth_in_name (MiniSession *session,
                     MiniProcess *process,
                     MiniStream *stream,
                     const LnsWireRecord *record)
{
  if (record->type == LNS_WIRE_PUSH)
    {
      const char *name = stream->strings[record->event.string].text;
      n_wrong_names += name == NULL || (uint32_t)atoi (name) != record->event.depth;
    }
}

static void
test_random_drops (void)
{
  MiniOptions options = {
    .n_chunks = 5, .chunk_bytes = 4096, .drain_every_ms = 1, .on_record = check_depth_in_name
  };
  n_wrong_names = 0;
  MiniSession *session = run (&options, random_drops);
  uint64_t pushes = mini_session_count (session, LNS_WIRE_PUSH);
  uint64_t lost = mini_session_lost (session, LNS_WIRE_LOSS_PUSH);
  uint64_t pops = mini_session_count (session, LNS_WIRE_POP);
  uint64_t lost_pops = mini_session_lost (session, LNS_WIRE_LOSS_POP);
  LNS_CHECK (lost > 100);
  LNS_CHECK (mini_session_count (session, LNS_WIRE_LOST) > 10);
  LNS_CHECK_INT (pushes + lost + pops + lost_pops, 6 * 60000);
  LNS_CHECK_INT (n_wrong_names, 0);
  mini_session_free (session);
}

/* Pieces of long names in chunks that run out in between. */

static void *
push_long_names (void *argument)
{
  static __thread char name[20001];
  for (int i = 0; i < 300; i++)
    {
      memset (name, 'a' + i % 26, sizeof name - 1);
      nvtx_mark (name);
      nvtx_mark ("short");
    }
  return NULL;
}

static int
long_names_and_drops (void)
{
  nvtx_start ();
  return run_threads (3, push_long_names);
}

static void
check_long_name (MiniSession *session,
                 MiniProcess *process,
                 MiniStream *stream,
                 const LnsWireRecord *record)
{
  if (record->type != LNS_WIRE_MARK)
    return;
  const MiniText *name = &stream->strings[record->event.string];
  bool whole = name->text != NULL && (name->n_bytes == 20000 || strcmp (name->text, "short") == 0);
  for (uint32_t i = 1; whole && name->n_bytes == 20000 && i < name->n_bytes; i++)
    whole = name->text[i] == name->text[0];
  n_wrong_names += !whole;
}

static void
test_long_names_and_drops (void)
{
  MiniOptions options = {
    .n_chunks = 12, .chunk_bytes = 4096, .drain_every_ms = 2, .on_record = check_long_name
  };
  n_wrong_names = 0;
  MiniSession *session = run (&options, long_names_and_drops);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_MARK) +
                     mini_session_lost (session, LNS_WIRE_LOSS_MARK),
                 3 * 600);
  LNS_CHECK (mini_session_lost_all (session) > 0);
  LNS_CHECK (mini_session_count (session, LNS_WIRE_PIECE) > 0);
  LNS_CHECK_INT (n_wrong_names, 0);
  mini_session_free (session);
}

/* --- A thread that the loader missed. --------------------------------------------------------- */

/* Sets this thread's storage of the injection to zeroes, as a thread has it that glibc has made ready just
 * before another one loaded the library. */
static int
zero_storage (struct dl_phdr_info *info, size_t n_bytes, void *unused)
{
  if (strstr (info->dlpi_name, "liblanescope-inject") == NULL)
    return 0;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_TLS && info->dlpi_tls_data != NULL)
      {
        memset (info->dlpi_tls_data, 0, info->dlpi_phdr[i].p_memsz);
        return 1;
      }
  return 0;
}

static void *
mark_without_storage (void *call)
{
  if (dl_iterate_phdr (zero_storage, NULL) != 1)
    _exit (3);
  if (call == NULL && (nvtx_pop () != -1 || nvtx_push ("missed") != 0))
    _exit (4);
  nvtx_mark ("missed");
  return NULL;
}

static int
missed_by_the_loader (void)
{
  nvtx_start ();
  /* Before the session was joined, and after; with a stream that is new, and one of a thread before. */
  for (int i = 0; i < 4; i++)
    {
      pthread_t thread;
      pthread_create (&thread, NULL, mark_without_storage, i % 2 == 0 ? NULL : &thread);
      pthread_join (thread, NULL);
    }
  return 0;
}

static void
test_thread_that_the_loader_missed (void)
{
  MiniOptions options = { 0 };
  MiniSession *session = run (&options, missed_by_the_loader);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_MARK), 4);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_PUSH), 2);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_POP_EMPTY), 2);
  LNS_CHECK_INT (mini_session_lost_all (session), 0);
  mini_session_free (session);
}

int
main (void)
{
  LNS_TEST (test_fifty_busy_threads);
  LNS_TEST (test_fifty_busy_threads_in_a_small_pool);
  LNS_TEST (test_two_thousand_live_threads);
  LNS_TEST (test_many_short_threads);
  LNS_TEST (test_ended_threads_starve_nobody);
  LNS_TEST (test_random_drops);
  LNS_TEST (test_long_names_and_drops);
  LNS_TEST (test_thread_that_the_loader_missed);
  return lns_tap_done ();
}
