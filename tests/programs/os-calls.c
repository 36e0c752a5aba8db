/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* os-calls WHAT [FILE]: one of the functions below, which call the C library in a way that is known, or that wrappers
 * of it must survive. Prints what came of it, and returns 0 if that is right. */

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *the_file;
static int pipe_ends[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;

static void
nap (long us)
{
  nanosleep (&(struct timespec){ .tv_nsec = us * 1000 }, NULL);
}

/* Runs FUNCTION in N threads and waits for them. */
static void
run_threads (int n, void *(*function) (void *))
{
  pthread_t threads[16];
  for (int i = 0; i < n; i++)
    if (pthread_create (&threads[i], NULL, function, (void *)(intptr_t)i) != 0)
      exit (1);
  for (int i = 0; i < n; i++)
    pthread_join (threads[i], NULL);
}

/* --- What a report must show ------------------------------------------------------------------ */

static void *
hold_lock (void *data)
{
  for (int i = 0; i < 10; i++)
    {
      pthread_mutex_lock (&mutex);
      nap (2000);
      pthread_mutex_unlock (&mutex);
    }
  return data;
}

/* Four threads that need the same lock all the time. */
static int
convoy (void)
{
  run_threads (4, hold_lock);
  return 0;
}

/* A lock that is always free. */
static int
free_lock (void)
{
  pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
  sem_init (&semaphore, 0, 0);
  for (int i = 0; i < 100000; i++)
    {
      pthread_mutex_lock (&mutex);
      pthread_mutex_unlock (&mutex);
      pthread_rwlock_rdlock (&rwlock);
      pthread_rwlock_unlock (&rwlock);
      sem_post (&semaphore);
      sem_wait (&semaphore);
    }
  return 0;
}

static void *
write_late (void *data)
{
  nap (50000);
  return write (pipe_ends[1], "x", 1) == 1 ? data : NULL;
}

/* A read that waits for another thread. */
static int
blocking_read (void)
{
  char byte;
  pthread_t writer;
  if (pipe (pipe_ends) != 0 || pthread_create (&writer, NULL, write_late, NULL) != 0)
    return 1;
  const bool good = read (pipe_ends[0], &byte, 1) == 1 && byte == 'x';
  pthread_join (writer, NULL);
  return good ? 0 : 1;
}

static int
sleep_loop (void)
{
  for (int i = 0; i < 20; i++)
    usleep (1000);
  return 0;
}

/* Writes a file in pieces, each to the disk, reads it through a stream and once more by its descriptor. */
static int
slow_file (void)
{
  static char piece[65536];
  size_t n = 0;
  int fd = open (the_file, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
  for (int i = 0; i < 16; i++)
    if (write (fd, piece, sizeof piece) != sizeof piece || fsync (fd) != 0)
      return 1;
  if (pread (fd, piece, 1000, 0) != 1000 || close (fd) != 0)
    return 1;
  FILE *stream = fopen (the_file, "re");
  while (stream != NULL && fread (piece, 1024, 1, stream) == 1)
    n++;
  return stream != NULL && fclose (stream) == 0 && n == 1024 ? 0 : 1;
}

/* --- What wrappers must survive --------------------------------------------------------------- */

static void *
wait_in_read (void *data)
{
  char byte;
  return read (pipe_ends[0], &byte, 1) < 0 ? data : NULL;
}

static void *
wait_in_poll (void *data)
{
  return poll (NULL, 0, -1) < 0 ? data : NULL;
}

static void
unlock (void *lock)
{
  pthread_mutex_unlock (lock);
}

static void *
wait_in_condition (void *data)
{
  pthread_mutex_lock (&mutex);
  pthread_cleanup_push (unlock, &mutex);
  for (;;)
    pthread_cond_wait (&condition, &mutex);
  pthread_cleanup_pop (0);
  return data;
}

/* Is cancelled in a wait that need not block. */
static void *
wait_for_nothing (void *data)
{
  for (;;)
    {
      sem_post (&semaphore);
      sem_wait (&semaphore);
    }
  return data;
}

/* Is cancelled at any instruction, most of which are of recorded calls. */
static void *
yield_for_ever (void *data)
{
  int type;
  pthread_setcanceltype (PTHREAD_CANCEL_ASYNCHRONOUS, &type);
  for (;;)
    sched_yield ();
  return data;
}

static void
close_file (void *unused)
{
  /* A call in a cancelled thread's cleanup. */
  const int fd = open ("/dev/null", O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write (fd, "x", 1) != 1 || close (fd) != 0)
    abort ();
}

static void *
with_cleanup (void *data)
{
  pthread_cleanup_push (close_file, NULL);
  ((void *(*)(void *))data) (NULL);
  pthread_cleanup_pop (1);
  return NULL;
}

/* Cancels threads in calls. */
static int
cancel (void)
{
  void *(*const waits[]) (void *) = { wait_in_read, wait_in_poll, wait_in_condition,
                                      wait_for_nothing, yield_for_ever };
  int n_cancelled = 0;
  if (pipe (pipe_ends) != 0 || sem_init (&semaphore, 0, 0) != 0)
    return 1;
  for (int i = 0; i < 50; i++)
    {
      void *result = NULL;
      pthread_t thread;
      if (pthread_create (&thread, NULL, with_cleanup, (void *)waits[i % 5]) != 0)
        return 1;
      nap (1000);
      pthread_cancel (thread);
      pthread_join (thread, &result);
      n_cancelled += result == PTHREAD_CANCELED;
    }
  printf ("%d cancelled, the mutex is %s\n", n_cancelled,
          pthread_mutex_trylock (&mutex) == 0 ? "free" : "taken");
  return n_cancelled == 50 ? 0 : 1;
}

static int turn;

static void *
play_ping_pong (void *data)
{
  const int own = (int)(intptr_t)data;
  for (int i = 0; i < 2000; i++)
    {
      pthread_mutex_lock (&mutex);
      while (turn != own)
        pthread_cond_wait (&condition, &mutex);
      turn = 1 - own;
      pthread_cond_broadcast (&condition);
      pthread_mutex_unlock (&mutex);
    }
  return data;
}

static int
ping_pong (void)
{
  run_threads (2, play_ping_pong);
  printf ("turn %d\n", turn);
  return 0;
}

static volatile sig_atomic_t n_signals;
static int null_fd;

static void
handle (int signal)
{
  const int before = errno;
  if (write (null_fd, "x", 1) == 1)
    n_signals++;
  nap (1);
  errno = before;
}

/* A handler that calls the library while a call is recorded, from a profiling timer of the program's own. */
static int
handler (void)
{
  const struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
  struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
  char bytes[4096];
  null_fd = open ("/dev/null", O_WRONLY | O_CLOEXEC);
  const int zero_fd = open ("/dev/zero", O_RDONLY | O_CLOEXEC);
  sigaction (SIGPROF, &action, NULL);
  setitimer (ITIMER_PROF, &often, NULL);
  while (n_signals < 50)
    if (read (zero_fd, bytes, sizeof bytes) != sizeof bytes || errno != 0)
      return 1;
  return 0;
}

static pthread_key_t key;

static void
end_late (void *value)
{
  if (write (null_fd, "x", 1) != 1)
    abort ();
  nap (1000);
  /* Comes again, after all other destructors. */
  if ((intptr_t)value < 3)
    pthread_setspecific (key, (void *)((intptr_t)value + 1));
}

static void *
leave_value (void *data)
{
  pthread_setspecific (key, (void *)1);
  nap (1000);
  return data;
}

static int
destructors (void)
{
  null_fd = open ("/dev/null", O_WRONLY | O_CLOEXEC);
  pthread_key_create (&key, end_late);
  for (int i = 0; i < 20; i++)
    run_threads (4, leave_value);
  return 0;
}

static int
close_all (void)
{
  for (int fd = 3; fd < 70000; fd++)
    close (fd);
  usleep (2000);
  const int fd = open ("/dev/null", O_WRONLY | O_CLOEXEC);
  usleep (2000);
  printf ("descriptor %d\n", fd);
  return 0;
}

static int
cloned (void *data)
{
  nap (2000);
  _exit (write (1, "clone\n", 6) == 6 ? 7 : 1);
}

/* Children by clone(), fork(), vfork() and posix_spawn(); only fork's is a process of its own that goes on. */
static int
children (void)
{
  static char stack[65536] __attribute__ ((aligned (16)));
  int status;
  volatile int sum = 0;
  pid_t pid = clone (cloned, stack + sizeof stack, SIGCHLD, NULL);
  if (pid < 0 || waitpid (pid, &status, 0) != pid)
    return 1;
  sum += WEXITSTATUS (status);
  pid = fork ();
  if (pid == 0)
    {
      struct rusage usage;
      usleep (3000);
      const bool good = write (1, "fork\n", 5) == 5;
      /* A child that waits for itself does so in many small steps. */
      _exit (good && getrusage (RUSAGE_SELF, &usage) == 0 && usage.ru_nvcsw < 50 ? 8 : 1);
    }
  if (waitpid (pid, &status, 0) != pid)
    return 1;
  sum += WEXITSTATUS (status);
  pid = vfork ();
  if (pid == 0)
    {
      usleep (3000);
      execl ("/bin/sh", "sh", "-c", "exit 9", NULL);
      _exit (1);
    }
  if (waitpid (pid, &status, 0) != pid)
    return 1;
  sum += WEXITSTATUS (status);
  char sh[] = "sh", switch_c[] = "-c", line[] = "exit 10";
  char *const words[] = { sh, switch_c, line, NULL };
  if (posix_spawn (&pid, "/bin/sh", NULL, NULL, words, environ) != 0 ||
      waitpid (pid, &status, 0) != pid)
    return 1;
  sum += WEXITSTATUS (status);
  printf ("sum %d\n", sum);
  return sum == 34 ? 0 : 1;
}

/* Leaves its file system and its user behind, as far as it may. */
static int
leave (void)
{
  const bool is_root = geteuid () == 0;
  if (is_root && (chroot ("/proc/self/fdinfo") != 0 || setgid (65534) != 0 || setuid (65534) != 0))
    return 1;
  usleep (2000);
  return open ("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0 || !is_root ? 0 : 1;
}

/* May only read, write and exit from here on. */
static int
strict (void)
{
  static char bytes[1 << 20];
  const int fd = open ("/dev/zero", O_RDONLY | O_CLOEXEC);
  if (prctl (PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
    return 1;
  for (int i = 0; i < 10; i++)
    if (read (fd, bytes, sizeof bytes) != sizeof bytes)
      syscall (SYS_exit, 1);
  syscall (SYS_exit, write (1, "strict\n", 7) == 7 ? 0 : 1);
  return 1;
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    int (*function) (void);
  } all[] = {
    { "convoy", convoy },         { "free-lock", free_lock }, { "blocking-read", blocking_read },
    { "sleep-loop", sleep_loop }, { "slow-file", slow_file }, { "cancel", cancel },
    { "ping-pong", ping_pong },   { "handler", handler },     { "destructors", destructors },
    { "close-all", close_all },   { "children", children },   { "leave", leave },
    { "strict", strict }
  };
  setvbuf (stdout, NULL, _IOLBF, 0);
  errno = 0;
  the_file = argc > 2 ? argv[2] : "/dev/null";
  for (size_t i = 0; argc > 1 && i < sizeof all / sizeof *all; i++)
    if (strcmp (argv[1], all[i].name) == 0)
      return all[i].function ();
  return 2;
}
