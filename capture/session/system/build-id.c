/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/system/build-id.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "src/base/regular-file.h"

/* Linkers put the note behind the program headers, at the file's beginning, in a segment of a few hundred bytes. */
#define NOTES_BYTES   4096
#define MOST_SEGMENTS 64

/* The build-id among the N bytes of NOTES. */
static size_t
find (const uint8_t *notes, size_t n, uint8_t *ret_id)
{
  Elf64_Nhdr note;
  for (size_t at = 0; at + sizeof note <= n;)
    {
      memcpy (&note, notes + at, sizeof note);
      const size_t name_at = at + sizeof note,
                   id_at = name_at + ((size_t)note.n_namesz + 3) / 4 * 4,
                   next = id_at + ((size_t)note.n_descsz + 3) / 4 * 4;
      if (next > n)
        return 0;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU &&
          memcmp (notes + name_at, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0 &&
          note.n_descsz <= LNS_BUILD_ID_BYTES)
        {
          memcpy (ret_id, notes + id_at, note.n_descsz);
          return note.n_descsz;
        }
      at = next;
    }
  return 0;
}

static bool
read_at (int fd, void *bytes, size_t n, uint64_t at)
{
  return pread (fd, bytes, n, (off_t)at) == (ssize_t)n;
}

size_t
lns_build_id_read (const char *path, uint8_t ret_id[static LNS_BUILD_ID_BYTES])
{
  uint8_t notes[NOTES_BYTES];
  Elf64_Ehdr head;
  Elf64_Phdr segment;
  size_t n_id = 0;
  /* Programs map devices, too. */
  const int fd = lns_regular_file_open (path);
  if (fd < 0)
    return 0;
  const bool is_elf = read_at (fd, &head, sizeof head, 0) &&
                      memcmp (head.e_ident, ELFMAG, SELFMAG) == 0 &&
                      head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_ident[EI_DATA] == ELFDATA2LSB;
  for (unsigned i = 0; is_elf && n_id == 0 && i < head.e_phnum && i < MOST_SEGMENTS; i++)
    if (read_at (fd, &segment, sizeof segment, head.e_phoff + (uint64_t)i * head.e_phentsize) &&
        segment.p_type == PT_NOTE && segment.p_filesz <= sizeof notes &&
        read_at (fd, notes, segment.p_filesz, segment.p_offset))
      n_id = find (notes, segment.p_filesz, ret_id);
  close (fd);
  return n_id;
}
