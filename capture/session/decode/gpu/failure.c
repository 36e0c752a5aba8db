/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/gpu/gpu.h"

#include <stdio.h>

#include "src/base/language.h"

#define TEXT_BYTES LNS_GPU_FAILURE_BYTES

/* What keeps all GPUs from being sampled: WHY is a library's word for it. */
static const char *
library_text (const LnsWireGpuFailure *failure, const char *why, char ret_text[TEXT_BYTES])
{
  switch ((LnsWireGpuCause)failure->cause)
    {
    case LNS_WIRE_GPU_NO_DRIVER:
      snprintf (ret_text, TEXT_BYTES,
                LNS_SENTENCE ("GPU metrics are not recorded, as the CUDA driver cannot be used "
                              "(%s); `nvidia-smi` says whether it works"),
                why);
      return "LNS-GPU-005";
    case LNS_WIRE_GPU_NO_CUPTI:
      snprintf (ret_text, TEXT_BYTES,
                LNS_SENTENCE ("GPU metrics are not recorded, as libcupti cannot be loaded (%s); "
                              "install CUPTI 12.6 or later, or name it with --cupti-path"),
                why);
      return "LNS-GPU-005";
    case LNS_WIRE_GPU_OLD_CUPTI:
      snprintf (ret_text, TEXT_BYTES,
                LNS_SENTENCE ("GPU metrics are not recorded, as CUPTI is too old (API version %d); "
                              "install CUPTI 12.6 or later, or name it with --cupti-path"),
                (int)failure->result);
      return "LNS-GPU-005";
    case LNS_WIRE_GPU_NO_HOST:
      snprintf (ret_text, TEXT_BYTES, "%s",
                LNS_SENTENCE ("GPU metrics are not recorded, as CUPTI does not find "
                              "libnvperf_host.so; install all of CUPTI, where it lies beside "
                              "libcupti"));
      return "LNS-GPU-005";
    case LNS_WIRE_GPU_NO_SUCH:
      snprintf (ret_text, TEXT_BYTES,
                LNS_SENTENCE ("GPU %s of --gpu-metrics-devices is not there; `nvidia-smi -L` lists "
                              "the GPUs"),
                why);
      return "LNS-GPU-006";
    case LNS_WIRE_GPU_NOT_ALLOWED:
      snprintf (ret_text, TEXT_BYTES, "%s",
                LNS_SENTENCE ("GPU metrics are not recorded, as only root may read the counters of "
                              "GPUs here; run Lanescope as root, or load the driver's module with "
                              "NVreg_RestrictProfilingToAdminUsers=0"));
      return "LNS-GPU-007";
    case LNS_WIRE_GPU_REFUSED:
      snprintf (
          ret_text, TEXT_BYTES,
          LNS_SENTENCE ("GPU metrics are not recorded, as CUPTI refuses (%s, CUPTI error "
                        "%d); try another CUPTI with --cupti-path, one that suits the driver"),
          why, (int)failure->result);
      return "LNS-GPU-010";
    default:
      return NULL;
    }
}

const char *
lns_gpu_failure_text (const LnsWireGpuFailure *failure, char ret_text[TEXT_BYTES])
{
  char why[72], bus[32];
  const int result = (int)failure->result;
  snprintf (why, sizeof why, "%.71s", failure->text);
  snprintf (bus, sizeof bus, "%.31s", failure->bus);
  switch ((LnsWireGpuCause)failure->cause)
    {
    case LNS_WIRE_GPU_BUSY:
      snprintf (ret_text, TEXT_BYTES,
                LNS_SENTENCE ("metrics of GPU %s are not recorded, as another program holds its "
                              "counters (CUPTI error %d); end it, or pause DCGM with `dcgmi "
                              "profile --pause`"),
                bus, result);
      return "LNS-GPU-008";
    case LNS_WIRE_GPU_MIG:
      snprintf (ret_text, TEXT_BYTES,
                LNS_SENTENCE ("metrics of GPU %s are not recorded, as CUPTI cannot sample a GPU in "
                              "MIG mode; choose others with --gpu-metrics-devices, or turn MIG off "
                              "with `nvidia-smi -mig 0`"),
                bus);
      return "LNS-GPU-009";
    case LNS_WIRE_GPU_UNSUPPORTED:
      snprintf (ret_text, TEXT_BYTES,
                LNS_SENTENCE ("metrics of GPU %s are not recorded, as CUPTI cannot sample it (%s, "
                              "CUPTI error %d); choose others with --gpu-metrics-devices"),
                bus, why, result);
      return "LNS-GPU-009";
    case LNS_WIRE_GPU_NO_METRICS:
      snprintf (
          ret_text, TEXT_BYTES,
          LNS_SENTENCE ("metrics of GPU %s are not recorded, as CUPTI has none of the set for "
                        "the chip %s; choose another --gpu-metrics-set, or install a newer "
                        "CUPTI"),
          bus, why);
      return "LNS-GPU-009";
    case LNS_WIRE_GPU_REFUSED:
      if (bus[0] == '\0')
        return library_text (failure, why, ret_text);
      snprintf (ret_text, TEXT_BYTES,
                LNS_SENTENCE ("metrics of GPU %s are not recorded, as CUPTI refuses (%s, CUPTI "
                              "error %d); see whether another program uses the counters, or run "
                              "Lanescope as root"),
                bus, why, result);
      return "LNS-GPU-010";
    case LNS_WIRE_GPU_BROKE_OFF:
      snprintf (ret_text, TEXT_BYTES,
                LNS_SENTENCE ("metrics of GPU %s end early, as CUPTI failed (%s, CUPTI error %d); "
                              "`dmesg | grep Xid` says whether the GPU did"),
                bus, why, result);
      return "LNS-GPU-011";
    case LNS_WIRE_GPU_WRONG_CLOCK:
      snprintf (ret_text, TEXT_BYTES,
                LNS_SENTENCE ("metrics of GPU %s are not recorded, as the times that CUPTI gives "
                              "them cannot be right (%s); try another CUPTI with --cupti-path"),
                bus, why);
      return "LNS-GPU-012";
    default:
      return library_text (failure, why, ret_text);
    }
}
