/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests processes that fork in every way and execute other programs. Each process must have its
 * own events, and behave as without Lanescope. */

#include "tests/unit/mini-run.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char self_path[4096];

/* --- Forks. ---------------------------------------------------------------------------------- */

/* As fork(), but without the handlers that libraries register. */
static pid_t
raw_fork (void)
{
  return (pid_t)syscall (SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);
}

static int
fork_by (pid_t (*how) (void))
{
  nvtx_start ();
  const void *domain = nvtx_domain ("of the parent");
  const void *name = nvtx_register (domain, "registered before the fork");
  nvtx_push ("open in both");
  mark_often ("parent", 1000);
  for (int i = 0; i < 3; i++)
    {
      pid_t pid = how ();
      if (pid == 0)
        {
          /* Depths go on, handles stay good, and the parent's chunk is not written to. */
          if (nvtx_push ("child's") != 1 || nvtx_pop () != 1)
            _exit (1);
          mark_often ("child", 5000);
          LnsNvtxEventAttributes event = { .size = sizeof event,
                                           .message_type = LNS_NVTX_MESSAGE_REGISTERED,
                                           .message.registered = name };
          _exit (nvtx_domain_push (domain, &event) == 0 && nvtx_pop () == 0 ? 0 : 1);
        }
      mark_often ("parent", 1000);
      if (wait_for_child (pid) != 0)
        return 1;
    }
  return nvtx_pop () == 0 ? 0 : 1;
}

static int
by_fork (void)
{
  return fork_by (fork);
}

static int
by_bare_fork (void)
{
  return fork_by (_Fork);
}

static int
by_clone (void)
{
  return fork_by (raw_fork);
}

static void
check_forks (int (*target) (void))
{
  MiniSession *session = run (target);
  LNS_CHECK_INT (session->n_processes, 4);
  LNS_CHECK_INT (mini_session_lost_all (session), 0);
  check_marks (session, 0, 4000, "parent");
  LNS_CHECK_INT (session->processes[0].hello.forked, 0);
  for (uint32_t i = 1; i < 4; i++)
    {
      check_marks (session, i, 5000, "child");
      LNS_CHECK_INT (session->processes[i].hello.forked, 1);
      LNS_CHECK (session->processes[i].pid != session->processes[0].pid);
      LNS_CHECK_INT (session->processes[i].hello.pid, session->processes[i].pid);
      LNS_CHECK_INT (session->processes[i].n_type[LNS_WIRE_PUSH], 2);
      LNS_CHECK_INT (session->processes[i].n_type[LNS_WIRE_POP], 2);
      LNS_CHECK_STR (session->processes[i].domains[1], "of the parent");
      /* It numbers its streams anew, so that generations of children do not run out of numbers. */
      LNS_CHECK_INT (session->processes[i].n_streams, 1);
    }
  mini_session_free (session);
}

static void
test_fork (void)
{
  check_forks (by_fork);
}

static void
test_bare_fork (void)
{
  check_forks (by_bare_fork);
}

static void
test_clone (void)
{
  check_forks (by_clone);
}

/* A child that never uses NVTX says nothing; one that forks on without use neither. */
static int
quiet_children (void)
{
  nvtx_start ();
  nvtx_mark ("parent");
  for (int i = 0; i < 5; i++)
    {
      pid_t pid = fork ();
      if (pid == 0)
        {
          pid_t grandchild = fork ();
          _exit (grandchild == 0 ? 0 : wait_for_child (grandchild));
        }
      if (wait_for_child (pid) != 0)
        return 1;
    }
  nvtx_mark ("parent");
  return 0;
}

static void
test_quiet_children_say_nothing (void)
{
  MiniSession *session = run (quiet_children);
  LNS_CHECK_INT (session->n_processes, 1);
  check_marks (session, 0, 2, "parent");
  mini_session_free (session);
}

/* Threads go on recording while others fork; in the child a new thread is the first to record. */

static void *
mark_in_child (void *argument)
{
  nvtx_mark ("child's thread");
  return NULL;
}

static volatile bool stop;
static volatile bool has_domain;

static void *
mark_until_stopped (void *argument)
{
  char name[32];
  for (int i = 0; !stop; i++)
    {
      nvtx_push ("busy");
      nvtx_pop ();
      nvtx_domain ("the same again");
      has_domain = true;
      /* Forks come while definitions are sent: the child sends them all by itself. */
      for (int k = 0; k < 5; k++)
        {
          snprintf (name, sizeof name, "%d of %d", i * 5 + k, (int)(intptr_t)argument);
          nvtx_register (NULL, name);
        }
      usleep (1); /* a session that drowns answers no child in time */
    }
  return NULL;
}

static int
fork_among_threads (void)
{
  nvtx_start ();
  nvtx_mark ("joins before the children");
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    pthread_create (&threads[i], NULL, mark_until_stopped, (void *)(intptr_t)i);
  while (!has_domain)
    usleep (1000);
  for (int i = 0; i < 40; i++)
    {
      pid_t pid = fork ();
      if (pid == 0)
        {
          pthread_t thread;
          pthread_create (&thread, NULL, mark_in_child, NULL);
          pthread_join (thread, NULL);
          nvtx_mark ("child's thread");
          nvtx_domain ("child's own");
          _exit (0);
        }
      if (wait_for_child (pid) != 0)
        return 1;
    }
  stop = true;
  for (int i = 0; i < 3; i++)
    pthread_join (threads[i], NULL);
  return 0;
}

static void
test_fork_among_threads (void)
{
#ifdef __SANITIZE_ADDRESS__
  LNS_SKIP ("a child may find the sanitizer's own locks held by threads that it does not have");
#endif
  MiniOptions options = { 0 };
  MiniSession *session = run_with (&options, fork_among_threads);
  LNS_CHECK_INT (session->n_processes, 41);
  for (uint32_t i = 1; i < 41; i++)
    {
      LNS_CHECK_INT (session->processes[i].n_type[LNS_WIRE_MARK], 2);
      LNS_CHECK_INT (session->processes[i].n_threads, 2);
      /* All that was defined before the fork, each once, and its own. */
      LNS_CHECK_INT (session->processes[i].n_type[LNS_WIRE_DOMAIN], 2);
    }
  mini_session_free (session);
}

/* A child of vfork that uses NVTX before it executes shares the memory of its waiting parent. */
static int
by_vfork (void)
{
  nvtx_start ();
  nvtx_mark ("both");
  for (int i = 0; i < 10; i++)
    {
      pid_t pid = vfork ();
      if (pid == 0)
        {
          nvtx_mark ("both");
          _exit (0);
        }
      if (wait_for_child (pid) != 0)
        return 1;
      nvtx_mark ("both");
    }
  return 0;
}

static void
test_vfork (void)
{
  MiniSession *session = run (by_vfork);
  LNS_CHECK_INT (session->n_processes, 1);
  check_marks (session, 0, 21, "both");
  mini_session_free (session);
}

/* --- Exec. ----------------------------------------------------------------------------------- */

static int
executed (void)
{
  nvtx_start ();
  mark_often ("executed", 100);
  return 0;
}

static int
execute (void)
{
  nvtx_start ();
  nvtx_mark ("before");
  pid_t pid = fork ();
  if (pid == 0)
    {
      execl (self_path, self_path, "--executed", (char *)NULL);
      _exit (1);
    }
  if (wait_for_child (pid) != 0)
    return 1;
  execl (self_path, self_path, "--executed", (char *)NULL);
  return 1;
}

static void
test_exec (void)
{
  MiniSession *session = run (execute);
  LNS_CHECK_INT (session->n_processes, 3);
  check_marks (session, 0, 1, "before");
  for (uint32_t i = 1; i < 3; i++)
    {
      check_marks (session, i, 100, "executed");
      LNS_CHECK_INT (session->processes[i].hello.forked, 0);
    }
  LNS_CHECK_INT (session->processes[2].pid, session->processes[0].pid);
  mini_session_free (session);
}

int
main (int argc, char **argv)
{
  if (argc > 1 && strcmp (argv[1], "--executed") == 0)
    return executed ();
  ssize_t n = readlink ("/proc/self/exe", self_path, sizeof self_path - 1);
  self_path[n > 0 ? n : 0] = '\0';
  LNS_TEST (test_fork);
  LNS_TEST (test_bare_fork);
  LNS_TEST (test_clone);
  LNS_TEST (test_quiet_children_say_nothing);
  LNS_TEST (test_fork_among_threads);
  LNS_TEST (test_vfork);
  LNS_TEST (test_exec);
  return lns_tap_done ();
}
