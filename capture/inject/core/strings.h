/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The names that a stream has told already. Looked up first by address, then by content; what an
 * address holds is compared with what it held, byte for byte, since programs build names in buffers
 * that they use again. When ids or memory run out, everything is forgotten and told anew. */

#pragma once

#include "capture/wire/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LNS_STRINGS_POINTERS    128u
#define LNS_STRINGS_INDEX       8192u /* at least twice LNS_WIRE_STREAM_STRINGS */
#define LNS_STRINGS_COPY_BYTES  (128u << 10)
#define LNS_STRINGS_CACHED_MAX  4096u /* longer names are told each time */
#define LNS_STRINGS_WIDE_BYTES  (64u << 10)
#define LNS_STRINGS_FIRST_INDEX 256u

/* Instead of an id: there was no room to tell the name. */
#define LNS_STRINGS_NO_ROOM UINT32_MAX

typedef struct
{
  const char *pointer;
  const char *copy;
  uint32_t n_bytes; /* with the terminator */
  uint32_t id;
} LnsStringPointer;

typedef struct
{
  uint64_t hash;
  uint32_t at; /* in copies */
  uint32_t n_bytes;
} LnsStringEntry;

/* Address space that is touched only as far as it is used. */
typedef struct
{
  uint16_t index[LNS_STRINGS_INDEX];               /* ids by hash, 0 where empty */
  LnsStringEntry entries[LNS_WIRE_STREAM_STRINGS]; /* by id */
  char copies[LNS_STRINGS_COPY_BYTES];
  char wide[LNS_STRINGS_WIDE_BYTES]; /* for conversion */
} LnsStringMemory;

typedef struct
{
  LnsStringPointer pointers[LNS_STRINGS_POINTERS];
  LnsStringMemory *memory;
  uint32_t n_entries;
  uint32_t n_copied_bytes;
  uint32_t n_index; /* slots of the index in use, a power of 2 */
} LnsStrings;

/* A 64-bit hash of N_BYTES of TEXT. */
uint64_t lns_strings_hash (const char *text, size_t n_bytes);

/* Begins with MEMORY, which is zero. */
void lns_strings_init (LnsStrings *strings, LnsStringMemory *memory);

/* Forgets all names. */
void lns_strings_clear (LnsStrings *strings);

/* The id of TEXT, which has HASH, by its content; 0 when it was not told. POINTER: where it is found again by address,
 * or null. */
uint32_t lns_strings_look_up (
    LnsStrings *strings, uint64_t hash, const char *text, size_t n_bytes, const char *pointer);

/* A new id for a text of N_BYTES with HASH, which is to be told; forgets all others if there is no room beside them.
 * Then one of these two. */
uint32_t lns_strings_add (LnsStrings *strings, uint64_t hash, size_t n_bytes);

/* ID was told as TEXT, of at most LNS_STRINGS_CACHED_MAX bytes: it is found from now on. POINTER: as above. */
void lns_strings_keep (LnsStrings *strings, uint32_t id, const char *text, const char *pointer);

/* ID could not be told. */
void lns_strings_drop (LnsStrings *strings, uint32_t id);

/* Converts at most N_MAX bytes of the wide TEXT to UTF-8 in RET_TEXT, whole characters only, not
 * terminated; lone surrogates are kept in the same form, values beyond U+10FFFF become U+FFFD.
 * Returns how many bytes the whole text has in UTF-8, also those that did not fit. */
size_t lns_utf8_from_wide (const wchar_t *text, char *ret_text, size_t n_max);

/* Whether the string at POINTER is COPY, which is N_BYTES long with its terminator. The caller's may
 * be shorter than it was: no byte of another page is looked at. */
static inline bool
lns_strings_same (const char *pointer, const char *copy, uint32_t n_bytes)
{
  if (__builtin_expect (((uintptr_t)pointer & 4095) + n_bytes > 4096, 0))
    return false;
  if (n_bytes < 8)
    {
      for (uint32_t i = 0; i < n_bytes; i++)
        if (pointer[i] != copy[i])
          return false;
      return true;
    }
  uint64_t a, b;
  for (uint32_t i = 0; i + 8 < n_bytes; i += 8)
    {
      memcpy (&a, pointer + i, 8);
      memcpy (&b, copy + i, 8);
      if (a != b)
        return false;
    }
  memcpy (&a, pointer + n_bytes - 8, 8);
  memcpy (&b, copy + n_bytes - 8, 8);
  return a == b;
}

static inline uint32_t
lns_strings_slot (const char *pointer)
{
  return ((uint32_t)(uintptr_t)pointer * 2654435761u) / (UINT32_MAX / LNS_STRINGS_POINTERS + 1);
}

/* The id of the string at POINTER, or 0 when it is not known by address (null never is). */
static inline uint32_t
lns_strings_find (const LnsStrings *strings, const char *pointer)
{
  const LnsStringPointer *known = &strings->pointers[lns_strings_slot (pointer)];
  /* An empty slot has id 0 and no bytes to compare, so null is found as 0. */
  if (__builtin_expect (known->pointer == pointer, 1) &&
      __builtin_expect (lns_strings_same (pointer, known->copy, known->n_bytes), 1))
    return known->id;
  return 0;
}
