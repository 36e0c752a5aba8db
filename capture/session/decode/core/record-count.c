/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/core/record-count.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "capture/wire/cuda-layout.h"
#include "capture/wire/os-layout.h"
#include "capture/wire/record.h"

static bool
is_paired (uint8_t type)
{
  return type == LNS_WIRE_START || type == LNS_WIRE_SAMPLE || type == LNS_WIRE_SAMPLE_BATCH ||
         type == LNS_WIRE_DEFERRED;
}

/* Whether a record of TYPE, which is longer than a head, begins an event. */
static bool
begins_event (uint8_t type)
{
  return type == LNS_WIRE_PUSH_LONG || type == LNS_WIRE_MARK_LONG || is_paired (type) ||
         lns_wire_is_cuda_event (type) || type == (uint8_t)LNS_WIRE_OS_CALL;
}

LnsBegun
lns_records_count_begun (const uint8_t *bytes, size_t n_bytes)
{
  const uint32_t short_events = 1u << LNS_WIRE_PUSH | 1u << LNS_WIRE_MARK;
  LnsBegun begun = { 0 };
  uint32_t length;
  for (size_t at = 0; n_bytes - at >= sizeof (LnsWireHead); at += length)
    {
      const uint8_t type = bytes[at + offsetof (LnsWireHead, type)];
      length = sizeof (LnsWireHead);
      if (type < LNS_WIRE_LONG_TYPES)
        {
          begun.n += short_events >> type & 1;
          continue;
        }
      if (n_bytes - at < sizeof (LnsWireLong))
        return begun;
      memcpy (&length, bytes + at + offsetof (LnsWireLong, n_bytes), sizeof length);
      if (length < sizeof (LnsWireHead) || length > n_bytes - at)
        return begun; /* lns_decoder_play () counts it as damaged */
      begun.n += begins_event (type);
      begun.n_late += is_paired (type);
    }
  return begun;
}

uint64_t
lns_records_count_damaged (const uint8_t *bytes, size_t n_bytes)
{
  const size_t n = n_bytes / LNS_WIRE_ALIGN_BYTES;
  size_t sound = n_bytes; /* where valid records begin that reach exactly to the end */
  /* For each place: whether the record there, and those after it, reach exactly to the end. */
  bool *reaches = calloc (n + 1, sizeof *reaches);
  if (reaches != NULL)
    reaches[n] = n_bytes % LNS_WIRE_ALIGN_BYTES == 0;
  for (size_t i = n; reaches != NULL && i-- > 1;)
    {
      size_t at = i * LNS_WIRE_ALIGN_BYTES;
      LnsWireRecord record;
      reaches[i] = lns_wire_record_next (bytes, n_bytes, &at, &record) > 0 &&
                   at % LNS_WIRE_ALIGN_BYTES == 0 && reaches[at / LNS_WIRE_ALIGN_BYTES];
      if (reaches[i])
        sound = i * LNS_WIRE_ALIGN_BYTES;
    }
  free (reaches);
  return 1 + lns_records_count_begun (bytes + sound, n_bytes - sound).n;
}
