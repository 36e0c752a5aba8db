/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/cuda/take.h"
#include "capture/session/decode/cuda/definitions.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_BYTES (LNS_WIRE_CUDA_LAUNCHES * sizeof (LnsDecodedLaunch *))

/* All events of CUDA but calls of libraries begin alike. */
static bool
is_event (const LnsWireRecord *record)
{
  return record->type >= LNS_WIRE_CUDA_FIRST && record->type < (LnsWireType)LNS_WIRE_LIBRARY_CALL;
}

size_t
_lns_cuda_take_wanted (LnsDecoder *decoder,
                       LnsStream *stream,
                       uint8_t *bytes,
                       size_t n_bytes,
                       const LnsWantedEvents *wanted)
{
  LnsDecodedLaunch **slots = malloc (SLOTS_BYTES);
  if (slots == NULL)
    return n_bytes;
  /* What stays is played later: its launches stay with it, and the slots are then as they are now. */
  const bool has_slots = _lns_cuda_launches (stream) != NULL;
  if (has_slots)
    memcpy (slots, _lns_cuda_launches (stream), SLOTS_BYTES);
  size_t n_kept = 0, next = 0;
  LnsWireRecord record;
  for (size_t at = 0; at < n_bytes; at = next)
    {
      LnsWireCudaSyncBytes event = { 0 };
      if (lns_wire_record_next (bytes, n_bytes, &next, &record) <= 0)
        next = n_bytes; /* lns_decoder_play () counts it */
      else if (record.type == LNS_WIRE_LOST && _lns_cuda_launches (stream) != NULL)
        memset (_lns_cuda_launches (stream), 0, SLOTS_BYTES);
      else if (record.type == (LnsWireType)LNS_WIRE_CUDA_LAUNCH)
        wanted->play (decoder, stream, &record);
      else if (is_event (&record))
        {
          _lns_record_take (&record, &event, sizeof event);
          if (wanted->is_wanted (wanted->data, &event.head, event.correlation))
            {
              wanted->play (decoder, stream, &record);
              continue;
            }
        }
      memmove (bytes + n_kept, bytes + at, next - at);
      n_kept += next - at;
    }
  if (_lns_cuda_launches (stream) != NULL && has_slots)
    memcpy (_lns_cuda_launches (stream), slots, SLOTS_BYTES);
  else if (_lns_cuda_launches (stream) != NULL)
    memset (_lns_cuda_launches (stream), 0, SLOTS_BYTES);
  free (slots);
  return n_kept;
}
