/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Calls of CUDA's driver whose callers are known: `cuda-callers WHERE [PATH]` makes N_CALLS sets of memory from innermost(), which
 * outermost() calls, on the stack that WHERE says: plain, thread, handler (of a signal), alternate (a handler on a stack of
 * its own), coroutine, deep (DEPTH calls further down), child (of a fork). Prints how many calls succeeded. `classes` makes
 * calls of each class, `library` is plain below a function of a library that is loaded just before, PATH, `reload` does so of PATH, and after it has unloaded it of a second path for RELOAD_MS, `wait` is plain and then waits to be killed, `again` is plain and then executes the program anew. */

#include <cuda.h>

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define N_CALLS     20
#define DEPTH       300
#define STACK_BYTES (256u << 10)
#define LOADED_MS   1500
#define RELOAD_MS   4000

static CUdeviceptr cells;
static CUcontext context;
static volatile int n_good;
static ucontext_t here, there;

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry scale(.param .u64 cells) { ret; }\n";

__attribute__ ((noinline)) static void
innermost (void)
{
  for (int i = 0; i < N_CALLS; i++)
    n_good += cuMemsetD32 (cells, 1, 16) == CUDA_SUCCESS;
}

__attribute__ ((noinline)) static void
outermost (void)
{
  innermost ();
  __asm__ volatile("" ::: "memory"); /* it returns here */
}

__attribute__ ((noinline)) static void
deeper (int n)
{
  if (n > 0)
    deeper (n - 1);
  else
    outermost ();
  __asm__ volatile("" ::: "memory");
}

static void *
run_thread (void *unused)
{
  cuCtxSetCurrent (context);
  outermost ();
  return NULL;
}

static void
run_handler (int signal_number)
{
  outermost ();
}

static void
run_coroutine (void)
{
  outermost ();
  swapcontext (&there, &here);
}

static void *
stack_new (void)
{
  void *stack =
      mmap (NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED)
    exit (1);
  return stack;
}

static void
raise_one (int flags)
{
  const stack_t stack = { .ss_sp = stack_new (), .ss_size = STACK_BYTES };
  struct sigaction action = { .sa_handler = run_handler, .sa_flags = flags };
  sigaltstack (&stack, NULL);
  sigaction (SIGUSR1, &action, NULL);
  raise (SIGUSR1);
}

/* A call of each class: two of memory, the launch, a wait, and others. */
static void
call_each (void)
{
  CUmodule module;
  CUfunction function;
  CUstream stream;
  void *arguments[] = { &cells };
  n_good += cuModuleLoadData (&module, ptx) == CUDA_SUCCESS;
  n_good += cuModuleGetFunction (&function, module, "scale") == CUDA_SUCCESS;
  n_good += cuStreamCreate (&stream, 0) == CUDA_SUCCESS;
  n_good += cuLaunchKernel (function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL) == CUDA_SUCCESS;
  n_good += cuStreamSynchronize (stream) == CUDA_SUCCESS;
}

/* Has the library at PATH call outermost (). Returns the library. */
static void *
call_by_library (const char *path)
{
  void *library = dlopen (path, RTLD_NOW);
  void (*call_back) (void (*) (void)) =
      library != NULL ? (void (*) (void (*) (void)))dlsym (library, "call_back") : NULL;
  if (call_back == NULL)
    exit (1);
  call_back (outermost);
  return library;
}

/* Prints whether the second library lay where the first one had been. All calls come from the same place. */
static void
call_by_libraries (const char *first_path, const char *second_path)
{
  void *place = NULL;
  for (int i = 0; i <= RELOAD_MS / 100; i++)
    {
      void *library = call_by_library (i == 0 ? first_path : second_path); /* loaded once */
      void *const found = dlsym (library, "call_back");
      usleep (1000 * (i == 0 ? LOADED_MS : 100));
      if (i == 0)
        dlclose (library);
      if (i == 1)
        printf ("%s\n", found == place ? "same" : "other");
      place = found;
    }
}

int
main (int argc, char **argv)
{
  const char *where = argc > 1 ? argv[1] : "plain";
  CUdevice device;
  pthread_t threads[3];
  if (cuInit (0) != CUDA_SUCCESS || cuDeviceGet (&device, 0) != CUDA_SUCCESS ||
      cuDevicePrimaryCtxRetain (&context, device) != CUDA_SUCCESS ||
      cuCtxSetCurrent (context) != CUDA_SUCCESS || cuMemAlloc (&cells, 64) != CUDA_SUCCESS)
    return 1;
  if (strcmp (where, "plain") == 0)
    outermost ();
  else if (strcmp (where, "wait") == 0)
    {
      outermost ();
      pause ();
    }
  else if (strcmp (where, "again") == 0)
    {
      outermost ();
      execl ("/proc/self/exe", argv[0], "plain", NULL);
    }
  else if (strcmp (where, "classes") == 0)
    call_each ();
  else if (strcmp (where, "library") == 0 && argc > 2)
    (void)call_by_library (argv[2]);
  else if (strcmp (where, "reload") == 0 && argc > 3)
    call_by_libraries (argv[2], argv[3]);
  else if (strcmp (where, "deep") == 0)
    deeper (DEPTH);
  else if (strcmp (where, "handler") == 0)
    raise_one (0);
  else if (strcmp (where, "alternate") == 0)
    raise_one (SA_ONSTACK);
  else if (strcmp (where, "coroutine") == 0)
    {
      void *stack = stack_new ();
      getcontext (&there);
      there.uc_stack.ss_sp = stack;
      there.uc_stack.ss_size = STACK_BYTES;
      makecontext (&there, run_coroutine, 0);
      swapcontext (&here, &there);
      munmap (stack, STACK_BYTES);
    }
  else if (strcmp (where, "thread") == 0)
    for (int i = 0; i < 3; i++)
      {
        if (pthread_create (&threads[i], NULL, run_thread, NULL) != 0)
          return 1;
        pthread_join (threads[i], NULL);
      }
  else if (strcmp (where, "child") == 0)
    {
      int status = 0;
      outermost ();
      const pid_t child = fork ();
      if (child == 0)
        {
          outermost ();
          _exit (n_good == N_CALLS ? 5 : 6); /* CUDA does not work in the child */
        }
      waitpid (child, &status, 0);
      if (!WIFEXITED (status) || WEXITSTATUS (status) != 5)
        return 1;
    }
  else
    return 1;
  printf ("%d\n", n_good);
  return 7;
}
