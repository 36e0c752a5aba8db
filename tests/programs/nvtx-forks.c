/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Forks 20 times while another thread makes the process's first call of NVTX. NVTX notes in the program's memory that a
 * thread is in this call; a child that is forked meanwhile has the note, but not the thread, and would wait for ever in
 * its own first call. Prints how many of the children would. */

#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_CHILDREN 20

static void *
call_first (void *unused)
{
  nvtxMarkA ("first");
  return unused;
}

/* In the child. Returns its exit code: 1 if it would wait for ever. */
static int
use_nvtx (void)
{
  if (NVTX_VERSIONED_IDENTIFIER (nvtxGlobals).initState == NVTX_INIT_STATE_STARTED)
    return 1;
  nvtxMarkA ("child");
  return 0;
}

int
main (void)
{
  pid_t children[N_CHILDREN];
  pthread_t thread;
  int n_lost = 0;
  if (pthread_create (&thread, NULL, call_first, NULL) != 0)
    return EXIT_FAILURE;
  for (int i = 0; i < N_CHILDREN; i++)
    {
      children[i] = fork ();
      if (children[i] == 0)
        _exit (use_nvtx ());
    }
  pthread_join (thread, NULL);
  for (int i = 0; i < N_CHILDREN; i++)
    {
      int status = 0;
      if (children[i] < 0 || waitpid (children[i], &status, 0) != children[i] ||
          !WIFEXITED (status))
        return EXIT_FAILURE;
      n_lost += WEXITSTATUS (status);
    }
  printf ("%d\n", n_lost);
  return EXIT_SUCCESS;
}
