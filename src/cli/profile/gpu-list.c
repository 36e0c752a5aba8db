/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What --gpu-metrics-devices and --gpu-metrics-set may name on this machine. */

#include "src/cli/profile/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/session/gpu/sampling.h"
#include "src/cli/terminal/language.h"

static bool
is_help (const char *given)
{
  return given != NULL && strcmp (given, "help") == 0;
}

bool
lns_profile_asks_for_list (const LnsProfileOptions *given)
{
  return is_help (given->gpu_metrics_devices) || is_help (given->gpu_metrics_set);
}

bool
lns_profile_list (const LnsProfileOptions *given, LnsError *error)
{
  if (is_help (given->gpu_metrics_devices))
    {
      char *sampler = lns_profile_find_sampler (error);
      const bool good =
          sampler != NULL &&
          (lns_gpu_sampling_list (sampler) ||
           lns_error_set (error, LNS_ERROR_UNSUPPORTED, 0,
                          "--gpu-metrics-devices: the CUDA driver finds no GPU; `nvidia-smi -L` "
                          "lists those of the machine"));
      free (sampler);
      if (!good)
        return false;
      printf ("all: each of them\n"
              "cuda-visible: those that CUDA_VISIBLE_DEVICES allows\n"
              "none: none of them, the default\n");
    }
  if (is_help (given->gpu_metrics_set))
    printf ("general: all metrics that can be sampled at once, the default\n"
            "compute: SMs, tensor cores and launches\n"
            "memory: memory, caches, PCIe and NVLink\n"
            "tu10x, tu11x, ga100, ga10x, ad10x, gh100, gb10x, gb20x: the same as general\n");
  return true;
}
