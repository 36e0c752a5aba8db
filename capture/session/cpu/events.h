/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The kernel's events (perf_event_open(2)) of a process and all that it starts: one ring of records for each CPU. Each ring is
 * fed by two events. One is always on and tells of processes, threads and mappings. The other samples and tells of context
 * switches, and can be paused. With privileges there are those of tracepoints, too. Of a program that runs already, each thread gets
 * such events of its own, which share the rings. */

#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/session/cpu/tracepoint.h"
#include "src/base/array.h"
#include "src/base/id-map.h"
#include "src/symbols/registers.h"

/* The kernel copies no more of a stack: a record has at most 64 KiB. */
#define LNS_CPU_MOST_STACK_BYTES 65528u

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
  bool samples, switches, syscalls; /* at least one */
  LnsCpuCallers callers;
  unsigned hz; /* samples a second of CPU time */
  uint64_t
      period; /* or one after so many cycles, or ns where CPUs count no cycles; 0: `hz` holds */
  bool runs_already; /* events begin when they are opened, and not with the next exec */
  size_t
      stack_bytes; /* the most that is copied of a stack, up to LNS_CPU_MOST_STACK_BYTES; 0: that */
  size_t
      ring_bytes; /* memory of the ring of each CPU, rounded up to a power of two of pages; 0: what usually suffices */
} LnsCpuEventsOptions;

/* The events of a thread, and of those that inherit them, that write into one ring. -1: not open. */
typedef struct
{
  int side, work;
  int tracepoints[LNS_N_TRACEPOINTS]; /* -1 without privileges, too */
} LnsCpuFds;

typedef struct
{
  uint32_t cpu;
  LnsCpuFds fds;
  struct perf_event_mmap_page *page; /* and the ring behind it */
} LnsCpuRing;

/* The events of one more thread that write into the ring at `ring`. */
typedef struct
{
  size_t ring;
  LnsCpuFds fds;
} LnsCpuEventSet;

typedef struct
{
  LNS_ARRAY (LnsCpuRing) rings;
  LNS_ARRAY (LnsCpuEventSet) more; /* of further threads: lns_cpu_events_add () */
  LnsIdMap tracepoint_ids;         /* 1 + LnsTracepointKind by id of each such event */
  size_t n_ring_bytes;             /* of each, a power of two */
  bool sees_kernel;                /* samples are of the kernel, too, which needs privileges */
  bool has_chains;                 /* samples have addresses that the kernel found */
  bool has_cycles;                 /* samples come by CPU cycles, else by CPU time */
  LnsTracepoint tracepoints[LNS_N_TRACEPOINTS]; /* id 0: not asked for, or not allowed */
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

/* Opens EVENTS of PID, which has not called exec yet. They begin with that, or at once if OPTIONS say that it runs already, and are
 * then of that thread; IS_PAUSED: but for what can be paused. Returns 0, or an errno and RET_STEP; then nothing is open. */
int lns_cpu_events_open (LnsCpuEvents *events,
                         const LnsCpuEventsOptions *options,
                         pid_t pid,
                         bool is_paused,
                         LnsCpuEventsStep *ret_step);
void lns_cpu_events_close (LnsCpuEvents *events);

/* The CPU time in ns after which a sample of EVENTS, opened with OPTIONS, is due, if those in the kernel do not come and can be
 * told by that (hidden.h); else 0. */
int64_t lns_cpu_events_hidden_ns (const LnsCpuEvents *events, const LnsCpuEventsOptions *options);

/* Whether EVENTS tell of the tracepoint KIND. */
bool lns_cpu_events_have (const LnsCpuEvents *events, LnsTracepointKind kind);

/* Opens the same events of the thread TID, which runs already, and of all that it starts. Returns 0 or an errno: ESRCH if the thread
 * has ended; then none of TID are open. */
int lns_cpu_events_add (LnsCpuEvents *events,
                        const LnsCpuEventsOptions *options,
                        pid_t tid,
                        bool is_paused);

/* Calls TAKE with DATA for the id that records have of each event that the last successful lns_cpu_events_open () or
 * lns_cpu_events_add () opened. */
void lns_cpu_events_last_ids (const LnsCpuEvents *events,
                              void (*take) (void *data, uint64_t id),
                              void *data);

/* Pauses what can be paused in all processes, or lets it go on. O(CPUs × threads), in the kernel. */
void lns_cpu_events_set_paused (const LnsCpuEvents *events, bool is_paused);
