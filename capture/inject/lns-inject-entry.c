/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What NVTX looks up in this library. Each link unit of a program that holds NVTX calls in here by
 * itself, with tables of its own; all get the same handlers and handles. */

#include "capture/inject/lns-inject-core.h"
#include "capture/inject/lns-inject-names.h"
#include "capture/inject/lns-inject-process.h"

#define LNS_EXPORT __attribute__ ((visibility ("default")))

LNS_EXPORT int InitializeInjectionNvtx2 (LnsNvtxGetExportTable get_export_table);
LNS_EXPORT int InitializeInjectionNvtxExtension (LnsNvtxExtension *extension);

/* Whether this process is in a session that looks at NVTX; the first to ask joins. */
static bool
takes_part (void)
{
  uint64_t generation = lns_process_generation ();
  if (generation < LNS_GENERATION_FIRST)
    generation = lns_process_join ();
  /* It is asked once for each link unit: what CUDA may bring about later is not to be missed. */
  if (generation == LNS_GENERATION_LATE || generation == LNS_GENERATION_STARTING)
    return true;
  if (generation < LNS_GENERATION_FIRST)
    return false;
  const LnsWireOptions *options = &lns_process.pool.header->options;
  return (options->traces & LNS_WIRE_TRACE_NVTX) || options->range_kind == LNS_WIRE_RANGE_NVTX;
}

/* Sets the handlers of MODULE in the slots that the program's table has: older ones have fewer. */
static bool
set_handlers (const LnsNvtxCallbacks *callbacks, int32_t module, const LnsNvtxHandler *handlers)
{
  LnsNvtxTable table = NULL;
  unsigned int size = 0;
  if (!callbacks->get_module_table (module, &table, &size) || table == NULL)
    return false;
  for (; handlers->handler != NULL; handlers++)
    if (handlers->slot < size && table[handlers->slot] != NULL)
      *table[handlers->slot] = handlers->handler;
  return true;
}

/* Returns 1 when NVTX is to call the handlers, 0 when it is to do nothing from now on. */
int
InitializeInjectionNvtx2 (LnsNvtxGetExportTable get_export_table)
{
  const LnsNvtxCallbacks *callbacks =
      get_export_table == NULL ? NULL : get_export_table (LNS_NVTX_EXPORT_CALLBACKS);
  if (callbacks == NULL || callbacks->struct_bytes < sizeof *callbacks || !takes_part ())
    return 0;
  bool core = set_handlers (callbacks, LNS_NVTX_MODULE_CORE, lns_core_handlers);
  bool core2 = set_handlers (callbacks, LNS_NVTX_MODULE_CORE2, lns_core2_handlers);
  (void)set_handlers (callbacks, LNS_NVTX_MODULE_CUDA, lns_cuda_handlers);
  (void)set_handlers (callbacks, LNS_NVTX_MODULE_CUDART, lns_cudart_handlers);
  (void)set_handlers (callbacks, LNS_NVTX_MODULE_OPENCL, lns_opencl_handlers);
  (void)set_handlers (callbacks, LNS_NVTX_MODULE_SYNC, lns_sync_handlers);
  return core || core2;
}

/* Says what of EXTENSION is not recorded. */
static void
miss_extension (const LnsNvtxExtension *extension)
{
  if (extension->module == LNS_NVTX_EXTENSION_MEMORY)
    lns_nvtx_miss ("NVTX's memory extension");
  else if (extension->module == LNS_NVTX_EXTENSION_COUNTERS)
    lns_nvtx_miss ("an early version of NVTX's counters extension");
  else
    lns_nvtx_miss ("an unknown extension of NVTX");
}

/* The same for an extension. One that is not known here stays without handlers. */
int
InitializeInjectionNvtxExtension (LnsNvtxExtension *extension)
{
  if (extension == NULL || extension->struct_bytes < sizeof *extension ||
      extension->n_segments == 0 || extension->segments == NULL || !takes_part ())
    return 0;
  const LnsNvtxHandler *handlers = NULL;
  if (extension->module == LNS_NVTX_EXTENSION_PAYLOAD)
    handlers = lns_payload_handlers;
  else if (extension->module == LNS_NVTX_EXTENSION_COUNTERS &&
           extension->compatibility >= LNS_NVTX_COUNTERS_COMPATIBLE)
    handlers = lns_counter_handlers;
  else
    miss_extension (extension);
  const LnsNvtxExtensionSegment *segment = &extension->segments[0];
  for (; handlers != NULL && handlers->handler != NULL; handlers++)
    if (handlers->slot < segment->n_slots)
      segment->slots[handlers->slot] = (intptr_t)handlers->handler;
  return 1;
}
