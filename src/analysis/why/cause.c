/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/why/cause.h"

#include <string.h>

typedef struct
{
  const char *name, *advice;
} Row;

static const Row causes[LNS_N_CAUSES] = {
  [LNS_CAUSE_LOCK_WAIT] = { "lock-wait",
                            "have the other thread finish earlier: more workers, or work "
                            "that is prepared one step ahead" },
  [LNS_CAUSE_IO_WAIT] = { "io-wait", "read ahead in another thread, or bring the data nearer" },
  [LNS_CAUSE_SLEEP] = { "sleep", "wait for the event itself instead of sleeping" },
  [LNS_CAUSE_CPU_CONTENTION] = { "cpu-contention",
                                 "give the program more CPUs, or start fewer threads" },
  [LNS_CAUSE_CPU_WORK] = { "cpu-work",
                           "do this work in another thread, ahead of the GPU's need, or "
                           "on the GPU" },
  [LNS_CAUSE_GPU_SYNC] = { "gpu-sync", "wait for the GPU less often, or queue the next work before "
                                       "waiting" },
  [LNS_CAUSE_LAUNCH_RATE] = { "launch-rate",
                              "launch fewer, larger kernels: fuse them, batch them, or "
                              "use CUDA graphs" },
  [LNS_CAUSE_ALLOCATION] = { "allocation",
                             "allocate once and use the memory again, or from a pool" },
  [LNS_CAUSE_MODULE_LOAD] = { "module-load", "load code before the work begins, or eagerly "
                                             "(CUDA_MODULE_LOADING=EAGER)" },
  [LNS_CAUSE_DRIVER] = { "driver", "call this less often, or outside the loop" },
  [LNS_CAUSE_START_UP] = { "start-up", "begin GPU work earlier, or record a longer run" },
  [LNS_CAUSE_TEAR_DOWN] = { "tear-down", "see what the program does after its last GPU work" },
  [LNS_CAUSE_COLLECTIVE_WAIT] = { "collective-wait",
                                  "give the ranks equal work: look at the rank that "
                                  "came last" },
  [LNS_CAUSE_DEPENDENCY] = { "dependency", "have the awaited work begin earlier, or do without the "
                                           "wait between streams" },
  [LNS_CAUSE_PROFILER] = { "profiler", "record less: this time is lost to the recording alone" },
  [LNS_CAUSE_NOT_RECORDED] = { "not-recorded", "record what is missing" },
  [LNS_CAUSE_UNKNOWN] = { "unknown", "" },
  [LNS_CAUSE_PAGEABLE_COPY] = { "pageable-copy",
                                "copy from pinned memory (cudaMallocHost, pin_memory)" },
  [LNS_CAUSE_COPY_BOUND] = { "copy-bound", "copy less, or copy beside kernels in another stream" },
  [LNS_CAUSE_UNDER_FILLED] = { "under-filled",
                               "give the kernel more blocks: larger batches, or several "
                               "at once in streams" },
  [LNS_CAUSE_SLOW_CLOCKS] = { "slow-clocks", "look at power limit, cooling and clock settings" },
  [LNS_CAUSE_SLOW_STEP] = { "slow-step", "see what the slow steps do that others do not" },
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
