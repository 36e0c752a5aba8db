/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/cuda/topology.h"
#include "capture/inject/cuda/subscriber.h"
#include "capture/wire/cupti-topology.h"

void
lns_cuda_ask_topology (void)
{
  static const uint32_t kinds[] = { LNS_CUPTI_PCIE, LNS_CUPTI_NVLINK };
  static bool is_asked; /* of the engine's thread alone */
  const LnsWireCuptiSizes *sizes = &lns_process.pool.header->cupti;
  const bool can_dump = lns_cuda_is_shared () || lns_cupti.ActivityEnableAndDump != NULL;
  if (is_asked || !can_dump || sizes->version == 0 ||
      !__atomic_load_n (&lns_cuda_engine.is_set_up, __ATOMIC_ACQUIRE))
    return;
  is_asked = true;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (lns_cupti_knows_topology (kinds[i], sizes->record_bytes[kinds[i]]) &&
        !lns_cuda_is_silent () && lns_cuda_visit ())
      {
        (void)lns_cuda_enable_with_past ((CUpti_ActivityKind)kinds[i]);
        lns_cuda_leave ();
      }
}
