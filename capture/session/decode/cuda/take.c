/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Events of CUDA out of their turn: those that belong to a report which ends. */

#include "capture/session/decode/cuda/cuda-private.h"

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
lns_decoder_take_cuda (LnsDecoder *decoder,
                       const LnsDecoderSource *source,
                       uint8_t *bytes,
                       size_t n_bytes,
                       bool (*is_wanted) (const void *data,
                                          const LnsWireHead *head,
                                          uint32_t correlation),
                       const void *data)
{
  LnsStream *stream = _lns_decoder_find_stream (decoder, source);
  LnsDecodedLaunch **slots = malloc (SLOTS_BYTES);
  if (stream == NULL || slots == NULL)
    {
      free (slots);
      return n_bytes;
    }
  /* What stays is played later: its launches stay with it, and the slots are then as they are now. */
  const bool has_slots = stream->launches != NULL;
  if (has_slots)
    memcpy (slots, stream->launches, SLOTS_BYTES);
  size_t n_kept = 0, next = 0;
  LnsWireRecord record;
  for (size_t at = 0; at < n_bytes; at = next)
    {
      LnsWireCudaSyncBytes event = { 0 };
      if (lns_wire_record_next (bytes, n_bytes, &next, &record) <= 0)
        next = n_bytes; /* lns_decoder_play () counts it */
      else if (record.type == LNS_WIRE_LOST && stream->launches != NULL)
        memset (stream->launches, 0, SLOTS_BYTES);
      else if (record.type == (LnsWireType)LNS_WIRE_CUDA_LAUNCH)
        _lns_decoder_cuda (decoder, stream, &record);
      else if (is_event (&record))
        {
          _lns_cuda_take (&record, &event, sizeof event);
          if (is_wanted (data, &event.head, event.correlation))
            {
              _lns_decoder_cuda (decoder, stream, &record);
              continue;
            }
        }
      memmove (bytes + n_kept, bytes + at, next - at);
      n_kept += next - at;
    }
  if (stream->launches != NULL && has_slots)
    memcpy (stream->launches, slots, SLOTS_BYTES);
  else if (stream->launches != NULL)
    memset (stream->launches, 0, SLOTS_BYTES);
  free (slots);
  return n_kept;
}
