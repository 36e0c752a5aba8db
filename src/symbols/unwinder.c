/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/symbols/unwinder.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/memory.h"
#include "src/base/search.h"
#include "src/symbols/cfi.h"
#include "src/symbols/vdso.h"

/* Rows that are kept, by address: samples are of the same few thousand places. A power of two. */
#define N_ROWS 16384

/* Frame information is dropped, the least recently used first, when that of all files needs more than this. */
#define MOST_MEMORY_BYTES (UINT64_C (512) << 20)

typedef struct
{
  char *path; /* owned */
  LnsBuildId build_id;
  bool is_read;       /* the members below are complete */
  LnsElfImage *image; /* owned; NULL where the file cannot be used */
  LnsCfi *cfi; /* owned; NULL where it has none, or where it was dropped (is_read is false) */
  uint64_t last_use;
} File;

typedef struct
{
  uint64_t address; /* virtual, in the file */
  uint32_t file;
  bool is_used;
  bool has_row;
  LnsCfiRow row;
} KeptRow;

struct LnsUnwinder
{
  const LnsMachine *machine;
  LNS_ARRAY (File) files;
  KeptRow *rows; /* N_ROWS of them, each at the place that its address hashes to; owned */
  uint64_t memory_bytes, n_uses;
};

LnsUnwinder *
lns_unwinder_new (const LnsMachine *machine)
{
  LnsUnwinder *unwinder = lns_calloc (1, sizeof *unwinder);
  unwinder->machine = machine;
  unwinder->rows = lns_calloc (N_ROWS, sizeof *unwinder->rows);
  return unwinder;
}

static void
drop (LnsUnwinder *unwinder, File *file)
{
  if (file->cfi != NULL)
    unwinder->memory_bytes -= lns_cfi_memory_bytes (file->cfi);
  lns_cfi_free (file->cfi);
  lns_elf_image_free (file->image);
  file->cfi = NULL;
  file->image = NULL;
  file->is_read = false;
}

void
lns_unwinder_free (LnsUnwinder *unwinder)
{
  if (unwinder == NULL)
    return;
  for (size_t i = 0; i < unwinder->files.n; i++)
    {
      drop (unwinder, &unwinder->files.items[i]);
      free (unwinder->files.items[i].path);
    }
  lns_array_clear (&unwinder->files);
  free (unwinder->rows);
  free (unwinder);
}

uint32_t
lns_unwinder_add_file (LnsUnwinder *unwinder, const char *path, const LnsBuildId *build_id)
{
  for (size_t i = 0; i < unwinder->files.n; i++)
    if (strcmp (unwinder->files.items[i].path, path) == 0 &&
        lns_build_id_equal (&unwinder->files.items[i].build_id, build_id))
      return (uint32_t)i;
  File *file = lns_array_add (&unwinder->files);
  file->path = lns_strdup (path);
  file->build_id = *build_id;
  return (uint32_t)(unwinder->files.n - 1);
}

/* Makes room for more frame information. KEEP stays. */
static void
bound_memory (LnsUnwinder *unwinder, const File *keep)
{
  while (unwinder->memory_bytes > MOST_MEMORY_BYTES)
    {
      File *oldest = NULL;
      for (size_t i = 0; i < unwinder->files.n; i++)
        {
          File *file = &unwinder->files.items[i];
          if (file != keep && file->cfi != NULL &&
              (oldest == NULL || file->last_use < oldest->last_use))
            oldest = file;
        }
      if (oldest == NULL)
        return;
      const size_t number = (size_t)(oldest - unwinder->files.items);
      drop (unwinder, oldest);
      /* Rows refer to expressions within the information. */
      for (size_t i = 0; i < N_ROWS; i++)
        if (unwinder->rows[i].file == number)
          unwinder->rows[i].is_used = false;
    }
}

static File *
open_file (LnsUnwinder *unwinder, uint32_t number)
{
  File *file = number < unwinder->files.n ? &unwinder->files.items[number] : NULL;
  if (file == NULL)
    return NULL;
  file->last_use = ++unwinder->n_uses;
  if (!file->is_read)
    {
      file->is_read = true;
      file->image =
          strcmp (file->path, "[vdso]") == 0 ? lns_vdso_open () : lns_elf_image_open (file->path);
      if (file->image != NULL)
        {
          const LnsBuildId id = lns_elf_image_build_id (file->image);
          if (lns_elf_image_machine (file->image) != unwinder->machine->elf_machine ||
              (file->build_id.n > 0 && !lns_build_id_equal (&id, &file->build_id)))
            {
              lns_elf_image_free (file->image);
              file->image = NULL;
            }
        }
      file->cfi = file->image != NULL ? lns_cfi_new (file->image) : NULL;
      if (file->cfi != NULL)
        unwinder->memory_bytes += lns_cfi_memory_bytes (file->cfi);
      bound_memory (unwinder, file);
    }
  return file->cfi != NULL ? file : NULL;
}

/* The row of the code at ADDRESS and the information that it is from. NULL if there is none. */
static const LnsCfiRow *
find_row (LnsUnwinder *unwinder, const LnsUnwindMap *map, uint64_t address, const LnsCfi **ret_cfi)
{
  File *file = open_file (unwinder, map->file);
  uint64_t virtual_address;
  if (file == NULL || !lns_elf_image_address (
                          file->image, map->file_offset + (address - map->start), &virtual_address))
    return NULL;
  const uint64_t hash =
      (virtual_address ^ (uint64_t)map->file << 40) * UINT64_C (0x9E3779B97F4A7C15);
  KeptRow *kept = &unwinder->rows[hash >> 40 & (N_ROWS - 1)];
  if (!kept->is_used || kept->address != virtual_address || kept->file != map->file)
    {
      kept->is_used = true;
      kept->address = virtual_address;
      kept->file = map->file;
      kept->has_row = lns_cfi_row (file->cfi, virtual_address, &kept->row);
    }
  *ret_cfi = file->cfi;
  return kept->has_row ? &kept->row : NULL;
}

/* Whether the code at ADDRESS is where a thread began: ld.so's has no row that says so. */
static bool
is_start (LnsUnwinder *unwinder, const LnsUnwindMap *map, uint64_t address)
{
  File *file = open_file (unwinder, map->file);
  uint64_t virtual_address;
  return file != NULL &&
         lns_elf_image_address (file->image, map->file_offset + (address - map->start),
                                &virtual_address) &&
         lns_elf_image_is_start (file->image, virtual_address);
}

/* --- Steps ----------------------------------------------------------------------------------------- */

/* What a step to the caller is made from. */
typedef struct
{
  const LnsMachine *machine;
  const LnsStackCopy *stack;
  LnsRegisters registers;
  bool
      is_interrupted; /* the program counter is the next instruction to run, and not a return address */
} Frame;

static LnsUnwindEnd
unreadable (const LnsStackCopy *stack, uint64_t address)
{
  return address >= stack->address && address - stack->address + 8 > stack->n
             ? LNS_UNWIND_STACK_ENDED
             : LNS_UNWIND_NO_RULE;
}

static bool
evaluate (
    const LnsCfi *cfi, const Frame *frame, int32_t at, const uint64_t *cfa, uint64_t *ret_value)
{
  const uint8_t *bytes;
  size_t n;
  return lns_cfi_expression (cfi, at, &bytes, &n) &&
         lns_expression_evaluate (bytes, n, &frame->registers, frame->stack, cfa, ret_value);
}

/* Applies RULE to a register of CALLER, which knows it or not afterwards. False if it lies above the copy of the stack. */
static bool
apply (const LnsCfi *cfi,
       const Frame *frame,
       uint64_t cfa,
       const LnsCfiRule *rule,
       LnsRegisters *caller)
{
  uint64_t value = 0, address = cfa + (uint64_t)(int64_t)rule->value;
  bool is_known = false, is_above = false;
  switch ((LnsCfiRuleKind)rule->kind)
    {
    case LNS_CFI_RULE_AT_EXPRESSION:
      if (!evaluate (cfi, frame, rule->value, &cfa, &address))
        break;
      __attribute__ ((fallthrough));
    case LNS_CFI_RULE_AT_OFFSET:
      is_known = lns_stack_read (frame->stack, address, 8, &value);
      is_above = !is_known && unreadable (frame->stack, address) == LNS_UNWIND_STACK_ENDED;
      break;
    case LNS_CFI_RULE_OFFSET:
      value = address;
      is_known = true;
      break;
    case LNS_CFI_RULE_REGISTER:
      is_known =
          rule->value >= 0 && lns_register_is_known (&frame->registers, (unsigned)rule->value);
      value = is_known ? frame->registers.values[rule->value] : 0;
      break;
    case LNS_CFI_RULE_EXPRESSION:
      is_known = evaluate (cfi, frame, rule->value, &cfa, &value);
      break;
    case LNS_CFI_RULE_SAME:
    case LNS_CFI_RULE_UNDEFINED:
      break;
    }
  caller->known &= ~(UINT64_C (1) << rule->reg);
  if (is_known)
    lns_register_set (caller, rule->reg, value);
  return !is_above;
}

/* Goes to the caller by ROW. True if there is one, else *RET_END says why not. */
static bool
step_by_row (Frame *frame, const LnsCfi *cfi, const LnsCfiRow *row, LnsUnwindEnd *ret_end)
{
  uint64_t cfa;
  *ret_end = LNS_UNWIND_NO_RULE;
  if (row->cfa_register == LNS_CFA_IS_EXPRESSION)
    {
      if (!evaluate (cfi, frame, row->cfa_offset, NULL, &cfa))
        return false;
    }
  else if (!lns_register_is_known (&frame->registers, row->cfa_register))
    return false;
  else
    cfa = frame->registers.values[row->cfa_register] + (uint64_t)(int64_t)row->cfa_offset;
  LnsRegisters caller = frame->registers;
  lns_register_set (&caller, frame->machine->stack_pointer, cfa);
  bool has_return_rule = false, is_whole = true;
  for (unsigned i = 0; i < row->n_rules; i++)
    {
      const LnsCfiRule *rule = &row->rules[i];
      const bool is_readable = apply (cfi, frame, cfa, rule, &caller);
      if (rule->reg == row->return_register)
        {
          has_return_rule = true;
          is_whole = is_readable;
          if (rule->kind == LNS_CFI_RULE_UNDEFINED)
            {
              *ret_end =
                  LNS_UNWIND_COMPLETE; /* how _start and the first function of a thread are marked */
              return false;
            }
        }
    }
  if (!is_whole)
    *ret_end = LNS_UNWIND_STACK_ENDED;
  /* A function that has not saved its return address has it in a register, unless that is the program counter itself. */
  if (!lns_register_is_known (&caller, row->return_register) ||
      (!has_return_rule && row->return_register == frame->machine->program_counter))
    return false;
  const uint64_t address = caller.values[row->return_register] & frame->machine->address_mask;
  lns_register_set (&caller, frame->machine->program_counter, address);
  const bool is_stuck = cfa == frame->registers.values[frame->machine->stack_pointer] &&
                        address == frame->registers.values[frame->machine->program_counter];
  if (is_stuck || address == 0)
    {
      *ret_end = address == 0 ? LNS_UNWIND_COMPLETE : LNS_UNWIND_NO_RULE;
      return false;
    }
  frame->registers = caller;
  frame->is_interrupted = row->is_signal;
  return true;
}

/* Goes to the caller by the frame pointer, which must lie in the copy, above the stack pointer. */
static bool
step_by_frame_pointer (Frame *frame, LnsUnwindEnd *ret_end)
{
  const LnsMachine *machine = frame->machine;
  *ret_end = LNS_UNWIND_NO_RULE;
  if (!lns_register_is_known (&frame->registers, machine->frame_pointer))
    return false;
  const uint64_t pointer = frame->registers.values[machine->frame_pointer];
  uint64_t caller_pointer, address;
  if (pointer < frame->registers.values[machine->stack_pointer] || pointer % 8 != 0)
    return false;
  if (!lns_stack_read (frame->stack, pointer, 8, &caller_pointer) ||
      !lns_stack_read (frame->stack, pointer + 8, 8, &address))
    {
      *ret_end = unreadable (frame->stack, pointer + 8);
      return false;
    }
  address &= machine->address_mask;
  if (address == 0)
    {
      *ret_end = LNS_UNWIND_COMPLETE;
      return false;
    }
  lns_register_set (&frame->registers, machine->frame_pointer, caller_pointer);
  lns_register_set (&frame->registers, machine->stack_pointer, pointer + 16);
  lns_register_set (&frame->registers, machine->program_counter, address);
  frame->is_interrupted = false;
  return true;
}

static const LnsUnwindMap *
find_map (const LnsUnwindMap *maps, size_t n_maps, uint64_t address)
{
  const size_t after = LNS_LOWER_BOUND (n_maps, i, maps[i].start <= address);
  return after > 0 && address < maps[after - 1].end ? &maps[after - 1] : NULL;
}

size_t
lns_unwinder_unwind (LnsUnwinder *unwinder,
                     const LnsRegisters *registers,
                     const LnsStackCopy *stack,
                     const LnsUnwindMap *maps,
                     size_t n_maps,
                     uint64_t *ret_addresses,
                     size_t most,
                     uint64_t *ret_interrupted,
                     LnsUnwindEnd *ret_end)
{
  Frame frame = { unwinder->machine, stack, *registers, true };
  uint64_t interrupted = 0;
  size_t n = 0;
  LnsUnwindEnd end = LNS_UNWIND_LIMIT;
  for (bool goes_on = true; goes_on && n < most;)
    {
      const uint64_t address = frame.registers.values[unwinder->machine->program_counter];
      /* A call may be the last instruction of its function, so its return address is the next function's. */
      const uint64_t within = address - (frame.is_interrupted ? 0 : 1);
      const LnsUnwindMap *map = find_map (maps, n_maps, within);
      const LnsCfi *cfi;
      if (map == NULL && n > 0)
        {
          end = LNS_UNWIND_NO_RULE; /* not code: what was taken for a return address is none */
          break;
        }
      if (n < 64 && frame.is_interrupted)
        interrupted |= UINT64_C (1) << n;
      ret_addresses[n++] = address;
      const LnsCfiRow *row = map != NULL ? find_row (unwinder, map, within, &cfi) : NULL;
      if (row == NULL && map != NULL && is_start (unwinder, map, within))
        {
          end = LNS_UNWIND_COMPLETE;
          break;
        }
      goes_on =
          row != NULL ? step_by_row (&frame, cfi, row, &end) : step_by_frame_pointer (&frame, &end);
      end = goes_on ? LNS_UNWIND_LIMIT : end;
    }
  if (ret_interrupted != NULL)
    *ret_interrupted = interrupted;
  *ret_end = end;
  return n;
}
