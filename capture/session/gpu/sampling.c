/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/gpu/sampling.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/session/decode/gpu/gpu.h"
#include "src/base/array.h"
#include "capture/wire/patience.h"
#include "src/base/language.h"
#include "src/base/memory.h"
#include "src/base/monotonic.h"

/* What the recorder may be behind by, and how often to see whether it still is. Until then, what the sampler says is left with
 * it, and at last with the GPU, which overwrites it and is asked how much that was. */
#define WAITING_BYTES ((size_t)64 << 20)
#define BEHIND_MS     50

/* Why hardware counters are not sampled. */
typedef struct
{
  const char *code; /* static */
  char text[LNS_GPU_FAILURE_BYTES];
} Failure;

struct LnsGpuSampling
{
  LnsGpuSamplingOptions options;
  LnsMailbox *mailbox;
  pthread_mutex_t lock;
  pthread_t thread;
  bool has_thread, is_stopping;        /* under the lock */
  bool is_paused;                      /* under the lock */
  bool is_pause_told;                  /* of the thread: the sampler knows it … */
  bool is_state_told;                  /* … or that it is to begin at once */
  LNS_ARRAY (LnsWireGpuWanted) wanted; /* under the lock */
  size_t n_asked;                      /* of them: those that the sampler knows */
  LNS_ARRAY (Failure) failures;        /* under the lock: of hardware counters */
  bool is_ready;                       /* under the lock: it is known what can be sampled */
  bool is_drained;                     /* under the lock: the sampler has sent all that it had */
  bool has_ended;                      /* under the lock: the sampler has */
  pthread_cond_t settled;              /* one of these is */
  int wake_fd;                         /* an eventfd, after is_stopping or `wanted` changed */
  int fd;                              /* of the thread: the socket to the sampler; -1: none */
  atomic_size_t n_waiting_bytes;       /* of messages that are not recorded yet */
  bool has_told;                       /* of the thread: a diagnostic says what is missing */
};

/* --- What the sampler says -------------------------------------------------------------------- */

static void
post (LnsGpuSampling *sampling, LnsBatchEvent event)
{
  lns_mailbox_add (sampling->mailbox, &event);
}

/* The severity of something that is missing because of the machine: a GPU may be used without NVML. */
static LnsSeverity
severity (const LnsGpuSampling *sampling)
{
  return sampling->options.is_asked_for ? LNS_SEVERITY_WARNING : LNS_SEVERITY_INFO;
}

static void
tell_failure (LnsGpuSampling *sampling, const LnsWireGpuFailure *failure)
{
  sampling->has_told = true;
  switch ((LnsWireGpuCause)failure->cause)
    {
    case LNS_WIRE_GPU_NO_LIBRARY:
      post (sampling,
            lns_batch_diagnostic (
                LNS_ID_NONE, "LNS-GPU-001", severity (sampling),
                "power, clocks and temperature of GPUs are not recorded, as NVIDIA's management "
                "library cannot be loaded (%s); install the driver's libnvidia-ml.so.1, or in a "
                "container add `utility` to NVIDIA_DRIVER_CAPABILITIES",
                failure->text));
      break;
    case LNS_WIRE_GPU_NO_NVML:
      post (sampling,
            lns_batch_diagnostic (
                LNS_ID_NONE, "LNS-GPU-002", severity (sampling),
                "power, clocks and temperature of GPUs are not recorded, as NVIDIA's management "
                "library cannot be initialised (%s, NVML error %d); `nvidia-smi` says whether the "
                "driver works",
                failure->text, (int)failure->result));
      break;
    case LNS_WIRE_GPU_UNKNOWN:
      post (sampling,
            lns_batch_diagnostic (
                LNS_ID_NONE, "LNS-GPU-002", severity (sampling),
                "power, clocks and temperature of GPU %s are not recorded, as NVIDIA's management "
                "library has none of it (%s, NVML error %d); `nvidia-smi -q` shows what it has",
                failure->bus, failure->text, (int)failure->result));
      break;
    case LNS_WIRE_GPU_LOST:
      post (sampling, lns_batch_diagnostic (
                          LNS_ID_NONE, "LNS-GPU-003", LNS_SEVERITY_WARNING,
                          "GPU %s stopped answering (%s, NVML error %d), so its power, clocks and "
                          "temperature are recorded until then; `dmesg | grep Xid` says why",
                          failure->bus, failure->text, (int)failure->result));
      break;
    default:
      break;
    }
}

/* Keeps a failure of hardware counters for who waits for it. What is said of several GPUs in the same words is kept once. */
static void
keep_failure (LnsGpuSampling *sampling, const char *code, const char *text)
{
  pthread_mutex_lock (&sampling->lock);
  size_t i = 0;
  while (i < sampling->failures.n && strcmp (sampling->failures.items[i].text, text) != 0)
    i++;
  Failure *failure = i == sampling->failures.n ? lns_array_try_add (&sampling->failures) : NULL;
  if (failure != NULL)
    {
      failure->code = code;
      snprintf (failure->text, sizeof failure->text, "%s", text);
    }
  pthread_mutex_unlock (&sampling->lock);
}

/* Sets a FLAG of SAMPLING that is awaited. */
static void
settle (LnsGpuSampling *sampling, bool *flag)
{
  pthread_mutex_lock (&sampling->lock);
  *flag = true;
  pthread_cond_broadcast (&sampling->settled);
  pthread_mutex_unlock (&sampling->lock);
}

/* Whether MESSAGE of KIND, which is not a failure, has the N_BYTES that it must have. RET_TIME_NS gets the time of its samples,
 * INT64_MIN if it has none. */
static bool
is_whole (uint32_t kind, const LnsWireGpuMessage *message, size_t n_bytes, int64_t *ret_time_ns)
{
  const LnsWireGpuBatch *batch = &message->batch;
  *ret_time_ns = INT64_MIN;
  switch ((LnsWireGpuKind)kind)
    {
    case LNS_WIRE_GPU_FOUND:
    case LNS_WIRE_GPU_FOUND_COUNTERS:
      return n_bytes == sizeof message->found;
    case LNS_WIRE_GPU_COUNTER:
      return n_bytes == sizeof message->counter;
    case LNS_WIRE_GPU_SAMPLE:
      *ret_time_ns = message->sample.time_ns;
      return n_bytes == sizeof message->sample;
    case LNS_WIRE_GPU_BATCH:
      if (n_bytes < offsetof (LnsWireGpuBatch, words) || batch->n_samples == 0 ||
          batch->n_samples > LNS_WIRE_GPU_BATCH_WORDS ||
          batch->n_metrics > LNS_WIRE_GPU_MAX_METRICS)
        return false;
      *ret_time_ns = (int64_t)batch->words[0];
      return n_bytes == offsetof (LnsWireGpuBatch, words) + (uint64_t)batch->n_samples *
                                                                (1 + batch->n_metrics) *
                                                                sizeof batch->words[0];
    default:
      return false;
    }
}

/* Handles a MESSAGE of N_BYTES. Its texts and numbers may be anything. */
static void
take (LnsGpuSampling *sampling, LnsWireGpuMessage *message, size_t n_bytes)
{
  const uint32_t kind = n_bytes >= sizeof message->head ? message->head.kind : 0;
  const bool is_failure = kind == LNS_WIRE_GPU_FAILURE && n_bytes == sizeof message->failure;
  LnsBatchEvent event = { .kind = LNS_BATCH_GPU, .time_ns = INT64_MIN };
  if (kind == LNS_WIRE_GPU_READY)
    settle (sampling, &sampling->is_ready);
  else if (kind == LNS_WIRE_GPU_DRAINED)
    settle (sampling, &sampling->is_drained);
  if (is_failure)
    {
      char text[LNS_GPU_FAILURE_BYTES];
      message->failure.bus[sizeof message->failure.bus - 1] = '\0';
      message->failure.text[sizeof message->failure.text - 1] = '\0';
      const char *code = lns_gpu_failure_text (&message->failure, text);
      if (code == NULL)
        {
          tell_failure (sampling, &message->failure);
          return;
        }
      sampling->has_told = true;
      keep_failure (sampling, code, text);
    }
  if (!is_failure && !is_whole (kind, message, n_bytes, &event.time_ns))
    return;
  event.gpu = malloc (n_bytes);
  if (event.gpu == NULL)
    return;
  memcpy (event.gpu, message, n_bytes);
  event.n_gpu_bytes = n_bytes;
  event.waiting = &sampling->n_waiting_bytes;
  atomic_fetch_add (&sampling->n_waiting_bytes, n_bytes);
  post (sampling, event);
}

/* --- The sampler ------------------------------------------------------------------------------ */

/* The environment without what would be loaded into each program, or NULL if memory is short. The array is the caller's. */
static char **
sampler_environment (void)
{
  size_t n = 0, n_kept = 0;
  while (environ[n] != NULL)
    n++;
  char **kept = malloc ((n + 1) * sizeof *kept);
  if (kept == NULL)
    return NULL;
  for (size_t i = 0; i < n; i++)
    if (strncmp (environ[i], "LD_PRELOAD=", strlen ("LD_PRELOAD=")) != 0)
      kept[n_kept++] = environ[i];
  kept[n_kept] = NULL;
  return kept;
}

/* Runs the sampler with FD as its socket. It gets no terminal and is in a group of its own, so that Ctrl-C is not for it.
 * Returns 0 or an errno. */
static int
spawn (const LnsGpuSampling *sampling, int fd)
{
  char hz[16];
  const LnsGpuSamplingOptions *options = &sampling->options;
  char *const environment_argv[] = { (char *)options->program, hz, NULL };
  char *const metrics_argv[] = { (char *)options->program,
                                 (char *)LNS_WIRE_GPU_METRICS_MODE,
                                 hz,
                                 (char *)options->set,
                                 (char *)options->devices,
                                 (char *)options->cupti,
                                 NULL };
  char *const *argv = options->devices != NULL ? metrics_argv : environment_argv;
  char **variables = sampler_environment ();
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  pid_t pid;
  if (variables == NULL)
    return ENOMEM;
  snprintf (hz, sizeof hz, "%u", sampling->options.hz);
  sigemptyset (&none);
  sigfillset (&all);
  posix_spawnattr_init (&attributes);
  posix_spawnattr_setflags (&attributes,
                            POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setsigmask (&attributes, &none);
  posix_spawnattr_setsigdefault (&attributes, &all);
  posix_spawn_file_actions_init (&actions);
  posix_spawn_file_actions_adddup2 (&actions, fd, LNS_WIRE_GPU_SOCKET);
  for (int standard = 0; standard < 3; standard++)
    posix_spawn_file_actions_addopen (&actions, standard, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_addclosefrom_np (&actions, LNS_WIRE_GPU_SOCKET + 1);
  const int failed = posix_spawn (&pid, argv[0], &actions, &attributes, argv, variables);
  posix_spawn_file_actions_destroy (&actions);
  posix_spawnattr_destroy (&attributes);
  free (variables);
  return failed;
}

/* Starts the sampler. Returns 0 or an errno. */
static int
start (LnsGpuSampling *sampling)
{
  int fds[2];
  if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
    return errno;
  const int failed = spawn (sampling, fds[1]);
  close (fds[1]);
  if (failed != 0)
    close (fds[0]);
  else
    sampling->fd = fds[0];
  return failed;
}

/* Tells the sampler of the GPUs that it does not know. Returns false when it is to end. */
static bool
ask (LnsGpuSampling *sampling)
{
  eventfd_t count;
  eventfd_read (sampling->wake_fd, &count); /* fails only where it is not readable */
  pthread_mutex_lock (&sampling->lock);
  const LnsWireGpuWanted pause = { .request = sampling->is_paused ? LNS_WIRE_GPU_PAUSE
                                                                  : LNS_WIRE_GPU_GO_ON };
  if ((sampling->is_paused != sampling->is_pause_told || !sampling->is_state_told) &&
      send (sampling->fd, &pause, sizeof pause, MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
    {
      sampling->is_pause_told = sampling->is_paused;
      sampling->is_state_told = true;
    }
  for (; sampling->n_asked < sampling->wanted.n; sampling->n_asked++)
    if (send (sampling->fd, &sampling->wanted.items[sampling->n_asked], sizeof (LnsWireGpuWanted),
              MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
      break; /* it has ended */
  const bool goes_on = !sampling->is_stopping;
  pthread_mutex_unlock (&sampling->lock);
  return goes_on;
}

static void
tell_ended (LnsGpuSampling *sampling)
{
  if (sampling->options.devices != NULL)
    post (sampling, lns_batch_diagnostic (
                        LNS_ID_NONE, "LNS-GPU-004", LNS_SEVERITY_WARNING,
                        "GPU metrics are not recorded from here on, as %s ended; CUPTI or the "
                        "driver may have crashed: try another CUPTI with --cupti-path",
                        LNS_WIRE_GPU_PROGRAM));
  else
    post (sampling,
          lns_batch_diagnostic (
              LNS_ID_NONE, "LNS-GPU-004", severity (sampling),
              "power, clocks and temperature of GPUs are not recorded from here on, as %s "
              "ended; run `%s 10` to see whether it can run here",
              LNS_WIRE_GPU_PROGRAM, sampling->options.program));
}

/* Hears the sampler until it ends, or until it is to end. */
static void
listen_to (LnsGpuSampling *sampling)
{
  const int64_t end_ns = lns_patience ().sampler_end_ns;
  int64_t until_ns = INT64_MAX;
  for (;;)
    {
      LnsWireGpuMessage message;
      struct pollfd fds[] = { { .fd = sampling->fd, .events = POLLIN },
                              { .fd = sampling->wake_fd, .events = POLLIN } };
      const int64_t left_ns = until_ns == INT64_MAX ? 0 : until_ns - lns_monotonic_ns ();
      if (left_ns < 0)
        return;
      if (until_ns == INT64_MAX && !ask (sampling))
        {
          until_ns = lns_monotonic_ns () + end_ns;
          shutdown (sampling->fd, SHUT_WR);
        }
      const bool is_behind =
          until_ns == INT64_MAX && atomic_load (&sampling->n_waiting_bytes) > WAITING_BYTES;
      if (is_behind)
        fds[0].events = 0;
      poll (fds, until_ns == INT64_MAX ? 2 : 1,
            is_behind               ? BEHIND_MS
            : until_ns == INT64_MAX ? -1
                                    : (int)(end_ns / 1000000));
      if (fds[0].revents == 0)
        continue;
      const ssize_t n = recv (sampling->fd, &message, sizeof message, 0);
      if (n > 0)
        take (sampling, &message, (size_t)n);
      /* A sampler that ends before it has read all resets the connection. That is told once, before what it said last. */
      else if (n == 0 || (errno != EINTR && errno != ECONNRESET))
        {
          if (until_ns == INT64_MAX && !sampling->has_told)
            tell_ended (sampling);
          return;
        }
    }
}

static void *
run (void *data)
{
  LnsGpuSampling *sampling = data;
  lns_text_stay_english (); /* what fails here is told in the report, too */
  const int failed = start (sampling);
  if (failed != 0)
    {
      if (sampling->options.devices != NULL)
        post (sampling, lns_batch_diagnostic (
                            LNS_ID_NONE, "LNS-GPU-004", LNS_SEVERITY_WARNING,
                            "GPU metrics are not recorded, as %s cannot be started (%s); install "
                            "all of Lanescope",
                            sampling->options.program, strerror (failed)));
      else
        post (sampling, lns_batch_diagnostic (
                            LNS_ID_NONE, "LNS-GPU-004", severity (sampling),
                            "power, clocks and temperature of GPUs are not recorded, as %s cannot "
                            "be started (%s); install all of Lanescope",
                            sampling->options.program, strerror (failed)));
      settle (sampling, &sampling->has_ended);
      return NULL;
    }
  listen_to (sampling);
  settle (sampling, &sampling->has_ended);
  close (sampling->fd);
  return NULL;
}

/* --- From other threads ----------------------------------------------------------------------- */

LnsGpuSampling *
lns_gpu_sampling_new (const LnsGpuSamplingOptions *options, LnsMailbox *mailbox)
{
  LnsGpuSampling *sampling = lns_calloc (1, sizeof *sampling);
  sampling->options = *options;
  sampling->options.program = lns_strdup (options->program);
  sampling->options.set = sampling->options.cupti = NULL;
  if (options->devices != NULL)
    {
      sampling->options.devices = lns_strdup (options->devices);
      sampling->options.set = lns_strdup (options->set);
      sampling->options.cupti = lns_strdup (options->cupti);
    }
  sampling->mailbox = mailbox;
  sampling->fd = -1;
  sampling->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  pthread_mutex_init (&sampling->lock, NULL);
  pthread_condattr_t monotonic;
  pthread_condattr_init (&monotonic);
  pthread_condattr_setclock (&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init (&sampling->settled, &monotonic);
  return sampling;
}

/* Starts the thread, without which a program that uses no GPU is recorded. Call it under the lock. */
static void
start_thread (LnsGpuSampling *sampling)
{
  sigset_t all, old;
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &old);
  const int failed =
      sampling->wake_fd >= 0 ? pthread_create (&sampling->thread, NULL, run, sampling) : EMFILE;
  pthread_sigmask (SIG_SETMASK, &old, NULL);
  sampling->has_thread = failed == 0;
  if (failed == 0)
    return;
  sampling->is_stopping = true;
  post (sampling, lns_batch_diagnostic (LNS_ID_NONE, "LNS-GPU-004", LNS_SEVERITY_WARNING,
                                        "GPUs are not sampled, as Lanescope cannot start another "
                                        "thread (%s)",
                                        strerror (failed)));
}

void
lns_gpu_sampling_add (LnsGpuSampling *sampling, const char *bus)
{
  pthread_mutex_lock (&sampling->lock);
  size_t i = 0;
  while (i < sampling->wanted.n && strcmp (sampling->wanted.items[i].bus, bus) != 0)
    i++;
  LnsWireGpuWanted *wanted =
      i == sampling->wanted.n && i < LNS_WIRE_GPU_MAX && !sampling->is_stopping
          ? lns_array_try_add (&sampling->wanted)
          : NULL;
  if (wanted != NULL)
    {
      *wanted = (LnsWireGpuWanted){ .request = LNS_WIRE_GPU_ADD };
      snprintf (wanted->bus, sizeof wanted->bus, "%s", bus);
      if (!sampling->has_thread && !sampling->is_paused)
        start_thread (sampling);
      eventfd_write (sampling->wake_fd, 1); /* fails only where it is readable already */
    }
  pthread_mutex_unlock (&sampling->lock);
}

/* A pthread_cond_timedwait () until NS from now. */
static struct timespec
deadline (int64_t ns)
{
  const int64_t at_ns = lns_monotonic_ns () + ns;
  return (struct timespec){ at_ns / 1000000000, at_ns % 1000000000 };
}

void
lns_gpu_sampling_begin (LnsGpuSampling *sampling, int64_t ns, LnsGpuSay say, void *data)
{
  const struct timespec until = deadline (ns);
  pthread_mutex_lock (&sampling->lock);
  if (!sampling->has_thread && !sampling->is_stopping)
    start_thread (sampling);
  while (sampling->has_thread && !sampling->is_ready && !sampling->has_ended &&
         pthread_cond_timedwait (&sampling->settled, &sampling->lock, &until) == 0)
    ;
  const bool is_late = sampling->has_thread && !sampling->is_ready && !sampling->has_ended;
  for (size_t i = 0; i < sampling->failures.n; i++)
    say (data, LNS_SEVERITY_WARNING, sampling->failures.items[i].code,
         sampling->failures.items[i].text);
  pthread_mutex_unlock (&sampling->lock);
  if (is_late && sampling->options.devices == NULL)
    post (sampling, lns_batch_diagnostic (
                        LNS_ID_NONE, "LNS-GPU-014", severity (sampling),
                        "power, clocks and temperature of GPUs are not known, as NVIDIA's "
                        "management library did not answer within %d seconds; `nvidia-smi` says "
                        "whether a GPU does not answer",
                        (int)(ns / 1000000000)));
  else if (is_late)
    post (sampling, lns_batch_diagnostic (
                        LNS_ID_NONE, "LNS-GPU-014", LNS_SEVERITY_WARNING,
                        "GPU metrics begin later than the program, if at all, as CUPTI or the "
                        "driver took more than %d seconds to begin; `nvidia-smi` says whether a "
                        "GPU does not answer",
                        (int)(ns / 1000000000)));
}

void
lns_gpu_sampling_drain (LnsGpuSampling *sampling, int64_t ns)
{
  const struct timespec until = deadline (ns);
  pthread_mutex_lock (&sampling->lock);
  const bool was_recording =
      !sampling->is_paused && sampling->is_ready && sampling->has_thread && !sampling->has_ended;
  if (was_recording)
    {
      sampling->is_paused = true;
      sampling->is_drained = false;
      eventfd_write (sampling->wake_fd, 1); /* fails only where it is readable already */
    }
  while (was_recording && !sampling->is_drained && !sampling->has_ended &&
         pthread_cond_timedwait (&sampling->settled, &sampling->lock, &until) == 0)
    ;
  const bool is_late = was_recording && !sampling->is_drained && !sampling->has_ended;
  pthread_mutex_unlock (&sampling->lock);
  if (is_late)
    post (sampling, lns_batch_diagnostic (
                        LNS_ID_NONE, "LNS-GPU-015", LNS_SEVERITY_WARNING,
                        "GPU metrics end before the report, as the sampler was behind, or a GPU "
                        "does not answer; record with a lower --gpu-metrics-frequency"));
}

void
lns_gpu_sampling_set_recording (LnsGpuSampling *sampling, bool recording)
{
  pthread_mutex_lock (&sampling->lock);
  sampling->is_paused = !recording;
  if (recording && sampling->wanted.n > 0 && !sampling->has_thread && !sampling->is_stopping)
    start_thread (sampling);
  eventfd_write (sampling->wake_fd, 1); /* fails only where it is readable already */
  pthread_mutex_unlock (&sampling->lock);
}

void
lns_gpu_sampling_stop (LnsGpuSampling *sampling)
{
  if (sampling == NULL)
    return;
  pthread_mutex_lock (&sampling->lock);
  sampling->is_stopping = true;
  pthread_mutex_unlock (&sampling->lock);
  eventfd_write (sampling->wake_fd, 1);
  if (sampling->has_thread)
    pthread_join (sampling->thread, NULL);
  sampling->has_thread = false;
}

void
lns_gpu_sampling_free (LnsGpuSampling *sampling)
{
  if (sampling == NULL)
    return;
  if (sampling->wake_fd >= 0)
    close (sampling->wake_fd);
  lns_array_clear (&sampling->wanted);
  lns_array_clear (&sampling->failures);
  pthread_cond_destroy (&sampling->settled);
  pthread_mutex_destroy (&sampling->lock);
  free ((char *)sampling->options.program);
  free ((char *)sampling->options.devices);
  free ((char *)sampling->options.set);
  free ((char *)sampling->options.cupti);
  free (sampling);
}

bool
lns_gpu_sampling_list (const char *program)
{
  int status = 1;
  fflush (stdout);
  const pid_t pid = fork ();
  if (pid == 0)
    {
      execl (program, LNS_WIRE_GPU_PROGRAM, LNS_WIRE_GPU_LIST_MODE, NULL);
      _exit (127);
    }
  while (pid > 0 && waitpid (pid, &status, 0) < 0 && errno == EINTR)
    ;
  return pid > 0 && WIFEXITED (status) && WEXITSTATUS (status) == 0;
}
