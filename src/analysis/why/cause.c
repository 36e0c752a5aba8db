/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/why/cause.h"

#include <string.h>

#include "src/base/language.h"

typedef struct
{
  const char *name, *help, *advice;
} Row;

static const Row causes[LNS_N_CAUSES] = {
  [LNS_CAUSE_LOCK_WAIT] = { "lock-wait",
                            N_ ("the thread that launches work waited for another thread"),
                            N_ ("have the other thread finish earlier: more workers, or work "
                                "that is prepared one step ahead") },
  [LNS_CAUSE_IO_WAIT] = { "io-wait", N_ ("it waited for files or sockets"),
                          N_ ("read ahead in another thread, or bring the data nearer") },
  [LNS_CAUSE_SLEEP] = { "sleep", N_ ("it slept"),
                        N_ ("wait for the event itself instead of sleeping") },
  [LNS_CAUSE_CPU_CONTENTION] = { "cpu-contention", N_ ("it could run and had no CPU"),
                                 N_ ("give the program more CPUs, or start fewer threads") },
  [LNS_CAUSE_CPU_WORK] = { "cpu-work", N_ ("it computed"),
                           N_ ("do this work in another thread, ahead of the GPU's need, or "
                               "on the GPU") },
  [LNS_CAUSE_GPU_SYNC] = { "gpu-sync", N_ ("it waited for the GPU, and so had nothing queued"),
                           N_ ("wait for the GPU less often, or queue the next work before "
                               "waiting") },
  [LNS_CAUSE_LAUNCH_RATE] = { "launch-rate", N_ ("it launched more slowly than the GPU worked"),
                              N_ ("launch fewer, larger kernels: fuse them, batch them, or "
                                  "use CUDA graphs") },
  [LNS_CAUSE_ALLOCATION] = { "allocation", N_ ("it allocated or freed memory"),
                             N_ ("allocate once and use the memory again, or from a pool") },
  [LNS_CAUSE_MODULE_LOAD] = { "module-load", N_ ("it loaded or compiled code"),
                              N_ ("load code before the work begins, or eagerly "
                                  "(CUDA_MODULE_LOADING=EAGER)") },
  [LNS_CAUSE_DRIVER] = { "driver", N_ ("it was in another call of CUDA"),
                         N_ ("call this less often, or outside the loop") },
  [LNS_CAUSE_START_UP] = { "start-up", N_ ("before the first work"),
                           N_ ("begin GPU work earlier, or record a longer run") },
  [LNS_CAUSE_TEAR_DOWN] = { "tear-down", N_ ("after the last work"),
                            N_ ("see what the program does after its last GPU work") },
  [LNS_CAUSE_COLLECTIVE_WAIT] = { "collective-wait", N_ ("it waited for other ranks"),
                                  N_ ("give the ranks equal work: look at the rank that "
                                      "came last") },
  [LNS_CAUSE_DEPENDENCY] = { "dependency", N_ ("work that was queued waited for other work"),
                             N_ ("have the awaited work begin earlier, or do without the "
                                 "wait between streams") },
  [LNS_CAUSE_PROFILER] = { "profiler", N_ ("the recording itself took the time"),
                           N_ ("record less: this time is lost to the recording alone") },
  [LNS_CAUSE_NOT_RECORDED] = { "not-recorded",
                               N_ ("what happened was not recorded: this accuses nobody"),
                               N_ ("record what is missing") },
  [LNS_CAUSE_UNKNOWN] = { "unknown", NULL,
                          N_ ("record more: with -t osrt, a report tells what threads wait for") },
  [LNS_CAUSE_PAGEABLE_COPY] = { "pageable-copy",
                                N_ ("while the GPU is busy: copies of memory that is not pinned"),
                                N_ ("copy from pinned memory (cudaMallocHost, pin_memory)") },
  [LNS_CAUSE_COPY_BOUND] = { "copy-bound",
                             N_ ("while it is busy: only copies ran, and kernels waited"),
                             N_ ("copy less, or copy beside kernels in another stream") },
  [LNS_CAUSE_UNDER_FILLED] = { "under-filled",
                               N_ ("while it is busy: long kernels with few blocks"),
                               N_ ("give the kernel more blocks: larger batches, or several "
                                   "at once in streams") },
  [LNS_CAUSE_SLOW_CLOCKS] = { "slow-clocks",
                              N_ ("while it is busy: something held its clocks down"),
                              N_ ("look at power limit, cooling and clock settings") },
  [LNS_CAUSE_SLOW_STEP] = { "slow-step", N_ ("a few steps took far longer than the others"),
                            N_ ("see what the slow steps do that others do not") },
};

const char *
lns_cause_name (LnsCause cause)
{
  return causes[cause].name;
}

bool
lns_cause_find (const char *name, size_t size, LnsCause *ret_cause)
{
  for (LnsCause cause = 0; cause < LNS_N_CAUSES; cause++)
    if (strlen (causes[cause].name) == size && memcmp (causes[cause].name, name, size) == 0)
      {
        *ret_cause = cause;
        return true;
      }
  return false;
}

const char *
lns_cause_help (LnsCause cause)
{
  return causes[cause].help;
}

const char *
lns_cause_advice (LnsCause cause)
{
  return causes[cause].advice;
}

const char *
lns_confidence_name (LnsConfidence confidence)
{
  static const char *const names[] = { "certain", "likely", "guess" };

  return names[confidence];
}

const char *
lns_why_severity_name (LnsWhySeverity severity)
{
  static const char *const names[] = { "info", "medium", "high" };

  return names[severity];
}
