/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Evaluates the DWARF expressions of call frame information (DWARF 5, section 2.5): those of PLT entries and of the
 * frames that the kernel makes for signal handlers. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/symbols/registers.h"

/* A copy of the top of a thread's stack. */
typedef struct
{
  const uint8_t *bytes; /* not owned */
  size_t n;
  uint64_t address; /* that the first byte had in the thread */
} LnsStackCopy;

/* Reads the WIDTH_BYTES (1–8) at ADDRESS. False if the copy does not have them. */
bool lns_stack_read (const LnsStackCopy *stack,
                     uint64_t address,
                     unsigned width_bytes,
                     uint64_t *ret_value);

/* Evaluates the N_BYTES at BYTES, with *INITIAL (the CFA; may be NULL) on the stack of values. False if it is broken, needs
 * what is not known, or is longer than any real one: at most 1,000 operations are performed. */
bool lns_expression_evaluate (const uint8_t *bytes,
                              size_t n_bytes,
                              const LnsRegisters *registers,
                              const LnsStackCopy *stack,
                              const uint64_t *initial,
                              uint64_t *ret_value);
