/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/cli/profile/switches.h"

#include <signal.h>
#include <stdlib.h>
#include <strings.h>

#include "src/cli/terminal/language.h"
#include "src/cli/terminal/say.h"

const LnsRefusal lns_profile_refusals[LNS_PROFILE_N_REFUSALS] = {
  { .names = "isr,etw-provider,retain-etw-files,wddm-memory-trace,wddm-additional-events,"
             "wddm-backtraces,dx12-wait-calls,dx12-gpu-workload,"
             "dx-force-declare-adapter-removal-support,injection-use-detours,system-wide",
    .why = N_ ("is a switch for Windows, and Lanescope records Linux programs; leave it out") },
  { .names = "hotkey-capture,start-frame-index,duration-frames,auto-report-name,"
             "opengl-gpu-workload,vulkan-gpu-workload,vulkan-sc-gpu-workload",
    .why = N_ ("is about graphics, which Lanescope does not record; leave it out") },
  { .names = "accelerator-trace,clock-frequency-changes,vsync,process-scope,qnx-kernel-events,"
             "qnx-kernel-events-mode,xhv-trace,xhv-trace-events,xhv-vm-symbols,"
             "sampling-trigger,soc-metrics,soc-metrics-set,soc-metrics-frequency,"
             "cpu-cluster-events",
    .why = N_ (
        "is a switch for QNX and embedded boards, on which Lanescope does not run; leave it out") },
};

bool
lns_profile_parse_kill (const char *kill, int *ret_signal, LnsError *error)
{
  char *end;
  long number = strtol (kill, &end, 10);
  if (strcasecmp (kill, "none") == 0 || strcasecmp (kill, "false") == 0)
    *ret_signal = 0;
  else if (strcasecmp (kill, "sigterm") == 0 || strcasecmp (kill, "true") == 0)
    *ret_signal = SIGTERM;
  else if (strcasecmp (kill, "sigkill") == 0)
    *ret_signal = SIGKILL;
  else if (end != kill && *end == '\0' && number > 0 && number <= SIGRTMAX)
    *ret_signal = (int)number;
  else
    return lns_cli_usage (error, "--kill: “%s” is not none, sigterm, sigkill or a signal number",
                          kill);
  return true;
}
