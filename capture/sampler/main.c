/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* lanescope-sampler HZ: samples GPUs for the session that started it (capture/wire/gpu.h). Each GPU has two threads, so that
 * neither a GPU that does not answer nor a metric that takes long delays the others. `lanescope-sampler metrics …` is in
 * counters.c. */

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capture/sampler/counters.h"
#include "capture/sampler/meter.h"
#include "capture/sampler/tell.h"

typedef struct
{
  uint32_t number; /* NVML's */
  LnsNvmlDeviceHandle device;
  char bus[32];
  atomic_uint n_read; /* threads that have read a value, or still may */
  atomic_bool is_lost;
} Gpu;

typedef struct
{
  Gpu *gpu;
  bool is_slow;
  LnsMeter meters[LNS_WIRE_GPU_N_METRICS];
} Reader;

static int64_t period_ns;
static bool is_sampled[LNS_WIRE_GPU_MAX]; /* by NVML's number */
static pthread_mutex_t pause_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t pause_over = PTHREAD_COND_INITIALIZER;
static bool is_paused; /* under pause_lock */

/* --- One GPU ---------------------------------------------------------------------------------- */

/* Reads the metrics of READER into SAMPLE. RET_N_LEFT gets how many it may still read. Returns false if the GPU is lost. */
static bool
read_sample (Reader *reader, LnsWireGpuSample *sample, unsigned *ret_n_left)
{
  sample->head = (LnsWireGpuHead){ LNS_WIRE_GPU_SAMPLE, reader->gpu->number };
  sample->time_ns = lns_sampler_now_ns ();
  sample->n_values = 0;
  *ret_n_left = 0;
  for (unsigned metric = 1; metric < LNS_WIRE_GPU_N_METRICS; metric++)
    {
      uint64_t value;
      if (lns_meter_is_slow (metric) != reader->is_slow)
        continue;
      const int result =
          lns_meter_read (&reader->meters[metric], reader->gpu->device, metric, &value);
      if (result == LNS_NVML_GPU_IS_LOST || result == LNS_NVML_RESET_REQUIRED)
        {
          if (!atomic_exchange (&reader->gpu->is_lost, true))
            lns_sampler_tell_failure (LNS_WIRE_GPU_LOST, reader->gpu->number, reader->gpu->bus,
                                      result, lns_nvml_text (result));
          return false;
        }
      *ret_n_left += !reader->meters[metric].is_left_out;
      if (result != LNS_NVML_SUCCESS)
        continue;
      sample->values[sample->n_values].metric = metric;
      sample->values[sample->n_values++].value = value;
    }
  return true;
}

/* Waits for the next time to read after *INOUT_AT_NS. Times that have passed are left out. */
static void
wait_for_next (int64_t *inout_at_ns)
{
  const int64_t now_ns = lns_sampler_now_ns ();
  *inout_at_ns += period_ns;
  if (*inout_at_ns < now_ns)
    *inout_at_ns += (now_ns - *inout_at_ns) / period_ns * period_ns + period_ns;
  const struct timespec at = { *inout_at_ns / 1000000000, *inout_at_ns % 1000000000 };
  while (clock_nanosleep (CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
    ;
}

static void
set_paused (bool paused)
{
  pthread_mutex_lock (&pause_lock);
  is_paused = paused;
  pthread_cond_broadcast (&pause_over);
  pthread_mutex_unlock (&pause_lock);
}

/* Waits while the session does not want samples. Rates begin anew after that, and *INOUT_AT_NS is now. */
static void
wait_while_paused (Reader *reader, int64_t *inout_at_ns)
{
  pthread_mutex_lock (&pause_lock);
  if (is_paused)
    {
      while (is_paused)
        pthread_cond_wait (&pause_over, &pause_lock);
      for (int i = 0; i < LNS_WIRE_GPU_N_METRICS; i++)
        reader->meters[i].has_count = false;
      *inout_at_ns = lns_sampler_now_ns ();
    }
  pthread_mutex_unlock (&pause_lock);
}

static void *
run (void *data)
{
  Reader *reader = data;
  LnsWireGpuSample sample = { 0 };
  int64_t at_ns = lns_sampler_now_ns ();
  unsigned n_left;
  while (!atomic_load (&reader->gpu->is_lost) && read_sample (reader, &sample, &n_left))
    {
      if (n_left == 0)
        {
          if (atomic_fetch_sub (&reader->gpu->n_read, 1) == 1)
            lns_sampler_tell_failure (LNS_WIRE_GPU_UNKNOWN, reader->gpu->number, reader->gpu->bus,
                                      LNS_NVML_NOT_SUPPORTED,
                                      lns_nvml_text (LNS_NVML_NOT_SUPPORTED));
          break;
        }
      if (sample.n_values > 0)
        lns_sampler_tell (&sample, sizeof sample);
      wait_for_next (&at_ns);
      wait_while_paused (reader, &at_ns);
    }
  return NULL;
}

/* Says which GPU it is. */
static void
tell_found (const Gpu *gpu)
{
  LnsWireGpuFound found = { .head = { LNS_WIRE_GPU_FOUND, gpu->number } };
  memcpy (found.bus, gpu->bus, sizeof found.bus);
  if (lns_nvml.nvmlDeviceGetName (gpu->device, found.name, sizeof found.name) != LNS_NVML_SUCCESS)
    found.name[0] = '\0';
  if (lns_nvml.nvmlDeviceGetUUID (gpu->device, found.uuid, sizeof found.uuid) != LNS_NVML_SUCCESS)
    found.uuid[0] = '\0';
  lns_sampler_tell (&found, sizeof found);
}

/* Begins to sample DEVICE, unless that has begun. */
static void
begin (LnsNvmlDeviceHandle device, const char *bus)
{
  unsigned number;
  pthread_t thread;
  if (lns_nvml.nvmlDeviceGetIndex (device, &number) != LNS_NVML_SUCCESS ||
      number >= LNS_WIRE_GPU_MAX || is_sampled[number])
    return;
  Gpu *gpu = calloc (1, sizeof *gpu);
  Reader *readers = calloc (2, sizeof *readers);
  if (gpu == NULL || readers == NULL)
    _exit (1);
  is_sampled[number] = true;
  gpu->number = number;
  gpu->device = device;
  snprintf (gpu->bus, sizeof gpu->bus, "%s", bus);
  atomic_init (&gpu->n_read, 2);
  tell_found (gpu);
  for (int i = 0; i < 2; i++)
    {
      readers[i] = (Reader){ .gpu = gpu, .is_slow = i == 1 };
      if (pthread_create (&thread, NULL, run, &readers[i]) != 0)
        _exit (1);
    }
}

/* --- Which GPUs ------------------------------------------------------------------------------- */

static void
add_one (const char *bus)
{
  LnsNvmlDeviceHandle device;
  const int result = lns_nvml.nvmlDeviceGetHandleByPciBusId_v2 (bus, &device);
  if (result == LNS_NVML_SUCCESS)
    begin (device, bus);
  else
    lns_sampler_tell_failure (result == LNS_NVML_GPU_IS_LOST ? LNS_WIRE_GPU_LOST
                                                             : LNS_WIRE_GPU_UNKNOWN,
                              UINT32_MAX, bus, result, lns_nvml_text (result));
}

static void
add_handle (LnsNvmlDeviceHandle device)
{
  LnsNvmlPci pci = { 0 };
  lns_nvml.nvmlDeviceGetPciInfo_v3 (device, &pci);
  begin (device, pci.bus_id);
}

/* Finds the first of N GPUs whose UUID begins with PREFIX: CUDA accepts that. */
static bool
find_prefix (const char *prefix, unsigned n, LnsNvmlDeviceHandle *ret_device)
{
  char uuid[96];
  for (unsigned i = 0; i < n && prefix[0] != '\0'; i++)
    if (lns_nvml.nvmlDeviceGetHandleByIndex_v2 (i, ret_device) == LNS_NVML_SUCCESS &&
        lns_nvml.nvmlDeviceGetUUID (*ret_device, uuid, sizeof uuid) == LNS_NVML_SUCCESS &&
        strncmp (uuid, prefix, strlen (prefix)) == 0)
      return true;
  return false;
}

/* Adds the GPU that an ITEM of CUDA_VISIBLE_DEVICES names: by its number, its UUID, or the UUID of one of its MIG devices, which
 * have no power and clocks of their own. Returns false if there is none, as CUDA then ignores all further items. */
static bool
add_visible (const char *item, unsigned n)
{
  LnsNvmlDeviceHandle device, whole;
  char *end;
  const unsigned long number = strtoul (item, &end, 10);
  if (end != item && *end == '\0')
    {
      if (number >= n ||
          lns_nvml.nvmlDeviceGetHandleByIndex_v2 ((unsigned)number, &device) != LNS_NVML_SUCCESS)
        return false;
    }
  else if (lns_nvml.nvmlDeviceGetHandleByUUID (item, &device) != LNS_NVML_SUCCESS &&
           !find_prefix (item, n, &device))
    return false;
  else if (strncmp (item, "MIG-", 4) == 0 && lns_nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle (
                                                 device, &whole) == LNS_NVML_SUCCESS)
    device = whole;
  add_handle (device);
  return true;
}

/* Adds what the program may see, as far as is known without CUDA: its numbers are taken for those of NVML, which they are with
 * CUDA_DEVICE_ORDER=PCI_BUS_ID and on machines with GPUs of one model. */
static void
add_all (void)
{
  const char *visible = getenv ("CUDA_VISIBLE_DEVICES");
  unsigned n = 0;
  const int result = lns_nvml.nvmlDeviceGetCount_v2 (&n);
  if (result != LNS_NVML_SUCCESS)
    lns_sampler_tell_failure (LNS_WIRE_GPU_NO_NVML, UINT32_MAX, "", result, lns_nvml_text (result));
  LnsNvmlDeviceHandle device;
  for (unsigned i = 0; visible == NULL && i < n; i++)
    if (lns_nvml.nvmlDeviceGetHandleByIndex_v2 (i, &device) == LNS_NVML_SUCCESS)
      add_handle (device);
  char *items = visible != NULL ? strdup (visible) : NULL, *rest = items, *item;
  while (rest != NULL && (item = strsep (&rest, ", ")) != NULL && add_visible (item, n))
    ;
  free (items);
}

static void
take (const LnsWireGpuWanted *wanted)
{
  const LnsWireGpuHead ready = { LNS_WIRE_GPU_READY, UINT32_MAX };
  if (wanted->request != LNS_WIRE_GPU_ADD)
    {
      set_paused (wanted->request == LNS_WIRE_GPU_PAUSE);
      return;
    }
  if (wanted->bus[0] != '\0')
    add_one (wanted->bus);
  else
    add_all ();
  lns_sampler_tell (&ready, sizeof ready);
}

int
main (int argc, char **argv)
{
  LnsWireGpuWanted wanted;
  if (argc > 5 && strcmp (argv[1], LNS_WIRE_GPU_METRICS_MODE) == 0)
    return lns_counters_run (argv + 2);
  if (argc > 1 && strcmp (argv[1], LNS_WIRE_GPU_LIST_MODE) == 0)
    return lns_counters_list ();
  const long hz = argc > 1 ? strtol (argv[1], NULL, 10) : 0;
  if (hz < 1 || hz > LNS_WIRE_GPU_MAX_HZ)
    {
      fprintf (stderr, "%s: started by lanescope, not by hand\n", LNS_WIRE_GPU_PROGRAM);
      return 2;
    }
  period_ns = 1000000000 / hz;
  const char *failed = lns_nvml_load ();
  if (failed != NULL)
    {
      lns_sampler_tell_failure (LNS_WIRE_GPU_NO_LIBRARY, UINT32_MAX, "", 0, failed);
      return 0;
    }
  const int result = lns_nvml.nvmlInit_v2 ();
  if (result != LNS_NVML_SUCCESS)
    {
      lns_sampler_tell_failure (LNS_WIRE_GPU_NO_NVML, UINT32_MAX, "", result,
                                lns_nvml_text (result));
      return 0;
    }
  for (ssize_t n; (n = recv (LNS_WIRE_GPU_SOCKET, &wanted, sizeof wanted, 0)) != 0;)
    {
      if (n == sizeof wanted && memchr (wanted.bus, '\0', sizeof wanted.bus) != NULL)
        take (&wanted);
      else if (n < 0 && errno != EINTR)
        break;
    }
  /* Threads may be inside NVML for long, so nothing is waited for and no destructor runs. */
  _exit (0);
}
