/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Much of everything, for tests of counts:
 *
 *   threads N M    N threads at once push and pop M ranges each, three deep
 *   live N         N threads that all have a range open at the same time
 *   short N        N threads one after the other, with a range each
 *   names N        N ranges, each with a name of its own
 *   long N         a range and a registered string with a name of N bytes, narrow and wide
 *   odd            bytes that are no UTF-8, quotes, newlines, an empty name, and more pops than pushes
 *
 * Prints how many ranges were pushed. */

#include <nvtx3/nvToolsExt.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static pthread_barrier_t barrier;
static long n_ranges, n_pushed;

static void *
push_many (void *unused)
{
  static const char *const names[] = { "outer", "middle", "inner" };
  pthread_barrier_wait (&barrier);
  for (long i = 0; i < n_ranges; i += 3)
    {
      for (int depth = 0; depth < 3; depth++)
        nvtxRangePushA (names[depth]);
      for (int depth = 0; depth < 3; depth++)
        nvtxRangePop ();
    }
  __atomic_fetch_add (&n_pushed, (n_ranges + 2) / 3 * 3, __ATOMIC_RELAXED);
  return NULL;
}

static void *
hold_one (void *unused)
{
  nvtxRangePushA ("held");
  pthread_barrier_wait (&barrier);
  nvtxRangePop ();
  __atomic_fetch_add (&n_pushed, 1, __ATOMIC_RELAXED);
  return NULL;
}

static void *
push_one (void *unused)
{
  nvtxRangePushA ("short");
  nvtxRangePop ();
  n_pushed++;
  return NULL;
}

static void
run_threads (long n, void *(*body) (void *))
{
  pthread_attr_t attributes;
  pthread_t *threads = calloc ((size_t)n, sizeof *threads);
  pthread_attr_init (&attributes);
  pthread_attr_setstacksize (&attributes, 65536);
  pthread_barrier_init (&barrier, NULL, (unsigned)n);
  for (long i = 0; i < n; i++)
    if (pthread_create (&threads[i], &attributes, body, NULL) != 0)
      {
        perror ("pthread_create");
        exit (1);
      }
  for (long i = 0; i < n; i++)
    pthread_join (threads[i], NULL);
  free (threads);
}

static void
push_names (long n)
{
  char name[40];
  for (long i = 0; i < n; i++)
    {
      snprintf (name, sizeof name, "name number %ld", i);
      nvtxRangePushA (name);
      nvtxRangePop ();
    }
  n_pushed += n;
}

static void
push_long (size_t n)
{
  char *narrow = malloc (n + 1);
  wchar_t *wide = malloc ((n + 1) * sizeof *wide);
  for (size_t i = 0; i < n; i++)
    {
      narrow[i] = (char)('a' + i % 26);
      wide[i] = L'α' + (wchar_t)(i % 20);
    }
  narrow[n] = '\0';
  wide[n] = L'\0';
  nvtxRangePushA (narrow);
  nvtxRangePop ();
  nvtxRangePushW (wide);
  nvtxRangePop ();
  nvtxDomainHandle_t domain = nvtxDomainCreateA ("long");
  nvtxEventAttributes_t attributes = { .version = NVTX_VERSION, .size = sizeof attributes };
  narrow[0] = 'A';
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA (domain, narrow);
  nvtxDomainRangePushEx (domain, &attributes);
  nvtxDomainRangePop (domain);
  n_pushed += 3;
  free (narrow);
  free (wide);
}

static void
push_odd (void)
{
  static const char *const names[] = { "", "\xff\xfe bytes \x80", "say \"it's\"", "line\none\ttab",
                                       "grüße ☃" };
  nvtxRangePop ();
  nvtxRangePop ();
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    nvtxRangePushA (names[i]);
  for (size_t i = 0; i < sizeof names / sizeof *names + 3; i++)
    nvtxRangePop ();
  nvtxRangePushA ("unclosed");
  n_pushed += (long)(sizeof names / sizeof *names) + 1;
}

int
main (int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  long n = argc > 2 ? atol (argv[2]) : 0;
  n_ranges = argc > 3 ? atol (argv[3]) : 0;
  if (strcmp (what, "threads") == 0)
    run_threads (n, push_many);
  else if (strcmp (what, "live") == 0)
    run_threads (n, hold_one);
  else if (strcmp (what, "short") == 0)
    for (long i = 0; i < n; i++)
      run_threads (1, push_one);
  else if (strcmp (what, "names") == 0)
    push_names (n);
  else if (strcmp (what, "long") == 0)
    push_long ((size_t)n);
  else
    push_odd ();
  printf ("%ld\n", n_pushed);
  return 0;
}
