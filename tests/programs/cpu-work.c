/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Uses CPU time in functions that call one another. cpu-work has frame pointers, cpu-work-plain is built as most programs are,
 * and cpu-work-static needs no file but its own.
 *
 *   cpu-work spin MS           spins for MS of CPU time in leaf (), which middle () calls, which main () calls
 *   cpu-work deep MS           the same under 60 calls of deep (), each of which has 1 KiB of stack
 *   cpu-work fork MS           the same in a process that was forked; the first one waits for it
 *   cpu-work signal MS         the same in a signal handler that interrupts main ()
 *   cpu-work read MS           reads zeros from the kernel
 *   cpu-work wait N            a thread called "waiter" sleeps N times, while main () spins
 *   cpu-work wake N            passes a byte N times from main () to the thread "one", to the thread "two", and back
 *   cpu-work threads N         N threads at a time, each of which spins for 1 ms
 *   cpu-work short N           N threads, one after the other, that do nothing
 *   cpu-work serve N           spins and sleeps in N threads, "one", "two" and others that mostly sleep, and in the process "child",
 *                              until its input ends. "ready" is printed when all run. The input says what else to do: t starts the thread
 *                              "three", f forks a process "later" that spins and returns 3, e runs cpu-work spin 100 in place of this
 *   cpu-work close             closes all descriptors but the standard ones, and spins for 100 ms */

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS INT64_C (1000000)

static volatile uint64_t sum;

static int64_t
cpu_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * INT64_C (1000000000) + now.tv_nsec;
}

__attribute__ ((noinline, noclone)) static void
leaf (int64_t n)
{
  volatile uint64_t own = sum; /* gcc gives functions without variables on the stack no frame */
  for (int64_t i = 0; i < n; i++)
    own += (uint64_t)i * i;
  sum = own;
}

__attribute__ ((noinline, noclone)) static void
middle (int64_t ns)
{
  const int64_t until_ns = cpu_ns () + ns;
  while (cpu_ns () < until_ns)
    leaf (100000);
}

__attribute__ ((noinline, noclone)) static void
deep (int n, int64_t ns)
{
  volatile char own[1024];
  own[n] = 1;
  if (n > 0)
    deep (n - 1, ns);
  else
    middle (ns);
  sum += (uint64_t)own[n]; /* so that the call above is not the last thing done */
}

static int64_t handler_ns;

static void
handle (int number)
{
  middle (number != 0 ? handler_ns : 0);
  sum++;
}

static void
read_zeros (int64_t ns)
{
  static char zeros[1 << 20];
  const int fd = open ("/dev/zero", O_RDONLY | O_CLOEXEC);
  const int64_t until_ns = cpu_ns () + ns;
  while (cpu_ns () < until_ns && read (fd, zeros, sizeof zeros) > 0)
    sum += (uint64_t)zeros[0];
}

__attribute__ ((noinline, noclone)) static void
spin_in_child (int64_t ns)
{
  const pid_t child = fork ();
  if (child != 0)
    {
      waitpid (child, NULL, 0);
      return;
    }
  middle (ns);
  _exit (0);
}

static void *
waiter (void *n)
{
  prctl (PR_SET_NAME, "waiter");
  for (intptr_t i = 0; i < (intptr_t)n; i++)
    nanosleep (&(struct timespec){ .tv_nsec = 2 * MS }, NULL);
  return NULL;
}

static int baton[3][2]; /* pipes: to "one", to "two", to main () */

/* Passes on what comes until that is 0. */
static void *
relay (void *number)
{
  const intptr_t own = (intptr_t)number;
  char byte = 1;
  prctl (PR_SET_NAME, own == 0 ? "one" : "two");
  while (byte != 0 && read (baton[own][0], &byte, 1) == 1 &&
         write (baton[own + 1][1], &byte, 1) == 1)
    ;
  return NULL;
}

static void *
spinner (void *ms)
{
  middle ((intptr_t)ms * MS);
  return NULL;
}

static void *
nothing (void *unused)
{
  return unused;
}

static int
start (pthread_t *thread, void *(*function) (void *), intptr_t value)
{
  const int failed = pthread_create (thread, NULL, function, (void *)value);
  if (failed != 0)
    fprintf (stderr, "cpu-work: %s\n", strerror (failed));
  return failed == 0;
}

static void
run_relay (pthread_t *threads, long n)
{
  for (int i = 0; i < 3; i++)
    if (pipe (baton[i]) != 0)
      return;
  for (intptr_t i = 0; i < 2; i++)
    if (!start (&threads[i], relay, i))
      return;
  for (long i = 0; i <= n; i++)
    {
      char byte = i < n;
      nanosleep (&(struct timespec){ .tv_nsec = MS }, NULL); /* until the others wait */
      if (write (baton[0][1], &byte, 1) != 1 || read (baton[2][0], &byte, 1) != 1)
        return;
    }
  for (int i = 0; i < 2; i++)
    pthread_join (threads[i], NULL);
}

static atomic_bool is_over;

static void *
serve_thread (void *name)
{
  const bool spins = strcmp (name, "more") != 0;
  prctl (PR_SET_NAME, name);
  while (!is_over)
    {
      if (spins)
        middle (MS);
      else
        nanosleep (&(struct timespec){ .tv_nsec = 50 * MS }, NULL);
      nanosleep (&(struct timespec){ .tv_nsec = 2 * MS }, NULL);
    }
  return NULL;
}

__attribute__ ((noinline, noclone)) static void
serve_process (const char *name, int64_t ns)
{
  const pid_t parent = getppid ();
  prctl (PR_SET_NAME, name);
  do
    {
      middle (ns);
      nanosleep (&(struct timespec){ .tv_nsec = 2 * MS }, NULL);
    }
  while (ns == MS && getppid () == parent);
}

static void
serve (const char *program, pthread_t *threads, long n)
{
  static char names[][16] = { "one", "two", "more", "three" };
  long n_started = 0;
  char byte;
  const pid_t child = fork ();
  if (child == 0)
    {
      serve_process ("child", MS);
      _exit (0);
    }
  for (; n_started < n && n_started < 1000; n_started++)
    if (!start (&threads[n_started], serve_thread, (intptr_t)names[n_started < 2 ? n_started : 2]))
      break;
  puts ("ready");
  fflush (stdout);
  while (read (STDIN_FILENO, &byte, 1) == 1)
    if (byte == 't')
      n_started += start (&threads[n_started], serve_thread, (intptr_t)names[3]);
    else if (byte == 'e')
      execl (program, program, "spin", "100", (char *)NULL);
    else if (fork () == 0)
      {
        serve_process ("later", 100 * MS);
        _exit (3);
      }
  is_over = true;
  for (long i = 0; i < n_started; i++)
    pthread_join (threads[i], NULL);
  kill (child, SIGKILL);
  while (wait (NULL) > 0)
    ;
}

int
main (int argc, char **argv)
{
  const long n = argc > 2 ? strtol (argv[2], NULL, 10) : 100;
  const char *what = argc > 1 ? argv[1] : "spin";
  static pthread_t threads[1024];
  long n_started = 0;
  if (strcmp (what, "wait") == 0)
    {
      n_started = start (&threads[0], waiter, n);
      middle (100 * MS);
    }
  else if (strcmp (what, "wake") == 0)
    run_relay (threads, n);
  else if (strcmp (what, "threads") == 0)
    while (n_started < n && n_started < 1024 && start (&threads[n_started], spinner, 1))
      n_started++;
  else if (strcmp (what, "serve") == 0)
    serve (argv[0], threads, n);
  else if (strcmp (what, "short") == 0)
    for (long i = 0; i < n && start (&threads[0], nothing, 0); i++)
      pthread_join (threads[0], NULL);
  else
    {
      if (strcmp (what, "close") == 0)
        for (int fd = 3; fd < 4096; fd++)
          close (fd);
      handler_ns = n * MS;
      signal (SIGUSR1, handle);
      if (strcmp (what, "deep") == 0)
        deep (59, n * MS);
      else if (strcmp (what, "fork") == 0)
        spin_in_child (n * MS);
      else if (strcmp (what, "read") == 0)
        read_zeros (n * MS);
      else if (strcmp (what, "signal") == 0)
        raise (SIGUSR1);
      else
        middle ((strcmp (what, "close") == 0 ? 100 : n) * MS);
    }
  for (long i = 0; i < n_started; i++)
    pthread_join (threads[i], NULL);
  puts ("done");
  return 7;
}
