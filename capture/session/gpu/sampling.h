/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Samples of GPUs (power, clocks, temperature, …, or hardware counters) while a session lasts. A thread starts
 * `lanescope-sampler` as soon as there is a GPU to sample, and turns what it says into events for the next batch: samples, and
 * diagnostics if it fails.
 *
 *   LNS-GPU-001   NVIDIA's management library cannot be loaded
 *   LNS-GPU-002   the library refuses to work, or does not know a GPU
 *   LNS-GPU-003   a GPU stopped answering
 *   LNS-GPU-004   the sampler could not be started, or ended
 *   LNS-GPU-005 … see decode/gpu/gpu.h
 *   LNS-GPU-014   the sampler of hardware counters did not begin in time
 *   LNS-GPU-015   it did not hand over its last samples in time */

#pragma once

#include <stdbool.h>

#include "capture/session/collect/mailbox.h"
#include "capture/wire/gpu.h"

/* Samples a second, at most. */
#define LNS_GPU_MAX_HZ         LNS_WIRE_GPU_MAX_HZ
#define LNS_GPU_METRICS_MIN_HZ LNS_WIRE_GPU_METRICS_MIN_HZ
#define LNS_GPU_METRICS_MAX_HZ LNS_WIRE_GPU_METRICS_MAX_HZ

typedef struct LnsGpuSampling LnsGpuSampling;

typedef struct
{
  const char *program; /* the sampler's path, copied */
  unsigned
      hz; /* 1 to LNS_GPU_MAX_HZ; of hardware counters LNS_GPU_METRICS_MIN_HZ to LNS_GPU_METRICS_MAX_HZ */
  bool is_asked_for; /* by name: what fails is a warning, otherwise a note */
  /* Of hardware counters instead: "all", "cuda-visible", or numbers ("0,2"), the name of the set, and libcupti or its folder, or
   * "". Copied. NULL: what NVML tells is sampled. */
  const char *devices, *set, *cupti;
} LnsGpuSamplingOptions;

/* A diagnostic: TEXT is valid during the call. */
typedef void (*LnsGpuSay) (void *data, LnsSeverity severity, const char *code, const char *text);

/* MAILBOX must be there until lns_gpu_sampling_stop (). Starts nothing yet. */
LnsGpuSampling *lns_gpu_sampling_new (const LnsGpuSamplingOptions *options, LnsMailbox *mailbox);

/* Samples the GPU at BUS ("0000:3b:00.0"; "": all that CUDA_VISIBLE_DEVICES allows) from now on, if it is not sampled yet. Any
 * thread; returns at once. Does nothing after lns_gpu_sampling_stop (). */
void lns_gpu_sampling_add (LnsGpuSampling *sampling, const char *bus);

/* Starts the sampler, and waits until it is known which GPUs it samples, but no longer than NS: of hardware counters all of them,
 * else those that were added. Calls SAY for each reason why hardware counters of a GPU are not sampled; diagnostics tell the
 * others. One thread at a time. */
void lns_gpu_sampling_begin (LnsGpuSampling *sampling, int64_t ns, LnsGpuSay say, void *data);

/* Pauses or goes on; it is not paused at first. While it has been paused from the beginning, no sampler is started. Any thread;
 * returns at once. */
void lns_gpu_sampling_set_recording (LnsGpuSampling *sampling, bool recording);

/* Pauses a sampler of hardware counters, and waits for the samples that it still has, but no longer than NS: a diagnostic says if
 * they are missing. One thread at a time. */
void lns_gpu_sampling_drain (LnsGpuSampling *sampling, int64_t ns);

/* Ends the sampler, and waits for it for up to half a second: it may be inside a call of a GPU that does not answer, and then
 * ends later. SAMPLING may be NULL. */
void lns_gpu_sampling_stop (LnsGpuSampling *sampling);

/* Frees SAMPLING, which was stopped, when no event of it is left. Accepts NULL. */
void lns_gpu_sampling_free (LnsGpuSampling *sampling);

/* Has the sampler at the path PROGRAM print a line for each GPU of the machine: its number, name and bus. Returns whether there is
 * one. */
bool lns_gpu_sampling_list (const char *program);
