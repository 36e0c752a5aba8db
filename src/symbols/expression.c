/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/symbols/expression.h"

#include <dwarf.h>

#include "src/symbols/byte-cursor.h"

#define MOST_VALUES     64
#define MOST_OPERATIONS 1000

typedef struct
{
  uint64_t values[MOST_VALUES];
  size_t n;
  bool is_broken; /* too few values, too many, or something that is not known */
} Values;

bool
lns_stack_read (const LnsStackCopy *stack,
                uint64_t address,
                unsigned width_bytes,
                uint64_t *ret_value)
{
  if (address < stack->address || address - stack->address > stack->n ||
      stack->n - (address - stack->address) < width_bytes)
    return false;
  *ret_value = lns_load_int (stack->bytes + (address - stack->address), width_bytes);
  return true;
}

static void
push (Values *values, uint64_t value)
{
  if (values->n == MOST_VALUES)
    values->is_broken = true;
  else
    values->values[values->n++] = value;
}

static uint64_t
pop (Values *values)
{
  if (values->n == 0)
    {
      values->is_broken = true;
      return 0;
    }
  return values->values[--values->n];
}

/* The value that lies DEPTH below the top. */
static uint64_t
peek (Values *values, uint64_t depth)
{
  if (depth >= values->n)
    {
      values->is_broken = true;
      return 0;
    }
  return values->values[values->n - 1 - depth];
}

/* Pushes a constant. False if OPERATION is not one. */
static bool
do_constant (Values *values, LnsByteCursor *program, uint8_t operation)
{
  switch (operation)
    {
    case DW_OP_addr:
    case DW_OP_const8u:
    case DW_OP_const8s:
      push (values, lns_cursor_take (program, 8));
      return true;
    case DW_OP_const1u:
      push (values, lns_cursor_take (program, 1));
      return true;
    case DW_OP_const1s:
      push (values, (uint64_t)(int64_t)(int8_t)lns_cursor_take (program, 1));
      return true;
    case DW_OP_const2u:
      push (values, lns_cursor_take (program, 2));
      return true;
    case DW_OP_const2s:
      push (values, (uint64_t)(int64_t)(int16_t)lns_cursor_take (program, 2));
      return true;
    case DW_OP_const4u:
      push (values, lns_cursor_take (program, 4));
      return true;
    case DW_OP_const4s:
      push (values, (uint64_t)(int64_t)(int32_t)lns_cursor_take (program, 4));
      return true;
    case DW_OP_constu:
      push (values, lns_cursor_take_uleb (program));
      return true;
    case DW_OP_consts:
      push (values, (uint64_t)lns_cursor_take_sleb (program));
      return true;
    default:
      if (operation < DW_OP_lit0 || operation > DW_OP_lit31)
        return false;
      push (values, (uint64_t)(operation - DW_OP_lit0));
      return true;
    }
}

/* Performs what changes the order of values. False if OPERATION is not one of those. */
static bool
do_order (Values *values, LnsByteCursor *program, uint8_t operation)
{
  switch (operation)
    {
    case DW_OP_nop:
      return true;
    case DW_OP_dup:
      push (values, peek (values, 0));
      return true;
    case DW_OP_over:
      push (values, peek (values, 1));
      return true;
    case DW_OP_pick:
      push (values, peek (values, lns_cursor_take (program, 1)));
      return true;
    case DW_OP_drop:
      pop (values);
      return true;
    case DW_OP_swap:
    case DW_OP_rot:
      {
        const uint64_t first = pop (values), second = pop (values);
        const uint64_t third = operation == DW_OP_rot ? pop (values) : 0;
        push (values, first);
        if (operation == DW_OP_rot)
          push (values, third);
        push (values, second);
        return true;
      }
    default:
      return false;
    }
}

/* Performs what takes one value. False if OPERATION is not one of those. */
static bool
do_unary (Values *values, LnsByteCursor *program, uint8_t operation)
{
  switch (operation)
    {
    case DW_OP_abs:
      {
        const uint64_t value = pop (values);
        push (values, (int64_t)value < 0 ? 0 - value : value);
        return true;
      }
    case DW_OP_neg:
      push (values, 0 - pop (values));
      return true;
    case DW_OP_not:
      push (values, ~pop (values));
      return true;
    case DW_OP_plus_uconst:
      push (values, pop (values) + lns_cursor_take_uleb (program));
      return true;
    default:
      return false;
    }
}

/* A shift by 64 bits or more, which C leaves open, moves all bits out. */
static uint64_t
shifted (uint64_t value, uint64_t n, uint8_t operation)
{
  if (operation == DW_OP_shl)
    return n < 64 ? value << n : 0;
  if (operation == DW_OP_shr)
    return n < 64 ? value >> n : 0;
  return (uint64_t)((int64_t)value >> (n < 64 ? n : 63));
}

/* Performs what takes two values. False if OPERATION is not one of those. */
static bool
do_binary (Values *values, uint8_t operation)
{
  const uint64_t b = peek (values, 0), a = peek (values, 1);
  uint64_t result;
  switch (operation)
    {
    case DW_OP_and:
      result = a & b;
      break;
    case DW_OP_or:
      result = a | b;
      break;
    case DW_OP_xor:
      result = a ^ b;
      break;
    case DW_OP_plus:
      result = a + b;
      break;
    case DW_OP_minus:
      result = a - b;
      break;
    case DW_OP_mul:
      result = a * b;
      break;
    case DW_OP_div:
      values->is_broken |= b == 0 || (a == (uint64_t)INT64_MIN && b == UINT64_MAX);
      result = values->is_broken ? 0 : (uint64_t)((int64_t)a / (int64_t)b);
      break;
    case DW_OP_mod:
      values->is_broken |= b == 0;
      result = values->is_broken ? 0 : a % b;
      break;
    case DW_OP_shl:
    case DW_OP_shr:
    case DW_OP_shra:
      result = shifted (a, b, operation);
      break;
    case DW_OP_eq:
      result = a == b;
      break;
    case DW_OP_ne:
      result = a != b;
      break;
    case DW_OP_lt:
      result = (int64_t)a < (int64_t)b;
      break;
    case DW_OP_le:
      result = (int64_t)a <= (int64_t)b;
      break;
    case DW_OP_gt:
      result = (int64_t)a > (int64_t)b;
      break;
    case DW_OP_ge:
      result = (int64_t)a >= (int64_t)b;
      break;
    default:
      return false;
    }
  pop (values);
  pop (values);
  push (values, result);
  return true;
}

/* Performs what reads registers or memory. False if OPERATION is not one of those. */
static bool
do_read (Values *values,
         LnsByteCursor *program,
         uint8_t operation,
         const LnsRegisters *registers,
         const LnsStackCopy *stack)
{
  if (operation == DW_OP_deref || operation == DW_OP_deref_size)
    {
      const uint64_t width = operation == DW_OP_deref ? 8 : lns_cursor_take (program, 1);
      uint64_t value = 0;
      if (width < 1 || width > 8 || !lns_stack_read (stack, pop (values), (unsigned)width, &value))
        values->is_broken = true;
      push (values, value);
      return true;
    }
  uint64_t number;
  if (operation >= DW_OP_breg0 && operation <= DW_OP_breg31)
    number = operation - DW_OP_breg0;
  else if (operation == DW_OP_bregx)
    number = lns_cursor_take_uleb (program);
  else
    return false;
  const int64_t offset = lns_cursor_take_sleb (program);
  if (number >= LNS_N_REGISTERS || !lns_register_is_known (registers, (unsigned)number))
    values->is_broken = true;
  else
    push (values, registers->values[number] + (uint64_t)offset);
  return true;
}

/* Jumps. False if OPERATION is not a jump. */
static bool
do_jump (Values *values, LnsByteCursor *program, uint8_t operation)
{
  if (operation != DW_OP_skip && operation != DW_OP_bra)
    return false;
  const int64_t distance = (int16_t)lns_cursor_take (program, 2);
  if (operation == DW_OP_bra && pop (values) == 0)
    return true;
  const int64_t to = (int64_t)program->at + distance;
  if (to < 0 || to > (int64_t)program->n)
    program->is_broken = true;
  else
    program->at = (size_t)to;
  return true;
}

bool
lns_expression_evaluate (const uint8_t *bytes,
                         size_t n_bytes,
                         const LnsRegisters *registers,
                         const LnsStackCopy *stack,
                         const uint64_t *initial,
                         uint64_t *ret_value)
{
  LnsByteCursor program = { .bytes = bytes, .n = n_bytes };
  Values values;
  values.n = 0;
  values.is_broken = false;
  if (initial != NULL)
    push (&values, *initial);
  for (unsigned n_done = 0; program.at < program.n && !program.is_broken && !values.is_broken;
       n_done++)
    {
      const uint8_t operation = (uint8_t)lns_cursor_take (&program, 1);
      if (n_done == MOST_OPERATIONS ||
          (!do_constant (&values, &program, operation) &&
           !do_order (&values, &program, operation) && !do_unary (&values, &program, operation) &&
           !do_read (&values, &program, operation, registers, stack) &&
           !do_jump (&values, &program, operation) && !do_binary (&values, operation)))
        return false;
    }
  *ret_value = pop (&values);
  return !program.is_broken && !values.is_broken;
}
