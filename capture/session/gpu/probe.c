/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/gpu/probe.h"

#include <errno.h>
#include <string.h>

#include "src/base/memory.h"

unsigned
lns_gpu_probe (const LnsGpuSamplingOptions *options, int64_t ns, LnsGpuSay say, void *data)
{
  LnsMailbox mailbox;
  bool are_sampled[LNS_WIRE_GPU_MAX] = { false };
  unsigned n_gpus = 0;
  if (!lns_mailbox_open (&mailbox))
    {
      say (data, LNS_SEVERITY_WARNING, "LNS-GPU-004", strerror (errno));
      lns_mailbox_close (&mailbox);
      return 0;
    }
  LnsGpuSampling *sampling = lns_gpu_sampling_new (options, &mailbox);
  if (options->devices == NULL)
    lns_gpu_sampling_add (sampling, "");
  lns_gpu_sampling_begin (sampling, ns, say, data);
  lns_gpu_sampling_stop (sampling);
  LnsBatch *batch = lns_calloc (1, sizeof *batch);
  lns_mailbox_empty (&mailbox, batch);
  for (size_t i = 0; i < batch->events.n; i++)
    {
      const LnsBatchEvent *event = &batch->events.items[i];
      if (event->kind == LNS_BATCH_DIAGNOSTIC && event->text != NULL)
        say (data, event->severity, event->code, event->text);
      else if (event->kind == LNS_BATCH_GPU && event->gpu->head.gpu < LNS_WIRE_GPU_MAX)
        {
          const uint32_t kind = event->gpu->head.kind;
          bool *is_sampled = &are_sampled[event->gpu->head.gpu];
          *is_sampled =
              kind != LNS_WIRE_GPU_FAILURE &&
              (*is_sampled || kind == LNS_WIRE_GPU_FOUND || kind == LNS_WIRE_GPU_FOUND_COUNTERS);
        }
    }
  for (unsigned i = 0; i < LNS_WIRE_GPU_MAX; i++)
    n_gpus += are_sampled[i];
  lns_batch_free (batch);
  lns_gpu_sampling_free (sampling);
  lns_mailbox_close (&mailbox);
  return n_gpus;
}
