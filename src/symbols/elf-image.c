/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/symbols/elf-image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "src/base/memory.h"
#include "src/base/regular-file.h"

#define MOST_SECTION_BYTES (UINT64_C (1) << 30)
#define MOST_HEADERS       (1u << 20)

struct LnsElfImage
{
  int fd;               /* -1 where the image lies in memory */
  const uint8_t *bytes; /* the memory, or NULL */
  uint64_t size_bytes;
  Elf64_Ehdr header;
  Elf64_Shdr *sections; /* owned */
  size_t n_sections;
  Elf64_Phdr *segments; /* owned */
  size_t n_segments;
  char *names; /* of sections; owned, terminated; NULL where there are none */
  size_t n_names;
};

/* Copies the N_BYTES at OFFSET. False if the image does not have them. */
static bool
copy (const LnsElfImage *image, uint64_t offset, void *ret, size_t n_bytes)
{
  if (offset > image->size_bytes || n_bytes > image->size_bytes - offset)
    return false;
  if (image->bytes != NULL)
    {
      memcpy (ret, image->bytes + offset, n_bytes);
      return true;
    }
  for (size_t done = 0; done < n_bytes;)
    {
      const ssize_t n =
          pread (image->fd, (uint8_t *)ret + done, n_bytes - done, (off_t)(offset + done));
      if (n == 0 || (n < 0 && errno != EINTR))
        return false;
      done += n > 0 ? (size_t)n : 0;
    }
  return true;
}

/* A table of N headers of SIZE_BYTES each at OFFSET. NULL if the file does not hold it. */
static void *
copy_table (const LnsElfImage *image, uint64_t offset, uint64_t n, size_t size_bytes)
{
  if (n > MOST_HEADERS || offset > image->size_bytes ||
      n > (image->size_bytes - offset) / size_bytes)
    return NULL;
  void *table = lns_calloc (n + 1, size_bytes);
  if (!copy (image, offset, table, n * size_bytes))
    {
      free (table);
      return NULL;
    }
  return table;
}

/* Reads the tables of sections and segments. A broken table of sections counts as none: stripped files may lack it. */
static bool
read_tables (LnsElfImage *image)
{
  const Elf64_Ehdr *header = &image->header;
  uint64_t n_sections = header->e_shnum, n_segments = header->e_phnum, names = header->e_shstrndx;
  Elf64_Shdr first;
  if (header->e_shoff != 0 && header->e_shentsize == sizeof first &&
      copy (image, header->e_shoff, &first, sizeof first))
    {
      /* The first section has the numbers that do not fit into the header. */
      n_sections = n_sections == 0 ? first.sh_size : n_sections;
      names = names == SHN_XINDEX ? first.sh_link : names;
      n_segments = n_segments == PN_XNUM ? first.sh_info : n_segments;
      image->sections = copy_table (image, header->e_shoff, n_sections, sizeof first);
      image->n_sections = image->sections != NULL ? n_sections : 0;
    }
  if (names < image->n_sections)
    image->names = (char *)lns_elf_image_read (image, &image->sections[names], &image->n_names);
  if (header->e_phentsize == sizeof (Elf64_Phdr))
    image->segments = copy_table (image, header->e_phoff, n_segments, sizeof (Elf64_Phdr));
  image->n_segments = image->segments != NULL ? n_segments : 0;
  return image->n_sections > 0 || image->n_segments > 0;
}

static LnsElfImage *
image_new (int fd, const void *bytes, uint64_t size_bytes)
{
  LnsElfImage *image = lns_calloc (1, sizeof *image);
  *image = (LnsElfImage){ .fd = fd, .bytes = bytes, .size_bytes = size_bytes };
  const uint8_t *ident = image->header.e_ident;
  if (copy (image, 0, &image->header, sizeof image->header) &&
      memcmp (ident, ELFMAG, SELFMAG) == 0 && ident[EI_CLASS] == ELFCLASS64 &&
      ident[EI_DATA] == ELFDATA2LSB && read_tables (image))
    return image;
  lns_elf_image_free (image);
  return NULL;
}

LnsElfImage *
lns_elf_image_open (const char *path)
{
  /* The path comes from a program or a report. */
  const int fd = lns_regular_file_open (path);
  struct stat status;
  if (fd < 0)
    return NULL;
  if (fstat (fd, &status) == 0)
    return image_new (fd, NULL, (uint64_t)status.st_size);
  close (fd);
  return NULL;
}

LnsElfImage *
lns_elf_image_from_bytes (const void *bytes, size_t size_bytes)
{
  return image_new (-1, bytes, size_bytes);
}

void
lns_elf_image_free (LnsElfImage *image)
{
  if (image == NULL)
    return;
  if (image->fd >= 0)
    close (image->fd);
  free (image->sections);
  free (image->segments);
  free (image->names);
  free (image);
}

uint16_t
lns_elf_image_machine (const LnsElfImage *image)
{
  return image->header.e_machine;
}

/* Finds the build-id among the notes of the N_BYTES at OFFSET. */
static bool
find_build_id (const LnsElfImage *image, uint64_t offset, uint64_t n_bytes, LnsBuildId *ret_id)
{
  uint8_t notes[4096]; /* the note is the first or second of a few short ones */
  const size_t n = n_bytes < sizeof notes ? n_bytes : sizeof notes;
  if (!copy (image, offset, notes, n))
    return false;
  for (size_t at = 0; n - at >= sizeof (Elf64_Nhdr);)
    {
      Elf64_Nhdr note;
      memcpy (&note, notes + at, sizeof note);
      at += sizeof note;
      const uint64_t name_bytes = ((uint64_t)note.n_namesz + 3) & ~UINT64_C (3);
      const uint64_t id_bytes = ((uint64_t)note.n_descsz + 3) & ~UINT64_C (3);
      if (name_bytes > n - at || note.n_descsz > n - at - name_bytes)
        return false;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
          memcmp (notes + at, "GNU", 4) == 0 && note.n_descsz > 0 &&
          note.n_descsz <= LNS_MOST_BUILD_ID_BYTES)
        {
          ret_id->n = note.n_descsz;
          memcpy (ret_id->bytes, notes + at + name_bytes, note.n_descsz);
          return true;
        }
      if (id_bytes > n - at - name_bytes)
        return false;
      at += name_bytes + id_bytes;
    }
  return false;
}

LnsBuildId
lns_elf_image_build_id (const LnsElfImage *image)
{
  LnsBuildId id = { .n = 0 };
  for (size_t i = 0; i < image->n_sections; i++)
    if (image->sections[i].sh_type == SHT_NOTE &&
        find_build_id (image, image->sections[i].sh_offset, image->sections[i].sh_size, &id))
      return id;
  for (size_t i = 0; i < image->n_segments; i++)
    if (image->segments[i].p_type == PT_NOTE &&
        find_build_id (image, image->segments[i].p_offset, image->segments[i].p_filesz, &id))
      return id;
  return id;
}

bool
lns_build_id_equal (const LnsBuildId *a, const LnsBuildId *b)
{
  return a->n == b->n && memcmp (a->bytes, b->bytes, a->n) == 0;
}

void
lns_build_id_text (const LnsBuildId *id, char ret_text[2 * LNS_MOST_BUILD_ID_BYTES + 1])
{
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < id->n; i++)
    {
      ret_text[2 * i] = digits[id->bytes[i] >> 4];
      ret_text[2 * i + 1] = digits[id->bytes[i] & 15];
    }
  ret_text[2 * id->n] = '\0';
}

const Elf64_Shdr *
lns_elf_image_section (const LnsElfImage *image, const char *name)
{
  for (size_t i = 0; i < image->n_sections; i++)
    {
      const Elf64_Shdr *section = &image->sections[i];
      if (image->names != NULL && section->sh_name < image->n_names &&
          strcmp (image->names + section->sh_name, name) == 0 && section->sh_type != SHT_NOBITS)
        return section;
    }
  return NULL;
}

const Elf64_Shdr *
lns_elf_image_section_at (const LnsElfImage *image, size_t index)
{
  return index < image->n_sections ? &image->sections[index] : NULL;
}

/* Replaces the packed bytes by what they hold. */
static uint8_t *
unpack (uint8_t *packed, size_t n_packed, size_t *ret_n_bytes)
{
  Elf64_Chdr head;
  uint8_t *bytes = NULL;
  if (n_packed >= sizeof head)
    {
      memcpy (&head, packed, sizeof head);
      uLongf n = head.ch_size;
      /* zlib packs at most 1,032 times. */
      if (head.ch_type == ELFCOMPRESS_ZLIB && head.ch_size <= MOST_SECTION_BYTES &&
          head.ch_size / 1100 <= n_packed)
        {
          bytes = lns_calloc (head.ch_size + 1, 1);
          if (uncompress (bytes, &n, packed + sizeof head, n_packed - sizeof head) != Z_OK ||
              n != head.ch_size)
            {
              free (bytes);
              bytes = NULL;
            }
          *ret_n_bytes = n;
        }
    }
  free (packed);
  return bytes;
}

uint8_t *
lns_elf_image_read (const LnsElfImage *image, const Elf64_Shdr *section, size_t *ret_n_bytes)
{
  if (section->sh_type == SHT_NOBITS || section->sh_size > MOST_SECTION_BYTES ||
      section->sh_offset > image->size_bytes ||
      section->sh_size > image->size_bytes - section->sh_offset)
    return NULL;
  uint8_t *bytes = lns_calloc (section->sh_size + 1, 1);
  if (!copy (image, section->sh_offset, bytes, section->sh_size))
    {
      free (bytes);
      return NULL;
    }
  *ret_n_bytes = section->sh_size;
  return section->sh_flags & SHF_COMPRESSED ? unpack (bytes, section->sh_size, ret_n_bytes) : bytes;
}

bool
lns_elf_image_address (const LnsElfImage *image, uint64_t file_offset, uint64_t *ret_address)
{
  for (size_t i = 0; i < image->n_segments; i++)
    {
      const Elf64_Phdr *segment = &image->segments[i];
      if (segment->p_type == PT_LOAD && file_offset >= segment->p_offset &&
          file_offset - segment->p_offset < segment->p_filesz && (segment->p_flags & PF_X) != 0)
        {
          *ret_address = segment->p_vaddr + (file_offset - segment->p_offset);
          return true;
        }
    }
  return false;
}

/* A start of a program is a few instructions: those of ld.so that call its C code are within this many bytes. */
#define START_BYTES 32

bool
lns_elf_image_is_start (const LnsElfImage *image, uint64_t address)
{
  return image->header.e_entry != 0 && address >= image->header.e_entry &&
         address - image->header.e_entry < START_BYTES;
}

const Elf64_Phdr *
lns_elf_image_segment_at (const LnsElfImage *image, size_t index)
{
  return index < image->n_segments ? &image->segments[index] : NULL;
}

char *
lns_elf_image_debug_link (const LnsElfImage *image, uint32_t *ret_crc)
{
  const Elf64_Shdr *section = lns_elf_image_section (image, ".gnu_debuglink");
  size_t n;
  char *link = section != NULL ? (char *)lns_elf_image_read (image, section, &n) : NULL;
  if (link == NULL)
    return NULL;
  const size_t crc_at = (strlen (link) + 1 + 3) & ~(size_t)3;
  /* A name with a slash would lead out of the folders that are searched. */
  if (link[0] == '\0' || strchr (link, '/') != NULL || crc_at > n || n - crc_at < sizeof *ret_crc)
    {
      free (link);
      return NULL;
    }
  memcpy (ret_crc, link + crc_at, sizeof *ret_crc);
  return link;
}

bool
lns_elf_image_crc (const LnsElfImage *image, uint32_t *ret_crc)
{
  uint8_t block[65536];
  uLong crc = crc32 (0, NULL, 0);
  for (uint64_t at = 0; at < image->size_bytes;)
    {
      const uint64_t left = image->size_bytes - at;
      const size_t n = left < sizeof block ? left : sizeof block;
      if (!copy (image, at, block, n))
        return false;
      crc = crc32 (crc, block, (uInt)n);
      at += n;
    }
  *ret_crc = (uint32_t)crc;
  return true;
}
