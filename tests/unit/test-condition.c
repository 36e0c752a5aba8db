/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests conditions: what they read as, when they hold, and what is said of those that are wrong. */

#include <stdlib.h>
#include <string.h>

#include "src/analysis/condition.h"
#include "tests/tap.h"

static LnsCondition *
parse (const char *text)
{
  LnsError error = { 0 };
  LnsCondition *condition = lns_condition_new (text, &error);

  if (condition == NULL)
    LNS_FAIL ("%s: %s", text, error.message);
  return condition;
}

/* Checks that TEXT is one test of FIELD. RET_TEST must be freed with its condition, which is returned. */
static LnsCondition *
parse_one (const char *text,
           LnsConditionField field,
           LnsConditionOperator
           operator,
           LnsConditionTest * ret_test)
{
  LnsCondition *condition = parse (text);
  unsigned n;

  *ret_test = *lns_condition_tests (condition, &n);
  LNS_CHECK_INT (n, 1);
  LNS_CHECK_INT (ret_test->field, field);
  LNS_CHECK_INT (ret_test->operator, operator);
  return condition;
}

static void
test_times_and_sizes (void)
{
  static const struct
  {
    const char *text;
    LnsConditionField field;
    LnsConditionOperator operator;
    int64_t number;
  } cases[] = {
    { "duration > 1ms", LNS_CONDITION_DURATION, LNS_CONDITION_ABOVE, 1000000 },
    { "Duration>=1.5 us", LNS_CONDITION_DURATION, LNS_CONDITION_AT_LEAST, 1500 },
    { "duration < 2\xc2\xb5s", LNS_CONDITION_DURATION, LNS_CONDITION_BELOW, 2000 },
    { "duration < 2\xce\xbcs", LNS_CONDITION_DURATION, LNS_CONDITION_BELOW, 2000 },
    { "start <= 18.796806841 s", LNS_CONDITION_START, LNS_CONDITION_AT_MOST, 18796806841 },
    { "end = 2min", LNS_CONDITION_END, LNS_CONDITION_EQUAL, 120000000000 },
    { "start > -3ns", LNS_CONDITION_START, LNS_CONDITION_ABOVE, -3 },
    { "duration == 0", LNS_CONDITION_DURATION, LNS_CONDITION_EQUAL, 0 },
    { "bytes >= 1.5 MiB", LNS_CONDITION_BYTES, LNS_CONDITION_AT_LEAST, 1572864 },
    { "bytes > 4kb", LNS_CONDITION_BYTES, LNS_CONDITION_ABOVE, 4000 },
    { "bytes=17", LNS_CONDITION_BYTES, LNS_CONDITION_EQUAL, 17 },
    { "depth < 3", LNS_CONDITION_DEPTH, LNS_CONDITION_BELOW, 3 },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    {
      LnsConditionTest test;
      LnsCondition *condition =
          parse_one (cases[i].text, cases[i].field, cases[i].operator, & test);
      LNS_CHECK (test.text == NULL && test.has_number);
      LNS_CHECK_INT (test.number, cases[i].number);
      lns_condition_free (condition);
    }
  lns_condition_free (NULL);
}

static void
test_texts (void)
{
  static const struct
  {
    const char *text;
    LnsConditionOperator operator;
    const char *value;
  } cases[] = {
    { "name ~ gemm", LNS_CONDITION_MATCHES, "gemm" },
    { "name~^(a|b)+$", LNS_CONDITION_MATCHES, "^(a|b)+$" },
    { "(name ~ f(oo)?)", LNS_CONDITION_MATCHES, "f(oo)?" },
    { "(name ~ f\\))", LNS_CONDITION_MATCHES, "f\\)" },
    { "name contains \"a b (c\"", LNS_CONDITION_CONTAINS, "a b (c" },
    { "name = 'it\\'s \\\\ \"'", LNS_CONDITION_EQUAL, "it's \\ \"" },
    { "name = \"\"", LNS_CONDITION_EQUAL, "" },
    { "name ~ \"\\d+\"", LNS_CONDITION_MATCHES, "\\d+" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    {
      LnsConditionTest test;
      LnsCondition *condition =
          parse_one (cases[i].text, LNS_CONDITION_NAME, cases[i].operator, & test);
      LNS_CHECK_STR (test.text, cases[i].value);
      LNS_CHECK (!test.has_number);
      lns_condition_free (condition);
    }
  LnsConditionTest test;
  LnsCondition *condition =
      parse_one ("thread = 4711", LNS_CONDITION_THREAD, LNS_CONDITION_EQUAL, &test);
  LNS_CHECK_STR (test.text, "4711");
  LNS_CHECK (test.has_number && test.number == 4711);
  lns_condition_free (condition);
}

/* What is quoted reads as it was. */
static void
test_quoted (void)
{
  static const char *const texts[] = { "", "gemm", "a \"b\" \\ 'c'", ") or name ~ x", "\\\"" };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    {
      char text[128];
      LnsConditionTest test;
      char *quoted = lns_condition_quote (texts[i]);
      snprintf (text, sizeof text, "name = %s", quoted);
      LnsCondition *condition = parse_one (text, LNS_CONDITION_NAME, LNS_CONDITION_EQUAL, &test);
      LNS_CHECK_STR (test.text, texts[i]);
      lns_condition_free (condition);
      free (quoted);
    }
}

/* Compares conditions of three tests, called a, b and c here, with what C says of them for all answers. */
static void
test_joined (void)
{
#define CASE(text, formula)                                                                        \
 {                                                                                                 \
  text,                                                                                            \
  {                                                                                                \
   formula (0), formula (1), formula (2), formula (3), formula (4), formula (5), formula (6),      \
       formula (7)                                                                                 \
  }                                                                                                \
 }
#define AND_OR(i)     ((((i)&1) && ((i) >> 1 & 1)) || ((i) >> 2 & 1))
#define OR_AND(i)     (((i)&1) || (((i) >> 1 & 1) && ((i) >> 2 & 1)))
#define OR_IN(i)      ((((i)&1) || ((i) >> 1 & 1)) && ((i) >> 2 & 1))
#define NOT_AND(i)    (!((i)&1) && ((i) >> 1 & 1) && !((i) >> 2 & 1))
#define NOT_ALL(i)    (!(((i)&1) || ((i) >> 1 & 1)) || ((i) >> 2 & 1))
#define CONTRARIES(i) (!((i)&1) || (!((i) >> 1 & 1) && ((i) >> 2 & 1)))
  static const struct
  {
    const char *text;
    bool holds[8];
  } cases[] = {
    CASE ("name ~ a and name ~ b or name ~ c", AND_OR),
    CASE ("name ~ a or name ~ b and name ~ c", OR_AND),
    CASE ("name ~ a || name ~ b && name ~ c", OR_AND),
    CASE ("(name ~ a or name ~ b) and name ~ c", OR_IN),
    CASE ("(depth = 1 or depth = 2)and(depth = 3)", OR_IN),
    CASE ("not name ~ a and name ~ b and !name ~ c", NOT_AND),
    CASE ("NOT (name ~ a OR name ~ b) OR name ~ c", NOT_ALL),
    CASE ("not not (not (name ~ a or name ~ b) or name ~ c)", NOT_ALL),
    CASE ("name !~ a or (depth != 2 and name ~ c)", CONTRARIES),
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    {
      LnsCondition *condition = parse (cases[i].text);
      unsigned n;
      lns_condition_tests (condition, &n);
      LNS_CHECK_INT (n, 3);
      for (uint64_t passed = 0; passed < 8; passed++)
        if (lns_condition_holds (condition, passed) != cases[i].holds[passed])
          LNS_FAIL ("%s: %d", cases[i].text, (int)passed);
      lns_condition_free (condition);
    }
}

static void
test_compared (void)
{
  static const struct
  {
    const char *text;
    bool passes[3]; /* 4, 5 and 6 */
  } cases[] = {
    { "depth = 5", { false, true, false } },   { "depth < 5", { true, false, false } },
    { "depth <= 5", { true, true, false } },   { "depth > 5", { false, false, true } },
    { "depth >= 5", { false, true, true } },   { "thread = 5", { false, true, false } },
    { "thread ~ 5", { false, false, false } }, { "thread = five", { false, false, false } },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    {
      LnsCondition *condition = parse (cases[i].text);
      unsigned n;
      for (int j = 0; j < 3; j++)
        LNS_CHECK_INT (lns_condition_compare (lns_condition_tests (condition, &n), 4 + j),
                       cases[i].passes[j]);
      lns_condition_free (condition);
    }
}

/* Names are looked for by what they contain unless a condition is meant. */
static void
test_meant (void)
{
  static const char *const conditions[] = { "duration>1", " ( not name ~", "NAME = x", "!(start <",
                                            "name contains" };
  static const char *const names[] = {
    "",  "gemm", "duration",  "name",    "op_id = 5",       "operator <",
    "(", "not",  "names = 3", "a and b", "start of a step", "1 > duration"
  };
  for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
    if (!lns_condition_is_meant (conditions[i]))
      LNS_FAIL ("“%s” is meant", conditions[i]);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (lns_condition_is_meant (names[i]))
      LNS_FAIL ("“%s” is not meant", names[i]);
}

static void
test_wrong_ones_are_told (void)
{
  static const struct
  {
    const char *text, *told;
  } cases[] = {
    { "", "a comparison is missing; write one such as “duration > 1ms”" },
    { "duration > 1ms and", "a comparison is missing; write one such as “duration > 1ms”" },
    { "()", "a comparison is missing; write one such as “duration > 1ms”" },
    { "length > 1ms", "“length” is not a field; use name, kind, duration, start, end, thread, "
                      "process, device, stream, domain, "
                      "category, bytes or depth" },
    { "duration ~ 1", "“duration” is compared by =, !=, <, <=, > or >=" },
    { "duration", "“duration” is compared by =, !=, <, <=, > or >=" },
    { "name > a", "“name” is compared by =, !=, ~ (matches), !~ or contains" },
    { "duration >", "“duration >” needs a value to compare with" },
    { "(name ~)", "“name ~” needs a value to compare with" },
    { "duration > 5", "“5” is not a time; write a number with ns, us, ms or s, such as 1.5ms" },
    { "duration > 5 parsecs",
      "“5” is not a time; write a number with ns, us, ms or s, such as 1.5ms" },
    { "duration > 99999999999s",
      "“99999999999s” is not a time; write a number with ns, us, ms or s, such as 1.5ms" },
    { "start < .s", "“.s” is not a time; write a number with ns, us, ms or s, such as 1.5ms" },
    { "bytes > 3 ms",
      "“3” is not a size; write a number of bytes, or one with KB, MB, KiB or MiB" },
    { "depth = x", "“x” is not a number" },
    { "name = \"a", "\" is missing at the end of “\"a”" },
    { "(name ~ a", "“)” is missing at the end" },
    { "(name ~ a b)", "“b)” was not expected; join comparisons by “and” or “or”" },
    { "name ~ a b", "“b” was not expected; join comparisons by “and” or “or”" },
    { "name ~ a) or", "“) or” was not expected; join comparisons by “and” or “or”" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    {
      LnsError error = { 0 };
      LNS_CHECK (lns_condition_new (cases[i].text, &error) == NULL);
      LNS_CHECK_INT (error.domain, LNS_ERROR_USAGE);
      LNS_CHECK_STR (error.message, cases[i].told);
    }
}

/* As SQL it has the same tests in the same places. */
static void
test_as_sql (void)
{
  static const struct
  {
    const char *text, *sql;
  } cases[] = {
    { "depth = 1", "a" },
    { "not depth = 1", "NOT (a)" },
    { "depth != 1", "NOT (a)" },
    { "depth = 1 and depth = 2 or depth = 3", "((a) AND (b)) OR (c)" },
    { "depth = 1 and not (depth = 2 or depth = 3)", "(a) AND (NOT ((b) OR (c)))" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    {
      LnsCondition *condition = parse (cases[i].text);
      char *sql = lns_condition_sql (condition, (const char *const[]){ "a", "b", "c" });
      LNS_CHECK_STR (sql, cases[i].sql);
      free (sql);
      lns_condition_free (condition);
    }
}

/* What is too long or too deep is refused, and takes no memory beyond its length. */
static void
test_limits (void)
{
  LnsError error = { 0 };
  char *text = calloc (1, 200000), *at = text;
  for (int i = 0; i < LNS_CONDITION_TESTS_MAX; i++)
    at += sprintf (at, "%sdepth!=1", i > 0 ? "||" : "");
  lns_condition_free (parse (text));
  strcpy (at, "||depth=1");
  LNS_CHECK (lns_condition_new (text, &error) == NULL);
  LNS_CHECK_STR (error.message, "there may be 64 comparisons at most");
  for (int i = 0; i < 2; i++)
    {
      memset (text, i == 0 ? '(' : '!', 199999);
      error = (LnsError){ 0 };
      LNS_CHECK (lns_condition_new (text, &error) == NULL);
      LNS_CHECK_STR (error.message, "parentheses are nested too deeply");
    }
  free (text);
}

int
main (void)
{
  LNS_TEST (test_times_and_sizes);
  LNS_TEST (test_texts);
  LNS_TEST (test_quoted);
  LNS_TEST (test_joined);
  LNS_TEST (test_compared);
  LNS_TEST (test_meant);
  LNS_TEST (test_wrong_ones_are_told);
  LNS_TEST (test_as_sql);
  LNS_TEST (test_limits);
  return lns_tap_done ();
}
