/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Preloaded into the viewer by `./run bench ui`. Writes to the file that LNS_BENCH_TURNS names how long the main loop did not
 * look for events: one line for each time of LEAST_NS or more between two polls of the main context, with
 *
 *   its begin and its end in ns of CLOCK_MONOTONIC; how many ns of it the main thread ran; and how many it could have run,
 *   but others had the processors.
 *
 * A loop that runs within another one, as those of dialogs may, polls as well. */

#include <fcntl.h>
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define LEAST_NS 1000000

static FILE *file;
static int statistics = -1; /* of the kernel about the main thread */

typedef struct
{
  int64_t now_ns, ran_ns, waited_ns;
} Reading;

static Reading last; /* when the last poll ended; all 0: there was none */

static int64_t
now_ns (clockid_t clock)
{
  struct timespec now;
  clock_gettime (clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static Reading
read_now (void)
{
  Reading now = { .now_ns = now_ns (CLOCK_MONOTONIC), .ran_ns = now_ns (CLOCK_THREAD_CPUTIME_ID) };
  char text[128];
  const ssize_t n = pread (statistics, text, sizeof text - 1, 0);
  text[n > 0 ? n : 0] = '\0';
  if (sscanf (text, "%*s %" SCNd64, &now.waited_ns) != 1)
    now.waited_ns = 0;
  return now;
}

static gint
poll_cb (GPollFD *fds, guint n_fds, gint timeout_msec)
{
  if (last.now_ns > 0 && now_ns (CLOCK_MONOTONIC) - last.now_ns >= LEAST_NS)
    {
      const Reading now = read_now ();
      fprintf (file, "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", last.now_ns, now.now_ns,
               now.ran_ns - last.ran_ns, now.waited_ns - last.waited_ns);
    }
  const gint n = g_poll (fds, n_fds, timeout_msec);
  last = read_now ();
  return n;
}

__attribute__ ((constructor)) static void
begin (void)
{
  const char *path = g_getenv ("LNS_BENCH_TURNS");
  file = path != NULL ? fopen (path, "ae") : NULL;
  if (file == NULL)
    return;
  setvbuf (file, NULL, _IOLBF, BUFSIZ);
  statistics = open ("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  g_main_context_set_poll_func (NULL, poll_cb);
  /* Programs that the viewer starts are not measured. */
  g_unsetenv ("LD_PRELOAD");
  g_unsetenv ("LNS_BENCH_TURNS");
}
