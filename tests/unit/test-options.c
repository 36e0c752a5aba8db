/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests switches: every kind of value, every spelling, every error. */

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/cli/terminal/say.h"
#include "src/cli/options/options.h"
#include "tests/tap.h"

typedef struct
{
  bool flag, truth;
  const char *text, *choice;
  LnsOptionList list;
  int64_t integer, time_ns, size_bytes;
} Values;

#define AT(member) offsetof (Values, member)

static const LnsOption options[] = {
  { .name = "flag",
    .letter = 'g',
    .kind = LNS_OPTION_FLAG,
    .offset = AT (flag),
    .help = "A flag." },
  { .name = "truth",
    .letter = 'b',
    .kind = LNS_OPTION_BOOL,
    .offset = AT (truth),
    .help = "True." },
  { .name = "text",
    .letter = 't',
    .kind = LNS_OPTION_TEXT,
    .offset = AT (text),
    .value_name = "PATH",
    .help = "A \"text\"." },
  { .name = "choice",
    .kind = LNS_OPTION_CHOICE,
    .offset = AT (choice),
    .choices = "one,two",
    .default_text = "one",
    .help = "A choice." },
  { .name = "list",
    .letter = 'l',
    .kind = LNS_OPTION_LIST,
    .offset = AT (list),
    .help = "A list." },
  { .name = "integer", .kind = LNS_OPTION_INTEGER, .offset = AT (integer), .help = "A number." },
  { .name = "time",
    .letter = 'd',
    .kind = LNS_OPTION_SECONDS,
    .offset = AT (time_ns),
    .help = "A time." },
  { .name = "size", .kind = LNS_OPTION_BYTES, .offset = AT (size_bytes), .help = "A size." },
};

static const LnsCommand ends_it = { .name = "test",
                                    .usage = "…",
                                    .summary = "tests",
                                    .words_end_it = true,
                                    .options = options,
                                    .n_options = 8 };
static const LnsCommand anywhere = {
  .name = "test", .usage = "…", .summary = "tests", .options = options, .n_options = 8
};

static Values values;
static LnsError error;
static char *words[16];
static int n_words;
static const char *help;

/* Parses the N words after the command's name; the last of GIVEN is NULL. */
static bool
parse (const LnsCommand *command, const char *const *given)
{
  static char room[16][64];
  lns_option_list_clear (&values.list);
  values = (Values){ 0 };
  error = (LnsError){ 0 };
  snprintf (room[0], sizeof room[0], "test");
  for (n_words = 1; given[n_words - 1] != NULL; n_words++)
    snprintf (room[n_words], sizeof room[0], "%s", given[n_words - 1]);
  for (int i = 0; i < n_words; i++)
    words[i] = room[i];
  words[n_words] = NULL;
  return lns_options_parse (command, &n_words, words, &values, &help, &error);
}

#define PARSE(command, ...) parse (&command, (const char *const[]){ __VA_ARGS__, NULL })

static void
values_of_every_kind (void)
{
  LNS_CHECK (PARSE (ends_it, "--flag", "--truth=TRUE", "--text=a=b", "--choice=two", "--integer=7",
                    "--time=1.5", "--size=3M"));
  LNS_CHECK (values.flag && values.truth);
  LNS_CHECK_STR (values.text, "a=b");
  LNS_CHECK_STR (values.choice, "two");
  LNS_CHECK_INT (values.integer, 7);
  LNS_CHECK_INT (values.time_ns, 1500000000);
  LNS_CHECK_INT (values.size_bytes, 3 << 20);
  LNS_CHECK_INT (n_words, 1);
}

static void
spellings (void)
{
  LNS_CHECK (PARSE (ends_it, "--text", "x", "-b", "false", "-d2", "-l=a") &&
             values.time_ns == 2000000000);
  LNS_CHECK_STR (values.text, "x");
  LNS_CHECK_STR (values.list.items[0], "a");
  LNS_CHECK (PARSE (ends_it, "-t", "-x"));
  LNS_CHECK_STR (values.text, "-x"); /* a value, whatever it looks like, unless it is a switch */
  LNS_CHECK (PARSE (ends_it, "--choice", "TWO") && strcmp (values.choice, "two") == 0);
  LNS_CHECK (PARSE (ends_it, "--truth=true", "-b", "true") && values.truth);
}

static void
lists_add_up (void)
{
  LNS_CHECK (PARSE (ends_it, "-l", "a, b", "--list='c d',\"e,f\"", "-l", ",", "-l", "g='1,2'"));
  LNS_CHECK_INT (values.list.n_items, 5);
  const char *const items[] = { "a", "b", "c d", "e,f", "g=1,2" };
  for (int i = 0; i < 5; i++)
    LNS_CHECK_STR (values.list.items[i], items[i]);
  LNS_CHECK (lns_option_list_has (&values.list, "c d") && !lns_option_list_has (&values.list, "c"));
}

static void
sizes_have_units (void)
{
  static const struct
  {
    const char *text;
    int64_t size_bytes;
  } sizes[] = { { "--size=2", 2 << 20 },
                { "--size=512K", 512 << 10 },
                { "--size=1g", 1 << 30 },
                { "--size=1.5MiB", 1536 << 10 },
                { "--size=4kb", 4096 } };
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    {
      LNS_CHECK (PARSE (ends_it, sizes[i].text));
      LNS_CHECK_INT (values.size_bytes, sizes[i].size_bytes);
    }
}

static void
words_end_switches_or_not (void)
{
  LNS_CHECK (PARSE (ends_it, "-b", "true", "prog", "--flag", "-t"));
  LNS_CHECK_INT (n_words, 4);
  LNS_CHECK_STR (words[1], "prog");
  LNS_CHECK_STR (words[3], "-t");
  LNS_CHECK (!values.flag && words[4] == NULL);
  LNS_CHECK (PARSE (anywhere, "file", "--flag", "-", "--", "--text"));
  LNS_CHECK (values.flag);
  LNS_CHECK_INT (n_words, 4);
  LNS_CHECK_STR (words[2], "-");
  LNS_CHECK_STR (words[3], "--text");
}

static const LnsOption more[] = {
  { .name = "sample",
    .old = "sampling",
    .letter = 's',
    .kind = LNS_OPTION_CHOICE,
    .choices = "cpu,none",
    .help = "Sample.",
    .instead = "there is none" },
  { .name = "trace", .kind = LNS_OPTION_LIST, .offset = AT (list), .help = "Trace." },
  { .name = "from", .kind = LNS_OPTION_FILE, .help = "Read." },
  { .name = "few",
    .kind = LNS_OPTION_INTEGER,
    .offset = AT (integer),
    .least = 2,
    .most = 4,
    .help = "Few." },
};
static const LnsOptionGroup group = LNS_OPTION_GROUP ("more", "More", more);
static const LnsRefusal refusals[] = { { "isr,dx12", "is of elsewhere" } };
static const LnsCommand grouped = { .name = "test",
                                    .usage = "…",
                                    .summary = "tests",
                                    .options = options,
                                    .n_options = 8,
                                    .groups = (const LnsOptionGroup *const[]){ &group, NULL },
                                    .refusals = refusals,
                                    .n_refusals = 1 };

static void
groups_follow_the_commands_own (void)
{
  LNS_CHECK_STR (lns_command_option (&grouped, 0)->name, "flag");
  LNS_CHECK_STR (lns_command_option (&grouped, 8)->name, "sample");
  LNS_CHECK (lns_command_option (&grouped, 12) == NULL);
  LNS_CHECK (PARSE (grouped, "--trace=a", "--few=4", "-b", "true") && values.integer == 4);
  LNS_CHECK (!PARSE (grouped, "--few=5"));
  LNS_CHECK (strstr (error.message, "a whole number from 2 to 4") != NULL);
}

static void
what_is_not_honoured_changes_nothing (void)
{
  LNS_CHECK (PARSE (grouped, "-s", "NONE", "--text=x"));
  LNS_CHECK_INT (lns_cli_n_warnings (), 0);
  LNS_CHECK (PARSE (grouped, "--sampling=cpu", "--sample", "CPU"));
  LNS_CHECK (PARSE (grouped, "-scpu")); /* the line is there already */
  LNS_CHECK_INT (lns_cli_n_warnings (), 1);
  LNS_CHECK (!PARSE (grouped, "-s", "gpu"));
}

static void
switches_are_given_once (void)
{
  LNS_CHECK (PARSE (grouped, "-t", "x", "--text=x", "-b", "true", "-b", "TRUE"));
  LNS_CHECK (!PARSE (grouped, "-t", "x", "--text=y"));
  LNS_CHECK (strstr (error.message, "--text is given twice, as “x” and as “y”") != NULL);
  LNS_CHECK (!PARSE (grouped, "-t", "--flag"));
  LNS_CHECK (strstr (error.message, "-t needs a value") != NULL);
  LNS_CHECK (!PARSE (grouped, "--dx12=true"));
  LNS_CHECK_STR (error.message, "--dx12 is of elsewhere");
}

static void
files_hold_switches (void)
{
  const char *const expected[] = { "-t", "a b", "--x=c'd\\", "e" };
  char path[] = "/tmp/lanescope-options-XXXXXX", from[64];
  FILE *file = fdopen (mkstemp (path), "w");
  fputs ("# what it is\n -t 'a b' # x\n\\\n\"--x=c'd\\\\\" e", file);
  fclose (file);
  char **read = lns_option_file_read (path, &error);
  for (int i = 0; i < 4; i++)
    LNS_CHECK_STR (read[i], expected[i]);
  LNS_CHECK (read[4] == NULL);
  read = lns_option_split (strdup ("profile --x 'a b'"));
  LNS_CHECK_STR (read[2], "a b");
  LNS_CHECK (read[3] == NULL && lns_option_split (strdup ("profile 'a")) == NULL);
  file = fopen (path, "w");
  fputs ("-t of-the-file --trace=a,b", file);
  fclose (file);
  snprintf (from, sizeof from, "--from=%s", path);
  LNS_CHECK (PARSE (grouped, from, "--trace", "c", "--", "--trace") && values.list.n_items == 1);
  LNS_CHECK_STR (values.text, "of-the-file");
  remove (path);
  LNS_CHECK (!PARSE (grouped, from));
  LNS_CHECK (lns_option_file_read (path, &error) == NULL);
}

static void
choices_are_found_in_any_case (void)
{
  const LnsOption option = { .name = "x", .kind = LNS_OPTION_CHOICE, .choices = "aB,c" };
  const char *kept = NULL;
  char text[] = "Ab";
  LNS_CHECK (lns_option_choice (option.choices, "C") == option.choices + 3);
  LNS_CHECK (lns_option_choice (option.choices, "a") == NULL &&
             lns_option_choice (option.choices, "") == NULL);
  LNS_CHECK (lns_option_set (&option, text, &kept, &error));
  LNS_CHECK_STR (kept, "aB");
  LNS_CHECK (lns_option_set (&option, text, NULL, &error));
}

static void
help_is_for_the_command (void)
{
  LNS_CHECK (PARSE (ends_it, "--flag", "-h") && help != NULL);
  LNS_CHECK (PARSE (ends_it, "--help") && help != NULL);
  LNS_CHECK (PARSE (ends_it, "prog", "--help") && help == NULL);
}

static void
what_is_wrong_is_named (void)
{
  static const struct
  {
    const char *text, *message;
  } wrong[] = {
    { "--txt=1", "did you mean --text?" },
    { "--timme=1", "did you mean --time?" },
    { "--something-else", "unknown switch --something-else; `lanescope test --help`" },
    { "-z", "unknown switch -z" },
    { "--flag=1", "--flag takes no value" },
    { "--text", "--text needs a value" },
    { "--truth=yes", "--truth: “yes” is not true or false" },
    { "--choice=three", "--choice: “three” is not one of one,two" },
    { "--integer=-1", "--integer" },
    { "--integer=1x", "--integer" },
    { "--integer=99999999999999999999", "--integer" },
    { "--time=-1", "--time" },
    { "--time=nan", "--time" },
    { "--time=", "--time has an empty value" },
    { "--text=", "--text has an empty value; give it a value or leave it out" },
    { "--list=", "--list has an empty value" },
    { "--size=0", "--size" },
    { "--size=1T", "--size" },
    { "--size=x", "--size" },
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    {
      LNS_CHECK (!PARSE (ends_it, wrong[i].text));
      if (strstr (error.message, wrong[i].message) == NULL)
        LNS_FAIL ("%s: %s", wrong[i].text, error.message);
    }
}

static void
near_names_are_found (void)
{
  const char *const names[] = { "profile", "stats", "export" };
  LNS_CHECK_STR (lns_nearest_name ("profiel", names, 3), "profile");
  LNS_CHECK_STR (lns_nearest_name ("stat", names, 3), "stats");
  LNS_CHECK (lns_nearest_name ("xyz", names, 3) == NULL);
  LNS_CHECK (lns_nearest_name ("", names, 3) == NULL);
}

static void
tables_become_text_and_json (void)
{
  char *text = NULL;
  size_t n_bytes;
  FILE *file = open_memstream (&text, &n_bytes);
  LNS_CHECK (lns_command_print_help (&ends_it, "", 80, file, &error));
  fclose (file);
  LNS_CHECK (strstr (text, "  -g, --flag\n") != NULL);
  LNS_CHECK (strstr (text, "  -t, --text=PATH\n          A \"text\".\n") != NULL);
  LNS_CHECK (strstr (text, "--choice=one|two\n          A choice. (default: one)\n") != NULL);
  free (text);
  file = open_memstream (&text, &n_bytes);
  lns_command_print_json (&ends_it, file);
  fclose (file);
  LNS_CHECK (strstr (text, "{\"name\":\"choice\",\"kind\":\"choice\",\"choices\":[\"one\",\"two\"],"
                           "\"default\":\"one\",\"help\":\"A choice.\"}") != NULL);
  LNS_CHECK (strstr (text, "A \\\"text\\\".") != NULL);
  free (text);
  lns_option_list_clear (&values.list);
}

/* Leaves this process no memory at all. */
static void
take_all_memory (void)
{
  static void *volatile taken;
  const struct rlimit limit = { 0, RLIM_INFINITY };
  setrlimit (RLIMIT_AS, &limit);
  for (size_t size = 1 << 16; size > 0; size -= 16)
    while ((taken = malloc (size)) != NULL)
      ;
}

/* What a session does when another terminal ends its report: reads switches, and talks. */
static void
lack_of_memory_ends_no_session (void)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
  LNS_SKIP ("the sanitizer needs address space of its own");
#endif
  int ends[2], status = 0;
  char said[512];
  LNS_CHECK (pipe (ends) == 0);
  const pid_t pid = fork ();
  if (pid == 0)
    {
      dup2 (ends[1], STDERR_FILENO);
      take_all_memory ();
      const bool is_read = PARSE (anywhere, "--flag");
      lns_cli_say ("warning", "a line of %d", 1);
      lns_cli_tell ("another");
      _exit (is_read || error.domain != LNS_ERROR_NO_MEMORY);
    }
  close (ends[1]);
  ssize_t n = 0, n_read;
  while ((n_read = read (ends[0], said + n, sizeof said - 1 - (size_t)n)) > 0)
    n += n_read;
  said[n] = '\0';
  close (ends[0]);
  LNS_CHECK (waitpid (pid, &status, 0) == pid && WIFEXITED (status));
  LNS_CHECK_INT (WEXITSTATUS (status), 0);
  LNS_CHECK_STR (said, "lanescope: warning: a line of 1\nanother\n");
}

int
main (void)
{
  LNS_TEST (values_of_every_kind);
  LNS_TEST (spellings);
  LNS_TEST (lists_add_up);
  LNS_TEST (sizes_have_units);
  LNS_TEST (words_end_switches_or_not);
  LNS_TEST (groups_follow_the_commands_own);
  LNS_TEST (what_is_not_honoured_changes_nothing);
  LNS_TEST (switches_are_given_once);
  LNS_TEST (files_hold_switches);
  LNS_TEST (choices_are_found_in_any_case);
  LNS_TEST (help_is_for_the_command);
  LNS_TEST (what_is_wrong_is_named);
  LNS_TEST (near_names_are_found);
  LNS_TEST (tables_become_text_and_json);
  LNS_TEST (lack_of_memory_ends_no_session);
  return lns_tap_done ();
}
