/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/import/trace/kind.h"

#include <strings.h>

LnsTraceKind
_lns_trace_kind (const LnsTraceEvent *event)
{
  static const struct
  {
    const char *name;
    size_t size_bytes;
    LnsTraceKind kind;
  } names[] = { { "kernel", 6, LNS_TRACE_IS_KERNEL },
                { "hip_kernel", 10, LNS_TRACE_IS_KERNEL },
                { "gpu_memcpy", 10, LNS_TRACE_IS_COPY },
                { "memcpy", 6, LNS_TRACE_IS_COPY },
                { "gpu_memset", 10, LNS_TRACE_IS_SET },
                { "memset", 6, LNS_TRACE_IS_SET },
                { "cuda_sync", 9, LNS_TRACE_IS_SYNC },
                { "cuda_runtime", 12, LNS_TRACE_IS_RUNTIME_CALL },
                { "runtime", 7, LNS_TRACE_IS_RUNTIME_CALL },
                { "cuda_driver", 11, LNS_TRACE_IS_DRIVER_CALL },
                { "driver", 6, LNS_TRACE_IS_DRIVER_CALL },
                { "gpu_user_annotation", 19, LNS_TRACE_IS_GPU_ANNOTATION },
                { "nvtx", 4, LNS_TRACE_IS_NVTX },
                { "ac2g", 4, LNS_TRACE_IS_CORRELATION },
                { "async_cpu_to_gpu", 16, LNS_TRACE_IS_CORRELATION } };
  const LnsTraceValue category = event->fields[LNS_TRACE_CATEGORY];

  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (category.size_bytes == names[i].size_bytes &&
        strncasecmp (category.text, names[i].name, category.size_bytes) == 0)
      return names[i].kind;
  return LNS_TRACE_IS_OTHER;
}
