/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Compacts CUPTI records that a test writes by hand, and finds the resulting records. One source
 * file of each test includes this. */

#pragma once

#include "capture/wire/compact.h"
#include "tests/tap.h"

#include <cupti.h>

#define ROOM 65536u

static struct
{
  uint8_t bytes[ROOM];
  size_t n_bytes, room;
  uint64_t n_lost;
  uint8_t from[ROOM];
  size_t n_from;
  LnsWireCuptiSizes sizes;
  LnsWireCuptiCounts counts;
  LnsWireLaunches launches;
} test;

static uint8_t *
reserve (void *context, size_t n_bytes)
{
  LNS_CHECK (context == &test);
  LNS_CHECK_INT (n_bytes % LNS_WIRE_ALIGN_BYTES, 0);
  return test.n_bytes + n_bytes <= test.room ? test.bytes + test.n_bytes : NULL;
}

static void
commit (void *context, size_t n_bytes)
{
  test.n_bytes += n_bytes;
}

static void
lose (void *context, size_t n_bytes)
{
  test.n_lost++;
  memset (&test.launches, 0, sizeof test.launches);
}

static uint32_t
text (void *context, uint64_t address, bool is_lasting)
{
  return address == 0 ? 0 : (uint32_t)address | (is_lasting ? LNS_WIRE_STRING_REGISTERED : 0);
}

static uint32_t
call_name (void *context, bool is_runtime, uint32_t cbid)
{
  return cbid + (is_runtime ? 1000 : 2000);
}

static void
bus (void *context, uint32_t device, char *ret_bus, size_t n_max)
{
  snprintf (ret_bus, n_max, "0000:%02x:00.0", device);
}

static const LnsWireCuptiSink sink = { .context = &test,
                                       .reserve = reserve,
                                       .commit = commit,
                                       .lose = lose,
                                       .text = text,
                                       .call_name = call_name,
                                       .bus = bus,
                                       .launches = &test.launches,
                                       .asked_ticks = 77 };

static void
begin (void)
{
  memset (&test, 0, sizeof test);
  test.room = ROOM;
}

/* Adds a record of which the loaded CUPTI knows N_BYTES. */
static void
add (const void *record, size_t n_bytes)
{
  uint32_t kind;
  memcpy (&kind, record, sizeof kind);
  test.sizes.record_bytes[kind] = (uint16_t)n_bytes;
  memcpy (test.from + test.n_from, record, n_bytes);
  test.n_from += n_bytes;
}

static void
compact (void)
{
  uint32_t compacted = 0;
  lns_wire_cupti_compact (&test.sizes, test.from, sizeof test.from, &sink, &compacted,
                          &test.counts);
  LNS_CHECK_INT (compacted, test.n_from);
}

/* The only record of TYPE that came out; its size is checked. */
static const void *
only (LnsWireCudaType type, size_t n_bytes)
{
  const void *found = NULL;
  for (size_t at = 0; at < test.n_bytes;)
    {
      LnsWireHead head;
      uint32_t n;
      memcpy (&head, test.bytes + at, sizeof head);
      memcpy (&n, test.bytes + at + sizeof head, sizeof n);
      LNS_CHECK (n >= sizeof head + sizeof n && n % LNS_WIRE_ALIGN_BYTES == 0);
      if (head.type == type)
        {
          LNS_CHECK (found == NULL);
          LNS_CHECK_INT (n, (n_bytes + 15) / 16 * 16);
          found = test.bytes + at;
        }
      at += n;
    }
  LNS_CHECK (found != NULL);
  return found;
}

static const void *
compact_one (const void *record, size_t n_bytes, LnsWireCudaType type, size_t n_wire_bytes)
{
  begin ();
  add (record, n_bytes);
  compact ();
  LNS_CHECK_INT (test.counts.n_compacted, 1);
  return only (type, n_wire_bytes);
}

static void
check_place (const LnsWireCudaPlace *place, uint32_t device, uint32_t context, uint32_t stream)
{
  LNS_CHECK_INT (place->device, device);
  LNS_CHECK_INT (place->context, context);
  LNS_CHECK_INT (place->stream, stream);
}
