/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Call frame information: for each address of a program's code, where the caller's registers are. Read from .eh_frame, or
 * from .debug_frame where that is missing (DWARF 5, section 6.4; Linux Standard Base, "Exception Frames"). Hostile bytes
 * give fewer rows, never a read outside them. Read-only once made, so any number of threads may use it. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/symbols/elf-image.h"
#include "src/symbols/registers.h"

typedef enum
{
  LNS_CFI_RULE_SAME,      /* the caller's register has the value that it has here */
  LNS_CFI_RULE_UNDEFINED, /* its value is lost; of the return address: there is no caller */
  LNS_CFI_RULE_AT_OFFSET, /* it was saved at CFA + value */
  LNS_CFI_RULE_OFFSET,    /* it is CFA + value */
  LNS_CFI_RULE_REGISTER,  /* it is in register `value` */
  LNS_CFI_RULE_AT_EXPRESSION, /* it was saved at the address that the expression at `value` computes from the CFA */
  LNS_CFI_RULE_EXPRESSION /* it is what that expression computes */
} LnsCfiRuleKind;

typedef struct
{
  uint8_t reg;  /* DWARF's number */
  uint8_t kind; /* LnsCfiRuleKind */
  int32_t value;
} LnsCfiRule;

#define LNS_CFA_IS_EXPRESSION 0xFF

/* How to get from a frame to its caller's. */
typedef struct
{
  uint8_t
      cfa_register; /* CFA = this register + cfa_offset, or LNS_CFA_IS_EXPRESSION: the expression at cfa_offset */
  uint8_t return_register;
  bool
      is_signal; /* a signal interrupted the caller, so its program counter is not a return address */
  uint8_t n_rules;
  int32_t cfa_offset;
  LnsCfiRule rules[LNS_N_REGISTERS]; /* those that are not LNS_CFI_RULE_SAME */
} LnsCfiRow;

typedef struct LnsCfi LnsCfi;

/* Reads IMAGE's frame information, which does not need the image afterwards. NULL if it has none. O(bytes). */
LnsCfi *lns_cfi_new (const LnsElfImage *image) __attribute__ ((warn_unused_result));
void lns_cfi_free (LnsCfi *cfi); /* NULL is fine */

size_t lns_cfi_memory_bytes (const LnsCfi *cfi); /* memory that it needs, about */

/* The row of the instruction at ADDRESS, a virtual address of the file. False if there is none. O(log functions), and the
 * instructions of that function's entry. */
bool lns_cfi_row (const LnsCfi *cfi, uint64_t address, LnsCfiRow *ret_row);

/* Where the function at ADDRESS, or a part of it that the compiler put elsewhere, begins; both are virtual addresses of the
 * file. False if there is no information of it. O(log functions). */
bool lns_cfi_function (const LnsCfi *cfi, uint64_t address, uint64_t *ret_start);

/* The expression at VALUE (of a row or a rule). False if it is not whole. */
bool lns_cfi_expression (const LnsCfi *cfi,
                         int32_t value,
                         const uint8_t **ret_bytes,
                         size_t *ret_n_bytes);
