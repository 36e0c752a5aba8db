/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The reader of JSON: its tokens, limits and ends. tests/golden/test_json.py compares what it accepts with Python's. */

#include "src/base/json-reader.h"

#include "tests/tap.h"

static LnsJsonReader json;

static void
begin (const char *text)
{
  lns_json_reader_clear (&json);
  lns_json_reader_init_text (&json, text, strlen (text));
}

static void
test_tokens (void)
{
  begin (" {\"a\" : [1, -2.5e3, true, false, null, NaN], \"b\\n\" : {}} ");
  LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_OBJECT);
  LNS_CHECK_INT (json.depth, 1);
  LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_KEY);
  const char *key = json.text;
  LNS_CHECK (!json.is_escaped && json.size_bytes == 1);
  LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_LIST);
  LNS_CHECK_INT (json.depth, 2);
  LNS_CHECK_INT (json.size_bytes, 0);
  LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_NUMBER);
  LNS_CHECK_STR (json.text, "1");
  LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_NUMBER);
  LNS_CHECK_STR (json.text, "-2.5e3");
  LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_TRUE);
  LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_FALSE);
  LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_NULL);
  LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_NULL);
  LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_LIST_END);
  LNS_CHECK_STR (key, "a"); /* as the text was given as a whole */
  LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_KEY);
  LNS_CHECK_STR (json.text, "b\n");
  LNS_CHECK (json.is_escaped);
  LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_OBJECT);
  LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_OBJECT_END);
  LNS_CHECK_INT (json.depth, 1);
  LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_OBJECT_END);
  LNS_CHECK_INT (json.end, LNS_JSON_READING);
  for (int i = 0; i < 2; i++)
    LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_END);
  LNS_CHECK_INT (json.end, LNS_JSON_COMPLETE);
  LNS_CHECK_STR (json.complaint, "");
}

static void
test_decoded_texts (void)
{
  static const struct
  {
    const char *written, *text;
  } cases[] = {
    { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t" },
    { "\"a\\u0041\\u00e4\\u20AC\"", "aA\xC3\xA4\xE2\x82\xAC" },
    { "\"\\ud83d\\ude00!\"", "\xF0\x9F\x98\x80!" },
    /* Halves of pairs; what follows one is not lost.                                              */
    { "\"\\ud83dx\"", "\xEF\xBF\xBDx" },
    { "\"\\ude00\\ud83d\"", "\xEF\xBF\xBD\xEF\xBF\xBD" },
    { "\"\\ud83d\\u0041\"", "\xEF\xBF\xBD"
                            "A" },
    { "\"\\ud83d\\n\"", "\xEF\xBF\xBD\n" },
    /* Any bytes but control characters, which become spaces.                                      */
    { "\"\x80\xFF\x7F\"", "\x80\xFF\x7F" },
    { "\"a\tb\x01\x1F\"", "a b  " },
  };

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    {
      begin (cases[i].written);
      LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_STRING);
      LNS_CHECK_STR (json.text, cases[i].text);
      LNS_CHECK_INT (json.size_bytes, strlen (cases[i].text));
      LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_END);
      LNS_CHECK_INT (json.end, LNS_JSON_COMPLETE);
    }
  begin ("\"a\\u0000b\"");
  LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_STRING);
  LNS_CHECK (json.size_bytes == 3 && memcmp (json.text, "a\0b", 4) == 0);
}

static void
test_ends (void)
{
  static const struct
  {
    const char *text;
    LnsJsonEnd end;
    const char *complaint;
  } cases[] = {
    { "", LNS_JSON_CUT_OFF, "the JSON text ends early" },
    { "[1, ", LNS_JSON_CUT_OFF, "the JSON text ends early" },
    { "{\"a\"", LNS_JSON_CUT_OFF, "the JSON text ends early" },
    { "[\"a", LNS_JSON_CUT_OFF_IN_TOKEN, "the JSON text ends early" },
    { "[\"a\\", LNS_JSON_CUT_OFF_IN_TOKEN, "the JSON text ends early" },
    { "[\"\\ud83d\\u00", LNS_JSON_CUT_OFF_IN_TOKEN, "the JSON text ends early" },
    { "[nul", LNS_JSON_CUT_OFF_IN_TOKEN, "the JSON text ends early" },
    { "[-", LNS_JSON_CUT_OFF_IN_TOKEN, "the JSON text ends early" },
    { "[1, oops]", LNS_JSON_INVALID, "invalid value \"oops\" at byte 4" },
    { "[1, 01]", LNS_JSON_INVALID, "invalid value \"01\" at byte 4" },
    { "[\"ab\\x\"]", LNS_JSON_INVALID, "invalid escape sequence at byte 4" },
    { "[\"\\n\\u00g0\"]", LNS_JSON_INVALID, "invalid escape sequence at byte 4" },
    { "[1,]", LNS_JSON_INVALID, "unexpected \"]\" at byte 3" },
    { "[1] \x80", LNS_JSON_INVALID, "unexpected 0x80 at byte 4" },
    { "\xEF\xBB\xBF]", LNS_JSON_INVALID, "unexpected \"]\" at byte 3" },
  };

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    {
      begin (cases[i].text);
      while (lns_json_next (&json) != LNS_JSON_END)
        continue;
      LNS_CHECK_INT (json.end, cases[i].end);
      LNS_CHECK_STR (json.complaint, cases[i].complaint);
      LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_END);
    }
}

static void
test_depth (void)
{
  char text[LNS_JSON_DEPTH_MAX + 2] = "";

  memset (text, '[', LNS_JSON_DEPTH_MAX);
  for (unsigned i = 0; i < 2; i++)
    {
      begin (text);
      for (unsigned depth = 1; depth <= LNS_JSON_DEPTH_MAX; depth++)
        {
          LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_LIST);
          LNS_CHECK_INT (json.depth, depth);
        }
      LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_END);
      LNS_CHECK_INT (json.end, i == 0 ? LNS_JSON_CUT_OFF : LNS_JSON_INVALID);
      text[LNS_JSON_DEPTH_MAX] = '[';
    }
  LNS_CHECK_STR (json.complaint, "more than 10000 lists and objects are open at byte 10000");
}

/* What closes is what was opened, at every depth. */
static void
test_kinds_of_what_is_open (void)
{
  begin ("[{\"a\":[{\"b\":{\"c\":[]}}]}]");
  for (LnsJsonToken token; (token = lns_json_next (&json)) != LNS_JSON_END;)
    continue;
  LNS_CHECK_INT (json.end, LNS_JSON_COMPLETE);
  begin ("[{\"a\":[1}]]");
  while (lns_json_next (&json) != LNS_JSON_END)
    continue;
  LNS_CHECK_STR (json.complaint, "unexpected \"}\" at byte 8");
}

static void
test_skip (void)
{
  begin ("[[1, {\"a\": [2]}], {\"b\": {}}, 3, 4, [5");
  LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_LIST);
  for (int i = 0; i < 2; i++)
    {
      lns_json_skip (&json, lns_json_next (&json));
      LNS_CHECK_INT (json.depth, 1);
    }
  lns_json_skip (&json, lns_json_next (&json));
  LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_NUMBER);
  LNS_CHECK_STR (json.text, "4");
  lns_json_skip (&json, lns_json_next (&json));
  LNS_CHECK_INT (json.end, LNS_JSON_CUT_OFF);
}

/* A source that makes its bytes as they are asked for, and counts. */
typedef struct
{
  const char *before, *unit, *after;
  size_t n_units;
  size_t at, n_calls;
} Source;

static size_t
give (void *data, uint8_t *bytes, size_t size_bytes)
{
  Source *source = data;
  const size_t n_before = strlen (source->before), n_unit = strlen (source->unit),
               n_after = strlen (source->after), end = n_before + source->n_units * n_unit;
  size_t n = 0;

  source->n_calls++;
  for (; n < size_bytes && source->at < end + n_after; n++, source->at++)
    bytes[n] = (uint8_t)(source->at < n_before ? source->before[source->at]
                         : source->at < end    ? source->unit[(source->at - n_before) % n_unit]
                                               : source->after[source->at - end]);
  return n;
}

static void
begin_source (Source *source, size_t text_max_bytes)
{
  lns_json_reader_clear (&json);
  lns_json_reader_init (&json, give, source, text_max_bytes);
}

#define MIB ((size_t)1 << 20)

/* Texts of more bytes than are kept are empty, whatever they are made of, and what follows is read. */
static void
test_long_texts (void)
{
  static const char *const units[] = { "x", "\\n", "\\u00e4", "\\ud83d\\ude00", "\t" };

  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    for (size_t n_more = 0; n_more < 2; n_more++)
      {
        Source source = { "[\"", units[i], "\", 7]", MIB, 0, 0 };
        begin_source (&source, strlen (units[i]) * MIB - n_more);
        LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_LIST);
        LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_STRING);
        LNS_CHECK (json.is_too_long == (n_more == 1) && (json.size_bytes == 0) == (n_more == 1));
        LNS_CHECK (json.text[json.size_bytes] == '\0');
        LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_NUMBER);
        LNS_CHECK (!json.is_too_long);
        LNS_CHECK_STR (json.text, "7");
      }
}

/* However long a text is, no more is held than what is kept of it. */
static void
test_memory_is_bounded (void)
{
  Source source = { "[\"", "0123456789abcd\\n", "\", 7]", 64 * MIB / 16, 0, 0 };

  begin_source (&source, MIB);
  LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_LIST);
  LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_STRING);
  LNS_CHECK (json.is_too_long && json.allocated_bytes < 4 * MIB);
  LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_NUMBER);
  /* Each part of the source was read once: as many calls as chunks.                               */
  LNS_CHECK (source.n_calls <= 64 * MIB / (256 << 10) + 2);
}

static void
test_long_numbers (void)
{
  Source source = { "[", "1", "]", MIB, 0, 0 };

  begin_source (&source, MIB);
  LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_LIST);
  LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_NUMBER);
  LNS_CHECK_INT (json.size_bytes, MIB);
  LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_LIST_END);
  source = (Source){ "[", "1", "]", 8 * MIB, 0, 0 };
  begin_source (&source, MIB);
  LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_LIST);
  LNS_CHECK_INT (lns_json_next (&json), LNS_JSON_END);
  LNS_CHECK_STR (json.complaint, "a number that is too long at byte 1");
  LNS_CHECK (json.allocated_bytes < 4 * MIB);
}

static void
test_copies (void)
{
  static const char written[] =
      " [ {\"a\\\"\\u00e4\" : \"\\b\\f\\n\\r\\t\\u000b\\u001F\\/\\\\:\" , \"b\" : [ ] } , -1.50 , "
      "[ null , true , false , NaN ] , { } , \":\" , 2 ]";
  LnsBuffer out = { 0 };

  begin (written);
  for (LnsJsonToken token; (token = lns_json_next (&json)) != LNS_JSON_END;)
    lns_json_append (&json, token, &out);
  lns_buffer_append (&out, "", 1);
  LNS_CHECK_STR ((const char *)out.bytes,
                 "[{\"a\\\"\xC3\xA4\":\"\\b\\f\\n\\r\\t\\u000B\\u001F/"
                 "\\\\:\",\"b\":[]},-1.50,[null,true,false,null],{},\":\",2]");
  LNS_CHECK (out.size_bytes <= sizeof written);
  lns_buffer_clear (&out);
}

int
main (void)
{
  LNS_TEST (test_tokens);
  LNS_TEST (test_decoded_texts);
  LNS_TEST (test_ends);
  LNS_TEST (test_depth);
  LNS_TEST (test_kinds_of_what_is_open);
  LNS_TEST (test_skip);
  LNS_TEST (test_long_texts);
  LNS_TEST (test_memory_is_bounded);
  LNS_TEST (test_long_numbers);
  LNS_TEST (test_copies);
  lns_json_reader_clear (&json);
  return lns_tap_done ();
}
