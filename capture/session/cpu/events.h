/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The kernel's events (perf_event_open(2)) of a process and all that it starts: one ring of records for each CPU. Each ring is
 * fed by two events. One is always on and tells of processes, threads and mappings. The other samples and tells of context
 * switches, and can be paused. With privileges there is a third one, which tells which thread of these wakes another. */

#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/session/cpu/tracepoint.h"
#include "src/base/array.h"
#include "src/symbols/registers.h"

/* What comes with a sample so that its callers can be found. */
typedef enum
{
  LNS_CPU_NO_CALLERS = 0,
  LNS_CPU_FRAME_POINTERS = 1, /* what frame pointers lead to */
  LNS_CPU_STACKS = 2,         /* the registers and the top of the stack */
  LNS_CPU_BOTH = LNS_CPU_FRAME_POINTERS | LNS_CPU_STACKS
} LnsCpuCallers;

typedef struct
{
  bool samples, switches; /* at least one */
  LnsCpuCallers callers;
  unsigned hz; /* samples a second of CPU time */
  uint64_t
      period; /* or one after so many cycles, or ns where CPUs count no cycles; 0: `hz` holds */
} LnsCpuEventsOptions;

typedef struct
{
  uint32_t cpu;
  int side_fd, work_fd, waking_fd;   /* waking_fd: -1 without privileges */
  uint64_t waking_id;                /* that its records have; 0: there are none */
  struct perf_event_mmap_page *page; /* and the ring behind it */
} LnsCpuRing;

typedef struct
{
  LNS_ARRAY (LnsCpuRing) rings;
  size_t n_ring_bytes;    /* of each, a power of two */
  bool sees_kernel;       /* samples are of the kernel, too, which needs privileges */
  bool has_chains;        /* samples have addresses that the kernel found */
  bool has_cycles;        /* samples come by CPU cycles, else by CPU time */
  LnsWakingFormat waking; /* without an id: who wakes a thread is not known */
  const LnsMachine *machine;
  uint64_t registers;   /* those that samples have, as perf numbers them */
  size_t n_stack_bytes; /* of the stack that samples have, at most; 0: none */
  unsigned hz;          /* what the kernel allows of it; 0: a period was given */
} LnsCpuEvents;

/* The step at which opening failed. */
typedef enum
{
  LNS_CPU_EVENTS_OPEN, /* perf_event_open () */
  LNS_CPU_EVENTS_MAP   /* memory for the rings */
} LnsCpuEventsStep;

/* Opens EVENTS of PID, which has not called exec yet. They begin with that; IS_PAUSED: but for what can be paused. Returns 0,
 * or an errno and RET_STEP; then nothing is open. */
int lns_cpu_events_open (LnsCpuEvents *events,
                         const LnsCpuEventsOptions *options,
                         pid_t pid,
                         bool is_paused,
                         LnsCpuEventsStep *ret_step);
void lns_cpu_events_close (LnsCpuEvents *events);

/* Pauses what can be paused in all processes, or lets it go on. O(CPUs × threads), in the kernel. */
void lns_cpu_events_set_paused (const LnsCpuEvents *events, bool is_paused);
