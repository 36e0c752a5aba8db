/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Does what its arguments say, one after the other, so that a test can write down a program:
 *
 *   push NAME, pop, mark NAME, start NAME, end     NVTX; `end` ends the last one started
 *   domain NAME, name-thread NAME                  what follows is in the domain; names this thread
 *   name-tid TID, rename NAME                      names another one; renames this one in the system
 *   spin N, distinct N, sleep MS                   N ranges "spin", or with long names of their own;
 *                                                  does nothing for MS milliseconds
 *   fork N, orphan N, thread N                     the next N words are done by a child (waited for or
 *                                                  not) or a thread; this one goes on behind them
 *   exec, bare-exec                                becomes itself with the rest, without environment
 *   exit N, _exit N, abort, raise SIGNAL           ends so
 *   ignore SIGNAL, catch SIGNAL, pause             a caught one is printed, and `pause` returns
 *   close-all, session N                           closes descriptors from 3 on; begins a session
 *   setuid N, chroot PATH, files N                 gives up privileges; changes its root folder; may open
 *                                                  no more than N files
 *   memory N                                       may map no more than N KiB beside what it has
 *   sample ID, nested N                            a value of a counter, registered or not; N pushes
 *   scribble                                       overwrites records that it has just made
 *   vfork NAME                                     marks NAME in a child that shares this one's memory
 *   touch NAME, gather N                           makes a file; waits until the current folder has N
 *   nest                                           pushes a range, and marks "nested" in a signal handler
 *                                                  that interrupts the push
 *   keys                                           takes all pthread keys
 *   forget-session, outlive                        drops our variable; waits until its parent has ended
 *   await                                          waits for a line on stdin
 *   timed NAME                                     marks NAME, and prints how many ms that took
 *   print TEXT, warn TEXT, state                   to stdout, to stderr; what was inherited */

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCounters.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char *program;
static pid_t parent;              /* of a forked child, as it began */
static nvtxDomainHandle_t domain; /* NULL: the default one */
static nvtxRangeId_t ranges[64];
static unsigned n_ranges;
static volatile sig_atomic_t caught;

static void act (char **words, int n);

static nvtxEventAttributes_t
message (const char *text)
{
  nvtxEventAttributes_t attributes = { .version = NVTX_VERSION, .size = sizeof attributes };
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = text;
  return attributes;
}

static void
mark_timed (const char *name)
{
  struct timespec begin, end;
  clock_gettime (CLOCK_MONOTONIC, &begin);
  nvtxMarkA (name);
  clock_gettime (CLOCK_MONOTONIC, &end);
  printf ("%ld\n", (end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000);
  fflush (stdout);
}

static void
catch_signal (int number)
{
  char text[] = "caught 00\n";
  text[7] = (char)('0' + number / 10);
  text[8] = (char)('0' + number % 10);
  ssize_t written = write (1, text, sizeof text - 1);
  (void)written;
  caught = number;
}

static char *page;

/* Comes while the tool reads a name on a page that may not be read. */
static void
mark_in_fault (int number)
{
  nvtxMarkA ("nested");
  mprotect (page, 4096, PROT_READ | PROT_WRITE);
}

static void
nest (void)
{
  page = mmap (NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  strcpy (page, "outer");
  signal (SIGSEGV, mark_in_fault);
  mprotect (page, 4096, PROT_NONE);
  nvtxRangePushA (page);
  nvtxRangePop ();
}

/* The first memory whose line in maps has NAME, up to RET_END. */
static char *
find_map (const char *name, char **ret_end)
{
  char line[512], *begin = NULL;
  FILE *maps = fopen ("/proc/self/maps", "r");
  *ret_end = NULL;
  while (maps != NULL && *ret_end == NULL && fgets (line, sizeof line, maps) != NULL)
    if (strstr (line, name) != NULL)
      sscanf (line, "%p-%p", (void **)&begin, (void **)ret_end);
  if (maps != NULL)
    fclose (maps);
  return begin;
}

/* Often, as the tool may have read a record before it is overwritten. */
static void
scribble (void)
{
  char *end, *begin = find_map ("lanescope-pool", &end), *at = begin;
  nvtxEventAttributes_t attributes = message ("scribbled");
  attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  for (uint64_t i = 1; i <= 100; i++)
    {
      uint64_t value = attributes.payload.ullValue = UINT64_C (0x5ca1ab1e0ddba110) + i;
      nvtxMarkEx (&attributes);
      while (at < end && memcmp (at, &value, sizeof value) != 0)
        at += sizeof value;
      if (at >= end)
        at = begin; /* the next one may be in a chunk before */
      else
        memset (at - 64, 0xff, 64);
    }
}

static void
print_state (void)
{
  sigset_t mask;
  struct rlimit files, cores;
  char folder[PATH_MAX];
  mode_t mode = umask (0);
  umask (mode);
  sigprocmask (SIG_BLOCK, NULL, &mask);
  getrlimit (RLIMIT_NOFILE, &files);
  getrlimit (RLIMIT_CORE, &cores);
  printf ("folder %s\numask %o\npriority %d\nfiles %llu %llu\ncore %llu\n",
          getcwd (folder, sizeof folder), mode, getpriority (PRIO_PROCESS, 0),
          (unsigned long long)files.rlim_cur, (unsigned long long)files.rlim_max,
          (unsigned long long)cores.rlim_cur);
  for (int i = 1; i < SIGRTMAX; i++)
    {
      struct sigaction action = { 0 };
      sigaction (i, NULL, &action);
      if (sigismember (&mask, i) == 1 || action.sa_handler == SIG_IGN)
        printf ("signal %d%s%s\n", i, sigismember (&mask, i) == 1 ? " blocked" : "",
                action.sa_handler == SIG_IGN ? " ignored" : "");
    }
  for (int fd = 0; fd < 256; fd++)
    if (fcntl (fd, F_GETFD) >= 0)
      printf ("descriptor %d\n", fd);
  fflush (stdout);
}

typedef struct
{
  char **words;
  int n;
} Part;

static void *
run_part (void *data)
{
  Part *part = data;
  act (part->words, part->n);
  return NULL;
}

static void
fork_child (Part part, int waited)
{
  fflush (stdout);
  const pid_t self = getpid ();
  pid_t pid = fork ();
  if (pid == 0)
    {
      parent = self;
      act (part.words, part.n);
      exit (0);
    }
  if (waited)
    waitpid (pid, NULL, 0);
}

static void
act_nvtx (const char *verb, const char *text)
{
  nvtxEventAttributes_t attributes = message (text);
  if (strcmp (verb, "push") == 0)
    nvtxDomainRangePushEx (domain, &attributes);
  else if (strcmp (verb, "mark") == 0)
    nvtxDomainMarkEx (domain, &attributes);
  else if (strcmp (verb, "start") == 0)
    ranges[n_ranges++ % 64] = nvtxDomainRangeStartEx (domain, &attributes);
  else if (strcmp (verb, "domain") == 0)
    domain = nvtxDomainCreateA (text);
  else if (strcmp (verb, "name-thread") == 0)
    nvtxNameOsThreadA ((uint32_t)gettid (), text);
  else if (strcmp (verb, "name-tid") == 0)
    nvtxNameOsThreadA ((uint32_t)atoi (text), "named by another");
  else if (strcmp (verb, "rename") == 0)
    pthread_setname_np (pthread_self (), text);
}

static void
become (char **words, int bare)
{
  char *none[] = { NULL };
  words[-1] = program;
  if (bare)
    execve (program, words - 1, none);
  else
    execv (program, words - 1);
  perror ("exec");
  _exit (99);
}

/* Does a word that takes no other; returns 0 if WORD is none. */
static int
act_alone (const char *word)
{
  if (strcmp (word, "pop") == 0)
    nvtxDomainRangePop (domain);
  else if (strcmp (word, "end") == 0)
    nvtxDomainRangeEnd (domain, ranges[--n_ranges % 64]);
  else if (strcmp (word, "abort") == 0)
    abort ();
  else if (strcmp (word, "state") == 0)
    print_state ();
  else if (strcmp (word, "close-all") == 0)
    close_range (3, ~0U, 0);
  else if (strcmp (word, "nest") == 0)
    nest ();
  else if (strcmp (word, "scribble") == 0)
    scribble ();
  else if (strcmp (word, "keys") == 0)
    for (pthread_key_t key; pthread_key_create (&key, NULL) == 0;)
      ;
  else if (strcmp (word, "forget-session") == 0)
    unsetenv ("LANESCOPE_SESSION");
  else if (strcmp (word, "outlive") == 0)
    while (getppid () == parent)
      usleep (1000);
  else if (strcmp (word, "await") == 0)
    {
      char byte = 0;
      while (byte != '\n' && read (STDIN_FILENO, &byte, 1) == 1)
        ;
    }
  else if (strcmp (word, "pause") == 0)
    {
      while (!caught)
        usleep (10000);
      caught = 0;
    }
  else
    return 0;
  return 1;
}

static void
push_distinct (int n)
{
  char name[600];
  unsigned state = 1;
  for (int i = 0; i < n; i++)
    {
      for (size_t k = 0; k < sizeof name - 1; k++)
        name[k] = (char)('a' + (state = state * 1103515245u + 12345u) / 65536 % 26);
      name[sizeof name - 1] = '\0';
      act_nvtx ("push", name);
      nvtxDomainRangePop (domain);
    }
}

static void
mark_in_vfork (const char *name)
{
  const pid_t pid = vfork ();
  if (pid == 0)
    {
      nvtxMarkA (name);
      _exit (0);
    }
  waitpid (pid, NULL, 0);
}

static void
await_files (int n)
{
  for (int n_files = 0; n_files < n; usleep (10000))
    {
      DIR *folder = opendir (".");
      n_files = 0;
      for (struct dirent *entry; (entry = readdir (folder)) != NULL;)
        n_files += entry->d_name[0] != '.';
      closedir (folder);
    }
}

/* The bytes of address space that this process has. */
static rlim_t
mapped_bytes (void)
{
  unsigned long n_pages = 0;
  FILE *file = fopen ("/proc/self/statm", "r");
  if (file == NULL || fscanf (file, "%lu", &n_pages) != 1)
    exit (97);
  fclose (file);
  return n_pages * (rlim_t)sysconf (_SC_PAGESIZE);
}

/* What takes something away from this process; returns 0 if VERB is none such. */
static int
act_limit (const char *verb, const char *text, int number)
{
  int failed;
  if (strcmp (verb, "setuid") == 0)
    failed = setgid ((gid_t)number) | setuid ((uid_t)number);
  else if (strcmp (verb, "chroot") == 0)
    failed = chroot (text) | chdir ("/");
  else if (strcmp (verb, "files") == 0)
    failed = setrlimit (RLIMIT_NOFILE, &(struct rlimit){ (rlim_t)number, (rlim_t)number });
  else if (strcmp (verb, "memory") == 0)
    {
      const rlim_t n_bytes = mapped_bytes () + (rlim_t)number * 1024;
      failed = setrlimit (RLIMIT_AS, &(struct rlimit){ n_bytes, n_bytes });
    }
  else
    return 0;
  if (failed != 0)
    {
      perror (verb);
      exit (97);
    }
  return 1;
}

static void
act_number (const char *verb, int number)
{
  if (strcmp (verb, "spin") == 0)
    for (int i = 0; i < number; i++)
      {
        act_nvtx ("push", "spin");
        nvtxDomainRangePop (domain);
      }
  else if (strcmp (verb, "nested") == 0)
    for (int i = 0; i < number; i++)
      act_nvtx ("push", "nested");
  else if (strcmp (verb, "sample") == 0)
    nvtxCounterSampleInt64 (domain, (uint64_t)number, 1);
  else if (strcmp (verb, "distinct") == 0)
    push_distinct (number);
  else if (strcmp (verb, "sleep") == 0)
    nanosleep (&(struct timespec){ number / 1000, number % 1000 * 1000000L }, NULL);
  else if (strcmp (verb, "gather") == 0)
    await_files (number);
  else if (strcmp (verb, "session") == 0)
    setsid ();
  else if (strcmp (verb, "exit") == 0)
    exit (number);
  else if (strcmp (verb, "_exit") == 0)
    _exit (number);
  else if (strcmp (verb, "raise") == 0)
    {
      signal (number, SIG_DFL); /* a sanitizer has a handler of its own */
      raise (number);
    }
  else if (strcmp (verb, "ignore") == 0)
    signal (number, SIG_IGN);
  else if (strcmp (verb, "catch") == 0)
    signal (number, catch_signal);
}

static void
act (char **words, int n)
{
  for (int i = 0; i < n; i++)
    {
      const char *verb = words[i];
      if (act_alone (verb))
        continue;
      if (strcmp (verb, "exec") == 0 || strcmp (verb, "bare-exec") == 0)
        become (words + i + 1, verb[0] == 'b');
      if (i + 1 == n)
        {
          fprintf (stderr, "nvtx-act: %s needs a word\n", verb);
          exit (98);
        }
      const char *text = words[++i];
      int number = atoi (text);
      Part part = { words + i + 1, number };
      if (strcmp (verb, "print") == 0)
        {
          printf ("%s\n", text);
          fflush (stdout);
        }
      else if (strcmp (verb, "timed") == 0)
        mark_timed (text);
      else if (strcmp (verb, "vfork") == 0)
        mark_in_vfork (text);
      else if (strcmp (verb, "touch") == 0)
        close (open (text, O_CREAT | O_WRONLY, 0600));
      else if (strcmp (verb, "warn") == 0)
        fprintf (stderr, "%s\n", text);
      else if (strcmp (verb, "thread") == 0)
        {
          pthread_t thread;
          pthread_create (&thread, NULL, run_part, &part);
          pthread_join (thread, NULL);
          i += number;
        }
      else if (strcmp (verb, "fork") == 0 || strcmp (verb, "orphan") == 0)
        {
          fork_child (part, verb[0] == 'f');
          i += number;
        }
      else if (!act_limit (verb, text, number))
        {
          act_nvtx (verb, text);
          act_number (verb, number);
        }
    }
}

int
main (int argc, char **argv)
{
  program = argv[0];
  act (argv + 1, argc - 1);
  return 0;
}
