/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The registers of a sampled thread, numbered as DWARF numbers them, so that the unwinder knows no machine by name. */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#define LNS_N_REGISTERS 34 /* the highest number that a machine below has, and one */

/* What the unwinder needs to know of a kind of machine. */
typedef struct
{
  uint16_t elf_machine;  /* EM_… */
  uint8_t stack_pointer; /* DWARF's number of the register, as are the next ones */
  uint8_t
      frame_pointer; /* points to the caller's frame pointer and, 8 bytes further, the return address */
  uint8_t
      program_counter; /* of the frame itself; one that DWARF does not use where it names none */
  uint64_t
      address_mask; /* the bits of a return address that are not its signature (pointer authentication) */
  const uint8_t *from_perf; /* DWARF's number of each register of perf's, 0xFF where it has none */
  unsigned n_from_perf;
} LnsMachine;

/* The machine whose ELF files say ELF_MACHINE (EM_X86_64 or EM_AARCH64). NULL for others. Static. */
const LnsMachine *lns_machine_find (uint16_t elf_machine);

/* The machine that this runs on. NULL if it is none of these. Static. */
const LnsMachine *lns_machine_here (void);

typedef struct
{
  uint64_t values[LNS_N_REGISTERS];
  uint64_t known; /* bit N: values[N] is known */
} LnsRegisters;

/* Takes the registers of a perf sample: PERF_MASK is the event's sample_regs_user, VALUES has one value for each of its
 * bits, the lowest first, N_VALUES in all. False if the counts differ or the program counter or stack pointer is missing. */
bool lns_registers_from_perf (const LnsMachine *machine,
                              uint64_t perf_mask,
                              const uint64_t *values,
                              unsigned n_values,
                              LnsRegisters *ret_registers);

static inline bool
lns_register_is_known (const LnsRegisters *registers, unsigned number)
{
  return number < LNS_N_REGISTERS && (registers->known >> number & 1) != 0;
}

static inline void
lns_register_set (LnsRegisters *registers, unsigned number, uint64_t value)
{
  registers->values[number] = value;
  registers->known |= UINT64_C (1) << number;
}
