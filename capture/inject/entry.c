/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The entry points that NVTX looks up in this library. Each link unit of a program that contains NVTX calls them, with
 * tables of its own; all get the same handlers and handles. */

#include "capture/inject/nvtx/nvtx.h"
#include "capture/inject/core/process.h"
#include "capture/inject/core/connection.h"
#include "capture/inject/core/first-call.h"

#define LNS_EXPORT __attribute__ ((visibility ("default")))

LNS_EXPORT int InitializeInjectionNvtx2 (LnsNvtxGetExportTable get_export_table);
LNS_EXPORT int InitializeInjectionNvtxExtension (LnsNvtxExtension *extension);

#define PAGE_BYTES 4096u

/* Notes that this thread is in the first call of the link unit with the tables CALLBACKS and VERSION, if these are part of
 * what NVTX's own header defines. */
static void
begin_first_call (const LnsNvtxCallbacks *callbacks, const LnsNvtxVersionInfo *version)
{
  LnsNvtxGlobals *globals =
      (LnsNvtxGlobals *)((uintptr_t)callbacks - offsetof (LnsNvtxGlobals, callbacks));
  /* What lies before the table on its page can be read. */
  if (version == &globals->version &&
      (uintptr_t)callbacks % PAGE_BYTES >= offsetof (LnsNvtxGlobals, callbacks) &&
      globals->init_state == LNS_NVTX_INIT_STARTED)
    lns_first_call_begin (&globals->init_state, sizeof globals->init_state, LNS_NVTX_INIT_STARTED);
}

/* The same for an extension, whose state lies before its first slot. */
static void
begin_first_call_of_extension (const LnsNvtxExtension *extension)
{
  intptr_t *slots = extension->segments[0].slots;
  if ((uintptr_t)slots % PAGE_BYTES >= sizeof *slots && slots[-1] == LNS_NVTX_EXTENSION_STARTING)
    lns_first_call_begin (&slots[-1], sizeof *slots, LNS_NVTX_EXTENSION_STARTING);
}

/* Whether NVTX is to call the handlers. Does not join the session: NVTX makes all other threads wait during this call. The
 * first handler that is called joins the session. */
static bool
takes_part (void)
{
  const uint64_t generation = lns_process_generation ();
  if (generation >= LNS_GENERATION_FIRST)
    return lns_process_wants_nvtx ();
  return generation != LNS_GENERATION_OFF && lns_connection_is_possible ();
}

/* Sets HANDLERS in the slots that the program's tables have: older tables have fewer. Returns whether any is set. */
static bool
set_handlers (const LnsNvtxCallbacks *callbacks, const LnsNvtxHandler *handlers)
{
  bool is_any_set = false;
  for (; handlers->handler != NULL; handlers++)
    {
      LnsNvtxTable table = NULL;
      unsigned int size = 0;
      if (!callbacks->get_module_table (handlers->module, &table, &size) || table == NULL ||
          handlers->slot >= size || table[handlers->slot] == NULL)
        continue;
      *table[handlers->slot] = handlers->handler;
      is_any_set = true;
    }
  return is_any_set;
}

/* Called by NVTX. Returns 1 if NVTX is to call the handlers, 0 if it is to do nothing from now on. */
int
InitializeInjectionNvtx2 (LnsNvtxGetExportTable get_export_table)
{
  const LnsNvtxCallbacks *callbacks =
      get_export_table == NULL ? NULL : get_export_table (LNS_NVTX_EXPORT_CALLBACKS);
  if (callbacks == NULL || callbacks->struct_bytes < sizeof *callbacks)
    return 0;
  begin_first_call (callbacks, get_export_table (LNS_NVTX_EXPORT_VERSION));
  if (!takes_part ())
    return 0;
  (void)set_handlers (callbacks, lns_name_handlers);
  return set_handlers (callbacks, lns_core_handlers);
}

/* Take the place of functions of extensions that are not recorded. They return what these return without a tool. */

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

/* Has a report say that EXTENSION is not recorded: through handlers that note each call if the results of its functions
 * are known, else with the process's next event. */
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

/* Sets those of HANDLERS that EXTENSION has slots for. */
static void
set_extension_handlers (const LnsNvtxExtension *extension, const LnsNvtxHandler *handlers)
{
  const LnsNvtxExtensionSegment *segment = &extension->segments[0];
  for (; handlers->handler != NULL; handlers++)
    if (handlers->module == extension->module && handlers->slot < segment->n_slots)
      segment->slots[handlers->slot] = (intptr_t)handlers->handler;
}

/* The same for an extension. */
int
InitializeInjectionNvtxExtension (LnsNvtxExtension *extension)
{
  if (extension == NULL || extension->struct_bytes < sizeof *extension ||
      extension->n_segments == 0 || extension->segments == NULL)
    return 0;
  begin_first_call_of_extension (extension);
  if (!takes_part ())
    return 0;
  if (extension->module != LNS_NVTX_EXTENSION_PAYLOAD &&
      (extension->module != LNS_NVTX_EXTENSION_COUNTERS ||
       extension->compatibility < LNS_NVTX_COUNTERS_COMPATIBLE))
    {
      miss_extension (extension);
      return 1;
    }
  set_extension_handlers (extension, lns_schema_handlers);
  set_extension_handlers (extension, lns_payload_handlers);
  set_extension_handlers (extension, lns_counter_handlers);
  return 1;
}
