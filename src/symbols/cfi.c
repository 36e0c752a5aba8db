/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/symbols/cfi.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/memory.h"
#include "src/base/search.h"
#include "src/symbols/byte-cursor.h"

/* Larger frame information is left out: a browser's has 20 MiB, and a program may name a section that is as large as the
 * memory. */
#define MOST_BYTES (UINT64_C (256) << 20)

#define MOST_STATES 32 /* states that DW_CFA_remember_state keeps at a time */

typedef struct
{
  uint64_t start, end; /* virtual addresses of the function */
  uint32_t at;         /* of its entry in the section */
} Function;

struct LnsCfi
{
  uint8_t *bytes; /* the section; owned */
  size_t n_bytes;
  uint64_t address;               /* of the section */
  bool is_debug;                  /* .debug_frame */
  LNS_ARRAY (Function) functions; /* sorted by start */
};

/* What the functions of one compilation share. */
typedef struct
{
  uint64_t code_factor;
  int64_t data_factor;
  uint8_t return_register;
  uint8_t encoding;      /* of addresses: DW_EH_PE_… */
  bool has_augmentation; /* entries have augmentation data, which begin with their length */
  bool is_signal;
  LnsByteCursor program;
} Common;

/* The part of an entry after its head. */
typedef struct
{
  LnsByteCursor body;
  bool is_common;
  uint64_t
      common_at; /* where the entry of what it shares with others is, unless it is one itself */
} Entry;

/* Reads the head of the entry at *AT and moves *AT past the whole entry. False at the end, and where the entry is broken. */
static bool
take_entry (const LnsCfi *cfi, uint64_t *at, Entry *ret)
{
  LnsByteCursor cursor = { .bytes = cfi->bytes, .at = *at, .n = cfi->n_bytes };
  uint64_t n_bytes;
  unsigned width = 4;
  do
    n_bytes =
        lns_cursor_take (&cursor, 4); /* .eh_frame may have zeros between parts that were linked */
  while (n_bytes == 0 && !cursor.is_broken);
  if (n_bytes == 0xFFFFFFFF)
    n_bytes = lns_cursor_take (&cursor, width = 8);
  if (cursor.is_broken || n_bytes > cursor.n - cursor.at || n_bytes < width)
    return false;
  cursor.n = cursor.at + n_bytes;
  *at = cursor.n;
  const uint64_t id_at = cursor.at;
  /* In .eh_frame the field has 4 bytes, whatever the length has. */
  const uint64_t id = lns_cursor_take (&cursor, cfi->is_debug ? width : 4);
  ret->body = cursor;
  ret->is_common = cfi->is_debug ? id == (width == 4 ? UINT32_MAX : UINT64_MAX) : id == 0;
  ret->common_at = cfi->is_debug ? id : id_at - id;
  return true;
}

/* An address as DW_EH_PE_… ENCODING has it. */
static uint64_t
take_pointer (const LnsCfi *cfi, LnsByteCursor *cursor, uint8_t encoding)
{
  const uint64_t place = cfi->address + cursor->at;
  uint64_t value;
  switch (encoding & 0x0F)
    {
    case 0x00: /* absptr */
    case 0x04: /* udata8 */
    case 0x0C: /* sdata8 */
      value = lns_cursor_take (cursor, 8);
      break;
    case 0x01:
      value = lns_cursor_take_uleb (cursor);
      break;
    case 0x02:
      value = lns_cursor_take (cursor, 2);
      break;
    case 0x03:
      value = lns_cursor_take (cursor, 4);
      break;
    case 0x09:
      value = (uint64_t)lns_cursor_take_sleb (cursor);
      break;
    case 0x0A:
      value = (uint64_t)(int64_t)(int16_t)lns_cursor_take (cursor, 2);
      break;
    case 0x0B:
      value = (uint64_t)(int64_t)(int32_t)lns_cursor_take (cursor, 4);
      break;
    default:
      cursor->is_broken = true;
      return 0;
    }
  if ((encoding & 0x70) == 0x10) /* pcrel */
    return value + place;
  if ((encoding & 0xF0) != 0) /* others are relative to places that only a loader knows */
    cursor->is_broken = true;
  return value;
}

/* Reads the augmentation's letters, each of which may have data. */
static void
read_augmentation (const LnsCfi *cfi, LnsByteCursor *cursor, const char *letters, Common *ret)
{
  ret->has_augmentation = true;
  const uint64_t n_bytes = lns_cursor_take_uleb (cursor);
  LnsByteCursor letter = *cursor;
  lns_cursor_skip (cursor, n_bytes);
  for (letters++; *letters != '\0'; letters++)
    if (*letters == 'R')
      ret->encoding = (uint8_t)lns_cursor_take (&letter, 1);
    else if (*letters == 'P')
      {
        const uint8_t encoding = (uint8_t)lns_cursor_take (&letter, 1);
        /* Its value does not matter, only its length: not relative to anything. */
        take_pointer (cfi, &letter, encoding & 0x0F);
      }
    else if (*letters == 'L')
      lns_cursor_skip (&letter, 1);
    else if (*letters == 'S')
      ret->is_signal = true;
    else if (*letters != 'B') /* B: return addresses are signed with the other key (AArch64) */
      break;                  /* unknown letters: the length above leads past their data */
  cursor->is_broken |= letter.is_broken;
}

static bool
read_common (const LnsCfi *cfi, uint64_t at, Common *ret)
{
  Entry entry;
  if (at >= cfi->n_bytes || !take_entry (cfi, &at, &entry) || !entry.is_common)
    return false;
  LnsByteCursor cursor = entry.body;
  *ret = (Common){ .encoding = 0 };
  const uint64_t version = lns_cursor_take (&cursor, 1);
  const char *letters = lns_cursor_take_text (&cursor);
  if (version == 4)
    {
      const uint64_t address_bytes = lns_cursor_take (&cursor, 1);
      const uint64_t segment_bytes = lns_cursor_take (&cursor, 1);
      if (address_bytes != 8 || segment_bytes != 0)
        return false;
    }
  ret->code_factor = lns_cursor_take_uleb (&cursor);
  ret->data_factor = lns_cursor_take_sleb (&cursor);
  const uint64_t return_register =
      version == 1 ? lns_cursor_take (&cursor, 1) : lns_cursor_take_uleb (&cursor);
  if (cursor.is_broken || (version != 1 && version != 3 && version != 4) ||
      return_register >= LNS_N_REGISTERS)
    return false;
  ret->return_register = (uint8_t)return_register;
  if (letters[0] == 'z')
    read_augmentation (cfi, &cursor, letters, ret);
  else if (letters[0] != '\0')
    return false;
  ret->program = cursor;
  return !cursor.is_broken;
}

/* Reads a function's range; what is left of BODY is its program. */
static bool
read_range (const LnsCfi *cfi,
            const Common *common,
            LnsByteCursor *body,
            uint64_t *ret_start,
            uint64_t *ret_end)
{
  *ret_start = take_pointer (cfi, body, common->encoding);
  const uint64_t n = take_pointer (cfi, body, common->encoding & 0x0F);
  if (common->has_augmentation)
    lns_cursor_skip (body, lns_cursor_take_uleb (body));
  *ret_end = *ret_start + n;
  return !body->is_broken && *ret_end > *ret_start;
}

static int
compare_functions (const void *a, const void *b)
{
  const Function *x = a, *y = b;
  return x->start != y->start ? (x->start < y->start ? -1 : 1) : (x->at > y->at) - (x->at < y->at);
}

/* Lists the functions, so that they can be searched. .eh_frame_hdr has such a list, too, but not all files have it, and
 * .debug_frame has none. */
static void
index_functions (LnsCfi *cfi)
{
  Common common;
  uint64_t common_at = UINT64_MAX;
  bool is_good = false, is_sorted = true;
  for (uint64_t at = 0, start_at = 0; at < cfi->n_bytes; start_at = at)
    {
      Entry entry;
      if (!take_entry (cfi, &at, &entry))
        break;
      if (entry.is_common)
        continue;
      if (entry.common_at != common_at)
        {
          common_at = entry.common_at;
          is_good = read_common (cfi, common_at, &common);
        }
      Function function = { .at = (uint32_t)start_at };
      if (!is_good || !read_range (cfi, &common, &entry.body, &function.start, &function.end))
        continue;
      is_sorted &= cfi->functions.n == 0 ||
                   cfi->functions.items[cfi->functions.n - 1].start <= function.start;
      *lns_array_add (&cfi->functions) = function;
    }
  if (!is_sorted)
    qsort (cfi->functions.items, cfi->functions.n, sizeof *cfi->functions.items, compare_functions);
}

LnsCfi *
lns_cfi_new (const LnsElfImage *image)
{
  static const char *const names[] = { ".eh_frame", ".debug_frame" };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    {
      const Elf64_Shdr *section = lns_elf_image_section (image, names[i]);
      LnsCfi *cfi = lns_calloc (1, sizeof *cfi);
      cfi->bytes = section != NULL && section->sh_size <= MOST_BYTES
                       ? lns_elf_image_read (image, section, &cfi->n_bytes)
                       : NULL;
      if (cfi->bytes != NULL)
        {
          cfi->address = section->sh_addr;
          cfi->is_debug = i == 1;
          index_functions (cfi);
          if (cfi->functions.n > 0)
            return cfi;
        }
      lns_cfi_free (cfi);
    }
  return NULL;
}

void
lns_cfi_free (LnsCfi *cfi)
{
  if (cfi == NULL)
    return;
  free (cfi->bytes);
  lns_array_clear (&cfi->functions);
  free (cfi);
}

size_t
lns_cfi_memory_bytes (const LnsCfi *cfi)
{
  return sizeof *cfi + cfi->n_bytes + cfi->functions.n_allocated * sizeof *cfi->functions.items;
}

/* --- The programs that make rows ----------------------------------------------------------------- */

typedef struct
{
  uint8_t kind;
  int32_t value;
} Rule;

typedef struct
{
  uint64_t cfa_register; /* LNS_CFA_IS_EXPRESSION as in rows */
  int64_t cfa_offset;
  Rule rules[LNS_N_REGISTERS];
} State;

typedef struct
{
  const Common *common;
  State state;
  State initial; /* after the common program: what DW_CFA_restore goes back to */
  State kept[MOST_STATES];
  unsigned n_kept;
  uint64_t location;
} Machine;

/* Rules of registers that no machine here has, such as those of vectors, are left out. */
static void
set_rule (Machine *machine, uint64_t number, LnsCfiRuleKind kind, int64_t value)
{
  if (number < LNS_N_REGISTERS && value == (int32_t)value)
    machine->state.rules[number] = (Rule){ (uint8_t)kind, (int32_t)value };
  else if (number < LNS_N_REGISTERS)
    machine->state.rules[number] = (Rule){ LNS_CFI_RULE_UNDEFINED, 0 };
}

static int64_t
scaled (const Machine *machine, int64_t value)
{
  return (int64_t)((uint64_t)value * (uint64_t)machine->common->data_factor);
}

/* The place of an expression, which is skipped. */
static int64_t
take_expression (LnsByteCursor *program)
{
  const int64_t place = (int64_t)program->at;
  lns_cursor_skip (program, lns_cursor_take_uleb (program));
  return place;
}

static void
restore (Machine *machine, uint64_t number)
{
  if (number < LNS_N_REGISTERS)
    machine->state.rules[number] = machine->initial.rules[number];
}

/* Performs an instruction that says where the CFA is. */
static bool
define_cfa (Machine *machine, LnsByteCursor *program, unsigned code)
{
  State *state = &machine->state;
  switch (code)
    {
    case 0x0C: /* def_cfa */
      state->cfa_register = lns_cursor_take_uleb (program);
      state->cfa_offset = (int64_t)lns_cursor_take_uleb (program);
      return true;
    case 0x12: /* def_cfa_sf */
      state->cfa_register = lns_cursor_take_uleb (program);
      state->cfa_offset = scaled (machine, lns_cursor_take_sleb (program));
      return true;
    case 0x0D: /* def_cfa_register */
      state->cfa_register = lns_cursor_take_uleb (program);
      return true;
    case 0x0E: /* def_cfa_offset */
      state->cfa_offset = (int64_t)lns_cursor_take_uleb (program);
      return true;
    case 0x13: /* def_cfa_offset_sf */
      state->cfa_offset = scaled (machine, lns_cursor_take_sleb (program));
      return true;
    case 0x0F: /* def_cfa_expression */
      state->cfa_register = LNS_CFA_IS_EXPRESSION;
      state->cfa_offset = take_expression (program);
      return true;
    default:
      return false;
    }
}

/* Performs an instruction that says where a register is. */
static bool
define_register (Machine *machine, LnsByteCursor *program, unsigned code)
{
  const uint64_t number = lns_cursor_take_uleb (program);
  switch (code)
    {
    case 0x05: /* offset_extended */
      set_rule (machine, number, LNS_CFI_RULE_AT_OFFSET,
                scaled (machine, (int64_t)lns_cursor_take_uleb (program)));
      return true;
    case 0x11: /* offset_extended_sf */
      set_rule (machine, number, LNS_CFI_RULE_AT_OFFSET,
                scaled (machine, lns_cursor_take_sleb (program)));
      return true;
    case 0x2F: /* GNU_negative_offset_extended */
      set_rule (machine, number, LNS_CFI_RULE_AT_OFFSET,
                (int64_t)(0 - (uint64_t)scaled (machine, (int64_t)lns_cursor_take_uleb (program))));
      return true;
    case 0x14: /* val_offset */
      set_rule (machine, number, LNS_CFI_RULE_OFFSET,
                scaled (machine, (int64_t)lns_cursor_take_uleb (program)));
      return true;
    case 0x15: /* val_offset_sf */
      set_rule (machine, number, LNS_CFI_RULE_OFFSET,
                scaled (machine, lns_cursor_take_sleb (program)));
      return true;
    case 0x06: /* restore_extended */
      restore (machine, number);
      return true;
    case 0x07: /* undefined */
      set_rule (machine, number, LNS_CFI_RULE_UNDEFINED, 0);
      return true;
    case 0x08: /* same_value */
      set_rule (machine, number, LNS_CFI_RULE_SAME, 0);
      return true;
    case 0x09: /* register */
      set_rule (machine, number, LNS_CFI_RULE_REGISTER, (int64_t)lns_cursor_take_uleb (program));
      return true;
    case 0x10: /* expression */
      set_rule (machine, number, LNS_CFI_RULE_AT_EXPRESSION, take_expression (program));
      return true;
    case 0x16: /* val_expression */
      set_rule (machine, number, LNS_CFI_RULE_EXPRESSION, take_expression (program));
      return true;
    default:
      return false;
    }
}

/* Performs an instruction that is about all of the state. */
static bool
change_state (Machine *machine, LnsByteCursor *program, unsigned code)
{
  switch (code)
    {
    case 0x00: /* nop */
    case 0x2D: /* AARCH64_negate_ra_state: signatures are masked off anyway */
      return true;
    case 0x0A: /* remember_state */
      if (machine->n_kept == MOST_STATES)
        return false;
      machine->kept[machine->n_kept++] = machine->state;
      return true;
    case 0x0B: /* restore_state */
      if (machine->n_kept == 0)
        return false;
      machine->state = machine->kept[--machine->n_kept];
      return true;
    case 0x2E: /* GNU_args_size */
      lns_cursor_take_uleb (program);
      return true;
    default:
      return false;
    }
}

/* Runs PROGRAM until its location is past ADDRESS. False if it is broken. */
static bool
run (const LnsCfi *cfi, Machine *machine, LnsByteCursor program, uint64_t address)
{
  while (program.at < program.n && !program.is_broken)
    {
      const unsigned byte = (unsigned)lns_cursor_take (&program, 1), low = byte & 0x3F;
      uint64_t advance = 0;
      if (byte >> 6 == 1)
        advance = low;
      else if (byte >> 6 == 2)
        set_rule (machine, low, LNS_CFI_RULE_AT_OFFSET,
                  scaled (machine, (int64_t)lns_cursor_take_uleb (&program)));
      else if (byte >> 6 == 3)
        restore (machine, low);
      else if (byte == 0x01) /* set_loc */
        machine->location = take_pointer (cfi, &program, machine->common->encoding);
      else if (byte >= 0x02 && byte <= 0x04) /* advance_loc1, 2, 4 */
        advance = lns_cursor_take (&program, 1u << (byte - 0x02));
      else if (!change_state (machine, &program, byte) && !define_cfa (machine, &program, byte) &&
               !define_register (machine, &program, byte))
        return false;
      machine->location += advance * machine->common->code_factor;
      if (machine->location > address)
        return true;
    }
  return !program.is_broken;
}

static bool
fill_row (const Machine *machine, LnsCfiRow *ret_row)
{
  const State *state = &machine->state;
  if ((state->cfa_register >= LNS_N_REGISTERS && state->cfa_register != LNS_CFA_IS_EXPRESSION) ||
      state->cfa_offset != (int32_t)state->cfa_offset)
    return false;
  ret_row->cfa_register = (uint8_t)state->cfa_register;
  ret_row->cfa_offset = (int32_t)state->cfa_offset;
  ret_row->return_register = machine->common->return_register;
  ret_row->is_signal = machine->common->is_signal;
  ret_row->n_rules = 0;
  for (unsigned i = 0; i < LNS_N_REGISTERS; i++)
    if (state->rules[i].kind != LNS_CFI_RULE_SAME)
      ret_row->rules[ret_row->n_rules++] =
          (LnsCfiRule){ (uint8_t)i, state->rules[i].kind, state->rules[i].value };
  return true;
}

/* The function at ADDRESS, or NULL. */
static const Function *
function_at (const LnsCfi *cfi, uint64_t address)
{
  const size_t after =
      LNS_LOWER_BOUND (cfi->functions.n, i, cfi->functions.items[i].start <= address);
  return after > 0 && address < cfi->functions.items[after - 1].end
             ? &cfi->functions.items[after - 1]
             : NULL;
}

bool
lns_cfi_function (const LnsCfi *cfi, uint64_t address, uint64_t *ret_start)
{
  const Function *function = function_at (cfi, address);
  if (function == NULL)
    return false;
  *ret_start = function->start;
  return true;
}

bool
lns_cfi_row (const LnsCfi *cfi, uint64_t address, LnsCfiRow *ret_row)
{
  const Function *function = function_at (cfi, address);
  if (function == NULL)
    return false;
  uint64_t at = function->at, start, end;
  Entry entry;
  Common common;
  if (!take_entry (cfi, &at, &entry) || !read_common (cfi, entry.common_at, &common) ||
      !read_range (cfi, &common, &entry.body, &start, &end))
    return false;
  Machine machine = { .common = &common, .location = 0 };
  if (!run (cfi, &machine, common.program, UINT64_MAX))
    return false;
  machine.initial = machine.state;
  machine.location = start;
  return run (cfi, &machine, entry.body, address) && fill_row (&machine, ret_row);
}

bool
lns_cfi_expression (const LnsCfi *cfi,
                    int32_t value,
                    const uint8_t **ret_bytes,
                    size_t *ret_n_bytes)
{
  if (value < 0 || (size_t)value > cfi->n_bytes)
    return false;
  LnsByteCursor cursor = { .bytes = cfi->bytes, .at = (size_t)value, .n = cfi->n_bytes };
  const uint64_t n = lns_cursor_take_uleb (&cursor);
  if (cursor.is_broken || n > cursor.n - cursor.at)
    return false;
  *ret_bytes = cfi->bytes + cursor.at;
  *ret_n_bytes = n;
  return true;
}
