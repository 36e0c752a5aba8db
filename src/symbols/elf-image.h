/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reads an ELF file that may be damaged or hostile: every offset, count and size is checked against the file, and nothing
 * is mapped, so a file that shrinks meanwhile gives an error instead of a signal. Only 64-bit little-endian files are
 * read; others are refused. An image may be used by one thread at a time. */

#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LNS_MOST_BUILD_ID_BYTES                                                                    \
 64 /* the longest build-id that is kept; common ones have 8, 16 or 20 bytes */

typedef struct
{
  uint8_t bytes[LNS_MOST_BUILD_ID_BYTES];
  size_t n; /* 0: there is none */
} LnsBuildId;

typedef struct LnsElfImage LnsElfImage;

/* Opens the regular file at PATH. NULL if it cannot be read or is not such an ELF file. */
LnsElfImage *lns_elf_image_open (const char *path) __attribute__ ((warn_unused_result));

/* The same for the SIZE_BYTES at BYTES, which the caller keeps until the image is freed. */
LnsElfImage *lns_elf_image_from_bytes (const void *bytes, size_t size_bytes)
    __attribute__ ((warn_unused_result));

void lns_elf_image_free (LnsElfImage *image); /* NULL is fine */

uint16_t lns_elf_image_machine (const LnsElfImage *image); /* EM_X86_64, EM_AARCH64, … */

/* The build-id, or one of 0 bytes. */
LnsBuildId lns_elf_image_build_id (const LnsElfImage *image);
bool lns_build_id_equal (const LnsBuildId *a, const LnsBuildId *b);

/* Writes ID in hexadecimal, with a NUL. */
void lns_build_id_text (const LnsBuildId *id, char ret_text[2 * LNS_MOST_BUILD_ID_BYTES + 1]);

/* The first section called NAME that has bytes in the file, or NULL. O(sections). */
const Elf64_Shdr *lns_elf_image_section (const LnsElfImage *image, const char *name);

/* The section number INDEX, or NULL if there is none. It may have no bytes in the file (SHT_NOBITS). */
const Elf64_Shdr *lns_elf_image_section_at (const LnsElfImage *image, size_t index);

/* The bytes of SECTION, unpacked if zlib packed them, with a NUL after them. The caller frees them. NULL if they are not
 * within the file, are more than 1 GiB, or cannot be unpacked. */
uint8_t *lns_elf_image_read (const LnsElfImage *image,
                             const Elf64_Shdr *section,
                             size_t *ret_n_bytes) __attribute__ ((warn_unused_result));

/* The virtual address of the byte at FILE_OFFSET that a loader maps. False if no segment has it. O(segments). */
bool lns_elf_image_address (const LnsElfImage *image, uint64_t file_offset, uint64_t *ret_address);

/* Whether ADDRESS (virtual) is where the kernel starts a program with the image, or a few instructions behind it. O(1). */
bool lns_elf_image_is_start (const LnsElfImage *image, uint64_t address);

/* The segment number INDEX, of any type, or NULL if there are not so many. */
const Elf64_Phdr *lns_elf_image_segment_at (const LnsElfImage *image, size_t index);

/* The name of the separate debug file (.gnu_debuglink) and its CRC. NULL if there is none. The caller frees it. */
char *lns_elf_image_debug_link (const LnsElfImage *image, uint32_t *ret_crc)
    __attribute__ ((warn_unused_result));

/* The CRC of all bytes of the file, as .gnu_debuglink has it. False if it cannot be read. O(size). */
bool lns_elf_image_crc (const LnsElfImage *image, uint32_t *ret_crc);
