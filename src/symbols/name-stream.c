/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/symbols/name-stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/buffer.h"
#include "src/base/memory.h"
#include "src/base/string-table.h"
#include "src/symbols/demangle.h"

#define BLOCK_BYTES      (64u << 10)
#define MOST_TEXT        (16u << 10)            /* bytes of a name; longer ones are cut */
#define MOST_TEXTS_BYTES (UINT64_C (512) << 20) /* of the names of one module */

/* The kinds of messages, each followed by numbers as LEB128. */
enum
{
  MESSAGE_END,
  MESSAGE_TEXT,   /* n, and n bytes: the next number of a text is its */
  MESSAGE_FRAMES, /* address, n, and for each frame: 1 + the number of its function's text; 1 + that of the file's, or 0;
                     line; source */
  MESSAGE_SPAN    /* start, number of bytes, n, and frames */
};

/* --- Writing ------------------------------------------------------------------------------------- */

struct LnsNameWriter
{
  int fd;
  LnsBuffer buffer;
  LnsStringTable *texts; /* what was written, by what it was before it was demangled */
  uint32_t n_texts;
};

LnsNameWriter *
lns_name_writer_new (int fd)
{
  LnsNameWriter *writer = lns_calloc (1, sizeof *writer);
  writer->fd = fd;
  writer->texts = lns_string_table_new ();
  if (writer->texts == NULL)
    lns_out_of_memory ();
  return writer;
}

static void
flush (LnsNameWriter *writer)
{
  if (writer->buffer.failed)
    lns_out_of_memory ();
  for (size_t at = 0; at < writer->buffer.size_bytes;)
    {
      const ssize_t n =
          write (writer->fd, writer->buffer.bytes + at, writer->buffer.size_bytes - at);
      if (n < 0 && errno != EINTR)
        _exit (1);
      at += n > 0 ? (size_t)n : 0;
    }
  lns_buffer_reset (&writer->buffer);
}

/* The number of TEXT, which is written first if it is new. */
static uint32_t
write_text (LnsNameWriter *writer, const char *text, bool is_function)
{
  const uint32_t number =
      lns_string_table_intern (writer->texts, text, strlen (text), writer->n_texts);
  if (number < writer->n_texts)
    return number;
  char *demangled = is_function ? lns_demangle (text) : NULL;
  const char *shown = demangled != NULL ? demangled : text;
  const size_t n = strnlen (shown, MOST_TEXT);
  lns_buffer_append_varint (&writer->buffer, MESSAGE_TEXT);
  lns_buffer_append_varint (&writer->buffer, n);
  lns_buffer_append (&writer->buffer, shown, n);
  free (demangled);
  return writer->n_texts++;
}

/* Writes a message of KIND, whose first N_VALUES numbers are VALUES. */
static void
write_frames (LnsNameWriter *writer,
              unsigned kind,
              const uint64_t *values,
              size_t n_values,
              const LnsSymbolFrame *frames,
              size_t n_frames)
{
  uint32_t functions[LNS_NAME_MOST_FRAMES], files[LNS_NAME_MOST_FRAMES];
  n_frames = n_frames < LNS_NAME_MOST_FRAMES ? n_frames : LNS_NAME_MOST_FRAMES;
  for (size_t frame = 0; frame < n_frames; frame++)
    {
      functions[frame] = 1 + write_text (writer, frames[frame].function, true);
      files[frame] =
          frames[frame].file != NULL ? 1 + write_text (writer, frames[frame].file, false) : 0;
    }
  lns_buffer_append_varint (&writer->buffer, kind);
  for (size_t i = 0; i < n_values; i++)
    lns_buffer_append_varint (&writer->buffer, values[i]);
  lns_buffer_append_varint (&writer->buffer, n_frames);
  for (size_t frame = 0; frame < n_frames; frame++)
    {
      lns_buffer_append_varint (&writer->buffer, functions[frame]);
      lns_buffer_append_varint (&writer->buffer, files[frame]);
      lns_buffer_append_varint (&writer->buffer, frames[frame].line);
      lns_buffer_append_varint (&writer->buffer, frames[frame].source);
    }
  if (writer->buffer.size_bytes >= BLOCK_BYTES)
    flush (writer);
}

void
lns_name_writer_add (LnsNameWriter *writer, size_t i, const LnsSymbolFrame *frames, size_t n_frames)
{
  write_frames (writer, MESSAGE_FRAMES, (uint64_t[]){ i }, 1, frames, n_frames);
}

void
lns_name_writer_add_span (LnsNameWriter *writer,
                          uint64_t start,
                          uint64_t end,
                          const LnsSymbolFrame *frames,
                          size_t n_frames)
{
  write_frames (writer, MESSAGE_SPAN, (uint64_t[]){ start, end - start }, 2, frames, n_frames);
}

void
lns_name_writer_end (LnsNameWriter *writer)
{
  lns_buffer_append_varint (&writer->buffer, MESSAGE_END);
  flush (writer);
  lns_buffer_clear (&writer->buffer);
  lns_string_table_free (writer->texts);
  free (writer);
}

/* --- Reading ------------------------------------------------------------------------------------- */

struct LnsNameReader
{
  LnsBuffer buffer; /* what came and was not understood yet */
  LNS_ARRAY (char *) texts;
  uint64_t texts_bytes;
  uint8_t *has; /* a bit for each address */
  size_t n_addresses;
  bool is_complete;
  LnsSymbolsFunc func;
  void *context;
  LnsNameSpanFunc span_func; /* may be NULL */
  void *span_context;
};

LnsNameReader *
lns_name_reader_new (size_t n_addresses, LnsSymbolsFunc func, void *context)
{
  LnsNameReader *reader = lns_calloc (1, sizeof *reader);
  reader->has = lns_calloc (n_addresses / 8 + 1, 1);
  reader->n_addresses = n_addresses;
  reader->func = func;
  reader->context = context;
  return reader;
}

void
lns_name_reader_take_spans (LnsNameReader *reader, LnsNameSpanFunc func, void *context)
{
  reader->span_func = func;
  reader->span_context = context;
}

void
lns_name_reader_restart (LnsNameReader *reader)
{
  for (size_t i = 0; i < reader->texts.n; i++)
    free (reader->texts.items[i]);
  lns_array_clear (&reader->texts);
  lns_buffer_reset (&reader->buffer);
  reader->texts_bytes = 0;
  reader->is_complete = false;
}

void
lns_name_reader_free (LnsNameReader *reader)
{
  if (reader == NULL)
    return;
  lns_name_reader_restart (reader);
  lns_buffer_clear (&reader->buffer);
  free (reader->has);
  free (reader);
}

bool
lns_name_reader_is_complete (const LnsNameReader *reader)
{
  return reader->is_complete;
}

bool
lns_name_reader_has (const LnsNameReader *reader, size_t i)
{
  return (reader->has[i / 8] >> i % 8 & 1) != 0;
}

typedef enum
{
  TAKEN,
  NOT_WHOLE, /* its end has not come yet */
  BROKEN
} Taken;

static Taken
take_text (LnsNameReader *reader, const uint8_t **at, const uint8_t *end)
{
  uint64_t n;
  if (!lns_take_varint (at, end, &n))
    return NOT_WHOLE;
  if (n > MOST_TEXT || reader->texts_bytes + n > MOST_TEXTS_BYTES)
    return BROKEN;
  if ((uint64_t)(end - *at) < n)
    return NOT_WHOLE;
  *lns_array_add (&reader->texts) = lns_memdup (*at, n);
  reader->texts_bytes += n + sizeof (char *);
  *at += n;
  return TAKEN;
}

/* Takes N frames. */
static Taken
take_frames (LnsNameReader *reader,
             const uint8_t **at,
             const uint8_t *end,
             LnsSymbolFrame *ret_frames,
             uint64_t n)
{
  for (size_t frame = 0; frame < n; frame++)
    {
      uint64_t function, file, line, source;
      if (!lns_take_varint (at, end, &function) || !lns_take_varint (at, end, &file) ||
          !lns_take_varint (at, end, &line) || !lns_take_varint (at, end, &source))
        return NOT_WHOLE;
      if (function == 0 || function > reader->texts.n ||
          reader->texts.items[function - 1][0] == '\0' || file > reader->texts.n ||
          line > UINT32_MAX || source > LNS_NAME_DEBUG_INFO)
        return BROKEN;
      ret_frames[frame] = (LnsSymbolFrame){ reader->texts.items[function - 1],
                                            file > 0 ? reader->texts.items[file - 1] : NULL,
                                            (uint32_t)line, (LnsNameSource)source };
    }
  return TAKEN;
}

static Taken
take_address (LnsNameReader *reader, const uint8_t **at, const uint8_t *end)
{
  uint64_t i, n_frames;
  LnsSymbolFrame frames[LNS_NAME_MOST_FRAMES];
  if (!lns_take_varint (at, end, &i) || !lns_take_varint (at, end, &n_frames))
    return NOT_WHOLE;
  if (i >= reader->n_addresses || n_frames == 0 || n_frames > LNS_NAME_MOST_FRAMES)
    return BROKEN;
  const Taken taken = take_frames (reader, at, end, frames, n_frames);
  if (taken == TAKEN && !lns_name_reader_has (reader, i))
    {
      reader->has[i / 8] |= (uint8_t)(1u << i % 8);
      reader->func (reader->context, i, frames, n_frames);
    }
  return taken;
}

static Taken
take_span (LnsNameReader *reader, const uint8_t **at, const uint8_t *end)
{
  uint64_t start, n, n_frames;
  LnsSymbolFrame frames[LNS_NAME_MOST_FRAMES];
  if (!lns_take_varint (at, end, &start) || !lns_take_varint (at, end, &n) ||
      !lns_take_varint (at, end, &n_frames))
    return NOT_WHOLE;
  if (n == 0 || n > UINT64_MAX - start || n_frames > LNS_NAME_MOST_FRAMES)
    return BROKEN;
  const Taken taken = take_frames (reader, at, end, frames, n_frames);
  if (taken == TAKEN && reader->span_func != NULL)
    reader->span_func (reader->span_context, start, start + n, frames, n_frames);
  return taken;
}

static Taken
take_message (LnsNameReader *reader, const uint8_t **at, const uint8_t *end)
{
  uint64_t kind;
  if (!lns_take_varint (at, end, &kind))
    return NOT_WHOLE;
  if (kind == MESSAGE_TEXT)
    return take_text (reader, at, end);
  if (kind == MESSAGE_FRAMES)
    return take_address (reader, at, end);
  if (kind == MESSAGE_SPAN)
    return take_span (reader, at, end);
  reader->is_complete = kind == MESSAGE_END;
  return reader->is_complete ? TAKEN : BROKEN;
}

bool
lns_name_reader_read (LnsNameReader *reader, int fd)
{
  uint8_t *room = lns_buffer_reserve (&reader->buffer, BLOCK_BYTES);
  if (room == NULL)
    lns_out_of_memory ();
  const ssize_t n = read (fd, room, BLOCK_BYTES);
  if (n <= 0)
    return n < 0 && errno == EINTR;
  reader->buffer.size_bytes += (size_t)n;
  const uint8_t *at = reader->buffer.bytes, *end = at + reader->buffer.size_bytes, *done = at;
  Taken taken = TAKEN;
  while (!reader->is_complete && (taken = take_message (reader, &at, end)) == TAKEN)
    done = at;
  const size_t n_left = (size_t)(end - done);
  memmove (reader->buffer.bytes, done, n_left);
  reader->buffer.size_bytes = n_left;
  return taken != BROKEN && !reader->is_complete;
}
