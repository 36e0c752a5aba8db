/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* compact-bench [ROUNDS]: measures the nanoseconds that the program spends on each CUPTI record. Compacts buffers of
 * 128 KiB (kernels of 64 names in 3 shapes each, as a training loop launches them, and runtime calls) into memory that
 * stands for a stream. Prints the best of ROUNDS, in processor time, as one JSON object, and what it takes to copy a kernel's
 * record as it is, which is the floor. */

#include "capture/wire/compact.h"

#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N_NAMES 64

static _Alignas(64) uint8_t buffer[LNS_WIRE_BUFFER_BYTES], chunk[65536];
static size_t n_used;
static uint64_t n_written;
static char names[N_NAMES][64];

static double
now_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static uint8_t *
reserve (void *context, size_t n_bytes)
{
  if (n_used + n_bytes > sizeof chunk)
    n_used = 0;
  return chunk + n_used;
}

static void
commit (void *context, size_t n_bytes)
{
  __atomic_store_n (&n_used, n_used + n_bytes, __ATOMIC_RELEASE);
  n_written += n_bytes;
}

static void
lose (void *context, size_t n_bytes)
{
  abort ();
}

/* Finds a name by its address in a table, as the capture engine does. */
static uint32_t
text (void *context, uint64_t address, bool is_lasting)
{
  return (uint32_t)((address - (uintptr_t)names) / sizeof *names) + 1;
}

static uint32_t
call_name (void *context, bool is_runtime, uint32_t cbid)
{
  return cbid;
}

static void
bus (void *context, uint32_t device, char *ret_bus, size_t n_max)
{
}

static size_t
fill_kernels (void)
{
  const size_t n = sizeof buffer / sizeof (CUpti_ActivityKernel10);
  CUpti_ActivityKernel10 *records = (CUpti_ActivityKernel10 *)buffer;
  for (size_t i = 0; i < n; i++)
    records[i] = (CUpti_ActivityKernel10){
      .kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
      .start = 1000 + i * 10,
      .end = 1005 + i * 10,
      .registersPerThread = 32,
      .contextId = 1,
      .streamId = 7,
      .gridX = (int32_t)(1 + i % 3),
      .gridY = 1,
      .gridZ = 1,
      .blockX = 256,
      .blockY = 1,
      .blockZ = 1,
      .correlationId = (uint32_t)i,
      .gridId = (int64_t)i,
      .name = names[i % N_NAMES],
      .dynamicSharedMemory = 1024,
    };
  return n;
}

static size_t
fill_calls (void)
{
  const size_t n = sizeof buffer / sizeof (CUpti_ActivityAPI);
  CUpti_ActivityAPI *records = (CUpti_ActivityAPI *)buffer;
  for (size_t i = 0; i < n; i++)
    records[i] = (CUpti_ActivityAPI){ .kind = CUPTI_ACTIVITY_KIND_RUNTIME,
                                      .cbid = 211,
                                      .start = 1000 + i * 10,
                                      .end = 1005 + i * 10,
                                      .threadId = 5,
                                      .correlationId = (uint32_t)i };
  return n;
}

static double
measure (size_t (*fill) (void), int n_rounds)
{
  static LnsWireLaunches launches;
  const LnsWireCuptiSizes sizes = {
    .version = 130001,
    .record_bytes = { [CUPTI_ACTIVITY_KIND_RUNTIME] = sizeof (CUpti_ActivityAPI),
                      [CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] = sizeof (CUpti_ActivityKernel10) },
  };
  const LnsWireCuptiSink sink = { .reserve = reserve,
                                  .commit = commit,
                                  .lose = lose,
                                  .text = text,
                                  .call_name = call_name,
                                  .bus = bus,
                                  .launches = &launches };
  double best_ns = 1e9;
  memset (buffer, 0, sizeof buffer);
  const size_t n = fill ();
  for (int i = 0; i < n_rounds; i++)
    {
      LnsWireCuptiCounts counts = { 0 };
      uint32_t compacted = 0;
      double begin_ns = now_ns ();
      lns_wire_cupti_compact (&sizes, buffer, n * (sizeof buffer / n / 8 * 8), &sink, &compacted,
                              &counts);
      double each_ns = (now_ns () - begin_ns) / (double)counts.n_compacted;
      if (each_ns < best_ns)
        best_ns = each_ns;
    }
  return best_ns;
}

/* The best of N_ROUNDS of copying each kernel's record. */
static double
measure_copies (int n_rounds)
{
  double best_ns = 1e9;
  const size_t n = fill_kernels (), n_bytes = sizeof (CUpti_ActivityKernel10);
  for (int round = 0; round < n_rounds; round++)
    {
      double begin_ns = now_ns ();
      for (size_t i = 0; i < n; i++)
        {
          memcpy (reserve (NULL, n_bytes), buffer + i * n_bytes, n_bytes);
          commit (NULL, n_bytes);
        }
      double each_ns = (now_ns () - begin_ns) / (double)n;
      if (each_ns < best_ns)
        best_ns = each_ns;
    }
  return best_ns;
}

int
main (int argc, char **argv)
{
  const int n_rounds = argc > 1 ? atoi (argv[1]) : 300;
  const double kernel_ns = measure (fill_kernels, n_rounds),
               call_ns = measure (fill_calls, n_rounds);
  const double written_mb = (double)n_written / 1e6, copy_ns = measure_copies (n_rounds);
  printf ("{\"kernel_ns\": %.1f, \"call_ns\": %.1f, \"written_mb\": %.0f, "
          "\"kernel_copy_ns\": %.1f}\n",
          kernel_ns, call_ns, written_mb, copy_ns);
  return 0;
}
