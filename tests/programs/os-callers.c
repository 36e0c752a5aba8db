/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Calls of the C library whose callers are known, of code without frame pointers: `os-callers WHERE` sleeps N_CALLS times
 * in sleeper (), which outer () calls, on the stack that WHERE says: plain, thread, alternate (a signal handler on a stack
 * of its own), deep (DEPTH calls further down). */

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N_CALLS     5
#define DEPTH       60
#define STACK_BYTES (256u << 10)

__attribute__ ((noinline)) static void
sleeper (void)
{
  const struct timespec pause = { .tv_nsec = 1000000 };
  for (int i = 0; i < N_CALLS; i++)
    nanosleep (&pause, NULL);
}

__attribute__ ((noinline)) static void
outer (void)
{
  sleeper ();
  __asm__ volatile("" ::: "memory"); /* it returns here */
}

__attribute__ ((noinline)) static void
deeper (int n)
{
  if (n > 0)
    deeper (n - 1);
  else
    outer ();
  __asm__ volatile("" ::: "memory");
}

static void *
run_thread (void *unused)
{
  outer ();
  return NULL;
}

static void
run_handler (int signal_number)
{
  outer ();
}

int
main (int argc, char **argv)
{
  const char *where = argc > 1 ? argv[1] : "plain";
  pthread_t thread;
  if (strcmp (where, "thread") == 0)
    {
      if (pthread_create (&thread, NULL, run_thread, NULL) != 0)
        return 1;
      pthread_join (thread, NULL);
    }
  else if (strcmp (where, "alternate") == 0)
    {
      const stack_t stack = { .ss_sp = malloc (STACK_BYTES), .ss_size = STACK_BYTES };
      struct sigaction action = { .sa_handler = run_handler, .sa_flags = SA_ONSTACK };
      sigaltstack (&stack, NULL);
      sigaction (SIGUSR1, &action, NULL);
      raise (SIGUSR1);
    }
  else if (strcmp (where, "deep") == 0)
    deeper (DEPTH);
  else
    outer ();
  return 7;
}
