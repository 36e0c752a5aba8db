/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/python/find.h"

#include "capture/session/python/memory.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SEGMENTS 64
#define MOST_DYNAMIC  256
#define MOST_CHAIN    4096 /* symbols of one bucket that are looked at */

/* The dynamic symbol table of a module. */
typedef struct
{
  int32_t pid;
  uint64_t bias; /* what is added to the addresses in the file */
  uint64_t symbols, names, names_size, gnu_hash, hash;
} Module;

/* Reads where the tables of the module mapped at BASE lie. Returns false if it is not one, or has none. */
static bool
open_module (int32_t pid, uint64_t base, Module *module)
{
  Elf64_Ehdr header;
  Elf64_Phdr segments[MOST_SEGMENTS];
  Elf64_Dyn dynamic[MOST_DYNAMIC];
  uint64_t first = UINT64_MAX, dynamic_at = 0, n_dynamic = 0;

  if (!_lns_remote_read (pid, base, &header, sizeof header) ||
      memcmp (header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof segments[0] || header.e_phnum > MOST_SEGMENTS ||
      !_lns_remote_read (pid, base + header.e_phoff, segments, header.e_phnum * sizeof segments[0]))
    return false;
  for (unsigned i = 0; i < header.e_phnum; i++)
    if (segments[i].p_type == PT_LOAD && first == UINT64_MAX)
      first = segments[i].p_vaddr - segments[i].p_offset;
    else if (segments[i].p_type == PT_DYNAMIC)
      {
        dynamic_at = segments[i].p_vaddr;
        n_dynamic = segments[i].p_memsz / sizeof dynamic[0];
      }
  if (n_dynamic == 0)
    return false;
  *module = (Module){ .pid = pid, .bias = base - first };
  n_dynamic = _lns_remote_read_some (pid, module->bias + dynamic_at, dynamic,
                                     (n_dynamic < MOST_DYNAMIC ? n_dynamic : MOST_DYNAMIC) *
                                         sizeof dynamic[0]) /
              sizeof dynamic[0];
  for (uint64_t i = 0; i < n_dynamic && dynamic[i].d_tag != DT_NULL; i++)
    {
      /* glibc has added the bias to these in memory, other linkers have not. */
      const uint64_t value = dynamic[i].d_un.d_ptr;
      const uint64_t address = value < base ? value + module->bias : value;
      switch (dynamic[i].d_tag)
        {
        case DT_SYMTAB:
          module->symbols = address;
          break;
        case DT_STRTAB:
          module->names = address;
          break;
        case DT_STRSZ:
          module->names_size = value;
          break;
        case DT_GNU_HASH:
          module->gnu_hash = address;
          break;
        case DT_HASH:
          module->hash = address;
          break;
        }
    }
  return module->symbols != 0 && module->names != 0 && (module->gnu_hash != 0 || module->hash != 0);
}

/* The address of symbol number I if it is NAME and defined here, else 0. */
static uint64_t
symbol_at (const Module *module, uint32_t i, const char *name)
{
  Elf64_Sym symbol;
  char found[64];
  const size_t size = strlen (name) + 1;

  if (!_lns_remote_read (module->pid, module->symbols + (uint64_t)i * sizeof symbol, &symbol,
                         sizeof symbol) ||
      symbol.st_shndx == SHN_UNDEF || symbol.st_name + size > module->names_size ||
      size > sizeof found ||
      !_lns_remote_read (module->pid, module->names + symbol.st_name, found, size) ||
      memcmp (found, name, size) != 0)
    return 0;
  return module->bias + symbol.st_value;
}

static bool
read_number (const Module *module, uint64_t address, uint32_t *ret_number)
{
  return _lns_remote_read (module->pid, address, ret_number, sizeof *ret_number);
}

/* DT_GNU_HASH: a head of four numbers, a Bloom filter of 64-bit words, the buckets, and a hash for each symbol from the first
 * one that is hashed on; the lowest bit of a hash ends its bucket. */
static uint64_t
look_up_gnu (const Module *module, const char *name)
{
  uint32_t head[4], i, hash = 5381,
                       other; /* buckets, first symbol, words of the filter, its shift */
  uint64_t word;

  for (const char *c = name; *c != '\0'; c++)
    hash = hash * 33 + (uint8_t)*c;
  if (!_lns_remote_read (module->pid, module->gnu_hash, head, sizeof head) || head[0] == 0 ||
      head[2] == 0)
    return 0;
  const uint64_t filter = module->gnu_hash + sizeof head,
                 buckets = filter + (uint64_t)head[2] * sizeof word;
  if (!_lns_remote_read (module->pid, filter + (uint64_t)(hash / 64 % head[2]) * sizeof word, &word,
                         sizeof word) ||
      (word >> hash % 64 & word >> (hash >> head[3] % 32) % 64 & 1) == 0 ||
      !read_number (module, buckets + (uint64_t)(hash % head[0]) * sizeof i, &i) || i < head[1])
    return 0;
  const uint64_t hashes = buckets + (uint64_t)head[0] * sizeof i;
  for (unsigned n = 0; n < MOST_CHAIN; n++, i++)
    {
      uint64_t address;
      if (!read_number (module, hashes + (uint64_t)(i - head[1]) * sizeof other, &other))
        return 0;
      if ((other | 1) == (hash | 1) && (address = symbol_at (module, i, name)) != 0)
        return address;
      if ((other & 1) != 0)
        return 0;
    }
  return 0;
}

/* DT_HASH of the System V ABI: the numbers of buckets and symbols, the buckets, and for each symbol the next one of its
 * bucket. */
static uint64_t
look_up_sysv (const Module *module, const char *name)
{
  uint32_t head[2], i, hash = 0;

  for (const char *c = name; *c != '\0'; c++)
    {
      hash = (hash << 4) + (uint8_t)*c;
      hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
    }
  if (!_lns_remote_read (module->pid, module->hash, head, sizeof head) || head[0] == 0 ||
      !read_number (module, module->hash + sizeof head + (uint64_t)(hash % head[0]) * sizeof i, &i))
    return 0;
  for (unsigned n = 0; n < MOST_CHAIN && i != 0; n++)
    {
      const uint64_t address = symbol_at (module, i, name);
      if (address != 0)
        return address;
      if (!read_number (module, module->hash + sizeof head + ((uint64_t)head[0] + i) * sizeof i,
                        &i))
        return 0;
    }
  return 0;
}

static uint64_t
look_up (const Module *module, const char *name)
{
  return module->gnu_hash != 0 ? look_up_gnu (module, name) : look_up_sysv (module, name);
}

/* Versions from 3.11 on tell their number; before, what they export tells it: _PyRuntime came with 3.7,
 * PyThreadState_GetFrame with 3.9, PyModule_AddObjectRef with 3.10 (Doc/whatsnew). */
static uint32_t
version_of (const Module *module)
{
  unsigned long version = 0;
  const uint64_t number = look_up (module, "Py_Version");

  if (number != 0)
    return _lns_remote_read (module->pid, number, &version, sizeof version) ? (uint32_t)version : 0;
  if (look_up (module, "PyModule_AddObjectRef") != 0)
    return 0x030a0000;
  return look_up (module, "PyThreadState_GetFrame") != 0 ? 0x03090000 : 0x03080000;
}

bool
_lns_python_find (int32_t pid, LnsPythonPlace *ret_place)
{
  char path[64], *line = NULL;
  size_t n_room = 0;
  uint64_t start;
  Module module;
  bool is_found = false;
  int reason = 0;

  snprintf (path, sizeof path, "/proc/%d/maps", pid);
  FILE *maps = fopen (path, "re");
  if (maps == NULL)
    {
      if (errno == ENOENT)
        errno = ESRCH;
      return false;
    }
  while (!is_found && getline (&line, &n_room, maps) > 0)
    {
      /* The first page of a file that may be read. */
      uint64_t offset;
      if (sscanf (line, "%" SCNx64 "-%*x r%*3s %" SCNx64, &start, &offset) != 2 || offset != 0 ||
          strchr (line, '/') == NULL)
        continue;
      errno = 0;
      if (!open_module (pid, start, &module))
        {
          if (errno == EPERM || errno == ESRCH)
            {
              reason = errno;
              break;
            }
          continue;
        }
      ret_place->runtime = look_up (&module, "_PyRuntime");
      if (ret_place->runtime == 0)
        continue;
      ret_place->code_type = look_up (&module, "PyCode_Type");
      ret_place->version = version_of (&module);
      is_found = ret_place->code_type != 0;
    }
  free (line);
  fclose (maps);
  errno = reason;
  return is_found;
}
