/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/cpu/stacks.h"
#include "capture/session/decode/cpu/unwinding.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/memory.h"

typedef struct
{
  LnsCpuMap map;
  LnsUnwindMaps code;
  bool is_current; /* `code` is what `map` says */
} Process;

struct LnsStacks
{
  LnsUnwinder *unwinder;
  LnsIdMap processes; /* Process by pid */
  LnsIdMap files;     /* 1 + number of the unwinder's, by the hash of the identity */
};

LnsStacks *
lns_stacks_new (const LnsMachine *machine)
{
  LnsStacks *stacks = lns_calloc (1, sizeof *stacks);
  stacks->unwinder = lns_unwinder_new (machine);
  return stacks;
}

static void
free_process (Process *process)
{
  _lns_cpu_map_clear (&process->map);
  lns_array_clear (&process->code);
  free (process);
}

void
lns_stacks_free (LnsStacks *stacks)
{
  Process *process;
  if (stacks == NULL)
    return;
  for (size_t at = 0; (process = lns_id_map_next (&stacks->processes, &at)) != NULL;)
    free_process (process);
  lns_id_map_clear (&stacks->processes);
  lns_id_map_clear (&stacks->files);
  lns_unwinder_free (stacks->unwinder);
  free (stacks);
}

/* The process PID, to be changed. NULL if memory is short. */
static Process *
change (LnsStacks *stacks, int32_t pid)
{
  Process *process = lns_id_map_get (&stacks->processes, (uint32_t)pid);
  if (process == NULL && (process = calloc (1, sizeof *process)) != NULL &&
      !lns_id_map_set (&stacks->processes, (uint32_t)pid, process))
    {
      free (process);
      return NULL;
    }
  if (process != NULL)
    process->is_current = false;
  return process;
}

/* The unwinder's number of MAPPING's file. One that many processes of a container have is read once, too. */
static uint32_t
number_of (LnsStacks *stacks, int32_t pid, const LnsCpuMapping *mapping, const uint8_t *identity)
{
  const uint64_t key = lns_hash (identity, LNS_FILE_IDENTITY_BYTES);
  const uint64_t known = lns_id_map_number (&stacks->files, key);
  if (known != 0)
    return (uint32_t)(known - 1);
  LnsBuildId build_id = { .n = mapping->n_build_id };
  memcpy (build_id.bytes, mapping->build_id, mapping->n_build_id);
  const uint32_t number = _lns_unwinding_add_file (stacks->unwinder, pid, mapping->path, &build_id);
  lns_id_map_set (&stacks->files, key, (void *)(uintptr_t)(1 + (uint64_t)number));
  return number;
}

void
lns_stacks_map (LnsStacks *stacks,
                int32_t pid,
                const LnsCpuMapping *mapping,
                const uint8_t identity[static LNS_FILE_IDENTITY_BYTES])
{
  Process *process = change (stacks, pid);
  LnsCpuModule *module = process != NULL ? _lns_cpu_map_add (&process->map, mapping) : NULL;
  if (module == NULL)
    return;
  if (module->kind == LNS_MODULE_ELF)
    module->unwind_file = 1 + number_of (stacks, pid, mapping, identity);
}

void
lns_stacks_fork (LnsStacks *stacks, int32_t pid, int32_t parent_pid)
{
  lns_stacks_end (stacks, pid); /* its end was lost */
  const Process *parent = lns_id_map_get (&stacks->processes, (uint32_t)parent_pid);
  Process *process = parent != NULL ? change (stacks, pid) : NULL;
  if (process != NULL)
    _lns_cpu_map_inherit (&process->map, &parent->map);
}

void
lns_stacks_end (LnsStacks *stacks, int32_t pid)
{
  Process *process = lns_id_map_take (&stacks->processes, (uint32_t)pid);
  if (process != NULL)
    free_process (process);
}

/* Continues the N addresses of CHAIN with those of N_FOLLOWED that frame pointers lead to from the same call. Returns how
 * many there are then. The kernel misses the caller of a function that has not made its frame, so the call is there or one
 * place before. */
static size_t
follow (uint64_t *chain, size_t n, size_t most, const uint64_t *followed, size_t n_followed)
{
  for (size_t at = n - 1; at > 0 && at + 2 >= n; at--)
    if (at < n_followed && followed[at] == chain[n - 1])
      {
        while (++at < n_followed && n < most)
          chain[n++] = followed[at];
        break;
      }
  return n;
}

size_t
lns_stacks_unwind (LnsStacks *stacks,
                   int32_t pid,
                   const LnsRegisters *registers,
                   const LnsStackCopy *stack,
                   const uint64_t *by_frame_pointers,
                   size_t n,
                   uint64_t *ret_chain,
                   size_t most)
{
  static const LnsUnwindMaps nothing = { 0 };
  Process *process = lns_id_map_get (&stacks->processes, (uint32_t)pid);
  LnsUnwindEnd end;
  if (process != NULL && !process->is_current)
    _lns_unwinding_list (stacks->unwinder, pid, &process->map, &process->code);
  if (process != NULL)
    process->is_current = true;
  size_t n_chain =
      _lns_unwinding_chain (stacks->unwinder, registers, stack,
                            process != NULL ? &process->code : &nothing, ret_chain, most, &end);
  /* The copy ends, or it is code without unwind tables, such as an interpreter makes: frame pointers may lead on. */
  if (end == LNS_UNWIND_STACK_ENDED || end == LNS_UNWIND_NO_RULE)
    {
      const size_t n_before = n_chain;
      n_chain = follow (ret_chain, n_chain, most, by_frame_pointers, n);
      /* Code without tables often has no frame pointers either, and then they lead somewhere else and end there. */
      if (n_chain == n_before || end == LNS_UNWIND_NO_RULE)
        end = LNS_UNWIND_LIMIT;
    }
  if (end == LNS_UNWIND_LIMIT)
    ret_chain[n_chain < most ? n_chain++ : n_chain - 1] = LNS_CPU_CUT;
  return n_chain;
}
