/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/cpu/sampling.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "capture/session/cpu/attach.h"
#include "capture/session/cpu/records.h"
#include "capture/session/system/build-id.h"
#include "capture/session/system/mappings.h"
#include "src/base/language.h"
#include "src/base/memory.h"
#include "src/base/monotonic.h"

/* How often records are taken. A record waits for one more turn, as others of its time may still come from other CPUs. Programs that
 * end sooner after exec have no command line in the report. */
#define PERIOD_MS 20

/* A ring that is half full is read at once, by a thread that does nothing else: to unwind a stack, the other one may first have to
 * read the tables of a great library from the disk. What waits for that thread, at most: */
#define COLLECTED_BYTES ((size_t)64 << 20)

/* What the recorder may be behind by. */
#define WAITING_BYTES ((size_t)64 << 20)

/* Records that are not taken in time are taken without unwinding their stacks, which is far faster. They may take so many times as
 * long, on a machine that is very busy. */
#define HURRIED 10

/* How many processes are named that are not recorded. */
#define MOST_REFUSED 4

#define PARANOID_PATH "/proc/sys/kernel/perf_event_paranoid"

struct LnsCpuSampling
{
  LnsCpuSamplingOptions options;
  LnsPeers *peers;
  LnsCpuEvents events; /* of the thread once it runs, but for its descriptors */
  pthread_mutex_t lock;
  pthread_cond_t settled; /* `n_drained` grew */
  pthread_t thread, collector;
  bool is_open, has_thread; /* written before the threads run */
  bool is_stopping;         /* under the lock, as the next four */
  bool is_paused;
  int64_t paused_ns; /* when it was paused and the thread has not noted it; 0: never */
  uint64_t n_asked, n_drained;
  int wake_fd; /* an eventfd, readable after one of these changed */
  int end_fd;  /* an eventfd, readable when the collector shall end */
  /* Of the thread: */
  LnsCpuOrder *order;
  LnsCpuRecords records;
};

/* --- The thread ------------------------------------------------------------------------------- */

/* Takes the records up to UNTIL_NS. */
static void
read_rings (LnsCpuSampling *sampling, int64_t until_ns)
{
  pthread_mutex_lock (&sampling->lock);
  const int64_t paused_ns = sampling->paused_ns;
  if (paused_ns <= until_ns)
    sampling->paused_ns = 0;
  pthread_mutex_unlock (&sampling->lock);
  const bool is_pause = paused_ns != 0 && paused_ns <= until_ns;
  if (is_pause)
    {
      lns_cpu_order_read (sampling->order, paused_ns, lns_cpu_records_take, &sampling->records);
      lns_cpu_records_pause (&sampling->records, paused_ns);
    }
  lns_cpu_order_read (sampling->order, until_ns, lns_cpu_records_take, &sampling->records);
  lns_cpu_records_post (&sampling->records, until_ns);
  lns_family_end_gone (&sampling->records.family, until_ns);
}

/* Waits for the next turn. */
static void
wait_for_turn (const LnsCpuSampling *sampling)
{
  struct pollfd fd = { sampling->wake_fd, POLLIN, 0 };
  eventfd_t count;
  poll (&fd, 1, PERIOD_MS);
  eventfd_read (sampling->wake_fd, &count); /* fails only where it is not readable */
}

/* Empties rings that are half full until the end. */
static void *
collect (void *data)
{
  LnsCpuSampling *sampling = data;
  const size_t n = sampling->events.rings.n;
  struct pollfd *fds = calloc (n + 1, sizeof *fds);
  /* If that is allowed: rings are small, and a busy machine must not overflow them. */
  setpriority (PRIO_PROCESS, (id_t)gettid (), -10);
  for (size_t i = 0; fds != NULL && i < n; i++)
    fds[i] = (struct pollfd){ sampling->events.rings.items[i].fds.side, POLLIN, 0 };
  if (fds != NULL)
    fds[n] = (struct pollfd){ sampling->end_fd, POLLIN, 0 };
  while (fds != NULL && fds[n].revents == 0)
    {
      poll (fds, (nfds_t)n + 1, -1);
      for (size_t i = 0; i < n; i++)
        if (fds[i].revents & (POLLHUP | POLLERR))
          fds[i].fd = -1; /* all threads have ended; the ring may still be read */
      if (!lns_cpu_order_collect (sampling->order, COLLECTED_BYTES))
        poll (&fds[n], 1, PERIOD_MS);
    }
  free (fds);
  return NULL;
}

/* Reads all records up to UNTIL_NS, and says so. */
static void
read_until (LnsCpuSampling *sampling, int64_t until_ns)
{
  read_rings (sampling, until_ns);
  lns_mailbox_note_samples (sampling->peers->mailbox, until_ns);
}

static void *
run (void *data)
{
  LnsCpuSampling *sampling = data;
  int64_t turn_ns = lns_monotonic_ns ();
  bool is_stopping = false;
  lns_text_stay_english ();                         /* what fails here is told in the report, too */
  setpriority (PRIO_PROCESS, (id_t)gettid (), -10); /* as above */
  while (!is_stopping)
    {
      wait_for_turn (sampling);
      pthread_mutex_lock (&sampling->lock);
      const uint64_t n_asked = sampling->n_asked, n_drained = sampling->n_drained;
      is_stopping = sampling->is_stopping;
      pthread_mutex_unlock (&sampling->lock);
      lns_family_note_gone (&sampling->records.family, sampling->records.is_attached);
      lns_family_tell_awaited (&sampling->records.family);
      const int64_t now_ns = lns_monotonic_ns ();
      if (n_asked != n_drained)
        {
          read_until (sampling, now_ns);
          lns_family_note_reach (&sampling->records.family);
        }
      else if (atomic_load (&sampling->records.n_waiting_bytes) < WAITING_BYTES)
        read_until (sampling, turn_ns);
      turn_ns = now_ns;
      if (n_asked == n_drained)
        continue;
      pthread_mutex_lock (&sampling->lock);
      sampling->n_drained = n_asked;
      pthread_cond_broadcast (&sampling->settled);
      pthread_mutex_unlock (&sampling->lock);
    }
  lns_family_tell_awaited (&sampling->records.family);
  lns_mailbox_note_samples (sampling->peers->mailbox, INT64_MAX);
  return NULL;
}

/* --- Begin ------------------------------------------------------------------------------------ */

LnsCpuSampling *
lns_cpu_sampling_new (const LnsCpuSamplingOptions *options, LnsPeers *peers)
{
  LnsCpuSampling *sampling = lns_calloc (1, sizeof *sampling);
  pthread_condattr_t monotonic;
  sampling->options = *options;
  sampling->peers = peers;
  sampling->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  sampling->end_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  pthread_mutex_init (&sampling->lock, NULL);
  pthread_condattr_init (&monotonic);
  pthread_condattr_setclock (&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init (&sampling->settled, &monotonic);
  sampling->records.peers = peers;
  sampling->records.events = &sampling->events;
  sampling->records.n_samples_of_a_chain = options->n_samples_of_a_chain;
  sampling->records.has_switches = options->events.switches;
  lns_family_init (&sampling->records.family, peers);
  return sampling;
}

typedef struct
{
  LnsCpuSampling *sampling;
  LnsCpuSay say;
  void *data;
} Listener;

/* Tells LISTENER and the report. */
static void __attribute__ ((format (printf, 4, 0))) tell_as (const Listener *listener,
                                                             LnsSeverity severity,
                                                             const char *code,
                                                             const char *format,
                                                             va_list arguments)
{
  char text[400];
  vsnprintf (text, sizeof text, format, arguments);
  listener->say (listener->data, severity, code, text);
  LnsBatchEvent event = lns_batch_diagnostic (LNS_ID_NONE, code, severity, "%s", text);
  lns_mailbox_add (listener->sampling->peers->mailbox, &event);
}

/* Tells what is not recorded. */
static void __attribute__ ((format (printf, 3, 4)))
tell (const Listener *listener, const char *code, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  tell_as (listener,
           listener->sampling->options.is_asked_for ? LNS_SEVERITY_WARNING : LNS_SEVERITY_INFO,
           code, format, arguments);
  va_end (arguments);
}

/* Tells what is recorded in another way. */
static void __attribute__ ((format (printf, 3, 4)))
note (const Listener *listener, const char *code, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  tell_as (listener, LNS_SEVERITY_INFO, code, format, arguments);
  va_end (arguments);
}

static int
paranoid_level (void)
{
  int level = 0;
  FILE *file = fopen (PARANOID_PATH, "re");
  if (file != NULL && fscanf (file, "%d", &level) != 1)
    level = 0;
  if (file != NULL)
    fclose (file);
  return level;
}

static void
tell_refusal (const Listener *listener, int failed, LnsCpuEventsStep step)
{
  const int level = paranoid_level ();
  if (step == LNS_CPU_EVENTS_MAP)
    tell (
        listener, "LNS-CPU-003",
        LNS_SENTENCE ("CPU samples and thread scheduling are not recorded, as the kernel gives no "
                      "memory for them (%s); raise `ulimit -l`, or end other programs that record"),
        strerror (failed));
  else if (failed == EACCES && level > 2)
    tell (listener, "LNS-CPU-001",
          LNS_SENTENCE ("CPU samples and thread scheduling are not recorded, as "
                        "kernel.perf_event_paranoid is %d; allow them with `sudo sysctl "
                        "kernel.perf_event_paranoid=2`, or turn them off with --sample=none "
                        "--cpuctxsw=none"),
          level);
  else if (failed == EACCES || failed == EPERM)
    tell (listener, "LNS-CPU-002",
          LNS_SENTENCE ("CPU samples and thread scheduling are not recorded, as perf_event_open is "
                        "denied (%s); allow it in the container's seccomp profile (`docker run "
                        "--cap-add=PERFMON`), or turn them off with --sample=none --cpuctxsw=none"),
          strerror (failed));
  else if (failed == EMFILE || failed == ENFILE)
    tell (listener, "LNS-CPU-004",
          LNS_SENTENCE ("CPU samples and thread scheduling are not recorded, as Lanescope may open "
                        "no more files (%s); raise `ulimit -n`"),
          strerror (failed));
  else
    tell (listener, "LNS-CPU-004",
          LNS_SENTENCE ("CPU samples and thread scheduling are not recorded, as the kernel cannot "
                        "do that (%s); `lanescope status -e` says what it can"),
          strerror (failed));
}

static int
start_threads (LnsCpuSampling *sampling)
{
  sigset_t all, old;
  if (sampling->wake_fd < 0 || sampling->end_fd < 0)
    return EMFILE;
  if (sampling->order == NULL)
    sampling->order = lns_cpu_order_new (&sampling->events);
  if (sampling->order == NULL)
    return ENOMEM;
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &old);
  int failed = pthread_create (&sampling->collector, NULL, collect, sampling);
  sampling->has_thread = failed == 0;
  if (failed == 0 && (failed = pthread_create (&sampling->thread, NULL, run, sampling)) != 0)
    {
      eventfd_write (sampling->end_fd, 1);
      pthread_join (sampling->collector, NULL);
      sampling->has_thread = false;
    }
  pthread_sigmask (SIG_SETMASK, &old, NULL);
  return failed;
}

/* Says that samples are fewer than were asked for, if they are. */
static void
tell_rate (const Listener *listener)
{
  const LnsCpuEvents *events = &listener->sampling->events;
  const LnsCpuEventsOptions *asked = &listener->sampling->options.events;
  if (events->hz < asked->hz && asked->period == 0)
    tell (listener, "LNS-CPU-005",
          LNS_SENTENCE ("CPU samples are taken %u times a second instead of %u, as the kernel "
                        "allows no more; raise kernel.perf_event_max_sample_rate"),
          events->hz, asked->hz);
}

/* Says that samples in the kernel are not like others, if they are not. */
static void
tell_hidden (const Listener *listener)
{
  const LnsCpuSampling *sampling = listener->sampling;
  if (!sampling->options.events.samples || sampling->events.sees_kernel)
    return;
  if (sampling->records.hidden.period_ns != 0)
    note (listener, "LNS-CPU-010",
          LNS_SENTENCE ("CPU samples in the kernel are all called [kernel, not sampled], as "
                        "Lanescope may not look into it; allow it with `sudo sysctl "
                        "kernel.perf_event_paranoid=1`, or run Lanescope as root, which also tells "
                        "which thread ended a wait"));
  else
    tell (listener, "LNS-CPU-010",
          LNS_SENTENCE ("there are no CPU samples in the kernel, as Lanescope may not look into "
                        "it; allow it with `sudo sysctl kernel.perf_event_paranoid=1`, run "
                        "Lanescope as root, or leave out --sampling-period and --cpuctxsw=none"));
}

/* Says that system calls are not recorded, if they are not. */
static void
tell_no_calls (const Listener *listener)
{
  const LnsCpuSampling *sampling = listener->sampling;
  if (sampling->options.events.syscalls &&
      !(lns_cpu_events_have (&sampling->events, LNS_TRACEPOINT_SYSCALL_ENTER) &&
        lns_cpu_events_have (&sampling->events, LNS_TRACEPOINT_SYSCALL_EXIT)))
    tell (listener, "LNS-CPU-009",
          LNS_SENTENCE ("system calls are not recorded, as the kernel tells of them to root alone; "
                        "run Lanescope as root (`docker run --privileged`), or record calls of the "
                        "C library with --trace=osrt"));
}

static void
make_stacks (LnsCpuSampling *sampling)
{
  const LnsCpuEventsOptions *options = &sampling->options.events;
  if (options->samples && (options->callers & LNS_CPU_STACKS))
    sampling->records.stacks = lns_stacks_new (sampling->events.machine);
}

/* Starts the threads that read the events, which are open. */
static void
start (const Listener *listener)
{
  const int failed = start_threads (listener->sampling);
  if (failed == 0)
    return;
  tell (listener, "LNS-CPU-004",
        LNS_SENTENCE ("CPU samples and thread scheduling are not recorded, as Lanescope cannot "
                      "start another thread (%s); raise `ulimit -u` or `ulimit -v`"),
        strerror (failed));
  lns_cpu_events_close (&listener->sampling->events);
}

void
lns_cpu_sampling_begin (
    LnsCpuSampling *sampling, pid_t pid, uint32_t process, LnsCpuSay say, void *data)
{
  const LnsCpuEventsOptions *events = &sampling->options.events;
  const Listener listener = { sampling, say, data };
  LnsCpuEventsStep step;
  if (!events->samples && !events->switches && !events->syscalls)
    return;
  const int failed =
      lns_cpu_events_open (&sampling->events, events, pid, sampling->is_paused, &step);
  if (failed != 0)
    {
      tell_refusal (&listener, failed, step);
      return;
    }
  lns_cpu_records_hide (&sampling->records, lns_cpu_events_hidden_ns (&sampling->events, events));
  tell_rate (&listener);
  tell_no_calls (&listener);
  tell_hidden (&listener);
  lns_family_add_root (&sampling->records.family, pid, process);
  make_stacks (sampling);
  start (&listener);
}

/* --- Programs that run already ---------------------------------------------------------------- */

/* Identifies the file of MAPPING, which PID has mapped: by its build-id, or by its device and inode. */
static void
identify (int32_t pid, LnsCpuMapping *mapping, uint8_t ret_identity[static LNS_FILE_IDENTITY_BYTES])
{
  char path[4096 + 64];
  struct stat status;
  uint32_t device[2];
  uint64_t inode;
  memset (ret_identity, 0, LNS_FILE_IDENTITY_BYTES);
  if (mapping->path[0] != '/')
    return;
  /* As the process sees it, which may have another root folder. */
  snprintf (path, sizeof path, "/proc/%d/root%s", pid, mapping->path);
  mapping->n_build_id = (uint8_t)lns_build_id_read (path, mapping->build_id);
  if (mapping->n_build_id > 0)
    {
      ret_identity[0] = mapping->n_build_id;
      memcpy (ret_identity + 4, mapping->build_id, mapping->n_build_id);
    }
  else if (stat (path, &status) == 0)
    {
      device[0] = major (status.st_dev);
      device[1] = minor (status.st_dev);
      inode = status.st_ino;
      memcpy (ret_identity, device, sizeof device);
      memcpy (ret_identity + sizeof device, &inode, sizeof inode);
    }
}

/* A process that is being adopted. */
typedef struct
{
  LnsCpuSampling *sampling;
  LnsRelative *relative;
  LnsCpuRecordIds ids;
} Adopted;

/* Hands on what RELATIVE had mapped before. The kernel tells of later mappings alone. */
static void
adopt_code (void *data, const LnsMappedCode *code)
{
  const Adopted *adopted = data;
  uint8_t identity[LNS_FILE_IDENTITY_BYTES];
  LnsCpuMadeMapping made = { 0 };
  LnsCpuMapping *mapping = &made.mapping;
  char *path = (char *)mapping + offsetof (LnsCpuMapping, path);
  if (code->start >= LNS_CPU_KERNEL_START)
    return;
  mapping->start = code->start;
  mapping->end = code->end;
  mapping->file_offset = code->file_offset;
  /* The kernel's name for code without a file */
  snprintf (path, sizeof made.path, "%s", code->path[0] != '\0' ? code->path : "//anon");
  identify (adopted->relative->pid, mapping, identity);
  lns_cpu_records_map (&adopted->sampling->records, adopted->relative, mapping, identity,
                       &adopted->ids);
}

/* Adds PROCESS to the session as it was at BEGIN_NS: its program, its threads and what it has mapped. */
static void
adopt (LnsCpuSampling *sampling, const LnsCpuAttached *process, int64_t begin_ns)
{
  /* With threads of which nothing is known, its end is not seen either. */
  const unsigned n_threads = (unsigned)process->tids.n + process->n_left_out;
  LnsRelative *relative =
      lns_family_attach (&sampling->records.family, process->pid, n_threads, begin_ns);
  if (relative == NULL || relative->process == LNS_ID_NONE)
    return;
  Adopted adopted = { sampling, relative, { .time_ns = begin_ns } };
  adopted.ids.tid = lns_family_own_tid (relative, (uint32_t)relative->pid);
  if (process->tids.n > 0)
    lns_mapped_code_read (relative->pid, adopt_code, &adopted);
  for (size_t i = 0; i < process->tids.n; i++)
    {
      LnsProcessInfo thread; /* which /proc has of threads, too */
      LnsCpuRecordIds ids = adopted.ids;
      lns_process_info_begin (process->tids.items[i], &thread);
      ids.tid = lns_family_own_tid (relative, (uint32_t)process->tids.items[i]);
      if (thread.name != NULL)
        lns_cpu_records_put (&sampling->records, LNS_CPU_NAME, relative->process, &ids,
                             LNS_CPU_SAME_PROGRAM, thread.name, strlen (thread.name) + 1);
      ids.time_ns = thread.start_ns;
      if (thread.start_ns != INT64_MIN)
        lns_cpu_records_put (&sampling->records, LNS_CPU_FORK, relative->process, &ids, 0, NULL, 0);
      lns_process_info_clear (&thread);
    }
}

/* Says which processes and threads are not recorded. */
static void
tell_left_out (const Listener *listener, const LnsCpuAttachment *attachment)
{
  unsigned n_refused = 0;
  for (size_t i = 0; i < attachment->processes.n; i++)
    if (attachment->processes.items[i].failed != 0 && n_refused++ < MOST_REFUSED)
      tell (listener, "LNS-CPU-007",
            LNS_SENTENCE ("process %d is not sampled, as the kernel denies access to it (%s); run "
                          "Lanescope as the user of the process, or as root"),
            attachment->processes.items[i].pid, strerror (attachment->processes.items[i].failed));
  if (n_refused > MOST_REFUSED)
    tell (listener, "LNS-CPU-007",
          LNS_SENTENCE ("further processes are not sampled, for the same reason: %u"),
          n_refused - MOST_REFUSED);
  if (attachment->n_left_out > 0)
    tell (
        listener, "LNS-CPU-008",
        LNS_SENTENCE ("not all threads are sampled, as Lanescope may open no more files (%s), and "
                      "each thread takes some for each CPU; %u left out; raise `ulimit -n`"),
        strerror (attachment->failed_last), attachment->n_left_out);
}

void
lns_cpu_sampling_attach (LnsCpuSampling *sampling, const LnsPids *pids, LnsCpuSay say, void *data)
{
  LnsCpuEventsOptions *options = &sampling->options.events;
  const Listener listener = { sampling, say, data };
  const bool is_asked_for = options->samples || options->switches || options->syscalls;
  const int64_t begin_ns = lns_monotonic_ns ();
  LnsCpuAttachment attachment = { 0 };
  int failed = 0;
  options->runs_already = true;
  sampling->records.is_attached = true;
  if (is_asked_for)
    failed = lns_cpu_attach (&attachment, &sampling->events, options, pids, sampling->is_paused);
  else
    lns_cpu_attachment_list (&attachment, pids);
  sampling->records.owners = attachment.owners;
  sampling->order = attachment.order;
  if (sampling->order != NULL)
    make_stacks (sampling);
  for (size_t i = 0; i < attachment.processes.n; i++)
    adopt (sampling, &attachment.processes.items[i], begin_ns);
  lns_cpu_records_post (&sampling->records, begin_ns);
  if (failed != 0)
    tell_refusal (&listener, failed, attachment.failed);
  else
    tell_left_out (&listener, &attachment);
  if (sampling->order != NULL)
    {
      lns_cpu_records_hide (&sampling->records,
                            lns_cpu_events_hidden_ns (&sampling->events, options));
      tell_rate (&listener);
      tell_no_calls (&listener);
      tell_hidden (&listener);
      start (&listener);
    }
  lns_cpu_attachment_clear (&attachment);
}

/* --- From other threads ----------------------------------------------------------------------- */

void
lns_cpu_sampling_set_recording (LnsCpuSampling *sampling, bool recording)
{
  pthread_mutex_lock (&sampling->lock);
  if (sampling->is_paused == recording)
    {
      sampling->is_paused = !recording;
      if (sampling->has_thread)
        lns_cpu_events_set_paused (&sampling->events, !recording);
      if (!recording)
        sampling->paused_ns = lns_monotonic_ns ();
    }
  pthread_mutex_unlock (&sampling->lock);
}

/* Waits for NS, but no longer than until the records of the turn ASKED are in the mailbox. Under the lock. */
static void
wait_until_drained (LnsCpuSampling *sampling, uint64_t asked, int64_t ns)
{
  const int64_t until_ns = lns_monotonic_ns () + ns;
  const struct timespec until = { until_ns / 1000000000, until_ns % 1000000000 };
  while (sampling->n_drained < asked &&
         pthread_cond_timedwait (&sampling->settled, &sampling->lock, &until) == 0)
    ;
}

void
lns_cpu_sampling_drain (LnsCpuSampling *sampling, int64_t ns)
{
  if (!sampling->has_thread)
    return;
  pthread_mutex_lock (&sampling->lock);
  const uint64_t asked = ++sampling->n_asked;
  eventfd_write (sampling->wake_fd, 1); /* fails only where it is readable already */
  wait_until_drained (sampling, asked, ns);
  atomic_store (&sampling->records.is_hurried, sampling->n_drained < asked);
  wait_until_drained (sampling, asked, ns * HURRIED);
  atomic_store (&sampling->records.is_hurried, false);
  pthread_mutex_unlock (&sampling->lock);
}

void
lns_cpu_sampling_unreached (LnsCpuSampling *sampling,
                            LnsUnreached *ret_os_calls,
                            LnsUnreached *ret_cuda,
                            LnsUnreached *ret_kernel)
{
  lns_reach_get (&sampling->records.family.reach, ret_os_calls, ret_cuda, ret_kernel);
  if (sampling->records.is_attached)
    *ret_os_calls = *ret_cuda = (LnsUnreached){ 0 };
}

void
lns_cpu_sampling_stop (LnsCpuSampling *sampling)
{
  if (sampling == NULL || !sampling->has_thread)
    return;
  pthread_mutex_lock (&sampling->lock);
  sampling->is_stopping = true;
  pthread_mutex_unlock (&sampling->lock);
  eventfd_write (sampling->wake_fd, 1);
  pthread_join (sampling->thread, NULL);
  eventfd_write (sampling->end_fd, 1);
  pthread_join (sampling->collector, NULL);
  sampling->has_thread = false;
}

void
lns_cpu_sampling_free (LnsCpuSampling *sampling)
{
  if (sampling == NULL)
    return;
  lns_cpu_order_free (sampling->order);
  lns_cpu_events_close (&sampling->events);
  lns_cpu_records_clear (&sampling->records);
  if (sampling->wake_fd >= 0)
    close (sampling->wake_fd);
  if (sampling->end_fd >= 0)
    close (sampling->end_fd);
  pthread_cond_destroy (&sampling->settled);
  pthread_mutex_destroy (&sampling->lock);
  free (sampling);
}
