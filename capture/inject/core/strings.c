/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/core/strings.h"

uint64_t
lns_strings_hash (const char *text, size_t n_bytes)
{
  const uint64_t factor = UINT64_C (0x9e3779b97f4a7c15);
  uint64_t hash = n_bytes * factor, word;
  size_t i = 0;
  for (; i + 8 <= n_bytes; i += 8)
    {
      memcpy (&word, text + i, 8);
      hash = (hash ^ word) * factor;
      hash ^= hash >> 29;
    }
  word = 0;
  memcpy (&word, text + i, n_bytes - i);
  hash = (hash ^ word) * factor;
  return hash ^ hash >> 32;
}

void
lns_strings_init (LnsStrings *strings, LnsStringMemory *memory)
{
  strings->memory = memory;
  strings->n_index = LNS_STRINGS_FIRST_INDEX;
}

void
lns_strings_clear (LnsStrings *strings)
{
  memset (strings->pointers, 0, sizeof strings->pointers);
  memset (strings->memory->index, 0, strings->n_index * sizeof *strings->memory->index);
  strings->n_index = LNS_STRINGS_FIRST_INDEX;
  strings->n_entries = 0;
  strings->n_copied_bytes = 0;
}

/* The index slot of the text, or the empty one where it belongs. */
static uint16_t *
find_slot (LnsStrings *strings, uint64_t hash, const char *text, size_t n_bytes)
{
  uint32_t mask = strings->n_index - 1;
  for (uint32_t i = (uint32_t)hash & mask;; i = (i + 1) & mask)
    {
      uint16_t id = strings->memory->index[i];
      if (id == 0)
        return &strings->memory->index[i];
      const LnsStringEntry *entry = &strings->memory->entries[id];
      if (text != NULL && entry->hash == hash && entry->n_bytes == n_bytes &&
          memcmp (strings->memory->copies + entry->at, text, n_bytes) == 0)
        return &strings->memory->index[i];
    }
}

/* Doubles the index, so that half of it stays empty. */
static void
grow_index (LnsStrings *strings)
{
  memset (strings->memory->index, 0, strings->n_index * sizeof *strings->memory->index);
  strings->n_index *= 2;
  for (uint32_t id = 1; id <= strings->n_entries; id++)
    if (strings->memory->entries[id].n_bytes <= LNS_STRINGS_CACHED_MAX)
      *find_slot (strings, strings->memory->entries[id].hash, NULL, 0) = (uint16_t)id;
}

uint32_t
lns_strings_next_id (LnsStrings *strings, size_t n_bytes)
{
  size_t kept = n_bytes <= LNS_STRINGS_CACHED_MAX ? n_bytes + 1 : 0;
  if (strings->n_entries + 1 >= LNS_WIRE_STREAM_STRINGS ||
      strings->n_copied_bytes + kept > LNS_STRINGS_COPY_BYTES)
    lns_strings_clear (strings);
  else if ((strings->n_entries + 1) * 2 > strings->n_index)
    grow_index (strings);
  return strings->n_entries + 1;
}

static void
remember_pointer (LnsStrings *strings, const char *pointer, uint32_t id)
{
  const LnsStringEntry *entry = &strings->memory->entries[id];
  strings->pointers[lns_strings_slot (pointer)] = (LnsStringPointer){
    .pointer = pointer,
    .copy = strings->memory->copies + entry->at,
    .n_bytes = entry->n_bytes + 1,
    .id = id,
  };
}

uint32_t
lns_strings_look_up (
    LnsStrings *strings, uint64_t hash, const char *text, size_t n_bytes, const char *pointer)
{
  uint32_t id = *find_slot (strings, hash, text, n_bytes);
  if (id != 0 && pointer != NULL)
    remember_pointer (strings, pointer, id);
  return id;
}

void
lns_strings_keep (
    LnsStrings *strings, uint64_t hash, const char *text, size_t n_bytes, const char *pointer)
{
  const uint32_t id = ++strings->n_entries;
  const LnsStringEntry entry = { hash, strings->n_copied_bytes, (uint32_t)n_bytes };
  strings->memory->entries[id] = entry;
  if (n_bytes > LNS_STRINGS_CACHED_MAX)
    return;
  memcpy (strings->memory->copies + entry.at, text, n_bytes);
  strings->memory->copies[entry.at + n_bytes] = '\0';
  strings->n_copied_bytes += (uint32_t)n_bytes + 1;
  *find_slot (strings, hash, NULL, 0) = (uint16_t)id;
  if (pointer != NULL)
    remember_pointer (strings, pointer, id);
}

/* The UTF-8 form of C in RET_BYTES; returns its length. */
static size_t
encode (uint32_t c, char ret_bytes[4])
{
  if (c > 0x10ffff)
    c = 0xfffd;
  if (c < 0x80)
    {
      ret_bytes[0] = (char)c;
      return 1;
    }
  size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  static const uint8_t first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
  for (size_t i = n - 1; i > 0; i--, c >>= 6)
    ret_bytes[i] = (char)(0x80 | (c & 0x3f));
  ret_bytes[0] = (char)(first[n] | c);
  return n;
}

size_t
lns_utf8_from_wide (const wchar_t *text, char *ret_text, size_t n_max)
{
  size_t n_bytes = 0;
  bool room = true;
  for (; *text != L'\0'; text++)
    {
      char bytes[4];
      size_t n = encode ((uint32_t)*text, bytes);
      room = room && n_bytes + n <= n_max;
      if (room)
        memcpy (ret_text + n_bytes, bytes, n);
      n_bytes += n;
    }
  return n_bytes;
}
