/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests the life of a process: closed descriptors, its death, signals, a session that does not
 * exist or does not answer, denied system calls, recording that is switched off and on. The
 * process must run as without Lanescope. */

#include "tests/unit/mini-run.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile bool stop;

/* --- Descriptors. ---------------------------------------------------------------------------- */

/* Which descriptors are open; returns how many. */
static int
look_at_descriptors (bool ret_open[1024])
{
  int n = 0;
  for (int fd = 0; fd < 1024; fd++)
    n += ret_open[fd] = fcntl (fd, F_GETFD) >= 0;
  return n;
}

/* One descriptor, high and closed on exec. */
static int
one_high_descriptor (void)
{
  bool before[1024], after[1024];
  int n_before = look_at_descriptors (before);
  int next_before = dup (0);
  close (next_before);
  nvtx_start ();
  nvtx_mark ("mark");
  if (look_at_descriptors (after) != n_before + 1)
    return 1;
  int ours = 0;
  while (after[ours] == before[ours])
    ours++;
  if (ours < 100 || (fcntl (ours, F_GETFD) & FD_CLOEXEC) == 0)
    return 2;
  return dup (0) == next_before ? 0 : 3;
}

/* The same for a program that may open few. */
static int
one_descriptor_of_few (void)
{
  struct rlimit limit = { 120, 120 };
  return setrlimit (RLIMIT_NOFILE, &limit) == 0 ? one_high_descriptor () : 4;
}

static void
test_one_high_descriptor (void)
{
  mini_session_free (run (one_high_descriptor));
  mini_session_free (run (one_descriptor_of_few));
}

/* All closed, as daemons do, and the numbers given to others: what those get is not ours. */
static int
close_all (void)
{
  nvtx_start ();
  mark_often ("before or after", 10);
  for (int fd = 3; fd < 1024; fd++)
    close (fd);
  int pair[2];
  if (socketpair (AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0)
    return 1;
  for (int fd = 10; fd < 1024; fd++)
    dup2 (pair[0], fd);
  fcntl (pair[1], F_SETFL, O_NONBLOCK);
  /* Enough to fill the tiny pool and to want to say so. */
  mark_often ("before or after", 20000);
  pid_t pid = fork ();
  if (pid == 0)
    {
      mark_often ("before or after", 10);
      char byte;
      /* The child closes nothing that is not its own either. */
      _exit (recv (pair[1], &byte, 1, 0) < 0 && fcntl (960, F_GETFD) >= 0 ? 0 : 1);
    }
  if (wait_for_child (pid) != 0)
    return 2;
  char byte;
  return recv (pair[1], &byte, 1, 0) < 0 ? 0 : 3;
}

static void
test_closed_descriptors (void)
{
  MiniOptions options = { .keep_events = true, .n_chunks = 4, .chunk_bytes = 4096 };
  MiniSession *session = run_with (&options, close_all);
  LNS_CHECK_INT (session->n_processes, 2);
  LNS_CHECK_INT (session->processes[0].n_type[LNS_WIRE_MARK] +
                     session->processes[0].losses.events[LNS_WIRE_LOSS_MARK],
                 20010);
  check_marks (session, 1, 10, "before or after");
  mini_session_free (session);
}

/* The session closes its end of the connection, as it has no more descriptors, and reads on: a process that
 * runs out of room, and cannot say so, goes on recording and counting. */

static void
hush_all (MiniSession *session)
{
  for (uint32_t i = 0; i < __atomic_load_n (&session->n_processes, __ATOMIC_ACQUIRE); i++)
    {
      MiniProcess *process = &session->processes[i];
      if (process->connection < 0 || !lns_wire_pool_is_joined (process->pool))
        continue;
      lns_wire_pool_set_hushed (process->pool);
      close (process->connection);
      process->connection = -1;
    }
}

static int
mark_much (void)
{
  nvtx_start ();
  for (int i = 0; i < 200; i++)
    {
      mark_often ("hushed", 1000);
      usleep (1000); /* the session comes by */
    }
  return 0;
}

static void
test_hushed (void)
{
  MiniOptions options = { .n_chunks = 4, .chunk_bytes = 4096, .on_visit = hush_all };
  MiniSession *session = run_with (&options, mark_much);
  LNS_CHECK_INT (session->processes[0].connection, -1);
  LNS_CHECK (session->processes[0].losses.events[LNS_WIRE_LOSS_MARK] > 0);
  LNS_CHECK_INT (session->processes[0].n_type[LNS_WIRE_MARK] +
                     session->processes[0].losses.events[LNS_WIRE_LOSS_MARK],
                 200000);
  mini_session_free (session);
}

/* --- Deaths. --------------------------------------------------------------------------------- */

static int
killed (void)
{
  pid_t pid = fork ();
  if (pid == 0)
    {
      nvtx_start ();
      mark_often ("last words", 777);
      nvtx_push ("unclosed");
      raise (SIGKILL);
    }
  int status;
  waitpid (pid, &status, 0);
  return WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL ? 0 : 1;
}

static void
test_killed (void)
{
  MiniSession *session = run (killed);
  check_marks (session, 0, 777, "last words");
  LNS_CHECK_INT (session->processes[0].n_type[LNS_WIRE_PUSH], 1);
  mini_session_free (session);
}

/* Events from a signal handler that interrupts anything, ours included: all counted, none torn. */

static volatile int n_handled;

static void
handle (int signal)
{
  nvtx_push ("in handler");
  nvtx_pop ();
  n_handled++;
}

enum
{
  N_SIGNALS = 3000
};

static void *
send_signals (void *argument)
{
  pthread_t *target = argument;
  for (int i = 0; i < N_SIGNALS; i++)
    {
      pthread_kill (*target, SIGUSR1);
      while (n_handled <= i)
        ;
    }
  stop = true;
  return NULL;
}

static uint64_t *n_made; /* shared with the child */

static int
handlers (void)
{
  nvtx_start ();
  signal (SIGUSR1, handle);
  pthread_t self = pthread_self (), thread;
  pthread_create (&thread, NULL, send_signals, &self);
  while (!stop)
    {
      nvtx_push ("interrupted");
      nvtx_pop ();
      ++*n_made;
    }
  pthread_join (thread, NULL);
  *n_made += N_SIGNALS;
  return 0;
}

static void
test_signal_handlers (void)
{
  n_made = mmap (NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  MiniOptions options = { 0 };
  MiniSession *session = mini_session_run (&options, handlers);
  LNS_CHECK_INT (session->exit_status, 0);
  LNS_CHECK_INT (session->n_bad_records, 0);
  LNS_CHECK_INT (session->n_wrong_times, 0);
  LNS_CHECK_INT (session->n_unknown_names, 0);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_PUSH) +
                     mini_session_lost (session, LNS_WIRE_LOSS_PUSH),
                 *n_made);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_POP) +
                     mini_session_lost (session, LNS_WIRE_LOSS_POP),
                 *n_made);
  mini_session_free (session);
}

/* --- No session, or none that answers. ------------------------------------------------------- */

static int
without_session (void)
{
  NvtxUnit unit = { 0 };
  unsetenv (LNS_WIRE_ENVIRONMENT);
  return nvtx_load (&unit, 16, 16) ? 1 : 0;
}

static int
with_a_path_too_long (void)
{
  NvtxUnit unit = { 0 };
  char path[LNS_WIRE_PATH_MAX_BYTES + 1];
  memset (path, '/', sizeof path - 1);
  path[sizeof path - 1] = '\0';
  setenv (LNS_WIRE_ENVIRONMENT, path, 1);
  return nvtx_load (&unit, 16, 16) ? 1 : 0;
}

static int
with_nobody_there (void)
{
  NvtxUnit unit = { 0 };
  setenv (LNS_WIRE_ENVIRONMENT, "/nonexistent/socket", 1);
  return nvtx_load (&unit, 16, 16) ? 1 : 0;
}

static void
test_no_session (void)
{
  int (*targets[]) (void) = { without_session, with_a_path_too_long, with_nobody_there };
  for (size_t i = 0; i < 3; i++)
    {
      MiniSession *session = run (targets[i]);
      LNS_CHECK_INT (session->n_processes, 0);
      mini_session_free (session);
    }
}

/* The session takes the hello and says nothing: a second later the program goes on without it, and is asked
 * for its events in vain. It keeps the connection, as the answer may yet come. */
static int
unanswered (void)
{
  bool open[1024];
  int n_before = look_at_descriptors (open);
  nvtx_start ();
  mark_often ("unheard", 1000);
  nvtx_domain ("unheard");
  return look_at_descriptors (open) == n_before + 1 ? 0 : 2;
}

static void
test_a_session_that_does_not_answer (void)
{
  MiniOptions options = { .refuse = true };
  MiniSession *session = run_with (&options, unanswered);
  LNS_CHECK_INT (session->n_processes, 1);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_MARK), 0);
  mini_session_free (session);
}

/* Each system call that the injection makes, denied: the program runs on. */

static int denied;

static int
with_a_call_denied (void)
{
  struct sock_filter filter[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)denied, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
  NvtxUnit unit = { 0 };
  /* The library is loaded before, as the loader needs calls of its own. */
  if (dlopen (getenv ("NVTX_INJECTION64_PATH"), RTLD_LAZY) == NULL ||
      prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
    return 77;
  if (prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
    return 77;
  if (!nvtx_load (&unit, 16, 16))
    return 0;
  nvtx = unit;
  nvtx_domain ("domain");
  mark_often ("mark", 10);
  /* Without madvise() a page is not wiped in the child, and a handler of fork() does it. */
  pid_t pid = fork ();
  if (pid == 0)
    {
      mark_often ("mark", 20);
      _exit (0);
    }
  return wait_for_child (pid);
}

static void
test_denied_system_calls (void)
{
  static const int calls[] = { SYS_socket,    SYS_connect,  SYS_sendto,        SYS_recvmsg,
                               SYS_ppoll,     SYS_mmap,     SYS_madvise,       SYS_fstat,
                               SYS_fcntl,     SYS_prctl,    SYS_gettid,        SYS_getppid,
                               SYS_prlimit64, SYS_readlink, SYS_rt_sigprocmask };
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    {
      denied = calls[i];
      MiniOptions options = { .keep_events = true };
      MiniSession *session = mini_session_run (&options, with_a_call_denied);
      LNS_CHECK_INT (session->exit_status, 0);
      LNS_CHECK_INT (session->n_bad_records, 0);
      LNS_CHECK_INT (session->n_wrong_times, 0);
      /* What is only convenience is done without. */
      if (denied == SYS_fcntl || denied == SYS_prctl || denied == SYS_readlink ||
          denied == SYS_prlimit64 || denied == SYS_madvise)
        {
          check_marks (session, 0, 10, "mark");
          check_marks (session, 1, 20, "mark");
        }
      mini_session_free (session);
    }
}

/* --- What the fast path does not do. --------------------------------------------------------- */

/* Events within one chunk, in a process that is killed at its next system call but exit:
 * no lock that waits, no memory from the system, no clock but the vDSO's. */
static int
without_system_calls (void)
{
  nvtx_start ();
  const void *domain = nvtx_domain ("domain");
  LnsNvtxEventAttributes event = { .size = sizeof event,
                                   .color_type = 1,
                                   .color = 5,
                                   .category = 2,
                                   .payload_type = 1,
                                   .payload = 7,
                                   .message_type = LNS_NVTX_MESSAGE_REGISTERED,
                                   .message.registered = nvtx_register (domain, "registered") };
  nvtx_mark ("first"); /* a thread's first event gets it its stream */
  struct sock_filter filter[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
  if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
      prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
    return 77;
  char name[32];
  for (int i = 0; i < 200; i++)
    {
      snprintf (name, sizeof name, "new name %d", i);
      nvtx_push ("old name");
      nvtx_push (name);
      nvtx_domain_push (domain, &event);
      nvtx_range_end (nvtx_range_start ("old name"));
      nvtx_domain_pop (domain);
      nvtx_pop ();
      nvtx_pop ();
    }
  return 0;
}

static void
test_no_system_calls (void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  LNS_SKIP ("the sanitizer makes system calls of its own");
#endif
  MiniSession *session = run (without_system_calls);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_PUSH), 600);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_POP), 600);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_END), 200);
  LNS_CHECK_INT (mini_session_lost_all (session), 0);
  mini_session_free (session);
}

/* --- The flag by which a session records or not. --------------------------------------------- */

typedef struct
{
  volatile int wanted; /* 0: as it is, 1: off, 2: on */
  volatile int done;
} Switch;

static Switch *recording_switch;

static void
turn_switch (MiniSession *session)
{
  if (session->n_processes == 0 || recording_switch->wanted == recording_switch->done)
    return;
  lns_wire_pool_set_recording (session->processes[0].pool, recording_switch->wanted == 2);
  recording_switch->done = recording_switch->wanted;
}

static void
want (int wanted)
{
  recording_switch->wanted = wanted;
  while (recording_switch->done != wanted)
    usleep (100);
}

static int
recorded_in_parts (void)
{
  nvtx_start ();
  nvtx_push ("before");
  want (1);
  /* Levels are counted on; what is defined meanwhile is known. */
  if (nvtx_push ("hidden") != 1)
    return 1;
  for (int i = 0; i < 100; i++)
    {
      nvtx_mark ("hidden");
      if (nvtx_push ("hidden") != 2 || nvtx_pop () != 2)
        return 2;
    }
  const void *domain = nvtx_domain ("defined meanwhile");
  uint64_t range = nvtx_range_start ("hidden");
  want (2);
  nvtx_range_end (range);
  if (nvtx_push ("after") != 2 || nvtx_pop () != 2 || nvtx_pop () != 1 || nvtx_pop () != 0)
    return 3;
  LnsNvtxEventAttributes event = { .size = sizeof event };
  return nvtx_domain_push (domain, &event) == 0 ? 0 : 4;
}

static void
test_recording_flag (void)
{
  recording_switch = mmap (NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  MiniOptions options = { .keep_events = true, .on_visit = turn_switch };
  MiniSession *session = mini_session_run (&options, recorded_in_parts);
  LNS_CHECK_INT (session->exit_status, 0);
  LNS_CHECK_INT (mini_session_lost_all (session), 0);
  static const struct
  {
    LnsWireType type;
    uint32_t depth;
    const char *name;
  } expected[] = { { LNS_WIRE_PUSH, 0, "before" }, { LNS_WIRE_END, 0, NULL },
                   { LNS_WIRE_PUSH, 2, "after" },  { LNS_WIRE_POP, 2, NULL },
                   { LNS_WIRE_POP, 1, NULL },      { LNS_WIRE_POP, 0, NULL },
                   { LNS_WIRE_PUSH, 0, NULL } };
  LNS_CHECK_INT (session->n_events, 7);
  for (size_t i = 0; i < 7; i++)
    {
      LNS_CHECK_INT (session->events[i].type, expected[i].type);
      LNS_CHECK_INT (session->events[i].depth, expected[i].depth);
      if (expected[i].name != NULL)
        LNS_CHECK_STR (session->events[i].name, expected[i].name);
    }
  LNS_CHECK_STR (session->processes[0].domains[1], "defined meanwhile");
  mini_session_free (session);
}

int
main (void)
{
  LNS_TEST (test_one_high_descriptor);
  LNS_TEST (test_closed_descriptors);
  LNS_TEST (test_hushed);
  LNS_TEST (test_killed);
  LNS_TEST (test_signal_handlers);
  LNS_TEST (test_no_session);
  LNS_TEST_LONG (test_a_session_that_does_not_answer);
  LNS_TEST (test_denied_system_calls);
  LNS_TEST (test_no_system_calls);
  LNS_TEST (test_recording_flag);
  return lns_tap_done ();
}
