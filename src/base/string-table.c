/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/base/string-table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"

#define FIRST_SLOTS 1024 /* a power of two */
#define BLOCK_BYTES ((size_t)256 * 1024)

typedef struct
{
  const uint8_t *bytes; /* NULL = free */
  size_t size_bytes;
  uint32_t hash; /* the low bits of the string's hash, for growing the table */
  uint32_t id;
} Slot;

typedef struct Block
{
  struct Block *next;
  uint8_t bytes[];
} Block;

struct LnsStringTable
{
  Slot *slots;
  uint32_t mask; /* slots - 1 */
  uint32_t n;
  Block *blocks;     /* the newest first */
  size_t left_bytes; /* in the newest block */
  uint8_t *free;
};

LnsStringTable *
lns_string_table_new (void)
{
  LnsStringTable *table = calloc (1, sizeof *table);
  if (table == NULL)
    return NULL;
  table->slots = calloc (FIRST_SLOTS, sizeof *table->slots);
  table->mask = FIRST_SLOTS - 1;
  if (table->slots == NULL)
    {
      free (table);
      return NULL;
    }
  return table;
}

void
lns_string_table_free (LnsStringTable *table)
{
  if (table == NULL)
    return;
  for (Block *block = table->blocks, *next; block != NULL; block = next)
    {
      next = block->next;
      free (block);
    }
  free (table->slots);
  free (table);
}

static const uint8_t *
copy_bytes (LnsStringTable *table, const void *bytes, size_t size_bytes)
{
  if (size_bytes > table->left_bytes || table->blocks == NULL)
    {
      size_t room = size_bytes > BLOCK_BYTES ? size_bytes : BLOCK_BYTES;
      Block *block = malloc (sizeof *block + room);
      if (block == NULL)
        return NULL;
      block->next = table->blocks;
      table->blocks = block;
      table->free = block->bytes;
      table->left_bytes = room;
    }
  uint8_t *copy = table->free;
  if (size_bytes > 0)
    memcpy (copy, bytes, size_bytes);
  table->free += size_bytes;
  table->left_bytes -= size_bytes;
  return copy;
}

/* Doubles the slots. Returns false and leaves the table alone if memory runs out. */
static bool
grow (LnsStringTable *table)
{
  if (table->mask > UINT32_MAX / 2)
    return false;
  uint32_t mask = table->mask * 2 + 1;
  Slot *slots = calloc ((size_t)mask + 1, sizeof *slots);
  if (slots == NULL)
    return false;
  for (size_t i = 0; i <= table->mask; i++)
    {
      if (table->slots[i].bytes == NULL)
        continue;
      uint32_t at = table->slots[i].hash & mask;
      while (slots[at].bytes != NULL)
        at = (at + 1) & mask;
      slots[at] = table->slots[i];
    }
  free (table->slots);
  table->slots = slots;
  table->mask = mask;
  return true;
}

/* The slot of the bytes, or the free one where they would go. */
static uint32_t
find_slot (const LnsStringTable *table, uint32_t hash, const void *bytes, size_t size_bytes)
{
  uint32_t at = hash & table->mask;

  for (; table->slots[at].bytes != NULL; at = (at + 1) & table->mask)
    {
      const Slot *slot = &table->slots[at];
      if (slot->hash == hash && slot->size_bytes == size_bytes &&
          (size_bytes == 0 || memcmp (slot->bytes, bytes, size_bytes) == 0))
        break;
    }
  return at;
}

uint32_t
lns_string_table_find (const LnsStringTable *table,
                       const void *bytes,
                       size_t size_bytes,
                       uint32_t absent)
{
  const Slot *slot =
      &table->slots[find_slot (table, (uint32_t)lns_hash (bytes, size_bytes), bytes, size_bytes)];

  return slot->bytes != NULL ? slot->id : absent;
}

uint32_t
lns_string_table_intern (LnsStringTable *table,
                         const void *bytes,
                         size_t size_bytes,
                         uint32_t new_id)
{
  uint32_t hash = (uint32_t)lns_hash (bytes, size_bytes);
  uint32_t at = find_slot (table, hash, bytes, size_bytes);
  if (table->slots[at].bytes != NULL)
    return table->slots[at].id;
  /* At most half full, if there is memory; never so full that a search would not end. */
  if (table->n > table->mask / 2)
    {
      if (!grow (table) && table->n >= table->mask - 1)
        return new_id;
      for (at = hash & table->mask; table->slots[at].bytes != NULL;)
        at = (at + 1) & table->mask;
    }
  const uint8_t *copy = copy_bytes (table, bytes, size_bytes);
  if (copy == NULL)
    return new_id;
  table->slots[at] = (Slot){ copy, size_bytes, hash, new_id };
  table->n++;
  return new_id;
}
