/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* lanescope-sampler metrics HZ SET GPUS CUPTI: samples the hardware counters of GPUs, each on a thread of its own, so that one
 * that does not answer does not delay the others. */

#include "capture/sampler/counters.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "capture/sampler/cupti.h"
#include "capture/sampler/pm-sampling.h"
#include "capture/sampler/tell.h"

/* Samples wait in the GPU for so long, or for as long as one takes. */
#define READ_NS     INT64_C (10000000)
#define READ_MAX_NS INT64_C (100000000)

/* What a conversion between two clocks may be off by. Times that are further off than this are wrong altogether. */
#define CLOCK_NS INT64_C (1000000)

/* The time that the threads have to read the last samples when the session ends: less than what the session waits. */
#define END_NS INT64_C (350000000)

typedef struct
{
  LnsPmOptions options;
  LnsPmSampling *sampling;
  uint32_t number; /* NVML's */
  char bus[32];
  LnsWireGpuBatch batch;      /* samples that are not sent yet */
  int64_t began_ns, asked_ns; /* before the last start, after the last reading began */
  bool is_first;              /* the next sample is the first one after a start */
  bool is_wrong;              /* the times of a sample are */
  char wrong[128];            /* these */
  bool is_settled;            /* it is known whether it can be sampled */
  int64_t end_ns;             /* of the last sample; 0: a gap after it is no loss */
  int64_t early_ns, late_ns;
} Gpu;

static pthread_mutex_t setup_lock = PTHREAD_MUTEX_INITIALIZER; /* CUPTI opens one GPU at a time */
static pthread_mutex_t state_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t state_changed;
static bool is_paused = true, is_told, is_ending; /* under state_lock, as the next */
static unsigned n_running, n_unsettled, n_sampling;

/* --- Samples ---------------------------------------------------------------------------------- */

static void
send_batch (Gpu *gpu)
{
  LnsWireGpuBatch *batch = &gpu->batch;
  const size_t n_words = (size_t)batch->n_samples * (1 + batch->n_metrics);
  batch->early_ns = gpu->early_ns;
  batch->late_ns = gpu->late_ns;
  if (n_words > 0)
    lns_sampler_tell (batch, offsetof (LnsWireGpuBatch, words) + n_words * sizeof (uint64_t));
  batch->n_samples = 0;
  batch->n_lost = 0;
}

/* Times are CUPTI's: it converts those of the GPU to our clock (see clock_ns ()), by readings of both. A sample was taken after
 * the call that began sampling, and before the call returns that reads it: whatever is outside of that is wrong, and what is
 * inside bounds the error on both sides. */
static bool
check_times (Gpu *gpu, const LnsPmSample *sample)
{
  const int64_t now_ns = lns_sampler_now_ns ();
  const int64_t late_ns = sample->start_ns - gpu->began_ns;
  const int64_t early_ns = now_ns - sample->end_ns;
  if (sample->end_ns <= sample->start_ns || late_ns < -CLOCK_NS || early_ns < -CLOCK_NS)
    return false;
  if (gpu->is_first && late_ns < gpu->late_ns)
    gpu->late_ns = late_ns > 0 ? late_ns : 0;
  if (early_ns < gpu->early_ns)
    gpu->early_ns = early_ns > 0 ? early_ns : 0;
  return true;
}

/* Counts what is missing before SAMPLE: the buffer in the GPU overwrites samples that are not read in time. */
static void
count_lost (Gpu *gpu, const LnsPmSample *sample)
{
  const int64_t gap_ns = sample->start_ns - gpu->end_ns;
  const int64_t period_ns = sample->end_ns - sample->start_ns;
  if (gpu->end_ns == 0 || gap_ns <= period_ns / 2)
    return;
  send_batch (gpu);
  gpu->batch.n_lost = (uint64_t)((gap_ns + period_ns / 2) / period_ns);
  gpu->batch.lost_from_ns = gpu->end_ns;
}

static void
take_sample (void *data, const LnsPmSample *sample)
{
  Gpu *gpu = data;
  LnsWireGpuBatch *batch = &gpu->batch;
  if (!gpu->is_wrong && !check_times (gpu, sample))
    {
      gpu->is_wrong = true;
      snprintf (gpu->wrong, sizeof gpu->wrong,
                "%" PRId64 " to %" PRId64 " ns, of sampling from %" PRId64 " to %" PRId64 " ns",
                sample->start_ns, sample->end_ns, gpu->began_ns, lns_sampler_now_ns ());
    }
  if (gpu->is_wrong)
    return;
  /* The first sample holds what the counters had before the start. */
  if (gpu->is_first)
    {
      gpu->is_first = false;
      return;
    }
  count_lost (gpu, sample);
  gpu->end_ns = sample->end_ns;
  uint64_t *words = &batch->words[(size_t)batch->n_samples * (1 + batch->n_metrics)];
  words[0] = (uint64_t)sample->start_ns;
  memcpy (&words[1], sample->values, batch->n_metrics * sizeof (double));
  batch->n_samples++;
  if ((size_t)(batch->n_samples + 1) * (1 + batch->n_metrics) > LNS_WIRE_GPU_BATCH_WORDS)
    send_batch (gpu);
}

/* --- One GPU ---------------------------------------------------------------------------------- */

/* Tells the session when of all GPUs, and of finding them, it is known what comes of it. */
static void
settle (bool *is_settled)
{
  pthread_mutex_lock (&state_lock);
  const bool is_last = !*is_settled && --n_unsettled == 0;
  *is_settled = true;
  pthread_mutex_unlock (&state_lock);
  const LnsWireGpuHead ready = { LNS_WIRE_GPU_READY, UINT32_MAX };
  if (is_last)
    lns_sampler_tell (&ready, sizeof ready);
}

static LnsWireGpuCause
cause_of (int result)
{
  switch (result)
    {
    case LNS_CUPTI_INSUFFICIENT_PRIVILEGES:
    case LNS_CUPTI_VIRTUALIZED_PRIVILEGES:
      return LNS_WIRE_GPU_NOT_ALLOWED;
    case LNS_CUPTI_HARDWARE_BUSY:
    case LNS_CUPTI_INVALID_OPERATION: /* somebody samples already */
      return LNS_WIRE_GPU_BUSY;
    case LNS_CUPTI_MIG_DEVICE:
      return LNS_WIRE_GPU_MIG;
    case LNS_CUPTI_NOT_SUPPORTED:
    case LNS_CUPTI_VIRTUALIZED_DEVICE:
    case LNS_CUPTI_CONFIDENTIAL_COMPUTING:
    case LNS_CUPTI_CMP_DEVICE:
    case LNS_CUPTI_SLI_DEVICE:
    case LNS_CUPTI_WSL_DEVICE:
    case LNS_CUPTI_INVALID_CHIP_NAME:
      return LNS_WIRE_GPU_UNSUPPORTED;
    case LNS_CUPTI_NOT_INITIALIZED:
      return LNS_WIRE_GPU_NO_HOST; /* 13.0 returns it if libnvperf_host is missing */
    default:
      return LNS_WIRE_GPU_REFUSED;
    }
}

static bool
fail (const Gpu *gpu, LnsWireGpuCause cause, int result, const char *text)
{
  lns_sampler_tell_failure (cause, gpu->number, gpu->bus, result, text);
  return false;
}

/* Says which GPU it is, and which metrics it has. */
static void
tell_found (const Gpu *gpu)
{
  int device;
  uint8_t id[16];
  LnsWireGpuFound found = { .head = { LNS_WIRE_GPU_FOUND_COUNTERS, gpu->number } };
  const LnsMetricSet *set = lns_pm_sampling_set (gpu->sampling);
  memcpy (found.bus, gpu->bus, sizeof found.bus);
  if (lns_cuda.cuDeviceGet (&device, (int)gpu->options.device) == 0)
    {
      if (lns_cuda.cuDeviceGetName (found.name, sizeof found.name, device) != 0)
        found.name[0] = '\0';
      if (lns_cuda.cuDeviceGetUuid_v2 (id, device) == 0)
        snprintf (found.uuid, sizeof found.uuid,
                  "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", id[0],
                  id[1], id[2], id[3], id[4], id[5], id[6], id[7], id[8], id[9], id[10], id[11],
                  id[12], id[13], id[14], id[15]);
    }
  lns_sampler_tell (&found, sizeof found);
  for (size_t i = 0; i < set->n; i++)
    {
      LnsWireGpuCounter counter = { .head = { LNS_WIRE_GPU_COUNTER, gpu->number },
                                    .place = (uint32_t)i,
                                    .id = set->metrics[i].id };
      snprintf (counter.name, sizeof counter.name, "%s", set->metrics[i].title);
      snprintf (counter.unit, sizeof counter.unit, "%s", set->metrics[i].unit);
      lns_sampler_tell (&counter, sizeof counter);
    }
}

/* Makes GPU ready, or says why it cannot be sampled. */
static bool
open_gpu (Gpu *gpu)
{
  const char *chip;
  pthread_mutex_lock (&setup_lock);
  const int result = lns_pm_sampling_open (&gpu->options, &gpu->sampling, &chip);
  pthread_mutex_unlock (&setup_lock);
  if (result != LNS_CUPTI_SUCCESS)
    return fail (gpu, cause_of (result), result, lns_cupti_text (result));
  gpu->batch.n_metrics = (uint32_t)lns_pm_sampling_set (gpu->sampling)->n;
  if (gpu->batch.n_metrics == 0)
    return fail (gpu, LNS_WIRE_GPU_NO_METRICS, 0, chip);
  tell_found (gpu);
  return true;
}

/* Waits for NS, or for another state; while nothing is wanted, until something is. Returns what is wanted. */
static bool
wait_for_state (bool is_sampling, int64_t ns, bool *ret_is_ending)
{
  const int64_t until_ns = lns_sampler_now_ns () + ns;
  const struct timespec until = { until_ns / 1000000000, until_ns % 1000000000 };
  pthread_mutex_lock (&state_lock);
  while (!is_ending && is_sampling != is_paused &&
         (!is_sampling ? pthread_cond_wait (&state_changed, &state_lock)
                       : pthread_cond_timedwait (&state_changed, &state_lock, &until)) == 0)
    ;
  const bool is_wanted = !is_paused && !is_ending;
  *ret_is_ending = is_ending;
  pthread_mutex_unlock (&state_lock);
  return is_wanted;
}

/* Whether nothing is to be sampled now. What is wanted first is told soon after the start. */
static bool
is_waiting (void)
{
  pthread_mutex_lock (&state_lock);
  const bool waits = is_paused && is_told;
  pthread_mutex_unlock (&state_lock);
  return waits;
}

/* Reads what there is. Returns false after an error, which is told. */
static bool
read_gpu (Gpu *gpu)
{
  const int result = lns_pm_sampling_read (gpu->sampling, take_sample, gpu);
  send_batch (gpu);
  if (gpu->is_wrong)
    return fail (gpu, LNS_WIRE_GPU_WRONG_CLOCK, 0, gpu->wrong);
  if (result == LNS_CUPTI_OUT_OF_MEMORY) /* the GPU's buffer was full: the gap tells what is lost */
    {
      lns_pm_sampling_stop (gpu->sampling);
      gpu->began_ns = lns_sampler_now_ns ();
      gpu->is_first = true;
      const int again = lns_pm_sampling_start (gpu->sampling);
      return again == LNS_CUPTI_SUCCESS ||
             fail (gpu, LNS_WIRE_GPU_BROKE_OFF, again, lns_cupti_text (again));
    }
  return result == LNS_CUPTI_SUCCESS ||
         fail (gpu, LNS_WIRE_GPU_BROKE_OFF, result, lns_cupti_text (result));
}

/* Counts a GPU that begins or ends to be sampled. The session waits for the last samples at the end of a report. */
static void
count_sampling (bool begins)
{
  const LnsWireGpuHead drained = { LNS_WIRE_GPU_DRAINED, UINT32_MAX };
  pthread_mutex_lock (&state_lock);
  n_sampling += begins ? 1u : -1u;
  const bool is_drained = !begins && n_sampling == 0 && is_paused;
  pthread_mutex_unlock (&state_lock);
  if (is_drained)
    lns_sampler_tell (&drained, sizeof drained);
}

/* Samples GPU whenever that is wanted, until the end or an error. */
static void
sample (Gpu *gpu)
{
  const int64_t period_ns = INT64_C (1000000000) / gpu->options.hz;
  const int64_t read_ns = period_ns < READ_NS       ? READ_NS
                          : period_ns > READ_MAX_NS ? READ_MAX_NS
                                                    : period_ns;
  bool is_sampling = false, is_over = false;
  while (!is_over)
    {
      if (!is_sampling && is_waiting ())
        settle (&gpu->is_settled);
      const bool is_wanted = wait_for_state (is_sampling, read_ns, &is_over);
      int result = LNS_CUPTI_SUCCESS;
      if (is_wanted && !is_sampling)
        {
          gpu->is_first = true;
          gpu->end_ns = 0;
          gpu->began_ns = lns_sampler_now_ns ();
          result = lns_pm_sampling_start (gpu->sampling);
          if (result == LNS_CUPTI_SUCCESS)
            count_sampling (true);
        }
      else if (!is_wanted && is_sampling)
        result = lns_pm_sampling_stop (gpu->sampling);
      if (result != LNS_CUPTI_SUCCESS)
        {
          fail (gpu, is_wanted ? cause_of (result) : LNS_WIRE_GPU_BROKE_OFF, result,
                lns_cupti_text (result));
          break;
        }
      if (is_sampling && !read_gpu (gpu))
        {
          if (is_wanted)
            lns_pm_sampling_stop (gpu->sampling);
          break;
        }
      if (is_sampling) /* the first samples are there, and their times are right */
        settle (&gpu->is_settled);
      if (is_sampling && !is_wanted)
        count_sampling (false);
      is_sampling = is_wanted;
    }
  if (is_sampling)
    count_sampling (false);
  lns_pm_sampling_close (gpu->sampling);
}

static void *
run (void *data)
{
  Gpu *gpu = data;
  if (open_gpu (gpu))
    sample (gpu);
  settle (&gpu->is_settled);
  pthread_mutex_lock (&state_lock);
  n_running--;
  pthread_cond_broadcast (&state_changed);
  pthread_mutex_unlock (&state_lock);
  return NULL;
}

/* --- Which GPUs ------------------------------------------------------------------------------- */

/* Whether GPUS, a list of numbers, has NUMBER; "all" and "cuda-visible" have all. */
static bool
is_listed (const char *gpus, unsigned long number)
{
  if (strcmp (gpus, "all") == 0 || strcmp (gpus, "cuda-visible") == 0)
    return true;
  for (const char *at = gpus; *at != '\0'; at += strcspn (at, ","), at += *at == ',')
    if (strtoul (at, NULL, 10) == number)
      return true;
  return false;
}

/* NVML's number of the GPU at BUS: it counts them in the order of their buses, as this folder lists them. Without the folder,
 * DEVICE, by which the driver counts in the same order if it is not told otherwise. */
static unsigned
number_of (const char *bus, unsigned device)
{
  glob_t found;
  unsigned number = 0;
  bool is_there = false;
  if (glob ("/proc/driver/nvidia/gpus/*", 0, NULL, &found) != 0)
    return device;
  for (size_t i = 0; i < found.gl_pathc; i++)
    {
      const char *name = strrchr (found.gl_pathv[i], '/') + 1;
      number += strcasecmp (name, bus) < 0;
      is_there |= strcasecmp (name, bus) == 0;
    }
  globfree (&found);
  return is_there ? number : device;
}

/* Makes what there is of the GPUs in the list GPUS. Returns their count, and complains of those that are not there. */
static unsigned
find_gpus (const char *gpus, const char *set, unsigned hz, Gpu **ret_gpus)
{
  int n = 0, device;
  unsigned n_found = 0;
  Gpu *found = calloc (LNS_WIRE_GPU_MAX, sizeof *found);
  if (found == NULL || lns_cuda.cuDeviceGetCount (&n) != 0)
    n = 0;
  for (int i = 0; i < n && n_found < LNS_WIRE_GPU_MAX; i++)
    {
      Gpu *gpu = &found[n_found];
      if (lns_cuda.cuDeviceGet (&device, i) != 0 ||
          lns_cuda.cuDeviceGetPCIBusId (gpu->bus, sizeof gpu->bus, device) != 0)
        continue;
      gpu->number = number_of (gpu->bus, (unsigned)i);
      gpu->options = (LnsPmOptions){ (size_t)i, set, hz };
      gpu->batch.head = (LnsWireGpuHead){ LNS_WIRE_GPU_BATCH, gpu->number };
      gpu->early_ns = gpu->late_ns = INT64_MAX;
      n_found += gpu->number < LNS_WIRE_GPU_MAX && is_listed (gpus, gpu->number);
    }
  for (const char *at = gpus; *at >= '0' && *at <= '9'; at += strcspn (at, ","), at += *at == ',')
    {
      char text[16];
      unsigned i = 0;
      while (i < n_found && found[i].number != strtoul (at, NULL, 10))
        i++;
      size_t n_digits = strcspn (at, ",");
      n_digits = n_digits < sizeof text ? n_digits : sizeof text - 1;
      memcpy (text, at, n_digits);
      text[n_digits] = '\0';
      if (i == n_found)
        lns_sampler_tell_failure (LNS_WIRE_GPU_NO_SUCH, UINT32_MAX, "", 0, text);
    }
  *ret_gpus = found;
  return n_found;
}

/* --- All of them ------------------------------------------------------------------------------ */

/* The clock that CUPTI gives times in. */
static uint64_t
clock_ns (void)
{
  return (uint64_t)lns_sampler_now_ns ();
}

/* Sets the loaded CUPTI up. Returns its result. */
static int
start_cupti (void)
{
  LnsCuptiNothing nothing = LNS_CUPTI_PARAMS (LnsCuptiNothing, none);
  const int result = lns_cupti_pm.cuptiActivityRegisterTimestampCallback (clock_ns);
  return result == LNS_CUPTI_SUCCESS ? lns_cupti_pm.cuptiProfilerInitialize (&nothing) : result;
}

/* Has the driver show all GPUs, in NVML's order. */
static void
see_all (void)
{
  unsetenv ("CUDA_VISIBLE_DEVICES");
  setenv ("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
}

/* Loads the libraries, and begins to sample. */
static void
begin (char **arguments)
{
  LnsWireGpuFailure failure = { .head = { LNS_WIRE_GPU_FAILURE, UINT32_MAX } };
  pthread_t thread;
  Gpu *gpus;
  int result = LNS_CUPTI_SUCCESS;
  bool is_begun = false;
  /* The driver would load what a profiler of this session's caller left here. */
  unsetenv ("CUDA_INJECTION64_PATH");
  if (strcmp (arguments[2], "cuda-visible") != 0)
    see_all ();
  const bool is_loaded =
      lns_cuda_load (&failure) && lns_cupti_pm_load (arguments[3], start_cupti, &result, &failure);
  if (result != LNS_CUPTI_SUCCESS)
    {
      failure.cause = cause_of (result);
      failure.result = result;
      snprintf (failure.text, sizeof failure.text, "%s", lns_cupti_text (result));
    }
  if (!is_loaded || result != LNS_CUPTI_SUCCESS)
    lns_sampler_tell (&failure, sizeof failure);
  const unsigned n = is_loaded && result == LNS_CUPTI_SUCCESS
                         ? find_gpus (arguments[2], arguments[1],
                                      (unsigned)strtoul (arguments[0], NULL, 10), &gpus)
                         : 0;
  pthread_mutex_lock (&state_lock);
  n_running = n;
  n_unsettled = n + 1;
  pthread_mutex_unlock (&state_lock);
  for (unsigned i = 0; i < n; i++)
    if (pthread_create (&thread, NULL, run, &gpus[i]) != 0)
      _exit (1);
  settle (&is_begun);
}

static void *
run_begin (void *data)
{
  begin (data);
  return NULL;
}

static void
set_state (bool paused, bool ending)
{
  const LnsWireGpuHead drained = { LNS_WIRE_GPU_DRAINED, UINT32_MAX };
  pthread_mutex_lock (&state_lock);
  is_paused = paused;
  is_told = true;
  is_ending |= ending;
  const bool is_drained = paused && n_sampling == 0;
  pthread_cond_broadcast (&state_changed);
  pthread_mutex_unlock (&state_lock);
  if (is_drained)
    lns_sampler_tell (&drained, sizeof drained);
}

/* Has the threads read their last samples. They may be inside of a call of the driver that does not return. */
static void
end (void)
{
  const int64_t until_ns = lns_sampler_now_ns () + END_NS;
  const struct timespec until = { until_ns / 1000000000, until_ns % 1000000000 };
  set_state (false, true);
  pthread_mutex_lock (&state_lock);
  while (n_running > 0 && pthread_cond_timedwait (&state_changed, &state_lock, &until) == 0)
    ;
  pthread_mutex_unlock (&state_lock);
  _exit (0);
}

int
lns_counters_run (char **arguments)
{
  LnsWireGpuWanted wanted;
  pthread_condattr_t monotonic;
  pthread_t thread;
  pthread_condattr_init (&monotonic);
  pthread_condattr_setclock (&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init (&state_changed, &monotonic);
  const unsigned long hz = strtoul (arguments[0], NULL, 10);
  if (hz < LNS_WIRE_GPU_METRICS_MIN_HZ || hz > LNS_WIRE_GPU_METRICS_MAX_HZ)
    return 2;
  /* Initialising the driver may hang, too, and the end of the session must be seen meanwhile. */
  if (pthread_create (&thread, NULL, run_begin, arguments) != 0)
    return 1;
  for (ssize_t n; (n = recv (LNS_WIRE_GPU_SOCKET, &wanted, sizeof wanted, 0)) != 0;)
    {
      if (n == sizeof wanted && wanted.request != LNS_WIRE_GPU_ADD)
        set_state (wanted.request == LNS_WIRE_GPU_PAUSE, false);
      else if (n < 0 && errno != EINTR)
        break;
    }
  end ();
  return 0;
}

int
lns_counters_list (void)
{
  LnsWireGpuFailure failure = { 0 };
  Gpu *gpus;
  unsetenv ("CUDA_INJECTION64_PATH");
  see_all ();
  const unsigned n = lns_cuda_load (&failure) ? find_gpus ("all", "", 0, &gpus) : 0;
  for (unsigned i = 0; i < n; i++)
    {
      char name[256] = "";
      int device;
      if (lns_cuda.cuDeviceGet (&device, (int)gpus[i].options.device) != 0 ||
          lns_cuda.cuDeviceGetName (name, sizeof name, device) != 0)
        name[0] = '\0';
      printf ("%u: %s (%s)\n", gpus[i].number, name, gpus[i].bus);
    }
  return n > 0 ? 0 : 1;
}
