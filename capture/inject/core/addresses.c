/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/core/addresses.h"
#include "capture/inject/core/maps.h"
#include "capture/inject/core/strings.h"
#include "capture/wire/call-chains.h"

#include <stddef.h>
#include <string.h>

/* Neighbours are one span. What does not fit is not known. */
#define SPANS_MAX  4096u
#define STARTS_MAX 4u
#define CODES_MAX  4096u

/* Spans are of whole pages. */
#define PAGE_SHIFT 12

/* Pages that were asked for before, by their numbers. A power of 2. */
#define N_KNOWN 1024u

typedef struct
{
  uintptr_t start, end;
} Span;

typedef struct
{
  Span data[SPANS_MAX]; /* ascending, apart */
  uint32_t n_data, n_starts;
  Span starts[STARTS_MAX]; /* code of C libraries */
  uintptr_t low, high;     /* of all code */
  uint32_t n_codes;
  uint64_t codes[CODES_MAX]; /* a hash of each mapping of code, by address */
} Table;

/* A table is written while threads read the other one. They look at `n_readings` before and after: a table that they read
 * is overwritten only after it has changed. */
static Table tables[2];
static uint32_t n_readings; /* that are complete; the newest is in tables[n_readings % 2] */
static uint32_t generation;

/* The lower bits of the reading, the number of the page, and whether it holds data. */
static uint64_t known[N_KNOWN];

#define KNOWN_PAGE_BITS    36
#define KNOWN_READING_BITS (64 - KNOWN_PAGE_BITS - 1)

static uint64_t
known_page (uint32_t reading, uintptr_t address, bool is_data)
{
  return (uint64_t)reading << (64 - KNOWN_READING_BITS) | (uint64_t)(address >> PAGE_SHIFT) << 1 |
         (is_data ? 1 : 0);
}

static bool
is_of_c_library (const LnsMapping *mapping)
{
  const char *end = mapping->path + mapping->n_path_bytes, *name = end;
  while (name > mapping->path && name[-1] != '/')
    name--;
  return lns_wire_is_c_library (name, (size_t)(end - name));
}

/* A hash of what MAPPING maps, and where. */
static uint64_t
hash_of (const LnsMapping *mapping)
{
  return lns_strings_hash (mapping->path, mapping->n_path_bytes) ^
         (mapping->start * UINT64_C (0x9e3779b97f4a7c15) + mapping->end) *
             UINT64_C (0xff51afd7ed558ccd) ^
         mapping->file_offset * UINT64_C (0xc2b2ae3d27d4eb4f);
}

/* Whether OLD has code that TABLE has not, at the same place. Both are by address. */
static bool
has_lost (const Table *old, const Table *table)
{
  uint32_t at = 0;
  for (uint32_t i = 0; i < old->n_codes; i++)
    {
      while (at < table->n_codes && table->codes[at] != old->codes[i])
        at++;
      if (at == table->n_codes)
        return true;
    }
  return false;
}

static void
add (Table *table, const LnsMapping *mapping)
{
  if (mapping->is_code)
    {
      if (table->n_codes < CODES_MAX)
        table->codes[table->n_codes++] = hash_of (mapping);
      if (table->low == 0)
        table->low = mapping->start;
      table->high = mapping->end;
      if (table->n_starts < STARTS_MAX && is_of_c_library (mapping))
        table->starts[table->n_starts++] = (Span){ mapping->start, mapping->end };
    }
  else if (table->n_data > 0 && table->data[table->n_data - 1].end == mapping->start)
    table->data[table->n_data - 1].end = mapping->end;
  else if (table->n_data < SPANS_MAX)
    table->data[table->n_data++] = (Span){ mapping->start, mapping->end };
}

void
lns_addresses_read (void)
{
  static char buffer[LNS_MAPS_BUFFER_BYTES];
  const uint32_t reading = n_readings + 1;
  Table *table = &tables[reading % 2];
  LnsMapping mapping;
  LnsMaps maps;
  if (!lns_maps_open (&maps, buffer, sizeof buffer))
    return;
  table->n_data = table->n_starts = table->n_codes = 0;
  table->low = table->high = 0;
  while (lns_maps_next (&maps, &mapping))
    add (table, &mapping);
  lns_maps_close (&maps);
  if (has_lost (&tables[(reading - 1) % 2], table))
    __atomic_store_n (&generation, generation + 1, __ATOMIC_RELAXED);
  __atomic_store_n (&n_readings, reading, __ATOMIC_RELEASE);
}

uint32_t
lns_addresses_generation (void)
{
  return __atomic_load_n (&generation, __ATOMIC_RELAXED);
}

/* Whether ADDRESS is in one of the N SPANS. */
static bool
is_in (const Span *spans, uint32_t n, uintptr_t address)
{
  uint32_t first = 0;
  while (n > 0)
    {
      const uint32_t half = n / 2;
      const Span *middle = &spans[first + half];
      if (__atomic_load_n (&middle->end, __ATOMIC_RELAXED) <= address)
        {
          first += half + 1;
          n -= half + 1;
        }
      else if (__atomic_load_n (&middle->start, __ATOMIC_RELAXED) <= address)
        return true;
      else
        n = half;
    }
  return false;
}

/* Whether no newer reading than READING is complete. */
static bool
is_newest (uint32_t reading)
{
  __atomic_thread_fence (__ATOMIC_ACQUIRE);
  return __atomic_load_n (&n_readings, __ATOMIC_RELAXED) == reading;
}

bool
lns_address_may_be_code (uintptr_t address)
{
  const uint32_t reading = __atomic_load_n (&n_readings, __ATOMIC_ACQUIRE);
  const Table *table = &tables[reading % 2];
  if (reading == 0)
    return true;
  if (address < __atomic_load_n (&table->low, __ATOMIC_RELAXED) ||
      address >= __atomic_load_n (&table->high, __ATOMIC_RELAXED))
    return !is_newest (reading);
  uint64_t *place = &known[(address >> PAGE_SHIFT) % N_KNOWN];
  const uint64_t kept = __atomic_load_n (place, __ATOMIC_RELAXED);
  const uint64_t is_code = known_page (reading, address, false);
  if ((kept | 1) == (is_code | 1))
    return kept == is_code;
  const uint32_t n = __atomic_load_n (&table->n_data, __ATOMIC_RELAXED);
  const bool is_data = is_in (table->data, n < SPANS_MAX ? n : SPANS_MAX, address);
  if (!is_newest (reading))
    return true;
  __atomic_store_n (place, is_code | (is_data ? 1 : 0), __ATOMIC_RELAXED);
  return !is_data;
}

bool
lns_address_is_start (uintptr_t address)
{
  const uint32_t reading = __atomic_load_n (&n_readings, __ATOMIC_ACQUIRE);
  const Table *table = &tables[reading % 2];
  const uint32_t n = __atomic_load_n (&table->n_starts, __ATOMIC_RELAXED);
  const bool is_start = is_in (table->starts, n < STARTS_MAX ? n : STARTS_MAX, address);
  return is_start && is_newest (reading);
}
