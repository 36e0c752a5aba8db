/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/base/json-reader.h"

#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/memory.h"

#define CHUNK_BYTES ((size_t)256 << 10) /* that are asked for at a time */

/* Zeros behind the bytes: no text, word or white space goes beyond one, so that loops need not compare with the end. As
 * many as plain_length () looks at together. */
#define PADDING_BYTES 8

/* What may follow. */
enum
{
  A_VALUE,
  A_VALUE_OR_END, /* of the list that has just begun */
  A_KEY,
  A_KEY_OR_END, /* of the object that has just begun */
  A_COLON,
  A_COMMA_OR_END
};

enum
{
  IS_SPACE = 1,
  IS_OF_WORD = 2 /* numbers are words too */
};
static const uint8_t classes[256] = {
  [' '] = IS_SPACE,           ['\t'] = IS_SPACE,          ['\r'] = IS_SPACE,
  ['\n'] = IS_SPACE,          ['0' ... '9'] = IS_OF_WORD, ['a' ... 'z'] = IS_OF_WORD,
  ['A' ... 'Z'] = IS_OF_WORD, ['+'] = IS_OF_WORD,         ['-'] = IS_OF_WORD,
  ['.'] = IS_OF_WORD,
};

void
lns_json_reader_init (LnsJsonReader *reader, LnsJsonFill fill, void *data, size_t text_max_bytes)
{
  *reader = (LnsJsonReader){ .fill = fill, .data = data, .text_max_bytes = text_max_bytes };
}

void
lns_json_reader_init_text (LnsJsonReader *reader, const char *text, size_t size_bytes)
{
  *reader = (LnsJsonReader){ .text_max_bytes = SIZE_MAX };
  reader->bytes = lns_realloc (NULL, size_bytes + PADDING_BYTES, 1);
  if (size_bytes > 0)
    memcpy (reader->bytes, text, size_bytes);
  memset (reader->bytes + size_bytes, 0, PADDING_BYTES);
  reader->n_bytes = reader->n_filled = size_bytes;
}

void
lns_json_reader_clear (LnsJsonReader *reader)
{
  free (reader->bytes);
  reader->bytes = NULL;
}

/* --- The source ------------------------------------------------------------------------------- */

/* Ends the reading: END and a sentence say why. */
static LnsJsonToken
stop (LnsJsonReader *reader, LnsJsonEnd end, const char *format, ...)
{
  va_list values;

  if (reader->end == LNS_JSON_READING)
    {
      reader->end = end;
      va_start (values, format);
      vsnprintf (reader->complaint, sizeof reader->complaint, format, values);
      va_end (values);
    }
  return LNS_JSON_END;
}

/* The same, for a byte AT that cannot be there. */
static LnsJsonToken
stop_at (LnsJsonReader *reader, size_t at, const char *what)
{
  return stop (reader, LNS_JSON_INVALID, "%s at byte %llu", what,
               (unsigned long long)(reader->n_filled - (reader->n_bytes - at)));
}

/* Appends more bytes of the source. Moves the text of this token and the unread bytes to the front before. Returns false at
 * the end. */
static bool
fill (LnsJsonReader *reader)
{
  const size_t n_kept = reader->out - reader->start, n_rest = reader->n_bytes - reader->at;

  if (reader->fill == NULL || reader->is_at_end)
    return false;
  if (reader->start > 0)
    memmove (reader->bytes, reader->bytes + reader->start, n_kept);
  if (n_rest > 0)
    memmove (reader->bytes + n_kept, reader->bytes + reader->at, n_rest);
  reader->start = 0;
  reader->out = reader->at = n_kept;
  reader->n_bytes = n_kept + n_rest;
  const size_t needed = reader->n_bytes + CHUNK_BYTES + PADDING_BYTES;
  if (reader->allocated_bytes < needed)
    {
      /* Twice as much each time, so that the cost of a long text is linear. */
      reader->allocated_bytes =
          needed < 2 * reader->allocated_bytes ? 2 * reader->allocated_bytes : needed;
      reader->bytes = lns_realloc (reader->bytes, reader->allocated_bytes, 1);
    }
  const size_t n = reader->fill (reader->data, reader->bytes + reader->n_bytes, CHUNK_BYTES);
  reader->is_at_end = n == 0;
  reader->n_bytes += n;
  reader->n_filled += n;
  memset (reader->bytes + reader->n_bytes, 0, PADDING_BYTES);
  return n > 0;
}

/* Whether N bytes are there. */
static bool
has (LnsJsonReader *reader, size_t n)
{
  while (reader->n_bytes - reader->at < n)
    if (!fill (reader))
      return false;
  return true;
}

/* The next byte that is not white space, which stays; -1 at the end. */
static int
peek (LnsJsonReader *reader)
{
  do
    {
      if (reader->at < reader->n_bytes)
        while (classes[reader->bytes[reader->at]] & IS_SPACE)
          reader->at++;
      if (reader->at < reader->n_bytes)
        return reader->bytes[reader->at];
      reader->start = reader->out = reader->at;
    }
  while (fill (reader));
  return -1;
}

/* --- Texts ------------------------------------------------------------------------------------ */

#define ONES (~UINT64_C (0) / 255)

/* How many of BYTES stand for themselves before a quote, a backslash or a control character, such as the padding.
 * Looks at eight bytes together: a byte less than N has its top bit set in (word - ONES * N) & ~word. Bytes behind
 * the first one found may be wrong, as it borrows from them. */
static size_t
plain_length (const uint8_t *bytes)
{
  for (size_t n = 0;; n += 8)
    {
      uint64_t word;
      memcpy (&word, bytes + n, sizeof word);
      word = le64toh (word);
      const uint64_t quotes = word ^ ONES * '"', backslashes = word ^ ONES * '\\';
      const uint64_t found = (((word - ONES * ' ') & ~word) | ((quotes - ONES) & ~quotes) |
                              ((backslashes - ONES) & ~backslashes)) &
                             ONES * 0x80;
      if (found != 0)
        return n + (size_t)__builtin_ctzll (found) / 8;
    }
}

/* Reads the next N_READ bytes of a text, which stand for the N_PUT bytes of PUT, or for themselves. */
static void
take (LnsJsonReader *reader, size_t n_read, const void *put, size_t n_put)
{
  reader->at += n_read;
  reader->n_text_bytes += n_read;
  if (reader->n_text_bytes > reader->text_max_bytes)
    {
      reader->is_too_long = true;
      reader->out = reader->start;
      return;
    }
  if (reader->bytes + reader->out != put)
    memmove (reader->bytes + reader->out, put, n_put);
  reader->out += n_put;
}

/* The number of the four hexadecimal digits after \u at BYTES; -1 if there are no such digits. */
static int
unit_at (const uint8_t *bytes)
{
  int unit = 0;

  if (bytes[0] != '\\' || bytes[1] != 'u')
    return -1;
  for (int i = 2; i < 6; i++)
    {
      const uint8_t byte = bytes[i], letter = byte | 0x20;
      const int digit = byte >= '0' && byte <= '9'       ? byte - '0'
                        : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10
                                                         : -1;
      if (digit < 0)
        return -1;
      unit = unit << 4 | digit;
    }
  return unit;
}

/* Writes CODE in UTF-8. Returns its length. */
static size_t
encode (uint32_t code, uint8_t ret_bytes[4])
{
  const size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  static const uint8_t leads[] = { 0, 0, 0xC0, 0xE0, 0xF0 };

  for (size_t i = n - 1; i > 0; i--, code >>= 6)
    ret_bytes[i] = 0x80 | (code & 0x3F);
  ret_bytes[0] = leads[n] | (uint8_t)code;
  return n;
}

/* Reads \u and what follows it: with a second unit where the first is half of a pair. */
static bool
read_unit (LnsJsonReader *reader)
{
  if (!has (reader, 6))
    return false;
  const int unit = unit_at (reader->bytes + reader->at);
  uint32_t code = (uint32_t)unit;
  size_t n = 6;
  uint8_t encoded[4];

  if (unit < 0)
    {
      stop_at (reader, reader->at, "invalid escape sequence");
      return false;
    }
  if (unit >= 0xD800 && unit < 0xE000)
    {
      const int second =
          unit < 0xDC00 && has (reader, 12) ? unit_at (reader->bytes + reader->at + 6) : -1;
      const bool is_pair = second >= 0xDC00 && second < 0xE000;
      code = is_pair ? 0x10000 + ((code - 0xD800) << 10) + (uint32_t)(second - 0xDC00) : 0xFFFD;
      n = is_pair ? 12 : 6;
    }
  take (reader, n, encoded, encode (code, encoded));
  return true;
}

static bool
read_escape (LnsJsonReader *reader)
{
  static const char meanings[256] = { ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
                                      ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t' };

  reader->is_escaped = true;
  if (!has (reader, 2))
    return false;
  const uint8_t byte = reader->bytes[reader->at + 1];
  if (byte == 'u')
    return read_unit (reader);
  if (meanings[byte] == '\0')
    {
      stop_at (reader, reader->at, "invalid escape sequence");
      return false;
    }
  take (reader, 2, &meanings[byte], 1);
  return true;
}

/* Reads a key or string after its first quote. It is decoded in place, because decoding never makes it longer. */
static LnsJsonToken
read_text (LnsJsonReader *reader, LnsJsonToken token)
{
  reader->start = reader->out = ++reader->at;
  reader->n_text_bytes = 0;
  reader->is_escaped = false;
  for (bool goes_on = true; goes_on;)
    {
      const uint8_t *bytes = reader->bytes + reader->at;
      const size_t n = plain_length (bytes);
      if (n > 0)
        take (reader, n, bytes, n);
      if (reader->at == reader->n_bytes)
        goes_on = fill (reader);
      else if (bytes[n] == '"')
        {
          reader->bytes[reader->out] = '\0'; /* perhaps in place of that quote */
          reader->at++;
          reader->text = (const char *)reader->bytes + reader->start;
          reader->size_bytes = reader->out - reader->start;
          return token;
        }
      else if (bytes[n] == '\\')
        goes_on = read_escape (reader);
      else
        take (reader, 1, " ", 1);
    }
  return stop (reader, LNS_JSON_CUT_OFF_IN_TOKEN, "the JSON text ends early");
}

/* --- Words and numbers ------------------------------------------------------------------------ */

static const char *
skip_digits (const char *text)
{
  while (*text >= '0' && *text <= '9')
    text++;
  return text;
}

static bool
is_number (const char *text)
{
  text += *text == '-';
  const char *behind = skip_digits (text);
  bool is_one = behind > text && (*text != '0' || behind == text + 1);

  if (*behind == '.')
    {
      text = behind + 1;
      behind = skip_digits (text);
      is_one &= behind > text;
    }
  if (*behind == 'e' || *behind == 'E')
    {
      text = behind + 1 + (behind[1] == '+' || behind[1] == '-');
      behind = skip_digits (text);
      is_one &= behind > text;
    }
  return is_one && *behind == '\0';
}

/* What WORD stands for; LNS_JSON_END where that is unknown. */
static LnsJsonToken
meaning_of (const char *word)
{
  const char *unsigned_word = word + (*word == '-');

  if (*unsigned_word >= '0' && *unsigned_word <= '9')
    return is_number (word) ? LNS_JSON_NUMBER : LNS_JSON_END;
  if (strcasecmp (unsigned_word, "nan") == 0 || strcasecmp (unsigned_word, "inf") == 0 ||
      strcasecmp (unsigned_word, "infinity") == 0)
    return LNS_JSON_NULL;
  return strcmp (word, "true") == 0    ? LNS_JSON_TRUE
         : strcmp (word, "false") == 0 ? LNS_JSON_FALSE
         : strcmp (word, "null") == 0  ? LNS_JSON_NULL
                                       : LNS_JSON_END;
}

static LnsJsonToken
read_word (LnsJsonReader *reader)
{
  char what[40];

  reader->start = reader->at;
  do
    {
      while (classes[reader->bytes[reader->at]] & IS_OF_WORD)
        reader->at++;
      reader->out = reader->at;
      if (reader->out - reader->start > reader->text_max_bytes)
        return stop_at (reader, reader->start, "a number that is too long");
    }
  while (reader->at == reader->n_bytes && fill (reader));
  const char *word = (const char *)reader->bytes + reader->start;
  reader->replaced = reader->bytes[reader->at];
  reader->has_replaced = true;
  reader->bytes[reader->at] = '\0';
  const LnsJsonToken token = meaning_of (word);
  if (token == LNS_JSON_END)
    {
      /* The end may have cut it short. */
      if (reader->at == reader->n_bytes)
        return stop (reader, LNS_JSON_CUT_OFF_IN_TOKEN, "the JSON text ends early");
      snprintf (what, sizeof what, "invalid value \"%.20s\"", word);
      return stop_at (reader, reader->start, what);
    }
  if (token == LNS_JSON_NUMBER)
    {
      reader->text = word;
      reader->size_bytes = reader->out - reader->start;
    }
  return token;
}

/* --- Tokens ----------------------------------------------------------------------------------- */

static LnsJsonToken
stop_at_byte (LnsJsonReader *reader, uint8_t byte)
{
  char what[40];

  snprintf (what, sizeof what,
            byte > ' ' && byte < 0x7F ? "unexpected \"%c\"" : "unexpected 0x%02X", byte);
  return stop_at (reader, reader->at, what);
}

static LnsJsonToken
open_one (LnsJsonReader *reader, bool is_object)
{
  const unsigned depth = reader->depth;
  char what[60];

  if (depth == LNS_JSON_DEPTH_MAX)
    {
      snprintf (what, sizeof what, "more than %d lists and objects are open", LNS_JSON_DEPTH_MAX);
      return stop_at (reader, reader->at, what);
    }
  reader->at++;
  reader->objects[depth / 8] &= (uint8_t) ~(1u << depth % 8);
  reader->objects[depth / 8] |= (uint8_t)(is_object << depth % 8);
  reader->depth++;
  reader->in_object = is_object;
  reader->state = is_object ? A_KEY_OR_END : A_VALUE_OR_END;
  return is_object ? LNS_JSON_OBJECT : LNS_JSON_LIST;
}

static LnsJsonToken
close_one (LnsJsonReader *reader)
{
  const bool was_object = reader->in_object;

  reader->at++;
  reader->depth--;
  if (reader->depth > 0)
    reader->in_object = reader->objects[(reader->depth - 1) / 8] >> (reader->depth - 1) % 8 & 1;
  reader->state = A_COMMA_OR_END;
  return was_object ? LNS_JSON_OBJECT_END : LNS_JSON_LIST_END;
}

/* Skips the mark of UTF-8, as Windows writes it. */
static void
skip_mark (LnsJsonReader *reader)
{
  static const uint8_t mark[] = { 0xEF, 0xBB, 0xBF };

  if (has (reader, sizeof mark) && memcmp (reader->bytes, mark, sizeof mark) == 0)
    reader->at += sizeof mark;
}

/* The next byte that begins a token, behind the comma or colon that may stand before it. */
static int
begin (LnsJsonReader *reader)
{
  const int byte = peek (reader);

  if (byte == ',' && reader->state == A_COMMA_OR_END && reader->depth > 0)
    reader->state = reader->in_object ? A_KEY : A_VALUE;
  else if (byte == ':' && reader->state == A_COLON)
    reader->state = A_VALUE;
  else
    return byte;
  reader->at++;
  return peek (reader);
}

LnsJsonToken
lns_json_next (LnsJsonReader *reader)
{
  reader->size_bytes = 0;
  reader->is_too_long = false;
  if (reader->end != LNS_JSON_READING)
    return LNS_JSON_END;
  if (reader->has_replaced)
    reader->bytes[reader->at] = reader->replaced;
  reader->has_replaced = false;
  if (reader->n_filled == reader->n_bytes && reader->at == 0)
    skip_mark (reader);
  const int byte = begin (reader);
  const int state = reader->state;
  const bool is_value = state == A_VALUE || state == A_VALUE_OR_END;
  if (byte < 0)
    return state == A_COMMA_OR_END && reader->depth == 0
               ? stop (reader, LNS_JSON_COMPLETE, "")
               : stop (reader, LNS_JSON_CUT_OFF, "the JSON text ends early");
  if (byte == '"' && (state == A_KEY || state == A_KEY_OR_END))
    {
      reader->state = A_COLON;
      return read_text (reader, LNS_JSON_KEY);
    }
  if (is_value && (byte == '{' || byte == '['))
    return open_one (reader, byte == '{');
  if (byte == (reader->in_object ? '}' : ']') && reader->depth > 0 &&
      (state == A_COMMA_OR_END || state == A_VALUE_OR_END || state == A_KEY_OR_END))
    return close_one (reader);
  if (!is_value || (byte != '"' && !(classes[byte] & IS_OF_WORD)))
    return stop_at_byte (reader, (uint8_t)byte);
  reader->state = A_COMMA_OR_END;
  return byte == '"' ? read_text (reader, LNS_JSON_STRING) : read_word (reader);
}

void
lns_json_skip (LnsJsonReader *reader, LnsJsonToken token)
{
  const unsigned depth = reader->depth;

  if (token == LNS_JSON_LIST || token == LNS_JSON_OBJECT)
    while (reader->depth >= depth && lns_json_next (reader) != LNS_JSON_END)
      continue;
}

/* --- Copies ----------------------------------------------------------------------------------- */

/* Appends a text that has characters which must not stand for themselves. */
static void
append_escaped (LnsBuffer *out, const char *text, size_t size_bytes)
{
  static const char letters[' '] = {
    ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'
  };

  for (size_t i = 0; i < size_bytes; i++)
    {
      const uint8_t byte = (uint8_t)text[i];
      char escape[] = { '\\', (char)byte,          '0',
                        '0',  "01"[byte >> 4 & 1], "0123456789ABCDEF"[byte & 0xF] };
      size_t n = byte == '"' || byte == '\\' ? 2 : 1;
      if (byte < ' ')
        {
          escape[1] = letters[byte] != '\0' ? letters[byte] : 'u';
          n = letters[byte] != '\0' ? 2 : sizeof escape;
        }
      lns_buffer_append (out, n == 1 ? text + i : escape, n);
    }
}

void
lns_json_append (const LnsJsonReader *reader, LnsJsonToken token, LnsBuffer *out)
{
  static const char *const words[] = {
    [LNS_JSON_END] = "",      [LNS_JSON_NULL] = "null",    [LNS_JSON_FALSE] = "false",
    [LNS_JSON_TRUE] = "true", [LNS_JSON_NUMBER] = "",      [LNS_JSON_STRING] = "\"",
    [LNS_JSON_KEY] = "\"",    [LNS_JSON_LIST] = "[",       [LNS_JSON_LIST_END] = "]",
    [LNS_JSON_OBJECT] = "{",  [LNS_JSON_OBJECT_END] = "}",
  };
  const char *word = words[token];
  const bool is_text = token == LNS_JSON_STRING || token == LNS_JSON_KEY;
  const bool is_end = token == LNS_JSON_LIST_END || token == LNS_JSON_OBJECT_END;
  const uint8_t last = out->size_bytes > 0 ? out->bytes[out->size_bytes - 1] : '[';
  char before[8];
  size_t n = 0;

  if (!is_end && last != '[' && last != '{' && last != ':')
    before[n++] = ',';
  while (*word != '\0')
    before[n++] = *word++;
  lns_buffer_append (out, before, n);
  if (is_text && reader->is_escaped)
    append_escaped (out, reader->text, reader->size_bytes);
  else
    lns_buffer_append (out, reader->text, reader->size_bytes);
  if (is_text)
    lns_buffer_append (out, "\":", token == LNS_JSON_KEY ? 2 : 1);
}
