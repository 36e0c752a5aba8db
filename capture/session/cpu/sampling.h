/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Samples of CPU time and thread scheduling of the program and all that it starts, while a session lasts, and these processes
 * and threads themselves. A thread reads the kernel's rings and hands records (decode/cpu/cpu.h) to the next batch. While the
 * recorder is behind, records stay in the rings; the kernel drops what has no room, and counts it.
 *
 *   LNS-CPU-001   kernel.perf_event_paranoid forbids it
 *   LNS-CPU-002   something else does, such as a container
 *   LNS-CPU-003   no memory may be locked for the rings
 *   LNS-CPU-004   the kernel cannot do it, or descriptors or threads are short
 *   LNS-CPU-005   the kernel allows fewer samples a second
 *   LNS-CPU-007   a process that runs already may not be recorded
 *   LNS-CPU-008   some of its threads are not recorded, as descriptors are short
 *   LNS-CPU-009   the kernel does not tell of system calls
 *   LNS-CPU-010   the kernel does not tell where it is itself */

#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/session/collect/peers.h"
#include "capture/session/cpu/events.h"
#include "capture/session/cpu/reach.h"
#include "capture/session/system/process-list.h"

#define LNS_CPU_MIN_HZ 10
#define LNS_CPU_MAX_HZ 50000

typedef struct LnsCpuSampling LnsCpuSampling;

typedef struct
{
  LnsCpuEventsOptions events; /* nothing of them: nothing is recorded */
  unsigned
      n_samples_of_a_chain; /* one sample of so many keeps its call chain, others their address alone */
  bool is_asked_for;        /* by name: what fails is a warning, otherwise a note */
} LnsCpuSamplingOptions;

/* A diagnostic: TEXT is valid during the call. */
typedef void (*LnsCpuSay) (void *data, LnsSeverity severity, const char *code, const char *text);

/* PEERS must be there until lns_cpu_sampling_stop (). */
LnsCpuSampling *lns_cpu_sampling_new (const LnsCpuSamplingOptions *options, LnsPeers *peers);

/* Begins with PID, the session's PROCESS, which has not called exec yet. Calls SAY if nothing is recorded, or less. Call it once
 * at most. */
void lns_cpu_sampling_begin (
    LnsCpuSampling *sampling, pid_t pid, uint32_t process, LnsCpuSay say, void *data);

/* The same for the processes PIDS, which run already, their threads and all that descend from them. Adds these processes to the
 * session, also where nothing of them is recorded. The programs are not stopped. */
void
lns_cpu_sampling_attach (LnsCpuSampling *sampling, const LnsPids *pids, LnsCpuSay say, void *data);

/* Pauses or goes on; it is not paused at first. Any thread. */
void lns_cpu_sampling_set_recording (LnsCpuSampling *sampling, bool recording);

/* Waits until all that happened before the call is in the mailbox, but no longer than NS. One thread at a time. */
void lns_cpu_sampling_drain (LnsCpuSampling *sampling, int64_t ns);

/* The programs that ran by the last lns_cpu_sampling_drain () without the library that records calls of the C library, those that
 * used CUDA without the one that records it, and those of which the kernel told nothing. Of the session's own program, nobody asks
 * the first. Counts are 0 where nothing is known of programs, as nothing is sampled. Any thread. */
void lns_cpu_sampling_unreached (LnsCpuSampling *sampling,
                                 LnsUnreached *ret_os_calls,
                                 LnsUnreached *ret_cuda,
                                 LnsUnreached *ret_kernel);

/* Ends the thread and its events. SAMPLING may be NULL. */
void lns_cpu_sampling_stop (LnsCpuSampling *sampling);

/* Frees SAMPLING, which was stopped, when no record of it is left. Accepts NULL. */
void lns_cpu_sampling_free (LnsCpuSampling *sampling);
