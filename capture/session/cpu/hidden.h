/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Samples that the kernel kept to itself. Where Lanescope may not look into the kernel, a timer that fires while a thread is in
 * a system call gives no sample. But it fires after each period for which the thread had the CPU (perf_swevent_hrtimer () of
 * Linux's kernel/events/core.c; what is left of a period when the thread leaves the CPU is kept for the next time), so that one
 * that is due and did not come was of the kernel. Time in which the machine itself did not run, as a hypervisor took its CPUs
 * away, looks the same. Used by one thread. */

#pragma once

#include <stdint.h>

#include "src/base/id-map.h"

/* A timer that fired at TIME_NS on CPU, while the thread TID of PROCESS was in the kernel. */
typedef void (*LnsCpuHiddenTake) (
    void *data, uint32_t process, uint32_t tid, uint32_t cpu, int64_t time_ns);

/* Zero it and set the first group before its first use. */
typedef struct
{
  int64_t
      period_ns; /* of CPU time; 0: nothing is hidden, or it cannot be known, and all calls below do nothing */
  LnsCpuHiddenTake take; /* is called in the order of times, as far as one thread is concerned */
  void *data;

  LnsIdMap threads; /* by tid */
} LnsCpuHidden;

void lns_cpu_hidden_clear (LnsCpuHidden *hidden);

/* Notes that TID of PROCESS runs on CPU since TIME_NS; times are of CLOCK_MONOTONIC. */
void lns_cpu_hidden_begin (
    LnsCpuHidden *hidden, uint32_t process, uint32_t tid, uint32_t cpu, int64_t time_ns);

/* Notes that TID left its CPU. */
void lns_cpu_hidden_end (LnsCpuHidden *hidden, uint32_t tid, int64_t time_ns);

/* Notes a sample of TID of PROCESS, which runs on CPU: the timer fired, and is not due before one more period. */
void lns_cpu_hidden_sample (
    LnsCpuHidden *hidden, uint32_t process, uint32_t tid, uint32_t cpu, int64_t time_ns);

/* Notes that TID has ended, or is of another program now. */
void lns_cpu_hidden_exit (LnsCpuHidden *hidden, uint32_t tid, int64_t time_ns);

/* Tells what was due by TIME_NS. All earlier records are noted. O(threads). */
void lns_cpu_hidden_tell (LnsCpuHidden *hidden, int64_t time_ns);

/* Forgets which threads run, and what is due: records are lost, or nothing is recorded for a while. O(threads). */
void lns_cpu_hidden_forget (LnsCpuHidden *hidden);
