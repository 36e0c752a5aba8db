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
  if (stream == NULL || !lns_id_map_set (&process->streams, source->stream, stream))
    {
      free (stream);
      decoder->counters.n_refused++;
      return NULL;
    }
  stream->process = process;
  stream->serial = source->stream;
  return stream;
}

static void
forget_names (LnsStream *stream)
{
  for (uint32_t i = 0; i < stream->n_names; i++)
    lns_name_unref (stream->names[i]);
  free (stream->names);
  stream->names = NULL;
  stream->n_names = 0;
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
  return string < stream->n_names ? stream->names[string] : NULL;
}

void
_lns_stream_set_name (LnsDecoder *decoder, LnsStream *stream, const LnsWireNamed *named)
{
  if (named->id == 0 || named->id >= LNS_WIRE_STREAM_STRINGS)
    return;
  if (named->id >= stream->n_names)
    {
      uint32_t n = stream->n_names < 16 ? 16 : stream->n_names;
      while (n <= named->id)
        n *= 2;
      LnsName **names = realloc (stream->names, n * sizeof *names);
      if (names == NULL)
        {
          decoder->counters.n_refused++;
          return;
        }
      memset (names + stream->n_names, 0, (n - stream->n_names) * sizeof *names);
      stream->names = names;
      stream->n_names = n;
    }
  lns_name_unref (stream->names[named->id]);
  stream->names[named->id] = lns_name_new (named->text.bytes, named->text.n_bytes);
}

bool
_lns_stream_know_thread (LnsDecoder *decoder, LnsStream *stream, uint64_t ticks)
{
  if (stream->thread != NULL)
    return true;
  LnsWireThread unknown = { .tid = stream->tid, .serial = UINT64_MAX - stream->serial };
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
