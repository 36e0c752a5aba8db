/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Regular expressions for command lines. tests/kubernetes compares them with Python's. */

#include "capture/inject/preload/pattern.h"
#include "tests/tap.h"

static bool
is_in (const char *pattern, const char *text)
{
  return lns_pattern_is_in (pattern, text, strlen (text)) != 0;
}

static void
test_command_lines (void)
{
  static const char torchrun[] = "^/usr/bin/python3 /usr/local/bin/torchrun.*$";
  static const char others[] = "^(?!.*nsys( |$)).*$";
  LNS_CHECK (
      is_in (torchrun, "/usr/bin/python3 /usr/local/bin/torchrun --nproc_per_node=8 train.py"));
  LNS_CHECK (!is_in (torchrun, "bash -c /usr/bin/python3 /usr/local/bin/torchrun"));
  LNS_CHECK (!is_in (torchrun, "/usr/bin/python3 -m pip"));
  LNS_CHECK (is_in (others, "python train.py") && !is_in (others, "/opt/nsys profile x"));
  LNS_CHECK (is_in ("python[0-9.]*( -u)? [\\w/]+\\.py\\b", "python3.11 -u /a/b.py x"));
  LNS_CHECK (!is_in ("python[0-9.]*( -u)? [\\w/]+\\.py\\b", "python3.11 -u /a/b.pyc"));
}

static void
test_pieces (void)
{
  LNS_CHECK (is_in ("", "") && is_in ("a|", "b") && !is_in ("a", ""));
  LNS_CHECK (is_in ("^(ab|cd){2,3}$", "abcdab") && !is_in ("^(ab|cd){2,3}$", "ab"));
  LNS_CHECK (is_in ("^a{2,}$", "aaaa") && !is_in ("^a{2}$", "aaa") && is_in ("^a{2$", "a{2"));
  LNS_CHECK (is_in ("^[]a-]+$", "]-a") && is_in ("^[^a-c]$", "d") && !is_in ("^[^a-c]$", "b"));
  LNS_CHECK (is_in ("^.$", "\n") && is_in ("x*?y+?", "y") && is_in ("\\.\\*", ".*"));
  LNS_CHECK (is_in ("(?=.*b)a", "ab") && !is_in ("(?=.*b)a", "ac"));
  LNS_CHECK (lns_pattern_is_in ("a.c", "a\0c", 3) != 0);
}

static void
test_what_is_not_known (void)
{
  static const char *const bad[] = { "(",      ")",        "[a",         "*a",
                                     "a**",    "\\",       "\\1",        "\\z",
                                     "(?i)a",  "(?P<n>a)", "[z-a]",      "[[:alpha:]]",
                                     "a{300}", "a{3,2}",   "(?=a(?!b))", "(a{250}){250}",
                                     "(?<=a)b" };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    {
      if (lns_pattern_problem (bad[i]) == NULL)
        LNS_FAIL ("%s has no problem", bad[i]);
      LNS_CHECK (!is_in (bad[i], "a"));
    }
  char deep[2 * LNS_PATTERN_MAX_BYTES] = { 0 };
  memset (deep, '(', LNS_PATTERN_MAX_BYTES);
  LNS_CHECK (lns_pattern_problem (deep) != NULL);
  memset (deep, 'a', sizeof deep - 1);
  LNS_CHECK (lns_pattern_problem (deep) != NULL);
  LNS_CHECK (lns_pattern_problem ("a|b|(c|(d|e){3})*") == NULL);
}

/* Where others go back and try again, 2^200 times. Without its limit, the last one would take minutes. */
static void
test_no_text_takes_long (void)
{
  static char text[200001];
  memset (text, 'a', sizeof text - 1);
  LNS_CHECK (!is_in ("^(a*)*b$", text) && !is_in ("(x+x+)+y", text) && is_in ("(a|aa)+$", text));
  LNS_CHECK (!is_in ("(?=.*x).*y", text));
}

int
main (void)
{
  LNS_TEST (test_command_lines);
  LNS_TEST (test_pieces);
  LNS_TEST (test_what_is_not_known);
  LNS_TEST (test_no_text_takes_long);
  return lns_tap_done ();
}
