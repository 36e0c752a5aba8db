/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/wire/program.h"

#include <elf.h>
#include <string.h>

typedef LnsProgramFile File;

/* The N_BYTES of FILE at OFFSET, or NULL if they are not all there. */
static const void *
bytes_at (const File *file, uint64_t offset, uint64_t n_bytes)
{
  return offset <= file->n_bytes && n_bytes <= file->n_bytes - offset ? file->bytes + offset : NULL;
}

/* The program header I of FILE, which has ELF; NULL beyond the last. */
static const Elf64_Phdr *
segment (const File *file, const Elf64_Ehdr *elf, unsigned i)
{
  return i < elf->e_phnum && elf->e_phentsize == sizeof (Elf64_Phdr)
             ? bytes_at (file, elf->e_phoff + (uint64_t)i * sizeof (Elf64_Phdr),
                         sizeof (Elf64_Phdr))
             : NULL;
}

/* Where the address lies in FILE; UINT64_MAX if it is not loaded from there. */
static uint64_t
offset_of (const File *file, const Elf64_Ehdr *elf, uint64_t address)
{
  const Elf64_Phdr *part;
  for (unsigned i = 0; (part = segment (file, elf, i)) != NULL; i++)
    if (part->p_type == PT_LOAD && address >= part->p_vaddr &&
        address - part->p_vaddr < part->p_filesz)
      return part->p_offset + (address - part->p_vaddr);
  return UINT64_MAX;
}

/* The strings of the dynamic section at DYNAMIC: names of symbols and of libraries. */
static File
dynamic_strings (const File *file, const Elf64_Ehdr *elf, const Elf64_Phdr *dynamic)
{
  uint64_t address = 0, n_bytes = 0;
  for (uint64_t at = 0; at + sizeof (Elf64_Dyn) <= dynamic->p_filesz; at += sizeof (Elf64_Dyn))
    {
      const Elf64_Dyn *entry = bytes_at (file, dynamic->p_offset + at, sizeof *entry);
      if (entry == NULL || entry->d_tag == DT_NULL)
        break;
      if (entry->d_tag == DT_STRTAB)
        address = entry->d_un.d_ptr;
      else if (entry->d_tag == DT_STRSZ)
        n_bytes = entry->d_un.d_val;
    }
  const char *strings = bytes_at (file, offset_of (file, elf, address), n_bytes);
  return (File){ strings, strings != NULL ? n_bytes : 0 };
}

/* The sanitizer that a program with STRINGS needs or contains; NULL for none. */
static const char *
sanitizer (const File *strings)
{
  static const struct
  {
    const char *symbol, *name;
  } all[] = { { "__asan_init", "AddressSanitizer" },
              { "__tsan_init", "ThreadSanitizer" },
              { "__msan_init", "MemorySanitizer" } };
  for (size_t i = 0; strings->bytes != NULL && i < sizeof all / sizeof *all; i++)
    if (memmem (strings->bytes, strings->n_bytes, all[i].symbol, strlen (all[i].symbol) + 1) !=
        NULL)
      return all[i].name;
  return NULL;
}

LnsProgramKind
lns_program_elf_kind (const LnsProgramFile *file, const char **ret_sanitizer)
{
  const Elf64_Ehdr *elf = bytes_at (file, 0, sizeof *elf);
  const Elf64_Phdr *part, *dynamic = NULL, *loader = NULL;
#if defined(__x86_64__)
  const uint16_t machine = EM_X86_64;
#else
  const uint16_t machine = EM_AARCH64;
#endif
  *ret_sanitizer = NULL;
  if (elf == NULL || memcmp (elf->e_ident, ELFMAG, SELFMAG) != 0 ||
      elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_machine != machine)
    return LNS_PROGRAM_FOREIGN;
  for (unsigned i = 0; (part = segment (file, elf, i)) != NULL; i++)
    {
      dynamic = part->p_type == PT_DYNAMIC ? part : dynamic;
      loader = part->p_type == PT_INTERP ? part : loader;
    }
  if (loader == NULL)
    return LNS_PROGRAM_STATIC;
  const char *name = bytes_at (file, loader->p_offset, loader->p_filesz);
  if (name == NULL || memmem (name, loader->p_filesz, "ld-linux", 8) == NULL)
    return LNS_PROGRAM_FOREIGN;
  const File strings = dynamic != NULL ? dynamic_strings (file, elf, dynamic) : (File){ NULL, 0 };
  *ret_sanitizer = sanitizer (&strings);
  return *ret_sanitizer != NULL ? LNS_PROGRAM_SANITIZED : LNS_PROGRAM_TAKES_PRELOADS;
}

bool
lns_program_interpreter (const LnsProgramFile *file, char *ret_name, size_t room)
{
  size_t n = 2, from;
  if (file->n_bytes < 3 || memcmp (file->bytes, "#!", 2) != 0)
    return false;
  while (n < file->n_bytes && (file->bytes[n] == ' ' || file->bytes[n] == '\t'))
    n++;
  for (from = n; n < file->n_bytes && strchr (" \t\n", file->bytes[n]) == NULL; n++)
    ;
  if (n - from == 0 || n - from >= room)
    return false;
  memcpy (ret_name, file->bytes + from, n - from);
  ret_name[n - from] = '\0';
  return true;
}
