/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/symbols/name-worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_MEMORY_BYTES (UINT64_C (6) << 30) /* DWARF of the largest programs needs some of it */
#define STOP_INTERVAL_MS  100 /* how often *stop is looked at while nothing comes */

static void
limit (int resource, rlim_t most)
{
  const struct rlimit limit = { most, most };
  setrlimit (resource, &limit);
}

/* Leaves the child nothing of its parent's but the pipe, and little to spend. */
static void
settle (pid_t parent, int *fd, unsigned most_seconds)
{
  static const int signals[] = { SIGSEGV, SIGBUS,  SIGABRT, SIGFPE, SIGILL,
                                 SIGXCPU, SIGPIPE, SIGTERM, SIGINT, SIGQUIT };
  sigset_t all;
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    signal (signals[i], SIG_DFL);
  /* Ctrl-C is the parent's to handle: it stops the work. */
  signal (SIGINT, SIG_IGN);
  sigemptyset (&all);
  pthread_sigmask (SIG_SETMASK, &all, NULL);
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  if (getppid () != parent)
    _exit (1);
  /* malloc() says on stderr that its memory is broken. */
  const int nothing = open ("/dev/null", O_RDWR | O_CLOEXEC);
  for (int i = 0; i < 3; i++)
    if (*fd != i)
      dup2 (nothing, i);
  if (*fd != 3)
    dup2 (*fd, 3);
  *fd = 3;
  if (close_range (4, ~0u, 0) != 0)
    for (int i = 4; i < 1024; i++) /* Linux before 5.9 */
      close (i);
  limit (RLIMIT_CORE, 0);
  limit (RLIMIT_CPU, most_seconds);
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__ /* whose shadows need terabytes */
  limit (RLIMIT_DATA, MOST_MEMORY_BYTES);
#endif
}

/* Reads until the child is done, and returns what became of it. */
static LnsWorkEnd
listen_to (int fd, const LnsNameJob *job, LnsNameReader *reader)
{
  for (;;)
    {
      struct pollfd ready = { fd, POLLIN, 0 };
      if (job->stop != NULL && atomic_load_explicit (job->stop, memory_order_relaxed))
        return LNS_WORK_STOPPED;
      const int n = poll (&ready, 1, job->stop != NULL ? STOP_INTERVAL_MS : -1);
      if (n > 0 && !lns_name_reader_read (reader, fd))
        return lns_name_reader_is_complete (reader) ? LNS_WORK_DONE : LNS_WORK_BROKEN;
      if (n < 0 && errno != EINTR)
        return LNS_WORK_BROKEN;
    }
}

LnsWorkEnd
lns_name_worker_run (const LnsNameJob *job, LnsNameReader *reader)
{
  int ends[2];
  if (pipe2 (ends, O_CLOEXEC) != 0)
    return LNS_WORK_NOT_BEGUN;
  fcntl (ends[1], F_SETPIPE_SZ, 1 << 20); /* fewer switches between the two; smaller is slower */
  const pid_t parent = getpid (), child = fork ();
  if (child < 0)
    {
      const int cause = errno;
      close (ends[0]);
      close (ends[1]);
      errno = cause;
      return LNS_WORK_NOT_BEGUN;
    }
  if (child == 0)
    {
      settle (parent, &ends[1], job->most_seconds);
      LnsNameWriter *writer = lns_name_writer_new (ends[1]);
      job->run (job->what, writer);
      lns_name_writer_end (writer);
      _exit (0);
    }
  close (ends[1]);
  lns_name_reader_restart (reader);
  const LnsWorkEnd end = listen_to (ends[0], job, reader);
  close (ends[0]);
  if (end != LNS_WORK_DONE)
    kill (child, SIGKILL);
  /* A parent that reaps any child may have been faster: then there is nothing to wait for. */
  while (waitpid (child, NULL, 0) < 0 && errno == EINTR)
    ;
  return end;
}
