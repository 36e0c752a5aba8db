/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The entry points that NVTX looks up in this library. Each link unit of a program that contains NVTX calls them, with
 * tables of its own; all get the same handlers and handles. */

#include "capture/inject/nvtx/core.h"
#include "capture/inject/nvtx/names.h"
#include "capture/inject/core/process.h"
#include "capture/inject/core/join.h"

#define LNS_EXPORT __attribute__ ((visibility ("default")))

LNS_EXPORT int InitializeInjectionNvtx2 (LnsNvtxGetExportTable get_export_table);
LNS_EXPORT int InitializeInjectionNvtxExtension (LnsNvtxExtension *extension);

/* Whether NVTX is to call the handlers. Asks nobody for it: NVTX makes all other threads wait while it
 * asks here, and a child forked meanwhile, which has no thread that would ever finish, waits for ever
 * in its first call. So the first handler that is called joins the session. */
static bool
takes_part (void)
{
  const uint64_t generation = lns_process_generation ();
  if (generation >= LNS_GENERATION_FIRST)
    return lns_process_wants_nvtx ();
  return generation != LNS_GENERATION_OFF && lns_process_has_session ();
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

/* Called in place of the functions of extensions that are not recorded; they return what they return
 * without a tool. */

static const void *
miss_memory (void)
{
  lns_nvtx_miss ("NVTX's memory extension");
  return NULL;
}

static const void *
miss_early_counters (void)
{
  lns_nvtx_miss ("an early version of NVTX's counters extension");
  return NULL;
}

/* Has it said that EXTENSION is not recorded: by each of its calls where their answers are known, and
 * else with the process's next event. */
static void
miss_extension (const LnsNvtxExtension *extension)
{
  const void *(*missed) (void) = miss_memory;
  if (extension->module == LNS_NVTX_EXTENSION_COUNTERS)
    missed = miss_early_counters;
  else if (extension->module != LNS_NVTX_EXTENSION_MEMORY)
    {
      lns_nvtx_note_missing ("an unknown extension of NVTX");
      return;
    }
  const LnsNvtxExtensionSegment *segment = &extension->segments[0];
  for (size_t slot = 0; slot < segment->n_slots; slot++)
    segment->slots[slot] = (intptr_t)missed;
}

/* The same for an extension. */
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
