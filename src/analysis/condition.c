/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/condition.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/memory.h"

/* Of what is nested; deeper ones would only exhaust the stack. */
#define MAX_DEPTH 64

/* What a field is. */
typedef enum
{
  FIELD_TEXT, /* of which some have a number, too */
  FIELD_TIME, /* in ns                            */
  FIELD_BYTES,
  FIELD_NUMBER
} FieldType;

static const struct
{
  const char *name;
  FieldType type;
} fields[LNS_N_CONDITION_FIELDS] = {
  [LNS_CONDITION_NAME] = { "name", FIELD_TEXT },
  [LNS_CONDITION_KIND] = { "kind", FIELD_TEXT },
  [LNS_CONDITION_DURATION] = { "duration", FIELD_TIME },
  [LNS_CONDITION_START] = { "start", FIELD_TIME },
  [LNS_CONDITION_END] = { "end", FIELD_TIME },
  [LNS_CONDITION_THREAD] = { "thread", FIELD_TEXT },
  [LNS_CONDITION_PROCESS] = { "process", FIELD_TEXT },
  [LNS_CONDITION_DEVICE] = { "device", FIELD_TEXT },
  [LNS_CONDITION_STREAM] = { "stream", FIELD_TEXT },
  [LNS_CONDITION_DOMAIN] = { "domain", FIELD_TEXT },
  [LNS_CONDITION_CATEGORY] = { "category", FIELD_TEXT },
  [LNS_CONDITION_BYTES] = { "bytes", FIELD_BYTES },
  [LNS_CONDITION_DEPTH] = { "depth", FIELD_NUMBER },
};

/* Longer ones stand before those that they begin with. */
static const struct
{
  const char *sign;
  LnsConditionOperator operator;
  bool is_contrary, is_of_text, is_of_number;
} operators[] = {
  { "!=", LNS_CONDITION_EQUAL, true, true, true },
  { "!~", LNS_CONDITION_MATCHES, true, true, false },
  { "<=", LNS_CONDITION_AT_MOST, false, false, true },
  { ">=", LNS_CONDITION_AT_LEAST, false, false, true },
  { "==", LNS_CONDITION_EQUAL, false, true, true },
  { "=", LNS_CONDITION_EQUAL, false, true, true },
  { "<", LNS_CONDITION_BELOW, false, false, true },
  { ">", LNS_CONDITION_ABOVE, false, false, true },
  { "~", LNS_CONDITION_MATCHES, false, true, false },
  { "contains", LNS_CONDITION_CONTAINS, false, true, false },
};

#define N_OPERATORS (sizeof operators / sizeof *operators)

/* Units of times, in ns, and of sizes, in bytes. The two signs for micro are different characters. */
typedef struct
{
  const char *name;
  double size;
} Unit;

static const Unit times[] = { { "ns", 1 },          { "us", 1e3 }, { "\xc2\xb5s", 1e3 },
                              { "\xce\xbcs", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
                              { "min", 60e9 },      { NULL, 0 } };
static const Unit sizes[] = { { "", 1 },
                              { "b", 1 },
                              { "kb", 1e3 },
                              { "mb", 1e6 },
                              { "gb", 1e9 },
                              { "kib", 1024 },
                              { "mib", 1024.0 * 1024 },
                              { "gib", 1024.0 * 1024 * 1024 },
                              { NULL, 0 } };
static const Unit plain[] = { { "", 1 }, { NULL, 0 } };

/* Steps of the condition, each about what stood before it: a number of a test, or one of these. */
enum
{
  STEP_NOT = LNS_CONDITION_TESTS_MAX,
  STEP_AND,
  STEP_OR
};

struct LnsCondition
{
  LnsConditionTest tests[LNS_CONDITION_TESTS_MAX];
  unsigned n_tests;
  uint8_t *steps; /* owned */
  size_t n_steps;
};

typedef struct
{
  LnsCondition *condition;
  const char *at; /* what is still to be read, without the space before it */
  LnsError *error;
  unsigned depth;
} Parser;

/* --- Words ------------------------------------------------------------------------------------ */

static bool
is_space (char c)
{
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static const char *
skip_space (const char *at)
{
  while (is_space (*at))
    at++;
  return at;
}

/* How many bytes of a word of letters begin at AT. */
static size_t
letters (const char *at)
{
  size_t n = 0;

  while ((at[n] >= 'a' && at[n] <= 'z') || (at[n] >= 'A' && at[n] <= 'Z') || at[n] == '_' ||
         (n > 0 && at[n] >= '0' && at[n] <= '9'))
    n++;
  return n;
}

/* Whether the word at AT is WORD; *RET_END is behind it then. */
static bool
is_word (const char *at, const char *word, const char **ret_end)
{
  const size_t n = letters (at);

  if (n != strlen (word) || strncasecmp (at, word, n) != 0)
    return false;
  *ret_end = at + n;
  return true;
}

/* Which of the fields or operators is at AT, or -1. */
static int
field_at (const char *at, const char **ret_end)
{
  for (int i = 0; i < LNS_N_CONDITION_FIELDS; i++)
    if (is_word (at, fields[i].name, ret_end))
      return i;
  return -1;
}

static int
operator_at (const char *at, const char **ret_end)
{
  for (size_t i = 0; i < N_OPERATORS; i++)
    {
      const char *sign = operators[i].sign;
      const size_t n = strlen (sign);
      if (letters (sign) > 0 ? is_word (at, sign, ret_end) : strncmp (at, sign, n) == 0)
        {
          *ret_end = at + n;
          return (int)i;
        }
    }
  return -1;
}

/* Whether what joins or turns round is at AT; *RET_END is behind it then. */
static bool
is_and (const char *at, const char **ret_end)
{
  *ret_end = at + 2;
  return strncmp (at, "&&", 2) == 0 || is_word (at, "and", ret_end);
}

static bool
is_or (const char *at, const char **ret_end)
{
  *ret_end = at + 2;
  return strncmp (at, "||", 2) == 0 || is_word (at, "or", ret_end);
}

static bool
is_not (const char *at, const char **ret_end)
{
  *ret_end = at + 1;
  return (*at == '!' && at[1] != '=' && at[1] != '~') || is_word (at, "not", ret_end);
}

bool
lns_condition_is_meant (const char *text)
{
  const char *at = skip_space (text);

  while (*at == '(' || is_not (at, &text))
    at = skip_space (*at == '(' ? at + 1 : text);
  return field_at (at, &text) >= 0 && operator_at (skip_space (text), &text) >= 0;
}

/* --- Values ----------------------------------------------------------------------------------- */

/* How many bytes at AT are a value without quotation marks: up to white space, or a parenthesis that closes none of its own. */
static size_t
bare_size (const char *at)
{
  size_t n = 0, open = 0;

  for (; at[n] != '\0' && !is_space (at[n]) && (at[n] != ')' || open > 0); n++)
    {
      if (at[n] == '\\' && at[n + 1] != '\0' && !is_space (at[n + 1]))
        n++;
      else if (at[n] == '(')
        open++;
      else if (at[n] == ')')
        open--;
    }
  return n;
}

/* Reads the value at the parser, which is its owner's. A backslash keeps a quotation mark, and itself, in what is quoted. NULL:
 * its end is missing. */
static char *
read_text (Parser *self)
{
  const char mark = *self->at;
  char *text = lns_realloc (NULL, strlen (self->at) + 1, 1);
  size_t n = 0;

  if (mark != '"' && mark != '\'')
    {
      n = bare_size (self->at);
      memcpy (text, self->at, n);
      text[n] = '\0';
      self->at = skip_space (self->at + n);
      return text;
    }
  const char *at = self->at + 1;
  for (; *at != mark && *at != '\0'; at++)
    {
      if (*at == '\\' && (at[1] == mark || at[1] == '\\'))
        at++;
      text[n++] = *at;
    }
  text[n] = '\0';
  if (*at == mark)
    {
      self->at = skip_space (at + 1);
      return text;
    }
  free (text);
  lns_error_set (self->error, LNS_ERROR_USAGE, 0, "%c is missing at the end of “%s”", mark,
                 self->at);
  return NULL;
}

/* Reads a number with one of UNITS at AT; *RET_END is behind it then. Not by strtod(), which reads another sign before the
 * fraction in other countries. */
static bool
read_number (const char *at, const Unit *units, int64_t *ret_number, const char **ret_end)
{
  const bool is_negative = *at == '-';
  double number = 0, digit = 1;
  bool is_number = false;

  at += is_negative;
  for (; *at >= '0' && *at <= '9'; at++, is_number = true)
    number = number * 10 + (*at - '0');
  if (*at == '.')
    for (at++; *at >= '0' && *at <= '9'; at++, is_number = true)
      number += (*at - '0') * (digit /= 10);
  const char *unit = skip_space (at);
  size_t size = 0;
  while (unit[size] != '\0' && strchr (" \t\n\r()&|", unit[size]) == NULL)
    size++;
  /* What stands behind a number without a unit may be a word of the condition. */
  const char *word;
  if (unit > at && (is_and (unit, &word) || is_or (unit, &word)))
    unit = at, size = 0;
  while (units->name != NULL &&
         (strlen (units->name) != size || strncasecmp (units->name, unit, size) != 0))
    units++;
  if (!is_number || (units->name == NULL && (number != 0 || size > 0)))
    return false;
  number *= units->name != NULL ? units->size : 1;
  if (!(number < 9e18))
    return false;
  *ret_number = (int64_t)(is_negative ? -number - 0.5 : number + 0.5);
  *ret_end = unit + size;
  return true;
}

/* The word at the parser. Free with free (). */
static char *
word_at (const Parser *self)
{
  return lns_asprintf ("%.*s", (int)bare_size (self->at), self->at);
}

static bool
refuse_number (Parser *self, FieldType type)
{
  char *value = word_at (self);

  if (type == FIELD_TIME)
    lns_error_set (self->error, LNS_ERROR_USAGE, 0,
                   "“%s” is not a time; write a number with ns, us, ms or s, such as 1.5ms", value);
  else if (type == FIELD_BYTES)
    lns_error_set (self->error, LNS_ERROR_USAGE, 0,
                   "“%s” is not a size; write a number of bytes, or one with KB, MB, KiB or MiB",
                   value);
  else
    lns_error_set (self->error, LNS_ERROR_USAGE, 0, "“%s” is not a number", value);
  free (value);
  return false;
}

/* --- Parsing ---------------------------------------------------------------------------------- */

static void
add_step (Parser *self, unsigned step)
{
  self->condition->steps[self->condition->n_steps++] = (uint8_t)step;
}

static bool
refuse_field (Parser *self)
{
  if (*self->at == '\0' || *self->at == ')')
    return lns_error_set (self->error, LNS_ERROR_USAGE, 0,
                          "a comparison is missing; write one such as “duration > 1ms”");
  char *word = word_at (self);
  lns_error_set (self->error, LNS_ERROR_USAGE, 0,
                 "“%s” is not a field; use name, kind, duration, start, end, thread, process, "
                 "device, stream, domain, category, bytes or depth",
                 word);
  free (word);
  return false;
}

/* Says that what is at the parser does not belong there. */
static bool
refuse_rest (Parser *self)
{
  return lns_error_set (self->error, LNS_ERROR_USAGE, 0,
                        "“%s” was not expected; join comparisons by “and” or “or”", self->at);
}

/* Says that FIELD is not compared by what is at the parser. */
static bool
refuse_operator (Parser *self, int field)
{
  if (fields[field].type == FIELD_TEXT)
    return lns_error_set (self->error, LNS_ERROR_USAGE, 0,
                          "“%s” is compared by =, !=, ~ (matches), !~ or contains",
                          fields[field].name);
  return lns_error_set (self->error, LNS_ERROR_USAGE, 0,
                        "“%s” is compared by =, !=, <, <=, > or >=", fields[field].name);
}

static bool
parse_test (Parser *self)
{
  static const Unit *const units[] = { plain, times, sizes, plain };
  LnsCondition *condition = self->condition;
  LnsConditionTest test = { 0 };
  const char *end;
  const int field = field_at (self->at, &end);

  if (field < 0)
    return refuse_field (self);
  self->at = skip_space (end);
  const int operator= operator_at (self->at, &end);
  const bool is_text = fields[field].type == FIELD_TEXT;
  if (operator<0 || !(is_text ? operators[operator].is_of_text : operators[operator].is_of_number))
    return refuse_operator (self, field);
  self->at = skip_space (end);
  if (*self->at == '\0' || *self->at == ')')
    return lns_error_set (self->error, LNS_ERROR_USAGE, 0, "“%s %s” needs a value to compare with",
                          fields[field].name, operators[operator].sign);
  if (condition->n_tests == LNS_CONDITION_TESTS_MAX)
    return lns_error_set (self->error, LNS_ERROR_USAGE, 0, "there may be %d comparisons at most",
                          LNS_CONDITION_TESTS_MAX);
  test.field = (LnsConditionField)field;
  test.operator= operators[operator].operator;
  test.has_number = read_number (self->at, units[fields[field].type], &test.number, &end);
  if (!is_text && !test.has_number)
    return refuse_number (self, fields[field].type);
  if (!is_text)
    self->at = skip_space (end);
  else if ((test.text = read_text (self)) == NULL)
    return false;
  condition->tests[condition->n_tests] = test;
  add_step (self, condition->n_tests++);
  if (operators[operator].is_contrary)
    add_step (self, STEP_NOT);
  return true;
}

static bool parse_or (Parser *self);

static bool
parse_enclosed (Parser *self)
{
  self->at = skip_space (self->at + 1);
  if (!parse_or (self))
    return false;
  if (*self->at == '\0')
    return lns_error_set (self->error, LNS_ERROR_USAGE, 0, "“)” is missing at the end");
  if (*self->at != ')')
    return refuse_rest (self);
  self->at = skip_space (self->at + 1);
  return true;
}

static bool
parse_one (Parser *self)
{
  const char *end;
  const bool is_contrary = is_not (self->at, &end);
  bool is_good;

  if (*self->at != '(' && !is_contrary)
    return parse_test (self);
  if (++self->depth > MAX_DEPTH)
    return lns_error_set (self->error, LNS_ERROR_USAGE, 0, "parentheses are nested too deeply");
  if (is_contrary)
    {
      self->at = skip_space (end);
      is_good = parse_one (self);
      add_step (self, STEP_NOT);
    }
  else
    is_good = parse_enclosed (self);
  self->depth--;
  return is_good;
}

static bool
parse_and (Parser *self)
{
  const char *end;

  if (!parse_one (self))
    return false;
  while (is_and (self->at, &end))
    {
      self->at = skip_space (end);
      if (!parse_one (self))
        return false;
      add_step (self, STEP_AND);
    }
  return true;
}

static bool
parse_or (Parser *self)
{
  const char *end;

  if (!parse_and (self))
    return false;
  while (is_or (self->at, &end))
    {
      self->at = skip_space (end);
      if (!parse_and (self))
        return false;
      add_step (self, STEP_OR);
    }
  return true;
}

LnsCondition *
lns_condition_new (const char *text, LnsError *error)
{
  LnsCondition *condition = lns_calloc (1, sizeof *condition);
  Parser parser = { .condition = condition, .at = skip_space (text), .error = error };

  condition->steps =
      lns_realloc (NULL, strlen (text) + 1, 1); /* no step is of less than a character */
  if (parse_or (&parser) && (*parser.at == '\0' || refuse_rest (&parser)))
    return condition;
  lns_condition_free (condition);
  return NULL;
}

void
lns_condition_free (LnsCondition *condition)
{
  if (condition == NULL)
    return;
  for (unsigned i = 0; i < condition->n_tests; i++)
    free (condition->tests[i].text);
  free (condition->steps);
  free (condition);
}

const LnsConditionTest *
lns_condition_tests (const LnsCondition *condition, unsigned *ret_n)
{
  *ret_n = condition->n_tests;
  return condition->tests;
}

/* --- Answers ---------------------------------------------------------------------------------- */

bool
lns_condition_compare (const LnsConditionTest *test, int64_t value)
{
  if (!test->has_number)
    return false;
  switch (test->operator)
    {
    case LNS_CONDITION_EQUAL:
      return value == test->number;
    case LNS_CONDITION_BELOW:
      return value < test->number;
    case LNS_CONDITION_AT_MOST:
      return value <= test->number;
    case LNS_CONDITION_ABOVE:
      return value > test->number;
    case LNS_CONDITION_AT_LEAST:
      return value >= test->number;
    case LNS_CONDITION_CONTAINS:
    case LNS_CONDITION_MATCHES:
      break;
    }
  return false;
}

bool
lns_condition_holds (const LnsCondition *condition, uint64_t passed)
{
  uint64_t stack = 0; /* of bits, as no more stand on it than there are tests */

  for (size_t i = 0; i < condition->n_steps; i++)
    {
      const unsigned step = condition->steps[i];
      if (step == STEP_NOT)
        stack ^= 1;
      else if (step == STEP_AND)
        stack = stack >> 1 & (stack | ~UINT64_C (1));
      else if (step == STEP_OR)
        stack = stack >> 1 | (stack & 1);
      else
        stack = stack << 1 | (passed >> step & 1);
    }
  return (stack & 1) != 0;
}

char *
lns_condition_sql (const LnsCondition *condition, const char *const *tests)
{
  char *stack[LNS_CONDITION_TESTS_MAX + 1]; /* no more stand on it than there are tests */
  unsigned n = 0;

  for (size_t i = 0; i < condition->n_steps; i++)
    {
      const unsigned step = condition->steps[i];
      if (step < LNS_CONDITION_TESTS_MAX)
        {
          stack[n++] = lns_strdup (tests[step]);
          continue;
        }
      char *right = stack[n - 1], *left = step == STEP_NOT ? NULL : stack[n - 2];
      n -= step == STEP_NOT ? 1 : 2;
      stack[n++] =
          step == STEP_NOT
              ? lns_asprintf ("NOT (%s)", right)
              : lns_asprintf (step == STEP_AND ? "(%s) AND (%s)" : "(%s) OR (%s)", left, right);
      free (left);
      free (right);
    }
  return stack[0];
}

char *
lns_condition_quote (const char *text)
{
  char *quoted = lns_realloc (NULL, 2 * strlen (text) + 3, 1), *to = quoted;

  *to++ = '"';
  for (; *text != '\0'; text++)
    {
      if (*text == '"' || *text == '\\')
        *to++ = '\\';
      *to++ = *text;
    }
  *to++ = '"';
  *to = '\0';
  return quoted;
}
