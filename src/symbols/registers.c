/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/symbols/registers.h"

#include <elf.h>
#include <stddef.h>

#define NONE 0xFF

/* perf: arch/x86/include/uapi/asm/perf_regs.h, in its order: ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8 … r15.
 * DWARF: System V ABI for AMD64, figure 3.36. */
static const uint8_t x86_64_from_perf[] = { 0,  3,    2,    1,    4,    5,    6,    7,
                                            16, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
                                            8,  9,    10,   11,   12,   13,   14,   15 };

/* perf: arch/arm64/include/uapi/asm/perf_regs.h: x0 … x29, lr, sp, pc. DWARF for the Arm 64-bit architecture: x0 … x30, sp
 * (31), pc (32). */
static const uint8_t aarch64_from_perf[] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                             11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                             22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32 };

static const LnsMachine machines[] = {
  { EM_X86_64, 7, 6, 16, UINT64_MAX, x86_64_from_perf, sizeof x86_64_from_perf },
  /* A signature lies above the 48 bits of a user address. */
  { EM_AARCH64, 31, 29, 32, (UINT64_C (1) << 48) - 1, aarch64_from_perf, sizeof aarch64_from_perf },
};

const LnsMachine *
lns_machine_find (uint16_t elf_machine)
{
  for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
    if (machines[i].elf_machine == elf_machine)
      return &machines[i];
  return NULL;
}

const LnsMachine *
lns_machine_here (void)
{
#if defined __x86_64__
  return lns_machine_find (EM_X86_64);
#elif defined __aarch64__
  return lns_machine_find (EM_AARCH64);
#else
  return NULL;
#endif
}

bool
lns_registers_from_perf (const LnsMachine *machine,
                         uint64_t perf_mask,
                         const uint64_t *values,
                         unsigned n_values,
                         LnsRegisters *ret_registers)
{
  *ret_registers = (LnsRegisters){ .known = 0 };
  if ((unsigned)__builtin_popcountll (perf_mask) != n_values)
    return false;
  for (unsigned bit = 0, i = 0; bit < 64; bit++)
    if ((perf_mask >> bit & 1) != 0)
      {
        if (bit < machine->n_from_perf && machine->from_perf[bit] != NONE)
          lns_register_set (ret_registers, machine->from_perf[bit], values[i]);
        i++;
      }
  return lns_register_is_known (ret_registers, machine->program_counter) &&
         lns_register_is_known (ret_registers, machine->stack_pointer);
}
