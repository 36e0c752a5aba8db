/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests processes that fork in every way and execute other programs. Each process must have its
 * own events, and behave as without Lanescope. */

#include "tests/unit/mini-run.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
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

/* --- First calls of NVTX. -------------------------------------------------------------------- */

/* A thread that is in the first call of a link unit, as NVTX's headers have it, and remains there until it may leave. */

static LnsNvtxGlobals *unit; /* as far as it concerns forks */
static LnsNvtxFunction unit_mark;
static intptr_t extension_slots[64]; /* the first one is the state of the extension */
static volatile bool is_inside, may_leave;

static int
get_unit_table (int32_t module, LnsNvtxTable *ret_table, unsigned int *ret_size)
{
  static LnsNvtxFunction *table[LNS_NVTX_CORE_MARK_A + 1];
  table[LNS_NVTX_CORE_MARK_A] = &unit_mark;
  *ret_table = table;
  *ret_size = module == LNS_NVTX_MODULE_CORE ? sizeof table / sizeof *table : 0;
  return 1;
}

static const void *
get_unit_export (uint32_t id)
{
  unit->callbacks = (LnsNvtxCallbacks){ .struct_bytes = sizeof unit->callbacks,
                                        .get_module_table = get_unit_table };
  return id == LNS_NVTX_EXPORT_CALLBACKS ? (const void *)&unit->callbacks : &unit->version;
}

static int
injection_function (const char *name, void *argument)
{
  void *library = dlopen (getenv ("NVTX_INJECTION64_PATH"), RTLD_LAZY);
  int (*function) (void *) = library == NULL ? NULL : (int (*) (void *))dlsym (library, name);
  return function == NULL ? -1 : function (argument);
}

static void
begin_call (void)
{
  unit->init_state = LNS_NVTX_INIT_STARTED;
  (void)injection_function ("InitializeInjectionNvtx2", get_unit_export);
}

static void
begin_call_of_extension (void)
{
  LnsNvtxExtensionSegment segment = { 1, 63, &extension_slots[1] };
  LnsNvtxExtension payload = { .nvtx_version = 3,
                               .struct_bytes = sizeof payload,
                               .module = LNS_NVTX_EXTENSION_PAYLOAD,
                               .compatibility = 0x0104,
                               .n_segments = 1,
                               .segments = &segment };
  extension_slots[0] = LNS_NVTX_EXTENSION_STARTING;
  (void)injection_function ("InitializeInjectionNvtxExtension", &payload);
}

static void *
stay_inside (void *argument)
{
  unit->init_state = 2;
  if (argument != NULL)
    begin_call_of_extension ();
  else
    begin_call ();
  is_inside = true;
  while (!may_leave)
    sched_yield ();
  unit->init_state = 2;
  extension_slots[0] = 1;
  return NULL;
}

/* The child's states: of NVTX, and of the extension. Makes the calls that would wait for ever. */
static int
states_in_child (void)
{
  const pid_t pid = fork ();
  if (pid != 0)
    return wait_for_child (pid);
  const int states = (int)unit->init_state * 10 + (int)extension_slots[0];
  begin_call ();
  ((int (*) (const char *))unit_mark) ("child");
  _exit (states);
}

static int
fork_beside_call (bool is_extension)
{
  static LnsNvtxGlobals globals;
  pthread_t thread;
  unit = &globals;
  if (pthread_create (&thread, NULL, stay_inside, is_extension ? unit : NULL) != 0)
    return 1;
  while (!is_inside)
    sched_yield ();
  const int inside = states_in_child ();
  const int states = (int)unit->init_state * 10 + (int)extension_slots[0];
  may_leave = true;
  pthread_join (thread, NULL);
  const int later = states_in_child ();
  /* The child finds the states of before the call; those of this process stay. */
  return is_extension ? inside != 20 || states != 22 || later != 21
                      : inside != 0 || states != 10 || later != 21;
}

static int
fork_beside_first_call (void)
{
  return fork_beside_call (false);
}

static int
fork_beside_extension (void)
{
  return fork_beside_call (true);
}

static void
test_fork_beside_first_call (void)
{
  MiniSession *session = run (fork_beside_first_call);
  LNS_CHECK_INT (session->n_processes, 2);
  for (uint32_t i = 0; i < session->n_processes; i++)
    check_marks (session, i, 1, "child");
  mini_session_free (session);
}

static void
test_fork_beside_first_call_of_extension (void)
{
  MiniSession *session = run (fork_beside_extension);
  LNS_CHECK_INT (session->n_processes, 2);
  mini_session_free (session);
}

/* A thread that forks within its own first call is there in the child, too, and finishes it. */
static int
fork_within_call (void)
{
  static LnsNvtxGlobals globals;
  unit = &globals;
  begin_call ();
  return states_in_child () != 10;
}

static void
test_fork_within_first_call (void)
{
  mini_session_free (run (fork_within_call));
}

/* The library that made its first call may be gone when another thread forks. */

static void *
load_and_unload (void *argument)
{
  unit = (LnsNvtxGlobals *)mmap (NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                                 -1, 0) +
         1;
  begin_call ();
  munmap (unit - 1, 4096);
  return NULL;
}

static int
fork_after_unloading (void)
{
  pthread_t thread;
  if (pthread_create (&thread, NULL, load_and_unload, NULL) != 0)
    return 1;
  pthread_join (thread, NULL);
  const pid_t pid = fork ();
  if (pid == 0)
    _exit (0);
  return wait_for_child (pid);
}

static void
test_fork_after_unloading (void)
{
  mini_session_free (run (fork_after_unloading));
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
  LNS_TEST (test_fork_beside_first_call);
  LNS_TEST (test_fork_beside_first_call_of_extension);
  LNS_TEST (test_fork_within_first_call);
  LNS_TEST (test_fork_after_unloading);
  LNS_TEST (test_exec);
  return lns_tap_done ();
}
