/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests rare situations, each of which is brought about on purpose: an event inside an event,
 * threads that start while the session is slow to answer, definitions for which there is no room. */

#include "tests/tap.h"
#include "tests/unit/mini-session.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static MiniSession *
run (const MiniOptions *options, int (*target) (void))
{
  MiniSession *session = mini_session_run (options, target);
  LNS_CHECK_INT (session->exit_status, 0);
  LNS_CHECK_INT (session->n_bad_records, 0);
  LNS_CHECK_INT (session->n_wrong_times, 0);
  LNS_CHECK_INT (session->n_unknown_names, 0);
  return session;
}

/* --- An event inside an event. --------------------------------------------------------------- */

static char *page;

/* Comes while the injection reads a name on a page that may not be read: lets it, and uses NVTX. */
static void
use_nvtx_in_fault (int signal)
{
  if (nvtx_push ("nested") < 0 || nvtx_pop () < 0)
    _exit (3);
  nvtx_mark ("nested");
  mprotect (page, 4096, PROT_READ | PROT_WRITE);
}

static int
nested_events (void)
{
  nvtx_start ();
  page = mmap (NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  strcpy (page, "outer");
  signal (SIGSEGV, use_nvtx_in_fault);
  /* The thread's first event, by the slow way in; and others, by the fast one. */
  for (int i = 0; i < 3; i++)
    {
      mprotect (page, 4096, PROT_NONE);
      if (nvtx_push (page) != 0)
        return 1;
      if (nvtx_pop () != 0)
        return 2;
    }
  return 0;
}

static void
test_nested_events_are_counted (void)
{
  MiniOptions options = { .keep_events = true };
  MiniSession *session = run (&options, nested_events);
  LNS_CHECK_INT (session->n_events, 6);
  for (int i = 0; i < 6; i += 2)
    LNS_CHECK_STR (session->events[i].name, "outer");
  LNS_CHECK_INT (mini_session_lost (session, LNS_WIRE_LOSS_PUSH), 3);
  LNS_CHECK_INT (mini_session_lost (session, LNS_WIRE_LOSS_POP), 3);
  LNS_CHECK_INT (mini_session_lost (session, LNS_WIRE_LOSS_MARK), 3);
  /* Pushes and marks, for a reason of their own. */
  LNS_CHECK_INT (session->processes[0].losses.by_cause[LNS_WIRE_CAUSE_HANDLER], 6);
  LNS_CHECK_INT (session->processes[0].losses.by_cause[LNS_WIRE_CAUSE_MEMORY], 0);
  mini_session_free (session);
}

/* --- Threads that come together while the session is slow. ----------------------------------- */

enum
{
  N_TOGETHER = 4
};

static pthread_barrier_t together;

static void *
mark_together (void *argument)
{
  pthread_barrier_wait (&together);
  nvtx_mark ("together");
  return NULL;
}

static int
join_together (void)
{
  nvtx_start ();
  nvtx_mark ("parent");
  pid_t pid = fork ();
  if (pid == 0)
    {
      pthread_t threads[N_TOGETHER];
      pthread_barrier_init (&together, NULL, N_TOGETHER);
      for (int i = 0; i < N_TOGETHER; i++)
        pthread_create (&threads[i], NULL, mark_together, NULL);
      for (int i = 0; i < N_TOGETHER; i++)
        pthread_join (threads[i], NULL);
      _exit (0);
    }
  int status;
  return waitpid (pid, &status, 0) == pid && status == 0 ? 0 : 1;
}

static void
test_threads_wait_for_one_handshake (void)
{
  MiniOptions options = { .keep_events = true, .answer_after_ms = 60 };
  MiniSession *session = run (&options, join_together);
  LNS_CHECK_INT (session->n_processes, 2);
  LNS_CHECK_INT (session->processes[1].n_type[LNS_WIRE_MARK], N_TOGETHER);
  mini_session_free (session);
}

/* --- A thread that gets no stream. ------------------------------------------------------------ */

static int
mark_without_memory (void)
{
  nvtx_start ();
  nvtx_domain ("joins the session");
  pthread_t thread;
  /* Address space for nothing more: the thread's stack is there, its stream is not. */
  pthread_barrier_init (&together, NULL, 2);
  pthread_create (&thread, NULL, mark_together, NULL);
  struct rlimit limit = { 0, RLIM_INFINITY };
  setrlimit (RLIMIT_AS, &limit);
  pthread_barrier_wait (&together);
  pthread_join (thread, NULL);
  limit.rlim_cur = RLIM_INFINITY;
  setrlimit (RLIMIT_AS, &limit);
  return 0;
}

static void
test_thread_without_memory_is_counted (void)
{
#ifdef __SANITIZE_ADDRESS__
  LNS_SKIP ("the sanitizer needs address space of its own");
#endif
  MiniOptions options = { 0 };
  MiniSession *session = run (&options, mark_without_memory);
  LNS_CHECK_INT (mini_session_lost (session, LNS_WIRE_LOSS_MARK), 1);
  LNS_CHECK_INT (session->processes[0].losses.by_cause[LNS_WIRE_CAUSE_MEMORY], 1);
  LNS_CHECK_INT (session->processes[0].losses.by_cause[LNS_WIRE_CAUSE_HANDLER], 0);
  mini_session_free (session);
}

/* --- Definitions when there is no room. ------------------------------------------------------ */

/* Of the session, in memory that its target sees. */
static _Atomic uint32_t *n_visits;

static void
count_visit (MiniSession *session)
{
  atomic_fetch_add (n_visits, 1);
}

static int
define_without_room (void)
{
  nvtx_start ();
  static char name[6000];
  memset (name, 'n', sizeof name - 1);
  nvtx_mark (name); /* in pieces */
  for (int i = 0; i < 2000; i++)
    nvtx_mark ("fill");
  const void *domain = nvtx_domain ("defined without room");
  LnsNvtxEventAttributes event = { .size = sizeof event,
                                   .message_type = LNS_NVTX_MESSAGE_REGISTERED,
                                   .message.registered = nvtx_register (domain, "registered") };
  nvtx_domain_push (domain, &event);
  /* The session makes room, and the next event brings all that waited. The visit that ends next may have
   * begun before now. */
  for (uint32_t now = atomic_load (n_visits); atomic_load (n_visits) - now < 2;)
    usleep (1000);
  nvtx_domain_push (domain, &event);
  return 0;
}

static void
test_definitions_wait_for_room (void)
{
  MiniOptions options = { .keep_events = true,
                          .n_chunks = 3,
                          .chunk_bytes = 4096,
                          .drain_every_ms = 100,
                          .on_visit = count_visit };
  n_visits =
      mmap (NULL, sizeof *n_visits, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  LNS_CHECK (n_visits != MAP_FAILED);
  MiniSession *session = run (&options, define_without_room);
  LNS_CHECK (mini_session_lost (session, LNS_WIRE_LOSS_MARK) > 0);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_DOMAIN), 1);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_REGISTERED), 1);
  const MiniEvent *last = &session->events[session->n_events - 1];
  LNS_CHECK_STR (last->name, "registered");
  LNS_CHECK_INT (last->depth, 1);
  LNS_CHECK_STR (session->processes[0].domains[last->domain], "defined without room");
  mini_session_free (session);
}

/* --- A loss while the chunk has room. --------------------------------------------------------- */

static int
lose_amid_a_chunk (void)
{
  static char events[LNS_WIRE_RECORD_MAX_BYTES + 1];
  LnsNvtxEventBatch batch = { .schema = 1, .n_bytes = sizeof events, .events = events };
  nvtx_start ();
  nvtx_mark ("first");
  NVTX_CALL (payload, LNS_NVTX_PAYLOAD_EVENT_BATCH_SUBMIT, void,
             (const void *, const LnsNvtxEventBatch *))
  (NULL, &batch);
  nvtx_mark ("second");
  nvtx_mark ("second");
  return 0;
}

/* What comes after the loss, in order. */
static LnsWireType after_loss[8];
static unsigned n_after_loss;

static void
note_record (MiniSession *session,
             MiniProcess *process,
             MiniStream *stream,
             const LnsWireRecord *record)
{
  if ((n_after_loss > 0 || session->n_events == 1) && n_after_loss < 8)
    after_loss[n_after_loss++] = record->type;
}

static void
test_a_loss_is_told_before_names (void)
{
  MiniOptions options = { .keep_events = true, .on_record = note_record };
  MiniSession *session = run (&options, lose_amid_a_chunk);
  LNS_CHECK_INT (mini_session_lost (session, LNS_WIRE_LOSS_OTHER), 1);
  LNS_CHECK_INT (session->processes[0].told.events[LNS_WIRE_LOSS_OTHER], 1);
  LNS_CHECK_INT (session->n_events, 3);
  LNS_CHECK_STR (session->events[2].name, "second");
  for (unsigned i = 0; i < n_after_loss && after_loss[i] != LNS_WIRE_LOST; i++)
    LNS_CHECK (after_loss[i] != LNS_WIRE_STRING);
  /* It stays in its chunk. */
  LNS_CHECK_INT (lns_wire_pool_view (session->processes[0].pool)->header->claimed, 1);
  mini_session_free (session);
}

/* --- No key for the ends of threads. ---------------------------------------------------------- */

static int
mark_without_keys (void)
{
  for (pthread_key_t key; pthread_key_create (&key, NULL) == 0;)
    ;
  nvtx_start ();
  nvtx_mark ("nobody records this");
  if (fork () == 0)
    {
      nvtx_mark ("nor this");
      _exit (0);
    }
  return 0;
}

static void
test_a_process_without_keys_stays_out (void)
{
  MiniOptions options = { 0 };
  MiniSession *session = run (&options, mark_without_keys);
  LNS_CHECK_INT (session->n_processes, 1);
  LNS_CHECK_INT (lns_wire_pool_view (session->processes[0].pool)->header->joined,
                 LNS_WIRE_JOINED_WITHOUT_KEY);
  LNS_CHECK_INT (mini_session_lost_all (session), 0);
  mini_session_free (session);
}

/* --- A thread that uses NVTX while it ends. --------------------------------------------------- */

static pthread_key_t late_key;

static void
mark_late (void *value)
{
  nvtx_mark ("late");
}

static void *
end_late (void *argument)
{
  nvtx_mark ("early");
  pthread_setspecific (late_key, argument);
  return NULL;
}

static int
late_marks (void)
{
  nvtx_start ();
  nvtx_domain ("joins the session, which makes the key");
  /* Later than the injection's key: its destructor runs when the stream is given back already. */
  pthread_key_create (&late_key, mark_late);
  for (int i = 0; i < 3; i++)
    {
      pthread_t thread;
      pthread_create (&thread, NULL, end_late, &late_key);
      pthread_join (thread, NULL);
    }
  return 0;
}

static void
test_threads_use_nvtx_while_they_end (void)
{
  MiniOptions options = { .keep_events = true };
  MiniSession *session = run (&options, late_marks);
  LNS_CHECK_INT (session->n_events, 6);
  for (int i = 0; i < 6; i++)
    LNS_CHECK_STR (session->events[i].name, i % 2 ? "late" : "early");
  LNS_CHECK_INT (mini_session_lost_all (session), 0);
  /* Who comes back is a new thread, and ends again; beside the first one. */
  LNS_CHECK_INT (session->processes[0].n_threads, 7);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_THREAD_END), 6);
  mini_session_free (session);
}

/* --- A session that says no. ------------------------------------------------------------------ */

static int
refused (void)
{
  NvtxUnit unit = { 0 };
  nvtx_start ();
  nvtx_mark ("refused");
  /* Who comes now need not ask again. */
  return nvtx_load (&unit, 16, 16) ? 1 : 0;
}

static void
test_a_refusal (void)
{
  MiniOptions options = { .refuse_with = 12 };
  MiniSession *session = run (&options, refused);
  LNS_CHECK_INT (session->n_processes, 1);
  mini_session_free (session);
}

/* --- Samples that find no room. --------------------------------------------------------------- */

enum
{
  N_SAMPLES = 20000
};

static int
sample_too_often (void)
{
  nvtx_start ();
  const void *domain = nvtx_domain ("counted");
  for (int i = 0; i < N_SAMPLES; i++)
    NVTX_CALL (counters, LNS_NVTX_COUNTERS_SAMPLE_INT64, void, (const void *, uint64_t, int64_t))
  (domain, 1, i);
  return 0;
}

static void
test_lost_samples_are_counted (void)
{
  MiniOptions options = { .n_chunks = 3, .chunk_bytes = 4096, .drain_every_ms = 20 };
  MiniSession *session = run (&options, sample_too_often);
  uint64_t lost = mini_session_lost (session, LNS_WIRE_LOSS_SAMPLE);
  LNS_CHECK (lost > 0);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_SAMPLE) + lost, N_SAMPLES);
  mini_session_free (session);
}

int
main (void)
{
  LNS_TEST (test_nested_events_are_counted);
  LNS_TEST (test_thread_without_memory_is_counted);
  LNS_TEST (test_threads_wait_for_one_handshake);
  LNS_TEST (test_definitions_wait_for_room);
  LNS_TEST (test_a_loss_is_told_before_names);
  LNS_TEST (test_a_process_without_keys_stays_out);
  LNS_TEST (test_threads_use_nvtx_while_they_end);
  LNS_TEST (test_a_refusal);
  LNS_TEST (test_lost_samples_are_counted);
  return lns_tap_done ();
}
