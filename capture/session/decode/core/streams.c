/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/decode/core/streams.h"

#include <stdlib.h>
#include <string.h>

LnsStream *
_lns_decoder_find_stream (LnsDecoder *decoder, const LnsDecoderSource *source)
{
  if (source->process >= decoder->processes.n)
    return NULL;
  LnsDecodedProcess *process = decoder->processes.items[source->process];
  LnsStream *stream = lns_id_map_get (&process->streams, source->stream);
  if (stream != NULL)
    return stream;
  stream = calloc (1, sizeof *stream);
  if (!_lns_decoder_keep (decoder, NULL, &process->streams, source->stream, stream))
    return NULL;
  stream->process = process;
  stream->serial = source->stream;
  return stream;
}

static void
forget_names (LnsStream *stream)
{
  for (size_t i = 0; i < stream->names.n; i++)
    lns_name_unref (stream->names.items[i]);
  lns_array_clear (&stream->names);
}

void
_lns_stream_free (LnsStream *stream)
{
  forget_names (stream);
  lns_wire_assembler_clear (&stream->events);
  lns_wire_assembler_clear (&stream->definitions);
  free (stream);
}

LnsName *
_lns_stream_name (const LnsStream *stream, uint32_t string)
{
  if (string & LNS_WIRE_STRING_REGISTERED)
    return lns_id_map_get (&stream->process->registered, string);
  return string < stream->names.n ? stream->names.items[string] : NULL;
}

void
_lns_stream_set_name (LnsDecoder *decoder, LnsStream *stream, const LnsWireNamed *named)
{
  if (named->id == 0 || named->id >= LNS_WIRE_STREAM_STRINGS)
    return;
  while (stream->names.n <= named->id)
    if (lns_array_try_add (&stream->names) == NULL)
      {
        decoder->counters.n_refused++;
        return;
      }
  lns_name_unref (stream->names.items[named->id]);
  stream->names.items[named->id] = lns_name_new (named->text.bytes, named->text.n_bytes);
}

bool
_lns_stream_know_thread (LnsDecoder *decoder, LnsStream *stream, uint64_t ticks)
{
  if (stream->thread != NULL)
    return true;
  LnsWireThread unknown = { .said = { .tid = stream->tid, .serial = UINT64_MAX - stream->serial } };
  stream->thread = _lns_decoder_thread (decoder, stream->process, &unknown, ticks);
  return stream->thread != NULL;
}

void
_lns_stream_break (LnsStream *stream)
{
  forget_names (stream);
  lns_wire_assembler_clear (&stream->events);
  stream->lost_before = true;
}
