/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The names that a stream has written. They are looked up by address first, then by content. The bytes at an address
 * are compared with those that were there before, as programs build names in buffers that they use again. When ids or
 * memory run out, all names are forgotten and written again. */

#pragma once

#include "capture/wire/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LNS_STRINGS_POINTERS    128u
#define LNS_STRINGS_INDEX       8192u /* at least twice LNS_WIRE_STREAM_STRINGS */
#define LNS_STRINGS_COPY_BYTES  (128u << 10)
#define LNS_STRINGS_CACHED_MAX  4096u /* longer names are written each time */
#define LNS_STRINGS_WIDE_BYTES  (64u << 10)
#define LNS_STRINGS_FIRST_INDEX 256u

/* Instead of an id: there was no room to write the name. */
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

/* Address space, of which only the used part is touched. */
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

/* Initialises the names with MEMORY, which is zero. */
void lns_strings_init (LnsStrings *strings, LnsStringMemory *memory);

/* Forgets all names. */
void lns_strings_clear (LnsStrings *strings);

/* Finds the id of TEXT, which has HASH, by its content. Returns 0 if it was not written. POINTER is the address by which
 * it is found again, or null. */
uint32_t lns_strings_look_up (
    LnsStrings *strings, uint64_t hash, const char *text, size_t n_bytes, const char *pointer);

/* The id of the next text, of N_BYTES, which the caller writes and then keeps. Forgets all other names if there is no
 * room for it. */
uint32_t lns_strings_next_id (LnsStrings *strings, size_t n_bytes);

/* Notes that TEXT was written as the next id. It is found from now on, unless it is longer than LNS_STRINGS_CACHED_MAX.
 * POINTER as above. */
void lns_strings_keep (
    LnsStrings *strings, uint64_t hash, const char *text, size_t n_bytes, const char *pointer);

/* Converts at most N_MAX bytes of the wide TEXT to UTF-8 in RET_TEXT, whole characters only, not
 * terminated; lone surrogates are kept in the same form, values beyond U+10FFFF become U+FFFD.
 * Returns how many bytes the whole text has in UTF-8, also those that did not fit. */
size_t lns_utf8_from_wide (const wchar_t *text, char *ret_text, size_t n_max);

/* Whether the string at POINTER equals COPY, which has N_BYTES with its terminator. The string may be shorter than it
 * was, so no byte of another page is read. */
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

/* The id of the string at POINTER, or 0 if it is not known by address; null never is. */
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
