/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/symbols/symbol-table.h"

#include <lzma.h>
#include <string.h>

#include "src/base/memory.h"

#define MOST_PACKED_BYTES                                                                          \
 (UINT64_C (256) << 20) /* of an unpacked .gnu_debugdata; real ones have a few MB */

/* What one table adds: its names go behind those that are there. */
static void
add_names (LnsSymbolTable *table, size_t *n_names, const uint8_t *names, size_t n)
{
  table->names = lns_realloc (table->names, *n_names + n + 1, 1);
  memcpy (table->names + *n_names, names, n);
  table->names[*n_names + n] = '\0';
  *n_names += n + 1;
}

/* Several names may have one address. The one that is exported, and has the fewest underscores at its beginning, is the one
 * that a person knows: write, not __write or __libc_write. Higher is better. */
static uint64_t
quality (const Elf64_Sym *symbol, const char *name)
{
  const unsigned binding = ELF64_ST_BIND (symbol->st_info);
  const uint64_t by_binding = binding == STB_GLOBAL ? 2 : binding == STB_WEAK ? 1 : 0;
  const size_t underscores = strspn (name, "_");
  return (symbol->st_size > 0) << 6 | (underscores == 0) << 5 | by_binding << 3 |
         (underscores < 7 ? 7 - underscores : 0);
}

/* The end of the section that a symbol without a size lies in; 0 if it is not code. */
static uint64_t
code_end (const LnsElfImage *image, const Elf64_Sym *symbol)
{
  const Elf64_Shdr *section = lns_elf_image_section_at (image, symbol->st_shndx);
  if (section == NULL || (section->sh_flags & SHF_EXECINSTR) == 0 ||
      symbol->st_value < section->sh_addr ||
      symbol->st_value - section->sh_addr >= section->sh_size)
    return 0;
  return section->sh_addr + section->sh_size;
}

static void
add_symbol (const LnsElfImage *image,
            LnsSymbolTable *table,
            const Elf64_Sym *symbol,
            size_t names_at,
            size_t n_names)
{
  const unsigned type = ELF64_ST_TYPE (symbol->st_info);
  if (symbol->st_shndx == SHN_UNDEF || symbol->st_name >= n_names ||
      (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
    return;
  const char *name = table->names + names_at + symbol->st_name;
  /* $x and the like mark code and data on Arm. */
  if (name[0] == '\0' || name[0] == '$' || (type == STT_NOTYPE && name[0] == '.'))
    return;
  uint64_t end = symbol->st_value + symbol->st_size;
  if (symbol->st_size == 0 || type == STT_NOTYPE)
    {
      const uint64_t last = code_end (image, symbol);
      if (last == 0)
        return;
      end = symbol->st_size == 0 ? last : end;
    }
  if (end > symbol->st_value)
    *lns_array_add (&table->functions) =
        (LnsSpan){ symbol->st_value, end, quality (symbol, name), names_at + symbol->st_name };
}

/* Adds the functions of the table in the section called NAME. */
static bool
add_table (const LnsElfImage *image, const char *name, LnsSymbolTable *table, size_t *n_names)
{
  const Elf64_Shdr *section = lns_elf_image_section (image, name);
  const Elf64_Shdr *names_section =
      section != NULL ? lns_elf_image_section_at (image, section->sh_link) : NULL;
  if (names_section == NULL || section->sh_entsize != sizeof (Elf64_Sym))
    return false;
  size_t n_bytes = 0, n = 0;
  uint8_t *bytes = lns_elf_image_read (image, section, &n_bytes);
  uint8_t *names = bytes != NULL ? lns_elf_image_read (image, names_section, &n) : NULL;
  const size_t n_before = table->functions.n;
  if (names != NULL)
    {
      const size_t names_at = *n_names;
      add_names (table, n_names, names, n);
      for (size_t i = 0; i + sizeof (Elf64_Sym) <= n_bytes; i += sizeof (Elf64_Sym))
        {
          Elf64_Sym symbol;
          memcpy (&symbol, bytes + i, sizeof symbol);
          add_symbol (image, table, &symbol, names_at, n);
        }
    }
  free (names);
  free (bytes);
  return table->functions.n > n_before;
}

/* Unpacks .gnu_debugdata. NULL if there is none, or it is broken. */
static uint8_t *
unpack_debug_data (const LnsElfImage *image, size_t *ret_n_bytes)
{
  const Elf64_Shdr *section = lns_elf_image_section (image, ".gnu_debugdata");
  size_t n_packed;
  uint8_t *packed = section != NULL ? lns_elf_image_read (image, section, &n_packed) : NULL,
          *bytes = NULL;
  if (packed == NULL)
    return NULL;
  for (size_t room = 16 * n_packed + 4096; room <= MOST_PACKED_BYTES; room *= 4)
    {
      uint64_t memory_bytes = UINT64_C (128) << 20;
      size_t in = 0;
      *ret_n_bytes = 0;
      bytes = lns_realloc (bytes, room, 1);
      const lzma_ret how = lzma_stream_buffer_decode (&memory_bytes, 0, NULL, packed, &in, n_packed,
                                                      bytes, ret_n_bytes, room);
      if (how == LZMA_OK)
        {
          free (packed);
          return bytes;
        }
      if (how != LZMA_BUF_ERROR || in == n_packed)
        break;
    }
  free (bytes);
  free (packed);
  return NULL;
}

/* Gives symbols that have one start, and those that lie within others, their ranks: an inner one has its addresses. What
 * has no size ends where the next one begins. */
static void
rank (LnsSpanList *functions)
{
  lns_span_list_sort (functions);
  uint64_t next_start = UINT64_MAX;
  for (size_t i = functions->n; i-- > 0;)
    {
      LnsSpan *function = &functions->items[i];
      if (i + 1 < functions->n && functions->items[i + 1].start > function->start)
        next_start = functions->items[i + 1].start;
      const bool has_size = (function->rank >> 6) != 0;
      if (!has_size && next_start < function->end)
        function->end = next_start;
      function->rank = i;
    }
}

bool
lns_symbol_table_read (const LnsElfImage *image, LnsSymbolTable *ret_table)
{
  size_t n_names = 0;
  *ret_table = (LnsSymbolTable){ .names = NULL };
  if (!add_table (image, ".symtab", ret_table, &n_names))
    {
      ret_table->is_dynamic = true;
      add_table (image, ".dynsym", ret_table, &n_names);
      size_t n_bytes;
      uint8_t *bytes = unpack_debug_data (image, &n_bytes);
      LnsElfImage *inner = bytes != NULL ? lns_elf_image_from_bytes (bytes, n_bytes) : NULL;
      if (inner != NULL && add_table (inner, ".symtab", ret_table, &n_names))
        ret_table->is_dynamic = false;
      lns_elf_image_free (inner);
      free (bytes);
    }
  rank (&ret_table->functions);
  return ret_table->functions.n > 0;
}

void
lns_symbol_table_clear (LnsSymbolTable *table)
{
  lns_array_clear (&table->functions);
  free (table->names);
  *table = (LnsSymbolTable){ .names = NULL };
}
