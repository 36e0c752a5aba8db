/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests the launch dialog's command line: it must be split into words exactly as a shell splits
 * it, and what is changed in it must leave the rest as it was typed. */

#include "ui/launch/launch-command.h"
#include "ui/launch/launch-line.h"

#include "tests/tap.h"

/* Splits LINE and compares with the NULL-terminated WORDS. */
#define CHECK_WORDS(line, ...)                                                                     \
 do                                                                                                \
  {                                                                                                \
   const char *expected[] = { __VA_ARGS__, NULL };                                                 \
   g_auto (GStrv) words = lns_launch_command_split (line, NULL);                                   \
   LNS_CHECK (words != NULL);                                                                      \
   LNS_CHECK_INT (g_strv_length (words), G_N_ELEMENTS (expected) - 1);                             \
   for (guint i = 0; words[i] != NULL; i++)                                                        \
    LNS_CHECK_STR (words[i], expected[i]);                                                         \
  }                                                                                                \
 while (0)

static int
error_code (const char *line)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) words = lns_launch_command_split (line, &error);

  return words == NULL ? error->code : -1;
}

static void
splits_as_typed (void)
{
  CHECK_WORDS ("-w true -t cuda,nvtx -s cpu --capture-range=cudaProfilerApi "
               "--stop-on-range-end=true --cudabacktrace=true -x true -o my_profile python junk.py",
               "-w", "true", "-t", "cuda,nvtx", "-s", "cpu", "--capture-range=cudaProfilerApi",
               "--stop-on-range-end=true", "--cudabacktrace=true", "-x", "true", "-o", "my_profile",
               "python", "junk.py");
  CHECK_WORDS ("  a\t b \n", "a", "b");
}

static void
quotes (void)
{
  CHECK_WORDS ("'a b' \"c d\" e\\ f", "a b", "c d", "e f");
  CHECK_WORDS ("--name='x y'z ''", "--name=x yz", "");
  CHECK_WORDS ("\"say \\\"hi\\\" \\\\ \\n $x\"", "say \"hi\" \\ \\n $x");
  CHECK_WORDS ("'don'\\''t'", "don't");
  CHECK_WORDS ("a#b # c", "a#b", "#", "c");
  CHECK_WORDS ("\"two\nlines\" a\\\nb", "two\nlines", "ab");
  CHECK_WORDS ("prüfen 'ü'", "prüfen", "ü");
}

static void
bytes_that_are_not_utf8 (void)
{
  CHECK_WORDS ("$'/data/caf\\xe9/run \\'1\\'.py'", "/data/caf\xe9/run '1'.py");
  CHECK_WORDS ("x$'\\351\\t\\\\'y", "x\xe9\t\\y");
}

static void
refuses (void)
{
  LNS_CHECK_INT (error_code (""), LNS_LAUNCH_COMMAND_ERROR_EMPTY);
  LNS_CHECK_INT (error_code (" \n"), LNS_LAUNCH_COMMAND_ERROR_EMPTY);
  LNS_CHECK_INT (error_code ("a 'b"), LNS_LAUNCH_COMMAND_ERROR_QUOTE);
  LNS_CHECK_INT (error_code ("a \"b\\\""), LNS_LAUNCH_COMMAND_ERROR_QUOTE);
  LNS_CHECK_INT (error_code ("a\\"), LNS_LAUNCH_COMMAND_ERROR_QUOTE);
  LNS_CHECK_INT (error_code ("$'a"), LNS_LAUNCH_COMMAND_ERROR_QUOTE);
  LNS_CHECK_INT (error_code ("$'a\\"), LNS_LAUNCH_COMMAND_ERROR_QUOTE);
  LNS_CHECK_INT (error_code ("$'a\\0'"), LNS_LAUNCH_COMMAND_ERROR_QUOTE);
  LNS_CHECK_INT (error_code ("a > b"), LNS_LAUNCH_COMMAND_ERROR_SHELL);
  LNS_CHECK_INT (error_code ("a;b"), LNS_LAUNCH_COMMAND_ERROR_SHELL);
  LNS_CHECK_INT (error_code ("'a;b' \"c|d\" e\\&"), -1);
}

/* What is quoted splits into the same words, here and in a shell. */
static void
quotes_any_bytes (void)
{
  const char *words[] = { "a",  "b c", "",   "d'e", "f\"g", "h\\i", "j\nk", "/caf\xe9/\x01'\\",
                          "$x", "*",   "-o", "ü ö", "~",    "k=v",  NULL };
  GString *line = g_string_new (NULL);
  for (guint i = 0; words[i] != NULL; i++)
    {
      g_autofree char *word = lns_launch_command_quote (words[i]);
      g_string_append_printf (line, "%s ", word);
    }
  g_auto (GStrv) again = lns_launch_command_split (line->str, NULL);
  g_autofree char *script = g_strdup_printf ("printf '%%s\\0' %s", line->str);
  const char *shell[] = { "bash", "-c", script, NULL };
  GString *expected = g_string_new (NULL);
  g_autofree char *printed = NULL;

  LNS_CHECK (g_utf8_validate (line->str, -1, NULL));
  LNS_CHECK (g_strv_equal ((const char *const *)again, words));
  for (guint i = 0; words[i] != NULL; i++)
    g_string_append_len (expected, words[i], (gssize)strlen (words[i]) + 1);
  LNS_CHECK (g_spawn_sync (NULL, (char **)shell, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &printed,
                           NULL, NULL, NULL));
  LNS_CHECK (memcmp (printed, expected->str, expected->len) == 0);
  g_string_free (expected, TRUE);
  g_string_free (line, TRUE);
}

static guint
program_at (const char *line)
{
  g_auto (GStrv) words = lns_launch_command_split (line, NULL);

  return lns_launch_command_find_program ((const char *const *)words, NULL);
}

static const char *const flags[] = { "strict", NULL };

/* Checks how LINE is taken apart. */
static void
check_parts (const char *line, const char *settings, const char *arguments, const char *program)
{
  g_autoptr (LnsLaunchLine) parsed = lns_launch_line_parse (line, flags, NULL);
  g_auto (GStrv) known = lns_launch_line_get_settings (parsed);
  g_autofree char *joined_settings = g_strjoinv (" ", known);
  g_autofree char *joined = g_strjoinv (" ", (GStrv)lns_launch_line_get_arguments (parsed));
  const char *found = parsed->words[parsed->program];
  LNS_CHECK_STR (joined_settings, settings);
  LNS_CHECK_STR (joined, arguments);
  LNS_CHECK_STR (found != NULL ? found : "", program);
}

static void
takes_a_line_apart (void)
{
  check_parts ("nsys profile -t cuda,nvtx -o r python train.py", "",
               "-t cuda,nvtx -o r python train.py", "python");
  check_parts ("/opt/x/bin/nsys profile ./a.out", "", "./a.out", "./a.out");
  check_parts ("sudo lanescope profile --trace=nvtx ./a.out b", "", "--trace=nvtx ./a.out b",
               "./a.out");
  check_parts ("A=1 B='x y' nsys profile --strict -- ./a.out C=2", "A=1 B=x y",
               "--strict -- ./a.out C=2", "./a.out");
  check_parts ("sudo A=1 nsys profile a", "A=1", "a", "a");
  check_parts ("A=1 sudo nsys profile a", "A=1", "a", "a");
  check_parts ("env A=1 python", "A=1", "python", "python");
  check_parts ("env python", "", "env python", "env");
  check_parts ("sudo A=1 python", "", "sudo A=1 python", "sudo");
  check_parts ("A=1 sudo python", "A=1", "sudo python", "sudo");
  check_parts ("nsys stats r.nsys-rep", "", "nsys stats r.nsys-rep", "nsys");
  check_parts ("nsys", "", "nsys", "nsys");
  check_parts ("./a.out profile", "", "./a.out profile", "./a.out");
  check_parts ("lanescope profile", "", "", "");
  check_parts ("nsys profile \\\n  -t nvtx \\\n  python", "", "-t nvtx python", "python");
  check_parts ("", "", "", "");
}

static void
finds_the_program (void)
{
  LNS_CHECK_INT (program_at ("python -t junk.py"), 0);
  LNS_CHECK_INT (program_at ("-w true -t cuda,nvtx --capture-range=none -o x python junk.py"), 7);
  LNS_CHECK_INT (program_at ("-tnvtx --trace nvtx python"), 3);
  LNS_CHECK_INT (program_at ("-t nvtx -- -odd-name"), 3);
  LNS_CHECK_INT (program_at ("-t nvtx"), 2);
  LNS_CHECK_INT (program_at ("-t"), 1);
  LNS_CHECK_INT (program_at ("--help python"), 1);
}

static void
finds_a_switch (void)
{
  const char *words[] = { "-t", "cuda", "--trace=nvtx", "-w", "true", "python", "-t", "x", NULL };
  const char *none[] = { "python", "-t", "x", NULL };
  const char *attached[] = { "--trace", "a", "-tb", "python", NULL };
  const char *const flagged[] = { "--strict", "-t", "b", "program", "x", NULL };

  LNS_CHECK_INT (lns_launch_command_find_program (flagged, flags), 3);
  LNS_CHECK_INT (lns_launch_command_find_program (flagged, NULL), 2);
  LNS_CHECK_STR (lns_launch_command_get_switch (flagged, flags, 't', "trace"), "b");
  LNS_CHECK (lns_launch_command_get_switch (flagged, flags, 0, "strict") != NULL);
  LNS_CHECK_STR (lns_launch_command_get_switch (words, NULL, 't', "trace"), "nvtx");
  LNS_CHECK_STR (lns_launch_command_get_switch (words, NULL, 'w', "show-output"), "true");
  LNS_CHECK (lns_launch_command_get_switch (words, NULL, 'o', "output") == NULL);
  LNS_CHECK (lns_launch_command_get_switch (none, NULL, 't', "trace") == NULL);
  LNS_CHECK_STR (lns_launch_command_get_switch (attached, NULL, 't', "trace"), "b");
}

static void
check_set (const char *line, char letter, const char *name, const char *value, const char *expected)
{
  g_autoptr (LnsLaunchLine) parsed = lns_launch_line_parse (line, flags, NULL);
  g_autofree char *changed = lns_launch_line_set_switch (parsed, letter, name, value);
  LNS_CHECK_STR (changed, expected);
}

/* All but the switch stays as it was typed, quotes and lines too. */
static void
sets_a_switch (void)
{
  check_set ("-o x -t nvtx run -o y", 'o', "output", "z", "-o z -t nvtx run -o y");
  check_set ("-ox --output=w run", 'o', "output", "z", "--output=z run");
  check_set ("-ox run", 'o', "output", "a b", "-o'a b' run");
  check_set ("--output 'x y' run", 'o', "output", "z", "--output z run");
  check_set ("nsys profile -t nvtx \\\n run 'a  b'", 'f', "force-overwrite", "true",
             "nsys profile -t nvtx \\\n --force-overwrite=true run 'a  b'");
  check_set ("--force-overwrite false -- run", 'f', "force-overwrite", "true",
             "--force-overwrite true -- run");
  check_set ("-t nvtx -- run", 'f', "force-overwrite", "true",
             "-t nvtx --force-overwrite=true -- run");
  check_set ("", 't', "trace", "cuda", "--trace=cuda ");
  check_set ("nsys profile", 't', "trace", "cuda", "nsys profile --trace=cuda ");
  check_set ("-t", 't', "trace", "cuda", "--trace=cuda");
  check_set ("run", 0, "strict", "true", "--strict run");
  check_set ("--strict run", 0, "strict", "true", "--strict run");
}

static void
takes_a_switch_out (void)
{
  check_set ("-o x  -t nvtx run -t y", 't', "trace", NULL, "-o x  run -t y");
  check_set ("-t a --strict --trace=b run", 't', "trace", NULL, "--strict run");
  check_set ("--strict run", 0, "strict", NULL, "run");
  check_set ("-t nvtx", 't', "trace", NULL, "");
  check_set ("run", 't', "trace", NULL, "run");
}

static void
check_settings (const char *line, const char *const *settings, const char *expected)
{
  g_autoptr (LnsLaunchLine) parsed = lns_launch_line_parse (line, flags, NULL);
  g_autofree char *changed = lns_launch_line_set_settings (parsed, settings);
  LNS_CHECK_STR (changed, expected);
}

static void
sets_variables (void)
{
  const char *const two[] = { "A=1", "B=x y", NULL }, *const none[] = { NULL };
  check_settings ("nsys profile -t nvtx  run", two, "A=1 B='x y' nsys profile -t nvtx  run");
  check_settings ("C=3 D= run C=3", two, "A=1 B='x y' run C=3");
  check_settings ("C=3  run", none, "run");
  check_settings ("", two, "A=1 B='x y' ");
}

static void
writes_a_command_for_a_shell (void)
{
  g_autoptr (LnsLaunchLine) line =
      lns_launch_line_parse ("sudo A='1 2' nsys profile -t nvtx run 'a  b'", flags, NULL);
  g_autofree char *command = lns_launch_line_write_command (line, "/my folder");
  g_autofree char *here = lns_launch_line_write_command (line, NULL);
  LNS_CHECK_STR (command, "cd '/my folder' && A='1 2' lanescope profile -t nvtx run 'a  b'");
  LNS_CHECK_STR (here, "A='1 2' lanescope profile -t nvtx run 'a  b'");
  LNS_CHECK (line->has_sudo);
}

/* Checks which FOLDER is found in TEXT (NULL: none), and what follows. */
static void
check_folder (const char *text, const char *folder, const char *rest)
{
  const char *found_rest = NULL;
  g_autofree char *found = lns_launch_line_find_folder (text, &found_rest);
  LNS_CHECK (g_strcmp0 (found, folder) == 0);
  LNS_CHECK (g_strcmp0 (found_rest, rest) == 0);
}

static void
finds_the_folder_of_a_command (void)
{
  check_folder ("cd '/my folder' && A='1 2' lanescope profile run", "/my folder",
                "A='1 2' lanescope profile run");
  check_folder (" cd sub\n&&\n nsys profile a '&&' b", "sub", "nsys profile a '&&' b");
  check_folder ("cd 'a && b' && run", "a && b", "run");
  check_folder ("cd $'\\377' && run", "\xff", "run");
  check_folder ("cd /a", NULL, NULL);
  check_folder ("run '&&' x", NULL, NULL);
  check_folder ("cd a b && run", NULL, NULL);
  check_folder ("echo a && cd b && run", NULL, NULL);
}

static void
numbers_an_output (void)
{
  static const char *const cases[][2] = { { "a", "a-%n" },
                                          { "a.rep", "a-%n.rep" },
                                          { "a.b.nsys-rep", "a.b-%n.nsys-rep" },
                                          { "a%n.rep", "a%n.rep" } };
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *output = lns_launch_command_number_output (cases[i][0]);
      LNS_CHECK_STR (output, cases[i][1]);
    }
  LNS_CHECK (lns_launch_command_number_output (NULL) == NULL);
}

int
main (void)
{
  LNS_TEST (splits_as_typed);
  LNS_TEST (quotes);
  LNS_TEST (bytes_that_are_not_utf8);
  LNS_TEST (refuses);
  LNS_TEST (quotes_any_bytes);
  LNS_TEST (takes_a_line_apart);
  LNS_TEST (finds_the_program);
  LNS_TEST (finds_a_switch);
  LNS_TEST (sets_a_switch);
  LNS_TEST (takes_a_switch_out);
  LNS_TEST (sets_variables);
  LNS_TEST (writes_a_command_for_a_shell);
  LNS_TEST (finds_the_folder_of_a_command);
  LNS_TEST (numbers_an_output);
  return lns_tap_done ();
}
