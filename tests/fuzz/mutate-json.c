/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* mutate-json [MUTATIONS [SEED]]: makes JSON, breaks it in random ways, and reads it in pieces of random sizes. However it
 * is divided, the reader must say the same, and a copy of what it read must be valid and stay as it is when it is read
 * again. tests/golden/test_json.py asks whether what it says is right. */

#include "src/base/json-reader.h"
#include "tests/fuzz/mutations.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

static unsigned n_mutations = 3000;
static uint64_t seed = 1;

static const char *const words[] = {
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "\"",
  "\\",
  "\\u00e4",
  "\\ud83d",
  "\\ude00",
  "\\n",
  "\"a\":1,",
  "\"b\":[",
  "null",
  "true",
  "NaN",
  "-inf",
  "-12.5e3",
  "0",
  "01",
  "\t",
  " ",
  "\n",
  "\x80",
  "\xEF\xBB\xBF",
  "[[[[",
  "]]]]",
  "{\"\":",
  "\"x\"",
  "a long text of more than eight bytes",
  "1e999",
};

static uint64_t
draw (uint64_t below)
{
  return fixture_random (&seed) % below;
}

/* Appends what may be a value. */
static void
make_value (LnsBuffer *out, unsigned depth)
{
  static const char *const values[] = {
    "1", "-2.5", "\"a\\u00e4\"", "true", "null", "\"\"", "NaN"
  };
  const uint64_t kind = draw (depth < 6 ? 4 : 2);

  if (kind < 2)
    {
      const char *value = values[draw (sizeof values / sizeof *values)];
      lns_buffer_append (out, value, strlen (value));
      return;
    }
  lns_buffer_append (out, kind == 2 ? "[" : "{", 1);
  for (uint64_t i = 0, n = draw (5); i < n; i++)
    {
      lns_buffer_append (out, ", ", i > 0 ? 2 : 0);
      lns_buffer_append (out, "\"key\" : ", kind == 2 ? 0 : 8);
      make_value (out, depth + 1);
    }
  lns_buffer_append (out, kind == 2 ? "]" : "}", 1);
}

/* Breaks TEXT once. */
static void
mutate (LnsBuffer *text)
{
  const size_t n = text->size_bytes, at = (size_t)draw (n + 1);
  const char *word = words[draw (sizeof words / sizeof *words)];
  const size_t n_word = strlen (word);

  switch (draw (4))
    {
    case 0:
      text->size_bytes = at;
      break;
    case 1:
      if (at < n)
        text->bytes[at] ^= (uint8_t)(1 << draw (8));
      break;
    default:
      lns_buffer_append (text, word, n_word);
      memmove (text->bytes + at + n_word, text->bytes + at, n - at);
      memcpy (text->bytes + at, word, n_word);
    }
}

typedef struct
{
  const LnsBuffer *text;
  size_t at;
  uint64_t piece_max; /* 0: all at once */
} Source;

static size_t
give (void *data, uint8_t *bytes, size_t size_bytes)
{
  Source *source = data;
  const size_t rest = source->text->size_bytes - source->at;
  size_t n = source->piece_max > 0 ? (size_t)draw (source->piece_max) + 1 : size_bytes;

  n = n < rest ? n : rest;
  if (n > 0)
    memcpy (bytes, source->text->bytes + source->at, n);
  source->at += n;
  return n;
}

/* Reads TEXT; RET_COPY is what was read, and then why no more. */
static LnsJsonEnd
read_text (const LnsBuffer *text, uint64_t piece_max, size_t text_max_bytes, LnsBuffer *ret_copy)
{
  static LnsJsonReader json;
  Source source = { text, 0, piece_max };
  LnsJsonToken token;

  lns_buffer_reset (ret_copy);
  lns_json_reader_init (&json, give, &source, text_max_bytes);
  while ((token = lns_json_next (&json)) != LNS_JSON_END)
    lns_json_append (&json, token, ret_copy);
  LNS_CHECK ((json.end == LNS_JSON_COMPLETE) == (json.complaint[0] == '\0'));
  if (json.end != LNS_JSON_COMPLETE)
    lns_buffer_append (ret_copy, json.complaint, strlen (json.complaint));
  lns_json_reader_clear (&json);
  return json.end;
}

static bool
equal (const LnsBuffer *one, const LnsBuffer *other)
{
  return one->size_bytes == other->size_bytes &&
         (one->size_bytes == 0 || memcmp (one->bytes, other->bytes, one->size_bytes) == 0);
}

static void
test_broken_texts (void)
{
  static const size_t limits[] = { 0, 3, 40, SIZE_MAX };
  LnsBuffer text = { 0 }, copy = { 0 }, other = { 0 };
  unsigned n_valid = 0;

  for (unsigned i = 0; i < n_mutations; i++)
    {
      const size_t limit = limits[draw (sizeof limits / sizeof *limits)];
      lns_buffer_reset (&text);
      make_value (&text, 0);
      for (uint64_t left = draw (5); left > 0; left--)
        mutate (&text);
      const LnsJsonEnd end = read_text (&text, 0, limit, &copy);
      LNS_CHECK (copy.size_bytes <= text.size_bytes + 128);
      LNS_CHECK_INT (read_text (&text, 1, limit, &other), end);
      LNS_CHECK (equal (&copy, &other));
      LNS_CHECK_INT (read_text (&text, 1 + draw (20), limit, &other), end);
      LNS_CHECK (equal (&copy, &other));
      if (end != LNS_JSON_COMPLETE)
        continue;
      n_valid++;
      LNS_CHECK_INT (read_text (&copy, 0, SIZE_MAX, &other), LNS_JSON_COMPLETE);
      LNS_CHECK (equal (&copy, &other));
    }
  LNS_CHECK (n_valid > 0 && n_valid < n_mutations);
  printf ("# %u of %u valid\n", n_valid, n_mutations);
  lns_buffer_clear (&text);
  lns_buffer_clear (&copy);
  lns_buffer_clear (&other);
}

int
main (int argc, char **argv)
{
  read_mutations (argc, argv, &n_mutations, &seed);
  LNS_TEST (test_broken_texts);
  return lns_tap_done ();
}
