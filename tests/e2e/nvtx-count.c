/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* An NVTX injection that only counts: how often each function of each module was called. It shares
 * no line with the real injection, so that a test can hold the counts of the two against each
 * other.
 *
 * At exit it appends one line per called function to the file that NVTX_COUNT_FILE names:
 * "core 9 1200" (module, callback id, calls). Needs nothing but NVIDIA's header. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <nvtx3/nvToolsExtPayload.h>

#define N_SLOTS 64

enum
{
  CORE,
  CORE2,
  PAYLOAD,
  COUNTERS,
  N_MODULES
};

static const char *const module_names[N_MODULES] = { "core", "core2", "payload", "counters" };
static uint64_t n_calls[N_MODULES][N_SLOTS];
static uint64_t next_handle;

/* Each slot has its own function, made by these macros (their octal numbers count to 23); what it
 * returns serves as a handle, a range id or a depth alike. The caller cleans its arguments up, so
 * they need no names here. */
#define SLOT(module, number)                                                                       \
 static uint64_t slot_##module##_##number (void)                                                   \
 {                                                                                                 \
  __atomic_add_fetch (&n_calls[module][number], 1, __ATOMIC_RELAXED);                              \
  return __atomic_add_fetch (&next_handle, 1, __ATOMIC_RELAXED);                                   \
 }
#define SLOTS_8(module, tens)                                                                      \
 SLOT (module, tens##0)                                                                            \
 SLOT (module, tens##1)                                                                            \
 SLOT (module, tens##2)                                                                            \
 SLOT (module, tens##3)                                                                            \
 SLOT (module, tens##4)                                                                            \
 SLOT (module, tens##5)                                                                            \
 SLOT (module, tens##6)                                                                            \
 SLOT (module, tens##7)
#define SLOTS(module) SLOTS_8 (module, 0) SLOTS_8 (module, 01) SLOTS_8 (module, 02)

SLOTS (CORE)
SLOTS (CORE2)
SLOTS (PAYLOAD)
SLOTS (COUNTERS)

#define NAMES_8(module, tens)                                                                      \
 slot_##module##_##tens##0, slot_##module##_##tens##1, slot_##module##_##tens##2,                  \
     slot_##module##_##tens##3, slot_##module##_##tens##4, slot_##module##_##tens##5,              \
     slot_##module##_##tens##6, slot_##module##_##tens##7
#define NAMES(module) NAMES_8 (module, 0), NAMES_8 (module, 01), NAMES_8 (module, 02)

typedef uint64_t (*Slot) (void);

static const Slot slots[N_MODULES][24] = {
  { NAMES (CORE) },
  { NAMES (CORE2) },
  { NAMES (PAYLOAD) },
  { NAMES (COUNTERS) },
};

static void
write_counts (void)
{
  const char *path = getenv ("NVTX_COUNT_FILE");
  FILE *file = path != NULL ? fopen (path, "a") : NULL;
  if (file == NULL)
    return;
  for (int module = 0; module < N_MODULES; module++)
    for (int slot = 0; slot < 24; slot++)
      if (n_calls[module][slot] != 0)
        fprintf (file, "%s %d %llu\n", module_names[module], slot,
                 (unsigned long long)n_calls[module][slot]);
  fclose (file);
}

static void
count_until_exit (void)
{
  static int registered;
  if (__atomic_exchange_n (&registered, 1, __ATOMIC_RELAXED) == 0)
    atexit (write_counts);
}

int InitializeInjectionNvtx2 (NvtxGetExportTableFunc_t get_export_table);
int InitializeInjectionNvtxExtension (nvtxExtModuleInfo_t *info);

__attribute__ ((visibility ("default"))) int
InitializeInjectionNvtx2 (NvtxGetExportTableFunc_t get_export_table)
{
  const NvtxExportTableCallbacks *callbacks = get_export_table (NVTX_ETID_CALLBACKS);
  static const NvtxCallbackModule modules[] = { NVTX_CB_MODULE_CORE, NVTX_CB_MODULE_CORE2 };

  for (int module = 0; module < 2; module++)
    {
      NvtxFunctionTable table;
      unsigned size;
      if (!callbacks->GetModuleFunctionTable (modules[module], &table, &size))
        continue;
      for (unsigned slot = 1; slot < size && slot < 24; slot++)
        *table[slot] = (NvtxFunctionPointer)slots[module][slot];
    }
  count_until_exit ();
  return 1;
}

__attribute__ ((visibility ("default"))) int
InitializeInjectionNvtxExtension (nvtxExtModuleInfo_t *info)
{
  int module = info->moduleId == 2 ? PAYLOAD : info->moduleId == 4 ? COUNTERS : -1;
  if (module < 0)
    return 0;
  for (size_t segment = 0; segment < info->segmentsCount; segment++)
    for (size_t slot = 0; slot < info->segments[segment].slotCount && slot < 24; slot++)
      info->segments[segment].functionSlots[slot] = (intptr_t)slots[module][slot];
  count_until_exit ();
  return 1;
}
