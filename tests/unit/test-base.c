/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/base/buffer.h"
#include "src/base/error.h"
#include "src/base/format.h"
#include "src/base/hash.h"
#include "src/base/string-table.h"
#include "src/base/terminal.h"
#include "src/base/visible.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/tap.h"

static void
test_buffer (void)
{
  LnsBuffer buffer = { 0 };
  lns_buffer_append (&buffer, NULL, 0);
  LNS_CHECK (buffer.bytes == NULL);
  for (unsigned i = 0; i < 1000; i++)
    lns_buffer_append (&buffer, &(uint8_t){ (uint8_t)i }, 1);
  LNS_CHECK_INT (buffer.size_bytes, 1000);
  for (unsigned i = 0; i < 1000; i++)
    LNS_CHECK_INT (buffer.bytes[i], (uint8_t)i);
  lns_buffer_reset (&buffer);
  lns_buffer_append_int (&buffer, UINT64_C (0x1122334455667788), 8);
  lns_buffer_append_int (&buffer, 0xAABBCC, 2);
  LNS_CHECK_INT (buffer.size_bytes, 10);
  LNS_CHECK (memcmp (buffer.bytes, "\x88\x77\x66\x55\x44\x33\x22\x11\xCC\xBB", 10) == 0);
  uint8_t *room = lns_buffer_reserve (&buffer, 100000);
  LNS_CHECK (room == buffer.bytes + 10);
  LNS_CHECK_INT (buffer.size_bytes, 10);
  memset (room, 7, 100000);
  lns_buffer_clear (&buffer);
  LNS_CHECK (buffer.bytes == NULL && buffer.size_bytes == 0 && buffer.allocated_bytes == 0);
}

static void
test_buffer_out_of_memory (void)
{
  LnsBuffer buffer = { 0 };
  lns_buffer_append (&buffer, "kept", 4);
  LNS_CHECK (lns_buffer_reserve (&buffer, SIZE_MAX - 2) == NULL);
  LNS_CHECK (buffer.failed);
  lns_buffer_append (&buffer, "x", 1);
  LNS_CHECK (lns_buffer_reserve (&buffer, 1) == NULL);
  LNS_CHECK_INT (buffer.size_bytes, 4);
  LNS_CHECK (memcmp (buffer.bytes, "kept", 4) == 0);
  lns_buffer_reset (&buffer);
  LNS_CHECK (!buffer.failed);
  lns_buffer_append (&buffer, "x", 1);
  LNS_CHECK_INT (buffer.size_bytes, 1);
  lns_buffer_clear (&buffer);
}

static void
test_error_keeps_the_first_cause (void)
{
  LnsError error = { 0 };
  LNS_CHECK (!lns_error_prefix (&error, "nothing to prefix"));
  LNS_CHECK_INT (error.domain, LNS_ERROR_NONE);
  LNS_CHECK (!lns_error_set (&error, LNS_ERROR_USAGE, 3, "“%s” is\nnot %d", "x", 5));
  LNS_CHECK_STR (error.message, "“x” is\\nnot 5");
  LNS_CHECK (!lns_error_set (&error, LNS_ERROR_IO, 0, "second"));
  LNS_CHECK (!lns_error_set_errno (&error, ENOENT, "third"));
  LNS_CHECK_INT (error.domain, LNS_ERROR_USAGE);
  LNS_CHECK_INT (error.code, 3);
  LNS_CHECK (!lns_error_prefix (&error, "in %s", "there"));
  LNS_CHECK_STR (error.message, "in there: “x” is\\nnot 5");
  LNS_CHECK_INT (error.domain, LNS_ERROR_USAGE);
  LNS_CHECK (!lns_error_set (NULL, LNS_ERROR_IO, 0, "nobody asks"));
  LNS_CHECK (!lns_error_set_errno (NULL, 1, "nobody asks"));
  LNS_CHECK (!lns_error_prefix (NULL, "nobody asks"));
}

static void
test_error_of_the_system (void)
{
  LnsError error = { 0 };
  LNS_CHECK (!lns_error_set_errno (&error, ENOENT, "cannot open “%s”", "a.rep"));
  LNS_CHECK_STR (error.message, "cannot open “a.rep”: No such file or directory; check the path");
  LNS_CHECK_INT (error.domain, LNS_ERROR_IO);
  LNS_CHECK_INT (error.code, ENOENT);
}

static void
test_error_is_cut_between_characters (void)
{
  char wide[4096];
  for (unsigned shift = 0; shift < 3; shift++)
    {
      memset (wide, 'a', shift);
      for (size_t at = shift; at + 3 < sizeof wide; at += 2)
        memcpy (wide + at, "é", 3);
      LnsError error = { 0 };
      lns_error_set (&error, LNS_ERROR_IO, 0, "%s", wide);
      size_t length = strlen (error.message);
      LNS_CHECK (length < sizeof error.message && length > sizeof error.message - 6);
      LNS_CHECK_STR (error.message + length - 3, "…");
      LNS_CHECK_INT ((length - 3 - shift) % 2, 0);
      lns_error_prefix (&error, "p");
      LNS_CHECK (strncmp (error.message, "p: ", 3) == 0);
      LNS_CHECK_STR (error.message + strlen (error.message) - 3, "…");
    }
}

static void
test_format_duration (void)
{
  static const struct
  {
    int64_t duration_ns;
    const char *rounded, *exact;
  } cases[] = {
    { 0, "0 ns", "0 ns" },
    { 7, "7 ns", "7 ns" },
    { -999, "-999 ns", "-999 ns" },
    { 1000, "1.000 µs", "1 µs" },
    { 12346, "12.346 µs", "12.346 µs" },
    { 999999, "999.999 µs", "999.999 µs" },
    { 1500000, "1.500 ms", "1.5 ms" },
    { 1234567, "1.235 ms", "1.234567 ms" },
    { 999999400, "999.999 ms", "999.9994 ms" },
    { 999999500, "1.000 s", "999.9995 ms" },
    { -999999500, "-1.000 s", "-999.9995 ms" },
    { 1234567891, "1.235 s", "1.234567891 s" },
    { INT64_C (3601000000000), "3,601.000 s", "3,601 s" },
    { INT64_C (36000000000001), "36,000.000 s", "36,000.000000001 s" },
    { INT64_MAX, "9,223,372,036.855 s", "9,223,372,036.854775807 s" },
    { INT64_MIN, "-9,223,372,036.855 s", "-9,223,372,036.854775808 s" },
  };
  char text[LNS_FORMAT_SIZE];
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
      LNS_CHECK_STR (lns_format_duration (cases[i].duration_ns, text), cases[i].rounded);
      LNS_CHECK_STR (lns_format_duration_exact (cases[i].duration_ns, text), cases[i].exact);
    }
}

static void
test_format_numbers (void)
{
  char text[LNS_FORMAT_SIZE];
  LNS_CHECK_STR (lns_format_unsigned (0, text), "0");
  LNS_CHECK_STR (lns_format_unsigned (999, text), "999");
  LNS_CHECK_STR (lns_format_unsigned (1000, text), "1,000");
  LNS_CHECK_STR (lns_format_unsigned (UINT64_MAX, text), "18,446,744,073,709,551,615");
  LNS_CHECK_STR (lns_format_signal (9, text), "signal 9 (SIGKILL)");
  LNS_CHECK_STR (lns_format_signal (11, text), "signal 11 (SIGSEGV)");
  LNS_CHECK_STR (lns_format_signal (64, text), "signal 64");
  LNS_CHECK_STR (lns_format_bytes (0, text), "0 B");
  LNS_CHECK_STR (lns_format_bytes (1023, text), "1023 B");
  LNS_CHECK_STR (lns_format_bytes (1024, text), "1.0 KiB");
  LNS_CHECK_STR (lns_format_bytes (1536, text), "1.5 KiB");
  LNS_CHECK_STR (lns_format_bytes (1024 * 1024 - 1, text), "1.0 MiB");
  LNS_CHECK_STR (lns_format_bytes (UINT64_C (20) << 30, text), "20.0 GiB");
  LNS_CHECK_STR (lns_format_bytes (UINT64_MAX, text), "16.0 EiB");
  LNS_CHECK_STR (lns_format_share (0, 7, text), "0.0 %");
  LNS_CHECK_STR (lns_format_share (2, 3, text), "66.6 %");
  LNS_CHECK_STR (lns_format_share (99999, 100000, text), "99.9 %");
  LNS_CHECK_STR (lns_format_share (UINT64_MAX, UINT64_MAX, text), "100.0 %");
  LNS_CHECK_STR (lns_plural (0, "row", "rows"), "rows");
  LNS_CHECK_STR (lns_plural (1, "row", "rows"), "row");
  LNS_CHECK_STR (lns_plural ((UINT64_C (1) << 32) + 1, "row", "rows"), "rows");
}

/* In German a comma stands before the fraction; in French a narrow space of three bytes is between thousands. */
static void
test_format_signs (void)
{
  char text[LNS_FORMAT_SIZE], number[] = "1.5";
  LNS_CHECK_STR (lns_format_fixed (37.46, 1, text), "37.5");
  LNS_CHECK_STR (lns_format_real (0.25, 10, text), "0.25");
  LNS_CHECK_STR (lns_format_with_point (number), "1.5");
  lns_format_set_signs (',', ".");
  LNS_CHECK_STR (lns_format_duration (INT64_C (3601500000000), text), "3.601,500 s");
  LNS_CHECK_STR (lns_format_duration_exact (1500000, text), "1,5 ms");
  LNS_CHECK_STR (lns_format_unsigned (1234567, text), "1.234.567");
  LNS_CHECK_STR (lns_format_bytes (1536, text), "1,5 KiB");
  LNS_CHECK_STR (lns_format_fixed (37.46, 1, text), "37,5");
  LNS_CHECK_STR (lns_format_real (0.25, 10, text), "0,25");
  LNS_CHECK_STR (lns_format_real (1e20, 10, text), "1e+20");
  LNS_CHECK_STR (lns_format_with_point (number), "1,5");
  lns_format_set_signs (',', "\u202f");
  LNS_CHECK_STR (lns_format_unsigned (UINT64_MAX, text),
                 "18\u202f446\u202f744\u202f073\u202f709\u202f551\u202f615");
  lns_format_set_signs (';', "too long");
  LNS_CHECK_STR (lns_format_fixed (0.5, 1, text), "0,5");
  lns_format_set_signs ('.', ",");
}

static void
test_string_table (void)
{
  LnsStringTable *table = lns_string_table_new ();
  char text[32];
  for (uint32_t round = 0; round < 2; round++)
    for (uint32_t i = 0; i < 50000; i++)
      {
        size_t length = (size_t)snprintf (text, sizeof text, "name %u", i);
        LNS_CHECK_INT (lns_string_table_intern (table, text, length, round * 100000 + i), i);
      }
  /* Any bytes: prefixes, NULs, the empty string, one larger than a block. */
  LNS_CHECK_INT (lns_string_table_intern (table, "a\0b", 3, 200000), 200000);
  LNS_CHECK_INT (lns_string_table_intern (table, "a\0c", 3, 200001), 200001);
  LNS_CHECK_INT (lns_string_table_intern (table, "a", 1, 200002), 200002);
  LNS_CHECK_INT (lns_string_table_intern (table, "a\0b", 3, 200003), 200000);
  LNS_CHECK_INT (lns_string_table_find (table, "a\0b", 3, 7), 200000);
  LNS_CHECK_INT (lns_string_table_find (table, "a\0d", 3, 7), 7);
  LNS_CHECK_INT (lns_string_table_intern (table, "a\0d", 3, 200009), 200009);
  LNS_CHECK_INT (lns_string_table_intern (table, NULL, 0, 200004), 200004);
  LNS_CHECK_INT (lns_string_table_intern (table, "", 0, 200005), 200004);
  char *large = calloc (1, 1000000);
  LNS_CHECK_INT (lns_string_table_intern (table, large, 1000000, 200006), 200006);
  large[999999] = 1;
  LNS_CHECK_INT (lns_string_table_intern (table, large, 1000000, 200007), 200007);
  large[999999] = 0;
  LNS_CHECK_INT (lns_string_table_intern (table, large, 1000000, 200008), 200006);
  free (large);
  lns_string_table_free (table);
  lns_string_table_free (NULL);
}

/* The file format stands on it: values published for XXH3-64 with seed 0. */
static void
test_hash (void)
{
  LNS_CHECK (lns_hash ("", 0) == UINT64_C (0x2D06800538D394C2));
}

static void
test_what_can_be_shown (void)
{
  static const struct
  {
    const char *bytes, *shown;
  } cases[] = {
    { "plain, also \"'\\ and Ü€𝄞", "plain, also \"'\\ and Ü€𝄞" },
    { "\n\t\r\x1b[2J\x7f", "\\n\\t\\r\\x1B[2J\\x7F" },
    { "\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", "\\u0080\\u009B\\u009F\xc2\xa0" },
    { "\u2027\u2028\u2029\u202a\u202e\u202f", "\u2027\\u2028\\u2029\\u202A\\u202E\u202f" },
    { "\u2065\u2066\u2069\u206a\u2070", "\\u2065\\u2066\\u2069\\u206A\u2070" },
    { "\u200a\u200b\u200f\u2010", "\u200a\\u200B\\u200F\u2010" },
    /* Joiners and variants belong to the spelling of several languages, and to emoji. */
    { "\u0646\u200c\u0645 \U0001F468\u200d\U0001F4BB \u26a0\ufe0f",
      "\u0646\u200c\u0645 \U0001F468\u200d\U0001F4BB \u26a0\ufe0f" },
    { "ab\xc2\xad\u034f\u061c\u180e\u2060\u3164", "ab\\u00AD\\u034F\\u061C\\u180E\\u2060\\u3164" },
    { "\ufe0e\ufefe\ufeff\uffa0\ufffd", "\ufe0e\ufefe\\uFEFF\\uFFA0\ufffd" },
    { "\U0001d172\U0001d173\U000e0041\U000e1000", "\U0001d172\\U0001D173\\U000E0041\U000e1000" },
    { "\xff\xc0\xaf\xed\xa0\x80\xe2\x82", "\\xFF\\xC0\\xAF\\xED\\xA0\\x80\\xE2\\x82" },
  };

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    {
      size_t size = strlen (cases[i].bytes), whole = strlen (cases[i].shown);
      char *text = lns_visible_text (cases[i].bytes, size), room[128];
      LNS_CHECK_STR (text, cases[i].shown);
      free (text);
      for (size_t n = 1; n < sizeof room; n++)
        {
          LNS_CHECK_INT (lns_visible_copy (room, n, cases[i].bytes, size), whole);
          LNS_CHECK (strlen (room) < n && strncmp (room, cases[i].shown, strlen (room)) == 0);
          LNS_CHECK (n <= whole || strlen (room) == whole);
        }
    }
}

/* A terminal gets the same, wherever the text is cut into pieces; but newlines and tabs are its own. */
static void
test_terminal_in_pieces (void)
{
  static const char bytes[] = "ü\x1b]0;x\a€\n\xe2\x82z\t𝄞\u202e\xf0\x9f\xf0\x9fq\xc2\x9b.";
  static const char wanted[] =
      "ü\\x1B]0;x\\x07€\n\\xE2\\x82z\t𝄞\\u202E\\xF0\\x9F\\xF0\\x9Fq\\u009B.";

  for (size_t first = 0; first < sizeof bytes; first++)
    for (size_t second = first; second < sizeof bytes; second++)
      {
        char got[256] = "";
        int fds[2];
        LNS_CHECK (pipe (fds) == 0);
        LnsTerminal terminal = { .fd = fds[1] };
        LNS_CHECK_INT (lns_terminal_write (&terminal, bytes, first), 0);
        LNS_CHECK_INT (lns_terminal_write (&terminal, bytes + first, second - first), 0);
        LNS_CHECK_INT (lns_terminal_write (&terminal, bytes + second, sizeof bytes - 1 - second),
                       0);
        close (fds[1]);
        LNS_CHECK (read (fds[0], got, sizeof got - 1) > 0);
        LNS_CHECK_STR (got, wanted);
        close (fds[0]);
      }
  LnsTerminal nowhere = { .fd = -1 };
  FILE *stream = lns_terminal_stream (&nowhere);
  LNS_CHECK (stream != NULL && setvbuf (stream, NULL, _IONBF, 0) == 0);
  errno = 0;
  LNS_CHECK (fputs ("x", stream) < 0 && errno == EBADF);
  fclose (stream);
}

int
main (void)
{
  LNS_TEST (test_what_can_be_shown);
  LNS_TEST (test_terminal_in_pieces);
  LNS_TEST (test_buffer);
  LNS_TEST (test_buffer_out_of_memory);
  LNS_TEST (test_error_keeps_the_first_cause);
  LNS_TEST (test_error_of_the_system);
  LNS_TEST (test_error_is_cut_between_characters);
  LNS_TEST (test_format_duration);
  LNS_TEST (test_format_numbers);
  LNS_TEST (test_format_signs);
  LNS_TEST (test_string_table);
  LNS_TEST (test_hash);
  return lns_tap_done ();
}
